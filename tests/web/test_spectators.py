"""Watching matches of the league while the database has its troubles."""

import asyncio
from collections.abc import Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Any

import pytest
from sqlalchemy import create_engine
from sqlalchemy.exc import OperationalError

from ludodrome.arena.ladder.show_matches import ShowView
from ludodrome.games import GAMES
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

    watched = Spectators(create_engine("sqlite://"))
    watched.shows.close()

    async def watch() -> object:
        async for news in watched.matches("dots"):
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


class Shows:
    """Show matches that begin at once."""

    def __init__(self) -> None:
        self.watched: list[set[str]] = []

    def watch(self, games: Iterable[str]) -> bool:
        """Notes what is to be played."""
        self.watched.append(set(games))
        return False

    def view(self, game: str) -> ShowView | None:
        """The same view for as long as it is watched."""
        return ShowView(7, {"game": game, "show": True}) if game in self.watched[-1] else None

    def close(self) -> None:
        """Nothing is open."""


def test_a_show_match_is_shown_while_nothing_else_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(league, "POLL_SECONDS", 0.01)
    played: dict[str, tuple[str, int]] = {}
    monkeypatch.setattr(league, "live", lambda engine: dict(played))
    monkeypatch.setattr(league, "live_views", lambda engine, names: {"m": (1, {"game": "dots"})})
    monkeypatch.setattr(league, "with_marks", lambda view: view)
    spectators, shows = Spectators(create_engine("sqlite://")), Shows()
    spectators.shows = shows  # type: ignore[assignment]

    async def watch() -> list[Any]:
        told = []
        async with aclosing(spectators.matches("dots")) as changes:
            async for news in changes:
                told.append(news)
                if len(told) == 1:
                    played["m"] = "dots", 1
                if len(told) == 3:
                    break
        async with asyncio.timeout(30):
            while spectators._polling is not None and not spectators._polling.done():
                await asyncio.sleep(0.01)
        return told

    assert run(watch()) == [
        {"match": "show-dots", "view": {"game": "dots", "show": True}},
        {"match": "m", "view": {"game": "dots"}},
        {"match": "show-dots", "gone": True},
    ]
    assert shows.watched[0] == {"dots"}
    assert shows.watched[-1] == set(), "nobody watches any more"


def test_those_who_take_any_game_see_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(league, "live", lambda engine: {})
    monkeypatch.setattr(league, "with_marks", lambda view: view)
    spectators, shows = Spectators(create_engine("sqlite://")), Shows()
    spectators.shows = shows  # type: ignore[assignment]

    async def watch() -> Any:
        async with aclosing(spectators.matches()) as changes:
            news = await anext(changes)
            spectators.close()
            return news

    news = run(watch())
    (game,) = shows.watched[0]
    assert news["match"] == f"show-{game}"
    assert not GAMES[game].by_steps
