"""Spaces by the book: a round of two boards (R18 to R23)."""

from __future__ import annotations

from tests.games.spaces.oracle_boards import Json, Setting, Square, playable, steps_of


def rotated(square: Square, size: int) -> Square:
    """A square turned by 180 degrees (R18)."""
    return size - 1 - square[0], size - 1 - square[1]


class Side:
    """One side of a round: its board step by step, in its owner's view, and what has become of it on the grid."""

    def __init__(self, board: Json, turned: bool, setting: Setting) -> None:
        """A side that has not begun; `turned` for seat 1."""
        self.steps = steps_of(board)
        self.turned = turned
        self.setting = setting
        self.rows: list[int] = []
        self.square: Square = (0, 0)
        self.traps: set[Square] = set()
        self.points = 0
        self.done = 0
        self.stopped = False
        self.finished = False

    def act(self, index: int) -> None:
        """Carry out a step, unless stopped or complete (R19)."""
        if self.stopped or index >= len(self.steps):
            return
        self.done += 1
        kind, own = self.steps[index]
        square = rotated(own, self.setting.size) if self.turned else own
        if kind == "trap":
            self.traps.add(square)
            return
        self.points += self.earned(kind, own[0])
        self.rows.append(own[0])
        self.square = square
        self.finished = kind == "final"

    def earned(self, kind: str, row: int) -> int:
        """The points for a step to a row: 1 for the finish and for a forward step (R20)."""
        if kind == "final":
            return 1
        if not self.rows:
            return 0
        return int(row < (min(self.rows) if self.setting.live else self.rows[-1]))

    def lose(self) -> None:
        """Lose a point, if there is one to lose (R20)."""
        self.points = max(0, self.points - 1)

    def meets(self, other: Side) -> bool:
        """Whether both pieces are on the same square inside the grid (R21)."""
        return self.square == other.square and self.setting.inside(self.square)

    def goes_on(self, index: int) -> bool:
        """Whether a step is left after this one: not if stopped, not if it was the last (R23)."""
        return not self.stopped and index + 1 < len(self.steps)

    def steps_on_trap(self, other: Side) -> bool:
        """Whether this piece is hit now: inside, not stopped before and on a trap of the other side (R22)."""
        return not self.stopped and self.setting.inside(self.square) and self.square in other.traps


def simulate(a: Json, b: Json, size: int, rules: str) -> tuple[list[int], str]:
    """Play a round of two playable boards, seat 0's and seat 1's: the points and how it ended (R18 to R23)."""
    sides, ended = run(a, b, size, rules)
    return [side.points for side in sides], ended


def carried_out(a: Json, b: Json, size: int, rules: str) -> list[int]:
    """How many steps of each board were carried out (R19, R22)."""
    return [side.done for side in run(a, b, size, rules)[0]]


def run(a: Json, b: Json, size: int, rules: str) -> tuple[list[Side], str]:
    """Both sides after a round, and how it ended."""
    if not (playable(a, size, rules) and playable(b, size, rules)):
        raise ValueError("a round needs two playable boards (R7)")
    setting = Setting(size, rules)
    first, second = sides = [Side(a, False, setting), Side(b, True, setting)]
    index, ended = 0, ""
    while not ended:
        for side in sides:
            side.act(index)
        ended = judged(first, second, setting)
        if not ended and not any(side.goes_on(index) for side in sides):
            ended = "complete"
        index += 1
    return sides, ended


def judged(first: Side, second: Side, setting: Setting) -> str:
    """What happens after both have acted; how the round ended, or nothing if it goes on (R19, R21 to R23)."""
    if first.meets(second):
        first.lose()
        second.lose()
        return "collision"
    pairs = ((first, second), (second, first))
    hit = [side for side, other in pairs if side.steps_on_trap(other)]
    for side in hit:
        side.lose()
        side.stopped = True
    if first.finished or second.finished:
        return "goal"
    trapped = (first.stopped and second.stopped) if setting.live else bool(hit)
    return "trap" if trapped else ""
