"""Thousands of games as one compiled ``gymnasium.vector.VectorEnv``.

It returns copies, as Gymnasium's own do; with ``copy=False`` its own arrays, which change with the next call.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ludodrome.envs import missing_extra
from ludodrome.envs.core import VecGame, check_reset_options, read_game
from ludodrome.envs.gym_env import action_space, observation_space
from ludodrome.envs.observations import (
    HUMAN,
    MODES,
    as_planes,
    check_render_mode,
    frame,
    new_observations,
    sample_legal,
)
from ludodrome.jit import Array
from ludodrome.splitmix import mix_array
from ludodrome.validation import listing, show

try:
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise missing_extra(error, "training environments", "rl") from error

Step = tuple[Array, Array, Array, Array, dict[str, Any]]

_SAMPLES = np.uint64(0x5A3D_9E37_79B9_7F4A)
"""Separates the random numbers of ``sample_actions`` from those of the games."""


class GameVectorEnv(VectorEnv):  # type: ignore[misc]
    """n games with the same rules, the learner at one seat of each, or at all of them.

    ``game``: an id, with its options as further arguments, or a game. ``opponent``: a bot, a policy or a pool of them;
    ``"self"``: the learner plays all seats, and ``info["seat"]`` is the seat to move. ``seat``: the learner's seat;
    None: a random one for each game. ``autoreset_mode``: one of Gymnasium's three. ``copy``: return copies; False saves
    their time, and the arrays change with the next call.

    Observations are [n, planes, rows, columns]. ``info`` has ``action_mask`` [n, num_actions] int8, all ones where the
    game is over; ``seat`` [n] int8, ``opponent`` [n] int16, ``illegal`` [n] bool; of games that have just ended
    ``returns`` [n, seats] float32 and ``reason`` [n] object, None for the others; in the mode SAME_STEP also
    ``final_obs`` and ``final_info``, valid where ``_final_obs`` is True.
    Raises ValueError for wrong arguments.
    """

    def __init__(
        self,
        game: Any,
        num_envs: int = 1,
        opponent: Any = "random",
        seat: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.game = read_game(game, options)
        self.mode = _read_mode(autoreset_mode)
        self.metadata = {"render_modes": list(MODES), "render_fps": 4, "autoreset_mode": self.mode}
        self.render_mode = check_render_mode(render_mode)
        self._reasons: Array = np.array(self.game.reasons, object)
        self.vec = VecGame(self.game, num_envs, opponent, seat)
        self.num_envs = self.vec.n
        self.single_observation_space = observation_space(self.game)
        self.single_action_space = action_space(self.game)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._copy = copy
        self._no_reason: Array = np.full(self.num_envs, None, object)
        self._reason = self._no_reason
        self._truncations: Array = np.zeros(self.num_envs, np.bool_)
        self._fresh: Array = np.zeros(self.num_envs, np.bool_)
        self._returns = np.zeros_like(self.vec.state.returns)
        self._sample_rng: Array = np.zeros(self.num_envs, np.uint64)
        self._final = new_observations(self.game, self.num_envs if self.mode is AutoresetMode.SAME_STEP else 0)
        self._last = new_observations(self.game, len(self._final.mask))
        self._begun = False

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Start new games. Game i gets the seed ``seed + i``, or the i-th of a list; None continues its random numbers.

        ``options={"reset_mask": mask}`` starts only the games of a mask [n] bool. Raises ValueError for wrong seeds or
        masks.
        """
        where = _read_where(options, self.num_envs)
        super().reset(seed=seed if isinstance(seed, int) else None)
        self._seed(seed, np.ones(self.num_envs, np.bool_) if where is None else where)
        self.vec.reset(where)
        self._begun = True
        self.vec.observe()
        self.vec.state.illegal[:] = False
        self._returns[:] = 0
        self._reason = self._no_reason
        self._show()
        return self._planes(), self._info()

    def _seed(self, seed: Any, where: Array) -> None:
        if seed is None and self._begun:
            return
        seeds = self._seeds(seed)
        before = self.vec.state.rng.copy()
        new = where & np.array([one is not None for one in seeds])
        self.vec.seed([0 if one is None else one for one in seeds])
        self.vec.state.rng[~new] = before[~new]
        self._sample_rng[new] = mix_array(self.vec.state.rng ^ _SAMPLES)[new]

    def _seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [int(one) for one in self.np_random.integers(1 << 63, size=self.num_envs)]
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + i for i in range(self.num_envs)]
        seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"{self.num_envs} games need one seed, or a list of {self.num_envs}, not of {len(seeds)}")
        if not self._begun:
            fresh = self.np_random.integers(1 << 63, size=self.num_envs).tolist()
            seeds = [given if given is not None else other for given, other in zip(seeds, fresh, strict=True)]
        return seeds

    def step(self, actions: ArrayLike) -> Step:
        """Play one action in every game, [n] integers; an illegal one ends its game with reward -1.

        Returns observations, rewards [n] float64, terminations [n] bool, truncations [n] bool (all False), info.
        Raises ValueError for a wrong shape, before reset, or, in the mode DISABLED, if a game is over.
        """
        vec, state = self.vec, self.vec.state
        chosen = vec.check_actions(actions)
        if not self._begun:
            raise ValueError("the games have not begun: call reset first")
        finals: dict[str, Any] = {}
        if self.mode is AutoresetMode.SAME_STEP:
            vec.step(chosen)
            self._keep_results()
            if state.ended.any():
                finals = self._finals()
                vec.reset(state.ended)
        elif self.mode is AutoresetMode.NEXT_STEP:
            self._fresh[:] = state.over
            if self._fresh.any():
                vec.reset(self._fresh)
            vec.step(chosen, self._fresh)
            self._keep_results()
        else:
            if state.over.any():
                number = int(np.flatnonzero(state.over)[0])
                raise ValueError(f"game {number} is over: reset it first, with options={{'reset_mask': ...}}")
            vec.step(chosen)
            self._keep_results()
        vec.observe()
        self._show()
        rewards, ended = self._given(state.rewards), self._given(state.ended)
        return self._planes(), rewards, ended, self._given(self._truncations), self._info() | finals

    def _keep_results(self) -> None:
        """Keep what a reset would clear."""
        state = self.vec.state
        self._returns[:] = state.returns
        self._reason = self._no_reason
        if state.ended.any():
            self._reason = self._no_reason.copy()
            self._reason[state.ended] = self._reasons[state.states["reason"][state.ended]]

    def sample_actions(self) -> Array:
        """A random legal action for each game, [n] int64, a new array; 0 where nothing is legal.

        ``reset(seed)`` seeds these random numbers, too.
        """
        return sample_legal(self.vec.observations, self._sample_rng)

    def _finals(self) -> dict[str, Any]:
        """The last observations of games that ended in this step; other rows are undefined."""
        ended, game = self.vec.state.ended, self.game
        rows = np.flatnonzero(ended)
        self.vec.observe_rows(rows, self.vec.state.agent_seat, self._last)
        self._final.planes[rows] = self._last.planes[: len(rows)]
        self._final.mask[rows] = self._last.mask[: len(rows)]
        self._final.mask[rows[self._last.counts[: len(rows)] == 0]] = 1
        info = {"action_mask": self._given(self._final.mask), **self._always()}
        info["seat"] = self.vec.state.agent_seat.copy()
        info["opponent"] = self.vec.state.opponents.copy()
        return {
            "final_obs": self._given(as_planes(game, self._final)),
            "_final_obs": ended.copy(),
            "final_info": info,
            "_final_info": ended.copy(),
        }

    def _info(self) -> dict[str, Any]:
        state = self.vec.state
        return {
            "action_mask": self._given(self.vec.observations.mask),
            "seat": self._given(state.agent_seat),
            "opponent": self._given(state.opponents),
            **self._always(),
        }

    def _always(self) -> dict[str, Any]:
        return {
            "illegal": self._given(self.vec.state.illegal),
            "returns": self._given(self._returns),
            "reason": self._given(self._reason),
        }

    def _planes(self) -> Array:
        return self._given(as_planes(self.game, self.vec.observations))

    def _given(self, array: Array) -> Array:
        return array.copy() if self._copy else array

    def render(self) -> tuple[Any, ...] | None:
        """The position of each game as text or picture; in the mode "human" they are printed. None without a mode."""
        if self.render_mode is None:
            return None
        frames = tuple(frame(self.game, state, self.render_mode) for state in self.vec.state.states)
        return None if self.render_mode == HUMAN else frames

    def _show(self) -> None:
        if self.render_mode == HUMAN:
            self.render()


def _read_mode(mode: Any) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        right = listing([repr(one.value) for one in AutoresetMode], "or")
        raise ValueError(f"autoreset_mode is {right}, not {show(mode)}") from None


def _read_where(options: dict[str, Any] | None, n: int) -> Array | None:
    known = check_reset_options(options, ("reset_mask",))
    if "reset_mask" not in known:
        return None
    where = known["reset_mask"]
    if not isinstance(where, np.ndarray) or where.dtype != np.bool_ or where.shape != (n,) or not where.any():
        raise ValueError(f"reset_mask is an array of {n} booleans, not all False, not {show(where)}")
    return where
