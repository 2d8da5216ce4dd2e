"""The runner's agenda: matches are claimed once, events are played whole, the ladder rests when it may."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Engine, text

from ludodrome.arena.ladder import events, playing
from ludodrome.arena.ladder import scheduler as module
from ludodrome.arena.ladder.matchmaking import NARROW
from ludodrome.arena.ladder.rating_updates import begin_ladder, recompute
from ludodrome.arena.ladder.scheduler import OFF, ON, LadderScheduler
from ludodrome.arena.matches.pool import run
from ludodrome.arena.matches.workers import AnyExecutor
from ludodrome.arena.records import verify
from ludodrome.arena.tournaments.report import standings
from ludodrome.bots.starters import one_file
from ludodrome.games import make
from ludodrome.store import accounts, league_bots, league_matches
from ludodrome.store.accounts import ensure_local
from ludodrome.store.league_models import DONE, DROPPED, LADDER, PLAYING, QUEUED
from ludodrome.store.models import LOCAL

SMALL = {"rows": 2, "cols": 2}


@pytest.fixture
def bots(engine: Engine) -> dict[str, league_bots.BotEntry]:
    ensure_local(engine)
    league_bots.ensure_builtins(engine, "dots", {"random": "random", "greedy": "greedy", "chains": "chains"})
    return {one.name: one for one in league_bots.bots(engine, "dots")}


@pytest.fixture(autouse=True)
def workers_leave(engine: Engine) -> Iterator[None]:
    """What a worker process holds open until its end, a thread gives back now."""
    yield
    playing._database(engine.url.render_as_string(hide_password=False)).dispose()
    playing._database.cache_clear()


def _agenda(engine: Engine, runner: str = "r", ladder: str = OFF) -> LadderScheduler:
    return LadderScheduler(engine, engine.url.render_as_string(hide_password=False), runner, ladder)


def _work(agenda: LadderScheduler) -> None:
    with ThreadPoolExecutor(1) as threads:
        run(agenda, AnyExecutor(threads, 1))


def _queue(engine: Engine, bots: dict[str, league_bots.BotEntry], count: int) -> None:
    ids = [bots["random"].id, bots["greedy"].id]
    for number in range(count):
        league_matches.queue(engine, LADDER, [(f"m-{number}", {"game": "dots", "names": ["a", "b"]}, ids, 0)], None)


def test_a_match_is_claimed_by_one_runner(engine: Engine, bots: dict[str, league_bots.BotEntry]) -> None:
    _queue(engine, bots, 20)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda number: league_matches.claim(engine, f"r{number % 4}"), range(24)))
    claimed = [one.id for one in found if one is not None]
    assert len(claimed) == len(set(claimed)) == 20
    assert league_matches.claim(engine, "late") is None


def test_a_claim_that_is_not_renewed_is_free_again(
    engine: Engine, bots: dict[str, league_bots.BotEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    _queue(engine, bots, 1)
    monkeypatch.setattr(league_matches, "LEASE_MS", 1)
    assert league_matches.claim(engine, "killed") is not None
    time.sleep(0.01)
    monkeypatch.setattr(league_matches, "LEASE_MS", 60_000)
    again = league_matches.claim(engine, "other")
    assert again is not None
    assert again.bots == (bots["random"].id, bots["greedy"].id)
    league_matches.renew(engine, "other")
    assert league_matches.claim(engine, "third") is None
    assert league_matches.release(engine, "other") == 1
    assert league_matches.claim(engine, "third") is not None


def test_a_runner_that_stalled_goes_on_with_what_it_has(
    engine: Engine, bots: dict[str, league_bots.BotEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    _queue(engine, bots, 1)
    monkeypatch.setattr(league_matches, "LEASE_MS", -1)
    assert league_matches.claim(engine, "slow") is not None
    assert league_matches.claim(engine, "slow") is None
    assert league_matches.claim(engine, "other") is not None


def test_a_match_that_never_comes_back_is_dropped(
    engine: Engine, bots: dict[str, league_bots.BotEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    _queue(engine, bots, 1)
    for _ in range(2 * league_matches.MAX_TRIES):  # what is given back has done no harm
        assert league_matches.claim(engine, "ended") is not None
        league_matches.release(engine, "ended")
    assert league_matches.claim(engine, "broken") is not None
    league_matches.release(engine, "broken", broken=True)
    monkeypatch.setattr(league_matches, "LEASE_MS", -1)
    for number in range(1, league_matches.MAX_TRIES):
        assert league_matches.claim(engine, f"killed {number}") is not None
    assert league_matches.claim(engine, "last") is None
    found = league_matches.find_match(engine, "m-0")
    assert found is not None
    assert found.status == DROPPED


def test_a_tournament_is_played_whole(engine: Engine, bots: dict[str, league_bots.BotEntry]) -> None:
    chosen = [bots[name] for name in ("random", "greedy", "chains")]
    event_id = events.ask(engine, "dots", chosen, LOCAL, options=SMALL, name="Cup", pairs=2)
    _work(_agenda(engine))
    event = league_matches.find_event(engine, event_id)
    assert event is not None
    assert (event.status, event.games) == (DONE, 12)
    tournament = events.standing_of(engine, event)
    assert tournament.finished
    assert {line.name: line.games for line in standings(tournament)} == dict.fromkeys(("random", "greedy", "chains"), 8)
    for seen in league_matches.recent(engine, event=event_id, most=100):
        kept = league_matches.record_of(engine, seen.id)
        assert kept is not None
        assert not kept.sealed
        verify(kept.record)
    assert recompute(engine).games == 0  # what was asked for is not rated
    ended = {seen.id for seen in league_matches.recent(engine, event=event_id, most=100)}
    assert set(league_matches.live(engine)) <= ended  # they are shown for a moment


def test_a_runner_that_is_killed_loses_and_repeats_nothing(
    engine: Engine, bots: dict[str, league_bots.BotEntry]
) -> None:
    event_id = events.ask(engine, "dots", [bots["random"], bots["greedy"]], LOCAL, options=SMALL, pairs=3)
    killed = _agenda(engine, "killed")
    for _ in range(4):  # some openings are drawn, some games begun, one finished; then nobody hears of it any more
        job = killed.next()
        assert job is not None
        if job.function is not playing.play_measured or not killed.finished:
            killed.done(job, job.function(job.argument))
    assert killed.finished == 1
    league_matches.release(engine, "killed")
    _work(_agenda(engine, "next"))
    games = league_matches.event_games(engine, event_id)
    assert [number for _, number, _, _ in games] == list(range(6))
    assert {status for *_, status in games} == {DONE}


def test_events_take_turns(engine: Engine, bots: dict[str, league_bots.BotEntry]) -> None:
    pair = [bots["random"], bots["greedy"]]
    first = events.ask(engine, "dots", pair, LOCAL, options=SMALL, pairs=2, openings=False)
    second = events.ask(engine, "dots", pair, LOCAL, options=SMALL, pairs=2, openings=False)
    agenda = _agenda(engine)
    order = []
    for _ in range(4):
        job = agenda.next()
        assert job is not None
        order.append(agenda._claims[job.name].event)
        agenda.done(job, job.function(job.argument))
    assert set(order[:2]) == {first, second}
    league_matches.close_event(engine, first, "it was stopped")
    _work(agenda)
    statuses = {status for *_, status in league_matches.event_games(engine, first)}
    assert QUEUED not in statuses
    assert PLAYING not in statuses
    closed = league_matches.find_event(engine, second)
    assert closed is not None
    assert closed.status == DONE


def test_an_uploaded_bot_climbs_by_itself_and_then_rests(
    engine: Engine, bots: dict[str, league_bots.BotEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    agenda = _agenda(engine, ladder=ON)
    assert agenda.next() is None  # nobody but built-ins: nothing is burnt
    assert agenda.status == "idle: all ratings are settled"
    monkeypatch.setattr(module, "ladder_game", lambda game: make(game, **SMALL))
    monkeypatch.setattr(module, "belongs", lambda play_spec: play_spec["options"] == SMALL)
    monkeypatch.setattr(module, "GAMES", ("dots",))
    bot_id = league_bots.enter_uploaded(engine, "dots", LOCAL, "Mine", one_file("dots"), [])
    for _ in range(6):
        agenda._contenders_cache.clear()
        job = agenda.next()
        assert job is not None
        agenda.done(job, job.function(job.argument))
    mine = league_bots.standing(engine, bot_id)
    assert mine is not None
    assert mine.games == agenda.finished == 4  # two openings, each with the seats changed
    assert mine.verdicts == {}
    assert mine.sigma is not None
    with engine.begin() as connection:
        connection.execute(text("UPDATE league_ratings SET sigma = :narrow"), {"narrow": NARROW})
    agenda._contenders_cache.clear()
    assert agenda.next() is None


def test_the_ladder_plays_with_the_options_that_people_meet_first(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensure_local(engine)
    league_bots.ensure_builtins(engine, "spaces", {"random": "random", "greedy": "greedy"})
    league_bots.enter_uploaded(engine, "spaces", LOCAL, "Mine", one_file("spaces"), [])
    begin_ladder(engine, "spaces")
    monkeypatch.setattr(module, "GAMES", ("spaces",))
    agenda = _agenda(engine, ladder=ON)
    for _ in range(2):
        job = agenda.next()
        assert job is not None
        played = job.function(job.argument)
        assert (played.record["options"]["rules"], played.record["options"]["choice"]) == ("live", "blind")
        agenda.done(job, played)
    report = recompute(engine)
    assert (report.games, report.changed) == (2, [])


def test_a_ladder_game_of_other_options_that_ends_late_is_kept_and_not_rated(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A runner with the options of an earlier release had begun it."""
    ensure_local(engine)
    league_bots.ensure_builtins(engine, "spaces", {"random": "random", "greedy": "greedy"})
    mine = league_bots.enter_uploaded(engine, "spaces", LOCAL, "Mine", one_file("spaces"), [])
    monkeypatch.setattr(module, "GAMES", ("spaces",))
    agenda = _agenda(engine, ladder=ON)
    with monkeypatch.context() as earlier:
        earlier.setattr(module, "ladder_game", make)
        job = agenda.next()
    assert job is not None
    agenda.done(job, job.function(job.argument))
    assert league_bots.played_count(engine, mine) == 1
    standing = league_bots.standing(engine, mine)
    assert standing is not None
    assert standing.games == 0


def test_built_ins_play_each_other_while_their_ratings_are_uncertain(
    engine: Engine, bots: dict[str, league_bots.BotEntry]
) -> None:
    agenda = _agenda(engine, ladder=ON)
    bot_id = league_bots.enter_uploaded(engine, "dots", LOCAL, "Mine", one_file("dots"), [])
    for settled, kinds in (((), {"uploaded", "builtin"}), (("Mine",), {"builtin"}), (("Mine", *bots), set())):
        versions = {"Mine": league_bots.versions(engine, bot_id)[0].id} | {
            name: one.version for name, one in bots.items()
        }
        with engine.begin() as connection:
            connection.execute(text("DELETE FROM league_ratings"))
            for name, version in versions.items():
                sigma = NARROW if name in settled else 3 * NARROW
                row = {"version": version, "sigma": sigma}
                connection.execute(text(RATING), row)
        agenda._contenders_cache.clear()
        assert {one.kind for one in agenda._group("dots") or ()} == kinds


RATING = (
    "INSERT INTO league_ratings (version, mu, sigma, games, wins, draws, losses, failures, verdicts)"
    " VALUES (:version, 25, :sigma, 1, 0, 0, 1, 0, '{}')"
)


def test_what_cannot_be_played_is_our_fault_and_not_rated(
    engine: Engine, bots: dict[str, league_bots.BotEntry]
) -> None:
    event_id = events.ask(engine, "dots", [bots["random"], bots["greedy"]], LOCAL, options=SMALL, openings=False)
    agenda = _agenda(engine)
    job = agenda.next()
    assert job is not None
    agenda.failed(job, "its workers died")
    (seen,) = league_matches.recent(engine, event=event_id)
    assert seen.counted is not None
    assert not seen.counted["rated"]
    broken: Any = agenda.next()
    agenda.done(broken, broken.function(broken.argument))
    closed = league_matches.find_event(engine, event_id)
    assert closed is not None
    assert closed.status == DONE


def test_what_is_refused(engine: Engine, bots: dict[str, league_bots.BotEntry]) -> None:
    pair = [bots["random"], bots["greedy"]]
    with pytest.raises(ValueError, match="2 to 20 bots"):
        events.ask(engine, "dots", pair[:1], LOCAL)
    with pytest.raises(ValueError, match="meet itself"):
        events.ask(engine, "dots", [pair[0], pair[0]], LOCAL)
    with pytest.raises(ValueError, match="plays dots, not caldera"):
        events.ask(engine, "caldera", pair, LOCAL)
    with pytest.raises(ValueError, match="between 2 bots"):
        events.ask(engine, "dots", [*pair, bots["chains"]], LOCAL)
    with pytest.raises(ValueError, match="1 to 100 pairs"):
        events.ask(engine, "dots", pair, LOCAL, pairs=101)
    with pytest.raises(ValueError, match="round-robin or a gauntlet"):
        events.ask(engine, "dots", pair, LOCAL, kind="swiss")
    league_bots.retire(engine, pair[0].id)
    retired = league_bots.find_bot(engine, pair[0].id)
    assert retired is not None
    with pytest.raises(ValueError, match="does not play any more"):
        events.ask(engine, "dots", [retired, pair[1]], LOCAL)
    league_bots.retire(engine, pair[0].id, back=True)
    for _ in range(events.MAX_OPEN):
        events.ask(engine, "dots", pair, LOCAL)
    with pytest.raises(ValueError, match="not over"):
        events.ask(engine, "dots", pair, LOCAL)


def test_a_strangers_clock_does_not_hold_a_worker_for_a_day(
    engine: Engine, bots: dict[str, league_bots.BotEntry]
) -> None:
    pair = [bots["random"], bots["greedy"]]
    stranger = accounts.add_account(engine, "Stranger", "hash").id
    for clock in ("none", "depth=60", "11s", "1s+301s", "60s++11s", "1440m"):
        with pytest.raises(ValueError, match="a clock counts time here: at most 10s a move, 300s in the bank"):
            events.ask(engine, "dots", pair, stranger, clock=clock)
    for fair in (None, "10s", "1s+10s", "60s++1s"):
        events.ask(engine, "dots", pair, stranger, clock=fair)
    events.ask(engine, "dots", pair, LOCAL, clock="none")


def test_no_bot_is_looked_for_under_a_name_with_a_nul(engine: Engine) -> None:
    assert league_bots.find_bot(engine, "a\0b") is None
