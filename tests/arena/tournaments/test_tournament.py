"""Tournaments, played and recalled."""

from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena.api import open_tournament
from ludodrome.arena.matches.workers import InlineWorkers, LocalWorkers
from ludodrome.arena.tournaments.plans import TournamentPlan
from ludodrome.arena.tournaments.report import crosstable, standings
from ludodrome.arena.tournaments.tournament import MemoryLedger, Tournament
from tests.arena import quick
from tests.arena.matches.test_match import refuse
from tests.arena.tournaments.test_rounds import SKY, THREE

pytestmark = pytest.mark.xdist_group("dots")


def table(tournament: Tournament) -> list[Any]:
    return [line.to_json() for line in standings(tournament)]


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet", "swiss", "knockout"])
def test_every_format_is_played_and_recalled(tmp_path: Path, kind: str) -> None:
    plan = quick.plan(format=kind, bots=quick.BOTS[:4], openings=True)
    played = quick.tournament(tmp_path / "t.sqlite", plan)
    played.play(LocalWorkers(2))
    assert played.finished
    recalled = quick.tournament(tmp_path / "t.sqlite", plan)
    recalled.recall()
    assert recalled.finished
    assert table(recalled) == table(played)
    again = quick.tournament(tmp_path / "t.sqlite", plan)
    again.play(LocalWorkers(1), refuse)
    assert table(again) == table(played)
    assert quick.count(tmp_path / "t.sqlite") == played.played


def test_a_tournament_begins_from_the_openings_of_a_file(tmp_path: Path) -> None:
    """Only matches could."""
    book = tmp_path / "book.txt"
    book.write_text("H(0,0); V(0,1)\nH(1,1)\n")
    plan = quick.plan(openings=str(book), pairs=2)
    played = quick.tournament(tmp_path / "t.sqlite", plan)
    played.play(InlineWorkers())
    assert played.finished
    found = sorted(
        {str([f"{one['orient']}{one['r']}{one['c']}" for one in record["opening"]]) for record in played.records()}
    )
    assert found == ["['H00', 'V01']", "['H11']"]
    assert f"openings of dots: 2 of the 2 in {book}" in played.notes
    # Its tables need no file, and it is not resumed with other openings.
    book.write_text("H(1,1)\n")
    recalled = Tournament(TournamentPlan.from_json(plan.to_json()), played.ledger)
    recalled.recall()
    assert table(recalled) == table(played)
    with pytest.raises(ValueError, match="the plan of quick has changed since it was started: book_hashes"):
        open_tournament(quick.plan(openings=str(book), pairs=2), tmp_path / "t.sqlite", resume=True)


def test_each_game_of_a_tournament_may_have_its_own_openings(tmp_path: Path) -> None:
    (tmp_path / "small").write_text("H(0,0)\n")
    (tmp_path / "other").write_text("H(1,0)\n")
    games = [
        quick.DOTS,
        {"id": "dots", "name": "wide", "options": {"rows": 1, "cols": 2}, "openings": str(tmp_path / "other")},
    ]
    played = Tournament(quick.plan(games=games, bots=quick.BOTS[:2], openings=str(tmp_path / "small")), MemoryLedger())
    played.play(InlineWorkers())
    rows = {record["options"]["rows"]: record["opening"][0]["r"] for record in played.records()}
    assert rows == {2: 0, 1: 1}


def test_half_a_tournament_is_gone_on_with(tmp_path: Path) -> None:
    plan = quick.plan(pairs=3)
    begun = quick.tournament(tmp_path / "t.sqlite", plan)

    def stop() -> None:
        begun.stopping = begun.played >= 5

    begun.play(LocalWorkers(1), on_tick=stop)
    there = quick.count(tmp_path / "t.sqlite")
    assert 5 <= there < 18
    recalled = quick.tournament(tmp_path / "t.sqlite", plan)
    recalled.recall()
    assert (recalled.played, recalled.finished) == (there, False)
    finished = quick.tournament(tmp_path / "t.sqlite", plan)
    finished.play(LocalWorkers(2))
    whole = quick.tournament(tmp_path / "whole.sqlite", plan)
    whole.play(LocalWorkers(2))
    assert table(finished) == table(whole)
    assert quick.kept(tmp_path / "t.sqlite") == quick.kept(tmp_path / "whole.sqlite")


def test_several_games_home_and_away_and_three_seats(tmp_path: Path) -> None:
    bots = [{"bot": "random", "home": "dots"}, {"bot": "greedy", "home": "skysummit"}]
    plan = quick.plan(bots=bots, games=[quick.DOTS, SKY], home_and_away=True)
    away = quick.tournament(tmp_path / "away.sqlite", plan)
    away.play(LocalWorkers(2))
    assert {name: results.tally.games for name, results in away.results.items()} == {"dots": 2, "skysummit": 2}
    three = quick.tournament(tmp_path / "three.sqlite", quick.plan(bots=quick.BOTS[:3], games=[quick.DOTS, THREE]))
    three.play(LocalWorkers(2))
    assert three.results["three"].tally.games == 3
    cell = crosstable(three, "three")["random", "greedy"]
    assert cell.games == 3
    assert {line.games for line in standings(three)} == {4 + 3}


def test_a_game_counts_once_even_if_two_programs_play_it(tmp_path: Path) -> None:
    plan = quick.plan()
    first, second = (quick.tournament(tmp_path / "t.sqlite", plan) for _ in range(2))
    archive = tmp_path / "t.sqlite"
    first.play(LocalWorkers(1))
    record = next(first.ledger.records())
    assert second.ledger.add_game(record["match"], "dots", True, {}, record) is False
    assert quick.count(archive) == 6


def test_unrated_games_can_be_forgotten(tmp_path: Path) -> None:
    plan = quick.plan()
    failed = quick.tournament(tmp_path / "t.sqlite", plan)
    failed.play(LocalWorkers(1), refuse)
    assert failed.results["dots"].tally.unrated == 6
    assert all(line.rating is None for line in standings(failed))
    assert failed.ledger.forget_unrated() == 6
    again = quick.tournament(tmp_path / "t.sqlite", plan)
    again.play(LocalWorkers(1))
    assert again.results["dots"].tally.unrated == 0
