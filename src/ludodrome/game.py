"""Game, Outcome and the errors: what the rest of the package sees of a game.

A ``Game`` speaks JSON: states and moves are plain JSON values; ``encode`` and ``decode`` turn states into records
and back, and ``position.Position`` works on records. Legality is checked here, once; kernels trust their input.
"""

import operator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ludodrome import validation
from ludodrome.game_extras import GameExtras
from ludodrome.game_spec import Codec, Evaluator, Kernels, Network, Planes, default_planes
from ludodrome.jit import Array, Record, new_states

PLAYERS = "players"
"""The option that sets the number of seats, in games that have it."""
MAX_LISTED_MOVES = 100_000
"""Listing more legal moves than this raises TooManyMoves."""


class BadState(ValueError):
    """The given value is not a state of this game; the sentence names the field.

    >>> import ludodrome
    >>> ludodrome.make("dots").parse_state("nonsense")
    Traceback (most recent call last):
        ...
    ludodrome.game.BadState: a position of dots is size, h, v, owners, seat to move and nonce, not 'nonsense'
    """


class IllegalMove(ValueError):
    """The move is not legal here; the sentence says why.

    >>> import ludodrome
    >>> game = ludodrome.make("dots", rows=1, cols=1)
    >>> game.apply(game.initial_state(), {"orient": "H", "r": 7, "c": 0})
    Traceback (most recent call last):
        ...
    ludodrome.game.IllegalMove: there is no edge H(7,0) on 1 x 1 boxes; H(r,c) has r from 0 to 1 and c from 0 to 0
    """


class TooManyMoves(ValueError):
    """There are too many legal moves to list; ``count`` is their number, if known.

    >>> import ludodrome
    >>> game = ludodrome.make("spaces", size=8, rules="live")
    >>> game.legal_moves(game.initial_state())
    Traceback (most recent call last):
        ...
    ludodrome.game.TooManyMoves: the legal boards of size 8 under 'live' are too many to list: 8,681,167,249,054,706
    """

    def __init__(self, message: str, count: int | None = None) -> None:
        super().__init__(message)
        self.count = count


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended. ``winner`` is None for a draw.

    >>> import ludodrome
    >>> position = ludodrome.Position(ludodrome.make("dots", rows=1, cols=1))
    >>> for action in range(4):
    ...     position.play(action)
    >>> position.outcome
    Outcome(winner=1, scores=[0, 1], returns=[-1, 1], reason='more boxes')
    """

    winner: int | None
    scores: list[float]
    """The game's points by seat."""
    returns: list[float]
    """Zero-sum numbers by seat: 1 and -1, or 0 and 0; with three seats 1 and twice -0.5."""
    reason: str


def lacks_part(observation: Any, state: Any) -> bool:
    """Whether an observation leaves out or changes a part of a state."""
    return any(name not in observation or observation[name] != value for name, value in state.items())


def returns_of(winner: int | None, seats: int) -> list[float]:
    """Zero-sum returns by seat."""
    if winner is None:
        return [0] * seats
    loss = -1 if seats == 2 else -1 / (seats - 1)
    return [1 if seat == winner else loss for seat in range(seats)]


class Option(NamedTuple):
    """One option of a game: whole numbers from ``low`` to ``high``, or a few words."""

    name: str
    default: Any
    meaning: str
    low: int = 0
    high: int = 0
    words: tuple[str, ...] = ()

    @property
    def values(self) -> str:
        """The valid values, for error messages and tables."""
        return validation.listing(self.words, "or") if self.words else f"{self.low} to {self.high}"

    def read(self, value: Any, game_id: str) -> Any:
        """Return the validated value. Raises ValueError."""
        where = f"the option {self.name} of {game_id}"
        if self.words:
            return validation.choice(value, self.words, where, ValueError)
        return validation.integer(value, self.low, self.high, where, ValueError)


class Cell(NamedTuple):
    """One cell of a grid board, for games without a board of their own on the page."""

    name: str
    """Clicking the cell makes the move whose notation is this name."""
    sign: str = ""
    """Its content, one or two letters; an empty string for an empty cell."""
    seat: int | None = None
    """The seat that owns the content; None for nobody."""


class Game(GameExtras):
    """One game with its options set, in JSON. Instances are immutable and may be shared.

    A game package subclasses it, names its parts, and overrides only what differs.

    States and moves are plain JSON values. People write moves in notation:

    >>> import ludodrome
    >>> game = ludodrome.make("dots", rows=1, cols=1)
    >>> game.options, game.seat_range()
    ({'rows': 1, 'cols': 1}, (2, 2))
    >>> state = game.initial_state()
    >>> game.to_move(state), game.outcome(state), len(game.legal_moves(state))
    (0, None, 4)
    >>> move = game.parse_move("V(0,1)", state)
    >>> move, game.is_legal(state, move), game.format_move(move, state)
    ({'orient': 'V', 'r': 0, 'c': 1}, True, 'V(0,1)')
    >>> after = game.apply(state, move)
    >>> print(game.render(after))
       0   1
     0 •   •
           │
     1 •   •
    turn 1, boxes 0-0, seat 1 to move
    >>> game.parse_state(game.format_state(after)) == after
    True

    A bot of a seat is shown an observation; here nothing is hidden from it:

    >>> game.observation(after, 1)["you"], game.hides(after, 1), game.may_hide, game.cells(after)
    (1, False, True, None)
    >>> game.has_hidden_information or game.hides_earlier_moves
    False

    Kernels work on arrays of records and on actions, which are small integers:

    >>> game.action(move, state), game.move(3, state) == move
    (3, True)
    >>> game.decode(game.encode(after)) == after
    True
    >>> states = game.encode_array(state)
    >>> game.apply_to(states, move)
    >>> game.legal_actions_of(states), len(game.legal_moves_of(states)), game.outcome_of(states)
    ([0, 1, 2], 3, None)
    >>> game.check_running(states)
    >>> game.check_action(0, states), game.observation_of(states, 1)["you"], game.scores_of(0, states)
    (0, 1, [0, 0])
    >>> game.blank().shape, game.new_states(3).shape, game.buffer().shape, game.planes.shape
    ((1,), (3,), (4,), (6, 2, 2))
    >>> game.check_countable(depth=3)
    """

    id: ClassVar[str]
    title: ClassVar[str]
    available: ClassVar[tuple[Option, ...]] = ()
    """The options that the game has."""

    seats: int = 2
    dtype: np.dtype[Any]
    num_actions: int
    max_legal: int
    """No position has more legal actions than this: the size of a move buffer."""
    max_game_length: int
    """No game is longer than this, in actions."""
    actions_a_turn: int = 1
    """No turn takes more actions than this."""
    reasons: tuple[str, ...]
    """Why a game ended, indexed by a record's ``reason``; entry 0, a running game, is an empty string."""
    kernels: Kernels
    codec: Codec
    evaluator: Evaluator | None = None
    """For alpha-beta and max-n search; None if the game has no evaluator."""
    network: Network | None = None
    """The features of a learned evaluation, for two seats; ``network.npz`` in the game's package has its weights."""

    # For matches, pages and language models; most games keep the defaults

    asks_every_seat: ClassVar[bool] = False
    """Whether a match asks all seats every turn, although only the mover's answer counts."""
    reads_text: ClassVar[bool] = False
    """Whether moves are strings. The arena then reads them with ``parse_move``, which accepts other notations too."""
    policy: ClassVar[str] = "forfeit"
    """What a match does by default after a fault (illegal move, timeout, crash): forfeit, substitute or retry:N."""
    seat_names: ClassVar[tuple[str, ...]] = ()
    """The names of the seats for people: the colours of their pieces. Empty: First, Second, Third."""
    seat_signs: ClassVar[tuple[str, ...]] = ()
    """What the seats are called in drawings; empty if they are called by their numbers."""
    move_format: str = ""
    """How a move is written, in a sentence or two for language models, with examples in square brackets."""

    def __init__(self, /, **options: Any) -> None:
        known = {option.name: option for option in self.available}
        for name in options:
            if name not in known:
                right = validation.listing(known) if known else "none"
                raise ValueError(f"{self.id} has no option {validation.show(name)}; its options are {right}")
        self._options: dict[str, Any] = {
            name: option.read(options.get(name, option.default), self.id) for name, option in known.items()
        }

    @property
    def options(self) -> dict[str, Any]:
        """The game's options with their values; a copy, since games may be shared."""
        return dict(self._options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and (self.id, self._options) == (other.id, other._options)

    def __hash__(self) -> int:
        return hash((self.id, *self._options.items()))

    def __repr__(self) -> str:
        words = "".join(f", {name}={value!r}" for name, value in self._options.items())
        return f"ludodrome.make({self.id!r}{words})"

    @classmethod
    def seat_range(cls) -> tuple[int, int]:
        """The least and the greatest number of seats: the limits of the option ``players``, if there is one."""
        players = next((option for option in cls.available if option.name == PLAYERS), None)
        return (cls.seats, cls.seats) if players is None else (players.low, players.high)

    # States

    def blank(self) -> Any:
        """An array of one record with the option fields set and nothing else."""
        states = new_states(self.dtype, 1)
        for name, value in self._option_fields().items():
            states[name] = value
        return states

    def new_states(self, count: int) -> Any:
        """Make an array of ``count`` records with the option fields set."""
        states = new_states(self.dtype, count)
        states[:] = self.blank()[0]
        return states

    def initial_state(self, seed: int = 0) -> Any:
        """The initial state. Only games with a random setup use the seed."""
        states = self.blank()
        self.kernels.reset(states, checked_seed(seed))
        return self.decode(states[0])

    def encode(self, state: Any) -> Record:
        """The kernel record of a JSON state."""
        return self.encode_array(state)[0]

    def decode(self, record: Record) -> Any:
        """The JSON state of a record of this game."""
        if not isinstance(record, np.void) or record.dtype != self.dtype:
            raise BadState(f"a record of {self.id} has its dtype and comes from encode or a batch")
        return self.codec.format_state(record)

    def to_move(self, state: Any) -> int | None:
        """The seat to move; None if the game is over."""
        seat = int(self.kernels.mover(self.encode_array(state)))
        return None if seat < 0 else seat

    def outcome(self, state: Any) -> Outcome | None:
        """The outcome; None if the game is not over."""
        return self.outcome_of(self.encode_array(state))

    def observation(self, state: Any, seat: int | None = None) -> Any:
        """What a bot of that seat is shown; seat None: what a spectator may see."""
        self._check_seat(seat)
        return self.decode(self.encode(state))

    def render(self, state: Any) -> str:
        """The position as text for people."""
        return self.codec.render(self.encode(state))

    def parse_state(self, text: str) -> Any:
        """Read a position from its one-line form; raise BadState with a sentence if it is not one."""
        return self.decode(self.codec.parse_line(text, self._options)[0])

    def format_state(self, state: Any) -> str:
        """A position on one line."""
        return self.codec.format_line(self.encode(state))

    @property
    def planes(self) -> Planes:
        """The planes of a learner's observation; by default the record byte by byte (``default_planes``)."""
        return default_planes(self.dtype)

    @property
    def has_hidden_information(self) -> bool:
        """Whether there are positions that not every seat may see completely."""
        return False

    @property
    def hides_earlier_moves(self) -> bool:
        """Whether moves can stay hidden after the next one is made."""
        return False

    @property
    def may_hide(self) -> bool:
        """Whether observations may differ from states, whatever ``has_hidden_information`` says."""
        return type(self).observation is not Game.observation

    def hides(self, state: Any, seat: int | None = None) -> bool:
        """Whether a part of the position is hidden from a seat, or from spectators (None)."""
        if not self.may_hide:
            return False
        return lacks_part(self.observation(state, seat), state)

    def cells(self, state: Any) -> list[list[Cell]] | None:
        """The board as rows of cells, for games without a board of their own on the page; None: show ``render``.

        In games with hidden information ``state`` is an observation.
        """
        return None

    # Moves

    def legal_moves(self, state: Any) -> list[Any]:
        """All legal moves in the game's fixed order; none when the game is over."""
        states = self.encode_array(state)
        return self.codec.format_moves(self.legal_actions_of(states), states[0])

    def is_legal(self, state: Any, move: Any) -> bool:
        """Whether the move is legal; False for malformed moves."""
        states = self.encode_array(state)
        try:
            return bool(self.kernels.fault(states, self.codec.parse_move(move, states)) == 0)
        except IllegalMove:
            return False

    def apply(self, state: Any, move: Any) -> Any:
        """Return the state after the move; the given state does not change."""
        states = self.encode_array(state)
        self.kernels.play(states, self._legal_action(move, states))
        return self.decode(states[0])

    def apply_to(self, states: Any, move: Any) -> None:
        """Make a move in states[0], in place; raise IllegalMove, and change nothing, if it is not legal."""
        if self.actions_a_turn == 1:
            self.kernels.play(states, self._legal_action(move, states))
        else:
            states[0] = self.encode(self.apply(self.decode(states[0]), move))

    def observation_of(self, states: Any, seat: int) -> Any:
        """The observation of states[0]."""
        state = self.decode(states[0])
        return state if type(self).observation is Game.observation else self.observation(state, seat)

    def legal_moves_of(self, states: Any) -> list[Any]:
        """The legal moves of states[0]."""
        if self.actions_a_turn == 1:
            return self.codec.format_moves(self.legal_actions_of(states), states[0])
        return self.legal_moves(self.decode(states[0]))

    def action(self, move: Any, state: Any) -> int:
        """The action, a small integer, of a legal move in this position."""
        return self._legal_action(move, self.encode_array(state))

    def move(self, action: int, state: Any) -> Any:
        """The legal move of an action in this position."""
        states = self.encode_array(state)
        number = self.check_action(action, states)
        return self.codec.format_moves([number], states[0])[0]

    def parse_move(self, text: str, state: Any) -> Any:
        """Read a legal move that a person typed; raise IllegalMove with a sentence if it is not one."""
        return self.parse_move_of(text, self.encode_array(state))

    def format_move(self, move: Any, state: Any) -> str:
        """A legal move in a short notation that parse_move reads back."""
        states = self.encode_array(state)
        return self.codec.format_notation(self._legal_action(move, states), states[0])

    def check_countable(self, depth: int) -> None:
        """Raise TooManyMoves if there are too many games of ``depth`` moves to count one by one."""

    # Underneath

    def _option_fields(self) -> dict[str, Any]:
        """The record fields that hold options; by default those of the same name."""
        return self._options

    def encode_array(self, state: Any) -> Any:
        """Encode a JSON state as an array of one record; raise BadState if it is not a state."""
        return self.codec.parse_state(state, self._options)

    def scores_of(self, winner: int | None, states: Any) -> list[float]:
        """The game's points by seat once it is over: a win is one point, shared at a draw."""
        return [0.5] * self.seats if winner is None else [int(seat == winner) for seat in range(self.seats)]

    def outcome_of(self, states: Any) -> Outcome | None:
        """Return the outcome of states[0]; None while the game runs."""
        reason = self.reasons[int(states["reason"][0])]
        if not reason:
            return None
        best = int(states["winner"][0])
        winner = None if best < 0 else best
        return Outcome(winner, self.scores_of(winner, states), returns_of(winner, self.seats), reason)

    def legal_actions_of(self, states: Any) -> list[int]:
        """List the legal actions of states[0], ascending; empty when the game is over."""
        buffer = self.buffer()
        actions: list[int] = buffer[: self.kernels.legal(states, buffer)].tolist()
        return actions

    def _legal_action(self, move: Any, states: Any) -> int:
        self.check_running(states)
        action = self.codec.parse_move(move, states)
        self._check_fault(action, states)
        return action

    def check_action(self, action: Any, states: Any) -> int:
        """Return an action that is legal in states[0]; raise IllegalMove if it is not."""
        number = self._action_number(action)
        self.check_running(states)
        self._check_fault(number, states)
        return number

    def check_running(self, states: Any) -> None:
        """Raise IllegalMove if the game of states[0] is over."""
        if reason := self.reasons[int(states["reason"][0])]:
            raise IllegalMove(f"the game is over: {reason}")

    def _check_fault(self, action: int, states: Any) -> None:
        fault = self.kernels.fault(states, action)
        if fault:
            raise IllegalMove(self.codec.explain(fault, action, states[0]))

    def buffer(self) -> Array:
        """An empty move buffer."""
        return np.empty(self.max_legal, np.int16)

    def _action_number(self, action: Any) -> int:
        try:
            number = operator.index(action)
        except TypeError:
            number = -1
        if isinstance(action, bool) or not 0 <= number < self.num_actions:
            raise IllegalMove(
                f"an action of {self.id} is a whole number from 0 to {self.num_actions - 1}, "
                f"not {validation.show(action)}"
            )
        return number

    def _check_seat(self, seat: Any) -> None:
        if seat is not None and not validation.is_int(seat, 0, self.seats - 1):
            raise ValueError(
                f"a seat of {self.id} is a whole number from 0 to {self.seats - 1}, "
                f"or None for a spectator, not {validation.show(seat)}"
            )


def checked_seed(seed: Any) -> Any:
    """A seed as the kernels take it: any whole number, folded into one machine word."""
    try:
        number = operator.index(seed)
    except TypeError:
        number = None
    if number is None or isinstance(seed, bool):
        raise ValueError(f"a seed is a whole number, not {validation.show(seed)}")
    return np.uint64(number & 0xFFFF_FFFF_FFFF_FFFF)


def checked_count(value: Any, what: str, low: int, high: int) -> int:
    """Read a count, a whole number of Python or NumPy; raise ValueError with a sentence if it is not one."""
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if isinstance(value, bool) or not low <= number <= high:
        raise ValueError(f"{what} is a whole number from {low} to {high}, not {validation.show(value)}")
    return number
