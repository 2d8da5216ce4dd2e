"""The single environment: Gymnasium's own check for every game and option, illegal actions, bots, pictures."""

import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

import ludodrome
import ludodrome.envs
from ludodrome.envs import GameEnv
from ludodrome.jit import Array
from tests.envs.cases import each_case, skip_larger


def play(env: Any, seed: int) -> list[Any]:
    """A whole game by the first legal action; everything that was given."""
    seen, info = env.reset(seed=seed)
    trace = [seen, info["action_mask"]]
    ended = False
    while not ended:
        seen, reward, ended, truncated, info = env.step(int(info["action_mask"].argmax()))
        assert not truncated
        trace += [seen, reward, info["action_mask"]]
    assert "reason" in info
    return trace


@each_case()
def test_gymnasium_finds_nothing_wrong(game_id: str, options: dict[str, Any], long: bool) -> None:
    skip_larger(options, long)
    for opponent in ("random", "self"):
        env = gymnasium.make(ludodrome.envs.env_id(game_id), opponent=opponent, **options)
        check_env(env.unwrapped)
        one, other = play(env, 5), play(env, 5)
        assert all(np.array_equal(here, there) for here, there in zip(one, other, strict=True))


def test_all_games_are_registered_once() -> None:
    for game_id in ludodrome.game_ids():
        assert gymnasium.spec(f"ludodrome/{game_id.capitalize()}-v0").kwargs == {"game": game_id}
    ludodrome.envs._register()  # a second time changes nothing, and says nothing


def test_an_illegal_action_ends_the_episode() -> None:
    for wrong in (60, -1, 10**30, np.int64(99)):
        env = GameEnv("dots")
        env.reset(seed=1)
        seen, reward, ended, truncated, info = env.step(wrong)
        assert (reward, ended, truncated, info["illegal"]) == (-1.0, True, False, True)
        assert env.observation_space.contains(seen)
        assert info["returns"][info["seat"]] == -1
        assert info["returns"].sum() == -1
        with pytest.raises(ResetNeeded, match="call reset"):
            env.step(0)
    env = GameEnv("dots")
    with pytest.raises(ResetNeeded, match="has not begun"):
        env.step(0)
    env.reset(seed=1)
    bad: list[Any] = [1.0, "1", None]
    for nothing in bad:
        with pytest.raises(ValueError, match="an action is a whole number, not"):
            env.step(nothing)


def test_what_the_rules_refuse_is_never_played() -> None:
    env = GameEnv("santorini", opponent="self")
    for action in range(env.game.num_actions):
        _, info = env.reset(seed=1)
        before = env.vec.state.states.tobytes()
        _, _, _, _, later = env.step(action)
        assert later["illegal"] == (not info["action_mask"][action])
        assert (env.vec.state.states.tobytes() == before) == later["illegal"]


def test_the_learner_has_the_seat_it_asks_for() -> None:
    for seat in (0, 1, 2):
        env = GameEnv("santorini", seat=seat, players=3)
        for seed in range(3):
            _, info = env.reset(seed=seed)
            assert info["seat"] == seat
            assert int(env.vec.state.states["ply"][0]) == seat
    env = GameEnv("santorini", players=3)
    assert {env.reset(seed=seed)[1]["seat"] for seed in range(30)} == {0, 1, 2}


def test_a_game_that_ends_before_the_first_turn_ends_with_the_first_step() -> None:
    env = GameEnv("skysummit", turn_limit=1, seat=1)
    _, info = env.reset(seed=1)
    assert info["action_mask"].all(), "any action ends it"
    _, reward, ended, _, info = env.step(0)
    assert (reward, ended, info["illegal"], info["reason"]) == (0.0, True, False, "turn limit: draw")


@pytest.mark.parametrize(
    ("game_id", "opponent", "options"),
    [
        ("dots", "chains", {"rows": 2, "cols": 2}),
        ("dots", "level:1", {"rows": 2, "cols": 2}),
        ("spaces", "greedy", {"size": 2, "rounds": 3}),
        ("spaces", "expert", {"size": 2, "rounds": 2, "choice": "blind"}),
    ],
)
def test_any_bot_can_be_the_opponent(game_id: str, opponent: str, options: dict[str, Any]) -> None:
    env = GameEnv(game_id, opponent=opponent, **options)
    for seed in range(3):
        one, other = play(env, seed), play(GameEnv(game_id, opponent=opponent, **options), seed)
        assert all(np.array_equal(here, there) for here, there in zip(one, other, strict=True))


def test_observations_and_infos_are_the_callers_own() -> None:
    env = GameEnv("dots")
    first, info = env.reset(seed=1)
    first[:] = 9
    info["action_mask"][:] = 0
    second, info = env.reset(seed=1)
    assert second.max() < 9
    assert info["action_mask"].any()


@each_case()
def test_every_game_can_be_drawn(game_id: str, options: dict[str, Any], long: bool) -> None:
    skip_larger(options, long)
    text, picture = (GameEnv(game_id, render_mode=mode, **options) for mode in ("ansi", "rgb_array"))
    frames = set()
    for env in (text, picture):
        _, info = env.reset(seed=4)
        for _ in range(6):
            shown = env.render()
            if env is picture:
                assert shown.dtype == np.uint8
                assert shown.shape[2] == 3
                frames.add(shown.tobytes())
            else:
                assert isinstance(shown, str)
                assert shown.strip()
            _, _, ended, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]) if any_legal(info) else 0)
            if ended:
                break
        env.close()
    frames.add(picture.render().tobytes())
    assert len(frames) > 1 or options.get("turn_limit") == 1
    assert GameEnv(game_id, **options).render() is None


def any_legal(info: dict[str, Any]) -> bool:
    mask: Array = info["action_mask"]
    return bool(mask.any())


def test_a_wrong_render_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="render_mode is None, 'ansi', 'rgb_array' or 'human', not 'video'"):
        GameEnv("dots", render_mode="video")


def test_unknown_options_of_reset_are_refused() -> None:
    env = GameEnv("dots")
    with pytest.raises(ValueError, match="reset does not know the option 'state_'; it has no options"):
        env.reset(options={"state_": 1})
    with pytest.raises(ValueError, match="the options of reset are a dict or None, not 7"):
        env.reset(options=7)  # type: ignore[arg-type]
    env.reset(options={})


def test_people_can_watch(capsys: pytest.CaptureFixture[str]) -> None:
    env: Any = gymnasium.make("ludodrome/Dots-v0", render_mode="human")
    _, info = env.reset(seed=1)
    assert "seat" in capsys.readouterr().out
    env.step(int(info["action_mask"].argmax()))
    assert "seat" in capsys.readouterr().out
    assert env.render() is None


def test_its_spaces_can_be_sent_to_workers() -> None:
    env = GameEnv("dots")
    assert pickle.loads(pickle.dumps(env.observation_space)) == env.observation_space
