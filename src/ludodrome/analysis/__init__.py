"""What is known about a position: analysis for people, exact solutions, puzzles."""

from ludodrome.analysis.lines import Analysis, Line, analyse
from ludodrome.analysis.solving import Solution, Solving, solve

__all__ = ["Analysis", "Line", "Solution", "Solving", "analyse", "solve"]
