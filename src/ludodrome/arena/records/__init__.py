"""Records of games: one JSON object a game, which can be verified, replayed, searched and exported."""

from ludodrome.arena.records.format import (
    SUFFIX,
    BadRecord,
    comparable,
    digest,
    from_text,
    read,
    stored_answer,
    to_text,
    write,
)
from ludodrome.arena.records.verification import verify

__all__ = [
    "SUFFIX",
    "BadRecord",
    "comparable",
    "digest",
    "from_text",
    "read",
    "stored_answer",
    "to_text",
    "verify",
    "write",
]
