"""Bots in Python files: ``py:path.py:Name`` is the class ``Name`` in a file, created without arguments.

The class implements ``player.Bot``. Only ``choose`` is required; ``start`` and ``close`` default to nothing, ``name``
to the class's name. Agents that were written for AI-arena play too: a class with a method ``select_move(state,
legal_moves)``, or a function. The file runs in this process with all its permissions.
"""

import importlib.util
import inspect
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ludodrome.bots.player import Bot, Budget
from ludodrome.game import BadState, TooManyMoves
from ludodrome.games import make
from ludodrome.validation import listing, show

AGENT_METHOD = "select_move"
AGENT_ARGUMENTS = ("seat", "player", "seats", "game", "options", "match", "turn", "deadline_ms", "seed", "rng")
"""What an agent of AI-arena can be given by name."""
MODULE_PREFIX = "ludodrome_bot_"
"""How the names of loaded bots' modules begin."""


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
    if inspect.isfunction(made):
        return AgentBot(made, name)
    if not inspect.isclass(made):
        classes = [key for key, value in vars(module).items() if inspect.isclass(value) and hasattr(value, "choose")]
        right = f"it has {listing(classes)}" if classes else "no class in it has a method choose"
        raise ValueError(f"{path} has no class {show(name)}; {right}")
    is_agent = callable(getattr(made, AGENT_METHOD, None))
    if not (is_agent or callable(getattr(made, "choose", None))):
        raise ValueError(f"{name} in {path} is no bot: it has no method choose(observation, budget=None)")
    try:
        bot = made()
    except Exception as error:
        raise ValueError(f"{name} in {path} could not be made: {_words(error)}") from error
    return FileBot(bot, name) if hasattr(bot, "choose") else AgentBot(getattr(bot, AGENT_METHOD), name, bot)


def _module(file: Path) -> Any:
    """Run the file as a new module: two bots of one file share nothing."""
    unique = f"{MODULE_PREFIX}{file.stem}_{len(sys.modules)}"
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


class AgentBot:
    """An agent as AI-arena calls it: ``select_move(state, legal_moves)``, with more arguments if it names them.

    It can name ``seat``, ``player``, ``seats``, ``game``, ``options``, ``match``, ``turn``, ``deadline_ms``, ``seed``
    and ``rng``, a ``random.Random`` of that seed.
    """

    def __init__(self, select: Callable[..., Any], name: str, agent: Any = None) -> None:
        self.name = name
        self._select, self._agent = select, agent
        self._hello: dict[str, Any] = {}
        self._rng = random.Random(0)
        parameters = list(inspect.signature(select).parameters.values())
        self._takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters)
        by_place = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        if len(by_place) < 2:
            raise ValueError(f"{name} is no agent: it is called as {AGENT_METHOD}(state, legal_moves)")
        others = [
            one
            for one in parameters
            if one not in by_place[:2] and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        ]
        unknown = [one.name for one in others if one.name not in AGENT_ARGUMENTS and one.default is one.empty]
        if unknown:
            raise ValueError(
                f"{name} needs {listing(unknown)}, and an agent can be given {listing(AGENT_ARGUMENTS)} only"
            )
        self._names = [one.name for one in others if one.name in AGENT_ARGUMENTS]

    def start(self, hello: dict[str, Any]) -> None:
        """Remember the game; call the agent's own ``start``, if it has one."""
        self._hello = hello
        self._rng = random.Random(hello.get("seed", 0))
        if hasattr(self._agent, "start"):
            self._agent.start(hello)

    def choose(self, observation: Any, budget: Budget | None = None) -> Any:
        """The agent's move, without an arena: the legal moves come from the rules."""
        game = make(self._hello["game"], **self._hello["options"])
        try:
            legal = game.legal_moves({name: value for name, value in observation.items() if name != "you"})
        except (BadState, TooManyMoves):  # some of the state is hidden
            legal = None
        left = None if budget is None or budget.time is None else int(budget.time * 1000)
        return self.answer({"state": observation, "legal_moves": legal, "deadline_ms": left})

    def answer(self, turn: dict[str, Any]) -> Any:
        """The agent's answer to a ``turn`` message."""
        known = {**self._hello, **turn, "rng": self._rng}
        names = AGENT_ARGUMENTS if self._takes_all else self._names
        return self._select(turn["state"], turn["legal_moves"], **{name: known.get(name) for name in names})

    def close(self) -> None:
        """Call the agent's method, if it has one."""
        if hasattr(self._agent, "close"):
            self._agent.close()
