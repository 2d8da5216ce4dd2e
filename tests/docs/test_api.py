"""The Python API: every public name has a docstring and an example that runs, and a place on its page.

An example of a function is in its docstring, in that of its module, or in that of the class that it returns; an example
of a method is in its docstring, or in that of a class which has the method.
"""

import doctest
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

import ludodrome
from ludodrome import spaces
from tests.docs.markdown import DOCS
from tools.python_api import API_PAGES, LUDODROME

EXAMPLE = doctest.DocTestParser()
PUBLIC = {"ludodrome": ludodrome, "spaces": spaces}
NO_OBJECTS = {"spaces", "GAME", "NPZ", "PARQUET", "CHECKS", "CHECKS_ONCE"}
"""Public names that are a module or a constant."""
FURTHER = ("ludodrome.analysis.win_probability",)
"""Modules with examples beside those of the public names."""


def names() -> Iterator[tuple[str, Any, ModuleType]]:
    """Every public function and class, with the module that offers it."""
    for title, module in PUBLIC.items():
        for name in module.__all__:
            if name not in NO_OBJECTS:
                yield f"{title}.{name}", getattr(module, name), module


def methods() -> Iterator[tuple[str, str, type]]:
    """Every public method and property of the public classes, inherited ones too."""
    for title, thing, _ in names():
        if inspect.isclass(thing):
            for name, member in inspect.getmembers(thing):
                if not name.startswith("_") and _is_ours(thing, name) and _is_method(member):
                    yield f"{title}.{name}", name, thing


def _is_ours(thing: type, name: str) -> bool:
    owner = next(one for one in thing.__mro__ if name in vars(one))
    return owner.__module__.startswith("ludodrome")


def _is_method(member: Any) -> bool:
    return inspect.isroutine(member) or isinstance(member, property)


def examples(thing: Any) -> str:
    """The code of the examples in a docstring."""
    return "".join(one.source for one in EXAMPLE.get_examples(inspect.getdoc(thing) or ""))


def uses(code: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", code) is not None


NAMES = {title: (thing, module) for title, thing, module in names()}
METHODS = {title: (name, thing) for title, name, thing in methods()}
HOMES = {inspect.unwrap(thing).__module__ for thing, _ in NAMES.values()} | {"ludodrome.games.spaces", *FURTHER}
MODULES = sorted(
    name for name in HOMES if "\n    >>> " in (source := inspect.getsource(import_module(name))) or "\n>>> " in source
)


def test_something_is_looked_at() -> None:
    assert len(NAMES) > 60
    assert len(METHODS) > 100


@pytest.mark.parametrize("title", NAMES)
def test_every_public_name_has_a_docstring_and_an_example(title: str) -> None:
    thing, module = NAMES[title]
    assert inspect.getdoc(thing), "it has no docstring"
    name = title.rpartition(".")[2]
    hints = {} if inspect.isclass(thing) else inspect.get_annotations(inspect.unwrap(thing))
    assert examples(thing) or any(uses(examples(one), name) for one in (module, hints.get("return"))), (
        "it has no example"
    )


@pytest.mark.parametrize("title", METHODS)
def test_every_public_method_has_a_docstring_and_an_example(title: str) -> None:
    name, thing = METHODS[title]
    assert inspect.getdoc(getattr(thing, name)), "it has no docstring"
    places = [getattr(thing, name), *thing.__mro__, import_module(thing.__module__)]
    assert any(uses(examples(one), name) for one in places), "it has no example"


def test_what_has_no_example_is_noticed() -> None:
    class Bare:
        """Without an example."""

    assert examples(Bare) == ""
    assert not uses(">>> game.apply_to(states)\n", "apply")


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    found = doctest.testmod(import_module(name), report=True)
    assert found.attempted > 0
    assert found.failed == 0


def test_the_groups_of_the_first_page_have_every_name() -> None:
    assert sorted(name for _, group in LUDODROME for name in group) == sorted(set(ludodrome.__all__) - {"spaces"})


@pytest.mark.parametrize("page", API_PAGES)
def test_every_public_name_is_on_its_page(page: str) -> None:
    text = (DOCS / "reference" / "api" / f"{page}.md").read_text("utf-8")
    module = import_module(API_PAGES[page].module)
    for name in set(getattr(module, "__all__", ())) - NO_OBJECTS:
        assert re.search(rf"^#+ `{name}`$", text, re.MULTILINE), name
    assert text.count("\n## ") + text.count("\n### ") > 0


def test_every_method_is_on_the_page_of_its_class() -> None:
    pages = "".join((DOCS / "reference" / "api" / f"{page}.md").read_text("utf-8") for page in API_PAGES)
    for title, (name, thing) in METHODS.items():
        owners = [one.__name__ for one in thing.__mro__ if name in vars(one)]
        assert any(f"`{owner}.{name}`" in pages for owner in owners), title
