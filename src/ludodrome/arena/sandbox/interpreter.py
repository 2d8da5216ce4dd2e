"""The interpreter that uploaded bots get, and the parts of the machine that it needs to run: these alone are shown.

It must lie under /usr: one in somebody's home cannot be read by another uid, and belongs to somebody.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

CANDIDATES = ("/usr/bin/python3",)
LIBRARIES = ("/usr/lib", "/usr/lib64")
LINKS = ("/lib", "/lib64")
"""Where programs look for the same libraries."""
TABLES = ("/etc/ld.so.cache", "/etc/alternatives")
"""Where the loader finds libraries that have several makers, NumPy's among them: file names, and nothing else."""
PACKAGES = ("/usr/lib/python3/dist-packages",)
"""Where the machine's packages put NumPy."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python under /usr."""

    path: str
    version: str = ""
    numpy: str | None = None
    """NumPy's version, if the machine's packages have it."""

    def command(self, main: str) -> list[str]:
        """Running a program: no environment, no user's packages, no bytecode written; other packages only for NumPy."""
        return [self.path, "-EsB" if self.numpy else "-EsSB", main]


def find(candidates: Iterable[str] = CANDIDATES) -> Interpreter | None:
    """The interpreter, if the machine has one that every uid can run."""
    for candidate in candidates:
        path = Path(candidate).resolve()
        if path.is_relative_to("/usr") and not path.is_relative_to("/usr/local") and _runs_for_all(path):
            return Interpreter(str(path))
    return None


def _runs_for_all(path: Path) -> bool:
    return path.is_file() and bool(path.stat().st_mode & 0o001)


def shown(interpreter: Interpreter) -> list[str]:
    """Files and folders of the machine that a bot may read."""
    links = [link for link in LINKS if os.path.isdir(link) and not os.path.islink(link)]
    return [path for path in (interpreter.path, *LIBRARIES, *links, *TABLES) if os.path.exists(path)]


def links() -> dict[str, str]:
    """Links at the top of the tree to where the libraries are."""
    return {link: os.readlink(link) for link in LINKS if os.path.islink(link)}
