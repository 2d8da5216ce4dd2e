"""Imports that happen at first use, so that ``--help`` and completion answer at once."""

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import get_ident
from types import ModuleType
from typing import Any


@contextmanager
def lazy_imports() -> Iterator[None]:
    """Make ``from package import module`` inside the block lazy: the module is imported at its first use.

    Modules only: a stand-in for a class could neither be caught nor subclassed.
    """
    real, thread = builtins.__import__, get_ident()

    def lazily(name: str, *arguments: Any, **named: Any) -> ModuleType:
        fromlist = arguments[2] if len(arguments) > 2 else named.get("fromlist")
        if get_ident() == thread and fromlist:
            return _Package(name)
        return real(name, *arguments, **named)

    builtins.__import__ = lazily
    try:
        yield
    finally:
        builtins.__import__ = real


class _Package(ModuleType):
    """What ``from package import`` takes its names from."""

    def __getattr__(self, name: str) -> "LazyModule":
        return LazyModule(f"{self.__name__}.{name}")


class LazyModule(ModuleType):
    """Stand-in for a module that is not imported yet."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)
