"""What a search knows of caldera, against the rules themselves and under the symmetries of the board."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.games.caldera import evaluate, rules
from ludodrome.games.caldera.evaluate import EVALUATOR, WEIGHTS
from ludodrome.games.caldera.rules import NOWHERE
from ludodrome.jit import COMPILED
from ludodrome.search.symmetry import INVERSE, SYMMETRIES, turn
from tests.games.caldera.positions import at, game, ground
from tests.games.caldera.test_walks import CHOOSERS, SIDE, hilly

pytestmark = pytest.mark.xdist_group("caldera")

ALL_AROUND = ground("01=3 10=3 11=3 20=3 21=3 31=3 41=3 40=3 30=1")
"""A crown on 30 cannot move, and whatever a smith on 00 does buries it."""
kernels = game.kernels
AT_ONCE = (rules.CAPTURED, rules.ERUPTED)


def states_of(state: Any) -> Any:
    """An array of one record."""
    states = game.new_states(1)
    states[0] = game.encode(state)
    return states


def legal(states: Any) -> list[int]:
    buffer = game.buffer()
    actions: list[int] = buffer[: kernels.legal(states, buffer)].tolist()
    return actions


def after(states: Any, action: int) -> Any:
    following = states.copy()
    kernels.play(following, action)
    return following


def wins(states: Any) -> set[int]:
    """The actions that take or bury the enemy crown, by playing all of them."""
    seat = kernels.mover(states)
    every = ((action, after(states, action)[0]) for action in legal(states))
    return {action for action, record in every if record.winner == seat and record.reason in AT_ONCE}


def threatened(states: Any) -> bool:
    """Whether the enemy could win like that if it were his turn, and his turn comes."""
    if states["ply"][0] + 1 >= states["turn_limit"][0]:
        return False
    passed = states.copy()
    passed["ply"] += 1
    return bool(wins(passed))


def survivors(states: Any) -> list[int]:
    """The actions after which that threat is gone."""
    seat = kernels.mover(states)
    kept, buried = [], 0
    for action in legal(states):
        following = after(states, action)
        if following["reason"][0] == rules.RUNNING:
            kept += [] if wins(following) else [action]
        elif following["winner"][0] == 1 - seat and following["ply"][0] < following["turn_limit"][0]:
            buried += 1
        else:
            kept.append(action)
    return legal(states) if buried == len(legal(states)) else kept


def narrowed(states: Any) -> list[int]:
    buffer = game.buffer()
    count = kernels.legal(states, buffer)
    kept: list[int] = buffer[: kernels.evasions(states, buffer, count)].tolist()
    return kept


def walks(count: int, seed: int) -> Iterator[Any]:
    """JSON states along walks of all kinds, from the start and from hilly ground with few pieces."""
    rng = random.Random(seed)
    met = 0
    for number in range(count):
        limited = ludodrome.make("caldera", turn_limit=rng.choice([200, 200, 30]))
        state = limited.initial_state() if number % 3 == 0 else hilly(limited, rng)
        while state is not None and (moves := limited.legal_moves(state)) and met < count:
            if rng.random() < 0.4:
                met += 1
                yield state
            state = limited.apply(state, rng.choice(CHOOSERS)(moves, state, rng))


SOME = 300 if COMPILED else 12


def turned(state: Any, symmetry: int) -> Any:
    """A JSON state after one of the eight symmetries."""
    board = [[0] * SIDE for _ in range(SIDE)]
    for row in range(SIDE):
        for column in range(SIDE):
            r, c = turn(symmetry, row, column, SIDE, SIDE)
            board[r][c] = state["board"][row][column]
    sides = {}
    for side in ("p0", "p1"):
        cells = [turn(symmetry, piece["r"], piece["c"], SIDE, SIDE) for piece in state[side]]
        sides[side] = [
            {"type": piece["type"], "r": r, "c": c} for piece, (r, c) in zip(state[side], cells, strict=True)
        ]
    return state | sides | {"board": board}


def keys_of(states: Any) -> Any:
    """The eight keys from scratch."""
    two = game.new_states(2)
    two[1] = states[0]
    keys = np.zeros((2, SYMMETRIES), np.uint64)
    kernels.update_hash(two, keys)
    return keys[1]


def identity(record: Any) -> Any:
    """All that decides how a game can go on; the two of a kind in any order."""
    pieces = [(cells[0], *sorted(cells[1:3]), *sorted(cells[3:])) for cells in record.cells.tolist()]
    return record.levels.tolist(), pieces, int(record.ply)


# Worth


def test_values_are_equal_for_all_symmetries_and_opposite_for_the_seats() -> None:
    seen = set()
    for state in walks(SOME, seed=1):
        states = states_of(state)
        value = kernels.value(states, 0)
        assert kernels.value(states, 1) == -value
        assert abs(value) < 10_000
        assert {kernels.value(states_of(turned(state, symmetry)), 0) for symmetry in range(SYMMETRIES)} == {value}
        seen.add(value)
    assert len(seen) > SOME // 2


def test_every_merit_counts_somewhere() -> None:
    met = np.zeros(len(WEIGHTS), np.int64)
    for state in walks(SOME, seed=2):
        states = states_of(state)
        every = np.zeros(len(WEIGHTS), np.int64)
        for feature in range(len(WEIGHTS)):
            alone = np.zeros(len(WEIGHTS), np.int64)
            alone[feature] = 1
            every[feature] = evaluate.weighted_value_of(states, 0, alone)
        assert every @ WEIGHTS == evaluate.weighted_value_of(states, 0, WEIGHTS)
        met += every != 0
    assert not COMPILED or met.min() > 0


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(f"{ground()} c63l61l65 c03l01 0", f"{ground()} c63l61l65 c03l01s02 0", id="material"),
        pytest.param(f"{ground()} c63l33 c03l00 0", f"{ground()} c63l60 c03l00 0", id="reach"),
        pytest.param(f"{ground('33=1')} c63l33 c03l00 0", f"{ground()} c63l33 c03l00 0", id="height"),
        pytest.param(f"{ground('62=3')} c63 c03s52 0", f"{ground('62=3 63=3')} c63 c03s52 0", id="fuse"),
        pytest.param(f"{ground('63=1')} c63 c03 199", f"{ground('63=1')} c63 c03 150", id="tie-break by crown"),
        pytest.param(f"{ground()} c63l60 c03 199", f"{ground()} c63l60 c03 151", id="tie-break by pieces"),
    ],
)
def test_what_is_better(better: str, worse: str) -> None:
    assert kernels.value(states_of(at(better)), 0) > kernels.value(states_of(at(worse)), 0)


# Threats


def test_winning_pressed_and_narrow_agree_with_the_rules(long: bool) -> None:
    won, under_pressure, dropped = 0, 0, 0
    count = 10 * SOME if long else SOME // 2
    for state in walks(count, seed=3):
        states = states_of(state)
        before = states.copy()
        winning, best = wins(states), kernels.winning(states)
        assert best in winning if winning else best == -1
        assert bool(kernels.in_check(states)) == threatened(states)
        left = narrowed(states)
        assert left == survivors(states)
        assert states.tobytes() == before.tobytes()
        won += bool(winning)
        under_pressure += threatened(states)
        dropped += len(left) < len(legal(states))
    assert not COMPILED or min(won, under_pressure, dropped) > count // 20


@pytest.mark.parametrize(
    ("line", "move"),
    [
        pytest.param(f"{ground()} c63l60 c52 0", "C63x52", id="crown takes crown"),
        pytest.param(f"{ground()} c66l40l31 c33 0", "L31x33", id="second lancer leaps"),
        pytest.param(f"{ground('33=2 32=1')} c66l31 c33 0", "L31x33", id="leap up two steps"),
        pytest.param(f"{ground('33=3 12=3')} c66s11 c33 0", None, id="an eruption too far away"),
        pytest.param(f"{ground('33=2 32=2')} c66l31 c33 0", None, id="too steep a first step"),
        pytest.param(f"{ground('33=2')} c66l31s32 c33 0", None, id="too steep a second step"),
        pytest.param(f"{ground('32=x')} c66l31 c33 0", None, id="a vent between"),
        pytest.param(f"{ground('33=3')} c66l43s32 c33 0", None, id="too steep"),
        pytest.param(f"{ground('33=3 32=2')} c66s32 c33 0", "S32x33", id="just not too steep"),
        pytest.param(f"{ground('33=3 32=3')} c66s61s31 c33 0", "S31^32", id="an eruption beside the crown"),
        pytest.param(f"{ground('33=3 32=3 31=3')} c66s20s30 c33 0", "S30^31", id="a chain to the crown"),
        pytest.param(f"{ground('33=3 32=3 31=3')} c31s42 c33 0", None, id="a chain that buries both"),
        pytest.param(f"{ground('33=3 34=3 02=3 03=3')} c03s01s24 c33 0", "S24^34", id="of two chains the right one"),
    ],
)
def test_winning(line: str, move: str | None) -> None:
    """R16, R17: what takes or buries the crown at once."""
    state = at(line)
    states = states_of(state)
    best = kernels.winning(states)
    assert wins(states) == ({best} - {-1})
    assert (None if best < 0 else game.format_move(game.move(best, state), state)) == move


@pytest.mark.parametrize(
    ("line", "left"),
    [
        pytest.param(f"{ground()} c63l10 c00l41 0", "C63-53 C63-54 C63-62 C63-64 L10x00", id="the crown walks"),
        pytest.param(f"{ground('63=3 62=3')} c63l60 c00s52 0", "C63x52 C63-54 C63-62 C63-64", id="away from a fuse"),
        pytest.param(
            f"{ground('63=3 62=3 61=2')} c63l61s54 c00s52s64 0", "C63x52 C63x64 L61x52 L61-62", id="a fuse stood on"
        ),
        pytest.param(f"{ALL_AROUND} c30s00 c66 0", "S00^01 S00^10", id="nothing but one's own burial"),
        pytest.param(
            f"{ALL_AROUND} c30s00s65 c66 0", "S65-54 S65-55 S65-56 S65-64 S65x66 S65^55 S65^64", id="something else"
        ),
    ],
)
def test_narrow(line: str, left: str) -> None:
    state = at(line)
    states = states_of(state)
    kept = narrowed(states)
    assert kept == survivors(states)
    assert " ".join(game.format_move(game.move(action, state), state) for action in kept) == left


def test_r18_no_threat_survives_the_turn_limit() -> None:
    states = states_of(at(f"{ground()} c63l23 c03 199"))
    assert not kernels.in_check(states)
    assert narrowed(states) == legal(states)
    states["ply"] -= 2
    assert kernels.in_check(states)
    assert narrowed(states) != legal(states)


# Order and noise


def test_loud_actions_take_or_bury_somebody() -> None:
    met = 0
    for state in walks(SOME, seed=4):
        states = states_of(state)
        seat = kernels.mover(states)
        for action in legal(states):
            following = after(states, action)
            fewer = (following["cells"] == NOWHERE).sum() > (states["cells"] == NOWHERE).sum()
            own_crown = following["cells"][0, seat, rules.CROWN] == NOWHERE
            assert bool(kernels.is_tactical(states, action)) == (fewer and not own_crown)
            met += bool(fewer)
    assert not COMPILED or met > SOME // 4


def test_move_scores_stay_in_bounds() -> None:
    for state in walks(SOME, seed=5):
        states = states_of(state)
        for action in legal(states):
            assert -1000 <= kernels.move_score(states, action) <= 1000


@pytest.mark.parametrize(
    ("line", "better", "worse"),
    [
        (f"{ground()} c63l33 c03l31s35 0", "L33x31", "L33x35"),
        (f"{ground()} c63l33 c03l31s30s35 0", "L33x35", "L33x31"),
        (f"{ground()} c63l33 c03l31 0", "L33x31", "L33-34"),
        (f"{ground()} c63s12 c03 0", "S12^02", "S12^22"),
        (f"{ground('33=3 43=3')} c63s32 c03l43 0", "S32^33", "S32^31"),
        (f"{ground('33=3 43=3')} c43s32 c03l63 0", "S32-22", "S32^33"),
        (f"{ground('33=1')} c63l43 c03 0", "L43-33", "L43-44"),
    ],
)
def test_what_looks_better(line: str, better: str, worse: str) -> None:
    state = at(line)
    first, second = (
        kernels.move_score(states_of(state), game.action(game.parse_move(text, state), state))
        for text in (better, worse)
    )
    assert first > second


# Marks and keys


def test_move_ids_are_distinct_and_follow_symmetries() -> None:
    for state in walks(SOME // 2, seed=6):
        states = states_of(state)
        actions = legal(states)
        move_ids = [kernels.move_id(states, action) for action in actions]
        assert len(set(move_ids)) == len(move_ids)
        assert max(move_ids) < EVALUATOR.num_move_ids
        for symmetry in range(SYMMETRIES):
            there = states_of(turned(state, symmetry))
            expected = {kernels.move_id(there, action) for action in legal(there)}
            assert {int(EVALUATOR.move_id_symmetries[symmetry, move_id]) for move_id in move_ids} == expected


def test_inverse_symmetries_of_move_ids() -> None:
    assert EVALUATOR.move_id_symmetries.shape == (SYMMETRIES, EVALUATOR.num_move_ids)
    assert EVALUATOR.move_id_symmetries.dtype == np.uint16
    for symmetry in range(SYMMETRIES):
        there = EVALUATOR.move_id_symmetries[symmetry]
        assert (EVALUATOR.move_id_symmetries[INVERSE[symmetry]][there] == np.arange(EVALUATOR.num_move_ids)).all()


def test_keys_follow_the_moves_and_permute_under_symmetry() -> None:
    rng = random.Random(7)
    seen: dict[int, Any] = {}
    for state in walks(SOME // 4, seed=7):
        two = game.new_states(2)
        two[0] = game.encode(state)
        keys = np.zeros((2, SYMMETRIES), np.uint64)
        keys[0] = keys_of(two)
        for symmetry in range(SYMMETRIES):
            assert set(keys_of(states_of(turned(state, symmetry))).tolist()) == set(keys[0].tolist())
            assert keys_of(states_of(turned(state, symmetry)))[0] == keys[0, symmetry]
        while actions := legal(two):
            two[1] = two[0]
            kernels.play(two[1:], rng.choice(actions))
            kernels.update_hash(two, keys)
            assert (keys[1] == keys_of(two[1:])).all()
            assert seen.setdefault(int(keys[1, 0]), identity(two[1])) == identity(two[1])
            two[0], keys[0] = two[1], keys[1]


def test_the_two_of_a_kind_have_one_key() -> None:
    one = keys_of(states_of(at(f"{ground()} c63l61l65s62s64 c03l01l05s02s04 8")))
    other = keys_of(states_of(at(f"{ground()} c63l65l61s64s62 c03l05l01s04s02 8")))
    assert (one == other).all()
    assert (one != keys_of(states_of(at(f"{ground()} c63l61l65s62s64 c03l01l05s02s04 10")))).all()


def test_nothing_is_gained_but_the_game() -> None:
    states = states_of(game.initial_state())
    assert evaluate.gain(states[0], states[0]) == 0
    assert not EVALUATOR.by_points
    assert not EVALUATOR.has_no_tactics
