"""The exact solver of dots and boxes: the value of a position under perfect play, and a best move."""

from ludodrome.games.dots.solver.search import Solver

__all__ = ["Solver"]
