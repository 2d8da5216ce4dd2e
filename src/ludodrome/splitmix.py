"""SplitMix64 (Steele, Lea and Flood 2014): a counter and a mixing function, the same numbers on every machine.

The constants stand here once. ``jit.py`` compiles them for kernels, ``mix_array`` mixes arrays, and ``SplitMix64``
is the generator for Python.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")

WORD = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
"""The step of the counter."""
FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
SHIFTS = (30, 27, 31)


def mix(x: int) -> int:
    """Return a word of 64 bits, each of which depends on every bit of x."""
    x = (x ^ x >> SHIFTS[0]) * FACTORS[0] & WORD
    x = (x ^ x >> SHIFTS[1]) * FACTORS[1] & WORD
    return x ^ x >> SHIFTS[2]


def mix_array(words: Any) -> Any:
    """Mix each word of an array of uint64."""
    kind = words.dtype.type
    words = (words ^ (words >> kind(SHIFTS[0]))) * kind(FACTORS[0])
    words = (words ^ (words >> kind(SHIFTS[1]))) * kind(FACTORS[1])
    return words ^ (words >> kind(SHIFTS[2]))


class SplitMix64:
    """A random generator that gives the same numbers on every machine."""

    def __init__(self, seed: int) -> None:
        self._counter = mix(seed & WORD)

    def word(self) -> int:
        """Draw 64 random bits."""
        self._counter = (self._counter + GOLDEN) & WORD
        return mix(self._counter)

    def below(self, n: int) -> int:
        """Draw a whole number from 0 to n - 1."""
        return self.word() * n >> 64

    def choice(self, items: Sequence[Item]) -> Item:
        """Draw one of the items, each equally likely."""
        return items[self.below(len(items))]

    def fraction(self) -> float:
        """Draw a number from 0 up to, but not including, 1."""
        return (self.word() >> 11) * 2.0**-53
