"""Spaces: two prepared boards run against each other.

Besides the game, this package offers a laboratory. Boards are JSON, and have codes; faults name their rule:

>>> from ludodrome import spaces
>>> board = spaces.parse_board("3:1:u6uf")
>>> spaces.encode_board(board), spaces.check(board, 3), spaces.check_playable(board, 3)
('3:1:u6uf', [], [])
>>> fault = spaces.check(spaces.parse_board("3:1:u88uf"), 3, "live")[0]
>>> isinstance(fault, spaces.Fault), fault.rule
(True, 'R13')
>>> [layer.passed for layer in spaces.validate(board, 3) if isinstance(layer, spaces.Layer)]
[True, True, True, True]
>>> len(spaces.steps([], 3)), len(spaces.step_words(3))
(3, 16)
>>> len(spaces.draw_board(board).splitlines()), len(spaces.box_board(board).splitlines()), spaces.board_svg(board)[:4]
(5, 7, '<svg')

Play rounds, one by one or all at once:

>>> run = spaces.sensible(3, seed=1)
>>> result = spaces.simulate(board, run, 3, "live")
>>> isinstance(result, spaces.Round), result.ended, result.points
(True, 'goal', [2, 3])
>>> events = [event for step in result.steps if isinstance(step, spaces.RoundStep) for event in step.events]
>>> isinstance(events[0], spaces.Event), events[0].points
(True, 1)
>>> boards = spaces.Packed([board, run, spaces.quick(3, "live", seed=1)], 3, "live")
>>> own, other = spaces.simulate_matrix(boards, boards, 3, "live")
>>> own.shape, spaces.matrix_svg((own - other).tolist())[:4]
((3, 3), '<svg')

``count_boards``, ``generate``, ``sample`` and ``board_at`` count, list and draw boards; ``respond`` answers them;
``perfect`` and ``Equilibrium`` are about perfect play. The game itself is ``GAME``:

>>> game = spaces.GAME(size=3)
>>> isinstance(game, spaces.Spaces), game.is_large, game.prefix(game.encode(game.initial_state()))
(True, False, [])
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ludodrome.game import MAX_LISTED_MOVES, BadState, Game, IllegalMove, Option, TooManyMoves
from ludodrome.game_extras import LADDER_LEVELS, Explanation, Json
from ludodrome.game_spec import Planes
from ludodrome.games.spaces import codec, display, fog, planes, rules
from ludodrome.games.spaces.best_response import MixedResponse, Response, respond
from ludodrome.games.spaces.boards import (
    CHOICES,
    DECK,
    FINISH,
    LARGEST,
    RULE_SETS,
    SEEN,
    SMALLEST,
    UP,
    draw_board,
    encode_board,
    format_board,
    format_steps,
    parse_board,
    step_words,
    steps_of,
)
from ludodrome.games.spaces.codec import Lay, board_labels, format_codes, format_lay, lay_boards, parse_lay
from ludodrome.games.spaces.codec import parse_boards_text as _parse_boards_text
from ludodrome.games.spaces.counting import count_boards, count_by, quick_count
from ludodrome.games.spaces.equilibria import (
    Equilibrium,
    Inspection,
    LeastLoss,
    Mixture,
    match_value,
    perfect,
    sensible,
)
from ludodrome.games.spaces.generation import generate
from ludodrome.games.spaces.legality import Fault, Layer, all_boards, check, check_playable, steps, validate
from ludodrome.games.spaces.mixture_response import respond_to_mixture
from ludodrome.games.spaces.ranking import board_at, number_of
from ludodrome.games.spaces.sampling import quick, sample
from ludodrome.games.spaces.simulation import (
    Event,
    Packed,
    Round,
    RoundStep,
    board_svg,
    box_board,
    matrix_svg,
    simulate,
    simulate_matrix,
)
from ludodrome.jit import Array, Record, new_states
from ludodrome.search.entry_points import make_kernels
from ludodrome.validation import show

FOG_LEGEND = "earlier rounds in fog: the other's boards end where the round did, and ? is a trap in a place not seen"
MAX_COUNTED = 10**10
"""Maximum number of boards that perft makes."""

__all__ = [
    "GAME",
    "Equilibrium",
    "Event",
    "Fault",
    "Inspection",
    "Layer",
    "LeastLoss",
    "MixedResponse",
    "Mixture",
    "Packed",
    "Response",
    "Round",
    "RoundStep",
    "Spaces",
    "board_at",
    "board_svg",
    "box_board",
    "check",
    "check_playable",
    "count_boards",
    "count_by",
    "draw_board",
    "encode_board",
    "format_board",
    "generate",
    "match_value",
    "matrix_svg",
    "number_of",
    "parse_board",
    "perfect",
    "quick",
    "respond",
    "respond_to_mixture",
    "sample",
    "sensible",
    "simulate",
    "simulate_matrix",
    "step_words",
    "steps",
    "validate",
]


class Spaces(Game):
    """A move is a whole board, or a deck of ten; an action is one step of a board.

    So ``action`` and ``move`` take single steps, as words. A JSON state has no unfinished board, so
    its legal steps are the starts; for a record they refer to its unfinished board.
    """

    id = "spaces"
    title = "Spaces"
    available = (
        Option("size", 3, "rows and columns of the grid", low=SMALLEST, high=LARGEST),
        Option(
            "rules",
            "written",
            "the rule set: the classic text, or what the public generator and simulator do",
            words=RULE_SETS,
        ),
        Option("mode", "rounds", "board against board, or ten boards against ten", words=("rounds", "deck")),
        Option("rounds", 5, "how many rounds; 1 in the mode deck", low=1, high=rules.MAX_ROUNDS),
        Option("choice", SEEN, "what a seat sees: the board laid first, earlier rounds, those in fog", words=CHOICES),
    )

    reasons = rules.REASONS
    kernels = make_kernels(rules.RULES, observe=planes.observe, one_action_a_turn=False)
    codec = codec
    seat_names = ("Blue", "Orange")
    move_format = (
        "A move is a whole board, written as size, start column and steps: [3:1:ul8uf] is size 3, start in column 1, "
        "up, left, a trap above, up, finish. Steps are u, l and r; 1 to 9 set a trap as on a number pad (5 is the "
        "square under the piece, 8 the one above); f, from row 0, is the finish and comes last."
    )

    people_options: ClassVar[Mapping[str, Any]] = {"rules": "live", "choice": "blind"}
    people_options_reason = (
        "Under the written rules a straight run never loses, even with its board in view; "
        "under the live rules every board can be caught, so with blind choice there is something to guess."
    )

    bots_module = f"{__name__}.bots"
    analysis_module = f"{__name__}.analysis"
    routes_module = f"{__name__}.routes"
    terminal_module = "ludodrome.cli.spaces.play_input"
    feel = "Mind reading: you fix your whole path and its traps in advance, then watch two plans run into each other."
    ladder_bots = (*LADDER_LEVELS, "expert:nodes=20000")
    doctor_options = (
        {"size": 2, "rules": "live"},
        {"size": 2, "rules": "written", "choice": "blind"},
        {"size": 5, "mode": "deck", "rounds": 1},
        {"size": 4, "rounds": 20},
        {"size": 100, "rules": "live", "rounds": 1},
        {"rules": "live", "choice": "fog"},
    )
    challenge_options = (
        {"choice": "blind"},
        {"rules": "live"},
        {"rules": "live", "choice": "blind"},
        {"rules": "live", "choice": "fog"},
        {"size": 4},
        {"size": 4, "rules": "live"},
    )
    reply_patterns = (r"(?<![\w:])\d{1,3}:\d{1,2}:[ulrdf1-9]+(?:\s*,\s*\d{1,3}:\d{1,2}:[ulrdf1-9]+)*(?![\w:])",)
    reply_keys = frozenset({"boardSize", "sequence", "deck"})
    why_not_searchable = (
        "`ludodrome spaces solve SIZE` finds perfect play, `ludodrome spaces respond BOARD` the best answer to a board"
    )
    benchmarks_module = f"{__name__}.analysis"
    diagrams = display.DIAGRAMS

    def __init__(self, /, **options: Any) -> None:
        super().__init__(**options)
        if self._options["mode"] == "deck":
            if options.get("rounds", 1) != 1:
                raise ValueError(f"rounds is 1 in the mode 'deck' of spaces, not {show(options['rounds'])}")
            self._options["rounds"] = 1
            self.move_format += " Here a move is a deck: ten such codes, joined by commas, in one pair of brackets."
        size, rounds = self._options["size"], self._options["rounds"]
        boards_a_turn = DECK if self._options["mode"] == "deck" else 1
        self.dtype = rules.dtype_of(size, rounds)
        self.num_actions = rules.num_actions(size)
        self.max_legal = rules.max_legal(size)
        self.actions_a_turn = boards_a_turn * rules.longest(size)
        self.max_game_length = 2 * rounds * self.actions_a_turn

    # States

    def observation(self, state: Any, seat: int | None = None) -> Any:
        """The state without what is hidden: lays face down, and under fog the other's earlier boards (R25, R26)."""
        self._check_seat(seat)
        return fog.observe(self.encode(state), self._options, seat)

    @property
    def has_hidden_information(self) -> bool:
        """Whether a board or a deck stays face down until both are laid (R25, R26)."""
        return fog.hides_lays(self._options)

    @property
    def hides_earlier_moves(self) -> bool:
        """Whether earlier boards stay hidden until the game is over (R26)."""
        return fog.hides_history(self._options)

    def prefix(self, record: Record) -> list[dict[str, Any]]:
        """The steps of the unfinished board of a record."""
        states = self._at(record)
        if self.kernels.mover(states) < 0:
            return []
        slot = rules.current_slot(states)
        actions = states["boards"][0, slot, : states["lengths"][0, slot]].tobytes()
        return format_steps(steps_of(actions, self._options["size"]))

    def render_observation(self, observation: Any) -> str:
        """Draw what a seat sees; a board that is face down is missing from it."""
        record = self.encode_observation(observation)
        drawn, seat = self.codec.render(record), observation["to_move"]
        if record["fogged"].any():
            drawn = f"{FOG_LEGEND}\n{drawn}"
        if seat is not None and seat != (observation["round"] - 1) % 2 and observation["chosen"] is None:
            return f"{drawn.rpartition(',')[0]}, seat {seat} to lay; what the other seat has laid is face down"
        return drawn

    def render_record(self, record: Record) -> str:
        """Draw a compiled position, with the board that is being built."""
        steps = self.prefix(record)
        building = {"boardSize": self._options["size"], "sequence": steps}
        return self.codec.render(record) + (f"\nbuilding: {encode_board(building)}" if steps else "")

    def encode_observation(self, observation: Any) -> Record:
        """The compiled record of what a seat sees; with the other seat to move where a board is face down."""
        return fog.parse_observation(observation, self._options)[0]

    def actions_of(self, move: Any, states: Any) -> list[int]:
        """The steps of a board or a deck."""
        return list(b"".join(parse_lay(move, self._options)))

    def substitute_move(self, state: Any) -> Any:
        """The first legal move; where there are too many to list, a straight run up the first column."""
        try:
            return self.legal_moves(state)[0]
        except TooManyMoves:
            size = self._options["size"]
            board = bytes([0, *[size + UP] * (size - 1), size + FINISH])
            return format_lay([board] * (DECK if self._options["mode"] == "deck" else 1), self._options)

    @property
    def point_unit(self) -> float:
        """The side of the board."""
        return float(self._options["size"])

    def tidy_reply(self, text: str) -> str:
        """Leave out white space."""
        return re.sub(r"\s", "", text)

    # The page

    def observation_marks(self, observation: Any, encode: Callable[[], Any], legal: Sequence[Any]) -> Json:
        """The last round, step by step, as far as it may be seen."""
        if self._options["mode"] == "deck" or not observation["history"]:
            return {}
        return {"round": display.entry_view(observation["history"][-1], self._options["size"], self._options["rules"])}

    def page_state(self, observation: Any) -> Any:
        """The observation; with codes for boards where the grid is large."""
        return display.short_state(observation) if self.is_large else observation

    def page_move(self, move: Any, text: str) -> Any:
        """The board or the deck; its code where the grid is large."""
        return text if self.is_large else move

    def page_line(self, state: Any) -> str:
        """The state on one line; only its last round where the grid is large."""
        return display.short_line(state) if self.is_large else self.format_state(state)

    def tidy_drawing(self, drawing: str) -> str:
        """Leave out the grid where it is large."""
        return display.without_grid(drawing) if self.is_large else drawing

    @property
    def is_large(self) -> bool:
        """Whether boards are too large to be sent as JSON or drawn as text again and again."""
        return bool(self._options["size"] > display.SMALL_SIZE)

    def check_page(self) -> None:
        """The page shows matches up to a number of rounds, fewer of them where the grid is large."""
        rounds = self._options["rounds"]
        most = display.MAX_LARGE_ROUNDS if self.is_large else display.MAX_ROUNDS
        if rounds > most:
            where = f"above size {display.SMALL_SIZE}" if self.is_large else f"up to size {display.SMALL_SIZE}"
            raise ValueError(f"on the page spaces has 1 to {most} rounds {where}, not {show(rounds)}")

    @classmethod
    def options_from_state(cls, state: Any) -> Json:
        """A line begins with mode, size, rule set, choice and the number of the round."""
        if type(state) is not str:
            return super().options_from_state(state)
        words = state.split()
        if len(words) != 7:
            return {}
        mode, size, rule_set, choice = words[:4]
        rounds = words[4].rpartition("/")[2]
        for name, word in (("size", size), ("rounds", rounds)):
            if not re.fullmatch("[1-9][0-9]{0,2}", word):
                raise BadState(f"{name} is a whole number, not {show(word)}")
        return {"mode": mode, "size": int(size), "rules": rule_set, "choice": choice, "rounds": int(rounds)}

    def paint(self, record: Record) -> Array:
        """Draw a position."""
        return display.paint(self, record)

    @property
    def planes(self) -> Planes:
        """The observation planes."""
        return planes.planes_of(self._options["size"], self._options["rounds"], self._options["mode"] == "deck")

    def tell_move(self, before: Any, after: Any, seat: int | None) -> list[str]:
        """The round that an answer has started, step by step."""
        if self._options["mode"] == "deck" or len(after["history"]) == len(before["history"]):
            return []
        entry, size = self.observation(after, seat)["history"][-1], self._options["size"]
        return display.round_frames(display.entry_view(entry, size, self._options["rules"]), size)

    def explain_move(self, before: Any, move: Any, after: Any, seat: int) -> list[Explanation]:
        """The board, and the round that it completes."""
        return display.explain(self._options, before, move, after, seat)

    # Moves

    def legal_moves(self, state: Any) -> list[Any]:
        """All legal boards, if there are few; TooManyMoves gives their number if it is known."""
        states = self.encode_array(state)
        if self.outcome_of(states) is not None:
            return []
        self._check_few(MAX_LISTED_MOVES, "list")  # never passes for decks: 14 boards already make 14**10
        size, rule_set = self._options["size"], self._options["rules"]
        return [format_board(board, size) for board in all_boards(size, rule_set == "live")]

    def is_legal(self, state: Any, move: Any) -> bool:
        """Whether the board or the deck is legal."""
        try:
            self._lay(move, self.encode_array(state))
        except IllegalMove:
            return False
        return True

    def apply(self, state: Any, move: Any) -> Any:
        """The state after laying a board or a deck."""
        states = self.encode_array(state)
        self._lay(move, states)
        return self.decode(states[0])

    def parse_move(self, text: str, state: Any) -> Any:
        """A legal move from its code, from ten codes joined by commas, or from its JSON text."""
        states = self.encode_array(state)
        self.check_running(states)
        boards = _parse_boards_text(text, self._options)
        lay_boards(states, boards, board_labels(len(boards)))
        return format_lay(boards, self._options)

    def format_move(self, move: Any, state: Any) -> str:
        """The code of a legal board; for a deck, ten codes joined by commas."""
        return format_codes(self._lay(move, self.encode_array(state)), self._options["size"])

    def action(self, move: Any, state: Any) -> int:
        """The number of a legal step, given as a word like ``start 1`` or ``trap left``."""
        return self._legal_action(move, self._at(state))

    def move(self, action: int, state: Any) -> Any:
        """The word of a legal step."""
        states = self._at(state)
        number = self._action_number(action)
        self._check_fault(number, states)
        return self.codec.format_moves([number], states[0])[0]

    def check_countable(self, depth: int) -> None:
        """Raise TooManyMoves if there are too many boards or decks at this depth to make one by one."""
        self._check_few(MAX_COUNTED, "make one by one", depth)

    # Internals

    def _count(self) -> int | None:
        """The number of legal moves, if it is known."""
        count = quick_count(self._options["size"], self._options["rules"])
        return count if count is None or self._options["mode"] == "rounds" else count**DECK

    def _check_few(self, most: int, purpose: str, depth: int = 1) -> None:
        count = self._count()
        if count is not None and count**depth <= most:
            return
        what = "decks" if self._options["mode"] == "deck" else "boards"
        many = "their number is not known" if count is None else f"{count:,}"
        size, rule_set = self._options["size"], self._options["rules"]
        raise TooManyMoves(
            f"the legal {what} of size {size} under {rule_set!r} are too many to {purpose}: {many}", count
        )

    def _lay(self, move: Any, states: Any) -> Lay:
        """Lay a JSON move, or raise IllegalMove."""
        self.check_running(states)
        boards = parse_lay(move, self._options)
        lay_boards(states, boards, board_labels(len(boards)))
        return boards

    def _at(self, state: Any) -> Any:
        """An array of one record, from a JSON state or a record of this game."""
        if not isinstance(state, np.void):
            return self.encode_array(state)
        fields = self._option_fields()
        if state.dtype != self.dtype or any(state[name] != value for name, value in fields.items()):
            raise BadState("this record belongs to another game, or to other options")
        states = new_states(self.dtype, 1)
        states[0] = state
        return states

    def _option_fields(self) -> dict[str, Any]:
        return codec.option_fields(self._options)

    def scores_of(self, winner: int | None, states: Any) -> list[float]:
        """The totals by seat."""
        totals: list[float] = states["totals"][0].tolist()
        return totals


GAME = Spaces
