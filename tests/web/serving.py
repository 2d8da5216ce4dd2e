"""A server in this process and a browser for it, for tests and screenshots."""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi import FastAPI
from sqlalchemy import Engine

from ludodrome.store.database import open_database
from ludodrome.web.app import create_app
from ludodrome.web.auth import Mode
from ludodrome.web.server import WebServer

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))


@contextmanager
def server(mode: Mode = "local", prepare: Callable[[Engine], None] = lambda engine: None) -> Iterator[str]:
    """The address of a running server, with a database of its own, in which something may be prepared."""
    with TemporaryDirectory() as folder:
        engine = open_database(Path(folder) / "ludodrome.db", create=True)
        prepare(engine)
        try:
            with serving(create_app(engine, mode=mode)) as address:
                yield address
        finally:
            engine.dispose()


@contextmanager
def league(folder: Path) -> Iterator[tuple[Engine, str]]:
    """A league that games are played in by this process: its database, and the address of its server."""
    from ludodrome.arena.ladder import playing

    engine = open_database(folder / "league.db", create=True)
    with serving(create_app(engine)) as address:
        yield engine, address
    playing._database(str(engine.url)).dispose()
    playing._database.cache_clear()
    engine.dispose()


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """The address at which an app is served."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    running = WebServer(app)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        running.should_exit = True
        thread.join(10)
        listening.close()


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        try:
            yield running
        finally:
            running.close()


@contextmanager
def quiet_window(chromium: Any, address: str, patience: float = 30_000, **settings: Any) -> Iterator[Any]:
    """A new window that says nothing on its console and fails nowhere; ``settings`` as Playwright's new_context."""
    context = chromium.new_context(base_url=address, **settings)
    opened = context.new_page()
    opened.set_default_timeout(patience)
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    yield opened
    context.close()
    assert not faults
