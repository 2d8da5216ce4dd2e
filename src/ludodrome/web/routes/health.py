"""Health and metrics."""

from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from ludodrome.arena import sandbox
from ludodrome.store.database import is_reachable
from ludodrome.store.league_matches import runners
from ludodrome.web.auth import Administrator, Anybody

router = APIRouter(tags=["health"])

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


class Health(BaseModel):
    """The health of the server."""

    status: Literal["ok", "ill"]
    database: Literal["reachable", "unreachable"]
    runner: str = Field(description="Whether matches are being played: alive, or why not.")
    sandbox: str = Field(description="The sandbox of uploaded bots: its level, or none.")


@router.get("/health", responses={503: {"model": Health, "description": "The database cannot be reached."}})
def health(request: Request, response: Response, who: Anybody) -> Health:
    """The health of the server; 503 if the database cannot be reached."""
    if not is_reachable(request.app.state.engine):
        response.status_code = 503
        return Health(status="ill", database="unreachable", runner="unknown", sandbox=_sandbox(request))
    return Health(status="ok", database="reachable", runner=_runner(request), sandbox=_sandbox(request))


@router.get("/metrics", response_class=Response)
def metrics(request: Request, who: Administrator) -> Response:
    """Metrics for Prometheus, with the token of an administrator."""
    return Response(request.app.state.metrics.text(), media_type=PROMETHEUS)


def _runner(request: Request) -> str:
    return "alive" if runners(request.app.state.engine) else "none: matches are waiting"


def _sandbox(request: Request) -> str:
    """The sandbox of uploaded bots on a hosted server; cached for hours."""
    if request.app.state.mode != "hosted":
        return "unused: all bots belong to the owner"
    return sandbox.level().name
