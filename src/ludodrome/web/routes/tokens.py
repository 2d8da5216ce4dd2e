"""Tokens: what programs show instead of a password."""

from typing import Any, Literal

from fastapi import APIRouter, HTTPException, Path, Request
from pydantic import BaseModel, Field

from ludodrome.store import accounts as store
from ludodrome.store.models import LABEL_LENGTH, TokenRow
from ludodrome.web.auth import AccountScope
from ludodrome.web.routes.schemas import FAULTS, Strict

token_router = APIRouter(prefix="/tokens", tags=["list_tokens"], responses=FAULTS)


class NewToken(Strict):
    """A token to be made."""

    label: str = Field(min_length=1, max_length=LABEL_LENGTH, examples=["my laptop"])
    scopes: list[Literal["play", "bots", "admin"]] = Field(
        min_length=1, max_length=3, description="play: begin games and move; bots: enter bots; admin: administrators'."
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

    secret: str = Field(description="To be sent as Authorization: Bearer SECRET. It is told this once.")


@token_router.get("")
def list_tokens(request: Request, who: AccountScope) -> list[TokenView]:
    """One's tokens, the latest first."""
    return [TokenView(**_fields(row)) for row in store.tokens(request.app.state.engine, str(who.account))]


@token_router.post("", status_code=201)
def create_token(request: Request, wanted: NewToken, who: AccountScope) -> CreatedToken:
    """A new token. Its secret is told this once, and kept nowhere."""
    row, secret = store.add_token(request.app.state.engine, str(who.account), wanted.label, list(wanted.scopes))
    return CreatedToken(**_fields(row), secret=secret)


@token_router.delete("/{name}", status_code=204)
def revoke_token(request: Request, who: AccountScope, name: str = Path(max_length=40)) -> None:
    """A token is good no more."""
    if not store.revoke(request.app.state.engine, str(who.account), name):
        raise HTTPException(404, "there is no such token")


def _fields(row: TokenRow) -> dict[str, Any]:
    return {"id": row.id, "label": row.label, "scopes": row.scopes, "made": row.made, "used": row.used}
