"""The generated entry points: which there are, that they are cached, and that the file in the cache is not trusted."""

import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.game_spec import Kernels, Rules
from ludodrome.games.skysummit import evaluate, planes, rules
from ludodrome.jit import COMPILED
from ludodrome.search import entry_points
from ludodrome.search.entry_points import SOURCE, make_kernels
from tests.cases import each_game
from tests.scaffold.installing import COINS, ROOT

PROBE = """
import sys, ludodrome_coins
game = ludodrome_coins.GAME()
if sys.stdin.readline() != "go\\n": sys.exit("nobody said go")
states = game.encode_array(game.initial_state())
seat = game.kernels.mover(states)
stats = getattr(game.kernels.mover, "stats", None)
print(seat, *(sum(one.values()) for one in (stats.cache_hits, stats.cache_misses)) if stats else ())
"""


def start(cache: Path, **environment: str) -> "subprocess.Popen[str]":
    """A process with the game of coins that waits for a line."""
    path = os.pathsep.join([str(ROOT / "src"), str(COINS / "src")])
    settings = {**os.environ, "PYTHONPATH": path, "LUDODROME_CACHE": str(cache), **environment}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": settings}
    return subprocess.Popen([sys.executable, "-W", "error", "-c", PROBE], **pipes)


def said(*processes: "subprocess.Popen[str]") -> list[list[str]]:
    """Let the processes go on together; their numbers, sorted."""
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    return sorted(process.communicate()[0].split() for process in processes)


def generated(cache: Path) -> Path:
    """The one generated file in a cache."""
    (file,) = cache.glob("*/*_entry_points.py")
    return file


def test_every_method_of_the_protocol_is_generated() -> None:
    module: dict[str, Any] = {}
    exec(SOURCE, module)
    for name in [name for name, one in vars(Kernels).items() if callable(one) and not name.startswith("_")]:
        expected = getattr(Kernels, name).__code__
        found = module[name].__code__
        assert found.co_varnames[: found.co_argcount] == expected.co_varnames[1 : expected.co_argcount], name


@pytest.mark.parametrize("game_id", each_game())
def test_a_game_has_the_entry_points_of_its_parts(game_id: str) -> None:
    game = ludodrome.make(game_id)
    names = set(dir(game.kernels))
    assert {*Rules._fields, "playouts", "perft", "reset_many", "simulate", "plan_select", "look_many"} <= names
    for name in ("alphabeta", "maxn", "value", "move_score", "answer_alphabeta"):
        assert (name in names) == hasattr(game.kernels, name) == (game.evaluator is not None)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        game.kernels.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_a_part_that_is_missing_leaves_its_entry_points_out() -> None:
    bare, whole = make_kernels(rules.RULES), make_kernels(rules.RULES, evaluate.EVALUATOR, planes.observe)
    assert not hasattr(bare, "look_many")
    assert not hasattr(bare, "answer_greedy")
    assert hasattr(make_kernels(rules.RULES, dtype=rules.DTYPE), "look_many")
    assert bare.legal is whole.legal is ludodrome.make("skysummit").kernels.legal


def test_a_module_holds_the_rules_of_one_game() -> None:
    make_kernels(rules.RULES).mover  # noqa: B018
    other = rules.RULES._replace(turns=rules.RULES.mover)
    with pytest.raises(ValueError, match=r"skysummit\.rules declares the rules of two games"):
        make_kernels(other).mover  # noqa: B018


@pytest.mark.skipif(not COMPILED, reason="there is no cache without compilation")
def test_processes_that_start_together_compile_once_and_later_ones_load(tmp_path: Path) -> None:
    assert said(start(tmp_path), start(tmp_path)) == [["0", "0", "1"], ["0", "1", "0"]]
    file = generated(tmp_path)
    stamp = file.stat().st_mtime
    assert said(start(tmp_path)) == [["0", "1", "0"]]
    assert (file.read_text(), file.stat().st_mtime) == (SOURCE, stamp)
    assert [one.name for one in file.parent.glob(".*")] == []  # no temporary file is left


@pytest.mark.skipif(not COMPILED, reason="there is no cache without compilation")
def test_the_file_in_the_cache_is_not_run(tmp_path: Path) -> None:
    assert said(start(tmp_path)) == [["0", "0", "1"]]
    file = generated(tmp_path)
    file.write_text("raise SystemExit('this was run')\n")
    assert said(start(tmp_path)) == [["0", "1", "0"]]
    assert file.read_text() == SOURCE


@pytest.mark.skipif(not COMPILED, reason="there is no cache without compilation")
def test_a_file_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert entry_points._written(None, "name") is None
    assert entry_points._written(tmp_path / "missing", "name") is None
    monkeypatch.setattr(entry_points, "_libraries", {})
    monkeypatch.setattr(entry_points, "_written", lambda directory, name: None)
    kernels: Any = make_kernels(rules.RULES)
    states = ludodrome.make("skysummit").encode_array(ludodrome.make("skysummit").initial_state())
    assert kernels.mover(states) == 0
    assert not kernels.mover.stats.cache_path


def test_without_compilation_nothing_is_written(tmp_path: Path) -> None:
    assert said(start(tmp_path, NUMBA_DISABLE_JIT="1")) == [["0"]]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(COMPILED, reason="compiled code has no frames of its own")
def test_tracebacks_show_the_generated_line() -> None:
    with pytest.raises(IndexError) as wrong:
        make_kernels(rules.RULES).play(np.zeros(0, rules.DTYPE), 0)
    assert "return _play(states[0], action)" in "".join(traceback.format_exception(wrong.value))
