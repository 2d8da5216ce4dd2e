"""All games as Python games of OpenSpiel.

Importing this module registers ``ludodrome_dots`` and so on: ``pyspiel.load_game("ludodrome_dots(rows=3,cols=3)")``.
Options become parameters; actions and returns are ours. In spaces an action is one step of a board, and hidden boards
make it a game of imperfect information; see docs/how-to/openspiel.md.
"""

from typing import Any

import numpy as np

from ludodrome.bots.prompts import bare
from ludodrome.envs import missing_extra
from ludodrome.envs.observations import new_observations
from ludodrome.game import Game, returns_of
from ludodrome.games import GAMES
from ludodrome.jit import Array

try:
    import pyspiel
    from open_spiel.python.observation import IIGObserverForPublicInfoGame
except ImportError as error:
    raise missing_extra(ImportError(name="open_spiel"), "OpenSpiel's games", "openspiel") from error

PREFIX = "ludodrome_"
TERMINAL = int(pyspiel.PlayerId.TERMINAL)
_ONLY: Array = np.zeros(1, np.int64)
"""Row 0, the only one."""
"""Game id -> minimum and maximum of players, where it varies."""


class SharedGame:
    """A game that all states share, also their deep copies."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.hidden = game.has_hidden_information
        """Whether boards can be hidden."""
        self.by_steps = game.actions_a_turn > 1
        self.is_plain = not self.by_steps and not self.hidden
        """Whether a state is its record and nothing else."""
        self.buffer = game.buffer()
        self._beginning = game.blank()
        game.kernels.reset(self._beginning, 0)

    def blank(self) -> Array:
        """The initial position, a new array of one record."""
        states: Array = self._beginning.copy()
        return states

    def __deepcopy__(self, memo: dict[int, Any]) -> "SharedGame":
        return self


def game_type(game_class: type[Game], hidden: bool = False) -> Any:
    """The OpenSpiel type of a game; ``hidden``: with hidden boards."""
    least, most = game_class.seat_range()
    information = pyspiel.GameType.Information
    return pyspiel.GameType(
        short_name=PREFIX + game_class.id,
        long_name=f"Ludodrome {game_class.title}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
        information=information.IMPERFECT_INFORMATION if hidden else information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=most,
        min_num_players=least,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={option.name: option.default for option in game_class.available},
    )


class SpielGame(pyspiel.Game):  # type: ignore[misc]
    """One of our games as a game of OpenSpiel."""

    game_class: type[Game]

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        usual = {option.name: option.default for option in self.game_class.available}
        # OpenSpiel adds the defaults of missing parameters, but a deck accepts no rounds.
        game = self.game_class(**{name: value for name, value in (params or {}).items() if value != usual.get(name)})
        self.rules = SharedGame(game)
        info = pyspiel.GameInfo(
            num_distinct_actions=game.num_actions,
            max_chance_outcomes=0,
            num_players=game.seats,
            min_utility=min(returns_of(0, game.seats)),
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=game.max_game_length,
        )
        super().__init__(game_type(self.game_class, self.rules.hidden), info, game.options)

    def new_initial_state(self, state: Any = None) -> "SpielState":
        """The initial position, or that of a JSON state. Raises ValueError if it is wrong, or for a state of spaces."""
        found = SpielState(self, self.rules)
        if state is not None and self.rules.by_steps:
            raise ValueError("here spaces begins at its beginning: what was laid before is part of what a seat knows")
        if state is not None:
            found.states[0] = self.rules.game.encode(state)
            found._mover = found._legal = None
        return found

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """The observer of a kind of observation: the current view, or with perfect recall the whole history."""
        plain = iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall)
        if plain or self.rules.hidden:
            return SpielObserver(self.rules.game, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class SpielState(pyspiel.State):  # type: ignore[misc]
    """A position of one of our games."""

    def __init__(self, game: SpielGame, rules: SharedGame) -> None:
        super().__init__(game)
        self.rules = rules
        self.states: Array = rules.blank()
        self.laid: tuple[tuple[int, str], ...] = ()
        """In games with many actions a turn or hidden information: (seat, text) of the turns so far."""
        self._mover: int | None = None
        """The seat to move, or TERMINAL; None: not asked since the last action."""
        self._legal: list[int] | None = None
        """The legal actions; None: not asked since the last action."""
        self.steps: tuple[str, ...] = ()
        """The texts of the current turn's actions."""

    def current_player(self) -> int:
        """The seat to move, or TERMINAL."""
        if self._mover is None:
            seat = int(self.rules.game.kernels.mover(self.states))
            self._mover = TERMINAL if seat < 0 else seat
        return self._mover

    def legal_actions(self, player: int | None = None) -> list[int]:
        """The legal actions of the seat to move, ascending; none of another seat.

        Callers in Python come here directly: through OpenSpiel's own method each call asks four times whose turn it is.
        """
        if player is not None and player != self.current_player():
            return []
        if self._legal is None:
            buffer = self.rules.buffer
            self._legal = buffer[: self.rules.game.kernels.legal(self.states, buffer)].tolist()
        return self._legal.copy()

    def _legal_actions(self, player: int) -> list[int]:
        return self.legal_actions(player)

    def _apply_action(self, action: int) -> None:
        kernels = self.rules.game.kernels
        self._mover = self._legal = None
        if self.rules.is_plain:
            kernels.play(self.states, action)
            return
        seat, before = int(kernels.mover(self.states)), kernels.turns(self.states)
        self.steps += (self._action_to_string(seat, action),)
        kernels.play(self.states, action)
        if kernels.turns(self.states) != before:
            self.laid += ((seat, " ".join(self.steps)),)
            self.steps = ()

    def _action_to_string(self, player: int, action: int) -> str:
        game = self.rules.game
        if self.rules.by_steps:
            return str(game.codec.format_moves([action], self.states[0])[0])
        return game.codec.format_notation(action, self.states[0])

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.current_player() == TERMINAL

    def returns(self) -> list[float]:
        """Returns by seat; zeros while the game runs."""
        ending = self.rules.game.outcome_of(self.states)
        return [0.0] * self.rules.game.seats if ending is None else [float(value) for value in ending.returns]

    def seen_by(self, seat: int) -> str:
        """The position as a seat sees it: a drawing, or in games with many actions a turn the text of all turns.

        A drawing with something hidden comes with the seat's own moves, so that nothing is forgotten.
        """
        game = self.rules.game
        if not self.rules.by_steps and not self.rules.hidden:
            return game.codec.render(self.states[0])
        if not self.rules.by_steps or game.hides_earlier_moves:
            seen = game.observation(game.decode(self.states[0]), seat)
            own = ("; " if self.rules.by_steps else " ").join(words for laid_by, words in self.laid if laid_by == seat)
            building = f"\nbuilding: {' '.join(self.steps)}" if self.steps and self.current_player() == seat else ""
            return f"{game.render_observation(bare(seen))}\nown moves: {own}{building}"
        lines = [f"seat {laid_by}: {words}" for laid_by, words in self.laid]
        if self.rules.hidden and len(self.laid) % 2 and self.laid[-1][0] != seat:
            lines[-1] = f"seat {1 - seat}: face down"
        mover = self.current_player()
        lines.append(f"seat {mover} lays" if mover >= 0 else "over")
        if self.steps and (mover == seat or not self.rules.hidden):
            lines[-1] += f": {' '.join(self.steps)}"
        return "\n".join(lines)

    def __str__(self) -> str:
        drawn = self.rules.game.codec.render(self.states[0])
        return f"{drawn}\nlaying: {' '.join(self.steps)}" if self.steps else drawn


class SpielObserver:
    """Observations of a seat, as tensor and text. They include all earlier rounds, so recall is perfect."""

    def __init__(self, game: Game, params: Any) -> None:
        if params:
            raise ValueError(f"observations of these games take no parameters, not {params}")
        self._game = game
        self._observations = new_observations(game, 1)
        self._shape = game.planes.shape
        self.tensor: Array = np.zeros(np.prod(self._shape), np.float32)
        self.dict = {"observation": self.tensor.reshape(self._shape)}
        """The planes of docs/reference/envs.md, [planes, rows, columns] float32; a view of the tensor."""

    def set_from(self, state: SpielState, player: int) -> None:
        """Fill the tensor with the observation of a seat."""
        self._game.kernels.look_many(state.states, _ONLY, np.array([player], np.int8), self._observations)
        self.tensor[:] = self._observations.planes.reshape(-1)

    def string_from(self, state: SpielState, player: int) -> str:
        """The position as a seat sees it."""
        return state.seen_by(player)


def register() -> None:
    """Register every game with OpenSpiel."""
    known = pyspiel.registered_names()
    for entry in GAMES.values():
        if PREFIX + entry.id not in known:
            game_class = entry.game_class()
            own = type(f"{game_class.__name__}SpielGame", (SpielGame,), {"game_class": game_class})
            pyspiel.register_game(game_type(game_class), own)


register()
