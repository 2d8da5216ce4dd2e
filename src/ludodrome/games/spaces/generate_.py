"""All legal boards, one after another, in the documented order (RULES.md, "Order of legal moves").

They come in chunks, so memory does not grow with their number, and from after any board on. The
walk itself is in ``walk.py``.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ludodrome.game import IllegalMove
from ludodrome.games.spaces import kernels
from ludodrome.games.spaces.boards import checked_size, is_live, steps_of
from ludodrome.games.spaces.legality import each_fault, refusal
from ludodrome.games.spaces.notation import SIGNS, parse_code
from ludodrome.games.spaces.rules import longest
from ludodrome.games.spaces.walk import TRIED
from ludodrome.jit import Array

CHUNK = 1 << 14
"""Boards made in one go."""


class Chunk(NamedTuple):
    """Some boards in order."""

    actions: Array
    """(steps,) uint8: the actions of one board after another."""
    ends: Array
    """(boards,) int64: where each of them ends."""

    def boards(self) -> list[bytes]:
        """Each board's actions."""
        data, begins = self.actions.tobytes(), [0, *self.ends.tolist()]
        return [data[begin:end] for begin, end in pairwise(begins)]


class Walk:
    """All legal boards of a size and a rule set, chunk by chunk, perhaps from after a given board on."""

    def __init__(self, size: int, rules: str = "written", after: str | None = None, chunk: int = CHUNK) -> None:
        self.size, self.live = checked_size(size), is_live(rules)
        most = longest(size)
        self._frames = np.zeros((most + 1, TRIED + 1), np.int64)
        self._laid = np.zeros(most, np.uint8)
        self._traps = np.zeros(size * size, np.uint8)
        self._depth = 0
        self._most = most
        self._ends = np.empty(chunk, np.int64)
        self._actions = np.empty(chunk * most, np.uint8)
        if after is not None:
            self._go_to(after)

    def _go_to(self, code: str) -> None:
        """Stand where a board has just been made; IllegalMove if there is no such board."""
        size, actions = parse_code(code)
        if size != self.size:
            raise IllegalMove(f"the board to go on from has size {size}, and the boards here have size {self.size}")
        wrong = refusal(each_fault(steps_of(actions, size), size, self.live))
        if wrong:
            raise IllegalMove(f"the board to go on from is not legal: {wrong}")
        kernels.follow_walk(size, self._frames, self._laid, self._traps, np.frombuffer(actions, np.uint8))
        self._depth = len(actions) - 1

    def next(self, most: int | None = None) -> Chunk:
        """The next boards, no more than ``most``; none when there are no more. They hold until the next call."""
        ends = self._ends if most is None else self._ends[:most]
        self._depth, count = kernels.advance_walk(
            self.size, self.live, self._frames, self._laid, self._traps, self._depth, self._actions, ends
        )
        used = int(ends[count - 1]) if count else 0
        return Chunk(self._actions[:used], ends[:count])

    def codes(self, chunk: Chunk) -> bytes:
        """The codes of boards, one a line."""
        head = np.frombuffer(f"{self.size}:".encode(), np.uint8)
        signs = np.frombuffer(SIGNS.encode(), np.uint8)
        text = np.empty(len(chunk.actions) + len(chunk.ends) * (len(head) + 4), np.uint8)
        count = kernels.write_codes(chunk.actions, chunk.ends, head, signs, self.size, text)
        return text[:count].tobytes()


def generate(size: int, rules: str = "written", after: str | None = None, limit: int | None = None) -> Iterator[bytes]:
    """All legal boards as actions, in order; from after a board's code on, and no more than ``limit``."""
    walk = Walk(size, rules, after, CHUNK)
    left = limit
    while chunk := walk.next(left).boards():
        yield from chunk
        left = None if left is None else left - len(chunk)
