"""Training of a game's network with PyTorch on the CPU, and its quantisation to integers.

The network predicts the probability that the seat to move wins. Its target is a mix of the game's result and of the
probability that belongs to the search's score. Filters are shared by the eight orientations of the board, as in
``search/network.py``, so a position teaches eight.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

import ludodrome
from ludodrome import atomic_io
from ludodrome.bots.networks import overflows
from ludodrome.game import Game
from ludodrome.game_spec import Network
from ludodrome.jit import Array
from ludodrome.nnue.samples import SampleArrays, read, read_settings
from ludodrome.search.network import ACTIVE, CLIP, MAX_CHANGES, OUT_UNIT, SHARE_UNIT, VALUE_SCALE, NetworkWeights
from ludodrome.search.symmetry import SYMMETRIES

VALIDATION = 0.02
"""The share of the samples, the last ones, that are not trained on."""


class TrainingSettings(NamedTuple):
    """How a network is trained."""

    filters: int = 32
    """Hidden units, each in eight orientations."""
    epochs: int = 12
    batch: int = 8192
    rate: float = 0.002
    """Learning rate at the beginning; it falls to zero along half a cosine."""
    result_share: float = 0.5
    """The weight of the game's result in the target; the rest is the search's score."""
    scale: int = VALUE_SCALE
    """Hundredths for one unit of log-odds: the search prunes by margins in hundredths."""
    seed: int = 0


class Progress(NamedTuple):
    """The state of training after an epoch."""

    epoch: int
    loss: float
    """Mean cross-entropy on the samples trained on."""
    validation: float
    """Mean cross-entropy on the others."""


class TrainingSet(NamedTuple):
    """Samples as tensors."""

    own: Any
    """(samples, max_active) int64: the features of the seat to move, filled up with ``num_features``"""
    other: Any
    buckets: Any
    """(samples,) int64"""
    values: Any
    """(samples,) float32: what the evaluator says, as a log-odds"""
    targets: Any
    """(samples,) float32: the probability of winning"""


class FloatNetwork(nn.Module):  # type: ignore[misc,unused-ignore]
    """The network with float weights."""

    def __init__(self, network: Network, filters: int) -> None:
        super().__init__()
        self.symmetries = torch.from_numpy(np.ascontiguousarray(network.symmetries.T)).long()
        self.weights = nn.Parameter(torch.randn(network.num_features, filters) * (0.5 / math.sqrt(network.max_active)))
        self.bias = nn.Parameter(torch.full((filters,), 0.25))
        self.out = nn.Parameter(torch.randn(network.num_buckets, 2, filters) * (0.3 / math.sqrt(filters)))
        self.out_bias = nn.Parameter(torch.zeros(network.num_buckets))
        self.share = nn.Parameter(torch.full((network.num_buckets,), 0.8))

    def forward(self, own: Any, other: Any, buckets: Any, values: Any) -> Any:
        """The log-odds of winning: [samples] float32."""
        filters = self.bias.shape[0]
        oriented = self.weights[self.symmetries].flatten(1)  # (num_features, 8 * filters)
        table = torch.cat([oriented, torch.zeros(1, oriented.shape[1])])
        sides = []
        for features in (own, other):
            sums = nn.functional.embedding_bag(features, table, mode="sum").reshape(len(features), SYMMETRIES, filters)
            sides.append(((sums + self.bias).clamp(0, 1) ** 2).sum(1))
        weights = self.out[buckets]
        return (
            (sides[0] * weights[:, 0] + sides[1] * weights[:, 1]).sum(1)
            + self.out_bias[buckets]
            + self.share[buckets] * values
        )


def training_set(game: Game, samples: SampleArrays, result_share: float) -> TrainingSet:
    """Features and targets of samples; positions that the network does not judge are left out."""
    network = game.network
    assert network is not None
    count = len(samples.scores)
    own = np.zeros((count, network.max_active), np.int16)
    other, (buckets, values) = np.zeros_like(own), np.zeros((2, count), np.int64)
    game.kernels.features_many(samples.states, own, other, buckets, values, np.zeros(MAX_CHANGES, np.int64))
    judged = buckets >= 0
    expected = 1 / (1 + np.exp(-samples.scores / VALUE_SCALE))
    targets = result_share * (samples.results + 1) / 2 + (1 - result_share) * expected
    return TrainingSet(
        torch.from_numpy(own[judged]),
        torch.from_numpy(other[judged]),
        torch.from_numpy(buckets[judged]),
        torch.from_numpy((values[judged] / VALUE_SCALE).astype(np.float32)),
        torch.from_numpy(targets[judged].astype(np.float32)),
    )


def read_training_set(game: Game, folders: Sequence[Path], settings: TrainingSettings) -> TrainingSet:
    """The samples of several folders in random order; raise ValueError if their features are not the game's."""
    parts = []
    for folder in folders:
        made_with = read_settings(folder)
        source = ludodrome.make(made_with.game, **made_with.options)
        if _features(source) is not _features(game):
            raise ValueError(f"the samples of {folder} are of {source.id}, whose features are not those of {game.id}")
        parts.append(training_set(source, read(folder), settings.result_share))
    whole = TrainingSet(*(torch.cat(part) for part in zip(*parts, strict=True)))
    order = torch.randperm(len(whole.targets), generator=torch.Generator().manual_seed(settings.seed))
    return TrainingSet(*(part[order] for part in whole))


def _features(game: Game) -> Any:
    """What lists the features of a game's positions."""
    return None if game.network is None else game.network.list_features


def train(data: TrainingSet, settings: TrainingSettings, model: FloatNetwork, threads: int = 1) -> Iterator[Progress]:
    """Train a model; yield after each epoch."""
    torch.set_num_threads(threads)
    generator = torch.Generator().manual_seed(settings.seed)
    split = int(len(data.targets) * (1 - VALIDATION))
    steps = settings.epochs * (split // settings.batch)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings.rate, max(steps, 1), pct_start=0.05)
    for epoch in range(1, settings.epochs + 1):
        order = torch.randperm(split, generator=generator)
        total, batches = 0.0, split // settings.batch
        for k in range(batches):
            rows = order[k * settings.batch : (k + 1) * settings.batch]
            loss = _loss(model, data, rows)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            _stay_in_range(model)
            total += float(loss.detach())
        with torch.no_grad():
            rest = torch.arange(split, len(data.targets))
            validation = float(_loss(model, data, rest)) if len(rest) else 0.0
        yield Progress(epoch, total / max(batches, 1), validation)


def _loss(model: FloatNetwork, data: TrainingSet, rows: Any) -> Any:
    found = model(data.own[rows].long(), data.other[rows].long(), data.buckets[rows], data.values[rows])
    return nn.functional.binary_cross_entropy_with_logits(found, data.targets[rows])


def _stay_in_range(model: FloatNetwork) -> None:
    """Keep weights within what the integers hold."""
    with torch.no_grad():
        model.weights.clamp_(-2.0, 2.0)
        model.out.clamp_(-60.0, 60.0)


def new_model(game: Game, settings: TrainingSettings) -> FloatNetwork:
    """A model with random weights; raise ValueError if the game has no network."""
    if game.network is None:
        raise ValueError(f"this game of {game.id} has no network: its package declares none for these options")
    torch.manual_seed(settings.seed)
    return FloatNetwork(game.network, settings.filters)


def quantise(model: FloatNetwork, game: Game, scale: int = VALUE_SCALE) -> NetworkWeights:
    """Round to integers; raise ValueError if sums could overflow."""
    assert game.network is not None

    def rounded(values: Any, unit: float, dtype: Any) -> Array:
        found: Array = np.rint(values.detach().numpy() * unit).astype(dtype)
        return found

    weights = NetworkWeights(
        rounded(model.weights, CLIP, np.int16),
        rounded(model.bias, CLIP, np.int16),
        rounded(model.out, OUT_UNIT, np.int16),
        rounded(model.out_bias, ACTIVE * OUT_UNIT, np.int32),
        rounded(model.share, SHARE_UNIT * scale / VALUE_SCALE, np.int32),
        np.array([scale], np.int32),
    )
    if overflows(weights, game.network.max_active):
        raise ValueError("the weights are so large that sums overflow: train with a lower rate or more samples")
    return weights


def save(weights: NetworkWeights, path: Path) -> None:
    """Write a network."""
    with atomic_io.whole_file(path) as file:
        np.savez_compressed(file, **weights._asdict())
