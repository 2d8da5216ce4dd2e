"""A bot for dots that answers ``observe`` or not, with turn numbers or not: ``observing_bot.py all none slow``."""

import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

Message = dict[str, Any]
OBSERVE: dict[str, Callable[[random.Random], bool]] = {
    "all": lambda rng: True,
    "none": lambda rng: False,
    "some": lambda rng: rng.random() < 0.5,
}
NUMBERS: dict[str, Callable[[str], bool]] = {
    "all": lambda kind: True,
    "none": lambda kind: False,
    "turns": lambda kind: kind == "turn",
}


def free_edges(state: Message) -> list[Message]:
    """The edges that can be drawn, which ``observe`` does not list."""
    rows = [("H", state["h"]), ("V", state["v"])]
    edges = [(way, r, c, on) for way, grid in rows for r, row in enumerate(grid) for c, on in enumerate(row)]
    return [{"orient": way, "r": r, "c": c} for way, r, c, on in edges if not on]


def answers(message: Message, rng: random.Random, observe: str, numbers: str, slow: bool) -> list[Message]:
    """The answer to a message: a log that says what the move is for, and the move."""
    kind = message["type"]
    if kind not in ("turn", "observe") or (kind == "observe" and not OBSERVE[observe](rng)):
        return []
    if slow and kind == "observe":
        time.sleep(rng.choice([0, 0, 0.0005, 0.003]))
    move = rng.choice(free_edges(message["state"]))
    number = {"turn": message["turn"]} if NUMBERS[numbers](kind) else {}
    log = {"type": "log", "text": json.dumps([kind, message["turn"], move])}
    return [log, {"type": "move", "move": move, **number}]


def main(observe: str, numbers: str, slow: bool) -> None:
    """Answer until the input ends; some answers to ``observe`` are held back and come in a burst."""
    rng = random.Random(1)
    held = []
    for line in sys.stdin:
        message = json.loads(line)
        held += [json.dumps(one) + "\n" for one in answers(message, rng, observe, numbers, slow)]
        if message["type"] == "turn" or rng.random() < 0.7:
            sys.stdout.write("".join(held))
            sys.stdout.flush()
            held = []


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] == "slow")
