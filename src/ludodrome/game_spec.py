"""What a game package provides: rules, a codec and, optionally, an evaluator and planes.

``Game`` in game.py is made of these. To add a game, start here and with docs/how-to/adding-a-game.md.

A game package has a RULES.md, ``Rules`` and a ``Codec``; ``search/entry_points.py`` makes its ``Kernels``. An
``Evaluator`` and ``Planes`` are optional: without an evaluator ``alphabeta`` does not play the game, and without planes
learners see its record byte by byte.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ludodrome.jit import Array, Int, Record


class Rules(NamedTuple):
    """The rules of a game as seven kernels. ``s`` is one record."""

    reset: Callable[[Record, Any], None]
    """(s, seed): the initial position; the option fields stay as they are."""
    legal: Callable[[Record, Array], Int]
    """(s, buffer): fills the buffer with the legal actions, ascending; how many. 0 when over."""
    fault: Callable[[Record, Int], Int]
    """(s, action): 0 if the action is legal, else a number that says why not."""
    play: Callable[[Record, Int], None]
    """(s, action): makes a legal action, in place."""
    mover: Callable[[Record], Int]
    """(s): the seat to move, -1 when over."""
    winner: Callable[[Record], Int]
    """(s): the seat that has won, -1 while the game runs or when it is drawn."""
    turns: Callable[[Record], Int]
    """(s): how many moves have been made."""


class Evaluator(NamedTuple):
    """What a search between two sides knows beyond the rules (``search/alphabeta.py``).

    The sides are the *pov_seat*, a seat, and everybody else. Values are whole numbers from the pov_seat's
    point of view, below 10,000 either way: a hundred is about one good thing more than the other side has.
    A *move_id* names a move by what it does on the board (from where, to where), so that the same
    move has the same move_id in many positions, and turns with the board.
    """

    value: Callable[[Record, Int], Int]
    """(s, pov_seat): what a running position is worth to the pov_seat; equal for positions that a symmetry turns
    into each other. In games of points only the points still to be won count."""
    winning: Callable[[Record], Int]
    """(s): an action that wins at once for the seat to move, or -1. It may miss some, but never err."""
    in_check: Callable[[Record], Any]
    """(s): whether the next seat threatens to win at once. Asked only where ``winning`` found nothing."""
    evasions: Callable[[Record, Array, Int], Int]
    """(s, buffer, count): of the legal actions keeps those that do not lose to the threat of the next seat;
    how many. What it drops loses in two plies, for certain. Asked only in in_check positions."""
    is_tactical: Callable[[Record, Int], Any]
    """(s, action): whether a position cannot be judged before this action has been tried (captures)."""
    move_context: Callable[[Record], Any]
    """(s): what move scores depend on, computed once for all moves of a position."""
    move_score: Callable[[Record, Any, Int], Int]
    """(s, move_context, action): how good a move looks before anything was searched, -1000 to 1000."""
    gain: Callable[[Record, Record], Int]
    """(before, after): the points that the mover won with an action, in hundredths; 0 where games are just won."""
    move_id: Callable[[Record, Int], Int]
    """(s, action): the action's move_id, below ``num_move_ids``."""
    update_hash: Callable[[Record, Record, Array, Int], None]
    """(before, after, keys, at): keys[at + 1] = keys[at] changed by what differs, shape (plies, 8) uint64:
    one key for each symmetry of the board, in the order of ``search/symmetry.py``. Everything that decides
    how a game can go on is in a key, and points already won are not."""
    num_move_ids: int
    move_id_symmetries: Array
    """(8, num_move_ids) uint16: the move_id after each symmetry."""
    by_points: bool
    """Whether the margin of points counts, as in dots, rather than who wins."""
    has_no_tactics: bool
    """Whether ``is_tactical`` is always false: then there is no quiescence search."""


class Planes(NamedTuple):
    """What a learner's observation of a game is made of: planes of whole numbers, each as large as the board.

    A game's kernel ``observe`` fills them, as one seat sees the position.
    """

    names: tuple[str, ...]
    """One for each plane."""
    rows: int
    cols: int
    highest: tuple[int, ...]
    """The greatest number on each plane; the least is 0."""
    dtype: Any
    """That of all planes."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Planes, rows and columns."""
        return len(self.names), self.rows, self.cols


DEFAULT_PLANES = ("record", "to move")


def default_planes(dtype: np.dtype[Any]) -> Planes:
    """The planes of a game that has none of its own: a record's bytes in one row, and the seat to move.

    ``search/vector.py`` fills them.
    """
    size = sum(np.dtype((field, shape)).itemsize for field, shape in field_shapes(dtype).values())
    return Planes(DEFAULT_PLANES, 1, size, (255, 255), np.uint8)


def field_shapes(dtype: np.dtype[Any]) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
    """The fields of a record: their numbers' type, and how many there are."""
    fields: Any = dtype.fields
    return {name: (fields[name][0].base, fields[name][0].shape) for name in dtype.names or ()}


class Kernels(Protocol):
    """A game's compiled entry points: what ``search/entry_points.py`` makes for Python to call.

    ``states`` is an array of records; the entry points of the rules and the evaluator look at states[0].
    """

    # The rules
    def reset(self, states: Any, seed: Any) -> None: ...
    def legal(self, states: Any, buffer: Array) -> Int: ...
    def fault(self, states: Any, action: int) -> Int: ...
    def play(self, states: Any, action: int) -> None: ...
    def mover(self, states: Any) -> Int: ...
    def winner(self, states: Any) -> Int: ...
    def turns(self, states: Any) -> Int: ...

    # The kernels of search/, which explains their arguments
    def playouts(self, states: Any, buffer: Array, seed: Any, first: int, count: int, wins: Array) -> Any: ...
    def perft(self, states: Any, words: Array, buffers: Array, cursors: Array, target: int, leaves: Array) -> Int: ...
    def reset_many(self, states: Any, seed: Any, where: Array) -> None: ...
    def step_many(
        self, states: Any, actions: Array, limit: int, done: Array, to_move: Array, rewards: Array, illegal: Array
    ) -> None: ...
    def mask_many(self, states: Any, buffer: Array, mask: Array) -> None: ...
    def simulate(self, tree: Any, work: Any, states: Any, settings: Array, seed: Any, simulations: int) -> Int: ...
    def reroot(self, tree: Any, work: Any, states: Any, settings: Array, target: Array) -> Any: ...
    def plan_select(
        self, plan: Any, roots: Array, states: Any, state_words: Array, buffer: Array, weight: float, mask: Array
    ) -> None: ...
    def plan_back_up(
        self, plan: Any, states: Any, buffer: Array, priors: Array, values: Array, noise: Array, share: float
    ) -> None: ...

    # For environments: search/vector.py
    def begin_many(self, vec: Any, where: Array, seat: int, kinds: int) -> None: ...
    def act_many(
        self, vec: Any, actions: Array, limit: int, fresh: Array, random_opponent: int, buffer: Array
    ) -> None: ...
    def settle_many(self, vec: Any, fresh: Array, alone: bool) -> None: ...
    def look_many(self, states: Any, rows: Array, seats: Array, obs: Any) -> None: ...
    def movers_many(self, states: Any, movers: Array) -> None: ...
    def answer_random(self, vec: Any, which: int, buffer: Array) -> None: ...

    # Only where the game has an evaluator
    def value(self, states: Any, pov_seat: int) -> Int: ...
    def winning(self, states: Any) -> Int: ...
    def in_check(self, states: Any) -> Any: ...
    def evasions(self, states: Any, buffer: Array, count: int) -> Int: ...
    def is_tactical(self, states: Any, action: int) -> Any: ...
    def move_score(self, states: Any, action: int) -> Int: ...
    def gain(self, states: Any) -> Int: ...
    def move_id(self, states: Any, action: int) -> Int: ...
    def update_hash(self, states: Any, keys: Array) -> None: ...
    def alphabeta(
        self,
        states: Any,
        words: Array,
        keys: Array,
        moves: Array,
        frames: Any,
        searches: Any,
        table: Array,
        limit: int,
    ) -> Any: ...
    def maxn(self, states: Any, words: Array, memory: Any, limit: int) -> Any: ...
    def answer_greedy(
        self, vec: Any, vec_words: Array, which: int, buffer: Array, workspace: Any, workspace_words: Array
    ) -> None: ...
    def answer_alphabeta(self, vec: Any, vec_words: Array, which: int, workspace: Any, depth: int) -> None: ...


class Codec(Protocol):
    """The functions of a game's ``codec.py``, between JSON and text, and records and actions."""

    def parse_state(self, state: Any, options: dict[str, Any]) -> Any:
        """An array of one record from a JSON state, or BadState."""

    def format_state(self, record: Record) -> Any:
        """The JSON state of a record."""

    def parse_line(self, text: Any, options: dict[str, Any]) -> Any:
        """An array of one record from the one-line form, or BadState."""

    def format_line(self, record: Record) -> str:
        """The one-line form of a record."""

    def render(self, record: Record) -> str:
        """The drawing of a record."""

    def parse_move(self, move: Any, states: Any) -> int:
        """The action of a JSON move; IllegalMove if it does not have the form of a move here."""

    def format_moves(self, actions: list[int], record: Record) -> list[Any]:
        """The JSON moves of legal actions of one position."""

    def explain(self, fault: int, action: int, record: Record) -> str:
        """The sentence for a fault of the kernel ``fault``."""

    def parse_notation(self, text: Any, states: Any, legal: list[int]) -> int:
        """The legal action that a person's text means in a running game, or IllegalMove."""

    def format_notation(self, action: int, record: Record) -> str:
        """A legal action in the notation for people."""


GAME_OVER = 1
"""The fault that all games share: the game is over."""
