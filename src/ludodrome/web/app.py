"""The app: routers, static files and middleware, and a sentence for every error."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

import ludodrome
from ludodrome.arena.ladder import enter_builtins
from ludodrome.arena.ladder.uploads import PREFERRED, REQUIRED
from ludodrome.game_extras import extra
from ludodrome.games import GAMES
from ludodrome.store import announcements, database
from ludodrome.store.accounts import ensure_local
from ludodrome.store.announcements import Listener, SharedCache
from ludodrome.system import API
from ludodrome.web import metrics
from ludodrome.web.auth import Mode, caller
from ludodrome.web.bot_pool import BotPool
from ludodrome.web.budgets import (
    BUDGETS,
    PUZZLES_CACHED,
    RECORDS_CACHED,
    BudgetMiddleware,
    Budgets,
    count_request,
)
from ludodrome.web.concurrency import LruCache, OpenSockets, OpenSocketsMiddleware
from ludodrome.web.league import Spectators
from ludodrome.web.logs import HEADER, RequestLogMiddleware, request_id
from ludodrome.web.metrics import CountingExecutor, HealthMonitor, Metrics, MetricsMiddleware, Readiness
from ludodrome.web.owner import OwnerMiddleware, OwnerProof
from ludodrome.web.play_registry import FairPlay, PlayRegistry
from ludodrome.web.programs import ProgramPool
from ludodrome.web.remote_opponents import RemoteOpponents
from ludodrome.web.responses import AsciiJSONResponse, Busy, Conflict, HeadMiddleware, malformed_request
from ludodrome.web.routes import (
    accounts,
    admin,
    analysis,
    bots,
    docs,
    games,
    league,
    live,
    pages,
    plays,
    puzzles,
    remote_bots,
    replays,
    versions,
)
from ludodrome.web.routes.bots import FailedCheck, UploadChecker
from ludodrome.web.routes.puzzles import SharedPuzzleSessions, WebPuzzleSession
from ludodrome.web.routes.remote_bots import RelayRegistry
from ludodrome.web.routes.replays import Reviewer
from ludodrome.web.security import LOCAL, SecurityMiddleware, lan_names, put_headers
from ludodrome.web.templating import MIN_GZIP_BYTES, CachedStaticFiles, error_page
from ludodrome.web.warm_up import WarmUp

API_ROUTERS = (
    games.router,
    plays.router,
    live.router,
    analysis.router,
    replays.router,
    puzzles.router,
    bots.router,
    versions.router,
    league.router,
    league.tournament_router,
    league.leaderboard_router,
    accounts.router,
    accounts.token_router,
    admin.router,
)
PAGE_ROUTERS = (
    docs.pages,
    league.pages,
    metrics.router,
    accounts.pages,
    admin.pages,
    replays.pages,
    analysis.pages,
    puzzles.pages,
    pages.pages,
)
"""The last one comes last: ``/{game_id}`` matches any first path segment."""
MAX_PUZZLE_SESSIONS = 500
"""Puzzle sessions in memory at once."""
MAX_UPLOADED_RECORDS = 200
"""Uploaded records kept at once."""
MAX_SHARED_SESSIONS, MAX_SHARED_REVIEWS = 5000, 500
"""Puzzle sessions and reviews in the database, where several web processes share them."""
MAX_SHOWS, SHOW_SECONDS = 50, 60.0
"""Entries about show matches in the database, where several web processes share them, and how long they stay."""
HOURS = 12 * 3600.0
"""Seconds that an unused entry stays in memory."""
BEAT_SECONDS = 10.0
"""Seconds between two reports of presence to other processes."""
BOT_THREADS = 4
"""Threads in which bots think."""
STATIC = Path(__file__).parent / "static"


def create_app(
    engine: Engine,
    *,
    mode: Mode = "local",
    host_names: Sequence[str] = (),
    behind_proxy: bool = False,
    warm: Sequence[str] = (),
    processes: int = 1,
    started: int | None = None,
    owner: OwnerProof | None = None,
    sandbox: str | None = None,
) -> FastAPI:
    """Create the app over a database.

    ``host_names``: names it answers to besides those of this machine; ``behind_proxy``: trust the addresses that a
    proxy forwards; ``warm``: games to compile and load in the background at start, of which the first must be loaded
    before the server is ready; ``processes``: how many web processes serve together and share their counts, and
    ``started``: when they did, in milliseconds since 1970 (default: now); ``owner``: what proves that a caller is the
    owner, in other modes than hosted; ``sandbox``: ``required``, ``preferred`` or ``off``, for uploaded bots.
    """
    ensure_local(engine)
    enter_builtins(engine)
    executor = CountingExecutor(BOT_THREADS, "bot")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.sockets.loop = app.state.relays.loop = asyncio.get_running_loop()
        listener = _listen(app)
        listener.start()
        beating = asyncio.create_task(_beat(app)) if processes > 1 else None
        app.state.warm_up.start()
        app.state.readiness.start(dict.fromkeys(warm[:1], app.state.warm_up.first))
        limits = app.state.limits
        limits.start()
        yield
        limits.close()
        app.state.readiness.stop()
        app.state.warm_up.stop()
        app.state.health.close()
        if beating is not None:
            beating.cancel()
        listener.stop()
        app.state.plays.clear()
        app.state.bot_pool.programs.clear()
        app.state.bot_pool.remote.clear()
        app.state.reviewer.close()
        executor.shutdown(wait=False, cancel_futures=True)
        app.state.plays.close()

    app = FastAPI(
        title="Ludodrome",
        version=ludodrome.__version__,
        description="Everything that the pages of Ludodrome do, for programs.",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        default_response_class=AsciiJSONResponse,
    )
    app.state.engine = engine
    app.state.mode = mode
    app.state.settings = {
        "mode": mode,
        "host_names": list(host_names),
        "behind_proxy": behind_proxy,
        "warm": list(warm),
        "sandbox": sandbox,
    }
    """What ``create_app`` needs to make the same app in another process."""
    app.state.owner = owner or OwnerProof()
    app.state.public_address = None
    """The URL of this server in the local network, if it differs."""
    app.state.sockets = OpenSockets()
    app.state.behind_proxy = behind_proxy
    app.state.limits = Budgets(engine=engine if processes > 1 else None)
    app.state.metrics = Metrics()
    app.state.health = HealthMonitor(app)
    app.state.readiness = Readiness()
    app.state.warm_up = WarmUp(warm, lambda game_id: executor.submit(games.warm_up, game_id))
    policy = sandbox or (REQUIRED if mode == "hosted" else PREFERRED)
    app.state.bot_pool = BotPool(executor, ProgramPool(engine, policy, own=mode == "local"), RemoteOpponents(engine))
    app.state.processes = processes
    app.state.plays = PlayRegistry(engine, app.state.bot_pool, several=processes > 1, started=started)
    app.state.fair_play = FairPlay(engine, app.state.plays)
    puzzles_each, records_each = BUDGETS[PUZZLES_CACHED].amount, BUDGETS[RECORDS_CACHED].amount
    if processes == 1:
        app.state.puzzle_sessions = LruCache[WebPuzzleSession](MAX_PUZZLE_SESSIONS, HOURS, share=puzzles_each)
        app.state.uploaded_records = LruCache[dict[str, Any]](MAX_UPLOADED_RECORDS, HOURS, share=records_each)
        app.state.reviewer = Reviewer()
    else:
        sessions = SharedCache(engine, "puzzle", MAX_SHARED_SESSIONS, HOURS, share=puzzles_each)
        app.state.puzzle_sessions = SharedPuzzleSessions(sessions)
        app.state.uploaded_records = SharedCache(engine, "record", MAX_UPLOADED_RECORDS, HOURS, share=records_each)
        app.state.reviewer = Reviewer(SharedCache(engine, "review", MAX_SHARED_REVIEWS, HOURS))
    app.state.doctor = UploadChecker(policy)
    shows = SharedCache(engine, "show", MAX_SHOWS, SHOW_SECONDS) if processes > 1 else None
    app.state.spectators = Spectators(engine, shows)
    app.state.relays = RelayRegistry(engine)
    _watch(app, executor)
    everywhere = [Depends(count_request)]
    own = [extra(entry.game_class().routes_module, "router") for entry in GAMES.values()]
    for router in (*API_ROUTERS, *filter(None, own)):
        app.include_router(router, prefix=API, dependencies=everywhere)
    app.include_router(remote_bots.router, prefix=API)  # bots and workers, which authenticate with their own secrets
    app.include_router(metrics.monitor_router, include_in_schema=False)
    app.mount("/static", CachedStaticFiles(STATIC), name="static")
    for router in PAGE_ROUTERS:
        app.include_router(router, include_in_schema=False, dependencies=everywhere)
    _explain(app)
    app.add_middleware(OpenSocketsMiddleware, sockets=app.state.sockets)
    app.add_middleware(GZipMiddleware, minimum_size=MIN_GZIP_BYTES)
    app.add_middleware(HeadMiddleware)
    app.add_middleware(BudgetMiddleware)
    if mode != "hosted":
        app.add_middleware(OwnerMiddleware, proof=app.state.owner)
    names = (*(lan_names() if mode == "lan" else LOCAL), *host_names)
    app.add_middleware(SecurityMiddleware, names=names, addresses=mode == "lan", behind_proxy=behind_proxy)
    app.add_middleware(MetricsMiddleware, metrics=app.state.metrics)
    app.add_middleware(RequestLogMiddleware, behind_proxy=behind_proxy)
    return app


def _listen(app: FastAPI) -> Listener:
    """The thread that hears what other processes announce, with all that acts on it."""
    listener = Listener(app.state.engine)
    for topic in (announcements.ACCOUNT, announcements.TOKEN, announcements.BOT):
        listener.subscribe(topic, partial(app.state.sockets.announced, topic))
    listener.subscribe(announcements.PLAY, app.state.plays.hear_event)
    listener.subscribe(announcements.PRESENCE, app.state.plays.hear_presence)
    listener.subscribe(announcements.LEAGUE, app.state.spectators.hear)
    listener.subscribe(announcements.BOT, app.state.relays.hear)
    listener.on_gap(app.state.spectators.hear)
    listener.on_gap(app.state.relays.look_again)
    listener.on_gap(app.state.sockets.look)
    listener.on_gap(app.state.plays.look_again)
    return listener


async def _beat(app: FastAPI) -> None:
    """Tell other processes again and again what this one knows."""
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        await run_in_threadpool(app.state.plays.beat)


def _watch(app: FastAPI, executor: CountingExecutor) -> None:
    """Register the gauges."""
    engine, watch = app.state.engine, app.state.metrics.watch
    watch("plays_open", "Plays in memory.", lambda: len(app.state.plays))
    watch("bots_thinking", "Moves that bots are computing in plays.", lambda: executor.busy)
    watch("matches_playing", "Running matches of the league.", lambda: database.matches_playing(engine))
    watch("rated_games", "Rated games of the league.", lambda: database.rated_games(engine))
    watch("accounts", "Accounts.", lambda: database.accounts_made(engine))


def _explain(app: FastAPI) -> None:
    """Turn every error into a sentence: as JSON for programs, as a page for people."""

    async def failed(request: Request, error: Exception) -> Response:
        assert isinstance(error, FailedCheck)
        return AsciiJSONResponse({"error": str(error), "finding": error.finding}, 422)

    async def refused(request: Request, error: Exception) -> Response:
        return _answer(request, error.status if isinstance(error, Conflict) else 422, str(error))

    async def busy(request: Request, error: Exception) -> Response:
        return _answer(request, 503, str(error))

    async def unreachable(request: Request, error: Exception) -> Response:
        return _answer(request, 503, "the database cannot be reached; try again in a moment")

    async def malformed(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return _answer(request, 422, malformed_request(error.errors()[0]))

    async def missing(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        with suppress(HTTPException):  # the error page shows the name of the caller
            await caller(request)
        return _answer(request, error.status_code, error.detail, error.headers)

    async def broken(request: Request, error: Exception) -> Response:
        name = request_id(request)
        sentence = f"an internal error occurred; the log of the server has the details under the request id {name}"
        if request.url.path.startswith((API, "/static/")):
            response: Response = AsciiJSONResponse({"error": sentence, "request_id": name}, 500)
        else:
            response = error_page(request, 500, sentence)
        put_headers(request.scope, response.headers)  # no middleware sees this response
        response.headers[HEADER] = name
        response.headers["connection"] = "close"  # uvicorn closes it after an error, so the client must know
        return response

    app.add_exception_handler(FailedCheck, failed)
    app.add_exception_handler(ValueError, refused)
    app.add_exception_handler(Busy, busy)
    app.add_exception_handler(OperationalError, unreachable)
    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(HTTPException, missing)
    app.add_exception_handler(Exception, broken)


def _answer(request: Request, status: int, sentence: str, headers: Any = None) -> Response:
    if request.url.path.startswith((API, "/static/")):
        return AsciiJSONResponse({"error": sentence}, status, headers)
    return error_page(request, status, sentence)
