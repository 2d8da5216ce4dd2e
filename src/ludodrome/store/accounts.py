"""Accounts, sign-ins, tokens and solved puzzles.

Passwords arrive hashed. Secrets of sessions and tokens are returned once and kept as digests.
"""

import hashlib
import secrets
import unicodedata
from contextlib import suppress
from typing import NamedTuple

from sqlalchemy import Engine, Update, delete, select, update
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session

from ludodrome.store import announcements
from ludodrome.store.announcements import announce
from ludodrome.store.database import writing
from ludodrome.store.models import (
    FOLDED_LENGTH,
    LABEL_LENGTH,
    LOCAL,
    NAME_LENGTH,
    AccountRow,
    SignInRow,
    SolvedPuzzleRow,
    TokenRow,
    now_ms,
)

ID_BYTES, SECRET_BYTES = 9, 32
MIN_NAME = 2
SESSION_DAYS = 30
MAX_SIGN_INS, MAX_TOKENS = 20, 50
"""Per account; the oldest sign-in gives way, a token does not."""
DAY_MS = 24 * 60 * 60 * 1000
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


def add_account(engine: Engine, name: str, password: str, *, admin: bool = False) -> AccountInfo:
    """Add an account with a hashed password; ValueError if the name is not valid or taken."""
    shown, folded = read_name(name)
    row = AccountRow(
        id=new_id(), name=shown, folded=folded, password=password, admin=admin, banned=False, made=now_ms()
    )
    with Session(engine) as session:
        session.add(row)
        try:
            session.commit()
        except IntegrityError as error:
            raise ValueError(f"the name {shown} is taken") from error
        return _person(row)


def find_account(engine: Engine, name: str) -> tuple[AccountInfo, str | None] | None:
    """An account by its name, with its hashed password; None if there is none."""
    try:
        _, folded = read_name(name)
    except ValueError:
        return None
    with Session(engine) as session:
        row = session.scalar(select(AccountRow).where(AccountRow.folded == folded))
        return None if row is None else (_person(row), row.password)


def account_of(engine: Engine, account_id: str) -> tuple[AccountInfo, str | None] | None:
    """An account by its id, with its hashed password."""
    with Session(engine) as session:
        row = session.get(AccountRow, account_id)
        return None if row is None else (_person(row), row.password)


def accounts(engine: Engine) -> list[AccountInfo]:
    """All accounts, by name."""
    with Session(engine) as session:
        return [_person(row) for row in session.scalars(select(AccountRow).order_by(AccountRow.folded))]


def set_password(engine: Engine, account_id: str, password: str) -> None:
    """Set a new hashed password and end all sessions."""
    with Session(engine) as session:
        session.execute(update(AccountRow).where(AccountRow.id == account_id).values(password=password))
        session.execute(delete(SignInRow).where(SignInRow.account_id == account_id))
        announce(session, announcements.ACCOUNT, account_id)
        session.commit()


def set_hash(engine: Engine, account_id: str, password: str) -> None:
    """Replace the hash of the same password; sessions go on."""
    with Session(engine) as session:
        session.execute(update(AccountRow).where(AccountRow.id == account_id).values(password=password))
        session.commit()


def set_admin(engine: Engine, account_id: str, admin: bool) -> None:
    """Grant or revoke administrator rights."""
    with Session(engine) as session:
        session.execute(update(AccountRow).where(AccountRow.id == account_id).values(admin=admin))
        announce(session, announcements.ACCOUNT, account_id)
        session.commit()


def set_banned(engine: Engine, account_id: str, banned: bool) -> None:
    """Ban an account and end its sessions, or lift the ban. ValueError for the person at this machine."""
    if account_id == LOCAL:
        raise ValueError("the account of the person at this machine cannot be banned")
    with Session(engine) as session:
        session.execute(update(AccountRow).where(AccountRow.id == account_id).values(banned=banned))
        if banned:
            session.execute(delete(SignInRow).where(SignInRow.account_id == account_id))
        announce(session, announcements.ACCOUNT, account_id)
        session.commit()


# Sessions


def sign_in(engine: Engine, account_id: str, browser: str) -> str:
    """Add a session and return its secret, which is not kept."""
    secret = secrets.token_urlsafe(SECRET_BYTES)
    moment = now_ms()
    with writing(engine) as session:
        mine = (
            select(SignInRow.id).where(SignInRow.account_id == account_id).order_by(SignInRow.made.desc(), SignInRow.id)
        )
        old = session.scalars(mine.offset(MAX_SIGN_INS - 1)).all()
        session.execute(delete(SignInRow).where((SignInRow.id.in_(old)) | (SignInRow.ends < moment)))
        if old:
            announce(session, announcements.ACCOUNT, account_id)
        session.add(
            SignInRow(
                id=new_id(),
                digest=digest(secret),
                account_id=account_id,
                browser=_plain(browser, 200),
                made=moment,
                seen=moment,
                ends=moment + SESSION_DAYS * DAY_MS,
            )
        )
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


def sign_out(engine: Engine, account_id: str, sign_in_id: str) -> bool:
    """End a session; False if the account does not have it."""
    with Session(engine) as session:
        mine = delete(SignInRow).where(SignInRow.id == sign_in_id, SignInRow.account_id == account_id)
        gone = session.execute(mine)
        announce(session, announcements.ACCOUNT, account_id)
        session.commit()
        return bool(gone.rowcount)  # type: ignore[attr-defined]


# Tokens


def add_token(engine: Engine, account_id: str, label: str, scopes: list[str]) -> tuple[TokenRow, str]:
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


def revoke(engine: Engine, account_id: str, token_id: str) -> bool:
    """Revoke a token; False if the account does not have it."""
    with Session(engine) as session:
        gone = session.execute(delete(TokenRow).where(TokenRow.id == token_id, TokenRow.account_id == account_id))
        announce(session, announcements.TOKEN, token_id)
        session.commit()
        return bool(gone.rowcount)  # type: ignore[attr-defined]


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


def _stale(moment: int) -> bool:
    return now_ms() - moment > SEEN_EVERY_MS


def _plain(text: str, most: int) -> str:
    """Text that every database accepts: without control characters and surrogates."""
    kept = "".join(sign if unicodedata.category(sign) not in ("Cc", "Cs") else " " for sign in text)
    return " ".join(kept.split())[:most]


def _person(row: AccountRow) -> AccountInfo:
    return AccountInfo(row.id, row.name, row.admin, row.banned, row.made)


# Which puzzles an account has solved. What the person at this machine has solved is in their own file.


def solved_puzzles(engine: Engine, account_id: str) -> set[str]:
    """The names of the puzzles that an account has solved."""
    with Session(engine) as session:
        return set(session.scalars(select(SolvedPuzzleRow.puzzle).where(SolvedPuzzleRow.account_id == account_id)))


def add_solved(engine: Engine, account_id: str, puzzle: str) -> None:
    """Record that an account has solved a puzzle."""
    with Session(engine) as session:
        session.add(SolvedPuzzleRow(account_id=account_id, puzzle=puzzle))
        try:
            session.commit()
        except IntegrityError:
            session.rollback()
