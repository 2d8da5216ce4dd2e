"""Positions for a page: what is shown, what is legal, and what a board draws beside it. No board is drawn here.

The page decides nothing: legal moves, eruptions, chains and rounds all come from the rules through this module.
"""

from functools import cache
from pathlib import Path
from typing import Any

from ludodrome.game import Game, IllegalMove, Outcome, TooManyMoves
from ludodrome.games import BUILT_IN, find
from ludodrome.validation import show

MAX_GRID = 10
"""Of spaces, on a page."""
MAX_ROUNDS = 25

GENERIC = "generic"
"""The board of games that have none of their own."""
_BOARDS = Path(__file__).parent / "static" / "boards"

Json = dict[str, Any]


@cache
def board_of(game_id: str) -> str:
    """Which of the page's boards shows a game."""
    return game_id if game_id in BUILT_IN and (_BOARDS / f"{game_id}.js").is_file() else GENERIC


def open_game(game_id: str, options: Json | None) -> Game:
    """A game as a page can show it; ValueError says what would be right."""
    game = find(game_id).game_class()(**(options or {}))
    if game.id == "spaces" and (game.options["size"] > MAX_GRID or game.options["rounds"] > MAX_ROUNDS):
        raise ValueError(
            f"on the page spaces has a size of 2 to {MAX_GRID} and 1 to {MAX_ROUNDS} rounds, "
            f"not {show(game.options['size'])} and {show(game.options['rounds'])}"
        )
    return game


def position_view(game: Game, state: Any, seat: int | None = None) -> Json:
    """A position as the page gets it; ``seat``: whose eyes see it, None for everybody's."""
    states = game.new_states(1)
    states[0] = game.encode(state)  # once: reading a state takes longer than all the rest
    return position_view_of(game, states, seat)


def position_view_of(game: Game, states: Any, seat: int | None = None) -> Json:
    """The same of a position as the kernels have it, states[0]."""
    mover, ending = int(game.kernels.mover(states)), game.outcome_of(states)
    legal, state = _legal(game, states), game.decode(states[0])
    return {
        "state": game.observation(state, seat) if game.has_hidden_information else state,
        "to_move": None if mover < 0 else mover,
        "legal": legal,
        "marks": board_marks_of(game, states, legal or []),
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
    """Why a move cannot be made; empty if it can."""
    try:
        game.apply(state, move)
    except IllegalMove as wrong:
        return str(wrong)
    return ""


def _legal(game: Game, states: Any) -> list[Any] | None:
    """All legal moves; None where they are too many to list, or made step by step."""
    if game.actions_a_turn > 1:
        return None
    try:
        return game.legal_moves_of(states)
    except TooManyMoves:
        return None


def board_marks(game: Game, state: Any, legal: list[Any]) -> Json:
    """What the board of a game shows beside the state."""
    states = game.new_states(1)
    states[0] = game.encode(state)
    return board_marks_of(game, states, legal)


def board_marks_of(game: Game, states: Any, legal: list[Any]) -> Json:
    if game.id == "caldera":
        return {"eruptions": _eruptions(game, states, legal)}
    if game.id == "dots":
        return {"chains": _chains(game.decode(states[0]))}
    if game.id == "spaces" and game.options["mode"] == "rounds":
        state = game.decode(states[0])
        if state["history"]:
            return {"round": spaces_round(state["history"][-1]["boards"], state["size"], state["rules"])}
    return _plainly(game, states, legal) if board_of(game.id) == GENERIC else {}


def _plainly(game: Game, states: Any, legal: list[Any]) -> Json:
    """What the generic board shows: the drawing, the cells if the game has any, the legal moves in words."""
    state = game.decode(states[0])
    cells = game.cells(state)
    return {
        "drawing": game.render(state),
        "cells": None if cells is None else [[cell._asdict() for cell in row] for row in cells],
        "texts": [game.format_move(move, state) for move in legal],
    }


def _eruptions(game: Game, states: Any, legal: list[Any]) -> list[Json]:
    """The forges that set something off: the cells that erupt, and those of the pieces that are lost."""
    found = []
    state = game.decode(states[0])
    for move in legal:
        row, column = move.get("target", (0, 0))
        if move["action"] != "forge" or state["board"][row][column] != 3:
            continue
        forged = states.copy()
        game.apply_to(forged, move)
        after = game.decode(forged[0])["board"]
        cells = [
            [r, c] for r in range(len(after)) for c in range(len(after)) if after[r][c] < 0 <= state["board"][r][c]
        ]
        lost = [[piece["r"], piece["c"]] for side in ("p0", "p1") for piece in state[side]]
        found.append({"move": move, "cells": cells, "lost": [cell for cell in lost if cell in cells]})
    return found


def _chains(state: Any) -> list[Json]:
    """The chains and loops of a dots position: boxes with two open sides, joined through them."""
    rows, columns = state["rows"], state["cols"]
    ways: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for r in range(rows):
        for c in range(columns):
            sides = (
                (state["h"][r][c], (r - 1, c)),
                (state["h"][r + 1][c], (r + 1, c)),
                (state["v"][r][c], (r, c - 1)),
                (state["v"][r][c + 1], (r, c + 1)),
            )
            beyond = [box for drawn, box in sides if not drawn]
            if len(beyond) == 2:
                ways[r, c] = beyond
    chains = []
    while ways:
        first = min(ways, key=lambda box: sum(one in ways for one in ways[box]))  # an end, if there is one
        chain, edge, inner = [first], 0, 0
        members = set(chain)
        while edge < len(chain):
            for box in ways[chain[edge]]:
                inner += box in ways
                if box in ways and box not in members:
                    members.add(box)
                    chain.append(box)
            edge += 1
        for box in chain:
            del ways[box]
        if len(chain) > 1:
            chains.append({"boxes": [list(box) for box in chain], "loop": inner == 2 * len(chain)})
    return chains


def spaces_round(boards: list[Any], size: int, rules: str) -> Json:
    """A round of spaces, step by step, on the common grid."""
    from ludodrome.games.spaces import simulate

    position_view_of = simulate(boards[0], boards[1], size, rules)
    return {
        "points": position_view_of.points,
        "ended": position_view_of.ended,
        "steps": [
            {
                "squares": [list(square) for square in step.squares],
                "did": step.did,
                "traps": [None if trap is None else list(trap) for trap in step.traps],
                "points": step.points,
                "events": [{"seat": e.seat, "points": e.points, "reason": e.reason} for e in step.events],
            }
            for step in position_view_of.steps
        ],
    }
