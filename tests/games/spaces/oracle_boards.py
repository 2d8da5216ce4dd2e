"""Spaces by the book: what a board is, what is wrong with it, and what may come next in it (R1 to R17).

Everything works on the JSON values of the page: a step is `{"position": {"row", "col"}, "type", "order"}`, a board is
`{"boardSize", "sequence"}`, a square is a tuple `(row, col)`. Each function names the rule that it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

Json = dict[str, Any]
Square = tuple[int, int]

UP, DOWN, LEFT, RIGHT, HERE = (-1, 0), (1, 0), (0, -1), (0, 1), (0, 0)
PLACES: list[Square] = [(row, col) for row in (-1, 0, 1) for col in (-1, 0, 1)]
"""The nine places of a trap around the piece, in reading order."""
REACH: dict[str, list[Square]] = {"written": PLACES, "live": [UP, LEFT, HERE, RIGHT]}
"""The places in reach of the piece, in reading order (R5)."""
PIECE_LETTERS: dict[str, Square] = {"u": UP, "l": LEFT, "r": RIGHT, "d": DOWN}
TRAP_DIGITS: dict[str, Square] = dict(zip("789456123", PLACES, strict=True))
PLAYABLE_RULES = ("R2", "R3", "R4", "R5", "R6", "R7")


class Setting(NamedTuple):
    """What a board is judged by: the size of the grid and the rule set."""

    size: int
    rules: str

    @property
    def live(self) -> bool:
        """Whether the stricter rule set holds."""
        return self.rules == "live"

    def inside(self, square: Square) -> bool:
        """Whether a square is on the grid (R1)."""
        return all(0 <= number < self.size for number in square)


class Step(NamedTuple):
    """One step without its order: what happens, and where."""

    kind: str
    square: Square


class BoardWalk(NamedTuple):
    """All that the steps so far leave behind: enough to judge the next one."""

    piece: Square | None = None
    visited: frozenset[Square] = frozenset()
    traps: tuple[Square, ...] = ()
    last: str = ""
    supermove: bool = False

    def take(self, step: Step) -> BoardWalk:
        """The walk after one more step, be it faulty or not. Step 1 puts the piece down, whatever its type says."""
        kind, square = step
        if self.piece is None:
            traps = (square,) if kind == "trap" else ()
            return BoardWalk(square, frozenset([square]), traps, kind, kind == "trap")
        if kind == "trap":
            return BoardWalk(self.piece, self.visited, (*self.traps, square), kind, square == self.piece)
        return BoardWalk(square, self.visited | {square}, self.traps, kind, False)


def shifted(square: Square, way: Square) -> Square:
    """The square that lies the given way from another one (R1)."""
    return square[0] + way[0], square[1] + way[1]


def way_between(start: Square, end: Square) -> Square:
    """How to get from one square to another: rows and columns."""
    return end[0] - start[0], end[1] - start[1]


def read_step(step: Json) -> Step:
    """The kind and the square of a JSON step."""
    return Step(step["type"], (step["position"]["row"], step["position"]["col"]))


def json_step(step: Step, order: int) -> Json:
    """A step as JSON."""
    return {"position": {"row": step.square[0], "col": step.square[1]}, "type": step.kind, "order": order}


def json_board(steps: Iterable[Step], size: int) -> Json:
    """A board as JSON, without a grid (R2)."""
    return {"boardSize": size, "sequence": [json_step(step, order) for order, step in enumerate(steps, 1)]}


def steps_of(board: Json) -> list[Step]:
    """The steps of a well-formed board."""
    return [read_step(step) for step in board["sequence"]]


# What a board must be


def shape_fault(board: Any, size: int) -> str | None:
    """What is wrong with the form of a board, if anything (R2)."""
    if not isinstance(board, dict) or set(board) - {"grid"} != {"boardSize", "sequence"}:
        return "a board has a boardSize, a sequence, perhaps a grid and nothing else"
    if not whole(board["boardSize"]) or board["boardSize"] != size:
        return f"the size of the board is not {size}"
    sequence = board["sequence"]
    if not isinstance(sequence, list) or not sequence:
        return "the sequence is not a list of at least one step"
    for order, step in enumerate(sequence, 1):
        if not isinstance(step, dict) or set(step) != {"position", "type", "order"}:
            return f"entry {order} of the sequence does not have a position, a type and an order"
        position = step["position"]
        if not isinstance(position, dict) or set(position) != {"row", "col"} or not all(map(whole, position.values())):
            return f"the position of entry {order} is not a whole row and a whole column"
        if step["type"] not in ("piece", "trap", "final"):
            return f"the type of entry {order} is none of piece, trap and final"
        if not whole(step["order"]) or step["order"] != order:
            return f"the order of entry {order} is not {order}"
    if "grid" in board and board["grid"] != drawn_grid(board):
        return "the grid is not the one that follows from the sequence"
    return None


def whole(value: Any) -> bool:
    """Whether a JSON value is an integer; `true` and `1.0` are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def drawn_grid(board: Json) -> list[list[str]]:
    """The grid that follows from a sequence: traps before pieces before nothing (R2, "Move")."""
    steps = steps_of(board)
    traps = {step.square for step in steps if step.kind == "trap"}
    pieces = {step.square for step in steps if step.kind == "piece"}
    numbers = range(board["boardSize"])

    def word(square: Square) -> str:
        return "trap" if square in traps else "piece" if square in pieces else "empty"

    return [[word((row, col)) for col in numbers] for row in numbers]


# Each rule about a step says whether a step breaks it. `stands` is where the piece is before that step.


def breaks_r3(step: Step, setting: Setting) -> bool:
    """Step 1 is a piece on the bottom row (R3)."""
    return step.kind != "piece" or step.square[0] != setting.size - 1 or not setting.inside(step.square)


def breaks_r4(walk: BoardWalk, stands: Square, step: Step, setting: Setting) -> bool:
    """A piece goes one square up, down, left or right, inside (R4)."""
    near = way_between(stands, step.square) in (UP, DOWN, LEFT, RIGHT)
    return step.kind == "piece" and not (near and setting.inside(step.square))


def breaks_r5(walk: BoardWalk, stands: Square, step: Step, setting: Setting) -> bool:
    """A trap goes inside and in reach (R5)."""
    near = way_between(stands, step.square) in REACH[setting.rules]
    return step.kind == "trap" and not (near and setting.inside(step.square))


def breaks_r6(walk: BoardWalk, stands: Square, step: Step, setting: Setting) -> bool:
    """The finish goes from row 0 to the goal directly above (R6)."""
    return step.kind == "final" and not (stands[0] == 0 and step.square == shifted(stands, UP))


def breaks_r8(walk: BoardWalk, stands: Square, step: Step, setting: Setting) -> bool:
    """No square is visited twice (R8)."""
    return step.kind == "piece" and step.square in walk.visited


def breaks_r9(walk: BoardWalk, stands: Square, step: Step, setting: Setting) -> bool:
    """The piece never goes down (R9)."""
    return step.kind == "piece" and step.square[0] > stands[0]


def breaks_r10(walk: BoardWalk, stands: Square, step: Step, setting: Setting) -> bool:
    """No square gets two traps (R10)."""
    return step.kind == "trap" and step.square in walk.traps


def breaks_r11(walk: BoardWalk, stands: Square, step: Step, setting: Setting) -> bool:
    """After a supermove comes a piece step (R11)."""
    return walk.supermove and step.kind != "piece"


def breaks_r12(walk: BoardWalk, stands: Square, step: Step, setting: Setting) -> bool:
    """From row 0 there is only the finish (R12)."""
    return stands[0] == 0 and step.kind != "final"


def breaks_r13(walk: BoardWalk, stands: Square, step: Step, setting: Setting) -> bool:
    """No trap on row 0 under `live` (R13)."""
    return setting.live and step.kind == "trap" and step.square[0] == 0


def breaks_r14(walk: BoardWalk, stands: Square, step: Step, setting: Setting) -> bool:
    """At most `size - 1` traps under `live` (R14)."""
    return setting.live and step.kind == "trap" and len(walk.traps) >= setting.size - 1


def breaks_r15(walk: BoardWalk, stands: Square, step: Step, setting: Setting) -> bool:
    """After every trap comes a piece step under `live` (R15)."""
    return setting.live and walk.last == "trap" and step.kind != "piece"


def breaks_r16(walk: BoardWalk, stands: Square, step: Step, setting: Setting) -> bool:
    """The piece never enters an own trap under `live` (R16)."""
    return setting.live and step.kind == "piece" and step.square in walk.traps


STEP_RULES: dict[str, Callable[[BoardWalk, Square, Step, Setting], bool]] = {
    "R4": breaks_r4,
    "R5": breaks_r5,
    "R6": breaks_r6,
    "R8": breaks_r8,
    "R9": breaks_r9,
    "R10": breaks_r10,
    "R11": breaks_r11,
    "R12": breaks_r12,
    "R13": breaks_r13,
    "R14": breaks_r14,
    "R15": breaks_r15,
    "R16": breaks_r16,
}
"""What is judged of a step after the first, in the order of the rules."""

WORDS = {
    "R3": "the piece does not start on the bottom row",
    "R4": "the piece does not go to a neighbouring square of the grid",
    "R5": "the trap is out of reach or off the grid",
    "R6": "the board does not end with one finish, made from row 0 to the goal directly above",
    "R7": "the board is too long",
    "R8": "the piece has been on this square before",
    "R9": "the piece goes down",
    "R10": "there is a trap on this square already",
    "R11": "no piece step follows the supermove",
    "R12": "something other than the finish is done from row 0",
    "R13": "a trap is set on row 0",
    "R14": "there are too many traps",
    "R15": "no piece step follows the trap",
    "R16": "the piece enters a trap of its own",
}


def broken_rules(walk: BoardWalk, step: Step, setting: Setting) -> list[str]:
    """The rules that a step breaks, in order; after the first finish there is only R6, at the start only R3."""
    if walk.last == "final":
        return ["R6"]
    if walk.piece is None:
        return ["R3"] if breaks_r3(step, setting) else []
    stands = walk.piece
    return [rule for rule, breaks in STEP_RULES.items() if breaks(walk, stands, step, setting)]


def faults(board: Any, size: int, rules: str) -> list[tuple[int, str]]:
    """All faults of a board as step and rule, in the order of the page; a wrong shape is step 0, R2 ("Moves")."""
    if shape_fault(board, size) is not None:
        return [(0, "R2")]
    steps, longest = steps_of(board), 4 * size * size
    if len(steps) > longest:
        return [(longest + 1, "R7")]
    found: list[tuple[int, str]] = []
    walk = BoardWalk()
    for order, step in enumerate(steps, 1):
        found += [(order, rule) for rule in broken_rules(walk, step, Setting(size, rules))]
        walk = walk if walk.last == "final" else walk.take(step)
    if walk.last != "final":
        found.append((len(steps), "R6"))
    return sorted(found, key=lambda fault: (fault[0], int(fault[1][1:])))


def check(board: Any, size: int, rules: str) -> list[str]:
    """All faults of a board as sentences; none means legal (R17)."""
    malformed = shape_fault(board, size)
    if malformed is not None:
        return [f"step 0: {malformed} (R2)"]
    return [f"step {order}: {WORDS[rule]} ({rule})" for order, rule in faults(board, size, rules)]


def playable(board: Any, size: int, rules: str) -> bool:
    """Whether a board keeps R2 to R7; it may be unfinished, and then R6 has nothing to say about it (R6, R7)."""
    found = {rule for _, rule in faults(board, size, rules)}
    if "R2" not in found and unfinished(board):
        found.discard("R6")
    return not found.intersection(PLAYABLE_RULES)


def unfinished(board: Json) -> bool:
    """Whether a well-formed board has no final step (R6)."""
    return all(step.kind != "final" for step in steps_of(board))


# What may come next


def candidates(walk: BoardWalk, setting: Setting) -> Iterator[Step]:
    """Every step that has an action number, in the order of the actions, possible or not ("Actions")."""
    if walk.piece is None:
        yield from (Step("piece", (setting.size - 1, col)) for col in range(setting.size))
        return
    yield from (Step("piece", shifted(walk.piece, way)) for way in (UP, LEFT, RIGHT))
    yield from (Step("trap", shifted(walk.piece, way)) for way in PLACES)
    yield Step("final", shifted(walk.piece, UP))


def can_be_finished(walk: BoardWalk, setting: Setting) -> bool:
    """Whether a faultless walk is the beginning of a legal board (R17).

    Traps never open a way, so it is enough to look for one with piece steps alone. And such a way exists exactly if
    row 0 can be reached over squares that are still open: a way without loops visits none of them twice.
    """
    if walk.last == "final" or walk.piece is None:
        return True
    open_ends, seen = [walk.piece], {walk.piece}
    while open_ends:
        stands = open_ends.pop()
        if stands[0] == 0:
            return True
        for way in (LEFT, RIGHT, UP):
            step = Step("piece", shifted(stands, way))
            if step.square not in seen and not broken_rules(walk._replace(piece=stands), step, setting):
                seen.add(step.square)
                open_ends.append(step.square)
    return False


def next_steps(walk: BoardWalk, setting: Setting) -> list[Step]:
    """The legal continuations of a faultless walk in the order of the actions (R17)."""
    if walk.last == "final":
        return []
    return [
        step
        for step in candidates(walk, setting)
        if not broken_rules(walk, step, setting) and can_be_finished(walk.take(step), setting)
    ]


def continuations(sequence: list[Json], size: int, rules: str) -> list[Json]:
    """The steps that at least one legal board has after this beginning, in the order of the actions (R17)."""
    setting, walk = Setting(size, rules), BoardWalk()
    for step in map(read_step, sequence):
        if broken_rules(walk, step, setting):
            return []
        walk = walk.take(step)
    return [json_step(step, len(sequence) + 1) for step in next_steps(walk, setting)]


def boards(size: int, rules: str) -> Iterator[Json]:
    """All legal boards in the documented order ("Order of legal moves")."""
    setting = Setting(size, rules)

    def complete(steps: list[Step], walk: BoardWalk) -> Iterator[Json]:
        if walk.last == "final":
            yield json_board(steps, size)
        for step in next_steps(walk, setting):
            yield from complete([*steps, step], walk.take(step))

    return complete([], BoardWalk())
