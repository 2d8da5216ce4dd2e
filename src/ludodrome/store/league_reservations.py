"""Reservations of remote bots: a remote bot plays one game at a time, and games of people take their turn with matches.

A person's game reserves the bot when it begins. While a bot has reservations, runners leave it alone. The oldest one
has the bot as soon as no match does; the others wait. A reservation expires if its game does not go on. Each question
to the bot belongs to one web process, so that two that have the same game in memory do not both ask.
"""

from contextlib import suppress
from typing import Any

from sqlalchemy import Engine, delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from ludodrome.store.database import clock_ms, is_recent, writing
from ludodrome.store.league_matches import is_held
from ludodrome.store.league_models import PLAYING, BotRow, MatchRow, MatchSeatRow, PresenceRow, ReservationRow
from ludodrome.store.league_presence import HERE_MS, MAX_QUESTION_MS, RESERVATION_MS, reservation_holds

AWAY, IN_MATCH, IN_PLAY, ELSEWHERE, TOO_MANY = ("away", "match", "play", "elsewhere", "limit")
"""Why a remote bot cannot be asked: it is not connected; a match has it; the game of somebody who came first has it;
another web process asks it for this game; the caller's other games have as many bots as a caller may hold."""
MARGIN_MS = 10_000
"""How long after its end a question is still open: the time to connect to the bot, and to save its answer."""


def reserve(
    engine: Engine,
    bot: str,
    play: str,
    caller: str | None,
    process: str,
    seconds: float | None = None,
    most: int | None = None,
) -> str | None:
    """Reserve a bot for a game, or renew that; return None, or why it cannot be asked now. It waits in both cases.

    ``seconds``: ask it for a move that may take that long; None: do not ask yet. ``most``: bots that one caller may
    hold; the reservations of the caller's games that were idle longest are released.
    """
    with suppress(IntegrityError), writing(engine) as session:  # another process was first with the same reservation
        present = is_recent(PresenceRow.seen, clock_ms(session), HERE_MS)
        here = select(PresenceRow.bot).where(PresenceRow.bot == bot, present).with_for_update()  # claims lock it too
        is_present = session.scalar(here) is not None
        moment = clock_ms(session)
        session.execute(delete(ReservationRow).where(~reservation_holds(moment)))
        row = session.get(ReservationRow, (bot, play), with_for_update=True)
        if row is None:
            if not _make_room(session, caller, most, moment):
                return TOO_MANY
            row = ReservationRow(bot=bot, play=play, caller=caller, asked=moment, process="", answer_by=0)
            session.add(row)
        row.expires = max(row.expires or 0, moment + RESERVATION_MS)
        session.flush()
        if row.process != process and row.answer_by >= moment:
            return ELSEWHERE
        why = _obstacle(session, bot, play, is_present, moment)
        if why is None and seconds is not None:
            row.process, row.answer_by = process, moment + min(int(seconds * 1000) + MARGIN_MS, MAX_QUESTION_MS)
            row.expires = row.answer_by + RESERVATION_MS
        return why
    return ELSEWHERE


def obstacle(engine: Engine, bot: str, play: str) -> str | None:
    """Why a bot could not be asked for a game now: ``AWAY``, ``IN_MATCH`` or ``IN_PLAY``; None if it could."""
    with Session(engine) as session:
        moment = clock_ms(session)
        present = is_recent(PresenceRow.seen, moment, HERE_MS)
        here = session.scalar(select(PresenceRow.bot).where(PresenceRow.bot == bot, present)) is not None
        return _obstacle(session, bot, play, here, moment)


def rest(engine: Engine, bot: str, play: str, process: str) -> None:
    """The question of this process has ended; the game keeps the bot for a while."""
    mine = (ReservationRow.bot == bot, ReservationRow.play == play, ReservationRow.process == process)
    with Session(engine) as session:
        expires = clock_ms(session) + RESERVATION_MS
        session.execute(update(ReservationRow).where(*mine).values(answer_by=0, expires=expires))
        session.commit()


def release(engine: Engine, play: str, process: str | None = None) -> None:
    """Give the bots of a game back; ``process``: only those that this process asked last."""
    mine: list[Any] = [ReservationRow.play == play]
    if process is not None:
        mine.append(ReservationRow.process == process)
    with Session(engine) as session:
        session.execute(delete(ReservationRow).where(*mine))
        session.commit()


def _make_room(session: Session, caller: str | None, most: int | None, moment: int) -> bool:
    """Release what a caller holds beyond a limit, one more included; False if bots are thinking in all of it."""
    if caller is None or most is None:
        return True
    mine = select(ReservationRow).where(ReservationRow.caller == caller, reservation_holds(moment))
    held = session.scalars(mine.order_by(ReservationRow.expires).with_for_update()).all()
    idle = [row for row in held if row.answer_by < moment]
    for row in idle[: max(0, len(held) + 1 - most)]:
        session.delete(row)
    return len(held) - len(idle) < most


def _obstacle(session: Session, bot: str, play: str, present: bool, moment: int) -> str | None:
    row = session.get(BotRow, bot)
    if not present or row is None or row.retired is not None or row.banned:
        return AWAY
    playing = select(MatchRow.id).join(MatchSeatRow, MatchSeatRow.match == MatchRow.id)
    match = playing.where(MatchSeatRow.bot == bot, MatchRow.status == PLAYING, is_held(moment)).limit(1)
    if session.scalar(match) is not None:
        return IN_MATCH
    waiting = select(ReservationRow.play).where(ReservationRow.bot == bot, reservation_holds(moment))
    first = session.scalar(waiting.order_by(ReservationRow.asked, ReservationRow.play).limit(1))
    return IN_PLAY if first not in (None, play) else None
