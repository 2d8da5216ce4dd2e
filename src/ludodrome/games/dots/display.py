"""How Dots is shown: diagrams of the rules, chains and loops, what an edge did, pictures, the terminal."""

from typing import Any

from ludodrome.game import Game
from ludodrome.game_extras import Diagram, Explanation, Json, actor, possessive
from ludodrome.games.dots.rules import board_edges
from ludodrome.jit import Array, Record
from ludodrome.painting import CELL, FAINT, INK, SEATS, Canvas
from ludodrome.text_board import BOLD, DIM, Ink, Place, Room, TextBoard

DIAGRAMS = (
    Diagram(
        "Goal",
        "You are Blue. Draw the fourth side of a box, and go on.",
        "2x3 111/010/101 1101/1001 .../... 0 0",
        {"rows": 2, "cols": 3},
    ),
    Diagram(
        "A few tips",
        "You are Blue, and a chain of four is open. Take two boxes, leave two: Orange has to open the other chain.",
        "2x4 1111/1111/1111 00001/00000 ..../.... 0 0",
        {"rows": 2, "cols": 4},
    ),
)


def chains(state: Any) -> list[Json]:
    """The chains and loops of a position: boxes with one or two open sides, joined through them.

    A chain that is being taken begins with a box that has one open side, and that box counts.
    """
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
            if len(beyond) in (1, 2):
                ways[r, c] = beyond
    found = []
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
            found.append({"boxes": [list(box) for box in chain], "loop": inner == 2 * len(chain)})
    return found


def explain(game: Game, before: Json, after: Json, seat: int) -> list[Explanation]:
    """What an edge did, told to the person on ``seat``."""
    mover = before["to_move"]
    who, other = actor(mover, seat), actor(1 - mover, seat)
    won = after["scores"][mover] - before["scores"][mover]
    if won:
        boxes = "two boxes at once" if won == 2 else "a box"
        told = [Explanation("edge", f"{who} drew the last side of {boxes}.")]
        score = "{} : {}".format(*(after["scores"][one] for one in (mover, 1 - mover)))
        told.append(Explanation("double" if won == 2 else "box", f"{_has(who, 'own')} {boxes}: {score}."))
        if after["to_move"] is not None:
            again = "you" if who == "You" else "it"
            told.append(Explanation("again", f"{who} closed a box, so {again} must draw again."))
    else:
        told = [Explanation("edge", f"{who} drew an edge that closes no box, so it is {possessive(other)} turn.")]
    if after["to_move"] is None:
        own, others = after["scores"][mover], after["scores"][1 - mover]
        text = f"All edges are drawn. {_has(who)} {own}, {_of(other)} {others}: more boxes win."
        key = "win" if own > others else "draw" if own == others else "loss"
        return [*told, Explanation(key, text)]
    given = _to_take(game, after)
    if not won and not given:
        told.append(Explanation("safe", "No box has three sides now, so there is nothing to take.", momentary=True))
    if not won and given:
        many = f"{given} boxes now, one after another, beginning with one"
        text = f"{other} can take {'a box now' if given == 1 else many} that has three sides."
        told.append(Explanation("gives", text, momentary=True))
        if given == 2 and _to_take(game, before) == 2:
            text = f"{who} left two boxes on purpose. {other} takes them, and must then draw again, somewhere else."
            told.append(Explanation("double-deal", text))
        elif given > 2:
            told.append(Explanation("chain", f"A chain is open: its {given} boxes can be taken one after another."))
    return told


def _has(who: str, verb: str = "have") -> str:
    """``You have``, ``Your opponent has``; the same with other verbs."""
    return f"You {verb}" if who == "You" else f"{who} {'has' if verb == 'have' else verb + 's'}"


def _of(who: str) -> str:
    return who[0].lower() + who[1:]


def _to_take(game: Game, state: Json) -> int:
    """How many boxes the seat to move can take one after another."""
    states = game.encode_array(state)
    count = 0
    while taken := _take(game, states):
        count += taken
    return count


def _take(game: Game, states: Any) -> int:
    """Draw an edge that closes a box in states[0], in place; return how many it closes, 0 if there is none."""
    owned = sum(game.scores_of(None, states))
    for action in game.legal_actions_of(states):
        drawn = states.copy()
        game.kernels.play(drawn, action)
        taken = int(sum(game.scores_of(None, drawn)) - owned)
        if taken:
            states[:] = drawn
            return taken
    return 0


def paint(game: Game, record: Record) -> Array:
    """Dots, drawn edges, boxes by owner."""
    rows, cols = game.options["rows"], game.options["cols"]
    canvas = Canvas((rows + 1) * CELL, (cols + 1) * CELL)
    half = CELL // 2
    for seat, boxes in enumerate(record["boxes"].tolist()):
        for box in range(rows * cols):
            if boxes >> box & 1:
                top, left = box // cols * CELL + half, box % cols * CELL + half
                canvas.box(top + 4, left + 4, CELL - 8, CELL - 8, SEATS[seat])
    for edge, (way, r, c) in enumerate(board_edges(rows, cols)):
        colour = INK if int(record["edges"]) >> edge & 1 else FAINT
        top, left = r * CELL + half, c * CELL + half
        if way == "H":
            canvas.box(top - 1, left, 3, CELL, colour)
        else:
            canvas.box(top, left - 1, CELL, 3, colour)
    for r in range(rows + 1):
        for c in range(cols + 1):
            canvas.disc(r * CELL + half, c * CELL + half, 4, INK)
    return canvas.pixels


# The full screen of the terminal

BOX_SIZES = ((9, 3), (7, 3), (7, 1), (5, 1))
"""Widths and heights of a box, the largest first; the first that fits is used."""
SIGNS = "●◆"


def text_board(state: Any, room: Room) -> TextBoard:
    """Dots, drawn edges as lines, open edges faint, boxes with the shape of their owner."""
    rows, columns = state["rows"], state["cols"]
    width, height = next(
        (size for size in BOX_SIZES if columns * (size[0] + 1) + 5 <= room[0] and rows * (size[1] + 1) + 3 <= room[1]),
        BOX_SIZES[-1],
    )
    left, top = 4, 1
    inks = [Ink(0, left + c * (width + 1), str(c), tone=DIM) for c in range(columns + 1)]
    places = []
    for r in range(rows + 1):
        line = top + r * (height + 1)
        inks.append(Ink(line, 1, f"{r:>2}", tone=DIM))
        inks += [Ink(line, left + c * (width + 1), "∙", tone=BOLD) for c in range(columns + 1)]
        for c in range(columns):
            at = left + c * (width + 1) + 1
            places.append(Place(f"H({r},{c})", line, at, 1, width))
            inks.append(_edge(state["h"][r][c], line, at, "─" * width, "╌"))
        for c in range(columns + 1) if r < rows else ():
            at = left + c * (width + 1)
            places.append(Place(f"V({r},{c})", line + 1, at - 1, height, 3))
            inks += [_edge(state["v"][r][c], line + 1 + one, at, "│", "╎") for one in range(height)]
        for c in range(columns) if r < rows else ():
            owner = state["owner"][r][c]
            if owner >= 0:
                middle = left + c * (width + 1) + 1 + width // 2
                inks.append(Ink(line + 1 + height // 2, middle, SIGNS[owner], owner))
    return TextBoard(left + columns * (width + 1) + 2, top + rows * (height + 1) + 1, tuple(places), tuple(inks))


def _edge(drawn: bool, row: int, column: int, line: str, faint: str) -> Ink:
    """A drawn edge as a line, an open one as a short faint one."""
    if drawn:
        return Ink(row, column, line, tone=BOLD)
    return Ink(row, column + len(line) // 2, faint, tone=DIM)
