"""Vectorised games for learners, in compiled code: actions, opponents' answers, results, masks, planes.

It is generic: a game gives its ``Rules`` and its kernel ``observe``. Each pass goes over all games; ``envs/`` calls
them and decides what happens when a game ends. Opponents that search are in ``opponents.py``.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ludodrome.game_spec import Rules, default_planes, field_shapes
from ludodrome.jit import GOLDEN, Array, below, borrow, kernel_of, mix

LOSS = -1.0
"""What an illegal action costs."""


class VecState(NamedTuple):
    """n games and their bookkeeping."""

    states: Any
    """(n,) records"""
    rng: Array
    """(n,) uint64: each game's own random stream."""
    agent_seat: Array
    """(n,) int8: the learner's seat; where it plays all seats, the one whose turn it is."""
    opponents: Array
    """(n,) int16: the number of the opponent, the same for a whole game."""
    over: Array
    """(n,) bool: the game has ended, and so has the learner's episode."""
    ended: Array
    """(n,) bool: it ended in this step."""
    illegal: Array
    """(n,) bool: it ended because the learner's action was illegal."""
    rewards: Array
    """(n,) float64: what this step brought the learner."""
    returns: Array
    """(n, seats) float32: what the game came to, by seat; 0 while it runs."""


class Observations(NamedTuple):
    """What learners see, one row for each game."""

    choices: Array
    """(rows, max_legal) int16: the legal actions, ascending; the first ``counts`` are valid"""
    counts: Array
    """(rows,) int32"""
    mask: Array
    """(rows, num_actions) int8: 1 where an action is legal."""
    planes: Array
    """(rows, planes, cells)"""


class VectorKernels(NamedTuple):
    """The compiled passes over all games."""

    begin_many: Callable[..., Any]
    act_many: Callable[..., Any]
    settle_many: Callable[..., Any]
    look_many: Callable[..., Any]
    movers_many: Callable[..., Any]
    answer_random: Callable[..., Any]


def make_vector(rules: Rules, observe: Callable[..., Any]) -> VectorKernels:
    """The vector kernels of one game; ``observe`` (s, seat, out) fills the planes (planes, cells)."""
    reset, legal, fault, play, mover, winner = (
        rules.reset,
        rules.legal,
        rules.fault,
        rules.play,
        rules.mover,
        rules.winner,
    )

    @kernel_of(legal)
    def begin_many(vec: VecState, where: Array, seat: int, kinds: int) -> None:
        """Reset game i where where[i] is true, with one of ``kinds`` opponents; seat -1: a random seat."""
        seats = vec.returns.shape[1]
        for i in range(len(where)):
            if where[i]:
                counter = vec.rng[i]
                reset(vec.states[i], mix(counter + GOLDEN))
                drawn = below(mix(counter + GOLDEN + GOLDEN), seats)
                counter += GOLDEN + GOLDEN + GOLDEN
                vec.agent_seat[i] = drawn if seat < 0 else seat
                vec.opponents[i] = below(mix(counter), kinds)
                vec.rng[i] = counter
                vec.over[i] = False
                vec.returns[i, :] = 0.0

    @kernel_of(legal)
    def answer_random(vec: VecState, which: int, buffer: Array) -> None:
        """Opponent number ``which`` plays at random until it is the learner's turn; buffer: (max_legal,) int16."""
        states, buffer = borrow(vec.states), borrow(buffer)
        for i in range(len(vec.agent_seat)):
            if vec.opponents[i] != which:
                continue
            s = states[i]
            seat = mover(s)
            while seat >= 0 and seat != vec.agent_seat[i]:
                count = legal(s, buffer)
                vec.rng[i] += GOLDEN
                play(s, np.int64(buffer[below(mix(vec.rng[i]), count)]))
                seat = mover(s)

    @kernel_of(legal)
    def act_many(vec: VecState, actions: Array, limit: int, fresh: Array, random_opponent: int, buffer: Array) -> None:
        """Play the learner's actions, (n,) int64 below ``limit``, unless a game is over or just begun (fresh[i]).

        Opponent number ``random_opponent`` answers at random at once, which saves small games a call; -1: none.
        """
        states = borrow(vec.states)
        for i in range(len(actions)):
            vec.illegal[i] = False
            s = states[i]
            if vec.over[i] or fresh[i] or mover(s) < 0:
                continue
            action = actions[i]
            if action < 0 or action >= limit or fault(s, action) != 0:
                vec.illegal[i] = True
            else:
                play(s, action)
        if random_opponent >= 0:
            answer_random(vec, random_opponent, buffer)

    @kernel_of(legal)
    def settle_many(vec: VecState, fresh: Array, alone: bool) -> None:
        """Find the games that have ended, and their rewards; ``alone``: the learner plays all seats in turn.

        A game that ends before its learner's first turn ends with its first step, not with its reset.
        """
        seats = vec.returns.shape[1]
        for i in range(len(fresh)):
            vec.rewards[i] = 0.0
            vec.ended[i] = False
            if vec.over[i] or fresh[i]:
                continue
            view = vec.agent_seat[i]
            seat = mover(vec.states[i])
            if vec.illegal[i]:
                vec.returns[i, view] = LOSS
            elif seat < 0:
                best = winner(vec.states[i])
                if best >= 0:
                    vec.returns[i, :] = -1.0 / (seats - 1)
                    vec.returns[i, best] = 1.0
            else:
                if alone:
                    vec.agent_seat[i] = seat
                continue
            vec.over[i] = True
            vec.ended[i] = True
            vec.rewards[i] = vec.returns[i, view]

    @kernel_of(legal)
    def look_many(states: Any, rows: Array, seats: Array, obs: Observations) -> None:
        """Observe the games whose numbers i are in ``rows`` from seats[i], into successive rows; seats: (n,) int8.

        A seat that is not to move has no legal action.
        """
        states, all_choices, masks, planes = (
            borrow(states),
            borrow(obs.choices),
            borrow(obs.mask),
            borrow(obs.planes),
        )
        for row in range(len(rows)):
            i = rows[row]
            s = states[i]
            view = np.int64(seats[i])
            choices, mask = all_choices[row], masks[row]
            mask[:] = 0  # all of it: clearing only what was set takes longer
            count = 0
            if mover(s) == view:
                count = legal(s, choices)
            obs.counts[row] = count
            for k in range(count):
                mask[choices[k]] = 1
            observe(s, view, planes[row])

    @kernel_of(legal)
    def movers_many(states: Any, movers: Array) -> None:
        """Fill in the seats to move; movers: (n,) int8, -1 where a game is over."""
        for i in range(len(movers)):
            movers[i] = mover(states[i])

    return VectorKernels(begin_many, act_many, settle_many, look_many, movers_many, answer_random)


# The default planes: the record byte by byte, and the seat to move. ``game_spec.default_planes`` has their size.


_BYTE = np.uint64(255)
_BITS = 8


def make_default_observe(rules: Rules, dtype: np.dtype[Any], seats: int = 2) -> Callable[..., Any]:
    """The kernel ``observe`` of one game: (s, seat, out) fills out, (planes, cells) uint8."""
    mover = rules.mover
    write = _nothing(rules)
    at = default_planes(dtype).cols
    for name, (base, shape) in reversed(field_shapes(dtype).items()):
        count = int(np.prod(shape, dtype=np.int64))
        at -= count * base.itemsize
        write = (_many if shape else _one)(rules, name, at, count, base.itemsize, write)

    @kernel_of(rules.legal)
    def observe(s: Any, seat: Any, out: Array) -> None:
        """What a seat sees: the same numbers for everybody, and 1 on the second plane if it is its turn."""
        write(s, out)
        moving = mover(s)
        out[1, :] = 0 if moving < 0 else 1 + (moving - seat) % seats

    return observe


def _nothing(rules: Rules) -> Callable[..., Any]:
    @kernel_of(rules.legal)
    def nothing(s: Any, out: Array) -> None:
        """After the last field."""

    return nothing


def _one(rules: Rules, name: str, at: int, count: int, size: int, rest: Callable[..., Any]) -> Callable[..., Any]:
    """Write a field of one number, then the rest."""

    def write(s: Any, out: Array) -> None:
        number = np.uint64(np.int64(s[name]))
        for place in range(size):
            out[0, at + place] = (number >> np.uint64(_BITS * place)) & _BYTE
        rest(s, out)

    return _named(rules, write, name)


def _many(rules: Rules, name: str, at: int, count: int, size: int, rest: Callable[..., Any]) -> Callable[..., Any]:
    """Write a field of several numbers, then the rest."""

    def write(s: Any, out: Array) -> None:
        numbers = s[name].reshape(count)
        for k in range(count):
            number = np.uint64(np.int64(numbers[k]))
            for place in range(size):
                out[0, at + k * size + place] = (number >> np.uint64(_BITS * place)) & _BYTE
        rest(s, out)

    return _named(rules, write, name)


def _named(rules: Rules, write: Callable[..., Any], field: str) -> Callable[..., Any]:
    """Compiled under a name of its own: see the names of compiled functions in ``jit.py``."""
    write.__name__ = f"write_{field}"
    return kernel_of(rules.legal)(write)
