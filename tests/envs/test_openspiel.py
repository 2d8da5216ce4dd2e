"""Our games in OpenSpiel: its own simulation tests, its algorithms, and agreement with its dots and boxes."""

import pickle
import random
import subprocess
import sys

import pytest

import ludodrome

pytest.importorskip("pyspiel", reason="open_spiel is not installed: pip install 'ludodrome[openspiel]'")

import numpy as np
import pyspiel
from open_spiel.python.algorithms import cfr, exploitability, mcts, minimax
from open_spiel.python.observation import make_observation

import ludodrome.envs.openspiel as openspiel

SHORT = [
    "ludodrome_caldera(turn_limit=16)",
    "ludodrome_dots(rows=2,cols=2)",
    "ludodrome_dots(rows=1,cols=3)",
    "ludodrome_santorini",
    "ludodrome_santorini(players=3)",
    "ludodrome_skysummit(turn_limit=10)",
    "ludodrome_spaces(size=2,rounds=2)",
    "ludodrome_spaces(size=2,rounds=2,rules=live,choice=blind)",
    "ludodrome_spaces(size=2,rules=live,mode=deck)",
]
WHOLE = [
    *(f"ludodrome_dots(rows={rows},cols={cols})" for rows in range(1, 6) for cols in range(1, 6)),
    "ludodrome_dots(rows=2,cols=12)",
    "ludodrome_caldera",
    "ludodrome_skysummit",
    "ludodrome_skysummit(turn_limit=1)",
    *(
        f"ludodrome_spaces(size={size},rules={rules},choice={choice},mode={mode},rounds={rounds})"
        for size in (2, 3, 4)
        for rules in ("written", "live")
        for choice in ("seen", "blind")
        for mode, rounds in (("rounds", 1), ("rounds", 3), ("deck", 1))
    ),
]


@pytest.mark.parametrize("name", SHORT)
def test_openspiels_simulations_pass(name: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=1, serialize=True, verbose=False)


def test_openspiels_simulations_pass_for_every_option(long: bool) -> None:
    if not long:
        pytest.skip("takes minutes: --long")
    for name in SHORT + WHOLE:
        pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=3, serialize=True, verbose=False)


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (1, 4), (2, 2), (3, 2), (3, 3), (4, 6), (5, 5)])
def test_dots_agrees_with_openspiels_move_for_move(rows: int, cols: int) -> None:
    ours = pyspiel.load_game(f"ludodrome_dots(rows={rows},cols={cols})")
    theirs = pyspiel.load_game(f"dots_and_boxes(num_rows={rows},num_cols={cols})")
    assert ours.num_distinct_actions() == theirs.num_distinct_actions()
    for seed in range(4):
        rng = random.Random(seed)
        one, other = ours.new_initial_state(), theirs.new_initial_state()
        while not other.is_terminal():
            assert not one.is_terminal()
            assert one.current_player() == other.current_player()
            assert one.legal_actions() == other.legal_actions()
            action = rng.choice(other.legal_actions())
            named = other.action_to_string(action).lower().partition("(")[2]  # like h,0,1)
            assert one.action_to_string(action).lower() == f"{named[0]}({named[2:]}"
            one.apply_action(action)
            other.apply_action(action)
        assert one.is_terminal()
        assert one.returns() == other.returns()


def test_what_openspiel_sees() -> None:
    two, three = (pyspiel.load_game(f"ludodrome_santorini(players={players})") for players in (2, 3))
    assert (two.num_players(), three.num_players()) == (2, 3)
    assert (three.min_utility(), three.max_utility(), three.utility_sum()) == (-0.5, 1.0, 0.0)
    kinds = pyspiel.GameType.Information
    perfect, hidden = kinds.PERFECT_INFORMATION, kinds.IMPERFECT_INFORMATION
    for name, information in {
        "ludodrome_spaces": perfect,
        "ludodrome_spaces(choice=blind)": hidden,
        "ludodrome_spaces(mode=deck)": hidden,
    }.items():
        assert pyspiel.load_game(name).get_type().information == information
    assert {f"ludodrome_{game}" for game in ludodrome.game_ids()} <= set(pyspiel.registered_names())
    openspiel.register()  # a second time does nothing


def test_states_are_copied_pickled_and_set_up() -> None:
    game = pyspiel.load_game("ludodrome_santorini")
    state = game.new_initial_state()
    state.apply_action(state.legal_actions()[5])
    twin = state.clone()
    twin.apply_action(twin.legal_actions()[0])
    assert str(twin) != str(state)
    assert str(pickle.loads(pickle.dumps(state))) == str(state)
    own = ludodrome.make("santorini")
    after = own.apply(own.initial_state(), "[N1C2B2C3]")
    assert str(game.new_initial_state(after)) == own.render(after)
    assert state.legal_actions(0) == []
    spaces = pyspiel.load_game("ludodrome_spaces")
    with pytest.raises(ValueError, match="begins at its beginning"):
        spaces.new_initial_state(ludodrome.make("spaces").initial_state())
    with pytest.raises(ValueError, match="take no parameters"):
        game.make_py_observer(None, {"planes": 3})


def test_wrong_options_are_refused_with_a_sentence() -> None:
    with pytest.raises(ValueError, match="rows of dots is a whole number from 1"):
        pyspiel.load_game("ludodrome_dots(rows=99)")


def test_what_lies_face_down_is_hidden_from_the_other() -> None:
    game = pyspiel.load_game("ludodrome_spaces(size=2,rules=live,rounds=1,choice=blind)")
    seen: list[set[str]] = [set(), set()]
    for start in (0, 1):
        state = game.new_initial_state()
        state.apply_action(start)
        while state.current_player() == 0:
            assert state.information_state_string(0).startswith(f"seat 0 lays: start {start}")
            assert state.information_state_string(1) == "seat 0 lays"
            state.apply_action(state.legal_actions()[0])
        for player in (0, 1):
            seen[player].add(state.information_state_string(player))
            assert state.information_state_string(player) == state.observation_string(player)
    assert [len(texts) for texts in seen] == [2, 1]


def test_tensors_are_the_planes_of_the_other_environments() -> None:
    game = pyspiel.load_game("ludodrome_dots(rows=2,cols=2)")
    state = game.new_initial_state()
    state.apply_action(0)
    planes = ludodrome.make("dots", rows=2, cols=2).planes
    assert tuple(game.observation_tensor_shape()) == planes.shape
    seen = np.array(state.observation_tensor(1)).reshape(planes.shape)
    assert seen[planes.names.index("horizontal edges drawn")].tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
    observer = make_observation(game)
    observer.set_from(state, 1)
    assert (observer.dict["observation"] == seen).all()


def test_tensors_hide_what_lies_face_down() -> None:
    game = pyspiel.load_game("ludodrome_spaces(size=2,rules=live,rounds=1,choice=blind)")
    views: list[set[bytes]] = [set(), set()]
    for start in (0, 1):
        state = game.new_initial_state()
        state.apply_action(start)
        middle = np.array(state.observation_tensor(1)).tobytes()
        while state.current_player() == 0:
            assert np.array(state.observation_tensor(1)).tobytes() == middle
            state.apply_action(state.legal_actions()[0])
        for player in (0, 1):
            views[player].add(np.array(state.observation_tensor(player)).tobytes())
    assert [len(found) for found in views] == [2, 1]


def test_openspiels_minimax_finds_what_our_solver_knows() -> None:
    spiel = pyspiel.load_game("ludodrome_dots(rows=1,cols=2)")
    value, _ = minimax.alpha_beta_search(spiel, maximizing_player_id=0)
    game = ludodrome.make("dots", rows=1, cols=2)
    margin = ludodrome.solve(game, game.initial_state()).value
    assert margin is not None
    assert value == (margin > 0) - (margin < 0)


def test_openspiels_regret_minimisation_runs_on_blind_spaces() -> None:
    game = pyspiel.load_game("ludodrome_spaces(size=2,rules=live,rounds=1,choice=blind)")
    solver = cfr.CFRPlusSolver(game)
    before = exploitability.nash_conv(game, solver.average_policy())
    for _ in range(3):
        solver.evaluate_and_update_policy()
    assert exploitability.nash_conv(game, solver.average_policy()) < before


def test_openspiels_tree_search_plays_ours() -> None:
    game = pyspiel.load_game("ludodrome_dots(rows=1,cols=1)")
    rng = np.random.RandomState(1)
    bot = mcts.MCTSBot(game, 2.0, 30, mcts.RandomRolloutEvaluator(random_state=rng), random_state=rng)
    state = game.new_initial_state()
    for action in (0, 1, 2):
        state.apply_action(action)
    assert bot.step(state) == 3


def test_without_openspiel_the_error_names_the_extra() -> None:
    script = "import sys; sys.modules['pyspiel'] = None; import ludodrome.envs.openspiel"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert "need open_spiel, which is not installed: pip install 'ludodrome[openspiel]'" in done.stderr
