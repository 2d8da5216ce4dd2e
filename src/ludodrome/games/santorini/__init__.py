"""Santorini with fixed workers, for two or three players, in text."""

from typing import Any

from ludodrome.game import Game, Option
from ludodrome.game_spec import Planes
from ludodrome.games.santorini import codec, evaluate, planes, rules
from ludodrome.search.entry_points import make_kernels


class Santorini(Game):
    """Climb to level 3, or leave the next player without a move."""

    id = "santorini"
    title = "Santorini"
    available = (Option("players", 2, "how many play", low=2, high=rules.MAX_SEATS),)

    dtype = rules.DTYPE
    num_actions = rules.NUM_ACTIONS
    max_legal = rules.MAX_LEGAL
    max_game_length = rules.MAX_TURNS
    reasons = rules.REASONS
    kernels = make_kernels(rules.RULES, evaluate.EVALUATOR, planes.observe)
    evaluator = evaluate.EVALUATOR
    codec = codec
    reads_text = True
    policy = "retry:10"
    seat_names = codec.COLOURS
    move_format = (
        "A move is [worker_id source dest build], written without blanks: [N1C2B2C3] takes Navy's worker 1 from C2 to "
        "B2 and builds on C3. A winning step names a build as well."
    )

    def __init__(self, /, **options: Any) -> None:
        super().__init__(**options)
        self.seats = self._options["players"]

    @property
    def planes(self) -> Planes:
        """The observation planes."""
        return planes.planes_of(self._options["players"])


GAME = Santorini
