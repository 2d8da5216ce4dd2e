"""The Python and the packages: what the installed metadata of ludodrome wants, and what is there.

Only what pyproject.toml uses of the language of requirements is read: bounds of versions, and the markers of extras.
"""

import re
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, metadata, version
from operator import eq, ge, gt, le, lt, ne
from typing import NamedTuple

from ludodrome.installation.findings import OK, PROBLEM, WARNING, Finding

NAME = "ludodrome"
PURPOSES = {
    "client": "a client for a server, and remote bots",
    "cluster": "matches and tournaments on a Dask cluster",
    "export": "datasets as Parquet",
    "lab": "`spaces solve` and the terminal builder `spaces build`",
    "mcp": "`mcp`: language models play by the Model Context Protocol",
    "openspiel": "the games as OpenSpiel's",
    "postgresql": "a database of PostgreSQL's",
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


def python() -> Finding:
    """Whether this Python is recent enough."""
    wanted, found = _wanted_python(), ".".join(map(str, sys.version_info[:3]))
    if fits(found, wanted):
        return Finding("python", OK, f"Python {found} ({wanted} is wanted) at {sys.executable}")
    advice = f"make a new environment with a Python that is {wanted}, and install ludodrome there"
    return Finding("python", PROBLEM, f"Python {found}, and {wanted} is wanted", advice)


def required() -> Finding:
    """Whether the packages that everything needs are there, in versions that are known to work."""
    wanted = requirements()
    if not wanted:
        sentence = "ludodrome runs from its sources, and nothing says which packages it wants"
        return Finding("packages", WARNING, sentence, "install it: pip install -e . in the clone, or scripts/install")
    core = [one for one in wanted if not one.extra]
    faults = [one for one in core if one.fault()]
    if faults:
        advice = "pip install " + " ".join(f"'{one.name}{one.bounds}'" for one in faults)
        return Finding("packages", PROBLEM, "; ".join(one.fault() for one in faults), advice)
    return Finding("packages", OK, ", ".join(f"{one.name} {version(one.name)}" for one in core))


def extras() -> Iterator[Finding]:
    """The extras, one after another: a missing one is nothing bad, an outdated package of one is."""
    wanted = requirements()
    for extra in sorted({one.extra for one in wanted} & set(PURPOSES)):
        parts = [one for one in wanted if one.extra == extra]
        wrong = [one.fault() for one in parts if one.fault()]
        outdated = [fault for fault in wrong if not fault.endswith("is not installed")]
        install = f"pip install 'ludodrome[{extra}]'"
        if not wrong:
            yield Finding(f"[{extra}]", OK, PURPOSES[extra])
        elif outdated:
            yield Finding(f"[{extra}]", WARNING, f"{PURPOSES[extra]}: {'; '.join(outdated)}", install)
        else:
            yield Finding(f"[{extra}]", OK, f"not installed; for {PURPOSES[extra]}: {install}")


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
