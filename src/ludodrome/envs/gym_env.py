"""One game as a ``gymnasium.Env``: the learner plays one seat, bots the others."""

import operator
from typing import Any, ClassVar

import numpy as np

from ludodrome.envs import missing_extra
from ludodrome.envs.core import VecGame, check_reset_options, read_game
from ludodrome.envs.observations import HUMAN, MODES, check_render_mode, frame
from ludodrome.game import Game
from ludodrome.jit import Array
from ludodrome.validation import show

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.error import ResetNeeded
except ImportError as error:
    raise missing_extra(error, "training environments", "rl") from error


def observation_space(game: Game) -> spaces.Box:
    """Integer planes, [planes, rows, columns]; docs/reference/envs.md lists them."""
    planes = game.planes
    high = np.empty(planes.shape, planes.dtype)
    high[:] = np.array(planes.highest)[:, None, None]
    return spaces.Box(np.zeros_like(high), high, planes.shape, planes.dtype)


def action_space(game: Game) -> spaces.Discrete:
    """The game's actions; the mask says which are legal."""
    return spaces.Discrete(game.num_actions)


class GameEnv(gymnasium.Env):  # type: ignore[misc]
    """One game with the learner at one seat, or at all of them.

    ``game``: an id, with its options as further arguments, or a game. ``opponent``: a bot, a policy or a pool of them;
    ``"self"``: the learner plays all seats. ``seat``: the learner's seat; None: a random one for each game.

    Observations are the game's planes, [planes, rows, columns]. ``info`` has ``action_mask``, [num_actions] int8,
    ``seat`` and ``illegal``; at the end also ``returns``, [seats] float32, and ``reason``. A seed gives the same game
    here and in a ``GameVectorEnv``. Raises ValueError for wrong arguments.
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
        self.render_mode = check_render_mode(render_mode)
        self.vec = VecGame(self.game, 1, opponent, seat)
        self.observation_space = observation_space(self.game)
        self.action_space = action_space(self.game)
        self._shape = self.game.planes.shape
        self._actions: Array = np.zeros(1, np.int64)
        self._begun = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Start a new game; opponents that move first have moved."""
        check_reset_options(options)
        super().reset(seed=seed)
        if seed is not None or not self._begun:
            self.vec.seed([int(self.np_random.integers(1 << 63)) if seed is None else seed])
        self.vec.reset()
        self._begun = True
        self.vec.observe()
        self._show()
        return self._seen(), self._info()

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Play the learner's action and the opponents' moves. An illegal action ends the game with reward -1.

        Raises ResetNeeded if the game is over, ValueError if the action is not an integer.
        """
        state = self.vec.state
        if state.over[0]:
            raise ResetNeeded("the game is over, or has not begun: call reset")
        self._actions[0] = read_number(action)
        self.vec.step(self._actions)
        self.vec.observe()
        ended = bool(state.ended[0])
        info = self._info()
        if ended:
            info["illegal"] = bool(state.illegal[0])
            info["returns"] = state.returns[0].copy()
            info["reason"] = self.game.reasons[int(state.states["reason"][0])]
        self._show()
        return self._seen(), float(state.rewards[0]), ended, False, info

    def render(self) -> Any:
        """The position as text or picture; in the mode "human" it is printed. None without a render_mode."""
        return None if self.render_mode is None else frame(self.game, self.vec.state.states[0], self.render_mode)

    def _show(self) -> None:
        if self.render_mode == HUMAN:
            self.render()

    def _seen(self) -> Array:
        planes: Array = self.vec.observations.planes[0].reshape(self._shape).copy()
        return planes

    def _info(self) -> dict[str, Any]:
        return {
            "action_mask": self.vec.observations.mask[0].copy(),
            "seat": int(self.vec.state.agent_seat[0]),
            "illegal": False,
        }


def read_number(action: Any) -> int:
    """An action as a machine integer; -1, which is illegal, if it does not fit."""
    try:
        number = operator.index(action)
    except TypeError:
        raise ValueError(f"an action is a whole number, not {show(action)}") from None
    return number if -1 <= number < 1 << 31 else -1
