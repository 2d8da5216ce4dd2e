"""Many games stepped together in compiled code: no Python loop over games."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ludodrome.game import Game, checked_count, checked_seed
from ludodrome.game_spec import Rules
from ludodrome.jit import Array, kernel_of, stream
from ludodrome.validation import show

MAX_BYTES = 1 << 36
"""No batch's states take more memory than this."""


class BatchKernels(NamedTuple):
    """The three compiled passes over an array of games."""

    reset_many: Callable[..., Any]
    step_many: Callable[..., Any]
    mask_many: Callable[..., Any]


def make_batch(rules: Rules) -> BatchKernels:
    """The batch kernels of one game."""
    reset, legal, fault, play, mover, winner = (
        rules.reset,
        rules.legal,
        rules.fault,
        rules.play,
        rules.mover,
        rules.winner,
    )

    @kernel_of(legal)
    def reset_many(states: Any, seed: Any, where: Array) -> None:
        """Reset game i where where[i] is true; where: (n,) bool."""
        for i in range(len(states)):
            if where[i]:
                reset(states[i], stream(seed, i))

    @kernel_of(legal)
    def step_many(
        states: Any, actions: Array, limit: int, done: Array, to_move: Array, rewards: Array, illegal: Array
    ) -> None:
        """Play actions[i] in game i if the game runs and the action is legal.

        actions: (n,) int64; limit: num_actions; done, illegal: (n,) bool; to_move: (n,) int8;
        rewards: (n, seats) float32.
        """
        seats = rewards.shape[1]
        for i in range(len(states)):
            illegal[i] = False
            if done[i]:
                continue
            s = states[i]
            action = actions[i]
            if action < 0 or action >= limit or fault(s, action) != 0:
                illegal[i] = True
                continue
            play(s, action)
            seat = mover(s)
            to_move[i] = seat
            if seat < 0:
                done[i] = True
                best = winner(s)
                if best >= 0:
                    rewards[i, :] = -1.0 / (seats - 1)
                    rewards[i, best] = 1.0

    @kernel_of(legal)
    def mask_many(states: Any, buffer: Array, mask: Array) -> None:
        """mask: (n, num_actions) bool, True where the action is legal."""
        for i in range(len(states)):
            mask[i, :] = False
            for k in range(legal(states[i], buffer)):
                mask[i, buffer[k]] = True

    return BatchKernels(reset_many, step_many, mask_many)


class Batch:
    """n games of one kind, stepped together.

    ``to_move`` (n,) int8: the seat to move, -1 when over. ``done`` (n,) bool.
    ``rewards`` (n, seats) float32: the returns of finished games, 0 while a game runs.
    ``illegal`` (n,) bool: whose last action was refused; nothing was changed there.
    These arrays are the batch's own and change with every step: copy what you keep.

    >>> import ludodrome
    >>> games = ludodrome.batch(ludodrome.make("dots", rows=1, cols=1), 3)
    >>> games.step([0, 1, 2])
    >>> games.step([0, 0, 0])
    >>> games.illegal.tolist(), games.to_move.tolist()
    ([True, False, False], [1, 0, 0])
    >>> games.legal_mask()[0].tolist()
    [False, True, True, True]
    >>> games.reset(where=[0])
    >>> int(games.legal_mask()[0].sum())
    4
    """

    def __init__(self, game: Game, n: int, seed: int = 0) -> None:
        n = checked_count(n, "a batch's number of games", low=1, high=MAX_BYTES // game.dtype.itemsize)
        self.game = game
        self.n = n
        self.states = game.new_states(n)
        self.to_move: Array = np.empty(n, np.int8)
        self.done: Array = np.empty(n, np.bool_)
        self.rewards: Array = np.empty((n, game.seats), np.float32)
        self.illegal: Array = np.empty(n, np.bool_)
        self._buffer = game.buffer()
        self.reset(seed)

    def __len__(self) -> int:
        return self.n

    def reset(self, seed: int = 0, where: ArrayLike | None = None) -> None:
        """Reset all games, or those given by a mask (n,) of booleans or by their numbers (signed integers)."""
        chosen = self._chosen(where)
        self.game.kernels.reset_many(self.states, checked_seed(seed), chosen)
        self.to_move[chosen] = 0
        self.done[chosen] = False
        self.rewards[chosen] = 0
        self.illegal[chosen] = False

    def _chosen(self, where: ArrayLike | None) -> Array:
        """A mask (n,) of booleans from what ``reset`` was given."""
        if where is None:
            return np.ones(self.n, np.bool_)
        given = np.asarray(where)
        if given.dtype == np.bool_ and given.shape == (self.n,):
            return given
        chosen = np.zeros(self.n, np.bool_)
        if given.ndim == 1 and (given.size == 0 or given.dtype.kind == "i"):
            numbers = given.astype(np.int64)
            if given.size == 0 or (numbers.min() >= 0 and numbers.max() < self.n):
                chosen[numbers] = True
                return chosen
        raise ValueError(
            f"where is a mask of {self.n} booleans, or a list of numbers of games from 0 to {self.n - 1}, "
            f"not {given.dtype} of shape {given.shape}"
        )

    def step(self, actions: ArrayLike) -> None:
        """Play one action in every running game; actions: (n,) integers."""
        chosen = np.asarray(actions)
        if chosen.shape != (self.n,) or chosen.dtype.kind not in "iu":
            raise ValueError(
                f"step takes {self.n} integers, one for each game, not {chosen.dtype} of shape {chosen.shape}"
            )
        self.game.kernels.step_many(
            self.states,
            chosen.astype(np.int64, copy=False),
            self.game.num_actions,
            self.done,
            self.to_move,
            self.rewards,
            self.illegal,
        )

    def legal_mask(self, out: Array | None = None) -> Array:
        """(n, num_actions) booleans, all False for finished games; into ``out`` if given."""
        shape = (self.n, self.game.num_actions)
        if out is None:
            mask: Array = np.empty(shape, np.bool_)
        elif isinstance(out, np.ndarray) and out.shape == shape and out.dtype == np.bool_ and out.flags.carray:
            mask = out
        else:
            found = f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else show(out)
            raise ValueError(f"out is a writable, contiguous array of booleans of shape {shape}, not {found}")
        self.game.kernels.mask_many(self.states, self._buffer, mask)
        return mask


def batch(game: Game, n: int, seed: int = 0) -> Batch:
    """Make a batch of ``n`` games side by side, all at the initial position.

    >>> import ludodrome
    >>> games = ludodrome.batch(ludodrome.make("dots", rows=2, cols=2), 1000)
    >>> while not games.done.all():
    ...     games.step(games.legal_mask().argmax(axis=1))
    >>> games.rewards.shape, games.to_move[:3].tolist()
    ((1000, 2), [-1, -1, -1])
    """
    return Batch(game, n, seed)
