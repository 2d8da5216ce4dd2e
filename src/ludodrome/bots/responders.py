"""``expert`` in spaces: the best answer to a board that is seen, and a mixture that nobody can answer well if none is.

The best answer is found by ``games/spaces/respond.py``. Where neither side sees the other's board, a small pool of
boards is grown: again and again the best answers to what would be laid now are added, and fictitious play (Brown 1951)
weighs the pool against itself. What is laid is drawn from that mixture, for a deck ten times.
"""

import numpy as np

from ludodrome.bots.boards import Layer, View
from ludodrome.bots.player import Budget, Clock, Dice
from ludodrome.bots.thinkers import agreed
from ludodrome.game import Game
from ludodrome.games.spaces.boards import FINISH, UP, format_board
from ludodrome.games.spaces.moves import read_finished
from ludodrome.games.spaces.respond import respond
from ludodrome.jit import Array

NODES = 1_000_000
"""What an answer may cost if only time is limited, or nothing."""
POOL = 40
ANSWER_NODES = 20_000
"""What one board of the pool may cost."""
QUICKLY_TRIED = 5
PLAYED = 400
"""Rounds of fictitious play."""

SECONDS_A_SQUARE = 3e-4
"""An answer is begun only if so much time is left for each square of the grid: its tables are made in one go."""


class Responder(Layer):
    """Answers what it sees; else it lays what is hard to answer."""

    def __init__(self, game: Game, name: str, seed: int = 0, *, own: Budget, usual: Budget) -> None:
        super().__init__(game, name, seed)
        self.own, self.usual = own, usual
        self.hidden = self.options["choice"] == "blind" or self.count > 1
        self.pool: list[bytes] = []
        self.weights: Array = np.empty(0)
        self._answer(self._straight(0), 1000, None)  # compiles or loads what it needs

    def boards(self, view: View, budget: Budget, clock: Clock) -> list[bytes]:
        """An answer, a straight run, or what the lots say of the mixture."""
        limits = agreed(self.own, budget.for_nodes, self.usual)
        if view.laid is not None:
            if self._in_time(clock, limits):
                return [self._answer(view.laid, limits.nodes or NODES, clock.left(limits.time))]
            return [self._quick_answer(view.laid)]
        if not self.hidden:
            return [self._straight(self.dice.below(self.size))]
        if not self.pool:
            self._grow(limits, clock)
        return [self.pool[draw(self.weights, self.dice)] for _ in range(self.count)]

    def _straight(self, col: int) -> bytes:
        """Straight to the goal: under ``written`` no answer to it wins, and under ``live`` few boards do better."""
        return bytes([col, *[self.size + UP] * (self.size - 1), self.size + FINISH])

    def _answer(self, board: bytes, nodes: int, seconds: float | None) -> bytes:
        found = respond(format_board(board, self.size), self.size, self.options["rules"], nodes=nodes, seconds=seconds)
        return read_finished(found.board, self.options)

    def _quick_answer(self, board: bytes) -> bytes:
        """The best of the straight runs and of a few boards made by lot."""
        own = [self._straight(col) for col in range(self.size)]
        own += [self.builder.by_lot(self.dice) for _ in range(QUICKLY_TRIED)]
        return own[int(np.argmax(self.margins(own, [board])))]

    def _in_time(self, clock: Clock, limits: Budget) -> bool:
        left = clock.left(limits.time)
        return left is None or left > SECONDS_A_SQUARE * self.size**2

    def _grow(self, limits: Budget, clock: Clock) -> None:
        """Fills the pool and weighs it, as far as the budget reaches."""
        self.pool = [self._straight(col) for col in range(self.size)]
        answered: set[bytes] = set()
        spent = 0
        while True:
            worth = self.margins(self.pool, self.pool)
            self.weights = mixture(worth)
            open_questions = [number for number in np.argsort(-self.weights).tolist() if self.weights[number] > 0]
            board = next((self.pool[number] for number in open_questions if self.pool[number] not in answered), None)
            enough = limits.nodes is not None and spent >= limits.nodes
            if board is None or enough or len(self.pool) >= self.size + POOL or not self._in_time(clock, limits):
                return
            answered.add(board)
            answer = self._answer(board, ANSWER_NODES, clock.left(limits.time))
            spent += ANSWER_NODES
            if answer not in self.pool:
                self.pool.append(answer)


def mixture(worth: Array) -> Array:
    """How often each board should be laid where worth[i, j] is what board i wins against board j."""
    counts = np.zeros(len(worth))
    gained = np.zeros(len(worth))
    best = 0
    for _ in range(PLAYED):
        counts[best] += 1
        gained += worth[:, best]
        best = int(np.argmax(gained))
    weights: Array = counts / PLAYED
    return weights


def draw(weights: Array, dice: Dice) -> int:
    """A number, each as likely as its weight says."""
    number = int(np.searchsorted(np.cumsum(weights), dice.fraction(), side="right"))
    return min(number, len(weights) - 1)  # the sum of the weights may fall short of 1 by a rounding error
