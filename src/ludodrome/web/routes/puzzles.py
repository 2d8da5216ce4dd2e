"""Puzzles: the list, and attempts."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from ludodrome.game import IllegalMove
from ludodrome.games import GAMES
from ludodrome.puzzle import Puzzle, puzzles
from ludodrome.puzzle.attempt import Attempt
from ludodrome.puzzle.book import SolvedPuzzlesFile, puzzle_id
from ludodrome.store.announcements import SharedCache
from ludodrome.store.models import LOCAL
from ludodrome.store.plays import add_solved, solved_puzzles
from ludodrome.web.auth import Anybody, Caller
from ludodrome.web.budgets import budget_of
from ludodrome.web.engine import engine_slot_for_request
from ludodrome.web.position_view import Json, line_labels, position_view
from ludodrome.web.routes.schemas import ERROR_RESPONSES, PuzzleMove
from ludodrome.web.templating import page

# Puzzle sessions, and the puzzles that a caller has solved.


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
class WebPuzzleSession:
    """An attempt at a puzzle on the page."""

    attempt: Attempt
    helped: bool = False
    """The solution was shown: the puzzle does not count as solved."""
    lock: threading.Lock = field(default_factory=threading.Lock)


class SharedPuzzleSessions:
    """Puzzle sessions in the database, where several web processes find them."""

    def __init__(self, cache: SharedCache) -> None:
        self._cache = cache

    def new_id(self) -> str:
        """A new random id."""
        return self._cache.new_id()

    def put(self, name: str, session: WebPuzzleSession, owner: str | None = None) -> None:
        """Keep a session as it is now; ``owner``: whose share a new one uses."""
        puzzle = session.attempt.puzzle
        kept = {"game": puzzle.game_id, "number": puzzle.number, "helped": session.helped}
        self._cache.put(name, kept | session.attempt.to_json(), owner)

    def get(self, name: str) -> WebPuzzleSession | None:
        """The session of an id."""
        kept = self._cache.get(name)
        if kept is None:
            return None
        attempt = Attempt(puzzle_of(kept["game"], kept["number"]))
        attempt.resume(kept)
        return WebPuzzleSession(attempt, kept["helped"])


def keep_session(request: Request, name: str, session: WebPuzzleSession) -> None:
    """Keep what has changed in a session: one in the memory of this process needs nothing."""
    cache = request.app.state.puzzle_sessions
    if isinstance(cache, SharedPuzzleSessions):
        cache.put(name, session)


def puzzle_session_of(request: Request, name: str) -> WebPuzzleSession:
    """The session of an id, or 404."""
    session: WebPuzzleSession | None = request.app.state.puzzle_sessions.get(name)
    if session is None:
        raise HTTPException(404, "this attempt has expired; begin the puzzle again")
    return session


router = APIRouter(tags=["puzzles"], responses=ERROR_RESPONSES)
pages = APIRouter(include_in_schema=False)

KIND_WORDS = {"win": "Win in {goal}", "save": "Save the game", "margin": "The only edge", "respond": "Best answer"}


def puzzle_of(game_id: str, number: int) -> Puzzle:
    """A puzzle by its number, or 404."""
    book = puzzles(game_id)
    if not 1 <= number <= len(book):
        raise HTTPException(404, f"the puzzles of {game_id} are numbered from 1 to {len(book)}")
    return book[number - 1]


@router.get("/puzzles/{game_id}")
def book(request: Request, game_id: str, who: Anybody) -> list[Json]:
    """All puzzles of a game, and which are solved."""
    solved = solved_by(request, who)
    return [
        {"number": one.number, "grade": one.grade, "kind": one.kind, "goal": one.goal, "solved": one in solved}
        for one in puzzles(game_id)
    ]


@router.post("/puzzles/{game_id}/{number}/attempts", status_code=201)
def begin(request: Request, game_id: str, number: int) -> Json:
    """Begin a puzzle."""
    attempt = Attempt(puzzle_of(game_id, number))
    cache = request.app.state.puzzle_sessions
    name = cache.new_id()
    cache.put(name, WebPuzzleSession(attempt), budget_of(request).owner)
    return _view(name, attempt)


@router.post("/attempts/{name}/moves")
def move(request: Request, name: str, answer: PuzzleMove, who: Anybody) -> Json:
    """Try a move. A right move is made and answered; ``steps`` are the positions on the way.

    A wrong one gets its refutation: ``judgement`` has the line and, as ``steps``, the positions on its way.
    """
    session = puzzle_session_of(request, name)
    attempt = session.attempt
    with engine_slot_for_request(budget_of(request)), session.lock:
        if attempt.solved:
            raise ValueError("the puzzle is solved")
        before = attempt.state
        after = attempt.game.apply(before, answer.move)
        judgement = attempt.play(answer.move)
        steps = [_step(attempt, after, answer.move)] if judgement.right else []
        for reply in judgement.replies:
            after = attempt.game.apply(after, reply)
            steps.append(_step(attempt, after, reply))
        fault = solved_by(request, who).add(attempt.puzzle) if attempt.solved and not session.helped else ""
        keep_session(request, name, session)
    line = line_labels(attempt.game, before, judgement.line)
    shown = [] if judgement.right else _line_steps(attempt, before, judgement.line or (answer.move,))
    answered = {"right": judgement.right, "sentence": judgement.sentence, "line": line, "fault": fault}
    answered["steps"] = shown
    return {**_view(name, attempt), "judgement": answered, "steps": steps}


@router.post("/attempts/{name}/hint")
def hint(request: Request, name: str) -> Json:
    """A hint; each further one says more."""
    session = puzzle_session_of(request, name)
    attempt = session.attempt
    with engine_slot_for_request(budget_of(request)), session.lock:
        _check_unsolved(attempt)
        text = attempt.hint()
        keep_session(request, name, session)
    return {"hint": text}


@router.post("/attempts/{name}/solution")
def solution(request: Request, name: str) -> Json:
    """The solution from here, with its positions. The puzzle then does not count as solved."""
    session = puzzle_session_of(request, name)
    attempt = session.attempt
    with engine_slot_for_request(budget_of(request)), session.lock:
        _check_unsolved(attempt)
        session.helped = True
        line = attempt.solution().split("  ")
        text = "; ".join(line_labels(attempt.game, attempt.state, line))
        steps = _line_steps(attempt, attempt.state, line)
        keep_session(request, name, session)
    return {"solution": text, "steps": steps}


def _check_unsolved(attempt: Attempt) -> None:
    if attempt.solved:
        raise ValueError("the puzzle is solved")


def _step(attempt: Attempt, state: Any, move: Any) -> Json:
    return {"move": move, "position": position_view(attempt.game, state)}


def _line_steps(attempt: Attempt, state: Any, line: Iterable[Any]) -> list[Json]:
    """The positions of a line of play, given as moves or in notation, up to the first that is not legal."""
    game, steps = attempt.game, []
    for one in line:
        try:
            move = game.parse_move(one, state) if type(one) is str else one
            state = game.apply(state, move)
        except IllegalMove:
            break
        steps.append(_step(attempt, state, move))
    return steps


def _view(name: str, attempt: Attempt) -> Json:
    return {
        "id": name,
        "game": attempt.game.id,
        "options": attempt.game.options,
        "number": attempt.puzzle.number,
        "task": attempt.task(),
        "seat": attempt.seat,
        "solved": attempt.solved,
        "position": position_view(attempt.game, attempt.state, attempt.seat),
    }


@pages.get("/{game_id}/puzzles")
def puzzles_page(request: Request, game_id: str, who: Anybody) -> Response:
    """The puzzles of a game, by grade."""
    book = puzzles(game_id) if game_id in GAMES else []
    solved = solved_by(request, who)
    grades = [
        [(one, KIND_WORDS[one.kind].format(goal=one.goal), one in solved) for one in book if one.grade == grade]
        for grade in sorted({one.grade for one in book})
    ]
    count = sum(one in solved for one in book)
    first = next((one.number for one in book if one not in solved), 1)
    return page(request, "puzzles.html", game_id, "/puzzles", grades=grades, count=count, total=len(book), first=first)


@pages.get("/{game_id}/puzzles/{number}")
def puzzle_page(request: Request, game_id: str, number: int, who: Anybody) -> Response:
    """One puzzle."""
    if game_id not in GAMES:
        return page(request, "puzzle.html", game_id, "/puzzles")
    one, total = puzzle_of(game_id, number), len(puzzles(game_id))
    data = {"game": game_id, "number": number, "total": total}
    solved = one in solved_by(request, who)
    return page(request, "puzzle.html", game_id, "/puzzles", puzzle=one, total=total, solved=solved, data=data)
