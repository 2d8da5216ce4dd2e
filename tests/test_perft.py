"""Perft: the number of games of a given length, by the kernels and by the oracles.

The counts are in games/<id>/perft.txt. After comment lines (#) each line is
``OPTIONS | POSITION or - | DEPTH | COUNT`` with OPTIONS like ``rows=2,cols=2`` or ``-``.
"""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ludodrome
from ludodrome.jit import COMPILED
from ludodrome.testing.walking import perft

GAMES = ["caldera", "dots", "santorini", "skysummit"]
UNCOMPILED_COUNT = 5_000
"""Without compilation, no line with a greater count is tried."""
ORACLE_COUNT = 400_000
"""The oracles count no further than this."""
LONG_COUNT = 20_000_000
"""Lines with a greater count are for the long run."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a perft.txt."""

    game_id: str
    options: str
    position: str
    depth: int
    count: int

    @property
    def game(self) -> ludodrome.Game:
        pairs = [] if self.options == "-" else [word.split("=") for word in self.options.split(",")]
        return ludodrome.make(self.game_id, **{name: int(value) for name, value in pairs})

    @property
    def state(self) -> Any:
        return self.game.initial_state() if self.position == "-" else self.game.parse_state(self.position)


def lines_of(game_id: str) -> list[Line]:
    path = Path(__file__).parent / "games" / game_id / "perft.txt"
    lines = []
    for text in path.read_text(encoding="utf-8").splitlines():
        if text and not text.startswith("#"):
            options, position, depth, count = text.split(" | ")
            lines.append(Line(game_id, options, position, int(depth), int(count)))
    return lines


def oracle_of(game_id: str) -> ModuleType:
    return import_module(f"tests.games.{game_id}.oracle")


def cases(most: int | None = None) -> list[Any]:
    """The lines with a count of at most ``most``, grouped so that each game is compiled by one worker."""
    limits = [limit for limit in (most, None if COMPILED else UNCOMPILED_COUNT) if limit is not None]
    return [
        pytest.param(
            line,
            id=f"{game_id}-{line.options}-{line.position}-{line.depth}",
            marks=pytest.mark.xdist_group(game_id),
        )
        for game_id in GAMES
        for line in lines_of(game_id)
        if all(line.count <= limit for limit in limits)
    ]


@pytest.mark.parametrize("line", cases())
def test_the_kernels_count(line: Line, long: bool) -> None:
    if line.count > LONG_COUNT and not long:
        pytest.skip(f"{line.count:,} games are counted with --long")
    assert ludodrome.perft(line.game, line.depth, line.state) == line.count


@pytest.mark.parametrize("line", cases(ORACLE_COUNT))
def test_the_oracles_count(line: Line) -> None:
    assert perft(oracle_of(line.game_id), line.state, line.depth, line.game.options) == line.count


@pytest.mark.xdist_group("dots")
@pytest.mark.skipif(not COMPILED, reason="479,001,600 games want a compiled kernel")
def test_how_all_games_of_dots_on_2_by_2_boxes_end(long: bool) -> None:
    if not long:
        pytest.skip("479,001,600 games are played to the end with --long; the usual run counts them")
    game = ludodrome.make("dots", rows=2, cols=2)
    ends = ludodrome.perft_ends(game, 12)
    assert ends.nodes == 479_001_600
    assert ends.wins == [201_415_680, 201_489_408]
    assert ends.draws_or_open == 76_096_512
    assert oracle_of("dots").all_games(game.options) == (ends.nodes, ends.wins, ends.draws_or_open)


@pytest.mark.parametrize(
    "game_id", [pytest.param(game_id, marks=pytest.mark.xdist_group(game_id)) for game_id in GAMES]
)
def test_the_counts_begin_at_the_start_and_go_on_with_positions_of_their_own(game_id: str) -> None:
    positions = {line.position for line in lines_of(game_id)}
    assert "-" in positions
    assert len(positions) >= 4
