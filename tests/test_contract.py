"""Every promise of Game, over all games and options."""

import functools
import json
import random
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.jit import COMPILED
from tests.cases import CASES, each_case, each_game

STATES_A_GAME = 12


def sample_states(game: ludodrome.Game, count: int = STATES_A_GAME) -> list[Any]:
    """Positions along a few random games, the first and the last ones among them."""
    states: list[Any] = json.loads(sampled(repr(game), count))
    return states


@functools.cache
def sampled(named: str, count: int) -> str:
    """The same as JSON: many tests look at the same ones, and each gets its own copy."""
    game = eval(named, {"ludodrome": ludodrome})
    rng = random.Random(7)
    states = []
    for seed in range(3):
        line = [game.initial_state(seed)]
        while game.to_move(line[-1]) is not None:
            line.append(game.apply(line[-1], random_move(game, line[-1], rng)))
        states += [line[0], line[-1], *rng.sample(line, min(len(line), count // 3))]
    return json.dumps(states)


def random_move(game: ludodrome.Game, state: Any, rng: random.Random) -> Any:
    """A random legal move; in spaces a board is walked step by step, since boards are too many to list."""
    if game.id != "spaces":
        return rng.choice(game.legal_moves(state))
    boards = [random_board(game, rng) for _ in range(10 if game.options["mode"] == "deck" else 1)]
    return {"deck": boards} if game.options["mode"] == "deck" else boards[0]


def random_board(game: ludodrome.Game, rng: random.Random) -> Any:
    size, rules = game.options["size"], game.options["rules"]
    sequence: list[Any] = []
    while more := ludodrome.spaces.steps(sequence, size, rules):
        pieces = [step for step in more if step["type"] != "trap"]
        sequence.append(rng.choice(pieces if rng.random() < 0.7 and pieces else more))
    return {"boardSize": size, "sequence": sequence}


def test_the_cases_cover_every_game_and_option() -> None:
    assert sorted(CASES) == ludodrome.game_ids() == ["caldera", "dots", "santorini", "skysummit", "spaces"]
    for game_id, cases in CASES.items():
        assert {name for case in cases for name in case} == set(ludodrome.make(game_id).options)


@pytest.mark.parametrize("game_id", each_game())
def test_a_game_says_what_it_is(game_id: str) -> None:
    game = ludodrome.make(game_id)
    assert game.id == game_id
    assert game.title
    assert game.seats == 2
    assert ludodrome.make(game_id, **game.options).options == game.options
    assert eval(repr(game), {"ludodrome": ludodrome}).options == game.options


def test_an_unknown_game_is_refused_with_the_right_ones() -> None:
    for wrong in ("chess", None, 7, ["dots"]):
        with pytest.raises(ValueError, match="caldera, dots, santorini, skysummit and spaces"):
            ludodrome.make(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("game_id", each_game())
def test_an_unknown_option_or_a_bad_value_is_refused_with_the_right_ones(game_id: str) -> None:
    options = ludodrome.make(game_id).options
    with pytest.raises(ValueError, match=next(iter(options))):
        ludodrome.make(game_id, colour="blue")
    bad: tuple[Any, ...] = (None, 1.0, True, -1, 10**9, "", [], {})
    for name in options:
        for wrong in bad:
            with pytest.raises(ValueError, match=name):
                ludodrome.make(game_id, **{name: wrong})


def test_three_seats() -> None:
    assert ludodrome.make("santorini", players=3).seats == 3


@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_states_are_json_and_survive_every_encoding(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    for state in sample_states(game):
        assert json.loads(json.dumps(state, allow_nan=False)) == state
        assert game.decode(game.encode(state)) == state
        line = game.format_state(state)
        assert "\n" not in line
        assert game.parse_state(line) == state
        assert game.render(state).strip()


@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_the_same_seed_gives_the_same_start(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    for seed in (0, 1, -1, 2**80):
        assert game.initial_state(seed) == game.initial_state(seed=seed)
        assert game.to_move(game.initial_state(seed)) == 0
    for wrong in (None, 1.5, "1", True):
        with pytest.raises(ValueError, match="seed"):
            game.initial_state(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_finished_states_say_so(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    finished = 0
    for state in sample_states(game):
        outcome = game.outcome(state)
        assert (outcome is None) == (state["reason"] == "") == (game.to_move(state) is not None)
        if "to_move" in state:
            assert state["to_move"] == game.to_move(state)
        winner = -1 if state["winner"] is None else state["winner"]
        assert game.kernels.winner(game._states(state)) == winner
        if outcome is None:
            assert state["winner"] is None
            continue
        finished += 1
        assert (outcome.winner, outcome.reason) == (state["winner"], state["reason"])
        assert sum(outcome.returns) == 0
        assert len(outcome.returns) == len(outcome.scores) == game.seats
        if outcome.winner is None:
            assert outcome.returns == [0] * game.seats
        else:
            assert outcome.returns[outcome.winner] == 1
            assert outcome.scores[outcome.winner] == max(outcome.scores)
        assert game.legal_moves(state) == []
        with pytest.raises(ludodrome.IllegalMove, match=r"over"):
            game.apply(state, random_move(game, game.initial_state(), random.Random(1)))
        with pytest.raises(ludodrome.IllegalMove, match=r"over"):
            game.parse_move("anything", state)
    assert finished >= 3


@pytest.mark.parametrize(("game_id", "options"), each_case(but="spaces"))
def test_legal_moves_are_listed_once_in_the_order_of_their_actions(game_id: str, options: dict[str, Any]) -> None:
    """In spaces a move is many actions: tests/games/spaces has its own tests of the order."""
    game = ludodrome.make(game_id, **options)
    for state in sample_states(game):
        moves = game.legal_moves(state)
        assert json.loads(json.dumps(moves)) == moves
        actions = [game.action(move, state) for move in moves]
        assert actions == sorted(set(actions))
        assert [game.move(action, state) for action in actions] == moves
        states = game._states(state)
        faultless = [action for action in range(game.num_actions) if game.kernels.fault(states, action) == 0]
        assert faultless == actions
        assert len(actions) <= game.most_legal
        assert all(game.is_legal(state, move) for move in moves)
        for action in set(range(game.num_actions)) - set(actions):
            with pytest.raises(ludodrome.IllegalMove, match=r"\w \w"):
                game.move(action, state)
            break


@pytest.mark.parametrize("game_id", each_game())
def test_actions_off_the_range_are_refused(game_id: str) -> None:
    game = ludodrome.make(game_id)
    for wrong in (-1, game.num_actions, 10**30, True, 1.0, "1", None):
        with pytest.raises(ludodrome.IllegalMove, match=f"0 to {game.num_actions - 1}"):
            game.move(wrong, game.initial_state())  # type: ignore[arg-type]


@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_moves_survive_their_notation(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    rng = random.Random(3)
    for state in sample_states(game):
        if game.to_move(state) is not None:
            move = random_move(game, state, rng)
            assert game.is_legal(state, move)
            assert game.parse_move(game.format_move(move, state), state) == move


@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_observations(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    for state in sample_states(game):
        for seat in (*range(game.seats), None):
            seen = game.observation(state, seat)
            assert json.loads(json.dumps(seen)) == seen
            hidden = {key for key in state if seen[key] != state[key]}
            assert hidden <= ({"chosen"} if game_id == "spaces" else set())
            assert set(seen) - set(state) == ({"you"} if game_id == "dots" and seat is not None else set())
        for wrong in (-1, game.seats, True, "0", 0.0):
            with pytest.raises(ValueError, match="seat"):
                game.observation(state, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_playouts_depend_on_the_seed_and_not_on_the_threads(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    n = 3 if options.get("size", 0) > 10 or not COMPILED else 40
    one = ludodrome.playouts(game, n, seed=5)
    assert sum(one.wins) + one.draws == one.games == n
    assert len(one.wins) == game.seats
    assert one.plies >= n
    assert one == ludodrome.playouts(game, n, seed=5, threads=2)
    assert ludodrome.playouts(game, 0).plies == 0
    if one.plies > 2 * n:
        assert one.digest != ludodrome.playouts(game, n, seed=6).digest
    for n, threads in ((-1, 1), (1, 0)):
        with pytest.raises(ValueError, match=r"the number of (playouts|threads) is a whole number"):
            ludodrome.playouts(game, n, threads=threads)


@pytest.mark.parametrize("game_id", each_game())
def test_playouts_do_not_depend_on_the_threads_over_many_chunks(game_id: str) -> None:
    game = ludodrome.make(game_id)
    n = 10_000 if COMPILED else 0
    assert ludodrome.playouts(game, n, seed=1) == ludodrome.playouts(game, n, seed=1, threads=3)


@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_a_batch_plays_as_apply_does(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    n = 3
    batch = ludodrome.batch(game, n)
    rng = np.random.default_rng(3)
    states = [game.decode(record) for record in batch.states]
    assert (batch.to_move == 0).all()
    assert len(batch) == n
    for _ in range(100_000):
        if batch.done.all():
            break
        mask = batch.legal_mask()
        assert (mask.sum(axis=1) > 0).tolist() == (~batch.done).tolist()
        actions = np.array([rng.choice(np.flatnonzero(row)) if row.any() else 0 for row in mask])
        if game_id != "spaces":
            states = [
                state if done else game.apply(state, game.move(int(action), state))
                for state, action, done in zip(states, actions, batch.done, strict=True)
            ]
        batch.step(actions)
        assert not batch.illegal.any()
        if game_id != "spaces":
            assert [game.decode(record) for record in batch.states] == states
    for i, record in enumerate(batch.states):
        state = game.decode(record)
        outcome = game.outcome(state)
        assert outcome is not None
        assert batch.rewards[i].tolist() == outcome.returns
        assert batch.to_move[i] == -1


@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_a_batch_refuses_and_resets(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    batch = ludodrome.batch(game, 4)
    mask = batch.legal_mask()
    assert mask.shape == (4, game.num_actions)
    assert mask.dtype == np.bool_
    legal = int(np.flatnonzero(mask[0])[-1])
    forbidden = np.flatnonzero(~mask[1])
    illegal = int(forbidden[0]) if len(forbidden) else game.num_actions
    before = batch.states.tobytes()
    batch.step([game.num_actions, illegal, -1, 2**40])
    assert batch.illegal.all()
    assert batch.states.tobytes() == before
    batch.step(np.array([legal, illegal, legal, legal], np.int16))
    assert batch.illegal.tolist() == [False, True, False, False]
    assert batch.rewards.shape == (4, game.seats)
    assert batch.rewards.dtype == np.float32
    before = batch.states[1:3].tobytes()
    batch.reset(9, where=[0, 3])
    assert batch.states[1:3].tobytes() == before
    fresh = ludodrome.batch(game, 4, seed=9)
    for i in (0, 3):
        assert batch.states[i].tobytes() == fresh.states[i].tobytes()
    batch.reset(9, where=np.array([False, True, True, False]))
    assert batch.states.tobytes() == fresh.states.tobytes()
    bad_actions: list[Any] = [[0.0] * 4, [0] * 3, [[0]] * 4]
    for wrong_actions in bad_actions:
        with pytest.raises(ValueError, match="4 integers"):
            batch.step(wrong_actions)
    bad_sizes: list[Any] = [0, -1, 1.0, None, True, 10**12, 10**30]
    for wrong in bad_sizes:
        with pytest.raises(ValueError, match="number of games is a whole number from 1 to"):
            ludodrome.batch(game, wrong)


@pytest.mark.parametrize("game_id", each_game())
def test_finished_games_of_a_batch_are_left_alone(game_id: str) -> None:
    options = {"caldera": {"turn_limit": 1}, "skysummit": {"turn_limit": 1}, "dots": {"rows": 1, "cols": 1}}
    game = ludodrome.make(game_id, **options.get(game_id, {}))
    batch = ludodrome.batch(game, 2)
    while not batch.done.all():
        batch.step(batch.legal_mask().argmax(axis=1))
    states, rewards = batch.states.tobytes(), batch.rewards.copy()
    batch.step([0, -1])
    assert batch.states.tobytes() == states
    assert (batch.rewards == rewards).all()
    assert not batch.illegal.any()
    assert not batch.legal_mask().any()


@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_perft_begins_with_the_legal_moves(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    assert ludodrome.perft(game, 0) == 1
    for state in sample_states(game)[: 4 if COMPILED else 2]:
        try:
            moves = game.legal_moves(state)
        except ludodrome.TooManyMoves:
            continue
        assert ludodrome.perft(game, 1, state) == len(moves)
        ends = ludodrome.perft_ends(game, 1, state)
        assert ends.nodes == sum(ends.wins) + ends.draws_or_open == len(moves)
    with pytest.raises(ValueError, match="depth"):
        ludodrome.perft(game, -1)
