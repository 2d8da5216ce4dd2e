"""Folders of texts, read in order and written again."""

from pathlib import Path

import pytest

from ludodrome.atomic_io import files_below, write_new


def test_what_is_written_is_found_again(tmp_path: Path) -> None:
    texts = {"b.txt": "two", "a/z.txt": "one", "a/deep/c.txt": "three, äöü"}
    assert write_new(tmp_path / "new" / "one", texts) == list(texts)
    found = {name: file.read_text("utf-8") for name, file in files_below(tmp_path / "new" / "one")}
    assert list(found) == ["a/deep/c.txt", "a/z.txt", "b.txt"]
    assert found == texts


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    write_new(tmp_path, {"a.txt": "first"})
    for place in (tmp_path, tmp_path / "a.txt"):
        with pytest.raises(ValueError, match="is there already, and nothing is overwritten"):
            write_new(place, {"a.txt": "second"})
    with pytest.raises(ValueError, match="cannot be written: Not a directory"):
        write_new(tmp_path / "a.txt" / "below", {"b.txt": ""})
    assert (tmp_path / "a.txt").read_text() == "first"
