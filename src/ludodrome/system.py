"""Facts about the machine: usable cores, addresses that belong to it, the user's data folder and servers."""

import ipaddress
import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit


def core_count() -> int:
    """The number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1024)
def is_loopback(address: str) -> bool:
    """Whether a text is a loopback IP address, of version 4 or 6; False for a name.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("192.0.2.1"), is_loopback("localhost")
    (True, True, False, False)
    """
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


# URLs of a server: where it is by default, and where its API is.


HOST = "127.0.0.1"
PORT = 8008
API = "/api/v1"


def base_url(host: str = HOST, port: int = PORT) -> str:
    """The URL of a server, without a slash at the end.

    >>> base_url(), base_url("::1", 80)
    ('http://127.0.0.1:8008', 'http://[::1]:80')
    """
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def api_url(server: str, path: str = "") -> str:
    """The URL of something in the API of a server.

    >>> api_url("https://example.org/", "/bots/7/connect")
    'https://example.org/api/v1/bots/7/connect'
    """
    return f"{server.rstrip('/')}{API}{path}"


def websocket_url(url: str) -> str:
    """The same URL for a WebSocket; one that is for a WebSocket already stays.

    >>> websocket_url("https://example.org/x"), websocket_url("ws://example.org")
    ('wss://example.org/x', 'ws://example.org')
    """
    return url.replace("http", "ws", 1) if url.startswith("http") else url


# The user's files. A server on this machine writes the token of its owner to one that only its user can read.


def data_folder() -> Path:
    """XDG_DATA_HOME/ludodrome, by default in ~/.local/share. Raises OSError if the user has no home."""
    base = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(base):  # the XDG specification ignores relative paths
        return Path(base) / "ludodrome"
    try:
        return Path.home() / ".local" / "share" / "ludodrome"
    except RuntimeError as error:
        raise OSError(str(error)) from error


def owner_token_file(port: int) -> Path:
    """The file with the token of the owner of the server at a port of this machine. Raises OSError without a home."""
    return data_folder() / f"server-{port}.token"


def owner_token(url: str) -> str | None:
    """The token of the user's own server at this URL; None if it is elsewhere, or if there is no token."""
    with suppress(OSError, ValueError):
        parts = urlsplit(url)
        if parts.hostname is not None and (parts.hostname == "localhost" or is_loopback(parts.hostname)):
            return owner_token_file(parts.port or 80).read_text("ascii").strip() or None
    return None
