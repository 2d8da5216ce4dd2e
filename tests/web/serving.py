"""A server in this process and a browser for it, for tests and screenshots."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ludodrome.web.app import create_app
from ludodrome.web.service import Service

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))


@contextmanager
def server() -> Iterator[str]:
    """The address of a running server."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    running = Service(create_app())
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
