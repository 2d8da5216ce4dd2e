"""How games come to count: once, in one order, and so that they can be counted again to the same digits."""

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Engine, text

from ludodrome.arena.ladder.rating_updates import (
    ELO_A_MU,
    FIRM_GAMES,
    FIRST_REFIT,
    MIDDLE,
    REFIT_EVERY,
    count_game,
    displayed_rating,
    is_refit,
    recompute,
)
from ludodrome.arena.statistics.ratings import MU, SIGMA, Rating, rate, update
from ludodrome.store import league_bots, league_matches
from ludodrome.store.accounts import ensure_local
from ludodrome.store.league_matches import KeptRecord
from ludodrome.store.league_models import LADDER
from ludodrome.store.league_ratings import finish

NAMES = ("one", "two", "three", "four")


def _settle(engine: Engine) -> dict[str, str]:
    ensure_local(engine)
    league_bots.ensure_builtins(engine, "dots", dict.fromkeys(NAMES, "random"))
    return {one.name: one.id for one in league_bots.bots(engine, "dots")}


def _counted(match: str, names: Sequence[str], returns: Sequence[float], verdicts: Any = (), rated: bool = True) -> Any:
    zeros = [0] * len(names)
    return {
        "match": match,
        "names": list(names),
        "returns": list(returns),
        "rated": rated,
        "reason": "made up",
        "decided_by": "play",
        "verdicts": list(verdicts),
        "length": 1,
        "moves": zeros,
        "ms": zeros,
        "slowest_ms": zeros,
    }


def _finish(engine: Engine, ids: dict[str, str], match: str, names: Sequence[str], result: float, **more: Any) -> bool:
    why = more.pop("why", LADDER)
    play_spec = {"game": "dots", "names": list(names)}
    league_matches.queue(engine, why, [(match, play_spec, [ids[name] for name in names], 0)], None)
    contended = more.pop("contended", False)
    counted = _counted(match, names, [result, -result], **more)
    return finish(engine, match, counted, {"match": match}, count_game, contended=contended)


def _some_games(engine: Engine, ids: dict[str, str], count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        pair = NAMES[number % 4], NAMES[(number + 1 + number % 3) % 4]
        _finish(engine, ids, f"m-{number}", pair, (number * 7 % 3) - 1.0)


def _ratings(engine: Engine) -> dict[str, tuple[float | None, float | None, int]]:
    return {one.entry.name: (one.mu, one.sigma, one.games) for one in league_bots.standings(engine, "dots")}


def test_a_game_counts_once(engine: Engine) -> None:
    ids = _settle(engine)
    assert _finish(engine, ids, "m-1", ("one", "two"), 1.0)
    before = _ratings(engine)
    assert not _finish(engine, ids, "m-1", ("one", "two"), 1.0)
    assert not _finish(engine, ids, "m-1", ("one", "two"), -1.0)
    assert _ratings(engine) == before
    expected = update([Rating(), Rating()], [1.0, -1.0])
    assert before["one"] == (round(expected[0].mu, 6), round(expected[0].sigma, 6), 1)
    assert league_matches.record_of(engine, "m-1") == KeptRecord({"match": "m-1"}, False)


def test_of_two_who_finish_the_same_match_at_once_one_is_heard(engine: Engine) -> None:
    ids = _settle(engine)
    league_matches.queue(
        engine, LADDER, [("m-1", {"game": "dots", "names": ["one", "two"]}, list(ids.values())[:2], 0)], None
    )
    heard = []
    counted = _counted("m-1", ("one", "two"), (1.0, -1.0))
    threads = [
        threading.Thread(target=lambda: heard.append(finish(engine, "m-1", counted, {}, count_game))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(heard) == [False, False, False, True]
    assert sum(games for *_, games in _ratings(engine).values()) == 2


def test_what_is_not_of_the_ladder_or_not_rated_changes_no_rating(engine: Engine) -> None:
    ids = _settle(engine)
    assert _finish(engine, ids, "m-1", ("one", "two"), 1.0, why="challenge")
    assert _finish(engine, ids, "m-2", ("one", "two"), 1.0, rated=False)
    assert set(_ratings(engine).values()) == {(None, None, 0)}
    assert len(league_matches.recent(engine, "dots")) == 2


def test_ratings_recomputed_from_the_games_are_those_stored(engine: Engine) -> None:
    ids = _settle(engine)
    _some_games(engine, ids, 3 * FIRST_REFIT + 5)
    before, steps = _ratings(engine), league_bots.history(engine, ids["one"])
    report = recompute(engine)
    assert (report.games, report.bots, report.changed) == (3 * FIRST_REFIT + 5, 4, [])
    assert _ratings(engine) == before
    assert league_bots.history(engine, ids["one"]) == steps
    with engine.begin() as connection:
        connection.execute(text("UPDATE league_ratings SET mu = mu + 1 WHERE bot = :bot"), {"bot": ids["two"]})
        connection.execute(text("DELETE FROM league_pairs"))
    assert recompute(engine).changed == [ids["two"]]
    assert _ratings(engine) == before
    assert "right" in str(recompute(engine))
    _some_games(engine, ids, 10, 1000)  # and it goes on from there
    assert recompute(engine).changed == []


def test_now_and_then_all_games_are_looked_at_together(engine: Engine) -> None:
    ids = _settle(engine)
    _some_games(engine, ids, 2 * FIRST_REFIT)
    pairs = [
        (seen.bots, seen.counted["returns"]) for seen in league_matches.recent(engine, "dots", most=100) if seen.counted
    ]
    exact = rate([(tuple(bots), tuple(returns)) for bots, returns in pairs])
    for name, (mu, _, games) in _ratings(engine).items():
        assert games >= FIRM_GAMES
        assert mu == pytest.approx(MU + exact.line(ids[name]).rating / ELO_A_MU, abs=1e-4)


def test_when_that_is() -> None:
    assert [place for place in range(1, 400) if is_refit(place)] == [20, 40, 80, 160, 320]
    assert is_refit(REFIT_EVERY)
    assert is_refit(5 * REFIT_EVERY)
    assert not is_refit(REFIT_EVERY + 20)
    assert not is_refit(0)


def test_how_ratings_are_shown() -> None:
    unknown = displayed_rating(None, None)
    assert unknown.rating == MIDDLE
    assert unknown.high - unknown.low == pytest.approx(2 * 1.96 * SIGMA * ELO_A_MU, abs=0.2)
    assert displayed_rating(MU + 1, 1.0).rating == pytest.approx(MIDDLE + ELO_A_MU, abs=0.1)


def test_histories_verdicts_and_head_to_heads(engine: Engine) -> None:
    ids = _settle(engine)
    _finish(engine, ids, "m-1", ("one", "two"), 1.0, verdicts=[[1, "timeout"]])
    _finish(engine, ids, "m-2", ("two", "one"), 1.0, verdicts=[[1, "timeout"], [1, "illegal"]])
    _finish(engine, ids, "m-3", ("one", "two"), 0.0)
    one = league_bots.standing(engine, ids["one"])
    assert one is not None
    assert (one.games, one.wins, one.draws, one.losses, one.verdicts) == (3, 1, 1, 1, {"illegal": 1, "timeout": 1})
    assert [place for place, *_ in league_bots.history(engine, ids["two"])] == [1, 2, 3]
    assert league_bots.head_to_heads(engine, ids["one"]) == [league_bots.HeadToHead(ids["two"], "two", 1, 1, 1)]
    trends = league_bots.trends(engine, list(ids.values()), 2)
    assert {name: len(values) for name, values in trends.items()} == {ids["one"]: 2, ids["two"]: 2}
    kept = [one.record for one in league_matches.records_of(engine, ids["one"])]
    assert kept == [{"match": f"m-{n}"} for n in (1, 2, 3)]


def test_games_on_contended_machines_are_marked_and_can_be_left_out(engine: Engine) -> None:
    ids = _settle(engine)
    assert _finish(engine, ids, "m-quiet", ("one", "two"), 1.0)
    quiet = _ratings(engine)
    assert _finish(engine, ids, "m-busy", ("one", "two"), -1.0, contended=True)
    both = _ratings(engine)
    assert both["one"][2] == 2
    marks = {one.id: one.contended for one in league_matches.recent(engine, "dots")}
    assert marks == {"m-quiet": False, "m-busy": True}
    found = league_matches.find_match(engine, "m-busy")
    assert found is not None
    assert found.contended
    assert recompute(engine, without_contended=True).games == 1
    assert _ratings(engine) == quiet
    recompute(engine)
    assert _ratings(engine) == both
