"""The tree of a Monte-Carlo search, in arrays that are allocated once.

A node is a position that a move leads to. The children of an expanded node are
adjacent in a *block*, in random order. Positions are not stored: a simulation plays the
moves again from the root. What the numbers mean to a search is in ``mcts.py``.
"""

from typing import Any, NamedTuple

import numpy as np

from ludodrome.jit import GOLDEN, Array, Int, below, kernel_of, mix

NONE = -1
"""No block, no parent."""

# The rows of Tree.nodes
ACTION = 0
"""The move that leads here."""
VISITS = 1
TOTAL = 2
"""The returns of the seat that chose this node, in units of 1 / (seats - 1)."""
MEAN = 3
"""Total by visits, a number from -SCALE to SCALE; or what is certain, or LOST: see ``mcts.py``."""
SPREAD = 4
"""SCALE / sqrt(visits)."""
ENDS = 5
"""The set of ends that best play leaves: bit w, seat w wins; bit ``seats``, a draw; all of them while unknown."""
BLOCK = 6
"""The block of its children, or NONE."""

# The rows of Tree.blocks
FIRST = 0
"""Its first node."""
COUNT = 1
"""How many children there are."""
OPENED = 2
"""How many of them, from the first, have been considered; the others have not been visited."""
UNKNOWN = 3
"""How many of them have ends that are unknown."""
SEAT = 4
"""Who chooses."""
PARENT = 5
"""The node whose children these are."""
ABOVE = 6
"""The block of that node, or NONE."""

# What Tree.used counts
NODES, BLOCKS, SIMULATIONS = range(3)


class Tree(NamedTuple):
    """A search tree. Few arrays, since Numba compiles long for many. Node 0 is the root."""

    nodes: Array
    """(7, nodes) int32"""
    blocks: Array
    """(7, blocks) int32"""
    keys: Array
    """(blocks,) uint64: a hash of the position."""
    used: Array
    """(3,) int64: nodes and blocks in use, simulations in all."""


def new_tree(nodes: int, blocks: int) -> Tree:
    """Make an empty tree with the given capacity."""
    return Tree(
        np.zeros((BLOCK + 1, nodes), np.int32),
        np.zeros((ABOVE + 1, blocks), np.int32),
        np.zeros(blocks, np.uint64),
        np.zeros(3, np.int64),
    )


inner = kernel_of(new_tree)
"""No function here is called from Python: that saves a third of the time of compilation."""


@inner
def new_node(tree: Tree, node: Int, action: Int, unknown: Int) -> None:
    """A node that has not been visited; ``unknown`` is the set of all ends."""
    tree.nodes[ACTION, node] = action
    tree.nodes[VISITS, node] = 0
    tree.nodes[TOTAL, node] = 0
    tree.nodes[ENDS, node] = unknown
    tree.nodes[BLOCK, node] = NONE


@inner
def new_root(tree: Tree, unknown: Int) -> None:
    """A root and nothing else; simulations are counted on."""
    tree.used[NODES] = 1
    tree.used[BLOCKS] = 0
    new_node(tree, 0, NONE, unknown)


@inner
def has_room(tree: Tree, children: Int) -> Any:
    """Whether one more block fits."""
    return tree.used[NODES] + children <= tree.nodes.shape[1] and tree.used[BLOCKS] < tree.blocks.shape[1]


@inner
def add_block(
    tree: Tree, node: Int, above: Int, buffer: Array, count: Int, seat: Int, unknown: Int, random: Any
) -> Any:
    """Give a node its children, the moves of the buffer in random order; the new block and the random state."""
    block = tree.used[BLOCKS]
    first = tree.used[NODES]
    tree.used[BLOCKS] = block + 1
    tree.used[NODES] = first + count
    tree.nodes[BLOCK, node] = block
    tree.blocks[FIRST, block] = first
    tree.blocks[COUNT, block] = count
    tree.blocks[OPENED, block] = 0
    tree.blocks[UNKNOWN, block] = count
    tree.blocks[SEAT, block] = seat
    tree.blocks[PARENT, block] = node
    tree.blocks[ABOVE, block] = above
    for k in range(count):
        random += GOLDEN
        other = k + below(mix(random), count - k)
        action = buffer[other]
        buffer[other] = buffer[k]
        new_node(tree, first + k, action, unknown)
    return block, random


@inner
def move_node(tree: Tree, to: Int, source: Int) -> None:
    """Copy a node, all but its children."""
    for row in range(BLOCK):
        tree.nodes[row, to] = tree.nodes[row, source]
    tree.nodes[BLOCK, to] = NONE


@inner
def cut(tree: Tree, root: Int) -> None:
    """Keep what is below the parent of one block: that node becomes the root, and all is moved to the front.

    Blocks and nodes are in the order in which they were made, parents before children: everything
    moves towards the front, to a place that is already free.
    """
    blocks = tree.blocks
    moved = np.full(tree.used[BLOCKS], NONE, np.int64)  # old block -> new block
    before = np.empty(tree.used[BLOCKS], np.int64)  # new block -> what was its first node
    move_node(tree, 0, np.int64(blocks[PARENT, root]))
    blocks[PARENT, root] = 0
    blocks[ABOVE, root] = NONE
    kept: Int = 0
    nodes: Int = 1
    for old in range(root, tree.used[BLOCKS]):
        if old != root:
            above = np.int64(blocks[ABOVE, old])
            if moved[above] == NONE:
                continue
            above = moved[above]
            blocks[ABOVE, old] = above
            blocks[PARENT, old] += np.int64(blocks[FIRST, above]) - before[above]
        first = np.int64(blocks[FIRST, old])
        for row in range(ABOVE + 1):
            blocks[row, kept] = blocks[row, old]
        tree.keys[kept] = tree.keys[old]
        blocks[FIRST, kept] = nodes
        tree.nodes[BLOCK, blocks[PARENT, kept]] = kept
        for k in range(np.int64(blocks[COUNT, kept])):
            move_node(tree, nodes + k, first + k)
        moved[old] = kept
        before[kept] = first
        nodes += np.int64(blocks[COUNT, kept])
        kept += 1
    tree.used[NODES] = nodes
    tree.used[BLOCKS] = kept


@inner
def key_of(state_words: Array) -> Any:
    """A hash of the first record of an array of words."""
    key = GOLDEN
    for k in range(state_words.shape[1]):
        key = mix(key ^ state_words[0, k])
    return key


@inner
def find_block(tree: Tree, key: Any) -> Int:
    """The block with this key, or NONE; of several the one above which fewest ends are left, then the most visited."""
    best: Int = NONE
    fewest: Int = 0
    most: Int = 0
    for block in range(tree.used[BLOCKS]):
        if tree.keys[block] == key:
            node = tree.blocks[PARENT, block]
            ends, visits = np.int64(tree.nodes[ENDS, node]), np.int64(tree.nodes[VISITS, node])
            if best == NONE or ends < fewest or (ends == fewest and visits > most):
                best, fewest, most = block, ends, visits
    return best
