"""Who meets whom: round robin, gauntlet, Swiss and knockout, as pure functions of numbers.

Entrants are numbers from 0, in the order in which they were entered; that order is also their seeding. What a meeting
consists of, and how it is played, is in ``tournament.py``.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

Meeting = tuple[int, ...]

MOST_STEPS = 200_000
"""Attempts at pairing a Swiss round without a meeting that there has been, before one is allowed."""


def round_robin(entrants: int, seats: int = 2) -> list[Meeting]:
    """Everybody meets everybody; with three seats every three meet. In the order of the circle method for two."""
    if entrants < seats:
        raise ValueError(f"a round robin of a game with {seats} seats needs at least {seats} bots, not {entrants}")
    if seats > 2:
        return list(combinations(range(entrants), seats))
    return [meeting for turn in circle(entrants) for meeting in turn]


def circle(entrants: int) -> Iterator[list[Meeting]]:
    """The rounds of a round robin for two: in each of them everybody plays once, but for one who rests if they are odd.

    The first stays, the others move on by one place from round to round.
    """
    places: list[int | None] = [*range(entrants), *([None] if entrants % 2 else [])]
    for _ in range(len(places) - 1):
        half = len(places) // 2
        facing = zip(places[:half], reversed(places[half:]), strict=True)
        yield [(min(a, b), max(a, b)) for a, b in facing if a is not None and b is not None]
        places = [places[0], places[-1], *places[1:-1]]


def gauntlet(entrants: int, challengers: Sequence[int]) -> list[Meeting]:
    """The challengers meet all the others, and not one another."""
    others = [one for one in range(entrants) if one not in challengers]
    if not (challengers and others):
        raise ValueError("a gauntlet needs at least one challenger and one other bot")
    return [(challenger, other) for other in others for challenger in challengers]


class Pairings(NamedTuple):
    """One round of a Swiss tournament."""

    meetings: list[Meeting]
    bye: int | None
    """Who rests, if they are odd; that counts as a meeting won."""


def swiss_rounds(entrants: int) -> int:
    """How many rounds it takes until one can be alone at the top."""
    return max(1, (entrants - 1).bit_length())


def swiss(order: Sequence[int], met: Mapping[Meeting, int], byes: Mapping[int, int]) -> Pairings:
    """The next round: neighbours in the table meet, if they have not met yet.

    order: the entrants, best first. met: how often two have met, by the pair (low, high). byes: how often one rested.
    The lowest of those who rested least rests. If no round without a second meeting is found, second ones are allowed.
    """
    places = list(order)
    bye = None
    if len(places) % 2:
        least = min(byes.get(one, 0) for one in places)
        bye = next(one for one in reversed(places) if byes.get(one, 0) == least)
        places.remove(bye)
    allowed = min((met.get(pair, 0) for pair in combinations(sorted(places), 2)), default=0)
    while True:
        found = _paired(places, met, allowed)
        if found is not None:
            return Pairings(found, bye)
        allowed += 1


def _paired(order: list[int], met: Mapping[Meeting, int], allowed: int) -> list[Meeting] | None:
    """Everybody paired with the nearest below who was met at most so often; None if that is not found.

    Depth first with a stack of its own: at each level the best one who is left, and the candidates not tried yet.
    """
    left = list(order)
    pairs: list[Meeting] = []
    trials: list[Iterator[int]] = []
    steps = 0
    while left or len(trials) > len(pairs):
        if len(trials) == len(pairs):
            trials.append(iter(left[1:]))
        steps += 1
        best = left[0]
        partner = next((one for one in trials[-1] if met.get(_pair(best, one), 0) <= allowed), None)
        if partner is not None:
            pairs.append(_pair(best, partner))
            left = [one for one in left if one not in (best, partner)]
            continue
        trials.pop()
        if not pairs or steps > MOST_STEPS:
            return None
        undone = set(pairs.pop())
        left = [one for one in order if one in undone or one in left]
    return pairs


def _pair(a: int, b: int) -> Meeting:
    return (min(a, b), max(a, b))


def bracket(entrants: int) -> list[tuple[int | None, int | None]]:
    """The first round of a knockout: the first seed is as far from the second as can be; None is a bye.

    The winners of neighbouring meetings meet in the next round.
    """
    if entrants < 2:
        raise ValueError("a knockout needs at least two bots")
    places = [0]
    while len(places) < entrants:
        size = 2 * len(places)
        places = [seed for place in places for seed in (place, size - 1 - place)]
    seeds = [seed if seed < entrants else None for seed in places]
    return list(zip(seeds[::2], seeds[1::2], strict=True))
