"""Metrics for Prometheus (requests by route and status, latency, gauges), and the health of the server."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from pydantic import BaseModel, Field
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ludodrome.arena import sandbox
from ludodrome.store.database import is_reachable
from ludodrome.store.league_matches import runners
from ludodrome.system import API
from ludodrome.web.auth import Administrator, Anybody

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
NOWHERE = "none"
"""The label of requests without a route: made-up paths must not become labels."""


class Metrics:
    """The metrics of one app. ``watch`` adds a gauge that is read at every scrape."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self.requests = Counter("ludodrome_requests", "Answered requests.", labels, registry=self.registry)
        self.seconds = Histogram(
            "ludodrome_request_seconds",
            "Seconds until a request was answered, long polls included.",
            ("method", "route"),
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.sockets = Gauge("ludodrome_websockets_open", "Open WebSockets.", registry=self.registry)
        self._watched: list[tuple[str, str, Callable[[], float]]] = []
        self.registry.register(self)

    def watch(self, name: str, meaning: str, count: Callable[[], float]) -> None:
        """Add a gauge that is read at every scrape."""
        self._watched.append((f"ludodrome_{name}", meaning, count))

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The watched gauges, for the registry."""
        for name, meaning, count in self._watched:
            yield GaugeMetricFamily(name, meaning, value=count())

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self.registry)


class CountingExecutor(ThreadPoolExecutor):
    """A thread pool that counts its unfinished calls."""

    def __init__(self, threads: int, prefix: str) -> None:
        super().__init__(threads, thread_name_prefix=prefix)
        self._open: set[Future[Any]] = set()

    @property
    def busy(self) -> int:
        """Calls that wait or run."""
        return len(self._open)

    def submit(self, call: Callable[..., Any], /, *arguments: Any, **named: Any) -> "Future[Any]":
        """Submit a call."""
        future = super().submit(call, *arguments, **named)
        self._open.add(future)
        future.add_done_callback(self._open.discard)
        return future


class MetricsMiddleware:
    """Counts requests, their latency and open WebSockets."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or one WebSocket."""
        if scope["type"] == "websocket":
            with self._metrics.sockets.track_inprogress():
                await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, begun = 500, time.perf_counter()

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        finally:
            route = route_template(scope) or NOWHERE
            method = scope["method"] if scope["method"] in METHODS else "other"
            self._metrics.requests.labels(method, route, status).inc()
            self._metrics.seconds.labels(method, route).observe(time.perf_counter() - begun)


def route_template(scope: Scope) -> str | None:
    """The path of the route that answers, with parameter names for values; None if there is no route."""
    path = getattr(scope.get("route"), "path", None)
    if path is None:
        return None
    inside = scope["path"].startswith(f"{API}/") and not path.startswith(f"{API}/")
    return f"{API}{path}" if inside else str(path)  # FastAPI leaves out the prefix of the API


# Routes


router = APIRouter(tags=["health"])

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


class Health(BaseModel):
    """The health of the server."""

    status: Literal["ok", "ill"]
    database: Literal["reachable", "unreachable"]
    runner: str = Field(description="Whether matches are being played: alive, or why not.")
    sandbox: str = Field(description="The sandbox of uploaded bots: its level and its control groups, or none.")


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
    return sandbox.level().label
