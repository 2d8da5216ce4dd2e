"""Queries about the bots of the league: entries, versions, standings, histories.

Matches are in ``league_matches.py``, rating updates in ``league_ratings.py``.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Engine, delete, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

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
from ludodrome.store.models import AccountRow, now_ms

MAX_BOTS = 20
"""Active bots per account and game."""
HERE_MS = 30_000
"""Milliseconds for which a remote bot counts as connected after it was last seen."""


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


class BotStanding(NamedTuple):
    """A bot and its rating; ``mu`` and ``sigma`` are None if it has no rated games."""

    entry: BotEntry
    mu: float | None
    sigma: float | None
    games: int
    wins: int
    draws: int
    losses: int
    verdicts: dict[str, int]


class Contender(NamedTuple):
    """A bot that could play now."""

    id: str
    name: str
    kind: str
    spec: str
    mu: float | None
    sigma: float | None


class HeadToHead(NamedTuple):
    """One bot's rated games against another."""

    id: str
    name: str
    wins: int
    draws: int
    losses: int


# Entering


def ensure_builtins(engine: Engine, game: str, specs: dict[str, str]) -> None:
    """Enter the built-ins of these names, or update their specs."""
    with writing(engine) as session:
        known = {
            row.name: row for row in session.scalars(select(BotRow).where(BotRow.game == game, BotRow.kind == BUILTIN))
        }
        for name, spec in specs.items():
            row = known.get(name)
            if row is None:
                session.add(_new(game, name, name.casefold(), BUILTIN, None, spec))
            elif row.spec != spec:
                row.spec = spec


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


def enter_uploaded(engine: Engine, game: str, owner: str, name: str, source: str, findings: list[Any]) -> str:
    """Enter a bot with its first version and return its id; ValueError if the name is not valid or taken."""
    shown, key = read_name(name)
    with writing(engine) as session:
        bot = _new(game, shown, key, UPLOADED, owner)
        version = _version(bot.id, 1, source, findings)
        bot.spec = f"{UPLOADED}:{version.id}"
        _check_limit(session, game, owner)
        session.add(bot)
        _write_named(session, shown)
        session.add(version)
        return bot.id


def enter_remote(engine: Engine, game: str, owner: str, name: str, secret: str) -> str:
    """Enter a bot that connects with this secret and return its id; ValueError if the name is not valid or taken."""
    shown, key = read_name(name)
    with writing(engine) as session:
        bot = _new(game, shown, key, REMOTE, owner)
        bot.token = digest(secret)
        _check_limit(session, game, owner)
        session.add(bot)
        _write_named(session, shown)
        return bot.id


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


def _write_named(session: Session, name: str) -> None:
    try:
        session.flush()
    except IntegrityError as error:
        session.rollback()
        raise ValueError(f"there is a bot {name} already") from error


def _version(bot: str, number: int, source: str, findings: list[Any]) -> BotVersionRow:
    size = len(source.encode())
    return BotVersionRow(
        id=new_id(), bot=bot, number=number, source=source, size=size, findings=findings, created=now_ms()
    )


def add_version(engine: Engine, bot_id: str, source: str, findings: list[Any]) -> int:
    """Add a version of an uploaded bot, which plays from now on, and return its number."""
    with writing(engine) as session:
        session.scalar(select(BotRow.id).where(BotRow.id == bot_id).with_for_update())
        last = session.scalar(select(func.max(BotVersionRow.number)).where(BotVersionRow.bot == bot_id)) or 0
        version = _version(bot_id, last + 1, source, findings)
        session.add(version)
        session.execute(update(BotRow).where(BotRow.id == bot_id).values(spec=f"{UPLOADED}:{version.id}"))
        return last + 1


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
    return _entries(session).add_columns(RatingRow).outerjoin(RatingRow, RatingRow.bot == BotRow.id)


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
        select(BotRow.id, BotRow.name, BotRow.kind, BotRow.spec, RatingRow.mu, RatingRow.sigma)
        .outerjoin(AccountRow, AccountRow.id == BotRow.owner)
        .outerjoin(RatingRow, RatingRow.bot == BotRow.id)
        .where(BotRow.game == game, BotRow.retired.is_(None), *allowed)
        .order_by(BotRow.id)
    )
    with Session(engine) as session:
        fresh = is_recent(PresenceRow.seen, clock_ms(session), HERE_MS)
        here = or_(BotRow.kind != REMOTE, select(PresenceRow.bot).where(PresenceRow.bot == BotRow.id, fresh).exists())
        return [Contender(*row) for row in session.execute(wanted.where(here)).tuples()]


def standing(engine: Engine, bot_id: str) -> BotStanding | None:
    """One bot and its rating."""
    with Session(engine) as session:
        found = session.execute(_rated_entries(session).where(BotRow.id == bot_id)).first()
        return None if found is None else _standing(_entry(*found[:-1]), found[-1])


def _standing(entry: BotEntry, rating: RatingRow | None) -> BotStanding:
    if rating is None:
        return BotStanding(entry, None, None, 0, 0, 0, 0, {})
    counts = rating.games, rating.wins, rating.draws, rating.losses
    return BotStanding(entry, rating.mu, rating.sigma, *counts, rating.verdicts)


def history(engine: Engine, bot_id: str) -> list[tuple[int, float, float]]:
    """The rating history of a bot: place, mu and sigma after each rated game."""
    wanted = (
        select(RatingStepRow.place, RatingStepRow.mu, RatingStepRow.sigma)
        .where(RatingStepRow.bot == bot_id)
        .order_by(RatingStepRow.place)
    )
    with Session(engine) as session:
        return [(place, mu, sigma) for place, mu, sigma in session.execute(wanted).tuples()]


def trends(engine: Engine, bots: Sequence[str], last: int) -> dict[str, list[float]]:
    """The last values of mu of some bots, oldest first."""
    newest = func.row_number().over(partition_by=RatingStepRow.bot, order_by=RatingStepRow.place.desc()).label("newest")
    inner = select(RatingStepRow.bot, RatingStepRow.place, RatingStepRow.mu, newest).where(RatingStepRow.bot.in_(bots))
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
    with Session(engine) as session:
        mine = select(HeadToHeadRow).where(or_(HeadToHeadRow.first == bot_id, HeadToHeadRow.second == bot_id))
        for pair in session.scalars(mine):
            rival = pair.second if pair.first == bot_id else pair.first
            won, lost = (pair.wins, pair.losses) if pair.first == bot_id else (pair.losses, pair.wins)
            total = counted.setdefault(rival, [0, 0, 0])
            for at, number in enumerate((won, pair.draws, lost)):
                total[at] += number
        names = dict(session.execute(select(BotRow.id, BotRow.name).where(BotRow.id.in_(list(counted)))).tuples().all())
    found = [HeadToHead(rival, names[rival], *total) for rival, total in counted.items()]
    return sorted(found, key=lambda one: (-(one.wins + one.draws + one.losses), one.name))


# Versions


def source_of(engine: Engine, version_id: str) -> str | None:
    """The source of a version."""
    with Session(engine) as session:
        return session.scalar(select(BotVersionRow.source).where(BotVersionRow.id == version_id))


def versions(engine: Engine, bot_id: str) -> list[BotVersionRow]:
    """The versions of a bot, latest first."""
    with Session(engine, expire_on_commit=False) as session:
        wanted = select(BotVersionRow).where(BotVersionRow.bot == bot_id).order_by(BotVersionRow.number.desc())
        return list(session.scalars(wanted))


def played_count(engine: Engine, bot_id: str) -> int:
    """Number of games a bot has finished, rated or not."""
    wanted = select(func.count()).select_from(MatchSeatRow).join(MatchRow, MatchRow.id == MatchSeatRow.match)
    with Session(engine) as session:
        return session.scalar(wanted.where(MatchSeatRow.bot == bot_id, MatchRow.status == DONE)) or 0


# Connections of remote bots


def arrive(engine: Engine, bot: str, address: str, secret: str) -> None:
    """Record that a remote bot has connected here; a process that holds an older connection hears of it."""
    with Session(engine) as session:
        values = {"address": address, "secret": secret, "seen": clock_ms(session)}
        if not row_count(session.execute(update(PresenceRow).where(PresenceRow.bot == bot).values(**values))):
            session.add(PresenceRow(bot=bot, **values))
        try:
            announce(session, BOT, bot)
            session.commit()
        except IntegrityError:
            session.rollback()
            session.execute(update(PresenceRow).where(PresenceRow.bot == bot).values(**values))
            announce(session, BOT, bot)
            session.commit()


def stay(engine: Engine, bot: str, address: str, secret: str) -> bool:
    """Record that a remote bot is still connected here; False if a newer connection has replaced this one."""
    with Session(engine) as session:
        mine = update(PresenceRow).where(PresenceRow.bot == bot, PresenceRow.secret == secret)
        known = row_count(session.execute(mine.values(seen=clock_ms(session))))
        session.commit()
        if known:
            return True
        if session.get(PresenceRow, bot) is not None:
            return False
    arrive(engine, bot, address, secret)
    return True


def leave(engine: Engine, bot: str, secret: str) -> None:
    """Record that a remote bot has disconnected; a newer connection stays."""
    with Session(engine) as session:
        session.execute(delete(PresenceRow).where(PresenceRow.bot == bot, PresenceRow.secret == secret))
        session.commit()


def presence(engine: Engine, bot: str) -> tuple[str, str] | None:
    """Address and secret of a remote bot's relay; None if it is not connected."""
    with Session(engine) as session:
        recent = is_recent(PresenceRow.seen, clock_ms(session), HERE_MS)
        wanted = select(PresenceRow.address, PresenceRow.secret).where(PresenceRow.bot == bot, recent)
        return session.execute(wanted).tuples().first()


def row_count(result: Any) -> int:
    """Number of rows changed by a statement."""
    return int(result.rowcount)
