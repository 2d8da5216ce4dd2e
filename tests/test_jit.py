"""The tools under the kernels: decorators, records, bits, random numbers."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome import jit, kernel_cache
from tests.cases import each_game

PROBE = """
import sys, ludodrome
from ludodrome import jit
game = ludodrome.make({game!r})
result = ludodrome.playouts(game, 2, seed=3)
stats = game.kernels.playouts.stats if jit.COMPILED else None
counts = [sum(stats.cache_hits.values()), sum(stats.cache_misses.values())] if stats else []
print(result.digest, *counts)
"""


def run(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, ludodrome; ludodrome.game_ids(); print({'numba', 'numpy', 'typer', 'rich'} & set(sys.modules))"
    assert run(code) == "set()"


def test_every_public_name_is_there() -> None:
    for name in ludodrome.__all__:
        assert getattr(ludodrome, name) is not None
    assert dir(ludodrome) == ludodrome.__all__
    with pytest.raises(AttributeError, match="playouts"):
        ludodrome.nonsense  # noqa: B018


@pytest.mark.skipif(not jit.COMPILED, reason="compares with compiled code")
@pytest.mark.parametrize("game_id", each_game())
def test_plain_python_plays_the_same_games(game_id: str) -> None:
    expected = ludodrome.playouts(ludodrome.make(game_id), 2, seed=3).digest
    assert run(PROBE.format(game=game_id), NUMBA_DISABLE_JIT="1").split()[0] == expected


@pytest.mark.skipif(not jit.COMPILED, reason="there is no cache without compilation")
@pytest.mark.xdist_group("santorini")
def test_a_second_process_starts_from_the_compiled_cache(tmp_path: Path) -> None:
    first = run(PROBE.format(game="santorini"), LUDODROME_CACHE=str(tmp_path)).split()
    second = run(PROBE.format(game="santorini"), LUDODROME_CACHE=str(tmp_path)).split()
    assert first[0] == second[0]
    assert first[1:] == ["0", "1"]
    assert second[1:] == ["1", "0"]


@pytest.mark.skipif(not jit.COMPILED, reason="there is no cache without compilation")
@pytest.mark.xdist_group("spaces")
def test_code_cached_by_different_processes_is_not_mixed_up(tmp_path: Path, long: bool) -> None:
    """Two record layouts of one game, each compiled first in its own process, then loaded together."""
    if not long:
        pytest.skip("compiles a game four times: --long")
    code = "import ludodrome\nfor n in {}: print(ludodrome.playouts(ludodrome.make('spaces', size=n), 9).digest)"
    apart = [run(code.format([size]), LUDODROME_CACHE=str(tmp_path)) for size in (3, 7)]
    assert run(code.format([7, 3]), LUDODROME_CACHE=str(tmp_path)).split() == apart[::-1]
    assert run(code.format([3, 7]), LUDODROME_CACHE=str(tmp_path)).split() == apart


def test_other_users_of_numba_keep_their_cache() -> None:
    assert run(
        "import numba; before = numba.config.CACHE_DIR\n"
        + PROBE.format(game="dots")
        + "\nassert numba.config.CACHE_DIR == before"
    )


@pytest.mark.skipif(not jit.COMPILED, reason="there is no cache without compilation")
def test_rooms_opened_in_several_threads_have_each_their_cache() -> None:
    def decorated(number: int) -> str:
        def function(x: int) -> int:
            return x + number

        entered: Any = jit.entry(function)
        return str(entered._cache.cache_path)

    with ThreadPoolExecutor(8) as threads:
        paths = list(threads.map(decorated, range(200)))
    here = str(kernel_cache.cache_directory(Path(__file__).parent))
    assert all(path.startswith(here) for path in paths)


def test_bits() -> None:
    @jit.kernel
    def both(x: Any) -> Any:
        return jit.lowest(x), jit.popcount(x)

    for value in (1, 2, 3, 0b1011000, 2**31, 2**63, 2**64 - 1):
        expected = ((value & -value).bit_length() - 1, value.bit_count())
        assert both(np.uint64(value)) == expected
        if value < 2**32:
            assert both(np.uint32(value)) == expected


def test_the_highest_of_many() -> None:
    @jit.kernel
    def found(numbers: Any, count: int) -> Any:
        return jit.highest(numbers, count)

    numbers = np.array([*range(-100, -100 + jit.LANES), *range(3 * jit.LANES, 0, -1)], np.int32)
    assert found(numbers, 1) == -100 + jit.LANES - 1  # the whole block is read
    assert found(numbers, jit.LANES + 1) == found(numbers, 4 * jit.LANES) == 3 * jit.LANES
    numbers[37] = 2**31 - 1
    assert found(numbers, 40) == 2**31 - 1


def test_random_numbers_are_those_of_splitmix64() -> None:
    """The first outputs of the generator for the seed 1234567, as published with its reference code."""

    @jit.entry
    def outputs(seed: Any, out: jit.Array) -> None:
        for k in range(len(out)):
            seed += jit.GOLDEN
            out[k] = jit.mix(seed)

    out = np.zeros(3, np.uint64)
    outputs(np.uint64(1234567), out)
    assert out.tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_below_is_even() -> None:
    @jit.entry
    def count(tally: jit.Array, n: int) -> None:
        for k in range(n):
            tally[jit.below(jit.stream(np.uint64(5), k), len(tally))] += 1

    n = 70_000 if jit.COMPILED else 3_500
    tally = np.zeros(7, np.int64)
    count(tally, n)
    expected = n / 7
    assert float(((tally - expected) ** 2 / expected).sum()) < 22.5  # chi-square, 6 degrees, 0.1 %


def test_records_can_be_packed_and_copied() -> None:
    dtype = jit.record_dtype([("a", np.uint8), ("b", np.uint32, (2,)), ("c", np.int8, (3,)), ("d", np.int64)])
    assert dtype.itemsize % 8 == 0
    packing = jit.packing(dtype)
    values = (7, 1, 2**32 - 1, -1, 0, 1, -(2**63))
    states = jit.packed(dtype, packing.pack(*values))
    assert (states["a"][0], states["b"][0].tolist(), states["c"][0].tolist()) == (7, [1, 2**32 - 1], [-1, 0, 1])
    assert packing.unpack(states[0].tobytes()) == values
    two = jit.new_states(dtype, 2)
    jit.copy_state(jit.as_words(two), 1, jit.as_words(states), 0)
    assert packing.unpack(two[1].tobytes()) == values
    assert not any(packing.unpack(two[0].tobytes()))
