"""The built-in players by name. ``bot("alphabeta:depth=6", game)`` gives one; docs/reference/bots.md lists all."""

from typing import TYPE_CHECKING

from ludodrome.bots.registry import bot_names as _bot_names
from ludodrome.bots.registry import make_bot

if TYPE_CHECKING:
    from ludodrome.bots.player import Bot
    from ludodrome.game import Game

__all__ = ["bot", "bot_names"]


def bot(spec: str, game: "Game | str", seed: int = 0) -> "Bot":
    """The bot that a spec describes, for a game or the id of one; ValueError says what would be right.

    With the same seed, the same positions in the same order and no limit of time it makes the same moves.
    """
    return make_bot(spec, _game(game), seed)


def bot_names(game: "Game | str") -> list[str]:
    """The specs of all built-in bots that can play a game."""
    return _bot_names(_game(game))


def _game(game: "Game | str") -> "Game":
    if not isinstance(game, str):
        return game
    from ludodrome.games import make

    return make(game)
