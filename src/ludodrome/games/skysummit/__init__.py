"""Skysummit: a tower game with placement."""

import re
from typing import Any

from ludodrome.game import Game, Option
from ludodrome.game_extras import FIRST_LEVELS, LADDER_LEVELS, LADDER_SEARCHERS, Diagram, Explanation, Level, actor
from ludodrome.game_spec import Planes
from ludodrome.games.skysummit import codec, evaluate, planes, rules
from ludodrome.games.towers import NAMES, TowerTurn, explain_end, explain_turn, text_board, turn_picks, winning_cells
from ludodrome.jit import Array, Record
from ludodrome.painting import paint_workers
from ludodrome.search.entry_points import make_kernels
from ludodrome.text_board import Pick, Room, TextBoard

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
    seat_names = ("Blue", "Orange")
    seat_signs = tuple(codec.SIGNS)
    move_format = (
        "A placement is [place B2 C3]. A turn is the worker's number, where it stands, where it goes and where it "
        "builds: [2C3-C4 ^D4]. A step onto level 3 wins and has no build: [2C3-B3]."
    )

    levels = (*FIRST_LEVELS, Level(5, nodes=8_000), Level(7, nodes=40_000))
    feel = (
        "You place your workers yourself, and every storey you raise is a stair for somebody. The first step up "
        "onto level 3 wins at once."
    )
    ladder_bots = (*LADDER_LEVELS, *LADDER_SEARCHERS, "expert:nodes=50000")
    doctor_options = ({"turn_limit": 1}, {"turn_limit": 1000})
    challenge_options = ({"turn_limit": 100},)
    reply_patterns = (
        rf"(?<!\w)place\s*{_CELL}\s*(?:,|and)?\s*{_CELL}(?!\w)",
        rf"(?<!\w)(?:[12]\s*)?{_CELL}{_ARROW}{_CELL}(?:{_UP}{_CELL})?(?!\w)",
    )
    reply_keys = frozenset({"t"})
    seat_patterns = (r"●[12]?", r"◆[12]?")
    win_steepness = 0.57
    diagrams = (
        Diagram(
            "Goal",
            "You are Blue. One step wins: pick a worker and find it.",
            "00000/03200/00111/00000/00000 B3E5 C4D2 8",
        ),
        Diagram(
            "Setup",
            "Levels 1 to 4 in row C: the digits say how high. Blue has circles, Orange diamonds.",
            "00000/00000/01234/00000/00000 B2D4 B4D2 10",
            still=True,
        ),
        Diagram(
            "Your turn",
            "Pick a blue worker: the dots are its steps. B2, on level 2, is too high for a worker on level 0.",
            "00000/02000/10100/00110/00000 C2D3 B4E2 6",
        ),
    )

    def __init__(self, /, **options: Any) -> None:
        super().__init__(**options)
        if self._options["turn_limit"] >= BOOK_TURNS:
            self.opening_book = "openings.txt"

    def move_label(self, move: Any, state: Any) -> str:
        """``C3-C4 build D4``: the square says which worker it is."""
        return codec.format_label(self.format_move(move, state))

    def tidy_reply(self, text: str) -> str:
        """Write arrows as a dash and leave out words between the cells."""
        plain = re.sub(r"-+>|→|\bto\b|--+", "-", text, flags=re.IGNORECASE)
        return re.sub(r"[,;]|\b(?:and|builds?|on|at)\b", " ", plain, flags=re.IGNORECASE)

    def explain_move(self, before: Any, move: Any, after: Any, seat: int) -> list[Explanation]:
        """The turn; what it built, opened or prevented."""
        mover = before["ply"] % 2
        who, other = actor(mover, seat), actor(1 - mover, seat)
        if move["t"] == "place":
            first, second = (NAMES[cell] for cell in sorted(move["to"]))
            return [Explanation("place", f"{who} placed two workers, on {first} and {second}.")]
        turn = TowerTurn(move["w"], before["workers"][mover][move["w"]], move["to"], move["build"])
        if after["winner"] == mover and not after["reason"].startswith("turn limit"):
            return explain_end(who, other, turn, before["board"], move["build"] is None)
        threats = tuple(
            winning_cells(self, state, ahead, lambda one: int(one["to"]), state["board"])
            for state, ahead in ((before, 1), (after, 0), (after, 1))
        )
        told = explain_turn(who, other, turn, before["board"], threats)
        if after["reason"]:
            told.append(Explanation("turn limit", f"The turn limit ends the game: {after['reason'][12:]}."))
        return told

    def paint(self, record: Record) -> Array:
        """Draw a position: cells by height, workers by seat, numbered from 1."""
        return paint_workers(self, record)

    def text_board(self, observation: Any, room: Room) -> TextBoard:
        """The board for the full screen."""
        standing = [(seat, k, cell) for seat, pair in enumerate(observation["workers"]) for k, cell in enumerate(pair)]
        workers = {cell: (f"{codec.SIGNS[seat]}{k + 1}", seat) for seat, k, cell in standing if cell is not None}
        return text_board(observation["board"], workers, room)

    def move_picks(self, move: Any, state: Any) -> list[list[Pick]]:
        """Two cells at the placement; then a worker, its step and its build."""
        if move["t"] == "place":
            return [[Pick(NAMES[cell], f"worker {k} on") for k, cell in enumerate(move["to"], 1)]]
        worker = state["workers"][state["ply"] % 2][move["w"]]
        build = move["build"]
        return [turn_picks(NAMES[worker], NAMES[move["to"]], None if build is None else NAMES[build])]

    @property
    def planes(self) -> Planes:
        """The observation planes."""
        return planes.planes_of(self._options["turn_limit"])


GAME = Skysummit
