"""Metrics for Prometheus (requests by route and status, latency, gauges), and the health of the server."""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, Literal

from fastapi import APIRouter, FastAPI, Request, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from pydantic import BaseModel, Field
from sqlalchemy.exc import DatabaseError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ludodrome.arena import sandbox
from ludodrome.store.database import probe_engine, write_state
from ludodrome.store.league_matches import runners
from ludodrome.system import API
from ludodrome.web.auth import Administrator

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
monitor_router = APIRouter(tags=["health"])
"""For monitors: without rate limits, and without a look at who asks."""

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
HEALTH_SECONDS = 5.0
"""Seconds after which a database that does not answer is ill."""
SANDBOX_SECONDS = 1.0
"""Seconds that a check waits for the level of the sandbox: finding it takes longer, once."""
HEALTH_AGE = 1.0
"""Seconds for which the result of a check is given to everybody who asks."""


class Health(BaseModel):
    """The health of the server."""

    status: Literal["ok", "ill"]
    database: Literal["reachable", "unwritable", "unreachable"]
    runner: str = Field(description="Whether matches are being played: alive, or why not.")
    sandbox: str = Field(description="The sandbox of uploaded bots: its level and its control groups, or none.")
    reason: str = Field("", description="Why the server is ill; empty if it is not.")


class HealthMonitor:
    """Checks that the database keeps what is written: for all callers together, at most once a second.

    It has threads and a connection of its own, so that busy requests and a database that hangs do not hold it up.
    """

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._threads = ThreadPoolExecutor(2, "health")
        self._checking: Future[Health] | None = None
        self._begun = 0.0
        self._box: Future[str] | None = None

    async def check(self) -> Health:
        """The health of the server; ill if the database does not answer in time."""
        checking, now = self._checking, time.monotonic()
        if checking is None or (checking.done() and now - self._begun >= HEALTH_AGE):
            checking = self._checking = self._threads.submit(self._check)
            self._begun = now
        left = max(0.0, self._begun + HEALTH_SECONDS - now)
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(checking)), left)
        except TimeoutError:
            reason = f"the database did not answer within {HEALTH_SECONDS:g} seconds"
            return Health(status="ill", database="unreachable", runner="unknown", sandbox="unknown", reason=reason)

    def close(self) -> None:
        """End the threads; a check that hangs is left behind."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _check(self) -> Health:
        if self._box is None or self._box.done():
            self._box = self._threads.submit(self._sandbox)  # its first answer takes seconds, which nobody waits for
        box = self._box
        engine = self._app.state.engine
        found = write_state(engine)
        runner = "unknown"
        if found.reachable:
            with suppress(DatabaseError):
                runner = "alive" if runners(probe_engine(engine)) else "none: matches are waiting"
        kept: Literal["reachable", "unwritable", "unreachable"] = "unwritable" if found.fault else "reachable"
        return Health(
            status="ill" if found.fault else "ok",
            database=kept if found.reachable else "unreachable",
            runner=runner,
            sandbox=box.result() if not wait([box], SANDBOX_SECONDS).not_done else "being tested",
            reason=found.fault,
        )

    def _sandbox(self) -> str:
        """The sandbox of uploaded bots. A hosted server looks for it; others do when the first bot comes."""
        if self._app.state.mode == "hosted":
            return sandbox.level().label
        level = self._app.state.doctor.level
        return "not looked for yet" if level is None else str(level.label)


@monitor_router.get("/health", responses={503: {"model": Health, "description": "The database cannot be written."}})
async def health(request: Request, response: Response) -> Health:
    """The health of the server: whether the database keeps what is written. 503 if it does not."""
    found: Health = await request.app.state.health.check()
    if found.status == "ill":
        response.status_code = 503
    return found


class Ready(BaseModel):
    """Whether the server takes requests."""

    status: Literal["ready", "not ready"]
    reason: str = Field(description="Why it is not ready; empty if it is.")


class Readiness:
    """Whether requests should be sent here: not before everything is loaded, and not during the shutdown."""

    def __init__(self) -> None:
        self._loading: dict[str, Future[Any]] | None = None
        self._stopping = False

    def start(self, loading: dict[str, "Future[Any]"]) -> None:
        """The app has started; these games are being loaded."""
        self._loading = loading

    def stop(self) -> None:
        """The server is shutting down."""
        self._stopping = True

    @property
    def is_ready(self) -> bool:
        """Whether it is."""
        return not self.reason

    @property
    def reason(self) -> str:
        """Why it is not ready; empty if it is."""
        if self._stopping:
            return "the server is shutting down"
        if self._loading is None:
            return "the server is starting"
        for game_id, future in self._loading.items():
            if not future.done():
                return f"the game {game_id} is being loaded"
            if (error := future.exception()) is not None:
                return f"the game {game_id} cannot be loaded: {error}"
        return ""


@monitor_router.get("/ready", responses={503: {"model": Ready, "description": "It starts or shuts down."}})
async def ready(request: Request, response: Response) -> Ready:
    """Whether requests should be sent to this process. 503 while it starts and while it shuts down."""
    reason = request.app.state.readiness.reason
    if reason:
        response.status_code = 503
    return Ready(status="not ready" if reason else "ready", reason=reason)


@router.get("/metrics", response_class=Response)
def metrics(request: Request, who: Administrator) -> Response:
    """Metrics for Prometheus, with the token of an administrator."""
    return Response(request.app.state.metrics.text(), media_type=PROMETHEUS)
