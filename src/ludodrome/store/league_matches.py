"""Queries about the matches of the league: events, the queue, claims of runners, live views.

Several runners may share a database. A runner claims a match by one UPDATE that only one of them can win. A claim
expires unless it is renewed: the matches of a killed runner are played again from the start. A claim that ends later
than any claim made now is void, too: the clock was ahead when it was made. Rating updates are in ``league_ratings.py``.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from sqlalchemy import Engine, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from ludodrome.store.accounts import new_id
from ludodrome.store.announcements import LEAGUE, announce
from ludodrome.store.database import AHEAD_MS, clock_ms, is_recent, row_count, writing
from ludodrome.store.league_models import (
    DONE,
    DROPPED,
    LADDER,
    PLAYING,
    QUEUED,
    REMOTE,
    UPLOADED,
    BotRow,
    EventRow,
    FinishedGameRow,
    LiveMatchRow,
    MatchRow,
    MatchSeatRow,
    PresenceRow,
    PrivateLogRow,
    RunnerRow,
)
from ludodrome.store.league_presence import HERE_MS, is_reserved
from ludodrome.store.models import now_ms, unpacked

LEASE_MS = 15_000
LINGER_MS = 4_000
"""Milliseconds for which a match is shown after its end, so that spectators see its last move."""
RECORD_PAGE = 25
"""Records that are read together."""
MAX_TRIES = 20
"""A match that was started this often and never finished is dropped."""


class ClaimedMatch(NamedTuple):
    """A match claimed by a runner."""

    id: str
    why: str
    event: str | None
    play_spec: dict[str, Any]
    bots: tuple[str, ...]
    """The ids of the bots by seat."""


class MatchInfo(NamedTuple):
    """A match for display."""

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
    """Its result; None while it is not over."""
    contended: bool
    """Whether other work on the machine slowed its bots down."""


class KeptRecord(NamedTuple):
    """The record of a finished game as it is stored, with what only some may read."""

    record: dict[str, Any]
    sealed: bool
    """Whether its seeds are secret: other games of its event or its ladder pair are not over."""


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
    """Add a challenge or a tournament and return its id."""
    row = EventRow(
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


def find_event(engine: Engine, event_id: str) -> EventRow | None:
    """An event by its id."""
    with Session(engine, expire_on_commit=False) as session:
        return session.get(EventRow, event_id)


def events(engine: Engine, game: str | None, why: str | None, most: int) -> list[EventRow]:
    """The latest events, optionally of a game or of a kind."""
    wanted = select(EventRow).order_by(EventRow.created.desc(), EventRow.id).limit(most)
    if game is not None:
        wanted = wanted.where(EventRow.game == game)
    if why is not None:
        wanted = wanted.where(EventRow.why == why)
    with Session(engine, expire_on_commit=False) as session:
        return list(session.scalars(wanted))


def open_events(engine: Engine, asked_by: str | None = None) -> list[EventRow]:
    """The events that are not over, oldest first, optionally of one account."""
    wanted = select(EventRow).where(EventRow.status == QUEUED).order_by(EventRow.created, EventRow.id)
    if asked_by is not None:
        wanted = wanted.where(EventRow.asked_by == asked_by)
    with Session(engine, expire_on_commit=False) as session:
        return list(session.scalars(wanted))


def close_event(engine: Engine, event_id: str, trouble: str = "") -> None:
    """Close an event; with trouble, it is dropped, together with its matches that were not started."""
    with Session(engine) as session:
        status = DROPPED if trouble else DONE
        mine = update(EventRow).where(EventRow.id == event_id, EventRow.status == QUEUED)
        session.execute(mine.values(status=status, trouble=trouble[:300]))
        if trouble:
            waiting = update(MatchRow).where(MatchRow.event == event_id, MatchRow.status == QUEUED)
            session.execute(waiting.values(status=DROPPED, ended=now_ms()))
        session.commit()


# The queue


def queue(
    engine: Engine,
    why: str,
    matches: Iterable[tuple[str, dict[str, Any], Sequence[str], int]],
    event: str | None,
    pair: str | None = None,
) -> None:
    """Queue matches: match id, spec, bots by seat, number in the event. Known ones stay as they are.

    All at once: a match cannot be over before the others of its pair are there.
    """
    with writing(engine) as session:
        for match, play_spec, bots, number in matches:
            versions = _versions(session, play_spec, bots)
            values = {"id": match, "game": play_spec["game"], "why": why, "event": event, "number": number}
            state = {"assignment": play_spec, "status": QUEUED, "queued": now_ms(), "tries": 0, "pair": pair}
            with suppress(IntegrityError), session.begin_nested():
                session.execute(insert(MatchRow).values(values | state))
                seats = enumerate(zip(bots, versions, strict=True))
                session.execute(
                    insert(MatchSeatRow), [{"match": match, "seat": s, "bot": b, "version": v} for s, (b, v) in seats]
                )


def _versions(session: Session, play_spec: dict[str, Any], bots: Sequence[str]) -> list[str]:
    """The versions that play, by seat: an uploaded one is named by its spec, of other bots it is the current one."""
    wanted = select(BotRow.id, BotRow.version).where(BotRow.id.in_(bots))
    current = dict(session.execute(wanted).tuples().all())
    specs = play_spec.get("bots", bots)
    uploaded = f"{UPLOADED}:"
    return [
        spec.removeprefix(uploaded) if spec.startswith(uploaded) else current.get(bot, "")
        for spec, bot in zip(specs, bots, strict=True)
    ]


def claim(engine: Engine, runner: str, busy: Sequence[str] = ()) -> ClaimedMatch | None:
    """Claim the next match that can be played: requested ones first, then the ladder.

    Events take turns, game by game, so that a long one does not block the others. Remote bots must be connected, and
    play one match at a time, and none while a person's game has reserved them; ``busy`` are bots to leave alone.
    """
    with writing(engine) as session:
        moment = clock_ms(session)
        expired = (MatchRow.status == PLAYING) & ~is_held(moment) & (MatchRow.runner != runner)  # who stalled goes on
        wanted = select(MatchRow).where(or_(MatchRow.status == QUEUED, expired))
        first = wanted.order_by(MatchRow.why == LADDER, MatchRow.number, MatchRow.queued, MatchRow.id).limit(50)
        for row in session.scalars(first).all():
            seats = select(MatchSeatRow.bot).where(MatchSeatRow.match == row.id).order_by(MatchSeatRow.seat)
            bots = tuple(session.scalars(seats))
            if set(bots) & set(busy) or not (_all_here(session, bots, moment) and _lock_remote(session, bots, moment)):
                continue
            open_ = MatchRow.status == QUEUED if row.status == QUEUED else expired
            mine = update(MatchRow).where(MatchRow.id == row.id, open_).execution_options(synchronize_session=False)
            if row.tries >= MAX_TRIES:
                session.execute(mine.values(status=DROPPED, ended=moment))
                continue
            state = {"status": PLAYING, "runner": runner, "begun": moment, "lease": moment + LEASE_MS}
            if row_count(session.execute(mine.values(**state, tries=row.tries + 1))):
                _seat_remote(session, row.id)
                return ClaimedMatch(row.id, row.why, row.event, row.assignment, bots)
    return None


def _seat_remote(session: Session, match: str) -> None:
    """Note which versions of remote bots play a match: those that are connected now."""
    remote = select(BotRow.id).where(BotRow.kind == REMOTE)
    current = select(BotRow.version).where(BotRow.id == MatchSeatRow.bot).scalar_subquery()
    seats = update(MatchSeatRow).where(MatchSeatRow.match == match, MatchSeatRow.bot.in_(remote))
    session.execute(seats.values(version=current).execution_options(synchronize_session=False))


def is_held(moment: int) -> Any:
    """SQL: whether the claim of a match holds. One that ends later than any made now was made by a wrong clock."""
    return (MatchRow.lease >= moment) & (MatchRow.lease <= moment + LEASE_MS + AHEAD_MS)


def _all_here(session: Session, bots: Sequence[str], moment: int) -> bool:
    """Whether all remote bots among these are connected and free."""
    remote = session.scalars(select(BotRow.id).where(BotRow.id.in_(bots), BotRow.kind == REMOTE)).all()
    for bot in remote:
        recent = is_recent(PresenceRow.seen, moment, HERE_MS)
        free = ~is_reserved(PresenceRow.bot, moment)
        present = session.scalar(select(PresenceRow.bot).where(PresenceRow.bot == bot, recent, free)) is not None
        playing = select(MatchRow.id).join(MatchSeatRow, MatchSeatRow.match == MatchRow.id)
        elsewhere = playing.where(MatchSeatRow.bot == bot, MatchRow.status == PLAYING, is_held(moment)).limit(1)
        if not present or session.scalar(elsewhere) is not None:
            return False
    return True


def _lock_remote(session: Session, bots: Sequence[str], moment: int) -> bool:
    """Lock the presences of the remote bots among these, as reservations do, and look again whether all are free."""
    mine = select(PresenceRow.bot).where(PresenceRow.bot.in_(bots)).order_by(PresenceRow.bot).with_for_update()
    return not session.scalars(mine).all() or _all_here(session, bots, moment)


def renew(engine: Engine, runner: str) -> None:
    """Renew the claims of a runner."""
    with Session(engine) as session:
        mine = update(MatchRow).where(MatchRow.status == PLAYING, MatchRow.runner == runner)
        session.execute(mine.values(lease=clock_ms(session) + LEASE_MS))
        session.commit()


def release(engine: Engine, runner: str, broken: bool = False) -> int:
    """Return the unfinished matches of a runner to the queue; their number.

    ``broken``: the runner ends because of an error that one of them may have caused, so the try counts.
    """
    with Session(engine) as session:
        mine = MatchRow.status == PLAYING, MatchRow.runner == runner
        session.execute(delete(LiveMatchRow).where(LiveMatchRow.match.in_(select(MatchRow.id).where(*mine))))
        free = {"status": QUEUED, "runner": None, "lease": None, "tries": MatchRow.tries - int(not broken)}
        freed = session.execute(update(MatchRow).where(*mine).values(free))
        announce(session, LEAGUE, runner)
        session.commit()
        return row_count(freed)


def busy_bots(engine: Engine) -> set[str]:
    """The bots with a ladder match queued or in progress."""
    wanted = select(MatchSeatRow.bot).join(MatchRow, MatchRow.id == MatchSeatRow.match)
    with Session(engine) as session:
        return set(session.scalars(wanted.where(MatchRow.status.in_((QUEUED, PLAYING)), MatchRow.why == LADDER)))


# Live views and records


def show(engine: Engine, match_id: str, version: int, view: dict[str, Any]) -> None:
    """Update the live view of a match."""
    with Session(engine) as session:
        changed = session.execute(
            update(LiveMatchRow).where(LiveMatchRow.match == match_id).values(version=version, view=view)
        )
        if not row_count(changed):
            session.add(LiveMatchRow(match=match_id, version=version, view=view))
        try:
            announce(session, LEAGUE, match_id)
            session.commit()
        except IntegrityError:  # it is over, or another process was quicker: the next move is soon shown
            session.rollback()


def live(engine: Engine) -> dict[str, tuple[str, int]]:
    """The matches in progress or just over, requested ones first: game and version of each."""
    wanted = select(LiveMatchRow.match, MatchRow.game, LiveMatchRow.version).join(
        MatchRow, MatchRow.id == LiveMatchRow.match
    )
    wanted = wanted.order_by(MatchRow.why == LADDER, MatchRow.begun, MatchRow.id)
    with Session(engine) as session:
        wanted = wanted.where(or_(MatchRow.status == PLAYING, has_just_ended(clock_ms(session))))
        return {match: (game, version) for match, game, version in session.execute(wanted).tuples()}


def has_just_ended(moment: int) -> Any:
    """SQL: whether a match ended so short a time ago that it is still shown."""
    return (MatchRow.status == DONE) & is_recent(MatchRow.ended, moment, LINGER_MS)


def live_views(engine: Engine, matches: Sequence[str]) -> dict[str, tuple[int, dict[str, Any]]]:
    """The live views of some matches: version and view."""
    wanted = select(LiveMatchRow.match, LiveMatchRow.version, LiveMatchRow.view).where(LiveMatchRow.match.in_(matches))
    with Session(engine) as session:
        return {match: (version, view) for match, version, view in session.execute(wanted).tuples()}


def find_match(engine: Engine, match_id: str) -> MatchInfo | None:
    """A match by its id."""
    found = _seen(
        engine,
        select(MatchRow, FinishedGameRow.counted, FinishedGameRow.contended)
        .outerjoin(FinishedGameRow)
        .where(MatchRow.id == match_id),
    )
    return found[0] if found else None


def recent(
    engine: Engine, game: str | None = None, bot: str | None = None, event: str | None = None, most: int = 20
) -> list[MatchInfo]:
    """The games finished last."""
    wanted = (
        select(MatchRow, FinishedGameRow.counted, FinishedGameRow.contended)
        .join(FinishedGameRow)
        .order_by(FinishedGameRow.ended.desc(), MatchRow.id)
        .limit(most)
    )
    if game is not None:
        wanted = wanted.where(MatchRow.game == game)
    if bot is not None:
        wanted = wanted.join(MatchSeatRow, MatchSeatRow.match == MatchRow.id).where(MatchSeatRow.bot == bot)
    if event is not None:
        wanted = wanted.where(MatchRow.event == event)
    return _seen(engine, wanted)


def _seen(engine: Engine, wanted: Any) -> list[MatchInfo]:
    with Session(engine) as session:
        rows = session.execute(wanted).all()
        seats: dict[str, list[str]] = {}
        places = (
            select(MatchSeatRow)
            .where(MatchSeatRow.match.in_([row.id for row, _, _ in rows]))
            .order_by(MatchSeatRow.seat)
        )
        for place in session.scalars(places):
            seats.setdefault(place.match, []).append(place.bot)
        return [
            MatchInfo(
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
                bool(contended),
            )
            for row, counted, contended in rows
        ]


def record_of(engine: Engine, match_id: str) -> KeptRecord | None:
    """The record of a finished game."""
    with Session(engine) as session:
        found = session.execute(_records().where(FinishedGameRow.match == match_id)).first()
    return None if found is None else KeptRecord(unpacked(found[0]), bool(found[1]))


def records_of(engine: Engine, bot: str) -> Iterator[KeptRecord]:
    """All records of a bot, in the order in which the games finished. No connection is held between two records."""
    games = games_of(engine, bot)
    for at in range(0, len(games), RECORD_PAGE):
        for packed, sealed in packed_records(engine, games[at : at + RECORD_PAGE]):
            yield KeptRecord(unpacked(packed), sealed)


def games_of(engine: Engine, bot: str) -> list[str]:
    """The finished matches of a bot, in the order in which they finished."""
    wanted = (
        select(FinishedGameRow.match)
        .join(MatchSeatRow, MatchSeatRow.match == FinishedGameRow.match)
        .where(MatchSeatRow.bot == bot)
        .order_by(FinishedGameRow.ended, FinishedGameRow.match)
    )
    with Session(engine) as session:
        return list(session.scalars(wanted))


def packed_records(engine: Engine, matches: Sequence[str]) -> list[tuple[bytes, bool]]:
    """The records of some finished matches as stored, in this order, and whether their seeds are secret.

    Those that were deleted meanwhile are left out.
    """
    wanted = _records().add_columns(FinishedGameRow.match).where(FinishedGameRow.match.in_(matches))
    with Session(engine) as session:
        found = {match: (packed, bool(sealed)) for packed, sealed, match in session.execute(wanted)}
    return [found[match] for match in matches if match in found]


def _records() -> Any:
    """SQL: records, and whether their seeds are secret."""
    other = aliased(MatchRow)
    unfinished = select(other.id).where(other.status.in_((QUEUED, PLAYING)))
    sealed = or_(
        select(EventRow.id).where(EventRow.id == MatchRow.event, EventRow.status == QUEUED).exists(),
        unfinished.where(other.event == MatchRow.event).exists(),
        unfinished.where(other.pair == MatchRow.pair).exists(),
    )
    return select(FinishedGameRow.record, sealed).join(MatchRow, MatchRow.id == FinishedGameRow.match)


def is_sealed(engine: Engine, event_id: str) -> bool:
    """Whether the secret of an event must not be told: some of its games are not over."""
    unfinished = MatchRow.event == event_id, MatchRow.status.in_((QUEUED, PLAYING))
    with Session(engine) as session:
        event = session.get(EventRow, event_id)
        games = session.scalar(select(MatchRow.id).where(*unfinished).limit(1))
        return event is None or event.status == QUEUED or games is not None


def logs_of(engine: Engine, match_id: str) -> dict[int, Any]:
    """The private logs of a finished game, by seat."""
    wanted = select(PrivateLogRow.seat, PrivateLogRow.content).where(PrivateLogRow.match == match_id)
    with Session(engine) as session:
        return {seat: unpacked(content) for seat, content in session.execute(wanted).tuples()}


def event_games(engine: Engine, event_id: str) -> list[tuple[str, int, dict[str, Any] | None, str]]:
    """All matches of an event so far, in order: id, number, result, status."""
    wanted = select(MatchRow.id, MatchRow.number, FinishedGameRow.counted, MatchRow.status).outerjoin(FinishedGameRow)
    with Session(engine) as session:
        rows = session.execute(wanted.where(MatchRow.event == event_id).order_by(MatchRow.number, MatchRow.id))
        return [(match, number, counted, status) for match, number, counted, status in rows]


def played_of(engine: Engine, event_id: str) -> int:
    """Number of finished games of an event."""
    wanted = select(func.count()).select_from(MatchRow).where(MatchRow.event == event_id, MatchRow.status == DONE)
    with Session(engine) as session:
        return session.scalar(wanted) or 0


# Runners


def report(engine: Engine, runner: str, ladder: str, workers: int, word: str) -> None:
    """Record that a runner is alive and what it does; forget runners that have long been silent."""
    with Session(engine) as session:
        moment = clock_ms(session)
        values = {"ladder": ladder, "workers": workers, "word": word[:200], "seen": moment}
        if not row_count(session.execute(update(RunnerRow).where(RunnerRow.id == runner).values(**values))):
            session.add(RunnerRow(id=runner, **values))
        session.execute(delete(RunnerRow).where(~is_recent(RunnerRow.seen, moment, 20 * LEASE_MS)))
        session.commit()


def runners(engine: Engine) -> list[RunnerRow]:
    """The runners that are alive."""
    with Session(engine, expire_on_commit=False) as session:
        recent = is_recent(RunnerRow.seen, clock_ms(session), LEASE_MS)
        return list(session.scalars(select(RunnerRow).where(recent).order_by(RunnerRow.id)))


def dismiss(engine: Engine, runner: str, broken: bool = False) -> None:
    """Remove a runner; ``broken``: it ends because of an error."""
    release(engine, runner, broken)
    with Session(engine) as session:
        session.execute(delete(RunnerRow).where(RunnerRow.id == runner))
        session.commit()
