"""What a page says is printed, compared with what is printed.

A line of dots elides lines, dots within a line elide a part of it. Spaces at the end of lines do not count.
"""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

DOTS = "..."
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


@dataclass(frozen=True)
class Tolerance:
    """How far numbers may be from those on the page, as a share of the greater one, and where."""

    share: float = 0.0
    words: int = 0
    """In how many words at the end of a line; 0: everywhere."""

    @classmethod
    def of(cls, mark: str | None) -> "Tolerance":
        """``50%`` or ``50% in the last 2 words``."""
        share, _, words = (mark or "0%").partition("% in the last ")
        return cls(float(share.rstrip("%")) / 100, int(words.split()[0]) if words else 0)


EXACT = Tolerance()


def difference(said: str, printed: str, tolerance: Tolerance = EXACT) -> str:
    """How what was printed differs from what the page says; empty if it does not."""
    wanted, real = (_lines(text) for text in (said, printed))
    if _agree(wanted, real, tolerance):
        return ""
    return "\n".join(difflib.unified_diff(wanted, real, "the page says", "printed", lineterm="", n=1000))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").rstrip().splitlines()]


def _agree(wanted: Sequence[str], real: Sequence[str], tolerance: Tolerance) -> bool:
    """Whether lines fit, without those that dots replace."""
    if not wanted:
        return not real
    if wanted[0].strip() == DOTS:
        return any(_agree(wanted[1:], real[start:], tolerance) for start in range(len(real) + 1))
    return bool(real) and line_agrees(wanted[0], real[0], tolerance) and _agree(wanted[1:], real[1:], tolerance)


def line_agrees(wanted: str, real: str, tolerance: Tolerance = EXACT) -> bool:
    """Whether a line fits."""
    if wanted == real:
        return True
    if DOTS in wanted and re.fullmatch(".*".join(map(re.escape, wanted.split(DOTS))), real):
        return True
    if not tolerance.share:
        return False
    ours, theirs = wanted.split(), real.split()
    exact = len(ours) - tolerance.words if tolerance.words else 0
    return len(ours) == len(theirs) and all(
        one == other or (number >= exact and _near(one, other, tolerance.share))
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True))
    )


def _near(one: str, other: str, share: float) -> bool:
    """Whether two words are the same but for numbers that are near each other."""
    if NUMBER.sub("0", one) != NUMBER.sub("0", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    figures = [(float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in pairs]
    return all(abs(a - b) <= share * max(a, b) for a, b in figures)
