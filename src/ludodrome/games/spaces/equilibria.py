"""Perfect play: equilibria of blind choice, and the match in which boards are seen.

Blind choice is a symmetric game for the difference of points, so its value is 0; the result is
the mixture. If all pairings fit into a matrix, a linear program gives it (``solve_matrix``;
equivalent boards are merged first). Larger sizes use a double oracle (McMahan, Gordon and Blum
2003): solve the game of a few boards, find the best response to that mixture among all boards, add
it, and repeat. The value of the best response is the *gap*; when it is 0, the mixture is perfect.
The game is symmetric under reflection, so mixtures are made symmetric, and half of all boards can
be skipped.

``Inspection`` verifies a mixture independently: it plays all boards, one by one, against it.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import lcm
from typing import Any

import numpy as np

from ludodrome import validation
from ludodrome.games.spaces import rounds
from ludodrome.games.spaces.best_response import respond
from ludodrome.games.spaces.boards import (
    FINISH,
    UP,
    checked_size,
    format_board,
    format_code,
    is_live,
    mirrored,
    parse_code,
)
from ludodrome.games.spaces.counting import quick_count
from ludodrome.games.spaces.generation import BoardWalk
from ludodrome.games.spaces.legality import all_boards
from ludodrome.games.spaces.mixture_response import MixtureSearch
from ludodrome.games.spaces.simulation import Packed
from ludodrome.jit import Array

# Stored mixtures for blind choice
#
# docs/results/perfect-spaces.md explains them. They are short: under ``written``, and under ``live``
# from size 3 on, a straight run in a random column.


SOLVED = {"live": 17, "written": 100}
"""Up to these sizes the mixture is proven unbeaten; beyond, no board is known that beats it."""

_SMALLEST_LIVE = ("2:0:6uf", "2:1:4uf")
"""Size 2 under ``live``: a trap beside the piece, then up."""


@dataclass(frozen=True, slots=True)
class Mixture:
    """Boards, as actions, with whole-number weights.

    >>> from ludodrome import spaces
    >>> mixture = spaces.perfect(3, "live")
    >>> isinstance(mixture, spaces.Mixture), mixture.weights
    (True, (1, 1, 1))
    >>> [spaces.encode_board(board) for board in mixture.json_boards()]
    ['3:0:uuf', '3:1:uuf', '3:2:uuf']
    """

    size: int
    rules: str
    boards: tuple[bytes, ...]
    weights: tuple[int, ...]

    def json_boards(self) -> list[dict[str, Any]]:
        """The boards as JSON."""
        return [format_board(board, self.size) for board in self.boards]


def straight_run(size: int, col: int) -> bytes:
    """The board that goes straight up from a column."""
    return bytes([col, *[size + UP] * (size - 1), size + FINISH])


def perfect(size: int, rules: str = "written") -> Mixture:
    """The stored mixture; ``SOLVED`` says up to which size it is proven.

    >>> from ludodrome import spaces
    >>> len(spaces.perfect(5, "live").boards)
    5
    """
    checked_size(size)
    if is_live(rules) and size == 2:
        boards = tuple(parse_code(code)[1] for code in _SMALLEST_LIVE)
    else:
        boards = tuple(straight_run(size, col) for col in range(size))
    return Mixture(size, rules, boards, (1,) * len(boards))


MAX_MATRIX = 1000
"""The maximum number of boards for one linear program over all pairings."""
EXACT = 1e-9
"""A gap up to this counts as 0."""
_DENOMINATOR = 100_000
"""Weights are first tried as fractions with at most this denominator."""
_SCALE = 10**12
"""Otherwise they are rounded to multiples of 1 / this."""
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, slots=True)
class LinearProgram:
    """The solution of a linear program: weights, and the primal and dual values, which must agree."""

    weights: Array
    primal: float
    dual: float


def solve_matrix(margins: Array) -> LinearProgram:
    """Weights of the columns against which no row has a positive average margin, by HiGHS.

    margins: (boards, boards), antisymmetric. ``primal`` is the best row's margin against the weights, ``dual`` the
    worst column's against the row weights that the program returns as multipliers.
    """
    import highspy  # optional extra: lab

    count = len(margins)
    table = np.ones((count + 1, count + 1))
    table[:count, :count], table[:count, count], table[count, count] = margins, -1, 0
    rows, columns = np.nonzero(table)
    endless = highspy.kHighsInf
    program = highspy.HighsLp()
    program.num_row_ = program.num_col_ = count + 1
    program.col_cost_ = np.append(np.zeros(count), 1)
    program.col_lower_, program.col_upper_ = np.append(np.zeros(count), -endless), np.full(count + 1, endless)
    program.row_lower_, program.row_upper_ = np.append(np.full(count, -endless), 1), np.append(np.zeros(count), 1)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.append(0, np.cumsum(np.bincount(rows)))
    program.a_matrix_.index_, program.a_matrix_.value_ = columns, table[rows, columns]
    solver = highspy.Highs()
    solver.silent()
    solver.passModel(program)
    solver.run()
    found = solver.getSolution()
    weights = np.maximum(found.col_value[:count], 0)
    weights /= weights.sum()
    multipliers = np.maximum(-np.array(found.row_dual[:count]), 0)
    multipliers /= multipliers.sum()
    return LinearProgram(weights, float((margins @ weights).max()), float((multipliers @ margins).min()))


def margins_of(first: Sequence[bytes], second: Sequence[bytes], size: int, live: bool) -> Array:
    """The margin of each first board over each second board, (first, second) int64."""
    one, two = Packed.from_actions(first, size, live), Packed.from_actions(second, size, live)
    points_a = np.empty((len(first), len(second)), np.int16)
    points_b = np.empty_like(points_a)
    rounds.play_matrix(
        *one.arrays(rotated=False), one.ends, *two.arrays(rotated=True), two.ends, live, points_a, points_b
    )
    return points_a.astype(np.int64) - points_b


def merge_equivalent(boards: Sequence[bytes], size: int, live: bool) -> list[bytes]:
    """One board of each set of boards with the same margin over every board."""
    _, first = np.unique(margins_of(boards, boards, size, live), axis=0, return_index=True)
    return [boards[number] for number in sorted(first.tolist())]


class Equilibrium:
    """The search for an equilibrium. Call ``step`` until ``solved``.

    ``boards``: the boards of an earlier search, to resume it.

    >>> from ludodrome import spaces
    >>> search = spaces.Equilibrium(2, "live")
    >>> while not search.solved:
    ...     search.step()
    """

    def __init__(self, size: int, rules: str = "written", boards: Iterable[bytes] = ()) -> None:
        self.size, self.rules, self.live = checked_size(size), rules, is_live(rules)
        count = quick_count(size, rules)
        self.complete = count is not None and count <= MAX_MATRIX
        start = [straight_run(size, col) for col in range(size)]
        if self.complete:
            start = merge_equivalent(all_boards(size, self.live), size, self.live)
        self.boards: list[bytes] = []
        self.margins: Array = np.zeros((0, 0), np.int64)
        self._add_boards([*start, *boards])
        self.program: LinearProgram | None = None
        self.mixture: Mixture | None = None
        self.gap: float | None = None
        """Upper bound on the margin of any board against the mixture; None before the first step."""
        self.stuck = False
        """Whether the last step found only known boards: the linear program is not exact enough."""
        self.steps = self.nodes = 0

    @property
    def solved(self) -> bool:
        """Whether the mixture is perfect."""
        return self.gap is not None and self.gap <= EXACT

    def step(self, nodes: int = 10**12, report: Callable[[int, float], None] | None = None) -> None:
        """Solve the game of the boards so far, then search up to ``nodes`` nodes for a board that beats the mixture."""
        self.program = solve_matrix(self.margins / 2)
        self.mixture = self._mixture(self.program.weights)
        weights = np.array(self.mixture.weights)
        search = MixtureSearch(
            Packed.from_actions(self.mixture.boards, self.size, self.live), weights, floor=0.0, mirrored=True
        )
        found = search.run(nodes, report)
        self.steps += 1
        self.nodes += search.nodes
        known = len(self.boards)
        self._add_boards(found)
        self.gap = search.value if search.over else search.bound
        self.stuck = search.over and not self.solved and len(self.boards) == known

    def _add_boards(self, boards: Iterable[bytes]) -> None:
        """Add boards, one of each mirrored pair. Margins are summed over both."""
        new = sorted({min(board, mirrored(board, self.size)) for board in boards} - set(self.boards))
        before = self.boards
        self.boards = [*before, *new]
        every = self._both(new, self.boards)
        corner = every[:, : len(before)]
        self.margins = np.block([[self.margins, -corner.T], [corner, every[:, len(before) :]]])

    def _both(self, first: list[bytes], second: list[bytes]) -> Array:
        if not first:
            return np.zeros((0, len(second)), np.int64)
        images = [mirrored(board, self.size) for board in second]
        return margins_of(first, second, self.size, self.live) + margins_of(first, images, self.size, self.live)

    def _mixture(self, weights: Array) -> Mixture:
        """The boards with a positive weight, each with its mirror image, in whole numbers."""
        chosen = [number for number, weight in enumerate(weights.tolist()) if weight > _NEGLIGIBLE]
        whole = _whole([float(weights[number]) for number in chosen])
        sums: dict[bytes, int] = {}
        for number, weight in zip(chosen, whole, strict=True):
            board = self.boards[number]
            for image in (board, mirrored(board, self.size)):
                sums[image] = sums.get(image, 0) + weight
        boards = sorted(sums)
        return Mixture(self.size, self.rules, tuple(boards), tuple(sums[board] for board in boards))


def _whole(weights: list[float]) -> list[int]:
    """Whole numbers in proportion to weights: exact if these are fractions with small denominators."""
    fractions = [Fraction(weight).limit_denominator(_DENOMINATOR) for weight in weights]
    scale = lcm(*(fraction.denominator for fraction in fractions))
    if scale > _SCALE:
        return [round(weight * _SCALE) for weight in weights]
    return [int(fraction * scale) for fraction in fractions]


class Inspection:
    """All legal boards against a mixture, one by one. ``after``, ``done`` and ``best`` resume an earlier one.

    >>> from ludodrome import spaces
    >>> inspection = spaces.Inspection(spaces.perfect(3, "live"))
    >>> while not inspection.over:
    ...     inspection.step()
    >>> inspection.done, inspection.margin
    (796, 0.0)
    """

    def __init__(self, mixture: Mixture, after: str | None = None, done: int = 0, best: int | None = None) -> None:
        self.mixture, self.after, self.done, self.best = mixture, after, done, best
        self.live = is_live(mixture.rules)
        self.over = False
        self._walk = BoardWalk(mixture.size, mixture.rules, after)
        packed = Packed.from_actions(mixture.boards, mixture.size, self.live)
        self._others = (*packed.arrays(rotated=True), packed.ends, np.array(mixture.weights, np.int64))

    @property
    def margin(self) -> float:
        """The best average margin so far; at the end, of all boards."""
        return 0.0 if self.best is None else self.best / sum(self.mixture.weights)

    def step(self) -> None:
        """Play the next chunk of boards."""
        chunk = self._walk.next()
        if not len(chunk.ends):
            self.over = True
            return
        worth = np.empty(len(chunk.ends), np.int64)
        rounds.play_mixture(chunk.actions, chunk.ends, self.mixture.size, self.live, *self._others, worth)
        best = int(worth.max())
        self.best = best if self.best is None else max(self.best, best)
        self.done += len(chunk.ends)
        self.after = format_code(chunk.boards()[-1], self.mixture.size)


# A sound first choice
#
# Under ``written`` the straight run is unbeatable. After step k it has k points, more than any other
# board can have; a trap takes one of them and ends the round, but setting it costs the opponent a
# step up; a collision costs both the same. So every board at best draws against it.
#
# Under ``live`` a predictable runner is stopped halfway, so the board is drawn from a mixture that
# nothing beats. If the opponent sees the board before answering, the straight run loses least.


def sensible(size: int, rules: str = "written", seed: int = 0, foreseen: bool = False) -> dict[str, Any]:
    """A sound board against an unknown one; ``foreseen``: the opponent sees it before answering.

    >>> from ludodrome import spaces
    >>> spaces.check(spaces.sensible(3, seed=1), 3)
    []
    """
    checked_size(size)
    live = is_live(rules)
    rng = random.Random(validation.whole(seed, "the seed", ValueError))
    if foreseen or not live:
        return format_board(straight_run(size, rng.randrange(size)), size)
    mixture = perfect(size, rules)
    return format_board(rng.choices(mixture.boards, mixture.weights)[0], size)


# The match under ``seen``, where the second chooser of a round answers the first one's board
#
# The first chooser lays the board that loses least to its best response. ``LeastLoss`` finds that
# board: it searches for a board that loses less than the best so far to every known answer, asks
# for the best response to it, and adds that response to the answers, until there is no such board.
#
# A larger lead never hurts, so both sides play each round for its margin, and the value of the
# match follows backwards from its last round.


KNOWN_LOSS = {2: 2, 3: 3, 4: 3, 5: 4, 6: 4, 7: 5}
"""Under ``live``: the loss of the best board that is seen, for the sizes computed so far."""


class LeastLoss:
    """The search for the board that loses least to its best response. Call ``step`` until ``over``.

    >>> from ludodrome import spaces
    >>> least = spaces.LeastLoss(2, "live")
    >>> while not least.over:
    ...     least.step()
    >>> least.loss
    2
    """

    def __init__(self, size: int, rules: str = "written") -> None:
        self.size, self.rules = checked_size(size), rules
        is_live(rules)
        self.answers: list[dict[str, Any]] = []
        self.nodes = 0
        self.over = False
        self.board = format_board(straight_run(size, 0), size)
        self.loss = self._ask(self.board)

    def step(self) -> None:
        """Search for a board that may lose less, and find the best response to it."""
        if self.loss == 0:  # optimal: a board draws against itself
            self.over = True
            return
        others = Packed(self.answers, self.size, self.rules)
        search = MixtureSearch(others, np.zeros(len(others)), floor=-1.0, least=1 - self.loss)
        search.run(10**12)
        self.nodes += search.nodes
        if not search.found:
            self.over = True
            return
        board = format_board(search.best, self.size)
        loss = self._ask(board)
        if loss < self.loss:
            self.board, self.loss = board, loss

    def _ask(self, board: dict[str, Any]) -> int:
        """The loss of a board; keep its best response."""
        response = respond(board, self.size, self.rules, nodes=10**12)
        self.answers.append(response.board)
        return response.margin


def match_value(loss: int, rounds: int) -> int:
    """Seat 0's final lead in a match of ``rounds`` rounds with perfect play.

    The first chooser of each round loses ``loss`` points. Backwards over rounds and leads: winning a round by as much
    as possible is best, so each round moves the lead by ``loss`` against its first chooser (R24: in turn, from seat 0).

    >>> from ludodrome import spaces
    >>> spaces.match_value(2, rounds=5)
    -2
    """

    @cache
    def final(played: int, lead: int) -> int:
        if played == rounds:
            return lead
        return final(played + 1, lead - loss if played % 2 == 0 else lead + loss)

    return final(0, 0)
