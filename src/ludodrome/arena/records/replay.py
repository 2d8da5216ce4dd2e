"""The course of a recorded game: every position with the turn that led on from it, ready to be shown or graded."""

from dataclasses import dataclass, field
from typing import Any

from ludodrome.game import Game


@dataclass(frozen=True, slots=True)
class Turn:
    """A move, or the end of a game without one."""

    seat: int
    move: Any
    """None: the game ended here without a move."""
    text: str
    """The move in the notation for people; empty without one."""
    opening: bool = False
    """It was on the board before anybody was asked."""
    entry: dict[str, Any] = field(default_factory=dict)
    """What else the record tells: ``ms``, ``refusals``, ``verdict``, ``substituted``, ``log``."""

    @property
    def own(self) -> bool:
        """Whether the seat chose the move itself."""
        return not self.opening and not self.entry.get("substituted", False)


@dataclass(frozen=True, slots=True)
class Course:
    """A game as it went."""

    game: Game
    states: list[Any]
    """One more than there are turns with a move."""
    turns: list[Turn]
    """Those with a move: number k leads from states[k] to states[k + 1]."""
    stopped: Turn | None
    """The turn that ended the game without a move, if one did."""

    @property
    def moves(self) -> list[Any]:
        """One for each turn."""
        return [turn.move for turn in self.turns]


def course(record: dict[str, Any]) -> Course:
    """The course of a record that has been verified, or was written by the arena itself."""
    from ludodrome.games import make

    game = make(record["game"], **record["options"])
    begin = record.get("position")
    states = [game.initial_state(record["seed"]) if begin is None else begin]
    turns: list[Turn] = []
    stopped = None
    for entry in [*({"move": move} for move in record["opening"]), *record["turns"]]:
        before = states[-1]
        seat = game.to_move(before)
        assert seat is not None
        opening = len(turns) < len(record["opening"])
        if "move" not in entry:
            stopped = Turn(seat, None, "", opening, entry)
            break
        turns.append(Turn(seat, entry["move"], game.format_move(entry["move"], before), opening, entry))
        states.append(game.apply(before, entry["move"]))
    return Course(game, states, turns, stopped)
