"""What a check of the installation comes to."""

from typing import Any, NamedTuple

OK, WARNING, PROBLEM = "ok", "warning", "problem"
"""It works; something that not everybody needs does not; something that everybody needs does not."""


class Finding(NamedTuple):
    """One line of the examination."""

    part: str
    grade: str
    sentence: str
    advice: str = ""
    """What to do; empty where nothing is to be done."""

    def to_json(self) -> dict[str, Any]:
        """A plain value."""
        return self._asdict()
