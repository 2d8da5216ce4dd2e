"""The built-in bots. ``bot("alphabeta:depth=6", game)`` makes one; docs/reference/bots.md lists them."""

from typing import TYPE_CHECKING

from ludodrome.bots.registry import bot_names as _bot_names
from ludodrome.bots.registry import make_bot
from ludodrome.games import make

if TYPE_CHECKING:
    from ludodrome.bots.player import Bot
    from ludodrome.game import Game

__all__ = ["bot", "bot_names"]


def bot(spec: str, game: "Game | str", seed: int = 0) -> "Bot":
    """Make the bot that a spec describes, for a game or a game's id. Raises ValueError for a wrong spec.

    The same seed and the same positions in the same order give the same moves, unless time is limited.

    >>> import ludodrome
    >>> game = ludodrome.make("dots", rows=1, cols=1)
    >>> player = ludodrome.bot("greedy", game, seed=1)
    >>> game.format_move(player.choose(game.initial_state()), game.initial_state())
    'V(0,0)'
    """
    return make_bot(spec, _game(game), seed)


def bot_names(game: "Game | str") -> list[str]:
    """The specs of all built-in bots that can play a game.

    >>> bot_names("spaces")[:4]
    ['random', 'greedy', 'expert', 'level:1']
    """
    return _bot_names(_game(game))


def _game(game: "Game | str") -> "Game":
    return make(game) if isinstance(game, str) else game
