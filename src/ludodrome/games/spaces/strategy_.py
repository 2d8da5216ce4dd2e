"""Perfect play where both choose blind: mixtures of boards that no board beats, for the sizes that were solved.

``equilibrium.py`` finds and proves them; docs/results/perfect-spaces.md tells the story. They are short:
under ``written``, and under ``live`` from size 3 on, a straight run, in a column drawn by lot.
"""

from dataclasses import dataclass
from typing import Any

from ludodrome.games.spaces.boards import FINISH, UP, checked_size, format_board, is_live
from ludodrome.games.spaces.notation import parse_code

SOLVED = {"live": 17, "written": 100}
"""Up to these sizes it is proven that nothing beats the mixture; beyond, nothing was found that does."""

_SMALLEST_LIVE = ("2:0:6uf", "2:1:4uf")
"""At size 2 under ``live``: a trap beside oneself, then up."""


@dataclass(frozen=True, slots=True)
class Mixture:
    """Boards, as actions, and how often each is laid: whole numbers, in proportion."""

    size: int
    rules: str
    boards: tuple[bytes, ...]
    weights: tuple[int, ...]

    def json_boards(self) -> list[dict[str, Any]]:
        """The boards as JSON."""
        return [format_board(board, self.size) for board in self.boards]


def straight_run(size: int, col: int) -> bytes:
    """Straight up from a column."""
    return bytes([col, *[size + UP] * (size - 1), size + FINISH])


def perfect(size: int, rules: str = "written") -> Mixture:
    """The stored mixture; see ``SOLVED`` for how far it is proven."""
    checked_size(size)
    if is_live(rules) and size == 2:
        boards = tuple(parse_code(code)[1] for code in _SMALLEST_LIVE)
    else:
        boards = tuple(straight_run(size, col) for col in range(size))
    return Mixture(size, rules, boards, (1,) * len(boards))
