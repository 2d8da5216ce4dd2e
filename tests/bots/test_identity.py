"""The identity of a bot: a hash of what runs."""

import os
from pathlib import Path

import pytest

from ludodrome.bots import identity as identities
from ludodrome.bots.identity import examine, identity


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bot.py").write_text("import helper\n")
    (tmp_path / "helper.py").write_text("x = 1\n")
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "net.bin").write_bytes(b"\0" * 100)
    return tmp_path


@pytest.mark.parametrize("spec", ["cmd:python3 {}/bot.py --fast", "py:{}/bot.py:Mine", "box:{}"])
@pytest.mark.parametrize("changed", ["bot.py", "helper.py", "weights/net.bin"])
def test_it_changes_with_every_file_of_the_bots_folder(folder: Path, spec: str, changed: str) -> None:
    spec = spec.format(folder)
    before = identity(spec)
    assert len(before) == identities.DIGITS
    assert identity(spec) == before
    content = (folder / changed).read_bytes()
    (folder / changed).write_bytes(content + b"#")
    assert identity(spec) != before
    (folder / changed).write_bytes(content)
    assert identity(spec) == before


def test_a_module_counts_by_its_content_alone(folder: Path) -> None:
    module = folder / "bot.wasm"
    module.write_bytes(b"\0asm")
    before = identity(f"wasm:{module}")
    (folder / "notes.txt").write_text("not read by a module")
    assert identity(f"wasm:{module}") == before
    module.write_bytes(b"\0asm\1")
    assert identity(f"wasm:{module}") != before


def test_it_covers_the_program_and_files_named_by_options(tmp_path: Path) -> None:
    program, data = tmp_path / "one" / "bot", tmp_path / "two" / "net"
    for file in (program, data):
        file.parent.mkdir()
        file.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    spec = f"cmd:{program} --weights={data}"
    before = identity(spec)
    data.write_text("better")
    between = identity(spec)
    program.write_text("#!/bin/bash\n")
    assert len({before, between, identity(spec)}) == 3
    assert identity("cmd:/nowhere/bot") == identity("cmd:/nowhere/bot")
    assert identity("cmd:'") != identity("cmd:")


def test_what_matches_leave_behind_does_not_change_it(folder: Path) -> None:
    spec = f"cmd:python3 {folder}/bot.py"
    before = identity(spec)
    games, later = folder / "games", folder / "later"
    games.mkdir()
    later.mkdir()
    (games / identities.MANIFEST).touch()
    (games / "anything.json").touch()
    (folder / "m-0123456789abcdef.json").touch()
    (folder / "cup.sqlite").touch()
    (folder / "bot.log").touch()
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "helper.pyc").touch()
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").touch()
    (later / "notes.txt").touch()
    assert examine(spec, [later]).id == before
    assert identity(spec) != before


def test_limits_are_kept_and_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, large = f"cmd:python3 {folder}/bot.py", folder / "weights" / "net.bin"
    assert examine(spec).notes == ()
    monkeypatch.setattr(identities, "MAX_FILE_BYTES", 99)
    monkeypatch.setattr("shutil.which", lambda name: None)
    found = examine(spec)
    assert found.notes == (f"{large} is large: it counts by its size and time of change",)
    os.utime(large, ns=(0, 0))
    assert identity(spec) != found.id
    monkeypatch.setattr(identities, "MAX_FILES", 2)
    (note,) = examine(spec).notes
    assert note == f"the folders in {folder} have more than 2 files: they are not compared"
    monkeypatch.setattr(identities, "MAX_FILES", 1)
    (note,) = examine(spec).notes
    assert note == f"{folder} has more than 1 files: they are not compared"


def test_built_in_bots_change_with_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity("greedy")
    assert before != identity("random")
    monkeypatch.setattr(identities, "built_in_version", lambda: "the next one")
    assert identity("greedy") != before
