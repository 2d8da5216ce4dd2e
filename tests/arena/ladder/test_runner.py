"""Runners that are killed: what was finished stays, what was not is played again, and nothing counts twice."""

import os
import signal
import time
from pathlib import Path

import pytest
from sqlalchemy import Engine

from ludodrome.arena.ladder import enter_builtins, events
from ludodrome.arena.ladder import runner as runner_module
from ludodrome.arena.ladder.rating_updates import recompute
from ludodrome.arena.ladder.runner import Supervisor
from ludodrome.arena.ladder.scheduler import OFF, ON
from ludodrome.bots.starters import one_file
from ludodrome.store import league_bots, league_matches
from ludodrome.store.accounts import ensure_local
from ludodrome.store.database import open_database
from ludodrome.store.league_models import DONE
from ludodrome.store.models import LOCAL

KILLS = 5
PATIENCE = 600.0


def test_ctrl_c_at_the_server_is_not_for_the_runner(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "league.db", create=True)
    runner = Supervisor(engine, OFF, workers=1)
    runner.start()
    try:
        while runner.pid is None:
            time.sleep(0.01)
        assert os.getpgid(runner.pid) == runner.pid  # a group of its own, which the terminal does not interrupt
    finally:
        runner.stop()
    assert runner.pid is None
    engine.dispose()


def test_killed_runners_lose_and_repeat_nothing(tmp_path: Path, long: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not long:
        pytest.skip("some minutes of games: only with --long")
    monkeypatch.setattr(runner_module, "MAX_WAIT", 0.1)
    monkeypatch.setattr(runner_module, "FIRST_WAIT", 0.1)
    engine = open_database(tmp_path / "league.db", create=True, durable=True)
    ensure_local(engine)
    enter_builtins(engine)
    bot_id = league_bots.enter_uploaded(engine, "dots", LOCAL, "Mine", one_file("dots"), [])
    chosen = [one for one in league_bots.bots(engine, "dots") if one.name in ("random", "greedy", "chains", "Mine")]
    event_id = events.ask(engine, "dots", chosen, LOCAL, options={"rows": 2, "cols": 2}, name="Cup", pairs=12)
    runner = Supervisor(engine, ON, workers=2)
    runner.start()
    deadline = time.monotonic() + PATIENCE
    kills = 0
    try:
        while kills < KILLS or not _over(engine, event_id, bot_id):
            assert time.monotonic() < deadline
            time.sleep(0.5)
            before = league_matches.played_of(engine, event_id)
            pid = runner.pid
            if kills < KILLS and pid is not None and league_matches.runners(engine) and before >= 10 * kills:
                os.kill(pid, signal.SIGKILL)
                kills += 1
                time.sleep(1.0)
    finally:
        runner.stop()
    games = league_matches.event_games(engine, event_id)
    assert [number for _, number, _, _ in games] == list(range(144))
    assert {status for *_, status in games} == {DONE}
    assert recompute(engine).changed == []
    rated = [one for one in league_bots.standings(engine, "dots") if one.games]
    assert sum(one.games for one in rated) == 2 * len({place for one in rated for place, *_ in _steps(engine, one)})
    engine.dispose()


def _over(engine: Engine, event_id: str, bot_id: str) -> bool:
    event, mine = league_matches.find_event(engine, event_id), league_bots.standing(engine, bot_id)
    return event is not None and event.status == DONE and mine is not None and mine.games >= 4


def _steps(engine: Engine, one: league_bots.BotStanding) -> list[tuple[int, float, float]]:
    return league_bots.history(engine, one.entry.id)
