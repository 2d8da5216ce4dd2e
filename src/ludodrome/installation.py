"""Checks of the installation, part by part, each with what to do if it fails. A bot is checked by ``arena/doctor``.

Nothing is left behind, except a small piece of compiled code in its usual place.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, metadata, version
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path
from typing import Any, NamedTuple

from ludodrome.system import core_count

OK, WARNING, PROBLEM = "ok", "warning", "problem"
"""It works; something that not everybody needs does not; something that everybody needs does not."""


class PartStatus(NamedTuple):
    """One line of the examination."""

    part: str
    grade: str
    sentence: str
    advice: str = ""
    """What to do; empty where nothing is to be done."""

    def to_json(self) -> dict[str, Any]:
        """A plain value."""
        return self._asdict()


def part_statuses(host: str, ports: range) -> Iterator[PartStatus]:
    """All checks, one after another; the page would be served at the first free port of these."""
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
"""Columns of a terminal below which boards and tables do not fit."""


def program() -> PartStatus:
    """What runs, and from where."""
    import ludodrome
    from ludodrome.version import version_line

    return PartStatus("program", OK, f"{version_line(ludodrome.__version__)} in {Path(ludodrome.__file__).parent}")


def threads() -> PartStatus:
    """How many things can be computed at once."""
    available = core_count()
    return PartStatus("processor", OK, f"{available} thread{'s' * (available != 1)} for bots and searches")


# Compiled code


def cache() -> PartStatus:
    """Whether compiled code is kept, and found again."""
    import warnings

    from ludodrome import jit, kernel_cache

    if not jit.COMPILED:
        advice = "take NUMBA_DISABLE_JIT out of the environment"
        return PartStatus("cache", WARNING, "nothing is compiled: everything is hundreds of times slower", advice)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the finding says it
        folder = kernel_cache.cache_directory(Path(__file__).parent)
        works = folder is not None and _is_found_again()
    place = f"{kernel_cache.cache_root()} cannot be written"
    advice = f"name a folder that can be written: export {kernel_cache.VARIABLE}=..."
    if folder is None:
        return PartStatus(
            "cache", PROBLEM, f"compiled code cannot be kept ({place}): every start compiles anew", advice
        )
    if not works:
        sentence = f"compiled code was written to {folder} and not found again"
        return PartStatus("cache", PROBLEM, sentence, f"remove {folder.parent}, or {advice}")
    size = f"{kernel_cache.kept_bytes(folder.parent) / MEGABYTE:.1f} MB of compiled code in {folder.parent}"
    if folder.parent != kernel_cache.cache_root():
        return PartStatus("cache", WARNING, f"{size}, since {place}; it may be gone after a restart", advice)
    return PartStatus("cache", OK, f"{size}; a kernel was kept and found again")


def _one_more(number: int) -> int:
    return number + 1


def _is_found_again() -> bool:
    """A tiny kernel is compiled, or loaded; a second one of the same source must be loaded."""

    from ludodrome.jit import entry

    first: Any = entry(_one_more)
    first(1)
    again: Any = entry(_one_more)
    return bool(again(1) == 2 and sum(again.stats.cache_hits.values()) == 1)


# What stands around


def sandbox() -> PartStatus:
    """How strangers' bots would be run."""
    from ludodrome.arena.sandbox import level

    found = level()
    if found.holds:
        return PartStatus("sandbox", OK, found.sentence)
    advice = "only `serve --hosted` and box: bots need one; docs/explanation/sandbox.md says what it takes"
    return PartStatus("sandbox", WARNING, found.sentence, advice)


def database() -> PartStatus:
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
            return PartStatus("database", PROBLEM, f"{place} cannot be written", name_another)
        revision = look(place)
    except ValueError as error:
        return PartStatus("database", PROBLEM, str(error), name_another)
    if revision != migrations.REVISIONS[-1]:
        sentence = f"{shown} has tables of revision {revision or 'none'}; {migrations.REVISIONS[-1]} is the latest"
        return PartStatus("database", WARNING, sentence, "`ludodrome serve` brings it up to date; back it up before")
    return PartStatus("database", OK, f"{shown}, tables of revision {revision}, the latest")


def _new_database(place: Path, name_another: str) -> PartStatus:
    nearest = next(folder for folder in place.absolute().parents if folder.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return PartStatus("database", OK, f"{place}: not there yet, `serve` makes it")
    return PartStatus("database", PROBLEM, f"{place} cannot be made: {nearest} cannot be written", name_another)


def port(host: str, ports: range) -> PartStatus:
    """Where the page would be served."""
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
    return PartStatus("port", PROBLEM, sentence, "name one that is: ludodrome serve --port N")


def has_display() -> bool:
    """Whether a window could be opened."""
    return sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def browser() -> PartStatus:
    """Whether `serve` can open its page."""
    import webbrowser

    by_hand = "open the address that `ludodrome serve` prints in a browser of yours"
    if not has_display():
        return PartStatus("browser", WARNING, "there is no display here, so no browser is opened", by_hand)
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return PartStatus("browser", WARNING, "there is a display, but no browser was found", by_hand)
    return PartStatus("browser", OK, f"{getattr(found, 'name', None) or type(found).__name__} can be opened")


def terminal() -> PartStatus:
    """What commands can show here."""
    stdout = sys.__stdout__  # sys.stdout may be a stand-in while something is shown
    encoding = (stdout.encoding if stdout else "ascii").lower()
    if not encoding.replace("-", "").startswith("utf"):
        sentence = f"the terminal's encoding is {encoding}, so signs like ● and ◆ become question marks"
        return PartStatus("terminal", WARNING, sentence, "export PYTHONUTF8=1, or LANG=C.UTF-8")
    if stdout is None or not stdout.isatty():
        return PartStatus("terminal", OK, f"output goes to a file or a pipe, in {encoding}, without colours")
    width = shutil.get_terminal_size().columns
    if width < NARROW:
        advice = f"make the window {NARROW} columns wide"
        return PartStatus("terminal", WARNING, f"{width} columns: boards and tables are cut or folded", advice)
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
    "web": "`serve`: the web page",
}
"""What each extra is for; `all` is nearly all of them, `build`, `dev` and `docs` are for those who change it."""

_COMPARED: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": ge,
    "<=": le,
    "<": lt,
    ">": gt,
    "==": eq,
    "!=": ne,
}


class Requirement(NamedTuple):
    """A package that is wanted: its name, the bounds of its version, the extra that wants it (empty: the core)."""

    name: str
    bounds: str
    extra: str

    def fault(self) -> str:
        """What is wrong with the package as it is installed; empty if nothing is."""
        try:
            found = version(self.name)
        except PackageNotFoundError:
            return f"{self.name} is not installed"
        return "" if fits(found, self.bounds) else f"{self.name} is {found}, and {self.bounds} is wanted"


def python() -> PartStatus:
    """Whether this Python is recent enough."""
    wanted, found = _wanted_python(), ".".join(map(str, sys.version_info[:3]))
    if fits(found, wanted):
        return PartStatus("python", OK, f"Python {found} ({wanted} is wanted) at {sys.executable}")
    advice = f"make a new environment with a Python that is {wanted}, and install ludodrome there"
    return PartStatus("python", PROBLEM, f"Python {found}, and {wanted} is wanted", advice)


def required() -> PartStatus:
    """Whether the packages that everything needs are there, in versions that are known to work."""
    wanted = requirements()
    if not wanted:
        sentence = "ludodrome runs from its sources, and nothing says which packages it wants"
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
    """The extras, one after another: a missing one is nothing bad, an outdated package of one is."""
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


# What the metadata says


def requirements() -> list[Requirement]:
    """All packages that ludodrome wants; empty if it is not installed and runs from its sources."""
    try:
        lines = metadata(NAME).get_all("Requires-Dist") or []
    except PackageNotFoundError:
        return []
    return [read_requirement(line) for line in lines]


def read_requirement(line: str) -> Requirement:
    """A line like ``numba<0.69,>=0.68`` or ``fastapi>=0.120; extra == 'web'``."""
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
    """The numbers at the beginning of a version."""
    plain = re.match(r"\d+(\.\d+)*", text)
    return tuple(map(int, plain[0].split("."))) if plain else ()
