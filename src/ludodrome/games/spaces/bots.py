"""Bots for spaces: random boards, the best of several random boards, and ``expert``, which plays best responses.

Whole boards are handled as their actions, ``bytes`` (see ``games/spaces/boards.py``). A round is symmetric: swap the
boards, and the points swap; so a bot's own board always comes first here.
"""

from typing import Any, NamedTuple

import numpy as np

from ludodrome.bots.player import EXPERT_BUDGET, Bot, Budget, Stopwatch, resolve_budget
from ludodrome.game import Game, checked_seed
from ludodrome.games.spaces.best_response import prepare, respond
from ludodrome.games.spaces.boards import DECK, format_board
from ludodrome.games.spaces.codec import format_lay
from ludodrome.games.spaces.equilibria import margins_of, sensible
from ludodrome.games.spaces.fog import guess_whole
from ludodrome.games.spaces.legality import read_finished
from ludodrome.games.spaces.sampling import quick
from ludodrome.jit import Array
from ludodrome.splitmix import SplitMix64

LEVELS = (1, 2, 4, 9, 22, 55, 140)
"""By level: how many random boards are compared."""
GREEDY_BOARDS = 36
"""How many random boards ``greedy`` compares."""
UNKNOWN_BOARDS = 12
"""How many random boards stand for an opponent's unknown board."""
RESPONSE_NODES = 1_000_000
"""Node limit of a best response if the budget has none."""
SECONDS_A_SQUARE = 3e-4
"""Time that a best response needs for each square of the grid: its tables are built in one go."""
QUICK_BOARDS = 5
"""How many boards of each kind are compared when there is no time for a best response."""


class SpacesView(NamedTuple):
    """What a bot knows when it must lay."""

    seat: int
    laid: bytes | None
    """The opponent's board of this round, if it is visible."""
    last: bytes | None
    """The opponent's board of the previous round; in fog a guess at it."""


class BoardBot:
    """Base class: subclasses choose in ``boards`` what to lay, one board or ten for a deck."""

    def __init__(self, game: Game, name: str, seed: int = 0) -> None:
        self.game = game
        self.name = name
        self.seed = int(checked_seed(seed))
        self.rng = SplitMix64(self.seed)
        self.options = game.options
        self.size: int = self.options["size"]
        self.live: bool = self.options["rules"] == "live"
        self.count = DECK if self.options["mode"] == "deck" else 1

    def start(self, hello: dict[str, Any]) -> None:
        """Start a game; a seed in ``hello`` replaces the earlier one."""
        self.seed = int(checked_seed(hello.get("seed", self.seed)))
        self.rng = SplitMix64(self.seed)

    def choose(self, observation: Any, budget: Budget | None = None) -> Any:
        """A legal board or deck. Raises BadState for a wrong observation, ValueError if the game is over."""
        clock = Stopwatch()
        view = read_view(self.game, observation)
        return format_lay(self.boards(view, budget or Budget(), clock), self.options)

    def boards(self, view: SpacesView, budget: Budget, clock: Stopwatch) -> list[bytes]:
        """The ``count`` boards to lay."""
        raise NotImplementedError

    def close(self) -> None:
        """Do nothing: no resources are held."""

    def random_board(self) -> bytes:
        """A legal board; at each step all continuations are equally likely."""
        return read_finished(quick(self.size, self.options["rules"], self.rng.word()), self.options)

    def margins(self, own: list[bytes], others: list[bytes]) -> Array:
        """Own points minus the opponent's, [own boards, other boards] int64."""
        return margins_of(own, others, self.size, self.live)


class BestOfRandomBoards(BoardBot):
    """Lays the best of ``tried`` random boards against the opponent's board of this round or the last one."""

    def __init__(self, game: Game, name: str, seed: int = 0, *, tried: int) -> None:
        super().__init__(game, name, seed)
        self.tried = tried

    def boards(self, view: SpacesView, budget: Budget, clock: Stopwatch) -> list[bytes]:
        """The best of the boards tried; at most half of the time goes into generating them."""
        half = None if budget.time is None else budget.time / 2
        own = [self.random_board() for _ in range(self.count)]
        while len(own) < self.tried * self.count and clock.left(half) != 0:
            own.append(self.random_board())
        if self.tried == 1:
            return own
        known = view.laid or view.last
        others = [known] if known else [self.random_board() for _ in range(UNKNOWN_BOARDS)]
        totals = self.margins(own, others).sum(axis=1)
        return [own[number] for number in np.argsort(-totals, kind="stable")[: self.count].tolist()]


def read_view(game: Game, observation: Any) -> SpacesView:
    """Parse an observation. Raises BadState if it is wrong, ValueError if nobody is to lay."""
    record = game.encode_observation(observation)  # which checks it
    seat = observation["to_move"]
    if seat is None:
        raise ValueError("there is nothing to choose: the game is over")
    laid, done = observation["chosen"], len(observation["history"])
    last = None
    if done and game.options["mode"] == "rounds":
        slot = 2 * (done - 1) + 1 - seat
        last = record["boards"][slot, : int(record["lengths"][slot])].tobytes()
        last = guess_whole(last, game.options["size"]) if record["fogged"][slot] else last
    return SpacesView(int(seat), None if laid is None else read_finished(laid, game.options), last)


class BestResponseBot(BoardBot):
    """``expert``: the best response to a visible board, otherwise a board that is hard to answer."""

    def __init__(self, game: Game, name: str, seed: int = 0, *, own: Budget, default: Budget) -> None:
        super().__init__(game, name, seed)
        self.own, self.default = own, default
        self.foreseen = self.options["choice"] == "seen" and self.count == 1

    def warm_up(self) -> None:
        """Compile or load what a first choice does not need, but an answer does."""
        prepare()
        self._quick_answer(self._first_choice())

    def boards(self, view: SpacesView, budget: Budget, clock: Stopwatch) -> list[bytes]:
        """A best response to the visible board, or first choices."""
        if view.laid is None:
            return [self._first_choice() for _ in range(self.count)]
        limits = resolve_budget(self.own, budget.for_nodes, self.default)
        left = clock.left(limits.time)
        if left is not None and left < SECONDS_A_SQUARE * self.size**2:
            return [self._quick_answer(view.laid)]
        return [self._answer(view.laid, limits.nodes or RESPONSE_NODES, left)]

    def _first_choice(self) -> bytes:
        board = sensible(self.size, self.options["rules"], self.rng.word(), self.foreseen)
        return read_finished(board, self.options)

    def _answer(self, board: bytes, nodes: int, seconds: float | None) -> bytes:
        found = respond(format_board(board, self.size), self.size, self.options["rules"], nodes=nodes, seconds=seconds)
        return read_finished(found.board, self.options)

    def _quick_answer(self, board: bytes) -> bytes:
        """The best of a few first choices and a few random boards."""
        own = [make() for make in (self._first_choice, self.random_board) for _ in range(QUICK_BOARDS)]
        return own[int(np.argmax(self.margins(own, [board])))]


def make_random(game: Game, name: str, seed: int) -> Bot:
    """A bot that lays random boards."""
    return BestOfRandomBoards(game, name, seed, tried=1)


def make_greedy(game: Game, name: str, seed: int) -> Bot:
    """A bot that lays the best of several random boards."""
    return BestOfRandomBoards(game, name, seed, tried=GREEDY_BOARDS)


def make_expert(
    game: Game,
    name: str,
    seed: int,
    time: float | None = None,
    nodes: int | None = None,
    three: str = "",
    threads: int = 1,
    network: str = "",
) -> Bot:
    """The bot that plays best responses; ``three``, ``threads`` and ``network`` have no effect."""
    return BestResponseBot(game, name, seed, own=Budget(time, nodes), default=EXPERT_BUDGET)


def make_level(game: Game, name: str, seed: int, level: int) -> Bot:
    """A bot of one level."""
    if level > len(LEVELS):
        return make_expert(game, name, seed)
    return BestOfRandomBoards(game, name, seed, tried=LEVELS[level - 1])
