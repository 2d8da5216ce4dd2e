"""Openings: how they are drawn, and the books that keep them.

An opening is a short list of random moves after which the game is still balanced, so that two bots do not play the same
game a hundred times. It depends only on the game, a seed and its number.

A book is a file of JSON Lines: a header that names the game, then one opening per line. Lines are only appended; an
incomplete last line, left by a killed process, is ignored.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from ludodrome.arena import seeds
from ludodrome.arena.play_spec import HASHED, KEYED, canonical_json
from ludodrome.game import Game, IllegalMove
from ludodrome.kernel_cache import cache_root
from ludodrome.search.iterative import Searcher
from ludodrome.splitmix import SplitMix64
from ludodrome.validation import is_int, show

FAIR = 50
"""Greatest advantage of a balanced opening, in hundredths, as a search scores it."""
LOOK = 300_000
"""Nodes of this search."""
_TABLE_BITS = 18


def round_seed(seed: int, number: int, version: int = KEYED) -> int:
    """The seed of the games of a round, which share its opening and its first position."""
    return (seed << 32) + number if version == HASHED else seeds.round_seed(seed, number)


def opening(game: Game, seed: int, number: int, version: int = KEYED) -> list[Any]:
    """The moves of an opening. Games with more than one action per turn have no openings."""
    return list(_drawn(game, seed, number, version))


@lru_cache(maxsize=1000)
def _drawn(game: Game, seed: int, number: int, version: int) -> tuple[Any, ...]:
    if game.actions_a_turn > 1:
        return ()
    least, most = game.opening_plies
    shared = round_seed(seed, number, version)
    rng = SplitMix64(shared if version == HASHED else seeds.opening_seed(shared))
    first = shared if version == HASHED else seeds.position_seed(shared)
    while True:
        moves: list[Any] = []
        state = game.initial_state(first)
        for _ in range(least + rng.below(most - least + 1)):
            if game.outcome(state) is None:
                moves.append(rng.choice(game.opening_moves(state)))
                state = game.apply(state, moves[-1])
        if game.outcome(state) is None and is_fair(game, state):
            return tuple(moves)


def is_fair(game: Game, state: Any) -> bool:
    """Whether a search finds the position balanced; True where no search is possible."""
    if game.evaluator is None or game.seats > 2:
        return True
    searcher = _searcher(game)
    searcher.clear()
    states = game.new_states(1)
    states[0] = game.encode(state)
    *_, found = searcher.search(states, nodes=LOOK)
    return abs(found.score) <= FAIR


@lru_cache(maxsize=8)
def _searcher(game: Game) -> Searcher:
    return Searcher(game, _TABLE_BITS)


# Books

Moves = tuple[Any, ...]


class OpeningBook(Protocol):
    """Openings by number."""

    def find(self, number: int) -> Moves | None:
        """The moves of an opening; None if it was not drawn yet."""

    def add(self, number: int, moves: list[Any]) -> None:
        """Keep an opening."""


class EmptyBook:
    """No openings: every game begins at the initial position."""

    def find(self, number: int) -> Moves | None:
        """Return an empty opening."""
        return ()

    def add(self, number: int, moves: list[Any]) -> None:
        """Raise: there is nothing to draw."""
        raise AssertionError("an empty book never draws an opening")


class FixedBook:
    """Given openings, used in turn."""

    def __init__(self, openings: list[Moves]) -> None:
        self._openings = openings

    def __len__(self) -> int:
        return len(self._openings)

    def find(self, number: int) -> Moves | None:
        """The opening whose turn it is; the first follows the last."""
        return self._openings[number % len(self._openings)]

    def add(self, number: int, moves: list[Any]) -> None:
        """Raise: the book is complete."""
        raise AssertionError("a fixed book never draws an opening")


class DrawnBook:
    """The openings of one game and seed, kept in a file.

    Without a folder, or if the file cannot be written, they are kept in memory only.
    """

    def __init__(self, game: Game, seed: int, folder: Path | None) -> None:
        self._head = {"ludodrome": "openings", "version": KEYED, "game": game.id, "options": game.options, "seed": seed}
        self._openings: dict[int, Moves] = {}
        self._file = folder / book_name(self._head) if folder is not None else None
        if self._file is not None:
            self._read(self._file)

    def find(self, number: int) -> Moves | None:
        """The moves of an opening; None if it was not drawn yet."""
        return self._openings.get(number)

    def add(self, number: int, moves: list[Any]) -> None:
        """Keep an opening."""
        self._openings[number] = tuple(moves)
        if self._file is None:
            return
        line = json.dumps({"number": number, "moves": moves})
        try:
            fresh = not self._file.exists()
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with open(self._file, "a", encoding="utf-8") as file:
                # A line break first: the file may end in the middle of a line.
                file.write(f"{json.dumps(self._head)}\n{line}\n" if fresh else f"\n{line}\n")
        except OSError:
            self._file = None

    def _read(self, file: Path) -> None:
        try:
            lines = file.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return
        for line in lines:
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if type(value) is dict and is_int(value.get("number"), 0, 1 << 32) and type(value.get("moves")) is list:
                self._openings[value["number"]] = tuple(value["moves"])


def book_name(head: dict[str, Any]) -> str:
    """The file name of a book: one per game, options and seed."""
    return f"openings-{head['game']}-{hashlib.sha256(canonical_json(head)).hexdigest()[:8]}.jsonl"


def cache_folder() -> Path:
    """The folder of books that belong to no match folder."""
    return cache_root() / "openings"


def read_book(game: Game, path: str | os.PathLike[str]) -> FixedBook:
    """Read a book from a file: per line a JSON list of moves, or an object with ``moves``.

    Every opening is checked by playing it; ValueError says which line is wrong and why.
    """
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"the openings {path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    openings = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            moves = _read_line(line, f"line {number} of {path}", game)
            if moves is not None:
                openings.append(moves)
    if not openings:
        raise ValueError(f"there is no opening in {path}; write one JSON list of moves per line")
    return FixedBook(openings)


def fixed_book(game: Game, openings: Sequence[Any]) -> FixedBook:
    """A book of the given openings, each a list of moves; ValueError says which one is wrong."""
    if not openings:
        raise ValueError("a list of openings has at least one; False means no openings")
    return FixedBook([_checked(one, f"opening {number}", game) for number, one in enumerate(openings, 1)])


def _read_line(line: str, where: str, game: Game) -> Moves | None:
    """The opening of a line; None if the line is the header of a book."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} is not JSON: {error}") from error
    if type(value) is dict and value.get("ludodrome") == "openings":
        if value.get("game") != game.id or value.get("options") != game.options:
            raise ValueError(f"{where}: this is a book of {show(value.get('game'))} with other options, not of {game}")
        return None
    moves = value.get("moves") if type(value) is dict else value
    if type(moves) is not list:
        raise ValueError(f"{where} is a JSON list of moves or an object with moves, not {show(value)}")
    return _checked(moves, where, game)


def _checked(moves: Any, where: str, game: Game) -> Moves:
    """An opening, checked by playing it."""
    if not isinstance(moves, list | tuple):
        raise ValueError(f"{where} is a list of moves, not {show(moves)}")
    if moves and game.actions_a_turn > 1:
        raise ValueError(f"{where}: {game.id} is played without openings")
    state = game.initial_state()
    for at, move in enumerate(moves, 1):
        try:
            state = game.apply(state, move)
        except IllegalMove as error:
            raise ValueError(f"{where}: move {at} cannot be made: {error}") from error
    if game.outcome(state) is not None:
        raise ValueError(f"{where}: after these moves the game is over")
    return tuple(moves)
