import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openskill.models import PlackettLuce

from ludodrome.arena.statistics.ratings import MAX_MU, Rating, ranks, update

RATINGS = st.builds(Rating, st.floats(-20, 70), st.floats(0.5, 9))
THREE_RETURNS = st.sampled_from([(1, -0.5, -0.5), (0.5, 0.5, -1), (0, 0, 0), (1, 0, -1), (-0.5, 1, -0.5)])
NEW = Rating()


def changes(ratings: list[Rating], returns: tuple[float, ...]) -> list[float]:
    return [after.mu - before.mu for before, after in zip(ratings, update(ratings, returns), strict=True)]


def test_openskill_gives_shared_first_places_what_the_second_gets_in_plackett_luce() -> None:
    """The fault that decided the choice of the model (openskill.py, issue 155)."""
    model = PlackettLuce()

    def gains(places: list[float]) -> list[float]:
        return [team[0].mu - 25 for team in model.rate([[model.rating()] for _ in places], ranks=places)]

    assert gains([0, 0, 2])[0] == pytest.approx(gains([0, 1, 2])[1])
    assert changes([NEW] * 3, (0.5, 0.5, -1))[0] > changes([NEW] * 3, (1, 0, -1))[1] + 1


def test_openskill_cuts_fractions_off_ranks_in_plackett_luce_and_here_they_are_whole() -> None:
    model = PlackettLuce()
    teams = [[model.rating()], [model.rating()]]
    tied = model.rate(teams, ranks=[0.2, 0.7])
    assert tied[0][0].mu == tied[1][0].mu
    first, second = update([NEW, NEW], (-0.2, -0.7))
    assert first.mu > 25 > second.mu
    assert ranks([0.5, -1, 0.5]) == [0, 2, 0]
    assert ranks([-0.5, 1, -0.5]) == [1, 0, 1]


@given(st.floats(0, 50), st.floats(0.5, 9), st.floats(0.5, 9))
def test_a_draw_between_equals_changes_no_mean(mu: float, sigma: float, other: float) -> None:
    first, second = update([Rating(mu, sigma), Rating(mu, other)], (0, 0))
    assert first.mu == pytest.approx(mu, abs=1e-9)
    assert second.mu == pytest.approx(mu, abs=1e-9)


@given(RATINGS, RATINGS)
def test_a_draw_brings_two_nearer_and_never_past_each_other(one: Rating, other: Rating) -> None:
    first, second = update([one, other], (0, 0))
    assert abs(first.mu - second.mu) <= abs(one.mu - other.mu) + 1e-9
    assert (first.mu - second.mu) * (one.mu - other.mu) >= -1e-12


@given(RATINGS, RATINGS, st.sampled_from([(0.5, 0.5, -1), (1, -0.5, -0.5), (0, 0, 0)]))
def test_players_who_are_alike_and_tied_get_the_same(alike: Rating, other: Rating, returns: tuple[float, ...]) -> None:
    seats = [alike, alike, other] if returns[0] == returns[1] else [other, alike, alike]
    found = update(seats, returns)
    tied = found[:2] if returns[0] == returns[1] else found[1:]
    assert tied[0] == tied[1]


@given(st.tuples(RATINGS, RATINGS, RATINGS), THREE_RETURNS)
def test_the_order_of_seats_does_not_matter_to_the_last_bit(
    ratings: tuple[Rating, ...], returns: tuple[float, ...]
) -> None:
    expected = update(ratings, returns)
    for order in itertools.permutations(range(3)):
        found = update([ratings[seat] for seat in order], [returns[seat] for seat in order])
        assert found == [expected[seat] for seat in order]


def test_a_shared_place_is_worth_the_mean_of_the_places_shared() -> None:
    first, second, third = changes([NEW] * 3, (1, 0, -1))
    shared = changes([NEW] * 3, (0.5, 0.5, -1))
    assert shared == pytest.approx([(first + second) / 2, (first + second) / 2, third])
    assert changes([NEW] * 3, (1, -0.5, -0.5)) == pytest.approx([first, (second + third) / 2, (second + third) / 2])
    assert changes([NEW] * 3, (0, 0, 0)) == pytest.approx([0, 0, 0])


@given(RATINGS, RATINGS)
def test_who_wins_gains_and_who_loses_pays(winner: Rating, loser: Rating) -> None:
    gained, paid = update([winner, loser], (1, -1))
    assert gained.mu >= winner.mu
    assert paid.mu <= loser.mu


def test_ratings_learn_an_order_and_become_surer() -> None:
    players = [NEW] * 3
    for _ in range(40):
        players = update(players, (1, 0, -1))
    low = [player.mu - 3 * player.sigma for player in players]
    assert low[0] > low[1] > low[2]
    assert all(player.sigma < 6 for player in players)


def test_extremes_stay_finite() -> None:
    strong, weak = Rating(MAX_MU, 0.01), Rating(-MAX_MU, 300)
    for returns in ((1, -1), (-1, 1), (0, 0)):
        assert all(math.isfinite(one.mu) and one.sigma > 0 for one in update([strong, weak], returns))


def test_arguments_are_left_alone_and_checked() -> None:
    before = [Rating(20, 5), Rating(30, 5)]
    update(before, (1, -1))
    assert before == [Rating(20, 5), Rating(30, 5)]
    with pytest.raises(ValueError, match="as many returns"):
        update([NEW, NEW], (1,))
    with pytest.raises(ValueError, match="finite"):
        update([NEW, NEW], (1, math.nan))
    with pytest.raises(ValueError, match="sigma above 0"):
        Rating(25, 0)
    with pytest.raises(ValueError, match="mu is within"):
        Rating(math.inf, 1)
