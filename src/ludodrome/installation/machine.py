"""The machine and its surroundings: threads, compiled code, sandbox, database, port, browser, terminal.

Nothing is left behind that was not there before, but a small piece of compiled code in its usual place.
"""

import os
import shutil
import socket
import sys
from pathlib import Path

from ludodrome.installation.findings import OK, PROBLEM, WARNING, Finding

MEGABYTE = 1_000_000
NARROW = 60
"""Columns of a terminal below which boards and tables do not fit."""


def program() -> Finding:
    """What runs, and from where."""
    import ludodrome
    from ludodrome.version import version_line

    return Finding("program", OK, f"{version_line(ludodrome.__version__)} in {Path(ludodrome.__file__).parent}")


def threads() -> Finding:
    """How many things can be computed at once."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Finding("processor", OK, f"{available} thread{'s' * (available != 1)} for bots and searches")


# Compiled code


def cache() -> Finding:
    """Whether compiled code is kept, and found again."""
    import warnings

    from ludodrome import jit, kernel_cache

    if not jit.COMPILED:
        advice = "take NUMBA_DISABLE_JIT out of the environment"
        return Finding("cache", WARNING, "nothing is compiled: everything is hundreds of times slower", advice)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the finding says it
        folder = kernel_cache.cache_directory(Path(__file__).parent)
        works = folder is not None and _is_found_again()
    place = f"{kernel_cache.cache_root()} cannot be written"
    advice = f"name a folder that can be written: export {kernel_cache.VARIABLE}=..."
    if folder is None:
        return Finding("cache", PROBLEM, f"compiled code cannot be kept ({place}): every start compiles anew", advice)
    if not works:
        sentence = f"compiled code was written to {folder} and not found again"
        return Finding("cache", PROBLEM, sentence, f"remove {folder.parent}, or {advice}")
    size = f"{kernel_cache.kept_bytes(folder.parent) / MEGABYTE:.1f} MB of compiled code in {folder.parent}"
    if folder.parent != kernel_cache.cache_root():
        return Finding("cache", WARNING, f"{size}, since {place}; it may be gone after a restart", advice)
    return Finding("cache", OK, f"{size}; a kernel was kept and found again")


def _one_more(number: int) -> int:
    return number + 1


def _is_found_again() -> bool:
    """A tiny kernel is compiled, or loaded; a second one of the same source must be loaded."""
    from typing import Any

    from ludodrome.jit import entry

    first: Any = entry(_one_more)
    first(1)
    again: Any = entry(_one_more)
    return bool(again(1) == 2 and sum(again.stats.cache_hits.values()) == 1)


# What stands around


def sandbox() -> Finding:
    """How strangers' bots would be run."""
    from ludodrome.arena.sandbox import level

    found = level()
    if found.holds:
        return Finding("sandbox", OK, found.sentence)
    advice = "only `serve --hosted` and box: bots need one; docs/explanation/sandbox.md says what it takes"
    return Finding("sandbox", WARNING, found.sentence, advice)


def database() -> Finding:
    """Whether the server's database can be opened, with the tables of this version. It is not made, and not changed."""
    from ludodrome.store import migrations
    from ludodrome.store.database import VARIABLE, look, server_place

    name_another = f"name another with --db or {VARIABLE}"
    try:
        place = server_place(None)
        shown = place if isinstance(place, Path) else "the database that the environment names"
        if isinstance(place, Path) and not place.exists():
            return _new_database(place, name_another)
        if isinstance(place, Path) and not all(os.access(one, os.W_OK) for one in (place, place.absolute().parent)):
            return Finding("database", PROBLEM, f"{place} cannot be written", name_another)
        revision = look(place)
    except ValueError as error:
        return Finding("database", PROBLEM, str(error), name_another)
    if revision != migrations.REVISIONS[-1]:
        sentence = f"{shown} has tables of revision {revision or 'none'}; {migrations.REVISIONS[-1]} is the latest"
        return Finding("database", WARNING, sentence, "`ludodrome serve` brings it up to date; back it up before")
    return Finding("database", OK, f"{shown}, tables of revision {revision}, the latest")


def _new_database(place: Path, name_another: str) -> Finding:
    nearest = next(folder for folder in place.absolute().parents if folder.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return Finding("database", OK, f"{place}: not there yet, `serve` makes it")
    return Finding("database", PROBLEM, f"{place} cannot be made: {nearest} cannot be written", name_another)


def port(host: str, ports: range) -> Finding:
    """Where the page would be served."""
    for number in ports:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, number))
            except OSError:
                continue
        taken = f"port {ports[0]} is taken, " if number != ports[0] else ""
        return Finding("port", OK, f"{taken}port {number} is free")
    sentence = f"no port from {ports[0]} to {ports[-1]} is free"
    return Finding("port", PROBLEM, sentence, "name one that is: ludodrome serve --port N")


def has_display() -> bool:
    """Whether a window could be opened."""
    return sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def browser() -> Finding:
    """Whether `serve` can open its page."""
    import webbrowser

    by_hand = "open the address that `ludodrome serve` prints in a browser of yours"
    if not has_display():
        return Finding("browser", WARNING, "there is no display here, so no browser is opened", by_hand)
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return Finding("browser", WARNING, "there is a display, but no browser was found", by_hand)
    return Finding("browser", OK, f"{getattr(found, 'name', None) or type(found).__name__} can be opened")


def terminal() -> Finding:
    """What commands can show here."""
    stdout = sys.__stdout__  # sys.stdout may be a stand-in while something is shown
    encoding = (stdout.encoding if stdout else "ascii").lower()
    if not encoding.replace("-", "").startswith("utf"):
        sentence = f"the terminal's encoding is {encoding}, so signs like ● and ◆ become question marks"
        return Finding("terminal", WARNING, sentence, "export PYTHONUTF8=1, or LANG=C.UTF-8")
    if stdout is None or not stdout.isatty():
        return Finding("terminal", OK, f"output goes to a file or a pipe, in {encoding}, without colours")
    width = shutil.get_terminal_size().columns
    if width < NARROW:
        advice = f"make the window {NARROW} columns wide"
        return Finding("terminal", WARNING, f"{width} columns: boards and tables are cut or folded", advice)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") in ("dumb", "unknown")
    return Finding("terminal", OK, f"{width} columns, {encoding}, {'without' if plain else 'with'} colours")
