"""Legality: every fault of a board, the four layers of validation, and legal continuations (R17).

The R-numbers are those of RULES.md. Any JSON board of any size can be checked, jumps included;
the kernels of ``rules.py`` apply the same rules to boards that are built step by step.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np

from ludodrome.game import IllegalMove
from ludodrome.game_spec import GAME_OVER
from ludodrome.games.spaces import rules
from ludodrome.games.spaces.boards import (
    FINAL,
    FINISH,
    PIECE,
    TRAP,
    UP,
    BadShape,
    Steps,
    actions_of,
    checked_size,
    format_step,
    is_finished,
    is_live,
    max_steps,
    read_board,
    read_steps,
    step_of,
    steps_of,
)
from ludodrome.jit import new_states
from ludodrome.search.entry_points import make_kernels
from ludodrome.validation import plural, show

_KERNELS = make_kernels(rules.RULES)


class Fault(NamedTuple):
    """One fault of a board."""

    step: int
    """From 1; 0 for R2, which concerns the whole board."""
    rule: str
    """For example ``R12``."""
    sentence: str


PLAYABLE = ("R2", "R3", "R4", "R5", "R6", "R7")
"""A board without faults of these rules can be played in a round; that it is unfinished does not matter (R7)."""

_SHOWN = 3
"""Maximum number of faulty steps in one error sentence."""
_SMALL = 1_000_000
_WORDS = {TRAP: "trap", FINAL: "step to the goal"}


def check(board: Any, size: int, rules: str = "written") -> list[Fault]:
    """All faults of a board, in step order; an empty list means that it is legal."""
    checked_size(size)
    live = is_live(rules)
    try:
        steps = read_board(board, size)
    except BadShape as wrong:
        return [Fault(0, "R2", str(wrong))]
    return faults(steps, size, live)


def faults(steps: Steps, size: int, live: bool, unfinished: bool = False) -> list[Fault]:
    """All faults of steps. ``unfinished``: the board does not need a finish (R6)."""
    return list(iter_faults(steps, size, live, unfinished))


def iter_faults(steps: Steps, size: int, live: bool, unfinished: bool = False) -> Iterator[Fault]:
    """Yield the faults of ``faults`` one by one, for callers that need only the first few."""
    most = max_steps(size)
    if len(steps) > most:
        yield _fault(most + 1, "R7", f"a board of size {size} has at most {most} steps, this one has {len(steps)}")
        return
    judge = _Checker(size, live)
    for number, (row, col, kind) in enumerate(steps, 1):
        wrong = judge.step(number, row, col, kind)
        if number == len(steps) and not unfinished and not judge.finished:
            wrong.append(("R6", "the board ends without reaching the goal"))
            wrong.sort(key=lambda fault: int(fault[0][1:]))
        for rule, what in wrong:
            yield _fault(number, rule, what)


def refusal(found: Iterable[Fault]) -> str:
    """The first few faulty steps as one sentence, with one fault of each; ``check`` names all."""
    steps = groupby(found, key=lambda fault: fault.step)
    sentences = [_main(faults).sentence for _, faults in islice(steps, _SHOWN + 1)]
    return "; ".join(sentences if len(sentences) <= _SHOWN else [*sentences[:-1], "and more"])


def _main(faults: Iterable[Fault]) -> Fault:
    """The fault that says most about a step: rather a step down than a visited square (R8) or a missing goal (R6)."""
    return min(faults, key=lambda fault: ("R8", "R6").index(fault.rule) if fault.rule in ("R8", "R6") else -1)


def check_playable(board: Any, size: int, rules: str = "written") -> list[Fault]:
    """The faults that keep a board out of a round, in step order; an empty list means that it is playable (R7).

    A playable board may be unfinished, and need not be legal.
    """
    checked_size(size)
    live = is_live(rules)
    try:
        return list(_unplayable(read_board(board, size), size, live))
    except BadShape as wrong:
        return [Fault(0, "R2", str(wrong))]


def why_unplayable(board: Any, size: int, live: bool) -> str:
    """Why a board cannot be played (R7), as one sentence; empty if it can."""
    try:
        steps = read_board(board, size)
    except BadShape as wrong:
        return str(wrong)
    return refusal(_unplayable(steps, size, live))


def _unplayable(steps: Steps, size: int, live: bool) -> Iterator[Fault]:
    return (fault for fault in iter_faults(steps, size, live, unfinished=True) if fault.rule in PLAYABLE)


def read_finished(board: Any, options: dict[str, Any], grid_allowed: bool = True) -> bytes:
    """The actions of a board with a finish and without jumps, else IllegalMove. Legality is not checked."""
    size = options["size"]
    try:
        steps = read_board(board, size, grid_allowed)
    except BadShape as wrong:
        raise IllegalMove(str(wrong)) from None
    actions = actions_of(steps, size)
    if actions is None or not is_finished(actions, size):
        raise IllegalMove(refusal(iter_faults(steps, size, options["rules"] == "live")))
    return actions


def _fault(step: int, rule: str, what: str) -> Fault:
    return Fault(step, rule, f"step {step}: {what} ({rule})")


def _at(row: int, col: int) -> str:
    if -_SMALL < row < _SMALL and -_SMALL < col < _SMALL:
        return f"({row},{col})"
    return f"({show(row)},{show(col)})"


class _Checker:
    """Walks along a board. It takes faulty steps too, and checks the next step from there."""

    def __init__(self, size: int, live: bool) -> None:
        self.size = size
        self.live = live
        self.row = self.col = 0
        self.visited: set[tuple[int, int]] = set()
        self.traps: set[tuple[int, int]] = set()
        self.trap_steps = 0
        self.after_trap = self.after_supermove = self.finished = False

    def step(self, number: int, row: int, col: int, kind: str) -> list[tuple[str, str]]:
        """Check a step and take it; return its faults in rule order."""
        wrong: list[tuple[str, str]] = []
        if self.finished:
            wrong.append(("R6", "the board ends at the goal, and nothing may follow"))
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
            self.after_supermove = kind == TRAP  # only if the board starts with a trap
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
            wrong.append(("R3", f"a board starts with the piece on row {bottom}, not with a {_WORDS[kind]}"))
        elif row != bottom or not 0 <= col <= bottom:
            wrong.append(
                ("R3", f"the piece starts on row {bottom} in a column from 0 to {bottom}, not on {_at(row, col)}")
            )

    def _judge_piece(self, row: int, col: int, wrong: list[tuple[str, str]]) -> None:
        if not self._inside(row, col):
            wrong.append(("R4", f"the piece leaves the grid, to {_at(row, col)}"))
        elif abs(row - self.row) + abs(col - self.col) != 1:
            jump = f"from {_at(self.row, self.col)} to {_at(row, col)}"
            wrong.append(("R4", f"the piece goes {jump}, which is not one square up, left or right"))
        if (row, col) in self.visited:
            wrong.append(("R8", f"the piece has stood on {_at(row, col)} before"))
        if row > self.row:
            wrong.append(("R9", f"the piece goes back down, from {_at(self.row, self.col)} to {_at(row, col)}"))
        if self.row == 0:
            wrong.append(("R12", "the piece moves on from row 0, where only the step to the goal may follow"))
        if self.live and (row, col) in self.traps:
            wrong.append(("R16", f"the piece enters {_at(row, col)}, where its own trap is"))

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
            wrong.append(("R11", "after a trap under the piece comes a step, not another trap"))
        if self.row == 0:
            wrong.append(("R12", "a trap is set from row 0, where only the step to the goal may follow"))
        if self.live:
            if row == 0:
                wrong.append(("R13", f"a trap is set on row 0, on {_at(row, col)}"))
            if self.trap_steps >= self.size - 1:
                wrong.append(("R14", f"a board of size {self.size} has at most {plural(self.size - 1, 'trap')}"))
            if self.after_trap:
                wrong.append(("R15", "after a trap comes a step, not another trap"))

    def _in_reach(self, row: int, col: int) -> bool:
        down, right = row - self.row, col - self.col
        if self.live:
            return (down, right) in ((-1, 0), (0, -1), (0, 0), (0, 1))
        return abs(down) <= 1 and abs(right) <= 1

    def _judge_final(self, row: int, col: int, wrong: list[tuple[str, str]]) -> None:
        if self.row != 0:
            wrong.append(("R6", f"the goal is reached from row 0, not from {_at(self.row, self.col)}"))
        elif (row, col) != (-1, self.col):
            wrong.append(("R6", f"the way to the goal is straight up, to {_at(-1, self.col)}, not to {_at(row, col)}"))
        if self.after_supermove:
            wrong.append(("R11", "after a trap under the piece comes a step, not the goal"))
        if self.live and self.after_trap:
            wrong.append(("R15", "after a trap comes a step, not the goal"))


# The four layers of validation: structure, moves, sequence, playability
#
# Every fault belongs to one of the first three; a board is playable if it has no fault that
# prevents a round (R7), whatever else is wrong with it.


STRUCTURE, MOVES, SEQUENCE, PLAYABILITY = LAYERS = (
    "board structure",
    "move legality",
    "sequence validity",
    "playability",
)
MEANING = {
    STRUCTURE: "the object, its steps and its grid have the right shape",
    MOVES: "each step by itself goes where it may",
    SEQUENCE: "start, transitions and finish are in order",
    PLAYABILITY: "a round can be played with it",
}
_LAYER_OF = {
    **dict.fromkeys(("R1", "R2"), STRUCTURE),
    **dict.fromkeys(("R4", "R5", "R8", "R9", "R10", "R13", "R16"), MOVES),
    **dict.fromkeys(("R3", "R6", "R11", "R12", "R14", "R15"), SEQUENCE),
    "R7": PLAYABILITY,
}


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of a validation."""

    name: str
    passed: bool | None
    """None: not checked, because the structure is wrong."""
    faults: list[Fault]


def validate(board: Any, size: int, rules: str = "written") -> list[Layer]:
    """All four layers of a board with their faults; a board is legal if every layer passes."""
    checked_size(size)
    is_live(rules)
    found = check(board, size, rules)
    layers = []
    for name in LAYERS:
        faults = [fault for fault in found if _LAYER_OF[fault.rule] == name]
        passed: bool | None = not faults
        if name == PLAYABILITY:
            passed = not check_playable(board, size, rules)
        elif found and found[0].rule in ("R2", "R7") and name != STRUCTURE:
            passed = None
        layers.append(Layer(name, passed, faults))
    return layers


# Building boards step by step (R17)


def steps(prefix: Any, size: int, rules: str = "written") -> list[dict[str, Any]]:
    """The legal next steps of an unfinished board, in action order.

    ``prefix`` is a list of steps as in a board's sequence, or a board with an unfinished sequence;
    both may be empty. A finished board has no next step. IllegalMove names step and rule if no
    legal board begins this way.
    """
    checked_size(size)
    live = is_live(rules)
    try:
        done = _read_prefix(prefix, size)
    except BadShape as wrong:
        raise IllegalMove(str(wrong)) from None
    actions = actions_of(done, size) if done else b""
    following = None if actions is None else continuations(actions, size, live)
    if actions is None or following is None:
        raise IllegalMove(_refused_prefix(done, size, live))
    row, col = next(((row, col) for row, col, kind in reversed(done) if kind != TRAP), (size - 1, 0))
    return [format_step(step_of(one, size, row, col), len(done) + 1) for one in following]


def _read_prefix(prefix: Any, size: int) -> Steps:
    if type(prefix) is list:
        return read_steps(prefix)
    if type(prefix) is dict:
        return read_board(prefix, size, may_be_empty=True)
    raise BadShape(f"an unfinished board is a list of steps or a board, not {show(prefix)}")


def _refused_prefix(done: Steps, size: int, live: bool) -> str:
    return refusal(iter_faults(done, size, live, unfinished=True)) or (
        f"step {len(done)}: a trap straight up leaves no step to the side, so the board could never be finished (R17)"
    )


def empty_states(size: int, live: bool) -> Any:
    """An array of one record in which nothing is laid."""
    states = new_states(rules.dtype_of(size, 1), 1)
    for name, value in (("side", size), ("live", live), ("rounds", 1)):
        states[name] = value
    _KERNELS.reset(states, np.uint64(0))
    return states


def continuations(actions: bytes, size: int, live: bool) -> list[int] | None:
    """The legal actions after these, none after a finish; None if these are not legal themselves."""
    states = empty_states(size, live)
    if rules.lay_steps(states, np.frombuffer(actions, np.uint8)) < len(actions):
        return None
    if is_finished(actions, size):
        return []
    buffer = np.empty(rules.max_legal(size), np.int16)
    following: list[int] = buffer[: _KERNELS.legal(states, buffer)].tolist()
    return following


def finished(actions: bytes, size: int, live: bool) -> bytes:
    """A legal board that begins this way and goes to the goal as directly as possible."""
    row = next(row for row, _, kind in reversed(steps_of(actions, size)) if kind != TRAP)
    if row < 0:
        return actions
    following = continuations(actions, size, live) or []
    aside = [] if row == 0 or size + UP in following else following[:1]  # R16: around a trap just set
    return bytes([*actions, *aside, *[size + UP] * row, size + FINISH])


@cache
def all_boards(size: int, live: bool) -> tuple[bytes, ...]:
    """All legal boards as actions, in the documented order. Check ``counting.quick_count`` first."""
    boards = []
    stack = [b""]
    while stack:
        actions = stack.pop()
        if is_finished(actions, size):
            boards.append(actions)
        else:
            stack += [actions + bytes([one]) for one in reversed(continuations(actions, size, live) or [])]
    return tuple(boards)


# Sentences about single steps

STEP_FAULTS = {
    GAME_OVER: "the game is over",
    rules.NOT_STARTED: "a board begins with a start on the bottom row, 'start 0' to 'start {last}' (R3)",
    rules.STARTED: "the piece is on the grid already, and a board has one start (R3)",
    rules.FROM_TOP: "from row 0 only the step to the goal may follow (R12)",
    rules.EARLY_FINISH: "the goal is reached from row 0, and the piece is on row {row} (R6)",
    rules.OUTSIDE: "the step leads off the grid (R4)",
    rules.VISITED: "the piece has been there before (R8)",
    rules.OWN_TRAP: "the square holds a trap of this board, and own traps are closed (R16)",
    rules.NEEDS_PIECE: "after a trap under the piece comes a step (R11)",
    rules.NEEDS_PIECE_LIVE: "after a trap comes a step (R15)",
    rules.TRAP_OUTSIDE: "the trap would be off the grid (R5)",
    rules.OUT_OF_REACH: "traps go up, left, right or here (R5)",
    rules.TRAP_TWICE: "this square has a trap of this board already (R10)",
    rules.TRAP_ON_TOP: "no trap is set on row 0 (R13)",
    rules.TOO_MANY_TRAPS: "the number of traps on a board of size {size} is at most {last} (R14)",
    rules.DEAD_END: "after a trap straight up no step to the side would remain (R17)",
}
"""The sentence of each fault of a step, by its number in ``rules.py``."""
