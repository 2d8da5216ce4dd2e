"""What is kept about people: the audit log, the export of an account's data, its deletion.

The log says who did what to which account or bot, when, and from which address. It never holds secrets or passwords.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Engine, delete, func, or_, select, update
from sqlalchemy.orm import Session

from ludodrome.store.announcements import ACCOUNT, BOT, TOKEN, announce
from ludodrome.store.database import writing
from ludodrome.store.league_models import (
    DROPPED,
    QUEUED,
    BotRow,
    BotVersionRow,
    EventRow,
    MatchRow,
    MatchSeatRow,
    PresenceRow,
    PrivateLogRow,
    RatingRow,
)
from ludodrome.store.models import (
    ADDRESS_LENGTH,
    LABEL_LENGTH,
    LOCAL,
    AccountRow,
    AuditRow,
    PlayRow,
    SecondFactorRow,
    SignInRow,
    SolvedPuzzleRow,
    TokenRow,
    iso_time,
    now_ms,
    unpacked,
)

if TYPE_CHECKING:
    from ludodrome.store.accounts import AccountInfo

Json = dict[str, Any]

KEEP_MS = 400 * 24 * 60 * 60 * 1000
"""Entries are kept for 400 days."""
FAILURE_MS = 10 * 60 * 1000
"""Failures of one account from one address within this time are one entry with a count."""
MAX_FAILURES = 500
"""Entries about failures within that time, at most; further ones are counted in one entry together."""

SIGNED_UP, SIGNED_IN, SIGNED_OUT = "sign-up", "sign-in", "sign-out"
SIGN_IN_FAILED, CODE_FAILED = "sign-in-failed", "code-failed"
PASSWORD_CHANGED, PASSWORD_RESET = "password-changed", "password-reset"
TOKEN_MADE, TOKEN_REVOKED = "token-made", "token-revoked"
FACTOR_ON, FACTOR_OFF, RECOVERY_USED = "second-factor-on", "second-factor-off", "recovery-code-used"
ADMIN_GRANTED, ADMIN_REVOKED = "admin-granted", "admin-revoked"
ACCOUNT_BANNED, ACCOUNT_UNBANNED = "account-banned", "account-unbanned"
BOT_BANNED, BOT_UNBANNED = "bot-banned", "bot-unbanned"
BOT_PAUSED, BOT_RESUMED = "bot-paused", "bot-resumed"
EXPORTED, DELETED = "account-exported", "account-deleted"
BACKED_UP, RESTORED = "backup", "restore"
ACTIONS = (
    *(SIGNED_UP, SIGNED_IN, SIGN_IN_FAILED, CODE_FAILED, SIGNED_OUT, PASSWORD_CHANGED, PASSWORD_RESET),
    *(TOKEN_MADE, TOKEN_REVOKED, FACTOR_ON, FACTOR_OFF, RECOVERY_USED, ADMIN_GRANTED, ADMIN_REVOKED),
    *(ACCOUNT_BANNED, ACCOUNT_UNBANNED, BOT_BANNED, BOT_UNBANNED, BOT_PAUSED, BOT_RESUMED),
    *(EXPORTED, DELETED, BACKED_UP, RESTORED),
)
"""Every action of the log."""


class Actor(NamedTuple):
    """Who does something: an account, or a name such as "command line"; and the address."""

    id: str | None
    name: str
    address: str = ""


SYSTEM = Actor(None, "server")


class AuditEntry(NamedTuple):
    """An entry of the log."""

    id: int
    at: int
    actor_id: str | None
    actor: str
    action: str
    subject_id: str
    subject: str
    details: Json
    address: str


# The log


def record(session: Session, by: Actor, action: str, subject_id: str = "", subject: str = "", **details: Any) -> None:
    """Add an entry in the transaction of ``session``; without a ``subject`` the name is that of the account."""
    if subject_id and not subject:
        subject = session.scalar(select(AccountRow.name).where(AccountRow.id == subject_id)) or ""
    session.add(_row(by, action, subject_id, subject, details))


def note(engine: Engine, by: Actor, action: str, subject_id: str = "", subject: str = "", **details: Any) -> None:
    """Add an entry about something that is not a change of the database."""
    with Session(engine) as session:
        prune(session)
        record(session, by, action, subject_id, subject, **details)
        session.commit()


def note_failure(engine: Engine, action: str, person: "AccountInfo | None", address: str) -> None:
    """Add or count a failure to sign in. ``person`` is None for a name that nobody has, which is not kept.

    People type passwords where names belong, so only names of accounts are written down.
    """
    account_id, name = ("", "") if person is None else person[:2]
    since = now_ms() - FAILURE_MS
    with writing(engine) as session:
        recent = select(AuditRow).where(AuditRow.action == action, AuditRow.at >= since)
        same = recent.where(AuditRow.subject_id == account_id, AuditRow.address == address[:ADDRESS_LENGTH])
        row = session.scalar(same.order_by(AuditRow.id.desc()).limit(1).with_for_update())
        if row is None:
            number = session.scalar(select(func.count()).select_from(recent.subquery())) or 0
            if number < MAX_FAILURES:
                record(session, Actor(None, "", address), action, account_id, name, times=1)
                return
            together = recent.where(AuditRow.subject_id == "", AuditRow.address == "")
            row = session.scalar(together.order_by(AuditRow.id.desc()).limit(1).with_for_update())
            if row is None:
                record(session, Actor(None, ""), action, times=1)
                return
        row.details = {**row.details, "times": row.details.get("times", 1) + 1}


def prune(session: Session) -> None:
    """Delete what is too old."""
    session.execute(delete(AuditRow).where(AuditRow.at < now_ms() - KEEP_MS))


def entries(
    engine: Engine, account: str | None = None, action: str | None = None, before: int | None = None, most: int = 100
) -> list[AuditEntry]:
    """The latest entries: about or by an account, given by id or name; of an action; before the entry of an id."""
    wanted = select(AuditRow).where(AuditRow.at >= now_ms() - KEEP_MS).order_by(AuditRow.id.desc()).limit(most)
    if account is not None:
        columns = (AuditRow.actor_id, AuditRow.actor, AuditRow.subject_id, AuditRow.subject)
        wanted = wanted.where(or_(*(column == account for column in columns)))
    if action is not None:
        wanted = wanted.where(AuditRow.action == action)
    if before is not None:
        wanted = wanted.where(AuditRow.id < before)
    with Session(engine) as session:
        return [_entry(row) for row in session.scalars(wanted)]


def _row(by: Actor, action: str, subject_id: str, subject: str, details: Json) -> AuditRow:
    return AuditRow(
        at=now_ms(),
        actor_id=by.id,
        actor=by.name[:LABEL_LENGTH],
        action=action,
        subject_id=subject_id,
        subject=subject[:LABEL_LENGTH],
        details=details,
        address=by.address[:ADDRESS_LENGTH],
    )


def _entry(row: AuditRow) -> AuditEntry:
    names = AuditEntry._fields
    return AuditEntry(*(getattr(row, name) for name in names))


# Deletion


def delete_account(engine: Engine, account_id: str, by: Actor) -> None:
    """Delete an account with its sessions, tokens, second factor and solved puzzles.

    Its bots retire for good, without owner, token and source; games and records stay, under the names they were played
    with. Its plays stay without an owner. ValueError for the person at this machine.
    """
    if account_id == LOCAL:
        raise ValueError("the account of the person at this machine cannot be deleted")
    with writing(engine) as session:
        account = session.get(AccountRow, account_id, with_for_update=True)
        if account is None:
            raise ValueError("there is no such account")
        bots = list(session.scalars(select(BotRow.id).where(BotRow.owner == account_id)))
        _withdraw(session, bots)
        for token in session.scalars(select(TokenRow.id).where(TokenRow.account_id == account_id)):
            announce(session, TOKEN, token)
        session.execute(update(EventRow).where(EventRow.asked_by == account_id).values(asked_by=None))
        record(session, by, DELETED, account_id, account.name, bots=len(bots))
        session.flush()
        session.execute(delete(AccountRow).where(AccountRow.id == account_id))  # the rest by foreign keys
        announce(session, ACCOUNT, account_id)


def _withdraw(session: Session, bots: list[str]) -> None:
    """Take bots out of the league for good."""
    moment = now_ms()
    gone = {"owner": None, "token": None, "retired": func.coalesce(BotRow.retired, moment)}
    session.execute(update(BotRow).where(BotRow.id.in_(bots)).values(gone))
    nothing = {"source": "", "size": 0, "findings": [], "identity": ""}  # versions stay: ratings are theirs
    session.execute(update(BotVersionRow).where(BotVersionRow.bot.in_(bots)).values(nothing))
    session.execute(delete(PresenceRow).where(PresenceRow.bot.in_(bots)))
    seat = MatchSeatRow.match == PrivateLogRow.match, MatchSeatRow.seat == PrivateLogRow.seat
    session.execute(
        delete(PrivateLogRow).where(select(MatchSeatRow.bot).where(*seat, MatchSeatRow.bot.in_(bots)).exists())
    )
    waiting = MatchRow.status == QUEUED
    theirs = select(MatchSeatRow.match).where(MatchSeatRow.bot.in_(bots))
    session.execute(update(MatchRow).where(waiting, MatchRow.id.in_(theirs)).values(status=DROPPED, ended=moment))
    for event in session.scalars(select(EventRow).where(EventRow.status == QUEUED)):
        if set(event.bots.values()) & set(bots):
            event.status, event.trouble = DROPPED, "a bot was withdrawn with its owner's account"
            session.execute(
                update(MatchRow).where(waiting, MatchRow.event == event.id).values(status=DROPPED, ended=moment)
            )
    for bot in bots:
        announce(session, BOT, bot)


# Export


def export_account(engine: Engine, account_id: str) -> Iterator[str]:
    """Everything that is kept about an account as one JSON object, in parts, without any secret.

    Each part is read in a transaction of its own, so no connection is held while a part is sent.
    """
    with Session(engine) as session:
        head = _head(session, account_id)
        bots = list(session.scalars(select(BotRow.id).where(BotRow.owner == account_id).order_by(BotRow.created)))
        plays = list(session.scalars(select(PlayRow.id).where(PlayRow.owner_id == account_id).order_by(PlayRow.begun)))
    yield json.dumps(head, indent=1)[:-2]
    for name, ids, read in (("bots", bots, _bot), ("plays", plays, _play)):
        yield f',\n "{name}": ['
        for number, one in enumerate(ids):
            with Session(engine) as session:
                text = json.dumps(read(session, one))
            yield ("," if number else "") + "\n  " + text
        yield "]"
    yield ',\n "audit": ['
    before, mark = None, ""
    while found := entries(engine, account_id, before=before):
        for entry in found:
            yield f"{mark}\n  {json.dumps({**entry._asdict(), 'at': iso_time(entry.at)})}"
            mark = ","
        before = found[-1].id
    yield "]}\n"


def _head(session: Session, account_id: str) -> Json:
    account = session.get(AccountRow, account_id)
    if account is None:
        raise ValueError("there is no such account")
    sessions = session.scalars(select(SignInRow).where(SignInRow.account_id == account_id).order_by(SignInRow.made))
    tokens = session.scalars(select(TokenRow).where(TokenRow.account_id == account_id).order_by(TokenRow.made))
    solved = select(SolvedPuzzleRow.puzzle).where(SolvedPuzzleRow.account_id == account_id)
    events = select(EventRow).where(EventRow.asked_by == account_id).order_by(EventRow.created)
    factor = session.get(SecondFactorRow, account_id)
    return {
        "format": "ludodrome account",
        "exported": iso_time(now_ms()),
        "account": {
            "id": account.id,
            "name": account.name,
            "admin": account.admin,
            "banned": account.banned,
            "made": iso_time(account.made),
            "password_set": iso_time(account.password_set) if account.password_set else None,
            "second_factor": iso_time(factor.made) if factor is not None and factor.confirmed else None,
        },
        "sessions": [_times(one, "id", "browser", "network", "made", "seen", "ends") for one in sessions],
        "tokens": [_times(one, "id", "label", "scopes", "made", "used") for one in tokens],
        "solved_puzzles": sorted(session.scalars(solved)),
        "events": [_times(one, "id", "game", "why", "name", "status", "created") for one in session.scalars(events)],
    }


def _bot(session: Session, bot_id: str) -> Json:
    bot = session.get_one(BotRow, bot_id)
    rating = session.get(RatingRow, bot.version)
    versions = session.scalars(select(BotVersionRow).where(BotVersionRow.bot == bot_id).order_by(BotVersionRow.number))
    return {
        **_times(bot, "id", "game", "name", "kind", "created", "retired", "banned"),
        "rating": None if rating is None else {key: getattr(rating, key) for key in ("mu", "sigma", "games")},
        "versions": [_times(one, "number", "created", "identity", "source", "findings") for one in versions],
    }


def _play(session: Session, play_id: str) -> Json:
    """A play with its record; of one that goes on nothing that the page would not show."""
    play = session.get_one(PlayRow, play_id)
    names = play.assignment.get("names")
    shown = {"names": names, "record": None if play.record is None else unpacked(play.record)}
    return {**_times(play, "id", "game", "kinds", "begun", "finished", "result"), **shown}


TIMES = frozenset({"made", "seen", "ends", "used", "created", "retired", "begun", "finished"})


def _times(row: Any, *names: str) -> Json:
    """Some columns of a row, with times as text."""
    values = {name: getattr(row, name) for name in names}
    return {name: iso_time(value) if name in TIMES and value is not None else value for name, value in values.items()}
