"""The vector environment: against ``Game.apply``, against Gymnasium's own vector of single ones, and its API."""

import random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

import ludodrome
import ludodrome.envs
from ludodrome.envs import GameEnv, GameVectorEnv
from ludodrome.jit import Array
from tests.envs.cases import each_case, skip_larger
from tests.envs.mirror import Mirror
from tests.search.test_vector import same

SMALL: list[tuple[str, dict[str, Any]]] = [
    ("caldera", {"turn_limit": 9}),
    ("dots", {"rows": 2, "cols": 2}),
    ("santorini", {}),
    ("santorini", {"players": 3}),
    ("skysummit", {"turn_limit": 1}),
    ("skysummit", {"turn_limit": 7}),
    ("spaces", {"size": 2, "rounds": 2}),
    ("spaces", {"size": 2, "rules": "live", "choice": "blind", "rounds": 1}),
]


@settings(max_examples=40)
@given(
    st.sampled_from(SMALL),
    st.sampled_from(["random", "self", "pool"]),
    st.sampled_from([None, 0, 1]),
    st.sampled_from(list(AutoresetMode)),
    st.integers(0, 2**40),
    st.integers(0, 2**32),
)
def test_its_games_are_games_of_apply(
    case: tuple[str, dict[str, Any]], opponent: str, seat: int | None, mode: AutoresetMode, seed: int, moves_seed: int
) -> None:
    game = ludodrome.make(case[0], **case[1])
    names = {"random": ["random"], "self": [], "pool": ["random", "first"]}[opponent]
    opponents: Any = opponent if opponent != "pool" else ["random", lambda observations, masks: masks.argmax(axis=1)]
    seat = None if opponent == "self" else seat
    n, dice = 3, random.Random(moves_seed)
    envs = GameVectorEnv(game, num_envs=n, opponent=opponents, seat=seat, autoreset_mode=mode)
    planes, info = envs.reset(seed=seed)
    mirrors = [Mirror(game, seed + i, seat, names) for i in range(n)]
    for _ in range(12):
        actions: Array = np.zeros(n, np.int64)
        expected: list[tuple[float, bool]] = []
        for i, mirror in enumerate(mirrors):
            assert same(game, envs.vec.state.states[i], mirror.state)
            assert info["seat"][i] == mirror.seat
            if not mirror.over:
                assert info["action_mask"][i].sum() == (
                    len(mirror.moves()) if game.to_move(mirror.state) == mirror.seat else game.num_actions
                )
            legal = np.flatnonzero(info["action_mask"][i])
            wrong = dice.random() < 0.05
            k = dice.randrange(len(legal)) if len(legal) else None
            actions[i] = dice.choice([-1, game.num_actions, 2**40]) if wrong or k is None else legal[k]
            if mirror.over:
                mirror.begin()
                expected.append((0.0, False))
            else:
                expected.append((mirror.step(None if wrong else k), mirror.over))
        planes, rewards, ended, truncated, info = envs.step(actions)
        assert list(zip(rewards.tolist(), ended.tolist(), strict=True)) == expected
        assert not truncated.any()
        assert envs.observation_space.contains(planes)
        if mode is AutoresetMode.SAME_STEP:
            assert ("final_obs" in info) == ended.any()
            for mirror in mirrors:
                if mirror.over:
                    mirror.begin()
        elif mode is AutoresetMode.DISABLED and ended.any():
            with pytest.raises(ValueError, match="is over: reset it first"):
                envs.step(actions)
            planes, info = envs.reset(options={"reset_mask": ended.copy()})
            for mirror in mirrors:
                if mirror.over:
                    mirror.begin()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize(
    ("game_id", "options"), [pytest.param(*case, marks=pytest.mark.xdist_group(case[0])) for case in SMALL]
)
def test_it_is_what_gymnasium_makes_of_single_ones(game_id: str, options: dict[str, Any], mode: AutoresetMode) -> None:
    n = 5
    ours = GameVectorEnv(game_id, num_envs=n, autoreset_mode=mode, copy=True, **options)
    theirs = SyncVectorEnv([lambda: GameEnv(game_id, **options)] * n, autoreset_mode=mode)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    one: Any = ours.reset(seed=7)
    other: Any = theirs.reset(seed=7)
    for turn in range(60):
        assert (one[0] == other[0]).all()
        info, their_info = one[-1], other[-1]
        for name in ("action_mask", "seat"):
            assert (info[name] == their_info[name]).all()
        assert ("final_obs" in info) == ("final_obs" in their_info)
        if "final_obs" in info:
            assert (info["_final_obs"] == their_info["_final_obs"]).all()
            for i in np.flatnonzero(info["_final_obs"]):
                assert (info["final_obs"][i] == their_info["final_obs"][i]).all()
                assert info["final_info"]["illegal"][i] == their_info["final_info"]["illegal"][i]
                assert (info["final_info"]["returns"][i] == their_info["final_info"]["returns"][i]).all()
        actions = ours.sample_actions()
        if turn % 11 == 10:
            actions[turn % n] = ours.game.num_actions
        one, other = ours.step(actions), theirs.step(actions)
        for given_here, given_there in zip(one[1:4], other[1:4], strict=True):
            assert (given_here == given_there).all()


@each_case()
def test_every_game_and_option_runs(game_id: str, options: dict[str, Any], long: bool) -> None:
    skip_larger(options, long)
    n = 4 if options.get("size", 0) < 50 else 2
    envs: Any = gymnasium.make_vec(ludodrome.envs.env_id(game_id), num_envs=n, **options)
    assert isinstance(envs, GameVectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    runs = []
    for _ in range(2):
        planes, _ = envs.reset(seed=3)
        trace = [planes.copy()]
        for _ in range(20):
            planes, rewards, ended, _, info = envs.step(envs.sample_actions())
            assert envs.observation_space.contains(planes)
            assert not info["illegal"].any()
            trace += [planes.copy(), rewards.copy(), ended.copy(), info["action_mask"].copy()]
        runs.append(trace)
    assert all((one == other).all() for one, other in zip(*runs, strict=True))
    envs.close()


def test_seeds_make_games_that_do_not_depend_on_their_neighbours() -> None:
    def trace(seeds: Any, n: int) -> list[Array]:
        envs = GameVectorEnv("dots", num_envs=n, rows=2, cols=2)
        planes, _ = envs.reset(seed=seeds)
        seen = [planes.copy()]
        for _ in range(30):
            planes, *_ = envs.step(envs.sample_actions())
            seen.append(planes.copy())
        return seen

    together = trace(100, 4)
    for i in range(4):
        assert all((one[i] == alone[0]).all() for one, alone in zip(together, trace(100 + i, 1), strict=True))
    listed = trace([103, 102, 101, 100], 4)
    assert all((one[::-1] == other).all() for one, other in zip(together, listed, strict=True))
    assert any((one != other).any() for one, other in zip(together, trace(5, 4), strict=True))
    fresh = [trace(None, 4) for _ in range(2)]
    assert any((one != other).any() for one, other in zip(*fresh, strict=True))


def test_a_reset_without_a_seed_goes_on_and_does_not_begin_again() -> None:
    envs = GameVectorEnv("skysummit", num_envs=8, seat=1)
    first = envs.reset(seed=1)[0].copy()
    second = envs.reset()[0].copy()
    assert (first != second).any()
    assert (envs.reset(seed=1)[0] == first).all()
    assert (envs.reset()[0] == second).all()
    partly = envs.reset(seed=[1, *[None] * 7])[0]
    assert (partly[0] == first[0]).all()


def test_what_is_given_away_is_a_copy_unless_reuse_is_wanted() -> None:
    envs = GameVectorEnv("dots", num_envs=3, copy=False)
    first, info = envs.reset(seed=1)
    second, *_, later = envs.step(envs.sample_actions())
    assert np.shares_memory(first, second)
    assert np.shares_memory(info["action_mask"], later["action_mask"])
    actions = envs.sample_actions()
    before = actions.copy()
    envs.step(actions)
    assert (actions == before).all()
    envs = GameVectorEnv("dots", num_envs=3)
    first, info = envs.reset(seed=1)
    kept = first.copy()
    second, *_, later = envs.step(envs.sample_actions())
    assert (first == kept).all()
    assert not np.shares_memory(first, second)
    assert not np.shares_memory(info["action_mask"], later["action_mask"])


def test_scribbling_on_the_mask_makes_nothing_legal() -> None:
    envs = GameVectorEnv("dots", num_envs=2, opponent="self")
    _, info = envs.reset(seed=1)
    envs.step([3, 3])
    info["action_mask"][:] = 1
    _, rewards, ended, _, info = envs.step([3, 4])
    assert info["illegal"].tolist() == [True, False]
    assert rewards.tolist() == [-1, 0]
    assert ended.tolist() == [True, False]
    assert info["returns"].tolist() == [[0, -1], [0, 0]]


def test_in_self_play_the_seat_to_move_is_reported() -> None:
    envs = GameVectorEnv("santorini", num_envs=2, opponent="self", players=3)
    _, info = envs.reset(seed=1)
    for turn in range(1, 7):
        _, _, ended, _, info = envs.step(envs.sample_actions())
        assert not ended.any()
        assert info["seat"].tolist() == [turn % 3] * 2


def test_sampled_actions_are_legal_and_each_as_likely() -> None:
    envs = GameVectorEnv("dots", num_envs=6000, rows=1, cols=2, opponent="self")
    envs.reset(seed=2)
    envs.step(np.zeros(6000, np.int64))
    counts = np.bincount(envs.sample_actions(), minlength=7)
    assert counts[0] == 0
    assert (abs(counts[1:] - 1000) < 150).all()


def test_wrong_arguments_are_refused_with_a_sentence() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"autoreset_mode": "never"}, "autoreset_mode is 'NextStep', 'SameStep' or 'Disabled', not"),
        ({"render_mode": "hologram"}, "render_mode is None, 'ansi', 'rgb_array' or 'human', not"),
        ({"num_envs": 0}, "the number of games is a whole number from 1 to"),
        ({"seat": 2}, "a seat of dots is a whole number from 0 to 1"),
        ({"opponent": "self", "seat": 0}, "plays itself has all seats"),
        ({"opponent": 7}, "an opponent is 'self', the name of a bot"),
        ({"opponent": []}, "the number of opponents in a pool"),
        ({"opponent": "deep blue"}, "there is no bot 'deep blue'"),
        ({"opponent": "mcts:sims=10", "num_envs": 1000}, "plays in at most 64 games at once"),
        ({"colour": "blue"}, "dots has no option 'colour'"),
    ]
    for arguments, sentence in wrong:
        with pytest.raises(ValueError, match=sentence):
            GameVectorEnv("dots", **{"num_envs": 2, **arguments})
    with pytest.raises(ValueError, match="a game is given by its id"):
        GameVectorEnv(7)
    with pytest.raises(ValueError, match="is given with its options"):
        GameVectorEnv(ludodrome.make("dots"), rows=2)
    envs = GameVectorEnv("dots", num_envs=2)
    with pytest.raises(ValueError, match="call reset first"):
        envs.step([0, 0])
    with pytest.raises(ValueError, match="one seed, or a list of 2, not of 3"):
        envs.reset(seed=[1, 2, 3])
    for mask in (np.zeros(2, np.bool_), np.ones(3, np.bool_), np.ones(2), [True, True]):
        with pytest.raises(ValueError, match="reset_mask is an array of 2 booleans"):
            envs.reset(options={"reset_mask": mask})
    with pytest.raises(ValueError, match="reset does not know the option 'mask'; its options are reset_mask"):
        envs.reset(options={"mask": np.ones(2, np.bool_)})
    envs.reset(seed=1)
    for actions in ([0], [0.0, 1.0], [[0, 1]]):
        with pytest.raises(ValueError, match="2 games need 2 whole numbers"):
            envs.step(actions)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize(("game_id", "options"), [("dots", {"rows": 1, "cols": 2}), ("skysummit", {"turn_limit": 1})])
def test_every_mask_can_be_sampled_from(game_id: str, options: dict[str, Any], mode: AutoresetMode) -> None:
    """The row after an end was all zero, and a distribution over no action is none."""
    envs = GameVectorEnv(game_id, num_envs=4, autoreset_mode=mode, **options)
    _, info = envs.reset(seed=1)
    over = 0
    for _ in range(30):
        assert info["action_mask"].any(axis=1).all()
        if "final_info" in info:
            assert info["final_info"]["action_mask"][info["_final_info"]].any(axis=1).all()
        chances = info["action_mask"] / info["action_mask"].sum(axis=1, keepdims=True)
        actions = [np.random.default_rng(3).choice(len(row), p=row) for row in chances]
        _, _, ended, _, info = envs.step(actions)
        over += ended.sum()
        if mode is AutoresetMode.NEXT_STEP:
            assert (info["action_mask"][ended] == 1).all()
        elif mode is AutoresetMode.DISABLED and ended.any():
            _, info = envs.reset(options={"reset_mask": ended})
    assert over > 5


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_infos_say_why_games_ended(mode: str) -> None:
    envs = GameVectorEnv("dots", num_envs=3, autoreset_mode=mode, rows=1, cols=1)
    envs.reset(seed=1)
    reasons = set()
    for _ in range(12):
        _, _, ended, _, info = envs.step(envs.sample_actions())
        assert [one is not None for one in info["reason"]] == ended.tolist()
        reasons |= set(info["reason"][ended])
        if "final_info" in info:
            assert (info["final_info"]["reason"] == info["reason"]).all()
    assert reasons == {"more boxes"}


def test_people_can_watch(capsys: pytest.CaptureFixture[str]) -> None:
    envs = GameVectorEnv("dots", num_envs=2, render_mode="human")
    envs.reset(seed=1)
    assert capsys.readouterr().out.count("seat") >= 2
    envs.step(envs.sample_actions())
    assert capsys.readouterr().out.count("seat") >= 2
    assert envs.render() is None


def test_it_can_be_shown() -> None:
    assert GameVectorEnv("dots").render() is None
    envs = GameVectorEnv("dots", num_envs=2, render_mode="ansi")
    envs.reset(seed=1)
    shown = envs.render()
    assert shown is not None
    assert all(isinstance(text, str) and "seat" in text for text in shown)
    envs = GameVectorEnv("dots", num_envs=2, render_mode="rgb_array")
    envs.reset(seed=1)
    shown = envs.render()
    assert shown is not None
    assert shown[0].shape == (192, 192, 3)
