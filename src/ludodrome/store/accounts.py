"""Accounts, sign-ins, second factors and tokens. Deletion and export are in ``audit.py``.

Passwords arrive hashed. Secrets of sessions and tokens are returned once and kept as digests. Changes are recorded in
the audit log and announced to the other web processes in the same transaction; ``by`` says who makes them.
"""

import hashlib
import secrets
import unicodedata
from contextlib import suppress
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Engine, Update, delete, select, update
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session

from ludodrome.store import audit
from ludodrome.store.announcements import ACCOUNT as ACCOUNT_TOPIC
from ludodrome.store.announcements import TOKEN as TOKEN_TOPIC
from ludodrome.store.announcements import announce
from ludodrome.store.audit import SYSTEM, Actor
from ludodrome.store.database import writing
from ludodrome.store.models import (
    ADDRESS_LENGTH,
    FOLDED_LENGTH,
    LABEL_LENGTH,
    LOCAL,
    NAME_LENGTH,
    AccountRow,
    SecondFactorRow,
    SettingRow,
    SignInRow,
    TokenRow,
    now_ms,
)

ID_BYTES, SECRET_BYTES = 9, 32
MIN_NAME = 2
SESSION_DAYS = 30
MAX_SIGN_INS, MAX_TOKENS = 20, 50
"""Per account; the oldest sign-in gives way, a token does not."""
DAY_MS = 24 * 60 * 60 * 1000
ONCE_MS = 7 * DAY_MS
"""How long a one-time password is valid."""
SEEN_EVERY_MS = 60_000
"""Resolution of the time of last use, so that not every use is a write."""
RESERVED = frozenset({"admin", "administrator", "guest", LOCAL, "ludodrome", "moderator", "person", "root", "system"})
PUNCTUATION = frozenset(" -._")
TOGETHER = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"})
"""Scripts that are written together."""
PLAY, BOTS, ADMIN, ACCOUNT = "play", "bots", "admin", "account"
SCOPES = (PLAY, BOTS, ADMIN)
"""Scopes of a token. Only sessions have ``account``, the right to change passwords and tokens."""


class AccountInfo(NamedTuple):
    """The public part of an account."""

    id: str
    name: str
    admin: bool
    banned: bool
    made: int


class StoredCredentials(NamedTuple):
    """An account with what signing in to it needs."""

    person: AccountInfo
    password: str | None
    """Its hash; None if it cannot be used to sign in."""
    password_set: int
    once: bool
    """Whether the password is a one-time password."""
    second_factor: bool


class Identity(NamedTuple):
    """The owner of a secret, and its scopes."""

    person: AccountInfo
    scopes: frozenset[str]
    sign_in: str | None
    """The id of the sign-in; None for a token."""
    token: str | None = None
    """The id of the token; None for a sign-in."""


# Names


def fold_name(name: str) -> str:
    """A name for comparison, without case and encoding variants."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def read_name(text: str) -> tuple[str, str]:
    """A name for display and for comparison; ValueError if it is not valid."""
    shown = " ".join(unicodedata.normalize("NFC", text).split(" "))
    folded = fold_name(shown)
    if not MIN_NAME <= len(shown) <= NAME_LENGTH or len(folded) > FOLDED_LENGTH:
        raise ValueError(f"a name has {MIN_NAME} to {NAME_LENGTH} characters")
    for sign in shown:
        if sign not in PUNCTUATION and unicodedata.category(sign)[0] not in "LMN":
            raise ValueError("a name consists of letters, digits, spaces, and - . _")
    if {shown[0], shown[-1]} & PUNCTUATION or unicodedata.category(shown[0])[0] == "M" or "  " in shown:
        raise ValueError("a name begins and ends with a letter or a digit, and has single spaces")
    scripts = {unicodedata.name(sign, "UNKNOWN").split()[0] for sign in folded if unicodedata.category(sign)[0] == "L"}
    if len(scripts) > 1 and not scripts <= TOGETHER:
        raise ValueError("a name uses one alphabet, so that names cannot be confused")
    if folded in RESERVED:
        raise ValueError(f"the name {shown} is reserved")
    return shown, folded


# People


def ensure_local(engine: Engine) -> None:
    """Add the account of the person at this machine, unless it exists."""
    row = AccountRow(id=LOCAL, name="You", folded=LOCAL, password=None, admin=True, banned=False, made=now_ms())
    with Session(engine) as session:
        session.add(row)
        try:
            session.commit()
        except IntegrityError:
            session.rollback()


def add_account(engine: Engine, name: str, password: str, *, admin: bool = False, address: str = "") -> AccountInfo:
    """Add an account with a hashed password; ValueError if the name is not valid or taken."""
    shown, folded = read_name(name)
    moment = now_ms()
    row = AccountRow(id=new_id(), name=shown, folded=folded, password=password, admin=admin, banned=False)
    row.made = row.password_set = moment
    with Session(engine) as session:
        session.add(row)
        audit.record(session, Actor(row.id, shown, address), audit.SIGNED_UP, row.id, shown)
        try:
            session.commit()
        except IntegrityError as error:
            raise ValueError(f"the name {shown} is taken") from error
        return _person(row)


def find_account(engine: Engine, name: str) -> tuple[AccountInfo, str | None] | None:
    """An account by its name, with its hashed password; None if there is none."""
    found = credentials(engine, name)
    return None if found is None else found[:2]


def account_of(engine: Engine, account_id: str) -> tuple[AccountInfo, str | None] | None:
    """An account by its id, with its hashed password."""
    found = credentials(engine, account_id=account_id)
    return None if found is None else found[:2]


def credentials(engine: Engine, name: str | None = None, account_id: str | None = None) -> StoredCredentials | None:
    """An account, by its name or its id, with what signing in needs; None if there is none."""
    try:
        named = AccountRow.id == account_id if name is None else AccountRow.folded == read_name(name)[1]
    except ValueError:
        return None
    with Session(engine) as session:
        factor = SecondFactorRow.account_id == AccountRow.id
        found = session.execute(select(AccountRow, SecondFactorRow).outerjoin(SecondFactorRow, factor).where(named))
        row, second = found.first() or (None, None)
        if row is None:
            return None
        expired = row.password_once and row.password_set < now_ms() - ONCE_MS
        rest = row.password_set, row.password_once, second is not None and second.confirmed
        return StoredCredentials(_person(row), None if expired else row.password, *rest)


def accounts(engine: Engine) -> list[AccountInfo]:
    """All accounts, by name."""
    with Session(engine) as session:
        return [_person(row) for row in session.scalars(select(AccountRow).order_by(AccountRow.folded))]


def set_password(engine: Engine, account_id: str, password: str, *, once: bool = False, by: Actor = SYSTEM) -> None:
    """Set a new hashed password and end all sessions; ``once``: its owner must choose another to sign in."""
    with Session(engine) as session:
        values = {"password": password, "password_set": now_ms(), "password_once": once}
        session.execute(update(AccountRow).where(AccountRow.id == account_id).values(values))
        _end_sessions(session, SignInRow.account_id == account_id, account_id)
        audit.record(session, by, audit.PASSWORD_RESET if once else audit.PASSWORD_CHANGED, account_id)
        session.commit()


def _end_sessions(session: Session, which: ColumnElement[bool], account_id: str) -> int:
    """End sessions of an account, in all web processes; their number."""
    gone = session.execute(delete(SignInRow).where(which, SignInRow.account_id == account_id))
    announce(session, ACCOUNT_TOPIC, account_id)
    return _rows(gone)


def set_hash(engine: Engine, account_id: str, password: str) -> None:
    """Replace the hash of the same password; sessions go on."""
    with Session(engine) as session:
        session.execute(update(AccountRow).where(AccountRow.id == account_id).values(password=password))
        session.commit()


def set_admin(engine: Engine, account_id: str, admin: bool, by: Actor = SYSTEM) -> None:
    """Grant or revoke administrator rights."""
    with Session(engine) as session:
        session.execute(update(AccountRow).where(AccountRow.id == account_id).values(admin=admin))
        audit.record(session, by, audit.ADMIN_GRANTED if admin else audit.ADMIN_REVOKED, account_id)
        announce(session, ACCOUNT_TOPIC, account_id)
        session.commit()


def set_banned(engine: Engine, account_id: str, banned: bool, by: Actor = SYSTEM) -> None:
    """Ban an account and end its sessions, or lift the ban. ValueError for the person at this machine."""
    if account_id == LOCAL:
        raise ValueError("the account of the person at this machine cannot be banned")
    with Session(engine) as session:
        session.execute(update(AccountRow).where(AccountRow.id == account_id).values(banned=banned))
        if banned:
            _end_sessions(session, SignInRow.account_id == account_id, account_id)
        audit.record(session, by, audit.ACCOUNT_BANNED if banned else audit.ACCOUNT_UNBANNED, account_id)
        session.commit()


# Sessions


def sign_in(engine: Engine, account_id: str, browser: str, address: str = "") -> str:
    """Add a session and return its secret, which is not kept."""
    secret = secrets.token_urlsafe(SECRET_BYTES)
    moment = now_ms()
    with writing(engine) as session:
        mine = (
            select(SignInRow.id).where(SignInRow.account_id == account_id).order_by(SignInRow.made.desc(), SignInRow.id)
        )
        old = session.scalars(mine.offset(MAX_SIGN_INS - 1)).all()
        session.execute(delete(SignInRow).where(SignInRow.ends < moment))
        if old:
            _end_sessions(session, SignInRow.id.in_(old), account_id)
        session.add(
            SignInRow(
                id=new_id(),
                digest=digest(secret),
                account_id=account_id,
                browser=_plain(browser, 200),
                network=_plain(address, ADDRESS_LENGTH),
                made=moment,
                seen=moment,
                ends=moment + SESSION_DAYS * DAY_MS,
            )
        )
        audit.prune(session)
        name = session.scalar(select(AccountRow.name).where(AccountRow.id == account_id)) or ""
        audit.record(session, Actor(account_id, name, address), audit.SIGNED_IN, account_id, name)
    return secret


def session_of(engine: Engine, secret: str) -> Identity | None:
    """The owner of a session; None if it has ended."""
    with Session(engine) as session:
        wanted = select(SignInRow, AccountRow).join(AccountRow, AccountRow.id == SignInRow.account_id)
        found = session.execute(wanted.where(SignInRow.digest == digest(secret))).first()
        if found is None or found[0].ends < now_ms() or found[1].banned:
            return None
        row, account = found
        person = _person(account)
        known, stale = Identity(person, session_scopes(person), row.id), _stale(row.seen)
    if stale:
        _note(engine, update(SignInRow).where(SignInRow.id == known.sign_in).values(seen=now_ms()))
    return known


def session_scopes(person: AccountInfo) -> frozenset[str]:
    """The scopes of a session: everything its account may do."""
    return frozenset({PLAY, BOTS, ACCOUNT, *([ADMIN] if person.admin else [])})


def sign_ins(engine: Engine, account_id: str) -> list[SignInRow]:
    """The sessions of an account, the latest first."""
    with Session(engine, expire_on_commit=False) as session:
        wanted = select(SignInRow).where(SignInRow.account_id == account_id, SignInRow.ends >= now_ms())
        return list(session.scalars(wanted.order_by(SignInRow.seen.desc(), SignInRow.id)))


def sign_out(engine: Engine, account_id: str, sign_in_id: str, by: Actor = SYSTEM) -> bool:
    """End a session; False if the account does not have it."""
    with Session(engine) as session:
        gone = _end_sessions(session, SignInRow.id == sign_in_id, account_id)
        if gone:
            audit.record(session, by, audit.SIGNED_OUT, account_id)
            session.commit()
        return bool(gone)


def sign_out_others(engine: Engine, account_id: str, sign_in_id: str | None, by: Actor = SYSTEM) -> int:
    """End all sessions of an account but one; their number."""
    with Session(engine) as session:
        gone = _end_sessions(session, SignInRow.id != (sign_in_id or ""), account_id)
        if gone:
            audit.record(session, by, audit.SIGNED_OUT, account_id, sessions=gone)
            session.commit()
        return gone


def device_key(engine: Engine) -> bytes:
    """The secret that signs the cookies of known browsers; made at first use."""
    with Session(engine) as session:
        found = session.get(SettingRow, "device key")
    if found is None:
        with suppress(IntegrityError), Session(engine) as session:  # another process may be quicker
            session.add(SettingRow(name="device key", value=secrets.token_hex(SECRET_BYTES)))
            session.commit()
        with Session(engine) as session:
            found = session.get_one(SettingRow, "device key")
    return bytes.fromhex(found.value)


# Second factors. The codes are computed by the caller; here is what may be used once.


def second_factor(engine: Engine, account_id: str) -> SecondFactorRow | None:
    """The second factor of an account, confirmed or not."""
    with Session(engine, expire_on_commit=False) as session:
        return session.get(SecondFactorRow, account_id)


def begin_second_factor(engine: Engine, account_id: str, secret: str) -> None:
    """Keep the secret of a second factor that is not on yet; ValueError if one is on."""
    with writing(engine) as session:
        row = session.get(SecondFactorRow, account_id, with_for_update=True)
        if row is not None and row.confirmed:
            raise ValueError("the second factor is on; turn it off first")
        if row is not None:
            session.delete(row)
            session.flush()
        session.add(
            SecondFactorRow(account_id=account_id, secret=secret, made=now_ms(), confirmed=False, step=0, recovery=[])
        )


def confirm_second_factor(engine: Engine, account_id: str, step: int, recovery: list[str], by: Actor = SYSTEM) -> bool:
    """Turn a second factor on, after the code of a time step, with these recovery codes; False if it was on."""
    with writing(engine) as session:
        row = session.get(SecondFactorRow, account_id, with_for_update=True)
        if row is None or row.confirmed:
            return False
        row.confirmed, row.step, row.recovery = True, step, [digest(code) for code in recovery]
        audit.record(session, by, audit.FACTOR_ON, account_id)
        return True


def drop_second_factor(engine: Engine, account_id: str, by: Actor = SYSTEM) -> bool:
    """Turn the second factor off; False if there was none."""
    with Session(engine) as session:
        gone = _rows(session.execute(delete(SecondFactorRow).where(SecondFactorRow.account_id == account_id)))
        if gone:
            audit.record(session, by, audit.FACTOR_OFF, account_id)
        session.commit()
        return bool(gone)


def use_step(engine: Engine, account_id: str, step: int) -> bool:
    """Accept the code of a time step; False if that or a later one was accepted before."""
    newer = SecondFactorRow.account_id == account_id, SecondFactorRow.step < step
    with Session(engine) as session:
        changed = _rows(session.execute(update(SecondFactorRow).where(*newer).values(step=step)))
        session.commit()
        return bool(changed)


def use_recovery(engine: Engine, account_id: str, code: str, by: Actor = SYSTEM) -> bool:
    """Use up a recovery code; False if it is none, or was used."""
    wanted = digest(code)
    with writing(engine) as session:
        row = session.get(SecondFactorRow, account_id, with_for_update=True)
        if row is None or wanted not in row.recovery:
            return False
        row.recovery = [one for one in row.recovery if one != wanted]
        audit.record(session, by, audit.RECOVERY_USED, account_id, left=len(row.recovery))
        return True


# Tokens


def add_token(
    engine: Engine, account_id: str, label: str, scopes: list[str], by: Actor = SYSTEM
) -> tuple[TokenRow, str]:
    """Add a token and return it with its secret, which is not kept; ValueError if it is not allowed."""
    if not scopes or set(scopes) - set(SCOPES):
        raise ValueError(f"a token has scopes, out of {', '.join(SCOPES)}")
    secret = f"lud_{secrets.token_urlsafe(SECRET_BYTES)}"
    with writing(engine) as session:
        account = session.get(AccountRow, account_id)
        if account is None:
            raise ValueError("there is no such account")
        if ADMIN in scopes and not account.admin:
            raise ValueError("only administrators make tokens with the scope admin")
        if len(session.scalars(select(TokenRow.id).where(TokenRow.account_id == account_id)).all()) >= MAX_TOKENS:
            raise ValueError(f"an account has at most {MAX_TOKENS} tokens; revoke one first")
        row = TokenRow(
            id=new_id(),
            digest=digest(secret),
            account_id=account_id,
            label=_plain(label, LABEL_LENGTH),
            scopes=sorted(set(scopes)),
            made=now_ms(),
            used=None,
        )
        session.add(row)
        audit.record(session, by, audit.TOKEN_MADE, account_id, account.name, label=row.label, scopes=row.scopes)
        session.flush()
        session.expunge(row)
    return row, secret


def token_of(engine: Engine, secret: str) -> Identity | None:
    """The owner of a token; None if it does not exist."""
    with Session(engine) as session:
        wanted = select(TokenRow, AccountRow).join(AccountRow, AccountRow.id == TokenRow.account_id)
        found = session.execute(wanted.where(TokenRow.digest == digest(secret))).first()
        if found is None or found[1].banned:
            return None
        row, account = found
        scopes = frozenset(row.scopes) - (frozenset() if account.admin else {ADMIN})
        known, stale = Identity(_person(account), scopes, None, row.id), row.used is None or _stale(row.used)
    if stale:
        _note(engine, update(TokenRow).where(TokenRow.id == known.token).values(used=now_ms()))
    return known


def tokens(engine: Engine, account_id: str) -> list[TokenRow]:
    """The tokens of an account, the latest first."""
    with Session(engine, expire_on_commit=False) as session:
        wanted = select(TokenRow).where(TokenRow.account_id == account_id).order_by(TokenRow.made.desc(), TokenRow.id)
        return list(session.scalars(wanted))


def revoke(engine: Engine, account_id: str, token_id: str, by: Actor = SYSTEM) -> bool:
    """Revoke a token; False if the account does not have it."""
    with Session(engine) as session:
        mine = delete(TokenRow).where(TokenRow.id == token_id, TokenRow.account_id == account_id)
        gone = session.scalar(mine.returning(TokenRow.label))
        if gone is not None:
            announce(session, TOKEN_TOPIC, token_id)
            audit.record(session, by, audit.TOKEN_REVOKED, account_id, label=gone)
        session.commit()
        return gone is not None


# Small parts


def new_id() -> str:
    """A random id."""
    return secrets.token_urlsafe(ID_BYTES)


def digest(secret: str) -> str:
    """The digest of a secret. Secrets are long and random, so a plain hash suffices."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _note(engine: Engine, change: Update) -> None:
    """Write a time of last use; ignore failures, since the next use writes it too."""
    with suppress(OperationalError), Session(engine) as session:
        session.execute(change)
        session.commit()


def _rows(result: Any) -> int:
    return int(result.rowcount)


def _stale(moment: int) -> bool:
    return now_ms() - moment > SEEN_EVERY_MS


def _plain(text: str, most: int) -> str:
    """Text that every database accepts: without control characters and surrogates."""
    kept = "".join(sign if unicodedata.category(sign) not in ("Cc", "Cs") else " " for sign in text)
    return " ".join(kept.split())[:most]


def _person(row: AccountRow) -> AccountInfo:
    return AccountInfo(row.id, row.name, row.admin, row.banned, row.made)
