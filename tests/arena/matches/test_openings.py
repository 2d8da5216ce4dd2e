"""Books of openings."""

import json
from pathlib import Path

import pytest

from ludodrome.arena.matches.match import open_book
from ludodrome.arena.matches.openings import DrawnBook, EmptyBook, FixedBook, opening, read_book
from ludodrome.games import make
from tests.arena.quick import SMALL

pytestmark = pytest.mark.xdist_group("dots")
GAME = make("dots", **SMALL)


def moves(*numbers: int) -> list[object]:
    legal = GAME.legal_moves(GAME.initial_state())
    return [legal[number] for number in numbers]


def test_what_is_drawn_is_found_again(tmp_path: Path) -> None:
    book = DrawnBook(GAME, 3, tmp_path)
    assert book.find(0) is None
    book.add(0, moves(1, 2))
    book.add(5, moves(3))
    for again in (book, DrawnBook(GAME, 3, tmp_path)):
        assert again.find(0) == tuple(moves(1, 2))
        assert again.find(5) == tuple(moves(3))
        assert again.find(1) is None
    assert DrawnBook(GAME, 4, tmp_path).find(0) is None
    assert DrawnBook(make("dots"), 3, tmp_path).find(0) is None


def test_a_line_that_was_cut_off_is_not_there(tmp_path: Path) -> None:
    DrawnBook(GAME, 3, tmp_path).add(0, moves(1))
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text() + '\n{"number": 1, "mov')
    book = DrawnBook(GAME, 3, tmp_path)
    assert book.find(1) is None
    book.add(1, moves(2))
    assert DrawnBook(GAME, 3, tmp_path).find(1) == tuple(moves(2))


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    book = DrawnBook(GAME, 3, tmp_path / "file" / "folder")
    book.add(0, moves(1))
    assert book.find(0) == tuple(moves(1))


def test_which_book_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUDODROME_CACHE", str(tmp_path / "cache"))
    assert isinstance(open_book(GAME, 0, False), EmptyBook)
    assert isinstance(open_book(make("spaces"), 0, True), EmptyBook)
    open_book(GAME, 0, True, tmp_path / "records").add(0, moves(1))
    assert [file.name[:14] for file in (tmp_path / "records").iterdir()] == ["openings-dots-"]
    open_book(GAME, 0, True).add(0, moves(1))
    assert len(list((tmp_path / "cache" / "openings").iterdir())) == 1
    assert EmptyBook().find(7) == ()


def test_a_book_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(f"{json.dumps(moves(0))}\n\n{json.dumps({'moves': moves(1, 2)})}\n")
    book = read_book(GAME, path)
    assert isinstance(book, FixedBook)
    assert [book.find(number) for number in range(3)] == [tuple(moves(0)), tuple(moves(1, 2)), tuple(moves(0))]


def test_a_drawn_book_can_be_given_as_ones_own(tmp_path: Path) -> None:
    drawn = DrawnBook(GAME, 3, tmp_path)
    drawn.add(0, opening(GAME, 3, 0))
    (file,) = tmp_path.iterdir()
    assert read_book(GAME, file).find(0) == drawn.find(0)
    with pytest.raises(ValueError, match=r"line 1 of .*: this is a book of 'dots' with other options"):
        read_book(make("dots"), file)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "there is no opening in"),
        ("nonsense", "line 1 of .* is not JSON"),
        ("7", "line 1 of .* is a JSON list of moves or an object with moves, not 7"),
        ('\n["nowhere"]', "line 2 of .*: move 1 cannot be made: "),
    ],
)
def test_what_is_wrong_in_a_book_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "book").write_text(text)
    with pytest.raises(ValueError, match=sentence):
        read_book(GAME, tmp_path / "book")


def test_an_opening_leaves_the_game_open(tmp_path: Path) -> None:
    state, line = GAME.initial_state(), []
    while GAME.outcome(state) is None:
        line.append(GAME.legal_moves(state)[0])
        state = GAME.apply(state, line[-1])
    (tmp_path / "book").write_text(json.dumps(line))
    with pytest.raises(ValueError, match="after these moves the game is over"):
        read_book(GAME, tmp_path / "book")
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        read_book(GAME, tmp_path / "none")
    (tmp_path / "book").write_text(json.dumps(line[:1]))
    with pytest.raises(ValueError, match="spaces is played without openings"):
        read_book(make("spaces"), tmp_path / "book")
