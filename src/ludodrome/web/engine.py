"""The analysis engine: best moves with values, within seconds. Semaphores limit how many searches run at once."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ludodrome.analysis import analyse
from ludodrome.analysis.lines import suggested_line
from ludodrome.game import Game, IllegalMove
from ludodrome.web.budgets import SEARCH_SECONDS, SEARCHES, UNLIMITED, CallerBudget
from ludodrome.web.position_view import Json, line_labels
from ludodrome.web.responses import Busy

MAX_SEARCHES = 2
"""Searches that run at once."""
PATIENCE = 20.0
"""Seconds that a request waits for a free slot."""
MAX_WAITING = 8
"""Requests that wait for a slot: each blocks one of the forty threads that answer everything."""
MAX_SECONDS = 5.0
"""Seconds of one analysis, at most."""
MAX_LINES = 5
THREADS = 1
"""Threads of one search. Several searches run at once, so one thread each keeps all cores busy."""
BUSY = "the engine is busy; try again in a moment"

_slots = threading.BoundedSemaphore(MAX_SEARCHES)
_waiting = threading.BoundedSemaphore(MAX_WAITING)


@contextmanager
def engine_slot() -> Iterator[None]:
    """Hold one of the slots; Busy if none becomes free."""
    if not _slots.acquire(timeout=PATIENCE):
        raise Busy(BUSY)
    try:
        yield
    finally:
        _slots.release()


@contextmanager
def engine_slot_for_request(budget: CallerBudget = UNLIMITED) -> Iterator[None]:
    """``engine_slot`` for a request; Busy at once if too many wait already, so that threads stay free.

    A caller has a share of the places, and of the engine's time; over it, the request is refused with 429.
    """
    with ExitStack() as held:
        held.enter_context(budget.hold(SEARCHES))
        if not _waiting.acquire(blocking=False):
            raise Busy(BUSY)
        try:
            held.enter_context(engine_slot())
        finally:
            _waiting.release()
        held.enter_context(budget.timed(SEARCH_SECONDS))
        yield


def analyse_position(game: Game, state: Any, seconds: float, lines: int, budget: CallerBudget = UNLIMITED) -> Json:
    """The best moves of a position; ValueError if the game is over."""
    if game.to_move(state) is None:
        raise IllegalMove("the game is over: there is nothing to analyse")
    with engine_slot_for_request(budget):
        if game.evaluator is None:
            line = suggested_line(game, state, seconds)
            return {"to_move": game.to_move(state), "depth": 0, "nodes": 0, "lines": [line]}
        *_, found = analyse(game, state, seconds, lines, threads=THREADS)
    mover = game.to_move(state)
    state = game.decode(game.encode(state))
    labels = [line_labels(game, state, [line.text, *line.continuation]) for line in found.lines]
    return {
        "to_move": mover,
        "depth": found.depth,
        "nodes": found.nodes,
        "lines": [
            {
                "move": line.move,
                "text": text,
                "score": round(line.score, 2),
                "continuation": continuation,
                "proven": line.proven,
                "distance": line.distance,
            }
            for line, (text, *continuation) in zip(found.lines, labels, strict=True)
        ],
    }
