"""A game as it goes on: a stream of views for whoever has it before them, and what they say back.

How the stream travels, as a WebSocket or as server-sent events, is for ``routes/live.py``.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

from fastapi.concurrency import run_in_threadpool

from ludodrome.web.play import Play, Viewer
from ludodrome.web.play_registry import PlayRegistry
from ludodrome.web.position_view import Json
from ludodrome.web.responses import as_json

PATIENCE = 15.0
"""Seconds after which a stream on which nothing happened shows that it is still there."""


@contextmanager
def present(play: Play, watcher: Viewer) -> Iterator[None]:
    """Somebody has the game before them; the others are told when they come and go."""
    if play.company.arrive(watcher):
        play.stir()
    try:
        yield
    finally:
        if play.company.leave(watcher):
            play.stir()


async def views(library: PlayRegistry, play: Play, watcher: Viewer) -> AsyncIterator[str | None]:
    """The game as JSON, now and after every change, until it is put away; None now and then if nothing changes."""
    seen = -1
    while not play.closed:
        if play.tick != seen:
            seen = play.tick
            ready = play.scene.point_of_view(watcher.seats) in play.scene.positions
            yield _text(play, watcher) if ready else await run_in_threadpool(_text, play, watcher)
            continue
        flag = play.seconds_to_flag()
        await play.bell.wait(_changed(play, seen), PATIENCE if flag is None else min(PATIENCE, flag))
        library.at_hand(play.id)  # what somebody looks at stays in memory
        if flag is not None:
            await run_in_threadpool(play.look_at_clock)
        if play.tick == seen and not play.closed:
            yield None


def _changed(play: Play, seen: int) -> Callable[[], bool]:
    return lambda: play.closed or play.tick != seen


def _text(play: Play, watcher: Viewer) -> str:
    return as_json({"type": "play", "play": play.view(watcher)}).decode()


async def obey(library: PlayRegistry, play: Play, watcher: Viewer, said: Json) -> None:
    """What somebody says over a WebSocket; ValueError says why it cannot be done."""
    kind = said.get("type")
    if kind == "move":
        if "move" not in said:
            raise ValueError("a move has a move")
        await play.move_soon(said["move"], watcher.seats, _whole(said, "version"))
    elif kind == "undo":
        await run_in_threadpool(play.undo, watcher)
    elif kind == "resign":
        await run_in_threadpool(play.resign, watcher.seats, _whole(said, "seat"))
    elif kind == "rematch":
        await run_in_threadpool(library.rematch, play, watcher)
    else:
        raise ValueError("what is said here has the type move, undo, resign, rematch or ping")


def _whole(said: Json, name: str) -> int | None:
    number = said.get(name)
    if number is not None and type(number) is not int:
        raise ValueError(f"{name} is a whole number, or left out")
    return number
