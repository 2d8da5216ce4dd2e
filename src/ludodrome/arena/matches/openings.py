"""Openings: a few moves by lot that leave the game open, so that two bots do not play the same game a hundred times.

An opening depends on the game, a seed and its number alone. It is a list of moves from the first position; a record
holds them, so that nobody has to draw them again.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ludodrome.game import Game
from ludodrome.splitmix import SplitMix64

if TYPE_CHECKING:
    from ludodrome.search.iterative import Searcher

import hashlib
import json
import os
from pathlib import Path
from typing import Protocol

from ludodrome.arena.play_spec import canonical_json
from ludodrome.game import IllegalMove
from ludodrome.kernel_cache import cache_root
from ludodrome.validation import is_int, show

PLIES = {"dots": (4, 9)}
"""How many moves an opening has, from the first number to the second."""
USUAL_PLIES = (4, 8)
FAIR = 50
"""An opening is fair if a search sees no more than this many hundredths of an advantage for either seat."""
LOOK = 300_000
"""Positions that this search visits."""
_TABLE_BITS = 18


def pair_seed(seed: int, number: int) -> int:
    """The seed of a match's first position and opening: the games of one pair have it in common."""
    return (seed << 32) + number


def opening(game: Game, seed: int, number: int) -> list[Any]:
    """The moves of the opening of that number. Games whose move is more than one action have none."""
    return list(_drawn(game, seed, number))


@lru_cache(maxsize=1000)
def _drawn(game: Game, seed: int, number: int) -> tuple[Any, ...]:
    if game.actions_a_turn > 1:
        return ()
    least, most = PLIES.get(game.id, USUAL_PLIES)
    dice = SplitMix64(pair_seed(seed, number))
    while True:
        moves: list[Any] = []
        state = game.initial_state(pair_seed(seed, number))
        for _ in range(least + dice.below(most - least + 1)):
            if game.outcome(state) is None:
                moves.append(dice.choice(sensible_moves(game, state)))
                state = game.apply(state, moves[-1])
        if game.outcome(state) is None and is_fair(game, state):
            return tuple(moves)


def sensible_moves(game: Game, state: Any) -> list[Any]:
    """What an opening is drawn from: in dots the edges that give nothing away, else all moves."""
    moves = game.legal_moves(state)
    if game.id != "dots":
        return moves
    from ludodrome.games.dots.strategy import board_masks, safe_edges

    board = board_masks(game.options["rows"], game.options["cols"])
    safe = safe_edges(board, int(game.encode(state)["edges"]))
    return [move for move in moves if game.action(move, state) in safe] or moves


def is_fair(game: Game, state: Any) -> bool:
    """Whether a search sees no great advantage; where none can be made, every position counts as fair."""
    if game.evaluator is None or game.seats > 2:
        return True
    thinker = _judge(game)
    thinker.forget()
    states = game.new_states(1)
    states[0] = game.encode(state)
    *_, finding = thinker.search(states, nodes=LOOK)
    return abs(finding.score) <= FAIR


@lru_cache(maxsize=8)
def _judge(game: Game) -> "Searcher":
    from ludodrome.search.iterative import Searcher

    return Searcher(game, _TABLE_BITS)


# Books of openings: files in which the openings of a match stand, so that they are drawn once.
# A book is JSON Lines: a first line that says which game it is for, then a line an opening. Lines are only ever added;
# a last line that was cut off, because somebody was killed while writing it, counts as not there. How openings are drawn
# is in ``openings.py``.


Moves = tuple[Any, ...]


class OpeningBook(Protocol):
    """Openings by their numbers."""

    def find(self, number: int) -> Moves | None:
        """The moves of an opening; None if it is not drawn yet."""

    def add(self, number: int, moves: list[Any]) -> None:
        """Writes an opening down."""


class EmptyBook:
    """Every game begins at the first position."""

    def find(self, number: int) -> Moves | None:
        """No moves."""
        return ()

    def add(self, number: int, moves: list[Any]) -> None:
        """There is nothing to write down."""
        raise AssertionError("without a book no openings are drawn")


class FixedBook:
    """Somebody's own openings, used in turn, from the first again when all were used."""

    def __init__(self, openings: list[Moves]) -> None:
        self._openings = openings

    def __len__(self) -> int:
        return len(self._openings)

    def find(self, number: int) -> Moves | None:
        """The opening whose turn it is."""
        return self._openings[number % len(self._openings)]

    def add(self, number: int, moves: list[Any]) -> None:
        """It is complete."""
        raise AssertionError("a book of one's own is never added to")


class DrawnBook:
    """The openings of one game and seed, kept in a file in a folder.

    Without a folder, or if it cannot be written, they are forgotten at the end.
    """

    def __init__(self, game: Game, seed: int, folder: Path | None) -> None:
        self._head = {"ludodrome": "openings", "version": 1, "game": game.id, "options": game.options, "seed": seed}
        self._openings: dict[int, Moves] = {}
        self._file = folder / book_name(self._head) if folder is not None else None
        if self._file is not None:
            self._read(self._file)

    def find(self, number: int) -> Moves | None:
        """The moves of an opening; None if it is not drawn yet."""
        return self._openings.get(number)

    def add(self, number: int, moves: list[Any]) -> None:
        """Writes an opening down."""
        self._openings[number] = tuple(moves)
        if self._file is None:
            return
        line = json.dumps({"number": number, "moves": moves})
        try:
            fresh = not self._file.exists()
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with open(self._file, "a", encoding="utf-8") as file:
                # A line break first: what stands there may end in the middle of a line.
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
    """What a book's file is called: one for each game, its options and the seed."""
    return f"openings-{head['game']}-{hashlib.sha256(canonical_json(head)).hexdigest()[:8]}.jsonl"


def cache_folder() -> Path:
    """Where books are kept that belong to nothing else."""
    return cache_root() / "openings"


def read_book(game: Game, path: str | os.PathLike[str]) -> FixedBook:
    """Somebody's own openings: a line each, a JSON list of moves or an object with ``moves``; checked by playing them.

    ValueError says which line is wrong and why.
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
        raise ValueError(f"there is no opening in {path}; it has a line each: a JSON list of moves")
    return FixedBook(openings)


def fixed_book(game: Game, openings: Sequence[Any]) -> FixedBook:
    """A book of the given openings, each a list of moves; ValueError says which one is wrong."""
    if not openings:
        raise ValueError("a list of openings has at least one; False stands for no openings")
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
