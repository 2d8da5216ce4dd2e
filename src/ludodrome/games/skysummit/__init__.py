"""Skysummit: a tower game with placement."""

import re
from typing import Any

from ludodrome.game import Game, Option
from ludodrome.game_extras import FIRST_LEVELS, LADDER_LEVELS, LADDER_SEARCHERS, Diagram, Level
from ludodrome.game_spec import Planes
from ludodrome.games.skysummit import codec, evaluate, planes, rules
from ludodrome.jit import Array, Record
from ludodrome.painting import paint_workers
from ludodrome.search.entry_points import make_kernels

_CELL = "[a-e][1-5]"
_ARROW = r"(?:\s*(?:-+>?|→|to)\s*)"
_UP = r"(?:\s*[,;]?\s*(?:(?:and\s+)?builds?(?:\s+(?:on|at))?|[↑^+])?\s*)"

BOOK_TURNS = 100
"""The openings of the book are balanced with at least this turn limit: the games that measured them were shorter."""


class Skysummit(Game):
    """Two workers per side on 5 x 5: climb to level 3, or block the other side."""

    id = "skysummit"
    title = "Skysummit"
    available = (Option("turn_limit", 200, "the greatest number of turns, placements included", low=1, high=1000),)

    dtype = rules.DTYPE
    num_actions = rules.NUM_ACTIONS
    max_legal = rules.PLACEMENTS
    max_game_length = rules.MAX_TURNS
    reasons = rules.REASONS
    kernels = make_kernels(rules.RULES, evaluate.EVALUATOR, planes.observe, network=evaluate.NETWORK)
    evaluator = evaluate.EVALUATOR
    network = evaluate.NETWORK
    codec = codec
    seat_names = ("●", "◆")
    move_format = (
        "A placement is [place B2 C3]. A turn is the worker's number, where it stands, where it goes and where it "
        "builds: [2C3-C4 ^D4]. A step onto level 3 wins and has no build: [2C3-B3]."
    )

    levels = (*FIRST_LEVELS, Level(5, nodes=8_000), Level(7, nodes=40_000))
    ladder_bots = (*LADDER_LEVELS, *LADDER_SEARCHERS, "expert:nodes=50000")
    doctor_options = ({"turn_limit": 1}, {"turn_limit": 1000})
    challenge_options = ({"turn_limit": 100},)
    reply_patterns = (
        rf"(?<!\w)place\s*{_CELL}\s*(?:,|and)?\s*{_CELL}(?!\w)",
        rf"(?<!\w)(?:[12]\s*)?{_CELL}{_ARROW}{_CELL}(?:{_UP}{_CELL})?(?!\w)",
    )
    reply_keys = frozenset({"t"})
    seat_patterns = (r"●[12]?", r"◆[12]?")
    win_steepness = 0.83
    diagrams = (
        Diagram(
            7,
            "Pick a blue worker: the dots are its steps. B2 is too high for it.",
            "00000/02000/01100/00100/00000 C2D4 B4E2 6",
        ),
        Diagram(8, "One step wins. Which?", "00000/03200/00111/00000/00000 B3E5 C4D2 8"),
    )

    def __init__(self, /, **options: Any) -> None:
        super().__init__(**options)
        if self._options["turn_limit"] >= BOOK_TURNS:
            self.opening_book = "openings.txt"

    def tidy_reply(self, text: str) -> str:
        """Write arrows as a dash and leave out words between the cells."""
        plain = re.sub(r"-+>|→|\bto\b|--+", "-", text, flags=re.IGNORECASE)
        return re.sub(r"[,;]|\b(?:and|builds?|on|at)\b", " ", plain, flags=re.IGNORECASE)

    def paint(self, record: Record) -> Array:
        """Draw a position: cells by height, workers by seat, numbered from 0."""
        return paint_workers(self, record, 0)

    @property
    def planes(self) -> Planes:
        """The observation planes."""
        return planes.planes_of(self._options["turn_limit"])


GAME = Skysummit
