"""The registry of games. A game's package is imported when the game is first made.

Five games are built in. Other packages add theirs through an entry point of the group ``ludodrome.games``; the registry
loads these when it is listed or asked for a game that is not built in.
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
"""An id names a folder, a URL and a page."""
FOR_PROGRAMS = "## For programs"
"""The heading in RULES.md between the part for people and the numbered rules."""


class GameEntry(NamedTuple):
    """What is known about a game without importing its package."""

    id: str
    title: str
    summary: str
    module: str
    """The game's package: its ``GAME`` is the class, its folder holds RULES.md."""
    short: str = ""
    """A shorter title for narrow columns; empty if the title is short enough."""
    own_bots: tuple[tuple[str, str], ...] = ()
    """(name, meaning) of kinds of bots that only this game has."""
    environments: Mapping[str, str] = {}
    """Name -> module of the game's package: environments that only this game has, exported by ``ludodrome.envs``."""
    commands: str = ""
    """What the game's own commands do, ``ludodrome GAME ...`` (``ludodrome/cli/GAME``); empty if it has none."""
    by_steps: bool = False
    """Whether a move consists of many actions, as a board of steps: most searches cannot play it."""

    def game_class(self) -> type["Game"]:
        """Import and return the game's class; this imports Numba."""
        game: type[Game] = import_module(self.module).GAME
        return game

    def rules(self) -> str:
        """The whole page of rules, as Markdown."""
        return (package_folder(self.module) / "RULES.md").read_text("utf-8")

    def rules_for_people(self) -> str:
        """The first part of the rules: what a player needs. The whole page if it has no part for programs."""
        people, _, programs = self.rules().partition(f"\n{FOR_PROGRAMS}\n")
        return people.rstrip("\n") + "\n" if programs else people

    def rules_for_programs(self) -> str:
        """The numbered rules, options and encodings, with their heading. The whole page if it is not divided."""
        people, _, programs = self.rules().partition(f"\n{FOR_PROGRAMS}\n")
        return f"{FOR_PROGRAMS}\n{programs}" if programs else people


def package_folder(module: str) -> Path:
    """The folder of a game's package, found without importing it."""
    package, *inner = module.split(".")
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(f"there is no package {package}")
    return Path(spec.submodule_search_locations[0], *inner)


def _built_in(game_id: str, title: str, summary: str, **others: Any) -> GameEntry:
    return GameEntry(game_id, title, summary, f"{__name__}.{game_id}", **others)


BUILT_IN = {
    entry.id: entry
    for entry in (
        _built_in("caldera", "Caldera", "volcanic tactics on 7 x 7: take the enemy crown, or let the ground do it"),
        _built_in(
            "dots",
            "Dots and Boxes",
            "draw edges, close boxes, count chains",
            short="Dots",
            own_bots=(("chains", "counts long chains and double-deals"),),
        ),
        _built_in("santorini", "Santorini", "climb and build from fixed squares, for two or three, in text"),
        _built_in("skysummit", "Skysummit", "place two workers, climb to level 3, or shut the other in"),
        _built_in(
            "spaces",
            "Spaces",
            "two prepared boards run against each other: speed, traps, foresight",
            environments={
                "BoardGeneration": "environments",
                "BoardSelection": "environments",
                "OpponentPrediction": "environments",
                "MetaGame": "environments",
                "parallel_env": "parallel_env",
            },
            commands="Build, count, sample, simulate and solve boards of spaces.",
            by_steps=True,
        ),
    )
}


PAGE_ORDER = ("skysummit", "caldera", "dots", "santorini", "spaces")
"""The order of the built-in games on the page; games of other packages come after them."""


def _plugin_entry(point: "EntryPoint") -> GameEntry:
    """The entry of a game in another package; RULES.md begins with its title and summary."""
    if not ID.fullmatch(point.name) or point.name in BUILT_IN:
        raise ValueError(
            "an id is a small letter and 1 to 29 more small letters, digits or _, and not that of a built-in game"
        )
    text = (package_folder(point.module) / "RULES.md").read_text("utf-8")
    page = re.match(r"# (.+)\n\s*(.+?)(?:[.:](?:\s|$)|\n)", text)
    if page is None:
        raise ValueError("its RULES.md must begin with a heading (the title) and a sentence (the summary)")
    return GameEntry(point.name, page[1].strip(), page[2][0].lower() + page[2][1:], point.module)


class Games(Mapping[str, GameEntry]):
    """All games by id, the built-in ones first."""

    def __getitem__(self, game_id: str) -> GameEntry:
        return BUILT_IN[game_id] if game_id in BUILT_IN else self._plugins[game_id]

    def __iter__(self) -> Iterator[str]:
        return iter({**BUILT_IN, **self._plugins})

    def __len__(self) -> int:
        return len(BUILT_IN) + len(self._plugins)

    @cached_property
    def _plugins(self) -> dict[str, GameEntry]:
        """The games of other packages; warn about a broken one and skip it."""
        from importlib.metadata import entry_points  # start-up: only for games that are not built in

        found = {}
        for point in entry_points(group=GROUP):
            try:
                found[point.name] = _plugin_entry(point)
            except (OSError, ValueError) as wrong:
                warnings.warn(f"the game {show(point.name)} of {point.module} is left out: {wrong}", stacklevel=2)
        return dict(sorted(found.items()))


GAMES = Games()


def find(game_id: Any) -> GameEntry:
    """The entry of a game; ValueError lists the valid ids."""
    entry = GAMES.get(game_id) if isinstance(game_id, str) else None
    if entry is None:
        raise ValueError(f"there is no game {show(game_id)}; the games are {listing(sorted(GAMES))}")
    return entry


def make(game_id: str, /, **options: Any) -> "Game":
    """Make a game with options; ValueError lists the valid games and options.

    >>> import ludodrome
    >>> ludodrome.make("dots", rows=3, cols=4)
    ludodrome.make('dots', rows=3, cols=4)
    >>> ludodrome.make("dots", rows=99)
    Traceback (most recent call last):
        ...
    ValueError: the option rows of dots is a whole number from 1 to 21, not 99
    """
    return find(game_id).game_class()(**options)
