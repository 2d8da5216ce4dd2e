"""Authentication and authorisation: who may call a route; password hashing, second factors, known browsers.

``caller``: anybody; ``may_begin``: who may begin games; ``signed_in``: accounts; ``scoped("bots")``: sessions and
tokens with a scope; ``administrator``. They work for WebSockets too.

In local mode only this machine can connect, in lan mode others too. The owner proves it (``owner.py``) and is the
account ``local`` with all rights; everybody else is a guest. In hosted mode people sign in; the session is a cookie. A
program sends ``Authorization: Bearer lud_...``.

Whoever holds a WebSocket or a stream must stay who they were: ``OpenSockets`` ends it when their session, token or bot
is no longer valid.
"""

import base64
import hashlib
import hmac
import secrets
import struct
import threading
import time
import unicodedata
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, NoReturn
from urllib.parse import quote

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError
from fastapi import Depends, HTTPException
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import WebSocketException
from starlette.requests import HTTPConnection

from ludodrome import system
from ludodrome.store import announcements
from ludodrome.store.accounts import ACCOUNT, ADMIN, BOTS, PLAY, Identity, session_of, token_of
from ludodrome.store.models import LOCAL
from ludodrome.web.concurrency import POLICY_VIOLATION, hold
from ludodrome.web.owner import OwnerProof, is_owner_token

Mode = Literal["local", "lan", "hosted"]
MODES: tuple[Mode, ...] = ("local", "lan", "hosted")
COOKIE = "ludodrome-session"
SECURE_COOKIE = "__Host-ludodrome-session"
"""Over https: browsers accept a cookie of this name only from the host itself, over https."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request."""

    account: str | None
    """The id of the account; None if not signed in."""
    name: str
    admin: bool
    """Whether the caller has the rights of an administrator."""
    scopes: frozenset[str]
    sign_in: str | None = None
    """The id of the session, if there is one."""
    token: str | None = None
    """The id of the token, if there is one."""


OWNER = Caller(LOCAL, "You", True, frozenset({PLAY, BOTS, ADMIN, ACCOUNT}))
GUEST = Caller(None, "guest", False, frozenset())


async def caller(connection: HTTPConnection) -> Caller:
    """The caller. An invalid token is refused; an expired session makes a guest."""
    known = getattr(connection.state, "caller", None)
    if isinstance(known, Caller):
        return known
    begun = time.monotonic()
    found = await _find(connection)
    connection.state.caller = found
    keys = ((announcements.ACCOUNT, found.account), (announcements.TOKEN, found.token))

    async def same() -> bool:
        try:
            return await _find(connection) == found
        except (HTTPException, WebSocketException):
            return False

    hold(connection, frozenset((topic, name) for topic, name in keys if name is not None), same, begun)
    return found


async def _find(connection: HTTPConnection) -> Caller:
    state = connection.app.state
    shown = connection.headers.get("authorization")
    kind, _, secret = (shown or "").partition(" ")
    stale = state.mode != "hosted" and is_owner_token(secret.strip())  # if wrong: of a server that has ended
    if shown is not None and not stale:
        known = await run_in_threadpool(token_of, state.engine, secret.strip()) if kind.lower() == "bearer" else None
        if known is None:
            _refuse(connection, 401, "the token is not valid: it was revoked or mistyped")
        return _caller(known)
    if state.mode != "hosted":
        proof: OwnerProof = state.owner
        owner = proof.is_given(connection)
        connection.state.unproven = not owner and is_local_request(connection)
        return OWNER if owner else GUEST
    cookie = connection.cookies.get(SECURE_COOKIE if is_secure(connection) else COOKIE)
    known = await run_in_threadpool(session_of, state.engine, cookie) if cookie else None
    return GUEST if known is None else _caller(known)


Anybody = Annotated[Caller, Depends(caller)]


async def may_begin(connection: HTTPConnection, who: Anybody) -> Caller:
    """A caller who may begin games: everybody, except guests of a server with an owner, who play by link."""
    if who.account is None and connection.app.state.mode != "hosted":
        _refuse(connection, 403, f"guests play by link; {owner_only(connection)}")
    if who.account is not None and PLAY not in who.scopes:
        _refuse(connection, 403, f"this token may not do that: it lacks the scope {PLAY}")
    return who


async def signed_in(connection: HTTPConnection, who: Anybody) -> Caller:
    """A caller with an account."""
    if who.account is None:
        hosted = connection.app.state.mode == "hosted"
        _refuse(connection, 401, "sign in first" if hosted else owner_only(connection))
    return who


def scoped(scope: str) -> Callable[..., Awaitable[Caller]]:
    """A caller whose session or token has a scope."""

    async def check(connection: HTTPConnection, who: Annotated[Caller, Depends(signed_in)]) -> Caller:
        if scope not in who.scopes:
            _refuse(connection, 403, f"this token may not do that: it lacks the scope {scope}")
        return who

    return check


async def administrator(connection: HTTPConnection, who: Annotated[Caller, Depends(signed_in)]) -> Caller:
    """Administrators."""
    if not who.admin:
        _refuse(connection, 403, "only administrators may do this")
    return who


SignedIn = Annotated[Caller, Depends(signed_in)]
MayBegin = Annotated[Caller, Depends(may_begin)]
Administrator = Annotated[Caller, Depends(administrator)]
BotsScope = Annotated[Caller, Depends(scoped(BOTS))]
AccountScope = Annotated[Caller, Depends(scoped(ACCOUNT))]


def owner_only(connection: HTTPConnection) -> str:
    """Why a guest of a server with an owner may not do something."""
    if not is_local_request(connection):
        return "only the owner of this server, at its machine, may do this"
    return "only the owner of this server may do this; if it is yours, open the address that `ludodrome serve` printed"


def is_local_request(connection: HTTPConnection) -> bool:
    """Whether the request comes from this machine."""
    client = connection.client
    return client is not None and system.is_loopback(client.host)


def is_secure(connection: HTTPConnection) -> bool:
    """Whether the request came over https."""
    return connection.url.scheme in ("https", "wss")


def _caller(known: Identity) -> Caller:
    """The caller of a session or token. Without the scope ``admin`` an administrator is none."""
    person = known.person
    return Caller(person.id, person.name, ADMIN in known.scopes, known.scopes, known.sign_in, known.token)


def _refuse(connection: HTTPConnection, status: int, sentence: str) -> NoReturn:
    headers: dict[str, Any] = {"www-authenticate": "Bearer"} if status == 401 else {}
    if connection.scope["type"] == "websocket":
        raise WebSocketException(POLICY_VIOLATION, sentence)
    raise HTTPException(status, sentence, headers)


# Passwords: read, hashed by Argon2id, verified. Nothing here stores them.
# A hash takes 64 MB and some 50 ms, by design; so only a few are made at once.


MIN_PASSWORD, MAX_PASSWORD = 10, 1000
MAX_HASHES = 2
_hasher = PasswordHasher()
_slots = threading.BoundedSemaphore(MAX_HASHES)


def hash_password(password: str) -> str:
    """The hash of a new password; ValueError if it is not acceptable."""
    read = _read(password)
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise ValueError(f"a password has {MIN_PASSWORD} to {MAX_PASSWORD} characters")
    if len(set(read)) < MIN_PASSWORD // 2:
        raise ValueError(f"a password has at least {MIN_PASSWORD // 2} different characters")
    with _slots:
        return _hasher.hash(read)


def verify_password(password: str, stored: str | None) -> bool:
    """Whether a password matches a hash. Without a hash it takes as long, so that timing does not reveal names."""
    try:
        read = _read(password[:MAX_PASSWORD])
    except ValueError:
        return False
    with _slots:
        try:
            _hasher.verify(_nobody() if stored is None else stored, read)
        except VerifyMismatchError:
            return False
        except (VerificationError, InvalidHashError):  # a damaged hash matches nothing
            return False
    return stored is not None


def needs_rehash(stored: str) -> bool:
    """Whether a hash was made with weaker parameters than today's."""
    return _hasher.check_needs_rehash(stored)


@cache
def _nobody() -> str:
    return _hasher.hash("the password of nobody")


def _read(password: str) -> str:
    """The normalised text: the same letters, however they were typed."""
    try:
        password.encode()
    except UnicodeEncodeError as error:
        raise ValueError("a password must be valid Unicode") from error
    if "\0" in password:
        raise ValueError("a password has no NUL character")
    return unicodedata.normalize("NFC", password)


# Second factors: codes that change every 30 seconds (RFC 6238, with SHA-1 and six digits, as all apps do), and recovery
# codes. The store sees to it that each is accepted once.


STEP_SECONDS = 30
CODE_DIGITS = 6
SECRET_BYTES = 20
RECOVERY_CODES, RECOVERY_BYTES = 10, 10
"""Recovery codes of 80 bits: too long to be guessed, so a plain digest suffices."""


def new_factor_secret() -> str:
    """A secret for an authenticator app, in base32."""
    return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode()


def factor_link(secret: str, name: str) -> str:
    """The link that adds a secret to an authenticator app."""
    return f"otpauth://totp/Ludodrome:{quote(name)}?secret={secret}&issuer=Ludodrome"


def totp(secret: str, step: int, digits: int = CODE_DIGITS) -> str:
    """The code of a time step.

    >>> totp("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 59 // 30)
    '287082'
    """
    mac = hmac.digest(base64.b32decode(secret), struct.pack(">Q", step), "sha1")
    at = mac[-1] & 15
    number = int.from_bytes(mac[at : at + 4], "big") & 0x7FFFFFFF
    return str(number % 10**digits).zfill(digits)


def matching_step(secret: str, code: str, seconds: float | None = None) -> int | None:
    """The time step whose code this is: the present one, or one before or after it; None if it is none of them."""
    now = int(time.time() if seconds is None else seconds) // STEP_SECONDS
    shown = "".join(code.split()).encode()
    found = [step for step in (now - 1, now, now + 1) if hmac.compare_digest(totp(secret, step).encode(), shown)]
    return found[-1] if found else None


def new_recovery_codes() -> list[str]:
    """Codes that replace the app, once each: ``abcd-efgh-ijkl-mnop``."""
    codes = (base64.b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode().lower() for _ in range(RECOVERY_CODES))
    return ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in codes]


def read_recovery_code(code: str) -> str:
    """A recovery code as it was shown, however it was typed."""
    plain = "".join(sign for sign in code.lower() if sign.isascii() and sign.isalnum())
    return "-".join(plain[at : at + 4] for at in range(0, len(plain), 4))


# Known browsers. A browser that has signed in to an account keeps a cookie that says so, also after signing out.
# Failures of others do not count against it, and its own count against it alone. A new password makes it unknown.


DEVICE_COOKIE, SECURE_DEVICE_COOKIE = "ludodrome-device", "__Secure-ludodrome-device"
DEVICE_BYTES = 9


def device_cookie_name(connection: HTTPConnection, account_id: str) -> str:
    """The cookie of a known browser of an account."""
    return f"{SECURE_DEVICE_COOKIE if is_secure(connection) else DEVICE_COOKIE}-{account_id}"


def new_device() -> str:
    """A random name for a browser."""
    return secrets.token_urlsafe(DEVICE_BYTES)


def sign_device(key: bytes, account_id: str, password_set: int, device: str) -> str:
    """The cookie of a browser that has signed in to an account since its password was set."""
    text = f"device {account_id} {password_set} {device}"
    return f"{device}.{hmac.new(key, text.encode(), hashlib.sha256).hexdigest()}"


def known_device(key: bytes, account_id: str, password_set: int, cookie: str) -> str | None:
    """The name of the browser of a cookie; None if the cookie was not made by ``sign_device`` from the same values."""
    device = cookie.partition(".")[0]
    real = sign_device(key, account_id, password_set, device)
    return device if hmac.compare_digest(cookie.encode("utf-8", "replace"), real.encode("utf-8", "replace")) else None
