"""Attacks over the network: TCP, UDP, unix sockets by path and by name, raw packets, the kernel's own sockets."""

import ctypes
import os
import socket
from typing import Any

from ludodrome.arena.sandbox.attacks.runner import call, refusals

Given = dict[str, Any]
SECONDS = 2.0


def _connected(family: int, kind: int, address: Any) -> str:
    with socket.socket(family, kind) as made:
        made.settimeout(SECONDS)
        made.connect(address)
        return "connected"


def tcp(given: Given) -> str | None:
    """Connects to a server on this machine."""
    return refusals(
        {
            "loopback": lambda: _connected(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", given["tcp"])),
            "loopback of version 6": lambda: _connected(socket.AF_INET6, socket.SOCK_STREAM, ("::1", given["tcp"])),
        }
    )


def tcp_listening(given: Given) -> str | None:
    """Opens a port and waits for others."""

    def listen() -> int:
        with socket.socket() as made:
            made.bind(("127.0.0.1", 0))
            made.listen()
            return int(made.getsockname()[1])

    return refusals({"listen": listen})


def udp(given: Given) -> str | None:
    """Sends a packet, as a query of names would."""

    def send() -> int:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
            return made.sendto(b"x", ("127.0.0.1", given["udp"]))

    return refusals({"send": send, "look up": lambda: socket.getaddrinfo("localhost", 80)})


def unix_by_path(given: Given) -> str | None:
    """Connects to a socket in the tree of files, as that of a database or of Docker."""
    return refusals({"connect": lambda: _connected(socket.AF_UNIX, socket.SOCK_STREAM, given["unix"])})


def unix_by_name(given: Given) -> str | None:
    """Connects to a socket that has a name and no file."""
    name = "\0" + given["abstract"]
    return refusals({"connect": lambda: _connected(socket.AF_UNIX, socket.SOCK_STREAM, name)})


def pairs(given: Given) -> str | None:
    """Makes a pair of sockets."""

    def pair() -> str:
        one, other = socket.socketpair()
        one.close()
        other.close()
        return "made"

    return refusals({"pair": pair})


def raw(given: Given) -> str | None:
    """Opens raw, packet, netlink, vsock and crypto sockets."""
    families = {
        "raw": (2, 3, 1),
        "packet": (17, 3, 3),
        "netlink": (16, 3, 0),
        "vsock": (40, 1, 0),
        "crypto": (38, 5, 0),
    }

    def make(family: int, kind: int, protocol: int) -> str:
        socket.socket(family, kind, protocol).close()
        return "made"

    return refusals({name: lambda numbers=numbers: make(*numbers) for name, numbers in families.items()})


def io_uring(given: Given) -> str | None:
    """Sets up io_uring, which would do everything past the filter."""
    parameters = ctypes.create_string_buffer(120)

    def setup() -> str:
        os.close(call(425, 1, parameters))
        return "made"

    return refusals({"setup": setup})
