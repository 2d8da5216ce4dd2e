"""The four layers in which a board is validated: structure, moves, sequence, playability.

Every fault of ``legality.py`` belongs to one of the first three; a board is playable when it has
none of the faults that keep a round from being played (R7), whatever else is wrong with it.
"""

from dataclasses import dataclass
from typing import Any

from ludodrome.games.spaces.boards import checked_size, is_live
from ludodrome.games.spaces.legality import PLAYABLE, Fault, check

STRUCTURE, MOVES, SEQUENCE, PLAYABILITY = LAYERS = (
    "board structure",
    "move legality",
    "sequence validity",
    "playability",
)
MEANING = {
    STRUCTURE: "the object, its steps and its grid have the right shape",
    MOVES: "each step by itself goes where it may",
    SEQUENCE: "start, transitions and finish are in order",
    PLAYABILITY: "a round can be played with it",
}
_LAYER_OF = {
    **dict.fromkeys(("R1", "R2"), STRUCTURE),
    **dict.fromkeys(("R4", "R5", "R8", "R9", "R10", "R13", "R16"), MOVES),
    **dict.fromkeys(("R3", "R6", "R11", "R12", "R14", "R15"), SEQUENCE),
    "R7": PLAYABILITY,
}


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of a validation."""

    name: str
    passed: bool | None
    """None: it could not be judged, since the structure is wrong."""
    faults: list[Fault]


def validate(board: Any, size: int, rules: str = "written") -> list[Layer]:
    """All four layers of a board, each with all its faults; a board is legal when all have passed."""
    checked_size(size)
    is_live(rules)
    found = check(board, size, rules)
    layers = []
    for name in LAYERS:
        faults = [fault for fault in found if _LAYER_OF[fault.rule] == name]
        passed: bool | None = not faults
        if name == PLAYABILITY:
            passed = not any(fault.rule in PLAYABLE for fault in found)
        elif found and found[0].rule in ("R2", "R7") and name != STRUCTURE:
            passed = None
        layers.append(Layer(name, passed, faults))
    return layers
