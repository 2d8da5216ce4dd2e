"""The games of a tournament, round by round, with results made up."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest

from ludodrome.arena.matches.scheduler import Pairing
from ludodrome.arena.matches.tallies import GameResult
from ludodrome.arena.tournaments.plans import TournamentPlan, swiss_rounds
from ludodrome.arena.tournaments.rounds import (
    FixedRounds,
    KnockoutRounds,
    SwissRounds,
    bracket,
    circle,
    gauntlet,
    round_robin,
    rounds_of,
    swiss,
)
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
        pairing.play_spec(()).match, pairing.names, returns, rated, "over", how, (), 9, zeros, zeros, zeros
    )


def stronger(plan: TournamentPlan) -> Judge:
    """The bot entered earlier wins."""
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
    assert len({pairing.play_spec(()).match for pairing in pairings}) == len(pairings)
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
    assert len({pairing.play_spec(()).match for pairing in pairings}) == len(pairings)
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


# Who meets whom.


@pytest.mark.parametrize("entrants", range(2, 12))
def test_round_robin_has_every_meeting_once(entrants: int) -> None:
    assert sorted(round_robin(entrants)) == list(combinations(range(entrants), 2))


@pytest.mark.parametrize("entrants", range(2, 12))
def test_in_a_round_of_the_circle_everybody_plays_once(entrants: int) -> None:
    rounds = list(circle(entrants))
    assert len(rounds) == entrants - 1 + entrants % 2
    for meetings in rounds:
        playing = [one for meeting in meetings for one in meeting]
        assert len(playing) == len(set(playing)) == entrants - entrants % 2


def test_round_robin_of_three_seats() -> None:
    assert round_robin(4, 3) == [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
    with pytest.raises(ValueError, match="needs at least 3 bots, not 2"):
        round_robin(2, 3)


def test_gauntlet() -> None:
    assert gauntlet(4, [0]) == [(0, 1), (0, 2), (0, 3)]
    assert sorted(gauntlet(4, [1, 3])) == [(1, 0), (1, 2), (3, 0), (3, 2)]
    with pytest.raises(ValueError, match="at least one challenger and one other"):
        gauntlet(2, [0, 1])


@pytest.mark.parametrize(("entrants", "rounds"), [(2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4)])
def test_swiss_rounds(entrants: int, rounds: int) -> None:
    assert swiss_rounds(entrants) == rounds


@pytest.mark.parametrize("entrants", [2, 3, 4, 7, 8, 12, 25, 60])
def test_swiss_never_repeats_a_meeting_while_that_can_be_avoided(entrants: int) -> None:
    """The order never changes here, the worst case: the top pairs off first, and the rest must still work out."""
    met: Counter[tuple[int, ...]] = Counter()
    byes: Counter[int] = Counter()
    for _ in range(swiss_rounds(entrants) + 1 if entrants > 3 else 1):
        found = swiss(list(range(entrants)), met, byes)
        playing = [one for meeting in found.meetings for one in meeting]
        assert sorted([*playing, *([found.bye] if found.bye is not None else [])]) == list(range(entrants))
        met.update(found.meetings)
        if found.bye is not None:
            byes[found.bye] += 1
    assert max(met.values()) == 1
    assert max(byes.values(), default=0) <= 1


def test_swiss_goes_on_when_all_have_met() -> None:
    met = Counter[tuple[int, ...]](dict.fromkeys(combinations(range(4), 2), 1))
    assert swiss([2, 0, 3, 1], met, {}).meetings == [(0, 2), (1, 3)]
    met[0, 2] = 2
    assert swiss([2, 0, 3, 1], met, {}).meetings == [(2, 3), (0, 1)]


def test_swiss_neighbours_meet_and_the_last_rests() -> None:
    assert swiss([3, 1, 4, 0, 2], {}, {}) == ([(1, 3), (0, 4)], 2)
    assert swiss([3, 1, 4, 0, 2], {}, {2: 1}).bye == 0


def test_swiss_looks_back_when_the_last_two_have_met() -> None:
    met: dict[tuple[int, ...], int] = {(0, 1): 1, (2, 3): 1}
    assert swiss([0, 1, 2, 3], met, {}).meetings == [(0, 2), (1, 3)]
    met |= {(0, 2): 1, (1, 3): 1}
    assert swiss([0, 1, 2, 3], met, {}).meetings == [(0, 3), (1, 2)]


def test_bracket_keeps_the_best_apart() -> None:
    assert bracket(2) == [(0, 1)]
    assert bracket(4) == [(0, 3), (1, 2)]
    assert bracket(8) == [(0, 7), (3, 4), (1, 6), (2, 5)]
    with pytest.raises(ValueError, match="at least two bots"):
        bracket(1)


@pytest.mark.parametrize("entrants", range(2, 34))
def test_bracket_has_everybody_once_and_byes_for_the_best(entrants: int) -> None:
    pairs = bracket(entrants)
    assert sorted(one for pair in pairs for one in pair if one is not None) == list(range(entrants))
    byes = [first for first, second in pairs if first is not None and second is None]
    assert sorted(byes) == list(range(len(byes)))
    assert all(first is not None for first, _ in pairs)
