"""PettingZoo: its own tests for every game and option, three seats, spaces with both seats at once."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ludodrome
from tests.cases import CASES
from tests.envs.cases import each_case, skip_larger

pytest.importorskip("pettingzoo", reason="pettingzoo is not installed: pip install 'ludodrome[rl]'")

from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

from ludodrome.envs import aec_env, parallel_env

CYCLES = 60


@pytest.fixture(autouse=True)
def usual_warnings() -> Iterator[None]:
    """What PettingZoo says of all games with masks that are not on its own list, and of masks once a game is over."""
    with warnings.catch_warnings():
        for usual in (
            "Observation is not a NumPy array",
            "Observation space for each agent probably should be",
            "Action mask numpy array is all zeros",
        ):
            warnings.filterwarnings("ignore", usual)
        yield


@each_case()
def test_pettingzoo_finds_nothing_wrong(game_id: str, options: dict[str, Any], long: bool) -> None:
    skip_larger(options, long)
    api_test(aec_env(game_id, **options), num_cycles=CYCLES)
    seed_test(lambda: aec_env(game_id, **options), num_cycles=CYCLES)


@pytest.mark.xdist_group("spaces")
@pytest.mark.parametrize("options", CASES["spaces"])
def test_nor_with_both_seats_at_once(options: dict[str, Any], long: bool) -> None:
    skip_larger(options, long)
    options = {**options, "choice": "blind"}
    parallel_api_test(parallel_env(**options), num_cycles=200)
    parallel_seed_test(lambda: parallel_env(**options))


@pytest.mark.parametrize(("game_id", "options"), [("dots", {"rows": 2, "cols": 2}), ("santorini", {"players": 3})])
def test_a_game_is_a_game_of_apply(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    env = aec_env(game_id, **options)
    env.reset(seed=3)
    state = game.initial_state(3)
    dice = np.random.default_rng(1)
    rewards = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        seen, reward, over, _, _ = env.last()
        rewards[agent] += reward
        if over:
            assert not seen["action_mask"].any()
            env.step(None)
            continue
        assert agent == f"player_{game.to_move(state)}"
        moves = game.legal_moves(state)
        legal = np.flatnonzero(seen["action_mask"])
        assert len(legal) == len(moves)
        for other in set(env.possible_agents) - {agent}:
            assert not env.observe(other)["action_mask"].any()
        k = int(dice.integers(len(legal)))
        state = game.apply(state, moves[k])
        env.step(legal[k])
    outcome = game.outcome(state)
    assert outcome is not None
    assert list(rewards.values()) == outcome.returns


@pytest.mark.parametrize("wrong", [-1, 12, "1", 1.0, np.int64(99)])
def test_an_illegal_action_ends_the_game(wrong: Any) -> None:
    env = aec_env("dots", rows=2, cols=2)
    env.reset(seed=3)
    env.step(3)
    env.step(wrong)
    assert all(env.terminations.values())
    assert env.rewards == {"player_0": 0.0, "player_1": -1.0}
    assert env.infos == {"player_0": {}, "player_1": {"illegal": True}}


def test_games_can_be_drawn() -> None:
    for mode, kind in (("ansi", str), ("rgb_array", np.ndarray), (None, type(None))):
        env = aec_env("caldera", render_mode=mode)
        env.reset(seed=1)
        assert isinstance(env.render(), kind)
        both = parallel_env(render_mode=mode)
        both.reset(seed=1)
        assert isinstance(both.render(), kind)
        env.close()
        both.close()
    for make in (lambda: aec_env("dots", render_mode="film"), lambda: parallel_env(render_mode="film")):
        with pytest.raises(ValueError, match="render_mode is None, 'ansi', 'rgb_array' or 'human', not 'film'"):
            make()  # type: ignore[no-untyped-call]


def test_the_seed_is_not_ignored() -> None:
    env = aec_env("dots").unwrapped
    nonces = []
    for seed in (1, 2, 1, None, None, 1, None, None):
        env.reset(seed=seed)
        nonces.append(int(env._states["nonce"][0]))
    assert nonces[0] == nonces[2] == nonces[5] != nonces[1]
    assert nonces[3:5] == nonces[6:8]
    assert len(set(nonces)) == 4


# Spaces with both seats at once


def together(boards: list[list[str]], **options: Any) -> tuple[Any, list[Any]]:
    """Both seats build their boards, one list of boards a seat; the environment, and what the last step gave."""
    env = parallel_env(**options)
    codes = [[ludodrome.spaces.parse_board(code) for code in seat] for seat in boards]
    numbers = [[list(actions_of(board, env.game)) for board in seat] for seat in codes]
    seen, _ = env.reset(seed=1)
    for pair in zip(*numbers, strict=True):
        for k in range(max(map(len, pair))):
            actions = {f"player_{seat}": board[k] if k < len(board) else env.wait for seat, board in enumerate(pair)}
            for agent, action in actions.items():
                assert seen[agent]["action_mask"][action] == 1
            seen, rewards, over, _, infos = env.step(actions)
    return env, [seen, rewards, over, infos]


def actions_of(board: Any, game: Any) -> bytes:
    from ludodrome.games.spaces.legality import read_finished

    return read_finished(board, game.options)


def test_boards_meet_as_in_the_game() -> None:
    boards = [["3:1:u6uf", "3:0:uuf"], ["3:0:5uuf", "3:2:luuf"]]
    env, (seen, rewards, over, infos) = together(boards, rounds=2)
    game = ludodrome.make("spaces", rounds=2, choice="blind")
    state = game.initial_state()
    for turn in range(2):
        for seat in (turn % 2, 1 - turn % 2):
            state = game.apply(state, ludodrome.spaces.parse_board(boards[seat][turn]))
    assert game.decode(env._match[0]) == state
    outcome = game.outcome(state)
    assert outcome is not None
    assert list(rewards.values()) == outcome.returns
    assert all(over.values())
    assert env.agents == []
    assert not any(infos.values())
    assert not any(one["action_mask"].any() for one in seen.values())


def test_nobody_sees_what_the_other_builds() -> None:
    seen = []
    for other in ("3:0:5uuf", "3:2:uuf"):
        env = parallel_env(rounds=1)
        before, _ = env.reset(seed=1)
        mine = actions_of(ludodrome.spaces.parse_board("3:1:u6uf"), env.game)
        theirs = actions_of(ludodrome.spaces.parse_board(other), env.game)
        steps = [before]
        for k in range(3):
            steps.append(env.step({"player_0": mine[k], "player_1": theirs[k]})[0])
        seen.append([step["player_0"]["observation"] for step in steps])
    assert all((one == two).all() for one, two in zip(*seen, strict=True))


def test_waiting_is_legal_for_those_who_have_laid_and_for_nobody_else() -> None:
    env = parallel_env(size=2, rounds=1)
    env.reset(seed=1)
    _, rewards, over, _, infos = env.step({"player_0": env.wait, "player_1": 0})
    assert rewards == {"player_0": -1.0, "player_1": 0.0}
    assert infos == {"player_0": {"illegal": True}, "player_1": {}}
    assert all(over.values())
    env.reset(seed=1)
    straight, slow = (0, 2, 14), (0, 9, 2, 14)
    for one, two in zip(straight, slow, strict=False):
        seen, *_ = env.step({"player_0": one, "player_1": two})
    assert np.flatnonzero(seen["player_0"]["action_mask"]).tolist() == [env.wait]
    assert seen["player_1"]["action_mask"][env.wait] == 0
    assert seen["player_0"]["observation"][0].tolist() == [[2, 0], [1, 0]]
    _, rewards, over, _, infos = env.step({"player_0": 0, "player_1": 14})
    assert infos["player_0"] == {"illegal": True}
    env.reset()
    with pytest.raises(ValueError, match="there is no action of player_1"):
        env.step({"player_0": 0})


def test_the_state_is_in_its_space() -> None:
    env = parallel_env(size=3)
    env.reset()
    assert env.state_space.shape == env.state().shape
    assert env.state_space.contains(env.state())


def test_unknown_options_are_refused_and_people_can_watch(capsys: pytest.CaptureFixture[str]) -> None:
    for env in (parallel_env(size=2, render_mode="human"), aec_env("dots", render_mode="human")):
        with pytest.raises(ValueError, match="reset does not know the option 'x'; its options are options"):
            env.reset(options={"x": 1})
        capsys.readouterr()
        env.reset()
        assert capsys.readouterr().out


def test_both_at_once_wants_blind_choice() -> None:
    with pytest.raises(ValueError, match="only under choice='blind'"):
        parallel_env(choice="seen")
    env = parallel_env(size=2)
    env.reset()
    assert env.state().shape == (2, *env.game.planes.shape)
