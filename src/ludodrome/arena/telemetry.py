"""Telemetry: what a bot says about its own search in ``info`` messages, as records keep it: bounded, by turn.

A score is from the bot's own point of view: higher is better for it. The numbers of a finished game are for everybody,
texts and lines of play are for the bot's owner, like its log; nothing is shown to anyone while the game runs.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ludodrome.arena.messages import INFO_FIELDS, read_info
from ludodrome.validation import listing, show

NUMBERS = ("score", "depth", "nodes")
MAX_TURN_INFO = 64 * 1024
"""The most bytes of telemetry that a record keeps of one turn ..."""
MAX_RECORD_INFO = 4 * 1024 * 1024
"""... and of all turns."""

Info = dict[str, Any]


def check_recorded(infos: Any) -> None:
    """Check the telemetry of one turn of a record; ValueError if the arena cannot have written it."""
    if type(infos) is not list or not infos:
        raise ValueError(f"its info is a list of objects, not {show(infos)}")
    for info in infos:
        if type(info) is not dict or not info or not set(info) <= set(INFO_FIELDS) or read_info(info) != info:
            raise ValueError(f"{show(info)} is not telemetry: it has some of {listing(INFO_FIELDS)}")
    if sum(map(size, infos)) > MAX_TURN_INFO:
        raise ValueError(f"its info has more than {MAX_TURN_INFO} bytes")


def size(info: Info) -> int:
    """The bytes of a message in a record."""
    return len(json.dumps(info, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode())


def latest(infos: Sequence[Info], limit: int) -> list[Info]:
    """The last messages of a turn that fit into ``limit`` bytes together."""
    kept: list[Info] = []
    for info in reversed(infos):
        limit -= size(info)
        if limit < 0:
            break
        kept.append(info)
    return kept[::-1]


def final_numbers(infos: Iterable[Info]) -> Info:
    """The last score, depth and nodes of a turn, as far as they were said."""
    numbers: Info = {}
    for info in infos:
        numbers |= {name: info[name] for name in NUMBERS if name in info}
    return {name: numbers[name] for name in NUMBERS if name in numbers}


def score_of(entry: dict[str, Any]) -> float | None:
    """The last score that a bot said in a turn of a record; None if it said none."""
    score: float | None = final_numbers(entry.get("info", ())).get("score")
    return score


class TelemetryBudget:
    """Keeps the telemetry of a record within its bounds: beyond them, only the last numbers of each turn."""

    def __init__(self) -> None:
        self._left = MAX_RECORD_INFO
        self.cut_seats: set[int] = set()
        """The seats of which something was left out."""

    def kept(self, seat: int, infos: Sequence[Info]) -> list[Info]:
        """The part of a turn's telemetry that the record keeps."""
        kept = latest(infos, min(MAX_TURN_INFO, self._left))
        if len(kept) < len(infos):
            self.cut_seats.add(seat)
        if not kept and (numbers := final_numbers(infos)):
            return [numbers]
        self._left -= sum(map(size, kept))
        return kept
