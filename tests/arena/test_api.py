"""Matches, tests and tournaments from Python: ``ludodrome.play_match``, ``sprt`` and ``tournament``."""

import doctest
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ludodrome
from ludodrome.arena import api, records
from ludodrome.arena.matches import workers
from ludodrome.arena.matches.workers import InlineWorkers, LocalWorkers
from ludodrome.arena.records import archive
from ludodrome.arena.tournaments.plans import make_plan
from ludodrome.arena.tournaments.tournament import Tournament
from ludodrome.store.database import open_database
from ludodrome.store.tournaments import StoredLedger
from tests.arena.quick import SMALL

pytestmark = pytest.mark.xdist_group("dots")
QUICK: dict[str, Any] = {"clock": "nodes=100", "workers": 0, "openings": False, "seed": 0}


@pytest.fixture
def game() -> ludodrome.Game:
    return ludodrome.make("dots", **SMALL)


def test_the_examples_in_the_docstrings() -> None:
    found = doctest.testmod(api)
    assert found.attempted > 10
    assert found.failed == 0


def test_scores_elo_and_records(game: ludodrome.Game) -> None:
    result = ludodrome.play_match(game, ["chains", "weak=random"], games=10, **QUICK)
    assert (result.games, result.total, result.finished, result.interrupted) == (10, 10, True, False)
    assert result.names == ("chains", "weak")
    assert sum(one.points for one in result.scores.values()) == 10
    chains = result.scores["chains"]
    assert chains.games == chains.wins + chains.draws + chains.losses == 10
    assert chains.low <= chains.share <= chains.high
    assert result.elo is not None
    assert result.elo_interval is not None
    assert result.elo_interval[0] < result.elo < result.elo_interval[1]
    assert [one["names"] for one in result.records] == [["chains", "weak"], ["weak", "chains"]] * 5
    for record in result.records:
        records.verify(record)
    assert result.to_json()["score"] == result.score.to_json() if result.score else None
    assert repr(result).startswith("<MatchResult 10 of 10 games: chains ")


def test_a_game_by_its_id_and_bots_by_name() -> None:
    result = ludodrome.play_match("dots", {"one": "random", "two": "random"}, games=2, **QUICK)
    assert result.names == ("one", "two")
    assert result.spec.bots == ("random", "random")
    same = ludodrome.play_match("dots", ["random", "random"], games=2, **QUICK)
    assert same.names == ("random", "random (2)")


def test_three_seats_have_shares_and_no_elo() -> None:
    three = ludodrome.make("santorini", players=3)
    result = ludodrome.play_match(three, ["random", "random", "random"], games=3, **QUICK)
    assert result.elo is None
    assert result.elo_interval is None
    assert sum(one.points for one in result.scores.values()) == pytest.approx(3)
    with pytest.raises(ValueError, match="Elo compares two players"):
        ludodrome.sprt(three, ["random", "random", "random"], **QUICK)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"game": "ludo"}, "ludo"),
        ({"bots": ["random"]}, "dots has 2 seats with these options, so give 2 bots, not 1"),
        ({"bots": ["random", "rando"]}, "there is no bot 'rando'; the bots of dots are"),
        ({"bots": ["a=random", "a=greedy"]}, "two bots are called a; give one of them another name"),
        ({"games": 7}, "8 would be, or any number without swapping"),
        ({"clock": "soon"}, "soon"),
        ({"policy": "shrug"}, "shrug"),
        ({"openings": []}, "a list of openings has at least one"),
        ({"openings": [["nowhere"]]}, "opening 1: move 1 cannot be made"),
        ({"openings": "nothing.jsonl"}, "the openings nothing.jsonl cannot be read"),
        ({"workers": -1}, "workers is 0 or more, not -1"),
    ],
)
def test_what_is_wrong_is_said(changed: dict[str, Any], sentence: str) -> None:
    wanted: dict[str, Any] = {"game": "dots", "bots": ["random", "greedy"], "games": 2}
    with pytest.raises(ValueError, match=sentence):
        ludodrome.play_match(**wanted | QUICK | changed)


@pytest.mark.parametrize("changed", [{"game": 7}, {"bots": "random"}])
def test_what_is_of_another_type_is_said(changed: dict[str, Any]) -> None:
    wanted: dict[str, Any] = {"game": "dots", "bots": ["random", "greedy"], "games": 2}
    with pytest.raises(TypeError, match=r"is an id or made by ludodrome\.make|is a list of specs"):
        ludodrome.play_match(**wanted | QUICK | changed)


def test_openings_may_be_listed(game: ludodrome.Game) -> None:
    first, second = game.legal_moves(game.initial_state())[:2]
    result = ludodrome.play_match(game, ["random", "random"], games=4, **QUICK | {"openings": [[first], [second]]})
    assert [one["opening"] for one in result.records] == [[first], [first], [second], [second]]


def test_a_match_continues_with_new_openings(game: ludodrome.Game) -> None:
    whole = ludodrome.play_match(game, ["greedy", "random"], games=6, **QUICK)
    rest = ludodrome.play_match(game, ["greedy", "random"], games=2, first_opening=2, **QUICK)
    assert [one["match"] for one in rest.records] == [one["match"] for one in whole.records[4:]]
    with pytest.raises(ValueError, match="openings are numbered from 0, not from -1"):
        ludodrome.play_match(game, ["greedy", "random"], games=2, first_opening=-1, **QUICK)


def test_progress_is_called_with_the_result_so_far(game: ludodrome.Game) -> None:
    seen: list[int] = []
    result = ludodrome.play_match(
        game, ["random", "random"], games=10, progress=lambda so_far: seen.append(so_far.games), **QUICK
    )
    assert seen == sorted(seen)
    assert len(set(seen)) > 2
    assert seen[-1] == result.games == 10


def test_records_in_a_folder_in_lines_or_not_kept(game: ludodrome.Game, tmp_path: Path) -> None:
    kept = ludodrome.play_match(game, ["greedy", "random"], games=4, records=tmp_path, **QUICK)
    assert len(list(tmp_path.glob("m-*.json"))) == 4
    more = ludodrome.play_match(game, ["greedy", "random"], games=6, records=tmp_path, **QUICK)
    assert more.records[:4] == kept.records
    assert more.save_records(tmp_path / "all.jsonl") == 6
    assert list(archive.find([tmp_path / "all.jsonl"])) == more.records
    dropped = ludodrome.play_match(game, ["greedy", "random"], games=2, records=False, **QUICK)
    with pytest.raises(ValueError, match="the records of this match were not kept"):
        print(dropped.records)


def test_a_few_instant_games_start_no_workers(game: ludodrome.Game, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: LocalWorkers) -> Any:
        raise AssertionError(f"{self.width} workers start")

    monkeypatch.setattr(LocalWorkers, "open", refuse)
    monkeypatch.setattr(workers, "core_count", lambda: 7)
    usual = QUICK | {"workers": None}
    assert ludodrome.play_match(game, ["greedy", "random"], games=2, **usual).finished
    with pytest.raises(AssertionError, match="7 workers start"):
        ludodrome.play_match(game, ["greedy", "random"], games=22, **usual)
    with pytest.raises(AssertionError, match="2 workers start"):
        ludodrome.play_match(game, ["chains", "random"], games=2, **usual)
    with pytest.raises(AssertionError, match="1 workers start"):
        ludodrome.play_match(game, ["greedy", "random"], games=2, **usual | {"workers": 1})


def test_more_workers_than_cores_are_warned_about_if_time_counts(
    game: ludodrome.Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "core_count", lambda: 2)
    monkeypatch.setattr(LocalWorkers, "open", lambda self: InlineWorkers().open())
    monkeypatch.setattr(LocalWorkers, "end", lambda self, executor: None)
    with pytest.warns(UserWarning, match="3 workers share 2 cores, so bots lose time on their clocks"):
        ludodrome.play_match(game, ["greedy", "random"], games=2, **QUICK | {"workers": 3, "clock": "1s"})
    with pytest.warns(UserWarning, match="use at most 2 workers"):
        ludodrome.tournament(game, ["greedy", "random"], **QUICK | {"workers": 3, "clock": "1s"})
    ludodrome.play_match(game, ["greedy", "random"], games=2, **QUICK | {"workers": 3})


def test_the_same_records_with_any_workers(game: ludodrome.Game) -> None:
    def played(workers: Any) -> str:
        result = ludodrome.play_match(game, ["greedy", "random"], games=4, **QUICK | {"workers": workers})
        return json.dumps([records.comparable(one) for one in result.records], sort_keys=True)

    with ThreadPoolExecutor(2) as threads:
        assert played(0) == played(2) == played(threads)


def test_ctrl_c_keeps_what_was_finished(game: ludodrome.Game) -> None:
    def stop(so_far: ludodrome.MatchResult) -> None:
        if so_far.games == 4:
            signal.raise_signal(signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    result = ludodrome.play_match(game, ["greedy", "random"], games=100, progress=stop, **QUICK)
    assert result.interrupted
    assert not result.finished
    assert 4 <= result.games == len(result.records) < 100


def test_sprt(game: ludodrome.Game) -> None:
    result = ludodrome.sprt(game, ["chains", "random"], elo1=100, **QUICK)
    assert result.passed
    assert result.finished
    assert result.games == len(result.records) == 2 * result.counted_pairs < result.total
    assert result.state.llr >= result.state.upper
    assert result.to_json()["sprt"]["verdict"] == "H1"
    worse = ludodrome.sprt(game, ["random", "chains"], elo1=100, **QUICK)
    assert worse.passed is False
    undecided = ludodrome.sprt(game, ["chains", "random"], max_games=2, **QUICK)
    assert (undecided.passed, undecided.games) == (None, 2)


def test_a_tournament_in_memory_and_in_a_store(game: ludodrome.Game, tmp_path: Path) -> None:
    bots = ["chains", "greedy", "weak=random"]
    memory = ludodrome.tournament(game, bots, pairs=2, **QUICK)
    assert (memory.games, memory.total, memory.finished) == (12, 12, True)
    assert len(memory.records) == 12
    assert sum(line.points for line in memory.standings) == 12
    assert all(line.rating is not None for line in memory.standings)
    store = tmp_path / "spring.sqlite"
    stored = ludodrome.tournament(game, bots, pairs=2, store=store, **QUICK)
    assert [line.to_json() for line in stored.standings] == [line.to_json() for line in memory.standings]
    with pytest.raises(ValueError, match="already has a tournament tournament; continue it with resume=True"):
        ludodrome.tournament(game, bots, pairs=2, store=store, **QUICK)
    with pytest.raises(ValueError, match="has changed since it was started: pairs"):
        ludodrome.tournament(game, bots, pairs=3, store=store, resume=True, **QUICK)
    again = ludodrome.tournament(game, bots, pairs=2, store=store, resume=True, **QUICK)
    assert again.records == stored.records


def test_a_tournament_that_an_older_version_began_goes_on_as_it_began(game: ludodrome.Game, tmp_path: Path) -> None:
    table = {"id": game.id, "options": game.options}
    given = {"games": [table], "bots": ["greedy", "random"], "pairs": 2, "clock": "nodes=100", "openings": False}
    plan = make_plan(given)
    older = replace(plan, settings=tuple(replace(one, version=1) for one in plan.settings))
    stored = older.to_json()
    del stored["games"][0]["version"]
    store = tmp_path / "old.sqlite"
    ledger = StoredLedger.begin(open_database(store, create=True), plan.name, stored)
    Tournament(older, ledger).play(InlineWorkers())
    opened = api.open_tournament(plan, store, resume=True)
    result = api.play_tournament(opened, workers=0)
    assert result.finished
    assert [record["version"] for record in result.records] == [1] * 4
    for record in result.records:
        records.verify(record)


def test_a_tournament_of_several_games_and_formats(game: ludodrome.Game) -> None:
    result = ludodrome.tournament([game, "skysummit"], ["random", "greedy"], **QUICK)
    assert result.games == 4
    assert len(result.standings_of("skysummit")) == 2
    with pytest.raises(ValueError, match="a game of this tournament is"):
        result.standings_of("chess")
    knockout = ludodrome.tournament(game, ["random", "greedy", "chains"], format="knockout", **QUICK)
    assert knockout.standings[0].note == "winner"
    with pytest.raises(ValueError, match="the format is"):
        ludodrome.tournament(game, ["random", "greedy"], format="league", **QUICK)


GUARD = """
import ludodrome
ludodrome.play_match("dots", ["random", "random"], games=8, clock="nodes=1", openings=False, workers=1)
"""


def test_a_script_without_a_guard_gets_a_hint(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(GUARD)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert 'put the call below if __name__ == "__main__":, or play with workers=0' in done.stderr


HIDDEN = """
import sys
for name in ("sqlalchemy", "alembic", "openskill"):
    sys.modules[name] = None
import ludodrome
game = ludodrome.make("dots", rows=2, cols=2)
quick = {"clock": "nodes=100", "workers": 0, "openings": False}
print(ludodrome.play_match(game, ["chains", "random"], games=4, **quick).elo is not None)
print(ludodrome.sprt(game, ["chains", "random"], max_games=4, **quick).games)
print(len(ludodrome.tournament(game, ["chains", "random"], **quick).standings))
try:
    ludodrome.tournament(game, ["chains", "random"], store="a.sqlite", **quick)
except ImportError as error:
    print(error)
from ludodrome.arena.statistics.ratings import Rating, update
try:
    update([Rating(), Rating()], (1, -1))
except ImportError as error:
    print(error)
"""


def test_without_the_extras_matches_are_played_and_the_rest_names_its_extra(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", HIDDEN], capture_output=True, text=True, cwd=tmp_path, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "True",
        "4",
        "2",
        "databases need sqlalchemy, which is not installed: pip install 'ludodrome[database]'",
        "the ladder's ratings need openskill, which is not installed: pip install 'ludodrome[ratings]'",
    ]
