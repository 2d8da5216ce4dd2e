"""Bots of the league: enter, check and retire them; their sources and records."""

import asyncio
import json
import logging
import secrets
import sys
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from pydantic import Field
from sqlalchemy import Engine

from ludodrome.arena import sandbox
from ludodrome.arena.doctor.examination import FAILURE
from ludodrome.arena.ladder.rating_updates import begin_ladder
from ludodrome.arena.ladder.uploads import (
    MAX_FILES,
    MAX_SOURCE,
    MAX_UPLOADED_MODULE,
    OFF,
    PREFERRED,
    QUICK,
    REQUIRED,
    check_source,
    is_module,
    is_packed,
    pack_archive,
    pack_files,
)
from ludodrome.arena.records import to_text
from ludodrome.bots.starters import GAMES_WITH_STARTERS, one_file
from ludodrome.games import GAMES, find
from ludodrome.store import league_bots as store
from ludodrome.store.league_matches import RECORD_PAGE, KeptRecord, games_of, packed_records
from ludodrome.store.league_models import REMOTE, UPLOADED
from ludodrome.store.models import unpacked
from ludodrome.web import league
from ludodrome.web.auth import Anybody, BotsScope, Caller
from ludodrome.web.budgets import CHECK_SECONDS as CHECK_BUDGET
from ludodrome.web.budgets import CHECKS, READING_SECONDS, READINGS, UNLIMITED, CallerBudget, budget_of
from ludodrome.web.position_view import Json
from ludodrome.web.responses import Busy, Conflict, StreamedResponse
from ludodrome.web.routes.schemas import ERROR_RESPONSES, GAME_NAME, Strict
from ludodrome.web.source_reader import read_source

# Checks of uploaded bots: the doctor runs in a child process and streams its findings.
# This process never compiles, imports or runs an upload.


MAX_CHECKS = 2
"""Checks that run at once."""
MAX_READINGS = 4
"""Sources that are read for the editor at once."""
READING_WAIT = 5.0
"""Seconds that a reading waits for its turn."""
WAIT_SECONDS = 20.0
"""Seconds that a check waits for a free slot."""
CHECK_SECONDS = 180.0
"""Seconds of a check, at most."""
EXIT_SECONDS = 5.0
COMMAND = (sys.executable, "-m", "ludodrome.arena.ladder.uploads")
MAX_FINDING_BYTES = 1 << 20
"""Bytes of one finding, at most."""


_log = logging.getLogger(__name__)


class FailedCheck(ValueError):
    """A bot failed its check; ``finding`` says how, if it got that far."""

    def __init__(self, sentence: str, finding: Json | None) -> None:
        super().__init__(sentence)
        self.finding = finding


class UploadChecker:
    """Checks uploads, a few at a time. ``policy``: whether they run in a sandbox, one of ``SANDBOX_POLICIES``."""

    def __init__(self, policy: str) -> None:
        self.policy = policy
        self.level: sandbox.SandboxLevel | None = None
        """The sandbox of uploads, once known."""
        self._slots = asyncio.Semaphore(MAX_CHECKS)
        self._reading = asyncio.Semaphore(MAX_READINGS)

    def look(self) -> sandbox.SandboxLevel:
        """Find the sandbox of uploads; this may take seconds."""
        known, self.level = self.level, sandbox.level()
        if known is None and not self.level.holds and self.policy == PREFERRED:
            _log.warning("uploaded bots run with limits only, which is not a sandbox: %s", self.level.reasons)
        return self.level

    def check_policy(self) -> bool:
        """Whether uploads run in a sandbox; Conflict if they need one and none holds. This may take seconds."""
        level = None if self.policy == OFF else self.look()
        if level is not None and not level.holds and self.policy == REQUIRED:
            raise Conflict(f"this server takes no uploads: {level.sentence}")
        return level is not None and level.holds

    async def examine(
        self, game: str, source: str, only: Sequence[str] = (), budget: CallerBudget = UNLIMITED
    ) -> AsyncGenerator[Json, None]:
        """The messages of the child: ``note``, ``finding``, ``trouble``, and ``over`` at the end.

        A caller has a share of the slots, waiting included, so that others find one free.
        """
        check_source(source)
        sandboxed = not is_module(source) and await run_in_threadpool(self.check_policy)
        async with AsyncExitStack() as held:
            await held.enter_async_context(budget.hold_patiently(CHECKS, WAIT_SECONDS))
            try:
                await asyncio.wait_for(self._slots.acquire(), WAIT_SECONDS)
            except TimeoutError:
                raise Busy("too many bots are being checked; try again in a moment") from None
            held.callback(self._slots.release)
            held.enter_context(budget.timed(CHECK_BUDGET))
            asked = {"game": game, "source": source, "only": only, "sandboxed": sandboxed}
            async with aclosing(_messages(asked)) as messages:
                async for line in messages:
                    yield line

    async def read(self, source: str, budget: CallerBudget = UNLIMITED) -> Json:
        """The tokens of a source and its problems, for the editor; a child process reads it."""
        if source.strip():
            check_source(source)
        async with AsyncExitStack() as held:
            await held.enter_async_context(budget.hold_patiently(READINGS, READING_WAIT))
            try:
                await asyncio.wait_for(self._reading.acquire(), READING_WAIT)
            except TimeoutError:
                raise Busy("too many sources are being read; try again in a moment") from None
            held.callback(self._reading.release)
            held.enter_context(budget.timed(READING_SECONDS))
            try:
                return await read_source(source)
            except TimeoutError:
                raise Busy("the source could not be read in time; try again in a moment") from None


async def _messages(asked: Json) -> AsyncGenerator[Json, None]:
    child = await asyncio.create_subprocess_exec(
        *COMMAND,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=MAX_FINDING_BYTES,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    deadline = asyncio.get_running_loop().time() + CHECK_SECONDS
    try:
        child.stdin.write(json.dumps(asked).encode() + b"\n")
        await child.stdin.drain()
        while line := await asyncio.wait_for(child.stdout.readline(), deadline - asyncio.get_running_loop().time()):
            yield json.loads(line)
    except TimeoutError:
        yield {"trouble": f"the check was stopped after {CHECK_SECONDS:.0f} seconds"}
    except (ConnectionError, ValueError):
        yield {"trouble": "the check crashed"}
    finally:
        child.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(child.wait(), EXIT_SECONDS)
        if child.returncode is None:
            child.kill()
            await child.wait()


router = APIRouter(tags=["bots"], responses=ERROR_RESPONSES)

BotId = Annotated[str, Path(max_length=40)]
TOKEN_BYTES = 24
PART_BYTES = 128 * 1024
"""Bytes of records that are sent together: a slow reader holds no more. Larger parts are compressed in threads."""
LINES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/x-ndjson": {}}, "description": "A JSON object a line."}
}


IDENTITY = Field(
    default=None,
    pattern="^[0-9a-f]{1,64}$",
    description="Of a remote bot: a hash of what runs. If it is not what ran before, that is a new version.",
)


class UploadedProgram(Strict):
    """The program of an uploaded bot, in one of three forms."""

    source: str | None = Field(default=None, min_length=1, max_length=MAX_SOURCE, description="One file of Python.")
    files: dict[str, str] | None = Field(
        default=None, max_length=MAX_FILES, description="Several files by name; main.py is the program."
    )
    archive: str | None = Field(
        default=None,
        max_length=2 * MAX_UPLOADED_MODULE,
        description="A zip with a main.py, or a WebAssembly module, in base64.",
    )

    def packed(self) -> str:
        """The program as it is stored; ValueError says what is wrong with it."""
        given = [one for one in (self.source, self.files, self.archive) if one is not None]
        if len(given) != 1:
            raise ValueError("an uploaded bot needs a source, or files, or an archive: one of the three")
        if self.files is not None:
            return pack_files(self.files)
        if self.archive is not None:
            return pack_archive(self.archive)
        assert self.source is not None
        check_source(self.source)
        if is_packed(self.source) or is_module(self.source):
            raise ValueError("a zip or a WebAssembly module is sent as an archive, not as a source")
        return self.source


class NewBot(UploadedProgram):
    """A bot to enter."""

    game: str = GAME_NAME
    name: str = Field(max_length=60, examples=["Little Climber"])
    kind: Literal["uploaded", "remote"]
    identity: str | None = IDENTITY


class NewVersion(UploadedProgram):
    """A new version of an uploaded bot."""


class Upload(UploadedProgram):
    """A program to check."""

    game: str = GAME_NAME


class SourceText(Strict):
    """A source in the editor."""

    source: str = Field(max_length=MAX_SOURCE, description="Python, finished or not.")


class TokenRenewal(Strict):
    """A new token for a remote bot, and what runs."""

    identity: str | None = IDENTITY


class Retiring(Strict):
    """Retire a bot, or bring it back."""

    back: bool = False


def check_game(game_id: str) -> None:
    """404 if there is no such game."""
    if game_id not in GAMES:
        raise HTTPException(404, "there is no such game")


def bot_of(request: Request, bot_id: str) -> store.BotEntry:
    """A bot by its id, or 404."""
    found = store.find_bot(request.app.state.engine, bot_id)
    if found is None or found.banned:
        raise HTTPException(404, "there is no such bot")
    return found


def own_bot(request: Request, bot_id: str, who: Caller) -> store.BotEntry:
    """A bot of the caller, or 404 or 403; administrators own every bot."""
    found = bot_of(request, bot_id)
    if found.owner is None or (found.owner != who.account and not who.admin):
        raise HTTPException(403, "this bot is not yours")
    return found


@router.get("/starters/{game_id}")
def starter(game_id: str) -> Json:
    """A starter bot: a Python program that works as it is."""
    check_game(game_id)
    if game_id not in GAMES_WITH_STARTERS:
        raise HTTPException(404, f"there is no starter bot for {game_id}")
    return {"game": game_id, "source": one_file(game_id)}


@router.post("/sources")
async def read(request: Request, wanted: SourceText, who: Anybody) -> Json:
    """Read a source for an editor; nothing of it is run.

    ``lines`` has for each line its runs, [length, kind]; a kind is c (comment), s (string), n (number), k (keyword),
    d (a name that is defined), b (a built-in name) or empty. ``problems`` are errors and warnings of Python's parser:
    ``grade``, ``text``, ``line`` and ``column`` from 1, ``end`` the first column after it, or 0.
    """
    doctor: UploadChecker = request.app.state.doctor
    return await doctor.read(wanted.source, budget_of(request))


@router.get("/bots")
def bots(
    request: Request,
    who: Anybody,
    game: Annotated[str | None, Query(max_length=40)] = None,
    mine: bool = False,
) -> list[Json]:
    """The bots of a game, or all; ``mine``: only your own."""
    owner = (who.account or "") if mine else None
    return [league.bot_json(one) for one in store.bots(request.app.state.engine, game, owner)]


@router.get("/bots/{bot_id}")
def one_bot(request: Request, bot_id: BotId) -> Json:
    """A bot with its rating, its history, its head-to-heads and its recent games."""
    bot_of(request, bot_id)
    standing = store.standing(request.app.state.engine, bot_id)
    assert standing is not None
    return league.bot_details(request.app.state.engine, standing)


@router.post("/bots", status_code=201)
async def enter(request: Request, wanted: NewBot, who: BotsScope) -> Json:
    """Enter a bot. An uploaded bot first plays a game in each seat, and is refused with the reason if it fails.

    The token of a remote bot is returned only once; the bot connects with it to /api/v1/bots/{id}/connect.
    """
    find(wanted.game)
    engine, account = request.app.state.engine, str(who.account)
    if wanted.kind == REMOTE:
        if any(one is not None for one in (wanted.source, wanted.files, wanted.archive)):
            raise ValueError("a remote bot has no source on the server")
        token = new_token()
        identity = wanted.identity or ""
        bot_id = await run_in_threadpool(store.enter_remote, engine, wanted.game, account, wanted.name, token, identity)
        return {**league.bot_json(await run_in_threadpool(bot_of, request, bot_id)), "token": token}
    program = wanted.packed()
    await run_in_threadpool(store.check_name, engine, wanted.game, account, wanted.name)
    findings = await passed(request, wanted.game, program)
    bot_id = await run_in_threadpool(store.enter_uploaded, engine, wanted.game, account, wanted.name, program, findings)
    return league.bot_json(await run_in_threadpool(bot_of, request, bot_id))


@router.post("/bots/{bot_id}/versions", status_code=201)
async def add_version(request: Request, bot_id: BotId, wanted: NewVersion, who: BotsScope) -> Json:
    """Enter a new version of your uploaded bot; it plays from now on."""
    found = await run_in_threadpool(own_bot, request, bot_id, who)
    if found.kind != UPLOADED:
        raise ValueError("only an uploaded bot has versions")
    program = wanted.packed()
    findings = await passed(request, found.game, program)
    number = await run_in_threadpool(store.add_version, request.app.state.engine, bot_id, program, findings)
    await run_in_threadpool(begin_ladder, request.app.state.engine, found.game)
    return {**league.bot_json(found), "version": number}


@router.get("/bots/{bot_id}/source")
def source(request: Request, bot_id: BotId, who: BotsScope) -> Json:
    """The source of the current version of your uploaded bot; ``archive`` if it is a zip or a module, in base64."""
    found = own_bot(request, bot_id, who)
    text = store.source_of(request.app.state.engine, found.spec.partition(":")[2]) if found.kind == UPLOADED else None
    if text is None:
        raise HTTPException(404, "this bot has no source on the server")
    return {"archive": text.partition(",")[2]} if is_packed(text) or is_module(text) else {"source": text}


@router.post("/bots/{bot_id}/token", status_code=201)
def renew_token(request: Request, bot_id: BotId, who: BotsScope, wanted: TokenRenewal | None = None) -> Json:
    """A new token for your remote bot; the old one stops working."""
    found = own_bot(request, bot_id, who)
    if found.kind != REMOTE:
        raise ValueError("only a remote bot has a token")
    token = new_token()
    store.set_token(request.app.state.engine, bot_id, token)
    if wanted is not None and wanted.identity is not None:
        store.identify(request.app.state.engine, bot_id, wanted.identity)
        begin_ladder(request.app.state.engine, found.game)
    return {"id": bot_id, "token": token}


@router.post("/bots/{bot_id}/retire")
def retire(request: Request, bot_id: BotId, wanted: Retiring, who: BotsScope) -> Json:
    """Retire your bot, or bring it back."""
    own_bot(request, bot_id, who)
    store.retire(request.app.state.engine, bot_id, wanted.back)
    return league.bot_json(bot_of(request, bot_id))


@router.get("/bots/{bot_id}/records", response_class=Response, responses=LINES)
async def records(request: Request, bot_id: BotId) -> StreamedResponse:
    """All records of a bot as JSON lines, in the order in which the games ended.

    The seeds of a game are withheld while others of its event or its ladder pair are not over.
    """
    await run_in_threadpool(bot_of, request, bot_id)
    headers = {"content-disposition": f'attachment; filename="{bot_id}.jsonl"'}
    lines = _record_lines(request.app.state.engine, bot_id)
    return StreamedResponse(lines, budget_of(request), "application/x-ndjson", headers)


async def _record_lines(engine: Engine, bot_id: str) -> AsyncGenerator[str, None]:
    """The records, a batch at a time: no database connection is held while a batch is sent."""
    games = await run_in_threadpool(games_of, engine, bot_id)
    for at in range(0, len(games), RECORD_PAGE):
        waiting = deque(await run_in_threadpool(packed_records, engine, games[at : at + RECORD_PAGE]))
        while waiting:
            yield await run_in_threadpool(_next_lines, waiting)


def _next_lines(waiting: deque[tuple[bytes, bool]]) -> str:
    """The next records as text: some, but never more than one after the first of ``PART_BYTES``."""
    lines, size = [], 0
    while waiting and size < PART_BYTES:
        packed, sealed = waiting.popleft()
        lines.append(to_text(league.published(KeptRecord(unpacked(packed), sealed))) + "\n")
        size += len(lines[-1])
    return "".join(lines)


@router.post("/checks", response_class=Response, responses=LINES)
async def check(request: Request, wanted: Upload, who: BotsScope) -> StreamedResponse:
    """Check a program with the doctor; the findings are streamed as JSON lines.

    A line has a ``note`` (the current check), a ``finding``, a ``trouble`` that ended the check, or ``over``.
    """
    find(wanted.game)
    doctor: UploadChecker = request.app.state.doctor
    budget, program = budget_of(request), wanted.packed()

    async def lines() -> AsyncGenerator[str, None]:
        async with aclosing(doctor.examine(wanted.game, program, budget=budget)) as findings:
            async for line in findings:
                yield json.dumps(line) + "\n"

    headers = {"x-accel-buffering": "no", "content-encoding": "identity"}  # no buffering
    return StreamedResponse(lines(), budget, "application/x-ndjson", headers)


async def passed(request: Request, game: str, source: str) -> list[Any]:
    """The findings of the checks that every bot must pass; ValueError says what failed."""
    doctor: UploadChecker = request.app.state.doctor
    findings = []
    async with aclosing(doctor.examine(game, source, QUICK, budget_of(request))) as messages:
        async for line in messages:
            if "trouble" in line:
                raise ValueError(line["trouble"])
            if "finding" in line:
                findings.append(line["finding"])
    failed = next((one for one in findings if one["grade"] == FAILURE), None)
    if failed is not None or not findings:
        words = "it could not be checked" if failed is None else failed["sentence"]
        last = (failed or {}).get("stderr", "").strip().splitlines()[-1:]
        raise FailedCheck(f"the bot failed its check: {words}" + (f" ({last[0]})" if last else ""), failed)
    return findings


def new_token() -> str:
    """A secret for a remote bot."""
    return f"bot_{secrets.token_urlsafe(TOKEN_BYTES)}"
