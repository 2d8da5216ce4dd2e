"""Records in files and folders."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena import records
from ludodrome.arena.conditions import conditions
from ludodrome.arena.game_loop import play
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.records import archive
from ludodrome.arena.records.archive import RecordFilter
from ludodrome.games import make


def played(game_id: str, seed: int, *bots: str) -> dict[str, Any]:
    game = make(game_id)
    return play(PlaySpec(game_id, game.options, bots, bots, conditions(game, clock="nodes=50"), seed))


@pytest.fixture(scope="module")
def games() -> list[dict[str, Any]]:
    return [played("caldera", 1, "greedy", "random"), played("dots", 2, "random", "greedy")]


@pytest.fixture
def folder(games: list[dict[str, Any]], tmp_path: Path) -> Path:
    for one in games:
        records.write(one, tmp_path / "games")
    return tmp_path / "games"


@pytest.mark.parametrize(("form", "name"), [("jsonl", "all.jsonl"), ("text", "all.txt")])
def test_what_is_written_out_is_found_again(form: str, name: str, games: list[Any], folder: Path) -> None:
    found = list(archive.find([folder]))
    assert sorted(one["match"] for one in found) == sorted(one["match"] for one in games)
    file = folder.parent / name
    file.write_text("".join(f"{line}\n" for line in archive.export(found, form)))
    assert list(archive.find([file])) == found


def test_a_table_has_a_row_for_each_game(games: list[Any]) -> None:
    head, *rows = csv.reader(archive.export(games, "csv"))
    assert tuple(head) == archive.COLUMNS
    first = dict(zip(head, rows[0], strict=True))
    assert first["game"] == "caldera"
    assert json.loads(first["names"]) == ["greedy", "random"]
    assert int(first["turns"]) == len(games[0]["turns"])
    assert len(rows) == 2


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (RecordFilter(), 2),
        (RecordFilter(game="dots"), 1),
        (RecordFilter(bot="greedy"), 2),
        (RecordFilter(bot="nobody"), 0),
        (RecordFilter(winner="greedy"), 2),
        (RecordFilter(winner="draw"), 0),
        (RecordFilter(reason="boxes"), 1),
        (RecordFilter(verdict="timeout"), 0),
    ],
)
def test_records_are_chosen(wanted: RecordFilter, count: int, games: list[Any]) -> None:
    assert sum(one in wanted for one in games) == count


def test_bad_wishes_are_refused() -> None:
    with pytest.raises(ValueError, match="a verdict is timeout, crash"):
        RecordFilter(verdict="laziness")
    with pytest.raises(ValueError, match="jsonl, csv, moves or text"):
        list(archive.export([], "pdf"))


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.json", b"[]", "is not a record"),
        ("a.json", b"{", "is not a record"),
        ("a.jsonl", b'\n{"ludodrome": "record", "version": 3}', "line 2 of .* version 3"),
        ("a.txt", b"\xff", "the byte at 0 is wrong"),
        ("a.txt", b"hello", "line 1: "),
    ],
)
def test_bad_files_are_named(name: str, content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(records.BadRecord, match=sentence):
        list(archive.find([tmp_path / name]))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(records.BadRecord, match=r"none\.json cannot be read: No such file"):
        list(archive.find([tmp_path / "none.json"]))
    with pytest.raises(records.BadRecord, match=r"a\.json cannot be read: File name too long"):
        list(archive.find([tmp_path / f"{'a' * 300}.json"]))
