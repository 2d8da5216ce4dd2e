"""Games: the list, their options and bots, single positions, lessons."""

from typing import Any

from fastapi import APIRouter, HTTPException, Request

from ludodrome.arena.ladder import CLOCK
from ludodrome.arena.ladder.prior_ratings import ladder_game
from ludodrome.bots import bot
from ludodrome.bots.registry import bot_names
from ludodrome.game import Game
from ludodrome.games import GAMES, find
from ludodrome.puzzle.lessons import Lesson, LessonStep, hint_of, judge, lesson, play_lesson_moves
from ludodrome.web.position_view import Json, open_game, position_view, why_illegal
from ludodrome.web.routes.pages import sample_game
from ludodrome.web.routes.schemas import ERROR_RESPONSES, LessonMove, PositionRequest

router = APIRouter(prefix="/games", tags=["games"], responses=ERROR_RESPONSES)

WARM_UP_WITH = "level:3"


@router.get("")
def all_games() -> list[Json]:
    """All games."""
    return [{"id": entry.id, "title": entry.title, "summary": entry.summary} for entry in GAMES.values()]


@router.get("/{game_id}")
def one_game(game_id: str) -> Json:
    """A game with its options and the bots that play it.

    `people_options` are those that people meet first, and why; `ladder` has all options and the clock of rated games.
    """
    entry = find(game_id)
    game = open_game(game_id, {})
    return {
        "id": entry.id,
        "title": entry.title,
        "summary": entry.summary,
        "options": [
            {
                "name": one.name,
                "default": one.default,
                "meaning": one.meaning,
                "values": one.values,
                "low": one.low,
                "high": one.high,
                "words": list(one.words),
            }
            for one in game.available
        ],
        "people_options": dict(game.people_options),
        "people_options_reason": game.people_options_reason,
        "ladder": {"options": ladder_game(game_id).options, "clock": CLOCK},
        "seats": game.seats,
        "bots": bot_names(game),
    }


@router.get("/{game_id}/sample")
def sample(game_id: str) -> Json:
    """A sample game for the start page: drawings as lists of SVG elements, one for every position."""
    found = sample_game(find(game_id).id)
    if found is None:
        raise HTTPException(404, "this game has no sample game")
    return {name: found[name] for name in ("bots", "returns", "elements", "frames", "still")}


@router.get("/{game_id}/kernels")
def kernels(request: Request, game_id: str) -> Json:
    """How far the compiled code of a game's first moves is, and about how many seconds it still takes.

    `state` is ready, loading, compiling, waiting (to be compiled), or unknown if the server does not prepare this game.
    """
    found = request.app.state.warm_up.state(find(game_id).id)
    return {"state": found.state, "seconds": found.seconds}


@router.post("/{game_id}/positions")
def position(game_id: str, asked: PositionRequest) -> Json:
    """A position: side to move, legal moves, outcome. With a move: the position after it."""
    game, state = _position(game_id, asked)
    if asked.move is None:
        return position_view(game, state)
    text = game.move_label(asked.move, state)
    return {**position_view(game, game.apply(state, asked.move)), "text": text}


@router.post("/{game_id}/check")
def check(game_id: str, asked: PositionRequest) -> Json:
    """Whether a move is legal, and if not, why."""
    game, state = _position(game_id, asked)
    why = why_illegal(game, state, asked.move)
    return {"legal": not why, "why": why}


def lesson_of(game_id: str) -> Lesson:
    """The lesson of a game, or 404."""
    found = lesson(game_id)
    if found is None:
        raise HTTPException(404, f"{game_id} has no lesson")
    return found


def _lesson_step(game_id: str, number: int) -> LessonStep:
    steps = lesson_of(game_id).steps
    if not 1 <= number <= len(steps):
        raise HTTPException(404, f"the steps of the lesson of {game_id} are numbered from 1 to {len(steps)}")
    return steps[number - 1]


@router.get("/{game_id}/lesson")
def lesson_outline(game_id: str) -> Json:
    """The lesson of a game: the titles of its steps, and the options of the first game after it, in words too."""
    found = lesson_of(game_id)
    titles = [step.title for step in found.steps]
    return {"game": game_id, "steps": titles, "options": found.first_options(), "about": found.about}


@router.get("/{game_id}/lesson/{number}")
def lesson_step(game_id: str, number: int) -> Json:
    """A step of a lesson, from 1: its idea, its first task, its position."""
    step = _lesson_step(game_id, number)
    game = step.game(game_id)
    state = step.state(game)
    return {
        "number": number,
        "title": step.title,
        "idea": step.idea,
        "options": game.options,
        "seat": game.to_move(state),
        **_lesson_task(game, step, 0, state),
    }


@router.post("/{game_id}/lesson/{number}")
def lesson_move(game_id: str, number: int, tried: LessonMove) -> Json:
    """Try a move in a step of a lesson. `line` has the move and the replies, with the positions after them."""
    step = _lesson_step(game_id, number)
    game = step.game(game_id)
    made = len(tried.moves)
    state = play_lesson_moves(game, step, tried.moves)
    verdict = judge(game, step, made, state, tried.move)
    seat = game.to_move(step.state(game))
    answer = {
        "right": verdict.right,
        "legal": verdict.legal,
        "sentence": verdict.sentence,
        "done": verdict.is_last,
        "line": [{"move": move, "position": position_view(game, after, seat)} for move, after in verdict.line],
    }
    if verdict.right and not verdict.is_last:
        after = verdict.line[-1][1] if verdict.line else state
        answer["next"] = _lesson_task(game, step, made + 1, after)
    return answer


def _lesson_task(game: Game, step: LessonStep, number: int, state: Any) -> Json:
    """A task of a step, its position, and the move that a hint shows."""
    task = step.tasks[number]
    return {
        "task": task.task,
        "hint": hint_of(game, task, state),
        "position": position_view(game, state, game.to_move(state)),
    }


def _position(game_id: str, asked: PositionRequest) -> tuple[Game, Any]:
    game = open_game(game_id, asked.options)
    if asked.state is None:
        return game, game.initial_state()
    state = game.parse_state(asked.state) if isinstance(asked.state, str) else asked.state
    return game, game.decode(game.encode(state))


def warm_up(game_id: str) -> None:
    """Compile or load what a first game needs."""
    game = open_game(game_id, dict(find(game_id).game_class().people_options))
    state = game.initial_state()
    position_view(game, state)
    player = bot(WARM_UP_WITH, game)
    player.choose(game.observation(state, game.to_move(state)))
    player.close()
