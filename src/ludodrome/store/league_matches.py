"""The matches of the league: asked for, queued, claimed by a runner, watched.

How one comes to count is in ``league_counting.py``.

Several runners may share a database. A match is claimed by one UPDATE that only one of them can win, and the claim ends
by itself unless it is renewed: a runner that was killed loses its matches, and they are played again from the start.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Engine, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from ludodrome.store.accounts import new_id
from ludodrome.store.database import writing
from ludodrome.store.league import HERE_MS, now_ms
from ludodrome.store.league_models import (
    DONE,
    DROPPED,
    LADDER,
    PLAYING,
    QUEUED,
    REMOTE,
    Bot,
    Event,
    Finished,
    Live,
    Match,
    Presence,
    Runner,
    Sitting,
)
from ludodrome.store.packing import unpacked

LEASE_MS = 15_000
MOST_TRIES = 20
"""A match that was begun so often and never came back is dropped."""


class Claimed(NamedTuple):
    """A match that is ours to play."""

    id: str
    why: str
    event: str | None
    assignment: dict[str, Any]
    bots: tuple[str, ...]
    """The ids of the bots by seat."""


class Seen(NamedTuple):
    """A match as lists show it."""

    id: str
    game: str
    why: str
    event: str | None
    status: str
    names: list[str]
    bots: list[str]
    queued: int
    begun: int | None
    ended: int | None
    counted: dict[str, Any] | None
    """What came of it; None while it is not over."""


# Events


def add_event(
    engine: Engine,
    game: str,
    why: str,
    name: str,
    plan: dict[str, Any],
    bots: dict[str, str],
    games: int,
    asked_by: str | None,
    pace_ms: int = 0,
) -> str:
    """A challenge or a tournament that is to be played; its id."""
    row = Event(
        id=new_id(),
        game=game,
        why=why,
        name=name,
        plan=plan,
        bots=bots,
        games=games,
        asked_by=asked_by,
        status=QUEUED,
        created=now_ms(),
        trouble="",
        pace_ms=pace_ms,
    )
    with Session(engine, expire_on_commit=False) as session:
        session.add(row)
        session.commit()
        return row.id


def find_event(engine: Engine, event_id: str) -> Event | None:
    """An event by its id."""
    with Session(engine, expire_on_commit=False) as session:
        return session.get(Event, event_id)


def events(engine: Engine, game: str | None, why: str | None, most: int) -> list[Event]:
    """The latest events, of a game or of a kind."""
    wanted = select(Event).order_by(Event.created.desc(), Event.id).limit(most)
    if game is not None:
        wanted = wanted.where(Event.game == game)
    if why is not None:
        wanted = wanted.where(Event.why == why)
    with Session(engine, expire_on_commit=False) as session:
        return list(session.scalars(wanted))


def open_events(engine: Engine, asked_by: str | None = None) -> list[Event]:
    """The events that are not over, the oldest first; of one account, if it is named."""
    wanted = select(Event).where(Event.status == QUEUED).order_by(Event.created, Event.id)
    if asked_by is not None:
        wanted = wanted.where(Event.asked_by == asked_by)
    with Session(engine, expire_on_commit=False) as session:
        return list(session.scalars(wanted))


def close_event(engine: Engine, event_id: str, trouble: str = "") -> None:
    """An event is over; with trouble, it was dropped, and its matches that were not begun are too."""
    with Session(engine) as session:
        status = DROPPED if trouble else DONE
        mine = update(Event).where(Event.id == event_id, Event.status == QUEUED)
        session.execute(mine.values(status=status, trouble=trouble[:300]))
        if trouble:
            waiting = update(Match).where(Match.event == event_id, Match.status == QUEUED)
            session.execute(waiting.values(status=DROPPED, ended=now_ms()))
        session.commit()


# The queue


def queue(
    engine: Engine, why: str, assignments: Iterable[tuple[str, dict[str, Any], Sequence[str], int]], event: str | None
) -> None:
    """Matches that are to be played: match id, assignment, bots by seat, number in the event. Known ones stay."""
    for match, assignment, bots, number in assignments:
        with Session(engine) as session:
            values = {"id": match, "game": assignment["game"], "why": why, "event": event, "number": number}
            state = {"assignment": assignment, "status": QUEUED, "queued": now_ms(), "tries": 0}
            try:
                session.execute(insert(Match).values(values | state))
                session.execute(insert(Sitting), [{"match": match, "seat": s, "bot": b} for s, b in enumerate(bots)])
                session.commit()
            except IntegrityError:
                session.rollback()


def claim(engine: Engine, runner: str, busy: Sequence[str] = ()) -> Claimed | None:
    """The next match that can be played, now ours: what was asked for first, then the ladder.

    Events take turns, game by game, so that nobody waits for somebody's thousand games.

    Remote bots must be connected, and play one match at a time; ``busy`` are bots to leave alone.
    """
    moment = now_ms()
    expired = (Match.status == PLAYING) & (Match.lease < moment) & (Match.runner != runner)  # who stalled goes on
    wanted = select(Match).where(or_(Match.status == QUEUED, expired))
    with writing(engine) as session:
        first = wanted.order_by(Match.why == LADDER, Match.number, Match.queued, Match.id).limit(50)
        for row in session.scalars(first).all():
            seats = select(Sitting.bot).where(Sitting.match == row.id).order_by(Sitting.seat)
            bots = tuple(session.scalars(seats))
            if set(bots) & set(busy) or not _all_here(session, bots, moment):
                continue
            open_ = Match.status == QUEUED if row.status == QUEUED else expired
            mine = update(Match).where(Match.id == row.id, open_).execution_options(synchronize_session=False)
            if row.tries >= MOST_TRIES:
                session.execute(mine.values(status=DROPPED, ended=moment))
                continue
            state = {"status": PLAYING, "runner": runner, "begun": moment, "lease": moment + LEASE_MS}
            if row_count(session.execute(mine.values(**state, tries=row.tries + 1))):
                return Claimed(row.id, row.why, row.event, row.assignment, bots)
    return None


def _all_here(session: Session, bots: Sequence[str], moment: int) -> bool:
    """Whether the remote ones among some bots are connected, and not playing elsewhere."""
    remote = session.scalars(select(Bot.id).where(Bot.id.in_(bots), Bot.kind == REMOTE)).all()
    for bot in remote:
        seen = session.scalar(select(Presence.seen).where(Presence.bot == bot)) or 0
        playing = select(Match.id).join(Sitting, Sitting.match == Match.id)
        elsewhere = playing.where(Sitting.bot == bot, Match.status == PLAYING, Match.lease >= moment).limit(1)
        if seen < moment - HERE_MS or session.scalar(elsewhere) is not None:
            return False
    return True


def renew(engine: Engine, runner: str) -> None:
    """The claims of a runner hold for longer."""
    with Session(engine) as session:
        mine = update(Match).where(Match.status == PLAYING, Match.runner == runner)
        session.execute(mine.values(lease=now_ms() + LEASE_MS))
        session.commit()


def release(engine: Engine, runner: str, broken: bool = False) -> int:
    """A runner gives back what it has not finished; how many matches those were.

    One that was told to end has not tried them; ``broken``: it ends because of an error, which may be theirs.
    """
    with Session(engine) as session:
        mine = Match.status == PLAYING, Match.runner == runner
        session.execute(delete(Live).where(Live.match.in_(select(Match.id).where(*mine))))
        free = {"status": QUEUED, "runner": None, "lease": None, "tries": Match.tries - int(not broken)}
        freed = session.execute(update(Match).where(*mine).values(free))
        session.commit()
        return row_count(freed)


def drop(engine: Engine, match_id: str) -> None:
    """A match will not be played."""
    with Session(engine) as session:
        open_ = Match.id == match_id, Match.status.in_((QUEUED, PLAYING))
        session.execute(update(Match).where(*open_).values(status=DROPPED, ended=now_ms()))
        session.execute(delete(Live).where(Live.match == match_id))
        session.commit()


def waiting(engine: Engine, bots: Sequence[str]) -> int:
    """How many ladder matches of these bots are not over yet."""
    wanted = select(func.count(func.distinct(Match.id))).join(Sitting, Sitting.match == Match.id)
    open_ = Match.status.in_((QUEUED, PLAYING)), Match.why == LADDER
    with Session(engine) as session:
        return session.scalar(wanted.where(Sitting.bot.in_(bots), *open_)) or 0


def busy_bots(engine: Engine) -> set[str]:
    """The bots that have a match of the ladder before them."""
    wanted = select(Sitting.bot).join(Match, Match.id == Sitting.match)
    with Session(engine) as session:
        return set(session.scalars(wanted.where(Match.status.in_((QUEUED, PLAYING)), Match.why == LADDER)))


# Watching


def show(engine: Engine, match_id: str, version: int, view: dict[str, Any]) -> None:
    """How a match stands now, for spectators."""
    with Session(engine) as session:
        changed = session.execute(update(Live).where(Live.match == match_id).values(version=version, view=view))
        if not row_count(changed):
            session.add(Live(match=match_id, version=version, view=view))
        try:
            session.commit()
        except IntegrityError:  # it is over, or another process was quicker: the next move is soon shown
            session.rollback()


def live(engine: Engine) -> dict[str, tuple[str, int]]:
    """The matches that are being played, those that people asked for first: the game and the version of each."""
    wanted = select(Live.match, Match.game, Live.version).join(Match, Match.id == Live.match)
    wanted = wanted.where(Match.status == PLAYING).order_by(Match.why == LADDER, Match.begun, Match.id)
    with Session(engine) as session:
        return {match: (game, version) for match, game, version in session.execute(wanted).tuples()}


def live_views(engine: Engine, matches: Sequence[str]) -> dict[str, tuple[int, dict[str, Any]]]:
    """How some matches stand: version and view."""
    wanted = select(Live.match, Live.version, Live.view).where(Live.match.in_(matches))
    with Session(engine) as session:
        return {match: (version, view) for match, version, view in session.execute(wanted).tuples()}


def find_match(engine: Engine, match_id: str) -> Seen | None:
    """A match by its id."""
    found = _seen(engine, select(Match, Finished.counted).outerjoin(Finished).where(Match.id == match_id))
    return found[0] if found else None


def recent(
    engine: Engine, game: str | None = None, bot: str | None = None, event: str | None = None, most: int = 20
) -> list[Seen]:
    """The games that were finished last."""
    wanted = select(Match, Finished.counted).join(Finished).order_by(Finished.ended.desc(), Match.id).limit(most)
    if game is not None:
        wanted = wanted.where(Match.game == game)
    if bot is not None:
        wanted = wanted.join(Sitting, Sitting.match == Match.id).where(Sitting.bot == bot)
    if event is not None:
        wanted = wanted.where(Match.event == event)
    return _seen(engine, wanted)


def _seen(engine: Engine, wanted: Any) -> list[Seen]:
    with Session(engine) as session:
        rows = session.execute(wanted).all()
        seats: dict[str, list[str]] = {}
        places = select(Sitting).where(Sitting.match.in_([row.id for row, _ in rows])).order_by(Sitting.seat)
        for sitting in session.scalars(places):
            seats.setdefault(sitting.match, []).append(sitting.bot)
        return [
            Seen(
                row.id,
                row.game,
                row.why,
                row.event,
                row.status,
                row.assignment["names"],
                seats.get(row.id, []),
                row.queued,
                row.begun,
                row.ended,
                counted,
            )
            for row, counted in rows
        ]


def record_of(engine: Engine, match_id: str) -> dict[str, Any] | None:
    """The record of a finished game."""
    with Session(engine) as session:
        packed = session.scalar(select(Finished.record).where(Finished.match == match_id))
    return None if packed is None else unpacked(packed)


def records_of(engine: Engine, bot: str) -> Iterator[dict[str, Any]]:
    """All records of a bot, in the order in which the games ended."""
    wanted = select(Finished.record).join(Sitting, Sitting.match == Finished.match).where(Sitting.bot == bot)
    with Session(engine) as session:
        for packed in session.scalars(wanted.order_by(Finished.ended, Finished.match).execution_options(yield_per=100)):
            yield unpacked(packed)


def event_games(engine: Engine, event_id: str) -> list[tuple[str, int, dict[str, Any] | None, str]]:
    """All matches of an event so far: id, number, what came of it, status; in order."""
    wanted = select(Match.id, Match.number, Finished.counted, Match.status).outerjoin(Finished)
    with Session(engine) as session:
        rows = session.execute(wanted.where(Match.event == event_id).order_by(Match.number, Match.id))
        return [(match, number, counted, status) for match, number, counted, status in rows]


def played_of(engine: Engine, event_id: str) -> int:
    """How many games of an event are in."""
    wanted = select(func.count()).select_from(Match).where(Match.event == event_id, Match.status == DONE)
    with Session(engine) as session:
        return session.scalar(wanted) or 0


# Who is there


def arrive(engine: Engine, bot: str, address: str, secret: str) -> None:
    """A remote bot is connected here."""
    values = {"address": address, "secret": secret, "seen": now_ms()}
    with Session(engine) as session:
        if not row_count(session.execute(update(Presence).where(Presence.bot == bot).values(**values))):
            session.add(Presence(bot=bot, **values))
        try:
            session.commit()
        except IntegrityError:
            session.rollback()
            session.execute(update(Presence).where(Presence.bot == bot).values(**values))
            session.commit()


def leave(engine: Engine, bot: str, secret: str) -> None:
    """A remote bot is connected there no more; if it is elsewhere by now, that stays."""
    with Session(engine) as session:
        session.execute(delete(Presence).where(Presence.bot == bot, Presence.secret == secret))
        session.commit()


def presence(engine: Engine, bot: str) -> tuple[str, str] | None:
    """Where a remote bot is connected, and what opens the relay; None if it is not."""
    with Session(engine) as session:
        row = session.get(Presence, bot)
        return None if row is None or row.seen < now_ms() - HERE_MS else (row.address, row.secret)


def report(engine: Engine, runner: str, ladder: str, workers: int, word: str) -> None:
    """A runner says that it lives, and what it does; those that were not heard of for long are forgotten."""
    values = {"ladder": ladder, "workers": workers, "word": word[:200], "seen": now_ms()}
    with Session(engine) as session:
        if not row_count(session.execute(update(Runner).where(Runner.id == runner).values(**values))):
            session.add(Runner(id=runner, **values))
        session.execute(delete(Runner).where(Runner.seen < now_ms() - 20 * LEASE_MS))
        session.commit()


def runners(engine: Engine) -> list[Runner]:
    """The runners that live."""
    with Session(engine, expire_on_commit=False) as session:
        return list(session.scalars(select(Runner).where(Runner.seen >= now_ms() - LEASE_MS).order_by(Runner.id)))


def dismiss(engine: Engine, runner: str, broken: bool = False) -> None:
    """A runner ends; ``broken``: because of an error."""
    release(engine, runner, broken)
    with Session(engine) as session:
        session.execute(delete(Runner).where(Runner.id == runner))
        session.commit()


def row_count(result: Any) -> int:
    """How many rows a statement has changed."""
    return int(result.rowcount)
