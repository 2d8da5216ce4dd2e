"""Checks of the installation, part by part, each with what to do if it fails. A bot is checked by ``arena/doctor``.

Nothing is left behind, except a small piece of compiled code in its usual place.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import warnings
import webbrowser
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, metadata, version
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path
from typing import Any, NamedTuple

import ludodrome
from ludodrome.atomic_io import open_to_others
from ludodrome.system import core_count
from ludodrome.version import version_line

OK, WARNING, PROBLEM = "ok", "warning", "problem"
"""It works; a feature that not everybody needs fails; something that everybody needs fails."""


class PartStatus(NamedTuple):
    """The result of one check."""

    part: str
    grade: str
    sentence: str
    advice: str = ""
    """What to do; empty if nothing."""

    def to_json(self) -> dict[str, Any]:
        """The result as a JSON object."""
        return self._asdict()


def part_statuses(host: str, ports: range) -> Iterator[PartStatus]:
    """Run all checks, one after another; ``serve`` would use the first free port of these."""
    yield program()
    yield python()
    yield required()
    yield threads()
    yield cache()
    yield sandbox()
    yield database()
    yield port(host, ports)
    yield browser()
    yield terminal()
    yield from extras()


# The machine

MEGABYTE = 1_000_000
NARROW = 60
"""Columns below which boards and tables do not fit."""


def program() -> PartStatus:
    """Version and folder of the program."""
    return PartStatus("program", OK, f"{version_line(ludodrome.__version__)} in {Path(ludodrome.__file__).parent}")


def threads() -> PartStatus:
    """Number of threads."""
    available = core_count()
    return PartStatus("processor", OK, f"{available} thread{'s' * (available != 1)} for bots and searches")


# Compiled code


def cache() -> PartStatus:
    """Whether compiled code is cached and found again."""
    from ludodrome import jit, kernel_cache  # start-up: Numba

    if not jit.COMPILED:
        advice = "unset NUMBA_DISABLE_JIT"
        return PartStatus("cache", WARNING, "compilation is off: everything is hundreds of times slower", advice)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the finding says it
        folder = kernel_cache.cache_directory(Path(__file__).parent)
        works = folder is not None and _is_found_again()
    place = f"{kernel_cache.cache_root()} cannot be written"
    advice = f"choose a writable folder: export {kernel_cache.VARIABLE}=..."
    if folder is None:
        return PartStatus(
            "cache", PROBLEM, f"compiled code cannot be cached ({place}): every start compiles again", advice
        )
    if not works:
        sentence = f"compiled code was written to {folder} but not found again"
        return PartStatus("cache", PROBLEM, sentence, f"remove {folder.parent}, or {advice}")
    size = f"{kernel_cache.kept_bytes(folder.parent) / MEGABYTE:.1f} MB of compiled code in {folder.parent}"
    if folder.parent != kernel_cache.cache_root():
        return PartStatus("cache", WARNING, f"{size}, since {place}; it may disappear after a restart", advice)
    return PartStatus("cache", OK, f"{size}; a kernel was cached and found again")


def _one_more(number: int) -> int:
    return number + 1


def _is_found_again() -> bool:
    """Compile or load a tiny kernel; a second one of the same source must come from the cache."""
    from ludodrome.jit import entry  # start-up: Numba

    first: Any = entry(_one_more)
    first(1)
    again: Any = entry(_one_more)
    return bool(again(1) == 2 and sum(again.stats.cache_hits.values()) == 1)


# Sandbox, database, port, browser, terminal


def sandbox() -> PartStatus:
    """The sandbox for bots of strangers."""
    from ludodrome.arena.sandbox import level  # start-up: Numba

    found = level()
    if found.holds:
        return PartStatus("sandbox", OK, found.sentence)
    advice = "only `serve --hosted` and box: bots need one; see docs/explanation/sandbox.md"
    return PartStatus("sandbox", WARNING, found.sentence, advice)


def database() -> PartStatus:
    """Whether the server's database opens and has the tables of this version; it is neither created nor changed."""
    from ludodrome.store import migrations  # optional extra
    from ludodrome.store.database import VARIABLE, look, server_place  # optional extra

    name_another = f"choose another with --db or {VARIABLE}"
    try:
        place = server_place(None)
        shown = place if isinstance(place, Path) else "the database of the environment"
        if isinstance(place, Path) and not place.exists():
            return _new_database(place, name_another)
        if isinstance(place, Path) and not all(os.access(one, os.W_OK) for one in (place, place.absolute().parent)):
            return PartStatus("database", PROBLEM, f"{place} cannot be written", name_another)
        revision = look(place)
    except ValueError as error:
        return PartStatus("database", PROBLEM, str(error), name_another)
    if revision != migrations.REVISIONS[-1]:
        sentence = f"{shown} has tables of revision {revision or 'none'}; {migrations.REVISIONS[-1]} is the latest"
        return PartStatus("database", WARNING, sentence, "`ludodrome serve` upgrades it; back it up first")
    if isinstance(place, Path) and open_to_others(place):
        sentence = f"{place} can be read by others on this machine"
        return PartStatus("database", WARNING, sentence, f"chmod 600 {place}; `ludodrome serve` does it too")
    return PartStatus("database", OK, f"{shown}, tables of revision {revision}, the latest")


def _new_database(place: Path, name_another: str) -> PartStatus:
    nearest = next(folder for folder in place.absolute().parents if folder.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return PartStatus("database", OK, f"{place}: does not exist yet, `serve` creates it")
    return PartStatus("database", PROBLEM, f"{place} cannot be created: {nearest} cannot be written", name_another)


def port(host: str, ports: range) -> PartStatus:
    """The first free port for `serve`."""
    for number in ports:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, number))
            except OSError:
                continue
        taken = f"port {ports[0]} is taken, " if number != ports[0] else ""
        return PartStatus("port", OK, f"{taken}port {number} is free")
    sentence = f"no port from {ports[0]} to {ports[-1]} is free"
    return PartStatus("port", PROBLEM, sentence, "choose a free one: ludodrome serve --port N")


def has_display() -> bool:
    """Whether a window can be opened."""
    return sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def browser() -> PartStatus:
    """Whether `serve` can open a browser."""
    by_hand = "open the address that `ludodrome serve` prints in your browser"
    if not has_display():
        return PartStatus("browser", WARNING, "no display, so no browser opens", by_hand)
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return PartStatus("browser", WARNING, "no browser was found", by_hand)
    return PartStatus("browser", OK, f"{getattr(found, 'name', None) or type(found).__name__} can be opened")


def terminal() -> PartStatus:
    """Encoding, width and colours of the terminal."""
    stdout = sys.__stdout__  # sys.stdout may be a stand-in while something is shown
    encoding = (stdout.encoding if stdout else "ascii").lower()
    if not encoding.replace("-", "").startswith("utf"):
        sentence = f"the terminal's encoding is {encoding}, so characters like ● and ◆ become question marks"
        return PartStatus("terminal", WARNING, sentence, "export PYTHONUTF8=1, or LANG=C.UTF-8")
    if stdout is None or not stdout.isatty():
        return PartStatus("terminal", OK, f"output goes to a file or a pipe, in {encoding}, without colours")
    width = shutil.get_terminal_size().columns
    if width < NARROW:
        advice = f"make the window {NARROW} columns wide"
        return PartStatus("terminal", WARNING, f"{width} columns: boards and tables are cut or wrapped", advice)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") in ("dumb", "unknown")
    return PartStatus("terminal", OK, f"{width} columns, {encoding}, {'without' if plain else 'with'} colours")


# Python and its packages, compared with the metadata of ludodrome. Of the syntax of requirements only what
# pyproject.toml uses is parsed: version bounds, and the markers of extras.

NAME = "ludodrome"
PURPOSES = {
    "client": "a client for a server, and remote bots",
    "cluster": "matches and tournaments on a Dask cluster",
    "database": "tournaments, and the tables of the server",
    "export": "datasets as Parquet",
    "lab": "`spaces solve` and the terminal builder `spaces build`",
    "mcp": "`mcp`: language models play by the Model Context Protocol",
    "openspiel": "the games as OpenSpiel's",
    "postgresql": "a database of PostgreSQL's",
    "ratings": "ratings in tournaments and in the league",
    "rl": "Gymnasium and PettingZoo environments",
    "text": "text environments for TextArena's agents",
    "train": "the learners of `examples/`, with PyTorch",
    "wasm": "WebAssembly bots (`wasm:FILE`)",
    "web": "`serve`: the web page",
}
"""The purpose of each extra, except `all`, and `build`, `dev` and `docs` for contributors."""

_COMPARED: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": ge,
    "<=": le,
    "<": lt,
    ">": gt,
    "==": eq,
    "!=": ne,
}


class Requirement(NamedTuple):
    """A required package: its name, version bounds, and extra (empty: the core)."""

    name: str
    bounds: str
    extra: str

    def fault(self) -> str:
        """The problem with the installed package; empty if there is none."""
        try:
            found = version(self.name)
        except PackageNotFoundError:
            return f"{self.name} is not installed"
        return "" if fits(found, self.bounds) else f"{self.name} is {found}, but {self.bounds} is required"


def python() -> PartStatus:
    """Whether this Python is recent enough."""
    wanted, found = _wanted_python(), ".".join(map(str, sys.version_info[:3]))
    if fits(found, wanted):
        return PartStatus("python", OK, f"Python {found} ({wanted} is required) at {sys.executable}")
    advice = f"create a virtual environment with Python {wanted} and install ludodrome there"
    return PartStatus("python", PROBLEM, f"Python {found}, but {wanted} is required", advice)


def required() -> PartStatus:
    """Whether the required packages are installed, in versions known to work."""
    wanted = requirements()
    if not wanted:
        sentence = "ludodrome runs from its sources, without metadata on its packages"
        return PartStatus(
            "packages", WARNING, sentence, "install it: pip install -e . in the clone, or scripts/install"
        )
    core = [one for one in wanted if not one.extra]
    faults = [one for one in core if one.fault()]
    if faults:
        advice = "pip install " + " ".join(f"'{one.name}{one.bounds}'" for one in faults)
        return PartStatus("packages", PROBLEM, "; ".join(one.fault() for one in faults), advice)
    return PartStatus("packages", OK, ", ".join(f"{one.name} {version(one.name)}" for one in core))


def extras() -> Iterator[PartStatus]:
    """The extras: a missing one is fine, an outdated package is a warning."""
    wanted = requirements()
    for extra in sorted({one.extra for one in wanted} & set(PURPOSES)):
        parts = [one for one in wanted if one.extra == extra]
        wrong = [one.fault() for one in parts if one.fault()]
        outdated = [fault for fault in wrong if not fault.endswith("is not installed")]
        install = f"pip install 'ludodrome[{extra}]'"
        if not wrong:
            yield PartStatus(f"[{extra}]", OK, PURPOSES[extra])
        elif outdated:
            yield PartStatus(f"[{extra}]", WARNING, f"{PURPOSES[extra]}: {'; '.join(outdated)}", install)
        else:
            yield PartStatus(f"[{extra}]", OK, f"not installed; for {PURPOSES[extra]}: {install}")


# Package metadata


def requirements() -> list[Requirement]:
    """All requirements of ludodrome; empty if it runs from its sources."""
    try:
        lines = metadata(NAME).get_all("Requires-Dist") or []
    except PackageNotFoundError:
        return []
    return [read_requirement(line) for line in lines]


def read_requirement(line: str) -> Requirement:
    """Parse a line like ``numba<0.69,>=0.68`` or ``fastapi>=0.120; extra == 'web'``."""
    wanted, _, marker = line.partition(";")
    found = re.match(r"\s*([\w.-]+)\s*(?:\[[^]]*\])?\s*\(?([^)]*)\)?\s*$", wanted)
    if found is None:
        raise ValueError(f"a requirement is written like numba<0.69,>=0.68, not {line!r}")
    extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", marker)
    return Requirement(found[1], found[2].strip(), extra[1] if extra else "")


def _wanted_python() -> str:
    try:
        return metadata(NAME)["Requires-Python"] or ""
    except PackageNotFoundError:
        return ">=3.11"


def fits(found: str, bounds: str) -> bool:
    """Whether a version lies within bounds like ``>=2.0,<2.1`` or ``==2.13.*``."""
    for bound in filter(None, map(str.strip, bounds.split(","))):
        split = re.match(r"(>=|<=|==|!=|<|>)\s*([\d.]+?)(\.\*)?$", bound)
        if split is None:
            raise ValueError(f"a bound is written like >=2.0, not {bound!r}")
        sign, wanted = split[1], numbers(split[2])
        ours = numbers(found)
        length = len(wanted) if split[3] else max(len(ours), len(wanted))
        padded = [(*one, *[0] * (length - len(one)))[:length] for one in (ours, wanted)]
        if not _COMPARED[sign](*padded):
            return False
    return True


def numbers(text: str) -> tuple[int, ...]:
    """The numbers at the start of a version."""
    plain = re.match(r"\d+(\.\d+)*", text)
    return tuple(map(int, plain[0].split("."))) if plain else ()
