"""Thousands of games as one ``gymnasium.vector.VectorEnv``, in compiled code.

Arrays are given away without copies and change with the next call; ``copy=True`` gives fresh ones.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ludodrome.envs import missing_extra
from ludodrome.envs.core import VecGame, read_game
from ludodrome.envs.gym_env import action_space, observation_space
from ludodrome.envs.observations import as_planes, new_observations, sample_legal
from ludodrome.envs.rendering import MODES, frame
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
"""Sets the stream of ``sample_actions`` apart from that of the games."""


class GameVectorEnv(VectorEnv):  # type: ignore[misc]
    """n games of one kind side by side, the learner at one seat of each, or at all.

    ``game``: an id with its options as further arguments, or a game. ``opponent``: see ``opponents.py``; ``"self"``:
    the learner plays all seats, and ``info["seat"]`` says whose turn it is. ``seat``: the learner's seat, or None: by
    lot for each game. ``autoreset_mode``: Gymnasium's three. ``copy``: whether what is given away is the caller's.

    ``info`` has, by game, ``action_mask`` (n, actions) int8, ``seat`` (n,) int8, ``opponent`` (n,) int16,
    ``illegal`` (n,) bool, ``returns`` (n, seats) float32: what a game that has just ended came to.
    With the mode SAME_STEP also ``final_obs`` and ``final_info``, where ``_final_obs`` is True.
    """

    def __init__(
        self,
        game: Any,
        num_envs: int = 1,
        opponent: Any = "random",
        seat: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = False,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.game = read_game(game, options)
        self.mode = _read_mode(autoreset_mode)
        self.metadata = {"render_modes": list(MODES), "render_fps": 4, "autoreset_mode": self.mode}
        if render_mode is not None and render_mode not in MODES:
            raise ValueError(f"render_mode is None, {listing(map(repr, MODES), 'or')}, not {show(render_mode)}")
        self.render_mode = render_mode
        self.vec = VecGame(self.game, num_envs, opponent, seat)
        self.num_envs = self.vec.n
        self.single_observation_space = observation_space(self.game)
        self.single_action_space = action_space(self.game)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._copy = copy
        self._planes = as_planes(self.game, self.vec.observations)
        self._truncations: Array = np.zeros(self.num_envs, np.bool_)
        self._fresh: Array = np.zeros(self.num_envs, np.bool_)
        self._returns = np.zeros_like(self.vec.state.returns)
        self._lots: Array = np.zeros(self.num_envs, np.uint64)
        self._final = new_observations(self.game, self.num_envs if self.mode is AutoresetMode.SAME_STEP else 0)
        self._last = new_observations(self.game, len(self._final.mask))
        self._begun = False

    # Beginning

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """New games. Game i has the seed ``seed + i``, or the i-th of a list; None goes on with its own stream.

        ``options={"reset_mask": mask}`` begins only the games of a mask (n,) of booleans.
        """
        where = _read_where(options, self.num_envs)
        super().reset(seed=seed if isinstance(seed, int) else None)
        self._seed(seed, np.ones(self.num_envs, np.bool_) if where is None else where)
        self.vec.reset(where)
        self._begun = True
        self.vec.observe()
        self.vec.state.illegal[:] = False
        self._returns[:] = 0
        return self._given(self._planes), self._info()

    def _seed(self, seed: Any, where: Array) -> None:
        if seed is None and self._begun:
            return
        seeds = self._seeds(seed)
        lots = self.vec.state.rng.copy()
        new = where & np.array([one is not None for one in seeds])
        self.vec.seed([0 if one is None else one for one in seeds])
        self.vec.state.rng[~new] = lots[~new]
        self._lots[new] = mix_array(self.vec.state.rng ^ _SAMPLES)[new]

    def _seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [int(one) for one in self.np_random.integers(1 << 63, size=self.num_envs)]
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + i for i in range(self.num_envs)]
        seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"{self.num_envs} games want one seed, or a list of {self.num_envs}, not of {len(seeds)}")
        if not self._begun:
            fresh = self.np_random.integers(1 << 63, size=self.num_envs).tolist()
            seeds = [given if given is not None else other for given, other in zip(seeds, fresh, strict=True)]
        return seeds

    # Playing

    def step(self, actions: ArrayLike) -> Step:
        """One action in every game, (n,) whole numbers; what is illegal ends its game with -1."""
        vec, state = self.vec, self.vec.state
        chosen = vec.check_actions(actions)
        if not self._begun:
            raise ValueError("the games have not begun: call reset first")
        finals: dict[str, Any] = {}
        if self.mode is AutoresetMode.SAME_STEP:
            vec.step(chosen)
            self._returns[:] = state.returns
            if state.ended.any():
                finals = self._finals()
                vec.reset(state.ended)
        elif self.mode is AutoresetMode.NEXT_STEP:
            self._fresh[:] = state.over
            if self._fresh.any():
                vec.reset(self._fresh)
            vec.step(chosen, self._fresh)
            self._returns[:] = state.returns
        else:
            if state.over.any():
                number = int(np.flatnonzero(state.over)[0])
                raise ValueError(f"game {number} is over: reset it first, with options={{'reset_mask': ...}}")
            vec.step(chosen)
            self._returns[:] = state.returns
        vec.observe()
        rewards, ended = self._given(state.rewards), self._given(state.ended)
        return self._given(self._planes), rewards, ended, self._given(self._truncations), self._info() | finals

    def sample_actions(self) -> Array:
        """A legal action for each game, each as likely as the others; (n,) int64, the caller's own.

        They come from streams of their own, set by ``reset(seed)``; where nothing is legal it is 0.
        """
        return sample_legal(self.vec.observations, self._lots)

    def _finals(self) -> dict[str, Any]:
        """What the games looked like that ended in this step; rows of others mean nothing."""
        ended, game = self.vec.state.ended, self.game
        rows = np.flatnonzero(ended)
        self.vec.observe_rows(rows, self.vec.state.agent_seat, self._last)
        self._final.planes[rows] = self._last.planes[: len(rows)]
        self._final.mask[rows] = self._last.mask[: len(rows)]
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
        return {"illegal": self._given(self.vec.state.illegal), "returns": self._given(self._returns)}

    def _given(self, array: Array) -> Array:
        return array.copy() if self._copy else array

    # Showing

    def render(self) -> tuple[Any, ...] | None:
        """A drawing of each game, as texts or as pictures; None without a render_mode."""
        if self.render_mode is None:
            return None
        return tuple(frame(self.game, state, self.render_mode) for state in self.vec.state.states)


def _read_mode(mode: Any) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        right = listing([repr(one.value) for one in AutoresetMode], "or")
        raise ValueError(f"autoreset_mode is {right}, not {show(mode)}") from None


def _read_where(options: dict[str, Any] | None, n: int) -> Array | None:
    if not options or "reset_mask" not in options:
        return None
    where = options["reset_mask"]
    if not isinstance(where, np.ndarray) or where.dtype != np.bool_ or where.shape != (n,) or not where.any():
        raise ValueError(f"reset_mask is an array of {n} booleans, not all False, not {show(where)}")
    return where
