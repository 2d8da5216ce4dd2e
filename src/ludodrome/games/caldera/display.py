"""How Caldera is shown: diagrams of the rules, the eruptions of a forge, what a turn did, pictures, the terminal."""

from collections.abc import Sequence
from typing import Any

from ludodrome.game import Game
from ludodrome.game_extras import Diagram, Explanation, Json, actor, possessive
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
from ludodrome.validation import listing

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
    "crown captured": "{who} captured {whose} crown: that wins the game.",
    "crown erupted": "{who} destroyed {whose} crown: that wins the game.",
    "own crown erupted": "{who} destroyed {own} own crown: that loses the game.",
    "both crowns erupted": "{who} destroyed both crowns: that loses the game.",
    "turn limit: more pieces": "The turn limit is reached, and the side with more pieces wins.",
    "turn limit: higher crown": "The turn limit is reached with equal pieces, and the higher crown wins.",
    "turn limit: draw": "The turn limit is reached with everything equal: a draw.",
    "no legal moves": "{other} can do nothing any more: that loses the game.",
}
"""Reason -> what people read."""


def explain(game: Game, before: Json, move: Json, after: Json, seat: int) -> list[Explanation]:
    """What a turn did, told to the person on ``seat``."""
    mover = before["ply"] % 2
    who, other = actor(mover, seat), actor(1 - mover, seat)
    own, whose = "your" if mover == seat else "its", possessive(other)
    told = _forged(who, other, before, move, after) if move["action"] == "forge" else _moved(who, other, before, move)
    if after["reason"]:
        text = ENDS[after["reason"]].format(who=who, other=other, own=own, whose=whose)
        key = "win" if after["winner"] == mover else "draw" if after["winner"] is None else "loss"
        return [*told, Explanation(after["reason"], text), Explanation(key, "The game is over.")]
    if danger := _captures_of_a_crown(game, after, 0):
        told.append(Explanation("danger", _reach(other, who, danger, "now"), momentary=True))
    elif _captures_of_a_crown(game, before, 1):
        told.append(Explanation("safe", f"{possessive(who).capitalize()} crown is out of reach now."))
    if not danger and (threat := _captures_of_a_crown(game, after, 1)):
        told.append(Explanation("threat", _reach(who, other, threat, "next"), momentary=True))
    return told


def _reach(who: str, other: str, captures: list[tuple[str, str, str]], when: str) -> str:
    """Say that a crown can be captured; warn the person whose crown it is."""
    kind, source, to = captures[0]
    if who == "You":
        if when == "now":
            return f"One of your pieces can capture {possessive(other)} crown now. Find it."
        return f"You can capture {possessive(other)} crown on {to} {when}, with the {kind} on {source}."
    warning = f"Careful: {possessive(who)} {kind} on {source} can capture your crown on {to} {when}."
    return f"{warning} Move the crown away, or capture the {kind}." if when == "next" else warning


def _piece_at(state: Json, cell: list[int]) -> tuple[int, str] | None:
    """The seat and the kind of the piece on a cell."""
    for seat in (0, 1):
        for piece in state[f"p{seat}"]:
            if [piece["r"], piece["c"]] == cell:
                return seat, piece["type"]
    return None


def _captures_of_a_crown(game: Game, state: Json, ahead: int) -> list[tuple[str, str, str]]:
    """How the seat that moves ``ahead`` turns from now could capture a crown if it moved at once: kind, from, to."""
    states = game.encode_array(state)
    states["ply"] += ahead
    found = []
    for one in game.legal_moves_of(states):
        if one["action"] == "move" and (_piece_at(state, one["to"]) or (0, ""))[1] == "crown":
            source, to = ("".join(map(str, cell)) for cell in (one["from"], one["to"]))
            found.append(((_piece_at(state, one["from"]) or (0, ""))[1], source, to))
    return found


def _moved(who: str, other: str, before: Json, move: Json) -> list[Explanation]:
    source, to = move["from"], move["to"]
    names = ["".join(map(str, cell)) for cell in (source, to)]
    found = _piece_at(before, source)
    assert found is not None
    taken = _piece_at(before, to)
    result = f" and captured {possessive(other)} {taken[1]} there" if taken else ""
    told = [Explanation("move", f"{who} moved the {found[1]} from {names[0]} to {names[1]}{result}.")]
    if max(abs(source[0] - to[0]), abs(source[1] - to[1])) == 2:
        told.append(Explanation("leap", "A lancer goes one or two steps in a line, and leaps over what is between."))
        middle = [(source[0] + to[0]) // 2, (source[1] + to[1]) // 2]
        if _piece_at(before, middle):
            told.append(Explanation("leap over", f"The lancer leapt over the piece on {middle[0]}{middle[1]}."))
    if taken:
        told.append(Explanation("capture", "Every piece captures by moving onto an enemy piece."))
    if before["board"][to[0]][to[1]] > before["board"][source[0]][source[1]]:
        told.append(Explanation("climb", "A step goes up by 1 at most, and down from any height."))
    return told


def _forged(who: str, other: str, before: Json, move: Json, after: Json) -> list[Explanation]:
    row, column = move["target"]
    height = before["board"][row][column] + 1
    cells = [(r, c) for r in range(7) for c in range(7) if after["board"][r][c] < 0 <= before["board"][r][c]]
    if not cells:
        told = [Explanation("forge", f"{who} forged: the smith raised cell {row}{column} to height {height}.")]
        if height == 3:
            told.append(Explanation("hot", f"Cell {row}{column} has height 3 now: one more forge and it erupts."))
        return told
    told = [Explanation("forge", f"{who} forged cell {row}{column}, which had height 3.")]
    what = f"Cell {row}{column} erupted"
    if len(cells) > 1:
        what += f", and {len(cells) - 1} more with it"
    told.append(Explanation("eruption", f"{what}: vents stay closed for good, and the cells beside them rise."))
    if len(cells) > 1:
        told.append(Explanation("chain", f"A chain: {len(cells)} cells erupted, each set off by the one before."))
    lost = [_piece_at(before, list(cell)) for cell in cells]
    for side, name, owner in ((1 - before["ply"] % 2, "enemy", other), (before["ply"] % 2, "own", who)):
        kinds = [f"{possessive(owner)} {found[1]}" for found in lost if found and found[0] == side]
        if kinds:
            told.append(Explanation(f"{name} lost", f"The eruption destroyed {listing(kinds)}."))
    lifted = [
        (owner, piece["type"], piece["r"], piece["c"])
        for side, owner in ((before["ply"] % 2, who), (1 - before["ply"] % 2, other))
        for piece in after[f"p{side}"]
        if after["board"][piece["r"]][piece["c"]] > before["board"][piece["r"]][piece["c"]]
    ]
    if lifted:
        owner, kind, r, c = lifted[0]
        height = after["board"][r][c]
        text = f"The ground of {possessive(owner)} {kind} on {r}{c} rose to height {height}, and lifted it."
        told.append(Explanation("lifted", text))
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
