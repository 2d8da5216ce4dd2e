"""The command serve, as a process of its own."""

import re
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from ludodrome.system import owner_token_file
from tests.cli.running import PROGRAM, complaint, run


@pytest.fixture(autouse=True)
def own_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's own is touched."""
    monkeypatch.setenv("LUDODROME_DATABASE_URL", str(tmp_path / "ludodrome.db"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


@pytest.mark.parametrize("presses", [1, 3])
def test_it_says_where_it_is_answers_and_ends_without_a_word(presses: int) -> None:
    with subprocess.Popen(
        [*PROGRAM, "serve", "--no-browser", "--ladder", "off", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"(http://127\.0\.0\.1:(\d+)/)\?token=(owner_\S+)", process.stdout.readline())
            assert found
            with urllib.request.urlopen(found[0], timeout=60) as page:
                assert page.url == found[1]
                assert b"<title>Ludodrome" in page.read()
            file = owner_token_file(int(found[2]))
            assert file.read_text().strip() == found[3]
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            for _ in range(presses):
                process.send_signal(signal.SIGINT)
                time.sleep(0.05)
            _, complaints = process.communicate(timeout=60)
        finally:
            process.kill()
    assert complaints == ""
    assert process.returncode == 0
    assert not file.exists()


PRESSED = """
import os, signal, sys
from {module} import {owner} as owner
real = owner.{name}
def pressed(*arguments, **named):
    for _ in range(3):
        os.kill(os.getpid(), signal.{signal})
    return real(*arguments, **named)
owner.{name} = pressed
sys.argv = ["ludodrome", "serve", "--no-browser", "--ladder", "off", "--port", "0"]
from ludodrome.cli import main
main()
"""
PLACES = {
    "opening the database": ("ludodrome.store", "database", "open_database"),
    "making the app": ("ludodrome.web", "app", "create_app"),
    "starting the runner": ("ludodrome.arena.ladder.runner", "Supervisor", "start"),
    "starting to serve": ("ludodrome.web", "server", "serve"),
    "starting uvicorn": ("uvicorn", "Config", "load"),
    "ending the runner": ("ludodrome.arena.ladder.runner", "Supervisor", "stop"),
}


@pytest.mark.parametrize(
    ("place", "sent"), [*((place, "SIGINT") for place in PLACES), ("starting to serve", "SIGTERM")]
)
def test_three_signals_at_once_end_it_without_a_word_wherever_it_is(place: str, sent: str) -> None:
    module, owner, name = PLACES[place]
    program = PRESSED.format(module=module, owner=owner, name=name, signal=sent)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            if place == "ending the runner":
                assert process.stdout is not None
                assert process.stdout.readline()
                process.send_signal(signal.SIGINT)
            _, complaints = process.communicate(timeout=300)
        finally:
            process.kill()
    assert complaints == ""
    assert process.returncode == 0


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"port {port} cannot be used" in complaint(run("serve", "--no-browser", "--port", str(port)))


@pytest.mark.parametrize(
    ("wishes", "sentence"),
    [
        (["--lan", "--hosted"], "choose one"),
        (["--behind-proxy"], "--behind-proxy needs --hosted"),
        (["--lan", "--behind-proxy"], "--behind-proxy needs --hosted"),
        (["--hosted", "--no-sandbox"], "--no-sandbox is for your own machine"),
        (["--processes", "0"], "--processes"),
        (["--ladder", "sometimes"], "--ladder is off, gentle, on, not sometimes"),
        (["--db", "mysql://host/name"], "a database is an SQLite file or a URL"),
        (["--address", "192.0.2.77", "--port", "8999"], "192.0.2.77 port 8999 cannot be used"),
        (["--address", "a" * 70, "--port", "8999"], "port 8999 cannot be used"),
        (["--address", "\udcff", "--port", "8999"], "port 8999 cannot be used"),
    ],
)
def test_what_cannot_be_served_is_refused(wishes: list[str], sentence: str) -> None:
    assert sentence in complaint(run("serve", "--no-browser", *wishes))
