"""The tables of the database. Times are milliseconds of universal time since 1970; values that no query needs are JSON.

A change of a table needs a migration: see ``migrations/``.
"""

import json
import time
import zlib
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

NAMES = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
"""Names of constraints: a named one can be changed later, in every database."""


def now_ms() -> int:
    """The current time in milliseconds since 1970, as every table holds times."""
    return time.time_ns() // 1_000_000


def iso_time(moment: int) -> str:
    """A time as text, to the second: 2026-01-01T00:00:00+00:00."""
    return datetime.fromtimestamp(moment // 1000, UTC).isoformat()


class Base(DeclarativeBase):
    """The base of all tables."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {dict[str, Any]: JSON, list[Any]: JSON}  # noqa: RUF012 (SQLAlchemy requires it)


class SettingRow(Base):
    """Facts about the database itself."""

    __tablename__ = "settings"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[str] = mapped_column(String(200))


class TournamentRow(Base):
    """A tournament and its plan."""

    __tablename__ = "tournaments"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(60), unique=True)
    plan: Mapped[dict[str, Any]]
    begun: Mapped[int] = mapped_column(BigInteger)


class OpeningRow(Base):
    """The moves of an opening of a tournament."""

    __tablename__ = "openings"

    tournament_id: Mapped[int] = mapped_column(ForeignKey("tournaments.id", ondelete="CASCADE"), primary_key=True)
    discipline: Mapped[str] = mapped_column(String(60), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    moves: Mapped[list[Any]]


class TournamentGameRow(Base):
    """A finished game of a tournament. The match id is unique in its tournament, so no game counts twice."""

    __tablename__ = "games"
    __table_args__ = (UniqueConstraint("tournament_id", "match"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    tournament_id: Mapped[int] = mapped_column(ForeignKey("tournaments.id", ondelete="CASCADE"))
    match: Mapped[str] = mapped_column(String(40))
    discipline: Mapped[str] = mapped_column(String(60))
    rated: Mapped[bool]
    counted: Mapped[dict[str, Any]]
    """Its result, as tables and ratings need it."""
    record: Mapped[bytes] = mapped_column(LargeBinary)
    """JSON, compressed by zlib."""
    finished: Mapped[int] = mapped_column(BigInteger)


# Accounts. Secrets are kept as digests only.


LOCAL = "local"
"""The account of the person at this machine; it owns everything made without signing in."""
ID_LENGTH = 12
"""Characters of an id: ``secrets.token_urlsafe(9)``."""
NAME_LENGTH = 30
FOLDED_LENGTH = 120
DIGEST_LENGTH = 64
LABEL_LENGTH, ADDRESS_LENGTH = 60, 60


class AccountRow(Base):
    """An account; ``local`` has no password and cannot sign in."""

    __tablename__ = "accounts"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    folded: Mapped[str] = mapped_column(String(FOLDED_LENGTH), unique=True)
    """The name for comparison, without case and encoding variants."""
    password: Mapped[str | None] = mapped_column(String(200))
    """An Argon2id hash."""
    password_set: Mapped[int] = mapped_column(BigInteger, default=0)
    password_once: Mapped[bool] = mapped_column(default=False)
    """Whether it must be replaced by a new one to sign in."""
    admin: Mapped[bool]
    banned: Mapped[bool]
    made: Mapped[int] = mapped_column(BigInteger)


class SignInRow(Base):
    """A signed-in browser."""

    __tablename__ = "sign_ins"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    digest: Mapped[str] = mapped_column(String(DIGEST_LENGTH), unique=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    browser: Mapped[str] = mapped_column(String(200))
    """Its user agent."""
    network: Mapped[str] = mapped_column(String(ADDRESS_LENGTH), default="")
    """The address it signed in from."""
    made: Mapped[int] = mapped_column(BigInteger)
    seen: Mapped[int] = mapped_column(BigInteger)
    ends: Mapped[int] = mapped_column(BigInteger)


class TokenRow(Base):
    """An API token with scopes."""

    __tablename__ = "tokens"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    digest: Mapped[str] = mapped_column(String(DIGEST_LENGTH), unique=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    label: Mapped[str] = mapped_column(String(LABEL_LENGTH))
    scopes: Mapped[list[Any]]
    made: Mapped[int] = mapped_column(BigInteger)
    used: Mapped[int | None] = mapped_column(BigInteger)


class SecondFactorRow(Base):
    """A second factor, on once it is confirmed; the time step of its last code; digests of recovery codes."""

    __tablename__ = "second_factors"

    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    secret: Mapped[str] = mapped_column(String(64))
    made: Mapped[int] = mapped_column(BigInteger)
    confirmed: Mapped[bool]
    step: Mapped[int] = mapped_column(BigInteger)
    recovery: Mapped[list[Any]]


class AuditRow(Base):
    """An entry of the audit log. It refers to accounts and bots that may be gone, so it keeps their names."""

    __tablename__ = "audit_log"
    __table_args__ = (Index("audit_log_action", "action", "at"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[int] = mapped_column(BigInteger, index=True)
    actor_id: Mapped[str | None] = mapped_column(String(ID_LENGTH), index=True)
    actor: Mapped[str] = mapped_column(String(LABEL_LENGTH))
    action: Mapped[str] = mapped_column(String(40))
    subject_id: Mapped[str] = mapped_column(String(24), index=True)
    subject: Mapped[str] = mapped_column(String(LABEL_LENGTH))
    details: Mapped[dict[str, Any]]
    address: Mapped[str] = mapped_column(String(ADDRESS_LENGTH))


class SolvedPuzzleRow(Base):
    """A solved puzzle."""

    __tablename__ = "solved_puzzles"

    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    puzzle: Mapped[str] = mapped_column(String(40), primary_key=True)


# Games that people play. Events are never changed: a move taken back stays, followed by the event that took it back.


LINK_LENGTH = 32


class PlayRow(Base):
    """A game started on the page."""

    __tablename__ = "plays"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    owner_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id", ondelete="SET NULL"), index=True)
    """The account that started it; null without sign-in."""
    digest: Mapped[str | None] = mapped_column(String(DIGEST_LENGTH))
    """Digest of the key of an owner without an account."""
    game: Mapped[str] = mapped_column(String(40))
    assignment: Mapped[dict[str, Any]]
    kinds: Mapped[list[Any]]
    """By seat: person, friend or bot."""
    begun: Mapped[int] = mapped_column(BigInteger)
    finished: Mapped[int | None] = mapped_column(BigInteger)
    result: Mapped[dict[str, Any] | None]
    record: Mapped[bytes | None] = mapped_column(LargeBinary)
    """JSON, compressed by zlib; null until it is over."""


class PlaySeatRow(Base):
    """A seat offered by a link."""

    __tablename__ = "play_seats"

    play_id: Mapped[str] = mapped_column(ForeignKey("plays.id", ondelete="CASCADE"), primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    link: Mapped[str | None] = mapped_column(String(LINK_LENGTH), unique=True)
    """The secret of the link; null once the seat is taken."""
    digest: Mapped[str | None] = mapped_column(String(DIGEST_LENGTH))
    """Digest of the key of the player who took it."""
    name: Mapped[str | None] = mapped_column(String(NAME_LENGTH))


class PlayEventRow(Base):
    """An event of a game. Its number is unique, so two processes cannot both continue one game."""

    __tablename__ = "play_events"

    play_id: Mapped[str] = mapped_column(ForeignKey("plays.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(10))
    """move, undo, resign, flag, broken or join."""
    content: Mapped[dict[str, Any]]
    at: Mapped[int] = mapped_column(BigInteger)


class AnnouncementRow(Base):
    """A change that web processes tell each other, in SQLite. Numbers are never used twice."""

    __tablename__ = "announcements"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(primary_key=True)
    topic: Mapped[str] = mapped_column(String(20))
    subject: Mapped[str] = mapped_column(String(60))
    at: Mapped[int] = mapped_column(BigInteger)


class CacheEntryRow(Base):
    """An entry of a cache that several web processes share."""

    __tablename__ = "cache_entries"
    __table_args__ = (Index("cache_entries_used", "kind", "used"),)

    kind: Mapped[str] = mapped_column(String(20), primary_key=True)
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)
    """JSON, compressed by zlib."""
    written: Mapped[int] = mapped_column(BigInteger)
    owner: Mapped[str | None] = mapped_column(String(160))
    """The caller whose share it uses; null without a limit."""
    used: Mapped[int] = mapped_column(BigInteger)


# What callers of several web processes have used. A single process counts in its memory.


class BudgetLevelRow(Base):
    """How full the leaky bucket of a caller was at a moment, over all web processes."""

    __tablename__ = "budget_levels"

    kind: Mapped[str] = mapped_column(String(20), primary_key=True)
    caller: Mapped[str] = mapped_column(String(160), primary_key=True)
    level: Mapped[float] = mapped_column(Float)
    at: Mapped[int] = mapped_column(BigInteger, index=True)


class BudgetOpenRow(Base):
    """What a caller has open at one web process: connections, streams, searches."""

    __tablename__ = "budget_open"

    process: Mapped[str] = mapped_column(String(40), primary_key=True)
    kind: Mapped[str] = mapped_column(String(20), primary_key=True)
    caller: Mapped[str] = mapped_column(String(160), primary_key=True)
    open: Mapped[int] = mapped_column(Integer)
    at: Mapped[int] = mapped_column(BigInteger, index=True)
    """When the process last confirmed it: the rows of a dead process expire."""


# Records as they are kept in a column: JSON, compressed.


def packed(record: Any) -> bytes:
    """A record as stored bytes."""
    return zlib.compress(json.dumps(record, separators=(",", ":")).encode())


def unpacked(content: bytes) -> dict[str, Any]:
    """The record of stored bytes."""
    record: dict[str, Any] = json.loads(zlib.decompress(content))
    return record
