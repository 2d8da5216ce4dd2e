"""Dots and boxes: draw edges, close boxes, count chains."""

import hashlib
import math
import re
from collections.abc import Sequence
from typing import Any

from ludodrome.game import Game, Option
from ludodrome.game_extras import LADDER_LEVELS, LADDER_SEARCHERS, Explanation, Json
from ludodrome.game_spec import Planes
from ludodrome.games import BUILT_IN
from ludodrome.games.dots import codec, display, evaluate, planes, rules, strategy
from ludodrome.jit import Array, Record
from ludodrome.search.entry_points import make_kernels
from ludodrome.text_board import Pick, Room, TextBoard

BOOK_SIZES = ((2, 2), (3, 3), (4, 4), (5, 5))
"""Boards with a book of openings."""


class Dots(Game):
    """Draw a box's fourth side to own it and draw again; the seat with more boxes wins."""

    id = "dots"
    title = "Dots and Boxes"
    available = (
        Option("rows", 5, "rows of boxes", low=1, high=rules.MAX_LINES),
        Option("cols", 5, "columns of boxes", low=1, high=rules.MAX_LINES),
    )

    dtype = rules.DTYPE
    reasons = rules.REASONS
    kernels = make_kernels(rules.RULES, evaluate.EVALUATOR, planes.observe, greedy=strategy.best_edges)
    evaluator = evaluate.EVALUATOR
    codec = codec
    seat_names = ("Blue", "Orange")
    asks_every_seat = True
    policy = "substitute"
    move_format = "A move is an undrawn edge: [H(2,3)] is the horizontal edge of row 2, column 3; [V(0,1)] is vertical."

    bots_module = f"{__name__}.bots"
    analysis_module = f"{__name__}.analysis"
    own_bots = BUILT_IN["dots"].own_bots
    feel = "Polite for twenty moves, ruthless for the rest: who is forced to open the first long chain has lost."
    ladder_bots = (*LADDER_LEVELS, "chains", *LADDER_SEARCHERS, "expert:nodes=20000")
    doctor_options = ({"rows": 1, "cols": 1}, {"rows": 2, "cols": 12}, {"rows": 21, "cols": 1})
    challenge_options = ({"rows": 2, "cols": 2}, {"rows": 3, "cols": 3}, {"rows": 4, "cols": 4})
    balance_bot = "level:6"
    reply_patterns = (r"(?<!\w)[hv]\s*\(?\s*\d{1,2}\s*[, ]\s*\d{1,2}\s*\)?(?!\w)", r"(?<!\w)[hv]\d\d(?!\w)")
    reply_keys = frozenset({"orient"})
    seat_patterns = (r"(?<=│ )[0●](?= │)", r"(?<=│ )[1◆](?= │)")
    diagrams = display.DIAGRAMS

    def __init__(self, /, **options: Any) -> None:
        super().__init__(**options)
        rows, cols = self._options["rows"], self._options["cols"]
        edges = len(rules.board_edges(rows, cols))
        if edges > rules.MAX_EDGES:
            raise ValueError(
                f"dots on {rows} x {cols} boxes would have {edges} edges, but {rules.MAX_EDGES} is the maximum; the "
                "largest boards are 5x5, 4x6, 3x8, 2x12 and 1x21, and 6x4, 8x3, 12x2 and 21x1"
            )
        self.num_actions = self.max_legal = self.max_game_length = edges
        self.opening_plies = min(8, edges // 5), min(12, edges // 3)
        if (rows, cols) in BOOK_SIZES:
            self.opening_book = f"openings-{rows}x{cols}.txt"

    def initial_state(self, seed: int = 0) -> Any:
        """The empty board. The nonce is a one-way hash of the seed: it reveals nothing about other random numbers."""
        state = super().initial_state(seed)
        state["nonce"] = _nonce(seed)
        return state

    def observation(self, state: Any, seat: int | None = None) -> Any:
        """The state, and for a seat its own number under ``you``."""
        shown = super().observation(state, seat)
        return shown if seat is None else {"you": seat, **shown}

    def observation_of(self, states: Any, seat: int) -> Any:
        """The observation of states[0], which need not be parsed."""
        return {"you": seat, **self.decode(states[0])}

    @property
    def point_unit(self) -> float:
        """The side of the board."""
        return math.sqrt(self._options["rows"] * self._options["cols"])

    def opening_moves(self, state: Any) -> list[Any]:
        """The edges that give no box away, or all if there are none."""
        moves = self.legal_moves(state)
        board = strategy.board_masks(self._options["rows"], self._options["cols"])
        safe = strategy.safe_edges(board, int(self.encode(state)["edges"]))
        return [move for move in moves if self.action(move, state) in safe] or moves

    def move_label(self, move: Any, state: Any) -> str:
        """``H(2,3) +1``: with the boxes that the edge closes."""
        after = self.apply(state, move)
        return codec.format_label(self.format_move(move, state), sum(after["scores"]) - sum(state["scores"]))

    def name_seats(self, text: str) -> str:
        """The names of the seats; in a drawing also the signs of the owners of boxes."""
        return re.sub("(?<=│ )[01](?= │)", lambda found: "●◆"[int(found[0])], super().name_seats(text))

    def board_marks(self, states: Any, legal: Sequence[Any]) -> Json:
        """The chains and loops."""
        return {"chains": display.chains(self.decode(states[0]))}

    def explain_move(self, before: Any, move: Any, after: Any, seat: int) -> list[Explanation]:
        """The edge, the boxes it closed and those it gives away."""
        return display.explain(self, before, after, seat)

    def text_board(self, observation: Any, room: Room) -> TextBoard:
        """The board for the full screen: every edge is a place."""
        return display.text_board(observation, room)

    def move_picks(self, move: Any, state: Any) -> list[list[Pick]]:
        """The edge."""
        return [[Pick(self.format_move(move, state), "draw")]]

    @classmethod
    def options_from_state(cls, state: Any) -> Json:
        """A line begins with the size: 5x5."""
        if type(state) is str:
            size = re.match(r"\s*([1-9][0-9]?)x([1-9][0-9]?)\s", state)
            return {"rows": int(size[1]), "cols": int(size[2])} if size else {}
        return super().options_from_state(state)

    def paint(self, record: Record) -> Array:
        """Draw a position."""
        return display.paint(self, record)

    @property
    def planes(self) -> Planes:
        """The observation planes."""
        return planes.planes_of(self._options["rows"], self._options["cols"])

    def _option_fields(self) -> dict[str, Any]:
        size = self._options["rows"], self._options["cols"]
        return {**self._options, "board": rules.BOARDS.index(size)}

    def scores_of(self, winner: int | None, states: Any) -> list[float]:
        """The boxes owned, by seat."""
        return [int(boxes).bit_count() for boxes in states["boxes"][0]]

    def points_left(self, states: Any) -> int:
        """The boxes that nobody owns yet."""
        return int(self._options["rows"] * self._options["cols"] - sum(self.scores_of(None, states)))


def _nonce(seed: int) -> int:
    """53 bits of a hash of the seed, truncated to one machine word as all seeds are."""
    word = seed & 0xFFFF_FFFF_FFFF_FFFF
    digest = hashlib.blake2b(f"ludodrome dots nonce {word}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> (64 - rules.NONCE_BITS)


GAME = Dots
