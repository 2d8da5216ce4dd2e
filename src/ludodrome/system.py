"""Facts about the machine: usable cores, and addresses that belong to it."""

import ipaddress
import os
from functools import lru_cache


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
