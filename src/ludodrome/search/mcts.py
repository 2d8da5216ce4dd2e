"""Monte-Carlo tree search, compiled: choosing, playing out, backing up, proving.

UCT (Kocsis and Szepesvari 2006) with random playouts, for any number of seats, each of which
maximises its own return; extra turns need nothing special, since every block knows who chooses
in it. Ends that are certain are backed up as in Winands, Bjornsson and Saito (2008), draws and
third seats included. The tree itself is in ``tree.py``, what Python sees of a search in
``mcts_search.py``, the form for networks in ``planning.py``.

All arithmetic is in whole numbers of SCALE-ths, so that every machine searches alike.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ludodrome.game_spec import Rules
from ludodrome.jit import GOLDEN, Array, Int, below, copy_state, kernel_of, mix, stream
from ludodrome.search.tree import (
    ABOVE,
    ACTION,
    BLOCK,
    COUNT,
    ENDS,
    FIRST,
    MEAN,
    NONE,
    OPENED,
    PARENT,
    SEAT,
    SIMULATIONS,
    SPREAD,
    TOTAL,
    UNKNOWN,
    VISITS,
    Tree,
    add_block,
    cut,
    find_block,
    has_room,
    key_of,
    new_root,
)

SHIFT = 16
SCALE = 1 << SHIFT
"""A return of 1, or the number 1, in fixed point."""
LOST = -(1 << 30)
"""The mean of a child that is certainly lost for who would choose it: nothing is chosen after it."""
MAX_SIMULATIONS = 10**9
"""Totals fit 32 bits."""


class TreeBuffers(NamedTuple):
    """What the kernels work in beside the tree. The words are those of records, see ``jit.as_words``."""

    root: Array
    """(1, words): the root."""
    state_words: Array
    """(2, words): the memory of the states that moves are played in."""
    buffer: Array
    """(max_legal,) int16"""
    path: Array
    """(3, max_game_length + 1) int32: the nodes from the root down; their blocks; 1 where
    the seat that chose the node had a certain draw instead."""


SEATS, EXPLORATION, FIRST_PLAY_URGENCY, PATIENCE = range(4)
"""The settings, int64: the number of seats; the weight of exploration and the score of a move that has not
been tried, in SCALE-ths; the visits after which a node is expanded."""


# Exploration: sqrt(ln n) for n visits, from a table; above FINE only the first bits of n matter.

_FINE_BITS = 7
FINE = 2 << _FINE_BITS
_OCTAVE = 1 << _FINE_BITS


def exploration(visits: int) -> float:
    """What is rounded to the table's entry: no result of math.log that is off in its last bit makes it another."""
    return SCALE * math.sqrt(math.log(max(visits, 1)))


EXPLORATION_TERMS = np.array(
    [round(exploration(n)) for n in range(FINE)]
    + [round(exploration(n << octave)) for octave in range(1, 32 - _FINE_BITS) for n in range(_OCTAVE, FINE)],
    np.int64,
)


inner = kernel_of(exploration)
"""No kernel here is called from Python: that saves a third of the time of compilation."""


@inner
def exploration_of(visits: Int) -> Int:
    """The exploration term of a node's children, by the node's visits."""
    row = 0
    while visits >= FINE:
        visits >>= 1
        row += _OCTAVE
    return EXPLORATION_TERMS[row + visits]


# Ends


@inner
def is_one(ends: Int) -> Any:
    """Whether a set of ends holds one alone."""
    return (ends & (ends - 1)) == 0


@inner
def end_of(winner: Int, seats: Int) -> Int:
    """The set of one end: this winner, or a draw if it is -1."""
    return 1 << (winner if winner >= 0 else seats)


@inner
def winner_in(ends: Int, seats: Int) -> Int:
    """The winner in the first of these ends, or -1 if that is a draw."""
    for seat in range(seats):
        if (ends >> seat) & 1:
            return seat
    return -1


@inner
def payoff(winner: Int, seat: Int, seats: Int) -> Int:
    """A seat's return in units of 1 / (seats - 1)."""
    if winner < 0:
        return 0
    return seats - 1 if winner == seat else -1


@inner
def settle(tree: Tree, node: Int, block: Int, ends: Int, seats: Int) -> None:
    """Write what is now certain of a node, which is in this block, or in NONE if it is the root."""
    tree.nodes[ENDS, node] = ends
    tree.nodes[SPREAD, node] = 0
    if ends == 1 << seats:
        tree.nodes[MEAN, node] = 0
    elif block != NONE:
        tree.nodes[MEAN, node] = SCALE if ends == 1 << np.int64(tree.blocks[SEAT, block]) else LOST


@inner
def settle_parent(tree: Tree, block: Int, ends: Int, seats: Int) -> None:
    """The same of the node whose children a block holds."""
    settle(tree, np.int64(tree.blocks[PARENT, block]), np.int64(tree.blocks[ABOVE, block]), ends, seats)


@inner
def best_ends(tree: Tree, block: Int, seats: Int) -> Int:
    """What the chooser makes of children that are all certain and none of them won.

    A draw if there is one; else the seat has lost, to any of those to whom it can lose.
    """
    draw = 1 << seats
    union: Int = 0
    for node in range(tree.blocks[FIRST, block], tree.blocks[FIRST, block] + tree.blocks[COUNT, block]):
        ends = np.int64(tree.nodes[ENDS, node])
        if ends == draw:
            return draw
        union |= ends
    return union


@inner
def back_up_ends(tree: Tree, work: TreeBuffers, depth: Int, seats: Int) -> Int:
    """The end of the path's last node has become certain: what follows above; who wins at the highest such node."""
    at = depth
    while at > 0:
        block = np.int64(work.path[1, at])
        ends = np.int64(tree.nodes[ENDS, work.path[0, at]])
        if ends != 1 << np.int64(tree.blocks[SEAT, block]):
            tree.blocks[UNKNOWN, block] -= 1
            if tree.blocks[UNKNOWN, block] > 0:
                break
            ends = best_ends(tree, block, seats)
        settle_parent(tree, block, ends, seats)
        at -= 1
    return winner_in(np.int64(tree.nodes[ENDS, work.path[0, at]]), seats)


@inner
def back_up(tree: Tree, work: TreeBuffers, depth: Int, winner: Int, seats: Int) -> None:
    """One more visit, with this result, to every node of the path, from the last one up."""
    unknown = (2 << seats) - 1
    for at in range(depth, 0, -1):
        node = work.path[0, at]
        seat = np.int64(tree.blocks[SEAT, work.path[1, at]])
        visits = np.int64(tree.nodes[VISITS, node]) + 1
        total = np.int64(tree.nodes[TOTAL, node]) + payoff(winner, seat, seats)
        tree.nodes[VISITS, node] = visits
        tree.nodes[TOTAL, node] = total
        if tree.nodes[ENDS, node] == unknown:
            tree.nodes[MEAN, node] = np.int64(total * SCALE / (visits * (seats - 1)))
            tree.nodes[SPREAD, node] = np.int64(SCALE / np.sqrt(np.float64(visits)))
        if work.path[2, at] and winner != seat:
            winner = -1
    tree.nodes[VISITS, 0] += 1


# Choosing


@inner
def select(tree: Tree, node: Int, block: Int, settings: Array) -> Any:
    """The child to visit: the best of those opened, or the next one if its first-play urgency is higher.

    Where the best is a certain draw, another is visited, since there is nothing to be learnt from
    the draw; whether this is so comes second. The seat will not be worse off than drawn then.
    """
    unknown = (2 << settings[SEATS]) - 1
    opened = np.int64(tree.blocks[OPENED, block])
    first = np.int64(tree.blocks[FIRST, block])
    means = tree.nodes[MEAN, first : first + opened]
    spreads = tree.nodes[SPREAD, first : first + opened]
    weight = (settings[EXPLORATION] * exploration_of(np.int64(tree.nodes[VISITS, node]))) >> SHIFT
    best_score = np.int64(2 * LOST)
    best: Int = np.int64(0)
    for child in range(opened):
        score = np.int64(means[child]) + ((weight * np.int64(spreads[child])) >> SHIFT)
        if score > best_score:
            best_score = score
            best = child
    if settings[FIRST_PLAY_URGENCY] > best_score:
        count = np.int64(tree.blocks[COUNT, block])
        while opened < count and tree.nodes[ENDS, first + opened] != unknown:
            opened += 1
        tree.blocks[OPENED, block] = min(opened + 1, count)
        if opened < count:
            return first + opened, False
    if tree.nodes[ENDS, first + best] == 1 << settings[SEATS]:
        return first + best_unknown(tree, first, opened, weight, unknown), True
    return first + best, False


@inner
def best_unknown(tree: Tree, first: Int, opened: Int, weight: Int, unknown: Int) -> Int:
    """The best of the opened children whose ends are unknown; there is one, or the node's ends would be certain."""
    best_score = np.int64(2 * LOST)
    best: Int = np.int64(0)
    for child in range(opened):
        node = first + child
        if tree.nodes[ENDS, node] == unknown:
            score = np.int64(tree.nodes[MEAN, node]) + ((weight * np.int64(tree.nodes[SPREAD, node])) >> SHIFT)
            if score > best_score:
                best_score = score
                best = child
    return best


class TreeKernels(NamedTuple):
    """The compiled passes of a tree search."""

    simulate: Callable[..., Any]
    reroot: Callable[..., Any]


def make_mcts(rules: Rules) -> TreeKernels:
    """The tree search kernels of one game."""
    legal, play, mover, winner = rules.legal, rules.play, rules.mover, rules.winner

    @kernel_of(legal)
    def playout(s: Any, buffer: Array, choices: Int, random: Any) -> Int:
        """Play random moves to the end, from a position whose legal actions are in the buffer; return the winner."""
        while choices > 0:
            random += GOLDEN
            play(s, buffer[below(mix(random), choices)])
            choices = legal(s, buffer)
        return winner(s)

    @kernel_of(legal)
    def look(tree: Tree, block: Int, work: TreeBuffers, states: Any, seats: Int) -> bool:
        """Plays every move of a new block: those that end the game are certain; whether its node is, too."""
        s = states[1]
        first = np.int64(tree.blocks[FIRST, block])
        for child in range(first, first + np.int64(tree.blocks[COUNT, block])):
            copy_state(work.state_words, 1, work.state_words, 0)
            play(s, tree.nodes[ACTION, child])
            if mover(s) >= 0:
                continue
            ends = end_of(winner(s), seats)
            settle(tree, child, block, ends, seats)
            tree.blocks[UNKNOWN, block] -= 1
            if ends == 1 << np.int64(tree.blocks[SEAT, block]):
                settle_parent(tree, block, ends, seats)
                return True
        if tree.blocks[UNKNOWN, block] > 0:
            return False
        settle_parent(tree, block, best_ends(tree, block, seats), seats)
        return True

    @kernel_of(legal)
    def descend(tree: Tree, work: TreeBuffers, states: Any, settings: Array, random: Any) -> Any:
        """One simulation down to its end; the depth of its last node, and who has won.

        The place below which everything is known is found on the way up already: see back_up_ends.
        """
        s = states[0]
        seats = settings[SEATS]
        unknown = (2 << seats) - 1
        node, depth, block = np.int64(0), np.int64(0), np.int64(NONE)
        work.path[0, 0] = 0
        while not is_one(np.int64(tree.nodes[ENDS, node])):
            above = block
            block = np.int64(tree.nodes[BLOCK, node])
            if block == NONE:
                choices = legal(s, work.buffer)
                if choices == 0:
                    settle(tree, node, above, end_of(winner(s), seats), seats)
                    return depth, back_up_ends(tree, work, depth, seats)
                if (depth > 0 and tree.nodes[VISITS, node] < settings[PATIENCE]) or not has_room(tree, choices):
                    return depth, playout(s, work.buffer, choices, random)
                block, random = add_block(tree, node, above, work.buffer, choices, mover(s), unknown, random)
                tree.keys[block] = key_of(work.state_words)
                if look(tree, block, work, states, seats):
                    return depth, back_up_ends(tree, work, depth, seats)
            node, has_draw = select(tree, node, block, settings)
            depth += 1
            work.path[0, depth] = node
            work.path[1, depth] = block
            work.path[2, depth] = has_draw
            play(s, tree.nodes[ACTION, node])
        return depth, winner_in(np.int64(tree.nodes[ENDS, node]), seats)

    @kernel_of(legal)
    def simulate(tree: Tree, work: TreeBuffers, states: Any, settings: Array, seed: Any, simulations: int) -> Int:
        """Run simulations until the root's result is proven; return their number.

        states: (2,), the memory of work.state_words.
        """
        seats = settings[SEATS]
        for done in range(simulations):
            if tree.nodes[ENDS, 0] != (2 << seats) - 1:
                return done
            random = stream(seed, tree.used[SIMULATIONS])
            tree.used[SIMULATIONS] += 1
            copy_state(work.state_words, 0, work.root, 0)
            depth, best = descend(tree, work, states, settings, random)
            back_up(tree, work, depth, best, seats)
        return simulations

    @kernel_of(legal)
    def reroot(tree: Tree, work: TreeBuffers, states: Any, settings: Array, target: Array) -> Any:
        """Makes the target, the words of a record, the root: with all that the tree knows of it, or with nothing."""
        s = states[0]
        block = find_block(tree, key_of(target))
        found = block != NONE
        if found:
            depth = 0
            up = block
            while tree.blocks[ABOVE, up] != NONE:
                work.path[0, depth] = tree.nodes[ACTION, tree.blocks[PARENT, up]]
                up = np.int64(tree.blocks[ABOVE, up])
                depth += 1
            copy_state(work.state_words, 0, work.root, 0)
            for at in range(depth - 1, -1, -1):
                play(s, work.path[0, at])
            for k in range(target.shape[1]):
                found = found and work.state_words[0, k] == target[0, k]
        copy_state(work.root, 0, target, 0)
        if not found:
            new_root(tree, (2 << settings[SEATS]) - 1)
        elif block > 0:
            cut(tree, block)
        return found

    return TreeKernels(simulate, reroot)
