"""Packages with games, installed into a folder by hand: no internet, no pip, and other processes find them."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "tictactoe"
COINS = ROOT / "examples" / "coins"
PICKS = Path(__file__).with_name("picks")


def install(package: Path, site: Path) -> Path:
    """What pip would make of a package whose modules are in ``src``; the folder to put on the path."""
    project = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"]
    shutil.copytree(package / "src", site, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    about = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in project["entry-points"].items()
    ]
    (about / "entry_points.txt").write_text("\n".join(points))
    return site


def run(*command: str, site: Path, stdin: str = "", where: Path = ROOT, plain: bool = True) -> str:
    """What a Python program says that sees the packages of a folder; ``plain``: without compiling anything."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), str(site)])
    settings = {**os.environ, "PYTHONPATH": path, "XDG_DATA_HOME": str(site / "data"), "PYTHONDONTWRITEBYTECODE": "1"}
    settings["NUMBA_DISABLE_JIT"] = "1" if plain else "0"
    done = subprocess.run(
        [sys.executable, *command], input=stdin, capture_output=True, text=True, cwd=where, env=settings
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout
