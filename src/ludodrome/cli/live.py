"""What is shown while many games are played: a bar and a line on a terminal, a line now and then elsewhere.

It goes to stderr, so that stdout holds the result alone.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ludodrome.cli import screen

if TYPE_CHECKING:
    from rich.console import RenderableType

EVERY = 10.0
"""Seconds between two lines where there is no terminal."""
REFRESH = 0.5
"""Seconds between two pictures on a terminal."""

Show = Callable[[], None]


@contextmanager
def games(
    done: Callable[[], int],
    total: Callable[[], int],
    line: Callable[[], str],
    below: "Callable[[], RenderableType] | None" = None,
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
    below: "Callable[[], RenderableType] | None",
) -> Iterator[Show]:
    from rich.console import Group
    from rich.live import Live
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = screen.error_console()
    progress = Progress(
        BarColumn(bar_width=24, complete_style=screen.SEAT_COLOURS[0], finished_style=screen.SEAT_COLOURS[2]),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        TextColumn("{task.description}", markup=False),
        console=console,
    )
    task = progress.add_task("", total=None)
    due = 0.0

    def picture() -> Any:
        progress.update(task, completed=done(), total=total(), description="" if below is not None else line())
        return Group(progress, below()) if below is not None else progress

    with Live(console=console, auto_refresh=False, transient=True) as live:

        def show() -> None:
            nonlocal due
            if (began := time.monotonic()) >= due:
                live.update(picture(), refresh=True)
                ended = time.monotonic()
                due = ended + max(REFRESH, 10 * (ended - began))  # never busier with pictures than with games

        yield show
