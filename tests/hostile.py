"""Malformed values and texts, made by damaging good ones. Deterministic for a given random.Random."""

import copy
import pickle
import random
from typing import Any

HUGE = 10**5000


class Strange:
    """Something that is no JSON value at all."""


def deep(depth: int) -> Any:
    """A list in a list in a list."""
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


HOSTILE_VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    3,
    4,
    5,
    24,
    25,
    49,
    2**31,
    2**63,
    2**64,
    -(2**63) - 1,
    HUGE,
    0.0,
    1.0,
    -0.5,
    float("nan"),
    float("inf"),
    1e308,
    "",
    "0",
    "A1",
    "a1",
    "place",
    "play",
    "piece",
    "trap",
    "final",
    "\x00",
    "\ud800",
    "é\u202e",
    "9" * 5000,
    "x" * 100_000,
    [],
    {},
    [[]],
    [None],
    [0, 0],
    [1, 2],
    {"": 0},
    {"row": 0, "col": 0},
    {1: 2},
    (0, 1),
    b"\xff",
    {1, 2},
    1j,
    Strange(),
    Strange,
    range(3),
]


def hostile_value(rng: random.Random) -> Any:
    return deep(rng.choice([50, 5_000])) if rng.random() < 0.02 else copy.copy(rng.choice(HOSTILE_VALUES))


def damaged(value: Any, rng: random.Random) -> Any:
    """The value with one to three things broken somewhere inside it."""
    root = [pickle.loads(pickle.dumps(value))]  # many times faster than deepcopy
    for _ in range(rng.randint(1, 3)):
        spots = list(places(root, ()))
        if not spots:
            break
        container, key = rng.choice(spots)
        damage(container, key, rng)
    return root[0]


def places(container: Any, path: tuple[Any, ...]) -> Any:
    """All (container, key) pairs below a list or an object."""
    if len(path) > 8:
        return
    keys = range(len(container)) if type(container) is list else list(container)
    for key in keys:
        yield container, key
        if type(container[key]) in (list, dict):
            yield from places(container[key], (*path, key))


def damage(container: Any, key: Any, rng: random.Random) -> None:
    """One thing broken: a value replaced, nudged, retyped, doubled, dropped, or a key added."""
    old = container[key]
    how = rng.randrange(7)
    if how == 0 and type(old) is int:
        container[key] = old + rng.choice([-1, 1, 2, 100])
    elif how == 1 and type(old) is int:
        container[key] = rng.choice([float(old) if abs(old) < 2**60 else 0.5, str(bool(old)), bool(old), [old]])
    elif how == 2 and type(old) is str:
        container[key] = damaged_text(old, rng)
    elif how == 3 and type(container) is list:
        container.insert(key, old)
    elif how == 4 and not (type(container) is list and len(container) == 1 and key == 0):
        del container[key]
    elif how == 5 and type(container) is dict:
        container[rng.choice(["extra", "Ply", "grid", "", 7])] = hostile_value(rng)
    else:
        container[key] = hostile_value(rng)


def damaged_text(text: str, rng: random.Random) -> str:
    """The text with characters lost, doubled, swapped, replaced, or drowned."""
    letters = list(text)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(letters) + 1)
        how = rng.randrange(6)
        if how == 0 and at < len(letters):
            del letters[at]
        elif how == 1 and at < len(letters):
            letters[at] = rng.choice("0123459AEae/-|;:,.xX \n\t\x00\ud800é٣²")
        elif how == 2:
            letters.insert(at, rng.choice("0123456789 []{}(),:;|-↑^fudlr\"'"))
        elif how == 3:
            letters[at:at] = letters[: rng.randrange(20)]
        elif how == 4:
            letters = letters[:at]
        elif rng.random() < 0.05:
            letters[at:at] = [rng.choice("09 [({-,")] * rng.choice([100, 50_000])
    return "".join(letters)
