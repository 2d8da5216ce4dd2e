"""``expert`` in spaces: the best answer to a board that is seen, and a sound first choice if none is.

Both are the work of ``games/spaces``: ``respond.py``, and ``sensible.py``, which draws from the
mixtures of ``perfect.py``.
"""

import numpy as np

from ludodrome.bots.boards import BestOfSome, Layer, View
from ludodrome.bots.player import EXPERT_BUDGET, Bot, Budget, Stopwatch, resolve_budget
from ludodrome.game import Game
from ludodrome.games.spaces.best_response import prepare, respond
from ludodrome.games.spaces.boards import format_board
from ludodrome.games.spaces.moves import read_finished
from ludodrome.games.spaces.sensible_ import sensible

NODES = 1_000_000
"""What an answer may cost if only time is limited, or nothing."""

SECONDS_A_SQUARE = 3e-4
"""An answer is begun only if so much time is left for each square of the grid: its tables are made in one go."""

BOARDS_TRIED = 36
"""How many random boards ``greedy`` compares."""
SPACES = (1, 2, 4, 9, 22, 55, 140)
"""Of how many boards made by lot the best is laid."""
QUICKLY_TRIED = 5


class Responder(Layer):
    """Answers what it sees; else it lays what is hard to answer."""

    def __init__(self, game: Game, name: str, seed: int = 0, *, own: Budget, usual: Budget) -> None:
        super().__init__(game, name, seed)
        self.own, self.usual = own, usual
        self.foreseen = self.options["choice"] == "seen" and self.count == 1
        prepare()  # what is not needed for a first move would be compiled or loaded on the clock later
        self._quick_answer(self._first_choice())

    def boards(self, view: View, budget: Budget, clock: Stopwatch) -> list[bytes]:
        """An answer, or a first choice, or ten of them."""
        if view.laid is None:
            return [self._first_choice() for _ in range(self.count)]
        limits = resolve_budget(self.own, budget.for_nodes, self.usual)
        left = clock.left(limits.time)
        if left is not None and left < SECONDS_A_SQUARE * self.size**2:
            return [self._quick_answer(view.laid)]
        return [self._answer(view.laid, limits.nodes or NODES, left)]

    def _first_choice(self) -> bytes:
        board = sensible(self.size, self.options["rules"], self.dice.word(), self.foreseen)
        return read_finished(board, self.options)

    def _answer(self, board: bytes, nodes: int, seconds: float | None) -> bytes:
        found = respond(format_board(board, self.size), self.size, self.options["rules"], nodes=nodes, seconds=seconds)
        return read_finished(found.board, self.options)

    def _quick_answer(self, board: bytes) -> bytes:
        """The best of a few first choices and of a few boards made by lot."""
        own = [make() for make in (self._first_choice, self.by_lot) for _ in range(QUICKLY_TRIED)]
        return own[int(np.argmax(self.margins(own, [board])))]


def make_random(game: Game, name: str, seed: int) -> Bot:
    """A bot that lays random boards."""
    return BestOfSome(game, name, seed, tried=1)


def make_greedy(game: Game, name: str, seed: int) -> Bot:
    """A bot that lays the best of some random boards."""
    return BestOfSome(game, name, seed, tried=BOARDS_TRIED)


def make_expert(
    game: Game, name: str, seed: int, time: float | None = None, nodes: int | None = None, three: str = ""
) -> Bot:
    """The strongest bot for spaces; ``three`` has no effect."""
    return Responder(game, name, seed, own=Budget(time, nodes), usual=EXPERT_BUDGET)


def make_level(game: Game, name: str, seed: int, level: int) -> Bot:
    """A bot of one level."""
    if level > len(SPACES):
        return make_expert(game, name, seed)
    return BestOfSome(game, name, seed, tried=SPACES[level - 1])
