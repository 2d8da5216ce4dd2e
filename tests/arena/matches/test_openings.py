"""Openings: the books that ship, drawing, and the books of matches."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ludodrome.arena.matches import openings
from ludodrome.arena.matches.balance import FIRST_ROUNDS, Balance, canonical_key, exact_value, judge, measure
from ludodrome.arena.matches.match import open_book
from ludodrome.arena.matches.openings import (
    NO_OPENINGS,
    TRIES,
    DrawnOpening,
    EmptyBook,
    FixedBook,
    MatchBook,
    checked_book,
    draw,
    fixed_book,
    read_book,
)
from ludodrome.game import Game
from ludodrome.games import make, package_folder
from ludodrome.games.dots.solver import Solver
from tests.arena.quick import SMALL

pytestmark = pytest.mark.xdist_group("dots")
GAME = make("dots", **SMALL)
ODD = make("dots", rows=2, cols=3)
"""A board without a book."""
SIZES = {
    make("dots", **SMALL): 23,
    make("dots", rows=3, cols=3): 500,
    make("dots", rows=4, cols=4): 204,
    make("dots"): 60,
    make("caldera"): 60,
    make("santorini"): 60,
    make("santorini", players=3): 150,
    make("skysummit"): 177,
    make("skysummit", turn_limit=100): 177,
}
"""Games with a book, and how many openings it has."""


def moves(*numbers: int) -> list[object]:
    legal = GAME.legal_moves(GAME.initial_state())
    return [legal[number] for number in numbers]


def drawn(*numbers: int) -> DrawnOpening:
    return DrawnOpening(tuple(moves(*numbers)))


def test_what_is_drawn_is_found_again(tmp_path: Path) -> None:
    book = MatchBook(ODD, 3, tmp_path)
    assert book.find(0) is None
    book.add(0, drawn(1, 2))
    book.add(5, drawn(3))
    for again in (book, MatchBook(ODD, 3, tmp_path)):
        assert again.find(0) == tuple(moves(1, 2))
        assert again.find(5) == tuple(moves(3))
        assert again.find(1) is None
    assert MatchBook(ODD, 4, tmp_path).find(0) is None
    assert MatchBook(make("dots", rows=1, cols=4), 3, tmp_path).find(0) is None


def test_a_line_that_was_cut_off_is_not_there(tmp_path: Path) -> None:
    MatchBook(ODD, 3, tmp_path).add(0, drawn(1))
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text() + '\n{"number": 1, "mov')
    book = MatchBook(ODD, 3, tmp_path)
    assert book.find(1) is None
    book.add(1, drawn(2))
    assert MatchBook(ODD, 3, tmp_path).find(1) == tuple(moves(2))


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    book = MatchBook(ODD, 3, tmp_path / "file" / "folder")
    book.add(0, drawn(1))
    assert book.find(0) == tuple(moves(1))


def test_which_book_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUDODROME_CACHE", str(tmp_path / "cache"))
    assert isinstance(open_book(GAME, 0, False), EmptyBook)
    assert isinstance(open_book(make("spaces"), 0, True), EmptyBook)
    open_book(ODD, 0, True, tmp_path / "records").add(0, drawn(1))
    assert [file.name[:14] for file in (tmp_path / "records").iterdir()] == ["openings-dots-"]
    open_book(ODD, 0, True).add(0, drawn(1))
    assert not (
        tmp_path / "cache" / "openings"
    ).exists()  # seeds are drawn anew for every match: nothing would be found again
    assert EmptyBook().find(7) == ()


# The books that ship


def test_a_match_uses_every_opening_of_a_book_once_before_any_again() -> None:
    book = checked_book(GAME)
    assert book is not None
    size = len(book)
    laps = [[book.opening(seed, number) for number in range(first, first + size)] for seed, first in LAPS]
    every = sorted(map(str, laps[0]))
    assert len(set(every)) == size
    for lap in laps[1:]:
        assert sorted(map(str, lap)) == every
        assert lap != laps[0]  # another seed or another lap: another order
    assert [book.opening(3, number) for number in range(size)] == laps[0]


LAPS = ((3, 0), (4, 0), (3, 23))
"""Seeds and first numbers; the book of 2x2 has 23 openings."""


def test_a_match_says_where_its_openings_come_from() -> None:
    assert open_book(GAME, 3).summary(20) == "20 of the 23 in the book"
    assert open_book(GAME, 3).summary(30) == ("all 23 in the book, then 7 again: there are more rounds than openings")
    book = open_book(ODD, 3)
    book.add(0, DrawnOpening((), 5))
    book.add(1, DrawnOpening((), TRIES, False))
    assert book.summary(2) == "2 drawn, 29 candidates refused; for 1 of them no balanced one was found"
    assert fixed_book(GAME, [moves(1), moves(2)]).summary(2) == "2 of the 2 in the list"
    assert EmptyBook().summary(5) == NO_OPENINGS


def test_a_match_that_is_resumed_keeps_the_openings_it_began_with(tmp_path: Path) -> None:
    begun = MatchBook(GAME, 3, tmp_path)
    first = begun.find(0)
    assert first == MatchBook(GAME, 3, tmp_path).find(0)
    (file,) = tmp_path.iterdir()
    # The book has changed since: its hash is another one, and so is its first opening.
    text = file.read_text().replace(json.dumps(list(first or ())), json.dumps(moves(1, 2)))
    file.unlink()
    (tmp_path / "openings-dots-01234567.jsonl").write_text(text.replace(checked_book(GAME).hash, "0" * 16))  # type: ignore[union-attr]
    resumed = MatchBook(GAME, 3, tmp_path)
    assert resumed.find(0) == tuple(moves(1, 2))
    assert resumed.find(1) == checked_book(GAME).opening(3, 1)  # type: ignore[union-attr]
    assert len(list(tmp_path.iterdir())) == 1
    assert MatchBook(GAME, 4, tmp_path).find(0) == checked_book(GAME).opening(4, 0)  # type: ignore[union-attr]


@pytest.mark.parametrize("game", SIZES, ids=str)
def test_every_opening_of_a_book_can_be_played_and_is_its_own(game: Game) -> None:
    book = checked_book(game)
    assert book is not None
    keys = set()
    for line in range(len(book)):
        state = game.initial_state()
        for move in book.moves(line):
            state = game.apply(state, move)
        assert game.to_move(state) is not None
        keys.add(canonical_key(game, game.encode_array(state)))
    assert len(keys) == len(book) == SIZES[game]


@pytest.mark.parametrize("side", [2, 3, 4])
def test_openings_of_small_boards_have_the_exact_margin_that_the_book_says(side: int) -> None:
    game = make("dots", rows=side, cols=side)
    book = checked_book(game)
    assert book is not None
    ahead: Counter[int] = Counter()
    for line in range(0, len(book), 1 if side < 4 else 50):
        state = game.initial_state()
        for move in book.moves(line):
            state = game.apply(state, move)
        solver = Solver(side, side, 20)
        solver.begin(game.encode(state))
        while not solver.run():
            pass
        margin = int(book.lines[line].partition("#")[2])
        assert solver.value == margin  # no opening gives a box away
        assert abs(margin) <= 1
        ahead[margin * (1 - 2 * game.to_move(state))] += 1  # type: ignore[operator]
    if side == 3:
        assert ahead == {1: 250, -1: 250}


def test_all_openings_of_4x4_are_worth_a_draw(long: bool) -> None:
    if not long:
        pytest.skip("solving 204 positions takes a minute: --long does it")
    game = make("dots", rows=4, cols=4)
    book = checked_book(game)
    assert book is not None
    for line in range(len(book)):
        state = game.initial_state()
        for move in book.moves(line):
            state = game.apply(state, move)
        assert exact_value(game, game.encode_array(state), 50_000_000) == 0


# Drawing


@pytest.mark.parametrize(
    "game",
    [
        make("dots", rows=1, cols=1),
        make("dots", rows=1, cols=2),
        *(make(name, turn_limit=turns) for name in ("skysummit", "caldera") for turns in (1, 4)),
    ],
    ids=str,
)
def test_tiny_games_get_short_openings(game: Game) -> None:
    """Drawing an opening that is longer than the game never ended."""
    found = draw(game, 0, 0)
    state = game.initial_state()
    for move in found.moves:
        state = game.apply(state, move)
    assert game.to_move(state) is not None
    assert len(found.moves) < 4


def test_drawing_ends_where_nothing_is_balanced(monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = iter(range(1000, 0, -1))
    monkeypatch.setattr(openings, "judge", lambda *given: Balance(False, next(verdicts)))
    found = openings.draw.__wrapped__(ODD, 5, 0)
    assert (found.refused, found.balanced) == (TRIES, False)
    assert len(found.moves) <= ODD.opening_plies[1]


@pytest.mark.parametrize("threads", [2, 4, 8])
def test_threads_draw_the_openings_that_one_draws(threads: int) -> None:
    """Threads shared one search, which could crash the process."""
    game = make("skysummit", turn_limit=12)
    draws = openings.draw.__wrapped__
    alone = [draws(game, 7, number) for number in range(2)]
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(lambda number: draws(game, 7, number % 2), range(threads)))
    assert found == [alone[number % 2] for number in range(threads)]


def test_a_drawn_opening_of_dots_has_the_smallest_exact_margin() -> None:
    found = draw(ODD, 1, 0)
    state = ODD.initial_state()
    for move in found.moves:
        state = ODD.apply(state, move)
    assert found.balanced
    assert abs(exact_value(ODD, ODD.encode_array(state), 10_000) or 0) <= 1


def test_balance_is_measured_by_games_where_there_is_no_exact_value() -> None:
    game = make("skysummit")
    even = game.encode_array(game.initial_state())
    won = game.encode_array(game.parse_state("00000/03200/00111/00000/00000 B3E5 C4D2 8"))
    assert judge(game, won, 1) == Balance(False, judge(game, won, 1).imbalance)  # a search refuses it
    measured = measure(game, even, 1, rounds=2)
    assert sum(measured.points) == 4
    assert measured == measure(game, even, 1, rounds=2)
    lost = measure(game, won, 1)
    assert not lost.balanced
    assert sum(lost.points) == 2 * FIRST_ROUNDS  # the first look is enough


def test_three_seats_are_measured_too() -> None:
    game = make("santorini", players=3)
    found = measure(game, game.encode_array(game.initial_state()), 1, rounds=1)
    assert len(found.points) == 3
    assert sum(found.points) == pytest.approx(3)


# Files


def test_a_book_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(f"{json.dumps(moves(0))}\n\n{json.dumps({'moves': moves(1, 2)})}\n")
    book = read_book(GAME, path)
    assert isinstance(book, FixedBook)
    assert [book.find(number) for number in range(3)] == [tuple(moves(0)), tuple(moves(1, 2)), tuple(moves(0))]


def test_moves_may_be_written_in_notation(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("# game: dots\n# options: rows=2 cols=2\nH(0,0); V(0,1)  # mine\nH(1,1)\n")
    book = read_book(GAME, path)
    assert len(book) == 2
    assert book.find(0) == ({"orient": "H", "r": 0, "c": 0}, {"orient": "V", "r": 0, "c": 1})


def test_a_book_that_ships_can_be_given_as_ones_own() -> None:
    book = read_book(GAME, package_folder("ludodrome.games.dots") / GAME.opening_book)
    assert len(book) == len(checked_book(GAME) or ())
    assert book.find(0) == checked_book(GAME).moves(0)  # type: ignore[union-attr]


def test_a_book_of_a_match_can_be_given_as_ones_own(tmp_path: Path) -> None:
    drawn = MatchBook(GAME, 3, tmp_path)
    drawn.find(0)
    (file,) = tmp_path.iterdir()
    assert read_book(GAME, file).find(0) == drawn.find(0)
    with pytest.raises(ValueError, match=r"line 1 of .*: this is a book of 'dots' with other options"):
        read_book(make("dots"), file)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "there is no opening in"),
        ("[nonsense", "line 1 of .* is not JSON"),
        ('{"a": 7}', "line 1 of .* is a JSON list of moves or an object with moves, not "),
        ("nonsense", "line 1 of .*: move 1 cannot be made: "),
        ("H(0,0); H(0,0)", "line 1 of .*: move 2 cannot be made: "),
        ("# game: caldera", "line 1 of .*: this is a book with the game 'caldera', not of"),
        ("# options: rows=3 cols=3", "line 1 of .*: this is a book with the options 'rows=3 cols=3', not of"),
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
