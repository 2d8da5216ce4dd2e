"""Schemas of requests, and error responses."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ludodrome.games import PAGE_ORDER
from ludodrome.web.auth import MAX_PASSWORD, MIN_PASSWORD
from ludodrome.web.engine import MAX_LINES, MAX_SECONDS
from ludodrome.web.play_state import PERSON

MAX_SEED = 2**53 - 1
ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"description": "The body is not JSON."},
    401: {"description": "Not signed in, or the token is not valid."},
    403: {"description": "The caller may not do this, or the request comes from a page of another site."},
    404: {"description": "Not found."},
    409: {"description": "It conflicts with the current state."},
    408: {"description": "The body did not arrive in time."},
    413: {"description": "The body is too long."},
    415: {"description": "The body is not application/json."},
    421: {"description": "The server does not answer to this name."},
    422: {"description": "The request is malformed, or breaks the rules of the game."},
    429: {"description": "Too many requests; the header Retry-After says when to try again."},
    503: {"description": "The engine is busy, or the database cannot be reached."},
}
"""Error responses; each is an object with a sentence in ``error``."""
GAME_NAME = Field(max_length=40, examples=list(PAGE_ORDER[:1]))


class Strict(BaseModel):
    """A request; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewPlay(Strict):
    """A play to begin."""

    game: str = GAME_NAME
    options: dict[str, Any] = Field(default={}, max_length=10)
    seats: list[str] = Field(
        max_length=3,
        examples=[[PERSON, "level:3"]],
        description="By seat: person, friend (who joins by link), bot:ID of the league, or the spec of a built-in bot; "
        "for the owner of a local server also cmd:PROGRAM or py:FILE:NAME.",
    )
    clock: str = Field(default="none", max_length=40, description="none, 10s, 30s+60s (with a bank), 5m++3s (Fischer)")
    opening: list[Any] = Field(default=[], description="Moves made before the game begins.")
    position: Any = Field(
        default=None, description="The first position, as JSON or on one line; null for the usual one."
    )
    seed: int | None = Field(default=None, ge=0, le=MAX_SEED)


class NewMove(Strict):
    """A move."""

    move: Any
    version: int | None = Field(default=None, description="The version of the game in which the move was chosen.")


class SeatChoice(Strict):
    """A seat."""

    seat: int | None = Field(default=None, ge=0, le=2)


class Proposal(Strict):
    """Something that people offer each other in a running game."""

    offer: Literal["draw", "takeback"] | None = Field(
        description="draw, takeback, or null to decline what is offered, or to withdraw it."
    )


class PositionRequest(Strict):
    """A position, and perhaps a move to make in it."""

    options: dict[str, Any] = Field(default={}, max_length=10)
    state: Any = Field(default=None, description="As JSON, or on one line; null for the first position.")
    move: Any = None


class LessonMove(Strict):
    """A move that somebody tries in a step of a lesson."""

    moves: list[Any] = Field(default=[], max_length=40, description="Your right moves so far in this step.")
    move: Any


class Question(Strict):
    """A position to analyse."""

    game: str = GAME_NAME
    options: dict[str, Any] = Field(default={}, max_length=10)
    state: Any
    seconds: float = Field(default=0.5, gt=0, le=MAX_SECONDS)
    lines: int = Field(default=3, ge=1, le=MAX_LINES)


class MovesToTry(Strict):
    """A position, and moves to try from there."""

    options: dict[str, Any] | None = Field(
        default=None, max_length=10, description="Of the game; null to derive them from the position."
    )
    state: Any = Field(default=None, description="As JSON, or on one line; null for the first position.")
    moves: list[Any] = Field(default=[], max_length=400, description="As JSON, or in the notation for people.")


class PuzzleMove(Strict):
    """An answer to a puzzle."""

    move: Any


# Accounts


NAME = Field(min_length=1, max_length=200, examples=["Ada"], description="2 to 30 letters, digits, spaces, - . _")
PASSWORD = Field(max_length=MAX_PASSWORD, description=f"At least {MIN_PASSWORD} characters.")
CODE = Field(
    default=None, max_length=40, description="If the second factor is on: the code of your app, or a recovery code."
)


class Credentials(Strict):
    """A name and a password."""

    name: str = NAME
    password: str = PASSWORD


class SignInRequest(Credentials):
    """A name and a password, and what else is needed."""

    code: str | None = CODE
    new_password: str | None = Field(
        default=None,
        max_length=MAX_PASSWORD,
        description="The password from now on, if yours is a one-time password.",
    )


class Proof(Strict):
    """Proof that the owner of the account is at the browser."""

    password: str = PASSWORD
    code: str | None = CODE


class CodeRequest(Strict):
    """A code of the authenticator app."""

    code: str = Field(max_length=40)


class NewPassword(Strict):
    """The current and the new password."""

    old: str = PASSWORD
    new: str = PASSWORD
