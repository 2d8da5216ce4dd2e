"""The solver's board: undrawn edges in two machine words, canonical keys, and captures that are always right.

Box (r, c) is bit ``r * stride + c`` with ``stride = cols + 1``; H(r,c) and V(r,c) use the same bit in the words
``h`` and ``v``. So the top of a box is its own bit of ``h``, its bottom the bit one stride further, its left side
its own bit of ``v``, its right side the next bit; shifting a set of boxes gives its neighbours. ``rules.py`` has
the rules and edge numbers.

Only the graph matters: boxes, edges between them, and edges to the *ground*, the outside. Ground edges of one
box, such as a corner, are interchangeable (*twins*), and the board has symmetries. The canonical key uses both.
"""

from itertools import pairwise, permutations
from typing import Any, NamedTuple

import numpy as np

from ludodrome.games.dots.rules import board_edges, box_sides
from ludodrome.jit import Array, Int, inline_kernel, kernel, popcount

ZERO, ONE, BYTE = np.uint64(0), np.uint64(1), np.uint64(255)
WORD_BYTES = 8
_8 = np.uint64(8)

STRIDE, BOXES = range(2)


class BoardTables(NamedTuple):
    """Lookup tables of one board size."""

    sizes: Array
    """uint64 (2,): STRIDE and BOXES, the set of all boxes."""
    twins: Array
    """uint64 (pairs, 4): two ground edges of one box, each as a mask of h and a mask of v."""
    image_masks: Array
    """uint64 (16, 256, symmetries): (byte of h or v, its value, symmetry) -> set of edge numbers of the image."""
    edge_bits: Array
    """int64 (edges,): edge number -> bit index in h, or 64 + bit index in v."""


def make_board_tables(rows: int, cols: int) -> BoardTables:
    """Build the tables of a board of ``rows`` x ``cols`` boxes."""
    stride = cols + 1
    edges = board_edges(rows, cols)
    edge_bits = np.array([(64 if kind == "V" else 0) + r * stride + c for kind, r, c in edges], np.int64)
    boxes = sum(1 << (r * stride + c) for r in range(rows) for c in range(cols))
    sizes = np.array([stride, boxes], np.uint64)
    number = {edge: e for e, edge in enumerate(edges)}
    ground = _ground_edges(rows, cols, number)
    twins = [
        [_bit(edge_bits[a], 0), _bit(edge_bits[a], 64), _bit(edge_bits[b], 0), _bit(edge_bits[b], 64)]
        for own in ground.values()
        for end in range(len(own) - 1, 0, -1)
        for a, b in pairwise(own[: end + 1])  # bubble sort: three or four are sorted too
    ]
    image_masks = np.zeros((2 * WORD_BYTES, 256, 8), np.uint64)
    images = _symmetries(rows, cols, number, ground)
    for which, image in enumerate(images if rows == cols else images + images):
        for edge, place in enumerate(edge_bits.tolist()):
            values = np.arange(256) >> (place % 8) & 1 == 1
            image_masks[place // 8, values, which] |= ONE << np.uint64(image[edge])
    return BoardTables(sizes, np.array(twins, np.uint64).reshape(-1, 4), image_masks, edge_bits)


def _bit(place: int, base: int) -> int:
    return 1 << (place - base) if base <= place < base + 64 else 0


def _ground_edges(rows: int, cols: int, number: dict[Any, int]) -> dict[tuple[int, int], list[int]]:
    """Map each box to its ground edges, ascending."""
    sides = {(r, c): [number[side] for side in box_sides(r, c)] for r in range(rows) for c in range(cols)}
    count = np.bincount([side for own in sides.values() for side in own])
    return {box: sorted(side for side in own if count[side] == 1) for box, own in sides.items()}


def _symmetries(rows: int, cols: int, number: dict[Any, int], ground: dict[Any, list[int]]) -> list[list[int]]:
    """For each symmetry of the board, the image of every edge.

    The k-th ground edge of a box maps to the k-th ground edge of the box's image, so that symmetries keep
    twins sorted.
    """
    images = []
    for axes in permutations((0, 1)) if rows == cols else [(0, 1)]:
        for flips in ((False, False), (False, True), (True, False), (True, True)):

            def moved(r: int, c: int, axes: Any = axes, flips: Any = flips) -> tuple[int, int]:
                pair = ((r, c)[axes[0]], (r, c)[axes[1]])
                return (rows - 1 - pair[0] if flips[0] else pair[0], cols - 1 - pair[1] if flips[1] else pair[1])

            image = [0] * len(number)
            for box, own in ground.items():
                for edge, other in zip(own, ground[moved(*box)], strict=True):
                    image[edge] = other
                for step in ((0, 1), (1, 0)):
                    beside = (box[0] + step[0], box[1] + step[1])
                    if beside in ground:
                        image[_between(box, beside, number)] = _between(moved(*box), moved(*beside), number)
            images.append(image)
    return images


def _between(box: tuple[int, int], other: tuple[int, int], number: dict[Any, int]) -> int:
    """The edge between two neighbouring boxes."""
    (shared,) = {*box_sides(*box)} & {*box_sides(*other)}
    return number[shared]


# Kernels. h and v are the two words of undrawn edges.


@kernel
def edge_words(undrawn: Any, edge_bits: Array) -> tuple[Any, Any]:
    """Convert a set of edge numbers to the two words."""
    h, v = ZERO, ZERO
    for edge in range(len(edge_bits)):
        if undrawn >> np.uint64(edge) & ONE:
            if edge_bits[edge] < 64:
                h |= ONE << np.uint64(edge_bits[edge])
            else:
                v |= ONE << np.uint64(edge_bits[edge] - 64)
    return h, v


@inline_kernel
def degrees(h: Any, v: Any, sizes: Array) -> tuple[Any, Any, Any]:
    """The boxes with one undrawn side, with two, and with three or four: counts all boxes at once, in binary."""
    boxes = sizes[BOXES]
    top, bottom, left, right = h & boxes, h >> sizes[STRIDE] & boxes, v & boxes, v >> ONE & boxes
    flat, upright = top ^ bottom, left ^ right
    both_flat, both_upright = top & bottom, left & right
    odd = flat ^ upright
    two_or_three = both_flat ^ both_upright ^ (flat & upright)
    return odd & ~two_or_three, two_or_three & ~odd, (odd & two_or_three) | (both_flat & both_upright)


@inline_kernel
def edges_of(boxes: Any, h: Any, v: Any, sizes: Array) -> tuple[Any, Any]:
    """The undrawn edges of a set of boxes."""
    return h & (boxes | boxes << sizes[STRIDE]), v & (boxes | boxes << ONE)


@kernel
def flood(seed: Any, within: Any, h: Any, v: Any, sizes: Array) -> Any:
    """Flood fill: the seed and all boxes reachable from it through undrawn edges and boxes of ``within``."""
    stride = sizes[STRIDE]
    reached = seed
    while True:
        up, down = (reached & h) >> stride, reached << stride & h
        left, right = (reached & v) >> ONE, reached << ONE & v
        wider = reached | ((up | down | left | right) & within)
        if wider == reached:
            return reached
        reached = wider


@kernel
def sort_twins(h: Any, v: Any, twins: Array) -> tuple[Any, Any]:
    """Move each box's undrawn ground edges to the first of its ground edges: the same position."""
    for i in range(len(twins)):
        first_h, first_v, second_h, second_v = twins[i, 0], twins[i, 1], twins[i, 2], twins[i, 3]
        if (h & second_h) | (v & second_v) and not (h & first_h) | (v & first_v):
            h ^= first_h | second_h
            v ^= first_v | second_v
    return h, v


@inline_kernel
def images(h: Any, v: Any, image_masks: Array) -> tuple[Any, Any, Any, Any, Any, Any, Any, Any]:
    """The position's eight images under the symmetries, as sets of edge numbers."""
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = ZERO
    rest, byte = h, ZERO
    while rest | v:
        if not rest:
            rest, v, byte = v, ZERO, _8
        value = rest & BYTE
        a0 |= image_masks[byte, value, 0]
        a1 |= image_masks[byte, value, 1]
        a2 |= image_masks[byte, value, 2]
        a3 |= image_masks[byte, value, 3]
        a4 |= image_masks[byte, value, 4]
        a5 |= image_masks[byte, value, 5]
        a6 |= image_masks[byte, value, 6]
        a7 |= image_masks[byte, value, 7]
        rest >>= _8
        byte += ONE
    return a0, a1, a2, a3, a4, a5, a6, a7


@inline_kernel
def canonical_key(of: tuple[Any, Any, Any, Any, Any, Any, Any, Any]) -> Any:
    """The smallest of a position's images: equal positions share it if their twins are sorted."""
    return min(min(min(of[0], of[1]), min(of[2], of[3])), min(min(of[4], of[5]), min(of[6], of[7])))


@inline_kernel
def canonical_key_without(of: tuple[Any, Any, Any, Any, Any, Any, Any, Any], edge: int, image_masks: Array) -> Any:
    """The canonical key after drawing one more edge, given as in ``BoardTables.edge_bits``."""
    byte, value = edge >> 3, 1 << (edge & 7)
    return canonical_key(
        (
            of[0] & ~image_masks[byte, value, 0],
            of[1] & ~image_masks[byte, value, 1],
            of[2] & ~image_masks[byte, value, 2],
            of[3] & ~image_masks[byte, value, 3],
            of[4] & ~image_masks[byte, value, 4],
            of[5] & ~image_masks[byte, value, 5],
            of[6] & ~image_masks[byte, value, 6],
            of[7] & ~image_masks[byte, value, 7],
        )
    )


@inline_kernel
def edge_count(h: Any, v: Any) -> Int:
    """The number of undrawn edges."""
    return popcount(h) + popcount(v)


# Captures that are always right, and the one choice that is left
#
# V(P) is the value of position P to the seat to move: its further boxes minus the other's, under perfect play. A box
# with one undrawn side is *open*; P - e is P with edge e drawn. Drawing an edge that closes boxes gains them and keeps
# the move, so V(P) >= 1 + V(P - e) for every e that closes one box. ``resolve_captures`` takes, one after another,
# boxes for which equality holds, until none is left or exactly one double-deal:
#
# * A. The open box b's edge e leads to the ground, to another open box, or to a box c of degree three or more. Against
#   another move m that closes nothing: -V(P - m) <= -(1 + V(P - m - e)) <= -1 + V(P - e), the first because the other
#   side may take b. Against m that closes k boxes: e is still such an edge in P - m, so k + V(P - m) =
#   k + 1 + V(P - e - m) <= 1 + V(P - e) by induction; but if c has degree three and m takes another open box
#   next to c, then P - m and P - e are isomorphic.
# * B. e leads to c of degree two, c's other edge f to d of degree two, d's other edge g not to an open box. Moves that
#   close nothing as in A, except m = f, which gives two boxes away: -V(P - f) = -2 - V(P - f - e); but in P - e
#   the same seat can draw g, so 1 + V(P - e) >= -1 - V(P - e - f - g) >= -2 - V(P - e - f), since there d is open.
#   Moves that close boxes leave B or A true of e, or are its mirror image in an open chain of five.
# * C. b and two more boxes are a component of three with two open ends: the seat to move takes all three.
# * D. The rest are double-deals. Of two: an open box b, then c of degree two, then the ground or a box of degree
#   three or more; drawing c's other edge gives both away and passes the move. Of four: a component of four in a row
#   with two open ends; drawing the middle gives all away. With k boxes and the rest R the choice is between k + V(R)
#   and -(k + V(R)), so such a position is worth |k + V(R)| >= 0. If there are several, one may be taken whole, one of
#   four rather than one of two: giving that one away is worth -k - V(Q), taking it k + V(Q), and V(Q) >= 0
#   because Q still has a double-deal; and a capture in another one leads, once both are resolved, to the same rest
#   with no better choice.
#
# The tests compare all this with retrograde analysis on every position of the boards up to 3 x 3.


@kernel
def neighbours(box: Any, h: Any, v: Any, sizes: Array) -> Any:
    """The boxes across the undrawn edges of a set of boxes; may include bits outside the board."""
    stride = sizes[STRIDE]
    return (box & h) >> stride | (box << stride & h) | (box & v) >> ONE | (box << ONE & v)


@kernel
def double_deal(box: Any, one: Any, two: Any, h: Any, v: Any, sizes: Array) -> Any:
    """The boxes of the double-deal that starts at this open box; empty if the box should just be taken."""
    second = neighbours(box, h, v, sizes) & two
    if not second:
        return ZERO  # A
    third = neighbours(second, h, v, sizes) & ~box
    if third & one:
        return ZERO  # C
    if not third & two:
        return box | second
    fourth = neighbours(third, h, v, sizes) & ~second & one
    if fourth:
        return box | second | third | fourth
    return ZERO  # B


@kernel
def next_capture(h: Any, v: Any, sizes: Array) -> tuple[Any, Any]:
    """(box, deal): the open box to take next, or the boxes of the only double-deal; two empty sets if none is open."""
    one, two, _ = degrees(h, v, sizes)
    rest, box, deal = one, ZERO, ZERO
    several = False
    while rest:
        opening = rest & (~rest + ONE)
        found = double_deal(opening, one, two, h, v, sizes)
        if not found:
            return opening, ZERO
        several = several or deal != ZERO
        if popcount(found) > popcount(deal):
            box, deal = opening, found
        rest &= ~found
    return (box, ZERO) if several else (ZERO, deal)


@kernel
def resolve_captures(h: Any, v: Any, sizes: Array) -> tuple[int, int, Any, Any]:
    """Make all captures that are always right: (gained, dealt, h, v).

    ``dealt`` is the number of boxes of the one double-deal left (0, 2 or 4); h and v are the rest, without open
    boxes and without the double-deal. The value is ``gained + V(rest)``, or with a double-deal
    ``gained + |dealt + V(rest)|``.
    """
    gained = 0
    while True:
        box, deal = next_capture(h, v, sizes)
        own_h, own_v = edges_of(box | deal, h, v, sizes)
        if box:
            one, _, _ = degrees(h, v, sizes)
            gained += 2 if neighbours(box, h, v, sizes) & one else 1
        h &= ~own_h
        v &= ~own_v
        if not box:
            return gained, popcount(deal), h, v
