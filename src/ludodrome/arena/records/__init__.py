"""Records of games: one JSON object a game, which can be verified, replayed, searched and exported."""

from ludodrome.arena.records.format import (
    SUFFIX,
    BadRecord,
    comparable,
    digest,
    first_state,
    from_text,
    is_withheld,
    private_parts,
    public,
    read,
    stored_answer,
    to_text,
    withheld,
    write,
)
from ludodrome.arena.records.verification import verify

__all__ = [
    "SUFFIX",
    "BadRecord",
    "comparable",
    "digest",
    "first_state",
    "from_text",
    "is_withheld",
    "private_parts",
    "public",
    "read",
    "stored_answer",
    "to_text",
    "verify",
    "withheld",
    "write",
]
