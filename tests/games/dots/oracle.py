"""Dots and Boxes by the book: a slow and plain second reading of the rules, to compare the engine with.

It is written from RULES.md alone. An edge is a triple such as ("H", 2, 3), a position is the set of the edges
drawn, and a box is the set of its four sides.
"""

from collections import Counter
from functools import cache
from typing import Any, TypeAlias

State: TypeAlias = dict[str, Any]
Move: TypeAlias = dict[str, Any]
Options: TypeAlias = dict[str, Any]
Edge: TypeAlias = tuple[str, int, int]
Box: TypeAlias = tuple[int, int]

OPEN = -1


@cache
def _edges(rows: int, cols: int) -> list[Edge]:
    """R1: all edges of the board in the one edge order, every H row by row, then every V."""
    horizontal = [("H", r, c) for r in range(rows + 1) for c in range(cols)]
    vertical = [("V", r, c) for r in range(rows) for c in range(cols + 1)]
    return horizontal + vertical


@cache
def _boxes(rows: int, cols: int) -> dict[Box, set[Edge]]:
    """R1: the four sides of every box: top, bottom, left, right."""
    return {
        (r, c): {("H", r, c), ("H", r + 1, c), ("V", r, c), ("V", r, c + 1)} for r in range(rows) for c in range(cols)
    }


def _closed_by(edge: Edge, drawn: set[Edge] | frozenset[Edge], rows: int, cols: int) -> list[Box]:
    """R4, R5: the boxes (none, one or two) whose last missing side is the edge."""
    return [box for box, sides in _boxes(rows, cols).items() if edge in sides and sides - drawn == {edge}]


def _drawn(state: State) -> set[Edge]:
    """The edges drawn in a JSON state."""
    return {
        (orient, r, c)
        for orient, grid in (("H", state["h"]), ("V", state["v"]))
        for r, line in enumerate(grid)
        for c, is_drawn in enumerate(line)
        if is_drawn
    }


def _owners(state: State) -> dict[Box, int]:
    """The closed boxes of a JSON state and their owners."""
    return {(r, c): seat for r, line in enumerate(state["owner"]) for c, seat in enumerate(line) if seat != OPEN}


def _scores(owners: dict[Box, int]) -> list[int]:
    """R8: the boxes owned, by seat."""
    held = list(owners.values())
    return [held.count(0), held.count(1)]


def _over(drawn: set[Edge], rows: int, cols: int) -> bool:
    """R9: all edges are drawn; nothing else ends the game."""
    return drawn == set(_edges(rows, cols))


def _verdict(scores: list[int]) -> tuple[int | None, str]:
    """R10, R11: winner and reason of a finished game."""
    if scores[0] == scores[1]:
        return None, "equal boxes"
    return (0 if scores[0] > scores[1] else 1), "more boxes"


def _write(drawn: set[Edge], owners: dict[Box, int], mover: int, nonce: int, rows: int, cols: int) -> State:
    """The JSON state of a position; the mover is dropped if there is nothing left to draw (R9)."""
    over = _over(drawn, rows, cols)
    scores = _scores(owners)
    winner, reason = _verdict(scores) if over else (None, "")
    return {
        "to_move": None if over else mover,
        "rows": rows,
        "cols": cols,
        "h": [[("H", r, c) in drawn for c in range(cols)] for r in range(rows + 1)],
        "v": [[("V", r, c) in drawn for c in range(cols + 1)] for r in range(rows)],
        "owner": [[owners.get((r, c), OPEN) for c in range(cols)] for r in range(rows)],
        "scores": scores,
        "turn": len(drawn),
        "nonce": nonce,
        "winner": winner,
        "reason": reason,
    }


def initial(options: Options, nonce: int | None = None) -> State:
    """R2, R13: the empty board with seat 0 to move; the nonce is 0 unless it is given."""
    return _write(set(), {}, 0, nonce or 0, options["rows"], options["cols"])


def legal(state: State, options: Options) -> list[Move]:
    """R3, R7, R12: every undrawn edge, in edge order; none when the game is over."""
    drawn = _drawn(state)
    edges = _edges(options["rows"], options["cols"])
    return [{"orient": orient, "r": r, "c": c} for orient, r, c in edges if (orient, r, c) not in drawn]


def to_move(state: State, options: Options) -> int | None:
    """R9: the seat to move, None when the game is over. The edges alone do not tell whose turn it is."""
    if _over(_drawn(state), options["rows"], options["cols"]):
        return None
    seat: int = state["to_move"]
    return seat


def apply(state: State, move: Move, options: Options) -> State:
    """R3 to R6, R8: draw an edge; who closes a box owns it and moves again. The state given stays as it is."""
    assert move in legal(state, options), move
    rows, cols = options["rows"], options["cols"]
    mover: int = state["to_move"]
    edge: Edge = (move["orient"], move["r"], move["c"])
    drawn = _drawn(state)
    closed = _closed_by(edge, drawn, rows, cols)
    owners = _owners(state) | dict.fromkeys(closed, mover)
    return _write(drawn | {edge}, owners, mover if closed else 1 - mover, state["nonce"], rows, cols)


def outcome(state: State, options: Options) -> dict[str, Any] | None:
    """R9 to R11: who has won and why, with scores and returns by seat; None while the game runs."""
    if not _over(_drawn(state), options["rows"], options["cols"]):
        return None
    scores = _scores(_owners(state))
    winner, reason = _verdict(scores)
    returns = [0, 0] if winner is None else [1 if seat == winner else -1 for seat in (0, 1)]
    return {"winner": winner, "scores": scores, "returns": returns, "reason": reason}


def all_games(options: Options) -> tuple[int, list[int], int]:
    """Count all complete games from the start: how many there are, won by seat 0 and by seat 1, and drawn.

    Two games are different when their sequences of edges are. What lies ahead depends on the drawn edges only,
    seen from the seat to move, so each set of edges is counted once.
    """
    rows, cols = options["rows"], options["cols"]
    edges = frozenset(_edges(rows, cols))
    boxes = _boxes(rows, cols)

    @cache
    def ahead(drawn: frozenset[Edge]) -> Counter[int]:
        """How many ways there are to play on in which the mover gets 0, 1, 2, ... of the open boxes."""
        if drawn == edges:
            return Counter({0: 1})  # R9
        still_open = sum(not sides <= drawn for sides in boxes.values())
        ways: Counter[int] = Counter()
        for edge in edges - drawn:  # R3, R7
            closed = len(_closed_by(edge, drawn, rows, cols))
            for gained, count in ahead(drawn | {edge}).items():
                ways[closed + gained if closed else still_open - gained] += count  # R4 to R6
        return ways

    results = [0, 0, 0]
    for gained, count in ahead(frozenset()).items():
        winner, _ = _verdict([gained, len(boxes) - gained])  # R2, R10, R11
        results[2 if winner is None else winner] += count
    return sum(results), results[:2], results[2]
