"""Solving that is put aside in a file and taken up again: of dots, since only its boards take hours.

What is kept is the question and the solver's table. The search begins anew with all that was proved, and is soon where
it was; no file, however it was made, can lead it astray in memory.
"""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ludodrome.analysis.solutions import Solving
from ludodrome.game import Game
from ludodrome.games.dots.bounds import BUCKET, new_table
from ludodrome.games.dots.solve import LEAST_BITS, MOST_BITS, Solver
from ludodrome.writing import whole_file


def check_kind(game: Game) -> None:
    """ValueError if a game's solving cannot be kept."""
    if game.insight is None or not game.insight.by_points:
        raise ValueError(f"only the solving of dots can be kept in a file, not that of {game.id}")


def save(solving: Solving, path: Path) -> None:
    """Keep what was proved so far; OSError says why it cannot be."""
    check_kind(solving.game)
    solver = solving.solver
    assert solver is not None
    with whole_file(path) as file:
        np.savez(file, board=np.array([solver.rows, solver.cols], np.int64), table=solver.table)


def load(game: Game, state: Any, path: Path) -> Solving:
    """Go on with what a file knows of this board. The position may be another one: what was proved holds for all."""
    check_kind(game)
    try:
        with zipfile.ZipFile(path) as packed:
            if any(part.compress_type != zipfile.ZIP_STORED for part in packed.infolist()):
                raise ValueError("it is compressed, and may be of any size")
        with np.load(path, allow_pickle=False) as kept:
            board, table = kept["board"].tolist(), kept["table"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no file of `ludodrome solve`: {error}") from error
    if board != [game.options["rows"], game.options["cols"]]:
        raise ValueError(
            f"{path} is about a board of {board}, not {game.options['rows']} x {game.options['cols']} boxes"
        )
    bits = max(1, table.size // 2).bit_length() - 1
    if (
        table.dtype != np.uint64
        or table.shape != ((1 << bits) // BUCKET, 2 * BUCKET)
        or not (LEAST_BITS <= bits <= MOST_BITS)
    ):
        raise ValueError(f"{path} has no table of the solver in it")
    room = new_table(bits)
    room[:] = table
    del table
    return Solving(game, state, solver=Solver(**game.options, table=room))
