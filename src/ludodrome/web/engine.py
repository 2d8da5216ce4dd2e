"""What the engine says about a position: the best moves with their values, within a second or so."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ludodrome.analysis import analyse
from ludodrome.game import Game, IllegalMove
from ludodrome.search.mcts_search import TreeSearch
from ludodrome.web.errors import Busy
from ludodrome.web.position_view import Json

MAX_SEARCHES = 2
"""So many searches run at once."""
PATIENCE = 20.0
"""Seconds that a request waits for a desk."""
MAX_WAITING = 8
"""So many requests wait for one: each holds a thread, and all that is asked here is answered by forty of them."""
MAX_SECONDS = 5.0
"""Seconds of one analysis."""
MAX_LINES = 5
BUSY = "the engine is busy; ask again in a moment"

_desks = threading.BoundedSemaphore(MAX_SEARCHES)
_waiting = threading.BoundedSemaphore(MAX_WAITING)


@contextmanager
def engine_slot() -> Iterator[None]:
    """A place to think at; Busy if none becomes free."""
    if not _desks.acquire(timeout=PATIENCE):
        raise Busy(BUSY)
    try:
        yield
    finally:
        _desks.release()


@contextmanager
def engine_slot_for_request() -> Iterator[None]:
    """The same for a request; Busy at once where many wait already, so that threads are left for everybody else."""
    if not _waiting.acquire(blocking=False):
        raise Busy(BUSY)
    with ExitStack() as held:
        try:
            held.enter_context(engine_slot())
        finally:
            _waiting.release()
        yield


def analyse_position(game: Game, state: Any, seconds: float, lines: int) -> Json:
    """The best moves of a running game. ValueError: there is nothing to analyse."""
    if game.to_move(state) is None:
        raise IllegalMove("the game is over: there is nothing to analyse")
    with engine_slot_for_request():
        if game.evaluator is None:
            return (_played_out if game.actions_a_turn == 1 else _board_to_lay)(game, state, seconds)
        *_, found = analyse(game, state, seconds, lines)
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


def _played_out(game: Game, state: Any, seconds: float) -> Json:
    """In a game without insight: what does best in playouts; nobody can say what it is worth."""
    found = TreeSearch(game).search(game.encode_array(state), time=seconds)
    move = game.move(found.best, state)
    line: Json = {
        "move": move,
        "text": game.format_move(move, state),
        "score": None,
        "continuation": [],
        "proven": False,
        "distance": None,
    }
    return {"to_move": game.to_move(state), "depth": 0, "nodes": 0, "lines": [line]}


def _board_to_lay(game: Game, state: Any, seconds: float) -> Json:
    """In spaces: the best answer to the board in view, or a sound board if none is."""
    from ludodrome.games.spaces import encode_board, respond, sensible

    size, rules = game.options["size"], game.options["rules"]
    laid = game.observation(state, game.to_move(state))["chosen"]
    margin, proven = None, False
    if laid is None:
        board = sensible(size, rules, foreseen=game.options["choice"] == "seen")
    else:
        best = respond(laid, size, rules, seconds=seconds)
        board, margin, proven = best.board, best.margin, best.proven
    line: Json = {
        "move": board,
        "text": encode_board(board),
        "score": margin,
        "continuation": [],
        "proven": proven,
        "distance": None,
    }
    return {"to_move": game.to_move(state), "depth": 0, "nodes": 0, "lines": [line]}
