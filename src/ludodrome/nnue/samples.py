"""Samples of self-play in files: shards of positions, each with the score of its search and the result of its game.

A folder has ``settings.json`` and numbered shards ``00000.npz``. A shard depends only on the settings, the seed and its
number: a run that was stopped goes on where it was, and gives the same files.
"""

import json
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ludodrome
from ludodrome import atomic_io
from ludodrome.bots.networks import network_weights
from ludodrome.game import Game
from ludodrome.jit import Array
from ludodrome.search.frames import PLIES
from ludodrome.search.network import VALUE_SCALE, new_memory
from ludodrome.search.opponents import new_workspace
from ludodrome.search.self_play import SelfPlaySettings, new_samples

SETTINGS_FILE = "settings.json"
GAMES_A_SHARD = 500
TABLE_BITS = 15
MAX_SAMPLES_A_GAME = 200
"""Room in a shard for each of its games, on average; games without room are left out."""
MAX_EMPTY_SHARDS = 3
"""Shards in a row without a sample after which no more are made."""


class SampleSettings(NamedTuple):
    """What the samples of a folder are made with."""

    game: str
    options: dict[str, Any]
    network: str
    """The evaluation of the search: ``none``, ``game`` or a file."""
    nodes: int
    opening_low: int
    opening_high: int
    random_moves: int
    seed: int


class SampleArrays(NamedTuple):
    """Samples in memory."""

    states: Any
    """(samples,) records"""
    scores: Array
    """(samples,) int16 for the seat to move, VALUE_SCALE for one unit of log-odds"""
    results: Array
    """(samples,) int8: 1 won, 0 drawn, -1 lost, for the seat to move"""


def generate(folder: Path, settings: SampleSettings, samples: int, workers: int = 1) -> Iterator[int]:
    """Write shards until the folder has at least ``samples`` samples; yield their number after each shard.

    Raises ValueError if several shards in a row have none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _check_settings(folder, settings)
    sizes = {int(path.stem): _size(path) for path in _shards(folder)}
    total, following, empty = sum(sizes.values()), 0, 0
    yield total
    with ProcessPoolExecutor(workers) as executor:
        running: set[Future[int]] = set()
        while total < samples:
            while len(running) < workers:
                while following in sizes:
                    following += 1
                running.add(executor.submit(write_shard, folder, settings, following))
                following += 1
            done = next(as_completed(running))
            running.remove(done)
            found = done.result()
            empty = 0 if found else empty + 1
            if empty == MAX_EMPTY_SHARDS:
                raise ValueError(
                    f"{empty * GAMES_A_SHARD} games in a row gave no sample: with these options every game is decided "
                    f"or over after its opening of {settings.opening_low} to {settings.opening_high} random moves"
                )
            total += found
            yield total


def write_shard(folder: Path, settings: SampleSettings, number: int) -> int:
    """Play the games of a shard and write it; return the number of its samples."""
    game = ludodrome.make(settings.game, **settings.options)
    play, net = _self_play(game, settings)
    samples = new_samples(game, GAMES_A_SHARD * min(game.max_game_length, MAX_SAMPLES_A_GAME))
    how = SelfPlaySettings(settings.nodes, settings.opening_low, settings.opening_high, settings.random_moves)
    workspace = new_workspace(game, TABLE_BITS, net)
    count = int(play(workspace, samples, how, np.uint64(settings.seed), number * GAMES_A_SHARD, GAMES_A_SHARD))
    scale = VALUE_SCALE if net is None else int(net.scale[0])
    scores = (samples.scores[:count].astype(np.int64) * VALUE_SCALE // scale).astype(np.int16)
    arrays = SampleArrays(samples.states[:count], scores, samples.results[:count])
    with atomic_io.whole_file(folder / f"{number:05}.npz") as file:
        np.savez_compressed(file, **arrays._asdict())
    return count


def _self_play(game: Game, settings: SampleSettings) -> tuple[Callable[..., Any], Any]:
    """The entry point, and the memory of the network if there is one."""
    weights = network_weights(game, settings.network)
    if weights is None or game.network is None:
        return game.kernels.self_play, None
    return game.kernels.self_play_net, new_memory(game.network, weights, PLIES + 1)


def read(folder: Path) -> SampleArrays:
    """All samples of a folder; a file that is not a shard is passed over."""
    found: list[list[Array]] = [[], [], []]
    for path in _shards(folder):
        try:
            with np.load(path, allow_pickle=False) as arrays:
                for part, name in zip(found, SampleArrays._fields, strict=True):
                    part.append(arrays[name])
        except (OSError, KeyError, ValueError, zipfile.BadZipFile):
            continue
    if not found[0]:
        raise ValueError(f"{folder} has no samples: make some with `ludodrome network self-play GAME {folder}`")
    return SampleArrays(*(np.concatenate(part) for part in found))


def read_settings(folder: Path) -> SampleSettings:
    """The settings of a folder."""
    try:
        return SampleSettings(**json.loads((folder / SETTINGS_FILE).read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"{folder} has no {SETTINGS_FILE}: it is not a folder of samples") from error


def _check_settings(folder: Path, settings: SampleSettings) -> None:
    """Write the settings of a new folder; raise ValueError if the folder has others."""
    path = folder / SETTINGS_FILE
    if path.exists():
        if read_settings(folder) != settings:
            raise ValueError(f"{folder} has samples made with other settings: see {path}, or take a new folder")
    else:
        atomic_io.write_whole(path, json.dumps(settings._asdict(), indent=1).encode())


def _shards(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.npz") if path.stem.isdigit())


def _size(path: Path) -> int:
    with np.load(path, allow_pickle=False) as arrays:
        return len(arrays["scores"])
