"""Optional per-game hooks used by other packages; ``Game`` inherits them.

Bots, analysis, arena, environments, command line and web page are game-independent: they call these hooks (bots,
reviewer, painter, openings, board marks and so on) and fall back to generic defaults.

Hooks that import packages above ``games`` (a bot imports ``ludodrome.bots``) are in separate modules of the game's
package, named here as strings and imported on first use. These modules contain no kernels.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

Json = dict[str, Any]

LADDER_LEVELS = ("random", "greedy", "level:2", "level:4", "level:6")
"""Baselines and levels that most ladders have."""
LADDER_SEARCHERS = ("alphabeta:nodes=20000", "mcts:sims=1000")
"""Search bots that most ladders have."""

ORDINALS = ("First", "Second", "Third", "Fourth")
"""The names of seats in games that have none."""


class Diagram(NamedTuple):
    """A position on the rules page that can be played on."""

    rule: int | str
    """What it illustrates: a chapter of the part for people by its heading, or a rule by its number."""
    caption: str
    position: str
    """The one-line form; empty for the initial position."""
    options: Mapping[str, Any] = {}
    still: bool = False
    """Whether it is only a picture."""
    reply: str = ""
    """The other side's answer to the first move, in notation; empty: the reader moves for both sides."""


class Explanation(NamedTuple):
    """One thing that a move did, for people who learn the game."""

    key: str
    """A word or two that lessons and the first game name it by, such as ``dome``."""
    text: str
    """A sentence to somebody at the board, who is "you"."""
    momentary: bool = False
    """Whether it is true only until the next move: the first game shows it every time, and removes it then."""


class Level(NamedTuple):
    """Settings of one level, for games with one action per move."""

    depth: int
    """Plies searched: 1 sees its own move and an immediate loss, 0 only its own move."""
    width: int = 0
    """Number of moves searched, those with the best one-ply values; 0: all, in one search."""
    noise: int = 0
    """Standard deviation of its errors, in hundredths."""
    attention: float = 1.0
    """Probability of searching to ``depth``; otherwise it searches one ply less."""
    nodes: int | None = None
    """Maximum number of visited positions; None: no limit."""


FIRST_LEVELS = (
    Level(1, noise=300, attention=0.2),
    Level(1, noise=100, attention=0.65),
    Level(2, width=6, noise=80, attention=0.5),
    Level(2, width=12, noise=15, attention=0.9),
    Level(3, width=16, noise=10, attention=0.9),
)
"""Levels 1 to 5, which suit most games."""


class GameExtras:
    """Optional hooks of a game, with generic defaults.

    >>> import ludodrome
    >>> game = ludodrome.make("dots", rows=1, cols=1)
    >>> state = game.initial_state()
    >>> states = game.encode_array(state)

    For matches, bots and language models:

    >>> move = game.substitute_move(state)
    >>> move in game.opening_moves(state), game.actions_of(move, states), game.points_left(states), game.point_unit
    (True, [0], 1, 1.0)
    >>> game.options_from_state(state)
    {'rows': 1, 'cols': 1}
    >>> game.tidy_drawing(game.render_observation(state)) == game.render_record(game.encode_observation(state))
    True
    >>> game.tidy_reply("H(0,0)"), game.parse_move_of("H(0,0)", states) == move
    ('H(0,0)', True)

    For the page and the terminal:

    >>> game.check_page()
    >>> game.page_state(state) == state, game.page_move(move, "H(0,0)") == move
    (True, True)
    >>> game.page_line(state) == game.format_state(state), game.paint(states[0]).shape
    (True, (64, 64, 3))
    >>> game.board_marks(states, []) == game.observation_marks(state, lambda: states, [])
    True
    >>> game.tell_move(state, game.apply(state, move), None)
    []
    >>> game.text_board(state, (80, 24)).place_at(9, 1), game.move_picks(move, state)
    ('H(0,0)', [[Pick(place='H(0,0)', action='draw')]])
    >>> game.pick_warning(state, game.move_picks(move, state)[0]) is None
    True

    For people, who know seats by names:

    >>> game.seat_name(0), game.name_seats("seat 0 wins"), game.move_label(move, state)
    ('Blue', 'Blue wins', 'H(0,0)')
    >>> game.explain_move(state, move, game.apply(state, move), 0)[0].key
    'edge'
    """

    # Bots

    bots_module: ClassVar[str] = ""
    """Module with the game's own bots. It may define any of

    - ``make_KIND(game, name, seed, **params)``: this game's bot of that kind (``make_expert``, ``make_level``, ...)
    """
    levels: ClassVar[tuple[Level, ...]] = (*FIRST_LEVELS, Level(4, nodes=2_000), Level(6, nodes=20_000))
    """Levels 1 to 7 of ``bots.levels.LevelBot``, used in games with an evaluator and without points."""
    own_bots: ClassVar[tuple[tuple[str, str], ...]] = ()
    """(name, description) of additional bots without parameters; ``bots_module`` makes them."""

    # People

    people_options: ClassVar[Mapping[str, Any]] = {}
    """Options that people meet first where they are not the defaults: on the page, in ``play``, in the rated ladder.

    The defaults of the API stay what they are. To change them begins the ladder anew: it rates no other options.
    """
    people_options_reason: ClassVar[str] = ""
    """A sentence that says why people meet these options first."""

    # Positions and replies as text, for language models

    reply_patterns: ClassVar[tuple[str, ...]] = (r"(?<=\[)[^\[\]\n]{1,80}(?=\])",)
    """Case-insensitive regular expressions that find moves in a reply. Default: anything in square brackets."""
    reply_keys: ClassVar[frozenset[str] | None] = None
    """A JSON object in a reply is tried as a move if it has one of these keys; None: every object is tried."""

    def tidy_drawing(self, drawing: str) -> str:
        """Shorten a drawn position that is too large to be read."""
        return drawing

    def tidy_reply(self, text: str) -> str:
        """Rewrite a match of ``reply_patterns`` so that ``parse_move`` can read it."""
        return text

    def render_observation(self, observation: Any) -> str:
        """Draw an observation, given without ``you``, as text."""
        return self.render_record(self.encode_observation(observation))

    # Analysis

    analysis_module: ClassVar[str] = ""
    """Module with the game's own analysis. It may define any of

    - ``make_reviewer(game)``: a ``ludodrome.analysis.move_review.MoveReviewer``
    - ``exact_value(game, states, nodes)``: the exact final margin for the seat to move, or None if that takes more
      than ``nodes``
    - ``exact_analysis(game, states, time, count)``: an exact ``Analysis``, or None if it would take too long
    - ``make_solver(game, states, table_bits, saved)``: a ``ludodrome.analysis.solving.SolverBackend``; with
      ``who_wins=True`` as well if only the winner is asked for
    - ``table_bits(game, state)``: the recommended table size for solving a position, log2 of entries
    - ``solve_move(game, states, action, bits)``: the exact margin after an action, and its continuation (puzzles)
    - ``proven_value(game, states, nodes)``: the exact value for the seat to move, None if ``nodes`` do not prove it
    - ``load_solver(game, path, table_bits)``: read a file that a solver's ``save`` wrote
    - ``hint(game, state, seconds)``: the best move with its score, for games that are not searched move by move
    """

    win_steepness: ClassVar[float] = 0.8
    """P(win) = 1 / (1 + exp(-steepness * score)): 100 / the network's scale, or fitted (benchmarks/steepness.py)."""
    why_not_searchable: ClassVar[str] = "its package has no evaluator for positions"
    """Reason appended to the error message when a game without an evaluator is analysed or solved."""

    @property
    def point_unit(self) -> float | None:
        """The margin that corresponds to a win probability of 0.88; None in games without points."""
        evaluator = self.evaluator  # type: ignore[attr-defined]
        return 5.0 if evaluator is not None and evaluator.by_points else None

    # Matches, the doctor and the ladder

    opening_plies: tuple[int, int] = (4, 8)
    """Minimum and maximum number of moves in a random opening."""
    opening_book: str = ""
    """File in the game's package with checked openings for these options; empty if there is none."""
    balance_bot: ClassVar[str] = ""
    """Spec of the bot whose games with itself measure whether an opening is balanced: quick, of middle strength, and
    varied. Empty: one that suits most games."""
    doctor_options: ClassVar[tuple[Json, ...]] = ()
    """Unusual options that the doctor tests bots with."""
    challenge_options: ClassVar[tuple[Json, ...]] = ()
    """Options, besides the default ones, with which bots of other people can be challenged on a server."""
    ladder_bots: ClassVar[tuple[str, ...]] = ("random", "greedy")
    """Built-in bots of a new ladder, limited by nodes or playouts and not by time."""

    def opening_moves(self, state: Any) -> list[Any]:
        """The moves that a random opening samples from; by default all legal moves."""
        moves: list[Any] = self.legal_moves(state)  # type: ignore[attr-defined]
        return moves

    def substitute_move(self, state: Any) -> Any:
        """The move played for a seat that gave no legal one; by default the first legal move."""
        return self.legal_moves(state)[0]  # type: ignore[attr-defined]

    def points_left(self, states: Any) -> float | None:
        """The most points by which a seat can still catch up with another in states[0]; None if that is not known."""
        return None

    # Copies: a game never changes, and everything follows from its class and options

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self.options), ()  # type: ignore[attr-defined]

    # Compiled positions: moves, drawing, observations, datasets

    def parse_move_of(self, text: str, states: Any) -> Any:
        """Read a legal move of states[0], in games with one action a move, as ``parse_move`` does."""
        game: Any = self
        game.check_running(states)
        action = game.codec.parse_notation(text, states, game.legal_actions_of(states))
        return game.codec.format_moves([action], states[0])[0]

    def paint(self, record: Any) -> Any:
        """Draw a compiled position as a picture, [height, width, 3] uint8; by default the game's cells."""
        return import_module("ludodrome.painting").paint_cells(self, record)

    def render_record(self, record: Any) -> str:
        """Draw a compiled position as text, including an unfinished turn."""
        return str(self.codec.render(record))  # type: ignore[attr-defined]

    def encode_observation(self, observation: Any) -> Any:
        """Encode an observation, given without ``you``, as a record.

        If observations hide information, the game fills the hidden fields with possible values.
        """
        return self.encode(observation)  # type: ignore[attr-defined]

    def actions_of(self, move: Any, states: Any) -> list[int]:
        """The actions of a legal move in states[0]: one, unless a turn has several."""
        return [self.codec.parse_move(move, states)]  # type: ignore[attr-defined]

    # Benchmarks

    benchmarks_module: ClassVar[str] = ""
    """Module whose ``works()`` yields further benchmarks, each a ``ludodrome.bench.Work``."""

    # Terminal and web page

    seat_colours: ClassVar[tuple[str, ...]] = ("blue", "orange", "green")
    """The colours of the seats, by the names that the page's style sheet and the terminal have for them."""

    @classmethod
    def seat_name(cls, seat: int) -> str:
        """The name of a seat for people, such as Blue."""
        names: tuple[str, ...] = cls.seat_names or ORDINALS  # type: ignore[attr-defined]
        return names[seat]

    def name_seats(self, text: str) -> str:
        """A drawing or a sentence with the names of the seats, for people: ``seat 0`` becomes Blue."""
        seats: int = self.seats  # type: ignore[attr-defined]
        return re.sub(
            r"\bseat ([0-9])\b",
            lambda found: self.seat_name(int(found[1])) if int(found[1]) < seats else found[0],
            text,
        )

    def move_label(self, move: Any, state: Any) -> str:
        """A legal move as people read it in lists of moves; ``parse_move`` reads it back. Default: the notation."""
        return str(self.format_move(move, state))  # type: ignore[attr-defined]

    feel: ClassVar[str] = ""
    """What the game feels like, in one sentence, for the start page. Empty: its summary is shown."""
    seat_patterns: ClassVar[tuple[str, ...]] = ()
    """One regular expression per seat that matches its pieces in ``render``, to colour them in a terminal."""
    diagrams: ClassVar[tuple[Diagram, ...]] = ()
    """Positions shown on the rules page, each beside its chapter or below its rule."""

    routes_module: ClassVar[str] = ""
    """Module whose ``router``, a FastAPI router, the server adds below ``/api/v1``."""

    def board_marks(self, states: Any, legal: Sequence[Any]) -> Json:
        """Extra data for the board on the page (chains, eruptions, the last round)."""
        return {}

    def observation_marks(self, observation: Any, encode: Callable[[], Any], legal: Sequence[Any]) -> Json:
        """Extra data for the board on the page besides an observation, given without ``you``.

        ``encode`` encodes the observation. Default: the marks of the encoded observation.
        """
        return self.board_marks(encode(), legal)

    def page_state(self, observation: Any) -> Any:
        """An observation as the page gets it; games with large states shorten it."""
        return observation

    def page_move(self, move: Any, text: str) -> Any:
        """A move as the page gets it: the move, or its notation where that is much shorter."""
        return move

    def page_line(self, state: Any) -> str:
        """A position on one line, as the page links to its analysis."""
        return str(self.format_state(state))  # type: ignore[attr-defined]

    def check_page(self) -> None:
        """Raise ValueError if the page cannot show a game with these options."""

    def tell_move(self, before: Any, after: Any, seat: int | None) -> list[str]:
        """What a move brought about, as drawings one after another for the terminal; ``seat`` sees them, None: all.

        Empty if the position says it all.
        """
        return []

    def explain_move(self, before: Any, move: Any, after: Any, seat: int) -> list[Explanation]:
        """What a legal move did, told to the person on ``seat``; first what was played, then what came of it.

        A lesson (``lessons.toml``) asks for moves by the keys; the first game after it shows each sentence once.
        """
        who = actor(self.to_move(before), seat)  # type: ignore[attr-defined]
        return [Explanation("move", f"{who} played {self.format_move(move, before)}.")]  # type: ignore[attr-defined]

    # The full screen of the terminal

    terminal_module: ClassVar[str] = ""
    """Module with the game's own input on the full screen, for moves that are not picked from a list. It may define

    - ``make_input(game, state, seat)``: a ``ludodrome.cli.play_app.BoardInput``
    - ``story(game, before, after, seat, room)``: what a move brought about, as Rich texts one after another
    """

    def text_board(self, observation: Any, room: tuple[int, int]) -> Any:
        """An observation, given without ``you``, as a ``ludodrome.text_board.TextBoard``; None: show ``render``.

        ``room``: columns and lines that are free. Default: the game's cells.
        """
        cells = self.cells(observation)  # type: ignore[attr-defined]
        return None if cells is None else import_module("ludodrome.text_board").draw_cells(cells, room)

    def move_picks(self, move: Any, state: Any) -> list[list[Any]]:
        """The ways to pick a move: each a list of ``ludodrome.text_board.Pick``. Default: the cell of its notation."""
        return [[import_module("ludodrome.text_board").Pick(self.format_move(move, state))]]  # type: ignore[attr-defined]

    def pick_warning(self, state: Any, picks: Sequence[Any]) -> Any:
        """What picks would bring about, as a ``ludodrome.text_board.PickWarning``; None if nothing special."""
        return None

    @classmethod
    def options_from_state(cls, state: Any) -> Json:
        """The options contained in a position, as JSON or in one-line form. Raises BadState for malformed numbers.

        Default: the fields of a JSON state that are named like an option.
        """
        if type(state) is not dict:
            return {}
        names = [option.name for option in cls.available]  # type: ignore[attr-defined]
        return {name: state[name] for name in names if name in state}


def actor(mover: int | None, seat: int) -> str:
    """Who has moved, as the person on ``seat`` says it at the beginning of a sentence."""
    return "You" if mover == seat else "Your opponent"


def possessive(who: str) -> str:
    """What belongs to an ``actor``, within a sentence.

    >>> possessive("You"), possessive("Your opponent")
    ('your', "your opponent's")
    """
    return "your" if who == "You" else f"{who[0].lower()}{who[1:]}'s"


def extra(module: str, name: str) -> Any:
    """Look up a definition in a game's module; None if the game has no such module or definition."""
    return getattr(import_module(module), name, None) if module else None
