"""The messages of the bot protocol: build the arena's, and parse a bot's strictly.

``referee.py`` decides what an answer leads to; ``transports/`` carry the messages. docs/reference/protocol.md explains
them to bot authors.
"""

import json
import math
from typing import Any

from ludodrome.arena.clocks import Clock
from ludodrome.bots.player import hello_message
from ludodrome.game import Game
from ludodrome.validation import show

MAX_LINE = 64 * 1024
"""The most bytes of a line from a bot."""
MAX_LONG_LINE = 4 * 1024 * 1024
"""The same in games whose turns have many steps: a move can be a board of 40,000 steps, or ten of them."""
MAX_DEPTH = 32
"""How deep lists and objects can be nested."""
MAX_TEXT = 1000
"""The most characters kept of a text from a bot."""

Message = dict[str, Any]


class BadLine(ValueError):
    """A line from a bot is malformed; the sentence says why."""


# From the arena


def hello(match: str, game: Game, seat: int, clock: Clock, seed: int) -> Message:
    """The start of a game."""
    return hello_message(game, seat, seed, match) | {"clock": clock.to_json()}


def observe(match: str, seat: int, turn: int, state: Any) -> Message:
    """The position for a seat that is not to move, in games that ask every seat."""
    return {"type": "observe", "match": match, "seat": seat, "turn": turn, "state": state}


def refused(match: str, turn: int, why: str, tries_left: int) -> Message:
    """A refused move; the bot can try another."""
    return {"type": "refused", "match": match, "turn": turn, "why": why, "tries_left": tries_left}


def over(match: str, result: dict[str, Any], seat: int) -> Message:
    """The end of a game, with the last verdict on this seat."""
    own = [verdict for verdict in result["verdicts"] if verdict["seat"] == seat]
    verdict = {"cause": own[-1]["cause"], "why": own[-1]["why"]} if own else None
    shown = {name: result[name] for name in ("winner", "reason", "scores")}
    return {"type": "over", "match": match, **shown, "verdict": verdict}


_to_text = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def line(message: Message) -> bytes:
    """Encode a message as one line."""
    return _to_text(message).encode() + b"\n"


# From a bot


def max_line(game: Game) -> int:
    """The most bytes of a line from a bot in this game."""
    return MAX_LONG_LINE if game.actions_a_turn > 1 else MAX_LINE


def read(text: bytes, limit: int = MAX_LINE) -> Message:
    """Parse a line; BadLine if it is not a JSON object."""
    if len(text) > limit:
        raise BadLine(f"a line has at most {limit} bytes, and this one has {len(text)}")
    value = read_json(text)
    if type(value) is not dict:
        raise BadLine(f"a line is a JSON object, not {show(value)}")
    return value


def read_json(text: bytes, deepest: int = MAX_DEPTH) -> Any:
    """Parse JSON in strict UTF-8: finite numbers, no duplicate keys, no lone surrogates, limited depth."""
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadLine(f"the line is not UTF-8: byte {error.start} is wrong") from None
    try:
        value = _decoder.decode(decoded)
    except BadLine:
        raise
    except RecursionError:
        raise BadLine(f"the line is nested deeper than {deepest}") from None
    except json.JSONDecodeError as error:
        raise BadLine(f"the line is not JSON: {error.msg} at character {error.pos}") from None
    except ValueError:
        raise BadLine("the line has a number of too many digits") from None
    if text.count(b"[") + text.count(b"{") > deepest and _depth(value, deepest) > deepest:
        raise BadLine(f"the line is nested deeper than {deepest}")
    if b"\\u" in text:
        _check_characters(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadLine(f"an object has the key {show(twice)} twice")
    return found


def _number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise BadLine(f"the number {text[:20]} is too large")
    return number


def _constant(text: str) -> float:
    raise BadLine(f"{text} is not a number in JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_float=_number, parse_constant=_constant)


def _depth(value: Any, enough: int) -> int:
    """The nesting depth of a value, counted level by level up to ``enough`` + 1."""
    depth = 0
    level = [value] if type(value) in (list, dict) else []
    while level and depth <= enough:
        depth += 1
        inner = (one.values() if type(one) is dict else one for one in level)
        level = [item for items in inner for item in items if type(item) in (list, dict)]
    return depth


def _check_characters(value: Any) -> None:
    """Refuse lone surrogates, which escapes can write and UTF-8 cannot."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadLine("a text has half a surrogate pair in it, which is not a character") from None


# Stored texts


def clean_text(text: Any, limit: int = MAX_TEXT) -> str:
    """Make a text from a bot safe to store: cut it, and escape NUL and lone surrogates."""
    words = text if type(text) is str else _to_text(text)
    clean = words[: limit + 1].encode("utf-8", "backslashreplace").decode().replace("\0", "\\u0000")
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"
