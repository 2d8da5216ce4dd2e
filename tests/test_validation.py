"""Strict reading, and sentences that are never long."""

from typing import Any

import pytest

from ludodrome import validation
from tests.hostile import HOSTILE_VALUES, deep


@pytest.mark.parametrize("value", [*HOSTILE_VALUES, deep(100_000)], ids=lambda value: type(value).__name__)
def test_anything_can_be_shown(value: Any) -> None:
    assert 1 <= len(validation.show(value)) <= 100
    assert "\n" not in validation.show(value)


def test_what_is_shown() -> None:
    shown = [validation.show(value) for value in (None, True, 3, 2**90, 0.5, "a'b", [1, 2], {}, {"a": 1}, (1,))]
    assert shown == [
        "null",
        "true",
        "3",
        "a huge integer",
        "0.5",
        '"a\'b"',
        "a list of 2",
        "an empty object",
        "an object",
        "something of type tuple",
    ]


def test_listing() -> None:
    assert validation.listing([]) == "nothing"
    assert validation.listing(["a"]) == "a"
    assert validation.listing(["a", "b"], "or") == "a or b"
    assert validation.listing("abc") == "a, b and c"


@pytest.mark.parametrize("wrong", [True, 1.0, "1", None, -1, 8])
def test_integers_are_integers(wrong: Any) -> None:
    assert validation.integer(7, 0, 7, "n", KeyError) == 7  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^n is a whole number from 0 to 7, not "):
        validation.integer(wrong, 0, 7, "n", ValueError)
    assert not validation.is_int(wrong, 0, 7)


def test_choices_keep_types_apart() -> None:
    assert validation.choice(1, [0, 1], "x", ValueError) == 1
    for wrong in (True, 1.0, "1"):
        with pytest.raises(ValueError, match="x is 0 or 1, not "):
            validation.choice(wrong, [0, 1], "x", ValueError)


def test_fields_name_what_is_missing_and_what_is_unknown() -> None:
    assert validation.fields({"a": 1, "b": 2}, ("a", "b"), "it", ValueError) == {"a": 1, "b": 2}
    for wrong, sentence in [
        ({"a": 1}, "it lacks 'b'; its keys are a and b"),
        ({"a": 1, "c": 2}, "it lacks 'b'; its keys are a and b"),
        ({"a": 1, "b": 2, "c": 3}, "it has the unknown key 'c'; its keys are a and b"),
        ([], "it is an object with the keys a and b, not a list of 0"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            validation.fields(wrong, ("a", "b"), "it", ValueError)


def test_items_are_counted() -> None:
    assert validation.items([1, 2], 2, "it", ValueError) == [1, 2]
    for wrong in ([1], (1, 2), None, "ab"):
        with pytest.raises(ValueError, match="it is a list of 2, not "):
            validation.items(wrong, 2, "it", ValueError)
