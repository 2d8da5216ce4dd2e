"""Strict validation of JSON values from outside, with sentences that say what is wrong.

``true`` and ``1.0`` are not integers here, unknown keys are refused, and a value shown in a sentence is at
most a line long. Each function takes the exception to raise, so that callers can tell a bad state from a bad move.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import Any

Complaint = type[ValueError]

_SHOWN = 40
_SMALL = 10**15


def show(value: Any) -> str:
    """Show a value in a few words, whatever it is."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if type(value) is int:
        return str(value) if -_SMALL < value < _SMALL else "a huge integer"
    if type(value) is float:
        return repr(value)
    if type(value) is str:
        return repr(value) if len(value) <= _SHOWN else f"a text of {len(value)} characters"
    if type(value) is list:
        return f"a list of {len(value)}"
    if type(value) is dict:
        return "an object" if value else "an empty object"
    return f"something of type {type(value).__name__[:_SHOWN]}"


def listing(words: Iterable[Any], last: str = "and") -> str:
    """Words as people list them: a, b and c; "nothing" if there are none."""
    items = [str(word) for word in words]
    if not items:
        return "nothing"
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"


def plural(count: int, noun: str) -> str:
    """A number with its noun, which takes an s unless there is one.

    >>> plural(1, "step"), plural(0, "step"), plural(1200, "board")
    ('1 step', '0 steps', '1,200 boards')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def is_int(value: Any, low: int, high: int) -> bool:
    """Whether a value is a whole number from low to high, and not a boolean."""
    return type(value) is int and low <= value <= high


def whole(value: Any, where: str, complaint: Complaint) -> int:
    """A whole number of any size, or a complaint."""
    if type(value) is int:
        return value
    raise complaint(f"{where} is a whole number, not {show(value)}")


def integer(value: Any, low: int, high: int, where: str, complaint: Complaint) -> int:
    """A whole number from low to high, or a complaint."""
    if type(value) is int and low <= value <= high:
        return value
    raise complaint(f"{where} is a whole number from {low} to {high}, not {show(value)}")


def same(value: Any, right: Any, where: str, complaint: Complaint) -> None:
    """Exactly this value, type and all, or a complaint."""
    if type(value) is not type(right) or value != right:
        raise complaint(f"{where} is {show(right)}, not {show(value)}")


def choice(value: Any, among: Sequence[Any], where: str, complaint: Complaint) -> Any:
    """One of a few values, of exactly its type, or a complaint."""
    for one in among:
        if type(value) is type(one) and value == one:
            return value
    raise complaint(f"{where} is {listing(map(show, among), 'or')}, not {show(value)}")


def items(value: Any, count: int, where: str, complaint: Complaint) -> list[Any]:
    """A list of ``count`` items, or a complaint."""
    if type(value) is list and len(value) == count:
        return value
    raise complaint(f"{where} is a list of {count}, not {show(value)}")


@functools.cache
def _key_set(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(names)


def fields(value: Any, names: tuple[str, ...], where: str, complaint: Complaint) -> dict[str, Any]:
    """An object with exactly these keys, or a complaint that names the missing or the unknown."""
    if type(value) is not dict:
        raise complaint(f"{where} is an object with the keys {listing(names)}, not {show(value)}")
    if value.keys() != _key_set(names):
        missing = [name for name in names if name not in value]
        if missing:
            raise complaint(f"{where} lacks {listing(map(repr, missing))}; its keys are {listing(names)}")
        unknown = next(key for key in value if key not in names)
        raise complaint(f"{where} has the unknown key {show(unknown)}; its keys are {listing(names)}")
    return value
