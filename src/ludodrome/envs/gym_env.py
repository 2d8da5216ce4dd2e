"""One game as a ``gymnasium.Env``: one seat learns, bots take the others."""

import operator
from typing import Any, ClassVar

import numpy as np

from ludodrome.envs import missing_extra
from ludodrome.envs.core import VecGame, read_game
from ludodrome.envs.rendering import MODES, frame
from ludodrome.game import Game
from ludodrome.jit import Array
from ludodrome.validation import listing, show

# The spaces of a game in Gymnasium's terms: what is observed, what can be done.


try:
    from gymnasium import spaces
except ImportError as error:
    raise missing_extra(error, "training environments", "rl") from error


def observation_space(game: Game) -> spaces.Box:
    """Planes of whole numbers, (planes, rows, columns); docs/reference/envs.md has them one by one."""
    planes = game.planes
    high = np.empty(planes.shape, planes.dtype)
    high[:] = np.array(planes.highest)[:, None, None]
    return spaces.Box(np.zeros_like(high), high, planes.shape, planes.dtype)


def action_space(game: Game) -> spaces.Discrete:
    """The game's actions; which of them are legal, the mask says."""
    return spaces.Discrete(game.num_actions)


try:
    import gymnasium
    from gymnasium.error import ResetNeeded
except ImportError as error:
    raise missing_extra(error, "training environments", "rl") from error


class GameEnv(gymnasium.Env):  # type: ignore[misc]
    """One game, the learner at one seat, or at all of them.

    ``game``: an id with its options as further arguments, or a game. ``opponent``: any bot, a policy or a pool, see
    ``opponents.py``; ``"self"``: the learner plays all seats. ``seat``: the learner's, or None: by lot for each game.

    ``info`` has ``action_mask`` (actions,) int8, ``seat``, ``illegal``; at the end ``returns`` by seat and ``reason``.
    A game with a seed is the same as that game of a ``GameVectorEnv``.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(MODES), "render_fps": 4}

    def __init__(
        self,
        game: Any,
        opponent: Any = "random",
        seat: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.game = read_game(game, options)
        if render_mode is not None and render_mode not in MODES:
            raise ValueError(f"render_mode is None, {listing(map(repr, MODES), 'or')}, not {show(render_mode)}")
        self.render_mode = render_mode
        self.vec = VecGame(self.game, 1, opponent, seat)
        self.observation_space = observation_space(self.game)
        self.action_space = action_space(self.game)
        self._shape = self.game.planes.shape
        self._actions: Array = np.zeros(1, np.int64)
        self._begun = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """A new game; whoever moves before the learner has moved."""
        super().reset(seed=seed)
        if seed is not None or not self._begun:
            self.vec.seed([int(self.np_random.integers(1 << 63)) if seed is None else seed])
        self.vec.reset()
        self._begun = True
        self.vec.observe()
        return self._seen(), self._info()

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """The learner's action, and the others' until its next turn. An illegal action ends the game with -1."""
        state = self.vec.state
        if state.over[0]:
            raise ResetNeeded("the game is over, or has not begun: call reset")
        self._actions[0] = _number(action)
        self.vec.step(self._actions)
        self.vec.observe()
        ended = bool(state.ended[0])
        info = self._info()
        if ended:
            info["illegal"] = bool(state.illegal[0])
            info["returns"] = state.returns[0].copy()
            info["reason"] = self.game.reasons[int(state.states["reason"][0])]
        return self._seen(), float(state.rewards[0]), ended, False, info

    def render(self) -> Any:
        """The game as text or as a picture; None without a render_mode."""
        return None if self.render_mode is None else frame(self.game, self.vec.state.states[0], self.render_mode)

    def _seen(self) -> Array:
        planes: Array = self.vec.observations.planes[0].reshape(self._shape).copy()
        return planes

    def _info(self) -> dict[str, Any]:
        return {
            "action_mask": self.vec.observations.mask[0].copy(),
            "seat": int(self.vec.state.agent_seat[0]),
            "illegal": False,
        }


def _number(action: Any) -> int:
    """An action as a number of machine size; one that cannot be becomes illegal."""
    try:
        number = operator.index(action)
    except TypeError:
        raise ValueError(f"an action is a whole number, not {show(action)}") from None
    return number if -1 <= number < 1 << 31 else -1
