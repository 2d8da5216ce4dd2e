"""Skysummit: a tower game with placement."""

from ludodrome.game import Game, Option
from ludodrome.game_spec import Planes
from ludodrome.games.skysummit import codec, evaluate, planes, rules
from ludodrome.search.entry_points import make_kernels


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
    kernels = make_kernels(rules.RULES, evaluate.EVALUATOR, planes.observe)
    evaluator = evaluate.EVALUATOR
    codec = codec
    seat_names = ("●", "◆")
    move_format = (
        "A placement is [place B2 C3]. A turn is the worker's number, where it stands, where it goes and where it "
        "builds: [2C3-C4 ^D4]. A step onto level 3 wins and has no build: [2C3-B3]."
    )

    @property
    def planes(self) -> Planes:
        """The observation planes."""
        return planes.planes_of(self._options["turn_limit"])


GAME = Skysummit
