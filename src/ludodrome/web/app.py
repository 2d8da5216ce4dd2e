"""The app: routers, static files and middleware, and a sentence for every error."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

import ludodrome
from ludodrome.arena.ladder import enter_builtins
from ludodrome.game_extras import extra
from ludodrome.games import GAMES
from ludodrome.store import database
from ludodrome.store.accounts import ensure_local
from ludodrome.system import API
from ludodrome.web import metrics
from ludodrome.web.auth import Mode, caller
from ludodrome.web.budgets import (
    BUDGETS,
    PUZZLES_CACHED,
    RECORDS_CACHED,
    BudgetMiddleware,
    Budgets,
    count_request,
)
from ludodrome.web.league import Spectators
from ludodrome.web.lru_cache import LruCache
from ludodrome.web.metrics import CountingExecutor, Metrics, MetricsMiddleware
from ludodrome.web.play import BotPool
from ludodrome.web.play_registry import PlayRegistry
from ludodrome.web.responses import AsciiJSONResponse, Busy, Conflict, HeadMiddleware
from ludodrome.web.routes import (
    accounts,
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
)
from ludodrome.web.routes.bots import UploadChecker
from ludodrome.web.routes.puzzles import WebPuzzleSession
from ludodrome.web.routes.remote_bots import RelayRegistry
from ludodrome.web.routes.replays import Reviewer
from ludodrome.web.security import LOCAL, SecurityMiddleware, lan_names
from ludodrome.web.templating import MIN_GZIP_BYTES, CachedStaticFiles, error_page

API_ROUTERS = (
    games.router,
    plays.router,
    live.router,
    analysis.router,
    replays.router,
    puzzles.router,
    bots.router,
    league.router,
    league.tournament_router,
    league.leaderboard_router,
    accounts.router,
    accounts.token_router,
)
PAGE_ROUTERS = (
    docs.pages,
    league.pages,
    metrics.router,
    accounts.pages,
    replays.pages,
    analysis.pages,
    puzzles.pages,
    pages.pages,
)
"""The last one comes last: ``/{game_id}`` matches any first path segment."""
MAX_PUZZLE_SESSIONS = 500
"""Puzzle sessions in memory at once."""
MAX_UPLOADED_RECORDS = 200
"""Uploaded records in memory at once."""
HOURS = 12 * 3600.0
"""Seconds that an unused entry stays in memory."""
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
) -> FastAPI:
    """Create the app over a database.

    ``host_names``: names it answers to besides those of this machine; ``behind_proxy``: trust the addresses that a
    proxy forwards; ``warm``: games to compile in the background at start; ``processes``: web processes on this
    database, which share their counts if there are several.
    """
    ensure_local(engine)
    enter_builtins(engine)
    executor = CountingExecutor(BOT_THREADS, "bot")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        for game_id in warm:
            executor.submit(games.warm_up, game_id)
        limits = app.state.limits
        limits.start()
        yield
        limits.close()
        app.state.plays.clear()
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
    app.state.public_address = None
    """The URL of this server in the local network, if it differs."""
    app.state.behind_proxy = behind_proxy
    app.state.limits = Budgets(engine=engine if processes > 1 else None)
    app.state.metrics = Metrics()
    app.state.bot_pool = BotPool(executor)
    app.state.plays = PlayRegistry(engine, app.state.bot_pool)
    app.state.puzzle_sessions = LruCache[WebPuzzleSession](
        MAX_PUZZLE_SESSIONS, HOURS, share=BUDGETS[PUZZLES_CACHED].amount
    )
    app.state.uploaded_records = LruCache[dict[str, Any]](
        MAX_UPLOADED_RECORDS, HOURS, share=BUDGETS[RECORDS_CACHED].amount
    )
    app.state.reviewer = Reviewer()
    app.state.doctor = UploadChecker(sandboxed=mode == "hosted")
    app.state.spectators = Spectators(engine)
    app.state.relays = RelayRegistry(engine)
    _watch(app, executor)
    everywhere = [Depends(count_request)]
    own = [extra(entry.game_class().routes_module, "router") for entry in GAMES.values()]
    for router in (*API_ROUTERS, *filter(None, own)):
        app.include_router(router, prefix=API, dependencies=everywhere)
    app.include_router(remote_bots.router, prefix=API)  # bots and workers, which authenticate with their own secrets
    app.mount("/static", CachedStaticFiles(STATIC), name="static")
    for router in PAGE_ROUTERS:
        app.include_router(router, include_in_schema=False, dependencies=everywhere)
    _explain(app)
    app.add_middleware(GZipMiddleware, minimum_size=MIN_GZIP_BYTES)
    app.add_middleware(HeadMiddleware)
    app.add_middleware(BudgetMiddleware)
    names = (*(lan_names() if mode == "lan" else LOCAL), *host_names)
    app.add_middleware(SecurityMiddleware, names=names, addresses=mode == "lan", behind_proxy=behind_proxy)
    app.add_middleware(MetricsMiddleware, metrics=app.state.metrics)
    return app


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

    async def refused(request: Request, error: Exception) -> Response:
        return _answer(request, error.status if isinstance(error, Conflict) else 422, str(error))

    async def busy(request: Request, error: Exception) -> Response:
        return _answer(request, 503, str(error))

    async def unreachable(request: Request, error: Exception) -> Response:
        return _answer(request, 503, "the database cannot be reached; try again in a moment")

    async def malformed(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
        return _answer(request, 422, f"{where or 'the request'}: {first['msg'].lower()}")

    async def missing(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        with suppress(HTTPException):  # the error page shows the name of the caller
            await caller(request)
        return _answer(request, error.status_code, error.detail, error.headers)

    async def broken(request: Request, error: Exception) -> Response:
        return _answer(request, 500, "an internal error occurred; the log of the server has the details")

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
