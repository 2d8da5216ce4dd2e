"""The tables. Every value that is not asked for by a query is kept as JSON.

The tables of accounts, of the league and of people's games are in modules of their own, on the same ``Base``. When
a table changes, ``migrations/`` gets to know it.
"""

import json
import time
import zlib
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
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
"""How constraints are called: what has a name can be changed later, on every database."""


def now_ms() -> int:
    """The time, as every table holds it: milliseconds of universal time since 1970."""
    return time.time_ns() // 1_000_000


def iso_time(moment: int) -> str:
    """A time of a table as text, to the second: 2026-01-01T00:00:00+00:00."""
    return datetime.fromtimestamp(moment // 1000, UTC).isoformat()


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
    begun: Mapped[int] = mapped_column(BigInteger)


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
    finished: Mapped[int] = mapped_column(BigInteger)


# The tables of people: accounts, their sessions in browsers, and the tokens of their programs.
# Secrets are kept as digests only: whoever reads the database cannot sign in with what is in it.


LOCAL = "local"
"""The account of the person at this machine; everything that is made without sign-in is theirs."""
ID_LENGTH = 12
"""Characters of an id: ``secrets.token_urlsafe(9)``."""
NAME_LENGTH = 30
FOLDED_LENGTH = 120
DIGEST_LENGTH = 64
LABEL_LENGTH = 60


class AccountRow(Base):
    """Somebody who can sign in; ``local`` has no password and cannot."""

    __tablename__ = "accounts"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    folded: Mapped[str] = mapped_column(String(FOLDED_LENGTH), unique=True)
    """The name as it is compared: no two differ by case or by the way a letter is encoded."""
    password: Mapped[str | None] = mapped_column(String(200))
    """As Argon2id writes it."""
    admin: Mapped[bool]
    banned: Mapped[bool]
    made: Mapped[int] = mapped_column(BigInteger)


class SignInRow(Base):
    """A browser in which somebody has signed in."""

    __tablename__ = "sign_ins"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    digest: Mapped[str] = mapped_column(String(DIGEST_LENGTH), unique=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    browser: Mapped[str] = mapped_column(String(200))
    """What it calls itself."""
    made: Mapped[int] = mapped_column(BigInteger)
    seen: Mapped[int] = mapped_column(BigInteger)
    ends: Mapped[int] = mapped_column(BigInteger)


class TokenRow(Base):
    """What a program shows instead of a password; it may do what its scopes say."""

    __tablename__ = "tokens"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    digest: Mapped[str] = mapped_column(String(DIGEST_LENGTH), unique=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    label: Mapped[str] = mapped_column(String(LABEL_LENGTH))
    scopes: Mapped[list[Any]]
    made: Mapped[int] = mapped_column(BigInteger)
    used: Mapped[int | None] = mapped_column(BigInteger)


class SolvedPuzzleRow(Base):
    """A puzzle that somebody has solved, by the name that its position gives it."""

    __tablename__ = "solved_puzzles"

    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    puzzle: Mapped[str] = mapped_column(String(40), primary_key=True)


# The tables of people's games: how each was begun, who holds its seats, and every event in it, in order.
# Nothing that happened is ever changed: a move that was taken back stays, followed by the event that took it back.


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


# The tables of the league: bots and their versions, events, matches, finished games, ratings.
# Times are whole milliseconds of universal time since 1970. What is asked and written is in ``league*.py``.


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


METADATA = Base.metadata


# Records as they are kept in a column: JSON, compressed.


def packed(record: Any) -> bytes:
    """A record as it is kept."""
    return zlib.compress(json.dumps(record, separators=(",", ":")).encode())


def unpacked(content: bytes) -> dict[str, Any]:
    """The record that is kept."""
    record: dict[str, Any] = json.loads(zlib.decompress(content))
    return record
