"""The built-ins that are in the league from the beginning, so that a new bot has company at once.

They think for so many positions or playouts and not for so long, so that they play alike on every machine.
"""

from sqlalchemy import Engine

from ludodrome.games import GAMES
from ludodrome.store.league_bots import ensure_builtins

_LEVELS = ("level:2", "level:4", "level:6")
_SEARCHERS = ("alphabeta:nodes=20000", "mcts:sims=1000")
_EVERYWHERE = ("random", "greedy", *_LEVELS)
BUILTIN_ENTRIES = {
    "skysummit": (*_EVERYWHERE, *_SEARCHERS, "expert:nodes=50000"),
    "santorini": (*_EVERYWHERE, *_SEARCHERS, "expert:nodes=50000"),
    "caldera": (*_EVERYWHERE, *_SEARCHERS, "expert:nodes=50000"),
    "dots": (*_EVERYWHERE, "chains", *_SEARCHERS, "expert:nodes=20000"),
    "spaces": (*_EVERYWHERE, "expert:nodes=20000"),
}
OTHERS = ("random", "greedy")
"""Of games that other packages bring."""
CLOCK = "1s+10s"
"""The clock of the ladder: a second a move, and ten in reserve for whoever is far away."""


def enter_builtins(engine: Engine) -> None:
    """They are all in the league."""
    for game in GAMES:
        ensure_builtins(engine, game, {spec: spec for spec in BUILTIN_ENTRIES.get(game, OTHERS)})
