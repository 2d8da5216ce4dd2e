"""Tree search against exhaustive search and retrograde analysis; its tree, its budgets, its answers."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.game import Game
from ludodrome.jit import COMPILED, python
from ludodrome.search import mcts, tree
from ludodrome.search.mcts_search import MIN_NODES, TreeSearch, TreeSearchResult, TreeWorker
from tests.cases import CASES, each_case
from tests.games.dots.retrograde import all_values
from tests.search.positions import reached

KNOWN = Path(__file__).with_name("mcts.txt")
"""What searches with small budgets find; ``python -m tests.search.test_mcts`` rewrites it."""

RACES: list[tuple[str, dict[str, Any]]] = [
    ("caldera", {}),
    ("santorini", {}),
    ("santorini", {"players": 3}),
    ("skysummit", {}),
]
"""Games that end as soon as somebody has won."""
each_race = pytest.mark.parametrize(
    ("game_id", "options"),
    [pytest.param(*race, marks=pytest.mark.xdist_group(race[0]), id=f"{race[0]}{len(race[1])}") for race in RACES],
)
compiled_only = pytest.mark.skipif(not COMPILED, reason="the simulations take plain Python too long")


def searcher(game: Game, seed: int = 0, nodes: int = 1 << 18, threads: int = 1) -> TreeSearch:
    return TreeSearch(game, seed, threads, nodes)


def after(game: Game, states: Any, *actions: int) -> Any:
    child = states.copy()
    for action in actions:
        game.kernels.play(child, action)
    return child


def legal(game: Game, states: Any) -> list[int]:
    buffer = game.buffer()
    actions: list[int] = buffer[: game.kernels.legal(states, buffer)].tolist()
    return actions


class Exhausted(Exception):
    """There are more positions than exhaustive search may look at."""


def possible_ends(game: Game, states: Any, plies: int, budget: list[int]) -> set[int]:
    """The ends that best play leaves (a winner, or -1 for a draw); all of them where the plies do not reach."""
    everything = {-1, *range(game.seats)}
    budget[0] -= 1
    if budget[0] < 0:
        raise Exhausted
    seat = int(game.kernels.mover(states))
    if seat < 0:
        return {int(game.kernels.winner(states))}
    if plies == 0:
        return everything
    below = []
    for action in legal(game, states):
        below.append(possible_ends(game, after(game, states, action), plies - 1, budget))
        if below[-1] == {seat}:
            return {seat}
    if everything in below:
        return everything
    return {-1} if {-1} in below else set.union(*below)


def value_for(seat: int, ends: set[int], seats: int) -> float:
    """What certain ends are worth to a seat."""
    return 1 if ends == {seat} else 0 if ends == {-1} else -1 / (seats - 1)


# What is proven


@each_race
def test_a_win_at_once_is_found_at_once(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    search = searcher(game)
    wins = 0
    for state in reached(game, 20 if COMPILED else 6, seed=2, least=200):
        states = game.encode_array(state)
        seat = game.kernels.mover(states)
        ends = {a: int(game.kernels.winner(after(game, states, a))) for a in legal(game, states)}
        if seat in ends.values():
            found = search.search(states, sims=1)
            assert (found.proven, found.value, ends[found.best], found.line) == (True, 1, seat, (found.best,))
            wins += 1
    assert wins > 2


@compiled_only
@each_race
def test_what_is_proven_is_true_and_what_can_be_proven_is_found(
    game_id: str, options: dict[str, Any], long: bool
) -> None:
    game = ludodrome.make(game_id, **options)
    search = searcher(game)
    seen = {1.0: 0, -1 / (game.seats - 1): 0}
    for state in reached(game, 400 if long else 60, seed=1, least=24):
        states = game.encode_array(state)
        seat = int(game.kernels.mover(states))
        try:
            ends = possible_ends(game, states, 3, [6000])
        except Exhausted:
            continue
        if len(ends) > game.seats:
            continue
        found = search.search(states, sims=100_000)
        value = value_for(seat, ends, game.seats)
        assert (found.proven, found.value) == (True, value)
        seen[value] += 1
        for choice in found.choices:
            below = possible_ends(game, after(game, states, choice.action), 2, [10**6])
            if choice.proven and len(below) <= game.seats:
                assert choice.value == value_for(seat, below, game.seats)
    assert all(seen.values())


@pytest.mark.xdist_group("dots")
@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (1, 2), (2, 1), (1, 4), (2, 2)])
def test_dots_to_the_end_is_exact(rows: int, cols: int) -> None:
    game = ludodrome.make("dots", rows=rows, cols=cols)
    margins = all_values(rows, cols)
    search = searcher(game)
    edges = game.num_actions
    for state in reached(game, 30 if COMPILED else 3, seed=rows * 10 + cols, least=edges - (8 if COMPILED else 4)):
        states = game.encode_array(state)
        seat = int(game.kernels.mover(states))
        found = search.search(states, sims=10**6)
        own, other = (int(states["boxes"][0][who]).bit_count() for who in (seat, 1 - seat))
        margin = own - other + int(margins[int(states["edges"][0])])
        assert (found.proven, found.value) == (True, (margin > 0) - (margin < 0))
        assert {choice.value for choice in found.choices if choice.action == found.best} == {found.value}


@compiled_only
@pytest.mark.xdist_group("spaces")
@pytest.mark.parametrize("rules", ["written", "live"])
def test_one_round_of_spaces_is_solved_step_by_step(rules: str) -> None:
    game = ludodrome.make("spaces", size=2, rules=rules, rounds=1)
    boards = game.legal_moves(game.initial_state())
    search = searcher(game)
    for board in boards[:: len(boards) // 8]:
        state = game.apply(game.initial_state(), board)
        ends = [game.outcome(game.apply(state, answer)) for answer in boards]
        best = max(end.returns[1] for end in ends if end)
        found = search.search(game.encode_array(state), sims=20_000)
        assert (found.proven, found.value) == (True, best)


@each_race
def test_a_proven_win_is_never_lost_afterwards(game_id: str, options: dict[str, Any], long: bool) -> None:
    game = ludodrome.make(game_id, **options)
    dice = random.Random(3)
    search = searcher(game)
    count = 1000 if long else 30 if COMPILED else 3
    won = 0
    for state in reached(game, count, seed=4, least=30):
        states = game.encode_array(state)
        seat = int(game.kernels.mover(states))
        found = search.search(states, sims=20_000 if COMPILED else 10)
        if not (found.proven and found.value == 1):
            continue
        while game.kernels.mover(states) >= 0:
            if game.kernels.mover(states) == seat:
                found = search.search(states, sims=1)
                assert (found.proven, found.value) == (True, 1)
                states = after(game, states, found.best)
            else:
                states = after(game, states, dice.choice(legal(game, states)))
        assert game.kernels.winner(states) == seat
        won += 1
    assert won


# The tree


def nested(grown: tree.Tree, game: Game, states: Any, node: int = 0) -> Any:
    """What is known below a node, by action; the moves are legal and the counts are right."""
    row = [int(x) for x in grown.nodes[:, node]]
    block = row.pop()
    row[0] = 0
    if block == tree.NONE:
        return row
    first, count, opened, unknown, seat, parent, _ = (int(x) for x in grown.blocks[:, block])
    nodes = range(first, first + count)
    assert sorted(grown.nodes[tree.ACTION, first : first + count].tolist()) == legal(game, states)
    assert (seat, parent) == (game.kernels.mover(states), node)
    everything = (2 << game.seats) - 1
    if grown.nodes[tree.ENDS, node] == everything:
        assert unknown == sum(grown.nodes[tree.ENDS, child] == everything for child in nodes)
    assert not grown.nodes[tree.VISITS, first + opened : first + count].any()
    assert row[tree.VISITS] >= int(grown.nodes[tree.VISITS, first : first + count].sum())
    below = {}
    for child in nodes:
        action = int(grown.nodes[tree.ACTION, child])
        below[action] = nested(grown, game, after(game, states, action), child)
    return row, (opened, unknown, seat), below


@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_the_tree_is_used_again(game_id: str, options: dict[str, Any]) -> None:
    if options.get("size", 0) > 5:
        pytest.skip("records of this size are slow to copy in Python")
    game = ludodrome.make(game_id, **options)
    search = searcher(game)
    states = game.encode_array(game.initial_state())
    budget = 2 * game.max_legal + 400 if COMPILED else 12
    for _ in range(4 if COMPILED else 2):
        found = search.search(states, sims=budget)
        grown = search.workers[0].tree
        branches = nested(grown, game, states)[2]
        line = found.line[:2]
        states = after(game, states, *line)
        if game.kernels.mover(states) < 0:
            break
        known = branches[line[0]] if len(line) == 1 else branches[line[0]][2][line[1]]
        if game.actions_a_turn == 1:
            states = game.encode_array(game.decode(states[0]))
        search.workers[0].turn_to(states)
        if isinstance(known, tuple):
            assert nested(grown, game, states) == known
            assert grown.used[tree.NODES] == 1 + grown.blocks[tree.COUNT, : grown.used[tree.BLOCKS]].sum()
        else:
            assert (grown.used[tree.NODES], grown.nodes[tree.VISITS, 0]) == (1, 0)


@pytest.mark.xdist_group("dots")
def test_visits_are_kept_and_the_same_position_searched_on() -> None:
    game = ludodrome.make("dots", rows=2, cols=2)
    states = game.encode_array(game.initial_state())
    search = searcher(game)
    assert search.search(states, sims=60).reused == 0
    assert search.search(states, sims=40).reused == 60
    found = search.search(states, sims=1)
    most = max(choice.visits for choice in found.choices)
    child = after(game, states, found.best)
    assert search.search(child, sims=1).reused == most
    assert search.search(states, sims=1).reused == 0  # the way back is not kept
    search.clear()
    assert search.search(states, sims=1).reused == 0


@pytest.mark.parametrize("game_id", [pytest.param(g, marks=pytest.mark.xdist_group(g)) for g in CASES])
def test_memory_is_bounded(game_id: str) -> None:
    game = ludodrome.make(game_id)
    search = searcher(game, nodes=MIN_NODES)
    states = game.encode_array(game.initial_state())
    simulations = 20_000 if COMPILED else 40
    found = search.search(states, sims=simulations)
    grown = search.workers[0].tree
    assert grown.nodes.shape[1] == MIN_NODES
    assert grown.used[tree.NODES] <= MIN_NODES
    assert grown.used[tree.BLOCKS] <= grown.blocks.shape[1]
    assert sum(choice.visits for choice in found.choices) == simulations
    if COMPILED:
        assert not python(tree.has_room)(grown, game.max_legal) or game_id == "spaces"
    nested(grown, game, states)


# Answers


def test_no_machine_rounds_exploration_terms_differently() -> None:
    entries = [*range(tree_fine := mcts.FINE)]
    entries += [n << octave for octave in range(1, 25) for n in range(tree_fine // 2, tree_fine)]
    assert len(entries) == len(mcts.EXPLORATION_TERMS)
    exploration_of = python(mcts.exploration_of)
    for visits, entry in zip(entries, mcts.EXPLORATION_TERMS.tolist(), strict=True):
        assert abs(abs(mcts.exploration(visits) - entry) - 0.5) > 1e-7
        assert exploration_of(visits) == entry
    assert exploration_of(1001) == exploration_of(1000)  # 1000 >> 2 == 1001 >> 2


def answers(found: TreeSearchResult) -> tuple[Any, ...]:
    return found.best, found.choices, found.line, found.value, found.proven, found.simulations, found.reused


@pytest.mark.xdist_group("santorini")
def test_answers_depend_on_the_seed_and_the_questions_alone() -> None:
    game = ludodrome.make("santorini")
    budget = 500 if COMPILED else 20
    first, second, other = searcher(game, 7), searcher(game, 7, threads=2, nodes=1 << 19), searcher(game, 8)
    states = game.encode_array(game.initial_state())
    differs = False
    for _ in range(3):
        found = first.search(states, sims=budget)
        assert answers(second.search(states, sims=budget)) == answers(found)
        differs |= answers(other.search(states, sims=budget)) != answers(found)
        states = after(game, states, found.best, legal(game, after(game, states, found.best))[0])
    assert differs


@pytest.mark.xdist_group("santorini")
def test_slices_make_no_difference() -> None:
    game = ludodrome.make("santorini")
    states = game.encode_array(game.initial_state())
    workers = [TreeWorker(game, np.uint64(1), 1 << 14) for _ in range(2)]
    for worker in workers:
        worker.turn_to(states)
    for part in (1, 2, 30, 7):
        workers[0].simulate(part)
    workers[1].simulate(40)
    for one, two in zip(workers[0].tree, workers[1].tree, strict=True):
        assert (one == two).all()


@pytest.mark.parametrize("game_id", [pytest.param(g, marks=pytest.mark.xdist_group(g)) for g in CASES])
def test_time_and_threads(game_id: str) -> None:
    game = ludodrome.make(game_id)
    search = searcher(game, nodes=1 << 14, threads=2)
    states = game.encode_array(game.initial_state())
    moves = legal(game, states)
    for time in (0, 0.02):
        found = search.search(states, time=time)
        assert [choice.action for choice in found.choices] == moves
        assert found.best in moves
        assert found.line[0] == found.best
        assert found.simulations > 0
        assert sum(choice.visits for choice in found.choices) == found.simulations + found.reused
        assert all(-1 <= choice.value <= 1 for choice in found.choices)


@pytest.mark.xdist_group("dots")
def test_two_threads_know_what_either_knows() -> None:
    game = ludodrome.make("dots", rows=1, cols=2)
    states = game.encode_array(game.parse_state("1x2 11/10 000 .. 1 0"))
    found = searcher(game, threads=2).search(states, time=10)
    assert found.proven
    assert found.seconds < 9


def test_what_is_wrong_is_said() -> None:
    game = ludodrome.make("dots", rows=1, cols=1)
    search = searcher(game)
    states = game.encode_array(game.initial_state())
    budgets: list[dict[str, Any]] = [{}, {"sims": 1, "time": 1}]
    for budget in budgets:
        with pytest.raises(ValueError, match="a search needs a budget: sims, a number of simulations, or time"):
            search.search(states, **budget)
    with pytest.raises(ValueError, match="sims is a whole number from 1 to"):
        search.search(states, sims=0)
    for time in (-1, True, "1", float("nan")):
        with pytest.raises(ValueError, match="time is a number of seconds from 0 to"):
            search.search(states, time=time)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="an array of one record of its dtype"):
        search.search(game.new_states(2), sims=1)
    with pytest.raises(ValueError, match="the game is over"):
        search.search(after(game, states, 0, 1, 2, 3), sims=1)
    with pytest.raises(ValueError, match="the number of threads is a whole number from 1 to"):
        searcher(game, threads=0)
    with pytest.raises(ValueError, match="the number of a tree's nodes is a whole number from"):
        searcher(game, nodes=1)


# The same with and without compilation


def small_searches() -> list[str]:
    """What searches with small budgets answer, one line each."""
    lines = []
    for game_id, all_options in CASES.items():
        for options in all_options[:3]:
            game = ludodrome.make(game_id, **options)
            search = searcher(game, seed=5)
            states = game.encode_array(game.initial_state())
            for _ in range(2):
                found = search.search(states, sims=20)
                lines.append(f"{game!r}: {found.best} {found.value:.6f} {found.proven} {found.line} {found.reused}")
                states = after(game, states, found.best)
                if game.kernels.mover(states) < 0:
                    break
    return lines


def test_small_searches_answer_as_ever() -> None:
    assert small_searches() == KNOWN.read_text("utf-8").splitlines()


if __name__ == "__main__":
    KNOWN.write_text("\n".join(small_searches()) + "\n", "utf-8")
