"""Puzzles: the list, and attempts."""

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from ludodrome.games import GAMES
from ludodrome.puzzle import Puzzle, puzzles
from ludodrome.puzzle.attempt import Attempt
from ludodrome.web.auth import Anybody
from ludodrome.web.engine import engine_slot_for_request
from ludodrome.web.position_view import Json, position_view
from ludodrome.web.puzzles import PuzzleSession, solved_by
from ludodrome.web.routes.schemas import ERROR_RESPONSES, PuzzleMove, puzzle_session_of
from ludodrome.web.templating import page

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
    cache.put(name, PuzzleSession(attempt))
    return _view(name, attempt)


@router.post("/attempts/{name}/moves")
def move(request: Request, name: str, answer: PuzzleMove, who: Anybody) -> Json:
    """Try a move. A right move is made and answered; ``steps`` are the positions on the way."""
    session = puzzle_session_of(request, name)
    attempt = session.attempt
    with engine_slot_for_request(), session.lock:
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
    told = {"right": judgement.right, "sentence": judgement.sentence, "line": list(judgement.line), "fault": fault}
    return {**_view(name, attempt), "judgement": told, "steps": steps}


@router.post("/attempts/{name}/hint")
def hint(request: Request, name: str) -> Json:
    """A hint; each further one says more."""
    session = puzzle_session_of(request, name)
    attempt = session.attempt
    with engine_slot_for_request(), session.lock:
        _check_unsolved(attempt)
        return {"hint": attempt.hint()}


@router.post("/attempts/{name}/solution")
def solution(request: Request, name: str) -> Json:
    """The solution from here. The puzzle then does not count as solved."""
    session = puzzle_session_of(request, name)
    attempt = session.attempt
    with engine_slot_for_request(), session.lock:
        _check_unsolved(attempt)
        session.helped = True
        text = attempt.solution()
    return {"solution": text}


def _check_unsolved(attempt: Attempt) -> None:
    if attempt.solved:
        raise ValueError("the puzzle is solved")


def _step(attempt: Attempt, state: Any, move: Any) -> Json:
    return {"move": move, "position": position_view(attempt.game, state)}


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
