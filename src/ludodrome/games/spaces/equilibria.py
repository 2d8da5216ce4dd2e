"""The equilibrium of blind choice: a mixture of boards that no board beats on average.

Blind choice is a symmetric game for the difference of points, so its value is 0; the result is
the mixture. Where all pairings fit into a matrix, a linear program gives it (``solve_matrix``;
boards that play alike are merged first). For larger sizes it is found by double oracle
(McMahan, Gordon and Blum 2003): solve the game of a few boards, look for the best response to
that mixture among all boards, take it in, and so on; what the best response is worth is the
*gap*, and when it is 0, the mixture is perfect. The game is the same in a mirror, so mixtures are
made their own mirror image, and half of all boards need not be looked at.

``Inspection`` goes another way to the same end: it plays all boards, one by one, against a mixture.
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
from ludodrome.games.spaces.counting import known_count
from ludodrome.games.spaces.generation import Walk
from ludodrome.games.spaces.legality import all_boards
from ludodrome.games.spaces.mixture_response import MixtureHunt, pack
from ludodrome.games.spaces.simulation import Packed
from ludodrome.jit import Array

# Perfect play where both choose blind: mixtures of boards that no board beats, for the sizes that were solved.
# ``equilibrium.py`` finds and proves them; docs/results/perfect-spaces.md tells the story. They are short:
# under ``written``, and under ``live`` from size 3 on, a straight run, in a column drawn by lot.


SOLVED = {"live": 17, "written": 100}
"""Up to these sizes it is proven that nothing beats the mixture; beyond, nothing was found that does."""

_SMALLEST_LIVE = ("2:0:6uf", "2:1:4uf")
"""At size 2 under ``live``: a trap beside oneself, then up."""


@dataclass(frozen=True, slots=True)
class Mixture:
    """Boards, as actions, and how often each is laid: whole numbers, in proportion."""

    size: int
    rules: str
    boards: tuple[bytes, ...]
    weights: tuple[int, ...]

    def json_boards(self) -> list[dict[str, Any]]:
        """The boards as JSON."""
        return [format_board(board, self.size) for board in self.boards]


def straight_run(size: int, col: int) -> bytes:
    """Straight up from a column."""
    return bytes([col, *[size + UP] * (size - 1), size + FINISH])


def perfect(size: int, rules: str = "written") -> Mixture:
    """The stored mixture; see ``SOLVED`` for how far it is proven."""
    checked_size(size)
    if is_live(rules) and size == 2:
        boards = tuple(parse_code(code)[1] for code in _SMALLEST_LIVE)
    else:
        boards = tuple(straight_run(size, col) for col in range(size))
    return Mixture(size, rules, boards, (1,) * len(boards))


MATRIX = 1000
"""So many boards, merged or not, are given to one linear program."""
EXACT = 1e-9
"""A gap no greater than this counts as none."""
_DENOMINATOR = 100_000
"""Weights are first tried as fractions with no greater denominator."""
_SCALE = 10**12
"""Else they are rounded to parts of this."""
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, slots=True)
class Program:
    """What a linear program found: weights, and the values of both sides, which must agree."""

    weights: Array
    primal: float
    dual: float


def solve_matrix(margins: Array) -> Program:
    """Weights of the columns against which no row has a positive margin on average, by HiGHS.

    margins: (boards, boards), antisymmetric. ``primal`` is the best row's margin against the weights, ``dual`` the
    worst column's against the weights of the rows that the program gives as multipliers.
    """
    import highspy

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
    return Program(weights, float((margins @ weights).max()), float((multipliers @ margins).min()))


def margins_of(first: Sequence[bytes], second: Sequence[bytes], size: int, live: bool) -> Array:
    """The margins of each of the first boards over each of the second, int64."""
    one, two = pack(first, size, live), pack(second, size, live)
    points_a = np.empty((len(first), len(second)), np.int16)
    points_b = np.empty_like(points_a)
    rounds.play_matrix(
        *one.arrays(rotated=False), one.ends, *two.arrays(rotated=True), two.ends, live, points_a, points_b
    )
    return points_a.astype(np.int64) - points_b


def merge(boards: Sequence[bytes], size: int, live: bool) -> list[bytes]:
    """One of each set of boards that play alike: that have the same margin over every board."""
    _, first = np.unique(margins_of(boards, boards, size, live), axis=0, return_index=True)
    return [boards[number] for number in sorted(first.tolist())]


class Equilibrium:
    """An equilibrium in the making. ``step`` makes it better, until ``solved``.

    ``boards``: boards to begin with, as an earlier attempt left them; that is all there is to be resumed.
    """

    def __init__(self, size: int, rules: str = "written", boards: Iterable[bytes] = ()) -> None:
        self.size, self.rules, self.live = checked_size(size), rules, is_live(rules)
        count = known_count(size, rules)
        self.complete = count is not None and count <= MATRIX
        start = [straight_run(size, col) for col in range(size)]
        if self.complete:
            start = merge(all_boards(size, self.live), size, self.live)
        self.boards: list[bytes] = []
        self.margins: Array = np.zeros((0, 0), np.int64)
        self._take_in([*start, *boards])
        self.program: Program | None = None
        self.mixture: Mixture | None = None
        self.gap: float | None = None
        """No board does better than this against the mixture; None as long as nothing is certain."""
        self.stuck = False
        """Whether the last step found only boards that it knows: the linear program is not exact enough."""
        self.steps = self.nodes = 0

    @property
    def solved(self) -> bool:
        """Whether the mixture is perfect."""
        return self.gap is not None and self.gap <= EXACT

    def step(self, nodes: int = 10**12, report: Callable[[int, float], None] | None = None) -> None:
        """Solve the game of the boards so far, and look for a board that beats the mixture, for so many nodes."""
        self.program = solve_matrix(self.margins / 2)
        self.mixture = self._mixture(self.program.weights)
        weights = np.array(self.mixture.weights)
        hunt = MixtureHunt(pack(self.mixture.boards, self.size, self.live), weights, floor=0.0, mirrored=True)
        found = hunt.run(nodes, report)
        self.steps += 1
        self.nodes += hunt.nodes
        known = len(self.boards)
        self._take_in(found)
        self.gap = hunt.value if hunt.over else hunt.bound
        self.stuck = hunt.over and not self.solved and len(self.boards) == known

    def _take_in(self, boards: Iterable[bytes]) -> None:
        """Add boards; of a board and its mirror image, the first in order. Margins are over both, added up."""
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
        """The boards that have some weight, each with its mirror image, in whole numbers."""
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
    """Whole numbers in proportion to weights: exactly, if they are fractions with small denominators."""
    fractions = [Fraction(weight).limit_denominator(_DENOMINATOR) for weight in weights]
    scale = lcm(*(fraction.denominator for fraction in fractions))
    if scale > _SCALE:
        return [round(weight * _SCALE) for weight in weights]
    return [int(fraction * scale) for fraction in fractions]


class Inspection:
    """All legal boards against a mixture, one by one. ``after`` and ``best``: where an earlier one stopped."""

    def __init__(self, mixture: Mixture, after: str | None = None, done: int = 0, best: int | None = None) -> None:
        self.mixture, self.after, self.done, self.best = mixture, after, done, best
        self.live = is_live(mixture.rules)
        self.over = False
        self._walk = Walk(mixture.size, mixture.rules, after)
        packed = pack(mixture.boards, mixture.size, self.live)
        self._others = (*packed.arrays(rotated=True), packed.ends, np.array(mixture.weights, np.int64))

    @property
    def margin(self) -> float:
        """The best average margin so far; at the end, of all boards."""
        return 0.0 if self.best is None else self.best / sum(self.mixture.weights)

    def step(self) -> None:
        """Some thousand boards more."""
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


# Boards for a player who does not know the other's: a sound first choice, and boards by chance.
# Under ``written`` the straight run cannot be beaten. In step k it has k points, more than anybody
# else can have; a trap takes one of them and ends the round, but setting it has cost the other a
# step up; a collision costs both the same. So no board does better against it than to draw, and
# since a round is symmetric, nothing is better than to run.
# Under ``live`` a runner who is foreseen is stopped halfway, and one must not be foreseen: the board is
# drawn from a mixture that nothing beats (``perfect.py``). Where the other sees the board before
# answering, the straight run loses least (``seen.py``).


def sensible(size: int, rules: str = "written", seed: int = 0, foreseen: bool = False) -> dict[str, Any]:
    """A sound board to lay against an unknown one; ``foreseen``: the other sees it and answers."""
    checked_size(size)
    live = is_live(rules)
    chance = random.Random(validation.whole(seed, "the seed", ValueError))
    if foreseen or not live:
        return format_board(straight_run(size, chance.randrange(size)), size)
    mixture = perfect(size, rules)
    return format_board(chance.choices(mixture.boards, mixture.weights)[0], size)


# The match under ``seen``, where the second chooser of a round answers the first one's board.
# Against a board that is seen, the best response is what counts, so the first chooser lays the
# board that loses least to it. ``LeastLoss`` finds that board among all: it looks for a board
# that loses less than the best so far to each of some answers (``mixture_search.py``), asks for the
# best response to it, and takes that in among the answers; when there is no such board, it is done.
# A seat's prospects in a match never get worse by a greater lead, so both sides play each round for
# its margin, and the match follows by going back from its last round.


KNOWN_LOSS = {2: 2, 3: 3, 4: 3, 5: 4, 6: 4, 7: 5}
"""Under ``live``: what the best board that is seen loses by, for the sizes that were worked out."""


class LeastLoss:
    """The board that loses least to its best response, in the making."""

    def __init__(self, size: int, rules: str = "written") -> None:
        self.size, self.rules = checked_size(size), rules
        is_live(rules)
        self.answers: list[dict[str, Any]] = []
        self.nodes = 0
        self.over = False
        self.board = format_board(straight_run(size, 0), size)
        self.loss = self._ask(self.board)

    def step(self) -> None:
        """Look for a board that may lose less, and ask for the best response to it."""
        if self.loss == 0:  # nobody does better than that: a board draws against itself
            self.over = True
            return
        others = Packed(self.answers, self.size, self.rules)
        hunt = MixtureHunt(others, np.zeros(len(others)), floor=-1.0, least=1 - self.loss)
        hunt.run(10**12)
        self.nodes += hunt.nodes
        if not hunt.found:
            self.over = True
            return
        board = format_board(hunt.best, self.size)
        loss = self._ask(board)
        if loss < self.loss:
            self.board, self.loss = board, loss

    def _ask(self, board: dict[str, Any]) -> int:
        """What a board loses by; the answer is kept."""
        response = respond(board, self.size, self.rules, nodes=10**12)
        self.answers.append(response.board)
        return response.margin


def match_value(loss: int, rounds: int) -> int:
    """Seat 0's final lead in a match of so many rounds if nobody errs, where the first chooser of each loses so much.

    By going back from the end over rounds and leads: what is best at the end of a round is to have won it by as much
    as possible, so each round moves the lead by ``loss`` against its first chooser (R24: in turn, from seat 0 on).
    """

    @cache
    def final(played: int, lead: int) -> int:
        if played == rounds:
            return lead
        return final(played + 1, lead - loss if played % 2 == 0 else lead + loss)

    return final(0, 0)
