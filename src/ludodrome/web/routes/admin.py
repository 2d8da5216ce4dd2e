"""For administrators: accounts, bans and the audit log."""

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from pydantic import BaseModel, Field

from ludodrome.store import accounts as store
from ludodrome.store import audit
from ludodrome.store.models import iso_time
from ludodrome.web.auth import Administrator, Caller
from ludodrome.web.routes.accounts import actor
from ludodrome.web.routes.schemas import ERROR_RESPONSES
from ludodrome.web.templating import general_page

router = APIRouter(tags=["accounts"], responses=ERROR_RESPONSES)
pages = APIRouter(include_in_schema=False)

Id = Path(max_length=40)
MAX_ENTRIES = 200


class AccountView(BaseModel):
    """An account, for administrators."""

    id: str
    name: str
    admin: bool
    banned: bool
    made: str


class AuditEntryView(BaseModel):
    """An entry of the audit log."""

    id: int
    at: str
    actor_id: str | None
    actor: str = Field(description="Who did it: the name of an account, or a program; empty if unknown.")
    action: str
    subject_id: str
    subject: str = Field(description="The account or bot that it was done to; empty for a name that nobody has.")
    details: dict[str, Any]
    address: str


@router.get("/accounts")
def list_accounts(request: Request, who: Administrator) -> list[AccountView]:
    """All accounts."""
    found = store.accounts(request.app.state.engine)
    return [AccountView(**person._asdict() | {"made": iso_time(person.made)}) for person in found]


@router.post("/accounts/{name}/ban", status_code=204)
def ban(request: Request, who: Administrator, name: str = Id) -> None:
    """Ban an account: its sessions end and its tokens stop working."""
    _set_banned(request, who, name, True)


@router.post("/accounts/{name}/unban", status_code=204)
def unban(request: Request, who: Administrator, name: str = Id) -> None:
    """Lift a ban."""
    _set_banned(request, who, name, False)


def _set_banned(request: Request, who: Caller, name: str, banned: bool) -> None:
    engine = request.app.state.engine
    if store.account_of(engine, name) is None:
        raise HTTPException(404, "there is no such account")
    store.set_banned(engine, name, banned, actor(request, who))


# The audit log


@router.get("/audit")
def audit_log(
    request: Request,
    who: Administrator,
    account: Annotated[str | None, Query(max_length=60, description="By or about this account: id or name.")] = None,
    action: Annotated[str | None, Query(max_length=40, description=f"One of {', '.join(audit.ACTIONS)}.")] = None,
    before: Annotated[int | None, Query(ge=0, le=2**31 - 1, description="Entries before the one of this id.")] = None,
    most: Annotated[int, Query(ge=1, le=MAX_ENTRIES)] = 100,
) -> list[AuditEntryView]:
    """The audit log of the last 400 days, latest first."""
    engine = request.app.state.engine
    if action is not None and action not in audit.ACTIONS:
        raise ValueError(f"an action of the log is one of {', '.join(audit.ACTIONS)}")
    known = None if account is None else store.find_account(engine, account)
    found = audit.entries(engine, account if known is None else known[0].id, action, before, most)
    return [AuditEntryView(**entry._asdict() | {"at": iso_time(entry.at)}) for entry in found]


@pages.get("/admin/audit")
def audit_page(request: Request, who: Administrator) -> Response:
    """The audit log, to look through."""
    return general_page(request, "audit.html", actions=audit.ACTIONS, data={"most": 50})
