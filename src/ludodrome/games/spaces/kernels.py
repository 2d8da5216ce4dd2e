"""Compiled entry points of spaces: the rules, rounds by the million, and the factories of ``search/`` instantiated."""

from typing import Any

import numpy as np

from ludodrome.games.spaces import (
    mixture_search,
    planes,
    respond_bounds,
    respond_search,
    rounds,
    rules,
    sample_rows,
    walk,
)
from ludodrome.games.spaces.boards import FINISH
from ludodrome.jit import Array, Int, entry
from ludodrome.search.batch import make_batch
from ludodrome.search.mcts import make_mcts
from ludodrome.search.perft import make_perft
from ludodrome.search.planning import make_planning
from ludodrome.search.playouts import make_playouts
from ludodrome.search.vector import make_vector

_playouts = make_playouts(rules.RULES)
_perft = make_perft(rules.RULES, one_action_a_turn=False)
_reset_many, _step_many, _mask_many = make_batch(rules.RULES)
_simulate, _reroot = make_mcts(rules.RULES)
_plan_select, _plan_back_up = make_planning(rules.RULES)
_begin_many, _act_many, _settle_many, _look_many, _movers_many, _answer_random = make_vector(
    rules.RULES, planes.observe
)


@entry
def reset(states: Any, seed: Any) -> None:
    rules.reset(states[0], seed)


@entry
def legal(states: Any, buffer: Array) -> Int:
    return rules.legal(states[0], buffer)


@entry
def fault(states: Any, action: int) -> Int:
    return rules.fault(states[0], action)


@entry
def play(states: Any, action: int) -> None:
    rules.play(states[0], action)


@entry
def lay(states: Any, actions: Array) -> Int:
    """Plays step after step, also steps down; how many of them were legal: it stops at the first that is not."""
    s = states[0]
    for k in range(len(actions)):
        if actions[k] - np.int64(s.side) > FINISH or rules.fault(s, actions[k]) != 0:
            return k
        rules.play(s, actions[k])
    return len(actions)


@entry
def mover(states: Any) -> Int:
    return rules.mover(states[0])


@entry
def slot(states: Any) -> Int:
    return rules.slot(states[0])


@entry
def turns(states: Any) -> Int:
    return rules.turns(states[0])


@entry
def winner(states: Any) -> Int:
    return rules.winner(states[0])


@entry
def playouts(states: Any, buffer: Array, seed: Any, first: int, count: int, wins: Array) -> Any:
    return _playouts(states, buffer, seed, first, count, wins)


@entry
def perft(states: Any, words: Array, buffers: Array, cursors: Array, target: int, leaves: Array) -> Int:
    return _perft(states, words, buffers, cursors, target, leaves)


@entry
def reset_many(states: Any, seed: Any, where: Array) -> None:
    _reset_many(states, seed, where)


@entry
def step_many(
    states: Any, actions: Array, limit: int, done: Array, to_move: Array, rewards: Array, illegal: Array
) -> None:
    _step_many(states, actions, limit, done, to_move, rewards, illegal)


@entry
def mask_many(states: Any, buffer: Array, mask: Array) -> None:
    _mask_many(states, buffer, mask)


# Rounds


@entry
def first_unplayable(actions: Array, ends: Array, size: int, live: bool) -> Int:
    """The number of the first board that is not playable, or -1."""
    begin = 0
    for i in range(len(ends)):
        if not rounds.is_playable(actions[begin : ends[i]], size, live):
            return i
        begin = ends[i]
    return -1


@entry
def pack_many(
    actions: Array, ends: Array, size: int, live: bool, rotated: bool, cells: Array, score: Array, since: Array
) -> None:
    """Packs board after board, see rounds.pack; ends: (boards,) int64, where each one ends in the flat arrays."""
    begin = 0
    for i in range(len(ends)):
        end = ends[i]
        rounds.pack(actions[begin:end], size, live, rotated, cells[begin:end], score[begin:end], since[i])
        begin = end


@entry
def play_round(
    cells_a: Array, score_a: Array, since_a: Array, cells_b: Array, score_b: Array, since_b: Array, live: bool
) -> Any:
    return rounds.play_packed(cells_a, score_a, since_a, cells_b, score_b, since_b, live)


@entry
def play_matrix(
    cells_a: Array,
    score_a: Array,
    since_a: Array,
    ends_a: Array,
    cells_b: Array,
    score_b: Array,
    since_b: Array,
    ends_b: Array,
    live: bool,
    points_a: Array,
    points_b: Array,
) -> None:
    """Every board of the first against every one of the second; points: (boards a, boards b) int16."""
    begin_a = 0
    for i in range(len(ends_a)):
        end_a = ends_a[i]
        own_cells, own_score, own_since = cells_a[begin_a:end_a], score_a[begin_a:end_a], since_a[i]
        begin_b = 0
        for j in range(len(ends_b)):
            end_b = ends_b[j]
            a, b, _, _, _, _ = rounds.play_packed(
                own_cells,
                own_score,
                own_since,
                cells_b[begin_b:end_b],
                score_b[begin_b:end_b],
                since_b[j],
                live,
            )
            points_a[i, j] = a
            points_b[i, j] = b
            begin_b = end_b
        begin_a = end_a


@entry
def play_mixture(
    actions: Array,
    ends: Array,
    size: int,
    live: bool,
    cells_b: Array,
    score_b: Array,
    since_b: Array,
    ends_b: Array,
    weights: Array,
    worth: Array,
) -> None:
    """What each board's margin over the others comes to, each times its weight.

    actions: (steps,) uint8 and ends: (boards,) int64 as they are made; the others packed and
    rotated; weights: (others,) and worth: (boards,) int64 or float64.
    """
    most = 0
    begin = 0
    for i in range(len(ends)):
        most = max(most, ends[i] - begin)
        begin = ends[i]
    cells = np.empty(most, np.uint16)
    score = np.empty(most, np.uint16)
    since = np.empty(size * size, np.uint16)
    begin = 0
    for i in range(len(ends)):
        steps = ends[i] - begin
        rounds.pack(actions[begin : ends[i]], size, live, False, cells[:steps], score[:steps], since)
        begin = ends[i]
        worth[i] = 0
        begin_b = 0
        for j in range(len(ends_b)):
            end_b = ends_b[j]
            a, b, _, _, _, _ = rounds.play_packed(
                cells[:steps],
                score[:steps],
                since,
                cells_b[begin_b:end_b],
                score_b[begin_b:end_b],
                since_b[j],
                live,
            )
            worth[i] += weights[j] * (a - b)
            begin_b = end_b


# All boards


@entry
def advance_walk(
    size: int, live: bool, frames: Array, laid: Array, traps: Array, depth: int, actions: Array, ends: Array
) -> Any:
    return walk.advance_walk(size, live, frames, laid, traps, depth, actions, ends)


@entry
def follow_walk(size: int, frames: Array, laid: Array, traps: Array, actions: Array) -> None:
    walk.follow_walk(size, frames, laid, traps, actions)


@entry
def write_codes(actions: Array, ends: Array, head: Array, signs: Array, size: int, text: Array) -> Int:
    return walk.write_codes(actions, ends, head, signs, size, text)


@entry
def fill_samples(size: int, above: Array, top: bool, walks: Array, arrivals: Array) -> None:
    sample_rows.fill_samples(size, above, top, walks, arrivals)


@entry
def pick_sample(weights: Array, lot: float, wrong: float) -> Int:
    return sample_rows.pick_sample(weights, lot, wrong)


@entry
def take_sample(size: int, sample: Array, actions: Array, choice: int) -> None:
    sample_rows.take_sample(size, sample, actions, choice)


@entry
def cross_samples(
    size: int,
    above: Array,
    walks: Array,
    top: bool,
    wrong: float,
    samples: Array,
    actions: Array,
    streams: Array,
    at: int,
) -> Any:
    return sample_rows.cross_samples(size, above, walks, top, wrong, samples, actions, streams, at)


# Best responses


@entry
def fill_bounds(runs: Any, course: Any, table: Array) -> None:
    respond_bounds.fill_bounds(runs[0], course, table)


@entry
def search_response(
    runs: Any,
    course: Any,
    table: Array,
    wanted: int,
    limit: int,
    frames: Array,
    actions: Array,
    mine: Array,
    keys: Array,
    marks: Array,
    mark: int,
) -> Any:
    return respond_search.search_response(
        runs[0], course, table, wanted, limit, frames, actions, mine, keys, marks, mark
    )


@entry
def gather_bounds(table: Array, hit: int, never: int, bounds: Array, j: int) -> None:
    mixture_search.gather_bounds(table, hit, never, bounds, j)


@entry
def search_mixture(
    book: Any,
    size: int,
    live: bool,
    columns: int,
    least: int,
    limit: int,
    frames: Array,
    sums: Array,
    undecided: Array,
    fates: Array,
    mine: Array,
    laid: Array,
    record: Array,
    best: Array,
) -> bool:
    return mixture_search.search_mixture(
        book, size, live, columns, least, limit, frames, sums, undecided, fates, mine, laid, record, best
    )


# Tree search


@entry
def simulate(tree: Any, work: Any, states: Any, settings: Array, seed: Any, simulations: int) -> Int:
    return _simulate(tree, work, states, settings, seed, simulations)


@entry
def reroot(tree: Any, work: Any, states: Any, settings: Array, target: Array) -> Any:
    return _reroot(tree, work, states, settings, target)


@entry
def plan_select(
    plan: Any, roots: Array, states: Any, state_words: Array, buffer: Array, weight: float, mask: Array
) -> None:
    _plan_select(plan, roots, states, state_words, buffer, weight, mask)


@entry
def plan_back_up(
    plan: Any, states: Any, buffer: Array, priors: Array, values: Array, noise: Array, share: float
) -> None:
    _plan_back_up(plan, states, buffer, priors, values, noise, share)


# For learners


@entry
def begin_many(vec: Any, where: Array, seat: int, kinds: int) -> None:
    _begin_many(vec, where, seat, kinds)


@entry
def act_many(vec: Any, actions: Array, limit: int, fresh: Array, random_opponent: int, buffer: Array) -> None:
    _act_many(vec, actions, limit, fresh, random_opponent, buffer)


@entry
def settle_many(vec: Any, fresh: Array, alone: bool) -> None:
    _settle_many(vec, fresh, alone)


@entry
def look_many(states: Any, rows: Array, seats: Array, obs: Any) -> None:
    _look_many(states, rows, seats, obs)


@entry
def movers_many(states: Any, movers: Array) -> None:
    _movers_many(states, movers)


@entry
def answer_random(vec: Any, which: int, buffer: Array) -> None:
    _answer_random(vec, which, buffer)
