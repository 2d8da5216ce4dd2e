"""Puzzles and their files, one line a puzzle; and the user's file of solved puzzles.

A line has seven parts, separated by semicolons:

    GRADE ; KIND ; GOAL ; BOUND ; OPTIONS ; POSITION ; SOLUTION

Options are written as ``rows=3 cols=3``, or ``-`` for the defaults; the position is the game's one-line form, the
solution a move in notation. ``Puzzle`` says what goal and bound mean. Nothing heavy is imported here.
"""

import hashlib
import json
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ludodrome.atomic_io import write_whole
from ludodrome.games import find
from ludodrome.system import data_folder

if TYPE_CHECKING:
    from ludodrome.game import Game

WIN, SAVE, MARGIN, RESPOND = "win", "save", "margin", "respond"
KINDS = (WIN, SAVE, MARGIN, RESPOND)
GRADES = range(1, 6)
DEFAULTS = "-"
SOLVED_FILE = "puzzles.json"
_SEPARATOR = " ; "


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A position with a task. Every claim is checked by exhaustive search (docs/how-to/puzzles.md says how far).

    >>> puzzle = puzzles("skysummit")[0]
    >>> game, state = puzzle.game(), puzzle.state()
    >>> game.is_legal(state, game.parse_move(puzzle.solution, state))
    True
    """

    game_id: str
    number: int
    """Its line in the file, from 1."""
    grade: int
    """From 1 (easy) to 5: how strong a bot must be to find the solution."""
    kind: str
    """``win``: the solution is the only move that wins. ``save``: the only one that does not lose. ``margin``, in
    dots: the only edge that wins, or that draws. ``respond``, in spaces: the best board against the one laid."""
    goal: int
    """``win``: the plies of the fastest win. ``save``: after any other move the opponent wins within this many plies.
    ``margin`` and ``respond``: the best final margin."""
    bound: int
    """``win``: no other move forces a win within this many plies. ``save``: after the solution the opponent cannot
    force a win within this many plies. ``margin``: the margin of the second best edge. ``respond``: as the goal."""
    options: dict[str, int | str]
    """The options that differ from the game's defaults."""
    position: str
    """The position on one line."""
    solution: str
    """The solution in notation; in spaces one of the best boards."""

    def game(self) -> "Game":
        """The game with the puzzle's options. Imports Numba."""
        return find(self.game_id).game_class()(**self.options)

    def state(self) -> Any:
        """The position as JSON."""
        return self.game().parse_state(self.position)


def puzzles(game: "Game | str") -> list[Puzzle]:
    """All puzzles of a game or a game's id, easy ones first. Raises ValueError if there is no such game.

    Games of other packages have none.

    >>> first = puzzles("dots")[0]
    >>> first.grade, first.kind
    (1, 'margin')
    """
    game_id = find(game if isinstance(game, str) else getattr(game, "id", game)).id
    file = files(__package__).joinpath("data", f"{game_id}.txt")
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    kept = (line for line in lines if line and not line.startswith("#"))
    return [parse_puzzle(line, game_id, number) for number, line in enumerate(kept, 1)]


def parse_puzzle(line: str, game_id: str, number: int) -> Puzzle:
    """Parse a line of a file. Raises ValueError if it is not a puzzle."""
    parts = line.split(_SEPARATOR)
    if len(parts) != 7 or parts[1] not in KINDS or not all(_is_number(parts[at]) for at in (0, 2, 3)):
        raise ValueError(
            f"a line of puzzles has grade, kind, goal, bound, options, position and solution, not {line!r}"
        )
    grade, kind, goal, bound, options, position, solution = parts
    chosen = {} if options == DEFAULTS else dict(_option(text) for text in options.split())
    return Puzzle(game_id, number, int(grade), kind, int(goal), int(bound), chosen, position, solution)


def format_puzzle(puzzle: Puzzle) -> str:
    """A puzzle as a line of a file."""
    options = " ".join(f"{name}={value}" for name, value in puzzle.options.items()) or DEFAULTS
    figures = (puzzle.grade, puzzle.kind, puzzle.goal, puzzle.bound)
    return _SEPARATOR.join((*map(str, figures), options, puzzle.position, puzzle.solution))


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


def _option(text: str) -> tuple[str, int | str]:
    name, _, value = text.partition("=")
    return name, int(value) if value.isdecimal() else value


class SolvedPuzzlesFile:
    """The user's file of solved puzzles.

    It names them by their positions, so that it stays valid when a later version numbers them differently.
    """

    def __init__(self) -> None:
        self._names = _read_solved()

    def __contains__(self, puzzle: Puzzle) -> bool:
        return puzzle_id(puzzle) in self._names

    def add(self, puzzle: Puzzle) -> str:
        """Remember a puzzle. Returns an empty text, or why the file cannot be written."""
        self._names |= {puzzle_id(puzzle)} | _read_solved()  # another process may have added some
        try:
            _write_solved(self._names)
        except OSError as error:
            return error.strerror or str(error)
        return ""


def puzzle_id(puzzle: Puzzle) -> str:
    """A short digest of the puzzle's game and position."""
    text = f"{puzzle.game_id} {puzzle.position}"
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _read_solved() -> set[str]:
    """The names in the file; empty if it is missing, unreadable or malformed."""
    try:
        names = json.loads((data_folder() / SOLVED_FILE).read_text("utf-8"))["solved"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return set()
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def _write_solved(names: set[str]) -> None:
    """Replace the file atomically."""
    folder = data_folder()
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / SOLVED_FILE, json.dumps({"solved": sorted(names)}).encode())
