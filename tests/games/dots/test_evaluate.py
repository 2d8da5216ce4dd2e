"""What alpha-beta knows about dots: values, keys and move ids under the symmetries of the board."""

import random
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.games.dots.evaluate import EVALUATOR, KEYS, MOVE_ID_SYMMETRIES
from ludodrome.games.dots.rules import BOARDS, MAX_EDGES
from ludodrome.jit import COMPILED, python
from ludodrome.search.symmetry import INVERSE, SYMMETRIES
from tests.games.dots.oracle import _boxes, _edges

BOARDS_TRIED = [(1, 1), (1, 3), (2, 2), (3, 2), (3, 3)]


def states_of(game: ludodrome.Game, drawn: list[int]) -> Any:
    """Edges drawn one after the other."""
    states = game.encode_array(game.initial_state())
    for edge in drawn:
        game.kernels.play(states, edge)
    return states


def walks(rows: int, cols: int, count: int) -> list[list[int]]:
    dice = random.Random(rows * 8 + cols)
    edges = len(_edges(rows, cols))
    return [dice.sample(range(edges), dice.randrange(edges)) for _ in range(count)]


def keys_of(game: ludodrome.Game, states: Any) -> Any:
    pair = game.new_states(2)
    pair[1] = states[0]
    keys = np.zeros((2, SYMMETRIES), np.uint64)
    kernels: Any = game.kernels
    kernels.update_hash(pair, keys)
    return keys[1]


@pytest.mark.parametrize(("rows", "cols"), BOARDS_TRIED)
def test_values_and_keys_turn_with_the_board(rows: int, cols: int) -> None:
    game = ludodrome.make("dots", rows=rows, cols=cols)
    kernels: Any = game.kernels
    base = BOARDS.index((rows, cols)) * MAX_EDGES
    for drawn in walks(rows, cols, 20):
        states = states_of(game, drawn)
        keys = keys_of(game, states)
        for symmetry in range(SYMMETRIES):
            turned = states_of(game, [int(MOVE_ID_SYMMETRIES[symmetry, base + edge]) - base for edge in drawn])
            assert kernels.value(turned, 0) == kernels.value(states, 0)
            assert keys_of(game, turned)[0] == keys[symmetry]
        assert kernels.value(states, 1) == -kernels.value(states, 0)


@pytest.mark.parametrize(("rows", "cols"), BOARDS_TRIED)
def test_keys_follow_the_moves(rows: int, cols: int) -> None:
    game = ludodrome.make("dots", rows=rows, cols=cols)
    kernels: Any = game.kernels
    for drawn in walks(rows, cols, 5):
        pair = game.new_states(2)
        keys = np.zeros((2, SYMMETRIES), np.uint64)
        pair[0] = pair[1] = game.encode_array(game.initial_state())[0]
        keys[0] = keys_of(game, pair[1:])
        for edge in drawn:
            game.kernels.play(pair[1:], edge)
            kernels.update_hash(pair, keys)
            assert (keys[1] == keys_of(game, pair[1:])).all()
            pair[0] = pair[1]
            keys[0] = keys[1]


def test_move_ids_are_edges_and_symmetries_have_inverses() -> None:
    move_ids = MOVE_ID_SYMMETRIES.shape[1]
    for board, (rows, cols) in enumerate(BOARDS):
        own = np.arange(board * MAX_EDGES, board * MAX_EDGES + len(_edges(rows, cols)))
        symmetries = range(SYMMETRIES if rows == cols else SYMMETRIES // 2)
        for symmetry in symmetries:
            turned = MOVE_ID_SYMMETRIES[symmetry, own]
            assert (MOVE_ID_SYMMETRIES[INVERSE[symmetry], turned] == own).all()
    assert move_ids == len(BOARDS) * MAX_EDGES
    assert len(np.unique(KEYS[BOARDS.index((5, 5)), :60, 0])) == 60
    game = ludodrome.make("dots", rows=2, cols=3)
    kernels: Any = game.kernels
    states = game.encode_array(game.initial_state())
    assert [kernels.move_id(states, edge) % MAX_EDGES for edge in range(17)] == list(range(17))


@pytest.mark.parametrize(
    ("drawn", "value"),
    [
        ([], 12),  # 4 edges, no box with two sides: all are safe, but an even number
        ([0, 1], -60),  # any edge now gives the box away
        ([0, 1, 2], 100),
    ],
)
def test_values_of_one_box(drawn: list[int], value: int) -> None:
    game = ludodrome.make("dots", rows=1, cols=1)
    states = states_of(game, drawn)
    kernels: Any = game.kernels
    seat = int(game.kernels.mover(states))
    assert kernels.value(states, seat) == (value if drawn else -value)


def test_a_chain_can_be_left_to_the_other_side() -> None:
    """2 x 3: two boxes can be taken, and four more wait: it is better to leave the two than to open the four."""
    game = ludodrome.make("dots", rows=3, cols=2)
    edges = _edges(3, 2)
    undrawn = {("H", 1, 0), ("V", 0, 1)} | {
        ("V", 1, 1),
        ("V", 2, 1),
        ("H", 2, 0),
        ("H", 2, 1),
        ("V", 2, 2),
        ("V", 1, 0),
    }
    drawn = [number for number, edge in enumerate(edges) if edge not in undrawn]
    states = states_of(game, [])
    states["edges"] = sum(1 << edge for edge in drawn)
    kernels: Any = game.kernels
    closed = [box for box, sides in _boxes(3, 2).items() if not undrawn & set(sides)]
    assert closed == []
    assert kernels.value(states, 0) > 0


def plain_move_score(sides: list[set[Any]], drawn: set[Any], edge: Any) -> int:
    """The same box by box. An edge of the rim counts its box twice."""
    counts = [len(box & drawn) for box in sides if edge in box]
    if 3 in counts:
        return 900
    return -600 if 2 in counts else 100 * sum(counts) * (2 // len(counts))


def plain_value(sides: list[set[Any]], drawn: set[Any]) -> int:
    """The same box by box, for the seat to move."""
    taken, drawn = 0, set(drawn)
    while waiting := [box - drawn for box in sides if len(box - drawn) == 1]:
        drawn |= waiting[0]
        taken += waiting.count(waiting[0])
    unsafe = set().union(drawn, *(box for box in sides if len(box & drawn) >= 2))
    safe = len(set().union(*sides) - unsafe)
    left = sum(not box <= drawn for box in sides)
    if safe:
        return 100 * taken + (12 if safe % 2 else -12)
    return max(100 * taken - 60 * left, 100 * (taken - 4) + 60 * left if taken >= 2 else -10_000)


@pytest.mark.parametrize(("rows", "cols"), [*BOARDS_TRIED, (1, 21), (21, 1), (4, 6), (5, 5)])
def test_all_boxes_at_once_are_as_box_by_box(rows: int, cols: int) -> None:
    game = ludodrome.make("dots", rows=rows, cols=cols)
    kernels: Any = game.kernels
    edges, sides = _edges(rows, cols), list(_boxes(rows, cols).values())
    for number, drawn in enumerate(walks(rows, cols, 100 if COMPILED else 8)):
        states = states_of(game, drawn)
        names = {edges[edge] for edge in drawn}
        seat = int(game.kernels.mover(states))
        assert kernels.value(states, seat) == plain_value(sides, names), number
        for edge in {*range(len(edges))} - {*drawn}:
            assert kernels.move_score(states, edge) == plain_move_score(sides, names, edges[edge])


def test_move_scores() -> None:
    game = ludodrome.make("dots", rows=1, cols=2)
    kernels: Any = game.kernels
    states = states_of(game, [0, 2])  # the top and the bottom of the first box
    assert kernels.move_score(states, 4) == -600  # its left side
    assert kernels.move_score(states, 1) == 0  # the top of the second box
    game.kernels.play(states, 4)
    assert kernels.move_score(states, 5) == 900


def test_no_move_is_forced_and_none_is_loud() -> None:
    """Points decide: alpha-beta never has to ask, and gets these answers if it does."""
    game = ludodrome.make("dots", rows=1, cols=1)
    states = states_of(game, [0, 1, 2])
    buffer = game.buffer()
    assert python(EVALUATOR.evasions)(states[0], buffer, 1) == 1
    assert not python(EVALUATOR.is_tactical)(states[0], 3)
    assert not python(EVALUATOR.in_check)(states[0])
    assert python(EVALUATOR.winning)(states[0]) == -1
