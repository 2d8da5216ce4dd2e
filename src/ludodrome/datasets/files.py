"""Write datasets to folders shard by shard, and read them back; the data card.

Parquet needs pyarrow (the extra ``export``); .npz needs nothing. The data card, README.md, is written last: a folder
without it is unfinished.
"""

import hashlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ludodrome import __version__
from ludodrome.atomic_io import write_whole
from ludodrome.datasets.sources import Column, DatasetRow, GameSource, columns_of
from ludodrome.game import checked_count
from ludodrome.jit import Array
from ludodrome.validation import listing, show

CARD = "README.md"
PARQUET, NPZ = FORMS = ("parquet", "npz")
GAMES, LAYOUT = "games.jsonl", "layout.json"
SHARD_BYTES, SHARD_ROWS = 64 << 20, 1 << 16
"""Limits of a shard: bytes and rows."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset that was written."""

    folder: Path
    games: int
    rows: int
    files: tuple[tuple[str, str], ...]
    """(name, SHA-256 digest) in order."""

    @property
    def digest(self) -> str:
        """The SHA-256 of the output of ``sha256sum`` on all files."""
        lines = "".join(f"{digest}  {name}\n" for name, digest in self.files)
        return hashlib.sha256(lines.encode()).hexdigest()


class Shard:
    """A buffer of rows."""

    def __init__(self, columns: tuple[Column, ...], rows: int) -> None:
        self.arrays: dict[str, Array] = {one.name: np.zeros((rows, *one.shape), one.dtype) for one in columns}
        self.rows, self.used = rows, 0

    def add(self, row: DatasetRow, game: int) -> None:
        """Append a row."""
        for name, array in self.arrays.items():
            array[self.used] = game if name == "game" else getattr(row, name)
        self.used += 1

    def flush(self) -> dict[str, Array]:
        """The rows in the buffer, which is empty afterwards."""
        used, self.used = self.used, 0
        return {name: array[:used] for name, array in self.arrays.items()}


def write(
    source: GameSource,
    folder: Path | str,
    form: str = NPZ,
    licence: str = "CC0-1.0",
    rows: int | None = None,
    note: Callable[[int, int], None] | None = None,
) -> Dataset:
    """Write all games of a source into a new folder.

    ``form``: ``"npz"`` or ``"parquet"``. ``rows``: maximum rows of a shard. ``note`` is called after each game with the
    numbers of games and rows. Raises ValueError if the folder is not empty or an argument is wrong.
    """
    packed = _packer(form)
    columns = columns_of(source.game, source.policy)
    each = sum(one.dtype.itemsize * int(np.prod(one.shape)) for one in columns)
    most = max(1, min(SHARD_ROWS, SHARD_BYTES // each))
    shard = Shard(columns, most if rows is None else checked_count(rows, "the rows of a shard", 1, most))
    home = _new_folder(Path(folder))
    files: list[tuple[str, str]] = []

    def keep(name: str, data: bytes) -> None:
        write_whole(home / name, data)
        files.append((name, hashlib.sha256(data).hexdigest()))

    def flush() -> None:
        if shard.used:
            keep(f"part-{len(files):05}.{form}", packed(shard.flush(), columns))

    games = count = 0
    listed = hashlib.sha256()
    with open(home / GAMES, "wb") as lines:
        for games, (facts, rows_of_game) in enumerate(source.iter_games(), 1):
            line = json.dumps({"game": games - 1, **facts}, ensure_ascii=False).encode() + b"\n"
            lines.write(line)
            listed.update(line)
            for row in rows_of_game:
                shard.add(row, games - 1)
                if shard.used == shard.rows:
                    flush()
            count += len(rows_of_game)
            if note is not None:
                note(games, count)
    flush()
    files.append((GAMES, listed.hexdigest()))
    keep(LAYOUT, json.dumps(_layout(source, columns, form), indent=2).encode() + b"\n")
    made = Dataset(home, games, count, tuple(files))
    write_whole(home / CARD, card(source, columns, made, made.digest, licence).encode())
    return made


def _new_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ValueError(f"{folder} is not empty: a dataset needs a folder of its own")
    except OSError as error:
        raise ValueError(f"{folder} cannot be a dataset's folder: {error.strerror}") from error
    return folder


def _layout(source: GameSource, columns: tuple[Column, ...], form: str) -> dict[str, Any]:
    return {
        "game": source.game.id,
        "options": source.game.options,
        "form": form,
        "columns": {one.name: {"dtype": str(one.dtype), "shape": list(one.shape)} for one in columns},
        "planes": list(source.game.planes.names),
    }


def read(folder: Path | str) -> Iterator[dict[str, Array]]:
    """Yield the shards of a dataset as arrays by column, rows first. Raises ValueError if it is not finished."""
    home = Path(folder)
    if not (home / CARD).is_file() or not (home / LAYOUT).is_file():
        raise ValueError(f"{home} is not a finished dataset: it has no {CARD} with a {LAYOUT}")
    layout = json.loads((home / LAYOUT).read_text("utf-8"))
    unpacked = _read_parquet if layout["form"] == PARQUET else _read_npz
    for file in sorted(home.glob(f"part-*.{layout['form']}")):
        yield unpacked(file, layout["columns"])


# NumPy


def _packer(form: str) -> Callable[[dict[str, Array], tuple[Column, ...]], bytes]:
    if form == NPZ:
        return _pack_npz
    if form == PARQUET:
        _pyarrow()
        return _pack_parquet
    raise ValueError(f"a dataset is written as {listing(FORMS, 'or')}, not as {show(form)}")


def _pack_npz(arrays: dict[str, Array], columns: tuple[Column, ...]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def _read_npz(path: Path, columns: dict[str, Any]) -> dict[str, Array]:
    with np.load(path) as file:
        return {name: file[name] for name in columns}


# Parquet


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow  # optional extra
        import pyarrow.parquet
    except ImportError as error:
        raise ValueError(
            "Parquet needs pyarrow, which is not installed: pip install 'ludodrome[export]', or write npz"
        ) from error
    return pyarrow, pyarrow.parquet


def _pack_parquet(arrays: dict[str, Array], columns: tuple[Column, ...]) -> bytes:
    """Arrays of a row become flat lists of fixed size; the field's metadata has the shape."""
    arrow, parquet = _pyarrow()
    fields, stored = [], []
    for one in columns:
        flat = arrow.array(arrays[one.name].reshape(-1))
        array = arrow.FixedSizeListArray.from_arrays(flat, int(np.prod(one.shape))) if one.shape else flat
        about = {"shape": json.dumps(one.shape), "meaning": one.meaning}
        fields.append(arrow.field(one.name, array.type, nullable=False, metadata=about))
        stored.append(array)
    file = io.BytesIO()
    parquet.write_table(arrow.table(stored, schema=arrow.schema(fields)), file, compression="zstd")
    return file.getvalue()


def _read_parquet(path: Path, columns: dict[str, Any]) -> dict[str, Array]:
    _, parquet = _pyarrow()
    table = parquet.read_table(path)
    arrays = {}
    for name, one in columns.items():
        column = table.column(name).combine_chunks()
        flat = column.values if one["shape"] else column
        arrays[name] = flat.to_numpy(zero_copy_only=False).reshape(-1, *one["shape"])
    return arrays


# The data card


def card(source: GameSource, columns: tuple[Column, ...], made: Dataset, digest: str, licence: str) -> str:
    """The text of the data card."""
    game = source.game
    options = ", ".join(f"`{name}` {value}" for name, value in game.options.items()) or "none"
    planes = "\n".join(
        f"| {number} | {name} | {most} |"
        for number, (name, most) in enumerate(zip(game.planes.names, game.planes.highest, strict=True))
    )
    table = "\n".join(
        f"| `{one.name}` | {one.dtype} | {' x '.join(map(str, one.shape)) or '1'} | {one.meaning} |" for one in columns
    )
    files = "\n".join(f"{digest}  {name}" for name, digest in made.files)
    return f"""---
license: {licence.lower()}
tags: [board-games, {game.id}, ludodrome]
---

# {game.title}: {made.rows:,} positions of {made.games:,} games

| | |
| --- | --- |
| game | `{game.id}` |
| options | {options} |
| games | {made.games:,} |
| rows | {made.rows:,} |
| made by | ludodrome {__version__} |
| digest | `{digest}` |
| licence | {licence} |

## How it was made

{source.description()}

## Layout

One row is one position in which a seat chose an action. Rows of a game are adjacent, in order.

| column | type | numbers a row | what it is |
| --- | --- | --- | --- |
{table}

The planes, all as the seat to move sees them:

| plane | what | greatest |
| --- | --- | --- |
{planes}

Actions are numbered as in the game's rules (`ludodrome rules {game.id}`). `games.jsonl` has a line for each game.

```python
from ludodrome.datasets import read

for shard in read("."):
    print(shard["planes"].shape, shard["action"][:10], shard["outcome"][:10])
```

## Files

The digest above is the SHA-256 of these lines, which `sha256sum` checks:

```
{files}
```
"""
