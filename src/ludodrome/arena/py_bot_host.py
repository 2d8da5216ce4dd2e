"""The child process in which ``py:`` bots run: ``python -m ludodrome.arena.py_bot_host mine.py:MyBot``.

It speaks the bot protocol on pipes that the bot does not see. What the bot prints goes to standard error.
"""

import importlib.util
import inspect
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, BinaryIO

from ludodrome.arena.clocks import Clock, SeatClock
from ludodrome.bots.player import Bot, Budget
from ludodrome.validation import listing, show


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
    sys.path.insert(
        0, str(Path(spec.rpartition(":")[0]).resolve().parent)
    )  # like a script: it can import its neighbours
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
    elif message["type"] == "turn":
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


# The bot: the class ``Name`` of ``path.py:Name``, created without arguments. It implements ``player.Bot``; only
# ``choose`` is required. The file runs in this process with all its permissions.


def load(text: str) -> Bot:
    """Load the bot ``path.py:Name``. Raises ValueError if the file or class is missing, wrong or fails."""
    path, colon, name = text.rpartition(":")
    if not (colon and path and name.isidentifier()):
        raise ValueError(f"a bot of one's own is named like py:mine.py:MyBot, not py:{text}")
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"there is no file {path} for the bot py:{text}")
    module = _module(file)
    made = getattr(module, name, None)
    if not inspect.isclass(made):
        classes = [key for key, value in vars(module).items() if inspect.isclass(value) and hasattr(value, "choose")]
        right = f"it has {listing(classes)}" if classes else "no class in it has a method choose"
        raise ValueError(f"{path} has no class {show(name)}; {right}")
    if not callable(getattr(made, "choose", None)):
        raise ValueError(f"{name} in {path} is no bot: it has no method choose(observation, budget=None)")
    try:
        return FileBot(made(), name)
    except Exception as error:
        raise ValueError(f"{name} in {path} could not be made: {_words(error)}") from error


def _module(file: Path) -> Any:
    """Run the file as a new module: two bots of one file share nothing."""
    unique = f"ludodrome_bot_{file.stem}_{len(sys.modules)}"
    spec = importlib.util.spec_from_file_location(unique, file)
    if spec is None or spec.loader is None:
        raise ValueError(f"{file} is no Python file: its name does not end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module  # dataclasses and pickle look the module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[unique]
        raise ValueError(f"{file} could not be loaded: {_words(error)}") from error
    return module


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


class FileBot:
    """A user's bot with defaults for what its class leaves out."""

    def __init__(self, inner: Any, class_name: str) -> None:
        self._inner = inner
        name = getattr(inner, "name", None)
        self.name = name if isinstance(name, str) and name else class_name
        self._takes_budget = _takes_two(inner.choose)

    def start(self, hello: dict[str, Any]) -> None:
        """Call the class's method, if it has one."""
        if hasattr(self._inner, "start"):
            self._inner.start(hello)

    def choose(self, observation: Any, budget: Budget | None = None) -> Any:
        """The move of the class, which may be illegal."""
        if self._takes_budget:
            return self._inner.choose(observation, budget)
        return self._inner.choose(observation)

    def close(self) -> None:
        """Call the class's method, if it has one."""
        if hasattr(self._inner, "close"):
            self._inner.close()


def _takes_two(choose: Any) -> bool:
    """Whether a method can be called with an observation and a budget."""
    try:
        inspect.signature(choose).bind(None, None)
    except TypeError:
        return False
    return True


if __name__ == "__main__":
    os._exit(main(sys.argv[1]))  # at once: shutting down an interpreter with compiled kernels takes half a second
