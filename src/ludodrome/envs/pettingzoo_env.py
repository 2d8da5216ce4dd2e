"""PettingZoo: every game turn by turn (AEC), and spaces under blind choice with both seats at once (Parallel).

An observation is a dict of ``observation``, the planes as that seat sees them, and ``action_mask``; only the seat
to move has legal actions. An illegal action ends the game: its author gets -1, nobody else anything.
"""

import operator
from typing import Any, ClassVar

import numpy as np

from ludodrome.envs import missing_extra
from ludodrome.envs.core import read_game
from ludodrome.envs.gym_env import action_space, observation_space
from ludodrome.envs.observations import as_planes, new_observations
from ludodrome.envs.rendering import MODES, frame
from ludodrome.game import Game, checked_seed
from ludodrome.jit import Array
from ludodrome.validation import listing, show

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError as error:
    raise missing_extra(error, "multi-agent environments", "rl") from error

Observation = dict[str, Array]


def aec_env(game: Any, render_mode: str | None = None, **options: Any) -> Any:
    """A game turn by turn, as PettingZoo's users expect one: with its check that calls come in order."""
    return OrderEnforcingWrapper(Turns(game, render_mode, **options))


def parallel_env(render_mode: str | None = None, **options: Any) -> "ParallelSpaces":
    """Spaces under blind choice, both seats building at once."""
    return ParallelSpaces(render_mode, **options)


def _name(seat: int) -> str:
    return f"player_{seat}"


def _spaces(game: Game, actions: int) -> spaces.Dict:
    mask = spaces.Box(0, 1, (actions,), np.int8)
    return spaces.Dict({"observation": observation_space(game), "action_mask": mask})


def _check_mode(mode: str | None) -> None:
    if mode is not None and mode not in MODES:
        raise ValueError(f"render_mode is None, {listing(map(repr, MODES), 'or')}, not {show(mode)}")


class _Eyes:
    """What seats see of one record."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._observations = new_observations(game, 1)
        self._planes = as_planes(game, self._observations)
        self._rows: Array = np.zeros(1, np.int64)
        self._views: Array = np.zeros(1, np.int8)

    def look(self, states: Any, seat: int) -> Observation:
        """Fresh arrays: the planes of states[0], and what is legal for the seat."""
        self._views[0] = seat
        self._game.kernels.look_many(states, self._rows, self._views, self._observations)
        return {"observation": self._planes[0].copy(), "action_mask": self._observations.mask[0].copy()}


class Turns(AECEnv):  # type: ignore[misc]
    """One game, an agent at each seat: ``player_0``, ``player_1``, ..."""

    metadata: dict[str, Any] = {  # noqa: RUF012 (each instance has its own name)
        "render_modes": list(MODES),
        "name": "ludodrome_v0",
        "is_parallelizable": False,
        "render_fps": 4,
    }

    def __init__(self, game: Any, render_mode: str | None = None, **options: Any) -> None:
        super().__init__()
        _check_mode(render_mode)
        self.game = read_game(game, options)
        self.metadata = {**type(self).metadata, "name": f"ludodrome_{self.game.id}_v0"}
        self.render_mode = render_mode
        self.possible_agents = [_name(seat) for seat in range(self.game.seats)]
        self.agents = self.possible_agents[:]
        self.action_spaces = {agent: action_space(self.game) for agent in self.agents}
        self.observation_spaces = {agent: _spaces(self.game, self.game.num_actions) for agent in self.agents}
        self._seats = {agent: seat for seat, agent in enumerate(self.agents)}
        self._states = self.game.blank()
        self._eyes = _Eyes(self.game)
        self._random = np.random.default_rng()

    def observation_space(self, agent: str) -> Any:
        """The same for all agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The same for all agents."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new game; the seed settles what a game has to draw. Without one it follows from the last one given."""
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
        self.agent_selection = _name(0)

    def observe(self, agent: str) -> Observation:
        """What an agent sees, also when it is not its turn."""
        return self._eyes.look(self._states, self._seats[agent])

    def step(self, action: Any) -> None:
        """The selected agent's action; None once it is done."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        number = _read_action(action, self.game.num_actions)
        if number < 0 or self.game.kernels.fault(self._states, number) != 0:
            self._end({agent: -1.0})
            self.infos[agent]["illegal"] = True
        else:
            self.game.kernels.play(self._states, number)
            seat = int(self.game.kernels.mover(self._states))
            if seat >= 0:
                self.agent_selection = _name(seat)
            else:
                outcome = self.game.outcome_of(self._states)
                assert outcome is not None
                self._end({_name(seat): float(value) for seat, value in enumerate(outcome.returns)})
        self._accumulate_rewards()

    def _end(self, rewards: dict[str, float]) -> None:
        self.rewards.update(rewards)
        self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.agents[0]

    def render(self) -> Any:
        """The game as text or as a picture; None without a render_mode."""
        return None if self.render_mode is None else frame(self.game, self._states[0], self.render_mode)

    def close(self) -> None:
        """Nothing is held open."""


class ParallelSpaces(ParallelEnv):  # type: ignore[misc]
    """Spaces under blind choice: in every step each seat adds one step to its own board.

    Whoever has laid waits for the other: the last action, ``wait``, is its only legal one. The boards meet when both
    are laid. What a seat sees is what it sees turn by turn; while it waits, its board without the last step.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(MODES),
        "name": "ludodrome_spaces_blind_v0",
        "render_fps": 4,
    }

    def __init__(self, render_mode: str | None = None, **options: Any) -> None:
        _check_mode(render_mode)
        if options.setdefault("choice", "blind") != "blind":
            raise ValueError("both seats build at once only under choice='blind'; turn by turn it is aec_env('spaces')")
        self.game = read_game("spaces", options)
        self.wait = self.game.num_actions
        self.render_mode = render_mode
        self.possible_agents = [_name(0), _name(1)]
        self.agents: list[str] = []
        self._action_spaces = {agent: spaces.Discrete(self.wait + 1) for agent in self.possible_agents}
        self._observation_spaces = {agent: _spaces(self.game, self.wait + 1) for agent in self.possible_agents}
        self._eyes = _Eyes(self.game)
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
        """A new match. Nothing is random in it; a seed is read, as everywhere, and changes nothing."""
        self._match = self.game.blank()
        self.game.kernels.reset(self._match, checked_seed(0 if seed is None else seed))
        self.agents = self.possible_agents[:]
        self._next_round()
        return self._observations(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        """An action of each agent: observations, rewards, terminations, truncations and infos by agent."""
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
        if over:
            self.agents = []
        return observations, rewards, dict.fromkeys(agents, over), dict.fromkeys(agents, False), infos

    def render(self) -> Any:
        """The match without the boards that are being built."""
        return None if self.render_mode is None else frame(self.game, self._match[0], self.render_mode)

    def close(self) -> None:
        """Nothing is held open."""

    def state(self) -> Array:
        """What both see together: the observations of the two seats, one after the other."""
        return np.stack([self._look(seat)["observation"] for seat in range(2)])

    # Underneath: each seat builds in a copy of the match in which it is its turn.

    def _next_round(self) -> None:
        first = int(self.game.kernels.mover(self._match))
        self._tables = [self._match.copy(), self._match.copy()]
        for action in self._filler:  # what the first lays the second cannot see
            self.game.kernels.play(self._tables[1 - first], action)
        self._built: list[list[int]] = [[], []]
        self._laid = [False, False]

    def _take(self, seat: int, action: Any) -> bool:
        """A seat's step; whether it was legal."""
        number = _read_action(action, self.wait + 1)
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
        """How many boards are laid when a seat has laid all of its turn."""
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
        seen = self._eyes.look(self._match if over else self._tables[seat], seat)
        mask = np.append(seen["action_mask"], np.int8(waiting))
        if waiting:
            mask[:-1] = 0
        return {"observation": seen["observation"], "action_mask": mask}


def _straight_run(game: Game) -> list[int]:
    """The actions of a turn of straight runs."""
    from ludodrome.games.spaces.equilibria import straight_run

    boards = 10 if game.options["mode"] == "deck" else 1
    return list(straight_run(game.options["size"], 0)) * boards


def _read_action(action: Any, limit: int) -> int:
    """An action as a number below ``limit``, or -1."""
    try:
        number = operator.index(action)
    except TypeError:
        return -1
    return number if 0 <= number < limit else -1
