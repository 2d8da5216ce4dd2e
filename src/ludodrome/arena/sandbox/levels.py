"""What a level is: its name, what it offers to bots, and why no better one is in force. ``probe.py`` finds it."""

from dataclasses import dataclass, field
from typing import Any

NONE = "none"
BUBBLEWRAP = "bubblewrap"
LANDLOCK = "landlock"
NAMES = (BUBBLEWRAP, LANDLOCK)
"""From the best level to the least that will do."""


class NoSandbox(ValueError):
    """A bot cannot be run, because no level holds; the sentence says why."""


@dataclass(frozen=True, slots=True)
class SandboxLevel:
    """What bots that strangers wrote are run under here."""

    name: str
    """One of ``NAMES``, or ``NONE``."""
    why_not_better: tuple[str, ...] = ()
    """Why each better level does not hold, in a sentence each."""
    interpreter: str = ""
    python: str = ""
    """Its version."""
    numpy: str | None = None
    """NumPy's version, where bots have it."""
    tried: tuple[dict[str, str], ...] = field(default=(), repr=False)
    """What was tried: ``name``, ``verdict`` (``held``), ``words``."""

    @property
    def holds(self) -> bool:
        """Whether bots can be run at all."""
        return self.name != NONE

    @property
    def sentence(self) -> str:
        """For pages: what a bot gets, or why there is nothing."""
        if not self.holds:
            return f"Uploaded bots are not run here, because no sandbox holds: {'; '.join(self.why_not_better)}."
        numpy = f"with NumPy {self.numpy}" if self.numpy else "without NumPy"
        return f"Uploaded bots run under {self.name}, with Python {self.python} and its standard library, {numpy}."

    def to_json(self) -> dict[str, Any]:
        """A plain value; ``from_json`` reads it back."""
        return {
            "level": self.name,
            "why_not_better": list(self.why_not_better),
            "interpreter": self.interpreter,
            "python": self.python,
            "numpy": self.numpy,
            "tried": list(self.tried),
        }

    @staticmethod
    def from_json(value: dict[str, Any]) -> "SandboxLevel":
        """What ``to_json`` wrote."""
        return SandboxLevel(
            value["level"],
            tuple(value["why_not_better"]),
            value["interpreter"],
            value["python"],
            value["numpy"],
            tuple(value["tried"]),
        )
