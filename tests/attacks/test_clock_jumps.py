"""Point 19: a clock that jumps a day ahead and back leaves matches in progress and bots connected for a day."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from ludodrome.store import database, league_bots, league_matches, league_presence, models
from ludodrome.store.accounts import ensure_local
from ludodrome.store.league_models import LADDER, MatchRow, PresenceRow, RunnerRow
from ludodrome.store.models import LOCAL

DAY = 24 * 3600 * 1000


@pytest.fixture
def bots(engine: Engine) -> dict[str, league_bots.BotEntry]:
    ensure_local(engine)
    league_bots.ensure_builtins(engine, "dots", {"random": "random"})
    league_bots.enter_remote(engine, "dots", LOCAL, "Far away", "a secret")
    return {one.name: one for one in league_bots.bots(engine, "dots")}


@contextmanager
def clock_ahead(engine: Engine) -> Iterator[None]:
    """Whatever is written in here was written by a clock that is a day ahead: afterwards the clock is right again."""
    yield
    with Session(engine) as session:
        for row in session.query(MatchRow).where(MatchRow.lease.is_not(None)):
            row.lease = (row.lease or 0) + DAY
        for presence in session.query(PresenceRow):
            presence.seen += DAY
        for runner in session.query(RunnerRow):
            runner.seen += DAY
        session.commit()


def _queue(engine: Engine, bots: dict[str, league_bots.BotEntry]) -> None:
    ids = [bots["random"].id, bots["Far away"].id]
    league_matches.queue(engine, LADDER, [("m-1", {"game": "dots", "names": ["a", "b"]}, ids, 0)], None)


def test_point_19_a_match_claimed_by_a_clock_a_day_ahead_is_claimed_again(
    engine: Engine, bots: dict[str, league_bots.BotEntry]
) -> None:
    _queue(engine, bots)
    league_presence.arrive(engine, bots["Far away"].id, "127.0.0.1:1 x", "secret")
    with clock_ahead(engine):
        assert league_matches.claim(engine, "killed") is not None
    league_presence.arrive(engine, bots["Far away"].id, "127.0.0.1:1 x", "secret")  # its heartbeat goes on
    again = league_matches.claim(engine, "other")
    assert again is not None
    assert again.id == "m-1"
    assert league_matches.claim(engine, "third") is None  # the new claim holds
    league_matches.renew(engine, "other")
    assert league_matches.claim(engine, "third") is None


def test_point_19_a_runner_that_lives_renews_its_claims_by_the_right_clock(
    engine: Engine, bots: dict[str, league_bots.BotEntry]
) -> None:
    _queue(engine, bots)
    league_presence.arrive(engine, bots["Far away"].id, "127.0.0.1:1 x", "secret")
    with clock_ahead(engine):
        assert league_matches.claim(engine, "alive") is not None
    league_matches.renew(engine, "alive")
    league_presence.arrive(engine, bots["Far away"].id, "127.0.0.1:1 x", "secret")
    assert league_matches.claim(engine, "other") is None


def test_point_19_a_bot_that_a_wrong_clock_saw_is_not_connected(
    engine: Engine, bots: dict[str, league_bots.BotEntry]
) -> None:
    far = bots["Far away"].id
    with clock_ahead(engine):
        league_presence.arrive(engine, far, "127.0.0.1:1 x", "secret")
    assert league_presence.presence(engine, far) is None
    found = league_bots.find_bot(engine, far)
    assert found is not None
    assert not found.here
    assert far not in {one.id for one in league_bots.contenders(engine, "dots")}
    _queue(engine, bots)
    assert league_matches.claim(engine, "r") is None
    league_presence.arrive(engine, far, "127.0.0.1:1 x", "secret")
    assert league_presence.presence(engine, far) is not None
    assert league_matches.claim(engine, "r") is not None


def test_point_19_a_runner_that_a_wrong_clock_saw_is_forgotten(engine: Engine) -> None:
    with clock_ahead(engine):
        league_matches.report(engine, "dead", "on", 1, "working")
    assert league_matches.runners(engine) == []
    league_matches.report(engine, "alive", "on", 1, "working")
    assert [one.id for one in league_matches.runners(engine)] == ["alive"]
    with Session(engine) as session:
        assert [one.id for one in session.query(RunnerRow)] == ["alive"]


def test_point_19_machines_on_one_server_share_its_clock(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """With PostgreSQL the clock of this machine does not matter; with SQLite there is one machine."""
    right = models.now_ms()
    monkeypatch.setattr(database, "now_ms", lambda: right + DAY)
    with Session(engine) as session:
        ahead = database.clock_ms(session) - right
    assert (ahead < DAY / 2) is (engine.dialect.name == "postgresql")
