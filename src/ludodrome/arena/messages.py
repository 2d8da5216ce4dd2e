"""The messages of the bot protocol: making the arena's, and reading a bot's, strictly.

A bot's line is read once, here, and what is wrong with it is one sentence. What an answer leads to is for
``referee.py``; how messages travel is for ``transports/``. docs/reference/protocol.md explains them to authors of bots.
"""

import json
import math
from typing import Any

from ludodrome.arena.clocks import Clock
from ludodrome.bots.player import hello_message
from ludodrome.game import Game
from ludodrome.validation import show

MAX_LINE = 64 * 1024
"""Bytes that a line from a bot may have."""
MAX_LONG_LINE = 4 * 1024 * 1024
"""The same in spaces, where a move is a board of up to 40,000 steps, or ten of them."""
MAX_DEPTH = 32
"""So deep may lists and objects be nested."""
MAX_TEXT = 1000
"""Characters that are kept of a text from a bot."""

Message = dict[str, Any]


class BadLine(ValueError):
    """What a bot said is no message; the sentence says why."""


# What the arena says


def hello(match: str, game: Game, seat: int, clock: Clock, seed: int) -> Message:
    """A game begins."""
    return hello_message(game, seat, seed, match) | {"clock": clock.to_json()}


def observe(match: str, seat: int, turn: int, state: Any) -> Message:
    """What the seats that are not on the move are shown, in games that ask every seat."""
    return {"type": "observe", "match": match, "seat": seat, "turn": turn, "state": state}


def refused(match: str, turn: int, why: str, tries_left: int) -> Message:
    """A move was not accepted, and another may be tried."""
    return {"type": "refused", "match": match, "turn": turn, "why": why, "tries_left": tries_left}


def over(match: str, result: dict[str, Any], seat: int) -> Message:
    """The game has ended; each seat is told its own last verdict."""
    own = [verdict for verdict in result["verdicts"] if verdict["seat"] == seat]
    verdict = {"cause": own[-1]["cause"], "why": own[-1]["why"]} if own else None
    told = {name: result[name] for name in ("winner", "reason", "scores")}
    return {"type": "over", "match": match, **told, "verdict": verdict}


_to_text = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def line(message: Message) -> bytes:
    """A message as it is sent."""
    return _to_text(message).encode() + b"\n"


# What a bot says


def max_line(game: Game) -> int:
    """Bytes that a line from a bot may have in a game."""
    return MAX_LONG_LINE if game.actions_a_turn > 1 else MAX_LINE


def read(text: bytes, limit: int = MAX_LINE) -> Message:
    """The object on a line, or BadLine."""
    if len(text) > limit:
        raise BadLine(f"a line has at most {limit} bytes, and this one has {len(text)}")
    value = read_json(text)
    if type(value) is not dict:
        raise BadLine(f"a line is a JSON object, not {show(value)}")
    return value


def read_json(text: bytes, deepest: int = MAX_DEPTH) -> Any:
    """A JSON value in strict UTF-8: finite numbers, no doubled keys, no halves of characters, not too deep."""
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
    raise BadLine(f"{text} is no number in JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_float=_number, parse_constant=_constant)


def _depth(value: Any, enough: int) -> int:
    """How deep a value is nested, counted level by level, no farther than one beyond ``enough``."""
    depth = 0
    level = [value] if type(value) in (list, dict) else []
    while level and depth <= enough:
        depth += 1
        inner = (one.values() if type(one) is dict else one for one in level)
        level = [item for items in inner for item in items if type(item) in (list, dict)]
    return depth


def _check_characters(value: Any) -> None:
    """Escapes can name halves of characters, which no UTF-8 text can hold."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadLine("a text has half a surrogate pair in it, which is no character") from None


# Texts that are kept


def clean_text(text: Any, limit: int = MAX_TEXT) -> str:
    """A text from a bot as records and databases can hold it: cut, and without NUL and halves of characters."""
    words = text if type(text) is str else _to_text(text)
    clean = words[: limit + 1].encode("utf-8", "backslashreplace").decode().replace("\0", "\\u0000")
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"
