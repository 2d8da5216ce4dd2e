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
        return find(self.game_id).room()(**self.options)

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
