"""Pages of people: sign in, sign up, one's account."""

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from ludodrome.store.accounts import SCOPES
from ludodrome.web import auth
from ludodrome.web.auth import Anybody, Caller
from ludodrome.web.templating import general_page

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
    """One's account: tokens, sessions, password."""
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
