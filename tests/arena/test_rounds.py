"""The games of a tournament, round by round, with results made up."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from ludodrome.arena.matches.scheduler import Pairing
from ludodrome.arena.matches.tallies import GameResult
from ludodrome.arena.tournaments.plans import TournamentPlan
from ludodrome.arena.tournaments.rounds import FixedRounds, KnockoutRounds, SwissRounds, rounds_of
from tests.arena import quick

pytestmark = pytest.mark.xdist_group("dots")

Judge = Callable[[Pairing], tuple[float, ...]]
SKY: dict[str, Any] = {"id": "skysummit"}
THREE: dict[str, Any] = {"id": "santorini", "name": "three", "options": {"players": 3}}


def outcome(pairing: Pairing, returns: tuple[float, ...], rated: bool = True) -> GameResult:
    seats = len(pairing.names)
    how = "play" if rated else "arena"
    zeros = (0,) * seats
    return GameResult(
        pairing.assignment(()).match, pairing.names, returns, rated, "over", how, (), 9, zeros, zeros, zeros
    )


def stronger(plan: TournamentPlan) -> Judge:
    """Whoever was entered earlier wins."""
    numbers = {name: number for number, name in enumerate(plan.names)}
    return lambda pairing: (1, -1) if numbers[pairing.names[0]] < numbers[pairing.names[1]] else (-1, 1)


def play(plan: TournamentPlan, judge: Judge, backwards: bool = False) -> tuple[Any, list[Pairing]]:
    """All pairings of a plan; results come in when there is nothing more to give out, in one order or the other."""
    rounds, given = rounds_of(plan), list[Pairing]()
    while True:
        batch = []
        while pairing := rounds.next():
            batch.append(pairing)
        if not batch:
            return rounds, given
        given += batch
        for pairing in reversed(batch) if backwards else batch:
            rounds.take(pairing, outcome(pairing, judge(pairing)))


def test_round_robin() -> None:
    plan = quick.plan(bots=quick.BOTS[:4], pairs=3, games=[quick.DOTS, SKY])
    rounds, pairings = play(plan, stronger(plan))
    assert isinstance(rounds, FixedRounds)
    assert len(pairings) == rounds.total == 6 * 2 * 2 * 3
    assert len({pairing.assignment(()).match for pairing in pairings}) == len(pairings)
    seatings = Counter((pairing.settings.name, pairing.opening, pairing.names) for pairing in pairings)
    assert set(seatings.values()) == {1}
    assert {pairing.opening for pairing in pairings} == {0, 1, 2}
    assert [pairing.opening for pairing in pairings] == sorted(pairing.opening for pairing in pairings)


def test_round_robin_of_three_seats_beside_two() -> None:
    plan = quick.plan(bots=quick.BOTS[:4], games=[quick.DOTS, THREE])
    rounds, pairings = play(plan, lambda pairing: (0,) * len(pairing.names))
    three = [pairing for pairing in pairings if pairing.settings.name == "three"]
    assert len(three) == 4 * 3
    assert len(pairings) == rounds.total == 12 + 12
    sat = Counter((name, seat) for pairing in three for seat, name in enumerate(pairing.names))
    assert set(sat.values()) == {3}


def test_gauntlet_of_two_challengers() -> None:
    plan = quick.plan(format="gauntlet", bots=quick.BOTS, challengers=["greedy", "chains"])
    rounds, pairings = play(plan, stronger(plan))
    assert len(pairings) == rounds.total == 2 * 3 * 2
    assert all(len({"greedy", "chains"} & set(pairing.names)) == 1 for pairing in pairings)


def test_home_and_away() -> None:
    bots = [
        {"bot": "random", "home": "dots"},
        {"bot": "greedy", "home": "skysummit"},
        {"bot": "level:1", "home": "dots"},
    ]
    plan = quick.plan(bots=bots, games=[quick.DOTS, SKY], home_and_away=True, pairs=2)
    rounds, pairings = play(plan, stronger(plan))
    assert len(pairings) == rounds.total == 3 * 4 * 2
    assert len({pairing.assignment(()).match for pairing in pairings}) == len(pairings)
    where = Counter((frozenset(pairing.names), pairing.settings.name) for pairing in pairings)
    assert where == {
        (frozenset({"random", "greedy"}), "dots"): 4,
        (frozenset({"random", "greedy"}), "skysummit"): 4,
        (frozenset({"greedy", "level:1"}), "dots"): 4,
        (frozenset({"greedy", "level:1"}), "skysummit"): 4,
        (frozenset({"random", "level:1"}), "dots"): 8,
    }


@pytest.mark.parametrize("backwards", [False, True])
def test_swiss(backwards: bool) -> None:
    plan = quick.plan(format="swiss", bots=quick.BOTS, pairs=2)
    rounds, pairings = play(plan, stronger(plan), backwards)
    assert isinstance(rounds, SwissRounds)
    assert len(pairings) == rounds.total == 3 * 2 * 4
    meetings = Counter(frozenset(pairing.names) for pairing in pairings)
    assert set(meetings.values()) == {4}
    assert rounds.order() is not None
    assert rounds.order()[0] == 0  # type: ignore[index]
    assert rounds.points[0] == 3
    assert sum(rounds.points) == 3 * 3
    assert rounds.notes()["random"].startswith("3 of 3 rounds, opponents ")


def test_swiss_rounds_do_not_depend_on_the_order_of_results() -> None:
    plan = quick.plan(format="swiss", bots=quick.BOTS, pairs=1, rounds=4)
    judge = stronger(plan)
    assert play(plan, judge)[1] == play(plan, judge, backwards=True)[1]


@pytest.mark.parametrize("entrants", [2, 3, 4, 5])
def test_knockout(entrants: int) -> None:
    plan = quick.plan(format="knockout", bots=quick.BOTS[:entrants], pairs=1)
    rounds, pairings = play(plan, stronger(plan))
    assert isinstance(rounds, KnockoutRounds)
    assert len(pairings) == rounds.total == 2 * (entrants - 1)
    assert rounds.order() is not None
    assert rounds.order()[0] == 0  # type: ignore[index]
    notes = rounds.notes()
    assert notes["random"] == "winner"
    assert all(note.startswith("out in round ") for name, note in notes.items() if name != "random")


def test_a_tied_meeting_goes_on_and_then_the_earlier_entered_does() -> None:
    plan = quick.plan(format="knockout", bots=quick.BOTS[:2], pairs=1, extra_pairs=2)
    rounds, pairings = play(plan, lambda pairing: (0, 0))
    assert len(pairings) == rounds.total == 6
    assert len({pairing.opening for pairing in pairings}) == 3
    assert rounds.notes() == {"random": "winner", "greedy": "out in round 1"}


def test_games_that_do_not_count_decide_nothing() -> None:
    plan = quick.plan(format="knockout", bots=quick.BOTS[:2], pairs=1, extra_pairs=1)
    rounds = rounds_of(plan)
    returns = iter([(-1.0, 1.0), (-1.0, 1.0)])
    while pairing := rounds.next():
        counts = pairing.names[0] == "greedy"
        rounds.take(pairing, outcome(pairing, next(returns, (1.0, -1.0)), rated=counts))
    assert rounds.notes()["random"] == "winner"


def test_nothing_is_known_before_the_round_is_over() -> None:
    plan = quick.plan(format="knockout", bots=quick.BOTS[:4], pairs=1)
    rounds, judge = rounds_of(plan), stronger(plan)
    first = [rounds.next() for _ in range(4)]
    assert rounds.next() is None
    for pairing in first:
        assert pairing is not None
        assert rounds.next() is None
        rounds.take(pairing, outcome(pairing, judge(pairing)))
    assert rounds.next() is not None
    assert set(rounds.notes().values()) == {"out in round 1", "still in"}
