"""The tables of the league: bots and their versions, events, matches, finished games, ratings.

Times are whole milliseconds of universal time since 1970. What is asked and written is in ``league*.py``.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from ludodrome.store.models import Base

BUILTIN, UPLOADED, REMOTE = ("builtin", "uploaded", "remote")
LADDER, CHALLENGE, TOURNAMENT = ("ladder", "challenge", "tournament")
QUEUED, PLAYING, DONE, DROPPED = ("queued", "playing", "done", "dropped")


class BotRow(Base):
    """A bot of the league. Its versions may change; what it is called and its games stay."""

    __tablename__ = "league_bots"
    __table_args__ = (UniqueConstraint("game", "key", name="league_bots_game_key"),)

    id: Mapped[str] = mapped_column(String(24), primary_key=True)
    game: Mapped[str] = mapped_column(String(40))
    owner: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"), index=True)
    """The account that entered it; none for built-ins."""
    name: Mapped[str] = mapped_column(String(40))
    key: Mapped[str] = mapped_column(String(120))
    """The name without what looks alike: no two bots of a game have it in common."""
    kind: Mapped[str] = mapped_column(String(10))
    spec: Mapped[str] = mapped_column(String(200))
    """What sits down when it plays: a built-in's spec, ``uploaded:<version>``, ``remote:<bot>``."""
    token: Mapped[str | None] = mapped_column(String(64), index=True)
    """Of a remote bot: the digest of its token."""
    created: Mapped[int] = mapped_column(BigInteger)
    retired: Mapped[int | None] = mapped_column(BigInteger)
    banned: Mapped[bool] = mapped_column(Boolean, default=False)


class BotVersionRow(Base):
    """The source of an uploaded bot."""

    __tablename__ = "league_versions"
    __table_args__ = (UniqueConstraint("bot", "number", name="league_versions_bot_number"),)

    id: Mapped[str] = mapped_column(String(24), primary_key=True)
    bot: Mapped[str] = mapped_column(ForeignKey("league_bots.id", ondelete="CASCADE"))
    number: Mapped[int] = mapped_column(Integer)
    source: Mapped[str] = mapped_column(Text)
    size: Mapped[int] = mapped_column(Integer)
    """Bytes of the source."""
    findings: Mapped[list[Any]]
    """What the doctor said of it."""
    created: Mapped[int] = mapped_column(BigInteger)


class EventRow(Base):
    """Something with several games that was asked for: a challenge or a tournament, with its whole plan."""

    __tablename__ = "league_events"

    id: Mapped[str] = mapped_column(String(24), primary_key=True)
    game: Mapped[str] = mapped_column(String(40), index=True)
    why: Mapped[str] = mapped_column(String(10))
    name: Mapped[str] = mapped_column(String(60))
    plan: Mapped[dict[str, Any]]
    bots: Mapped[dict[str, Any]]
    """The ids of its bots by their names in the plan."""
    games: Mapped[int] = mapped_column(Integer)
    """How many it has."""
    pace_ms: Mapped[int] = mapped_column(Integer)
    """What is left between two moves, for people who watch."""
    asked_by: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    status: Mapped[str] = mapped_column(String(10), index=True)
    created: Mapped[int] = mapped_column(BigInteger)
    trouble: Mapped[str] = mapped_column(String(300), default="")
    """Why it was dropped."""


class MatchRow(Base):
    """One game that is to be played, is being played, or was. Its id is the match id of the record."""

    __tablename__ = "league_matches"
    __table_args__ = (
        Index("league_matches_status", "status", "game"),
        Index("league_matches_event", "event", "number"),
    )

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    game: Mapped[str] = mapped_column(String(40))
    why: Mapped[str] = mapped_column(String(10))
    event: Mapped[str | None] = mapped_column(ForeignKey("league_events.id", ondelete="CASCADE"))
    number: Mapped[int] = mapped_column(Integer, default=0)
    """Which game of its event it is."""
    assignment: Mapped[dict[str, Any]]
    status: Mapped[str] = mapped_column(String(10))
    queued: Mapped[int] = mapped_column(BigInteger)
    begun: Mapped[int | None] = mapped_column(BigInteger)
    ended: Mapped[int | None] = mapped_column(BigInteger)
    runner: Mapped[str | None] = mapped_column(String(40))
    """Who plays it ..."""
    lease: Mapped[int | None] = mapped_column(BigInteger)
    """... and until when nobody else may, unless it is renewed."""
    tries: Mapped[int] = mapped_column(Integer, default=0)
    """How often it was begun."""


class MatchSeatRow(Base):
    """Which bot sits where in a match."""

    __tablename__ = "league_sittings"
    __table_args__ = (Index("league_sittings_bot", "bot", "match"),)

    match: Mapped[str] = mapped_column(ForeignKey("league_matches.id", ondelete="CASCADE"), primary_key=True)
    seat: Mapped[int] = mapped_column(Integer, primary_key=True)
    bot: Mapped[str] = mapped_column(ForeignKey("league_bots.id", ondelete="CASCADE"))


class LiveMatchRow(Base):
    """How a match stands that is being played: what spectators see. Gone when it is over."""

    __tablename__ = "league_live"

    match: Mapped[str] = mapped_column(ForeignKey("league_matches.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(Integer)
    view: Mapped[dict[str, Any]]


class FinishedGameRow(Base):
    """A game that was played, with its record. The match is its key: nothing counts twice."""

    __tablename__ = "league_games"
    __table_args__ = (UniqueConstraint("game", "place", name="league_games_game_place"),)

    match: Mapped[str] = mapped_column(ForeignKey("league_matches.id", ondelete="CASCADE"), primary_key=True)
    game: Mapped[str] = mapped_column(String(40))
    place: Mapped[int | None] = mapped_column(Integer)
    """The order in which rated games of the ladder changed the ratings; none if it did not."""
    counted: Mapped[dict[str, Any]]
    """What tables and ratings need of it."""
    record: Mapped[bytes] = mapped_column(LargeBinary)
    """All of it: JSON, compressed by zlib."""
    ended: Mapped[int] = mapped_column(BigInteger, index=True)


class LadderRow(Base):
    """The ladder of a game: how many games have counted. Whoever rates a game changes this row first."""

    __tablename__ = "league_ladders"

    game: Mapped[str] = mapped_column(String(40), primary_key=True)
    games: Mapped[int] = mapped_column(Integer, default=0)


class RatingRow(Base):
    """What the ladder believes of a bot."""

    __tablename__ = "league_ratings"

    bot: Mapped[str] = mapped_column(ForeignKey("league_bots.id", ondelete="CASCADE"), primary_key=True)
    mu: Mapped[float] = mapped_column(Float)
    sigma: Mapped[float] = mapped_column(Float)
    games: Mapped[int] = mapped_column(Integer)
    wins: Mapped[int] = mapped_column(Integer)
    draws: Mapped[int] = mapped_column(Integer)
    losses: Mapped[int] = mapped_column(Integer)
    verdicts: Mapped[dict[str, Any]]
    """How often each cause was found against it."""


class HeadToHeadRow(Base):
    """How the rated games of two bots ended, with the first named in the first seat: all that an exact rating needs."""

    __tablename__ = "league_pairs"

    first: Mapped[str] = mapped_column(ForeignKey("league_bots.id", ondelete="CASCADE"), primary_key=True)
    second: Mapped[str] = mapped_column(ForeignKey("league_bots.id", ondelete="CASCADE"), primary_key=True, index=True)
    game: Mapped[str] = mapped_column(String(40), index=True)
    wins: Mapped[int] = mapped_column(Integer)
    """Of the first."""
    draws: Mapped[int] = mapped_column(Integer)
    losses: Mapped[int] = mapped_column(Integer)


class RatingStepRow(Base):
    """A point of a bot's history: what was believed of it after the game of that place."""

    __tablename__ = "league_steps"

    bot: Mapped[str] = mapped_column(ForeignKey("league_bots.id", ondelete="CASCADE"), primary_key=True)
    place: Mapped[int] = mapped_column(Integer, primary_key=True)
    mu: Mapped[float] = mapped_column(Float)
    sigma: Mapped[float] = mapped_column(Float)


class PresenceRow(Base):
    """A remote bot that is connected: where its relay is, and when it was last seen."""

    __tablename__ = "league_presences"

    bot: Mapped[str] = mapped_column(ForeignKey("league_bots.id", ondelete="CASCADE"), primary_key=True)
    address: Mapped[str] = mapped_column(String(200))
    """Of the web process that holds its connection ..."""
    secret: Mapped[str] = mapped_column(String(64))
    """... and what opens the relay there."""
    seen: Mapped[int] = mapped_column(BigInteger)


class RunnerRow(Base):
    """A process that plays matches: for /health, and for the page that says why nothing is played."""

    __tablename__ = "league_runners"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    ladder: Mapped[str] = mapped_column(String(10))
    workers: Mapped[int] = mapped_column(Integer)
    word: Mapped[str] = mapped_column(String(200))
    """What it is doing, or why it does nothing."""
    seen: Mapped[int] = mapped_column(BigInteger)
