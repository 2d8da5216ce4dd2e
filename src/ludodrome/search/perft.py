"""Perft: count the games of a given number of moves. The oldest test of a move generator."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ludodrome.game import Game, checked_count
from ludodrome.game_spec import Rules
from ludodrome.jit import Array, as_words, copy_state, kernel_of, new_states

MAX_DEPTH = 100_000


@dataclass(frozen=True, slots=True)
class PerftEnds:
    """The positions after all games of a given number of moves, by winner."""

    nodes: int
    wins: list[int]
    draws_or_open: int
    """Drawn, or not yet decided."""


def make_perft(rules: Rules, one_action_a_turn: bool) -> Callable[..., Any]:
    """The perft kernel of one game.

    Where every action is a turn, the last level is counted without being played, unless
    the caller asks for the leaves' winners.
    """
    legal, play, winner, turns = rules.legal, rules.play, rules.winner, rules.turns

    @kernel_of(legal)
    def perft(states: Any, all_words: Array, buffers: Array, cursors: Array, target: int, leaves: Array) -> int:
        """Counts the positions below states[0] in which ``target`` turns have been made.

        states: (levels,), a stack, and all_words the same memory; buffers: (levels, max_legal)
        int16; cursors: (levels, 2) int64, next and end; leaves: (seats + 1,) int64 for the leaves'
        winners (the last one: none), or empty.
        """
        nodes = 0
        tally = len(leaves) > 0
        level = 0
        cursors[0, 0] = 0
        cursors[0, 1] = legal(states[0], buffers[0])
        while level >= 0:
            if one_action_a_turn and not tally and turns(states[level]) + 1 == target:
                nodes += cursors[level, 1]
                level -= 1
                continue
            at = cursors[level, 0]
            if at == cursors[level, 1]:
                level -= 1
                continue
            cursors[level, 0] = at + 1
            copy_state(all_words, level + 1, all_words, level)
            child = states[level + 1]
            play(child, buffers[level, at])
            if turns(child) == target:
                nodes += 1
                if tally:
                    leaves[winner(child)] += 1
                continue
            level += 1
            cursors[level, 0] = 0
            cursors[level, 1] = legal(child, buffers[level])
        return nodes

    return perft


def perft(game: Game, depth: int, state: Any = None, progress: Callable[[int, int], None] | None = None) -> int:
    """The number of ways to make ``depth`` moves from a position (the initial one if none is given).

    ``progress`` is called with the number of first moves done, and their total.

    >>> import ludodrome
    >>> ludodrome.perft(ludodrome.make("dots", rows=2, cols=2), 3)
    1320
    """
    return _count(game, depth, state, progress, np.empty(0, np.int64))


def perft_ends(
    game: Game, depth: int, state: Any = None, progress: Callable[[int, int], None] | None = None
) -> PerftEnds:
    """The same with the winners in the positions reached.

    >>> import ludodrome
    >>> ludodrome.perft_ends(ludodrome.make("dots", rows=1, cols=1), 4)
    PerftEnds(nodes=24, wins=[0, 24], draws_or_open=0)
    """
    leaves = np.zeros(game.seats + 1, np.int64)
    nodes = _count(game, depth, state, progress, leaves)
    *wins, rest = leaves.tolist()
    return PerftEnds(nodes, wins, rest)


def _count(game: Game, depth: int, state: Any, progress: Callable[[int, int], None] | None, leaves: Array) -> int:
    depth = checked_count(depth, "the depth of perft", low=0, high=MAX_DEPTH)
    root = game.encode_array(game.initial_state() if state is None else state)
    if depth and game.outcome_of(root) is None:
        game.check_countable(depth)
    if depth == 0:
        if len(leaves):
            leaves[-1 if (end := game.outcome_of(root)) is None or end.winner is None else end.winner] += 1
        return 1
    kernels = game.kernels
    target = kernels.turns(root) + depth
    levels = min(depth * game.actions_a_turn, game.max_game_length) + 1
    stack = new_states(game.dtype, levels)
    memory = as_words(stack)
    buffers = np.empty((levels, game.max_legal), np.int16)
    cursors = np.empty((levels, 2), np.int64)
    firsts = game.buffer()
    count = kernels.legal(root, firsts)
    nodes = 0
    for done, action in enumerate(firsts[:count].tolist()):
        stack[0] = root[0]
        kernels.play(stack, action)
        if kernels.turns(stack) == target:
            nodes += 1
            if len(leaves):
                leaves[kernels.winner(stack)] += 1
        else:
            nodes += int(kernels.perft(stack, memory, buffers, cursors, target, leaves))
        if progress:
            progress(done + 1, count)
    return nodes
