"""Compiled entry points of spaces: the rules, and the factories of ``search/`` instantiated."""

from typing import Any

from ludodrome.games.spaces import planes, rules
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
def mover(states: Any) -> Int:
    return rules.mover(states[0])


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
