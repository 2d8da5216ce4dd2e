"""A tournament is killed at any moment, and goes on: every game once, and the same table as if nothing had been."""

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.arena.quick import begin, count, kept, programs, running, write_plan

pytestmark = pytest.mark.xdist_group("dots")

PATIENCE = 120


def undisturbed(plan: Path, store: Path) -> str:
    process = begin(plan, store)
    text, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return text.decode()


@pytest.mark.parametrize("kind", ["built-in", "programs"])
def test_killed_and_resumed(kind: str, tmp_path: Path, long: bool) -> None:
    """Built-in bots; or a program whose process stays between games, a WebAssembly program and a built-in."""
    pairs, kills = (50, 20) if long else (3, 2)
    if kind == "programs":
        pytest.importorskip("wasmtime")
        entrants, games = programs(tmp_path), 6 * pairs
    else:
        entrants, games = None, 20 * pairs
    dice = random.Random(1)
    plan, store = write_plan(tmp_path, pairs, entrants), tmp_path / "killed.sqlite"
    interrupted = 0
    for kill in range(kills):
        process = begin(plan, store)
        wait_for_games(store, games * kill // (2 * kills) + dice.randrange(games // (2 * kills)))
        time.sleep(dice.random() * 0.05)
        if kill % 2:
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        interrupted += count(store) < games
        wait_for_nobody(store)
    assert interrupted  # as a rule all of them; a kill after the last game must do no harm either
    process = begin(plan, store)
    text, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert count(store) == games
    expected = undisturbed(plan, tmp_path / "undisturbed.sqlite")
    assert kept(store) == kept(tmp_path / "undisturbed.sqlite")
    killed, whole = json.loads(text), json.loads(expected)
    assert killed["played"] == games
    assert killed["standings"] == whole["standings"]
    assert running(str(tmp_path / "stays.py")) == 0


def wait_for_games(store: Path, wanted: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while count(store) < wanted:
        assert time.monotonic() < deadline
        time.sleep(0.002)


def wait_for_nobody(store: Path) -> None:
    """Until nobody has the store open: the workers of a killed program leave by themselves."""
    deadline = time.monotonic() + PATIENCE
    while workers():
        assert time.monotonic() < deadline, workers()
        time.sleep(0.02)


def workers() -> list[str]:
    """The processes that were started by those of this test, by the forkserver's command line."""
    found = []
    for name in os.listdir("/proc"):
        try:
            command = Path(f"/proc/{name}/cmdline").read_text()
            parent = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if "multiprocessing.forkserver" in command and parent == "1":
            found.append(name)
    return found
