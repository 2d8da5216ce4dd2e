"""Show matches: built-ins play while somebody watches, at the lowest priority, and store nothing."""

import os
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

import ludodrome
from ludodrome.arena.ladder import show_matches
from ludodrome.arena.ladder.runner import LOWEST_PRIORITY
from ludodrome.arena.ladder.show_matches import (
    Evaluation,
    ShowMatches,
    ShowPlayer,
    pairing,
    prepare_show,
    show_spec,
)
from ludodrome.games import make
from ludodrome.kernel_cache import is_compiling
from ludodrome.store.announcements import SharedCache
from ludodrome.store.database import open_database
from ludodrome.store.models import CacheEntryRow

PATIENCE = 600.0
GAMES = ludodrome.game_ids()


def _until(holds: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def shows() -> Iterator[ShowMatches]:
    made = ShowMatches(lambda: None)
    yield made
    made.close()


@pytest.mark.parametrize("game", GAMES)
def test_neighbours_on_the_ladder_meet(game: str) -> None:
    for seed in range(20):
        pair = pairing(game, random.Random(seed))
        assert len(set(pair)) == 2
        assert "random" not in pair
        assert set(pair) <= set(make(game).ladder_bots)
    spec = show_spec(game, 1, random.Random(3))
    assert len(spec.bots) == make(game, **spec.options).seats


@pytest.mark.parametrize("game", ["dots", "spaces"])
def test_the_first_moves_can_be_prepared(game: str) -> None:
    prepare_show(game)
    assert not is_compiling()


def test_a_process_plays_while_somebody_watches(shows: ShowMatches) -> None:
    assert shows.pid is None
    shows.watch(["dots"])
    _until(lambda: shows.view("dots") is not None)
    first = shows.view("dots")
    assert first is not None
    assert first.view["show"]
    assert first.view["result"] is None
    assert 0 <= first.view["evaluation"] <= 1
    assert shows.pid is not None
    if hasattr(os, "getpriority"):
        assert os.getpriority(os.PRIO_PROCESS, shows.pid) == LOWEST_PRIORITY
    _until(lambda: (now := shows.view("dots")) is not None and now.version > first.version)
    pid = shows.pid
    shows.watch(())
    assert shows.view("dots") is None
    shows.watch(["dots"])
    assert shows.pid == pid, "who comes back within some seconds finds the process there"


def test_a_process_that_died_is_replaced(shows: ShowMatches) -> None:
    shows.watch(["dots"])
    pid = shows.pid
    assert pid is not None
    os.kill(pid, 9)
    _until(lambda: shows.pid is None)
    shows.watch(["dots"])
    assert shows.pid not in (None, pid)
    shows.close()
    assert shows.pid is None
    shows.watch(["dots"])
    assert shows.pid is None, "nothing begins after the end"


def test_web_processes_share_a_show(tmp_path: Path) -> None:
    """One plays, the other shows its views; it goes on while only the other has spectators."""
    engine = open_database(tmp_path / "a.db", create=True)
    first, second = (ShowMatches(lambda: None, SharedCache(engine, "show", 50, 60.0)) for _ in range(2))
    try:
        assert first.watch(["dots"])
        _until(lambda: first.view("dots") is not None)
        _until(lambda: not second.watch(["dots"]) and second.view("dots") is not None)
        assert second.pid is None
        assert first.watch(()), "others watch it"
        seen = second.view("dots")
        _until(lambda: not second.watch(["dots"]) and second.view("dots") != seen)
        with Session(engine) as session:
            assert (session.scalar(select(func.count()).select_from(CacheEntryRow)) or 0) <= 2
    finally:
        first.close()
        second.close()
        engine.dispose()


def test_of_two_processes_that_play_the_same_game_one_goes_on(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "a.db", create=True)
    first, second = (ShowMatches(lambda: None, SharedCache(engine, "show", 50, 60.0)) for _ in range(2))
    first._host, second._host = "a", "b"
    first._played = second._played = frozenset(["dots"])
    cache = SharedCache(engine, "show", 50, 60.0)
    for host, one, goes_on in (("b", first, True), ("a", second, False)):
        cache.put("view dots", {"host": host, "version": 1, "view": {}})
        assert (one._played_elsewhere(cache, frozenset(["dots"])) == {}) is goes_on
    engine.dispose()


def test_a_show_tells_a_game_from_the_first_move_to_the_last_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show_matches, "PACE", 0.0)
    monkeypatch.setattr(show_matches, "INTERMISSION", 0.0)
    told: list[dict[str, Any]] = []
    second = threading.Event()

    def send(news: dict[str, Any]) -> None:
        told.append(news)
        if news["number"] == 2:
            second.set()

    player = ShowPlayer("dots", send)
    assert second.wait(PATIENCE)
    player.stop()
    player._thread.join(PATIENCE)
    assert not player._thread.is_alive()
    views = [news["view"] for news in told if news["number"] == 1]
    plies = [view["ply"] for view in views]
    assert plies == list(range(plies[0], 61))
    assert len(views[0]["opening"]) == plies[0]
    assert views[-1]["result"]["returns"] in ([1.0, -1.0], [-1.0, 1.0])
    assert views[-1]["evaluation"] == (1 + views[-1]["result"]["returns"][0]) / 2


def test_what_cannot_be_searched_is_not_evaluated() -> None:
    spaces = make("spaces")
    assert Evaluation(spaces).of(spaces.initial_state()) is None
    three = make("santorini", players=3)
    assert Evaluation(three).of(three.initial_state()) is None
