"""A fresh league: built-ins are rated as measured, and stay in that order whoever is entered beside them."""

import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest
from sqlalchemy import Engine

from ludodrome import games
from ludodrome.arena.ladder import enter_builtins, playing
from ludodrome.arena.ladder.matchmaking import NARROW
from ludodrome.arena.ladder.prior_ratings import UNMEASURED, ladder_game, prior_ratings, relative
from ludodrome.arena.ladder.rating_updates import (
    ELO_A_MU,
    MIDDLE,
    MIN_SIGMA,
    count_game,
    displayed_rating,
    failures_of,
    recompute,
)
from ludodrome.arena.ladder.scheduler import ON, LadderScheduler
from ludodrome.arena.ladder.uploads import OFF
from ludodrome.arena.matches.pool import run
from ludodrome.arena.matches.workers import AnyExecutor
from ludodrome.arena.statistics.ratings import rate
from ludodrome.bots.starters import one_file
from ludodrome.games import BUILT_IN, GameEntry, find
from ludodrome.store import league_bots, league_matches
from ludodrome.store.accounts import ensure_local
from ludodrome.store.database import open_database
from ludodrome.store.league_models import BUILTIN, LADDER
from ludodrome.store.league_ratings import MAX_FAILURES, finish
from ludodrome.store.models import LOCAL

ROOT = Path(__file__).parents[3]
GAMES = 100
"""Games of the newcomer."""
CRASH = "raise SystemExit('nothing here works')"


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Engine]:
    engine = open_database(tmp_path / "league.sqlite", create=True)
    ensure_local(engine)
    enter_builtins(engine)
    yield engine
    engine.dispose()


@pytest.mark.parametrize("game", BUILT_IN)
def test_the_measured_ratings_follow_from_their_games(game: str) -> None:
    found, specs = prior_ratings(game), find(game).game_class().ladder_bots
    assert set(found.ratings) == set(specs)
    assert found.ratings == relative(rate(found.results), specs)
    assert list(found.ratings) == sorted(specs, key=lambda spec: -found.ratings[spec].elo)
    assert abs(sum(one.elo for one in found.ratings.values())) < 1
    assert found.measured >= "2026-11-18"
    assert found.command == f"benchmarks/strength --league {game}"


@pytest.mark.parametrize("game", BUILT_IN)
def test_the_pages_say_what_was_measured(game: str) -> None:
    page = (ROOT / "docs" / "results" / "strength.md").read_text("utf-8")
    for spec, one in prior_ratings(game).ratings.items():
        assert f"| {game} | `{spec}` | {one.elo:+.0f} | {1.96 * one.error:.0f} | {one.games:,} |" in page
    found = rate(prior_ratings(game).results)
    levels = [found.line(f"level:{number}").rating for number in range(1, 7)]
    assert levels == sorted(levels)  # the others are measured with a clock, by benchmarks/strength --claims
    equal = 5 if find(game).by_steps else 3  # "greedy is about as strong as level:3, in spaces as level:5"
    nearest = min(range(1, 7), key=lambda number: abs(levels[number - 1] - found.line("greedy").rating))
    assert abs(nearest - equal) <= 1
    assert found.line("random").rating < levels[0] + 100


def test_a_game_without_a_measurement_has_unrated_built_ins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("ludodrome.arena.ladder.prior_ratings.package_folder", lambda module: tmp_path)
    prior_ratings.cache_clear()
    assert prior_ratings("dots") == UNMEASURED
    prior_ratings.cache_clear()


@pytest.mark.parametrize("module", ["this", "made_by_a_test"])
def test_a_game_whose_module_has_no_folder_is_unmeasured(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plug-in may be a single file: the server did not start with it."""
    monkeypatch.setitem(sys.modules, "made_by_a_test", ModuleType("made_by_a_test"))
    monkeypatch.setitem(games.GAMES._plugins, "lonely", GameEntry("lonely", "Lonely", "a single file", module))
    prior_ratings.cache_clear()
    assert prior_ratings("lonely") == UNMEASURED
    prior_ratings.cache_clear()


@pytest.mark.parametrize("game", BUILT_IN)
def test_a_fresh_leaderboard_shows_measured_ratings(game: str, fresh: Engine) -> None:
    lines = league_bots.standings(fresh, game)
    measured = prior_ratings(game).ratings
    assert [line.entry.name for line in lines] == list(measured)
    for line in lines:
        shown, prior = displayed_rating(line.mu, line.sigma), measured[line.entry.name]
        assert shown.rating == pytest.approx(MIDDLE + prior.elo, abs=0.2)
        assert shown.high - shown.rating == pytest.approx(1.96 * max(prior.error, MIN_SIGMA * ELO_A_MU), abs=1)
    assert recompute(fresh).changed == []


@pytest.mark.parametrize("game", BUILT_IN)
def test_the_order_of_built_ins_is_the_measured_one_with_a_newcomer_and_a_crasher(game: str, fresh: Engine) -> None:
    newcomer = league_bots.enter_uploaded(fresh, game, LOCAL, "Newcomer", "print()", [])
    crasher = league_bots.enter_uploaded(fresh, game, LOCAL, "Crasher", CRASH, [])
    measured = {spec: one.elo for spec, one in prior_ratings(game).ratings.items()}
    elo = measured | {"Newcomer": sorted(measured.values())[len(measured) // 2] + 40}
    rng = random.Random(game)
    scheduler = LadderScheduler(fresh, str(fresh.url), "test", ON)
    for number in range(10 * GAMES):
        group = scheduler._group(game)
        scheduler._contenders_cache.clear()
        standing = league_bots.standing(fresh, newcomer)
        assert standing is not None
        if group is None or standing.games >= GAMES:
            break
        names = [one.name for one in rng.sample(group, 2)]
        ids = {one.name: one.id for one in group}
        play_spec = {"game": game, "names": names, "options": ladder_game(game).options}
        league_matches.queue(fresh, LADDER, [(f"m-{number}", play_spec, [ids[name] for name in names], 0)], None)
        _finish_simulated(fresh, f"m-{number}", names, elo, rng)
    ordered = [line.entry.name for line in league_bots.standings(fresh, game) if line.entry.kind == BUILTIN]
    assert ordered == list(measured)
    standing = league_bots.standing(fresh, newcomer)
    assert standing is not None
    assert standing.games == GAMES or (standing.sigma or 9) <= NARROW  # it rests when its rating is certain
    assert displayed_rating(standing.mu, None).rating - MIDDLE == pytest.approx(
        elo["Newcomer"], abs=4 * NARROW * ELO_A_MU
    )
    broken = league_bots.find_bot(fresh, crasher)
    assert broken is not None
    assert broken.paused is not None
    assert league_bots.standings(fresh, game)[0].entry.name != "Crasher"
    assert recompute(fresh).changed == []


def _finish_simulated(engine: Engine, match: str, names: list[str], elo: dict[str, float], rng: random.Random) -> None:
    """A result drawn from the strengths; the crasher crashes."""
    verdicts, decided_by = [], "play"
    if "Crasher" in names:
        verdicts, decided_by = [[names.index("Crasher"), "crash"]], "forfeit"
        first = 1.0 if names[1] == "Crasher" else -1.0
    else:
        share = 1 / (1 + 10 ** ((elo[names[1]] - elo[names[0]]) / 400))
        first = 1.0 if rng.random() < share else -1.0
    counted = {
        "match": match,
        "names": names,
        "returns": [first, -first],
        "rated": True,
        "reason": "made up",
        "decided_by": decided_by,
        "verdicts": verdicts,
        "length": 9,
        "moves": [5, 4],
        "ms": [0, 0],
        "slowest_ms": [0, 0],
    }
    finish(engine, match, counted, {"match": match}, count_game, failures=failures_of(counted, False))


@pytest.mark.parametrize("game", BUILT_IN)
def test_the_same_with_real_games(game: str, fresh: Engine, long: bool) -> None:
    if not long:
        pytest.skip("100 games take minutes: --long")
    newcomer = league_bots.enter_uploaded(fresh, game, LOCAL, "Newcomer", one_file(game), [])
    crasher = league_bots.enter_uploaded(fresh, game, LOCAL, "Crasher", CRASH, [])
    database = fresh.url.render_as_string(hide_password=False)
    scheduler = _OneGame(fresh, database, game, newcomer)
    with ThreadPoolExecutor(1) as threads:
        run(scheduler, AnyExecutor(threads, 1))
    playing._database(database).dispose()
    playing._database.cache_clear()
    ordered = [line.entry.name for line in league_bots.standings(fresh, game) if line.entry.kind == BUILTIN]
    assert ordered == list(prior_ratings(game).ratings)
    standing = league_bots.standing(fresh, newcomer)
    assert standing is not None
    assert standing.games >= GAMES or (standing.sigma or 9) <= NARROW
    assert standing.failures == 0
    broken = league_bots.standing(fresh, crasher)
    assert broken is not None
    assert broken.entry.paused is not None
    assert broken.failures == broken.games >= MAX_FAILURES
    assert recompute(fresh).changed == []


class _OneGame(LadderScheduler):
    """A scheduler of one game's ladder, until the newcomer has played enough."""

    def __init__(self, engine: Engine, database: str, game: str, newcomer: str) -> None:
        super().__init__(engine, database, "test", ON, OFF)
        self._game, self._newcomer = game, newcomer

    def next(self):  # type: ignore[no-untyped-def]
        """The next job, if more games are needed."""
        standing = league_bots.standing(self._engine, self._newcomer)
        if standing is not None and standing.games >= GAMES:
            self.stopping = True
        return super().next()

    def _group(self, game: str):  # type: ignore[no-untyped-def]
        return super()._group(game) if game == self._game else None
