"""The ladder: matchmaking, live ratings, and the process that plays. Bots that are entered play on their own."""

from sqlalchemy import Engine

from ludodrome.arena.ladder.rating_updates import begin_ladder
from ludodrome.bots.identity import identity
from ludodrome.games import GAMES
from ludodrome.store.league_bots import ensure_builtins

CLOCK = "1s+10s"
"""The clock of the ladder: one second per move, and a reserve of ten for remote bots."""


def enter_builtins(engine: Engine) -> None:
    """Enter all built-ins of all games with their measured ratings, so that a new bot has opponents at once.

    They search a fixed number of nodes or simulations, not a fixed time, so they play alike on every machine.
    """
    for game in GAMES.values():
        specs = {spec: spec for spec in game.game_class().ladder_bots}
        ensure_builtins(engine, game.id, specs, {name: identity(spec) for name, spec in specs.items()})
        begin_ladder(engine, game.id)
