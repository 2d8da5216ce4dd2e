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
MAX_INFO = 4 * 1024
"""The most bytes of an ``info`` line."""
INFO_FIELDS = ("score", "depth", "nodes", "pv", "text")

Message = dict[str, Any]


class BadLine(ValueError):
    """A line from a bot is malformed; the sentence says why."""


class NotJson(BadLine):
    """A line from a bot is no JSON object at all."""


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
        raise NotJson(f"a line is a JSON object, not {show(value)}")
    return value


def read_json(text: bytes, deepest: int = MAX_DEPTH) -> Any:
    """Parse JSON in strict UTF-8: finite numbers, no duplicate keys, no lone surrogates, limited depth."""
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotJson(f"the line is not UTF-8: byte {error.start} is wrong") from None
    try:
        value = _decoder.decode(decoded)
    except BadLine:
        raise
    except RecursionError:
        raise BadLine(f"the line is nested deeper than {deepest}") from None
    except json.JSONDecodeError as error:
        raise NotJson(f"the line is not JSON: {error.msg} at character {error.pos}") from None
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


def message_kind(message: Message) -> str:
    """Check the fields of a bot's message and return its type; BadLine if they are wrong."""
    kind = message.get("type")
    if type(kind) is not str:
        raise BadLine(f'a message has a type, as in {{"type": "move", "move": ...}}, not {show(kind)}')
    if kind == "move" and "move" not in message:
        raise BadLine("a message of the type move has the key move")
    for name, owner in (("error", "error"), ("text", "log")):
        if kind == owner and type(message.get(name)) is not str:
            raise BadLine(f"a message of the type {owner} has the key {name}, a text, not {show(message.get(name))}")
    if kind in ("move", "error") and "turn" in message and type(message["turn"]) is not int:
        raise BadLine(f"turn is a whole number, not {show(message['turn'])}")
    return kind


def read_info(message: Message) -> dict[str, Any]:
    """The telemetry of an ``info`` message, without fields that are null; BadLine if one has the wrong type."""
    found = {name: message[name] for name in INFO_FIELDS if message.get(name) is not None}
    for name in ("depth", "nodes"):
        if name in found and (type(found[name]) is not int or not 0 <= found[name] < 2**63):
            raise BadLine(f"{name} of info is a whole number from 0, not {show(found[name])}")
    if "score" in found and (type(found["score"]) not in (int, float) or not abs(found["score"]) < 2**63):
        raise BadLine(f"score of info is a number, not {show(found['score'])}")
    if "pv" in found and type(found["pv"]) is not list:
        raise BadLine(f"pv of info is a list of moves, not {show(found['pv'])}")
    if "pv" in found and "\\u0000" in _to_text(found["pv"]):
        raise BadLine("pv of info contains a NUL")
    if "text" in found:
        if type(found["text"]) is not str:
            raise BadLine(f"text of info is a text, not {show(found['text'])}")
        found["text"] = clean_text(found["text"])
    return found


def read_ready(message: Message) -> tuple[str, list[str]]:
    """``games`` and ``wants`` of a ``ready`` message; BadLine if they have the wrong type."""
    games, wants = message.get("games", "one"), message.get("wants", [])
    if type(games) is not str:
        raise BadLine(f'games of ready is "one" or "many", not {show(games)}')
    if type(wants) is not list or not all(type(one) is str for one in wants):
        raise BadLine(f"wants of ready is a list of texts, not {show(wants)}")
    return games, wants


# Stored texts


def clean_text(text: Any, limit: int = MAX_TEXT) -> str:
    """Make a text from a bot safe to store: cut it, and escape NUL and lone surrogates."""
    words = text if type(text) is str else _to_text(text)
    clean = words[: limit + 1].encode("utf-8", "backslashreplace").decode().replace("\0", "\\u0000")
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"
