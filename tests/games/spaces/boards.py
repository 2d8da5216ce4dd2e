"""Boards for the tests of spaces, written as codes or as squares."""

from typing import Any

import ludodrome
from ludodrome import spaces

Board = dict[str, Any]
State = dict[str, Any]

RUN = "3:1:uuf"
"""Straight up the middle."""
KINDS = {"p": "piece", "t": "trap", "f": "final"}


def board(code: str) -> Board:
    return spaces.parse_board(code)


def squares(size: int, text: str) -> Board:
    """``p2,1 t1,1 f-1,1``: a board by its squares, jumps and all."""
    sequence = []
    for order, word in enumerate(text.split(), 1):
        row, col = word[1:].split(",")
        position = {"row": int(row), "col": int(col)}
        sequence.append({"position": position, "type": KINDS[word[0]], "order": order})
    return {"boardSize": size, "sequence": sequence}


def faults(given: Board | str, rules: str = "written") -> list[tuple[int, str]]:
    """Steps and rules of all faults of a board or of a code."""
    judged = board(given) if isinstance(given, str) else given
    found = spaces.check(judged, judged["boardSize"], rules)
    for fault in found:
        assert fault.sentence.endswith(f" ({fault.rule})")
        assert fault.step == 0 or fault.sentence.startswith(f"step {fault.step}: ")
    return [(fault.step, fault.rule) for fault in found]


def legal(code: str, rules: str) -> bool:
    return not faults(code, rules)


def played(a: str, b: str, rules: str = "written") -> tuple[list[int], str]:
    """Points and end of a round of two codes."""
    size = int(a.partition(":")[0])
    round_ = spaces.simulate(board(a), board(b), size, rules)
    return round_.points, round_.ended


def reasons(a: str, b: str, rules: str = "written") -> list[str]:
    """The reasons given for the points of a round."""
    size = int(a.partition(":")[0])
    return [event.reason for step in spaces.simulate(board(a), board(b), size, rules).steps for event in step.events]


def words(prefix: str, rules: str = "written") -> list[str]:
    """The squares and types that may come next, like ``p1,1``."""
    unfinished = board(prefix)
    letters = {kind: letter for letter, kind in KINDS.items()}
    following = spaces.steps(unfinished, unfinished["boardSize"], rules)
    assert all(step["order"] == len(unfinished["sequence"]) + 1 for step in following)
    return [f"{letters[step['type']]}{step['position']['row']},{step['position']['col']}" for step in following]


def lay(game: ludodrome.Game, *codes: str) -> State:
    """The state after these boards, or decks of ten, are laid one after another."""
    state: State = game.initial_state()
    for code in codes:
        state = game.apply(state, game.parse_move(code, state))
    return state
