"""Files that are written whole or not at all."""

import os
from pathlib import Path

import pytest

from ludodrome import atomic_io
from ludodrome.atomic_io import write_whole


def test_a_new_file_has_the_mode_of_any_new_file_and_the_umask_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "plain"
    plain.touch()

    def refuse(mask: int) -> int:
        raise AssertionError("the umask belongs to the process, and other threads create files meanwhile")

    monkeypatch.setattr(os, "umask", refuse)
    write_whole(tmp_path / "whole", b"content")
    assert (tmp_path / "whole").stat().st_mode == plain.stat().st_mode
    assert (tmp_path / "whole").read_bytes() == b"content"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plain", "whole"]


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    atomic_io.write_whole(path, b"one", mtime=1000)
    assert (path.read_bytes(), path.stat().st_mtime) == (b"one", 1000)

    def interrupted() -> None:
        with atomic_io.whole_file(path) as file:
            file.write(b"tw")
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        interrupted()
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]


def test_without_file_locks_there_is_an_error_to_catch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic_io, "fcntl", None)
    with pytest.raises(OSError, match="no file locks"):
        atomic_io.lock_file(tmp_path / "lock")
