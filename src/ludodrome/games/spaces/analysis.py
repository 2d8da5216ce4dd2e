"""The analysis of spaces: reviews of boards, and hints; and its benchmarks.

Values are final margins of the match for the seat that lays: the points so far, this round, and best play after it.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from ludodrome.analysis.move_review import MoveReview
from ludodrome.analysis.win_probability import Value
from ludodrome.bench import THREADS, Done, Work
from ludodrome.game import Game
from ludodrome.game_extras import Json
from ludodrome.games import make
from ludodrome.games.spaces.best_response import respond
from ludodrome.games.spaces.boards import encode_board
from ludodrome.games.spaces.equilibria import KNOWN_LOSS, SOLVED, perfect, sensible
from ludodrome.games.spaces.simulation import Packed, simulate, simulate_matrix

LIVE = "live"


@cache
def least_loss(size: int, rules: str) -> tuple[dict[str, Any], int, bool]:
    """A board that loses little to its best response, how much it loses, and whether no board loses less."""
    board = sensible(size, rules, foreseen=True)
    found = respond(board, size, rules)
    known = found.margin == 0 or (rules == LIVE and found.margin == KNOWN_LOSS.get(size))
    return board, found.margin, found.proven and known


class SpacesReviewer:
    """Reviews boards by best responses and equilibrium mixtures."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.size, self.rules = game.options["size"], game.options["rules"]
        self.blind = game.has_hidden_information

    def review(self, state: Any, move: Any, after: Value | None, nodes: int) -> MoveReview:
        """Review a board by its own round; later rounds do not depend on it."""
        if self.blind:
            best, played, board = self._unseen(move)
        elif state["chosen"] is None:
            best, played, board = self._first(move, nodes)
        else:
            best, played, board = self._answer(state, move, nodes)
        base = self._lead(state) + self._rest(state)
        if played.score >= best.score:
            best, board = played, move
        text = self.game.format_move(board, state)
        return MoveReview(_plus(best, base), _plus(played, base), board, text)

    def _answer(self, state: Any, move: Any, nodes: int) -> tuple[Value, Value, Any]:
        """A response to a visible board."""
        best = respond(state["chosen"], self.size, self.rules, nodes=nodes)
        own, other = simulate(move, state["chosen"], self.size, self.rules).points
        return Value(best.margin, proven=best.proven), Value(own - other, proven=True), best.board

    def _first(self, move: Any, nodes: int) -> tuple[Value, Value, Any]:
        """The first board of a round, valued by the best response to it."""
        found = respond(move, self.size, self.rules, nodes=nodes)
        board, loss, known = least_loss(self.size, self.rules)
        return Value(-loss, proven=known), Value(-found.margin, proven=found.proven), board

    def _unseen(self, move: Any) -> tuple[Value, Value, Any]:
        """A hidden board: its mean margin against the equilibrium mixture. The best possible is 0."""
        mixture = perfect(self.size, self.rules).json_boards()
        laid = move.get("deck", [move])
        own, other = simulate_matrix(laid, mixture, self.size, self.rules)
        proven = self.size <= SOLVED[self.rules]
        mean = float((own - other).mean())
        best = (
            {"deck": [mixture[number % len(mixture)] for number in range(len(laid))]} if "deck" in move else mixture[0]
        )
        return Value(0.0, proven=proven), Value(mean, proven=proven), best

    def _lead(self, state: Any) -> int:
        own = state["to_move"]
        return int(state["totals"][own] - state["totals"][1 - own])

    def _rest(self, state: Any) -> int:
        """The expected margin of the remaining rounds for the seat to move: the first chooser loses a little."""
        if self.blind:
            return 0
        loss = least_loss(self.size, self.rules)[1]
        firsts = [number % 2 for number in range(state["round"], state["rounds"])]
        own = state["to_move"]
        return sum(-loss if first == own else loss for first in firsts)


def _plus(value: Value, base: int) -> Value:
    return Value(value.score + base, None, value.proven)


def make_reviewer(game: Game) -> SpacesReviewer:
    """The reviewer of a game's boards."""
    return SpacesReviewer(game)


def hint(game: Game, state: Any, seconds: float) -> Json:
    """The best response to the board in view, or a sound board if none is, as a line of an analysis."""
    size, rules = game.options["size"], game.options["rules"]
    laid = game.observation(state, game.to_move(state))["chosen"]
    margin, proven = None, False
    if laid is None:
        board = sensible(size, rules, foreseen=game.options["choice"] == "seen")
    else:
        best = respond(laid, size, rules, seconds=seconds)
        board, margin, proven = best.board, best.margin, best.proven
    return {
        "move": board,
        "text": encode_board(board),
        "score": margin,
        "continuation": [],
        "proven": proven,
        "distance": None,
    }


# Benchmarks beside those of every game: rounds a second

SIZE, MATCHES = 3, 5
"""Grid size of the boards, and the matches that they come from."""


def works() -> Iterator[Work]:
    """Rounds under both rule sets, on one thread and on two."""
    for rules, what in (("written", "simulate"), ("live", "simulate live")):
        for threads in THREADS:
            yield simulate_work(rules, what, threads)


def simulate_work(rules: str, what: str, threads: int) -> Work:
    """Rounds: all boards of one list against all of another, packed beforehand."""
    first, second = (Packed(boards, SIZE, rules) for boards in random_boards(rules))

    def once(_: int) -> None:
        simulate_matrix(first, second, SIZE, rules)

    def run(amount: int) -> Done:
        with ThreadPoolExecutor(threads) as pool:
            begin = time.perf_counter()
            for _ in pool.map(once, range(amount)):
                pass
            return Done({"rounds": amount * len(first) * len(second)}, time.perf_counter() - begin)

    return Work("spaces", what, threads, ("rounds",), threads, run)


def random_boards(rules: str) -> tuple[list[Any], list[Any]]:
    """The boards of two random players in MATCHES games of a hundred rounds."""
    game = make("spaces", size=SIZE, rules=rules, rounds=100)
    lists: tuple[list[Any], list[Any]] = ([], [])
    for number in range(MATCHES):
        states, wins = game.blank(), np.zeros(game.seats + 1, np.int64)
        game.kernels.playouts(states, game.buffer(), np.uint64(0), number, 1, wins)
        for played in game.decode(states[0])["history"]:
            for boards, board in zip(lists, played["boards"], strict=True):
                boards.append(board)
    return lists
