"""Matches: which games they have, how they are played, stopped and gone on with."""

import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena import game_loop, records
from ludodrome.arena.api import play_match
from ludodrome.arena.matches.archives import RecordFolder
from ludodrome.arena.matches.match import (
    MatchRun,
    MatchSpec,
    SprtRun,
    checked_games,
    run_match,
)
from ludodrome.arena.matches.openings import EmptyBook, MatchBook
from ludodrome.arena.matches.scheduler import rotations, unplayed
from ludodrome.arena.matches.tallies import GameResult
from ludodrome.arena.matches.workers import LocalWorkers
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.statistics.sprt import Sprt
from ludodrome.bots.specs import distinct_names
from ludodrome.games import make
from tests.arena.matches.test_tallies import game
from tests.arena.quick import SMALL, match_settings

pytestmark = pytest.mark.xdist_group("dots")


def match(games: int = 6, swap: bool = True, bots: tuple[str, ...] = ("greedy", "random")) -> MatchSpec:
    return MatchSpec(match_settings(seed=5), bots, distinct_names(bots), games, swap)


def test_every_opening_is_played_with_all_seats_changed() -> None:
    pairings = list(match().pairings())
    assert [pairing.opening for pairing in pairings] == [0, 0, 1, 1, 2, 2]
    assert [pairing.names for pairing in pairings] == [("greedy", "random"), ("random", "greedy")] * 3
    assert [pairing.number for pairing in pairings] == list(range(6))
    first, second = (pairing.play_spec(()) for pairing in pairings[:2])
    assert first.seed == second.seed
    assert first.match != second.match


def test_without_swapping_every_game_has_its_own_opening() -> None:
    pairings = list(match(3, swap=False).pairings())
    assert [(pairing.opening, pairing.names) for pairing in pairings] == [(n, ("greedy", "random")) for n in range(3)]


def test_three_seats_rotate() -> None:
    assert list(rotations(3)) == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    three = MatchSpec(match_settings("santorini", players=3), ("a", "b", "c"), ("a", "b", "c"), 3)
    sat = Counter((name, seat) for pairing in three.pairings() for seat, name in enumerate(pairing.names))
    assert len(sat) == 9
    assert set(sat.values()) == {1}


def test_how_many_games() -> None:
    assert (checked_games(None, 2, True), checked_games(None, 3, True), checked_games(7, 2, False)) == (100, 99, 7)
    with pytest.raises(
        ValueError,
        match=r"7 games are not whole rounds; 8 would be, or any number without swapping \(--no-swap, swap=False\)",
    ):
        checked_games(7, 2, True)
    with pytest.raises(ValueError, match="from 1 to 1,000,000 games, not 0"):
        checked_games(0, 2, True)


def test_names_are_distinct() -> None:
    assert distinct_names(["greedy", "random", "greedy", "greedy"]) == ("greedy", "random", "greedy (2)", "greedy (3)")


def test_a_match_is_recorded_and_gone_on_with(tmp_path: Path) -> None:
    book = MatchBook(make("dots", **SMALL), 5, tmp_path)
    half = MatchRun(match(4))
    assert run_match(half, book, LocalWorkers(2), RecordFolder(tmp_path)).played == 4
    files = sorted(tmp_path.glob("m-*.json"))
    assert len(files) == 4
    files[0].write_text("nonsense")  # whatever cannot be read is played again
    whole = MatchRun(match(6))
    book = MatchBook(make("dots", **SMALL), 5, tmp_path)
    scheduler = run_match(whole, book, LocalWorkers(2), RecordFolder(tmp_path))
    assert (scheduler.recalled, scheduler.played, whole.tally.games) == (3, 3, 6)
    for file in tmp_path.glob("m-*.json"):
        record = records.read(file)
        records.verify(record)
        assert record["opening"]
    again = MatchRun(match(6))
    assert run_match(again, book, LocalWorkers(2), RecordFolder(tmp_path), play=refuse).recalled == 6
    assert again.tally.to_json() == whole.tally.to_json() | {"length": again.tally.to_json()["length"]}


def refuse(play_spec: PlaySpec) -> dict[str, Any]:
    raise AssertionError("nothing is left to be played")


def test_a_game_that_cannot_be_played_is_the_arenas_fault(tmp_path: Path) -> None:
    playing = MatchRun(match(4))
    run_match(playing, EmptyBook(), LocalWorkers(1), RecordFolder(tmp_path), play=refuse)
    assert playing.tally.unrated == playing.tally.decided_by["arena"] == 4
    for file in tmp_path.glob("m-*.json"):
        record = records.read(file)
        records.verify(record)
        (verdict,) = record["result"]["verdicts"]
        assert verdict["cause"] == "arena"
        assert verdict["why"].endswith("AssertionError: nothing is left to be played")


def kill_in_game_three(play_spec: PlaySpec) -> dict[str, Any]:
    if play_spec.number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return game_loop.play(play_spec)


def test_a_game_that_kills_its_workers_costs_nothing_but_itself() -> None:
    playing = MatchRun(match(6))
    run_match(playing, EmptyBook(), LocalWorkers(2), play=kill_in_game_three)
    assert (playing.tally.games, playing.tally.unrated) == (6, 1)


def test_an_unplayed_game_has_a_record_that_verifies() -> None:
    record = unplayed(next(match().pairings()).play_spec(()), "so it is")
    records.verify(record)
    assert record["result"]["rated"] is False


def result(number: int, first: float, rated: bool = True) -> GameResult:
    names = ("greedy", "random") if number % 2 == 0 else ("random", "greedy")
    return game(first, names, rated)


def test_a_trial_counts_in_the_order_of_the_schedule() -> None:
    trial = SprtRun(match(400), Sprt(0, 200))
    pairings = list(match(400).pairings())
    for number in (3, 2, 5, 0):
        trial.take(pairings[number], result(number, 1))
    assert (trial.counted, trial.tally.games) == (0, 0)
    trial.take(pairings[1], result(1, -1))
    assert (trial.counted, trial.tally.games) == (2, 4)
    assert trial.state.pairs == (0, 0, 1, 0, 1)


def test_a_trial_leaves_out_pairs_in_which_the_arena_failed() -> None:
    trial = SprtRun(match(400), Sprt(0, 200))
    pairings = list(match(400).pairings())
    for number in range(4):
        trial.take(pairings[number], result(number, 1, rated=number != 1))
    assert trial.counted == 1
    assert trial.tally.unrated == 1


@pytest.mark.parametrize(("greedy_wins", "verdict"), [(True, "H1"), (False, "H0")])
def test_a_trial_ends_with_its_verdict(greedy_wins: bool, verdict: str) -> None:
    trial = SprtRun(match(4000), Sprt(0, 50))
    pairings = []
    while pairing := trial.next():
        pairings.append(pairing)
        seat = pairing.names.index("greedy")
        trial.take(pairing, result(pairing.number, 1 if (seat == 0) == greedy_wins else -1))
    assert trial.stopping
    assert trial.state.verdict == verdict
    assert len(pairings) < 400
    assert trial.tally.games == 2 * trial.counted == len(pairings)


def test_records_are_the_same_with_one_worker_and_with_two(tmp_path: Path) -> None:
    for count in (1, 2):
        book = MatchBook(make("dots", **SMALL), 5, tmp_path / "book")
        run_match(MatchRun(match(6)), book, LocalWorkers(count), RecordFolder(tmp_path / str(count)))
    one, two = (
        {file.name: records.comparable(json.loads(file.read_text())) for file in (tmp_path / name).glob("m-*.json")}
        for name in ("1", "2")
    )
    assert len(one) == 6
    assert json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)


PATRICIDE = """
import json, os, sys
for line in sys.stdin:
    if json.loads(line)["type"] == "turn":
        os.kill(os.getppid(), 9)
"""


def test_a_bot_that_kills_the_process_that_runs_it_loses(tmp_path: Path) -> None:
    """The game was not rated, as if the arena had failed."""
    path = tmp_path / "killer.py"
    path.write_text(PATRICIDE)
    killer = f"cmd:{sys.executable} -I -S {path}"
    result = play_match("skysummit", [killer, "random"], games=1, swap=False, workers=1, openings=False, seed=1)
    (record,) = result.records
    records.verify(record)
    verdict = record["result"]["verdicts"][0]
    assert (verdict["seat"], verdict["cause"]) == (0, "crash")
    assert verdict["why"] == "it killed the process that ran it, each time that it was started"
    assert (record["result"]["winner"], record["result"]["rated"]) == (1, True)
