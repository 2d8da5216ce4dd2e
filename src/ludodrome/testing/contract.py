"""The contract of Game: functions that take a game and fail with an AssertionError.

``CHECKS`` are for every combination of options that is worth trying, ``CHECKS_ONCE`` for a game as it usually is.
The walk beside an oracle (``walking.py``) tests whether the rules are right.
"""

import functools
import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ludodrome.game import Game, IllegalMove, TooManyMoves
from ludodrome.game_spec import DEFAULT_PLANES
from ludodrome.games import make
from ludodrome.jit import COMPILED
from ludodrome.position import seen_by
from ludodrome.search.batch import batch as new_batch
from ludodrome.search.perft import perft, perft_ends
from ludodrome.search.playouts import playouts
from ludodrome.search.vector import Observations

STATES_A_GAME = 12 if COMPILED else 6
PLAYOUTS, FEW_PLAYOUTS, MANY_PLAYOUTS = 40, 3, 10_000
LONG_TURN = 200
"""Turns of more actions than this are played out only a few times."""
MAX_STEPS = 100_000
RELATED, RELATED_PLIES = 6, 20
"""Games side by side, and their length, in the search for positions that look alike."""

Choose = Callable[[Game, Any, random.Random], Any]
"""(game, state, random numbers): a random legal move."""


def listed_move(game: Game, state: Any, rng: random.Random) -> Any:
    """One of the legal moves."""
    return rng.choice(game.legal_moves(state))


def sample_states(game: Game, choose: Choose = listed_move, count: int = STATES_A_GAME) -> list[Any]:
    """Positions along a few random games, the first and the last ones among them."""
    states: list[Any] = json.loads(_sampled(game, choose, count))
    return states


@functools.cache
def _sampled(game: Game, choose: Choose, count: int) -> str:
    """The same as JSON: many checks look at the same ones, and each gets its own copy."""
    rng = random.Random(7)
    states = []
    for seed in range(3):
        line = [game.initial_state(seed)]
        while game.to_move(line[-1]) is not None:
            line.append(game.apply(line[-1], choose(game, line[-1], rng)))
        states += [line[0], line[-1], *rng.sample(line, min(len(line), count // 3))]
    return json.dumps(states)


@contextmanager
def refused(complaint: type[Exception], pattern: str) -> Iterator[None]:
    """What is done inside must be refused, with a sentence in which the pattern is found."""
    try:
        yield
    except complaint as wrong:
        sentence = str(wrong)
    else:
        raise AssertionError(f"this was not refused; {complaint.__name__} was due, with {pattern!r}")
    assert re.search(pattern, sentence), f"the sentence {sentence!r} lacks {pattern!r}"


# With every combination of options


def states_are_json_and_survive_every_encoding(game: Game, choose: Choose = listed_move) -> None:
    """JSON, record, one line and drawing."""
    for state in sample_states(game, choose):
        assert json.loads(json.dumps(state, allow_nan=False)) == state
        assert game.decode(game.encode(state)) == state
        line = game.format_state(state)
        assert "\n" not in line
        assert game.parse_state(line) == state
        assert game.render(state).strip()


def the_same_seed_gives_the_same_start(game: Game, choose: Choose = listed_move) -> None:
    """Any whole number is a seed, and seat 0 begins."""
    for seed in (0, 1, -1, 2**80):
        assert game.initial_state(seed) == game.initial_state(seed=seed)
        assert game.to_move(game.initial_state(seed)) == 0
    wrong_ones: tuple[Any, ...] = (None, 1.5, "1", True)
    for wrong in wrong_ones:
        with refused(ValueError, "seed"):
            game.initial_state(wrong)


def finished_states_say_so(game: Game, choose: Choose = listed_move) -> None:
    """``winner`` and ``reason`` of a state are those of its outcome, and nothing can be played any more."""
    finished = 0
    for state in sample_states(game, choose):
        outcome = game.outcome(state)
        assert (outcome is None) == (state["reason"] == "") == (game.to_move(state) is not None)
        if "to_move" in state:
            assert state["to_move"] == game.to_move(state)
        winner = -1 if state["winner"] is None else state["winner"]
        assert game.kernels.winner(game.encode_array(state)) == winner
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
        with refused(IllegalMove, r"over"):
            game.apply(state, choose(game, game.initial_state(), random.Random(1)))
        with refused(IllegalMove, r"over"):
            game.parse_move("anything", state)
    assert finished >= 3


def legal_moves_are_listed_once_in_the_order_of_their_actions(game: Game, choose: Choose = listed_move) -> None:
    """``legal_moves``, ``action``, ``move``, ``is_legal`` and the kernel ``fault`` say the same.

    Where a move is many actions, the game has its own tests of the order.
    """
    if game.actions_a_turn > 1:
        return
    for state in sample_states(game, choose):
        moves = game.legal_moves(state)
        assert json.loads(json.dumps(moves)) == moves
        actions = [game.action(move, state) for move in moves]
        assert actions == sorted(set(actions))
        assert [game.move(action, state) for action in actions] == moves
        states = game.encode_array(state)
        faultless = [action for action in range(game.num_actions) if game.kernels.fault(states, action) == 0]
        assert faultless == actions
        assert len(actions) <= game.max_legal
        assert all(game.is_legal(state, move) for move in moves)
        for action in set(range(game.num_actions)) - set(actions):
            with refused(IllegalMove, r"\w \w"):
                game.move(action, state)
            break


def moves_survive_their_notation(game: Game, choose: Choose = listed_move) -> None:
    """``parse_move`` reads what ``format_move`` writes."""
    rng = random.Random(3)
    for state in sample_states(game, choose):
        if game.to_move(state) is not None:
            move = choose(game, state, rng)
            assert game.is_legal(state, move)
            assert game.parse_move(game.format_move(move, state), state) == move
            assert game.parse_move(game.move_label(move, state), state) == move


def observations_show_the_state(game: Game, choose: Choose = listed_move) -> None:
    """What a seat is shown is the state, unless the game hides something; ``you`` may be added to it."""
    assert not game.has_hidden_information or game.planes.names != DEFAULT_PLANES  # which show the whole record
    for state in sample_states(game, choose):
        for seat in (*range(game.seats), None):
            seen = game.observation(state, seat)
            assert json.loads(json.dumps(seen)) == seen
            hidden = {key for key in state if seen[key] != state[key]}
            assert game.has_hidden_information or not hidden
            assert game.hides(state, seat) == bool(hidden)
            added = set(seen) - set(state)
            assert added <= ({"you"} if seat is not None else set())
            assert "you" not in added or seen["you"] == seat
        wrong_ones: tuple[Any, ...] = (-1, game.seats, True, "0", 0.0)
        for wrong in wrong_ones:
            with refused(ValueError, "seat"):
                game.observation(state, wrong)


def hidden_information_stays_hidden(game: Game, choose: Choose = listed_move) -> None:
    """Positions that differ only in what is hidden from a viewer look the same to them, in every form.

    ``observation`` says what is hidden. It must not tell spectators more than any seat: anybody may be a spectator too.
    """
    if not game.has_hidden_information:
        return
    viewers = (*range(game.seats), None)
    alike: dict[tuple[int | None, str], dict[str, Any]] = {}
    for state in _related_states(game, choose):
        for seat in viewers:
            alike.setdefault((seat, _seen_text(game, state, seat)), {})[json.dumps(state)] = state
    hidden = [(seat, list(states.values())) for (seat, _), states in alike.items() if len(states) > 1]
    assert hidden, "nothing is hidden in any position, although has_hidden_information is True"
    for seat, states in hidden:
        viewer = "a spectator" if seat is None else f"seat {seat}"
        first = _shown_forms(game, states[0], seat)
        for state in states[1:]:
            for form, content in _shown_forms(game, state, seat).items():
                assert content == first[form], (
                    f"{form} tells {viewer} what is hidden: {content} and {first[form]} in positions that look alike"
                )
            told = _seen_text(game, state, None) == _seen_text(game, states[0], None)
            assert told, f"spectators see more than {viewer}, who may be one of them"


def _seen_text(game: Game, state: Any, seat: int | None) -> str:
    return json.dumps(seen_by(game, state, seat).bare_state, sort_keys=True)


def _shown_forms(game: Game, state: Any, seat: int | None) -> dict[str, Any]:
    """Everything that a viewer is shown of a position, by the name of its form."""
    seen = seen_by(game, state, seat)
    try:
        legal = seen.legal_moves() if game.actions_a_turn == 1 else []
    except TooManyMoves:
        legal = []
    shown = {
        "is_partial": seen.is_partial,
        "to_move": seen.to_move,
        "outcome": seen.outcome,
        "legal_moves": legal,
        "format_move": seen.move_texts(legal),
        "render_observation": seen.drawing(),
        "cells": seen.cells(),
        "encode_observation": seen.states().tobytes(),
        "board_marks": game.board_marks(seen.states(), legal),
    }
    if seat is not None:
        planes = game.planes
        observed = Observations(
            np.zeros((1, game.max_legal), np.int16),
            np.zeros(1, np.int32),
            np.zeros((1, game.num_actions), np.int8),
            np.zeros((1, len(planes.names), planes.rows * planes.cols), planes.dtype),
        )
        seats: Any = np.array([seat], np.int8)
        game.kernels.look_many(game.encode_array(state), np.zeros(1, np.int64), seats, observed)
        shown["planes"] = observed.planes.tolist()
    return shown


def _related_states(game: Game, choose: Choose) -> Iterator[Any]:
    """Positions of games that begin with different seeds and go on with the same few moves: some look alike."""
    rng = random.Random(11)
    for _ in range(3):
        group = [game.initial_state(rng.randrange(2**32)) for _ in range(RELATED)]
        for _ in range(RELATED_PLIES):
            yield from group
            running = [state for state in group if game.to_move(state) is not None]
            if not running:
                break
            moves = [choose(game, rng.choice(running), rng) for _ in range(3)]
            after = [(state, move) for state in running for move in moves if game.is_legal(state, move)]
            group = [game.apply(state, move) for state, move in rng.sample(after, min(RELATED, len(after)))]


def playouts_depend_on_the_seed_and_not_on_the_threads(game: Game, choose: Choose = listed_move) -> None:
    """Random games to the end, in compiled code."""
    n = FEW_PLAYOUTS if game.actions_a_turn > LONG_TURN or not COMPILED else PLAYOUTS
    one = playouts(game, n, seed=5)
    assert sum(one.wins) + one.draws == one.games == n
    assert len(one.wins) == game.seats
    assert one.plies >= n
    assert one == playouts(game, n, seed=5, threads=2)
    assert playouts(game, 0).plies == 0
    if one.plies > 2 * n:
        assert one.digest != playouts(game, n, seed=6).digest
    for n, threads in ((-1, 1), (1, 0)):
        with refused(ValueError, r"the number of (playouts|threads) is a whole number"):
            playouts(game, n, threads=threads)


def a_batch_plays_as_apply_does(game: Game, choose: Choose = listed_move) -> None:
    """Games side by side, by actions, to their ends."""
    n, simple = 3, game.actions_a_turn == 1
    batch = new_batch(game, n)
    rng = np.random.default_rng(3)
    states = [game.decode(record) for record in batch.states]
    assert (batch.to_move == 0).all()
    assert len(batch) == n
    for _ in range(MAX_STEPS):
        if batch.done.all():
            break
        mask = batch.legal_mask()
        assert (mask.sum(axis=1) > 0).tolist() == (~batch.done).tolist()
        actions = np.array([rng.choice(np.flatnonzero(row)) if row.any() else 0 for row in mask])
        if simple:
            states = [
                state if done else game.apply(state, game.move(int(action), state))
                for state, action, done in zip(states, actions, batch.done, strict=True)
            ]
        batch.step(actions)
        assert not batch.illegal.any()
        if simple:
            assert [game.decode(record) for record in batch.states] == states
    for i, record in enumerate(batch.states):
        outcome = game.outcome(game.decode(record))
        assert outcome is not None
        assert batch.rewards[i].tolist() == outcome.returns
        assert batch.to_move[i] == -1


def a_batch_refuses_and_resets(game: Game, choose: Choose = listed_move) -> None:
    """Illegal actions change nothing, and single games restart."""
    batch = new_batch(game, 4)
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
    fresh = new_batch(game, 4, seed=9)
    for i in (0, 3):
        assert batch.states[i].tobytes() == fresh.states[i].tobytes()
    batch.reset(9, where=np.array([False, True, True, False]))
    assert batch.states.tobytes() == fresh.states.tobytes()
    bad_actions: list[Any] = [[0.0] * 4, [0] * 3, [[0]] * 4]
    for wrong_actions in bad_actions:
        with refused(ValueError, "4 integers"):
            batch.step(wrong_actions)
    bad_sizes: list[Any] = [0, -1, 1.0, None, True, 10**12, 10**30]
    for wrong in bad_sizes:
        with refused(ValueError, "number of games is a whole number from 1 to"):
            new_batch(game, wrong)


def perft_begins_with_the_legal_moves(game: Game, choose: Choose = listed_move) -> None:
    """The games of one move are as many as the legal moves."""
    assert perft(game, 0) == 1
    for state in sample_states(game, choose)[: 4 if COMPILED else 2]:
        try:
            moves = game.legal_moves(state)
        except TooManyMoves:
            continue
        assert perft(game, 1, state) == len(moves)
        ends = perft_ends(game, 1, state)
        assert ends.nodes == sum(ends.wins) + ends.draws_or_open == len(moves)
    with refused(ValueError, "depth"):
        perft(game, -1)


# Once for each game


def a_game_says_what_it_is(game: Game, choose: Choose = listed_move) -> None:
    """Its id makes it again, options and all, and so does its ``repr``."""
    import ludodrome  # the public API is what is tested here

    assert game.title
    assert game.seats >= 2
    assert make(game.id, **game.options) == game
    assert eval(repr(game), {"ludodrome": ludodrome}) == game


def an_unknown_option_or_a_bad_value_is_refused_with_the_right_ones(game: Game, choose: Choose = listed_move) -> None:
    """A sentence says which options there are."""
    options = game.options
    with refused(ValueError, next(iter(options), "none")):
        make(game.id, colour="blue")
    bad: tuple[Any, ...] = (None, 1.0, True, -1, 10**9, "", [], {})
    for name in options:
        for wrong in bad:
            with refused(ValueError, name):
                make(game.id, **{name: wrong})


def actions_off_the_range_are_refused(game: Game, choose: Choose = listed_move) -> None:
    """Actions are whole numbers below ``num_actions``."""
    wrong_ones: tuple[Any, ...] = (-1, game.num_actions, 10**30, True, 1.0, "1", None)
    for wrong in wrong_ones:
        with refused(IllegalMove, f"0 to {game.num_actions - 1}"):
            game.move(wrong, game.initial_state())


def playouts_do_not_depend_on_the_threads_over_many_chunks(game: Game, choose: Choose = listed_move) -> None:
    """The same with thousands of games."""
    n = MANY_PLAYOUTS if COMPILED else 0
    assert playouts(game, n, seed=1) == playouts(game, n, seed=1, threads=3)


def finished_games_of_a_batch_are_left_alone(game: Game, choose: Choose = listed_move) -> None:
    """Whatever is said to them."""
    batch = new_batch(game, 2)
    for _ in range(MAX_STEPS):
        if batch.done.all():
            break
        batch.step(batch.legal_mask().argmax(axis=1))
    states, rewards = batch.states.tobytes(), batch.rewards.copy()
    batch.step([0, -1])
    assert batch.states.tobytes() == states
    assert (batch.rewards == rewards).all()
    assert not batch.illegal.any()
    assert not batch.legal_mask().any()


CHECKS = (
    states_are_json_and_survive_every_encoding,
    the_same_seed_gives_the_same_start,
    finished_states_say_so,
    legal_moves_are_listed_once_in_the_order_of_their_actions,
    moves_survive_their_notation,
    observations_show_the_state,
    hidden_information_stays_hidden,
    playouts_depend_on_the_seed_and_not_on_the_threads,
    a_batch_plays_as_apply_does,
    a_batch_refuses_and_resets,
    perft_begins_with_the_legal_moves,
)
CHECKS_ONCE = (
    a_game_says_what_it_is,
    an_unknown_option_or_a_bad_value_is_refused_with_the_right_ones,
    actions_off_the_range_are_refused,
    playouts_do_not_depend_on_the_threads_over_many_chunks,
    finished_games_of_a_batch_are_left_alone,
)
