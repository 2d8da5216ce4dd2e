"""Openings: the checked ones that ship with the games, how others are drawn, and the books of a match.

An opening is a short list of moves after which the game is still balanced, so that two bots do not play the same game a
hundred times. A game may ship a book of openings that were checked beforehand (``benchmarks/openings``). A match uses
it in an order that depends on its seed, each opening once before any is repeated. Other openings are drawn: random
moves, until ``balance.py`` finds a position balanced. What is drawn depends only on the game, the seed and its number.

A book is a text file. Lines that begin with # say what it is; every other line is an opening: moves in notation,
separated by semicolons, a JSON list of moves, or an object with ``moves``.
"""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ludodrome.arena import seeds
from ludodrome.arena.matches.balance import judge
from ludodrome.arena.play_spec import HASHED, KEYED, canonical_json
from ludodrome.game import Game, IllegalMove
from ludodrome.games import find as find_game
from ludodrome.games import package_folder
from ludodrome.splitmix import SplitMix64
from ludodrome.validation import is_int, show

TRIES = 24
"""Candidates after which the most balanced of them is taken."""

MAX_BOOK_BYTES = 16_000_000
"""Greatest size of a file of openings."""
NO_OPENINGS = "none"
"""The summary of an empty book."""

Moves = tuple[Any, ...]


class DrawnOpening(NamedTuple):
    """An opening, and how it was found."""

    moves: Moves
    refused: int = 0
    """Candidates that were refused before it was found."""
    balanced: bool = True
    """False if no candidate was balanced: then it is the most balanced one."""


def round_seed(seed: int, number: int, version: int = KEYED) -> int:
    """The seed of the games of a round, which share its opening and its first position."""
    return (seed << 32) + number if version == HASHED else seeds.round_seed(seed, number)


def opening(game: Game, seed: int, number: int, version: int = KEYED) -> DrawnOpening:
    """An opening of a match: from the game's book, or drawn. Games with more than one action per turn have none."""
    if game.actions_a_turn > 1:
        return DrawnOpening(())
    book = checked_book(game)
    return draw(game, seed, number, version) if book is None else DrawnOpening(book.opening(seed, number))


# Drawing


@lru_cache(maxsize=1000)
def draw(game: Game, seed: int, number: int, version: int = KEYED) -> DrawnOpening:
    """Draw an opening: random moves after which the game is balanced.

    Candidates get shorter where the game ends before they do; a tiny game may begin without an opening.
    """
    shared = round_seed(seed, number, version)
    rng = SplitMix64(shared if version == HASHED else seeds.opening_seed(shared))
    first = shared if version == HASHED else seeds.position_seed(shared)
    least, most = game.opening_plies
    found: tuple[float, Moves] | None = None
    for tried in range(TRIES):
        least = min(least, most)
        candidate = random_line(game, rng, least + rng.below(most - least + 1), first)
        if candidate is None:
            most = max(0, most - 1)
            continue
        moves, state = candidate
        verdict = judge(game, game.encode_array(state), rng.word())
        if verdict.balanced:
            return DrawnOpening(moves, tried)
        if found is None or verdict.imbalance < found[0]:
            found = verdict.imbalance, moves
    return DrawnOpening(found[1] if found else (), TRIES, False)


def random_line(game: Game, rng: SplitMix64, plies: int, first: int = 0) -> tuple[Moves, Any] | None:
    """Random moves from the initial state with seed ``first``, and the state after them; None if the game ends."""
    moves: list[Any] = []
    state = game.initial_state(first)
    for _ in range(plies):
        moves.append(rng.choice(game.opening_moves(state)))
        state = game.apply(state, moves[-1])
        if game.to_move(state) is None:
            return None
    return tuple(moves), state


# The books that ship


class CheckedBook:
    """The checked openings in a game's package."""

    def __init__(self, game: Game, text: str) -> None:
        self.game = game
        self.lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        self.hash = hashlib.sha256(text.encode()).hexdigest()[:16]

    def __len__(self) -> int:
        return len(self.lines)

    def opening(self, seed: int, number: int) -> Moves:
        """An opening of a match with this seed: all of the book in some order, then all again in another one."""
        lap, place = divmod(number, len(self))
        return self.moves(_order(seed, lap, len(self))[place])

    @lru_cache(maxsize=2000)  # noqa: B019 (books live as long as the process: see checked_book)
    def moves(self, line: int) -> Moves:
        """The moves of a line, numbered from 0."""
        return _parse_opening(self.lines[line], f"opening {line + 1} of {self.game.opening_book}", self.game)


@lru_cache(maxsize=32)
def checked_book(game: Game) -> CheckedBook | None:
    """The book of a game with these options; None if it ships none."""
    if not game.opening_book:
        return None
    return CheckedBook(game, (package_folder(find_game(game.id).module) / game.opening_book).read_text("utf-8"))


@lru_cache(maxsize=8)
def _order(seed: int, lap: int, size: int) -> list[int]:
    return seeds.opening_order(seed, lap, size)


# The books of a match


class OpeningBook(Protocol):
    """Openings by number."""

    def find(self, number: int) -> Moves | None:
        """The moves of an opening; None if it was not drawn yet."""

    def add(self, number: int, drawn: DrawnOpening) -> None:
        """Keep an opening."""

    def summary(self, rounds: int) -> str:
        """Where the openings of this many rounds come from, in a few words."""


class EmptyBook:
    """No openings: every game begins at the initial position."""

    def find(self, number: int) -> Moves | None:
        """Return an empty opening."""
        return ()

    def add(self, number: int, drawn: DrawnOpening) -> None:
        """Raise: there is nothing to draw."""
        raise AssertionError("an empty book never draws an opening")

    def summary(self, rounds: int) -> str:
        """Say that there are none."""
        return NO_OPENINGS


class FixedBook:
    """Given openings, used in turn."""

    def __init__(self, openings: list[Moves], name: str = "the list") -> None:
        self._openings, self.name = openings, name

    def __len__(self) -> int:
        return len(self._openings)

    @property
    def hash(self) -> str:
        """A hash of all openings."""
        return hashlib.sha256(canonical_json(self._openings)).hexdigest()[:16]

    def find(self, number: int) -> Moves | None:
        """The opening whose turn it is; the first follows the last."""
        return self._openings[number % len(self._openings)]

    def add(self, number: int, drawn: DrawnOpening) -> None:
        """Raise: the book is complete."""
        raise AssertionError("a fixed book never draws an opening")

    def summary(self, rounds: int) -> str:
        """How many of them were used, and how often."""
        return _used(rounds, len(self), self.name)


class MatchBook:
    """The openings of one game and seed: from the game's book, or drawn. They are kept in a folder, if there is one.

    A match that is resumed from the folder uses those it began with, whatever has changed since. If the file cannot be
    written, they are kept in memory only.
    """

    def __init__(self, game: Game, seed: int, folder: Path | None = None) -> None:
        self._seed, self._checked = seed, checked_book(game)
        self._openings: dict[int, Moves] = {}
        self._drawn, self._refused, self._unbalanced = 0, 0, 0
        self._head = {"ludodrome": "openings", "version": KEYED, "game": game.id, "options": game.options, "seed": seed}
        if self._checked is not None:
            self._head["book"] = self._checked.hash
        self._file = None if folder is None else self._begun(folder) or folder / book_name(self._head)
        if self._file is not None:
            self._read(self._file)

    def find(self, number: int) -> Moves | None:
        """The moves of an opening; None if it must be drawn first."""
        moves = self._openings.get(number)
        if moves is None and self._checked is not None:
            moves = self._checked.opening(self._seed, number)
            self._keep(number, moves)
        return moves

    def add(self, number: int, drawn: DrawnOpening) -> None:
        """Keep an opening."""
        self._drawn += 1
        self._refused += drawn.refused
        self._unbalanced += not drawn.balanced
        self._keep(number, drawn.moves)

    def summary(self, rounds: int) -> str:
        """How many come from the book, and how often; or how many were drawn and refused."""
        if self._checked is not None:
            return _used(rounds, len(self._checked), "the book")
        return drawing_summary(self._drawn, self._refused, self._unbalanced)

    def _keep(self, number: int, moves: Moves) -> None:
        self._openings[number] = moves
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

    def _begun(self, folder: Path) -> Path | None:
        """The file of an earlier run of this match, perhaps with another book."""
        for file in sorted(folder.glob(f"openings-{self._head['game']}-*.jsonl")):
            head = next(_json_lines(file), None)
            if type(head) is dict and all(head.get(key) == self._head[key] for key in ("game", "options", "seed")):
                return file
        return None

    def _read(self, file: Path) -> None:
        for value in _json_lines(file):
            if type(value) is dict and is_int(value.get("number"), 0, 1 << 32) and type(value.get("moves")) is list:
                self._openings[value["number"]] = tuple(value["moves"])


def drawing_summary(drawn: int, refused: int, unbalanced: int) -> str:
    """How many openings were drawn, and how many candidates refused."""
    most = f"; for {unbalanced} of them no balanced one was found" if unbalanced else ""
    return f"{drawn} drawn, {refused} candidates refused{most}"


def _used(rounds: int, size: int, where: str) -> str:
    """How many openings of a book this many rounds use."""
    if rounds <= size:
        return f"{rounds} of the {size} in {where}"
    return f"all {size} in {where}, then {rounds - size} again: there are more rounds than openings"


def _json_lines(file: Path) -> Any:
    """The values of the lines of a file; nothing of lines that are no JSON, or of a file that cannot be read."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            continue


def book_name(head: dict[str, Any]) -> str:
    """The file name of a match's openings: one per game, options, seed and book."""
    return f"openings-{head['game']}-{hashlib.sha256(canonical_json(head)).hexdigest()[:8]}.jsonl"


# Files of openings


def read_book(game: Game, path: str | os.PathLike[str]) -> FixedBook:
    """Read a book from a file, in the format described above.

    Every opening is checked by playing it; ValueError says which line is wrong and why.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BOOK_BYTES + 1)
        lines = content.decode("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ValueError(f"the openings {path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(content) > MAX_BOOK_BYTES:
        raise ValueError(f"the openings {path} are larger than {MAX_BOOK_BYTES:,} bytes")
    openings = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            moves = _read_line(line.strip(), f"line {number} of {path}", game)
            if moves is not None:
                openings.append(moves)
    if not openings:
        raise ValueError(f"there is no opening in {path}; write one per line, moves separated by semicolons")
    return FixedBook(openings, str(path))


def fixed_book(game: Game, openings: Sequence[Any]) -> FixedBook:
    """A book of the given openings, each a list of moves; ValueError says which one is wrong."""
    if not openings:
        raise ValueError("a list of openings has at least one; False means no openings")
    return FixedBook([_checked(one, f"opening {number}", game) for number, one in enumerate(openings, 1)])


def _read_line(line: str, where: str, game: Game) -> Moves | None:
    """The opening of a line; None if the line says something about the book."""
    if line.startswith("#"):
        _check_header(line, where, game)
        return None
    if line[0] not in "[{":
        return _parse_opening(line, where, game)
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


def format_options(game: Game) -> str:
    """The options of a game as a book's header has them."""
    return " ".join(f"{name}={value}" for name, value in game.options.items())


def _check_header(line: str, where: str, game: Game) -> None:
    """ValueError if the header names another game or other options."""
    said = re.fullmatch(r"#\s*(game|options):\s*(.*)", line)
    expected = {"game": game.id, "options": format_options(game)}
    if said and said[2] != expected[said[1]]:
        raise ValueError(f"{where}: this is a book with the {said[1]} {show(said[2])}, not of {game}")


def _parse_opening(line: str, where: str, game: Game) -> Moves:
    """An opening in notation, checked by playing it. What follows # is a comment."""
    _refuse_openings(game, where)
    texts = [text.strip() for text in line.partition("#")[0].split(";")]
    state, moves = game.initial_state(), []
    for at, text in enumerate(texts if any(texts) else [], 1):
        try:
            moves.append(game.parse_move(text, state))
        except IllegalMove as error:
            raise ValueError(f"{where}: move {at} cannot be made: {error}") from error
        state = game.apply(state, moves[-1])
    return _still_open(tuple(moves), state, where, game)


def _checked(moves: Any, where: str, game: Game) -> Moves:
    """An opening, checked by playing it."""
    if not isinstance(moves, list | tuple):
        raise ValueError(f"{where} is a list of moves, not {show(moves)}")
    if moves:
        _refuse_openings(game, where)
    state = game.initial_state()
    for at, move in enumerate(moves, 1):
        try:
            state = game.apply(state, move)
        except IllegalMove as error:
            raise ValueError(f"{where}: move {at} cannot be made: {error}") from error
    return _still_open(tuple(moves), state, where, game)


def _refuse_openings(game: Game, where: str) -> None:
    if game.actions_a_turn > 1:
        raise ValueError(f"{where}: {game.id} is played without openings")


def _still_open(moves: Moves, state: Any, where: str, game: Game) -> Moves:
    if game.outcome(state) is not None:
        raise ValueError(f"{where}: after these moves the game is over")
    return moves
