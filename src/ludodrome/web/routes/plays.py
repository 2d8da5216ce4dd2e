"""Plays: games on the page, from the first move to the record. Live streams are in ``live.py``."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Header, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from ludodrome.arena.ladder.events import check_options
from ludodrome.arena.ladder.uploads import is_module
from ludodrome.arena.records import to_text
from ludodrome.arena.seeds import new_secret
from ludodrome.arena.transports import COMMAND, FILE, WASM, check_wasm, command
from ludodrome.bots.registry import is_built_in, kinds_of, read_spec
from ludodrome.game import Game, IllegalMove
from ludodrome.store.accounts import PLAY
from ludodrome.store.league_bots import BotEntry, source_of
from ludodrome.store.league_models import REMOTE, UPLOADED
from ludodrome.store.models import LOCAL
from ludodrome.store.plays import FRIEND, digest_of, new_key
from ludodrome.validation import show
from ludodrome.web.auth import Anybody, Caller, MayBegin, SignedIn
from ludodrome.web.budgets import budget_of
from ludodrome.web.play import WebPlay
from ludodrome.web.play_registry import KEY_HEADER, FairPlay, PlayRegistry, make_play_spec
from ludodrome.web.play_state import BOT, PERSON, Viewer
from ludodrome.web.position_view import Json, open_game
from ludodrome.web.programs import OWN
from ludodrome.web.responses import Conflict, Forbidden, to_json_bytes
from ludodrome.web.routes.bots import bot_of
from ludodrome.web.routes.pages import showcase
from ludodrome.web.routes.schemas import ERROR_RESPONSES, NewMove, NewPlay, Proposal, SeatChoice

router = APIRouter(tags=["plays"], responses=ERROR_RESPONSES)

PATIENCE = 20.0
"""Seconds of a long poll."""
MAX_LINES = 100
LATEST = 2**53
MAX_KEY = 100
MAX_PARAMS = {"time": 10, "nodes": 2_000_000, "sims": 50_000, "threads": 2}
"""Limits of a bot per move, for callers from elsewhere: all bots share the threads."""
ENDS_A_SEARCH = {"time", "nodes"}

Key = Annotated[
    str | None, Header(alias=KEY_HEADER, max_length=MAX_KEY, description="The key of your seat, if you have one.")
]


def registry_of(connection: Any) -> PlayRegistry:
    """The games of the app."""
    registry: PlayRegistry = connection.app.state.plays
    return registry


def fair_play_of(connection: HTTPConnection) -> FairPlay:
    """What keeps the engine out of games between people."""
    found: FairPlay = connection.app.state.fair_play
    return found


def play_of(request: Any, name: str) -> WebPlay:
    """The game of an id, or 404."""
    play = registry_of(request).find(name, budget_of(request).owner)
    if play is None:
        raise HTTPException(404, "there is no such game")
    return play


@router.post("/plays", status_code=201)
def begin(request: Request, wanted: NewPlay, who: MayBegin) -> Json:
    """Begin a play. A bot that is to move starts to think at once.

    A caller who is not signed in gets a ``key``, to be sent as ``X-Play-Key`` from then on.
    """
    game = open_game(wanted.game, wanted.options)
    entries = [_league_bot(request, spec, game, who) for spec in wanted.seats]
    chosen = [spec if entry is None else entry.spec for spec, entry in zip(wanted.seats, entries, strict=True)]
    for spec, entry in zip(chosen, entries, strict=True):
        if entry is not None and entry.kind == UPLOADED:
            if not is_module(source_of(request.app.state.engine, entry.version) or ""):
                request.app.state.doctor.check_policy()
        elif entry is not None and entry.kind == REMOTE:
            _check_remote(entry, wanted.seats)
        elif spec.partition(":")[0] in OWN:
            _check_program(request, spec, who)
        else:
            _check_spec(spec, game)
            if who.account != LOCAL and spec not in (PERSON, FRIEND):
                _check_thought(spec, game)
    seed = new_secret() if wanted.seed is None else wanted.seed
    specs = [PERSON if spec == FRIEND else spec for spec in chosen]
    position = game.parse_state(wanted.position) if isinstance(wanted.position, str) else wanted.position
    if any(spec not in (PERSON, FRIEND) for spec in wanted.seats):
        _check_start(request, game, position, wanted.opening)
    names = _names(wanted.seats, who, entries)
    opening = _read_moves(game, position, wanted.opening)
    play_spec = make_play_spec(game, specs, wanted.clock, seed, opening, names, position)
    kinds = tuple(spec if spec in (PERSON, FRIEND) else BOT for spec in wanted.seats)
    key = new_key() if who.account is None else None
    digest = None if key is None else digest_of(key)
    owner = budget_of(request).owner
    play = registry_of(request).begin(game, play_spec, kinds, who.account, digest, budget_owner=owner)
    view = play.view(noted_viewer(request, play, who, key))
    return view if key is None else {**view, "key": key}


def _read_moves(game: Game, position: Any, opening: list[Any]) -> list[Any]:
    """The moves of an opening; texts are parsed, other moves are checked later."""
    if game.reads_text or str not in map(type, opening):
        return opening
    state, moves = game.initial_state() if position is None else position, []
    for number, move in enumerate(opening):
        try:
            moves.append(game.parse_move(move, state) if type(move) is str else move)
            state = game.apply(state, moves[-1])
        except IllegalMove as wrong:
            raise ValueError(f"move {number} of the opening cannot be made: {wrong}") from wrong
    return moves


@router.get("/plays")
def mine(
    request: Request,
    who: SignedIn,
    most: Annotated[int, Query(ge=1, le=MAX_LINES)] = MAX_LINES,
    before: Annotated[int | None, Query(ge=0, le=LATEST, description="Milliseconds of universal time.")] = None,
) -> list[Json]:
    """The plays that you began, newest first."""
    assert who.account is not None
    return [asdict(line) for line in registry_of(request).lines(who.account, most, before)]


@router.get("/plays/{name}")
async def look(
    request: Request,
    name: str,
    who: Anybody,
    key: Key = None,
    after: Annotated[int | None, Query(ge=0, le=2**31)] = None,
) -> Response:
    """The current state of a play. ``after`` waits until the version is higher, at most 20 seconds."""
    play = await run_in_threadpool(play_of, request, name)
    if after is not None:
        timers = play.seconds_left_to_move(), play.seconds_to_takeover()
        patience = min((PATIENCE, *(left + 0.02 for left in timers if left is not None)))
        await play.notifier.wait(lambda: play.closed or play.version > after, patience)
        play = await run_in_threadpool(play_of, request, name)
    await run_in_threadpool(noted_viewer, request, play, who, key)
    return await run_in_threadpool(_view, play, who, key)


@router.get("/plays/{name}/positions/{number}")
def position(request: Request, name: str, number: int, who: Anybody, key: Key = None) -> Json:
    """The position after ``number`` moves."""
    play = play_of(request, name)
    return play.position(number, viewer_of(play, who, key))


@router.get("/plays/{name}/explanations/{number}")
def explanation(request: Request, name: str, number: int, who: Anybody, key: Key = None) -> list[Json]:
    """What move ``number``, from 1, did, told to the holder of one seat: keys and sentences, for people who learn.

    Empty for spectators, and for a move that is face down.
    """
    play = play_of(request, name)
    game, snapshot, seats = play.game, play.snapshot, viewer_of(play, who, key).seats
    if not 1 <= number <= snapshot.length:
        raise Conflict(f"the moves of this game have the numbers 1 to {snapshot.length}")
    if len(seats) != 1 or (snapshot.result is None and number > snapshot.open_moves):
        return []
    before, after = (game.decode(snapshot.at(game, one)[0]) for one in (number - 1, number))
    move = game.parse_move(snapshot.moves[number - 1]["text"], before)
    return [one._asdict() for one in game.explain_move(before, move, after, next(iter(seats)))]


@router.post("/plays/{name}/moves")
async def move(request: Request, name: str, made: NewMove, who: Anybody, key: Key = None) -> Response:
    """Make a move, and answer once it is saved. An illegal move is refused with the reason and costs nothing."""
    play = registry_of(request).cached(name)
    if play is None:
        play = await run_in_threadpool(play_of, request, name)
    viewer = viewer_of(play, who, key)
    await check_fair_move(request, play, viewer, key, made.move)
    await play.move_async(made.move, viewer.seats, made.version)
    if play.game.actions_a_turn > 1 or play.seconds_left_to_move() == 0:
        return await run_in_threadpool(_view, play, who, key)  # takes long, or waits for the lock of the play
    return _response(play, who, key)


@router.post("/plays/{name}/undo")
def undo(request: Request, name: str, who: Anybody, key: Key = None) -> Response:
    """Return to the last decision of a person."""
    play = play_of(request, name)
    play.undo(viewer_of(play, who, key))
    return _view(play, who, key)


@router.post("/plays/{name}/resign")
def resign(request: Request, name: str, seat: SeatChoice, who: Anybody, key: Key = None) -> Response:
    """Resign."""
    play = play_of(request, name)
    play.resign(viewer_of(play, who, key).seats, seat.seat)
    return _view(play, who, key)


@router.post("/plays/{name}/offers")
def offer(request: Request, name: str, proposal: Proposal, who: Anybody, key: Key = None) -> Response:
    """Offer the other people a draw or a takeback, agree to the same offer of theirs, or decline it.

    The field ``proposes`` of a seat has what it offers. An offer is void once the others move.
    """
    play = play_of(request, name)
    play.propose(viewer_of(play, who, key), proposal.offer)
    return _view(play, who, key)


@router.post("/plays/{name}/rematch")
def rematch(request: Request, name: str, who: Anybody, key: Key = None) -> Response:
    """Offer a rematch with swapped seats. Once all people have offered it, ``next`` is its id."""
    play = play_of(request, name)
    registry_of(request).rematch(play, viewer_of(play, who, key))
    return _view(play, who, key)


@router.post("/joins/{link}", status_code=201)
def join(request: Request, link: str, who: Anybody) -> Json:
    """Take the seat of a link. Send the ``key`` as ``X-Play-Key`` from then on."""
    called = who.name if who.account not in (None, LOCAL) else None
    joined = registry_of(request).join(link, called)
    if joined is None:
        raise HTTPException(404, "this link is not valid: the seat is taken, or the link is mistyped")
    noted_viewer(request, joined.play, who, joined.key)
    return {"play": joined.play.id, "game": joined.play.game.id, "seat": joined.seat, "key": joined.key}


@router.get("/plays/{name}/record", response_class=Response, responses={200: {"content": {"application/json": {}}}})
def record(request: Request, name: str) -> Response:
    """The record of a finished game."""
    kept = registry_of(request).record(play_of(request, name))
    file = json.dumps(f"{kept['match']}.json")
    headers = {"content-disposition": f"attachment; filename={file}"}
    return Response(to_text(kept) + "\n", media_type="application/json", headers=headers)


def viewer_of(play: WebPlay, who: Caller, key: str | None) -> Viewer:
    """The caller as a viewer; a token without the scope ``play`` only watches."""
    return play.participants.viewer(who.account if PLAY in who.scopes else None, key)


def noted_viewer(connection: HTTPConnection, play: WebPlay, who: Caller, key: str | None) -> Viewer:
    """``viewer_of``, noted for fair play if they hold a seat. Not for the event loop."""
    viewer = viewer_of(play, who, key)
    if viewer.seats:
        fair_play_of(connection).note(connection, play, key)
    return viewer


async def check_fair_move(
    connection: HTTPConnection, play: WebPlay, viewer: Viewer, key: str | None, move: Any
) -> None:
    """Note who plays against a person; refuse a move after which a bot would choose that person's reply."""
    fair_play = fair_play_of(connection)
    if not viewer.seats:
        return
    if BOT in play.participants.kinds:
        await run_in_threadpool(_check_bot, fair_play, connection, play, move)
    if not fair_play.is_noted(connection, play, key):
        await run_in_threadpool(fair_play.note, connection, play, key)


def _check_bot(fair_play: FairPlay, connection: HTTPConnection, play: WebPlay, move: Any) -> None:
    if not fair_play.plays_against_people(connection, play.game.id):
        return
    game, snapshot = play.game, play.snapshot
    state = game.decode(snapshot.at(game, snapshot.length)[0])
    with suppress(IllegalMove):  # refused later, with the reason
        after = game.apply(state, game.parse_move(move, state) if type(move) is str else move)
        mover = game.to_move(after)
        if mover is not None and not play.participants.is_person(mover):
            fair_play.check_bot(connection, game, after)


def _check_start(request: Request, game: Game, position: Any, opening: list[Any]) -> None:
    """No bot goes on from a position of a game that the caller plays against a person."""
    fair_play = fair_play_of(request)
    first = showcase(game.id)
    if position is not None or (opening and opening != first["opening"]):
        fair_play.check(request, game)
    else:
        fair_play.check_bot(request, game, game.initial_state())


def _view(play: WebPlay, who: Caller, key: str | None) -> Response:
    """The play as a caller may see it, after a look at the clock. Not for the event loop: it may wait for a lock."""
    play.check_clock()
    return _response(play, who, key)


def _response(play: WebPlay, who: Caller, key: str | None) -> Response:
    """The play as a caller may see it. It is plain JSON: FastAPI's validation would take longer than the rest."""
    return Response(to_json_bytes(play.view(viewer_of(play, who, key))), media_type="application/json")


def _names(seats: list[str], who: Caller, entries: Sequence[BotEntry | None]) -> list[str] | None:
    """Names of the seats; None for the default names at one screen."""
    known = who.name if who.account not in (None, LOCAL) else None
    if known is None and FRIEND not in seats and not any(entries):
        return None
    host = known or ("Host" if FRIEND in seats else "You")
    called = {PERSON: host if seats.count(PERSON) == 1 else "", FRIEND: "Guest" if seats.count(FRIEND) == 1 else ""}
    return [
        entry.name if entry is not None else called.get(spec, spec) or f"Player {number + 1}"
        for number, (spec, entry) in enumerate(zip(seats, entries, strict=True))
    ]


def _league_bot(request: Request, spec: str, game: Game, who: Caller) -> BotEntry | None:
    """The bot of the league that ``bot:ID`` names; ValueError if it cannot play this game."""
    kind, colon, bot_id = spec.partition(":")
    if kind != BOT or not colon:
        return None
    entry = bot_of(request, bot_id[:40])
    if entry.game != game.id:
        raise ValueError(f"{entry.name} plays {entry.game}, not {game.id}")
    if who.account != LOCAL:
        check_options(game, [entry], str(who.account))
    return entry


def _check_remote(entry: BotEntry, seats: list[str]) -> None:
    """A remote bot plays against people while it is connected, in one seat."""
    if not entry.here:
        raise Conflict(f"{entry.name} is not connected now; it can be played while its owner lets it run")
    if seats.count(f"{BOT}:{entry.id}") > 1:
        raise ValueError(f"{entry.name} is a remote bot and plays one game at a time, so it takes one seat")
    if PERSON not in seats and FRIEND not in seats:
        raise ValueError(f"{entry.name} is a remote bot and plays against people here; ask for a match in the arena")


def _check_program(request: Request, spec: str, who: Caller) -> None:
    """Programs of one's own: only for the owner of a server that nobody else uses."""
    if who.account != LOCAL or request.app.state.mode != "local":
        raise Forbidden("only the owner of this machine can play against programs of their own")
    kind, _, rest = spec.partition(":")
    if kind in (COMMAND, FILE):
        command(kind, rest)
    elif kind == WASM:
        check_wasm(spec)


def _check_spec(spec: str, game: Game) -> None:
    """Allow only people and built-in bots, not programs."""
    if spec not in (PERSON, FRIEND) and not is_built_in(spec, game):
        kinds = ", ".join(kinds_of(game))
        raise ValueError(
            f"a seat is {PERSON}, {FRIEND}, {BOT}:ID of the league or a built-in bot ({kinds}), not {show(spec)}"
        )


def _check_thought(spec: str, game: Game) -> None:
    """Limit the search of a bot: it shares its thread with the bots of others."""
    kind, params = read_spec(spec, game)
    for name, most in MAX_PARAMS.items():
        if params.get(name, 0) > most:
            raise ValueError(
                f"the parameter {name} of {kind.name} is at most {most:,} on this server, not {params[name]:,}"
            )
    if "depth" in params and not params.keys() & ENDS_A_SEARCH:
        raise ValueError(
            f"the parameter depth of {kind.name} goes with time or nodes on this server, "
            f"as in {kind.name}:depth={params['depth']},time=1"
        )
