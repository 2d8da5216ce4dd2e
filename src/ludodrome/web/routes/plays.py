"""Plays: games on the page, from the first move to the record."""

import json
import secrets
from functools import partial

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from ludodrome.arena.records import to_text
from ludodrome.bots.catalogue import KINDS
from ludodrome.reading import show
from ludodrome.web.plays import PERSON, Play, seated
from ludodrome.web.positions import Json, open_game
from ludodrome.web.routes.asking import FAULTS, NewMove, NewPlay, Seat, play_of

router = APIRouter(prefix="/plays", tags=["plays"], responses=FAULTS)

PATIENCE = 20.0
"""Seconds that an answer is held back until something has changed."""
SEED_BITS = 48


@router.post("", status_code=201)
def begin(request: Request, wanted: NewPlay) -> Json:
    """Begin a game. Bots that are to move begin to think at once."""
    game = open_game(wanted.game, wanted.options)
    for spec in wanted.seats:
        _check_spec(spec)
    seed = secrets.randbits(SEED_BITS) if wanted.seed is None else wanted.seed
    assignment = seated(game, wanted.seats, wanted.clock, seed, wanted.opening)
    shelf = request.app.state.plays
    play = Play(shelf.new_id(), game, assignment, request.app.state.staff)
    shelf.put(play.id, play)
    return play.view()


@router.get("/{name}")
async def look(request: Request, name: str, after: int | None = Query(None, ge=0, le=2**31)) -> Json:
    """The game as it is now. ``after`` holds the answer back until the version is higher, 20 seconds at most."""
    play = play_of(request, name)
    if after is not None:
        flag = play.seconds_to_flag()
        patience = PATIENCE if flag is None else min(PATIENCE, flag + 0.02)
        await play.bell.wait(partial(_newer, play, after), patience)
    return await run_in_threadpool(play.view)


def _newer(play: Play, version: int) -> bool:
    return play.version > version


@router.get("/{name}/positions/{number}")
def position(request: Request, name: str, number: int) -> Json:
    """The position after so many moves."""
    return play_of(request, name).position(number)


@router.post("/{name}/moves")
def move(request: Request, name: str, made: NewMove) -> Json:
    """A person's move. An illegal one is refused with the reason and costs nothing."""
    play = play_of(request, name)
    play.move(made.move, made.version)
    return play.view()


@router.post("/{name}/undo")
def undo(request: Request, name: str) -> Json:
    """Back to the last decision of a person."""
    play = play_of(request, name)
    play.undo()
    return play.view()


@router.post("/{name}/resign")
def resign(request: Request, name: str, who: Seat) -> Json:
    """A person gives up."""
    play = play_of(request, name)
    play.resign(who.seat)
    return play.view()


@router.get("/{name}/record", response_class=Response, responses={200: {"content": {"application/json": {}}}})
def record(request: Request, name: str) -> Response:
    """The record of the finished game, as the arena writes it."""
    kept = play_of(request, name).record()
    file = json.dumps(f"{kept['match']}.json")
    headers = {"content-disposition": f"attachment; filename={file}"}
    return Response(to_text(kept) + "\n", media_type="application/json", headers=headers)


def _check_spec(spec: str) -> None:
    """Only people and built-ins sit here: no programs of strangers."""
    if spec != PERSON and spec.partition(":")[0] not in KINDS:
        raise ValueError(f"a seat is {PERSON} or a built-in bot ({', '.join(KINDS)}), not {show(spec)}")
