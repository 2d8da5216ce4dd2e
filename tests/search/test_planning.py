"""Many trees side by side, judged from outside: by random playouts, by one-sided priors, by nonsense."""

import random
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.game import Game, returns_of
from ludodrome.jit import COMPILED, Array, new_states
from ludodrome.search.planning import Planner
from tests.cases import each_game
from tests.search.positions import reached

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("caldera", {}),
    ("santorini", {}),
    ("santorini", {"players": 3}),
    ("skysummit", {}),
]
each_case = pytest.mark.parametrize(
    ("game_id", "options"),
    [pytest.param(*case, marks=pytest.mark.xdist_group(case[0]), id=f"{case[0]}{len(case[1])}") for case in GAMES],
)


def played_out(game: Game, states: Any, dice: random.Random) -> list[list[float]]:
    """The returns of one random game from each of these positions."""
    returns = []
    buffer = game.buffer()
    for i in range(len(states)):
        one = states[i : i + 1].copy()
        while choices := game.kernels.legal(one, buffer):
            game.kernels.play(one, int(buffer[dice.randrange(choices)]))
        winner = int(game.kernels.winner(one))
        returns.append(returns_of(None if winner < 0 else winner, game.seats))
    return returns


def wins_at_once(game: Game, states: Any) -> set[int]:
    buffer = game.buffer()
    wins = set()
    for action in buffer[: game.kernels.legal(states, buffer)].tolist():
        child = states.copy()
        game.kernels.play(child, action)
        if game.kernels.winner(child) == game.kernels.mover(states):
            wins.add(action)
    return wins


def starts(game: Game, n: int) -> Any:
    states = game.new_states(n)
    game.kernels.reset_many(states, np.uint64(0), np.ones(n, np.bool_))
    return states


def uniform(planner: Planner) -> Array:
    return np.ones((len(planner), planner.game.num_actions), np.float32)


@each_case
def test_playouts_as_values_find_the_win(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    dice = random.Random(1)
    found: list[Any] = []
    for state in reached(game, 12 if COMPILED else 2, seed=2, least=200):
        states = game.encode_array(state)
        if wins_at_once(game, states):
            found.append(states)
    assert found
    roots = new_states(game.dtype, len(found))
    for i, states in enumerate(found):
        roots[i] = states[0]
    planner = Planner(game, roots, c_puct=4)
    rounds = 800 if COMPILED else 300
    for _ in range(rounds):
        leaves, mask = planner.select()
        assert mask.shape == (len(roots), game.num_actions)
        planner.expand_and_backup(mask, played_out(game, leaves, dice))
    for states, best, visits in zip(found, planner.best(), planner.visits(), strict=True):
        assert visits.sum() == rounds - 1
        assert visits[list(wins_at_once(game, states))].max() >= visits[best] - 1  # others may win as surely
    assert (planner.values()[np.arange(len(roots)), planner.best()] == 1).all()


@pytest.mark.parametrize("game_id", each_game())
def test_priors_and_values_steer(game_id: str) -> None:
    game = ludodrome.make(game_id)
    planner = Planner(game, starts(game, 3))
    leaves, mask = planner.select()
    assert (leaves == starts(game, 3)).all()
    assert (mask == ludodrome.batch(game, 3).legal_mask()).all()
    liked = np.flatnonzero(mask[0])[[0, 1, -1]]
    priors = np.zeros(mask.shape, np.float32)
    priors[np.arange(3), liked] = 5
    values = np.zeros((3, game.seats), np.float32)
    planner.expand_and_backup(priors, values)
    assert not planner.visits().any()
    assert planner.best().tolist() == [-1] * 3
    for _ in range(6):
        _, mask = planner.select()
        planner.expand_and_backup(mask, values)
    assert planner.best().tolist() == liked.tolist()
    assert planner.visits().sum() == 3 * 6
    planner.restart(starts(game, 3))
    assert not planner.visits().any()
    for _ in range(7):  # what is bad for seat 0 is left alone after a look
        leaves, mask = planner.select()
        if game.actions_a_turn == 1:
            values[:, 0] = [-1 if game.kernels.turns(leaves[i : i + 1]) else 0 for i in range(3)]
        planner.expand_and_backup(np.where(mask, priors + 1, 0), values)
    if game.actions_a_turn == 1:
        assert ((planner.visits() > 0).sum(axis=1) >= 4).all()
        assert planner.values().min() == -1


def test_noise_comes_from_the_seed() -> None:
    game = ludodrome.make("dots", rows=2, cols=2)
    visits = []
    for seed, noise in ((1, None), (1, (0.3, 0.5)), (1, (0.3, 0.5)), (2, (0.3, 0.5)), (1, (0.3, 0.0))):
        planner = Planner(game, starts(game, 4), noise=noise, seed=seed)
        for _ in range(40):
            planner.select()
            planner.expand_and_backup(uniform(planner), np.zeros((4, 2)))
        visits.append(planner.visits().tolist())
    plain, first, again, other, none = visits
    assert first == again
    assert plain == none
    assert plain != first != other
    assert plain[0] == plain[1]
    assert first[0] != first[1]


def test_the_end_of_a_game_is_its_own_judge() -> None:
    game = ludodrome.make("dots", rows=1, cols=1)
    roots = new_states(game.dtype, 2)
    roots[:] = starts(game, 2)
    for action in (0, 1, 2):
        game.kernels.play(roots[:1], action)
    for action in (0, 1, 2, 3):
        game.kernels.play(roots[1:], action)
    planner = Planner(game, roots)
    for _ in range(5):
        _, mask = planner.select()
        planner.expand_and_backup(uniform(planner), [[1, -1], [1, -1]])
    assert not mask.any()
    assert planner.visits().tolist() == [[0, 0, 0, 4], [0, 0, 0, 0]]
    assert planner.values().tolist() == [[0, 0, 0, 1], [0, 0, 0, 0]]
    assert planner.best().tolist() == [3, -1]


def test_a_full_tree_is_searched_on() -> None:
    game = ludodrome.make("dots", rows=2, cols=2)
    planner = Planner(game, starts(game, 2), nodes=game.max_legal + 1)
    for _ in range(50):
        _, mask = planner.select()
        planner.expand_and_backup(mask, np.zeros((2, 2)))
    assert planner.visits().sum() == 98
    assert mask.sum() == 2 * 11  # one ply down


def test_what_is_wrong_is_said() -> None:
    game = ludodrome.make("dots", rows=1, cols=1)
    planner = Planner(game, starts(game, 2))
    with pytest.raises(ValueError, match="comes after select"):
        planner.expand_and_backup(uniform(planner), np.zeros((2, 2)))
    planner.select()
    for priors, values, wrong in [
        (np.ones((2, 3)), np.zeros((2, 2)), "priors have the shape"),
        (-np.ones((2, 4)), np.zeros((2, 2)), "priors are finite numbers, none below 0"),
        (np.ones((2, 4)), np.zeros((2, 1)), "values have the shape"),
        (np.ones((2, 4)), np.full((2, 2), np.nan), "values are finite numbers"),
    ]:
        with pytest.raises(ValueError, match=wrong):
            planner.expand_and_backup(priors, values)
    with pytest.raises(ValueError, match="takes 2 records of its dtype"):
        planner.restart(starts(game, 3))
    bad: list[tuple[dict[str, Any], str]] = [
        ({"nodes": 4}, "the number of a tree's nodes is a whole number from 5 to"),
        ({"c_puct": 0}, "c_puct is a number above 0"),
        ({"noise": (0, 0.5)}, "noise is an alpha above 0"),
    ]
    for options, wrong in bad:
        with pytest.raises(ValueError, match=wrong):
            Planner(game, starts(game, 2), **options)
