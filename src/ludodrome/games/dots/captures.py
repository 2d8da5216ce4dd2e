"""Which boxes to take: the captures that are always right, and the one choice that is left.

Write V(P) for what position P is worth to the seat to move: its further boxes minus the other's, under perfect play.
A box with one undrawn side is *open*; P - e is P with edge e drawn. Drawing an edge that closes boxes gains them
and keeps the move, so V(P) >= 1 + V(P - e) for every e that closes one box. ``settle`` takes, one after another,
boxes for which equality holds, until none is left or exactly one double-deal:

* A. The open box b's edge e leads to the ground, to another open box, or to a box c of degree three or more. Against
  another move m that closes nothing: -V(P - m) <= -(1 + V(P - m - e)) <= -1 + V(P - e), the first because the other
  side may take b. Against m that closes k boxes: e is still such an edge in P - m, so k + V(P - m) =
  k + 1 + V(P - e - m) <= 1 + V(P - e) by induction; but if c has degree three and m takes another open box
  beside c, then P - m and P - e are alike.
* B. e leads to c of degree two, c's other edge f to d of degree two, d's other edge g not to an open box. Moves that
  close nothing as in A, except m = f, which gives two boxes away: -V(P - f) = -2 - V(P - f - e); but in P - e
  the same seat can draw g, so 1 + V(P - e) >= -1 - V(P - e - f - g) >= -2 - V(P - e - f), since there d is open.
  Moves that close boxes leave B or A true of e, or are its mirror image in an open chain of five.
* C. b and two more boxes are a component of three with two open ends: whoever starts takes all three.
* D. What remains are double-deals. Of two: an open box b, then c of degree two, then the ground or a box of degree
  three or more; drawing c's other edge gives both away and passes the move. Of four: a component of four in a row with
  two open ends; drawing the middle gives all away. With k boxes and the rest R the choice is between k + V(R) and
  -(k + V(R)), so such a position is worth |k + V(R)| >= 0. If there are several, one may be taken whole, one of
  four rather than one of two: giving that one away is worth -k - V(Q), taking it k + V(Q), and V(Q) >= 0
  because Q still has a double-deal; and any capture in another leads, that one and this being settled, to
  the same rest with no better choice.

The tests compare all this with retrograde analysis on every position of the boards up to 3 x 3.
"""

from typing import Any

from ludodrome.games.dots.lattice import ONE, STRIDE, ZERO, degrees, edges_of
from ludodrome.jit import Array, kernel, popcount


@kernel
def neighbours(box: Any, h: Any, v: Any, sizes: Array) -> Any:
    """The boxes on the other side of the undrawn edges of a set of boxes, bits outside of the board among them."""
    stride = sizes[STRIDE]
    return (box & h) >> stride | (box << stride & h) | (box & v) >> ONE | (box << ONE & v)


@kernel
def double_deal(box: Any, one: Any, two: Any, h: Any, v: Any, sizes: Array) -> Any:
    """The boxes of the double-deal that begins with this open box, or the empty set if it should just be taken."""
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
    """The open box to take next; or, if nothing but one double-deal is open, the boxes of that; else empty sets."""
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
    """Take what must be taken: the boxes gained, the boxes of the one double-deal left (0, 2 or 4), and the rest.

    The rest is without open boxes, and the double-deal's boxes are taken out of it. The position is
    worth ``gained + V(rest)``, or with a double-deal ``gained + |dealt + V(rest)|``.
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
