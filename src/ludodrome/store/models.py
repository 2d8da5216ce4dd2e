"""The tables. Every value that is not asked for by a query is kept as JSON.

``SCHEMA`` is raised when a table changes; what an older or a newer program wrote is refused, see ``database.py``.
"""

from typing import Any

from sqlalchemy import JSON, ForeignKey, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

SCHEMA = 1


class Base(DeclarativeBase):
    """The base of all tables."""

    type_annotation_map = {dict[str, Any]: JSON, list[Any]: JSON}  # noqa: RUF012 (so SQLAlchemy wants it)


class Setting(Base):
    """Facts about the database itself."""

    __tablename__ = "settings"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[str] = mapped_column(String(200))


class Tournament(Base):
    """A tournament, as it was planned."""

    __tablename__ = "tournaments"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(60), unique=True)
    plan: Mapped[dict[str, Any]]
    begun: Mapped[str] = mapped_column(String(40))
    """When, in universal time."""


class Opening(Base):
    """The moves of an opening of one game of a tournament: drawn once."""

    __tablename__ = "openings"

    tournament_id: Mapped[int] = mapped_column(ForeignKey("tournaments.id", ondelete="CASCADE"), primary_key=True)
    discipline: Mapped[str] = mapped_column(String(60), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    moves: Mapped[list[Any]]


class Game(Base):
    """A game that was played. The match id is unique in its tournament: no game counts twice."""

    __tablename__ = "games"
    __table_args__ = (UniqueConstraint("tournament_id", "match"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    tournament_id: Mapped[int] = mapped_column(ForeignKey("tournaments.id", ondelete="CASCADE"))
    match: Mapped[str] = mapped_column(String(40))
    discipline: Mapped[str] = mapped_column(String(60))
    rated: Mapped[bool]
    counted: Mapped[dict[str, Any]]
    """What tables and ratings need of it."""
    record: Mapped[bytes] = mapped_column(LargeBinary)
    """All of it: JSON, compressed by zlib."""
    finished: Mapped[str] = mapped_column(String(40))
