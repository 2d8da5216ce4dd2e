"""Which players games connect, and how: what can be compared at all, and what is known on both sides.

Players are numbers here, as in ``choices.py``.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ludodrome.arena.statistics.choices import Model

MOST_NAMES = 5
"""How many names a sentence lists."""


class Links:
    """Groups of players who met, directly or through others; and within them the sets linked both ways."""

    def __init__(self, model: Model) -> None:
        ahead = np.eye(model.players, dtype=bool)
        for block in model.blocks:
            inside = block.members > 0
            for place, chosen in enumerate(inside):
                rows = block.counts[:, place] > 0
                for winner in np.flatnonzero(chosen):
                    for other in range(inside.shape[1]):
                        ahead[block.players[rows, winner], block.players[rows, other]] = True
        reach = _closure(ahead)
        self.group = _numbered(_closure(ahead | ahead.T))
        """By player; who has the same number can be compared."""
        self.side = _numbered(reach & reach.T)
        """By player; who has the same number is linked by points both ways."""

    def alike(self, players: Sequence[int]) -> bool:
        """Whether these are all linked both ways."""
        return len({self.side[player] for player in players}) == 1

    def core_of(self, player: int) -> list[int]:
        """The largest set linked both ways in a player's group, or all of the group if none has two players."""
        together = [other for other, group in enumerate(self.group) if group == self.group[player]]
        sides: dict[int, list[int]] = {}
        for other in together:
            sides.setdefault(self.side[other], []).append(other)
        core = max(sides.values(), key=len)
        return core if len(core) > 1 else together

    def notes(self, names: Sequence[str]) -> list[str]:
        """What the games do not tell, in sentences."""
        found = []
        groups = [_members(self.group, number) for number in range(max(self.group) + 1)]
        if len(groups) > 1:
            listed = "; ".join(_listed(names, group) for group in groups[:MOST_NAMES])
            more = f"; and {len(groups) - MOST_NAMES} more groups" if len(groups) > MOST_NAMES else ""
            found.append(f"No games connect these groups, so compare ratings only within each: {listed}{more}.")
        for group in groups:
            core = self.core_of(group[0])
            loose = [player for player in group if not self.alike([player, *core])]
            if loose:
                found.append(
                    f"{_listed(names, loose)} took all points, or none, against the others: such a rating"
                    " is held by a weak prior, and only one end of its interval means much."
                )
        return found


def _closure(steps: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Who can be reached from whom in any number of steps."""
    reach = steps
    while True:
        further = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
        if (further == reach).all():
            return reach
        reach = further


def _numbered(alike: NDArray[np.bool_]) -> list[int]:
    """A number for each class of an equivalence, in the order of first members."""
    first = alike.argmax(axis=1)
    order = {one: number for number, one in enumerate(dict.fromkeys(first.tolist()))}
    return [order[one] for one in first.tolist()]


def _members(numbers: Sequence[int], number: int) -> list[int]:
    return [player for player, one in enumerate(numbers) if one == number]


def _listed(names: Sequence[str], players: Sequence[int]) -> str:
    shown = ", ".join(names[player] for player in players[:MOST_NAMES])
    return shown + (f" and {len(players) - MOST_NAMES} more" if len(players) > MOST_NAMES else "")
