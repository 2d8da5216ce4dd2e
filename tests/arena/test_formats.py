"""Who meets whom."""

from collections import Counter
from itertools import combinations

import pytest

from ludodrome.arena.tournaments.plans import swiss_rounds
from ludodrome.arena.tournaments.rounds import bracket, circle, gauntlet, round_robin, swiss


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
