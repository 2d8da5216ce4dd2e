"""The table of games. A room is imported when one of its games is first made."""

from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from ludodrome.reading import listing, show

if TYPE_CHECKING:
    from ludodrome.game import Game


class Entry(NamedTuple):
    """One game: what can be said of it without opening its room."""

    id: str
    title: str
    summary: str
    module: str

    def room(self) -> type["Game"]:
        """The game's class; this imports Numba."""
        game: type[Game] = import_module(self.module).GAME
        return game

    def rules(self) -> str:
        """The rules for people, as Markdown."""
        return files(self.module.rpartition(".")[0]).joinpath(self.id, "RULES.md").read_text("utf-8")


def _own(game_id: str, title: str, summary: str) -> Entry:
    return Entry(game_id, title, summary, f"{__name__}.{game_id}")


GAMES = {
    entry.id: entry
    for entry in (
        _own("caldera", "Caldera", "volcanic tactics on 7 x 7: take the enemy crown, or let the ground do it"),
        _own("dots", "Dots and Boxes", "draw edges, close boxes, count chains"),
        _own("santorini", "Santorini", "climb and build from fixed squares, for two or three, in text"),
        _own("skysummit", "Skysummit", "place two workers, climb to level 3, or shut the other in"),
        _own("spaces", "Spaces", "two prepared boards run against each other: speed, traps, foresight"),
    )
}


def find(game_id: Any) -> Entry:
    """The entry of a game; ValueError lists the right ids."""
    entry = GAMES.get(game_id) if isinstance(game_id, str) else None
    if entry is None:
        raise ValueError(f"there is no game {show(game_id)}; the games are {listing(GAMES)}")
    return entry


def make(game_id: str, /, **options: Any) -> "Game":
    """A game with its options set; ValueError says which games and options there are."""
    return find(game_id).room()(**options)
