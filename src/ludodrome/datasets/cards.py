"""The data card: what is in a dataset, how it was made, how to read it. README.md of its folder."""

from typing import TYPE_CHECKING

from ludodrome.datasets.columns import Column

if TYPE_CHECKING:
    from ludodrome.datasets.shards import Dataset
    from ludodrome.datasets.sources import Source

CARD = "README.md"


def card(source: "Source", columns: tuple[Column, ...], made: "Dataset", digest: str, licence: str) -> str:
    """The text of the card."""
    from ludodrome import __version__

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

{source.story()}

## Layout

One row is one position in which a seat chose an action. Rows of a game stand together, in order.

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
