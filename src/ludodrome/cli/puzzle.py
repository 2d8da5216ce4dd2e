"""Puzzles at the terminal: `puzzle`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import (
    INTERRUPTED,
    Command,
    CommandError,
    GameId,
    command_errors,
    examples,
    interruptible,
)
from ludodrome.cli.lazy import lazy_imports
from ludodrome.cli.play import Leave, Session, ask, print_move, print_text
from ludodrome.puzzle import puzzles

with lazy_imports():
    from ludodrome import game as game_api
    from ludodrome.puzzle import attempt, book

if TYPE_CHECKING:
    from ludodrome.puzzle import Puzzle
    from ludodrome.puzzle.book import SolvedPuzzlesFile

app = typer.Typer()

SIGN = "✓"


class Skip(Exception):
    """The user skips the puzzle."""


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome puzzle santorini",
        "ludodrome puzzle dots --grade 2",
        "ludodrome puzzle caldera --number 17",
        "ludodrome puzzle spaces --list",
    ),
)
def puzzle(
    game: GameId,
    grade: Annotated[
        int | None,
        typer.Option(
            metavar="N", show_default=False, help="Only puzzles of this grade, from 1 (easy) to 5. Default: all."
        ),
    ] = None,
    number: Annotated[
        int | None, typer.Option(metavar="N", show_default=False, help="Only this puzzle, numbered as in --list.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the puzzles and mark the solved ones.")] = False,
) -> None:
    """Solve puzzles: find the move that wins, saves or answers best.

    Type moves in the game's notation, or one of: help, moves, hint, solution, skip, state, quit. Solved puzzles are
    remembered; without --number you get the unsolved ones.
    """
    with command_errors():
        chosen = _chosen(puzzles(game), game, grade, number)
    solved = book.SolvedPuzzlesFile()
    if list_:
        _list(chosen, solved)
        return
    waiting = [one for one in chosen if number is not None or one not in solved]
    if not waiting:
        print_text(f"You have solved all {len(chosen)} of these puzzles. To see one again: --number N, as in --list.")
        return
    try:
        for one in waiting:
            PuzzleSession(one, chosen, solved).run()
    except Leave:
        print_text("You left the puzzle.")
    except (EOFError, KeyboardInterrupt) as end:
        console.say("")
        print_text("You left the puzzle.")
        if isinstance(end, KeyboardInterrupt):
            raise typer.Exit(INTERRUPTED) from None


def _chosen(every_puzzle: list[Puzzle], game_id: str, grade: int | None, number: int | None) -> list[Puzzle]:
    """Select puzzles by grade and number; at least one."""
    count = len(every_puzzle)
    if not count:
        raise CommandError(f"there are no puzzles of {game_id}")
    if number is not None and not 1 <= number <= count:
        raise CommandError(f"the puzzles of {game_id} are numbered from 1 to {count}, not {number}")
    grades = sorted({one.grade for one in every_puzzle})
    if grade is not None and grade not in grades:
        raise CommandError(f"the puzzles of {game_id} have grades {grades[0]} to {grades[-1]}, not {grade}")
    if number is not None and grade not in (None, every_puzzle[number - 1].grade):
        raise CommandError(f"puzzle {number} of {game_id} has grade {every_puzzle[number - 1].grade}, not {grade}")
    return [one for one in every_puzzle if number in (None, one.number) and grade in (None, one.grade)]


def _list(chosen: list[Puzzle], solved: SolvedPuzzlesFile) -> None:
    rows = [
        (str(one.number), str(one.grade), SIGN if one in solved else "", _kind(one), one.position) for one in chosen
    ]
    console.show_table(("number", "grade", "solved", "task", "position"), rows, ("number", "grade"))


def _kind(one: Puzzle) -> str:
    """The task in one or two words."""
    words = {
        "win": f"win in {one.goal}",
        "save": "save",
        "margin": "win" if one.goal > 0 else "draw",
        "respond": f"answer {one.goal:+d}",
    }
    options = " ".join(f"{name}={value}" for name, value in one.options.items() if name != "rounds")
    return f"{words[one.kind]}{', ' if options else ''}{options}"


class PuzzleSession(Session):
    """One puzzle in the terminal."""

    def __init__(self, one: Puzzle, chosen: list[Puzzle], solved: SolvedPuzzlesFile) -> None:
        with console.compiling(one.game_id):
            self.attempt = attempt.Attempt(one)
        self.game = self.attempt.game
        self.puzzle, self.chosen, self.solved = one, chosen, solved
        self.helped = False
        """Whether the solution was shown: then the puzzle does not count as solved."""

    @property
    def state(self) -> Any:
        """The position on the screen."""
        return self.attempt.state

    def run(self) -> None:
        """Ask for moves until the puzzle is solved or skipped."""
        title = f"{self.attempt.game.title}, puzzle {self.puzzle.number}, grade {self.puzzle.grade}"
        again = " (solved before)" if self.puzzle in self.solved else ""
        print_text(f"{title}{again}. Type a move, or one of {', '.join(self.words)}.\n", "bold")
        self.draw()
        self.task()
        try:
            while not self.attempt.solved:
                self.answer(ask(self.attempt.game, self.attempt.seat))
        except Skip:
            console.say("")
            return
        self._remember()
        console.say("")

    def draw(self) -> None:
        """Draw the board."""
        console.draw(self.attempt.game, self.attempt.state)

    def task(self) -> None:
        """Print the task and its seat."""
        name = console.seat_name(self.attempt.seat, self.attempt.game)
        task = name.append(f"  {self.attempt.task()}", "not bold default")
        console.stdout().print(task)

    def move(self, text: str) -> None:
        """Judge a move, or say why it is illegal."""
        game, before = self.attempt.game, self.attempt.state
        try:
            with console.compiling(game.id):
                move = game.parse_move(text, before)
        except game_api.IllegalMove as error:
            print_text(game.name_seats(str(error)), console.BAD)
            return
        judgement = _thinking(lambda: self.attempt.play(move))
        print_text(judgement.sentence, console.GOOD if judgement.right else console.BAD)
        if not judgement.right or self.attempt.solved:
            if len(judgement.line) > 1:
                print_text(f"   {'  '.join(judgement.line)}")
            if judgement.right:
                self.draw()
            return
        state = game.apply(before, move)
        for reply in judgement.replies:
            seat = game.to_move(state)
            assert seat is not None
            print_move(game, seat, game.move_label(reply, state))
            state = game.apply(state, reply)
        self.draw()

    def _remember(self) -> None:
        if self.helped:
            print_text("The solution was shown, so the puzzle does not count as solved.")
            return
        fault = self.solved.add(self.puzzle)
        count = sum(one in self.solved for one in self.chosen)
        print_text(f"Solved: {count} of {len(self.chosen)}." + (f" (This cannot be saved: {fault}.)" if fault else ""))

    # The words

    def help(self) -> None:
        """How to write a move, and the task."""
        super().help()
        self.task()

    def hint(self) -> None:
        """A hint, a better one each time."""
        print_text(_thinking(self.attempt.hint))

    def solution(self) -> None:
        """Show the solution; the puzzle then does not count as solved."""
        self.helped = True
        print_text(_thinking(self.attempt.solution))

    def skip(self) -> None:
        """Go to the next puzzle."""
        raise Skip

    def line(self) -> None:
        """The position on one line, for `--state` of other commands."""
        console.say(self.attempt.game.format_state(self.attempt.state))


PuzzleSession.words = {
    "help": PuzzleSession.help,
    "moves": PuzzleSession.moves,
    "hint": PuzzleSession.hint,
    "solution": PuzzleSession.solution,
    "skip": PuzzleSession.skip,
    "state": PuzzleSession.line,
    "quit": PuzzleSession.leave,
}


def _thinking(work: Callable[[], Any]) -> Any:
    """Run work that may take a moment, and that Ctrl-C can interrupt."""
    with console.waiting("thinking ..."):
        return interruptible(work)
