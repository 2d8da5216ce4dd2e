"""Output of the commands: consoles, seat colours and signs, drawings, the pager, progress.

Rich is imported at its first use: `--help` and piped output do without it.

Names, reasons and errors come from bots and files of strangers. Everything printed here passes ``printable``, so that
no text can move the cursor, set the title of the window or hide what is there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

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
    from rich.console import Console, RenderableType
    from rich.text import Text

    from ludodrome.game import Game, Outcome

SEAT_COLOURS = ("#0B6E99", "#BE4A19", "#557828")
PIECE_COLOURS = {"navy": "#3D62B0", "white": "", "grey": "#868D95"}  # white: the terminal's own colour
SEAT_SIGNS = ("●", "◆", "■")
GOOD, DOUBTFUL, BAD = "#3B7A2A", "bold #8A6100", "#B3261E"

NOTICE_DELAY = 1.5
"""Seconds of silence before a command says what it is waiting for."""
PIPE_WIDTH = 1000
"""Tables in a pipe are not wrapped: programs read them line by line."""
MIN_TEXT_WIDTH = 20
"""The narrowest column in which text is still readable."""
NO_OUTPUT = 1
"""Exit code if there is no stdout."""
NOT_STARTED = (126, 127)
"""Exit codes of the shell for a program that it cannot find or run."""


def prepare_streams() -> None:
    """Reopen closed streams, and replace characters that their encodings lack.

    Without stdout the program ends here.
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
    """False with NO_COLOR, True with FORCE_COLOR, else None: only terminals get colours."""
    return False if os.environ.get("NO_COLOR") else True if os.environ.get("FORCE_COLOR") else None


def printable(text: str, one_line: bool = False) -> str:
    r"""A text of a stranger as a terminal can show it.

    Control characters, marks that change the direction of writing and other characters without a shape become escapes
    like ``\x1b``. Line breaks and tabs stay, unless it must be ``one_line``.
    """
    kept = "" if one_line else "\n\t"
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if one in kept or not _is_control(one) else _escaped(one) for one in text)


JOINERS = "\u200c\u200d"
"""Without a shape of their own, but some scripts need them."""


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in JOINERS


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


@cache
def _safe_console() -> type[Console]:
    """Rich's console, but with every text made printable; only Rich itself writes escape sequences."""

    class SafeConsole(rich_console.Console):
        def render(self, renderable: Any, options: Any = None) -> Iterable[Any]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=printable(segment.text))

    return SafeConsole


def _console(**settings: Any) -> Console:
    """A console that takes texts as they are: without markup, emoji names or highlighting."""
    return _safe_console()(highlight=False, markup=False, emoji=False, **settings)


def stdout() -> Console:
    """Stdout for drawings and tables; machine-readable output is printed by ``say_data``."""
    return _console(soft_wrap=not sys.stdout.isatty())


def stderr() -> Console:
    """Stderr for errors and progress."""
    return _console(stderr=True)


def show_table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[str] = ()) -> None:
    """Print a table without lines; the columns named in ``numbers`` are right-aligned.

    A last column of text is wrapped, in a narrow terminal below the others. In a pipe nothing is wrapped.
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    out = _console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    *others, last = (max(map(len, column)) for column in zip(header, *rows, strict=True))
    needed = sum(others) + 2 * len(others) + (last if header[-1] in numbers else min(last, MIN_TEXT_WIDTH))
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
    """Print the rows one below the other, the last cell of each on lines of its own."""
    for *others, last in rows:
        out.print("  ".join(others), soft_wrap=True, style="bold")
        out.print(rich_padding.Padding(last, (0, 0, 0, 2)))


def say(text: str) -> None:
    """Print a line to stdout."""
    print(printable(text), flush=True)


def say_data(text: str) -> None:
    """Print a line for programs to stdout: as it is, except to a terminal."""
    print(printable(text) if sys.stdout.isatty() else text)


def complain(sentence: str) -> None:
    """Print an error: one sentence on stderr."""
    sentence = printable(sentence)
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
    """Print a warning as a sentence on stderr, without its place in the program."""
    complain(str(message))


# Large quantities


def in_bytes(count: float) -> str:
    """A number of bytes in the largest fitting unit: ``12.3 GB``."""
    units = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB")
    power = 0
    while count >= 999.5 and power < len(units) - 1:
        count, power = count / 1000, power + 1
    return f"{_rough(count)} {units[power]}"


def in_time(seconds: float) -> str:
    """A time in the largest fitting unit: ``3.1 hours``."""
    for unit, length in (("years", 31_557_600.0), ("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{_rough(seconds / length)} {unit}"
    return f"{_rough(seconds)} seconds"


def _rough(number: float) -> str:
    """About two digits."""
    return f"{float(f'{number:.2g}'):,.{0 if number >= 9.95 else 1}f}"


# Seats


def seat_style(seat: int, game: Game | None = None) -> str:
    """A seat's colour, the same everywhere in the project; a game may have colours of its own."""
    usual = SEAT_COLOURS[seat % len(SEAT_COLOURS)]
    return f"bold {PIECE_COLOURS.get(game.seat_colours[seat], usual) if game else usual}".rstrip()


def seat_name(seat: int, game: Game | None = None) -> Text:
    """``Blue ●``, without a game ``seat 0 ●``: name and shape, since colour alone must not carry the meaning."""
    name = game.seat_name(seat) if game else f"seat {seat}"
    return rich_text.Text(f"{name} {SEAT_SIGNS[seat % len(SEAT_SIGNS)]}", seat_style(seat, game))


def drawing(game: Game, state: Any) -> Text:
    """The game's drawing of a position, with the pieces in the seats' colours."""
    text = rich_text.Text(game.name_seats(game.render(state)))
    for seat in range(game.seats):
        for pattern in (*game.seat_patterns[seat : seat + 1], rf"\b{re.escape(game.seat_name(seat))}\b"):
            text.highlight_regex(pattern, seat_style(seat, game))
    return text


def draw(game: Game, state: Any) -> None:
    """Print a position without wrapping its lines."""
    stdout().print(drawing(game, state), soft_wrap=True)


def verdict(outcome: Outcome, game: Game | None = None) -> Text:
    """The result of a game in one line."""
    won = outcome.winner
    head = rich_text.Text("drawn") if won is None else seat_name(won, game).append(" wins", "default")
    scores = " : ".join(f"{score:g}" for score in outcome.scores)
    reason = game.name_seats(outcome.reason) if game else outcome.reason
    return head.append(f" ({reason}), scores {scores}", "not bold default")


def ask(prompt: Text) -> str:
    """Read a line from the keyboard or a pipe; EOFError at the end."""
    out = stdout()
    with out.capture() as capture:
        out.print(prompt, end="> ", soft_wrap=True)
    if sys.stdin.isatty():
        import readline  # noqa: F401  input() edits lines once it is imported

        # Readline must know which characters of the prompt have no width.
        return input(re.sub(r"(\x1b\[[0-9;]*m)", "\001\\1\002", capture.get()))
    print(capture.get(), end="", flush=True)
    text = sys.stdin.readline()
    if not text:
        raise EOFError
    say(text.rstrip("\n"))
    return text.rstrip("\n")


# Markdown and the pager


def show_markdown(markdown: str, *, paged: bool = False) -> None:
    """Print Markdown with Rich, optionally in a pager."""
    if paged:
        _page(_drawn(markdown))
    else:
        print("".join(_drawn(markdown)), end="")


def _drawn(markdown: str) -> Iterator[str]:
    """Render Markdown part by part, so that the pager shows the first at once."""
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
    """Show text in $PAGER, less or more; print it if none of them starts."""
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
    """Pipe text into a command, which handles Ctrl-C; returns its exit code."""
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
    """Announce on stderr that the block compiles, if it does: nothing is said where code is only loaded."""
    cache = "ludodrome.kernel_cache"  # importing it here would import Numba
    note = f"compiling {game_id}'s kernels, once on this machine: about 15 s ..."
    with waiting(note, lambda: getattr(sys.modules.get(cache), "is_compiling", bool)()):
        yield


@contextmanager
def waiting(note: str, when: Callable[[], bool] = lambda: True) -> Iterator[None]:
    """Show a note on stderr once the block takes a moment and ``when`` holds: a line; a terminal removes it again."""
    shown: list[Any] = []

    def announce() -> None:
        while not when():
            if timer.finished.wait(NOTICE_DELAY):
                return
        if sys.stderr.isatty():
            status = stderr().status(note)
            status.start()
            shown.append(status)
        elif note not in _announced:
            _announced.add(note)
            print(printable(note), file=sys.stderr, flush=True)

    timer = threading.Timer(NOTICE_DELAY, announce)
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
    """A callback for (done, total); in a terminal it shows a bar if the block takes more than a moment."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    progress = rich_progress.Progress(console=stderr(), transient=True)
    task = progress.add_task(note, total=None)
    timer = threading.Timer(NOTICE_DELAY, progress.start)
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
    """A callback for notes on the current step: one changing line in a terminal, else lines on stderr."""
    if sys.stderr.isatty():
        with stderr().status("") as status:
            yield status.update
    else:
        yield lambda note: print(printable(note), file=sys.stderr, flush=True)


def section(markdown: str, heading: str) -> str:
    """The part of a Markdown page below one heading, up to the next heading."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", markdown, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


# Progress of many games on stderr: a bar in a terminal, a line now and then elsewhere.


LINE_INTERVAL = 10.0
"""Seconds between two lines without a terminal."""
REFRESH_INTERVAL = 0.5
"""Seconds between two updates in a terminal."""

Show = Callable[[], None]


@contextmanager
def game_progress(
    done: Callable[[], int],
    total: Callable[[], int],
    line: Callable[[], str],
    below: Callable[[], RenderableType] | None = None,
    quiet: bool = False,
) -> Iterator[Show]:
    """A callback to call often, which shows progress when an update is due.

    done, total: numbers of games. line: the score in a few words. below: a table instead of the line, in terminals.
    """
    if quiet:
        yield lambda: None
    elif sys.stderr.isatty():
        with _on_terminal(done, total, line, below) as show:
            yield show
    else:
        yield _Lines(done, total, line).show


class _Lines:
    """Progress lines without a terminal."""

    def __init__(self, done: Callable[[], int], total: Callable[[], int], line: Callable[[], str]) -> None:
        self._done, self._total, self._line = done, total, line
        self._said_at = time.monotonic()

    def show(self) -> None:
        if time.monotonic() - self._said_at >= LINE_INTERVAL:
            self._said_at = time.monotonic()
            line = f"{self._done():,} of {self._total():,} games: {self._line()}"
            print(printable(line), file=sys.stderr, flush=True)


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
                due = ended + max(REFRESH_INTERVAL, 10 * (ended - began))  # drawing takes at most a tenth of the time

        yield show
