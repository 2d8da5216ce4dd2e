"""Games: the list, their options and bots, and single positions."""

from typing import Any

from fastapi import APIRouter

from ludodrome.arena.ladder import CLOCK
from ludodrome.arena.ladder.prior_ratings import ladder_game
from ludodrome.bots import bot
from ludodrome.bots.registry import bot_names
from ludodrome.game import Game
from ludodrome.games import GAMES, find
from ludodrome.web.position_view import Json, open_game, position_view, why_illegal
from ludodrome.web.routes.schemas import ERROR_RESPONSES, PositionRequest

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


@router.post("/{game_id}/positions")
def position(game_id: str, asked: PositionRequest) -> Json:
    """A position: side to move, legal moves, outcome. With a move: the position after it."""
    game, state = _position(game_id, asked)
    if asked.move is None:
        return position_view(game, state)
    text = game.format_move(asked.move, state)
    return {**position_view(game, game.apply(state, asked.move)), "text": text}


@router.post("/{game_id}/check")
def check(game_id: str, asked: PositionRequest) -> Json:
    """Whether a move is legal, and if not, why."""
    game, state = _position(game_id, asked)
    why = why_illegal(game, state, asked.move)
    return {"legal": not why, "why": why}


def _position(game_id: str, asked: PositionRequest) -> tuple[Game, Any]:
    game = open_game(game_id, asked.options)
    if asked.state is None:
        return game, game.initial_state()
    state = game.parse_state(asked.state) if isinstance(asked.state, str) else asked.state
    return game, game.decode(game.encode(state))


def warm_up(game_id: str) -> None:
    """Compile or load what a first game needs."""
    game = open_game(game_id, {})
    state = game.initial_state()
    position_view(game, state)
    player = bot(WARM_UP_WITH, game)
    player.choose(game.observation(state, game.to_move(state)))
    player.close()
