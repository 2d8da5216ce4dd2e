"""A game to be played: ``PlaySpec`` is everything that determines it, as a plain value.

Workers, clusters and tournaments pass play specs around; ``game_loop.play`` turns one into a record. Below are the
parts that the referee and the verifier share: the start position, reading a move, the outcome of a forfeit.
"""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from ludodrome.arena.conditions import Conditions
from ludodrome.game import Game, IllegalMove, Outcome, returns_of
from ludodrome.games import make


@dataclass(frozen=True, slots=True)
class PlaySpec:
    """The game and its options, the bots by seat, the start position and the conditions."""

    game: str
    options: dict[str, Any]
    bots: tuple[str, ...]
    """Bot specs by seat."""
    names: tuple[str, ...]
    """Display names by seat."""
    conditions: Conditions
    seed: int = 0
    """Seed of the initial position; the seats' seeds follow from it."""
    opening: tuple[Any, ...] = field(default=())
    """Moves played before the bots are asked."""
    number: int = 0
    """The number of the game in its match."""
    position: Any = None
    """The state in which the game starts; None: the initial state. The opening is played from there."""

    @property
    def match(self) -> str:
        """The id of this game: a hash of everything above."""
        return "m-" + hashlib.sha256(canonical_json(self.to_json())).hexdigest()[:16]

    @property
    def seat_seeds(self) -> list[int]:
        """A seed for each bot, below 2**53 so that every language reads it exactly. They are unrelated hashes."""
        return [
            _hashed(f"ludodrome seat {seat} of game {self.number} of {self.seed}") for seat in range(len(self.bots))
        ]

    def to_json(self) -> dict[str, Any]:
        """A plain value for ``from_json``."""
        value = {
            "game": self.game,
            "options": self.options,
            "bots": list(self.bots),
            "names": list(self.names),
            "conditions": self.conditions.to_json(),
            "seed": self.seed,
            "opening": list(self.opening),
            "number": self.number,
        }
        return value if self.position is None else {**value, "position": self.position}

    @staticmethod
    def from_json(value: dict[str, Any]) -> "PlaySpec":
        """Read what ``to_json`` wrote."""
        return PlaySpec(
            value["game"],
            value["options"],
            tuple(value["bots"]),
            tuple(value["names"]),
            Conditions.from_json(value["conditions"]),
            value["seed"],
            tuple(value["opening"]),
            value["number"],
            value.get("position"),
        )

    def make_game(self) -> Game:
        """Make the game with its options."""
        return make(self.game, **self.options)


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


def canonical_json(value: Any) -> bytes:
    """Canonical JSON: keys sorted, no spaces."""
    return _encode(value).encode()


def _hashed(purpose: str) -> int:
    """A one-way hash of 53 bits."""
    return int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:8], "little") >> 11


# What the referee and the verifier share


def start_state(game: Game, play_spec: PlaySpec) -> Any:
    """The state in which the bots start; ValueError if the opening cannot be played or the game is already over."""
    state = game.initial_state(play_spec.seed) if play_spec.position is None else _read(game, play_spec.position)
    for number, move in enumerate(play_spec.opening):
        try:
            state = game.apply(state, move)
        except IllegalMove as wrong:
            raise ValueError(f"move {number} of the opening cannot be made: {wrong}") from wrong
    return state


def _read(game: Game, position: Any) -> Any:
    """Check a position that someone set up."""
    state = game.decode(game.encode(position))
    if game.to_move(state) is None:
        raise ValueError("the game is over in this position, so it cannot start here")
    return state


def forfeit_outcome(game: Game, seat: int, cause: str) -> Outcome:
    """The outcome of a forfeit. With three seats the offender is last and the others share first place."""
    reason = f"seat {seat} forfeits: {cause}"
    if game.seats == 2:
        winner = 1 - seat
        return Outcome(winner, [int(one == winner) for one in range(2)], returns_of(winner, 2), reason)
    share = 1 / (game.seats - 1)
    scores = [0 if one == seat else share for one in range(game.seats)]
    return Outcome(None, scores, [-1 if one == seat else share for one in range(game.seats)], reason)


def resignation_outcome(game: Game, seat: int) -> Outcome:
    """The outcome of a resignation; it counts like a forfeit."""
    ending = forfeit_outcome(game, seat, "")
    return Outcome(ending.winner, ending.scores, ending.returns, f"seat {seat} resigns")


def aborted_outcome(game: Game) -> Outcome:
    """The outcome of a game that the arena could not finish, by its own fault; it is not rated."""
    return Outcome(None, [0] * game.seats, [0] * game.seats, "the arena failed")


def read_move(game: Game, state: Any, move: Any) -> Any:
    """Parse a move that was sent as text; IllegalMove if that fails. Other moves stay as they are, unchecked."""
    if game.reads_text and type(move) is str:
        return game.parse_move(move, state)
    return move
