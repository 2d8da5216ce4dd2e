"""Spaces by the book: boards by chance, and boards from and to their codes."""

import random
import re

from tests.games.spaces.oracle_boards import (
    DOWN,
    LEFT,
    PIECE_LETTERS,
    REACH,
    RIGHT,
    TRAP_DIGITS,
    UP,
    BoardWalk,
    Json,
    Setting,
    Step,
    json_board,
    next_steps,
    shifted,
    steps_of,
    way_between,
)

# Boards by chance


def random_legal(size: int, rules: str, rng: random.Random) -> Json:
    """A legal board by a random walk along the continuations (R17)."""
    setting, walk = Setting(size, rules), BoardWalk()
    steps: list[Step] = []
    while walk.last != "final":
        step = rng.choice(next_steps(walk, setting))
        steps.append(step)
        walk = walk.take(step)
    return json_board(steps, size)


def random_playable(size: int, rules: str, rng: random.Random) -> Json:
    """A playable board that takes every liberty of R3 to R7, the greatest length included.

    Each board has its own temper: how long it may get, how it likes traps, climbing and the finish. When no more than
    the straight way to the goal is left of its length, it takes that.
    """
    setting = Setting(size, rules)
    limit = rng.choice([rng.randint(size + 1, 4 * size), rng.randint(size + 1, 4 * size * size), 4 * size * size])
    trapping, climbing, finishing = rng.choice([0.1, 0.3, 0.6]), rng.choice([1, 3, 9]), rng.choice([0.0, 0.2, 0.8])
    stands = (size - 1, rng.randrange(size))
    steps = [Step("piece", stands)]
    while True:
        slack = limit - len(steps) - stands[0] - 1
        if stands[0] == 0 and (slack == 0 or rng.random() < finishing):
            return json_board([*steps, Step("final", shifted(stands, UP))], size)
        kind, ways = "piece", [UP]
        if slack >= 1 and rng.random() < trapping:
            kind, ways = "trap", REACH[rules]
        elif slack >= 2:
            ways = [*[UP] * climbing, DOWN, LEFT, RIGHT]
        elif slack == 1:
            ways = [UP, LEFT, RIGHT]
        square = rng.choice([square for way in ways if setting.inside(square := shifted(stands, way))])
        steps.append(Step(kind, square))
        stands = square if kind == "piece" else stands


def random_unfinished(size: int, rules: str, rng: random.Random) -> Json:
    """A playable board without a finish: a finished one cut off anywhere, often early, or any walk from the start."""
    make = rng.choice([random_legal, random_playable])
    steps = steps_of(make(size, rules, rng))[:-1]
    return json_board(steps[: rng.choice([len(steps), rng.randint(1, len(steps)), rng.randint(1, 3)])], size)


# The code of a board


def encode_code(board: Json) -> str:
    """The code of a board; a ValueError if it has none because its steps jump ("Notation")."""
    size, (start, *others) = board["boardSize"], steps_of(board)
    stands = start.square
    if start.kind != "piece" or stands[0] != size - 1 or stands[1] < 0:
        raise ValueError("a board that does not start on the bottom row has no code")
    letters = {
        "piece": {way: letter for letter, way in PIECE_LETTERS.items()},
        "trap": {way: digit for digit, way in TRAP_DIGITS.items()},
        "final": {UP: "f"},
    }
    text = f"{size}:{stands[1]}:"
    for order, (kind, square) in enumerate(others, 2):
        way = way_between(stands, square)
        if way not in letters[kind]:
            raise ValueError(f"a board that jumps, here in step {order}, has no code")
        text += letters[kind][way]
        stands = stands if kind == "trap" else square
    return text


def decode_code(text: str) -> Json:
    """The board of a code, finished or not, legal or not; a ValueError if it is no code ("Notation")."""
    parts = re.fullmatch(r"([1-9][0-9]*):(0|[1-9][0-9]*):([ulrd1-9f]*)", text.strip().lower(), re.ASCII)
    if parts is None:
        raise ValueError(f"{text!r} is not the code of a board")
    size, stands = int(parts[1]), (int(parts[1]) - 1, int(parts[2]))
    steps = [Step("piece", stands)]
    for letter in parts[3]:
        if letter in TRAP_DIGITS:
            steps.append(Step("trap", shifted(stands, TRAP_DIGITS[letter])))
            continue
        stands = shifted(stands, PIECE_LETTERS.get(letter, UP))
        steps.append(Step("final" if letter == "f" else "piece", stands))
    return json_board(steps, size)
