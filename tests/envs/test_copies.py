"""Copies of environments, opponents and bots play on like the original, and apart from it."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.envs import BoardGeneration, GameEnv, GameVectorEnv, MetaGame, aec_env, parallel_env
from ludodrome.jit import Array

COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
}


def last_legal(observations: Array, masks: Array) -> Any:
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


OPPONENTS: list[tuple[str, dict[str, Any], Any]] = [
    ("dots", {"rows": 3, "cols": 3}, "self"),
    ("dots", {"rows": 3, "cols": 3}, "random"),
    ("dots", {"rows": 3, "cols": 3}, "greedy"),
    ("dots", {"rows": 3, "cols": 3}, "alphabeta:depth=2"),
    ("dots", {"rows": 3, "cols": 3}, ["random", last_legal, "level:2"]),
    ("dots", {"rows": 3, "cols": 3}, "expert:nodes=2000"),
    ("dots", {"rows": 3, "cols": 3}, "mcts:sims=50"),
    ("santorini", {}, "alphabeta:nodes=500"),
    ("santorini", {}, "level:1"),
    ("santorini", {"players": 3}, "expert:nodes=500"),
    ("spaces", {"size": 2, "rounds": 2}, "level:2"),
]


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize(
    ("game_id", "options", "opponent"), OPPONENTS, ids=lambda value: "mixed" if isinstance(value, list) else str(value)
)
def test_a_copy_plays_on_alike_and_apart(game_id: str, options: dict[str, Any], opponent: Any, how: str) -> None:
    env = GameVectorEnv(game_id, num_envs=2, opponent=opponent, **options)
    env.reset(seed=5)
    for _ in range(3):
        env.step(env.sample_actions())
    twin, reference = COPIES[how](env), COPIES[how](env)
    played = play_on(env)
    for other in (twin, reference):  # one after another: they share no memory
        assert all((one == two).all() for one, two in zip(played, play_on(other), strict=True))


def play_on(env: GameVectorEnv) -> list[Array]:
    found: list[Array] = []
    for _ in range(8):
        planes, rewards, ended, _, info = env.step(env.sample_actions())
        found += [planes.copy(), rewards.copy(), ended.copy(), info["action_mask"].copy(), info["seat"].copy()]
    return found


@pytest.mark.parametrize("how", COPIES)
def test_single_ones_and_those_of_pettingzoo_are_copied_too(how: str) -> None:
    env = GameEnv("skysummit", opponent="greedy")
    _, info = env.reset(seed=1)
    twin = COPIES[how](env)
    action = int(np.flatnonzero(info["action_mask"])[0])
    (one, *_), (two, *_) = env.step(action), twin.step(action)
    assert (one == two).all()
    turns = aec_env("dots", rows=2, cols=2)
    turns.reset(seed=1)
    other = COPIES[how](turns)
    other.step(3)
    assert turns.last()[0]["action_mask"][3] == 1
    assert other.last()[0]["action_mask"][3] == 0
    both = parallel_env(size=2)
    both.reset()
    copied = COPIES[how](both)
    acts = dict.fromkeys(both.agents, 0)
    assert (both.step(acts)[0]["player_0"]["observation"] == copied.step(acts)[0]["player_0"]["observation"]).all()


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("scenario", [BoardGeneration, MetaGame])
def test_scenarios_are_copied_too(scenario: Any, how: str) -> None:
    env = scenario(size=3)
    env.reset(seed=1)
    twin = COPIES[how](env)
    for _ in range(4):
        one, two = env.step(0), twin.step(0)
        assert one[1:4] == two[1:4]
        assert all((one[0][key] == two[0][key]).all() for key in one[0])
        if one[2]:
            break


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize(
    "spec", ["random", "greedy", "alphabeta:nodes=500", "mcts:sims=50", "level:3", "expert:nodes=500"]
)
def test_bots_are_copied_with_what_they_remember(spec: str, how: str) -> None:
    game = ludodrome.make("skysummit")
    bot = ludodrome.bot(spec, game, 3)
    bot.start({"seed": 3})
    state = game.initial_state()
    for _ in range(2):
        state = game.apply(state, bot.choose(state))
    twin = COPIES[how](bot)
    for _ in range(6):
        move = bot.choose(state)
        assert twin.choose(state) == move
        state = game.apply(state, move)
