"""Human strategy for dots and boxes, compared with retrograde analysis of a small board."""

import random

import pytest

from ludodrome import Game
from ludodrome.games.dots import strategy
from ludodrome.games.dots.strategy import board_masks, chain_edges, greedy_edges, heap_value, members
from tests.games.dots.positions import draw
from tests.games.dots.retrograde import all_values

MASKS = board_masks(2, 3)
ROWS_APART = (1 << 9) - 1
"""All horizontal edges of the 2 x 3 board."""


@pytest.fixture(scope="module")
def values() -> list[int]:
    """The set of drawn edges of the 2 x 3 board -> what it is worth to the seat to move."""
    worth: list[int] = all_values(2, 3).tolist()
    return worth


@pytest.fixture(scope="module")
def unsafe() -> list[int]:
    """All positions of the 2 x 3 board in which no edge is safe."""
    return [drawn for drawn in range(MASKS.everything) if not strategy.safe_edges(MASKS, drawn)]


def closed(masks: strategy.BoardMasks, drawn: int, edge: int) -> int:
    """How many boxes an edge closes."""
    return sum(masks.sides[box] & ~(drawn | 1 << edge) == 0 for box in masks.beside[edge])


def regret(drawn: int, edge: int, values: list[int]) -> int:
    """How many boxes worse an edge is than the best one."""
    gained = closed(MASKS, drawn, edge)
    after = values[drawn | 1 << edge]
    return values[drawn] - (gained + after if gained else -after)


def test_tables_are_those_of_the_rules() -> None:
    assert MASKS.everything == (1 << 17) - 1
    assert [sides.bit_count() for sides in MASKS.sides] == [4] * 6
    assert all((MASKS.sides[box] >> edge) & 1 for edge, boxes in enumerate(MASKS.beside) for box in boxes)
    assert sum(map(len, MASKS.beside)) == 24


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (2, 3), (3, 3)])
def test_greedy_takes_free_boxes_and_draws_no_third_side_while_it_can_avoid_it(size: tuple[int, int]) -> None:
    masks, dice, seen = board_masks(*size), random.Random(3), set()
    for _ in range(20):
        drawn = 0
        while undrawn := members(masks.everything & ~drawn):
            edges = greedy_edges(masks, drawn)
            degree = strategy.degrees(masks, drawn)
            free = [edge for edge in undrawn if closed(masks, drawn, edge)]
            third = [edge for edge in undrawn if any(degree[box] == 2 for box in masks.beside[edge])]
            careful = [edge for edge in undrawn if edge not in third]
            assert edges == (free or careful or undrawn)
            seen.add((bool(free), bool(careful)))
            drawn |= 1 << dice.choice(undrawn)
    assert len(seen) >= 3 or size == (1, 1)


@pytest.mark.parametrize(
    ("chains", "loops", "value"),
    [
        ((), (), 0),
        ((1,), (), -1),
        ((1, 1), (), 0),
        ((2,), (), -2),
        ((1, 3), (), 2),
        ((3,), (), -3),
        ((3, 3), (), -2),
        ((4, 5), (), -5),
        ((), (4,), -4),
        ((), (4, 4), 0),
        ((3,), (4,), -1),
        ((3, 3, 3), (), -1),
        ((5, 6, 7), (), -10),
    ],
)
def test_heaps_of_chains_and_loops(chains: tuple[int, ...], loops: tuple[int, ...], value: int) -> None:
    assert heap_value(chains, loops) == value


def test_chains_and_loops_alone_are_played_perfectly(values: list[int], unsafe: list[int]) -> None:
    """Where no edge is safe and no two passages meet, neither the values nor the choices are estimates."""
    seen = {1: 0, 2: 0}
    for drawn in unsafe:
        degree = strategy.degrees(MASKS, drawn)
        if max(degree) > 2:
            continue
        if 1 not in degree:
            assert strategy.passages_value(MASKS, drawn) == values[drawn]
        seen[2 if 1 not in degree else 1] += 1
        for edge in chain_edges(MASKS, drawn):
            assert regret(drawn, edge, values) == 0, drawn
    assert seen[1] > 1000
    assert seen[2] > 100


def test_counting_chains_costs_less_than_not_counting(values: list[int]) -> None:
    """Over all kinds of positions it gives less than half away of what drawing greedily does."""
    dice = random.Random(1)
    positions = [drawn for drawn in (dice.getrandbits(17) for _ in range(3000)) if drawn != MASKS.everything]
    counting, greedy = (
        sum(regret(drawn, rule(MASKS, drawn)[0], values) for drawn in positions) for rule in (chain_edges, greedy_edges)
    )
    assert counting < 0.5 * greedy


def test_where_passages_meet_the_longest_two_are_one(values: list[int], unsafe: list[int]) -> None:
    """That is an estimate, and mostly right."""
    right = total = 0
    for drawn in unsafe:
        degree = strategy.degrees(MASKS, drawn)
        if max(degree) > 2 and 1 not in degree:
            total += 1
            right += strategy.passages_value(MASKS, drawn) == values[drawn]
    assert total > 100
    assert right > 0.8 * total


def test_a_double_deal_keeps_control() -> None:
    """Two chains of three in a 2 x 3 board: of the first that is opened, the last two are given back."""
    opened = ROWS_APART | 1 << MASKS.everything.bit_length() - 1  # the right end of the lower row
    (edge,) = chain_edges(MASKS, opened)
    assert closed(MASKS, opened, edge) == 1
    (deal,) = chain_edges(MASKS, opened | 1 << edge)
    assert closed(MASKS, opened | 1 << edge, deal) == 0
    alone = opened | 1 << edge | 0b111 | MASKS.sides[0] | MASKS.sides[1] | MASKS.sides[2]
    (take,) = chain_edges(MASKS, alone)
    assert closed(MASKS, alone, take) == 1


def test_many_safe_edges_are_not_thought_through(usual: Game) -> None:
    masks = board_masks(5, 5)
    assert chain_edges(masks, 0) == list(range(60))
    state = draw(usual, "H(0,0) V(0,0)")
    drawn = int(usual.encode(state)["edges"])
    assert set(chain_edges(masks, drawn)) == set(range(60)) - {0, 5, 30, 31}
