"""Dots on the page: diagrams of the rules, and the chains and loops of a position."""

from typing import Any

from ludodrome.game_extras import Diagram, Json

DIAGRAMS = (
    Diagram(
        4,
        "Draw the fourth side of a box, and go on.",
        "2x3 111/010/101 1101/1001 .../... 0 0",
        {"rows": 2, "cols": 3},
    ),
)


def chains(state: Any) -> list[Json]:
    """The chains and loops of a position: boxes with two open sides, joined through them."""
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
