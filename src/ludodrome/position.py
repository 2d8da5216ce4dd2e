"""Position: one position of a game in compiled form; SeenPosition: what one seat or a spectator may see of one.

``Game`` speaks JSON: its states are plain values, checked in every call. A ``Position`` holds the record that the
kernels work on, so playing on costs microseconds, and it changes in place.
"""

from typing import Any

from ludodrome.game import Cell, Game, Outcome, lacks_part
from ludodrome.jit import Record


class Position:
    """A position of ``game``: the given JSON state, or the initial position.

    Actions are small integers, moves are JSON values; ``play`` takes the one, ``play_move`` the other. ``states`` is
    the array of one record that kernels and searches take.

    >>> import ludodrome
    >>> position = ludodrome.Position(ludodrome.make("dots", rows=1, cols=1))
    >>> position.legal_actions()
    [0, 1, 2, 3]
    >>> position.play(0)
    >>> position.play_move({"orient": "V", "r": 0, "c": 0})
    >>> position.to_move, len(position.legal_actions())
    (0, 2)
    >>> after = position.copy()
    >>> after.play(1)
    >>> after == position
    False
    >>> while not after.is_over:
    ...     after.play(after.legal_actions()[0])
    >>> after.outcome.winner
    1
    >>> position.turns, len(position.legal_moves()), position.observation(0)["you"], position.is_over
    (2, 2, 0, False)
    >>> ludodrome.Position(position.game, position.state) == position
    True
    >>> ludodrome.Position.from_record(position.game, position.record) == position
    True
    """

    def __init__(self, game: Game, state: Any = None) -> None:
        self.game = game
        self.states = game.encode_array(game.initial_state() if state is None else state)

    @classmethod
    def from_record(cls, game: Game, record: Record) -> "Position":
        """Copy a record of the game: from ``Game.encode``, or from an array of states."""
        made = cls.__new__(cls)
        made.game = game
        made.states = game.new_states(1)
        made.states[0] = record
        return made

    def copy(self) -> "Position":
        """Copy the position."""
        return Position.from_record(self.game, self.record)

    @property
    def record(self) -> Record:
        """The record; it changes as the position does."""
        return self.states[0]

    @property
    def state(self) -> Any:
        """The position as a JSON state."""
        return self.game.decode(self.record)

    @property
    def to_move(self) -> int | None:
        """The seat to move; None when the game is over."""
        seat = int(self.game.kernels.mover(self.states))
        return None if seat < 0 else seat

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self.to_move is None

    @property
    def turns(self) -> int:
        """The number of moves made."""
        return int(self.game.kernels.turns(self.states))

    @property
    def outcome(self) -> Outcome | None:
        """The outcome; None while the game runs."""
        return self.game.outcome_of(self.states)

    def legal_actions(self) -> list[int]:
        """List the legal actions, ascending; empty when the game is over."""
        return self.game.legal_actions_of(self.states)

    def legal_moves(self) -> list[Any]:
        """List the legal moves in JSON, in the game's fixed order."""
        return self.game.legal_moves_of(self.states)

    def play(self, action: int) -> None:
        """Play a legal action; raise IllegalMove, and change nothing, if it is not legal.

        Where a turn takes several actions, this is one of them.
        """
        self.game.check_action(action, self.states)
        self.game.kernels.play(self.states, action)

    def play_move(self, move: Any) -> None:
        """Make a legal move given in JSON; raise IllegalMove, and change nothing, if it is not legal."""
        self.game.apply_to(self.states, move)

    def observation(self, seat: int) -> Any:
        """What a bot of that seat sees, in JSON."""
        return self.game.observation_of(self.states, seat)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self.game == other.game and bool((self.states == other.states).all())

    __hash__ = None  # type: ignore[assignment]  # a position changes in place

    def __repr__(self) -> str:
        return f"<Position of {self.game.id}: {self.game.codec.format_line(self.record)}>"


class SeenPosition:
    """A position as a seat sees it, or a spectator (seat None). Everything shown of a running game comes from here.

    What is hidden from the viewer is decided by ``Game.observation`` alone. Drawings, cells and records are made of the
    observation, so they cannot show more; legal moves of another seat are left out while anything is hidden, because
    they may depend on it.
    """

    __slots__ = ("_states", "game", "is_partial", "seat", "state", "to_move")

    def __init__(self, game: Game, states: Any, seat: int | None = None) -> None:
        """See ``states[0]``, a position of ``game`` in compiled form."""
        whole = game.decode(states[0])
        mover = int(game.kernels.mover(states))
        self.game, self.seat, self._states = game, seat, states
        self.state = game.observation(whole, seat) if game.may_hide else whole
        """The observation; the state itself if the game hides nothing."""
        self.is_partial = game.may_hide and lacks_part(self.state, whole)
        """Whether a part of the position is hidden from the viewer."""
        self.to_move = None if mover < 0 else mover

    @property
    def bare_state(self) -> Any:
        """The observation without ``you``."""
        return {name: value for name, value in self.state.items() if name != "you"}

    @property
    def outcome(self) -> Outcome | None:
        """The outcome; None while the game runs."""
        return self.game.outcome_of(self._states)

    def legal_moves(self) -> list[Any]:
        """The legal moves, if the viewer may know them; otherwise none. Raises TooManyMoves."""
        if self.is_partial and self.seat != self.to_move:
            return []
        return self.game.legal_moves_of(self._states)

    def move_texts(self, moves: list[Any]) -> list[str]:
        """The notations of some of the legal moves."""
        whole = self.game.decode(self._states[0]) if moves else None
        return [self.game.format_move(move, whole) for move in moves]

    def states(self) -> Any:
        """The observation in compiled form, as an array of one record. Raises BadState if it cannot be encoded."""
        if not self.is_partial:
            return self._states
        return observed_states(self.game, self.state)

    def drawing(self) -> str:
        """The observation as text."""
        return self.game.render_observation(self.bare_state)

    def cells(self) -> list[list[Cell]] | None:
        """The observation as rows of cells; None if the game has none."""
        return self.game.cells(self.bare_state)


def seen_by(game: Game, state: Any, seat: int | None = None) -> SeenPosition:
    """A JSON state as a seat sees it, or a spectator (None).

    >>> import ludodrome
    >>> game = ludodrome.make("dots", rows=1, cols=1)
    >>> seen = seen_by(game, game.initial_state())
    >>> seen.is_partial, seen.to_move, len(seen.legal_moves())
    (False, 0, 4)
    """
    return SeenPosition(game, game.encode_array(state), seat)


def observed_states(game: Game, observation: Any) -> Any:
    """An observation in compiled form, as an array of one record; the game fills in what is hidden."""
    states = game.new_states(1)
    states[0] = game.encode_observation({name: value for name, value in observation.items() if name != "you"})
    return states
