"""How Caldera is shown: diagrams of the rules, the eruptions of a forge, what a turn did, pictures, the terminal."""

from collections.abc import Sequence
from typing import Any

from ludodrome.game import Game
from ludodrome.game_extras import Diagram, Explanation, Json, actor
from ludodrome.jit import Array, Record
from ludodrome.painting import CELL, PAPER, SEATS, ground, heights, middle
from ludodrome.text_board import (
    HOT,
    VENT,
    Pick,
    PickWarning,
    Room,
    Square,
    TextBoard,
    draw_squares,
    height_square,
)

DIAGRAMS = (
    Diagram(
        "Goal",
        "You are Blue. Pick the smith on 32, choose Forge and then 22: the whole chain is shown before you confirm.",
        "0001000/0023000/0033200/0020000/0000000/0000000/0000000 c63l24s32 c12l23l03s05 40",
    ),
    Diagram("Setup", "The start: crown in the middle, a smith at each side, then the lancers.", "", still=True),
    Diagram(
        "Your turn",
        "Pick a lancer: it leaps. Pick a smith: it steps, or forges.",
        "0000000/0000000/0000000/0001000/0000000/0000000/0000000 c63l61l54s62s64 c03l01l05s02s04 8",
    ),
)


def eruptions(game: Game, states: Any, legal: Sequence[Any]) -> list[Json]:
    """The forges that set off an eruption, with the cells that erupt and the cells of the pieces that are lost."""
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


ENDS = {
    "crown captured": "{who} took the crown: that wins the game.",
    "crown erupted": "The crown of {whose} erupted with the ground: {who} won.",
    "own crown erupted": "{who} let the ground erupt under the own crown: that loses the game.",
    "both crowns erupted": "Both crowns erupted: whoever sets that off loses, and that was {who}.",
    "turn limit: more pieces": "The turn limit is reached, and the side with more pieces wins.",
    "turn limit: higher crown": "The turn limit is reached with equal pieces, and the higher crown wins.",
    "turn limit: draw": "The turn limit is reached with everything equal: a draw.",
    "no legal moves": "{whose} cannot do anything any more, and that loses the game.",
}
"""Reason -> what people read."""


def explain(game: Game, before: Json, move: Json, after: Json, seat: int) -> list[Explanation]:
    """What a turn did, told to the person on ``seat``."""
    mover = before["ply"] % 2
    who, other = actor(mover, seat), actor(1 - mover, seat)
    told = _forged(who, before, move, after) if move["action"] == "forge" else _moved(who, mover, before, move)
    if after["reason"]:
        text = ENDS[after["reason"]].format(who=who, whose=other)
        key = "win" if after["winner"] == mover else "draw" if after["winner"] is None else "loss"
        return [*told, Explanation(after["reason"], text[0].upper() + text[1:]), Explanation(key, "The game is over.")]
    in_reach, own = (_crown_in_reach(game, state, ahead) for state, ahead in ((before, 1), (after, 1)))
    in_danger = _crown_in_reach(game, after, 0)
    if in_danger:
        told.append(Explanation("danger", f"The crown of {_of(who)} is in reach: {_of(other)} can take it now."))
    elif in_reach:
        told.append(Explanation("safe", f"{other} could have taken a crown, and cannot do that any more."))
    if own and not in_danger:
        told.append(Explanation("threat", f"{who} can take the crown of {_of(other)} next, unless it gets away."))
    return told


def _of(who: str) -> str:
    return who[0].lower() + who[1:]


def _piece_at(state: Json, cell: list[int]) -> tuple[int, str] | None:
    """The seat and the kind of the piece on a cell."""
    for seat in (0, 1):
        for piece in state[f"p{seat}"]:
            if [piece["r"], piece["c"]] == cell:
                return seat, piece["type"]
    return None


def _crown_in_reach(game: Game, state: Json, ahead: int) -> bool:
    """Whether the seat that moves ``ahead`` turns from now could take a crown if it moved at once."""
    states = game.encode_array(state)
    states["ply"] += ahead
    moves = game.legal_moves_of(states)
    return any(one["action"] == "move" and (_piece_at(state, one["to"]) or (0, ""))[1] == "crown" for one in moves)


def _moved(who: str, mover: int, before: Json, move: Json) -> list[Explanation]:
    source, to = move["from"], move["to"]
    names = ["".join(map(str, cell)) for cell in (source, to)]
    found = _piece_at(before, source)
    assert found is not None
    taken = _piece_at(before, to)
    result = f", and took the {taken[1]} there" if taken else ""
    told = [Explanation("move", f"{who} moved the {found[1]} from {names[0]} to {names[1]}{result}.")]
    if max(abs(source[0] - to[0]), abs(source[1] - to[1])) == 2:
        told.append(Explanation("leap", "A lancer goes one or two steps in a line, and leaps over what is between."))
        middle = [(source[0] + to[0]) // 2, (source[1] + to[1]) // 2]
        if _piece_at(before, middle):
            told.append(Explanation("leap over", f"The lancer leapt over the piece on {middle[0]}{middle[1]}."))
    if taken:
        told.append(Explanation("capture", f"The {taken[1]} is gone: every piece takes by moving onto another."))
    if before["board"][to[0]][to[1]] > before["board"][source[0]][source[1]]:
        told.append(Explanation("climb", "A step goes up by one level at most, and down from any height."))
    return told


def _forged(who: str, before: Json, move: Json, after: Json) -> list[Explanation]:
    row, column = move["target"]
    height = before["board"][row][column] + 1
    cells = [(r, c) for r in range(7) for c in range(7) if after["board"][r][c] < 0 <= before["board"][r][c]]
    if not cells:
        told = [Explanation("forge", f"{who} forged: the smith raised {row}{column} to {height}.")]
        if height == 3:
            told.append(Explanation("hot", f"{row}{column} is at 3 now: one more forge and it erupts."))
        return told
    told = [Explanation("forge", f"{who} forged {row}{column} to 4.")]
    what = "It erupted" if len(cells) == 1 else f"It erupted, and {len(cells) - 1} more with it"
    told.append(
        Explanation("eruption", f"{what}: vents stay closed for the rest of the game, and all neighbours rise by 1.")
    )
    if len(cells) > 1:
        told.append(Explanation("chain", f"A chain: {len(cells)} cells erupted, each set off by the one before."))
    lost = [_piece_at(before, list(cell)) for cell in cells]
    for side, name in ((1 - before["ply"] % 2, "enemy"), (before["ply"] % 2, "own")):
        kinds = [found[1] for found in lost if found and found[0] == side]
        if kinds:
            told.append(Explanation(f"{name} lost", f"The eruption destroyed: {', '.join(kinds)} ({name})."))
    lifted = [
        (piece["r"], piece["c"])
        for side in ("p0", "p1")
        for piece in after[side]
        if after["board"][piece["r"]][piece["c"]] > before["board"][piece["r"]][piece["c"]]
    ]
    if lifted:
        r, c = lifted[0]
        told.append(Explanation("lifted", f"The piece on {r}{c} was lifted to {after['board'][r][c]} with its ground."))
    return told


def paint(game: Game, record: Record) -> Array:
    """Cells by height, dark vents, lettered pieces by seat."""
    canvas = ground(heights(record["levels"], 49), 7)
    for seat in range(game.seats):
        for letter, cell in zip("CLLSS", record["cells"][seat].tolist(), strict=True):
            if cell < 49:
                row, column = middle(cell // 7), middle(cell % 7)
                canvas.disc(row, column, CELL * 3 // 8, SEATS[seat])
                canvas.write(row, column, letter, PAPER)
    return canvas.pixels


# The full screen of the terminal

SIGNS, VENT_SIGN = "●◆", "▒▒▒"


def text_board(state: Any, room: Room) -> TextBoard:
    """Cells by height, vents, and the pieces with the shape of their seat and the letter of their kind."""
    pieces = {
        (piece["r"], piece["c"]): (f"{SIGNS[seat]}{piece['type'][0].upper()}", seat)
        for seat in range(2)
        for piece in state[f"p{seat}"]
    }
    squares = [
        [
            Square(f"{r}{c}", tone=VENT, piece=VENT_SIGN)
            if height < 0
            else height_square(f"{r}{c}", height, HOT, *pieces.get((r, c), ("", None)))
            for c, height in enumerate(row)
        ]
        for r, row in enumerate(state["board"])
    ]
    names = [str(number) for number in range(len(squares))]
    return draw_squares(squares, names, names, room)


def picks(move: Any, state: Any) -> list[Pick]:
    """The piece, and the cell that it aims at."""
    source, to = (move["from"], move["to"]) if move["action"] == "move" else (move["smith"], move["target"])
    seat = state["ply"] % 2
    kinds = {(piece["r"], piece["c"]): piece["type"] for piece in state[f"p{seat}"]}
    taken = any([piece["r"], piece["c"]] == to for piece in state[f"p{1 - seat}"])
    does = "forge" if move["action"] == "forge" else "capture on" if taken else "move to"
    return [Pick(f"{source[0]}{source[1]}", kinds[source[0], source[1]]), Pick(f"{to[0]}{to[1]}", does)]


def warning(game: Game, state: Any, chosen: Sequence[Pick]) -> PickWarning | None:
    """With a smith picked, the forges that erupt; with its target, every cell that erupts and what is lost there."""
    smith = next((piece for piece in state[f"p{state['ply'] % 2}"] if chosen and _is_on(piece, chosen[0].place)), None)
    if smith is None or smith["type"] != "smith":
        return None
    forges = [move for move in game.legal_moves(state) if move.get("smith") == [smith["r"], smith["c"]]]
    found = {f"{one['move']['target'][0]}{one['move']['target'][1]}": one for one in _eruptions(game, state, forges)}
    if len(chosen) == 1:
        return PickWarning(tuple(found), "!: a forge there erupts") if found else None
    one = found.get(chosen[1].place) if chosen[1].action == "forge" else None
    if one is None:
        return None
    count = len(one["cells"])
    lost = [f"{r}{c}" for r, c in one["lost"]]
    note = f"erupts: {count} {'cell' if count == 1 else 'cells'}, " + (
        f"lost on {', '.join(lost)}" if lost else "no piece lost"
    )
    return PickWarning(tuple(f"{r}{c}" for r, c in one["cells"]), note)


def _is_on(piece: Json, name: str) -> bool:
    return f"{piece['r']}{piece['c']}" == name


def _eruptions(game: Game, state: Any, forges: Sequence[Any]) -> list[Json]:
    states = game.new_states(1)
    states[0] = game.encode(state)
    return eruptions(game, states, forges)
