"""What the commands show: consoles, the seats' colours and signs, drawings, the pager, waiting.

Rich is imported inside the functions: `--help` and piped output need little of it.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ludodrome.game import Game, Outcome

import shutil
import subprocess
import time
from typing import TYPE_CHECKING

from ludodrome.cli.lazy import lazy_imports

with lazy_imports():
    from rich import console as rich_console
    from rich import live as rich_live
    from rich import markdown as rich_markdown
    from rich import padding as rich_padding
    from rich import progress as rich_progress
    from rich import table as rich_table
    from rich import text as rich_text

if TYPE_CHECKING:
    from rich.console import RenderableType

SEAT_COLOURS = ("#0B6E99", "#BE4A19", "#557828")
SEAT_SIGNS = ("●", "◆", "■")
GOOD, DOUBTFUL, BAD = "#3B7A2A", "bold #8A6100", "#B3261E"

PIECES = {
    "caldera": (r"\b[cls][1-3]?\b", r"\b[CLS][1-3]?\b"),
    "dots": (r"(?<=│ )0(?= │)", r"(?<=│ )1(?= │)"),
    "santorini": (r"N[12]", r"W[12]", r"G[12]"),
    "skysummit": (r"●[12]?", r"◆[12]?"),
}
"""What belongs to each seat in the drawings of a game, as patterns; the words "seat 0" do everywhere."""

PATIENCE = 1.5
"""Seconds of silence before a command says what keeps it."""


PIPE_WIDTH = 1000
"""Tables are not wrapped in a pipe: another program reads them line by line."""

READABLE = 20
"""A column of text that is narrower than this is not worth reading."""

NO_OUTPUT = 1
"""The exit code of a program whose output goes nowhere."""

NOT_STARTED = (126, 127)
"""What the shell says of a program that it cannot find or run."""


def prepare_streams() -> None:
    """Makes the streams fit to be used: none of them closed, none that refuses a sign its encoding lacks.

    Without stdout nothing can be shown, and the program ends here.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    no_output = sys.stdout is None
    if no_output:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    if no_output:
        complain("the output cannot be written: stdout is closed")
        sys.exit(NO_OUTPUT)


def colours_wanted() -> bool | None:
    """What the environment says: NO_COLOR none, FORCE_COLOR always; None if it says nothing: terminals get colours."""
    return False if os.environ.get("NO_COLOR") else True if os.environ.get("FORCE_COLOR") else None


def stdout() -> Console:
    """Stdout. Drawings and tables go through it; machine-readable output is printed plainly."""
    return rich_console.Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def stderr() -> Console:
    """Stderr, for complaints and for what is said while one waits."""
    return rich_console.Console(stderr=True, highlight=False)


def show_table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[str] = ()) -> None:
    """A table without lines; the columns named in ``numbers`` are set to the right.

    A last column of text is folded, on a narrow terminal under the others. In a pipe nothing is wrapped.
    """
    rows = list(rows)
    out = rich_console.Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
    *others, last = (max(map(len, column)) for column in zip(header, *rows, strict=True))
    needed = sum(others) + 2 * len(others) + (last if header[-1] in numbers else min(last, READABLE))
    if out.width < needed:
        if header[-1] not in numbers:
            _show_list(out, rows)
            return
        out.width = needed
    table = rich_table.Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for name in header:
        table.add_column(name, justify="right" if name in numbers else "left", no_wrap=name != header[-1])
    for row in rows:
        table.add_row(*row)
    out.print(table, crop=False)


def _show_list(out: Console, rows: Iterable[Sequence[str]]) -> None:
    """The rows of a table one under the other, the last cell of each folded below the rest."""
    for *others, last in rows:
        out.print("  ".join(others), soft_wrap=True, style="bold")
        out.print(rich_padding.Padding(last, (0, 0, 0, 2)))


def say(text: str) -> None:
    """A line to stdout, as it is."""
    print(text, flush=True)


def complain(sentence: str) -> None:
    """An error: one sentence on stderr."""
    if sys.stderr.isatty() or colours_wanted():
        stderr().print(rich_text.Text.assemble(("ludodrome: ", f"bold {BAD}"), sentence))
    else:
        print(f"ludodrome: {sentence}", file=sys.stderr)


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as a sentence on stderr: where in the program it was raised helps nobody at the keyboard."""
    complain(str(message))


# Seats


def seat_style(seat: int) -> str:
    """A seat's colour, the same on every screen of the project."""
    return f"bold {SEAT_COLOURS[seat % len(SEAT_COLOURS)]}"


def seat_name(seat: int) -> Text:
    """``seat 0 ●``: colour and shape, since colour alone must not carry the meaning."""
    return rich_text.Text(f"seat {seat} {SEAT_SIGNS[seat % len(SEAT_SIGNS)]}", seat_style(seat))


def drawing(game: Game, state: Any) -> Text:
    """The position as the game draws it, with what belongs to a seat in its colour."""
    text = rich_text.Text(game.render(state))
    pieces = PIECES.get(game.id, ())
    for seat in range(game.seats):
        for pattern in (*pieces[seat : seat + 1], rf"\bseat {seat}\b"):
            text.highlight_regex(pattern, seat_style(seat))
    return text


def draw(game: Game, state: Any) -> None:
    """Prints the drawing, its lines as long as they are: a board that is wrapped is no board."""
    stdout().print(drawing(game, state), soft_wrap=True)


def verdict(outcome: Outcome) -> Text:
    """How a game ended, in one line."""
    head = rich_text.Text("drawn") if outcome.winner is None else seat_name(outcome.winner).append(" wins", "default")
    scores = " : ".join(f"{score:g}" for score in outcome.scores)
    return head.append(f" ({outcome.reason}), scores {scores}", "not bold default")


def ask(prompt: Text) -> str:
    """One line from the person at the keyboard, or from a pipe; EOFError when there is no more."""
    out = stdout()
    with out.capture() as capture:
        out.print(prompt, end="> ", soft_wrap=True)
    if sys.stdin.isatty():
        import readline  # noqa: F401  input() edits lines once it is imported

        # Readline must know which characters of the prompt take no room.
        return input(re.sub(r"(\x1b\[[0-9;]*m)", "\001\\1\002", capture.get()))
    print(capture.get(), end="", flush=True)
    text = sys.stdin.readline()
    if not text:
        raise EOFError
    say(text.rstrip("\n"))
    return text.rstrip("\n")


# Markdown and the pager


def show_markdown(markdown: str, *, paged: bool = False) -> None:
    """Markdown, drawn by Rich; through the pager if that is asked for."""
    if paged:
        _page(_drawn(markdown))
    else:
        print("".join(_drawn(markdown)), end="")


def _drawn(markdown: str) -> Iterator[str]:
    """A page as it looks on the screen, part by part: the pager shows the first before the last is drawn."""
    screen = stdout()
    for number, part in enumerate(re.split(r"^(?=## )", markdown, flags=re.MULTILINE)):
        with screen.capture() as capture:
            screen.print(
                "\n" if number else "",
                rich_markdown.Markdown(part, code_theme="ansi_dark"),
                sep="",
                end="",
                soft_wrap=False,
            )
        yield capture.get()


def _page(parts: Iterable[str]) -> None:
    """Text through $PAGER, or less, or more, or as it is if none of them can be started."""
    command = os.environ.get("PAGER", "").strip() or ("less" if shutil.which("less") else "more")
    parts, given = iter(parts), []

    def giving() -> Iterator[str]:
        for part in parts:
            given.append(part)
            yield part

    try:
        started = _pipe(command, giving()) not in NOT_STARTED
    except OSError:  # there is no shell
        started = False
    if not started:
        print("".join([*given, *parts]), end="", flush=True)


def _pipe(command: str, parts: Iterable[str]) -> int:
    """Runs a command on a text; its exit code. Ctrl-C belongs to the command meanwhile."""
    with subprocess.Popen(
        command,
        shell=True,
        stdin=subprocess.PIPE,
        env={"LESS": "-R", **os.environ},
        text=True,
        encoding=sys.stdout.encoding,
        errors="replace",
    ) as pager:
        assert pager.stdin is not None
        try:
            with pager.stdin as pipe:
                for part in parts:
                    pipe.write(part)
                    pipe.flush()
        except (BrokenPipeError, KeyboardInterrupt):
            pass
        while True:
            try:
                return pager.wait()
            except KeyboardInterrupt:
                continue


# Waiting

_announced: set[str] = set()


@contextmanager
def compiling(game_id: str) -> Iterator[None]:
    """What is done inside may compile; says so on stderr if it takes more than a moment."""
    with waiting(f"compiling {game_id}'s kernels ..."):
        yield


@contextmanager
def waiting(note: str) -> Iterator[None]:
    """Shows the note on stderr if what is done inside takes more than a moment.

    On a terminal it goes away again; elsewhere it is a line, and said once.
    """
    shown: list[Any] = []

    def announce() -> None:
        if sys.stderr.isatty():
            status = stderr().status(note)
            status.start()
            shown.append(status)
        elif note not in _announced:
            _announced.add(note)
            print(note, file=sys.stderr, flush=True)

    timer = threading.Timer(PATIENCE, announce)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for status in shown:
            status.stop()


@contextmanager
def bar(note: str) -> Iterator[Callable[[int, int], None]]:
    """Something to tell (done, total) to; on a terminal it becomes a bar if it takes more than a moment."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    progress = rich_progress.Progress(console=stderr(), transient=True)
    task = progress.add_task(note, total=None)
    timer = threading.Timer(PATIENCE, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, total: progress.update(task, completed=done, total=total)
    finally:
        timer.cancel()
        timer.join()
        progress.stop()


@contextmanager
def reporting() -> Iterator[Callable[[str], None]]:
    """Something to tell what is being done now: on a terminal one line that changes, else lines on stderr."""
    if sys.stderr.isatty():
        with stderr().status("") as status:
            yield status.update
    else:
        yield lambda note: print(note, file=sys.stderr, flush=True)


def section(markdown: str, heading: str) -> str:
    """The part of a Markdown page under one heading, up to the next heading of any rank."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", markdown, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


# What is shown while many games are played: a bar and a line on a terminal, a line now and then elsewhere.
# It goes to stderr, so that stdout holds the result alone.


EVERY = 10.0
"""Seconds between two lines where there is no terminal."""
REFRESH = 0.5
"""Seconds between two pictures on a terminal."""

Show = Callable[[], None]


@contextmanager
def game_progress(
    done: Callable[[], int],
    total: Callable[[], int],
    line: Callable[[], str],
    below: Callable[[], RenderableType] | None = None,
    quiet: bool = False,
) -> Iterator[Show]:
    """Something to call often, which shows how far it is when that is due.

    done, total: games. line: how it stands, in a few words. below: a larger picture, on terminals in its place.
    """
    if quiet:
        yield lambda: None
    elif sys.stderr.isatty():
        with _on_terminal(done, total, line, below) as show:
            yield show
    else:
        yield _Lines(done, total, line).show


class _Lines:
    """A line now and then."""

    def __init__(self, done: Callable[[], int], total: Callable[[], int], line: Callable[[], str]) -> None:
        self._done, self._total, self._line = done, total, line
        self._said_at = time.monotonic()

    def show(self) -> None:
        if time.monotonic() - self._said_at >= EVERY:
            self._said_at = time.monotonic()
            print(f"{self._done():,} of {self._total():,} games: {self._line()}", file=sys.stderr, flush=True)


@contextmanager
def _on_terminal(
    done: Callable[[], int],
    total: Callable[[], int],
    line: Callable[[], str],
    below: Callable[[], RenderableType] | None,
) -> Iterator[Show]:
    out = stderr()
    progress = rich_progress.Progress(
        rich_progress.BarColumn(bar_width=24, complete_style=SEAT_COLOURS[0], finished_style=SEAT_COLOURS[2]),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        rich_progress.TextColumn("{task.description}", markup=False),
        console=out,
    )
    task = progress.add_task("", total=None)
    due = 0.0

    def picture() -> Any:
        progress.update(task, completed=done(), total=total(), description="" if below is not None else line())
        return rich_console.Group(progress, below()) if below is not None else progress

    with rich_live.Live(console=out, auto_refresh=False, transient=True) as live:

        def show() -> None:
            nonlocal due
            if (began := time.monotonic()) >= due:
                live.update(picture(), refresh=True)
                ended = time.monotonic()
                due = ended + max(REFRESH, 10 * (ended - began))  # never busier with pictures than with games

        yield show
