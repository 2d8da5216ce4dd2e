"""Records in files and folders: find, filter and export them.

A folder holds one file a game; a file can also hold many, as JSON Lines or as text (``notation.py``).
"""

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludodrome.arena.records.format import SUFFIX, BadRecord, from_text, read, to_text
from ludodrome.arena.records.notation import format_records, parse_records
from ludodrome.arena.records.replay import replay_record
from ludodrome.arena.seats import CAUSES
from ludodrome.arena.telemetry import NUMBERS, final_numbers
from ludodrome.bots.identity import named_with_identity
from ludodrome.validation import listing, show

LINES, TABLE, MOVES, TEXT = FORMS = ("jsonl", "csv", "moves", "text")
"""Export formats: records, a CSV table with a row a game, one with a row a move, text."""
DRAWN = "draw"
COLUMNS = (
    "match",
    "game",
    "options",
    "names",
    "bots",
    "policy",
    "clock",
    "seed",
    "number",
    "turns",
    "winner",
    "winner_name",
    "reason",
    "scores",
    "returns",
    "decided_by",
    "verdicts",
    "refusals",
    "ms",
    "digest",
)
MOVE_COLUMNS = ("match", "game", "turn", "seat", "name", "move", "ms", "score", "depth", "nodes", "verdict")


def find(paths: Iterable[Path | str]) -> Iterator[dict[str, Any]]:
    """Read the records in files and folders, each folder in the order of its file names; BadRecord names the file."""
    for path in map(Path, paths):
        if os.path.isdir(path):  # not Path.is_dir, which fails on names that no file can have
            for file in sorted(path.glob(f"*{SUFFIX}")):
                yield read(file)
        elif path.suffix == f".{LINES}":
            yield from _of_lines(path)
        elif path.suffix == SUFFIX:
            yield read(path)
        else:
            yield from _of_text(path)


def _of_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read JSON Lines one by one: the file can be larger than memory."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield from_text(line.rstrip(b"\r\n"), f"line {number} of {path}")
    except OSError as error:
        raise BadRecord(f"{path} cannot be read: {error.strerror}") from error


def _of_text(path: Path) -> Iterator[dict[str, Any]]:
    try:
        text = _content(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRecord(f"{path} is not UTF-8 text: the byte at {error.start} is wrong") from None
    try:
        yield from parse_records(text)
    except BadRecord as wrong:
        raise BadRecord(f"{path}, {wrong}") from None


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadRecord(f"{path} cannot be read: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """A filter for records; None matches anything."""

    game: str | None = None
    bot: str | None = None
    """A name or a spec of one of the seats, or its name with a version, like ``mybot@0123456789ab``."""
    winner: str | None = None
    """A name or a spec, or ``draw``."""
    reason: str | None = None
    """A part of the reason."""
    verdict: str | None = None
    """The cause of one of the verdicts."""

    def __post_init__(self) -> None:
        if self.verdict is not None and self.verdict not in CAUSES:
            raise ValueError(f"a verdict is {listing(CAUSES, 'or')}, not {show(self.verdict)}")

    def __contains__(self, record: dict[str, Any]) -> bool:
        """Whether a record matches."""
        result = record["result"]
        causes = [one["cause"] for one in result["verdicts"]]
        return (
            self.game in (None, record["game"])
            and self.bot in (None, *record["names"], *record["bots"], *_versions(record))
            and self.winner in (None, *_winners(record))
            and (self.reason is None or self.reason in result["reason"])
            and self.verdict in (None, *causes)
        )


def _winners(record: dict[str, Any]) -> tuple[str, ...]:
    """The names of the winner: display name and spec."""
    winner = record["result"]["winner"]
    return (DRAWN,) if winner is None else (record["names"][winner], record["bots"][winner])


def _versions(record: dict[str, Any]) -> list[str]:
    """The bots' names with their versions, and the versions alone; empty in records that do not have them."""
    ids = record.get("bot_ids", [])
    return [*ids, *map(named_with_identity, record["names"], ids)]


def winner_name(record: dict[str, Any]) -> str:
    """The winner's name, or ``draw``."""
    return _winners(record)[0]


def export(records: Iterable[dict[str, Any]], form: str) -> Iterator[str]:
    """Yield records in one of the FORMS, line by line, without line ends; ValueError for an unknown form."""
    if form == LINES:
        yield from map(to_text, records)
    elif form == TABLE:
        yield _csv(COLUMNS)
        for record in records:
            yield _csv(row(record).values())
    elif form == MOVES:
        yield _csv(MOVE_COLUMNS)
        for record in records:
            yield from (_csv(cells.values()) for cells in move_rows(record))
    elif form == TEXT:
        yield from format_records(records)
    else:
        raise ValueError(f"records are exported as {listing(FORMS, 'or')}, not as {show(form)}")


def facts(record: dict[str, Any]) -> dict[str, Any]:
    """What a table says about a record, by column."""
    result, conditions = record["result"], record["conditions"]
    values = {
        **{name: record[name] for name in ("match", "game", "options", "names", "bots", "number", "ms")},
        "seed": record.get("seed"),
        **{name: result[name] for name in ("winner", "reason", "scores", "returns", "decided_by")},
        "policy": conditions["policy"],
        "clock": record.get("clocks", conditions["clock"]),
        "turns": len(record["turns"]),
        "winner_name": winner_name(record),
        "verdicts": result["verdicts"],
        "refusals": sum(len(turn.get("refusals", ())) for turn in record["turns"]),
        "digest": record["digest"],
    }
    return {name: values[name] for name in COLUMNS}


def row(record: dict[str, Any]) -> dict[str, Any]:
    """A record as one row of a CSV table, by column; lists and objects become JSON."""
    values = facts(record)
    values["verdicts"] = [f"{one['seat']} {one['cause']}" for one in values["verdicts"]]
    return {name: _cell(value) for name, value in values.items()}


def move_rows(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each turn of a record, the opening included. Scores are from the bot's own point of view."""
    replay = replay_record(record)
    turns = [*replay.turns, *([replay.stopped] if replay.stopped else [])]
    for number, turn in enumerate(turns):
        numbers = final_numbers(turn.entry.get("info", ()))
        values = {
            "match": record["match"],
            "game": record["game"],
            "turn": number,
            "seat": turn.seat,
            "name": record["names"][turn.seat],
            "move": turn.text,
            "ms": turn.entry.get("ms"),
            **{name: numbers.get(name) for name in NUMBERS},
            "verdict": turn.entry.get("verdict", {}).get("cause"),
        }
        yield {name: values[name] for name in MOVE_COLUMNS}


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if isinstance(value, list | dict) else value


def _csv(cells: Iterable[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()
