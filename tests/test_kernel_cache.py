"""Compiled code on disk: where it is kept, and one process at a time compiling."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ludodrome import jit, kernel_cache
from ludodrome.kernel_cache import cache_directory


def test_the_cache_is_named_after_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUDODROME_CACHE", str(tmp_path / "cache"))
    package = tmp_path / "package"
    package.mkdir()
    (package / "rules.py").write_text("ONE = 1")
    before = cache_directory.__wrapped__(package)
    assert before is not None
    assert before.parent == tmp_path / "cache"
    assert cache_directory.__wrapped__(package) == before
    (package / "rules.py").write_text("ONE = 2")
    assert cache_directory.__wrapped__(package) != before


def test_a_cache_that_cannot_be_written_moves_to_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "a file, not a folder"
    blocked.touch()
    monkeypatch.setenv("LUDODROME_CACHE", str(blocked))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    directory = cache_directory.__wrapped__(tmp_path)
    assert directory is not None
    assert directory.is_dir()
    assert directory.parent == tmp_path / f"ludodrome-{os.getuid()}"
    assert directory.parent.stat().st_mode & 0o077 == 0


def test_a_folder_that_others_could_have_filled_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked, shared = tmp_path / "a file", tmp_path / f"ludodrome-{os.getuid()}"
    blocked.touch()
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("LUDODROME_CACHE", str(blocked))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.warns(RuntimeWarning, match="compiled code cannot be kept"):
        assert cache_directory.__wrapped__(tmp_path) is None
    shared.rmdir()
    shared.symlink_to(tmp_path)
    with pytest.warns(RuntimeWarning, match="name a folder for it with LUDODROME_CACHE"):
        assert cache_directory.__wrapped__(tmp_path) is None


def test_without_a_home_it_is_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("LUDODROME_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert kernel_cache.cache_root() == tmp_path / f"ludodrome-{os.getuid()}"


@pytest.mark.skipif(not jit.COMPILED, reason="there is no cache without compilation")
def test_what_cannot_be_kept_is_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_more(x: int) -> int:
        return x + 1

    monkeypatch.setattr(kernel_cache, "cache_directory", lambda folder: None)
    entered: Any = jit.entry(one_more)
    assert entered(1) == 2
    assert entered.signatures


def test_old_caches_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUDODROME_CACHE", str(tmp_path))
    old, young, foreign = tmp_path / "old-1", tmp_path / "young-1", tmp_path / "mine"
    for folder in (old / "inner", young, foreign):
        folder.mkdir(parents=True)
    (old / "inner" / "kernel.nbc").touch()
    (foreign / "notes.txt").touch()
    for folder in (old, foreign):
        os.utime(folder, (0, 0))
    cache_directory.__wrapped__(tmp_path)
    assert not old.exists()
    assert young.exists()
    assert (foreign / "notes.txt").exists()


# Taking turns


@pytest.mark.skipif(not jit.COMPILED, reason="there is no cache without compilation")
def test_of_two_processes_one_compiles_and_the_other_loads(tmp_path: Path) -> None:
    """They begin together: the second waits for the first."""
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
    kernel_cache.take_turns(found, tmp_path)
    assert found._cache.load_overload() == "it"
    assert list(tmp_path.iterdir()) == []

    missing = Function([None, None])
    kernel_cache.take_turns(missing, tmp_path)
    assert missing._cache.load_overload() is None
    (lock,) = tmp_path.iterdir()
    monkeypatch.setattr(kernel_cache, "MAX_COMPILE_SECONDS", 0.05)
    assert kernel_cache._turn(lock) is None  # it is somebody else's
    late = Function([None, "it"])
    kernel_cache.take_turns(late, tmp_path)
    assert late._cache.load_overload() == "it"  # it came while it waited
    missing._cache.save_overload()
    assert missing.saved == 1
    again = kernel_cache._turn(lock)
    assert again is not None
    os.close(again)

    nowhere = Function([None, None])
    kernel_cache.take_turns(nowhere, tmp_path / "missing")
    assert nowhere._cache.load_overload() is None  # without a lock it is compiled all the same
    nowhere._cache.save_overload()
    assert nowhere.saved == 1
