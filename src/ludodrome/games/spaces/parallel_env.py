"""PettingZoo's parallel form of spaces under blind choice: both seats build at once."""

from typing import Any, ClassVar

import numpy as np

from ludodrome.envs import missing_extra
from ludodrome.envs.core import check_reset_options, read_game
from ludodrome.envs.gym_env import observation_space
from ludodrome.envs.observations import HUMAN, MODES, PositionEncoder, check_render_mode, frame
from ludodrome.envs.pettingzoo_env import (
    PETTINGZOO_OPTIONS,
    Observation,
    agent_name,
    observation_dict,
    observe_seat,
    read_action,
)
from ludodrome.game import Game, checked_seed
from ludodrome.games.spaces.equilibria import straight_run
from ludodrome.jit import Array
from ludodrome.validation import listing

try:
    from gymnasium import spaces
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise missing_extra(error, "multi-agent environments", "rl") from error


def parallel_env(render_mode: str | None = None, **options: Any) -> "ParallelSpaces":
    """Spaces under blind choice, both seats at once. Raises ValueError for wrong options."""
    return ParallelSpaces(render_mode, **options)


class ParallelSpaces(ParallelEnv):  # type: ignore[misc]
    """Spaces under blind choice: each step adds one step to both boards.

    A seat with a finished board waits: the last action, ``wait``, is its only legal one. The round is played when both
    boards are finished. Observations are those of the game turn by turn; while waiting, a seat sees its board without
    the last step.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(MODES),
        "name": "ludodrome_spaces_blind_v0",
        "render_fps": 4,
    }

    def __init__(self, render_mode: str | None = None, **options: Any) -> None:
        if options.setdefault("choice", "blind") == "seen":
            raise ValueError(
                "both seats build at once only under choice='blind' or 'fog'; turn by turn it is aec_env('spaces')"
            )
        self.game = read_game("spaces", options)
        self.wait = self.game.num_actions
        self.render_mode = check_render_mode(render_mode)
        self.possible_agents = [agent_name(0), agent_name(1)]
        self.agents: list[str] = []
        self._action_spaces = {agent: spaces.Discrete(self.wait + 1) for agent in self.possible_agents}
        self._observation_spaces = {agent: observation_dict(self.game, self.wait + 1) for agent in self.possible_agents}
        planes = observation_space(self.game)
        self.state_space = spaces.Box(np.stack([planes.low] * 2), np.stack([planes.high] * 2), dtype=planes.dtype)
        """The space of ``state``."""
        self._encoder = PositionEncoder(self.game)
        self._filler = _straight_run(self.game)

    def observation_space(self, agent: str) -> Any:
        """The same for both agents."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The game's actions and ``wait``, the same for both agents."""
        return self._action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Start a new match. It has no randomness: a seed is checked, but has no effect."""
        check_reset_options(options, PETTINGZOO_OPTIONS)
        self._match = self.game.blank()
        self.game.kernels.reset(self._match, checked_seed(0 if seed is None else seed))
        self.agents = self.possible_agents[:]
        self._next_round()
        self._show()
        return self._observations(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        """Play an action of each agent. Returns observations, rewards, terminations, truncations, infos by agent.

        Raises ValueError if an agent has no action.
        """
        agents = self.agents
        missing_agents = [agent for agent in agents if agent not in actions]
        if missing_agents:
            raise ValueError(f"every agent acts in every step; there is no action of {listing(missing_agents)}")
        wrong = [agent for seat, agent in enumerate(agents) if not self._take(seat, actions[agent])]
        rewards = dict.fromkeys(agents, 0.0)
        infos: dict[str, dict[str, Any]] = {agent: {} for agent in agents}
        for agent in wrong:
            rewards[agent] = -1.0
            infos[agent]["illegal"] = True
        if not wrong and all(self._laid):
            self._meet()
            outcome = self.game.outcome_of(self._match)
            if outcome is None:
                self._next_round()
            else:
                rewards = dict(zip(agents, map(float, outcome.returns), strict=True))
        over = bool(wrong) or self.game.outcome_of(self._match) is not None
        observations = self._observations()
        self._show()
        if over:
            self.agents = []
        return observations, rewards, dict.fromkeys(agents, over), dict.fromkeys(agents, False), infos

    def render(self) -> Any:
        """The match, without the boards being built; in the mode "human" it is printed."""
        return None if self.render_mode is None else frame(self.game, self._match[0], self.render_mode)

    def _show(self) -> None:
        if self.render_mode == HUMAN:
            self.render()

    def close(self) -> None:
        """Do nothing: no resources are held."""

    def state(self) -> Array:
        """The observations of both seats, [2, planes, rows, columns]."""
        return np.stack([self._look(seat)["observation"] for seat in range(2)])

    # Each seat builds in a copy of the match in which it is its turn.

    def _next_round(self) -> None:
        first = int(self.game.kernels.mover(self._match))
        self._tables = [self._match.copy(), self._match.copy()]
        for action in self._filler:  # what the first lays the second cannot see
            self.game.kernels.play(self._tables[1 - first], action)
        self._built: list[list[int]] = [[], []]
        self._laid = [False, False]

    def _take(self, seat: int, action: Any) -> bool:
        """Add a seat's step. Returns whether it was legal."""
        number = read_action(action, self.wait + 1)
        table = self._tables[seat]
        if self._laid[seat] or number in (-1, self.wait):
            return self._laid[seat] and number == self.wait
        if self.game.kernels.fault(table, number) != 0:
            return False
        before = table.copy()
        self.game.kernels.play(table, number)
        self._built[seat].append(number)
        if int(table["laid"][0]) == self._end_of(seat):
            self._laid[seat] = True
            self._tables[seat] = before  # with the last step the filler would play its part
        return True

    def _end_of(self, seat: int) -> int:
        """The number of boards laid after a seat's turn."""
        boards = 10 if self.game.options["mode"] == "deck" else 1
        first = int(self.game.kernels.mover(self._match))
        return int(self._match["laid"][0]) + boards * (1 if seat == first else 2)

    def _meet(self) -> None:
        first = int(self.game.kernels.mover(self._match))
        for seat in (first, 1 - first):
            for action in self._built[seat]:
                self.game.kernels.play(self._match, action)

    def _observations(self) -> dict[str, Observation]:
        return {agent: self._look(seat) for seat, agent in enumerate(self.possible_agents)}

    def _look(self, seat: int) -> Observation:
        over = self.game.outcome_of(self._match) is not None
        waiting = self._laid[seat] and not over
        seen = observe_seat(self._encoder, self._match if over else self._tables[seat], seat)
        mask = np.append(seen["action_mask"], np.int8(waiting))
        if waiting:
            mask[:-1] = 0
        return {"observation": seen["observation"], "action_mask": mask}


def _straight_run(game: Game) -> list[int]:
    """The actions of a turn of straight runs, to fill a hidden turn."""
    boards = 10 if game.options["mode"] == "deck" else 1
    return list(straight_run(game.options["size"], 0)) * boards
