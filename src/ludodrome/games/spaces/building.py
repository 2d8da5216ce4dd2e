"""Building boards: what may come next, and all boards where they are few (R17)."""

from functools import cache
from typing import Any

import numpy as np

from ludodrome.game import IllegalMove
from ludodrome.games.spaces import kernels, rules
from ludodrome.games.spaces.boards import (
    FINISH,
    TRAP,
    UP,
    BadShape,
    Steps,
    actions_of,
    checked_size,
    format_step,
    is_finished,
    is_live,
    read_board,
    read_steps,
    step_of,
    steps_of,
)
from ludodrome.games.spaces.legality import each_fault, refusal
from ludodrome.jit import new_states
from ludodrome.validation import show


def steps(prefix: Any, size: int, rules: str = "written") -> list[dict[str, Any]]:
    """The steps that may come next on an unfinished board, in the order of their actions.

    ``prefix`` is a list of steps as in a board's sequence, or a board whose sequence is unfinished;
    both may be empty. After the finish nothing may come. IllegalMove names step and rule if no
    legal board begins like this.
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
    return refusal(each_fault(done, size, live, unfinished=True)) or (
        f"step {len(done)}: a trap straight up is set where no step to the side remains, "
        f"so the board could never be finished (R17)"
    )


def continuations(actions: bytes, size: int, live: bool) -> list[int] | None:
    """The legal actions after these, none after a finish; None if these are not legal themselves."""
    states = new_states(rules.dtype_of(size, 1), 1)
    for name, value in (("side", size), ("live", live), ("rounds", 1)):
        states[name] = value
    kernels.reset(states, np.uint64(0))
    if kernels.lay(states, np.frombuffer(actions, np.uint8)) < len(actions):
        return None
    if is_finished(actions, size):
        return []
    buffer = np.empty(rules.max_legal(size), np.int16)
    following: list[int] = buffer[: kernels.legal(states, buffer)].tolist()
    return following


def finished(actions: bytes, size: int, live: bool) -> bytes:
    """A legal board that begins like this and goes to the goal as straight as it may."""
    row = next(row for row, _, kind in reversed(steps_of(actions, size)) if kind != TRAP)
    if row < 0:
        return actions
    following = continuations(actions, size, live) or []
    aside = [] if row == 0 or size + UP in following else following[:1]  # R16: past a trap just set
    return bytes([*actions, *aside, *[size + UP] * row, size + FINISH])


@cache
def all_boards(size: int, live: bool) -> tuple[bytes, ...]:
    """All legal boards as actions, in the documented order. Ask ``count.py`` first how many there are."""
    boards = []
    stack = [b""]
    while stack:
        actions = stack.pop()
        if is_finished(actions, size):
            boards.append(actions)
        else:
            stack += [actions + bytes([one]) for one in reversed(continuations(actions, size, live) or [])]
    return tuple(boards)
