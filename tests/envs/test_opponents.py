"""Opponents: what they are worth, that policies are held to the rules, that nobody changes in the middle of a game."""

from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.envs import GameVectorEnv
from ludodrome.jit import Array
from tests.envs.cases import skip_larger


def score(game_id: str, opponent: str, games: int, **options: Any) -> float:
    """The mean return of a random learner."""
    envs = GameVectorEnv(game_id, num_envs=games, opponent=opponent, autoreset_mode="Disabled", **options)
    envs.reset(seed=11)
    returns = np.zeros(games)
    running = np.ones(games, np.bool_)
    while running.any():
        _, rewards, ended, _, _ = envs.step(envs.sample_actions())
        returns[running] += rewards[running]
        running &= ~ended
        if ended.any() and running.any():
            envs.reset(options={"reset_mask": ended.copy()})
    return float(returns.mean())


@pytest.mark.xdist_group("dots")
def test_opponents_of_dots_are_as_strong_as_they_should_be() -> None:
    scores = [score("dots", name, 100, rows=3, cols=3) for name in ("random", "greedy", "alphabeta:depth=3")]
    assert abs(scores[0]) < 0.3
    assert scores[1] < -0.8
    assert scores[2] < -0.9


@pytest.mark.xdist_group("santorini")
def test_greedy_is_far_better_than_chance() -> None:
    assert score("santorini", "greedy", 60) < -0.8


def test_alpha_beta_is_better_than_chance_in_every_game(long: bool) -> None:
    if not long:
        skip_larger({"size": 100}, long)
    for game_id, options in (("caldera", {}), ("santorini", {}), ("santorini", {"players": 3}), ("skysummit", {})):
        assert score(game_id, "alphabeta:depth=2", 20, **options) < (-0.3 if options else -0.7)


def test_an_opponent_never_changes_within_a_game() -> None:
    asked: list[set[int]] = [set(), set()]

    def policy(number: int) -> Any:
        def choose(observations: Array, masks: Array) -> Any:
            asked[number].update(range(len(masks)))
            return masks.argmax(axis=1) if number else masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)

        return choose

    envs = GameVectorEnv("santorini", num_envs=16, opponent=[policy(0), policy(1), "random"], seat=0)
    _, info = envs.reset(seed=1)
    before = info["opponent"].copy()
    assert set(before.tolist()) == {0, 1, 2}
    games = changed = 0
    over = np.zeros(16, np.bool_)
    for _ in range(200):
        _, _, ended, _, info = envs.step(envs.sample_actions())
        same = info["opponent"] == before
        assert same[~over].all()
        changed += int((~same).sum())
        games += int(over.sum())
        over, before = ended.copy(), info["opponent"].copy()
    assert games > 50
    assert games * 0.5 < changed < games * 0.83
    assert all(asked)


def test_a_policy_sees_the_board_as_its_own() -> None:
    views: list[Array] = []

    def policy(observations: Array, masks: Array) -> Any:
        views.append(observations.copy())
        return masks.argmax(axis=1)

    envs = GameVectorEnv("dots", num_envs=2, opponent=policy, seat=1, rows=1, cols=1)
    envs.reset(seed=1)
    assert [view.shape for view in views] == [(2, 6, 2, 2)]
    assert (views[0][:, 5] == 1).all()  # to move
    own = ludodrome.make("dots", rows=1, cols=1).planes.names.index("own boxes")
    envs.step([1, 1])
    envs.step([2, 3])
    assert not any(view[:, own].any() for view in views)
    assert len(views) == 2


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda masks: np.full(len(masks), 128), "actions are legal ones: 128 of its answer number 0 is not"),
        (lambda masks: np.full(len(masks), -1), "legal ones: -1 of its answer"),
        (lambda masks: (1 - masks).argmax(axis=1), "a policy's actions are legal ones"),
        (lambda masks: masks.argmax(axis=1)[:1], "answers 3 games with 3 whole numbers, not with int64 of shape"),
        (lambda masks: masks.argmax(axis=1) * 1.0, "answers 3 games with 3 whole numbers, not with float64"),
        (lambda masks: None, "whole numbers, not with object"),
    ],
)
def test_a_policy_is_held_to_the_rules(answer: Any, sentence: str) -> None:
    envs = GameVectorEnv("santorini", num_envs=3, opponent=lambda observations, masks: answer(masks), seat=1)
    with pytest.raises(ValueError, match=sentence):
        envs.reset(seed=1)


def test_bots_have_a_game_each() -> None:
    envs = GameVectorEnv("dots", num_envs=3, opponent=["chains", "level:1"], rows=2, cols=2, copy=True)
    runs = []
    for _ in range(2):
        envs.reset(seed=4)
        runs.append([envs.step(envs.sample_actions())[0] for _ in range(20)])
    assert all((one == other).all() for one, other in zip(*runs, strict=True))
