"""The compiled passes for learners, also as plain Python: all games, all kinds of opponents, against ``Game.apply``."""

import random
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.envs.core import VecGame
from ludodrome.envs.observations import sample_legal
from ludodrome.game import Game
from ludodrome.jit import COMPILED, Array
from tests.envs.mirror import Mirror

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("caldera", {"turn_limit": 12}, "random"),
    ("caldera", {"turn_limit": 4}, "greedy"),
    ("dots", {"rows": 2, "cols": 2}, "random"),
    ("dots", {"rows": 3, "cols": 3}, "greedy"),
    ("dots", {"rows": 2, "cols": 1}, "self"),
    ("santorini", {}, "random"),
    ("santorini", {"players": 3}, "random"),
    ("santorini", {"players": 3}, "greedy"),
    ("santorini", {"players": 3}, "self"),
    ("skysummit", {"turn_limit": 1}, "random"),
    ("skysummit", {"turn_limit": 9}, "random"),
    ("skysummit", {"turn_limit": 6}, "greedy"),
    ("spaces", {"size": 2}, "random"),
    ("spaces", {"size": 2, "rules": "live", "mode": "deck"}, "random"),
    ("spaces", {"size": 3, "rules": "live", "rounds": 2, "choice": "blind"}, "self"),
]
each = pytest.mark.parametrize(
    ("game_id", "options", "opponent"),
    [pytest.param(*case, marks=pytest.mark.xdist_group(case[0])) for case in CASES],
)


def same(game: Game, record: Any, state: Any) -> bool:
    """Whether a record says what a state says; a dots game's nonce comes from its seed another way."""
    decoded = game.decode(record)
    return {**decoded, "nonce": 0} == {**state, "nonce": 0}


@each
def test_games_with_opponents_are_games_of_apply(game_id: str, options: dict[str, Any], opponent: str) -> None:
    game = ludodrome.make(game_id, **options)
    slow = game_id == "spaces" or (opponent == "greedy" and game_id != "dots")
    n, steps = (4, 40) if COMPILED else (1, 3) if slow else (2, 14)
    vec = VecGame(game, n, opponent)
    vec.seed(range(40, 40 + n))
    vec.reset()
    names = [] if opponent == "self" else [opponent]
    mirrors = [Mirror(game, 40 + i, None, names) for i in range(n)]
    dice = random.Random(5)
    for _ in range(steps):
        vec.observe()
        actions: Array = np.zeros(n, np.int64)
        rewards = []
        for i, mirror in enumerate(mirrors):
            assert same(game, vec.state.states[i], mirror.state)
            assert vec.state.agent_seat[i] == mirror.seat
            legal = np.flatnonzero(vec.observations.mask[i])
            mine = game.to_move(mirror.state) == mirror.seat
            if not mine:  # the game is over: any action may be sampled
                assert len(legal) == game.num_actions
                legal = legal[:0]
            assert len(legal) == (len(mirror.moves()) if mine else 0)
            assert vec.observations.choices[i, : vec.observations.counts[i]].tolist() == legal.tolist()
            wrong = dice.random() < 0.02
            k = dice.randrange(len(legal)) if len(legal) else None
            actions[i] = dice.choice([-1, game.num_actions]) if wrong or k is None else legal[k]
            rewards.append(mirror.step(None if wrong else k))
        vec.step(actions)
        assert vec.state.rewards.tolist() == rewards
        assert vec.state.ended.tolist() == [mirror.over for mirror in mirrors]
        vec.reset(vec.state.ended)
        for mirror in mirrors:
            if mirror.over:
                mirror.begin()


THINKING: list[tuple[str, dict[str, Any]]] = [
    ("caldera", {"turn_limit": 6}),
    ("dots", {"rows": 2, "cols": 2}),
    ("santorini", {}),
    ("santorini", {"players": 3}),
    ("skysummit", {"turn_limit": 8}),
]
each_thinking = pytest.mark.parametrize(
    ("game_id", "options"), [pytest.param(*case, marks=pytest.mark.xdist_group(case[0])) for case in THINKING]
)


@each_thinking
def test_alpha_beta_answers_in_every_game_as_if_it_were_alone(
    game_id: str, options: dict[str, Any], long: bool
) -> None:
    if COMPILED and not long and game_id != "dots":
        pytest.skip("the long run compiles the search of every game once more, and the plain run has all")
    game = ludodrome.make(game_id, **options)
    n, depth, steps = (4, 2, 12) if COMPILED else (1, 1, 1)
    vecs = [VecGame(game, n, f"alphabeta:depth={depth}", seat=0)]
    vecs += [VecGame(game, 1, f"alphabeta:depth={depth}", seat=0) for _ in range(n)]
    for vec, seeds in zip(vecs, [range(n), *([i] for i in range(n))], strict=True):
        vec.seed(seeds)
        vec.reset()
    generators: Array = np.arange(n).astype(np.uint64)
    for _ in range(steps):
        vecs[0].observe()
        actions = sample_legal(vecs[0].observations, generators)
        vecs[0].step(actions)
        for i, vec in enumerate(vecs[1:]):
            vec.step(actions[i : i + 1])
            assert vec.state.states[0].tobytes() == vecs[0].state.states[i].tobytes()
            vec.reset(vec.state.ended)
        vecs[0].reset(vecs[0].state.ended)


@pytest.mark.parametrize(
    ("game_id", "options"),
    [pytest.param(*case, marks=pytest.mark.xdist_group(case[0])) for case in [*THINKING, ("spaces", {"size": 2})]],
)
def test_policies_answer_in_batches(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    n, steps = (6, 30) if COMPILED else (2, 8)
    asked: list[int] = []

    def first(observations: Array, masks: Array) -> Any:
        asked.append(len(masks))
        assert observations.shape == (len(masks), *game.planes.shape)
        return masks.argmax(axis=1)

    vec = VecGame(game, n, [first, "random"])
    vec.seed(range(n))
    vec.reset()
    mirrors = [Mirror(game, i, None, ["first", "random"]) for i in range(n)]
    for _ in range(steps):
        for i, mirror in enumerate(mirrors):
            assert same(game, vec.state.states[i], mirror.state)
            assert vec.state.opponents[i] == mirror.opponent
            if not mirror.over:
                mirror.step(len(mirror.moves()) - 1 if mirror.moves() else None)
        vec.observe()
        last = np.array([row.nonzero()[0][-1] if row.any() else 0 for row in vec.observations.mask])
        vec.step(last)
        vec.reset(vec.state.ended)
        for mirror in mirrors:
            if mirror.over:
                mirror.begin()
    assert max(asked) > 1
