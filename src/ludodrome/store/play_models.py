"""The tables of people's games: how each was begun, who holds its seats, and every event in it, in order.

Nothing that happened is ever changed: a move that was taken back stays, followed by the event that took it back.
"""

from typing import Any

from sqlalchemy import BigInteger, ForeignKey, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from ludodrome.store.account_models import DIGEST_LENGTH, ID_LENGTH, NAME_LENGTH
from ludodrome.store.models import Base

LINK_LENGTH = 32


class PlayRow(Base):
    """A game that somebody began on the page. Times are milliseconds of universal time."""

    __tablename__ = "plays"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    owner_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id", ondelete="SET NULL"), index=True)
    """Whoever began it; null if nobody had signed in."""
    digest: Mapped[str | None] = mapped_column(String(DIGEST_LENGTH))
    """Of the key of an owner without an account."""
    game: Mapped[str] = mapped_column(String(40))
    assignment: Mapped[dict[str, Any]]
    kinds: Mapped[list[Any]]
    """By seat: person, friend or bot."""
    begun: Mapped[int] = mapped_column(BigInteger)
    finished: Mapped[int | None] = mapped_column(BigInteger)
    result: Mapped[dict[str, Any] | None]
    record: Mapped[bytes | None] = mapped_column(LargeBinary)
    """Once it is over: JSON, compressed by zlib."""


class PlaySeatRow(Base):
    """A seat that is given away by a link."""

    __tablename__ = "play_seats"

    play_id: Mapped[str] = mapped_column(ForeignKey("plays.id", ondelete="CASCADE"), primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    link: Mapped[str | None] = mapped_column(String(LINK_LENGTH), unique=True)
    """The secret of the link, until somebody has taken the seat."""
    digest: Mapped[str | None] = mapped_column(String(DIGEST_LENGTH))
    """Of the key of whoever took it."""
    name: Mapped[str | None] = mapped_column(String(NAME_LENGTH))


class PlayEventRow(Base):
    """Something that happened in a game. The number is unique: two programs cannot both go on with one game."""

    __tablename__ = "play_events"

    play_id: Mapped[str] = mapped_column(ForeignKey("plays.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(10))
    """move, undo, resign, flag, broken or join."""
    content: Mapped[dict[str, Any]]
    at: Mapped[int] = mapped_column(BigInteger)
