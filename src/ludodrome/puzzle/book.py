"""The puzzles themselves: what one is, and the files they are kept in, one line a puzzle.

A line has seven parts with semicolons between:

    GRADE ; KIND ; GOAL ; BOUND ; OPTIONS ; POSITION ; SOLUTION

Options are written as ``rows=3 cols=3``, ``-`` if all are the usual ones; the position is the game's one-line form
and the solution a move in its notation. What goal and bound mean depends on the kind, see ``Puzzle``. Nothing
heavy is imported here.
"""

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ludodrome.games import find

if TYPE_CHECKING:
    from ludodrome.game import Game

import hashlib
import json
import os
from pathlib import Path

from ludodrome.atomic_io import write_whole

WIN, SAVE, MARGIN, RESPOND = "win", "save", "margin", "respond"
KINDS = (WIN, SAVE, MARGIN, RESPOND)
GRADES = range(1, 6)
USUAL = "-"
_SEPARATOR = " ; "


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A position with a task. All claims are checked by exhaustive search (docs/how-to/puzzles.md says how far)."""

    game_id: str
    number: int
    """Its place in the file, from 1."""
    grade: int
    """1, easy, to 5: how good a bot must be to find the solution."""
    kind: str
    """``win``: the solution is the only move that wins. ``save``: the only one that does not lose. ``margin``, in
    dots: the only edge that wins, or that draws. ``respond``, in spaces: the best board against the one laid."""
    goal: int
    """``win``: it wins in so many plies, and nothing wins in fewer. ``save``: after any other move the
    enemy wins within so many plies. ``margin`` and ``respond``: the final margin, and nothing attains more."""
    bound: int
    """``win``: no other move forces a win within so many plies. ``save``: after the solution the enemy cannot
    force a win within so many plies. ``margin``: what the best of the other edges attains. ``respond``: as the goal."""
    options: dict[str, int | str]
    """The options of the game that are not the usual ones."""
    position: str
    """The position on one line."""
    solution: str
    """The solution in notation; in spaces one of the best boards."""

    def game(self) -> "Game":
        """The game with the puzzle's options; this imports Numba."""
        return find(self.game_id).game_class()(**self.options)

    def state(self) -> Any:
        """The position as JSON."""
        return self.game().parse_state(self.position)


def puzzles(game: "Game | str") -> list[Puzzle]:
    """All puzzles of a game or of the id of one, easy ones first; ValueError if there is no such game.

    A game of another package may have none.
    """
    game_id = find(game if isinstance(game, str) else getattr(game, "id", game)).id
    file = files(__package__).joinpath("data", f"{game_id}.txt")
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    kept = (line for line in lines if line and not line.startswith("#"))
    return [parse_puzzle(line, game_id, number) for number, line in enumerate(kept, 1)]


def parse_puzzle(line: str, game_id: str, number: int) -> Puzzle:
    """The puzzle of a line; ValueError if it is none."""
    parts = line.split(_SEPARATOR)
    if len(parts) != 7 or parts[1] not in KINDS or not all(_is_number(parts[at]) for at in (0, 2, 3)):
        raise ValueError(
            f"a line of puzzles has grade, kind, goal, bound, options, position and solution, not {line!r}"
        )
    grade, kind, goal, bound, options, position, solution = parts
    chosen = {} if options == USUAL else dict(_option(text) for text in options.split())
    return Puzzle(game_id, number, int(grade), kind, int(goal), int(bound), chosen, position, solution)


def format_puzzle(puzzle: Puzzle) -> str:
    """A puzzle as a line of a file."""
    options = " ".join(f"{name}={value}" for name, value in puzzle.options.items()) or USUAL
    figures = (puzzle.grade, puzzle.kind, puzzle.goal, puzzle.bound)
    return _SEPARATOR.join((*map(str, figures), options, puzzle.position, puzzle.solution))


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


def _option(text: str) -> tuple[str, int | str]:
    name, _, value = text.partition("=")
    return name, int(value) if value.isdecimal() else value


# What somebody has solved, in a small file of the user's data folder. Where there is none, it does without.


SOLVED_FILE = "puzzles.json"


def data_folder() -> Path:
    """XDG_DATA_HOME/ludodrome, by default in ~/.local/share; OSError if the user has no home."""
    base = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(base):  # the specification of these folders: a relative one counts as none
        return Path(base) / "ludodrome"
    try:
        return Path.home() / ".local" / "share" / "ludodrome"
    except RuntimeError as error:
        raise OSError(str(error)) from error


class SolvedPuzzlesFile:
    """The puzzles that were solved, now and in earlier sessions.

    They are known by their positions, so that they are still known when a later version numbers them otherwise.
    """

    def __init__(self) -> None:
        self._names = _read_solved()

    def __contains__(self, puzzle: Puzzle) -> bool:
        return puzzle_id(puzzle) in self._names

    def add(self, puzzle: Puzzle) -> str:
        """Remembers a puzzle; empty, or why it will be forgotten at the end of the session."""
        self._names |= {puzzle_id(puzzle)} | _read_solved()  # another terminal may have solved some meanwhile
        try:
            _write_solved(self._names)
        except OSError as error:
            return error.strerror or str(error)
        return ""


def puzzle_id(puzzle: Puzzle) -> str:
    """What a puzzle is known by: its position."""
    text = f"{puzzle.game_id} {puzzle.position}"
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _read_solved() -> set[str]:
    """What the file says; nothing if it is not there, not readable or not ours."""
    try:
        names = json.loads((data_folder() / SOLVED_FILE).read_text("utf-8"))["solved"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return set()
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def _write_solved(names: set[str]) -> None:
    """All at once, so that nobody ever reads half a file."""
    folder = data_folder()
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / SOLVED_FILE, json.dumps({"solved": sorted(names)}).encode())
