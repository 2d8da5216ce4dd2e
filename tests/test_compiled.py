"""Compiled code on disk: one process at a time compiles. Where it is kept is in ``test_jit.py``."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ludodrome import compiled, jit


@pytest.mark.skipif(not jit.COMPILED, reason="there is no cache without compilation")
def test_of_two_processes_one_compiles_and_the_other_loads(tmp_path: Path) -> None:
    """They begin together: whoever comes second waits for the first."""
    code = """
import sys
import numba
from ludodrome import jit

@jit.entry
def twice(x):
    return 2 * x

print("ready", flush=True)
sys.stdin.readline()
stats = (twice(21), sum(twice.stats.cache_hits.values()), sum(twice.stats.cache_misses.values()))
print(*stats)
"""
    (tmp_path / "one.py").write_text(code)
    environment = {**os.environ, "LUDODROME_CACHE": str(tmp_path / "cache")}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    both = [subprocess.Popen([sys.executable, str(tmp_path / "one.py")], **pipes) for _ in range(2)]
    assert [one.stdout.readline() for one in both if one.stdout] == ["ready\n"] * 2
    for one in both:
        assert one.stdin
        one.stdin.write("go\n")
        one.stdin.flush()
    said = sorted(one.communicate()[0].split() for one in both)
    assert said == [["42", "0", "1"], ["42", "1", "0"]]


class Function:
    """As much of a compiled function as turns need."""

    def __init__(self, found: list[Any]) -> None:
        self.py_func = test_bits_of_turns
        self._cache = self
        self.found, self.saved = found, 0

    def load_overload(self) -> Any:
        return self.found.pop(0)

    def save_overload(self) -> None:
        self.saved += 1


def test_bits_of_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Function(["it"])
    compiled.take_turns(found, tmp_path)
    assert found._cache.load_overload() == "it"
    assert list(tmp_path.iterdir()) == []

    missing = Function([None, None])
    compiled.take_turns(missing, tmp_path)
    assert missing._cache.load_overload() is None
    (lock,) = tmp_path.iterdir()
    monkeypatch.setattr(compiled, "MOST_SECONDS_OF_COMPILING", 0.05)
    assert compiled._turn(lock) is None  # it is somebody else's
    late = Function([None, "it"])
    compiled.take_turns(late, tmp_path)
    assert late._cache.load_overload() == "it"  # it came while it waited
    missing._cache.save_overload()
    assert missing.saved == 1
    again = compiled._turn(lock)
    assert again is not None
    os.close(again)

    nowhere = Function([None, None])
    compiled.take_turns(nowhere, tmp_path / "missing")
    assert nowhere._cache.load_overload() is None  # without a lock it is compiled all the same
    nowhere._cache.save_overload()
    assert nowhere.saved == 1
