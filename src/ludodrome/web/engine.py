"""The analysis engine: best moves with values, within seconds. Semaphores limit how many searches run at once."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ludodrome.analysis import analyse
from ludodrome.game import Game, IllegalMove
from ludodrome.game_extras import extra
from ludodrome.search.mcts_search import TreeSearch
from ludodrome.web.budgets import SEARCH_SECONDS, SEARCHES, UNLIMITED, CallerBudget
from ludodrome.web.position_view import Json
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
            hint = extra(game.analysis_module, "hint") or _best_in_playouts
            return {"to_move": game.to_move(state), "depth": 0, "nodes": 0, "lines": [hint(game, state, seconds)]}
        *_, found = analyse(game, state, seconds, lines, threads=THREADS)
    mover = game.to_move(state)
    return {
        "to_move": mover,
        "depth": found.depth,
        "nodes": found.nodes,
        "lines": [
            {
                "move": line.move,
                "text": line.text,
                "score": round(line.score, 2),
                "continuation": line.continuation,
                "proven": line.proven,
                "distance": line.distance,
            }
            for line in found.lines
        ],
    }


def _best_in_playouts(game: Game, state: Any, seconds: float) -> Json:
    """The line of a game without an evaluator: the move that does best in playouts, without a score."""
    found = TreeSearch(game).search(game.encode_array(state), time=seconds)
    move = game.move(found.best, state)
    return {
        "move": move,
        "text": game.format_move(move, state),
        "score": None,
        "continuation": [],
        "proven": False,
        "distance": None,
    }
