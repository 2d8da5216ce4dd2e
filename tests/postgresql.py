"""A PostgreSQL of Debian's package in a temporary folder, for the tests of what is stored.

It is started once for a process that runs tests, listens on a socket in that folder alone, and ends with it.
"""

import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

import psycopg

from ludodrome.store.database import open_database

PLACES = "/usr/lib/postgresql"
USER = "ludodrome"
PATIENCE = 60.0
_numbers = count()


def programs() -> Path | None:
    """The folder of its programs; None if it is not installed."""
    found = sorted(Path(PLACES).glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


@contextmanager
def cluster() -> Iterator[Path]:
    """A running PostgreSQL; the folder of its socket."""
    folder = programs()
    assert folder is not None
    home = Path(mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's path must be short
    user = _unprivileged()
    if user is not None:
        os.chown(home, user, -1)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "user": user, "cwd": home}
    data = home / "data"
    wishes = ["-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    subprocess.run([folder / "initdb", "-D", data, *wishes], check=True, **quiet)  # type: ignore[call-overload]
    settings = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200"]
    running = subprocess.Popen([folder / "postgres", "-D", data, "-k", home, *settings], **quiet)  # type: ignore[call-overload]
    try:
        _await(home)
        yield home
    finally:
        running.send_signal(signal.SIGINT)  # open connections are cut off
        running.wait(PATIENCE)
        shutil.rmtree(home, ignore_errors=True)


def new_database(home: Path, like: str = "template1") -> str:
    """The URL of a new database: an empty one, or a copy of another."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(host=str(home), user=USER, dbname="postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{like.partition("?")[0].rpartition("/")[2]}"')
    return f"postgresql://{USER}@/{name}?host={home}"


@cache
def with_tables(home: Path) -> str:
    """The URL of a database that has its tables, to make copies of."""
    url = new_database(home)
    open_database(url, create=True).dispose()
    return url


def _unprivileged() -> int | None:
    """A user other than root, which PostgreSQL refuses."""
    if os.getuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_uid
    except KeyError:
        return pwd.getpwnam("nobody").pw_uid


def _await(home: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            psycopg.connect(host=str(home), user=USER, dbname="postgres").close()
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
