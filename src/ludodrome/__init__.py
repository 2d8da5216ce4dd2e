"""Ludodrome: an arena and a laboratory for board-game bots.

This is the public API. Nothing heavy is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ludodrome.analysis import Analysis, Solution, analyse, solve
    from ludodrome.arena.api import play_match, sprt, tournament
    from ludodrome.arena.results import MatchResult, PlayerScore, SprtResult, TournamentResult
    from ludodrome.bots import bot, bot_names
    from ludodrome.bots.player import Bot, Budget
    from ludodrome.game import BadState, Game, IllegalMove, Outcome, TooManyMoves
    from ludodrome.games import make, spaces
    from ludodrome.position import Position
    from ludodrome.puzzle import Puzzle, puzzles
    from ludodrome.search.batch import Batch, batch
    from ludodrome.search.perft import perft, perft_ends
    from ludodrome.search.playouts import Playouts, playouts

__all__ = [
    "Analysis",
    "BadState",
    "Batch",
    "Bot",
    "Budget",
    "Game",
    "IllegalMove",
    "MatchResult",
    "Outcome",
    "PlayerScore",
    "Playouts",
    "Position",
    "Puzzle",
    "Solution",
    "SprtResult",
    "TooManyMoves",
    "TournamentResult",
    "analyse",
    "batch",
    "bot",
    "bot_names",
    "game_ids",
    "make",
    "perft",
    "perft_ends",
    "play_match",
    "playouts",
    "puzzles",
    "solve",
    "spaces",
    "sprt",
    "tournament",
]
__version__ = "0.1.0"

_HOMES = {
    "BadState": "game",
    "Game": "game",
    "IllegalMove": "game",
    "Outcome": "game",
    "TooManyMoves": "game",
    "Position": "position",
    "make": "games",
    "Analysis": "analysis",
    "Solution": "analysis",
    "analyse": "analysis",
    "solve": "analysis",
    "MatchResult": "arena.results",
    "PlayerScore": "arena.results",
    "SprtResult": "arena.results",
    "TournamentResult": "arena.results",
    "play_match": "arena.api",
    "sprt": "arena.api",
    "tournament": "arena.api",
    "bot": "bots",
    "bot_names": "bots",
    "Bot": "bots.player",
    "Budget": "bots.player",
    "Puzzle": "puzzle",
    "puzzles": "puzzle",
    "Batch": "search.batch",
    "batch": "search.batch",
    "perft": "search.perft",
    "perft_ends": "search.perft",
    "Playouts": "search.playouts",
    "playouts": "search.playouts",
}


def game_ids() -> list[str]:
    """The ids of all games, sorted.

    >>> import ludodrome
    >>> set(ludodrome.game_ids()) >= {"caldera", "dots", "santorini", "skysummit", "spaces"}
    True
    """
    from ludodrome.games import GAMES  # start-up: nothing is imported with the package

    return sorted(GAMES)


def __getattr__(name: str) -> Any:
    if name == "spaces":
        return import_module("ludodrome.games.spaces")
    if name not in _HOMES:
        raise AttributeError(f"ludodrome has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"ludodrome.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
