"""Players of spaces: what they see of a match, boards by lot, and the best of some.

Whole boards are handled as actions, ``bytes`` (see ``games/spaces/boards.py``). A round is the same for both seats:
swap the boards, and the points swap; so a player's own board always comes first here.
"""

from typing import Any, NamedTuple

import numpy as np

from ludodrome.bots.player import Budget, SplitMix64, Stopwatch
from ludodrome.game import Game, checked_seed
from ludodrome.games.spaces import kernels
from ludodrome.games.spaces.boards import DECK
from ludodrome.games.spaces.moves import format_lay, read_finished
from ludodrome.games.spaces.sensible_ import quick
from ludodrome.jit import Array

UNKNOWN = 12
"""Where the other's board is not known, so many boards by lot stand for it."""


class View(NamedTuple):
    """What a player of spaces knows when it must lay."""

    seat: int
    laid: bytes | None
    """The board that the other has laid in this round, if it is seen."""
    last: bytes | None
    """The board that the other laid in the round before."""


class Layer:
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

    def boards(self, view: View, budget: Budget, clock: Stopwatch) -> list[bytes]:
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


class BestOfSome(Layer):
    """Makes some boards by lot and lays those that do best against what the other laid, now or last time."""

    def __init__(self, game: Game, name: str, seed: int = 0, *, tried: int) -> None:
        super().__init__(game, name, seed)
        self.tried = tried

    def boards(self, view: View, budget: Budget, clock: Stopwatch) -> list[bytes]:
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


def look(game: Game, observation: Any) -> View:
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
    return View(seat, *(None if board is None else read_finished(board, options) for board in (laid, last)))


def margins(own: list[bytes], others: list[bytes], size: int, live: bool) -> Array:
    """The points of each own board minus those of each other board, int (own boards, other boards)."""
    points_a = np.empty((len(own), len(others)), np.int16)
    points_b = np.empty_like(points_a)
    first, second = _packed(own, size, live, rotated=False), _packed(others, size, live, rotated=True)
    kernels.play_matrix(*first, *second, live, points_a, points_b)
    return points_a.astype(np.int64) - points_b


def _packed(boards: list[bytes], size: int, live: bool, rotated: bool) -> tuple[Array, Array, Array, Array]:
    """Cells, scores, traps and ends as ``rounds.pack`` lays them out."""
    actions = np.frombuffer(b"".join(boards), np.uint8)
    ends = np.cumsum([len(board) for board in boards], dtype=np.int64)
    cells, score = np.empty((2, len(actions)), np.uint16)
    since = np.empty((len(boards), size * size), np.uint16)
    kernels.pack_many(actions, ends, size, live, rotated, cells, score, since)
    return cells, score, since, ends
