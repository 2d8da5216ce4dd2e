"""Caldera: volcanic tactics."""

import re
from collections.abc import Sequence
from typing import Any

from ludodrome.game import Game, Option
from ludodrome.game_extras import LADDER_LEVELS, LADDER_SEARCHERS, Explanation, Json, Level
from ludodrome.game_spec import Planes
from ludodrome.games.caldera import codec, display, evaluate, network, planes, rules
from ludodrome.jit import Array, Record
from ludodrome.search.entry_points import make_kernels
from ludodrome.text_board import Pick, PickWarning, Room, TextBoard

BOOK_TURNS = 100
"""The openings of the book are used with at least this turn limit."""


class Caldera(Game):
    """A crown, two lancers and two smiths per side on 7 x 7: take the enemy crown, or let the ground do it."""

    id = "caldera"
    title = "Caldera"
    available = (Option("turn_limit", 200, "the greatest number of turns, both seats together", low=1, high=1000),)

    dtype = rules.DTYPE
    num_actions = rules.NUM_ACTIONS
    max_legal = rules.NUM_ACTIONS
    reasons = rules.REASONS
    kernels = make_kernels(rules.RULES, evaluate.EVALUATOR, planes.observe, network=network.NETWORK)
    evaluator = evaluate.EVALUATOR
    network = network.NETWORK
    codec = codec
    seat_names = ("Blue", "Orange")
    move_format = (
        "A move is the letter of the piece, the cell where it stands, a sign and the cell it aims at: [C63-53] moves, "
        "[L61x43] captures, [S62^52] forges with the smith on 62 at 52."
    )

    levels = (
        Level(1, noise=300, attention=0.2),
        Level(1, noise=110, attention=0.5),
        Level(2, width=6, noise=70, attention=0.4),
        Level(2, width=12, noise=25, attention=0.8),
        Level(3, width=16, noise=15, attention=0.5),
        Level(4, nodes=1_200),
        Level(5, nodes=4_500),
    )
    feel = (
        "Chess on hot ground: you threaten with pieces, then pile up rock until one stone too many takes "
        "half the board with it."
    )
    ladder_bots = (*LADDER_LEVELS, *LADDER_SEARCHERS, "expert:nodes=50000")
    doctor_options = ({"turn_limit": 1}, {"turn_limit": 1000})
    challenge_options = ({"turn_limit": 100},)
    reply_patterns = (r"(?<![\w.])[cls]?\s*[0-6]\s*,?\s*[0-6]\s*(?:-+>?|→|x|\^)\s*[0-6]\s*,?\s*[0-6](?![\w]|\.\d)",)
    reply_keys = frozenset({"action"})
    seat_patterns = (r"\b[cls][1-3]?\b", r"\b[CLS][1-3]?\b")
    win_steepness = 0.8
    diagrams = display.DIAGRAMS

    def __init__(self, /, **options: Any) -> None:
        super().__init__(**options)
        self.max_game_length = self._options["turn_limit"]
        if self._options["turn_limit"] >= BOOK_TURNS:
            self.opening_book = "openings.txt"

    def paint(self, record: Record) -> Array:
        """Draw a position."""
        return display.paint(self, record)

    @property
    def planes(self) -> Planes:
        """The observation planes."""
        return planes.planes_of(self._options["turn_limit"])

    def move_label(self, move: Any, state: Any) -> str:
        """``S62 forges 52, erupts``; a move of a piece as in the notation."""
        return codec.format_label(self.format_move(move, state), state)

    def tidy_reply(self, text: str) -> str:
        """Write arrows as a dash."""
        return re.sub(r"-+>|→|--+", "-", text)

    def board_marks(self, states: Any, legal: Sequence[Any]) -> Json:
        """The eruptions that each forge would set off."""
        return {"eruptions": display.eruptions(self, states, legal)}

    def explain_move(self, before: Any, move: Any, after: Any, seat: int) -> list[Explanation]:
        """The move or the forge, what it took or set off, and crowns in reach."""
        return display.explain(self, before, move, after, seat)

    def text_board(self, observation: Any, room: Room) -> TextBoard:
        """The board for the full screen."""
        return display.text_board(observation, room)

    def move_picks(self, move: Any, state: Any) -> list[list[Pick]]:
        """A piece, then the cell that it moves to, captures on or forges."""
        return [display.picks(move, state)]

    def pick_warning(self, state: Any, picks: Sequence[Pick]) -> PickWarning | None:
        """The cells that a forge sets off, and the pieces that are lost in them."""
        return display.warning(self, state, picks)


GAME = Caldera
