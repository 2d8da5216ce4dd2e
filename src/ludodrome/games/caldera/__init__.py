"""Caldera: volcanic tactics."""

from typing import Any

from ludodrome.game import Game, Option
from ludodrome.game_spec import Planes
from ludodrome.games.caldera import codec, evaluate, planes, rules
from ludodrome.search.entry_points import make_kernels


class Caldera(Game):
    """A crown, two lancers and two smiths per side on 7 x 7: take the enemy crown, or let the ground do it."""

    id = "caldera"
    title = "Caldera"
    available = (Option("turn_limit", 200, "the greatest number of turns, both seats together", low=1, high=1000),)

    dtype = rules.DTYPE
    num_actions = rules.NUM_ACTIONS
    max_legal = rules.NUM_ACTIONS
    reasons = rules.REASONS
    kernels = make_kernels(rules.RULES, evaluate.EVALUATOR, planes.observe)
    evaluator = evaluate.EVALUATOR
    codec = codec
    move_format = (
        "A move is the letter of the piece, the cell where it stands, a sign and the cell it aims at: [C63-53] moves, "
        "[L61x43] captures, [S62^52] forges with the smith on 62 at 52."
    )

    def __init__(self, /, **options: Any) -> None:
        super().__init__(**options)
        self.max_game_length = self._options["turn_limit"]

    @property
    def planes(self) -> Planes:
        """The observation planes."""
        return planes.planes_of(self._options["turn_limit"])


GAME = Caldera
