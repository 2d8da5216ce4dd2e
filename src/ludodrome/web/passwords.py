"""Passwords: read, hashed by Argon2id, verified. Nothing here stores them.

A hash takes 64 MB and some 50 ms, by design; so few are made at once, whoever asks.
"""

import threading
import unicodedata
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError

SHORTEST, LONGEST = 10, 1000
AT_ONCE = 2
_hasher = PasswordHasher()
_desks = threading.BoundedSemaphore(AT_ONCE)


def hashed(password: str) -> str:
    """A new password as it is stored; ValueError if it cannot be one."""
    read = _read(password)
    if not SHORTEST <= len(password) <= LONGEST:
        raise ValueError(f"a password has {SHORTEST} to {LONGEST} characters")
    if len(set(read)) < SHORTEST // 2:
        raise ValueError(f"a password has at least {SHORTEST // 2} different characters")
    with _desks:
        return _hasher.hash(read)


def fits(password: str, stored: str | None) -> bool:
    """Whether it is the password. Without an account it takes as long, so that nobody learns which names there are."""
    try:
        read = _read(password[:LONGEST])
    except ValueError:
        return False
    with _desks:
        try:
            _hasher.verify(_nobody() if stored is None else stored, read)
        except VerifyMismatchError:
            return False
        except (VerificationError, InvalidHashError):  # a hash that somebody has damaged fits nothing
            return False
    return stored is not None


def is_outdated(stored: str) -> bool:
    """Whether it was hashed with less effort than is usual now."""
    return _hasher.check_needs_rehash(stored)


@cache
def _nobody() -> str:
    return _hasher.hash("the password of nobody")


def _read(password: str) -> str:
    """The same letters as the same text, however they were typed."""
    try:
        password.encode()
    except UnicodeEncodeError as error:
        raise ValueError("a password is made of whole characters") from error
    if "\0" in password:
        raise ValueError("a password is made of characters that can be typed")
    return unicodedata.normalize("NFC", password)
