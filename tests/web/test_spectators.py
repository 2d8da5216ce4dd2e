"""Watching matches of the league while the database has its troubles."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import create_engine
from sqlalchemy.exc import OperationalError

from ludodrome.web import league
from ludodrome.web.league import Spectators


def run(call: Coroutine[Any, Any, Any]) -> Any:
    """Runs a coroutine in a thread: the browser of other tests leaves a running loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, call).result()


def test_polling_survives_a_database_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(league, "POLL_SECONDS", 0.01)
    calls = 0

    def live(engine: object) -> dict[str, tuple[str, int]]:
        nonlocal calls
        calls += 1
        if calls in (2, 3):
            raise OperationalError("select", {}, Exception("the database is locked"))
        return {} if calls < 5 else {"m": ("dots", 1)}

    monkeypatch.setattr(league, "live", live)
    monkeypatch.setattr(league, "live_views", lambda engine, names: {"m": (1, {"moves": 3})})
    monkeypatch.setattr(league, "with_marks", lambda view: view)

    async def watch() -> object:
        async for news in Spectators(create_engine("sqlite://")).matches("dots"):
            if news is not None:
                return news
        return None

    async def first_news() -> object:
        async with asyncio.timeout(5):
            return await watch()

    assert run(first_news()) == {"match": "m", "view": {"moves": 3}}


def test_a_spectator_whose_first_look_fails_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def live(engine: object) -> dict[str, tuple[str, int]]:
        raise OperationalError("select", {}, Exception("the database is locked"))

    monkeypatch.setattr(league, "live", live)
    watched = Spectators(create_engine("sqlite://"))

    async def watch() -> None:
        async for _ in watched.matches("dots"):
            pass

    with pytest.raises(OperationalError):
        run(watch())
    assert watched.watching == 0
