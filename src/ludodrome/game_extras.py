"""What a game brings beyond its rules: everything that is particular to it and that other packages ask for.

``Game`` inherits these declarations, all of them optional. Bots, analysis, arena, environments, command line and page
know no game: they ask the game for its own players, reviewer, painter, openings, board marks and so on, and fall back
to what suits every game.

Declarations that need packages above ``games`` (a bot imports ``ludodrome.bots``) are in modules of their own inside
the game's package, named here as text and imported on first use. They contain no kernels.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

Json = dict[str, Any]

LADDER_LEVELS = ("random", "greedy", "level:2", "level:4", "level:6")
LADDER_SEARCHERS = ("alphabeta:nodes=20000", "mcts:sims=1000")
"""Bots that most ladders have."""


class Diagram(NamedTuple):
    """A position on the rules page to try something in."""

    rule: int
    """The number of the rule above it."""
    caption: str
    position: str
    """The one-line form; empty for the initial position."""
    options: Mapping[str, Any] = {}


class Level(NamedTuple):
    """How one level plays a game with one action a move."""

    depth: int
    """Plies searched: 1 sees its own move and an immediate loss, 0 only its own move."""
    width: int = 0
    """How many moves it searches, the best at first sight; 0: all, in one search."""
    noise: int = 0
    """Standard deviation of its errors, in hundredths."""
    attention: float = 1.0
    """How often it searches to ``depth``; otherwise one ply less."""
    nodes: int | None = None
    """Limit of visited positions."""


FIRST_LEVELS = (
    Level(1, noise=300, attention=0.2),
    Level(1, noise=100, attention=0.65),
    Level(2, width=6, noise=80, attention=0.5),
    Level(2, width=12, noise=15, attention=0.9),
    Level(3, width=16, noise=10, attention=0.9),
)
"""Levels 1 to 5, which suit most games."""


class GameExtras:
    """Optional declarations of a game. A game overrides those that it has something to say about."""

    # Bots (asked by ludodrome.bots)

    bots_module: ClassVar[str] = ""
    """Module with the game's own players. It may define any of

    - ``make_KIND(game, name, seed, **params)``: this game's bot of that kind (``make_expert``, ``make_level``, ...)
    """
    levels: ClassVar[tuple[Level, ...]] = (*FIRST_LEVELS, Level(4, nodes=2_000), Level(6, nodes=20_000))
    """Levels 1 to 7 for the general player of levels, which plays games that are won, not scored."""
    own_bots: ClassVar[tuple[tuple[str, str], ...]] = ()
    """(name, meaning) of further kinds of bots without parameters; ``bots_module`` makes them."""

    # Language models (asked by ludodrome.bots)

    reply_patterns: ClassVar[tuple[str, ...]] = (r"(?<=\[)[^\[\]\n]{1,80}(?=\])",)
    """Regular expressions for moves in a free text, case ignored. Default: whatever is in square brackets."""
    reply_keys: ClassVar[frozenset[str] | None] = None
    """Keys by which a JSON object in a text is recognised as a move; None: every object is tried."""

    text_limits: ClassVar[Mapping[str, int]] = {}
    """Option -> the greatest value at which a position is still readable as text."""

    def tidy_reply(self, text: str) -> str:
        """Rewrite a match of ``reply_patterns`` so that ``parse_move`` can read it."""
        return text

    def render_observation(self, observation: Any) -> str:
        """Draw the position as one seat sees it, without ``you``."""
        return self.render_record(self.encode_observation(observation))

    # Analysis (asked by ludodrome.analysis)

    analysis_module: ClassVar[str] = ""
    """Module with the game's own analysis. It may define any of

    - ``make_reviewer(game)``: a ``ludodrome.analysis.move_review.MoveReviewer``
    - ``exact_analysis(game, states, time, count)``: an exact ``Analysis``, or None where it is out of reach
    - ``make_solver(game, states, table_bits, saved)``: a worker of ``ludodrome.analysis.solving``
    - ``table_bits(game, state)``: the size of table that solving a position takes
    - ``solve_move(game, states, action, bits)``: the exact margin after an action, and its continuation (puzzles)
    - ``load_solver(game, path, table_bits)``: what ``save`` of a solver wrote into a file
    - ``hint(game, state, seconds)``: the best move with its score, for games that are not searched move by move
    """

    win_steepness: ClassVar[float] = 0.8
    """P(win) = 1 / (1 + exp(-steepness * score)), fitted to bots' games (benchmarks/steepness.py)."""
    why_not_searchable: ClassVar[str] = "its package has no evaluator for positions"
    """Why a game without an evaluator is not searched move by move, as a part of a sentence."""

    @property
    def point_unit(self) -> float | None:
        """The margin that counts as a win probability of 0.88; None in games without points."""
        evaluator = self.evaluator  # type: ignore[attr-defined]
        return 5.0 if evaluator is not None and evaluator.by_points else None

    # Arena (asked by ludodrome.arena)

    opening_plies: ClassVar[tuple[int, int]] = (4, 8)
    """The least and the greatest number of moves of a random opening."""
    doctor_options: ClassVar[tuple[Json, ...]] = ()
    """Unusual options with which the doctor tries a bot."""
    ladder_bots: ClassVar[tuple[str, ...]] = ("random", "greedy")
    """Built-in bots that are in the league from the beginning, limited by nodes or playouts and not by time."""

    def opening_moves(self, state: Any) -> list[Any]:
        """The moves that a random opening chooses among; by default all legal moves."""
        moves: list[Any] = self.legal_moves(state)  # type: ignore[attr-defined]
        return moves

    def substitute_move(self, state: Any) -> Any:
        """The move that a match plays for a seat that gave none: the first legal move."""
        return self.legal_moves(state)[0]  # type: ignore[attr-defined]

    # Environments and datasets (asked by ludodrome.envs and ludodrome.datasets)

    def paint(self, record: Any) -> Any:
        """Draw a compiled position as a picture, [height, width, 3] uint8; by default the game's cells."""
        return import_module("ludodrome.painting").paint_cells(self, record)

    def render_record(self, record: Any) -> str:
        """Draw a compiled position as text, with what is unfinished in it."""
        return str(self.codec.render(record))  # type: ignore[attr-defined]

    def encode_observation(self, observation: Any) -> Any:
        """The compiled record of what a seat sees, without ``you``; bots choose their moves in it.

        A game whose observations are not states puts something possible in the place of what is hidden.
        """
        return self.encode(observation)  # type: ignore[attr-defined]

    def actions_of(self, move: Any, states: Any) -> list[int]:
        """The actions of a legal move of states[0]: one, unless a turn has several."""
        return [self.codec.parse_move(move, states)]  # type: ignore[attr-defined]

    # Speed (asked by ludodrome.bench)

    benchmarks_module: ClassVar[str] = ""
    """Module whose ``works()`` yields further benchmarks, each a ``ludodrome.bench.Work``."""

    # Terminal and page (asked by ludodrome.cli and ludodrome.web)

    seat_patterns: ClassVar[tuple[str, ...]] = ()
    """For each seat a regular expression of its pieces in ``render``, to colour them in a terminal."""
    diagrams: ClassVar[tuple[Diagram, ...]] = ()
    """Positions that the rules page shows below rules."""

    routes_module: ClassVar[str] = ""
    """Module whose ``router``, a FastAPI router, the server adds below ``/api/v1``."""

    def board_marks(self, states: Any, legal: Sequence[Any]) -> Json:
        """What the page's board shows beside the state (chains, eruptions, the last round)."""
        return {}

    def check_page(self) -> None:
        """Raise ValueError, with a sentence, if the page cannot show a game with these options."""

    @classmethod
    def options_from_state(cls, state: Any) -> Json:
        """The options that a position contains, as JSON or on one line; BadState if a number in it is malformed.

        By default those fields of a JSON state that have an option's name.
        """
        if type(state) is not dict:
            return {}
        names = [option.name for option in cls.available]  # type: ignore[attr-defined]
        return {name: state[name] for name in names if name in state}


def extra(module: str, name: str) -> Any:
    """One of the definitions of a game's own module; None if the game has no such module or no such definition."""
    return getattr(import_module(module), name, None) if module else None
