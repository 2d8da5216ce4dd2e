"""Knobs: what can be set in a bot's spec. Each is described here once; ``catalogue.py`` says which bot has which."""

import math
import re
from typing import Any, NamedTuple

from ludodrome.reading import show

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,12}(?:\.[0-9]{0,12})?|\.[0-9]{1,12})")


class Knob(NamedTuple):
    """One knob: a number from ``low`` to ``high``, or one of a few words. A default of None: not limited."""

    name: str
    default: int | float | str | None
    meaning: str
    low: float = 0
    high: float = 0
    whole: bool = True
    words: tuple[str, ...] = ()
    plain: bool = False
    """Whether it is given without its name, as in ``level:3``."""

    @property
    def values(self) -> str:
        """What may be given, for sentences and tables."""
        if self.words:
            return " or ".join(self.words)
        return f"{'a whole number' if self.whole else 'a number'} from {self.low:,} to {self.high:,}"

    def read(self, text: str, bot: str) -> Any:
        """The value of a text, or a ValueError with a sentence."""
        if self.words:
            if text in self.words:
                return text
        elif self.whole:
            if WHOLE.fullmatch(text) and self.low <= int(text) <= self.high:
                return int(text)
        elif DECIMAL.fullmatch(text) and math.isfinite(float(text)) and self.low <= float(text) <= self.high:
            return float(text)
        example = f"like {bot}:{self.low:,}" if self.plain else f"like {bot}:{self.name}={self.example}"
        raise ValueError(f"the knob {self.name} of {bot} is {self.values}, {example}, not {show(text)}")

    @property
    def example(self) -> str:
        """A value that is right."""
        return self.words[0] if self.words else f"{self.low:g}" if self.default is None else f"{self.default:g}"


DEPTH = Knob("depth", None, "plies ahead", 1, 60)
NODES = Knob("nodes", None, "positions visited for one move", 1, 10**12)
SIMS = Knob("sims", None, "playouts for one move", 1, 10**9)
TIME = Knob("time", None, "seconds for one move", 0.005, 86_400, whole=False)
NOISE = Knob("noise", 0, "hundredths of a good thing by which the value of each move is misjudged", 0, 10_000)
LEVEL = Knob("level", None, "1 for beginners, 8 for everything there is", 1, 8, plain=True)
SEATS_OF_THREE = Knob(
    "three", "paranoid", "how it thinks where three play: all against it, or by playouts", words=("paranoid", "mcts")
)
