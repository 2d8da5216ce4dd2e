"""How games come to count: once, in one order, and so that they can be counted again to the same digits."""

import math
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Engine, text

from ludodrome.arena.ladder.prior_ratings import UNMEASURED, prior_ratings
from ludodrome.arena.ladder.rating_updates import (
    ELO_A_MU,
    FIRM_GAMES,
    FIRST_REFIT,
    MIDDLE,
    NEW_SIGMA,
    REFIT_EVERY,
    begin_ladder,
    count_game,
    displayed_rating,
    failed_seats,
    failures_of,
    is_refit,
    recompute,
    rules_of,
)
from ludodrome.arena.statistics.ratings import MU, SIGMA, Rating, rate, update
from ludodrome.games import find, make
from ludodrome.store import audit, league_bots, league_matches
from ludodrome.store.accounts import ensure_local
from ludodrome.store.league_matches import KeptRecord
from ludodrome.store.league_models import DROPPED, LADDER, QUEUED
from ludodrome.store.league_ratings import MAX_FAILURES, finish
from ludodrome.store.models import LOCAL

NAMES = ("one", "two", "three", "four")


def _settle(engine: Engine) -> dict[str, str]:
    ensure_local(engine)
    league_bots.ensure_builtins(engine, "dots", dict.fromkeys(NAMES, "random"))
    return {one.name: one.id for one in league_bots.bots(engine, "dots")}


def _counted(
    match: str,
    names: Sequence[str],
    returns: Sequence[float],
    verdicts: Any = (),
    rated: bool = True,
    decided_by: str = "play",
) -> Any:
    zeros = [0] * len(names)
    return {
        "match": match,
        "names": list(names),
        "returns": list(returns),
        "rated": rated,
        "reason": "made up",
        "decided_by": decided_by,
        "verdicts": list(verdicts),
        "length": 1,
        "moves": [1000] * len(names),
        "ms": zeros,
        "slowest_ms": zeros,
    }


def _finish(engine: Engine, ids: dict[str, str], match: str, names: Sequence[str], result: float, **more: Any) -> bool:
    why = more.pop("why", LADDER)
    play_spec = {"game": "dots", "names": list(names)}
    league_matches.queue(engine, why, [(match, play_spec, [ids[name] for name in names], 0)], None)
    contended = more.pop("contended", False)
    counted = _counted(match, names, [result, -result], **more)
    failures = failures_of(counted, contended)
    return finish(engine, match, counted, {"match": match}, count_game, contended=contended, failures=failures)


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
    (two,) = league_bots.versions(engine, ids["two"])
    with engine.begin() as connection:
        connection.execute(text("UPDATE league_ratings SET mu = mu + 1 WHERE version = :two"), {"two": two.id})
        connection.execute(text("DELETE FROM league_pairs"))
    assert recompute(engine).changed == [two.id]
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


# Failures


def _uploaded(engine: Engine, *names: str) -> dict[str, str]:
    """Bots that people have entered, by name."""
    ensure_local(engine)
    return {name: league_bots.enter_uploaded(engine, "dots", LOCAL, name, f"print('{name}')", []) for name in names}


def _crash(engine: Engine, ids: dict[str, str], match: str, names: Sequence[str], **more: Any) -> bool:
    """The second bot crashes."""
    return _finish(engine, ids, match, names, 1.0, verdicts=[[1, "crash"]], decided_by="forfeit", **more)


def test_what_a_failure_is() -> None:
    counted = _counted("m", ("a", "b"), (1.0, -1.0)) | {"moves": [10, 10]}
    assert failed_seats(counted) == set()
    assert failed_seats(counted | {"verdicts": [[1, "illegal"]], "decided_by": "forfeit"}) == {1}
    assert failed_seats(counted | {"verdicts": [[1, "crash"]]}) == {1}
    assert failed_seats(counted | {"verdicts": [[0, "timeout"]] * 4}) == set()  # substituted; it has played the rest
    assert failed_seats(counted | {"verdicts": [[0, "timeout"]] * 5}) == {0}
    assert failed_seats(counted | {"verdicts": [[0, "timeout"]], "moves": [0, 10]}) == {0}


def test_games_that_a_crasher_lost_say_nothing_about_its_opponent(engine: Engine) -> None:
    ids = _uploaded(engine, "Good", "Bad", "Crasher")
    for number in range(6):
        _finish(engine, ids, f"m-{number}", ("Good", "Bad"), 1.0)
    before = _ratings(engine)
    for number in range(34):
        _crash(engine, ids, f"c-{number}", ("Bad", "Crasher"))
    after = _ratings(engine)
    assert after["Bad"][:2] == before["Bad"][:2]
    assert after["Bad"][2] == 40
    assert after["Good"][0] > after["Bad"][0] > after["Crasher"][0]  # type: ignore[operator]
    crasher = league_bots.standing(engine, ids["Crasher"])
    assert crasher is not None
    assert (crasher.failures, crasher.losses, crasher.verdicts) == (34, 34, {"crash": 34})
    assert league_bots.head_to_heads(engine, ids["Crasher"]) == [league_bots.HeadToHead(ids["Bad"], "Bad", 0, 0, 34)]
    assert recompute(engine).changed == []
    assert _ratings(engine) == after


def test_a_bot_that_seldom_fails_loses_such_a_game_as_any_other(engine: Engine) -> None:
    ids = _uploaded(engine, "One", "Two")
    for number in range(12):
        _finish(engine, ids, f"m-{number}", ("One", "Two"), 1.0 if number % 2 else -1.0)
    before = _ratings(engine)["One"][0]
    _crash(engine, ids, "c-1", ("One", "Two"))  # 1 of 13
    raised = _ratings(engine)["One"][0]
    assert raised > before  # type: ignore[operator]
    _crash(engine, ids, "c-2", ("One", "Two"))  # 2 of 14
    assert _ratings(engine)["One"][0] == raised
    assert recompute(engine).changed == []


def test_a_bot_that_keeps_failing_is_paused(engine: Engine) -> None:
    ids = _uploaded(engine, "Steady", "Crasher")
    for number in range(MAX_FAILURES - 1):
        _crash(engine, ids, f"a-{number}", ("Steady", "Crasher"))
    _finish(engine, ids, "good", ("Steady", "Crasher"), -1.0)  # one good game, and the count begins again
    for number in range(MAX_FAILURES - 1):
        _crash(engine, ids, f"b-{number}", ("Steady", "Crasher"))
    late = {"verdicts": [[1, "timeout"]], "decided_by": "forfeit", "contended": True}
    _finish(engine, ids, "busy", ("Steady", "Crasher"), 1.0, **late)  # the machine's fault, perhaps
    _crash(engine, ids, "asked", ("Steady", "Crasher"), why="challenge")  # under conditions that others chose
    assert {one.name for one in league_bots.contenders(engine, "dots")} == {"Steady", "Crasher"}
    waiting = {"game": "dots", "names": ["Crasher", "Steady"]}
    league_matches.queue(engine, LADDER, [("waits", waiting, [ids["Crasher"], ids["Steady"]], 0)], None)
    _crash(engine, ids, "last", ("Steady", "Crasher"))
    paused = league_bots.find_bot(engine, ids["Crasher"])
    assert paused is not None
    assert paused.paused is not None
    assert paused.paused_by == "last"
    assert {one.name for one in league_bots.contenders(engine, "dots")} == {"Steady"}
    dropped = league_matches.find_match(engine, "waits")
    assert dropped is not None
    assert dropped.status == DROPPED
    (entry,) = audit.entries(engine, action=audit.BOT_PAUSED)
    assert (entry.subject, entry.details) == ("Crasher", {"match": "last", "failures": MAX_FAILURES})


def test_a_paused_bot_is_resumed_by_its_owner_or_by_a_new_version(engine: Engine) -> None:
    ids = _uploaded(engine, "Steady", "Crasher")
    for attempt in range(2):
        for number in range(MAX_FAILURES):
            _crash(engine, ids, f"{attempt}-{number}", ("Steady", "Crasher"))
        assert {one.name for one in league_bots.contenders(engine, "dots")} == {"Steady"}
        if attempt:
            league_bots.add_version(engine, ids["Crasher"], "print(2)", [])
        else:
            league_bots.resume(engine, ids["Crasher"])
        assert {one.name for one in league_bots.contenders(engine, "dots")} == {"Steady", "Crasher"}
        _crash(engine, ids, f"{attempt}-again", ("Steady", "Crasher"))  # and the count has begun again
        assert {one.name for one in league_bots.contenders(engine, "dots")} == {"Steady", "Crasher"}
        league_bots.resume(engine, ids["Crasher"])
    assert [one.subject for one in audit.entries(engine, action=audit.BOT_RESUMED)] == ["Crasher"]


# Versions and measured ratings


def test_each_version_has_its_own_rating_and_begins_with_the_last_one(engine: Engine) -> None:
    ids = _uploaded(engine, "One", "Two")
    for number in range(8):
        _finish(engine, ids, f"a-{number}", ("One", "Two"), 1.0)
    queued = {"game": "dots", "names": ["One", "Two"]}
    league_matches.queue(engine, LADDER, [("late", queued, [ids["One"], ids["Two"]], 0)], None)
    league_bots.add_version(engine, ids["One"], "print('better')", [])
    begin_ladder(engine, "dots")
    (new, old) = league_bots.versions(engine, ids["One"])
    assert (new.number, old.number, new.games, old.games) == (2, 1, 0, 8)
    assert new.mu == old.mu
    assert new.sigma == pytest.approx(math.hypot(old.sigma or 0, NEW_SIGMA), abs=1e-5)
    assert new.identity != old.identity
    finish(engine, "late", _counted("late", ("One", "Two"), (-1.0, 1.0)), {}, count_game)  # of the version before
    assert [one.games for one in league_bots.versions(engine, ids["One"])] == [0, 9]
    _finish(engine, ids, "b-1", ("One", "Two"), -1.0)
    (new, old) = league_bots.versions(engine, ids["One"])
    assert (new.games, new.losses, old.games) == (1, 1, 9)
    assert new.mu < old.mu  # type: ignore[operator]
    standing = league_bots.standing(engine, ids["One"])
    assert standing is not None
    assert (standing.mu, standing.games) == (new.mu, 1)  # the leaderboard shows the current version
    assert len(league_bots.history(engine, ids["One"])) == 10
    assert league_bots.head_to_heads(engine, ids["One"]) == [league_bots.HeadToHead(ids["Two"], "Two", 8, 0, 2)]
    assert recompute(engine).changed == []
    assert league_bots.versions(engine, ids["One"]) == [new, old]


def test_measured_built_ins_change_only_by_games_between_them(engine: Engine) -> None:
    ids = _uploaded(engine, "Tanker")
    league_bots.ensure_builtins(engine, "dots", {"random": "random", "greedy": "greedy"})
    begin_ladder(engine, "dots")
    ids |= {one.name: one.id for one in league_bots.bots(engine, "dots")}
    before = _ratings(engine)
    assert before["greedy"][0] > before["random"][0]  # type: ignore[operator]
    for number in range(FIRST_REFIT):  # a bot that loses on purpose raises nobody
        _finish(engine, ids, f"m-{number}", ("random", "Tanker"), 1.0)
    after = _ratings(engine)
    assert after["random"] == (*before["random"][:2], FIRST_REFIT)
    assert after["Tanker"][0] < after["random"][0]  # type: ignore[operator]
    _finish(engine, ids, "m-own", ("random", "greedy"), 1.0)
    assert _ratings(engine)["random"][0] > after["random"][0]  # type: ignore[operator]
    assert recompute(engine).changed == []


def test_exact_ratings_are_attached_to_the_measured_built_ins(engine: Engine) -> None:
    ids = _uploaded(engine, "Equal")
    league_bots.ensure_builtins(engine, "dots", {"level:4": "level:4", "greedy": "greedy"})
    begin_ladder(engine, "dots")
    ids |= {one.name: one.id for one in league_bots.bots(engine, "dots")}
    for number in range(2 * FIRST_REFIT):  # as good as level:4, which is better than greedy
        other, result = ("level:4", number % 4 < 2) if number % 2 else ("greedy", number % 8 != 0)
        _finish(engine, ids, f"m-{number}", ("Equal", other), 1.0 if result else -1.0)
    found = _ratings(engine)
    assert abs(found["Equal"][0] - found["level:4"][0]) < 3  # type: ignore[operator]
    assert recompute(engine).changed == []


def test_ratings_of_older_rules_are_recomputed_once(engine: Engine) -> None:
    ids = _uploaded(engine, "Good", "Bad")
    _finish(engine, ids, "m-1", ("Good", "Bad"), 1.0)
    begin_ladder(engine, "dots")
    with engine.begin() as connection:
        connection.execute(text("UPDATE league_ratings SET mu = 99"))
    begin_ladder(engine, "dots")
    assert _ratings(engine)["Bad"][0] == 99
    with engine.begin() as connection:
        connection.execute(text("UPDATE league_ladders SET rules = 1"))
    begin_ladder(engine, "dots")
    assert _ratings(engine)["Good"][0] > MU > _ratings(engine)["Bad"][0]  # type: ignore[operator]


def _spaces_game(engine: Engine, ids: Sequence[str], match: str, options: dict[str, Any], result: float) -> None:
    play_spec = {"game": "spaces", "names": ["Good", "Bad"], "options": options}
    league_matches.queue(engine, LADDER, [(match, play_spec, ids, 0)], None)
    counted = _counted(match, ["Good", "Bad"], [result, -result])
    assert finish(engine, match, counted, {"match": match}, count_game)


def test_games_of_other_options_do_not_count_when_the_ladder_changes_its_own(engine: Engine) -> None:
    """As an existing database has them: the ladder of an earlier release played with the defaults."""
    ensure_local(engine)
    ids = [league_bots.enter_uploaded(engine, "spaces", LOCAL, name, "print()", []) for name in ("Good", "Bad")]
    begin_ladder(engine, "spaces")
    now = {"rules": "live", "choice": "blind"}
    for number in range(6):  # Bad wins with the old options, also when they are spelt out; Good with the new ones
        _spaces_game(engine, ids, f"old-{number}", {} if number % 2 else make("spaces").options, -1.0)
        if number < 2:
            _spaces_game(engine, ids, f"new-{number}", make("spaces", **now).options, 1.0)
    _spaces_game(engine, ids, "odd", {"size": "an option of a release to come"}, -1.0)
    play_spec = {"game": "spaces", "names": ["Good", "Bad"]}
    league_matches.queue(
        engine, LADDER, [("waits", play_spec, ids, 0), ("next", play_spec | {"options": now}, ids, 0)], None
    )
    assert {one.entry.name: one.games for one in league_bots.standings(engine, "spaces")} == {"Good": 9, "Bad": 9}
    with engine.begin() as connection:
        connection.execute(text("UPDATE league_ladders SET rules = 1"))
    begin_ladder(engine, "spaces")
    good, bad = league_bots.standings(engine, "spaces")
    assert (good.entry.name, good.wins, good.losses, bad.entry.name, bad.losses) == ("Good", 2, 0, "Bad", 2)
    assert [place for place, _, _ in league_bots.history(engine, ids[0])] == [1, 2]
    assert league_bots.played_count(engine, ids[0]) == 9  # all games can still be seen
    status = {one: getattr(league_matches.find_match(engine, one), "status", "") for one in ("waits", "next")}
    assert status == {"waits": DROPPED, "next": QUEUED}
    assert recompute(engine).changed == []
    _spaces_game(engine, ids, "new-2", make("spaces", **now).options, 1.0)
    assert [place for place, _, _ in league_bots.history(engine, ids[0])] == [1, 2, 3]


def test_other_options_make_other_rules_of_a_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    before = rules_of("skysummit")
    monkeypatch.setattr(find("skysummit").game_class(), "people_options", {"turn_limit": 50})
    prior_ratings.cache_clear()
    assert rules_of("skysummit") != before
    assert prior_ratings("skysummit") == UNMEASURED  # its ratings were measured with other options
    with monkeypatch.context() as unmeasured:
        unmeasured.setattr("ludodrome.arena.ladder.rating_updates.prior_ratings", lambda game: UNMEASURED)
        first = rules_of("skysummit")
        unmeasured.setattr(find("skysummit").game_class(), "people_options", {"turn_limit": 60})
        assert rules_of("skysummit") != first
    prior_ratings.cache_clear()
