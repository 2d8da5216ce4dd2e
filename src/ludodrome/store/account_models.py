"""The tables of people: accounts, their sessions in browsers, and the tokens of their programs.

Secrets are kept as digests only: whoever reads the database cannot sign in with what is in it.
"""

from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from ludodrome.store.models import Base

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
    made: Mapped[str] = mapped_column(String(40))


class SignInRow(Base):
    """A browser in which somebody has signed in."""

    __tablename__ = "sign_ins"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    digest: Mapped[str] = mapped_column(String(DIGEST_LENGTH), unique=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    browser: Mapped[str] = mapped_column(String(200))
    """What it calls itself."""
    made: Mapped[str] = mapped_column(String(40))
    seen: Mapped[str] = mapped_column(String(40))
    ends: Mapped[str] = mapped_column(String(40))


class TokenRow(Base):
    """What a program shows instead of a password; it may do what its scopes say."""

    __tablename__ = "tokens"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    digest: Mapped[str] = mapped_column(String(DIGEST_LENGTH), unique=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    label: Mapped[str] = mapped_column(String(LABEL_LENGTH))
    scopes: Mapped[list[Any]]
    made: Mapped[str] = mapped_column(String(40))
    used: Mapped[str | None] = mapped_column(String(40))


class SolvedPuzzleRow(Base):
    """A puzzle that somebody has solved, by the name that its position gives it."""

    __tablename__ = "solved_puzzles"

    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    puzzle: Mapped[str] = mapped_column(String(40), primary_key=True)
