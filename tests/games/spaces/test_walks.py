"""Spaces: kernel and oracle, board by board, step by step, round by round."""

import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ludodrome
from ludodrome import spaces
from ludodrome.jit import COMPILED
from ludodrome.testing.walking import Tally, examples
from tests.games.spaces import oracle
from tests.hostile import damaged

pytestmark = pytest.mark.xdist_group("spaces")

RULES = ("written", "live")


def pairs(long: bool) -> int:
    """How many pairs of boards are run for each rule set."""
    return (1_000 if long else 300) if COMPILED else 60


def options() -> st.SearchStrategy[dict[str, Any]]:
    common = {"rules": st.sampled_from(RULES), "choice": st.sampled_from(["seen", "blind", "fog"])}
    sizes = st.one_of(st.integers(2, 4), st.integers(2, 8), st.sampled_from([9, 10, 11, 15]))
    rounds = st.one_of(st.just(5), st.integers(1, 12))
    return st.one_of(
        st.fixed_dictionaries({"mode": st.just("rounds"), "size": sizes, "rounds": rounds, **common}),
        st.fixed_dictionaries({"mode": st.just("deck"), "size": st.integers(2, 4), **common}),
    )


def lay(game: ludodrome.Game, rng: random.Random) -> Any:
    size, rules = game.options["size"], game.options["rules"]
    if game.options["mode"] == "deck":
        return {"deck": [oracle.random_legal(size, rules, rng) for _ in range(10)]}
    return oracle.random_legal(size, rules, rng)


def test_matches(long: bool) -> None:
    tally = Tally()

    @settings(max_examples=examples(long, usual=18, long=150))
    @given(chosen=options(), seed=st.integers(0, 2**32 - 1))
    def explore(chosen: dict[str, Any], seed: int) -> None:
        rng = random.Random(seed)
        game = ludodrome.make("spaces", **chosen)
        state = game.initial_state()
        assert state == oracle.initial(game.options)
        while True:
            seat = game.to_move(state)
            assert seat == oracle.to_move(state, game.options)
            assert game.decode(game.encode(state)) == state
            assert game.parse_state(game.format_state(state)) == state
            for viewer in (0, 1, None):
                seen = oracle.observation(state, viewer)
                assert game.observation(state, viewer) == seen
                again = game.decode(game.encode_observation(seen))
                assert again == {**seen, "to_move": again["to_move"]}
            outcome = game.outcome(state)
            expected = oracle.outcome(state, game.options)
            if outcome is not None:
                assert vars_of(outcome) == expected
                tally.ends[outcome.reason] += 1
                for entry in state["history"]:
                    tally.events[entry["ended"]] += 1
                return
            assert expected is None
            if chosen["mode"] == "rounds" and (chosen["size"], chosen["rules"]) in ((2, "live"), (2, "written")):
                assert game.legal_moves(state) == oracle.legal(state, game.options)
                tally.events["listed"] += 1
            move = lay(game, rng)
            before = json.dumps(state)
            following = game.apply(state, move)
            assert json.dumps(state) == before
            assert following == oracle.apply(state, move, game.options)
            assert game.is_legal(state, move)
            assert game.parse_move(game.format_move(move, state), state) == move
            state = following
            tally.plies += 1

    explore()
    if COMPILED:
        assert set(tally.ends) == {"higher total", "equal totals"}
        assert min(tally.events[kind] for kind in ("goal", "trap", "collision", "listed")) >= 5


def vars_of(outcome: ludodrome.Outcome) -> dict[str, Any]:
    return {
        "winner": outcome.winner,
        "scores": outcome.scores,
        "returns": outcome.returns,
        "reason": outcome.reason,
    }


def test_continuations_step_by_step(long: bool) -> None:
    """The kernel's legal steps, the function ``steps`` and the oracle agree along random boards."""
    compared = 0

    @settings(max_examples=examples(long, usual=300, long=12_000))
    @given(
        size=st.one_of(st.integers(2, 5), st.integers(2, 12)),
        rules=st.sampled_from(RULES),
        seed=st.integers(0, 2**32 - 1),
    )
    def explore(size: int, rules: str, seed: int) -> None:
        nonlocal compared
        rng = random.Random(seed)
        game = ludodrome.make("spaces", size=size, rules=rules, rounds=1)
        states = game.encode_array(game.initial_state())
        sequence: list[Any] = []
        while True:
            expected = oracle.continuations(sequence, size, rules)
            assert spaces.steps(sequence, size, rules) == expected
            if not expected:
                break
            actions = game.legal_actions_of(states)
            assert len(actions) == len(expected)
            choice = rng.randrange(len(expected))
            if rng.random() < 0.5:
                choice = min(choice, rng.randrange(len(expected)))
            game.kernels.play(states, actions[choice])
            sequence.append(expected[choice])
            compared += 1
            if expected[choice]["type"] != "final":
                assert game.prefix(states[0]) == sequence  # type: ignore[attr-defined]
        assert oracle.check({"boardSize": size, "sequence": sequence}, size, rules) == []

    explore()
    if COMPILED:
        assert compared >= (100_000 if long else 2_000)


@pytest.mark.parametrize("rules", RULES)
def test_faults_of_damaged_boards(rules: str, long: bool) -> None:
    """Both name the same rule at the same step, for boards broken in every way."""
    rng = random.Random(13)
    named = set()
    for _ in range((20_000 if long else 1_500) if COMPILED else 400):
        size = rng.choice([2, 3, 3, 4, 6])
        make = rng.choice([oracle.random_legal, oracle.random_playable])
        board = make(size, rng.choice(RULES), rng)
        if rng.random() < 0.6:
            board = broken(board, rng)
        if rng.random() < 0.1:
            board = damaged(board, rng)
        found = [(fault.step, fault.rule) for fault in spaces.check(board, size, rules)]
        expected = oracle.faults(board, size, rules)
        if expected[:1] == [(0, "R2")]:  # the oracle does not say which step has not the form of one
            assert {rule for _, rule in found} == {"R2"}, board
        else:
            assert found == expected, board
        named |= {rule for _, rule in found}
    common = {"R2", "R3", "R4", "R5", "R6", "R8", "R9", "R10", "R11", "R12"}
    assert named >= (common | {"R13", "R14", "R15", "R16"} if rules == "live" else common)


def broken(board: Any, rng: random.Random) -> Any:
    """A board with steps moved, retyped, dropped or doubled, still in the form of a board."""
    sequence = json.loads(json.dumps(board["sequence"]))
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(sequence))
        how = rng.randrange(4)
        if how == 0:
            sequence[at]["position"][rng.choice(["row", "col"])] += rng.choice([-1, 1, 2])
        elif how == 1:
            sequence[at]["type"] = rng.choice(["piece", "trap", "final"])
        elif how == 2 and len(sequence) > 1:
            del sequence[at]
        else:
            sequence.insert(at, json.loads(json.dumps(sequence[at])))
    for order, step in enumerate(sequence, 1):
        step["order"] = order
    return {"boardSize": board["boardSize"], "sequence": sequence}


@pytest.mark.parametrize("rules", RULES)
def test_random_pairs_run_alike(rules: str, long: bool) -> None:
    """Half of them merely playable, many that only this rule set allows; 2,000 pairs in the long run."""
    rng = random.Random(21)
    other = RULES[1 - RULES.index(rules)]
    ends, own = set(), 0
    for number in range(pairs(long)):
        size = rng.choice([2, 3, 3, 4, 5, 7, 10])
        make = oracle.random_legal if number % 2 else oracle.random_playable
        a, b = make(size, rules, rng), make(size, rules, rng)
        own += any(oracle.check(board, size, other) for board in (a, b)) if number % 2 else 0
        points, ended = oracle.simulate(a, b, size, rules)
        played = spaces.simulate(a, b, size, rules)
        assert (played.points, played.ended) == (points, ended), (a, b)
        assert spaces.simulate(b, a, size, rules).points == points[::-1]
        matrix = spaces.simulate_matrix([a, b], [b, a], size, rules)
        assert [matrix[0][0, 0], matrix[1][0, 0]] == points
        ends.add(ended)
    assert ends == {"goal", "trap", "collision"}
    if rules == "written":
        assert own >= pairs(long) // 10


@pytest.mark.parametrize("rules", RULES)
def test_what_a_rule_set_alone_does_differently(rules: str, long: bool) -> None:
    """Under written a trap hit ends the round; under live only the piece that was hit stops."""
    rng = random.Random(2)
    different = 0
    for _ in range(pairs(long)):
        a, b = oracle.random_legal(3, "live", rng), oracle.random_legal(3, "live", rng)
        different += (
            spaces.simulate(a, b, 3, rules).points != spaces.simulate(a, b, 3, RULES[rules == "written"]).points
        )
    assert different >= pairs(long) // 100


@pytest.mark.parametrize(("size", "rules", "count"), [(2, "live", 14), (3, "live", 796), (2, "written", 362)])
def test_all_boards_in_order(size: int, rules: str, count: int) -> None:
    game = ludodrome.make("spaces", size=size, rules=rules)
    listed = game.legal_moves(game.initial_state())
    assert listed == list(oracle.boards(size, rules))
    assert len(listed) == count == ludodrome.perft(game, 1) == spaces.count_boards(size, rules)


@pytest.mark.skipif(not COMPILED, reason="114,450 boards are too many for plain Python")
def test_all_boards_of_size_four_by_enumeration() -> None:
    assert ludodrome.perft(ludodrome.make("spaces", size=4, rules="live"), 1) == 114450


def test_a_matrix_is_all_pairs() -> None:
    rng = random.Random(8)
    for rules in RULES:
        for size in (2, 3, 9):
            rows = [oracle.random_legal(size, rules, rng) for _ in range(7)]
            columns = [oracle.random_legal(size, rules, rng) for _ in range(5)]
            first, second = spaces.simulate_matrix(rows, columns, size, rules)
            assert first.shape == second.shape == (7, 5)
            expected = np.array([[oracle.simulate(a, b, size, rules)[0] for b in columns] for a in rows])
            assert (first == expected[:, :, 0]).all()
            assert (second == expected[:, :, 1]).all()
