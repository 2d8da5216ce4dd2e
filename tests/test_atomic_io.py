"""Files that are written whole or not at all."""

import os
from pathlib import Path

import pytest

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
