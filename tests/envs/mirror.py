"""One game as a learner has it, replayed by ``Game.apply`` alone, random choices included: slow, and easy to read.

A choice is the number k of the k-th legal move, or in spaces of the k-th legal step of the board that is being
built, so that actions play no part here.
"""

from collections.abc import Callable
from typing import Any

import ludodrome
from ludodrome.bots.baselines import OnePlyEvaluator
from ludodrome.game import Game
from ludodrome.games.dots.strategy import board_masks, greedy_edges

WORD = (1 << 64) - 1


def mixed(x: int) -> int:
    """SplitMix64's mixing function, as its authors wrote it."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WORD
    return x ^ (x >> 31)


class Mirror:
    """The games in one place of a vector environment, one after the other."""

    def __init__(self, game: Game, seed: int, seat: int | None, opponents: list[str]) -> None:
        self.game, self.fixed, self.opponents = game, seat, opponents
        self.counter = mixed(mixed(seed & WORD))
        self.begin()

    def below(self, n: int) -> int:
        """A random number below n."""
        self.counter = (self.counter + 0x9E3779B97F4A7C15) & WORD
        return (mixed(self.counter) >> 32) * n >> 32

    def begin(self) -> None:
        """A new game."""
        self.state = self.game.initial_state()
        self.sequence: list[Any] = []
        self.boards: list[Any] = []
        self.below(1)
        drawn = self.below(self.game.seats)
        self.seat = drawn if self.fixed is None else self.fixed
        self.opponent = self.below(len(self.opponents))
        self.over = False
        if not self.opponents:
            self.seat = 0
        self.answer()

    def moves(self) -> list[Any]:
        """The legal moves, or steps."""
        if self.game.to_move(self.state) is None:
            return []
        if self.game.id != "spaces":
            return self.game.legal_moves(self.state)
        options = self.game.options
        return ludodrome.spaces.steps(self.sequence, options["size"], options["rules"])

    def play(self, k: int) -> None:
        """The k-th of them."""
        move = self.moves()[k]
        if self.game.id == "spaces":
            self.sequence = [*self.sequence, move]
            if move["type"] != "final":
                return
            self.boards.append({"boardSize": self.game.options["size"], "sequence": self.sequence})
            self.sequence = []
            deck = self.game.options["mode"] == "deck"
            if deck and len(self.boards) < 10:
                return
            move = {"deck": self.boards} if deck else self.boards[0]
            self.boards = []
        self.state = self.game.apply(self.state, move)

    def answer(self) -> None:
        """The opponent's moves."""
        if not self.opponents:
            return
        choose: Callable[[], int] = getattr(self, self.opponents[self.opponent])
        while self.game.to_move(self.state) not in (None, self.seat):
            self.play(choose())

    def random(self) -> int:
        """A random move."""
        return self.below(len(self.moves()))

    def first(self) -> int:
        """The first move."""
        return 0

    def greedy(self) -> int:
        """A random one of the moves that are best at once, as the bot sees it."""
        moves = self.moves()
        actions = [self.game.action(move, self.state) for move in moves]
        states = self.game.codec.parse_state(self.state, self.game.options)
        if self.game.id == "dots":
            field = board_masks(self.game.options["rows"], self.game.options["cols"])
            best = sorted(greedy_edges(field, int(states["edges"][0])))
        else:
            worth = OnePlyEvaluator(self.game).values(states, actions)
            best = [action for action, one in zip(actions, worth, strict=True) if one == max(worth)]
        return actions.index(best[self.below(len(best))])

    def step(self, k: int | None) -> float:
        """The learner's choice, None: an illegal one; what it brings. ``over`` says whether the game has ended."""
        if self.game.to_move(self.state) is None:
            actor = self.seat
        elif k is None:
            self.over = True
            return -1.0
        else:
            actor = self.seat
            self.play(k)
            self.answer()
        outcome = self.game.outcome(self.state)
        if outcome is None:
            mover = self.game.to_move(self.state)
            if not self.opponents:
                assert mover is not None
                self.seat = mover
            return 0.0
        self.over = True
        return outcome.returns[actor]
