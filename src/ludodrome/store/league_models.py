"""The tables of the league: bots, events, matches, finished games, ratings. See ``models.py``."""

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
    """A bot of the league. Its versions change; its name and its games stay."""

    __tablename__ = "league_bots"
    __table_args__ = (UniqueConstraint("game", "key", name="league_bots_game_key"),)

    id: Mapped[str] = mapped_column(String(24), primary_key=True)
    game: Mapped[str] = mapped_column(String(40))
    owner: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"), index=True)
    """The account that entered it; null for built-ins."""
    name: Mapped[str] = mapped_column(String(40))
    key: Mapped[str] = mapped_column(String(120))
    """The name for comparison; unique in a game."""
    kind: Mapped[str] = mapped_column(String(10))
    spec: Mapped[str] = mapped_column(String(200))
    """The spec that plays: a built-in's, ``uploaded:<version>`` or ``remote:<bot>``."""
    token: Mapped[str | None] = mapped_column(String(64), index=True)
    """Digest of a remote bot's token."""
    created: Mapped[int] = mapped_column(BigInteger)
    retired: Mapped[int | None] = mapped_column(BigInteger)
    banned: Mapped[bool] = mapped_column(Boolean, default=False)
    version: Mapped[str] = mapped_column(String(24), default="")
    """The id of its current version."""
    failures: Mapped[int] = mapped_column(Integer, default=0)
    """Failed games in a row, up to the last one."""
    paused: Mapped[int | None] = mapped_column(BigInteger)
    """When it was paused because it kept failing; null if it is not paused."""
    paused_by: Mapped[str | None] = mapped_column(String(40))
    """The match that it failed last before it was paused."""


class BotVersionRow(Base):
    """A version of a bot, which is what the ladder rates. Those of uploaded bots have a source."""

    __tablename__ = "league_versions"
    __table_args__ = (UniqueConstraint("bot", "number", name="league_versions_bot_number"),)

    id: Mapped[str] = mapped_column(String(24), primary_key=True)
    bot: Mapped[str] = mapped_column(ForeignKey("league_bots.id", ondelete="CASCADE"))
    number: Mapped[int] = mapped_column(Integer)
    source: Mapped[str] = mapped_column(Text)
    size: Mapped[int] = mapped_column(Integer)
    """Bytes of the source."""
    findings: Mapped[list[Any]]
    """The doctor's findings."""
    created: Mapped[int] = mapped_column(BigInteger)
    identity: Mapped[str] = mapped_column(String(64), default="")
    """Hash of what runs; empty if it is not known."""


class EventRow(Base):
    """A requested challenge or tournament, with its plan."""

    __tablename__ = "league_events"

    id: Mapped[str] = mapped_column(String(24), primary_key=True)
    game: Mapped[str] = mapped_column(String(40), index=True)
    why: Mapped[str] = mapped_column(String(10))
    name: Mapped[str] = mapped_column(String(60))
    plan: Mapped[dict[str, Any]]
    bots: Mapped[dict[str, Any]]
    """The ids of its bots by their names in the plan."""
    games: Mapped[int] = mapped_column(Integer)
    """Number of games."""
    pace_ms: Mapped[int] = mapped_column(Integer)
    """Pause between two moves, for spectators."""
    asked_by: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    status: Mapped[str] = mapped_column(String(10), index=True)
    created: Mapped[int] = mapped_column(BigInteger)
    trouble: Mapped[str] = mapped_column(String(300), default="")
    """Why it was dropped."""


class MatchRow(Base):
    """A game that is queued, in progress or finished. Its id is the match id of the record."""

    __tablename__ = "league_matches"
    __table_args__ = (
        Index("league_matches_status", "status", "game"),
        Index("league_matches_event", "event", "number"),
        Index("league_matches_pair", "pair"),
    )

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    game: Mapped[str] = mapped_column(String(40))
    why: Mapped[str] = mapped_column(String(10))
    event: Mapped[str | None] = mapped_column(ForeignKey("league_events.id", ondelete="CASCADE"))
    number: Mapped[int] = mapped_column(Integer, default=0)
    """Number of the game in its event."""
    pair: Mapped[str | None] = mapped_column(String(24))
    """The ladder pair that it belongs to; its seeds stay secret until all games of the pair or the event are over."""
    assignment: Mapped[dict[str, Any]]
    status: Mapped[str] = mapped_column(String(10))
    queued: Mapped[int] = mapped_column(BigInteger)
    begun: Mapped[int | None] = mapped_column(BigInteger)
    ended: Mapped[int | None] = mapped_column(BigInteger)
    runner: Mapped[str | None] = mapped_column(String(40))
    """The runner that has claimed it ..."""
    lease: Mapped[int | None] = mapped_column(BigInteger)
    """... and when the claim expires, unless it is renewed."""
    tries: Mapped[int] = mapped_column(Integer, default=0)
    """How often it was started."""


class MatchSeatRow(Base):
    """The bot of a seat in a match."""

    __tablename__ = "league_sittings"
    __table_args__ = (Index("league_sittings_bot", "bot", "match"),)

    match: Mapped[str] = mapped_column(ForeignKey("league_matches.id", ondelete="CASCADE"), primary_key=True)
    seat: Mapped[int] = mapped_column(Integer, primary_key=True)
    bot: Mapped[str] = mapped_column(ForeignKey("league_bots.id", ondelete="CASCADE"))
    version: Mapped[str] = mapped_column(String(24), default="")
    """The version of the bot that plays."""


class LiveMatchRow(Base):
    """The live view of a match in progress, for spectators; deleted some time after its end."""

    __tablename__ = "league_live"

    match: Mapped[str] = mapped_column(ForeignKey("league_matches.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(Integer)
    view: Mapped[dict[str, Any]]


class FinishedGameRow(Base):
    """A finished game with its record. The match is its key, so nothing counts twice."""

    __tablename__ = "league_games"
    __table_args__ = (UniqueConstraint("game", "place", name="league_games_game_place"),)

    match: Mapped[str] = mapped_column(ForeignKey("league_matches.id", ondelete="CASCADE"), primary_key=True)
    game: Mapped[str] = mapped_column(String(40))
    place: Mapped[int | None] = mapped_column(Integer)
    """Place in the order in which ladder games were rated; null if it was not rated."""
    counted: Mapped[dict[str, Any]]
    """Its result, as tables and ratings need it."""
    record: Mapped[bytes] = mapped_column(LargeBinary)
    """JSON, compressed by zlib."""
    ended: Mapped[int] = mapped_column(BigInteger, index=True)
    contended: Mapped[bool] = mapped_column(Boolean, default=False)
    """Whether other work on the machine slowed its bots down."""


class PrivateLogRow(Base):
    """What a bot said in a finished game that only its owner may read: standard error, notes, logs, errors."""

    __tablename__ = "league_logs"

    match: Mapped[str] = mapped_column(ForeignKey("league_matches.id", ondelete="CASCADE"), primary_key=True)
    seat: Mapped[int] = mapped_column(Integer, primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)
    """JSON, compressed by zlib."""


class LadderRow(Base):
    """The number of rated games of a ladder. Rating a game locks this row first."""

    __tablename__ = "league_ladders"

    game: Mapped[str] = mapped_column(String(40), primary_key=True)
    games: Mapped[int] = mapped_column(Integer, default=0)
    rules: Mapped[int] = mapped_column(Integer, default=0)
    """Number of the rating rules by which its ratings were computed."""


class RatingRow(Base):
    """The ladder's rating of a version."""

    __tablename__ = "league_ratings"

    version: Mapped[str] = mapped_column(ForeignKey("league_versions.id", ondelete="CASCADE"), primary_key=True)
    mu: Mapped[float] = mapped_column(Float)
    sigma: Mapped[float] = mapped_column(Float)
    games: Mapped[int] = mapped_column(Integer)
    wins: Mapped[int] = mapped_column(Integer)
    draws: Mapped[int] = mapped_column(Integer)
    losses: Mapped[int] = mapped_column(Integer)
    failures: Mapped[int] = mapped_column(Integer)
    """Games that it lost by a failure of its own."""
    verdicts: Mapped[dict[str, Any]]
    """Number of verdicts by cause."""


class HeadToHeadRow(Base):
    """Results of the rated games of two versions, the first in the first seat: all that an exact rating needs."""

    __tablename__ = "league_pairs"

    first: Mapped[str] = mapped_column(ForeignKey("league_versions.id", ondelete="CASCADE"), primary_key=True)
    second: Mapped[str] = mapped_column(
        ForeignKey("league_versions.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    game: Mapped[str] = mapped_column(String(40), index=True)
    wins: Mapped[int] = mapped_column(Integer)
    """Wins of the first."""
    draws: Mapped[int] = mapped_column(Integer)
    losses: Mapped[int] = mapped_column(Integer)
    failed_first: Mapped[int] = mapped_column(Integer)
    """Further games, lost by a failure of the first, which are no evidence for the second ..."""
    failed_second: Mapped[int] = mapped_column(Integer)
    """... and the other way round."""


class RatingStepRow(Base):
    """A point of a version's history: its rating after the game of that place."""

    __tablename__ = "league_steps"

    version: Mapped[str] = mapped_column(ForeignKey("league_versions.id", ondelete="CASCADE"), primary_key=True)
    place: Mapped[int] = mapped_column(Integer, primary_key=True)
    mu: Mapped[float] = mapped_column(Float)
    sigma: Mapped[float] = mapped_column(Float)


class PresenceRow(Base):
    """A connected remote bot: its relay, and when it was last seen."""

    __tablename__ = "league_presences"

    bot: Mapped[str] = mapped_column(ForeignKey("league_bots.id", ondelete="CASCADE"), primary_key=True)
    address: Mapped[str] = mapped_column(String(200))
    """Address of the web process that holds its connection ..."""
    secret: Mapped[str] = mapped_column(String(64))
    """... and the secret that opens the relay there."""
    seen: Mapped[int] = mapped_column(BigInteger)


class ReservationRow(Base):
    """A remote bot in a person's game on the page: the oldest reservation that holds has the bot, the others wait."""

    __tablename__ = "league_reservations"

    bot: Mapped[str] = mapped_column(ForeignKey("league_bots.id", ondelete="CASCADE"), primary_key=True)
    play: Mapped[str] = mapped_column(String(40), primary_key=True)
    caller: Mapped[str | None] = mapped_column(String(160), index=True)
    """Whose budget it counts in: an account, or the address of a guest; null without limits."""
    asked: Mapped[int] = mapped_column(BigInteger)
    """When the game first asked for the bot."""
    expires: Mapped[int] = mapped_column(BigInteger)
    """When the bot is given back, unless the game goes on."""
    process: Mapped[str] = mapped_column(String(40))
    """The web process that asked the bot for a move last ..."""
    answer_by: Mapped[int] = mapped_column(BigInteger)
    """... and when that question ends; 0 if none is open."""


class RunnerRow(Base):
    """A runner process, for /health and the status page."""

    __tablename__ = "league_runners"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    ladder: Mapped[str] = mapped_column(String(10))
    workers: Mapped[int] = mapped_column(Integer)
    word: Mapped[str] = mapped_column(String(200))
    """What it does, or why it does nothing."""
    seen: Mapped[int] = mapped_column(BigInteger)


METADATA = Base.metadata
"""All tables, those of ``models.py`` included."""
