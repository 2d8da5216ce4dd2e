"""Many games side by side for one learner, with NumPy arrays in and out: the core of the Gymnasium environments.

It holds the rules for seeds, seats and ends. The loops over games are compiled (``search/vector.py``).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ludodrome.envs.observations import new_observations
from ludodrome.envs.opponents import Opponent, RandomOpponent, read_opponents
from ludodrome.game import Game, checked_count, checked_seed
from ludodrome.games import make
from ludodrome.jit import Array
from ludodrome.search.batch import MAX_BYTES
from ludodrome.search.vector import Observations, VecState
from ludodrome.splitmix import mix_array
from ludodrome.validation import listing, show

# Observations as arrays: buffers for many games, single positions, and random legal actions.


ALONE = "self"
"""In place of an opponent: the learner plays all seats."""


class VecGame:
    """n games with the same rules. The arrays in ``state`` and ``observations`` change with every call: copy them.

    ``seat``: the learner's seat; None: a random one for each game. ``opponent``: see ``opponents.py``; "self": the
    learner plays all seats, and ``state.agent_seat``, [n] int8, is the seat to move. Raises ValueError for wrong
    arguments.
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
        """[n] int64: the games started in each slot."""
        self._none: Array = np.zeros(n, np.bool_)
        self._random_opponent = next(
            (which for which, one in enumerate(self.opponents) if isinstance(one, RandomOpponent)), -1
        )
        self._buffer = game.buffer()

    def _read_seat(self, seat: Any) -> int:
        if self.alone:
            if seat is not None:
                raise ValueError("a learner that plays itself has all seats: leave out seat")
            return 0
        return -1 if seat is None else checked_count(seat, f"a seat of {self.game.id}", 0, self.game.seats - 1)

    def seed(self, seeds: ArrayLike) -> None:
        """Set the seed of every game, [n] integers: it determines everything in that game but the learner's actions.

        Raises ValueError for wrong seeds or a wrong number of them.
        """
        words = np.array([checked_seed(seed) for seed in np.asarray(seeds, object)], np.uint64)
        if words.shape != (self.n,):
            raise ValueError(f"there are {self.n} games, and a seed for each, not {len(words)}")
        self.state.rng[:] = mix_array(mix_array(words))

    def reset(self, where: Array | None = None) -> None:
        """Start new games, all or those of a mask [n] bool; opponents that move first have moved."""
        chosen = ~self._none if where is None else where
        self.game.kernels.begin_many(self.state, chosen, self.seat, len(self.opponents))
        self.games_started += chosen
        self.play_opponents()

    def step(self, actions: Array, fresh: Array | None = None) -> None:
        """Play the learner's action in every game, then the opponents' moves.

        actions: [n] int64; an illegal one ends its game. fresh: [n] bool; games that are fresh or over do not change.
        """
        untouched = self._none if fresh is None else fresh
        kernels = self.game.kernels
        kernels.act_many(self.state, actions, self.game.num_actions, untouched, self._random_opponent, self._buffer)
        self.play_opponents(but=self._random_opponent)
        kernels.settle_many(self.state, untouched, self.alone)

    def play_opponents(self, but: int = -1) -> None:
        """Have the opponents move wherever it is their turn, except the opponent number ``but``."""
        for which, opponent in enumerate(self.opponents):
            if which != but:
                opponent.answer(self, which)

    def observe(self) -> None:
        """Fill ``observations`` for the learner's seat of every game.

        Where nothing is legal, because the game is over, the mask is all ones: any action will do in the next step, and
        a distribution over none would not be one.
        """
        self.game.kernels.look_many(self.state.states, self.rows, self.state.agent_seat, self.observations)
        self.observations.mask[self.observations.counts == 0] = 1

    def observe_rows(self, rows: Array, seats: Array, observations: Observations) -> None:
        """Fill the first len(rows) rows of ``observations`` with game rows[i] as seat seats[rows[i]] sees it."""
        self.game.kernels.look_many(self.state.states, rows, seats, observations)

    def check_actions(self, actions: ArrayLike) -> Array:
        """Actions as [n] int64, not copied if they are int64 already. Raises ValueError for a wrong shape or type."""
        given = np.asarray(actions)
        if given.shape != (self.n,) or given.dtype.kind not in "iu":
            raise ValueError(f"{self.n} games need {self.n} whole numbers, not {given.dtype} of shape {given.shape}")
        return given.astype(np.int64, copy=False)


def check_reset_options(options: Any, known: Sequence[str] = ()) -> dict[str, Any]:
    """The options of a ``reset``. Raises ValueError if one of them is not known."""
    if options is None:
        return {}
    if not isinstance(options, dict):
        raise ValueError(f"the options of reset are a dict or None, not {show(options)}")
    for name in options:
        if name not in known:
            right = f"its options are {listing(known)}" if known else "it has no options"
            raise ValueError(f"reset does not know the option {show(name)}; {right}")
    return options


def read_game(game: Any, options: dict[str, Any]) -> Game:
    """A game, given as such or by its id and options. Raises ValueError if it is neither."""
    if isinstance(game, Game):
        if options:
            raise ValueError(f"{game.id} is given with its options; leave out {', '.join(options)}")
        return game
    if not isinstance(game, str):
        raise ValueError(f"a game is given by its id, like 'dots', or as ludodrome.make gives it, not {show(game)}")
    return make(game, **options)
