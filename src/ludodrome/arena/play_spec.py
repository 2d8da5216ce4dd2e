"""One game to be played: all that decides it, as a value that can be sent anywhere and written down.

Workers, clusters and tournaments hand assignments around; ``judge.play`` turns one into a record.
"""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from ludodrome.arena.conditions import Conditions
from ludodrome.game import Game, IllegalMove, Outcome, TooManyMoves, returns_of
from ludodrome.games import make


@dataclass(frozen=True, slots=True)
class PlaySpec:
    """A game, who sits where, how it begins, and under which conditions."""

    game: str
    options: dict[str, Any]
    bots: tuple[str, ...]
    """Specs by seat."""
    names: tuple[str, ...]
    """What they are called in tables, by seat."""
    conditions: Conditions
    seed: int = 0
    """Of the first position; the seats' own seeds follow from it."""
    opening: tuple[Any, ...] = field(default=())
    """Moves that are on the board before the bots are asked."""
    number: int = 0
    """Which game of its match it is."""
    position: Any = None
    """The state in which the game begins, if it is another than the first; the opening is played from there."""

    @property
    def match(self) -> str:
        """A name for this game that depends on nothing but itself."""
        return "m-" + hashlib.sha256(canonical_json(self.to_json())).hexdigest()[:16]

    @property
    def seat_seeds(self) -> list[int]:
        """A seed for each bot, below 2**53 so that every language reads it exactly; none tells anything of another."""
        return [
            _hashed(f"ludodrome seat {seat} of game {self.number} of {self.seed}") for seat in range(len(self.bots))
        ]

    def to_json(self) -> dict[str, Any]:
        """A plain value; ``from_json`` reads it back."""
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
        """What ``to_json`` wrote."""
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
        """The game."""
        return make(self.game, **self.options)


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


def canonical_json(value: Any) -> bytes:
    """JSON in one form only: keys sorted, no spaces."""
    return _encode(value).encode()


def _hashed(purpose: str) -> int:
    """53 bits that lead back to nothing."""
    return int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:8], "little") >> 11


# Positions in the arena: where a game begins, how a move is read, what stands in for an offender's, what a forfeit is.
# The judge (``table.py``) and the verifier (``verifying.py``) share these.


def start_state(game: Game, play_spec: PlaySpec) -> Any:
    """The position in which the bots begin; ValueError if the opening cannot be played or leaves nothing to play."""
    state = game.initial_state(play_spec.seed) if play_spec.position is None else _read(game, play_spec.position)
    for number, move in enumerate(play_spec.opening):
        try:
            state = game.apply(state, move)
        except IllegalMove as wrong:
            raise ValueError(f"move {number} of the opening cannot be made: {wrong}") from wrong
    return state


def _read(game: Game, position: Any) -> Any:
    """A position that somebody set up, and nobody has won yet."""
    state = game.decode(game.encode(position))
    if game.to_move(state) is None:
        raise ValueError("nothing can be played from a position in which the game is over")
    return state


def forfeit_outcome(game: Game, seat: int, cause: str) -> Outcome:
    """A lost match: with three seats the offender is last, and the others share first."""
    reason = f"seat {seat} forfeits: {cause}"
    if game.seats == 2:
        winner = 1 - seat
        return Outcome(winner, [int(one == winner) for one in range(2)], returns_of(winner, 2), reason)
    share = 1 / (game.seats - 1)
    scores = [0 if one == seat else share for one in range(game.seats)]
    return Outcome(None, scores, [-1 if one == seat else share for one in range(game.seats)], reason)


def resignation_outcome(game: Game, seat: int) -> Outcome:
    """A person has given up: it counts as a forfeit does."""
    ending = forfeit_outcome(game, seat, "")
    return Outcome(ending.winner, ending.scores, ending.returns, f"seat {seat} resigns")


def aborted_outcome(game: Game) -> Outcome:
    """A game that the arena could not finish, by its own fault: it counts for nobody."""
    return Outcome(None, [0] * game.seats, [0] * game.seats, "the arena failed")


def first_legal_move(game: Game, state: Any) -> Any:
    """The first of the legal moves; in spaces, where they are too many to list, a straight run up the first column."""
    try:
        return game.legal_moves(state)[0]
    except TooManyMoves:
        from ludodrome.games.spaces.boards import DECK, FINISH, UP
        from ludodrome.games.spaces.codec import format_lay

        size = game.options["size"]
        board = bytes([0, *[size + UP] * (size - 1), size + FINISH])
        return format_lay([board] * (DECK if game.options["mode"] == "deck" else 1), game.options)


def read_move(game: Game, state: Any, move: Any) -> Any:
    """The move that an answer means, not yet judged by the rules where it is no text."""
    if game.reads_text and type(move) is str:
        return game.parse_move(move, state)
    return move
