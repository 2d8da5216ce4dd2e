"""The parameters of bots' specs. ``registry.py`` says which bot has which."""

import re
from typing import Any, NamedTuple

from ludodrome.validation import listing, show

_WHOLE = re.compile(r"[0-9]{1,18}")
_DECIMAL = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?")


class Param(NamedTuple):
    """One parameter: a number from ``low`` to ``high``, or one of a few words."""

    name: str
    meaning: str
    example: str
    """A valid value, for error sentences."""
    low: float = 0
    high: float = 0
    whole: bool = True
    words: tuple[str, ...] = ()
    plain: bool = False
    """Whether it is given without its name, as in ``level:3``."""

    @property
    def values(self) -> str:
        """The valid values, for sentences and tables."""
        if self.words:
            return listing(self.words, "or")
        return f"{'a whole number' if self.whole else 'a number'} from {self.low:,} to {self.high:,}"

    def read(self, text: str, bot: str) -> Any:
        """Parse a value. Raises ValueError if it is not valid; ``bot`` is named in the sentence."""
        value: Any = None
        if self.words:
            value = text if text in self.words else None
        elif (_WHOLE if self.whole else _DECIMAL).fullmatch(text):
            number = int(text) if self.whole else float(text)
            value = number if self.low <= number <= self.high else None
        if value is not None:
            return value
        if self.plain:
            raise ValueError(f"{bot} is asked for like {bot}:{self.example}, with {self.values}, not with {show(text)}")
        raise ValueError(
            f"the parameter {self.name} of {bot} is {self.values}, as in {bot}:{self.name}={self.example}, not {show(text)}"
        )


DEPTH = Param("depth", "plies searched", "6", 1, 60)
NODES = Param("nodes", "positions visited for one move", "100000", 1, 10**12)
SIMS = Param("sims", "playouts for one move", "5000", 1, 10**9)
TIME = Param("time", "seconds for one move", "0.5", 0.005, 86_400, whole=False)
NOISE = Param("noise", "standard deviation of errors in the value of a move, in hundredths", "30", 0, 10_000)
THREADS = Param("threads", "trees searched in parallel, if only time is limited", "2", 1, 64)
THREE = Param(
    "three",
    "the search for three seats: each for itself, all against it, or playouts",
    "mcts",
    words=("maxn", "paranoid", "mcts"),
)
LEVEL = Param("level", "1 for beginners, 8 for the expert", "3", 1, 8, plain=True)
