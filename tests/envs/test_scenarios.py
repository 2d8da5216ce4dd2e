"""The four scenarios of spaces: Gymnasium's check, what is seen and what is hidden, what is paid."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import ludodrome
import ludodrome.envs
from ludodrome.envs import BoardGeneration, BoardSelection, MetaGame, OpponentPrediction
from ludodrome.games.spaces.environments import STYLES, Scenario, planes, play_round
from ludodrome.games.spaces.legality import read_finished

KINDS: list[type[Scenario]] = [BoardGeneration, BoardSelection, OpponentPrediction, MetaGame]
each_kind = pytest.mark.parametrize("kind", KINDS)
SETTINGS: list[dict[str, Any]] = [
    {},
    {"information": "fog", "rounds": 3, "choice": "seen"},
    {"rounds": 3, "choice": "fog"},
    {"size": 4, "rules": "written", "opponent": "counter", "boards": 5},
    {"size": 2, "seat": 1, "rounds": 4, "choice": "seen"},
]


def board(code: str) -> Any:
    return ludodrome.spaces.parse_board(code)


def actions_of(code: str, size: int = 3, rules: str = "live") -> bytes:
    return read_finished(board(code), {"size": size, "rules": rules, "mode": "rounds"})


def play(env: Any, seed: int) -> list[Any]:
    """A random match; everything that the environment returned."""
    env.action_space.seed(seed)
    seen, info = env.reset(seed=seed)
    trace: list[Any] = [seen]
    over = False
    while not over:
        assert info["action_mask"].any()
        seen, reward, over, _, info = env.step(env.action_space.sample(info["action_mask"]))
        assert env.observation_space.contains(seen)
        trace += [seen, reward, info]
    return trace


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", ludodrome.envs.SCENARIOS)
def test_gymnasium_finds_nothing_wrong(name: str, settings: dict[str, Any]) -> None:
    env = gymnasium.make(ludodrome.envs.env_id(name), **settings)
    check_env(env.unwrapped)
    one, other = play(env, 3), play(env, 3)
    assert repr(one) == repr(other)
    assert repr(one) != repr(play(env, 4))


@each_kind
def test_an_illegal_action_ends_the_match(kind: type[Scenario]) -> None:
    env: Any = kind()
    for wrong in (-1, 10**6):
        env.reset(seed=1)
        _, reward, over, _, info = env.step(wrong)
        assert (reward, over, info["illegal"]) == (-1.0, True, True)
        assert info["action_mask"].all()
        with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
            env.step(0)


@pytest.mark.parametrize("kind", [BoardGeneration, BoardSelection, MetaGame, OpponentPrediction])
@pytest.mark.parametrize("action", [0.9, "0", None, [0]])
def test_an_action_that_is_no_integer_is_refused(kind: type[Scenario], action: Any) -> None:
    env = kind()
    env.reset(seed=1)
    with pytest.raises(ValueError, match="an action is a whole number, not"):
        env.step(action)
    with pytest.raises(ValueError, match="reset does not know the option 'board'"):
        env.reset(options={"board": 1})


def test_people_can_watch_a_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    env = BoardSelection(render_mode="human")
    env.reset(seed=1)
    env.step(0)
    assert capsys.readouterr().out.count("round 1 of 1") == 2
    assert env.render() is None


def test_generating_builds_the_board_step_by_step() -> None:
    env = BoardGeneration(opponent="constant", boards=[board("3:0:uuf")], seat=0)
    seen, info = env.reset(seed=1)
    assert seen["position"].tolist() == [-1, -1]
    assert np.flatnonzero(info["action_mask"]).tolist() == [0, 1, 2]
    mine = actions_of("3:1:l5uuf")
    for action in mine[:-1]:
        seen, reward, over, _, info = env.step(action)
        assert (reward, over) == (0.0, False)
    assert seen["grid"].tolist() == [[1, 0, 0], [1, 0, 0], [2, 1, 0]]
    assert seen["position"].tolist() == [0, 0]
    assert seen["traps"][0].tolist() == [[0, 0, 0], [0, 0, 0], [3, 0, 0]]
    assert not seen["traps"][1].any()
    assert not seen["opponent"].any()
    assert seen["step"] == 5
    seen, reward, over, _, info = env.step(mine[-1])
    simulated = ludodrome.spaces.simulate(board("3:1:l5uuf"), board("3:0:uuf"), 3, "live")
    assert info["points"] == simulated.points
    assert info["ended"] == simulated.ended
    assert reward == (simulated.points[0] - simulated.points[1]) / 3
    assert over
    assert seen["score"].tolist() == simulated.points


def test_the_first_choosers_board_is_seen_under_seen_alone() -> None:
    boards = [board("3:0:uuf")]
    for choice, seat, visible in (("seen", 1, True), ("seen", 0, False), ("blind", 1, False)):
        env = BoardGeneration(opponent="constant", boards=boards, seat=seat, choice=choice)
        seen, _ = env.reset(seed=1)
        expected = [[0, 0, 1], [0, 0, 2], [0, 0, 3]] if visible else [[0] * 3] * 3
        assert seen["opponent"].tolist() == expected


def test_the_opponent_that_lays_second_under_seen_sees_the_board() -> None:
    legal = [board(code) for code in ("3:0:uuf", "3:1:uuf", "3:2:uuf", "3:0:u6uf")]
    env = MetaGame(opponent="counter", boards=legal, rounds=2, choice="seen", seat=0)
    env.reset(seed=1)
    env.step(1)
    margins = []
    for one in legal:
        own, other = play_round(read(one), read(legal[1]), 3, True).points
        margins.append(own - other)
    assert env.opponents[0] == read(legal[int(np.argmax(margins))])


def read(one: Any) -> bytes:
    return read_finished(one, {"size": 3, "rules": "live", "mode": "rounds"})


def test_with_perfect_information_earlier_rounds_are_seen_in_full_and_in_fog_hardly() -> None:
    pool = [board("3:0:u6uf"), board("3:1:u4uf")]
    runs = {}
    for information in ("perfect", "fog"):
        env = MetaGame(opponent="cycle", boards=pool, rounds=3, information=information, seat=0)
        env.reset(seed=2)
        seen, *_ = env.step(0)
        runs[information] = seen
        other = env.opponents[0]
        carried_out = env.met[0].steps[1]
    full, fog = runs["perfect"], runs["fog"]
    assert (full["earlier"][0, 2:] == planes(other, 3, turned=True)).all()
    assert full["earlier"][0, 3].any()
    assert (full["earlier"][0, :2] == fog["earlier"][0, :2]).all()
    assert not fog["earlier"][0, 3].any()
    assert set(np.unique(fog["earlier"][0, 2])) == {0, 1}
    visited = planes(other[:carried_out], 3, turned=True)[0] > 0
    assert (fog["earlier"][0, 2] == visited).all()
    marks = [number for number, action in enumerate(other) if 3 + 3 <= action < 3 + 12]
    assert np.flatnonzero(full["trap_steps"][0]).tolist() == marks
    assert np.flatnonzero(fog["trap_steps"][0]).tolist() == [number for number in marks if number < carried_out]
    assert not full["earlier"][1].any()


def test_rounds_count_and_points_add_up() -> None:
    env = MetaGame(rounds=4, opponent="random", size=2)
    trace = play(env, 9)
    infos = trace[3::3]
    assert [seen["round"].item() for seen in (trace[0], *trace[1::3])] == [1, 2, 3, 4, 5]
    assert trace[-3]["score"].tolist() == np.array([info["points"] for info in infos]).sum(axis=0).tolist()
    for info, reward in zip(infos, trace[2::3], strict=True):
        assert reward == (info["points"][0] - info["points"][1]) / 2


def test_prediction_pays_for_what_comes_true() -> None:
    env = OpponentPrediction(opponent="constant", rounds=3, seat=1)
    env.reset(seed=5)
    right = env.pool.index(env.pool[env._place])
    rewards = [env.step(guess)[1] for guess in (right, (right + 1) % env.count, right)]
    assert rewards == [1.0, 0.0, 1.0]
    assert env.opponents == [env.pool[right]] * 3


def test_prediction_never_shows_the_answer_and_shows_what_was_laid_before_it() -> None:
    env = OpponentPrediction(opponent="random", rounds=6, seat=0, choice="seen")
    seen, _ = env.reset(seed=5)
    for turn in range(6):
        assert not seen["opponent"].any()
        assert seen["grid"].any() == (turn % 2 == 0)
        seen, *_ = env.step(0)


@pytest.mark.parametrize("style", STYLES)
def test_every_style_lays_legal_boards(style: str) -> None:
    for rules in ("live", "written"):
        env = BoardGeneration(opponent=style, rounds=3, rules=rules)
        play_on(env)
        for laid in env.opponents:
            shown = ludodrome.spaces.format_board(laid, 3)
            assert ludodrome.spaces.check(shown, 3, rules) == []
        assert len(env.opponents) == 3


def play_on(env: BoardGeneration) -> None:
    """Straight runs to the end."""
    env.reset(seed=8)
    over = False
    while not over:
        for action in actions_of("3:1:uuf"):
            _, _, over, _, _ = env.step(action)


def test_styles_do_what_they_are_called() -> None:
    laid: dict[str, list[bytes]] = {}
    for style in ("constant", "cycle", "mimic"):
        env = MetaGame(opponent=style, rounds=8, size=2, boards=4, choice="blind")
        env.reset(seed=3)
        for turn in range(8):
            env.step(turn % 3)
        laid[style] = env.opponents
        if style == "mimic":
            assert env.opponents[1:] == env.learners[:-1]
    assert len(set(laid["constant"])) == 1
    assert len(set(laid["cycle"][:4])) == 4
    assert laid["cycle"][:4] == laid["cycle"][4:]


def test_an_unknown_opponent_is_any_of_them() -> None:
    env = MetaGame(rounds=1)
    styles = set()
    for seed in range(40):
        env.reset(seed=seed)
        styles.add(env._style)
    assert styles == set(STYLES.values())


@each_kind
def test_wrong_settings_are_refused_with_a_sentence(kind: type[Scenario]) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"size": 1}, "the size of spaces"),
        ({"rules": "new"}, "the rules of spaces"),
        ({"choice": "open"}, "choice is 'seen', 'blind' or 'fog', not 'open'"),
        ({"information": "none"}, "information is 'perfect' or 'fog', not 'none'"),
        ({"opponent": "deep blue"}, "opponent is 'random'"),
        ({"rounds": 0}, "rounds is a whole number from 1 to 100"),
        ({"seat": 2}, "seat is a whole number from 0 to 1"),
        ({"boards": 0}, "to choose from is a whole number from 1 to"),
        ({"boards": []}, "the number of boards is a whole number from 1"),
        ({"boards": [board("3:1:uu4f")]}, "board 0 is not legal: "),
        ({"render_mode": "film"}, "render_mode is None"),
    ]
    for settings, sentence in wrong:
        with pytest.raises(ValueError, match=sentence):
            kind(**settings)


@each_kind
def test_scenarios_can_be_drawn(kind: type[Scenario]) -> None:
    assert kind().render() is None
    for mode in ("ansi", "rgb_array"):
        env: Any = kind(render_mode=mode, rounds=2)
        _, info = env.reset(seed=1)
        shown = [env.render()]
        over = False
        while not over:
            _, _, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
            shown.append(env.render())
        if mode == "ansi":
            assert "round 1 of 2, totals 0 : 0" in shown[0]
            assert "round 2 of 2" in shown[-1]
        else:
            assert all(picture.shape == shown[0].shape for picture in shown)
            assert (shown[0] != shown[-1]).any()
