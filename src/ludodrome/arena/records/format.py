"""The format of records (versions 1 and 2), its chain of digests, and reading and writing them.

A record is one JSON object: the play spec, the seats' seeds, every turn after the opening, the result, and, outside the
digest, times, standard errors and notes. Each turn's digest covers everything before it and the position after it. The
record's digest covers everything but times, standard errors and notes, which can differ between two runs of the same
game. docs/reference/records.md describes every field.

Since version 2 the digests cover neither a bot's own words nor the seed, to which the record is bound by a commitment:
``public`` and ``withheld`` leave them out, and what remains still verifies.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from ludodrome.arena.messages import BadLine, clean_text, read_json
from ludodrome.arena.play_spec import (
    HASHED,
    KEYED,
    VERSIONS,
    PlaySpec,
    after_opening,
    canonical_json,
    initial_state,
    match_id,
    read_position,
)
from ludodrome.arena.seats import ERROR, PROTOCOL
from ludodrome.arena.telemetry import final_numbers
from ludodrome.atomic_io import write_whole
from ludodrome.game import Game
from ludodrome.validation import listing

KIND = "record"
MAX_SENT = 16 * 1024
"""A refused move is stored whole up to this many bytes of JSON."""
MAX_RECORD_DEPTH = 64
"""How deep a record can be nested; it includes what bots sent."""
PRIVATE = ("stderr", "notes")
"""Keys of a record that belong to the owners of its bots."""
SECRET = ("seed", "seeds")
"""Keys of a record that are withheld until no other game depends on them."""
START = "start"
"""The key of the initial state, in records whose seed is withheld."""
NOT_COVERED = (*PRIVATE, "ms", "digest")
"""Keys that the digest does not cover; since version 2 also SECRET and START."""
PUBLIC_REASONS = {ERROR: "it reported an error", PROTOCOL: "it sent a malformed line"}
"""The reason of a verdict as everybody reads it, where the recorded one has the bot's own words."""
PUBLIC_REFUSAL = "it was malformed or too long"
SUFFIX = ".json"


class BadRecord(ValueError):
    """A record is malformed or contradicts the rules; ``ply`` is the turn, if there is one."""

    def __init__(self, message: str, ply: int | None = None) -> None:
        super().__init__(message if ply is None else f"turn {ply}: {message}")
        self.ply = ply


# Writing turns


def header(play_spec: PlaySpec) -> dict[str, Any]:
    """The keys of a record above its turns that the digests cover."""
    if play_spec.version == HASHED:
        told = play_spec.to_json()
        return {**_top(HASHED, match_id(told)), **told, "seeds": play_spec.seat_seeds}
    told = play_spec.public_json()
    return {**_top(play_spec.version, match_id(told)), **told}


def secret_part(play_spec: PlaySpec) -> dict[str, Any]:
    """The keys of a record that the digests do not cover because they can be withheld."""
    if play_spec.version == HASHED:
        return {}
    return {"seed": str(play_spec.seed), "seeds": play_spec.seat_seeds}


def header_of(record: dict[str, Any]) -> dict[str, Any]:
    """The header as the rest of a record makes it. With its seed withheld, its commitment is taken as it is."""
    if not is_withheld(record):
        return header(PlaySpec.from_json(record))
    told = {**PlaySpec.from_json({**record, "seed": "0"}).public_json(), "commitment": record["commitment"]}
    return {**_top(KEYED, match_id(told)), **told}


def _top(version: int, match: str) -> dict[str, Any]:
    return {"ludodrome": KIND, "version": version, "match": match}


def first_state(game: Game, record: dict[str, Any]) -> Any:
    """The state before the opening, as a record tells it."""
    if is_withheld(record) and record.get("position") is None:
        return read_position(game, record[START])
    return initial_state(game, PlaySpec.from_json({"seed": "0", **record}))


class Chain:
    """A hash chain: each digest covers everything before it."""

    def __init__(self, head: dict[str, Any], state: Any) -> None:
        self._version = head["version"]
        self._last = hashlib.sha256(canonical_json([head, state])).digest()

    def link(self, entry: dict[str, Any], state: Any) -> dict[str, Any]:
        """Add its digest to a turn; ``state`` is the position after it."""
        self._last = hashlib.sha256(self._last + canonical_json([covered(entry, self._version), state])).digest()
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


def covered(entry: dict[str, Any], version: int) -> dict[str, Any]:
    """The part of a turn that its digest covers."""
    if version == HASHED:
        return timeless(entry)
    bare = timeless(public_turn(entry))
    bare.pop("info", None)  # a bot's own words and figures, which can differ between two runs of the same game
    return bare


def digest(record: dict[str, Any]) -> str:
    """The digest of a record: a hash of everything but times, private and secret parts."""
    version = record["version"]
    left_out = NOT_COVERED if version == HASHED else (*NOT_COVERED, *SECRET, START)
    told = {name: value for name, value in record.items() if name not in left_out}
    told["turns"] = [{**covered(entry, version), "digest": entry["digest"]} for entry in record["turns"]]
    if version != HASHED:
        told["result"] = _public_result(record["result"])
    return hashlib.sha256(canonical_json(told)).hexdigest()


def comparable(record: dict[str, Any]) -> dict[str, Any]:
    """The part of a record that is the same whenever the same game is played again."""
    same = {name: value for name, value in record.items() if name not in (*PRIVATE, "ms")}
    same["turns"] = [{**timeless(entry), "digest": entry["digest"]} for entry in record["turns"]]
    return same


# What everybody may read


def is_withheld(record: dict[str, Any]) -> bool:
    """Whether a record is without its seed."""
    return "seed" not in record


def withheld(record: dict[str, Any]) -> dict[str, Any]:
    """A record without its seed and those of its seats, for the time in which other games depend on it.

    It has the initial state instead. It still verifies, but for its seeds; one of version 1 does not.
    """
    if is_withheld(record):
        return record
    kept: dict[str, Any] = {}
    for name, value in record.items():
        if name == SECRET[0] and record.get("position") is None:
            kept[START] = first_state(_game_of(record), record)
        elif name not in SECRET:
            kept[name] = value
    return kept


def public(record: dict[str, Any]) -> dict[str, Any]:
    """A record without the bots' own words: standard errors, notes, logs, telemetry, errors, malformed lines.

    Of the telemetry the last score, depth and nodes of each turn remain.

    It has the same digests and verifies; in version 1, where they cover these words, it gets new ones.
    """
    kept = {name: value for name, value in record.items() if name not in PRIVATE}
    kept["turns"] = [public_turn(entry) for entry in record["turns"]]
    kept["result"] = _public_result(record["result"])
    changed = kept["turns"] != record["turns"] or kept["result"] != record["result"]
    return _linked_again(kept) if changed and record["version"] == HASHED else kept


def public_turn(entry: dict[str, Any]) -> dict[str, Any]:
    """A turn without the bot's own words."""
    shown = {name: value for name, value in entry.items() if name not in ("log", "info")}
    if numbers := final_numbers(entry.get("info", ())):
        shown["info"] = [numbers]
    if "verdict" in shown:
        shown["verdict"] = _public_verdict(shown["verdict"])
    if "refusals" in shown:
        shown["refusals"] = [
            {**one, "sent": "", "why": PUBLIC_REFUSAL} if one.get("cut") else one for one in shown["refusals"]
        ]
    return shown


def _public_verdict(verdict: dict[str, Any]) -> dict[str, Any]:
    return {**verdict, "why": PUBLIC_REASONS.get(verdict["cause"], verdict["why"])}


def _public_result(result: dict[str, Any]) -> dict[str, Any]:
    return {**result, "verdicts": [_public_verdict(one) for one in result["verdicts"]]}


def private_parts(record: dict[str, Any]) -> list[dict[str, Any]]:
    """What ``public`` leaves out, by seat: ``stderr``, ``notes``, and of the ``turns`` what was said there."""
    parts: list[dict[str, Any]] = []
    for seat in range(len(record["bots"])):
        turns = []
        for entry in record["turns"]:
            shown = public_turn(entry)
            said = {name: value for name, value in entry.items() if value != shown.get(name)}
            if said and entry["seat"] == seat:
                turns.append({"turn": entry["turn"], **said})
        stderr, notes = _of(record, "stderr", seat, ""), _of(record, "notes", seat, [])
        parts.append({"stderr": stderr, "notes": notes, "turns": turns})
    return parts


def _of(record: dict[str, Any], name: str, seat: int, nothing: Any) -> Any:
    return record[name][seat] if name in record else nothing


def _linked_again(record: dict[str, Any]) -> dict[str, Any]:
    """A record with the digests that fit its contents."""
    game = _game_of(record)
    state = after_opening(game, first_state(game, record), record["opening"])
    chain = Chain(header_of(record), state)
    turns = []
    for entry in record["turns"]:
        state = game.apply(state, entry["move"]) if "move" in entry else state
        turns.append(chain.link(dict(entry), state))
    return chain.finish({**record, "turns": turns})


def _game_of(record: dict[str, Any]) -> Game:
    return PlaySpec.from_json({"seed": "0", **record}).make_game()


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
    if record.get("version") not in VERSIONS:
        known = listing(map(str, VERSIONS))
        raise BadRecord(f"{name} is a record of version {record.get('version')}, and only {known} are known")
    return record
