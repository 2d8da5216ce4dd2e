"""Proof that a caller on this machine is the owner of the server: a token, or the uid at the other end.

All users of a machine share its loopback addresses, so an address proves nothing. ``serve`` makes a token at each
start, prints it in its address, and writes it to a file that only its user can read. A browser keeps a cookie that is
derived from it. Where Linux tells the uid of the process at the other end of a connection, the server's own user needs
no token. Another uid, root included, does.
"""

import hashlib
import hmac
import html
import os
import secrets
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ludodrome.atomic_io import PRIVATE, write_whole
from ludodrome.system import API, is_loopback, owner_token_file

PREFIX = "owner_"
"""The tokens of owners begin with this; those of accounts with ``lud_``."""
TOKEN_BYTES = 32
TOKEN = "token"
"""The query parameter of the token."""
COOKIE = "ludodrome-owner"
"""The cookie's name, before the port: browsers send a cookie to every port of a host."""
CONNECTION = "ludodrome.connection"
"""Key of a scope: a dictionary of facts that lives as long as the TCP connection."""
FORWARDING = ("forwarded", "via", "x-forwarded-for", "x-real-ip")
"""Headers of proxies. The uid of a proxy says nothing about its clients."""
SEE_OTHER = 303
UNKNOWN = -1


class OwnerProof:
    """What proves that a caller is the owner. ``by_uid``: whether the server's own uid does."""

    def __init__(self, token: str | None = None, *, by_uid: bool = True) -> None:
        self.token = token or f"{PREFIX}{secrets.token_urlsafe(TOKEN_BYTES)}"
        self._uid = own_uid() if by_uid else None

    def is_given(self, connection: HTTPConnection) -> bool:
        """Whether a request or a WebSocket proves that it comes from the owner, who is at this machine."""
        if connection.client is None or not is_loopback(connection.client.host):
            return False
        kind, _, secret = connection.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self.is_token(secret.strip()):
            return True
        uid = peer_uid(connection.scope)
        cookie = connection.cookies.get(cookie_name(connection.scope))
        if cookie is not None and _same(cookie, self.cookie(uid)):
            return True
        forwarded = any(name in connection.headers for name in FORWARDING)
        return self._uid is not None and uid == self._uid and not forwarded

    def is_token(self, text: str) -> bool:
        """Whether a text is the token."""
        return _same(text, self.token)

    def cookie(self, uid: int | None) -> str:
        """The cookie of the browsers of a uid.

        Browsers send it to servers of other users too, on other ports: it does not contain the token, and does not
        work for another uid.
        """
        name = f"browser of uid {UNKNOWN if uid is None else uid}"
        return hmac.new(self.token.encode(), name.encode(), hashlib.sha256).hexdigest()

    def write_file(self, port: int) -> Path:
        """Write the token to a file that only this user can read, for programs. Raises OSError."""
        return _write_private(owner_token_file(port), f"{self.token}\n")

    def address_to_open(self, page: str, port: int) -> str:
        """The address with which to start a browser that the owner can use at once. Raises OSError.

        Everybody can read the command line of a browser, so the token is not in it. Without uids, the address is that
        of a file that only this user can read, and that leads to the page with the token.
        """
        if self._uid is not None:
            return page
        address = html.escape(f"{page}?{TOKEN}={self.token}")
        return _write_private(_opening_file(port), OPENING.format(address=address)).as_uri()

    def remove_files(self, port: int) -> None:
        """Remove the files with the token, unless another server has replaced them."""
        for file in (owner_token_file(port), _opening_file(port)):
            with suppress(OSError):
                if self.token in file.read_text("ascii"):
                    file.unlink()


OPENING = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}"><title>Ludodrome</title></head>
<body><a href="{address}">Ludodrome</a></body></html>
"""


def _opening_file(port: int) -> Path:
    return owner_token_file(port).with_suffix(".html")


def _write_private(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, text.encode(), mode=PRIVATE)
    return file


def is_owner_token(text: str) -> bool:
    """Whether a text has the form of an owner's token, of this server or of another one."""
    return text.startswith(PREFIX)


def cookie_name(scope: Scope) -> str:
    """The name of the owner's cookie at this port."""
    server = scope.get("server")
    return f"{COOKIE}-{server[1] if server else 0}"


def _same(one: str, other: str) -> bool:
    """Compare secrets in constant time."""
    return secrets.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode())


class OwnerMiddleware:
    """Exchanges the token in the address of a page for a cookie, and takes it out of the address."""

    def __init__(self, app: ASGIApp, proof: OwnerProof) -> None:
        self._app = app
        self._proof = proof

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        answer = self._answer(scope) if scope["type"] == "http" and b"token=" in scope["query_string"] else None
        await (answer or self._app)(scope, receive, send)

    def _answer(self, scope: Scope) -> RedirectResponse | None:
        if scope["method"] not in ("GET", "HEAD") or scope["path"].startswith((f"{API}/", "/static/")):
            return None
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        shown = [value for name, value in asked if name == TOKEN and is_owner_token(value)]
        if not shown:
            return None
        rest = urlencode([(name, value) for name, value in asked if name != TOKEN or value not in shown])
        host, path = Headers(scope=scope).get("host", ""), scope["raw_path"].decode("ascii", "replace")
        # With the host: a path like //example.org/ alone would lead to another server.
        answer = RedirectResponse(f"{scope['scheme']}://{host}{path}{'?' if rest else ''}{rest}", SEE_OTHER)
        client = scope.get("client")
        if client is not None and is_loopback(client[0]) and any(map(self._proof.is_token, shown)):
            value = self._proof.cookie(peer_uid(scope))
            answer.set_cookie(cookie_name(scope), value, path="/", httponly=True, samesite="lax")
        return answer


# The uid of the process at the other end, from the kernel's table of sockets (man 7 sock_diag)


NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST = 1
ESTABLISHED = 1
HEADER = struct.Struct("=IHHII")
REQUEST = struct.Struct("=BBBBI")
PORTS = struct.Struct("!HH")
ADDRESS_BYTES = 16
ANY_INTERFACE_AND_COOKIE = b"\0" * 4 + b"\xff" * 8
FOUND = struct.Struct("=BBBB48xIIIII")
"""family, state, timer, retransmissions; the socket's addresses; expiry, queues, uid, inode."""
OVERFLOW_UID = Path("/proc/sys/kernel/overflowuid")


def own_uid() -> int | None:
    """The uid of this process, if the uids of connections can be compared with it; None if not."""
    if not hasattr(socket, "AF_NETLINK") or not hasattr(os, "geteuid"):
        return None
    try:  # all uids without a name in this user namespace look like this one
        nameless = int(OVERFLOW_UID.read_text())
    except (OSError, ValueError):
        return None
    return None if os.geteuid() == nameless else os.geteuid()


def peer_uid(scope: Scope) -> int | None:
    """The uid of the process on this machine at the other end of a connection; None if it cannot be known.

    Looked up once for a connection: its addresses belong to nobody else until the server closes it.
    """
    facts: dict[str, Any] = scope.get(CONNECTION, {})
    if "uid" not in facts:
        client, server = scope.get("client"), scope.get("server")
        facts["uid"] = uid_of_socket(client, server) if client and server and server[1] else None
    found: int | None = facts["uid"]
    return found


def uid_of_socket(local: tuple[str, int], remote: tuple[str, int]) -> int | None:
    """The uid that owns the open TCP socket with these addresses; None if there is none, or if it is being closed.

    The kernel may report a socket that is just being closed as root's. Such a socket is not established any more when
    it is asked for a second time.
    """
    try:
        first, second = _socket(local, remote), _socket(local, remote)
    except (OSError, ValueError, struct.error, AttributeError):
        return None
    return first[0] if first is not None and first == second else None


def _socket(local: tuple[str, int], remote: tuple[str, int]) -> tuple[int, int] | None:
    """Uid and inode of an established TCP socket."""
    family = socket.AF_INET6 if ":" in local[0] else socket.AF_INET
    ends = (socket.inet_pton(family, one[0]).ljust(ADDRESS_BYTES, b"\0") for one in (local, remote))
    which = PORTS.pack(local[1], remote[1]) + b"".join(ends) + ANY_INTERFACE_AND_COOKIE
    request = REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, 1 << ESTABLISHED) + which
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(1.0)  # the answer is there when ``send`` returns
        kernel.send(HEADER.pack(HEADER.size + len(request), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0) + request)
        answer, (sender, _) = kernel.recvfrom(4096)
    if sender or HEADER.unpack_from(answer)[1] != SOCK_DIAG_BY_FAMILY:  # the kernel itself sends as 0
        return None
    _, state, _, _, _, _, _, uid, inode = FOUND.unpack_from(answer, HEADER.size)
    return (uid, inode) if state == ESTABLISHED and inode else None
