"""The table of games. A room is imported when one of its games is first made.

Five rooms stand here. Other packages bring theirs by an entry point of the group ``ludodrome.games``; they are looked
for when the table is listed, or asked for a game that is none of the five.
"""

import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ludodrome.validation import listing, show

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from ludodrome.game import Game

GROUP = "ludodrome.games"
ID = re.compile(r"[a-z][a-z0-9_]{1,29}")
"""An id is a folder, an address and a page."""


class GameEntry(NamedTuple):
    """One game: what can be said of it without opening its room."""

    id: str
    title: str
    summary: str
    module: str
    """The room: the module whose ``GAME`` is the game's class, in a folder with its RULES.md."""
    short: str = ""
    """The title where there is little room; empty if it is short enough."""
    by_steps: bool = False
    """Whether a move is made of many actions, as a board is of steps: most searches cannot play it."""

    def game_class(self) -> type["Game"]:
        """The game's class; this imports Numba."""
        game: type[Game] = import_module(self.module).GAME
        return game

    def rules(self) -> str:
        """The rules for people, as Markdown."""
        return (package_folder(self.module) / "RULES.md").read_text("utf-8")


def package_folder(module: str) -> Path:
    """Where a room is, found without importing it."""
    package, *inner = module.split(".")
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(f"there is no package {package}")
    return Path(spec.submodule_search_locations[0], *inner)


def _own(game_id: str, title: str, summary: str, short: str = "", by_steps: bool = False) -> GameEntry:
    return GameEntry(game_id, title, summary, f"{__name__}.{game_id}", short, by_steps)


BUILT_IN = {
    entry.id: entry
    for entry in (
        _own("caldera", "Caldera", "volcanic tactics on 7 x 7: take the enemy crown, or let the ground do it"),
        _own("dots", "Dots and Boxes", "draw edges, close boxes, count chains", "Dots"),
        _own("santorini", "Santorini", "climb and build from fixed squares, for two or three, in text"),
        _own("skysummit", "Skysummit", "place two workers, climb to level 3, or shut the other in"),
        _own("spaces", "Spaces", "two prepared boards run against each other: speed, traps, foresight", by_steps=True),
    )
}


def _joined(point: "EntryPoint") -> GameEntry:
    """The entry of a game in another package: its title and summary are the beginning of its RULES.md."""
    if not ID.fullmatch(point.name) or point.name in BUILT_IN:
        raise ValueError("an id is a small letter and up to 29 more letters, digits or _, and none of the five games'")
    text = (package_folder(point.module) / "RULES.md").read_text("utf-8")
    page = re.match(r"# (.+)\n\s*(.+?)(?:[.:](?:\s|$)|\n)", text)
    if page is None:
        raise ValueError("its RULES.md begins with a heading, which is the title, and a sentence, which is the summary")
    return GameEntry(point.name, page[1].strip(), page[2][0].lower() + page[2][1:], point.module)


class Games(Mapping[str, GameEntry]):
    """All games by their ids, the five first."""

    def __getitem__(self, game_id: str) -> GameEntry:
        return BUILT_IN[game_id] if game_id in BUILT_IN else self._joined[game_id]

    def __iter__(self) -> Iterator[str]:
        return iter({**BUILT_IN, **self._joined})

    def __len__(self) -> int:
        return len(BUILT_IN) + len(self._joined)

    @cached_property
    def _joined(self) -> dict[str, GameEntry]:
        """What other packages bring; one that is broken is told of and left out."""
        from importlib.metadata import entry_points

        found = {}
        for point in entry_points(group=GROUP):
            try:
                found[point.name] = _joined(point)
            except (OSError, ValueError) as wrong:
                warnings.warn(f"the game {show(point.name)} of {point.module} is left out: {wrong}", stacklevel=2)
        return dict(sorted(found.items()))


GAMES = Games()


def find(game_id: Any) -> GameEntry:
    """The entry of a game; ValueError lists the right ids."""
    entry = GAMES.get(game_id) if isinstance(game_id, str) else None
    if entry is None:
        raise ValueError(f"there is no game {show(game_id)}; the games are {listing(sorted(GAMES))}")
    return entry


def make(game_id: str, /, **options: Any) -> "Game":
    """A game with its options set; ValueError says which games and options there are."""
    return find(game_id).game_class()(**options)
