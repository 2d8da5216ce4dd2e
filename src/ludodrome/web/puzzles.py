"""Puzzle sessions, and the puzzles that a caller has solved."""

import threading
from dataclasses import dataclass, field
from typing import Protocol

from fastapi import Request

from ludodrome.puzzle import Puzzle
from ludodrome.puzzle.attempt import Attempt
from ludodrome.puzzle.book import SolvedPuzzlesFile, puzzle_id
from ludodrome.store.accounts import add_solved, solved_puzzles
from ludodrome.store.models import LOCAL
from ludodrome.web.auth import Caller


class SolvedPuzzles(Protocol):
    """The solved puzzles of a caller."""

    def __contains__(self, puzzle: Puzzle) -> bool:
        """Whether a puzzle is solved."""

    def add(self, puzzle: Puzzle) -> str:
        """Mark a puzzle as solved; returns why that could not be saved, or an empty text."""


class AccountSolvedPuzzles:
    """Solved puzzles in the database; nothing is saved for a guest."""

    def __init__(self, request: Request, account: str | None) -> None:
        self._engine, self._account = request.app.state.engine, account
        self._names = set() if account is None else solved_puzzles(self._engine, account)

    def __contains__(self, puzzle: Puzzle) -> bool:
        return puzzle_id(puzzle) in self._names

    def add(self, puzzle: Puzzle) -> str:
        """Mark a puzzle as solved; returns why that could not be saved, or an empty text."""
        if self._account is None:
            return ""
        add_solved(self._engine, self._account, puzzle_id(puzzle))
        return ""


def solved_by(request: Request, who: Caller) -> SolvedPuzzles:
    """The solved puzzles of a caller: in a file on their own machine, else in the database."""
    return SolvedPuzzlesFile() if who.account == LOCAL else AccountSolvedPuzzles(request, who.account)


@dataclass
class PuzzleSession:
    """An attempt at a puzzle on the page."""

    attempt: Attempt
    helped: bool = False
    """The solution was shown: the puzzle does not count as solved."""
    lock: threading.Lock = field(default_factory=threading.Lock)
