"""The ladder: matchmaking, live ratings, and the process that plays. Bots that are entered play on their own."""

from sqlalchemy import Engine

from ludodrome.games import GAMES
from ludodrome.store.league_bots import ensure_builtins

# The built-in bots of the league, so that a new bot has opponents at once.
# They search a fixed number of nodes or simulations, not a fixed time, so they play alike on every machine.


CLOCK = "1s+10s"
"""The clock of the ladder: one second per move, and a reserve of ten for remote bots."""


def enter_builtins(engine: Engine) -> None:
    """Enter all built-ins of all games."""
    for game in GAMES.values():
        ensure_builtins(engine, game.id, {spec: spec for spec in game.game_class().ladder_bots})
