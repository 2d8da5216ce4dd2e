"""Accounts, sessions, passwords, second factors and tokens: API and pages. For administrators: ``admin.py``."""

from collections.abc import AsyncGenerator, Iterator
from typing import Any, Literal

from fastapi import APIRouter, HTTPException, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, Field

from ludodrome.store import accounts as store
from ludodrome.store import audit
from ludodrome.store.accounts import SCOPES, StoredCredentials
from ludodrome.store.audit import Actor
from ludodrome.store.models import LABEL_LENGTH, TokenRow, iso_time
from ludodrome.system import API
from ludodrome.web import auth
from ludodrome.web.auth import (
    COOKIE,
    SECURE_COOKIE,
    AccountScope,
    Anybody,
    Caller,
    is_secure,
)
from ludodrome.web.budgets import ATTEMPTS, SIGN_IN, budget_of, client_network
from ludodrome.web.responses import AsciiJSONResponse, Conflict, StreamedResponse
from ludodrome.web.routes.schemas import (
    ERROR_RESPONSES,
    CodeRequest,
    Credentials,
    NewPassword,
    Proof,
    SignInRequest,
    Strict,
)
from ludodrome.web.templating import general_page

router = APIRouter(tags=["accounts"], responses=ERROR_RESPONSES)

Id = Path(max_length=40)
DEVICE_SECONDS = 400 * 86400
"""How long browsers keep the cookie of a known browser; they allow no more."""


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
    network: str = Field(description="The address it signed in from; of IPv6 the network.")
    made: str
    seen: str = Field(description="When it was last used, to the minute.")
    current: bool


class SecondFactorView(BaseModel):
    """The second factor of the account."""

    on: bool
    since: str | None
    recovery_codes: int = Field(description="How many are left.")


class NewSecondFactor(BaseModel):
    """A second factor to confirm with a code."""

    secret: str = Field(description="For the authenticator app, in base32.")
    link: str = Field(description="The same as an otpauth: link, which such apps open.")


class RecoveryCodes(BaseModel):
    """Codes that replace the app, once each. Shown only once."""

    recovery_codes: list[str]


@router.get("/account")
def who_am_i(request: Request, who: Anybody) -> CallerView:
    """The caller, and what they may do."""
    return _who(request, who)


@router.post("/accounts", status_code=201)
def sign_up(request: Request, response: Response, wanted: Credentials) -> CallerView:
    """Create an account and sign in; the session is a cookie."""
    _check_hosted(request)
    store.read_name(wanted.name)  # before the expensive hash
    engine, address = request.app.state.engine, client_network(request)
    person = store.add_account(engine, wanted.name, auth.hash_password(wanted.password), address=address)
    return _welcome(request, response, person.id)


@router.post(
    "/session",
    response_model=CallerView,
    responses={
        401: {
            "description": "The name, the password or the code is wrong; or ``second_factor`` or ``new_password`` is "
            "true: send the code of the second factor, or a new password in place of the one-time password."
        }
    },
)
def sign_in(request: Request, response: Response, shown: SignInRequest, who: Anybody) -> CallerView | Response:
    """Sign in; the session is a cookie. Failures count by address and by name; a known browser counts for itself."""
    _check_hosted(request)
    engine, limits, address = request.app.state.engine, request.app.state.limits, client_network(request)
    known = store.credentials(engine, shown.name)
    device = _device(request, known)
    folded = store.digest(store.fold_name(shown.name))
    keys = [f"device {device}"] if device else [f"from {address}", f"name {folded}"]
    limits.take(ATTEMPTS, keys[0])
    limits.take(SIGN_IN, *keys)
    stored = None if known is None else known.password
    if not auth.verify_password(shown.password, stored) or known is None or stored is None:
        audit.note_failure(engine, audit.SIGN_IN_FAILED, known and known.person, address)
        raise HTTPException(401, "the name or the password is wrong")
    person = known.person
    if person.banned:
        raise HTTPException(403, "this account is banned")
    wanted = {"second_factor": known.second_factor, "new_password": known.once}
    if (known.second_factor and shown.code is None) or (known.once and shown.new_password is None):
        limits.give_back(SIGN_IN, *keys)
        return _ask(wanted)
    try:
        hashed = _replacement(shown) if known.once else None
    except ValueError:
        limits.give_back(SIGN_IN, *keys)
        raise
    if known.second_factor and not _use_code(request, person, shown.code or ""):
        return _ask(wanted, "the code is wrong, or was used already")
    limits.give_back(SIGN_IN, *keys)
    if hashed is not None:
        store.set_password(engine, person.id, hashed, by=Actor(person.id, person.name, address))
    elif auth.needs_rehash(stored):
        store.set_hash(engine, person.id, auth.hash_password(shown.password))
    _end(request, who)
    return _welcome(request, response, person.id, device)


@router.delete("/session", status_code=204)
def sign_out(request: Request, response: Response, who: Anybody) -> None:
    """Sign out of this browser."""
    _end(request, who)
    response.delete_cookie(_cookie(request), path="/", secure=is_secure(request), httponly=True, samesite="lax")


@router.post("/account/password")
def change_password(request: Request, response: Response, wanted: NewPassword, who: AccountScope) -> CallerView:
    """Change the password. All sessions end, and a new one begins here; tokens stay valid."""
    known = _check_password(request, who, wanted.old, "the old password is wrong")
    store.set_password(
        request.app.state.engine, known.person.id, auth.hash_password(wanted.new), by=actor(request, who)
    )
    return _welcome(request, response, known.person.id)


@router.get("/account/sessions")
def list_sessions(request: Request, who: AccountScope) -> list[SessionView]:
    """Your sessions."""
    found = store.sign_ins(request.app.state.engine, str(who.account))
    return [
        SessionView(
            id=s.id,
            browser=s.browser,
            network=s.network,
            made=iso_time(s.made),
            seen=iso_time(s.seen),
            current=s.id == who.sign_in,
        )
        for s in found
    ]


@router.delete("/account/sessions", status_code=204)
def end_other_sessions(request: Request, who: AccountScope) -> None:
    """End all your sessions but this one."""
    store.sign_out_others(request.app.state.engine, str(who.account), who.sign_in, actor(request, who))


@router.delete("/account/sessions/{name}", status_code=204)
def end_session(request: Request, who: AccountScope, name: str = Id) -> None:
    """End one of your sessions."""
    if not store.sign_out(request.app.state.engine, str(who.account), name, actor(request, who)):
        raise HTTPException(404, "there is no such session")


# The second factor


@router.get("/account/second-factor")
def second_factor(request: Request, who: AccountScope) -> SecondFactorView:
    """Whether the second factor is on."""
    found = store.second_factor(request.app.state.engine, str(who.account))
    if found is None or not found.confirmed:
        return SecondFactorView(on=False, since=None, recovery_codes=0)
    return SecondFactorView(on=True, since=iso_time(found.made), recovery_codes=len(found.recovery))


@router.post("/account/second-factor", status_code=201)
def begin_second_factor(request: Request, shown: Proof, who: AccountScope) -> NewSecondFactor:
    """Make the secret of a second factor. It is on once a code has confirmed it."""
    known = _check_password(request, who, shown.password)
    if known.second_factor:
        raise Conflict("the second factor is on; turn it off first")
    secret = auth.new_factor_secret()
    store.begin_second_factor(request.app.state.engine, known.person.id, secret)
    return NewSecondFactor(secret=secret, link=auth.factor_link(secret, known.person.name))


@router.post("/account/second-factor/confirm")
def confirm_second_factor(request: Request, shown: CodeRequest, who: AccountScope) -> RecoveryCodes:
    """Turn the second factor on, with a code of the app. The recovery codes are returned only once."""
    _check_hosted(request)
    engine, key = request.app.state.engine, f"account {who.account}"
    found = store.second_factor(engine, str(who.account))
    if found is None or found.confirmed:
        raise Conflict("there is no second factor to confirm")
    request.app.state.limits.take(SIGN_IN, key)
    step = auth.matching_step(found.secret, shown.code)
    if step is None:
        raise HTTPException(403, "the code is wrong; check the clock of your device")
    request.app.state.limits.give_back(SIGN_IN, key)
    codes = auth.new_recovery_codes()
    if not store.confirm_second_factor(engine, str(who.account), step, codes, actor(request, who)):
        raise Conflict("there is no second factor to confirm")
    return RecoveryCodes(recovery_codes=codes)


@router.delete("/account/second-factor", status_code=204)
def drop_second_factor(request: Request, shown: Proof, who: AccountScope) -> None:
    """Turn the second factor off."""
    _check_owner(request, who, shown)
    store.drop_second_factor(request.app.state.engine, str(who.account), actor(request, who))


# Your data


@router.get(
    "/account/export",
    response_class=Response,
    responses={200: {"content": {"application/json": {}}, "description": "One JSON object, without secrets."}},
)
def export(request: Request, who: AccountScope) -> StreamedResponse:
    """Everything that the server keeps about you: account, sessions, tokens, bots, plays, puzzles, audit log."""
    engine = request.app.state.engine
    audit.note(engine, actor(request, who), audit.EXPORTED, str(who.account))
    parts = _in_threads(audit.export_account(engine, str(who.account)))
    headers = {"content-disposition": 'attachment; filename="ludodrome-account.json"'}
    return StreamedResponse(parts, budget_of(request), "application/json", headers)


async def _in_threads(parts: Iterator[str]) -> AsyncGenerator[str, None]:
    """The parts of a text, each made in a thread."""
    while (part := await run_in_threadpool(next, parts, None)) is not None:
        yield part


@router.delete("/account", status_code=204)
def delete_account(request: Request, response: Response, shown: Proof, who: AccountScope) -> None:
    """Delete your account with its sessions, tokens and solved puzzles. Your bots retire; games stay, without owner."""
    _check_owner(request, who, shown)
    audit.delete_account(request.app.state.engine, str(who.account), actor(request, who))
    response.delete_cookie(_cookie(request), path="/", secure=is_secure(request), httponly=True, samesite="lax")


# Internal


def actor(request: Request, who: Caller) -> Actor:
    """The caller, for the audit log."""
    return Actor(who.account, who.name, client_network(request))


def _who(request: Request, who: Caller) -> CallerView:
    mode = request.app.state.mode
    return CallerView(account=who.account, name=who.name, admin=who.admin, scopes=sorted(who.scopes), mode=mode)


def _check_hosted(request: Request) -> None:
    if request.app.state.mode != "hosted":
        raise Conflict("this server has no accounts: it belongs to the person at its machine")


def _ask(wanted: dict[str, bool], refusal: str | None = None) -> Response:
    """The answer to a right password that does not suffice."""
    words = {"second_factor": "the code of your second factor", "new_password": "a new password"}
    sentence = f"send {' and '.join(words[key] for key, needed in wanted.items() if needed)}"
    return AsciiJSONResponse({"error": refusal or sentence, **wanted}, 401)


def _replacement(shown: SignInRequest) -> str:
    """The hash of the password that replaces a one-time password; ValueError if it is not acceptable."""
    if shown.new_password == shown.password:
        raise ValueError("the new password must differ from the one-time password")
    return auth.hash_password(shown.new_password or "")


def _check_password(
    request: Request, who: Caller, password: str, sentence: str = "the password is wrong"
) -> StoredCredentials:
    """The account of the caller, who must show its password. Failures count for the account."""
    _check_hosted(request)
    limits, key = request.app.state.limits, f"account {who.account}"
    known = store.credentials(request.app.state.engine, account_id=str(who.account))
    limits.take(SIGN_IN, key)
    if not auth.verify_password(password, known and known.password) or known is None:
        person = known and known.person
        audit.note_failure(request.app.state.engine, audit.SIGN_IN_FAILED, person, client_network(request))
        raise HTTPException(403, sentence)
    limits.give_back(SIGN_IN, key)
    return known


def _check_owner(request: Request, who: Caller, shown: Proof) -> None:
    """The same, with the second factor if it is on."""
    known = _check_password(request, who, shown.password)
    if not known.second_factor:
        return
    if shown.code is None:
        raise HTTPException(403, "send the code of your second factor")
    request.app.state.limits.take(SIGN_IN, f"account {who.account}")
    if not _use_code(request, known.person, shown.code):
        raise HTTPException(403, "the code is wrong, or was used already")
    request.app.state.limits.give_back(SIGN_IN, f"account {who.account}")


def _use_code(request: Request, person: store.AccountInfo, code: str) -> bool:
    """Whether a code of the app, or a recovery code, is right and new. Each is accepted once."""
    engine, address = request.app.state.engine, client_network(request)
    factor = store.second_factor(engine, person.id)
    step = None if factor is None else auth.matching_step(factor.secret, code)
    if step is not None:
        accepted = store.use_step(engine, person.id, step)
    else:
        by = Actor(person.id, person.name, address)
        accepted = store.use_recovery(engine, person.id, auth.read_recovery_code(code), by)
    if not accepted:
        audit.note_failure(engine, audit.CODE_FAILED, person, address)
    return accepted


def _device(request: Request, known: StoredCredentials | None) -> str | None:
    """The known browser that asks to sign in to this account. It takes as long for a name that nobody has."""
    account_id, since = ("nobody", 0) if known is None else (known.person.id, known.password_set)
    cookie = request.cookies.get(auth.device_cookie_name(request, account_id), "")
    device = auth.known_device(store.device_key(request.app.state.engine), account_id, since, cookie)
    return None if known is None else device


def _welcome(request: Request, response: Response, account_id: str, device: str | None = None) -> CallerView:
    """Start a new session in a cookie; an old one is never reused. The browser is known from now on."""
    engine = request.app.state.engine
    known = store.credentials(engine, account_id=account_id)
    if known is None:
        raise HTTPException(401, "this account was deleted")
    person = known.person
    secret = store.sign_in(engine, person.id, request.headers.get("user-agent", ""), client_network(request))
    settings: dict[str, Any] = {"secure": is_secure(request), "httponly": True}
    response.set_cookie(
        _cookie(request), secret, max_age=store.SESSION_DAYS * 86400, path="/", samesite="lax", **settings
    )
    name = auth.device_cookie_name(request, person.id)
    cookie = auth.sign_device(store.device_key(engine), person.id, known.password_set, device or auth.new_device())
    response.set_cookie(name, cookie, max_age=DEVICE_SECONDS, path=f"{API}/session", samesite="strict", **settings)
    scopes = store.session_scopes(person)
    return _who(request, Caller(person.id, person.name, person.admin, scopes))


def _cookie(request: Request) -> str:
    return SECURE_COOKIE if is_secure(request) else COOKIE


def _end(request: Request, who: Caller) -> None:
    if who.account is not None and who.sign_in is not None:
        store.sign_out(request.app.state.engine, who.account, who.sign_in, actor(request, who))


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
    engine, by = request.app.state.engine, actor(request, who)
    row, secret = store.add_token(engine, str(who.account), wanted.label, list(wanted.scopes), by)
    return CreatedToken(**_fields(row), secret=secret)


@token_router.delete("/{name}", status_code=204)
def revoke_token(request: Request, who: AccountScope, name: str = Path(max_length=40)) -> None:
    """Revoke a token."""
    if not store.revoke(request.app.state.engine, str(who.account), name, actor(request, who)):
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
    """Your account: tokens, sessions, password, second factor, data."""
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
