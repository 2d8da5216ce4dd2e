"""The app as a client sees it, and a browser where there is one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx import Client

from tests.web.hosting import Hosted, hosting
from tests.web.serving import CHROMIUM, browser, server


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puzzles solved by tests are nobody's."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """A server on a port of its own."""
    with server() as running:
        yield running


@pytest.fixture(scope="session")
def client(address: str) -> Iterator[Client]:
    """A client of that server."""
    with Client(base_url=address, follow_redirects=True, timeout=120) as running:
        yield running


@pytest.fixture(scope="session")
def hosted() -> Iterator[Hosted]:
    """A server for everybody, with people who can sign in."""
    with hosting() as running:
        yield running


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A browser; without one, tests that need it are skipped."""
    if not CHROMIUM.exists():
        pytest.skip(f"there is no Chromium at {CHROMIUM}: nothing was clicked")
    with browser() as running:
        yield running
