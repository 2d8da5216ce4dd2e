"""Bots in Python files: ``py:path.py:Name`` is the class ``Name`` in a file, created without arguments.

The class implements ``player.Bot``. Only ``choose`` is required; ``start`` and ``close`` default to nothing, ``name``
to the class's name. The file runs in this process with all its permissions.
"""

import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any

from ludodrome.bots.player import Bot, Budget
from ludodrome.validation import listing, show


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
