"""Accounts, sessions, passwords and tokens: API and pages."""

from typing import Any, Literal

from fastapi import APIRouter, HTTPException, Path, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, Field

from ludodrome.store import accounts as store
from ludodrome.store.accounts import SCOPES
from ludodrome.store.models import LABEL_LENGTH, TokenRow, iso_time
from ludodrome.web import auth
from ludodrome.web.auth import (
    COOKIE,
    SECURE_COOKIE,
    AccountScope,
    Administrator,
    Anybody,
    Caller,
    is_secure,
)
from ludodrome.web.budgets import SIGN_IN
from ludodrome.web.responses import Conflict
from ludodrome.web.routes.schemas import ERROR_RESPONSES, Strict
from ludodrome.web.templating import general_page

router = APIRouter(tags=["accounts"], responses=ERROR_RESPONSES)

NAME = Field(min_length=1, max_length=200, examples=["Ada"], description="2 to 30 letters, digits, spaces, - . _")
PASSWORD = Field(max_length=auth.MAX_PASSWORD, description=f"At least {auth.MIN_PASSWORD} characters.")
Id = Path(max_length=40)


class Credentials(Strict):
    """A name and a password."""

    name: str = NAME
    password: str = PASSWORD


class NewPassword(Strict):
    """The current and the new password."""

    old: str = PASSWORD
    new: str = PASSWORD


class CallerView(BaseModel):
    """The caller."""

    account: str | None = Field(description="The account's id; null for a guest.")
    name: str
    admin: bool
    scopes: list[str]
    mode: str = Field(description="local (no sign-in), lan or hosted.")


class SessionView(BaseModel):
    """A session in a browser."""

    id: str
    browser: str
    made: str
    seen: str
    current: bool


class AccountView(BaseModel):
    """An account, for administrators."""

    id: str
    name: str
    admin: bool
    banned: bool
    made: str


@router.get("/account")
def who_am_i(request: Request, who: Anybody) -> CallerView:
    """The caller, and what they may do."""
    return _who(request, who)


@router.post("/accounts", status_code=201)
def sign_up(request: Request, response: Response, wanted: Credentials) -> CallerView:
    """Create an account and sign in; the session is a cookie."""
    _check_hosted(request)
    store.read_name(wanted.name)  # before the expensive hash
    person = store.add_account(request.app.state.engine, wanted.name, auth.hash_password(wanted.password))
    return _welcome(request, response, person)


@router.post("/session")
def sign_in(request: Request, response: Response, shown: Credentials, who: Anybody) -> CallerView:
    """Sign in; the session is a cookie."""
    _check_hosted(request)
    engine = request.app.state.engine
    request.app.state.limits.take(SIGN_IN, f"name {shown.name.casefold()}")
    person, stored = store.find_account(engine, shown.name) or (None, None)
    if not auth.verify_password(shown.password, stored) or person is None or stored is None:
        raise HTTPException(401, "the name or the password is wrong")
    if person.banned:
        raise HTTPException(403, "this account is banned")
    if auth.needs_rehash(stored):
        store.set_hash(engine, person.id, auth.hash_password(shown.password))
    _end(request, who)
    return _welcome(request, response, person)


@router.delete("/session", status_code=204)
def sign_out(request: Request, response: Response, who: Anybody) -> None:
    """Sign out of this browser."""
    _end(request, who)
    response.delete_cookie(_cookie(request), path="/", secure=is_secure(request), httponly=True, samesite="lax")


@router.post("/account/password")
def change_password(request: Request, response: Response, wanted: NewPassword, who: AccountScope) -> CallerView:
    """Change the password. All sessions end, and a new one begins here; tokens stay valid."""
    _check_hosted(request)
    engine = request.app.state.engine
    person, stored = store.account_of(engine, str(who.account)) or (None, None)
    if not auth.verify_password(wanted.old, stored) or person is None:
        raise HTTPException(403, "the old password is wrong")
    store.set_password(engine, person.id, auth.hash_password(wanted.new))
    return _welcome(request, response, person)


@router.get("/account/sessions")
def list_sessions(request: Request, who: AccountScope) -> list[SessionView]:
    """Your sessions."""
    found = store.sign_ins(request.app.state.engine, str(who.account))
    return [
        SessionView(
            id=s.id, browser=s.browser, made=iso_time(s.made), seen=iso_time(s.seen), current=s.id == who.sign_in
        )
        for s in found
    ]


@router.delete("/account/sessions/{name}", status_code=204)
def end_session(request: Request, who: AccountScope, name: str = Id) -> None:
    """End one of your sessions."""
    if not store.sign_out(request.app.state.engine, str(who.account), name):
        raise HTTPException(404, "there is no such session")


@router.get("/accounts")
def list_accounts(request: Request, who: Administrator) -> list[AccountView]:
    """All accounts."""
    found = store.accounts(request.app.state.engine)
    return [AccountView(**person._asdict() | {"made": iso_time(person.made)}) for person in found]


@router.post("/accounts/{name}/ban", status_code=204)
def ban(request: Request, who: Administrator, name: str = Id) -> None:
    """Ban an account: its sessions end and its tokens stop working."""
    _set_banned(request, name, True)


@router.post("/accounts/{name}/unban", status_code=204)
def unban(request: Request, who: Administrator, name: str = Id) -> None:
    """Lift a ban."""
    _set_banned(request, name, False)


# Internal


def _who(request: Request, who: Caller) -> CallerView:
    mode = request.app.state.mode
    return CallerView(account=who.account, name=who.name, admin=who.admin, scopes=sorted(who.scopes), mode=mode)


def _check_hosted(request: Request) -> None:
    if request.app.state.mode != "hosted":
        raise Conflict("this server has no accounts: it belongs to the person at its machine")


def _welcome(request: Request, response: Response, person: store.AccountInfo) -> CallerView:
    """Start a new session in a cookie; an old one is never reused."""
    engine = request.app.state.engine
    secret = store.sign_in(engine, person.id, request.headers.get("user-agent", ""))
    settings: dict[str, Any] = {"path": "/", "secure": is_secure(request), "httponly": True, "samesite": "lax"}
    response.set_cookie(_cookie(request), secret, max_age=store.SESSION_DAYS * 86400, **settings)
    scopes = store.session_scopes(person)
    return _who(request, Caller(person.id, person.name, person.admin, scopes))


def _cookie(request: Request) -> str:
    return SECURE_COOKIE if is_secure(request) else COOKIE


def _end(request: Request, who: Caller) -> None:
    if who.account is not None and who.sign_in is not None:
        store.sign_out(request.app.state.engine, who.account, who.sign_in)


def _set_banned(request: Request, name: str, banned: bool) -> None:
    engine = request.app.state.engine
    if store.account_of(engine, name) is None:
        raise HTTPException(404, "there is no such account")
    store.set_banned(engine, name, banned)


# Tokens


token_router = APIRouter(prefix="/tokens", tags=["tokens"], responses=ERROR_RESPONSES)


class NewToken(Strict):
    """A token to create."""

    label: str = Field(min_length=1, max_length=LABEL_LENGTH, examples=["my laptop"])
    scopes: list[Literal["play", "bots", "admin"]] = Field(
        min_length=1, max_length=3, description="play: begin games and move; bots: enter bots; admin: administer."
    )


class TokenView(BaseModel):
    """A token, without its secret."""

    id: str
    label: str
    scopes: list[str]
    made: str
    used: str | None = Field(description="When it was last used, to the minute.")


class CreatedToken(TokenView):
    """A token, with its secret."""

    secret: str = Field(description="To be sent as Authorization: Bearer SECRET. Shown only once.")


@token_router.get("")
def list_tokens(request: Request, who: AccountScope) -> list[TokenView]:
    """Your tokens, newest first."""
    return [TokenView(**_fields(row)) for row in store.tokens(request.app.state.engine, str(who.account))]


@token_router.post("", status_code=201)
def create_token(request: Request, wanted: NewToken, who: AccountScope) -> CreatedToken:
    """Create a token. Its secret is returned only once and not stored."""
    row, secret = store.add_token(request.app.state.engine, str(who.account), wanted.label, list(wanted.scopes))
    return CreatedToken(**_fields(row), secret=secret)


@token_router.delete("/{name}", status_code=204)
def revoke_token(request: Request, who: AccountScope, name: str = Path(max_length=40)) -> None:
    """Revoke a token."""
    if not store.revoke(request.app.state.engine, str(who.account), name):
        raise HTTPException(404, "there is no such token")


def _fields(row: TokenRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "label": row.label,
        "scopes": row.scopes,
        "made": iso_time(row.made),
        "used": row.used and iso_time(row.used),
    }


# Pages


pages = APIRouter(include_in_schema=False)

SEE_OTHER = 303


@pages.get("/sign-in")
def sign_in_page(request: Request, who: Anybody) -> Response:
    """Sign in."""
    return _form(request, who, new=False)


@pages.get("/sign-up")
def sign_up_page(request: Request, who: Anybody) -> Response:
    """Sign up."""
    return _form(request, who, new=True)


@pages.get("/account")
def account_page(request: Request, who: Anybody) -> Response:
    """Your account: tokens, sessions, password."""
    if who.account is None:
        return RedirectResponse("/sign-in?next=/account", SEE_OTHER)
    scopes = [scope for scope in SCOPES if scope != "admin" or who.admin]
    hosted = request.app.state.mode == "hosted"
    data = {"hosted": hosted, "scopes": scopes}
    return general_page(request, "account.html", who=who, hosted=hosted, shortest=auth.MIN_PASSWORD, data=data)


def _form(request: Request, who: Caller, *, new: bool) -> Response:
    if who.account is not None or request.app.state.mode != "hosted":
        return RedirectResponse("/account" if who.account is not None else "/", SEE_OTHER)
    return general_page(request, "sign.html", new=new, shortest=auth.MIN_PASSWORD, data={"new": new})
