"""Puzzles that ship with the package: positions where one move wins or saves, and boards to be answered.

``attempts.py`` judges what somebody tries; the scripts that found the puzzles and proved them are
``benchmarks/find_puzzles.py`` and ``tests/exhaustive.py``.
"""

from ludodrome.puzzle.book import GRADES, MARGIN, RESPOND, SAVE, WIN, Puzzle, format_puzzle, parse_puzzle, puzzles

__all__ = ["GRADES", "MARGIN", "RESPOND", "SAVE", "WIN", "Puzzle", "format_puzzle", "parse_puzzle", "puzzles"]
