"""Santorini with fixed workers, for two or three players, in text."""

import re
from itertools import chain
from typing import Any

from ludodrome.game import Game, Option
from ludodrome.game_extras import (
    FIRST_LEVELS,
    LADDER_LEVELS,
    LADDER_SEARCHERS,
    Diagram,
    Explanation,
    Json,
    Level,
    actor,
)
from ludodrome.game_spec import Planes
from ludodrome.games.santorini import codec, evaluate, planes, rules
from ludodrome.games.towers import (
    CELL,
    NAMES,
    TowerTurn,
    explain_end,
    explain_turn,
    text_board,
    turn_picks,
    winning_cells,
)
from ludodrome.jit import Array, Record
from ludodrome.painting import paint_workers
from ludodrome.search.entry_points import make_kernels
from ludodrome.text_board import Pick, Room, TextBoard

_CELL = "[a-e][1-5]"
_SHAPES = "●◆■"
_GAP = r"(?:\s*(?:,|-+>?|→|to|;)?\s*)"


class Santorini(Game):
    """Climb to level 3, or leave the next player without a move."""

    id = "santorini"
    title = "Santorini"
    available = (Option("players", 2, "number of players", low=2, high=rules.MAX_SEATS),)

    dtype = rules.DTYPE
    num_actions = rules.NUM_ACTIONS
    max_legal = rules.MAX_LEGAL
    max_game_length = rules.MAX_TURNS
    reasons = rules.REASONS
    kernels = make_kernels(rules.RULES, evaluate.EVALUATOR, planes.observe, network=evaluate.NETWORK)
    evaluator = evaluate.EVALUATOR
    codec = codec
    reads_text = True
    policy = "retry:10"
    seat_names = seat_signs = codec.COLOURS
    seat_colours = ("navy", "white", "grey")
    move_format = (
        "A move is [worker_id source dest build], written without blanks: [N1C2B2C3] takes Navy's worker 1 from C2 to "
        "B2 and builds on C3. A winning step names a build as well."
    )

    levels = (*FIRST_LEVELS, Level(4, nodes=6_000), Level(6, nodes=30_000))
    feel = (
        "For two or three, from fixed squares: build your own stairs, close those of the others, and be the first "
        "on level 3."
    )
    ladder_bots = (*LADDER_LEVELS, *LADDER_SEARCHERS, "expert:nodes=50000")
    doctor_options = ({"players": 2}, {"players": 3})
    challenge_options = ({"players": 3},)
    reply_patterns = (
        rf"(?<!\w)[nwg]\s*[12]{_GAP}{_CELL}{_GAP}{_CELL}{_GAP}(?:builds?\s+(?:on\s+|at\s+)?)?{_CELL}(?!\w)",
    )
    reply_keys = frozenset()
    seat_patterns = (r"N[12]", r"W[12]", r"G[12]")
    win_steepness = 0.57
    diagrams = (
        Diagram(
            "Goal",
            "You are Navy. One step wins, and a build follows: pick a worker and find it.",
            "00000/02300/00110/00000/00000 B2E5 D3C4 8",
        ),
        Diagram("Setup", "The start with three players.", "", {"players": 3}, still=True),
        Diagram(
            "Your turn",
            "Pick a navy worker, a step, and where it builds. B2, on level 2, is too high for a worker on level 0.",
            "00000/02110/00020/00100/00000 C2A4 D3C4 6",
        ),
    )

    def move_label(self, move: Any, state: Any) -> str:
        """``C2-B2 build C3``: the square says which worker it is."""
        return codec.format_label(self.format_move(move, state))

    def tidy_reply(self, text: str) -> str:
        """Leave out everything between worker and cells."""
        squeezed = re.sub(r"builds?|\bon\b|\bat\b|\bto\b|[^a-z0-9]", "", text, flags=re.IGNORECASE)
        return f"[{squeezed.upper()}]"

    @classmethod
    def options_from_state(cls, state: Any) -> Json:
        """A line of five words is a game for three."""
        if type(state) is str:
            return {"players": 3} if len(state.split()) == 5 else {}
        return super().options_from_state(state)

    def __init__(self, /, **options: Any) -> None:
        super().__init__(**options)
        self.seats = self._options["players"]
        self.network = evaluate.NETWORK if self.seats == 2 else None
        self.opening_book = f"openings-{self.seats}.txt"

    def explain_move(self, before: Any, move: Any, after: Any, seat: int) -> list[Explanation]:
        """The turn; what it built, opened or prevented."""
        mover = before["to_move"]
        who, other = actor(mover, seat), actor((mover + 1) % self.seats, seat)
        source, to, build = (NAMES.index(move[at : at + 2]) for at in (3, 5, 7))
        turn = TowerTurn(int(move[2]) - 1, source, to, build)
        boards = [list(chain.from_iterable(state["board"])) for state in (before, after)]
        if after["winner"] is not None:
            return explain_end(who, other, turn, boards[0], after["reason"] == "reached level 3")
        asked = ((before, boards[0], 1), (after, boards[1], 0), (after, boards[1], self.seats - 1))
        threats = tuple(
            winning_cells(self, state, ahead, lambda one: NAMES.index(one[5:7]), board) for state, board, ahead in asked
        )
        return explain_turn(who, other, turn, boards[0], threats)

    def paint(self, record: Record) -> Array:
        """Draw a position: cells by height, workers by seat, numbered from 1."""
        return paint_workers(self, record)

    def text_board(self, observation: Any, room: Room) -> TextBoard:
        """The board for the full screen: a worker has its seat's shape, letter and number."""
        workers = {
            CELL[name]: (f"{_SHAPES[seat]}{codec.LETTERS[seat]}{k + 1}", seat)
            for seat, pair in enumerate(observation["workers"])
            for k, name in enumerate(pair)
        }
        return text_board([height for row in observation["board"] for height in row], workers, room)

    def move_picks(self, move: Any, state: Any) -> list[list[Pick]]:
        """A worker, its step and its build, which a winning step names as well."""
        return [turn_picks(move[3:5], move[5:7], move[7:9])]

    @property
    def planes(self) -> Planes:
        """The observation planes."""
        return planes.planes_of(self._options["players"])


GAME = Santorini
