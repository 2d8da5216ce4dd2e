"""The format of records (version 1), its chain of digests, and reading and writing them.

A record is one JSON object: the play spec, the seats' seeds, every turn after the opening, the result, and, outside the
digest, times, standard errors and notes. Each turn's digest covers everything before it and the position after it. The
record's digest covers everything but times, standard errors and notes, which can differ between two runs of the same
game. docs/reference/records.md describes every field.
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
"""A refused move is stored whole up to this many bytes of JSON."""
MAX_RECORD_DEPTH = 64
"""How deep a record can be nested; it includes what bots sent."""
NOT_COVERED = ("stderr", "notes", "ms", "digest")
"""Keys that the digest does not cover."""
SUFFIX = ".json"


class BadRecord(ValueError):
    """A record is malformed or contradicts the rules; ``ply`` is the turn, if there is one."""

    def __init__(self, message: str, ply: int | None = None) -> None:
        super().__init__(message if ply is None else f"turn {ply}: {message}")
        self.ply = ply


# Writing turns


def header(play_spec: PlaySpec, match: str) -> dict[str, Any]:
    """The keys of a record above its turns."""
    return {
        "ludodrome": KIND,
        "version": VERSION,
        "match": match,
        **play_spec.to_json(),
        "seeds": play_spec.seat_seeds,
    }


class Chain:
    """A hash chain: each digest covers everything before it."""

    def __init__(self, head: dict[str, Any], state: Any) -> None:
        self._last = hashlib.sha256(canonical_json([head, state])).digest()

    def link(self, entry: dict[str, Any], state: Any) -> dict[str, Any]:
        """Add its digest to a turn; ``state`` is the position after it."""
        self._last = hashlib.sha256(self._last + canonical_json([timeless(entry), state])).digest()
        entry["digest"] = self._last.hex()[:16]
        return entry

    def finish(self, record: dict[str, Any]) -> dict[str, Any]:
        """Add its digest to a record."""
        record["digest"] = digest(record)
        return record


def timeless(entry: dict[str, Any]) -> dict[str, Any]:
    """A turn without times and digest."""
    bare = {name: value for name, value in entry.items() if name not in ("ms", "digest")}
    if "refusals" in bare:
        bare["refusals"] = [{k: v for k, v in refusal.items() if k != "ms"} for refusal in bare["refusals"]]
    return bare


def digest(record: dict[str, Any]) -> str:
    """The digest of a record: a hash of everything but times, standard errors and notes."""
    covered = {name: value for name, value in record.items() if name not in NOT_COVERED}
    covered["turns"] = [{**timeless(entry), "digest": entry["digest"]} for entry in record["turns"]]
    return hashlib.sha256(canonical_json(covered)).hexdigest()


def comparable(record: dict[str, Any]) -> dict[str, Any]:
    """The part of a record that is the same whenever the same game is played again."""
    covered = {name: value for name, value in record.items() if name not in ("stderr", "notes", "ms")}
    covered["turns"] = [{**timeless(entry), "digest": entry["digest"]} for entry in record["turns"]]
    return covered


def rounded(number: float) -> float:
    """A number as records store it: an integer if it is whole, else rounded to three places."""
    return int(number) if number == int(number) else round(number, 3)


def stored_answer(move: Any) -> dict[str, Any]:
    """A refused move as records store it: whole if it is small, else its beginning as text."""
    try:
        text = canonical_json(move)
    except (TypeError, ValueError):
        return {"sent": clean_text(repr(move)), "cut": True}
    if len(text) <= MAX_SENT and b"\\u0000" not in text:
        return {"sent": move}
    return {"sent": clean_text(text.decode()), "cut": True}


# Files


def write(record: dict[str, Any], directory: Path | str) -> Path:
    """Write a record atomically into a directory; the file name is its ``match``. Return the path."""
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record['match']}{SUFFIX}"
    write_whole(path, (to_text(record) + "\n").encode())
    return path


def to_text(record: dict[str, Any]) -> str:
    """Encode a record on one line."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def read(path: Path | str) -> dict[str, Any]:
    """Read the record in a file; BadRecord if there is none. ``verify`` checks its content."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise BadRecord(f"{path} cannot be read: {error.strerror}") from error
    return from_text(content, str(path))


def from_text(content: bytes, name: str = "this") -> dict[str, Any]:
    """Parse a record; BadRecord if it is malformed."""
    try:
        record = read_json(content, MAX_RECORD_DEPTH)
    except BadLine as wrong:
        raise BadRecord(f"{name} is not a record: {wrong}") from None
    if type(record) is not dict or record.get("ludodrome") != KIND:
        raise BadRecord(f'{name} is not a record: it does not begin with "ludodrome": "record"')
    if record.get("version") != VERSION:
        raise BadRecord(f"{name} is a record of version {record.get('version')}, and only version {VERSION} is known")
    return record
