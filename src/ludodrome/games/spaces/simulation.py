"""Rounds step by step with reasons, matrices of rounds, and drawings of boards and rounds.

``rounds.py`` holds the rules of a round; this module reads and packs boards and reports what happened.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np

from ludodrome.game import IllegalMove
from ludodrome.games.spaces import rounds
from ludodrome.games.spaces.boards import (
    FINAL,
    MARKS,
    TRAP,
    WAIT,
    BadShape,
    Steps,
    action_word,
    actions_of,
    checked_size,
    drawable_steps,
    is_finished,
    is_live,
    read_board,
    steps_of,
)
from ludodrome.games.spaces.legality import why_unplayable
from ludodrome.games.spaces.rounds import COLLISION, COMPLETE, ENDED, GOAL
from ludodrome.jit import Array
from ludodrome.validation import show


@dataclass(frozen=True, slots=True)
class Event:
    """Something that gave or cost points."""

    seat: int
    points: int
    """1, -1, or 0 for a loss at a score of 0."""
    reason: str


@dataclass(frozen=True, slots=True)
class RoundStep:
    """One step of a round; lists are by seat, squares are on the common grid."""

    step: int
    squares: list[tuple[int, int]]
    """Row and column of each piece after acting; a goal is row -1 or row ``size``."""
    did: list[str]
    """What each seat did, in its own view (``up``, ``trap left``).

    ``stopped`` after a hit; ``complete`` after the last step of an unfinished board.
    """
    traps: list[tuple[int, int] | None]
    """The squares on which traps were set in this step."""
    points: list[int]
    """The scores after this step."""
    events: list[Event]


@dataclass(frozen=True, slots=True)
class Round:
    """The result of a round."""

    points: list[int]
    ended: str
    """``goal``, ``collision``, ``trap`` or ``complete``."""
    steps: list[RoundStep]


class Packed:
    """Boards prepared for rounds, all of one size and rule set; ``simulate_matrix`` accepts it as a list.

    IllegalMove names the first board that is not playable.

    >>> from ludodrome import spaces
    >>> packed = spaces.Packed.from_actions([spaces.board_at(1, 3, "live")], 3, live=True)
    >>> len(packed), packed.waiting(9) is packed, [array.shape for array in packed.arrays(rotated=False)]
    (1, True, [(4,), (4,), (1, 9)])
    """

    def __init__(self, boards: Sequence[Any], size: int, rules: str = "written", name: str = "board") -> None:
        self.size = checked_size(size)
        self.live = is_live(rules)
        if not isinstance(boards, Sequence) or isinstance(boards, str | bytes):
            raise IllegalMove(f"boards come as a list, not as {show(boards)}")
        self._pack(_read(boards, size, self.live, name))

    @classmethod
    def from_actions(cls, boards: Sequence[bytes], size: int, live: bool) -> "Packed":
        """Prepare playable boards, given as actions."""
        packed = cls([], size, "live" if live else "written")
        packed._pack(boards)
        return packed

    def _pack(self, boards: Sequence[bytes]) -> None:
        self.actions: Array = np.frombuffer(b"".join(boards), np.uint8)
        self.ends: Array = _ends(boards)
        self.longest = max(map(len, boards), default=0)
        self.unfinished = [number for number, board in enumerate(boards) if not is_finished(board, self.size)]
        """The indices of boards that do not end at the goal."""

    def __len__(self) -> int:
        return len(self.ends)

    def waiting(self, steps: int) -> "Packed":
        """The same boards; unfinished ones wait where they are until ``steps`` steps are done (R7)."""
        if not self.unfinished:
            return self
        boards = [part.tobytes() for part in np.split(self.actions, self.ends[:-1])]
        for number in self.unfinished:
            boards[number] = _waiting(boards[number], steps, self.size)
        return Packed.from_actions(boards, self.size, self.live)

    def arrays(self, rotated: bool) -> tuple[Array, Array, Array]:
        """Cells, scores and traps as ``rounds.pack`` lays them out, one board after another."""
        cells = np.empty(len(self.actions), np.uint16)
        score = np.empty(len(self.actions), np.uint16)
        since = np.empty((len(self), self.size * self.size), np.uint16)
        rounds.pack_many(self.actions, self.ends, self.size, self.live, rotated, cells, score, since)
        return cells, score, since


def _read(boards: Sequence[Any], size: int, live: bool, name: str) -> list[bytes]:
    """The actions of playable boards; IllegalMove names the first that is not."""
    read = []
    for number, board in enumerate(boards):
        try:
            actions = actions_of(read_board(board, size), size)
        except BadShape:
            actions = None
        if actions is None:
            raise IllegalMove(f"{name} {number}: {why_unplayable(board, size, live)}")
        read.append(actions)
    wrong = rounds.first_unplayable(np.frombuffer(b"".join(read), np.uint8), _ends(read), size, live)
    if wrong >= 0:
        raise IllegalMove(f"{name} {wrong}: {why_unplayable(boards[wrong], size, live)}")
    return read


def _waiting(actions: bytes, steps: int, size: int) -> bytes:
    """An unfinished board with waits up to a number of steps; other boards as they are."""
    return actions if is_finished(actions, size) else actions.ljust(steps, bytes([size + WAIT]))


def _ends(read: Sequence[bytes]) -> Array:
    return np.cumsum([len(actions) for actions in read], dtype=np.int64)


def simulate_matrix(
    boards_a: Sequence[Any] | Packed, boards_b: Sequence[Any] | Packed, size: int, rules: str = "written"
) -> tuple[Array, Array]:
    """Play every board of the first list as seat 0 against every board of the second as seat 1.

    Returns the points of seat 0 and of seat 1, int16 arrays of shape (len(boards_a), len(boards_b)).
    IllegalMove names the first board that is not playable. Use ``Packed`` for lists that are played
    repeatedly.
    """
    first = _packed(boards_a, size, rules, "in the first list board")
    second = _packed(boards_b, size, rules, "in the second list board")
    steps = max(first.longest, second.longest) + 1
    first, second = first.waiting(steps), second.waiting(steps)
    points_a = np.empty((len(first), len(second)), np.int16)
    points_b = np.empty_like(points_a)
    rounds.play_matrix(
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
    """Play board a (seat 0) against board b (seat 1, rotated), and report every step.

    IllegalMove says why a board is not playable.
    """
    checked_size(size)
    live = is_live(rules)
    boards = _read((a, b), size, live, "the board of seat")
    played = play_boards(boards[0], boards[1], size, live)
    sides = [_Side(seat, board, size, played) for seat, board in enumerate(boards)]
    collided = played.ended == ENDED[COLLISION]
    steps = [_play_step(sides, k, collision=collided and k == played.last) for k in range(played.last + 1)]
    assert played.points == steps[-1].points, "the steps and the score agree"
    return Round(steps[-1].points.copy(), played.ended, steps)


class PlayedRound(NamedTuple):
    """What a round of two boards comes to; lists are by seat, steps count from 0."""

    points: list[int]
    ended: str
    last: int
    """The last step."""
    hits: list[int]
    """The steps in which the pieces were hit by a trap, or ``rounds.NEVER``."""
    scores: list[list[int]]
    """The points earned up to each step of each board, losses aside."""


def play_boards(a: bytes, b: bytes, size: int, live: bool) -> PlayedRound:
    """Play a round of two playable boards, given as actions; the second one is rotated (R18 to R23)."""
    enough = max(len(a), len(b)) + 1
    packed = [_pack_one(_waiting(board, enough, size), size, live, seat == 1) for seat, board in enumerate((a, b))]
    points_a, points_b, ended, last, *hits = rounds.play_round(*packed[0], *packed[1], live)
    ends = [min(hit, len(board) - 1) for hit, board in zip(hits, (a, b), strict=True)]
    if ended == GOAL and last > max(ends):  # nobody finished: the last wait is over
        ended, last = COMPLETE, max(ends)
    scores = [score[: len(board)].tolist() for (_, score, _), board in zip(packed, (a, b), strict=True)]
    return PlayedRound([points_a, points_b], ENDED[ended], last, hits, scores)


def _pack_one(actions: bytes, size: int, live: bool, rotated: bool) -> tuple[Array, Array, Array]:
    """Cells, scores and traps of one board, for the kernel."""
    cells, score = np.empty((2, len(actions)), np.uint16)
    since = np.empty((1, size * size), np.uint16)
    ends = np.array([len(actions)])
    rounds.pack_many(np.frombuffer(actions, np.uint8), ends, size, live, rotated, cells, score, since)
    return cells, score, since[0]


class _Side:
    """One side of a round."""

    def __init__(self, seat: int, actions: bytes, size: int, played: PlayedRound) -> None:
        steps = steps_of(actions, size)
        self.seat = seat
        self.size = size
        self.actions = actions
        self.kinds = [kind for _, _, kind in steps]
        self.squares = [self._common(row, col) for row, col, _ in steps]
        self.score = played.scores[seat]
        self.hit = played.hits[seat]
        self.points = 0
        self.stands = self.squares[0]

    def _common(self, row: int, col: int) -> tuple[int, int]:
        """R18: a square on the common grid."""
        return (row, col) if self.seat == 0 else (self.size - 1 - row, self.size - 1 - col)

    def act(self, k: int) -> tuple[str, tuple[int, int] | None, list[Event]]:
        """Take step k; return its word, the trap it sets, and its events."""
        if k > self.hit:
            return "stopped", None, []
        if k >= len(self.actions):
            return "complete", None, []
        trap = self.squares[k] if self.kinds[k] == TRAP else None
        if trap is None:
            self.stands = self.squares[k]
        events = []
        if self.score[k] > (self.score[k - 1] if k else 0):
            finish = self.kinds[k] == FINAL
            what = "reaches the goal" if finish else f"moves forward to row {self.stands[0]}"
            self.points += 1
            events.append(Event(self.seat, 1, f"seat {self.seat} {what}: +1"))
        return action_word(self.actions[k], self.size), trap, events

    def lose(self, what: str) -> Event:
        """R20: lose a point, but never below 0."""
        taken = min(1, self.points)
        self.points -= taken
        return Event(self.seat, -taken, f"seat {self.seat} {what}: {'-1' if taken else '0, it has nothing to lose'}")


def _play_step(sides: list[_Side], k: int, collision: bool) -> RoundStep:
    """Step k from 0: both act, then collision, then traps (R19)."""
    acted = [side.act(k) for side in sides]
    events = [event for _, _, gained in acted for event in gained]
    for side, other in zip(sides, reversed(sides), strict=True):
        row, col = side.stands
        if collision:
            events.append(side.lose(f"collides with seat {other.seat} on ({row},{col})"))
        elif side.hit == k:
            moved = k < len(side.kinds) and side.kinds[k] != TRAP
            set_now = acted[other.seat][1] == side.stands
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


# Drawings of boards and rounds: Unicode boxes and SVG; the plain drawing is ``boards.draw``


COLOURS = ("#0B6E99", "#BE4A19")
"""Colours of the seats."""
_CELL, _MARGIN = 48, 24


# Boxes


def box_lines(texts: list[list[str]]) -> list[str]:
    """A grid of texts in boxes of equal width."""
    width = max(3, *(len(text) for row in texts for text in row)) + 2
    bar = "─" * width
    lines = [f"┌{'┬'.join([bar] * len(texts[0]))}┐"]
    for number, row in enumerate(texts):
        if number:
            lines.append(f"├{'┼'.join([bar] * len(row))}┤")
        lines.append(f"│{'│'.join(text.center(width) for text in row)}│")
    return [*lines, f"└{'┴'.join([bar] * len(texts[-1]))}┘"]


def box_board(board: Any) -> str:
    """A board in boxes, with its steps listed on the right."""
    size, steps = drawable_steps(board)
    cells: list[list[list[str]]] = [[[] for _ in range(size)] for _ in range(size)]
    for number, (row, col, kind) in enumerate(steps, 1):
        if row >= 0:
            cells[row][col].append(f"{number}{MARKS[kind]}")
    grid = box_lines([[",".join(cell) for cell in row] for row in cells])
    listed = [
        f"{number}. ({row},{col}) {kind}{_note(number, steps)}" for number, (row, col, kind) in enumerate(steps, 1)
    ]
    return "\n".join(side_by_side(grid, listed))


def _note(number: int, steps: Steps) -> str:
    """A note on a step, in brackets, if there is one."""
    row, col, kind = steps[number - 1]
    if number == 1:
        return " [start]"
    if kind == FINAL:
        return " [goal]"
    before = next((to for to in reversed(steps[: number - 1]) if to[2] != TRAP), steps[0])
    if kind == TRAP:
        return " [supermove]" if (row, col) == before[:2] else ""
    return " [forward]" if row < before[0] else " [back]" if row > before[0] else " [lateral]"


def side_by_side(left: Sequence[str], right: Sequence[str], gap: int = 3) -> list[str]:
    """Two blocks of lines side by side."""
    width = max(map(len, left), default=0) + gap
    height = max(len(left), len(right))
    rows = zip([*left, *[""] * (height - len(left))], [*right, *[""] * (height - len(right))], strict=True)
    return [f"{one:<{width}}{two}".rstrip() for one, two in rows]


def round_frames(round_: Round, size: int) -> list[list[str]]:
    """The common grid after each step, in boxes: ``●`` and ``◆`` are pieces, ``x`` and ``y`` traps."""
    drawings = []
    traps: dict[tuple[int, int], str] = {}
    for step in round_.steps:
        for trap, sign in zip(step.traps, "xy", strict=True):
            if trap is not None and sign not in traps.get(trap, ""):
                traps[trap] = traps.get(trap, "") + sign
        texts = [["".join(sorted(traps.get((row, col), ""))) for col in range(size)] for row in range(size)]
        for (row, col), sign in zip(step.squares, "●◆", strict=True):
            if 0 <= row < size:
                texts[row][col] += sign
        drawings.append(box_lines(texts))
    return drawings


# SVG


def board_svg(board: Any, title: str = "") -> str:
    """A board as SVG: the path of the piece, its steps, its traps."""
    size, steps = drawable_steps(board)
    width, top = size * _CELL + 2 * _MARGIN, _MARGIN + (20 if title else 0)
    height = top + (size + 1) * _CELL + _MARGIN

    def middle(row: int, col: int) -> tuple[int, int]:
        return _MARGIN + col * _CELL + _CELL // 2, top + (row + 1) * _CELL + _CELL // 2

    parts = []
    if title:
        parts.append(_text(width // 2, _MARGIN, title, 14))
    for row in range(size):
        for col in range(size):
            x, y = _MARGIN + col * _CELL, top + (row + 1) * _CELL
            parts.append(f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="#FAF7F0" stroke="#B8B0A0"/>')
    way = [middle(row, col) for row, col, kind in steps if kind != TRAP]
    points = " ".join(f"{x},{y}" for x, y in way)
    parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[0]}" stroke-width="3" opacity="0.5"/>')
    seen: dict[tuple[int, int], int] = {}
    for number, (row, col, kind) in enumerate(steps, 1):
        x, y = middle(row, col)
        shift = 14 * seen.get((row, col), 0)
        seen[row, col] = seen.get((row, col), 0) + 1
        colour = COLOURS[1] if kind == TRAP else COLOURS[0]
        parts.append(_sign(kind, x - shift, y + shift // 2, colour))
        label = (x - shift, y + shift // 2 + 15) if shift else (x + 13, y - 7)  # clear of the first sign of the square
        parts.append(_text(*label, str(number), 11, colour))
    return _svg(width, height, parts)


def _sign(kind: str, x: int, y: int, colour: str) -> str:
    if kind == TRAP:
        return f'<path d="M{x - 6},{y - 6} l12,12 m0,-12 l-12,12" stroke="{colour}" stroke-width="3"/>'
    if kind == FINAL:
        return _text(x, y + 6, "★", 18, colour)
    return f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}"/>'


def matrix_svg(margins: Sequence[Sequence[int]], title: str = "") -> str:
    """Margins as a heat map: the first side's boards down, the second's across."""
    rows, columns = len(margins), len(margins[0])
    top = 40 if title else 16
    width, height = columns * _CELL + 2 * _MARGIN, top + rows * _CELL + _MARGIN
    most = max(1, *(abs(margin) for row in margins for margin in row))
    parts = [_text(width // 2, 24, title, 14)] if title else []
    for i, row in enumerate(margins):
        for j, margin in enumerate(row):
            x, y = _MARGIN + j * _CELL, top + i * _CELL
            colour, depth = COLOURS[margin < 0], abs(margin) / most
            parts.append(f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="#FFFFFF"/>')
            parts.append(
                f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="{colour}" '
                f'fill-opacity="{0.85 * depth:.2f}" stroke="#E4DED2"/>'
            )
            ink = "#FFFFFF" if depth > 0.6 else "#222222"
            parts.append(_text(x + _CELL // 2, y + _CELL // 2 + 5, f"{margin:+d}" if margin else "0", 14, ink))
    return _svg(width, height, parts)


def _text(x: int, y: int, text: str, size: int, colour: str = "#222222") -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" font-family="sans-serif" text-anchor="middle" '
        f'fill="{colour}">{escape(text)}</text>'
    )


def _svg(width: int, height: int, parts: list[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#FFFFFF"/>', *parts, "</svg>"]) + "\n"
