"""Connections of remote bots: which web process holds one, since when nothing was heard of it, and who may use it."""

from typing import Any

from sqlalchemy import Engine, delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from ludodrome.store.announcements import BOT, announce
from ludodrome.store.database import AHEAD_MS, clock_ms, is_recent, row_count
from ludodrome.store.league_models import PresenceRow, ReservationRow

HERE_MS = 30_000
"""Milliseconds for which a remote bot counts as connected after it was last seen."""
RESERVATION_MS = 300_000
"""Milliseconds after which a person's game that does not go on gives a remote bot back."""
MAX_QUESTION_MS = 3_600_000
"""Milliseconds, at most, that a reservation outlasts a question to the bot."""


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


def is_reserved(bot: Any, moment: int) -> Any:
    """SQL: whether a person's game has reserved a remote bot."""
    return select(ReservationRow.play).where(ReservationRow.bot == bot, reservation_holds(moment)).exists()


def reservation_holds(moment: int) -> Any:
    """SQL: whether a reservation holds. One that expires later than any made now was made by a wrong clock."""
    latest = moment + MAX_QUESTION_MS + RESERVATION_MS + AHEAD_MS
    return (ReservationRow.expires >= moment) & (ReservationRow.expires <= latest)
