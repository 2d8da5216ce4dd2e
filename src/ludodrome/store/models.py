"""The tables. Every value that is not asked for by a query is kept as JSON.

The tables of accounts, of the league and of people's games are in modules of their own, on the same ``Base``. When
a table changes, ``migrations/`` gets to know it.
"""

from typing import Any

from sqlalchemy import JSON, ForeignKey, LargeBinary, MetaData, String, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

NAMES = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
"""How constraints are called: what has a name can be changed later, on every database."""


class Base(DeclarativeBase):
    """The base of all tables."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {dict[str, Any]: JSON, list[Any]: JSON}  # noqa: RUF012 (so SQLAlchemy wants it)


class SettingRow(Base):
    """Facts about the database itself."""

    __tablename__ = "settings"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[str] = mapped_column(String(200))


class TournamentRow(Base):
    """A tournament, as it was planned."""

    __tablename__ = "tournaments"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(60), unique=True)
    plan: Mapped[dict[str, Any]]
    begun: Mapped[str] = mapped_column(String(40))
    """When, in universal time."""


class OpeningRow(Base):
    """The moves of an opening of one game of a tournament: drawn once."""

    __tablename__ = "openings"

    tournament_id: Mapped[int] = mapped_column(ForeignKey("tournaments.id", ondelete="CASCADE"), primary_key=True)
    discipline: Mapped[str] = mapped_column(String(60), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    moves: Mapped[list[Any]]


class TournamentGameRow(Base):
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
