"""Where the records of a match are kept: in memory, or in a folder from which the match can be resumed.

The folder has a *manifest* (``matches.jsonl``), a line for every time a match was begun or resumed: what was played,
the seed, the bots' identities and when. A match without a seed of its own goes on with the seed that it had.
"""

import json
import os
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from ludodrome.arena import records
from ludodrome.arena.matches.scheduler import Pairing, Record
from ludodrome.arena.matches.tallies import GameResult, game_result
from ludodrome.bots.identity import MANIFEST, named_with_identity

MAX_MANIFEST_BYTES = 16 << 20
"""A longer manifest is read from its end."""


class Recalled:
    """The games that an archive recalled, and when they were played."""

    def __init__(self) -> None:
        self.count = 0
        self.first: float | None = None
        self.last: float | None = None

    def add(self, played: float) -> None:
        """Count a game that was played at this time, in seconds since 1970."""
        self.count += 1
        self.first = played if self.first is None else min(self.first, played)
        self.last = played if self.last is None else max(self.last, played)

    @property
    def when(self) -> str:
        """When they were played, in words; empty if there are none."""
        if self.first is None or self.last is None:
            return ""
        first, last = date(self.first), date(self.last)
        return first if first == last else f"{first} to {last}"


def date(seconds: float) -> str:
    """Date and time of day, to the minute."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


class RecordMemory:
    """An archive in memory."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}
        self.recalled = Recalled()

    def find(self, match: str) -> GameResult | None:
        """Return None: nothing was kept before this run."""
        return None

    def has(self, match: str) -> bool:
        """Return False, for the same reason."""
        return False

    def keep(self, pairing: Pairing, record: Record, game: GameResult) -> None:
        """Keep a record."""
        self._records[game.match] = record

    def read(self, match: str) -> Record:
        """The record of a game that was kept."""
        return self._records[match]


class ManifestEntry(NamedTuple):
    """One line of a manifest."""

    match: dict[str, Any]
    """What was played: game, options, bots, names and conditions."""
    seed: int
    identities: dict[str, str]
    """The bots' identities, by spec."""
    began: float


class RecordFolder:
    """An archive of files in a folder; without a folder, records are dropped.

    With ``fresh`` it recalls nothing: neither games nor seeds.
    """

    def __init__(self, folder: Path | None, fresh: bool = False) -> None:
        self._folder, self._fresh = folder, fresh
        self.recalled = Recalled()
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ValueError(f"records cannot be kept in {folder}: {error.strerror}") from error

    def find(self, match: str) -> GameResult | None:
        """The result of a record in the folder; None if there is none, or if it cannot be read."""
        if self._folder is None or self._fresh:
            return None
        try:
            found = game_result(self.read(match))
            self.recalled.add(os.stat(self._file(match)).st_mtime)
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
            return None
        return found

    def has(self, match: str) -> bool:
        """Whether there is a record of this id."""
        return self._folder is not None and not self._fresh and self._file(match).exists()

    def keep(self, pairing: Pairing, record: Record, game: GameResult) -> None:
        """Write a record atomically; ValueError if that fails."""
        if self._folder is not None:
            try:
                records.write(record, self._folder)
            except OSError as error:
                raise ValueError(f"a record cannot be written into {self._folder}: {error.strerror}") from error

    def read(self, match: str) -> Record:
        """The record of a game that was kept."""
        if self._folder is None:
            raise ValueError("the records of this match were not kept")
        return records.read(self._file(match))

    def _file(self, match: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{match}{records.SUFFIX}"

    # The manifest

    def earlier(self, match: Mapping[str, Any]) -> ManifestEntry | None:
        """The last time that this match was begun or resumed in the folder; None if never, or if ``fresh``."""
        if self._folder is None or self._fresh:
            return None
        wanted = json.loads(json.dumps(match))
        entries = (_read_entry(line) for line in reversed(self._manifest().splitlines()))
        return next((entry for entry in entries if entry is not None and entry.match == wanted), None)

    def begin(self, match: Mapping[str, Any], seed: int, identities: Mapping[str, str]) -> None:
        """Add a line to the manifest."""
        if self._folder is None:
            return
        line = json.dumps({"match": match, "seed": str(seed), "identities": identities, "began": round(time.time(), 3)})
        try:
            with open(self._folder / MANIFEST, "a", encoding="utf-8") as file:
                file.write(f"{line}\n")
        except OSError as error:
            raise ValueError(f"records cannot be kept in {self._folder}: {error.strerror}") from error

    def _manifest(self) -> str:
        assert self._folder is not None
        try:
            with open(self._folder / MANIFEST, "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - MAX_MANIFEST_BYTES))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""


def _read_entry(line: str) -> ManifestEntry | None:
    """Parse a line of a manifest; None if it is malformed, such as one that was cut off."""
    try:
        value = json.loads(line)
        identities = {str(spec): str(one) for spec, one in value["identities"].items()}
        return ManifestEntry(dict(value["match"]), int(value["seed"]), identities, float(value["began"]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return None


def changed_bots(before: ManifestEntry, names: Mapping[str, str], identities: Mapping[str, str]) -> list[str]:
    """A sentence for each bot that has changed since a match was last played; ``names`` by spec."""
    return [
        f"{names[spec]} has changed since {date(before.began)} ({named_with_identity(names[spec], old)} then, "
        f"{named_with_identity(names[spec], identities[spec])} now): its games are played again"
        for spec, old in before.identities.items()
        if identities.get(spec, old) != old
    ]
