"""The child process in which ``py:`` bots run: ``python -m ludodrome.arena.host mine.py:MyBot``.

It speaks the bot protocol on pipes that the bot does not see: whatever the bot prints goes to standard error.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

from ludodrome.arena.clocks import SeatClock
from ludodrome.arena.conditions import Clock
from ludodrome.bots.files import load
from ludodrome.bots.player import Bot, Budget


def main(arguments: list[str]) -> int:
    """Run the bot that is named until the input ends."""
    incoming, outgoing = _take_pipes()
    (spec,) = arguments
    sys.path.insert(0, str(Path(spec.rpartition(":")[0]).resolve().parent))  # as for a script: its own modules
    try:
        bot = load(spec)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    for line in incoming:
        _answer(bot, json.loads(line), outgoing)
    bot.close()
    return 0


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The protocol's pipes; in their place the bot gets an empty input, and an output that is standard error."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return incoming, outgoing


_clock = Clock()


def _answer(bot: Bot, message: dict[str, Any], outgoing: BinaryIO) -> None:
    global _clock
    if message["type"] == "hello":
        _clock = Clock.from_json(message["clock"])
        bot.start(message)
    elif message["type"] == "turn":
        move = bot.choose(message["state"], _budget(message["deadline_ms"]))
        _say({"type": "move", "move": move, "turn": message["turn"]}, outgoing)


def _budget(deadline_ms: int | None) -> Budget | None:
    """What the bot should use: as a built-in with the same clock would."""
    clock = SeatClock(_clock)
    if deadline_ms is not None:
        clock.bank = max(0, deadline_ms - _clock.move_ms) / 1000
    return clock.budget()


def _say(message: dict[str, Any], outgoing: BinaryIO) -> None:
    outgoing.write(json.dumps(message, default=_plain).encode() + b"\n")
    outgoing.flush()


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as plain ones."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a move is made of plain JSON values, not of {type(value).__name__}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
