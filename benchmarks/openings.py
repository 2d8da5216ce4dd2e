"""Makes the books of openings that ship with the games (``openings*.txt`` in the folder of a game).

    python -m benchmarks.openings                            all books
    python -m benchmarks.openings dots rows=3 cols=3         one book
    python -m benchmarks.openings --check skysummit          play new games from every opening of a book

Candidates are numbered; the same number gives the same moves and the same verdict (``arena/matches/balance.py``). Every
verdict is appended to a file in the work folder, so a run can be stopped and goes on where it was. A book has the
first balanced candidates of which no two are the same up to symmetry. Where the exact margin is odd, both seats are
ahead equally often.
"""

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import ludodrome
from ludodrome.arena.matches.balance import ROUNDS, canonical_key, judge, measure
from ludodrome.arena.matches.openings import checked_book, format_options, random_line
from ludodrome.game import Game
from ludodrome.games import find, package_folder
from ludodrome.splitmix import SplitMix64

SOLVER_NODES = 50_000_000
STALE = 3000
"""After this many candidates in a row without a new opening there are no more."""
AHEAD = 16
"""Candidates judged ahead of the last verdict that was kept."""
BOOKS = (
    ("dots rows=2 cols=2", 500),
    ("dots rows=3 cols=3", 500),
    ("dots rows=4 cols=4", 500),
    ("santorini players=2", 500),
    ("skysummit turn_limit=100", 500),
    ("caldera turn_limit=100", 500),
    ("dots rows=5 cols=5", 500),
    ("santorini players=3", 150),
)
"""The books and their sizes. A turn limit is the shortest one with which the book is used."""


Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""``map``, or the ``imap`` of a pool of processes: results in the order of the tasks."""


class Candidate(NamedTuple):
    """A candidate and the verdict about it."""

    number: int
    key: int
    """The same for symmetric positions; 0 if the game was over."""
    balanced: bool
    text: str
    """The moves in notation; empty if refused."""
    value: int | None
    """The exact margin for the seat to move."""
    seat: int
    """The seat to move."""
    points: tuple[float, ...]


def judged(task: tuple[str, int]) -> Candidate:
    """Draw and judge a candidate."""
    words, number = task
    game = game_of(words)
    rng = SplitMix64(number)
    rng = SplitMix64(rng.word() ^ rng.word())  # neighbouring numbers begin alike
    least, most = game.opening_plies
    line = random_line(game, rng, least + rng.below(most - least + 1))
    if line is None:
        return Candidate(number, 0, False, "", None, 0, ())
    moves, state = line
    states = game.encode_array(state)
    verdict = judge(game, states, rng.word(), SOLVER_NODES)
    text = notation(game, moves) if verdict.balanced else ""
    seat = int(game.kernels.mover(states))
    return Candidate(number, canonical_key(game, states), verdict.balanced, text, verdict.value, seat, verdict.points)


def game_of(words: str) -> Game:
    """The game of words like ``dots rows=3 cols=3``."""
    game_id, *options = words.split()
    return ludodrome.make(game_id, **{name: int(value) for name, _, value in (one.partition("=") for one in options)})


def notation(game: Game, moves: tuple[Any, ...]) -> str:
    """The moves of an opening, as a book has them."""
    state, texts = game.initial_state(), []
    for move in moves:
        texts.append(game.format_move(move, state))
        state = game.apply(state, move)
    return "; ".join(texts)


class Selection:
    """The candidates that go into a book, and why others do not."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.chosen: list[Candidate] = []
        self.refused: Counter[str] = Counter()
        self.seen = 0
        self._keys: set[int] = set()
        self._ahead: Counter[int] = Counter()
        self._last = 0

    @property
    def complete(self) -> bool:
        """Whether no more candidates are needed."""
        return len(self.chosen) >= self.count or self.seen - self._last > STALE

    def take(self, one: Candidate) -> None:
        """Choose or refuse the next candidate."""
        self.seen += 1
        ahead = 0 if not one.value else one.seat if one.value > 0 else 1 - one.seat
        if not one.balanced:
            self.refused["unbalanced"] += 1
        elif one.key in self._keys:
            self.refused["symmetric to another"] += 1
        elif one.value and self._ahead[ahead] >= math.ceil(self.count / 2):
            self.refused["favouring the seat that is ahead in half of the book"] += 1
        else:
            self._keys.add(one.key)
            self._ahead[ahead] += bool(one.value)
            self.chosen.append(one)
            self._last = self.seen


def kept(path: Path) -> Iterator[Candidate]:
    """The verdicts of earlier runs; an incomplete last line is dropped."""
    if not path.exists():
        return
    whole = path.read_text("utf-8").rpartition("\n")[0]
    path.write_text(whole + "\n" if whole else "", "utf-8")
    for line in whole.splitlines():
        fields = json.loads(line)
        yield Candidate._make([*fields[:-1], tuple(fields[-1])])


def select(words: str, count: int, work: Path, ordered_map: Map) -> Selection:
    """Judge candidates until the book is complete, and keep every verdict."""
    work.mkdir(parents=True, exist_ok=True)
    path = work / f"{words.replace(' ', '-')}.jsonl"
    selection = Selection(count)
    for one in kept(path):
        if not selection.complete:
            selection.take(one)
    number = selection.seen
    with open(path, "a", encoding="utf-8") as file:
        while not selection.complete:
            for one in ordered_map(judged, [(words, number + ahead) for ahead in range(AHEAD)]):
                file.write(json.dumps(one) + "\n")
                file.flush()
                if not selection.complete:
                    selection.take(one)
            number += AHEAD
            note = f"{words}: {len(selection.chosen)} of {count}, {selection.seen} candidates"
            print(f"\r{note}   ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return selection


def header(words: str, selection: Selection) -> list[str]:
    """The lines that say what a book is and how it was made."""
    game = game_of(words)
    if selection.chosen[0].value is not None:
        how = "by exact value, of at most 1; after # the margin under perfect play, for the seat to move"
    else:
        how = f"by {ROUNDS * game.seats} games of a bot with itself (docs/results/openings.md); after # points by seat"
    refused = ", ".join(f"{number} {why}" for why, number in selection.refused.items())
    return [
        "# ludodrome openings",
        f"# game: {game.id}",
        f"# options: {format_options(game)}",
        f"# number: {len(selection.chosen)}, distinct up to symmetry",
        f"# balance: {how}",
        f"# candidates: {selection.seen}; refused: {refused}",
        f"# made: {date.today()} by `python -m benchmarks.openings {words}`",
    ]


def write(words: str, selection: Selection) -> Path:
    """Write a book into the folder of its game."""
    game = game_of(words)
    lines = header(words, selection)
    for one in selection.chosen:
        measured = "-".join(f"{points:g}" for points in one.points)
        if one.value is not None:
            measured = f"{one.value:+d}" if one.value else "0"
        lines.append(f"{one.text} # {measured}")
    path = package_folder(find(game.id).module) / game.opening_book
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def measured_again(task: tuple[str, int, int]) -> tuple[float, ...]:
    """Points by seat of new games from an opening of a book, all of them played."""
    words, line, rounds = task
    game = game_of(words)
    book = checked_book(game)
    assert book is not None
    state = game.initial_state()
    for move in book.moves(line):
        state = game.apply(state, move)
    return measure(game, game.encode_array(state), 1_000_000 + line, rounds, to_the_end=True).points


def check(words: str, rounds: int, most: int, ordered_map: Map) -> None:
    """Print the points of seat 0 in new games from the openings of a book, and how far openings differ in truth."""
    game = game_of(words)
    book = checked_book(game)
    assert book is not None
    tasks = ((words, line, rounds) for line in range(min(most, len(book))))
    shares = [points[0] / (rounds * game.seats) for points in ordered_map(measured_again, tasks)]
    print(f"{words}: {summary(shares, rounds * game.seats, 1 / game.seats)}")


def summary(shares: list[float], games: int, even: float) -> str:
    """The mean share, its error, and the standard deviation without the part that chance explains."""
    mean = sum(shares) / len(shares)
    spread = sum((one - mean) ** 2 for one in shares) / (len(shares) - 1)
    error, beyond = 1.96 * math.sqrt(spread / len(shares)), max(0.0, spread - even * (1 - even) / games)
    return (
        f"{len(shares)} openings, {games} games each: seat 0 has {mean:.1%} +- {error:.1%}; "
        f"standard deviation of openings {math.sqrt(spread):.3f}, {math.sqrt(beyond):.3f} beyond chance"
    )


def main() -> None:
    """Make books, or check them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="a game and its options; all books if left out")
    parser.add_argument("--count", type=int, help="openings of the book")
    parser.add_argument("--work", type=Path, default=Path("build/openings"), help="folder of the verdicts")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="play new games instead of making books")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="with --check: rounds per opening")
    parser.add_argument("--most", type=int, default=500, help="with --check: openings of the book")
    given = parser.parse_args()
    wanted = " ".join(given.words)
    books = [(words, count) for words, count in BOOKS if wanted in ("", words)] or [(wanted, 500)]
    with ExitStack() as stack:
        ordered_map: Map = map
        if given.processes > 1:
            ordered_map = stack.enter_context(get_context("forkserver").Pool(given.processes)).imap
        for words, count in books:
            if given.check:
                check(words, given.rounds, given.most, ordered_map)
            else:
                print("wrote", write(words, select(words, given.count or count, given.work, ordered_map)))


if __name__ == "__main__":
    main()
