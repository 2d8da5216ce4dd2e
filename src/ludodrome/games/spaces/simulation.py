"""Rounds for people and for laboratories: one round told step by step, or a whole matrix of them.

The rules of a round are in ``rounds.py``; here boards are read and packed, and what happened is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ludodrome.game import IllegalMove
from ludodrome.games.spaces import kernels
from ludodrome.games.spaces.boards import FINAL, TRAP, BadShape, actions_of, checked_size, is_live, read_board, steps_of
from ludodrome.games.spaces.legality import why_unplayable
from ludodrome.games.spaces.notation import done_word
from ludodrome.games.spaces.rounds import COLLISION, ENDED, NEVER
from ludodrome.jit import Array
from ludodrome.validation import show


@dataclass(frozen=True, slots=True)
class Event:
    """Something that gave or cost points."""

    seat: int
    points: int
    """1, -1, or 0 where a loss found nothing to take."""
    reason: str


@dataclass(frozen=True, slots=True)
class RoundStep:
    """One step of a round; every list is by seat, every square is on the common grid."""

    step: int
    squares: list[tuple[int, int]]
    """Where the pieces stand after acting: row and column; a goal is row -1 or row ``size``."""
    did: list[str]
    """The words of what each did, in its owner's view (``up``, ``trap left``); ``stopped`` once it is hit."""
    traps: list[tuple[int, int] | None]
    """The squares on which traps were set in this step."""
    points: list[int]
    """The scores after this step."""
    events: list[Event]


@dataclass(frozen=True, slots=True)
class Round:
    """What came of a round."""

    points: list[int]
    ended: str
    """``goal``, ``collision`` or ``trap``."""
    steps: list[RoundStep]


class Packed:
    """Boards made ready for rounds, all of one size and one rule set; ``simulate_matrix`` takes it for a list.

    IllegalMove names the first board that is not playable.
    """

    def __init__(self, boards: Sequence[Any], size: int, rules: str = "written", name: str = "board") -> None:
        self.size = checked_size(size)
        self.live = is_live(rules)
        if not isinstance(boards, Sequence) or isinstance(boards, str | bytes):
            raise IllegalMove(f"boards come as a list, not as {show(boards)}")
        read = _read(boards, size, self.live, name)
        self.actions: Array = np.frombuffer(b"".join(read), np.uint8)
        self.ends: Array = _ends(read)

    def __len__(self) -> int:
        return len(self.ends)

    def arrays(self, rotated: bool) -> tuple[Array, Array, Array]:
        """Cells, scores and traps as ``rounds.pack`` lays them out, one board after another."""
        cells = np.empty(len(self.actions), np.uint16)
        score = np.empty(len(self.actions), np.uint16)
        since = np.empty((len(self), self.size * self.size), np.uint16)
        kernels.pack_many(self.actions, self.ends, self.size, self.live, rotated, cells, score, since)
        return cells, score, since


def _read(boards: Sequence[Any], size: int, live: bool, name: str) -> list[bytes]:
    """The actions of playable boards; IllegalMove about the first that is not, by name and number."""
    read = []
    for number, board in enumerate(boards):
        try:
            actions = actions_of(read_board(board, size), size)
        except BadShape:
            actions = None
        if actions is None:
            raise IllegalMove(f"{name} {number}: {why_unplayable(board, size, live)}")
        read.append(actions)
    wrong = kernels.first_unplayable(np.frombuffer(b"".join(read), np.uint8), _ends(read), size, live)
    if wrong >= 0:
        raise IllegalMove(f"{name} {wrong}: {why_unplayable(boards[wrong], size, live)}")
    return read


def _ends(read: list[bytes]) -> Array:
    return np.cumsum([len(actions) for actions in read], dtype=np.int64)


def simulate_matrix(
    boards_a: Sequence[Any] | Packed, boards_b: Sequence[Any] | Packed, size: int, rules: str = "written"
) -> tuple[Array, Array]:
    """Every board of the first list as seat 0 against every board of the second as seat 1.

    Gives the points of seat 0 and of seat 1, int16 arrays of shape (len(boards_a), len(boards_b)).
    IllegalMove names the first board that is not playable. Lists that are used again and again
    may be given as ``Packed``.
    """
    first = _packed(boards_a, size, rules, "in the first list board")
    second = _packed(boards_b, size, rules, "in the second list board")
    points_a = np.empty((len(first), len(second)), np.int16)
    points_b = np.empty_like(points_a)
    kernels.play_matrix(
        *first.arrays(rotated=False),
        first.ends,
        *second.arrays(rotated=True),
        second.ends,
        first.live,
        points_a,
        points_b,
    )
    return points_a, points_b


def _packed(boards: Sequence[Any] | Packed, size: int, rules: str, name: str) -> Packed:
    if not isinstance(boards, Packed):
        return Packed(boards, size, rules, name)
    if (boards.size, boards.live) != (checked_size(size), is_live(rules)):
        raise ValueError(f"these boards were packed for another size or rule set than {size}, {rules}")
    return boards


def simulate(a: Any, b: Any, size: int, rules: str = "written") -> Round:
    """Play board a (seat 0) against board b (seat 1, rotated), and tell what happened.

    IllegalMove names what makes a board unplayable.
    """
    checked_size(size)
    live = is_live(rules)
    sides = [_Side(seat, actions, size) for seat, actions in enumerate(_read((a, b), size, live, "the board of seat"))]
    points_a, points_b, ended, last, *hits = kernels.play_round(*sides[0].pack(live), *sides[1].pack(live), live)
    for side, hit in zip(sides, hits, strict=True):
        side.hit = hit
    steps = [_tell(sides, k, collision=ended == COLLISION and k == last) for k in range(last + 1)]
    assert [points_a, points_b] == steps[-1].points, "the story and the score agree"
    return Round(steps[-1].points.copy(), ENDED[ended], steps)


class _Side:
    """One side of a round while it is told."""

    def __init__(self, seat: int, actions: bytes, size: int) -> None:
        steps = steps_of(actions, size)
        self.seat = seat
        self.size = size
        self.actions = actions
        self.kinds = [kind for _, _, kind in steps]
        self.squares = [self._common(row, col) for row, col, _ in steps]
        self.score: list[int] = []
        self.hit = NEVER
        self.points = 0
        self.stands = self.squares[0]

    def pack(self, live: bool) -> tuple[Array, Array, Array]:
        """Cells, scores and traps for the kernel."""
        length = len(self.actions)
        cells, score = np.empty((2, length), np.uint16)
        since = np.empty((1, self.size * self.size), np.uint16)
        actions = np.frombuffer(self.actions, np.uint8)
        kernels.pack_many(actions, np.array([length]), self.size, live, self.seat == 1, cells, score, since)
        self.score = score.tolist()
        return cells, score, since[0]

    def _common(self, row: int, col: int) -> tuple[int, int]:
        """R18: a square as both see it."""
        return (row, col) if self.seat == 0 else (self.size - 1 - row, self.size - 1 - col)

    def act(self, k: int) -> tuple[str, tuple[int, int] | None, list[Event]]:
        """What it does in step k, the trap that it sets, and what it earns."""
        if k > self.hit:
            return "stopped", None, []
        trap = self.squares[k] if self.kinds[k] == TRAP else None
        if trap is None:
            self.stands = self.squares[k]
        events = []
        if self.score[k] > (self.score[k - 1] if k else 0):
            finish = self.kinds[k] == FINAL
            what = "reaches the goal" if finish else f"moves forward to row {self.stands[0]}"
            self.points += 1
            events.append(Event(self.seat, 1, f"seat {self.seat} {what}: +1"))
        return done_word(self.actions[k], self.size), trap, events

    def lose(self, what: str) -> Event:
        """R20: a point less, but never below 0."""
        taken = min(1, self.points)
        self.points -= taken
        return Event(self.seat, -taken, f"seat {self.seat} {what}: {'-1' if taken else '0, it has nothing to lose'}")


def _tell(sides: list[_Side], k: int, collision: bool) -> RoundStep:
    """Step k from 0: both act, then collision, then traps (R19)."""
    acted = [side.act(k) for side in sides]
    events = [event for _, _, gained in acted for event in gained]
    for side, other in zip(sides, reversed(sides), strict=True):
        row, col = side.stands
        if collision:
            events.append(side.lose(f"collides with seat {other.seat} on ({row},{col})"))
        elif side.hit == k:
            moved = side.kinds[k] != TRAP
            set_now = other.hit >= k and other.kinds[k] == TRAP and other.squares[k] == side.stands
            how = "steps on" if moved and not set_now else "is caught by"
            events.append(side.lose(f"{how} seat {other.seat}'s trap at ({row},{col})"))
    return RoundStep(
        k + 1,
        [side.stands for side in sides],
        [did for did, _, _ in acted],
        [trap for _, trap, _ in acted],
        [side.points for side in sides],
        events,
    )
