"""Maximum likelihood of strengths in games with any number of seats, with draws and with effects of the seats.

Plackett and Luce's model with ties by Davidson. Every player has a strength, every seat an effect. In a game one of
the players wins, or some of them share the first place; the chance of a set of players to do so is in proportion to
exp(mean of strength + seat effect over the set + the tie parameter of its size). If the returns rank the others too,
the same is asked once more of those who remain; who is last together with others is not ranked among them.

With two seats this is the model of Davidson and Beaver: Bradley and Terry's with draws and an advantage of the first
move. It is chosen over Rao and Kupper's since it belongs to an exponential family: the logarithm of its likelihood is
concave, so the maximum is unique and Newton finds it; and at the maximum every player's expected points are those
scored, a draw being worth exactly half a win.

Players are numbers here. Names, Elo and intervals are in ``ratings.py``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ludodrome.arena.statistics.scores import Numbers

Integers = NDArray[np.int64]
Contenders = tuple[tuple[int, int], ...]
"""The players that can still be chosen: player and seat of each."""
Choice = tuple[Contenders, int]
"""The contenders, and the chosen set as a bit mask."""

STRENGTH_PRIOR, SEAT_PRIOR, TIE_PRIOR = 5.756, 2.878, 5.0
"""Standard deviations of the weak normal priors that keep everything finite: 1000 Elo, 500 Elo, a factor of 150."""
STEPS = 200
_EXACT = 1e-8
_ROUNDING = 1e-12
"""Relative; a smaller loss is not a step down."""


def choices(players: Sequence[int], returns: Sequence[float]) -> list[Choice]:
    """The choices of a game with finite returns."""
    left = [(player, seat, returns[seat]) for seat, player in enumerate(players)]
    found: list[Choice] = []
    while len(left) > 1:
        best = max(value for _, _, value in left)
        if found and all(value == best for _, _, value in left):
            break
        chosen = sum(1 << slot for slot, (_, _, value) in enumerate(left) if value == best)
        found.append((tuple((player, seat) for player, seat, _ in left), chosen))
        left = [one for one in left if one[2] != best]
    return found


@dataclass(frozen=True, slots=True)
class Block:
    """All choices among equally many contenders: m situations, k contenders, s possible sets."""

    players: Integers
    """(m, k)"""
    seats: Integers
    """(m, k)"""
    counts: Numbers
    """(m, s): how often each set was chosen."""
    members: Numbers
    """(s, k): 1 / size for the members of each set."""
    sizes: Integers
    """(s,)"""


@dataclass(frozen=True, slots=True)
class Model:
    """All choices, and the order of the parameters: players, then seats, then ties by size, from 2."""

    blocks: tuple[Block, ...]
    players: int
    seats: int
    """Number of seat effects; 0 for a model without them."""
    ties: tuple[int, ...]
    """Sizes of shared first places that occurred; others are taken as impossible."""

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.players + self.seats + len(self.ties)

    @property
    def precision(self) -> Numbers:
        """Precision of the priors, by parameter."""
        deviations = [STRENGTH_PRIOR] * self.players + [SEAT_PRIOR] * self.seats + [TIE_PRIOR] * len(self.ties)
        return np.array([1 / one**2 for one in deviations])

    def tie(self, size: int) -> int | None:
        """Index of the parameter of ties of this size; None if there is none."""
        return self.players + self.seats + self.ties.index(size) if size in self.ties else None

    def locations(self) -> dict[Choice, tuple[int, int, int]]:
        """Location of each possible choice: block, row, column."""
        found: dict[Choice, tuple[int, int, int]] = {}
        for number, block in enumerate(self.blocks):
            chosen = ((block.members > 0) @ (1 << np.arange(block.members.shape[1]))).tolist()
            for row, (players, seats) in enumerate(zip(block.players.tolist(), block.seats.tolist(), strict=True)):
                contenders = tuple(zip(players, seats, strict=True))
                found.update({(contenders, one): (number, row, column) for column, one in enumerate(chosen)})
        return found

    def weighted(self, places: Integers, weights: Numbers) -> "Model":
        """The same model with other counts: the sums of weights at places, (n, 3): block, row, column."""
        blocks = []
        for number, block in enumerate(self.blocks):
            here = places[:, 0] == number
            cells = places[here, 1] * block.counts.shape[1] + places[here, 2]
            sums: Numbers = np.bincount(cells, weights[here], block.counts.size).astype(np.float64)
            blocks.append(replace(block, counts=sums.reshape(block.counts.shape)))
        return replace(self, blocks=tuple(blocks))


def gather(made: Iterable[tuple[Choice, float]], players: int, seats: int) -> Model:
    """The model of weighted choices; ``seats`` 0 omits seat effects."""
    weights: dict[Choice, float] = {}
    for choice, weight in made:
        weights[choice] = weights.get(choice, 0.0) + weight
    ties = tuple(sorted({chosen.bit_count() for _, chosen in weights} - {1}))
    blocks = []
    for width in sorted({len(contenders) for contenders, _ in weights}):
        sets = [one for one in range(1, 1 << width) if one.bit_count() == 1 or one.bit_count() in ties]
        column = {one: place for place, one in enumerate(sets)}
        here = [(choice, weight) for choice, weight in weights.items() if len(choice[0]) == width]
        row = {contenders: place for place, contenders in enumerate(dict.fromkeys(choice[0] for choice, _ in here))}
        counts = np.zeros((len(row), len(sets)))
        for (contenders, chosen), weight in here:
            counts[row[contenders], column[chosen]] += weight
        pairs = np.array(list(row), dtype=np.int64).reshape(len(row), width, 2)
        sizes = np.array([one.bit_count() for one in sets], dtype=np.int64)
        inside = np.array([[one >> slot & 1 for slot in range(width)] for one in sets], dtype=np.float64)
        blocks.append(Block(pairs[:, :, 0], pairs[:, :, 1], counts, inside / sizes[:, None], sizes))
    return Model(tuple(blocks), players, seats, ties)


def _features(model: Model, block: Block) -> tuple[Numbers, Integers]:
    """The features of each set, (s, d), and their parameters in each situation, (m, d)."""
    parts, places = [block.members], [block.players]
    if model.seats:
        parts.append(block.members)
        places.append(model.players + block.seats)
    for number, size in enumerate(model.ties):
        parts.append((block.sizes == size)[:, None].astype(np.float64))
        places.append(np.full((len(block.players), 1), model.players + model.seats + number, dtype=np.int64))
    return np.concatenate(parts, axis=1), np.concatenate(places, axis=1)


def _chances(features: Numbers, places: Integers, parameters: Numbers) -> tuple[Numbers, Numbers]:
    """Probability and log probability of each set in each situation, both (m, s)."""
    worth = parameters[places] @ features.T
    worth = worth - worth.max(axis=1, keepdims=True)
    logarithms = worth - np.log(np.exp(worth).sum(axis=1, keepdims=True))
    return np.exp(logarithms), logarithms


def likelihood(model: Model, parameters: Numbers) -> float:
    """The log likelihood, including the priors."""
    total = -0.5 * float(model.precision @ parameters**2)
    for block in model.blocks:
        _, logarithms = _chances(*_features(model, block), parameters)
        total += float((block.counts * logarithms).sum())
    return total


def slopes(model: Model, parameters: Numbers) -> tuple[Numbers, Numbers]:
    """The gradient of ``likelihood``, (p,), and the information matrix, its negative second derivative, (p, p)."""
    size = model.size
    gradient = -model.precision * parameters
    information = np.diag(model.precision).ravel()
    for block in model.blocks:
        features, places = _features(model, block)
        width = features.shape[1]
        chances, _ = _chances(features, places, parameters)
        games = block.counts.sum(axis=1, keepdims=True)
        missing = (block.counts - games * chances) @ features
        gradient = gradient + np.bincount(places.ravel(), missing.ravel(), size)
        mean = chances @ features
        products = (features[:, :, None] * features[:, None, :]).reshape(len(features), -1)
        spread = (chances @ products).reshape(-1, width, width) - mean[:, :, None] * mean[:, None, :]
        cells = places[:, :, None] * size + places[:, None, :]
        information = information + np.bincount(cells.ravel(), (games[:, :, None] * spread).ravel(), size * size)
    return gradient, information.reshape(size, size)


def maximise(
    model: Model, start: Numbers | None = None, along: Numbers | None = None, value: float = 0.0
) -> tuple[Numbers, Numbers]:
    """The likeliest parameters and the information there; with ``along`` only if ``along @ parameters == value``.

    Newton's method; a step that does not lead upwards is halved.
    """
    parameters = np.zeros(model.size) if start is None else start.copy()
    if along is not None:
        parameters += along * ((value - float(along @ parameters)) / float(along @ along))
    height = likelihood(model, parameters)
    for _ in range(STEPS):
        gradient, information = slopes(model, parameters)
        step = np.linalg.solve(information, gradient)
        if along is not None:
            across = np.linalg.solve(information, along)
            step -= across * (float(along @ step) / float(along @ across))
        least = height - _ROUNDING * (1 + abs(height))
        while (height := likelihood(model, parameters + step)) < least and np.abs(step).max() > _EXACT:
            step = step / 2
        parameters = parameters + step
        if np.abs(step).max() <= _EXACT:
            break
    return parameters, slopes(model, parameters)[1]
