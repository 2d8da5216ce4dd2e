"""The child process in which ``py:`` bots run: ``python -m ludodrome.arena.py_bot_host mine.py:MyBot``.

It speaks the bot protocol on pipes that the bot does not see. What the bot prints goes to standard error.
"""

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, BinaryIO

from ludodrome.arena.clocks import Clock, SeatClock
from ludodrome.bots.files import MODULE_PREFIX, AgentBot, load
from ludodrome.bots.player import Bot, Budget


def main(spec: str) -> int:
    """Run a bot until its input ends; return the exit code."""
    incoming, outgoing = _take_pipes()
    try:
        return _serve(spec, incoming, outgoing)
    except SystemExit as leaving:
        return leaving.code if type(leaving.code) is int else int(leaving.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        _kept_open.append(outgoing)


_kept_open: list[BinaryIO] = []
"""The output must stay open until the process ends."""


def _serve(spec: str, incoming: BinaryIO, outgoing: BinaryIO) -> int:
    folder = Path(spec.rpartition(":")[0]).resolve().parent
    sys.path.insert(0, str(folder))  # like a script: it can import its neighbours
    libraries = set(sys.modules)
    bot: Bot | None = _load(spec)
    for line in incoming:
        message = json.loads(line)
        if bot is None and message["type"] == "hello":
            _forget(set(sys.modules) - libraries, folder)
            bot = _load(spec)
        if bot is not None:
            _answer(bot, message, outgoing)
            if message["type"] == "over":
                bot.close()
                bot = None
    if bot is not None:
        bot.close()
    return 0


def _load(spec: str) -> Bot:
    """Load the bot; SystemExit if that fails, with the reason on standard error."""
    try:
        return load(spec)
    except ValueError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from error


def _forget(names: set[str], folder: Path) -> None:
    """Forget the bot's modules and its neighbours: each game begins as in a new process, with the libraries at hand."""
    for name in names:
        top = name.partition(".")[0]
        if top.startswith(MODULE_PREFIX) or (folder / f"{top}.py").is_file() or (folder / top).is_dir():
            del sys.modules[name]


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Take the protocol's pipes; give the bot an empty input, and standard error as its output."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return incoming, outgoing


_clock = Clock()


def _answer(bot: Bot, message: dict[str, Any], outgoing: BinaryIO) -> None:
    global _clock
    if message["type"] == "hello":
        _clock = Clock.from_json(message["clock"])
        bot.start(message)
        _say({"type": "ready", "games": "many"}, outgoing)
    elif message["type"] == "turn":
        if isinstance(bot, AgentBot):
            move = bot.answer(message)
        else:
            move = bot.choose(message["state"], _budget(message["deadline_ms"]))
        _say({"type": "move", "move": move, "turn": message["turn"]}, outgoing)


def _budget(deadline_ms: int | None) -> Budget | None:
    """The budget that a built-in bot with the same clock would use."""
    return SeatClock.at_deadline(_clock, deadline_ms).budget()


def _say(message: dict[str, Any], outgoing: BinaryIO) -> None:
    outgoing.write(json.dumps(message, default=_plain).encode() + b"\n")
    outgoing.flush()


def _plain(value: Any) -> Any:
    """Convert NumPy numbers and arrays to plain ones."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a move is made of plain JSON values, not of {type(value).__name__}")


if __name__ == "__main__":
    os._exit(main(sys.argv[1]))  # at once: shutting down an interpreter with compiled kernels takes half a second
