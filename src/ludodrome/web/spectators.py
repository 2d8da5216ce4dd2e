"""Spectators of league matches. One task polls the database for all of them, while there are any."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import Engine

from ludodrome.games import make
from ludodrome.store.league_matches import find_match, live, live_views
from ludodrome.web.concurrency import Notifier
from ludodrome.web.position_view import Json, board_marks

POLL_SECONDS = 0.4
KEEP_ALIVE_SECONDS = 15.0
"""An idle stream sends a sign of life this often."""
MAX_WATCHED = 12
"""Matches of one game that a page shows at once."""

_log = logging.getLogger(__name__)


class Spectators:
    """The running matches, as this process knows them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._views: dict[str, tuple[str, int, Json]] = {}
        """By match: its game, the version, the view; in the order in which they are shown."""
        self._notifier = Notifier()
        self._tick = 0
        self.watching = 0
        """Open streams."""
        self._polling: asyncio.Task[None] | None = None
        self.closed = False

    def close(self) -> None:
        """End all streams."""
        self.closed = True
        self._notifier.notify_all()

    async def matches(self, game: str | None = None, match: str | None = None) -> AsyncIterator[Json | None]:
        """Changes in the matches of a game, or in one match: its ``view``, or ``gone``; None as a sign of life."""
        known: dict[str, int] = {}
        async with self._watched():
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
                await self._notifier.wait(partial(self._changed, tick), KEEP_ALIVE_SECONDS)
                if self._tick == tick:
                    yield None

    def _changed(self, tick: int) -> bool:
        return self.closed or self._tick != tick

    def _is_over(self, match: str) -> bool:
        found = find_match(self._engine, match)
        return found is None or found.ended is not None

    async def look(self) -> None:
        """Read the running matches once; notify the streams if one has changed."""
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

    async def _poll(self) -> None:
        while self.watching and not self.closed:
            await asyncio.sleep(POLL_SECONDS)
            try:
                await self.look()
            except Exception:  # the database may answer the next time, and nobody else would restart this task
                _log.exception("spectators: the matches could not be read")

    @asynccontextmanager
    async def _watched(self) -> AsyncIterator[None]:
        """Count a spectator; the first one starts the polling."""
        self.watching += 1
        try:
            await self.look()
            if self._polling is None or self._polling.done():
                self._polling = asyncio.create_task(self._poll())
            yield
        finally:
            self.watching -= 1


def with_marks(view: Json) -> Json:
    """A view with what its board draws besides the state."""
    game = make(view["game"], **view["options"])
    try:
        return {**view, "marks": board_marks(game, view["state"], [])}
    except ValueError:  # a part of it lies face down
        return {**view, "marks": {}}


def as_event(news: Json | None) -> str:
    """A change as a server-sent event."""
    return ": still here\n\n" if news is None else f"data: {json.dumps(news, separators=(',', ':'))}\n\n"
