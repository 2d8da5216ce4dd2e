"""Queries about the bots of the league: entries, versions, standings, histories.

Matches are in ``league_matches.py``, rating updates in ``league_ratings.py``.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Engine, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased, defer

from ludodrome.bots.identity import DIGITS
from ludodrome.store import audit
from ludodrome.store.accounts import digest, fold_name, new_id, read_name
from ludodrome.store.announcements import BOT, announce
from ludodrome.store.audit import SYSTEM, Actor
from ludodrome.store.database import clock_ms, is_recent, writing
from ludodrome.store.league_models import (
    BUILTIN,
    DONE,
    REMOTE,
    UPLOADED,
    BotRow,
    BotVersionRow,
    HeadToHeadRow,
    MatchRow,
    MatchSeatRow,
    PresenceRow,
    RatingRow,
    RatingStepRow,
)
from ludodrome.store.league_presence import HERE_MS, is_reserved
from ludodrome.store.models import AccountRow, now_ms

MAX_BOTS = 20
"""Active bots per account and game."""


class BotEntry(NamedTuple):
    """A bot for display."""

    id: str
    game: str
    name: str
    kind: str
    spec: str
    owner: str | None
    owner_name: str | None
    created: int
    retired: int | None
    banned: bool
    here: bool
    """Whether it can play now: a remote bot must be connected."""
    version: str
    """The id of its current version."""
    paused: int | None
    """When the ladder paused it because it kept failing."""
    paused_by: str | None
    """The match that it failed last before that."""


class BotStanding(NamedTuple):
    """A bot and the rating of its current version; ``mu`` and ``sigma`` are None if it has none."""

    entry: BotEntry
    mu: float | None
    sigma: float | None
    games: int
    wins: int
    draws: int
    losses: int
    failures: int
    verdicts: dict[str, int]


class Contender(NamedTuple):
    """A bot that could play now."""

    id: str
    name: str
    kind: str
    spec: str
    version: str
    mu: float | None
    sigma: float | None


class RatedVersion(NamedTuple):
    """A version of a bot and its rating; ``mu`` and ``sigma`` are None if it has none."""

    id: str
    number: int
    size: int
    created: int
    identity: str
    findings: list[Any]
    mu: float | None
    sigma: float | None
    games: int
    wins: int
    draws: int
    losses: int
    failures: int


class HeadToHead(NamedTuple):
    """One bot's rated games against another, over all versions of both."""

    id: str
    name: str
    wins: int
    draws: int
    losses: int


# Entering


def ensure_builtins(engine: Engine, game: str, specs: dict[str, str], identities: dict[str, str] | None = None) -> None:
    """Enter the built-ins of these names, or update their specs; one whose identity has changed gets a new version.

    ``identities``: the hash of what runs, by name.
    """
    with writing(engine) as session:
        known = {
            row.name: row for row in session.scalars(select(BotRow).where(BotRow.game == game, BotRow.kind == BUILTIN))
        }
        for name, spec in specs.items():
            row, identity = known.get(name), (identities or {}).get(name, "")
            if row is None:
                _add(session, _new(game, name, name.casefold(), BUILTIN, None, spec), identity=identity)
                continue
            row.spec = spec
            current = session.get_one(BotVersionRow, row.version)
            if not current.identity:
                current.identity = identity
            elif identity and current.identity != identity:
                _next_version(session, row, identity=identity)


def _new(game: str, name: str, key: str, kind: str, owner: str | None, spec: str = "") -> BotRow:
    name_id = new_id()
    return BotRow(
        id=name_id,
        game=game,
        owner=owner,
        name=name,
        key=key,
        kind=kind,
        spec=spec or f"{kind}:{name_id}",
        token=None,
        created=now_ms(),
        retired=None,
        banned=False,
    )


def _add(session: Session, bot: BotRow, source: str = "", findings: Sequence[Any] = (), identity: str = "") -> str:
    """Add a bot with its first version and return its id; ValueError if the name is taken."""
    version = _version(bot.id, 1, source, findings, identity)
    bot.version = version.id
    if bot.kind == UPLOADED:
        bot.spec = f"{UPLOADED}:{version.id}"
    session.add(bot)
    try:
        session.flush()
    except IntegrityError as error:
        session.rollback()
        raise ValueError(f"there is a bot {bot.name} already") from error
    session.add(version)
    return bot.id


def enter_uploaded(
    engine: Engine, game: str, owner: str, name: str, source: str, findings: list[Any], identity: str = ""
) -> str:
    """Enter a bot with its first version and return its id; ValueError if the name is not valid or taken."""
    shown, key = read_name(name)
    with writing(engine) as session:
        _check_limit(session, game, owner)
        return _add(session, _new(game, shown, key, UPLOADED, owner), source, findings, identity)


def enter_remote(engine: Engine, game: str, owner: str, name: str, secret: str, identity: str = "") -> str:
    """Enter a bot that connects with this secret and return its id; ValueError if the name is not valid or taken."""
    shown, key = read_name(name)
    with writing(engine) as session:
        bot = _new(game, shown, key, REMOTE, owner)
        bot.token = digest(secret)
        _check_limit(session, game, owner)
        return _add(session, bot, identity=identity)


def check_name(engine: Engine, game: str, owner: str, name: str) -> None:
    """ValueError if an account cannot enter another bot of this name; checked before its source is examined."""
    shown, key = read_name(name)
    with Session(engine) as session:
        _check_limit(session, game, owner)
        if session.scalar(select(BotRow.id).where(BotRow.game == game, BotRow.key == key)) is not None:
            raise ValueError(f"there is a bot {shown} already")


def _check_limit(session: Session, game: str, owner: str) -> None:
    mine = select(func.count()).where(BotRow.owner == owner, BotRow.game == game, BotRow.retired.is_(None))
    if (session.scalar(mine) or 0) >= MAX_BOTS:
        raise ValueError(f"an account has at most {MAX_BOTS} bots in a game; retire one first")


def _version(bot: str, number: int, source: str, findings: Sequence[Any], identity: str) -> BotVersionRow:
    code = source.encode()
    return BotVersionRow(
        id=new_id(),
        bot=bot,
        number=number,
        source=source,
        size=len(code),
        findings=list(findings),
        created=now_ms(),
        identity=identity or (hashlib.sha256(code).hexdigest()[:DIGITS] if code else ""),
    )


def add_version(engine: Engine, bot_id: str, source: str, findings: list[Any], identity: str = "") -> int:
    """Add a version of a bot, which plays from now on, and return its number. A paused bot plays again."""
    with writing(engine) as session:
        bot = session.get_one(BotRow, bot_id, with_for_update=True)
        return _next_version(session, bot, source, findings, identity)


def _next_version(
    session: Session, bot: BotRow, source: str = "", findings: Sequence[Any] = (), identity: str = ""
) -> int:
    last = session.scalar(select(func.max(BotVersionRow.number)).where(BotVersionRow.bot == bot.id)) or 0
    version = _version(bot.id, last + 1, source, findings, identity)
    session.add(version)
    bot.version = version.id
    if bot.kind == UPLOADED:
        bot.spec = f"{UPLOADED}:{version.id}"
    bot.failures, bot.paused, bot.paused_by = 0, None, None
    return last + 1


def identify(engine: Engine, bot_id: str, identity: str) -> None:
    """Say what runs as a remote bot: if it is not what ran before, that is a new version."""
    with writing(engine) as session:
        bot = session.get_one(BotRow, bot_id, with_for_update=True)
        current = session.get_one(BotVersionRow, bot.version)
        if not current.identity:
            current.identity = identity
        elif current.identity != identity:
            _next_version(session, bot, identity=identity)


def resume(engine: Engine, bot_id: str, by: Actor = SYSTEM) -> None:
    """Let a paused bot play again."""
    with writing(engine) as session:
        bot = session.get_one(BotRow, bot_id, with_for_update=True)
        if bot.paused is not None:
            audit.record(session, by, audit.BOT_RESUMED, bot_id, bot.name)
        bot.failures, bot.paused, bot.paused_by = 0, None, None
        announce(session, BOT, bot_id)


def set_token(engine: Engine, bot_id: str, secret: str) -> None:
    """Set the secret of a remote bot; the old one is no longer valid."""
    with Session(engine) as session:
        session.execute(update(BotRow).where(BotRow.id == bot_id).values(token=digest(secret)))
        announce(session, BOT, bot_id)
        session.commit()


def retire(engine: Engine, bot_id: str, back: bool = False) -> None:
    """Retire a bot, or bring it back; its games stay."""
    with Session(engine) as session:
        session.execute(update(BotRow).where(BotRow.id == bot_id).values(retired=None if back else now_ms()))
        announce(session, BOT, bot_id)
        session.commit()


def ban(engine: Engine, bot_id: str, banned: bool, by: Actor = SYSTEM) -> None:
    """Ban a bot, or lift the ban. A banned bot plays no matches and is in no table; its games stay."""
    with Session(engine) as session:
        session.execute(update(BotRow).where(BotRow.id == bot_id).values(banned=banned))
        name = session.scalar(select(BotRow.name).where(BotRow.id == bot_id)) or ""
        audit.record(session, by, audit.BOT_BANNED if banned else audit.BOT_UNBANNED, bot_id, name)
        announce(session, BOT, bot_id)
        session.commit()


# Queries


def _entries(session: Session) -> Any:
    fresh = is_recent(PresenceRow.seen, clock_ms(session), HERE_MS)
    present = select(PresenceRow.bot).where(PresenceRow.bot == BotRow.id, fresh).exists()
    return select(BotRow, AccountRow.name, AccountRow.banned, present).outerjoin(
        AccountRow, AccountRow.id == BotRow.owner
    )


def _rated_entries(session: Session) -> Any:
    return _entries(session).add_columns(RatingRow).outerjoin(RatingRow, RatingRow.version == BotRow.version)


def _entry(row: BotRow, owner_name: str | None, owner_banned: bool | None, present: bool) -> BotEntry:
    banned = row.banned or bool(owner_banned)
    here = row.retired is None and not banned and (row.kind != REMOTE or bool(present))
    return BotEntry(
        row.id,
        row.game,
        row.name,
        row.kind,
        row.spec,
        row.owner,
        owner_name,
        row.created,
        row.retired,
        banned,
        here,
        row.version,
        row.paused,
        row.paused_by,
    )


def find_bot(engine: Engine, bot_id: str) -> BotEntry | None:
    """A bot by its id."""
    if "\0" in bot_id:
        return None  # PostgreSQL cannot even be asked
    with Session(engine) as session:
        found = session.execute(_entries(session).where(BotRow.id == bot_id)).first()
        return None if found is None else _entry(*found)


def find_named_bot(engine: Engine, game: str, name: str) -> BotEntry | None:
    """A bot of a game by its name; upper and lower case do not matter."""
    if "\0" in name:
        return None  # PostgreSQL cannot even be asked
    with Session(engine) as session:
        found = session.execute(_entries(session).where(BotRow.game == game, BotRow.key == fold_name(name))).first()
        return None if found is None else _entry(*found)


def bot_of_token(engine: Engine, secret: str) -> BotEntry | None:
    """The remote bot with this secret."""
    with Session(engine) as session:
        found = session.execute(_entries(session).where(BotRow.token == digest(secret))).first()
        return None if found is None else _entry(*found)


def bots(engine: Engine, game: str | None = None, owner: str | None = None) -> list[BotEntry]:
    """The bots of a game or of an account, by name, without banned ones."""
    with Session(engine) as session:
        wanted = _entries(session).order_by(BotRow.key)
        if game is not None:
            wanted = wanted.where(BotRow.game == game)
        if owner is not None:
            wanted = wanted.where(BotRow.owner == owner)
        return [one for one in (_entry(*found) for found in session.execute(wanted)) if not one.banned]


def standings(engine: Engine, game: str, most: int | None = None, skip: int = 0) -> list[BotStanding]:
    """The bots of a game, best first, those without games last, without banned ones."""
    with Session(engine) as session:
        wanted = _rated_entries(session).where(BotRow.game == game)
        wanted = wanted.where(BotRow.banned.is_(False), or_(AccountRow.banned.is_(None), AccountRow.banned.is_(False)))
        wanted = wanted.order_by(RatingRow.mu.is_(None), RatingRow.mu.desc(), BotRow.name).limit(most).offset(skip)
        return [_standing(_entry(*rest), rating) for *rest, rating in session.execute(wanted)]


def contenders(engine: Engine, game: str) -> list[Contender]:
    """The bots of a game that could play now, with what matchmaking needs; fast for many bots."""
    allowed = BotRow.banned.is_(False), or_(AccountRow.banned.is_(None), AccountRow.banned.is_(False))
    wanted = (
        select(BotRow.id, BotRow.name, BotRow.kind, BotRow.spec, BotRow.version, RatingRow.mu, RatingRow.sigma)
        .outerjoin(AccountRow, AccountRow.id == BotRow.owner)
        .outerjoin(RatingRow, RatingRow.version == BotRow.version)
        .where(BotRow.game == game, BotRow.retired.is_(None), BotRow.paused.is_(None), *allowed)
        .order_by(BotRow.id)
    )
    with Session(engine) as session:
        moment = clock_ms(session)
        fresh = is_recent(PresenceRow.seen, moment, HERE_MS)
        present = select(PresenceRow.bot).where(PresenceRow.bot == BotRow.id, fresh).exists()
        here = or_(BotRow.kind != REMOTE, present & ~is_reserved(BotRow.id, moment))
        return [Contender(*row) for row in session.execute(wanted.where(here)).tuples()]


def standing(engine: Engine, bot_id: str) -> BotStanding | None:
    """One bot and its rating."""
    with Session(engine) as session:
        found = session.execute(_rated_entries(session).where(BotRow.id == bot_id)).first()
        return None if found is None else _standing(_entry(*found[:-1]), found[-1])


def _standing(entry: BotEntry, rating: RatingRow | None) -> BotStanding:
    if rating is None:
        return BotStanding(entry, None, None, 0, 0, 0, 0, 0, {})
    counts = rating.games, rating.wins, rating.draws, rating.losses, rating.failures
    return BotStanding(entry, rating.mu, rating.sigma, *counts, rating.verdicts)


def history(engine: Engine, bot_id: str) -> list[tuple[int, float, float]]:
    """The rating history of a bot over all its versions: place, mu and sigma after each rated game."""
    wanted = (
        select(RatingStepRow.place, RatingStepRow.mu, RatingStepRow.sigma)
        .join(BotVersionRow, BotVersionRow.id == RatingStepRow.version)
        .where(BotVersionRow.bot == bot_id)
        .order_by(RatingStepRow.place, BotVersionRow.number)
    )
    with Session(engine) as session:
        return [(place, mu, sigma) for place, mu, sigma in session.execute(wanted).tuples()]


def trends(engine: Engine, bots: Sequence[str], last: int) -> dict[str, list[float]]:
    """The last values of mu of the current versions of some bots, oldest first."""
    newest = func.row_number().over(partition_by=BotRow.id, order_by=RatingStepRow.place.desc()).label("newest")
    inner = (
        select(BotRow.id.label("bot"), RatingStepRow.place, RatingStepRow.mu, newest)
        .join(BotRow, BotRow.version == RatingStepRow.version)
        .where(BotRow.id.in_(bots))
    )
    ranked = inner.subquery()
    wanted = select(ranked.c.bot, ranked.c.mu).where(ranked.c.newest <= last).order_by(ranked.c.bot, ranked.c.place)
    found: dict[str, list[float]] = {}
    with Session(engine) as session:
        for bot, mu in session.execute(wanted):
            found.setdefault(bot, []).append(mu)
    return found


def head_to_heads(engine: Engine, bot_id: str) -> list[HeadToHead]:
    """A bot's rated games against each opponent, most games first."""
    counted: dict[str, list[int]] = {}
    one, other = aliased(BotVersionRow), aliased(BotVersionRow)
    wanted = (
        select(HeadToHeadRow, one.bot, other.bot)
        .join(one, one.id == HeadToHeadRow.first)
        .join(other, other.id == HeadToHeadRow.second)
        .where(or_(one.bot == bot_id, other.bot == bot_id))
    )
    with Session(engine) as session:
        for pair, first, second in session.execute(wanted):
            won, lost = pair.wins + pair.failed_second, pair.losses + pair.failed_first
            rival, result = (second, (won, pair.draws, lost)) if first == bot_id else (first, (lost, pair.draws, won))
            total = counted.setdefault(rival, [0, 0, 0])
            for at, number in enumerate(result):
                total[at] += number
        names = dict(session.execute(select(BotRow.id, BotRow.name).where(BotRow.id.in_(list(counted)))).tuples().all())
    found = [HeadToHead(rival, names[rival], *total) for rival, total in counted.items()]
    return sorted(found, key=lambda one: (-(one.wins + one.draws + one.losses), one.name))


# Versions


def source_of(engine: Engine, version_id: str) -> str | None:
    """The source of a version."""
    with Session(engine) as session:
        return session.scalar(select(BotVersionRow.source).where(BotVersionRow.id == version_id))


def versions(engine: Engine, bot_id: str) -> list[RatedVersion]:
    """The versions of a bot with their ratings, latest first."""
    wanted = (
        select(BotVersionRow, RatingRow)
        .outerjoin(RatingRow, RatingRow.version == BotVersionRow.id)
        .where(BotVersionRow.bot == bot_id)
        .order_by(BotVersionRow.number.desc())
    )
    found = []
    with Session(engine) as session:
        for row, rating in session.execute(wanted.options(defer(BotVersionRow.source))).tuples():
            values: list[Any] = [getattr(rating, name, nothing) for name, nothing in RATED.items()]
            found.append(RatedVersion(row.id, row.number, row.size, row.created, row.identity, row.findings, *values))
    return found


def numbered_version(engine: Engine, bot_id: str, number: int) -> str | None:
    """The id of a version of a bot by its number."""
    with Session(engine) as session:
        wanted = select(BotVersionRow.id).where(BotVersionRow.bot == bot_id, BotVersionRow.number == number)
        return session.scalar(wanted)


RATED = {"mu": None, "sigma": None, "games": 0, "wins": 0, "draws": 0, "losses": 0, "failures": 0}
"""What a rating says of a version, and what a version without one has."""


def played_count(engine: Engine, bot_id: str) -> int:
    """Number of games a bot has finished, rated or not."""
    wanted = select(func.count()).select_from(MatchSeatRow).join(MatchRow, MatchRow.id == MatchSeatRow.match)
    with Session(engine) as session:
        return session.scalar(wanted.where(MatchSeatRow.bot == bot_id, MatchRow.status == DONE)) or 0
