"""What a game package provides: rules, a codec and, optionally, an evaluator and planes.

``Game`` in game.py is made of these. To add a game, start here and with docs/how-to/adding-a-game.md.

A game package has a RULES.md, ``Rules`` and a ``Codec``; ``search/entry_points.py`` makes its ``Kernels``. An
``Evaluator`` and ``Planes`` are optional. Without an evaluator there is no alpha-beta and no max-n search. Without
planes learners see the bytes of the record if ``make_kernels`` got its ``dtype``; otherwise there are no environments.
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
    """(s, buffer): writes the legal actions into the buffer, ascending; returns their number, 0 if the game is over."""
    fault: Callable[[Record, Int], Int]
    """(s, action): 0 if the action is legal, else an error code for ``Codec.explain``."""
    play: Callable[[Record, Int], None]
    """(s, action): makes a legal action, in place."""
    mover: Callable[[Record], Int]
    """(s): the seat to move; -1 if the game is over."""
    winner: Callable[[Record], Int]
    """(s): the winner; -1 while the game runs and for a draw."""
    turns: Callable[[Record], Int]
    """(s): the number of moves made."""


class Evaluator(NamedTuple):
    """Game knowledge for search (``search/alphabeta.py``, ``search/maxn.py``).

    Alpha-beta has two sides: the *pov_seat* and all other seats. Values are integers from the point of view of the
    pov_seat, between -10,000 and 10,000; 100 is about the worth of one point or one clear advantage.
    A *move_id* identifies a move by what it does on the board (such as its origin and target), so that the same move
    has the same move_id in many positions; a symmetry of the board maps move_ids to move_ids.
    """

    value: Callable[[Record, Int], Int]
    """(s, pov_seat): static evaluation of a running position, invariant under the symmetries of the board. In games of
    points it counts only the points still to be won."""
    winning: Callable[[Record], Int]
    """(s): an action that wins at once for the seat to move, or -1. It may miss wins but not report false ones."""
    in_check: Callable[[Record], Any]
    """(s): whether the next seat threatens to win at once. Called only if ``winning`` returned -1."""
    evasions: Callable[[Record, Array, Int], Int]
    """(s, buffer, count): removes legal actions that do not parry the threat, and returns the number left. Every action
    it removes must lose in two plies. Called only if ``in_check``."""
    is_tactical: Callable[[Record, Int], Any]
    """(s, action): whether quiescence search must try this action (a capture, say)."""
    move_context: Callable[[Record], Any]
    """(s): data for ``move_score``, computed once per position."""
    move_score: Callable[[Record, Any, Int], Int]
    """(s, move_context, action): static score for move ordering, -1000 to 1000."""
    gain: Callable[[Record, Record], Int]
    """(before, after): the points that the mover won with an action, in hundredths; 0 in games without points."""
    move_id: Callable[[Record, Int], Int]
    """(s, action): the action's move_id, below ``num_move_ids``."""
    update_hash: Callable[[Record, Record, Array, Int], None]
    """(before, after, keys, at): incrementally update the eight Zobrist keys, keys[at] to keys[at + 1]. ``keys`` is
    (plies, 8) uint64, one key per symmetry in the order of ``search/symmetry.py``. A key covers everything that
    affects the rest of the game, but not points already won."""
    num_move_ids: int
    move_id_symmetries: Array
    """(8, num_move_ids) uint16: the image of each move_id under each symmetry."""
    by_points: bool
    """Whether the search maximises the margin of points, as in dots, rather than winning."""
    has_no_tactics: bool
    """Whether ``is_tactical`` is always false: then there is no quiescence search."""


class Network(NamedTuple):
    """What a learned evaluation of a game for two seats looks at; ``search/network.py`` evaluates it.

    A position has sparse binary *features*, numbered as seat 0 sees them. ``num_features`` itself stands for "no
    feature", so that a piece that appears or falls is a change like any other.
    """

    num_features: int
    max_active: int
    """The largest number of features that a position has at once."""
    list_features: Callable[[Record, Array], Int]
    """(s, out): writes the features of a position; returns their number."""
    list_changes: Callable[[Record, Record, Array, Array], Int]
    """(before, after, removed, added): writes the features that differ, in pairs; returns the number of pairs. The
    records may be several moves apart."""
    mirrored: Array
    """(num_features,): the number that seat 1 gives to each feature."""
    symmetries: Array
    """(8, num_features): the image of each feature under each symmetry of the board."""
    num_buckets: int
    bucket: Callable[[Record], Int]
    """(s): which set of output weights applies, by the phase of the game; -1: the evaluator's ``value`` applies."""


class Planes(NamedTuple):
    """The observation planes of a game for learners: integers, each plane as large as the board.

    A game's kernel ``observe`` fills them from the point of view of one seat.
    """

    names: tuple[str, ...]
    """One name per plane."""
    rows: int
    cols: int
    highest: tuple[int, ...]
    """The maximum of each plane; the minimum is 0."""
    dtype: Any
    """The dtype of all planes."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """(planes, rows, cols)."""
        return len(self.names), self.rows, self.cols


DEFAULT_PLANES = ("record", "to move")


def default_planes(dtype: np.dtype[Any]) -> Planes:
    """Planes for games without their own: the bytes of the record in one row, and the seat to move.

    ``search/vector.py`` fills them.
    """
    size = sum(np.dtype((field, shape)).itemsize for field, shape in field_shapes(dtype).values())
    return Planes(DEFAULT_PLANES, 1, size, (255, 255), np.uint8)


def field_shapes(dtype: np.dtype[Any]) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
    """The fields of a record: name -> (element dtype, shape)."""
    fields: Any = dtype.fields
    return {name: (fields[name][0].base, fields[name][0].shape) for name in dtype.names or ()}


class Kernels(Protocol):
    """A game's compiled entry points, made by ``search/entry_points.py``.

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
        net: Any,
        limit: int,
    ) -> Any: ...
    def maxn(self, states: Any, words: Array, memory: Any, limit: int) -> Any: ...
    def answer_greedy(
        self, vec: Any, vec_words: Array, which: int, buffer: Array, workspace: Any, workspace_words: Array
    ) -> None: ...
    def answer_alphabeta(self, vec: Any, vec_words: Array, which: int, workspace: Any, depth: int) -> None: ...
    def self_play(self, workspace: Any, samples: Any, settings: Any, seed: Any, first: int, games: int) -> Int: ...

    # Only where the game has a network
    def alphabeta_net(
        self,
        states: Any,
        words: Array,
        keys: Array,
        moves: Array,
        frames: Any,
        searches: Any,
        table: Array,
        net: Any,
        limit: int,
    ) -> Any: ...
    def self_play_net(self, workspace: Any, samples: Any, settings: Any, seed: Any, first: int, games: int) -> Int: ...
    def refresh(self, states: Any, net: Any) -> None: ...
    def network_value(self, states: Any, net: Any) -> Int: ...
    def features_many(
        self, states: Any, own: Array, other: Array, buckets: Array, values: Array, buffer: Array
    ) -> None: ...


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
