"""Secrets, and every random number of a match as a keyed hash (HMAC-SHA-256) of one: nobody can compute it without.

A match, an event or a ladder pair has one secret. The seeds of its rounds, openings, initial positions and seats each
have a purpose of their own, so that one of them reveals nothing about the secret or about another.
"""

import hashlib
import hmac
import secrets

SECRET_BITS = 128
WORD_BITS = 64
SEAT_BITS = 53
"""A bot's seed fits the numbers of every JSON reader."""


def new_secret() -> int:
    """A secret that nobody can guess."""
    return secrets.randbits(SECRET_BITS)


def derived(secret: int, purpose: str, bits: int = SECRET_BITS) -> int:
    """The number of a purpose: as many bits of its keyed hash as asked for, at most 256."""
    digest = hmac.digest(str(secret).encode(), f"ludodrome {purpose}".encode(), "sha256")
    return int.from_bytes(digest) >> (8 * len(digest) - bits)


def round_seed(secret: int, number: int) -> int:
    """The seed of all games of a round: they share its opening and its initial position."""
    return derived(secret, f"round {number}")


def opening_seed(seed: int) -> int:
    """The seed from which the opening of a round is drawn, given the seed of the round."""
    return derived(seed, "opening", WORD_BITS)


def position_seed(seed: int) -> int:
    """The seed of the initial position of a game."""
    return derived(seed, "position", WORD_BITS)


def seat_seed(seed: int, game: int, seat: int) -> int:
    """The seed of a seat, given to its bot."""
    return derived(seed, f"seat {seat} of game {game}", SEAT_BITS)


def commitment(seed: int) -> str:
    """A hash that binds a record to its seed without revealing it."""
    return hashlib.sha256(f"ludodrome seed {seed}".encode()).hexdigest()


def opening_order(secret: int, lap: int, size: int) -> list[int]:
    """The order in which a match uses the openings of a book, by number; every lap through the book has its own."""
    keys = [derived(secret, f"opening {number} of lap {lap}", WORD_BITS) for number in range(size)]
    return sorted(range(size), key=keys.__getitem__)
