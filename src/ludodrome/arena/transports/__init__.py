"""How seats are carried: inside this process, or as child processes. ``seat`` makes one from a bot's spec."""

from ludodrome.arena.seats import Seat
from ludodrome.bots import bot
from ludodrome.game import Game


def seat(spec: str, game: Game, seed: int) -> Seat:
    """A seat for the bot that a spec describes; ValueError says what would be right."""
    from ludodrome.arena.transports.inside import InsideSeat

    return InsideSeat(bot(spec, game, seed))
