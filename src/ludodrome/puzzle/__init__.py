"""The puzzles of the package: positions where one move wins or saves, and boards to answer.

``book.py`` reads them and remembers the solved ones; ``attempt.py`` judges the moves of somebody who solves one.
``benchmarks/find_puzzles.py`` found the puzzles, ``tests/exhaustive.py`` proves them.
"""

from ludodrome.puzzle.book import GRADES, MARGIN, RESPOND, SAVE, WIN, Puzzle, format_puzzle, parse_puzzle, puzzles

__all__ = ["GRADES", "MARGIN", "RESPOND", "SAVE", "WIN", "Puzzle", "format_puzzle", "parse_puzzle", "puzzles"]
