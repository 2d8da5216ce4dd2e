"""All compiled entry points of a game, made from its rules, evaluator and planes.

Python calls *entry points*: functions over arrays of states that Numba compiles and caches on disk. Numba caches only
functions of a module that is a file, so this module generates one for each game: a few lines for each method of
``game_spec.Kernels`` that call the game's rules or a search kernel made for it. The file lies in the game's cache
directory. It is never run from there: the text is generated anew in each process, and the file serves as the stamp of
Numba's cache and for tracebacks. Where nothing can be written, the functions are compiled in memory.

The entry points of a search are made when they are first called, so a process that only plays moves makes no search.
"""

import linecache
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, cast

import numpy as np

from ludodrome import atomic_io, kernel_cache
from ludodrome.game_spec import Evaluator, Kernels, Network, Rules
from ludodrome.jit import COMPILED, compile_entry, python
from ludodrome.search.alphabeta import make_alphabeta
from ludodrome.search.batch import make_batch
from ludodrome.search.maxn import make_maxn
from ludodrome.search.mcts import make_mcts
from ludodrome.search.network import NetworkKernels, make_network_kernels
from ludodrome.search.opponents import make_answer_alphabeta, make_answer_greedy, make_one_ply
from ludodrome.search.perft import make_perft
from ludodrome.search.planning import make_planning
from ludodrome.search.playouts import make_playouts
from ludodrome.search.self_play import make_self_play
from ludodrome.search.vector import make_default_observe, make_vector

Function = Callable[..., Any]

_STAMP = 946_684_800
"""The modification time of every generated file: Numba takes a file with another time for changed."""
_making = threading.RLock()


class Parts(NamedTuple):
    """What the kernels of one game are made of."""

    rules: Rules
    evaluator: Evaluator | None = None
    observe: Function | None = None
    """(s, seat, out): fill the planes (planes, cells)."""
    greedy: Function | None = None
    """(states, words, buffer, count): keep the actions of states[0] that a greedy player considers; how many."""
    one_action_a_turn: bool = True
    network: Network | None = None


def make_kernels(
    rules: Rules,
    evaluator: Evaluator | None = None,
    observe: Function | None = None,
    *,
    dtype: np.dtype[Any] | None = None,
    seats: int = 2,
    greedy: Function | None = None,
    one_action_a_turn: bool = True,
    network: Network | None = None,
) -> Kernels:
    """Make the entry points of a game: what ``Game.kernels`` is.

    ``observe`` (s, seat, out) fills the planes of a game that has its own; otherwise give the ``dtype`` of its states
    and its largest number of ``seats``, and learners see the record byte by byte. ``greedy`` replaces the greedy
    opponent that the evaluator gives. ``one_action_a_turn``: whether every action ends a turn. ``network``: what a
    learned evaluation looks at.

    Without an evaluator there is no alpha-beta, without ``observe`` and ``dtype`` there are no environments: their
    entry points are missing, and ``hasattr`` says so. A codec that needs the rules calls ``make_kernels(RULES)``: the
    same entry points are shared.
    """
    if observe is None and dtype is not None:
        observe = make_default_observe(rules, dtype, seats)
    return cast(Kernels, _entry_points(Parts(rules, evaluator, observe, greedy, one_action_a_turn, network)))


def _entry_points(parts: Parts) -> ModuleType:
    """A game's entry points by name: a plain module, whose attributes Python finds fastest.

    Those of the rules are called move by move and made at once; each of the others is made when it is first called.
    """
    made = ModuleType(f"{parts.rules.legal.__module__}_kernels")
    for name in _available(parts):
        if name in Rules._fields:
            setattr(made, name, _library(parts.rules).entry_point(name, parts))
        else:
            setattr(made, name, _pending(made, name, parts))
    return made


def _pending(kernels: ModuleType, name: str, parts: Parts) -> Function:
    """A function that makes an entry point at its first call and takes its own place in ``kernels``."""

    def make_and_call(*arguments: Any) -> Any:
        with _making:
            made = _library(parts.rules).entry_point(name, parts)
        setattr(kernels, name, made)
        return made(*arguments)

    make_and_call.__name__ = name
    return make_and_call


# Which entry points there are

_FACTORIES: dict[tuple[str, ...], Callable[[Parts, "_Library"], Any]] = {
    ("playouts",): lambda parts, _: make_playouts(parts.rules),
    ("perft",): lambda parts, _: make_perft(parts.rules, parts.one_action_a_turn),
    ("reset_many", "step_many", "mask_many"): lambda parts, _: make_batch(parts.rules),
    ("simulate", "reroot"): lambda parts, _: make_mcts(parts.rules),
    ("plan_select", "plan_back_up"): lambda parts, _: make_planning(parts.rules),
}
_VECTOR_FACTORIES: dict[tuple[str, ...], Callable[[Parts, "_Library"], Any]] = {
    ("begin_many", "act_many", "settle_many", "look_many", "movers_many", "answer_random"): (
        lambda parts, _: make_vector(parts.rules, cast(Function, parts.observe))
    ),
}
_GREEDY_FACTORIES: dict[tuple[str, ...], Callable[[Parts, "_Library"], Any]] = {
    ("answer_greedy",): lambda parts, _: make_answer_greedy(
        parts.rules, parts.greedy or make_one_ply(parts.rules, cast(Evaluator, parts.evaluator))
    ),
}
_SEARCH_FACTORIES: dict[tuple[str, ...], Callable[[Parts, "_Library"], Any]] = {
    ("alphabeta",): lambda parts, _: make_alphabeta(parts.rules, cast(Evaluator, parts.evaluator)),
    ("maxn",): lambda parts, _: make_maxn(parts.rules, cast(Evaluator, parts.evaluator)),
    ("answer_alphabeta",): lambda parts, library: make_answer_alphabeta(
        parts.rules, cast(Evaluator, parts.evaluator), library.product("alphabeta", parts)
    ),
    ("self_play",): lambda parts, library: make_self_play(
        parts.rules, cast(Evaluator, parts.evaluator), library.product("alphabeta", parts)
    ),
}
_NETWORK_FACTORIES: dict[tuple[str, ...], Callable[[Parts, "_Library"], Any]] = {
    NetworkKernels._fields: lambda parts, _: make_network_kernels(
        parts.rules, cast(Evaluator, parts.evaluator), cast(Network, parts.network)
    ),
    ("alphabeta_net",): lambda parts, _: make_alphabeta(parts.rules, cast(Evaluator, parts.evaluator), parts.network),
    ("self_play_net",): lambda parts, library: make_self_play(
        parts.rules,
        cast(Evaluator, parts.evaluator),
        library.product("alphabeta_net", parts),
        library.product("refresh_at", parts),
    ),
}
_FACTORY_OF = {
    name: (names, factory)
    for group in (_FACTORIES, _VECTOR_FACTORIES, _GREEDY_FACTORIES, _SEARCH_FACTORIES, _NETWORK_FACTORIES)
    for names, factory in group.items()
    for name in names
}
_OF_EVALUATOR = tuple(name for name in Evaluator._fields if hasattr(Kernels, name))


def _names(*groups: dict[tuple[str, ...], Any]) -> set[str]:
    return {name for group in groups for names in group for name in names}


def _available(parts: Parts) -> frozenset[str]:
    """The entry points that a game with these parts has."""
    found = {*Rules._fields, *_names(_FACTORIES)}
    if parts.observe is not None:
        found |= _names(_VECTOR_FACTORIES)
    if parts.evaluator is not None:
        found |= {*_OF_EVALUATOR, *_names(_SEARCH_FACTORIES)}
    if parts.network is not None:
        found |= _names(_NETWORK_FACTORIES) - {"refresh_at"}  # only kernels call that
    if parts.greedy is not None or (parts.evaluator is not None and not parts.evaluator.by_points):
        found |= _names(_GREEDY_FACTORIES)
    return frozenset(found)


# The generated module

_SPECIAL = {
    "move_score": "_move_score(states[0], _move_context(states[0]), action)",
    "update_hash": "_update_hash(states[0], states[1], keys, 0)",
    "gain": "_gain(states[0], states[1])",
}
"""Entry points whose call is not their own arguments."""


def _generated() -> str:
    """The text of the module: one function for each method of ``Kernels``."""
    lines = ['"""Entry points of a game, generated by ludodrome/search/entry_points.py."""\n']
    for name, method in vars(Kernels).items():
        if name.startswith("_") or not callable(method):
            continue
        code = method.__code__
        arguments = code.co_varnames[1 : code.co_argcount]  # without self
        on_record = name in Rules._fields or name in Evaluator._fields
        passed = ("states[0]", *arguments[1:]) if on_record else arguments
        call = _SPECIAL.get(name, f"_{name}({', '.join(passed)})")
        lines.append(f"\n\ndef {name}({', '.join(arguments)}):\n    return {call}\n")
    return "".join(lines)


SOURCE = _generated()


class _Library:
    """The generated module of one game, and what was made of it so far."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        legal = python(rules.legal)
        self.folder = kernel_cache.package_folder(Path(legal.__code__.co_filename))
        name = f"{legal.__module__}_entry_points"
        directory = kernel_cache.cache_directory(self.folder) if COMPILED else None
        file = str(_written(directory, name) or f"<{name}>")
        self.module = ModuleType(name)
        self.module.__file__ = file
        linecache.cache[file] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), file)
        sys.modules[name] = self.module  # Numba looks a function's module up there
        exec(compile(SOURCE, file, "exec"), vars(self.module))
        self.cached = not file.startswith("<")
        self._made: dict[str, Any] = {}

    def entry_point(self, name: str, parts: Parts) -> Any:
        """The compiled function of a name."""
        if name not in self._made:
            for callee in (name, "move_context") if name == "move_score" else (name,):
                self._bind(callee, self.product(callee, parts))
            function = getattr(self.module, name)
            self._made[name] = compile_entry(function, self.folder if self.cached else None)
        return self._made[name]

    def product(self, name: str, parts: Parts) -> Any:
        """The kernel that an entry point calls; a factory is run once."""
        if name in Rules._fields:
            return getattr(parts.rules, name)
        if name in Evaluator._fields:
            return getattr(parts.evaluator, name)
        bound = vars(self.module).get(f"_{name}")
        if bound is not None:
            return bound
        names, factory = _FACTORY_OF[name]
        made = factory(parts, self)
        for one, kernel in zip(names, made if len(names) > 1 else (made,), strict=True):
            self._bind(one, kernel)
        return vars(self.module)[f"_{name}"]

    def _bind(self, name: str, kernel: Any) -> None:
        setattr(self.module, f"_{name}", kernel)


_libraries: dict[str, _Library] = {}


def _library(rules: Rules) -> _Library:
    """The library of a game, made once; a module can hold the rules of one game only."""
    module = rules.legal.__module__
    found = _libraries.get(module)
    if found is None:
        found = _libraries[module] = _Library(rules)
    elif found.rules != rules:
        raise ValueError(f"{module} declares the rules of two games; give each a module of its own")
    return found


def _written(directory: Path | None, name: str) -> Path | None:
    """Write the generated text into a cache directory, if it is not there; None if it cannot be written."""
    if directory is None:
        return None
    path = directory / f"{name}.py"
    text = SOURCE.encode()
    with suppress(OSError):
        found = path.stat()
        if found.st_mtime == _STAMP and path.read_bytes() == text:
            return path
    try:
        atomic_io.write_whole(path, text, mtime=_STAMP)
    except OSError:
        return None
    return path
