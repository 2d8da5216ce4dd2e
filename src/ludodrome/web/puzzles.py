"""What a caller has solved: in the owner's own file, in the database of a server for everybody, or nowhere."""

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
    """Puzzles that are marked as solved."""

    def __contains__(self, puzzle: Puzzle) -> bool:
        """Whether a puzzle is."""

    def add(self, puzzle: Puzzle) -> str:
        """Marks a puzzle; empty, or why it will be forgotten."""


class AccountSolvedPuzzles:
    """What an account has solved; a guest's is forgotten at once."""

    def __init__(self, request: Request, account: str | None) -> None:
        self._engine, self._account = request.app.state.engine, account
        self._names = set() if account is None else solved_puzzles(self._engine, account)

    def __contains__(self, puzzle: Puzzle) -> bool:
        return puzzle_id(puzzle) in self._names

    def add(self, puzzle: Puzzle) -> str:
        """Marks a puzzle; empty, or why it will be forgotten."""
        if self._account is None:
            return ""
        add_solved(self._engine, self._account, puzzle_id(puzzle))
        return ""


def solved_by(request: Request, who: Caller) -> SolvedPuzzles:
    """What somebody has solved."""
    return SolvedPuzzlesFile() if who.account == LOCAL else AccountSolvedPuzzles(request, who.account)


# Somebody at a puzzle on the page: the attempt, and whether the solution was shown.


@dataclass
class PuzzleSession:
    """One person at one puzzle."""

    attempt: Attempt
    helped: bool = False
    """The solution was shown: the puzzle does not count as solved."""
    lock: threading.Lock = field(default_factory=threading.Lock)
