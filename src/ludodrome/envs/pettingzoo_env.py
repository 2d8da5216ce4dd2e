"""PettingZoo: every game turn by turn (AEC).

An observation is a dict: ``observation``, [planes, rows, columns] from that seat's view, and ``action_mask``,
[num_actions] int8; only the seat to move has legal actions. An illegal action ends the game: its seat gets -1, the
others 0.
"""

import operator
from typing import Any

import numpy as np

from ludodrome.envs import missing_extra
from ludodrome.envs.core import check_reset_options, read_game
from ludodrome.envs.gym_env import action_space, observation_space
from ludodrome.envs.observations import HUMAN, MODES, PositionEncoder, check_render_mode, frame
from ludodrome.game import Game, checked_seed
from ludodrome.jit import Array

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError as error:
    raise missing_extra(error, "multi-agent environments", "rl") from error

PETTINGZOO_OPTIONS = ("options",)
"""The option that PettingZoo's own checks send; it has no effect."""
Observation = dict[str, Array]


def aec_env(game: Any, render_mode: str | None = None, **options: Any) -> Any:
    """A game turn by turn; the wrapper checks the order of calls. Raises ValueError for wrong options."""
    return OrderEnforcingWrapper(GameAECEnv(game, render_mode, **options))


def agent_name(seat: int) -> str:
    """The agent of a seat: player_0, player_1, ..."""
    return f"player_{seat}"


def observation_dict(game: Game, actions: int) -> spaces.Dict:
    """The observation space of a seat: planes, and a mask of ``actions``."""
    mask = spaces.Box(0, 1, (actions,), np.int8)
    return spaces.Dict({"observation": observation_space(game), "action_mask": mask})


def observe_seat(encoder: PositionEncoder, states: Any, seat: int) -> Observation:
    """The observation of states[0] as one seat sees it."""
    planes, mask = encoder.encode(states, seat)
    return {"observation": planes, "action_mask": mask}


class GameAECEnv(AECEnv):  # type: ignore[misc]
    """One game with an agent at each seat: ``player_0``, ``player_1``, ..."""

    metadata: dict[str, Any] = {  # noqa: RUF012 (each instance has its own name)
        "render_modes": list(MODES),
        "name": "ludodrome_v0",
        "is_parallelizable": False,
        "render_fps": 4,
    }

    def __init__(self, game: Any, render_mode: str | None = None, **options: Any) -> None:
        super().__init__()
        self.game = read_game(game, options)
        self.metadata = {**type(self).metadata, "name": f"ludodrome_{self.game.id}_v0"}
        self.render_mode = check_render_mode(render_mode)
        self.possible_agents = [agent_name(seat) for seat in range(self.game.seats)]
        self.agents = self.possible_agents[:]
        self.action_spaces = {agent: action_space(self.game) for agent in self.agents}
        self.observation_spaces = {agent: observation_dict(self.game, self.game.num_actions) for agent in self.agents}
        self._seats = {agent: seat for seat, agent in enumerate(self.agents)}
        self._states = self.game.blank()
        self._encoder = PositionEncoder(self.game)
        self._random = np.random.default_rng()

    def observation_space(self, agent: str) -> Any:
        """The same for all agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The same for all agents."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game. Without a seed, one is derived from the last one given."""
        check_reset_options(options, PETTINGZOO_OPTIONS)
        if seed is not None:
            self._random = np.random.default_rng(seed)
        word = int(self._random.integers(1 << 63)) if seed is None else seed
        self._states = self.game.blank()
        self.game.kernels.reset(self._states, checked_seed(word))
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = agent_name(0)
        self._show()

    def observe(self, agent: str) -> Observation:
        """The observation of an agent, also when it is not its turn."""
        return observe_seat(self._encoder, self._states, self._seats[agent])

    def step(self, action: Any) -> None:
        """Play the selected agent's action; None once it is done."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        number = read_action(action, self.game.num_actions)
        if number < 0 or self.game.kernels.fault(self._states, number) != 0:
            self._end({agent: -1.0})
            self.infos[agent]["illegal"] = True
        else:
            self.game.kernels.play(self._states, number)
            seat = int(self.game.kernels.mover(self._states))
            if seat >= 0:
                self.agent_selection = agent_name(seat)
            else:
                outcome = self.game.outcome_of(self._states)
                assert outcome is not None
                self._end({agent_name(seat): float(value) for seat, value in enumerate(outcome.returns)})
        self._accumulate_rewards()
        self._show()

    def _end(self, rewards: dict[str, float]) -> None:
        self.rewards.update(rewards)
        self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.agents[0]

    def render(self) -> Any:
        """The position as text or picture; in the mode "human" it is printed. None without a render_mode."""
        return None if self.render_mode is None else frame(self.game, self._states[0], self.render_mode)

    def _show(self) -> None:
        if self.render_mode == HUMAN:
            self.render()

    def close(self) -> None:
        """Do nothing: no resources are held."""


def read_action(action: Any, limit: int) -> int:
    """An action as an integer below ``limit``, or -1."""
    try:
        number = operator.index(action)
    except TypeError:
        return -1
    return number if 0 <= number < limit else -1
