"""Reading what bots say, strictly, and keeping what they said."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludodrome.arena import messages
from ludodrome.arena.messages import (
    MAX_DEPTH,
    MAX_LINE,
    MAX_LONG_LINE,
    BadLine,
    clean_text,
    max_line,
    message_kind,
    read,
)
from ludodrome.games import make


def nested(depth: int) -> bytes:
    """An object so deep."""
    return b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)


def test_a_plain_line() -> None:
    assert read(b'{"type": "move", "move": [1, 2.5, "\xc3\xa9"], "turn": 3}\r') == {
        "type": "move",
        "move": [1, 2.5, "é"],
        "turn": 3,
    }


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b'{"a": 1} {"b": 2}', "Extra data at character 9"),
        (b"{'a': 1}", "not JSON"),
        (b"null", "a JSON object, not null"),
        (b'"text"', "a JSON object, not 'text'"),
        (b"\xff", "byte 0 is wrong"),
        (b'{"a": "\xc3"}', "byte 7 is wrong"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
        (b'{"a": 1e999}', "1e999 is too large"),
        (b'{"a": -1e999}', "-1e999 is too large"),
        (b'{"a": Infinity}', "Infinity is not a number"),
        (b'{"a": NaN}', "NaN is not a number"),
        (b'{"a": {"b": 1, "c": 2, "b": 1}}', "'b' twice"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"\\udfff": 1}', "surrogate"),
        (b'{"a": ' + b"1" * 5000 + b"}", "too many digits"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", "has at most 65536 bytes"),
        (nested(MAX_DEPTH + 1), "nested deeper than 32"),
        (b"\xef\xbb\xbf{}", "not JSON"),
    ],
)
def test_lines_that_are_none(line: bytes, why: str) -> None:
    with pytest.raises(BadLine, match=why if "(" not in why else None) as raised:
        read(line, MAX_LINE if len(line) < 100_000 or why.startswith("has") else 10**6)
    assert why in str(raised.value)
    assert len(str(raised.value)) < 150


def test_as_deep_and_as_long_as_is_allowed() -> None:
    assert read(nested(MAX_DEPTH))
    many = b'{"a": [' + b",".join([b"[{}]"] * 1000) + b"]}"
    assert len(read(many)["a"]) == 1000
    full = b'{"a": "' + b"x" * (MAX_LINE - 9) + b'"}'
    assert len(full) == MAX_LINE
    assert read(full)
    with pytest.raises(BadLine, match="has at most 65536 bytes, and this one has 65537"):
        read(full + b" ")


def test_lines_are_longer_where_moves_are_boards() -> None:
    assert max_line(make("spaces")) == MAX_LONG_LINE
    assert max_line(make("dots")) == MAX_LINE


def test_pairs_of_surrogates_are_characters() -> None:
    assert read(b'{"a": "\\ud83d\\ude00 \\u00e9 \\u0000"}') == {"a": "\U0001f600 é \0"}


@given(st.binary(max_size=200))
def test_bytes_by_chance(line: bytes) -> None:
    with contextlib.suppress(BadLine):
        assert type(read(line)) is dict


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), _values, max_size=4))
def test_what_is_sent_can_be_read(value: dict[str, Any]) -> None:
    try:
        line = messages.line(value)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return
    assert read(line) == value


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ({}, "a message has a type"),
        ({"type": 1}, "not 1"),
        ({"type": "move"}, "has the key move"),
        ({"type": "move", "move": 1, "turn": "7"}, "turn is a whole number, not '7'"),
        ({"type": "move", "move": 1, "turn": True}, "turn is a whole number, not true"),
        ({"type": "move", "move": 1, "turn": None}, "turn is a whole number, not null"),
        ({"type": "error"}, "has the key error, a text, not null"),
        ({"type": "error", "error": 5}, "not 5"),
        ({"type": "log", "text": []}, "has the key text"),
    ],
)
def test_messages_that_cannot_be_taken(message: dict[str, Any], why: str) -> None:
    with pytest.raises(BadLine) as raised:
        message_kind(message)
    assert why in str(raised.value)


@pytest.mark.parametrize(
    "message",
    [
        {"type": "move", "move": None},
        {"type": "move", "move": 1, "turn": -5, "extra": {}},
        {"type": "error", "error": "", "turn": 3},
        {"type": "log", "text": "x", "turn": "whatever"},
        {"type": "news", "move": 1},
    ],
)
def test_messages_that_can(message: dict[str, Any]) -> None:
    assert message_kind(message) == message["type"]


def test_kept_texts_are_short_and_clean() -> None:
    assert clean_text("a\0b") == "a\\u0000b"
    assert clean_text("\ud800") == "\\ud800"
    assert clean_text("x" * 1000) == "x" * 1000
    assert clean_text("x" * 1001) == "x" * 999 + "…"
    assert len(clean_text("\0" * 1000)) == 1000
    assert clean_text({"a": 1}) == '{"a":1}'
