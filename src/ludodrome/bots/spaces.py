"""``expert`` in spaces: the best answer to a board that is seen, and a sound first choice if none is.

Both are the work of ``games/spaces``: ``respond.py``, and ``sensible.py``, which draws from the
mixtures of ``perfect.py``.
"""

from typing import Any, NamedTuple

import numpy as np

from ludodrome.bots.player import EXPERT_BUDGET, Bot, Budget, SplitMix64, Stopwatch, resolve_budget
from ludodrome.game import Game, checked_seed
from ludodrome.games.spaces import rounds as round_kernels
from ludodrome.games.spaces.best_response import prepare, respond
from ludodrome.games.spaces.boards import DECK, format_board
from ludodrome.games.spaces.codec import format_lay, read_finished
from ludodrome.games.spaces.equilibria import sensible
from ludodrome.games.spaces.sampling import quick
from ludodrome.jit import Array

# Players of spaces: what they see of a match, boards by lot, and the best of some.
# Whole boards are handled as actions, ``bytes`` (see ``games/spaces/boards.py``). A round is the same for both seats:
# swap the boards, and the points swap; so a player's own board always comes first here.


UNKNOWN = 12
"""Where the other's board is not known, so many boards by lot stand for it."""


class SpacesView(NamedTuple):
    """What a player of spaces knows when it must lay."""

    seat: int
    laid: bytes | None
    """The board that the other has laid in this round, if it is seen."""
    last: bytes | None
    """The board that the other laid in the round before."""


class BoardBot:
    """The base of the players of spaces. A player says in ``boards`` what it lays: one board, or ten for a deck."""

    def __init__(self, game: Game, name: str, seed: int = 0) -> None:
        self.game = game
        self.name = name
        self.seed = int(checked_seed(seed))
        self.dice = SplitMix64(self.seed)
        self.options = game.options
        self.size: int = self.options["size"]
        self.live: bool = self.options["rules"] == "live"
        self.count = DECK if self.options["mode"] == "deck" else 1

    def start(self, hello: dict[str, Any]) -> None:
        """A new game; a seed in the greeting takes the place of the one given before."""
        self.seed = int(checked_seed(hello.get("seed", self.seed)))
        self.dice = SplitMix64(self.seed)

    def choose(self, observation: Any, budget: Budget | None = None) -> Any:
        """A legal board or deck; ValueError if there is none to lay."""
        clock = Stopwatch()
        return format_lay(self.boards(look(self.game, observation), budget or Budget(), clock), self.options)

    def boards(self, view: SpacesView, budget: Budget, clock: Stopwatch) -> list[bytes]:
        """What to lay: ``count`` boards."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is held open."""

    def by_lot(self) -> bytes:
        """A legal board; at each step all continuations are equally likely."""
        return read_finished(quick(self.size, self.options["rules"], self.dice.word()), self.options)

    def margins(self, own: list[bytes], others: list[bytes]) -> Array:
        """Own points minus the other's, int (own boards, other boards)."""
        return margins(own, others, self.size, self.live)


class BestOfRandomBoards(BoardBot):
    """Makes some boards by lot and lays those that do best against what the other laid, now or last time."""

    def __init__(self, game: Game, name: str, seed: int = 0, *, tried: int) -> None:
        super().__init__(game, name, seed)
        self.tried = tried

    def boards(self, view: SpacesView, budget: Budget, clock: Stopwatch) -> list[bytes]:
        """The best of those that were tried; half of the time is for making them."""
        half = None if budget.time is None else budget.time / 2
        own = [self.by_lot() for _ in range(self.count)]
        while len(own) < self.tried * self.count and clock.left(half) != 0:
            own.append(self.by_lot())
        if self.tried == 1:
            return own
        known = view.laid or view.last
        others = [known] if known else [self.by_lot() for _ in range(UNKNOWN)]
        worth = self.margins(own, others).sum(axis=1)
        return [own[number] for number in np.argsort(-worth, kind="stable")[: self.count].tolist()]


def look(game: Game, observation: Any) -> SpacesView:
    """What an observation shows; BadState if it is none, ValueError if nobody is to lay."""
    state, seat = observation, None
    if type(observation) is dict and observation.get("chosen") is None and observation.get("to_move") in (0, 1):
        # Whoever lays second under blind or in a deck cannot see what lies there. As a state this would
        # contradict itself; with the other seat to move it is checked like any other.
        seat = int(observation["to_move"])
        if game.has_hidden_information and type(observation.get("round")) is int:
            state = {**observation, "to_move": (observation["round"] - 1) % 2}
    mover = game.to_move(state)
    if mover is None:
        raise ValueError("there is nothing to choose: the game is over")
    seat = mover if seat is None else seat
    history = observation["history"]
    last = history[-1]["boards"][1 - seat] if history else None
    laid = observation["chosen"]
    options = game.options
    return SpacesView(seat, *(None if board is None else read_finished(board, options) for board in (laid, last)))


def margins(own: list[bytes], others: list[bytes], size: int, live: bool) -> Array:
    """The points of each own board minus those of each other board, int (own boards, other boards)."""
    points_a = np.empty((len(own), len(others)), np.int16)
    points_b = np.empty_like(points_a)
    first, second = _packed(own, size, live, rotated=False), _packed(others, size, live, rotated=True)
    round_kernels.play_matrix(*first, *second, live, points_a, points_b)
    return points_a.astype(np.int64) - points_b


def _packed(boards: list[bytes], size: int, live: bool, rotated: bool) -> tuple[Array, Array, Array, Array]:
    """Cells, scores, traps and ends as ``rounds.pack`` lays them out."""
    actions = np.frombuffer(b"".join(boards), np.uint8)
    ends = np.cumsum([len(board) for board in boards], dtype=np.int64)
    cells, score = np.empty((2, len(actions)), np.uint16)
    since = np.empty((len(boards), size * size), np.uint16)
    round_kernels.pack_many(actions, ends, size, live, rotated, cells, score, since)
    return cells, score, since, ends


NODES = 1_000_000
"""What an answer may cost if only time is limited, or nothing."""

SECONDS_A_SQUARE = 3e-4
"""An answer is begun only if so much time is left for each square of the grid: its tables are made in one go."""

BOARDS_TRIED = 36
"""How many random boards ``greedy`` compares."""
SPACES = (1, 2, 4, 9, 22, 55, 140)
"""Of how many boards made by lot the best is laid."""
QUICKLY_TRIED = 5


class BestResponseBot(BoardBot):
    """Answers what it sees; else it lays what is hard to answer."""

    def __init__(self, game: Game, name: str, seed: int = 0, *, own: Budget, usual: Budget) -> None:
        super().__init__(game, name, seed)
        self.own, self.usual = own, usual
        self.foreseen = self.options["choice"] == "seen" and self.count == 1
        prepare()  # what is not needed for a first move would be compiled or loaded on the clock later
        self._quick_answer(self._first_choice())

    def boards(self, view: SpacesView, budget: Budget, clock: Stopwatch) -> list[bytes]:
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
    return BestOfRandomBoards(game, name, seed, tried=1)


def make_greedy(game: Game, name: str, seed: int) -> Bot:
    """A bot that lays the best of some random boards."""
    return BestOfRandomBoards(game, name, seed, tried=BOARDS_TRIED)


def make_expert(
    game: Game, name: str, seed: int, time: float | None = None, nodes: int | None = None, three: str = ""
) -> Bot:
    """The strongest bot for spaces; ``three`` has no effect."""
    return BestResponseBot(game, name, seed, own=Budget(time, nodes), usual=EXPERT_BUDGET)


def make_level(game: Game, name: str, seed: int, level: int) -> Bot:
    """A bot of one level."""
    if level > len(SPACES):
        return make_expert(game, name, seed)
    return BestOfRandomBoards(game, name, seed, tried=SPACES[level - 1])
