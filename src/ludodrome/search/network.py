"""A small neural network as evaluation, updated incrementally: what chess programs call NNUE.

A game's ``Network`` says which features a position has. One hidden layer sees them twice, as seat 0 and as seat 1 does;
its sums, the *accumulator*, change with a move by a few rows of weights. The output weighs the clipped and squared
sums of the seat to move and of the other, with weights that depend on the phase of the game (the *bucket*), and adds a
share of the evaluator's value: the network learns what the evaluator gets wrong.

Everything is integer arithmetic, so compiled code and plain Python give the same numbers. The hidden layer consists of
filters, each applied in the eight orientations of the board and weighed alike: symmetric positions have equal values.

    accumulator[h] = bias[h] + sum of weights[f, h] over the features f, in units of 1 / ONE_UNIT
    value = sum of out[b, side, h] * (clip(accumulator[h], 0, CLIP) ** 2 >> SHIFT) + out_bias[b], times scale
            + share[b] * the evaluator's value / SHARE_UNIT
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ludodrome.game_spec import Evaluator, Network, Rules
from ludodrome.jit import COMPILED, Array, Int, Record, borrow, inline_kernel, kernel_of
from ludodrome.search.symmetry import SYMMETRIES

CLIP = 255
"""An accumulator's unit, at which the activation is clipped."""
SHIFT = 7
"""Bits dropped from a square, so that it fits 16-bit multiplication."""
ACTIVE = (CLIP * CLIP) >> SHIFT
"""The highest activation."""
OUT_UNIT = 256
"""The unit of output weights."""
SHARE_UNIT = 256
"""The unit of the evaluator's share."""
VALUE_SCALE = 125
"""Hundredths for one unit of log-odds in samples; a network may have a scale of its own."""
MAX_NETWORK_VALUE = 9_000
"""Values stay far from those of proven wins."""
MAX_CHANGES = 128
NETWORK_VARIANT = "_net"
"""Part of the names of kernels that exist with and without a network."""
_FULL_SCALE = ACTIVE * OUT_UNIT


class NetworkWeights(NamedTuple):
    """The integer weights of a network, as they are stored: one row for each filter."""

    weights: Array
    """(num_features, filters) int16"""
    bias: Array
    """(filters,) int16"""
    out: Array
    """(num_buckets, 2, filters) int16: for the seat to move, for the other."""
    out_bias: Array
    """(num_buckets,) int32, in units of the sum"""
    share: Array
    """(num_buckets,) int32: how much of the evaluator's value is added, in units of 1 / SHARE_UNIT"""
    scale: Array
    """(1,) int32: hundredths for one unit of the output, which is a log-odds"""


class NetworkMemory(NamedTuple):
    """What a search needs to evaluate with a network: weights in every orientation, and its accumulators."""

    weights: Array
    """(num_features + 1, 2 * hidden) int16: as seat 0 sees a feature, then as seat 1 does; the last row is zero."""
    bias: Array
    """(2 * hidden,) int16"""
    out: Array
    """(num_buckets, 2, hidden) int16"""
    out_bias: Array
    """(num_buckets,) int64"""
    share: Array
    """(num_buckets,) int64"""
    scale: Array
    """(1,) int64"""
    accumulators: Array
    """(plies, 2 * hidden) int16"""
    removed: Array
    """(MAX_CHANGES,) int64"""
    added: Array
    """(MAX_CHANGES,) int64"""


def new_memory(network: Network, weights: NetworkWeights, plies: int) -> NetworkMemory:
    """The memory of a search that looks ``plies`` plies ahead."""
    hidden = SYMMETRIES * weights.weights.shape[1]
    seen = np.zeros((network.num_features + 1, 2 * hidden), np.int16)
    oriented = weights.weights[network.symmetries].transpose(1, 0, 2).reshape(network.num_features, hidden)
    seen[:-1, :hidden] = oriented
    seen[:-1, hidden:] = oriented[network.mirrored]
    return NetworkMemory(
        seen,
        np.tile(weights.bias, 2 * SYMMETRIES),
        np.ascontiguousarray(np.tile(weights.out, SYMMETRIES)),
        weights.out_bias.astype(np.int64),
        weights.share.astype(np.int64),
        weights.scale.astype(np.int64),
        np.zeros((plies, 2 * hidden), np.int16),
        np.zeros(MAX_CHANGES, np.int64),
        np.zeros(MAX_CHANGES, np.int64),
    )


def no_memory() -> NetworkMemory:
    """The argument of a search without a network."""
    empty = np.zeros((0, 0), np.int16)
    numbers = np.zeros(0, np.int64)
    return NetworkMemory(
        empty, empty[0:0].reshape(0), np.zeros((0, 2, 0), np.int16), numbers, numbers, numbers, empty, numbers, numbers
    )


@inline_kernel
def borrow_memory(net: NetworkMemory) -> NetworkMemory:
    """The same memory without reference counting."""
    return NetworkMemory(
        borrow(net.weights),
        borrow(net.bias),
        borrow(net.out),
        borrow(net.out_bias),
        borrow(net.share),
        borrow(net.scale),
        borrow(net.accumulators),
        borrow(net.removed),
        borrow(net.added),
    )


# The arithmetic: loops that become vector instructions, or NumPy where nothing is compiled


def _plain_update(net: NetworkMemory, to: Int, source: Int, first: Int) -> None:
    """Set accumulator ``to`` to accumulator ``source`` changed by the pairs ``first`` and ``first + 1``."""
    removed, added = net.removed, net.added
    change = net.weights[added[first]] - net.weights[removed[first]]
    change += net.weights[added[first + 1]] - net.weights[removed[first + 1]]
    net.accumulators[to] = net.accumulators[source] + change


@inline_kernel
def _compiled_update(net: NetworkMemory, to: Int, source: Int, first: Int) -> None:
    result, before = net.accumulators[to], net.accumulators[source]
    a, b = net.weights[net.removed[first]], net.weights[net.removed[first + 1]]
    c, d = net.weights[net.added[first]], net.weights[net.added[first + 1]]
    for k in range(len(result)):
        result[k] = before[k] - a[k] - b[k] + c[k] + d[k]


def _plain_output(net: NetworkMemory, at: Int, seat: Int, bucket: Int) -> Int:
    """The weighted sum of the activations, for the seat to move."""
    hidden = net.out.shape[2]
    sums = net.accumulators[at].reshape(2, hidden).astype(np.int64)
    squares = np.clip(sums, 0, CLIP) ** 2 >> SHIFT
    return int((squares[seat] * net.out[bucket, 0]).sum() + (squares[1 - seat] * net.out[bucket, 1]).sum())


@inline_kernel
def _compiled_output(net: NetworkMemory, at: Int, seat: Int, bucket: Int) -> Int:
    hidden = net.out.shape[2]
    own = net.accumulators[at, seat * hidden : (seat + 1) * hidden]
    other = net.accumulators[at, (1 - seat) * hidden : (2 - seat) * hidden]
    for_own, for_other = net.out[bucket, 0], net.out[bucket, 1]
    low, high = np.int16(0), np.int16(CLIP)
    total = np.int32(0)
    for k in range(hidden):  # 32-bit casts: otherwise the products would be 64-bit, and slow
        x = np.int32(min(max(own[k], low), high))
        y = np.int32(min(max(other[k], low), high))
        square, other_square = np.int32(np.int32(x * x) >> SHIFT), np.int32(np.int32(y * y) >> SHIFT)
        total = np.int32(total + np.int32(square * for_own[k]) + np.int32(other_square * for_other[k]))
    return np.int64(total)


_update: Any = _compiled_update if COMPILED else _plain_update
_output: Any = _compiled_output if COMPILED else _plain_output


@inline_kernel
def apply_changes(net: NetworkMemory, to: Int, source: Int, count: Int, nothing: Int) -> None:
    """Set accumulator ``to`` to accumulator ``source`` changed by ``count`` pairs; ``nothing``: the zero row."""
    if count & 1:
        net.removed[count] = nothing
        net.added[count] = nothing
    _update(net, to, source, 0)
    for first in range(2, count, 2):
        _update(net, to, to, first)


@inline_kernel
def output(net: NetworkMemory, at: Int, seat: Int, bucket: Int, base: Int) -> Int:
    """The value of accumulator ``at`` for the seat to move, in hundredths; ``base``: that of the evaluator."""
    total = _output(net, at, seat, bucket) + net.out_bias[bucket]
    value = total * net.scale[0] // _FULL_SCALE + net.share[bucket] * base // SHARE_UNIT
    return max(-MAX_NETWORK_VALUE, min(MAX_NETWORK_VALUE, value))


class NetworkKernels(NamedTuple):
    """The kernels of a game's network."""

    refresh_at: Callable[..., Any]
    """(s, net, at): compute accumulator ``at`` from scratch."""
    refresh: Callable[..., Any]
    """(states, net): compute the first accumulator for states[0]."""
    network_value: Callable[..., Any]
    """(states, net): the value of states[0] for the seat to move, from scratch; only where a bucket applies."""
    features_many: Callable[..., Any]
    """(states, own, other, buckets, values, buffer): the inputs of many positions, for training."""


def make_network_kernels(rules: Rules, evaluator: Evaluator, network: Network) -> NetworkKernels:
    """The kernels of one game."""
    legal, mover, value = rules.legal, rules.mover, evaluator.value
    list_features, bucket, mirrored = network.list_features, network.bucket, network.mirrored
    nothing = network.num_features

    @kernel_of(legal)
    def refresh_at(s: Record, net: NetworkMemory, at: Int) -> None:
        """Compute accumulator ``at`` from scratch."""
        count = list_features(s, net.added)
        net.accumulators[at, :] = net.bias
        for k in range(count, (count + 1) // 2 * 2):
            net.added[k] = nothing
        net.removed[: count + 1] = nothing
        for first in range(0, count, 2):
            _update(net, at, at, first)

    @kernel_of(legal)
    def refresh(states: Any, net: NetworkMemory) -> None:
        """Compute the first accumulator for states[0]."""
        refresh_at(states[0], net, 0)

    @kernel_of(legal)
    def network_value(states: Any, net: NetworkMemory) -> Int:
        """The value of states[0] for the seat to move, from scratch."""
        refresh_at(states[0], net, 0)
        seat = mover(states[0])
        return output(net, 0, seat, bucket(states[0]), value(states[0], seat))

    @kernel_of(legal)
    def features_many(states: Any, own: Array, other: Array, buckets: Array, values: Array, buffer: Array) -> None:
        """Features of running positions as the seat to move sees them, and the other; the evaluator's values.

        own, other: (positions, max_active) int16, filled up with ``num_features``; buckets, values: (positions,);
        buffer: (MAX_CHANGES,) int64.
        """
        for i in range(len(states)):
            count = list_features(states[i], buffer)
            seat = mover(states[i])
            buckets[i] = bucket(states[i])
            values[i] = value(states[i], seat)
            own[i, :] = nothing
            other[i, :] = nothing
            for k in range(count):
                feature = buffer[k]
                seen = mirrored[feature]
                own[i, k] = feature if seat == 0 else seen
                other[i, k] = seen if seat == 0 else feature

    return NetworkKernels(refresh_at, refresh, network_value, features_many)
