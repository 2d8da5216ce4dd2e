"""The wheel in an environment of its own, by pip; from a read-only installation; under other Pythons. With --long."""

import glob
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.release.building import COMMIT, Release

MATCH = "ludodrome match dots random greedy -o rows=2 -o cols=2 --games 2 --workers 1 --openings none"
OTHERS = ("3.12", "3.13")


@pytest.fixture(scope="module")
def environment(release: Release, tmp_path_factory: pytest.TempPathFactory, long: bool) -> Path:
    """A fresh environment with the wheel; what it depends on is where the tests have it."""
    if not long:
        pytest.skip("environments are made with --long")
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(release.wheel)], check=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")  # its own .pth files are not read
    return folder


def _settings(environment: Path, **more: str) -> dict[str, str]:
    dropped = ("PYTHON", "LUDODROME", "XDG", "TMPDIR", "NUMBA")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**kept, "PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}", **more}


def _run(line: str, environment: Path, **more: str) -> subprocess.CompletedProcess[str]:
    settings = _settings(environment, **more)
    done = subprocess.run(["/bin/sh", "-c", line], env=settings, cwd=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_it_is_installed_alone(environment: Path, tmp_path: Path) -> None:
    kept = {"LUDODROME_CACHE": str(tmp_path / "kept")}
    assert f"({COMMIT[:7]})" in _run("ludodrome --version", environment).stdout
    assert "You left the game." in _run("printf 'h00\\nquit\\n' | ludodrome play dots", environment, **kept).stdout
    assert "2 games" in _run(MATCH, environment, **kept).stdout
    assert list((tmp_path / "kept").glob("dots-*"))
    found = json.loads(_run("ludodrome doctor --json", environment, **kept).stdout)
    assert str(environment) in found["findings"][0]["sentence"]
    assert not list(environment.rglob("*.nbi")), "compiled code belongs to the user, not to the package"


# Read-only


@pytest.fixture(scope="module")
def box(environment: Path) -> list[str]:
    """A command that runs another one where nothing can be written; the folder `scratch` can be laid over."""
    (environment / "scratch").mkdir()
    bwrap = shutil.which("bwrap")
    words = [bwrap or "bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--chdir", str(environment)]
    if bwrap is None or subprocess.run([*words, "true"], capture_output=True).returncode:
        pytest.skip("there is no bubblewrap that works: no read-only installation was tried")
    return words


def _in(box: list[str], line: str, environment: Path, **more: str) -> subprocess.CompletedProcess[str]:
    settings = _settings(environment, **more)
    done = subprocess.run([*box, "/bin/sh", "-c", line], env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_a_read_only_home_leaves_the_temporary_folder(environment: Path, box: list[str]) -> None:
    scratch = environment / "scratch"
    laid = [*box, "--tmpfs", str(scratch)]
    done = _in(laid, "touch x; ludodrome show dots && find $TMPDIR -name '*.nbc'", environment, TMPDIR=str(scratch))
    assert "Read-only file system" in done.stderr
    assert "seat 0" in done.stdout
    assert f"{scratch}/ludodrome-{os.getuid()}/dots-" in done.stdout
    assert "cannot be kept" not in done.stderr


def test_somebody_without_a_home_and_a_name(environment: Path, box: list[str]) -> None:
    scratch = environment / "scratch"
    nobody = ["--unshare-user", "--uid", "54321", "--gid", "54321"]
    if subprocess.run([*box, *nobody, "true"], capture_output=True).returncode:
        pytest.skip("there are no user namespaces: nobody without a name was tried")
    line = "unset HOME; ludodrome show dots && find $TMPDIR -name '*.nbc'"
    done = _in([*box, *nobody, "--tmpfs", str(scratch)], line, environment, TMPDIR=str(scratch))
    assert f"{scratch}/ludodrome-54321/dots-" in done.stdout


def test_where_nothing_can_be_written_it_says_so_and_plays(environment: Path, box: list[str]) -> None:
    done = _in(box, "printf 'h00\\nquit\\n' | ludodrome play dots", environment)
    assert "You left the game." in done.stdout
    said = [line for line in done.stderr.splitlines() if not line.startswith("compiling ")]
    assert said == [
        "ludodrome: compiled code cannot be kept, so that every start compiles anew: "
        "name a folder for it with LUDODROME_CACHE"
    ]
    text = _in(box, "ludodrome doctor || test $? = 1", environment).stdout
    assert "✗ problem  cache         compiled code cannot be cached" in text
    assert "✗ problem  database      " in text
    refused = _in(box, f"{MATCH} || test $? = 2", environment, NUMBA_DISABLE_JIT="1")
    assert "No usable temporary directory" in refused.stderr  # workers need one
    assert "Traceback" not in refused.stderr


# Other Pythons


def _interpreter(version: str) -> str | None:
    """A Python of that version that runs."""
    places = os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python")
    near = [shutil.which(f"python{version}"), *glob.glob(places)]
    for found in filter(None, near):
        asked = [found, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"]
        if subprocess.run(asked, capture_output=True, text=True).stdout.strip() == version:
            return found
    return None


@pytest.mark.parametrize("version", OTHERS)
def test_other_pythons(version: str, release: Release, tmp_path: Path, long: bool) -> None:
    python = _interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version}: nothing was tried with it")
    if not long:
        pytest.skip("environments are made with --long")
    subprocess.run([python, "-m", "venv", tmp_path / "venv"], check=True)
    pip = [str(tmp_path / "venv" / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    done = subprocess.run([*pip, f"ludodrome[web] @ {release.wheel.as_uri()}"], capture_output=True, text=True)
    if done.returncode and "No matching distribution" in done.stderr + done.stdout:
        pytest.skip(f"pip reaches no index: nothing was tried with Python {version}")
    assert done.returncode == 0, done.stderr
    kept = {"LUDODROME_CACHE": str(tmp_path / "kept")}
    found = json.loads(_run("ludodrome doctor --json", tmp_path / "venv", **kept).stdout)
    assert found["findings"][1]["sentence"].startswith(f"Python {version}.")
    assert "2 games" in _run(MATCH, tmp_path / "venv", **kept).stdout
