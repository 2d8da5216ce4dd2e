"""Analysis of positions for people, exact solutions, and grades of games."""

from ludodrome.analysis.lines import Analysis, Line, analyse
from ludodrome.analysis.solving import Solution, Solving, solve

__all__ = ["Analysis", "Line", "Solution", "Solving", "analyse", "solve"]
