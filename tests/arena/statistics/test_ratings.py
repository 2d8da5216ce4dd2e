import itertools
import json
import math
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from ludodrome.arena.statistics.choices import choices, gather, likelihood, maximise, slopes
from ludodrome.arena.statistics.ratings import Ratings, rate
from ludodrome.arena.statistics.scores import ELO, expected_share
from tests.arena.statistics.simulated import games, in_elo

WON, DRAWN, LOST = (1, -1), (0, 0), (-1, 1)


def round_robin(players: int, rounds: int) -> NDArray[np.int64]:
    return np.array(list(itertools.permutations(range(players), 2)) * rounds)


def test_a_game_is_a_choice_of_those_who_did_best() -> None:
    assert choices([4, 7], WON) == [(((4, 0), (7, 1)), 1)]
    assert choices([4, 7], DRAWN) == [(((4, 0), (7, 1)), 3)]
    assert choices([1, 2, 3], (-0.5, 1, -0.5)) == [(((1, 0), (2, 1), (3, 2)), 2)]
    assert choices([1, 2, 3], (0.5, -1, 0.5)) == [(((1, 0), (2, 1), (3, 2)), 5)]
    assert choices([1, 2, 3], (1, 0, -1)) == [(((1, 0), (2, 1), (3, 2)), 1), (((2, 1), (3, 2)), 1)]


def test_the_derivatives_are_those_of_the_likelihood() -> None:
    seen = [((0, 1, 2), (1, -0.5, -0.5)), ((2, 0, 1), (0.5, 0.5, -1)), ((1, 2, 0), (1, 0, -1)), ((0, 2, 1), (0, 0, 0))]
    model = gather(((one, 1.0) for players, returns in seen for one in choices(players, returns)), 3, 3)
    here = np.random.default_rng(0).normal(0, 1, model.size)
    gradient, information = slopes(model, here)
    for place in range(model.size):
        step = np.zeros(model.size)
        step[place] = 1e-5
        rise = (likelihood(model, here + step) - likelihood(model, here - step)) / 2e-5
        assert gradient[place] == pytest.approx(rise, abs=1e-6)
        bend = (slopes(model, here - step)[0] - slopes(model, here + step)[0]) / 2e-5
        assert information[place] == pytest.approx(bend, abs=1e-5)
    assert slopes(model, maximise(model)[0])[0] == pytest.approx(np.zeros(model.size), abs=1e-6)


def test_two_players_without_draws_have_the_elo_of_their_score() -> None:
    seen = [(("a", "b"), WON)] * 35 + [(("b", "a"), LOST)] * 35 + [(("a", "b"), LOST)] * 15 + [(("b", "a"), WON)] * 15
    found = rate(seen)
    assert found.difference("a", "b").elo == pytest.approx(ELO * math.log(7 / 3), rel=0.01)
    assert found.advantage is not None
    assert found.advantage[0] == pytest.approx(0, abs=1e-6)
    deviation = ELO / math.sqrt(100 * 0.7 * 0.3)
    assert found.difference("a", "b").high - found.difference("a", "b").elo == pytest.approx(1.96 * deviation, rel=0.02)


def test_with_many_draws_a_small_difference_still_means_elo() -> None:
    seen = [(seats, returns) for seats in (("a", "b"), ("b", "a")) for returns in (WON, LOST)] * 100
    seen += [(("a", "b"), DRAWN), (("b", "a"), DRAWN)] * 600 + [(("a", "b"), WON), (("b", "a"), LOST)] * 20
    found = rate(seen)
    share = found.points[0] / found.games[0]
    assert expected_share(found.difference("a", "b").elo) == pytest.approx(share, abs=0.0005)
    assert found.draws == pytest.approx(0.73, abs=0.02)


def test_expected_points_are_those_scored_and_a_draw_is_half_a_win() -> None:
    dice = np.random.default_rng(4)
    found = rate(games(dice, dice.normal(0, 1, 6), round_robin(6, 40), 0.7, 0.4))
    order = sorted(range(6), key=lambda player: found.points[player])
    assert order == sorted(range(6), key=lambda player: float(found.ratings[player]))
    assert sum(found.points) == 6 * 5 * 40
    assert found.ratings.mean() == pytest.approx(0, abs=1e-6)


def test_counts_and_games_and_their_order_give_the_same() -> None:
    dice = np.random.default_rng(5)
    seen = games(dice, dice.normal(0, 1, 5), round_robin(5, 10), 0.5, 0.5)
    other = [seen[place] for place in dice.permutation(len(seen))]
    one, two, three = rate(seen), rate(other), rate(Counter(seen))
    for name in one.names:
        assert one.line(name).rating == pytest.approx(two.line(name).rating, abs=1e-6)
        assert one.line(name).high == pytest.approx(three.line(name).high, abs=1e-6)
        assert one.line(name).games == three.line(name).games == 80


def test_an_anchor_moves_the_zero_and_no_difference() -> None:
    dice = np.random.default_rng(6)
    seen = games(dice, dice.normal(0, 1, 4), round_robin(4, 20), 0.5, 0.0)
    free, anchored = rate(seen), rate(seen, anchor="2", anchor_rating=1500)
    line = anchored.line("2")
    assert (line.rating, line.low, line.high) == pytest.approx((1500, 1500, 1500))
    assert anchored.line("0").rating - 1500 == pytest.approx(free.line("0").rating - free.line("2").rating)
    assert anchored.difference("0", "1") == free.difference("0", "1")
    direct = anchored.line("0")
    assert (direct.low - 1500, direct.high - 1500) == pytest.approx(
        (free.difference("0", "2").low, free.difference("0", "2").high)
    )


def test_the_covariance_is_that_of_differences() -> None:
    dice = np.random.default_rng(7)
    found = rate(games(dice, dice.normal(0, 1, 5), round_robin(5, 20), 0.5, 0.3))
    one, two = found.names.index("0"), found.names.index("3")
    variance = found.covariance[one, one] + found.covariance[two, two] - 2 * found.covariance[one, two]
    difference = found.difference("0", "3")
    assert difference.high - difference.elo == pytest.approx(1.96 * math.sqrt(variance), rel=0.001)


def test_groups_that_never_met_are_named_and_not_compared() -> None:
    seen = [(("a", "b"), WON), (("b", "a"), WON), (("c", "d"), DRAWN), (("d", "c"), DRAWN)]
    found = rate(seen)
    assert found.notes == ["No games connect these groups, so compare ratings only within each: a, b; c, d."]
    assert [line.group for line in found.table] == [0, 0, 1, 1]
    with pytest.raises(ValueError, match="no games connect a with c"):
        found.difference("a", "c")


def test_who_won_everything_is_finite_with_an_interval_from_the_likelihood() -> None:
    dice = np.random.default_rng(8)
    seen = games(dice, np.zeros(3), round_robin(3, 20), 0.0, 0.0)
    seen += [((str(player), "best"), LOST) for player in range(3)] * 5 + [(("best", "0"), WON)] * 5
    found = rate(seen)
    best = found.line("best")
    assert not best.core
    assert 150 < best.low < best.rating < best.high < 4000
    assert found.line("0").core
    assert abs(found.line("0").high - found.line("0").low) < 150
    assert found.notes[0].startswith("best took all points, or none")
    assert found.difference("best", "0").superiority > 0.999
    assert found.difference("0", "best").superiority < 0.001
    assert found.difference("best", "0").low > 100


@pytest.mark.parametrize("returns", [WON, LOST, DRAWN])
@pytest.mark.parametrize("number", [1, 1000])
def test_results_all_alike_stay_finite(returns: tuple[int, int], number: int) -> None:
    found = rate([(("a", "b"), returns), (("b", "a"), (returns[1], returns[0]))] * number)
    json.dumps(found.to_json(), allow_nan=False)
    difference = found.difference("a", "b")
    assert difference.elo == pytest.approx(0, abs=1e-6) if returns == DRAWN else difference.elo * returns[0] > 100
    assert difference.low < difference.elo < difference.high


def test_what_makes_no_sense_is_refused() -> None:
    for seen, message in (
        ([], "no games"),
        ([(("a", "a"), WON)], "does not meet itself"),
        ([(("a", "b"), (1,))], "as many returns"),
        ([(("a", "b"), WON), (("a", "b", "c"), (1, -0.5, -0.5))], "rated apart"),
        ([(("a", "b"), (math.nan, 0))], "returns"),
    ):
        with pytest.raises(ValueError, match=message):
            rate(seen)
    two = [(("a", "b"), WON), (("b", "a"), WON)]
    with pytest.raises(ValueError, match="z has no games"):
        rate(two, anchor="z")
    with pytest.raises(ValueError, match="certainty"):
        rate(two, certainty=0)
    with pytest.raises(ValueError, match="at least 2 samples"):
        rate(two, samples=1)
    with pytest.raises(ValueError, match="numbers of groups"):
        rate(two, samples=5, groups=[1])
    with pytest.raises(ValueError, match="not from counts"):
        rate(Counter(two), samples=5)


def three_seats(
    dice: np.random.Generator, strengths: NDArray[np.float64], number: int, seat: float
) -> list[tuple[tuple[str, ...], tuple[float, ...]]]:
    found = []
    for _ in range(number):
        seated = dice.permutation(len(strengths))[:3]
        drawn = strengths[seated] + np.array([seat, 0, 0]) + dice.gumbel(size=3)
        returns = tuple(1.0 if place == drawn.argmax() else -0.5 for place in range(3))
        found.append((tuple(map(str, seated.tolist())), returns))
    return found


def test_three_seats_recover_strengths_and_seats() -> None:
    dice = np.random.default_rng(9)
    strengths = np.array([1.0, 0.5, 0.0, -0.5, -1.0])
    found = rate(three_seats(dice, strengths, 6000, 0.4))
    for player, strength in enumerate(strengths.tolist()):
        line = found.line(str(player))
        assert line.rating == pytest.approx(strength * ELO, abs=25)
        assert line.low < line.rating < line.high
    assert found.seats[0][0] - found.seats[1][0] == pytest.approx(0.4 * ELO, abs=25)
    assert found.advantage is None
    shared = rate([*three_seats(dice, strengths, 300, 0.4), (("0", "1", "2"), (0.5, 0.5, -1))])
    json.dumps(shared.to_json(), allow_nan=False)


def test_a_bootstrap_of_pairs_sees_that_games_of_a_pair_are_alike() -> None:
    dice = np.random.default_rng(10)
    seen, pairs = [], []
    for number in range(150):
        first = WON if dice.random() < 0.5 else LOST
        upset = dice.random() < 0.1
        seen += [(("a", "b"), first), (("b", "a"), first if not upset else (first[1], first[0]))]
        pairs += [number, number]
    plain, single, whole = rate(seen), rate(seen, samples=100), rate(seen, samples=100, groups=pairs)

    def width(found: Ratings) -> float:
        return found.difference("a", "b").high - found.difference("a", "b").elo

    assert width(single) == pytest.approx(width(plain), rel=0.25)
    assert width(whole) < 0.6 * width(plain)
    assert rate(seen, samples=100, groups=pairs).difference("a", "b") == whole.difference("a", "b")


SETTINGS = {
    "no draws": (0.0, 0.0, round_robin(6, 6)),
    "draws and an advantage": (1.0, 0.5, round_robin(6, 6)),
    "mostly draws": (8.0, 0.2, round_robin(5, 12)),
    "gauntlet": (0.5, 0.5, np.array([(0, other) for other in range(1, 6)] * 25 + [(3, 0), (4, 0), (1, 0)] * 20)),
    "ring": (0.5, 1.0, np.array([(one, (one + 1) % 6) for one in range(6)] * 25 + [(0, 3)] * 40 + [(4, 1)] * 5)),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_intervals_hold_known_strengths_as_often_as_they_say(setting: str, long: bool) -> None:
    draws, advantage, schedule = SETTINGS[setting]
    players, unit = int(schedule.max()) + 1, in_elo(draws)
    dice = np.random.default_rng(11)
    rated, compared, first = [], [], []
    for _ in range(1000 if long else 200):
        strengths = dice.normal(0, 0.8, players)
        found = rate(games(dice, strengths, schedule, draws, advantage))
        core = [strengths[int(found.names[player])] for player in found.links.core_of(0)]
        for line in found.table:
            rated.append(line.low <= unit * (strengths[int(line.name)] - np.mean(core)) <= line.high)
        difference = found.difference("0", "1")
        compared.append(difference.low <= unit * (strengths[0] - strengths[1]) <= difference.high)
        assert found.advantage is not None
        first.append(found.advantage[1] <= unit * advantage <= found.advantage[2])
    least, most = (0.93, 0.97) if long else (0.91, 0.99)
    assert least <= np.mean(rated) <= most
    assert least <= np.mean(compared) <= most or not long
    assert least <= np.mean(first) <= most or not long
    assert min(np.mean(compared), np.mean(first)) > 0.88
