"""Those who watch matches of the league. One loop asks the database for all of them; it rests when nobody watches."""

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import Engine

from ludodrome.games import make
from ludodrome.store.league_matches import find_match, live, live_views
from ludodrome.web.concurrency import Notifier
from ludodrome.web.position_view import Json, board_marks

GLANCE = 0.4
"""Seconds between two looks."""
PATIENCE = 15.0
"""Seconds after which a stream on which nothing happened shows that it is still there."""
MAX_WATCHED = 12
"""Matches of one game that a page shows at once."""


class Spectators:
    """The matches that are being played, as this process knows them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._views: dict[str, tuple[str, int, Json]] = {}
        """By match: its game, the version, the view; in the order in which they are shown."""
        self._notifier = Notifier()
        self._tick = 0
        self._watching = 0
        self._loop: asyncio.Task[None] | None = None
        self.closed = False

    def close(self) -> None:
        """Everybody goes home."""
        self.closed = True
        self._notifier.notify_all()

    async def matches(self, game: str | None = None, match: str | None = None) -> AsyncIterator[Json | None]:
        """What changes in a game's matches, or in one: the ``view`` of a match, or ``gone``; None now and then."""
        known: dict[str, int] = {}
        async with _Presence(self):
            while not self.closed:
                tick = self._tick
                current = {
                    name: one
                    for name, one in list(self._views.items())
                    if (game is None or one[0] == game) and match in (None, name)
                }
                shown = dict(list(current.items())[:MAX_WATCHED])
                for name, (_, version, view) in shown.items():
                    if known.get(name) != version:
                        known[name] = version
                        yield {"match": name, "view": view}
                if match is None:
                    for name in [name for name in known if name not in shown]:
                        del known[name]
                        yield {"match": name, "gone": True}
                elif match not in shown and await run_in_threadpool(self._is_over, match):
                    yield {"match": match, "gone": True}
                    return
                await self._notifier.wait(partial(self._changed, tick), PATIENCE)
                if self._tick == tick:
                    yield None

    def _changed(self, tick: int) -> bool:
        return self.closed or self._tick != tick

    def _is_over(self, match: str) -> bool:
        found = find_match(self._engine, match)
        return found is None or found.ended is not None

    async def look(self) -> None:
        """Asks the database once, and wakes those who wait if something has changed."""
        found = await run_in_threadpool(self._look)
        if {name: version for name, (_, version, _) in found.items()} != {
            name: version for name, (_, version, _) in self._views.items()
        }:
            self._views = found
            self._tick += 1
            self._notifier.notify_all()

    def _look(self) -> dict[str, tuple[str, int, Json]]:
        now = live(self._engine)
        stale = [name for name, (_, version) in now.items() if self._views.get(name, ("", -1, {}))[1] != version]
        fresh = live_views(self._engine, stale) if stale else {}
        found = {}
        for name, (game, _) in now.items():
            if name in fresh:
                version, view = fresh[name]
                found[name] = game, version, with_marks(view)
            elif name in self._views:
                found[name] = self._views[name]
        return found

    async def _keep_looking(self) -> None:
        while self._watching and not self.closed:
            await self.look()
            await asyncio.sleep(GLANCE)


class _Presence:
    """While somebody watches, somebody looks."""

    def __init__(self, spectators: Spectators) -> None:
        self._of = spectators

    async def __aenter__(self) -> None:
        of = self._of
        of._watching += 1
        await of.look()
        if of._loop is None or of._loop.done():
            of._loop = asyncio.create_task(of._keep_looking())

    async def __aexit__(self, *error: object) -> None:
        self._of._watching -= 1


def with_marks(view: Json) -> Json:
    """A view with what its board draws beside the state."""
    game = make(view["game"], **view["options"])
    try:
        return {**view, "marks": board_marks(game, view["state"], [])}
    except ValueError:  # a part of it lies face down
        return {**view, "marks": {}}


def as_event(news: Json | None) -> str:
    """News as a server-sent event."""
    return ": still here\n\n" if news is None else f"data: {json.dumps(news, separators=(',', ':'))}\n\n"
