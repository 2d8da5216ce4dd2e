"""Boards in files: what is written is read again, and errors name the place."""

import gzip
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ludodrome import spaces
from ludodrome.spaces_lab import board_files
from tests.games.spaces.boards import board

pytestmark = pytest.mark.xdist_group("spaces")

CODES = ["3:1:uuf", "3:0:u6uf", "3:1:l5u6uf"]


def written(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, "utf-8")
    return str(folder / name)


def codes(path: str) -> list[str]:
    return [spaces.encode_board(one) for one in board_files.read_boards(path).boards]


@pytest.mark.parametrize("name", ["c.json", "c.json.gz"])
def test_a_collection_is_read_as_it_was_written(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    board_files.write_text(path, board_files.format_collection(map(board, CODES), ["run"], "mine"))
    collection = board_files.read_boards(path)
    assert codes(path) == CODES
    assert (collection.name, collection.names, collection.size) == ("mine", ["run", "", ""], 3)
    assert all(spaces.check(one, 3) == [] for one in collection.boards)
    assert collection.boards[0]["grid"] == [["empty", "piece", "empty"]] * 3


def test_all_forms_of_a_file(tmp_path: Path) -> None:
    one = json.dumps(board(CODES[0]))
    assert codes(written(tmp_path, "one.json", one)) == CODES[:1]
    assert codes(written(tmp_path, "list.json", f"[{one}, {json.dumps(CODES[1])}]")) == CODES[:2]
    assert codes(written(tmp_path, "deck.json", json.dumps({"deck": CODES}))) == CODES
    assert codes(written(tmp_path, "codes.txt", "# mine\n" + "\n\n".join(CODES))) == CODES
    (tmp_path / "codes.gz").write_bytes(gzip.compress("\n".join(CODES).encode()))
    assert codes(str(tmp_path / "codes.gz")) == CODES


def test_one_board_by_code_by_file_and_by_number(tmp_path: Path) -> None:
    one = written(tmp_path, "one.txt", CODES[1])
    many = written(tmp_path, "many.txt", "\n".join(CODES))
    assert spaces.encode_board(board_files.read_board(CODES[2])) == CODES[2]
    assert spaces.encode_board(board_files.read_board(one)) == CODES[1]
    assert spaces.encode_board(board_files.read_board(f"{many}#3")) == CODES[2]
    with pytest.raises(ValueError, match=r"holds 3 boards: choose one, like .*many.txt#1"):
        board_files.read_board(many)
    for number in ("0", "4", "x"):
        with pytest.raises(ValueError, match=f"holds boards 1 to 3, not '{number}'"):
            board_files.read_board(f"{many}#{number}")


def test_a_code_may_be_longer_than_any_name_of_a_file() -> None:
    code = spaces.encode_board(spaces.quick(100, "written", 1))
    assert len(code) > 255
    assert spaces.encode_board(board_files.read_board(code)) == code
    with pytest.raises(ValueError, match="File name too long"):
        board_files.read_board(f"{'a' * 300}#1")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "holds no board"),
        ("[]", "holds no board"),
        ('{"boards": [', "line 1, column 13: not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "an object here is a board, a collection with 'boards', or a deck with 'deck'"),
        ('{"boards": 7}', "boards come as a list, not as 7"),
        ("[7]", "board 1: a board is an object or a code, not 7"),
        ('["3:1:uuf", "nonsense"]', "board 2: a board is written as"),
        ('[{"name": 7, "boardSize": 3, "sequence": []}]', "board 1: its name is a text, not 7"),
        ("3:1:uuf\n3:9:uuf", "line 2: step 1: the start column is a whole number from 0 to 2, not 9"),
        ("3:1:uuf\n2:1:uf", "holds boards of several sizes: 2, 3"),
    ],
)
def test_what_is_wrong_has_a_place(tmp_path: Path, text: str, sentence: str) -> None:
    path = written(tmp_path, "bad.json", text)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the sentence is looked at below)
        board_files.read_boards(path)
    assert str(caught.value).startswith(path)
    assert sentence in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        board_files.read_boards(str(tmp_path / "none.json"))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="byte 0: this is not UTF-8 text"):
        board_files.read_boards(str(tmp_path / "bytes"))
    (tmp_path / "torn.gz").write_bytes(gzip.compress(b"3:1:uuf")[:-6])
    with pytest.raises(ValueError, match=r"torn.gz cannot be read: Compressed file ended"):
        board_files.read_boards(str(tmp_path / "torn.gz"))


def test_a_deck_has_ten_boards(tmp_path: Path) -> None:
    assert len(board_files.read_deck(written(tmp_path, "ten.txt", "3:1:uuf\n" * 10))) == 10
    with pytest.raises(ValueError, match="a deck has 10 boards, and this has 9"):
        board_files.read_deck(written(tmp_path, "nine.txt", "3:1:uuf\n" * 9))


def test_boards_are_added_one_by_one(tmp_path: Path) -> None:
    path = str(tmp_path / "c.json")
    for count, code in enumerate(CODES, 1):
        assert board_files.add_to_collection(path, board(code), "last" if count == 3 else "") == count
    assert codes(path) == CODES
    assert board_files.read_boards(path).names == ["", "", "last"]
    with pytest.raises(ValueError, match="holds boards of size 3, and this one has size 2"):
        board_files.add_to_collection(path, board("2:0:uf"))
    assert codes(path) == CODES


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_what_is_no_file_is_written_to_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        heard = reader.submit(pipe.read_text)
        board_files.write_text(str(pipe), "new")
        assert heard.result(30) == "new"
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "c.json")
    board_files.write_text(path, "old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(ValueError, match="cannot be written: No space left on device"):
            board_files.write_text(path, "new")
        patch.setattr(os, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            board_files.write_text(path, "new")
    assert [file.name for file in tmp_path.iterdir()] == ["c.json"]
    assert Path(path).read_text() == "old"
    with pytest.raises(ValueError, match="cannot be written: No such file or directory"):
        board_files.write_text(str(tmp_path / "no" / "c.json"), "new")
