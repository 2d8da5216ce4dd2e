"""What is wrong with a board: every fault, with its step and its rule.

The R-numbers are those of RULES.md, and so is the way in which faults are charged to steps.
Any JSON board of any size can be judged here, jumps and all; the kernels of ``rules.py`` know
the same law for boards that are built step by step.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from ludodrome.games.spaces.boards import (
    FINAL,
    PIECE,
    TRAP,
    BadShape,
    Steps,
    checked_size,
    is_live,
    most_steps,
    read_board,
)
from ludodrome.validation import show


class Fault(NamedTuple):
    """One thing that is wrong with a board."""

    step: int
    """From 1; 0 for R2, which judges the board as a whole."""
    rule: str
    """``R12``, say."""
    sentence: str


PLAYABLE = ("R2", "R3", "R4", "R5", "R6", "R7")
"""A board without a fault of these rules can be played in a round (R7)."""

_SHOWN = 3
"""So many faults are told in one refusal."""
_SMALL = 1_000_000


def check(board: Any, size: int, rules: str = "written") -> list[Fault]:
    """All faults of a board, in the order of its steps; none: it is legal."""
    checked_size(size)
    live = is_live(rules)
    try:
        steps = read_board(board, size)
    except BadShape as wrong:
        return [Fault(0, "R2", str(wrong))]
    return faults(steps, size, live)


def faults(steps: Steps, size: int, live: bool, unfinished: bool = False) -> list[Fault]:
    """All faults of steps. Of an unfinished board, R6 does not ask for a finish yet."""
    return list(each_fault(steps, size, live, unfinished))


def each_fault(steps: Steps, size: int, live: bool, unfinished: bool = False) -> Iterator[Fault]:
    """The same, one after another: whoever needs only the first few need not wait for the rest."""
    most = most_steps(size)
    if len(steps) > most:
        yield _fault(most + 1, "R7", f"a board of size {size} has at most {most} steps, this one has {len(steps)}")
        return
    judge = _Judge(size, live)
    for number, (row, col, kind) in enumerate(steps, 1):
        wrong = judge.step(number, row, col, kind)
        if number == len(steps) and not unfinished and not judge.finished:
            wrong.append(("R6", "the board ends without a final step to the goal"))
            wrong.sort(key=lambda fault: int(fault[0][1:]))
        for rule, what in wrong:
            yield _fault(number, rule, what)


def refusal(found: Iterable[Fault]) -> str:
    """The first few faults as one sentence."""
    told = [fault.sentence for fault in islice(found, _SHOWN + 1)]
    return "; ".join(told if len(told) <= _SHOWN else [*told[:-1], "and more"])


def why_unplayable(board: Any, size: int, live: bool) -> str:
    """What keeps a board from being played (R7), as one sentence; empty if nothing does."""
    try:
        steps = read_board(board, size)
    except BadShape as wrong:
        return str(wrong)
    return refusal(fault for fault in each_fault(steps, size, live) if fault.rule in PLAYABLE)


def _fault(step: int, rule: str, what: str) -> Fault:
    return Fault(step, rule, f"step {step}: {what} ({rule})")


def _at(row: int, col: int) -> str:
    if -_SMALL < row < _SMALL and -_SMALL < col < _SMALL:
        return f"({row},{col})"
    return f"({show(row)},{show(col)})"


class _Judge:
    """Walks along a board, and takes faulty steps too, so that the next is judged from there."""

    def __init__(self, size: int, live: bool) -> None:
        self.size = size
        self.live = live
        self.row = self.col = 0
        self.visited: set[tuple[int, int]] = set()
        self.traps: set[tuple[int, int]] = set()
        self.trap_steps = 0
        self.after_trap = self.after_supermove = self.finished = False

    def step(self, number: int, row: int, col: int, kind: str) -> list[tuple[str, str]]:
        """Judge a step and take it; what is wrong with it, by the rules' numbers."""
        wrong: list[tuple[str, str]] = []
        if self.finished:
            wrong.append(("R6", "the final step ends the board, and nothing may follow it"))
        else:
            if number == 1:
                self._judge_start(row, col, kind, wrong)
            elif kind == PIECE:
                self._judge_piece(row, col, wrong)
            elif kind == TRAP:
                self._judge_trap(row, col, wrong)
            else:
                self._judge_final(row, col, wrong)
            self._take(row, col, kind)
        return wrong

    def _take(self, row: int, col: int, kind: str) -> None:
        if kind == TRAP and self.visited:
            self.after_supermove = (row, col) == (self.row, self.col)
        else:
            self.row, self.col = row, col
            self.visited.add((row, col))
            self.after_supermove = kind == TRAP  # only of a start that is none
        self.after_trap = kind == TRAP
        if kind == TRAP:
            self.traps.add((row, col))
            self.trap_steps += 1
        self.finished = kind == FINAL

    def _inside(self, row: int, col: int) -> bool:
        return 0 <= row < self.size and 0 <= col < self.size

    def _judge_start(self, row: int, col: int, kind: str, wrong: list[tuple[str, str]]) -> None:
        bottom = self.size - 1
        if kind != PIECE:
            wrong.append(("R3", f"a board starts with a piece step on row {bottom}, not with a {kind} step"))
        elif row != bottom or not 0 <= col <= bottom:
            wrong.append(
                ("R3", f"the piece starts on row {bottom} in a column from 0 to {bottom}, not on {_at(row, col)}")
            )

    def _judge_piece(self, row: int, col: int, wrong: list[tuple[str, str]]) -> None:
        if not self._inside(row, col):
            wrong.append(("R4", f"the piece leaves the grid, to {_at(row, col)}"))
        elif abs(row - self.row) + abs(col - self.col) != 1:
            jump = f"from {_at(self.row, self.col)} to {_at(row, col)}"
            wrong.append(("R4", f"the piece goes {jump}, which is not one square up, down, left or right"))
        if (row, col) in self.visited:
            wrong.append(("R8", f"the piece has stood on {_at(row, col)} before"))
        if row > self.row:
            wrong.append(("R9", f"the piece goes back down, from {_at(self.row, self.col)} to {_at(row, col)}"))
        if self.row == 0:
            wrong.append(("R12", "the piece moves on from row 0, where only the finish may follow"))
        if self.live and (row, col) in self.traps:
            wrong.append(("R16", f"the piece enters {_at(row, col)}, which holds a trap of its own"))

    def _judge_trap(self, row: int, col: int, wrong: list[tuple[str, str]]) -> None:
        if not self._inside(row, col):
            wrong.append(("R5", f"a trap is set outside the grid, on {_at(row, col)}"))
        elif not self._in_reach(row, col):
            places = "up, left or right of it or under it" if self.live else "next to it or under it"
            here = f"the piece on {_at(self.row, self.col)}"
            wrong.append(("R5", f"a trap on {_at(row, col)} is out of reach of {here}: it goes {places}"))
        if (row, col) in self.traps:
            wrong.append(("R10", f"{_at(row, col)} has a trap of this board already"))
        if self.after_supermove:
            wrong.append(("R11", "a supermove must be followed by a piece step, not by a trap"))
        if self.row == 0:
            wrong.append(("R12", "a trap is set from row 0, where only the finish may follow"))
        if self.live:
            if row == 0:
                wrong.append(("R13", f"a trap is set on row 0, on {_at(row, col)}"))
            if self.trap_steps >= self.size - 1:
                wrong.append(("R14", f"a board of size {self.size} has at most {self.size - 1} traps"))
            if self.after_trap:
                wrong.append(("R15", "a trap must be followed by a piece step, not by another trap"))

    def _in_reach(self, row: int, col: int) -> bool:
        down, right = row - self.row, col - self.col
        if self.live:
            return (down, right) in ((-1, 0), (0, -1), (0, 0), (0, 1))
        return abs(down) <= 1 and abs(right) <= 1

    def _judge_final(self, row: int, col: int, wrong: list[tuple[str, str]]) -> None:
        if self.row != 0:
            wrong.append(("R6", f"the finish is made from row 0, not from {_at(self.row, self.col)}"))
        elif (row, col) != (-1, self.col):
            wrong.append(("R6", f"the finish goes straight up to {_at(-1, self.col)}, not to {_at(row, col)}"))
        if self.after_supermove:
            wrong.append(("R11", "a supermove must be followed by a piece step, not by the finish"))
        if self.live and self.after_trap:
            wrong.append(("R15", "a trap must be followed by a piece step, not by the finish"))
