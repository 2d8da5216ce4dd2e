"""Records of games: their form (version 1), their chain of digests, reading and writing.

A record is one JSON object: the play_spec, the seats' seeds, every turn after the opening, the result, and, beside
the digest, times, standard errors and notes. Each turn's digest covers all that came before it and the position that
it led to; the record's own covers everything but times, standard errors and notes, which may differ between two
runs of the same game. docs/reference/records.md describes every field.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from ludodrome.arena.messages import BadLine, clean_text, read_json
from ludodrome.arena.play_spec import PlaySpec, canonical_json
from ludodrome.atomic_io import write_whole

KIND, VERSION = "record", 1
MAX_SENT = 16 * 1024
"""Bytes of JSON that are kept whole of a refused move."""
MAX_RECORD_DEPTH = 64
"""So deep may a record be nested: what a bot sent is part of it."""
NOT_COVERED = ("stderr", "notes", "ms", "digest")
"""What the digest does not cover."""
SUFFIX = ".json"


class BadRecord(ValueError):
    """Something in a record does not fit; ``ply`` is the turn at which it shows, if it shows at one."""

    def __init__(self, message: str, ply: int | None = None) -> None:
        super().__init__(message if ply is None else f"turn {ply}: {message}")
        self.ply = ply


# Making


def header(play_spec: PlaySpec, match: str) -> dict[str, Any]:
    """What stands above the turns."""
    return {
        "ludodrome": KIND,
        "version": VERSION,
        "match": match,
        **play_spec.to_json(),
        "seeds": play_spec.seat_seeds,
    }


class Chain:
    """Digests, each of which covers what came before it."""

    def __init__(self, head: dict[str, Any], state: Any) -> None:
        self._last = hashlib.sha256(canonical_json([head, state])).digest()

    def link(self, entry: dict[str, Any], state: Any) -> dict[str, Any]:
        """A turn with its digest; ``state`` is the position after it."""
        self._last = hashlib.sha256(self._last + canonical_json([timeless(entry), state])).digest()
        entry["digest"] = self._last.hex()[:16]
        return entry

    def finish(self, record: dict[str, Any]) -> dict[str, Any]:
        """A record with its digest."""
        record["digest"] = digest(record)
        return record


def timeless(entry: dict[str, Any]) -> dict[str, Any]:
    """A turn without its times and its digest."""
    bare = {name: value for name, value in entry.items() if name not in ("ms", "digest")}
    if "refusals" in bare:
        bare["refusals"] = [{k: v for k, v in refusal.items() if k != "ms"} for refusal in bare["refusals"]]
    return bare


def digest(record: dict[str, Any]) -> str:
    """The digest of a record: of everything but times, standard errors and notes."""
    covered = {name: value for name, value in record.items() if name not in NOT_COVERED}
    covered["turns"] = [{**timeless(entry), "digest": entry["digest"]} for entry in record["turns"]]
    return hashlib.sha256(canonical_json(covered)).hexdigest()


def comparable(record: dict[str, Any]) -> dict[str, Any]:
    """All of a record that is the same whenever the same game is played again."""
    covered = {name: value for name, value in record.items() if name not in ("stderr", "notes", "ms")}
    covered["turns"] = [{**timeless(entry), "digest": entry["digest"]} for entry in record["turns"]]
    return covered


def rounded(number: float) -> float:
    """A number as records hold it: whole ones without a fraction, others to three places."""
    return int(number) if number == int(number) else round(number, 3)


def stored_answer(move: Any) -> dict[str, Any]:
    """A refused move: whole if it is small, else its beginning as a text."""
    try:
        text = canonical_json(move)
    except (TypeError, ValueError):
        return {"sent": clean_text(repr(move)), "cut": True}
    if len(text) <= MAX_SENT and b"\\u0000" not in text:
        return {"sent": move}
    return {"sent": clean_text(text.decode()), "cut": True}


# Files


def write(record: dict[str, Any], directory: Path | str) -> Path:
    """Write a record into a directory, whole or not at all; its file is named by its match."""
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record['match']}{SUFFIX}"
    write_whole(path, (to_text(record) + "\n").encode())
    return path


def to_text(record: dict[str, Any]) -> str:
    """A record on one line."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def read(path: Path | str) -> dict[str, Any]:
    """The record in a file; BadRecord if it holds none. Whether it is true, ``verify`` says."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise BadRecord(f"{path} cannot be read: {error.strerror}") from error
    return from_text(content, str(path))


def from_text(content: bytes, name: str = "this") -> dict[str, Any]:
    """The record in some bytes; BadRecord if they hold none."""
    try:
        record = read_json(content, MAX_RECORD_DEPTH)
    except BadLine as wrong:
        raise BadRecord(f"{name} is no record: {wrong}") from None
    if type(record) is not dict or record.get("ludodrome") != KIND:
        raise BadRecord(f'{name} is no record: it does not begin with "ludodrome": "record"')
    if record.get("version") != VERSION:
        raise BadRecord(f"{name} is a record of version {record.get('version')}, and only version {VERSION} is known")
    return record
