"""The number of a board in the documented order, and the board of a number, without listing those before it.

At each choice the counts of ``counting.py`` say how many boards begin this way. The choices are taken in action
order, so the boards before a given one are those of the smaller choices along its way. Numbers begin at 1.
"""

from functools import lru_cache
from typing import Protocol

import numpy as np

from ludodrome import validation
from ludodrome.game import IllegalMove
from ludodrome.games.spaces.boards import FINISH, FIRST_TRAP, HERE, LEFT, RIGHT, UP, checked_size, is_live, steps_of
from ludodrome.games.spaces.counting import (
    LiveRow,
    WrittenRow,
    count_boards,
    live_arrivals,
    live_fields,
    written_fields,
    written_rows,
)
from ludodrome.games.spaces.legality import iter_faults, refusal
from ludodrome.games.spaces.rules import longest
from ludodrome.games.spaces.sampling import (
    BEHIND,
    COL,
    DISTANCE,
    ENTERING,
    FIRST,
    LAST,
    LENGTH,
    MIRROR,
    MIRRORED,
    PHASE,
    RISEN,
    STEP_OF,
    TRAP_OF,
    TRAPS_LEFT,
    WALKING,
    take_sample,
)

MAX_RANKED = {"live": 20, "written": 5}
"""Up to these sizes boards have numbers; larger ones would take minutes, or more memory than there is."""

Choice = tuple[tuple[int, ...], int]
"""The actions of a choice, and the number of boards that continue with it."""


class _Unfinished(Protocol):
    """A board that is laid choice by choice."""

    def choices(self) -> list[Choice]:
        """The legal choices in action order; none on row 0."""

    def take(self, number: int) -> None:
        """Take the choice of this index."""


def board_at(number: int, size: int, rules: str = "written") -> bytes:
    """The board of a number, as actions; ValueError if there are fewer boards, or the size is too large.

    >>> from ludodrome import spaces
    >>> spaces.board_at(1, 3, "live") == next(spaces.generate(3, "live"))
    True
    """
    validation.integer(number, 1, _ranked(size, rules), "the number of a board", ValueError)
    before = number - 1
    board, actions = _start(size, rules), b""
    while choices := board.choices():
        at = 0
        while before >= choices[at][1]:
            before -= choices[at][1]
            at += 1
        actions += bytes(choices[at][0])
        board.take(at)
    return actions + bytes([size + FINISH])


def number_of(actions: bytes, size: int, rules: str = "written") -> int:
    """The number of a legal board; IllegalMove if it is not legal, ValueError as above.

    >>> from ludodrome import spaces
    >>> spaces.number_of(spaces.board_at(700, 3, "live"), 3, "live")
    700
    """
    _ranked(size, rules)
    wrong = refusal(iter_faults(steps_of(actions, size), size, is_live(rules)))
    if wrong:
        raise IllegalMove(f"a board that is not legal has no number: {wrong}")
    board, at, before = _start(size, rules), 0, 0
    while choices := board.choices():
        taken = next(number for number, (way, _) in enumerate(choices) if bytes(way) == actions[at : at + len(way)])
        before += sum(count for _, count in choices[:taken])
        at += len(choices[taken][0])
        board.take(taken)
    return before + 1


def _ranked(size: int, rules: str) -> int:
    """The number of boards, if they can be numbered."""
    checked_size(size)
    is_live(rules)
    if size > MAX_RANKED[rules]:
        raise ValueError(
            f"under {rules!r} boards are numbered up to size {MAX_RANKED[rules]}; size {size} would take far too long"
        )
    return count_boards(size, rules)


def _start(size: int, rules: str) -> _Unfinished:
    return _LiveBoard(size) if is_live(rules) else _WrittenBoard(size)


# live: the choices are those of ``counting.LiveRow``, a trap or none and a piece step


@lru_cache(2)
def _live_rows(size: int) -> list[LiveRow]:
    """The rows from row 1 on; row 0 leaves no choice (R12)."""
    fields = live_fields(size)
    above = live_arrivals(size, fields)
    return [LiveRow(size, fields, above[row - 1], top=row == 1) for row in range(1, size)]


class _LiveBoard:
    """A board under ``live``; its state is a sample of ``sampling.py``."""

    def __init__(self, size: int) -> None:
        self.size, self.rows = size, _live_rows(size)
        self.row = size
        """The row of the piece; ``size`` before the start."""
        self.sample = np.zeros(PHASE + 1, np.int64)
        self.actions = np.zeros(longest(size), np.uint8)
        self._order: list[int] = []

    def choices(self) -> list[Choice]:
        """The choices in action order."""
        if self.row == 0:
            return []
        fields = live_fields(self.size)
        most = self.size - 1
        if self.row == self.size:
            starts = [self.rows[-1].entries(col, 0, most) for col in range(self.size)]
            self._order = list(range(self.size))
            return [((col,), fields.coefficient(sum(ways), fields.trap * most)) for col, ways in enumerate(starts)]
        one, row = self.sample.tolist(), self.rows[self.row - 1]
        if one[PHASE] == WALKING:
            ways = row.ways(one[COL], one[LAST], one[DISTANCE], bool(one[BEHIND]))
        else:
            ways = row.entries(one[COL], one[FIRST], one[LAST])
        counts = [fields.coefficient(series, fields.trap * one[TRAPS_LEFT]) for series in ways]
        found = sorted((self._actions(number), number) for number, count in enumerate(counts) if count)
        self._order = [number for _, number in found]
        return [(actions, counts[number]) for actions, number in found]

    def _actions(self, choice: int) -> tuple[int, ...]:
        """The actions of a choice; a walk to the left is stored as its mirror image."""
        phase = 0 if self.sample[PHASE] == ENTERING else 1
        turned = bool(phase and self.sample[MIRRORED])
        done = [int(table[phase, choice]) for table in (TRAP_OF, STEP_OF)]
        return tuple(self.size + int(MIRROR[what] if turned else what) for what in done if what >= 0)

    def take(self, number: int) -> None:
        """Take a choice."""
        chosen = self._order[number]
        if self.row == self.size:
            self.sample[[COL, LAST, TRAPS_LEFT]] = chosen, self.size - 1, self.size - 1
            self.row -= 1
            return
        self.sample[LENGTH] = 0
        take_sample(self.size, self.sample, self.actions, chosen)
        if self.sample[PHASE] == RISEN:
            self.sample[PHASE] = ENTERING
            self.row -= 1


# written: single traps and piece steps; a supermove together with the step that must follow it (R11)


@lru_cache(2)
def _written_rows(size: int) -> list[WrittenRow]:
    return written_rows(size, written_fields(size))


class _WrittenBoard:
    """A board under ``written``: the column of its piece, how it came there, and the set of traps that matter."""

    def __init__(self, size: int) -> None:
        self.size, self.rows = size, _written_rows(size)
        self.row, self.col, self.way, self.traps = size, 0, "up", 0
        self._ways: list[tuple[int, ...]] = []

    def choices(self) -> list[Choice]:
        """The choices in action order."""
        if self.row == 0:
            return []
        if self.row == self.size:
            found: list[Choice] = [((col,), self.rows[-1].free[col, "up"][0]) for col in range(self.size)]
        else:
            found = sorted(self._here())
        found = [(way, count) for way, count in found if count]
        self._ways = [way for way, _ in found]
        return found

    def _here(self) -> list[Choice]:
        row = self.rows[self.row - 1]
        moves = row.moves[self.col, self.way]
        under = row.here(self.col)
        found: list[Choice] = []
        for step, ways in zip((UP, LEFT, RIGHT), moves, strict=True):
            found.append(((self.size + step,), ways[self.traps]))
            if not self.traps & under:
                found.append(((self.size + HERE, self.size + step), ways[self.traps | under]))
        for place, bit in row.around(self.col):
            if not self.traps & bit:
                found.append(((self.size + FIRST_TRAP + place,), row.free[self.col, self.way][self.traps | bit]))
        return found

    def take(self, number: int) -> None:
        """Take a choice."""
        way = self._ways[number]
        if self.row == self.size:
            self.col, self.row = way[0], self.size - 1
            return
        row = self.rows[self.row - 1]
        for action in way:
            what = action - self.size
            if what == UP:
                self.traps = self.traps << self.size & row.sets - 1
                self.row -= 1
                self.way = "up"
            elif what in (LEFT, RIGHT):
                self.way = "left" if what == LEFT else "right"
                self.col += -1 if what == LEFT else 1
            elif what == HERE:
                self.traps |= row.here(self.col)
            else:
                self.traps |= next(bit for place, bit in row.around(self.col) if place == what - FIRST_TRAP)
