"""The first five minutes of somebody new, timed: ``scripts/tutorial``.

What is typed is read from the pages of the fresh clone: the one command of first-steps.md that serves, then the
commands of writing-a-bot.md, one after another, up to the one that enters the bot. Nothing that was compiled or kept
before is used; pip's cache of downloads is.
"""

import argparse
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.web.serving import browser

ROOT = Path(__file__).parents[1]
FIRST_STEPS, WRITING = "docs/tutorials/first-steps.md", "docs/tutorials/writing-a-bot.md"
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TYPED = ("", "console", "sh")
"""Languages of blocks that are for a shell."""
USUAL = "http://127.0.0.1:8008"
FIRST_MOVE, FIRST_BOT = 120, 300
"""Seconds that the first move and the first bot should take at most; they are compared, and nothing depends on them."""
PATIENCE = 900.0


class Clock:
    """Tells how long each step took."""

    def __init__(self) -> None:
        self.began = self.last = time.monotonic()

    def step(self, what: str) -> None:
        """Print the seconds of a step."""
        now = time.monotonic()
        print(f"{now - self.last:7.1f} s  {what}", flush=True)
        self.last = now

    def total(self, what: str, bar: int) -> None:
        """Print the seconds since the beginning, and whether they are under the bar."""
        seconds = time.monotonic() - self.began
        print(f"{seconds:7.1f} s  in all: {what} ({'under' if seconds < bar else 'OVER'} {bar} s)", flush=True)


def commands(page: str) -> list[str]:
    """The commands of a page, in order: of a console what follows the prompt, else every line."""
    found = []
    for text in (text for language, text in BLOCK.findall(page) if language in TYPED):
        lines = re.sub(r"\\\n\s*", "", text).splitlines()
        typed = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        found += typed or [line for line in lines if line and not line.startswith("#")]
    return found


def up_to_entering(page: str) -> tuple[list[str], str]:
    """What the tutorial has typed before the bot is entered, and the command that enters it."""
    lines = commands(page)
    at = next(number for number, line in enumerate(lines) if line.startswith("ludodrome enter "))
    return lines[:at], lines[at]


@contextmanager
def beside(command: list[str], folder: Path, environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[str]]:
    """A program that goes on until it is told to end; what it complains about goes into a file."""
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        ) as process,
    ):
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def heard(process: "subprocess.Popen[str]", words: str) -> str:
    """The first line with these words that a program says."""
    assert process.stdout
    for line in process.stdout:
        if words in line:
            return line
    raise SystemExit(f"{shlex.join(map(str, process.args))} ended without a word of {words!r}")  # type: ignore[arg-type]


def make_a_move(page: Any, address: str) -> None:
    """Plays the first game: clicks what the board offers until a move more is on the list."""
    page.goto(address)
    page.locator(".ways a.first").first.click()
    page.wait_for_selector("#board[data-ready] .target.live")
    played = page.locator("#moves [data-ply]")
    before = played.count()
    while played.count() == before:
        offered = page.locator("#board[data-ready] .target.live:not([aria-label$='let go'])")
        if offered.count():
            offered.first.click(force=True)
        page.wait_for_timeout(50)


def surroundings(folder: Path, clone: Path) -> dict[str, str]:
    """An environment in which nothing was done before, and `ludodrome` is what the clone has installed."""
    dropped = ("PYTHON", "LUDODROME", "XDG", "NUMBA", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    caches = {"XDG_DATA_HOME": str(folder / "data"), "LUDODROME_CACHE": str(folder / "cache")}
    path = f"{clone / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**kept, **caches, "PATH": path, "PYTHONUNBUFFERED": "1"}


def follow(folder: Path) -> None:
    """The whole of it."""
    clone, clock = folder / "ludodrome", Clock()
    environment = surroundings(folder, clone)
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    clock.step("git clone")
    serve = commands((clone / FIRST_STEPS).read_text("utf-8"))[0].split()
    with beside(serve, clone, environment, folder / "serve.log") as server:
        printed = heard(server, "Ludodrome is at ").split()[3]
        address = printed.partition("/?")[0]
        clock.step(f"{' '.join(serve)}: it is installed, and the page is served")
        with browser() as chromium:
            page = chromium.new_page()
            page.set_default_timeout(PATIENCE * 1000)
            make_a_move(page, printed)
            clock.step("a move is made in the browser")
            clock.total("the first move", FIRST_MOVE)
            _enter(folder, clone, environment, address, page, clock)


def _enter(folder: Path, clone: Path, environment: dict[str, str], address: str, page: Any, clock: Clock) -> None:
    before, enter = up_to_entering((clone / WRITING).read_text("utf-8"))
    where = clone
    for line in before:
        if line.startswith("cd "):
            where /= line.removeprefix("cd ").strip()
            continue
        done = subprocess.run(["/bin/bash", "-c", line], cwd=where, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{line} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        clock.step(line)
    words = shlex.split(enter)
    if address != USUAL:
        print(f"           (port 8008 is taken, so --server {address} is added)", flush=True)
        words += ["--server", address]
    name = words[words.index("--name") + 1]
    with beside(words, where, environment, folder / "enter.log") as entered:
        heard(entered, f"{name} is in the league")
        clock.step(enter)
        page.goto(f"{address}/{words[2]}/leaderboard")
        page.locator(f"#board tr[data-name='{name}']").wait_for()
        clock.step("it is on the leaderboard")
        clock.total("the first bot", FIRST_BOT)
        print(f"           {heard(entered, 'game 1: ').strip()}", flush=True)
        clock.step("it has played a game of the league")
        counted = page.locator(f"#board tr[data-name='{name}']:not([data-games='0'])")
        while not counted.count():  # the bot hears of the end before the game is written down
            page.wait_for_timeout(500)
            page.reload()
        clock.step("and the leaderboard counts it")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="The first five minutes, by the clock.")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="a new folder for the clone and all that it makes")
    kept = parser.parse_args().keep
    if kept is not None:
        kept.mkdir(parents=True)
        follow(kept.resolve())
        return
    with tempfile.TemporaryDirectory(prefix="ludodrome-tutorial-") as folder:
        follow(Path(folder))


if __name__ == "__main__":
    main()
