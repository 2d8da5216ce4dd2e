"""A clean checkout, the sdist and the wheel built from it, and folders in which the wheel alone is installed."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
COMMIT = "fedcba9876543210fedcba9876543210fedcba98"
LITTER = ("src/ludodrome/__pycache__/jit.pyc", "src/ludodrome/games/dots/__pycache__/rules.pyc", ".venv/bin/python")
"""Files that a checkout collects, and a release must not."""


PARTS = (
    "src/",
    "docs/",
    "scripts/",
    "tests/cli/",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "pyproject.toml",
    ".gitignore",
)
"""What is checked out: all that the build could look at, and something that it should leave."""


class Release(NamedTuple):
    """What a build came to."""

    checkout: Path
    sdist: Path
    wheel: Path


def tracked() -> list[str]:
    """The files that belong to the project, as git knows them."""
    try:
        asked = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(asked, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"git does not say which files belong to the project ({error}): nothing was built")
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def check_out(folder: Path) -> Path:
    """The project's files in a new folder, with a commit and with what a checkout collects."""
    for name in tracked():
        if name.startswith(PARTS):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text(f"{COMMIT}\n")
    for name in LITTER:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"litter")
    return folder


def build(folder: Path) -> Release:
    """A clean checkout and what scripts/build makes of it."""
    checkout = check_out(folder / "checkout")
    settings = {**os.environ, "PYTHON": sys.executable}
    done = subprocess.run(
        [checkout / "scripts" / "build", folder / "made"], env=settings, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,) = (folder / "made").glob("*.tar.gz")
    (wheel,) = (folder / "made").glob("*.whl")
    return Release(checkout, sdist, wheel)


def unpack(wheel: Path, site: Path) -> Path:
    """The wheel's files in a folder: all that an installer does, but the script."""
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    return site


def run(site: Path, *words: str, stdin: str = "", compiled: bool = False, code: str = "") -> str:
    """What the unpacked program, or a piece of code, says, from a folder where nothing of the checkout is near."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    settings |= {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_DISABLE_JIT": "01"[not compiled]}
    program = [sys.executable, "-c", code] if code else [sys.executable, "-m", "ludodrome", *words]
    done = subprocess.run(program, input=stdin, capture_output=True, text=True, cwd=site, env=settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
