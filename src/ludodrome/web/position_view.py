"""Positions for a page: what is shown, what is legal, and what a board draws beside it. No board is drawn here.

The page decides nothing: legal moves, eruptions, chains and rounds all come from the rules through this module.
"""

from functools import cache
from pathlib import Path
from typing import Any

from ludodrome.game import Game, IllegalMove, Outcome, TooManyMoves
from ludodrome.games import BUILT_IN, find

GENERIC = "generic"
"""The board module of games without one of their own."""
_BOARDS = Path(__file__).parent / "static" / "boards"

Json = dict[str, Any]


@cache
def board_of(game_id: str) -> str:
    """The board module of a game."""
    return game_id if game_id in BUILT_IN and (_BOARDS / f"{game_id}.js").is_file() else GENERIC


def open_game(game_id: str, options: Json | None) -> Game:
    """A game within the limits of the page; ValueError says what would be right."""
    game = find(game_id).game_class()(**(options or {}))
    game.check_page()
    return game


def position_view(game: Game, state: Any, seat: int | None = None) -> Json:
    """A position for the page, as a seat sees it; None for everybody."""
    states = game.new_states(1)
    states[0] = game.encode(state)  # once: encoding takes longer than the rest
    return position_view_of(game, states, seat)


def position_view_of(game: Game, states: Any, seat: int | None = None) -> Json:
    """``position_view`` of a position in compiled form, states[0]."""
    mover, ending = int(game.kernels.mover(states)), game.outcome_of(states)
    legal, state = _legal(game, states), game.decode(states[0])
    seen = state
    if game.has_hidden_information:
        seen = game.observation(state, seat)
        if legal and seat != mover and game.hides(state, seat):
            legal = []
    return {
        "state": seen,
        "to_move": None if mover < 0 else mover,
        "legal": legal,
        "marks": _marks(game, states, seen, legal or []),
        "outcome": None if ending is None else outcome_json(ending),
    }


def outcome_json(ending: Outcome) -> Json:
    """How a game ended."""
    return {
        "winner": ending.winner,
        "reason": ending.reason,
        "scores": list(ending.scores),
        "returns": list(ending.returns),
    }


def why_illegal(game: Game, state: Any, move: Any) -> str:
    """Why a move is illegal; empty if it is legal."""
    try:
        game.apply(state, move)
    except IllegalMove as wrong:
        return str(wrong)
    return ""


def _legal(game: Game, states: Any) -> list[Any] | None:
    """All legal moves; None if there are too many, or if moves are built step by step."""
    if game.actions_a_turn > 1:
        return None
    try:
        return game.legal_moves_of(states)
    except TooManyMoves:
        return None


def board_marks(game: Game, state: Any, legal: list[Any]) -> Json:
    """What the board draws besides the state, which may be an observation if no moves are given."""
    states = game.new_states(1)
    states[0] = game.encode_observation(state)
    return _marks(game, states, state, legal)


def _marks(game: Game, states: Any, seen: Any, legal: list[Any]) -> Json:
    """``board_marks`` of a position in compiled form, states[0], of which ``seen`` is visible."""
    return (
        _generic_marks(game, states, seen, legal) if board_of(game.id) == GENERIC else game.board_marks(states, legal)
    )


def _generic_marks(game: Game, states: Any, seen: Any, legal: list[Any]) -> Json:
    """For the generic board: the drawing, the cells if the game has any, the texts of the legal moves."""
    visible = {name: value for name, value in seen.items() if name != "you"}
    cells = game.cells(visible)
    state = game.decode(states[0]) if legal else None
    return {
        "drawing": game.render_observation(visible),
        "cells": None if cells is None else [[cell._asdict() for cell in row] for row in cells],
        "texts": [game.format_move(move, state) for move in legal],
    }
