"""Somebody at a puzzle on the page: the attempt, and whether the solution was shown."""

import threading
from dataclasses import dataclass, field

from ludodrome.puzzlebook.attempts import Attempt


@dataclass
class Sitting:
    """One person at one puzzle."""

    attempt: Attempt
    helped: bool = False
    """The solution was shown: the puzzle does not count as solved."""
    lock: threading.Lock = field(default_factory=threading.Lock)
