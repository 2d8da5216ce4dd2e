"""Single steps as words: ``start 1``, ``up``, ``trap left``, ``finish``; and why a step is not legal."""

from typing import Any

from ludodrome.game import IllegalMove
from ludodrome.game_spec import GAME_OVER
from ludodrome.games.spaces import rules
from ludodrome.games.spaces.notation import step_numbers, step_words
from ludodrome.jit import Record
from ludodrome.validation import show

WHY = {
    GAME_OVER: "the game is over",
    rules.NOT_STARTED: "a board begins with a start on the bottom row, 'start 0' to 'start {last}' (R3)",
    rules.STARTED: "the piece has been put down already, and a board has one start (R3)",
    rules.FROM_TOP: "from row 0 only the finish may follow (R12)",
    rules.EARLY_FINISH: "the finish is made from row 0, and the piece stands on row {row} (R6)",
    rules.OUTSIDE: "the step leads off the grid (R4)",
    rules.VISITED: "the piece has stood there before (R8)",
    rules.OWN_TRAP: "there is a trap of this board there, and own traps are closed (R16)",
    rules.NEEDS_PIECE: "a supermove must be followed by a piece step (R11)",
    rules.NEEDS_PIECE_LIVE: "a trap must be followed by a piece step (R15)",
    rules.TRAP_OUTSIDE: "the trap would be off the grid (R5)",
    rules.OUT_OF_REACH: "traps go up, left, right or here (R5)",
    rules.TRAP_TWICE: "this square has a trap of this board already (R10)",
    rules.TRAP_ON_TOP: "no trap is set on row 0 (R13)",
    rules.TOO_MANY_TRAPS: "a board of size {size} has at most {last} traps (R14)",
    rules.DEAD_END: "after a trap straight up no step to the side would remain (R17)",
}
"""fault -> sentence."""


def explain(fault: int, action: int, record: Record) -> str:
    """The sentence for a fault of a step."""
    size = int(record["side"])
    why = WHY[fault].format(size=size, last=size - 1, row=int(record["row"]))
    return why if fault == GAME_OVER else f"{step_words(size)[action]!r} cannot come here: {why}"


def parse_move(move: Any, states: Any) -> int:
    """The action of a step's word."""
    size = int(states["side"][0])
    action = step_numbers(size).get(move) if type(move) is str else None
    if action is None:
        raise IllegalMove(
            f"a step is one of 'start 0' to 'start {size - 1}', 'up', 'left', 'right', 'trap up', 'trap here' "
            f"and so on, and 'finish', not {show(move)}"
        )
    return action


def format_moves(actions: list[int], record: Record) -> list[str]:
    """The words of steps."""
    words = step_words(int(record["side"]))
    return [words[action] for action in actions]


def parse_notation(text: Any, states: Any, legal: list[int]) -> int:
    """The legal step that a text means, in either case and with blanks at will."""
    action = parse_move(" ".join(text.lower().split()) if type(text) is str else text, states)
    if action not in legal:
        raise IllegalMove(f"{show(text)} is no legal step here")
    return action


def format_notation(action: int, record: Record) -> str:
    """The word of a step."""
    return format_moves([action], record)[0]
