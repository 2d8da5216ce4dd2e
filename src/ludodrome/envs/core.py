"""A learner at n games: NumPy arrays in and out, opponents that answer, games that begin anew.

All interfaces for learners stand on this one: Gymnasium's, single and vector, with one set of rules for seeds, seats
and ends. The passes over games are compiled (``search/vector.py``); who answers is in ``opponents.py``.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ludodrome.envs.observations import new_observations
from ludodrome.envs.opponents import Opponent, RandomOpponent, read_opponents
from ludodrome.game import Game, checked_count, checked_seed
from ludodrome.jit import Array
from ludodrome.search.batch import MAX_BYTES
from ludodrome.search.vector import Observations, VecState
from ludodrome.splitmix import mix_array
from ludodrome.validation import show

ALONE = "self"
"""The opponent that is none: the learner plays all seats."""


class VecGame:
    """n games of one kind. The arrays in ``lessons`` and ``observations`` change with every call: copy what you keep.

    ``seat``: the learner's, or None: drawn by lot for each game. ``opponent``: see ``opponents.py``; "self": the
    learner plays all seats, and ``state.agent_seat`` says whose turn it is.
    """

    def __init__(self, game: Game, n: int, opponent: Any = "random", seat: int | None = None) -> None:
        n = checked_count(n, "the number of games", low=1, high=MAX_BYTES // game.dtype.itemsize)
        self.game, self.n = game, n
        self.alone = opponent == ALONE if isinstance(opponent, str) else False
        self.opponents: list[Opponent] = [] if self.alone else read_opponents(opponent, game, n)
        self.seat = self._read_seat(seat)
        self.state = VecState(
            game.new_states(n),
            np.zeros(n, np.uint64),
            np.zeros(n, np.int8),
            np.zeros(n, np.int16),
            np.ones(n, np.bool_),
            np.zeros(n, np.bool_),
            np.zeros(n, np.bool_),
            np.zeros(n, np.float64),
            np.zeros((n, game.seats), np.float32),
        )
        self.observations = new_observations(game, n)
        self.rows: Array = np.arange(n)
        self.games_started: Array = np.zeros(n, np.int64)
        """How many games were begun in each place."""
        self._none: Array = np.zeros(n, np.bool_)
        self._lots = next((which for which, one in enumerate(self.opponents) if isinstance(one, RandomOpponent)), -1)
        self._buffer = game.buffer()

    def _read_seat(self, seat: Any) -> int:
        if self.alone:
            if seat is not None:
                raise ValueError("a learner that plays itself has all seats: leave out seat")
            return 0
        return -1 if seat is None else checked_count(seat, f"a seat of {self.game.id}", 0, self.game.seats - 1)

    def seed(self, seeds: ArrayLike) -> None:
        """Every game's own seed, (n,) whole numbers: with it everything in that game is settled but the learner."""
        words = np.array([checked_seed(seed) for seed in np.asarray(seeds, object)], np.uint64)
        if words.shape != (self.n,):
            raise ValueError(f"there are {self.n} games, and a seed for each, not {len(words)}")
        self.state.rng[:] = mix_array(mix_array(words))

    def reset(self, where: Array | None = None) -> None:
        """New games, all or those of a mask; opponents who are to move first have moved."""
        chosen = ~self._none if where is None else where
        self.game.kernels.begin_many(self.state, chosen, self.seat, len(self.opponents))
        self.games_started += chosen
        self.play_opponents()

    def step(self, actions: Array, fresh: Array | None = None) -> None:
        """One action of the learner in every game, then the answers; nothing happens where fresh[i], or it is over.

        actions: (n,) int64. An illegal one ends the game.
        """
        untouched = self._none if fresh is None else fresh
        kernels = self.game.kernels
        kernels.act_many(self.state, actions, self.game.num_actions, untouched, self._lots, self._buffer)
        self.play_opponents(but=self._lots)
        kernels.settle_many(self.state, untouched, self.alone)

    def play_opponents(self, but: int = -1) -> None:
        """Have the opponents move wherever it is their turn; ``but``: the one who has done so."""
        for which, opponent in enumerate(self.opponents):
            if which != but:
                opponent.answer(self, which)

    def observe(self) -> None:
        """Fill ``observations`` with what the learner sees in all games."""
        self.game.kernels.look_many(self.state.states, self.rows, self.state.agent_seat, self.observations)

    def observe_rows(self, rows: Array, views: Array, observations: Observations) -> None:
        """What views[i] sees of some games, numbered in ``rows``, into the first rows of ``observations``."""
        self.game.kernels.look_many(self.state.states, rows, views, observations)

    def check_actions(self, actions: ArrayLike) -> Array:
        """Actions as the kernels take them, without a copy if they are int64 already."""
        given = np.asarray(actions)
        if given.shape != (self.n,) or given.dtype.kind not in "iu":
            raise ValueError(f"{self.n} games want {self.n} whole numbers, not {given.dtype} of shape {given.shape}")
        return given.astype(np.int64, copy=False)


def read_game(game: Any, options: dict[str, Any]) -> Game:
    """A game, given as one or by its id and options."""
    if isinstance(game, Game):
        if options:
            raise ValueError(f"{game.id} is given with its options; leave out {', '.join(options)}")
        return game
    if not isinstance(game, str):
        raise ValueError(f"a game is given by its id, like 'dots', or as ludodrome.make gives it, not {show(game)}")
    from ludodrome.games import make

    return make(game, **options)
