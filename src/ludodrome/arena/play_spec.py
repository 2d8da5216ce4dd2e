"""A game to be played: ``PlaySpec`` is everything that determines it, as a plain value.

Workers, clusters and tournaments pass play specs around; ``game_loop.play`` turns one into a record. Below are the
parts that the referee and the verifier share: the start position, reading a move, the outcome of a forfeit.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ludodrome.arena import seeds
from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import Conditions
from ludodrome.game import Game, IllegalMove, Outcome, returns_of
from ludodrome.games import make
from ludodrome.validation import show

HASHED, KEYED = VERSIONS = (1, 2)
"""How the random numbers of a game follow from its seed: in records of version 1 by a plain hash, since by a key."""

MAX_ID = 64
"""Characters of a bot's identity."""


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
    """The secret of this game and its round: the initial position and the seats' seeds follow from it."""
    opening: tuple[Any, ...] = field(default=())
    """Moves played before the bots are asked."""
    number: int = 0
    """The number of the game in its match."""
    position: Any = None
    """The state in which the game starts; None: the initial state. The opening is played from there."""
    version: int = KEYED
    """One of the VERSIONS; that of its record."""
    clocks: tuple[Clock, ...] = ()
    """The clocks by seat, if a bot has another than that of the conditions (a handicap); otherwise empty."""
    bot_ids: tuple[str, ...] = ()
    """The bots' identities by seat (``bots/identity.py``); empty: unknown."""

    def __post_init__(self) -> None:
        if self.clocks and len(self.clocks) != len(self.bots):
            raise ValueError(f"there are {len(self.bots)} bots and {len(self.clocks)} clocks; each seat has one")
        if all(clock == self.conditions.clock for clock in self.clocks):
            object.__setattr__(self, "clocks", ())

    def clock_of(self, seat: int) -> Clock:
        """The clock of a seat."""
        return self.clocks[seat] if self.clocks else self.conditions.clock

    @property
    def match(self) -> str:
        """The id of this game: a hash of everything above, with the commitment instead of the seed."""
        return match_id(self.to_json() if self.version == HASHED else self.public_json())

    @property
    def commitment(self) -> str:
        """A hash of the seed that reveals nothing about it, unless the seed can be guessed."""
        return seeds.commitment(self.seed)

    @property
    def seat_seeds(self) -> list[int]:
        """A seed for each bot, below 2**53 so that every language reads it exactly. They are unrelated hashes."""
        if self.version == HASHED:
            return [_hashed(f"ludodrome seat {seat} of game {self.number} of {self.seed}") for seat in self._seats]
        return [seeds.seat_seed(self.seed, self.number, seat) for seat in self._seats]

    @property
    def _seats(self) -> range:
        return range(len(self.bots))

    def public_json(self) -> dict[str, Any]:
        """The play spec without its seed, but with the commitment."""
        value: dict[str, Any] = {
            "game": self.game,
            "options": self.options,
            "bots": list(self.bots),
            "names": list(self.names),
            "conditions": self.conditions.to_json(),
            "opening": list(self.opening),
            "number": self.number,
            "commitment": self.commitment,
        }
        if self.position is not None:
            value["position"] = self.position
        if self.clocks:
            value["clocks"] = [clock.to_json() for clock in self.clocks]
        if self.bot_ids:
            value["bot_ids"] = list(self.bot_ids)
        return value

    def to_json(self) -> dict[str, Any]:
        """A plain value for ``from_json``. The seed is a text: no JSON reader rounds it."""
        value = self.public_json()
        if self.version != HASHED:
            return {"version": self.version, **value, "seed": str(self.seed)}
        del value["commitment"]
        rest: dict[str, Any] = {
            name: value.pop(name) for name in ("opening", "number", "position", "clocks") if name in value
        }
        return {**value, "seed": self.seed, **rest}

    @staticmethod
    def from_json(value: dict[str, Any]) -> "PlaySpec":
        """Read what ``to_json`` wrote, or a record that has its seed; ValueError if the seed is malformed."""
        version = value.get("version", HASHED)
        return PlaySpec(
            value["game"],
            value["options"],
            tuple(value["bots"]),
            tuple(value["names"]),
            Conditions.from_json(value["conditions"]),
            value["seed"] if version == HASHED else _read_seed(value["seed"]),
            tuple(value["opening"]),
            value["number"],
            value.get("position"),
            version,
            _read_clocks(value["clocks"]) if "clocks" in value else (),
            _read_ids(value),
        )

    def make_game(self) -> Game:
        """Make the game with its options."""
        return make(self.game, **self.options)


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


def canonical_json(value: Any) -> bytes:
    """Canonical JSON: keys sorted, no spaces."""
    return _encode(value).encode()


def match_id(value: dict[str, Any]) -> str:
    """The id of a game: a hash of its play spec, as ``public_json`` or in version 1 ``to_json`` writes it."""
    return "m-" + hashlib.sha256(canonical_json(value)).hexdigest()[:16]


def _read_clocks(clocks: Any) -> tuple[Clock, ...]:
    """The clocks of the seats; ValueError if they are malformed."""
    if type(clocks) is not list or not clocks:
        raise ValueError(f"clocks is a list of clocks, one a seat, not {show(clocks)}")
    return tuple(map(Clock.from_json, clocks))


def _read_seed(text: Any) -> int:
    """The seed of a text; ValueError unless it is the one way to write it."""
    if type(text) is not str or not re.fullmatch(r"0|-?[1-9][0-9]{0,99}", text):
        raise ValueError(f"a seed is a text of digits, not {show(text)}")
    return int(text)


def _read_ids(value: dict[str, Any]) -> tuple[str, ...]:
    """The identities of the bots of a record; ValueError if they are malformed."""
    ids = value.get("bot_ids", [])
    if type(ids) is not list or not all(type(one) is str and len(one) <= MAX_ID for one in ids):
        raise ValueError(f"bot_ids is a list of short texts, one per seat, not {show(ids)}")
    if len(ids) not in ({0} if "bot_ids" not in value else {len(value["bots"])}):
        raise ValueError(f"bot_ids has one text per bot, so {len(value['bots'])}, not {len(ids)}")
    return tuple(ids)


def _hashed(purpose: str) -> int:
    """A one-way hash of 53 bits, as in version 1."""
    return int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:8], "little") >> 11


# What the referee and the verifier share


def initial_state(game: Game, play_spec: PlaySpec) -> Any:
    """The state before the opening; ValueError if it was set up and is malformed or over."""
    if play_spec.position is not None:
        return read_position(game, play_spec.position)
    keyed = play_spec.version != HASHED
    return game.initial_state(seeds.position_seed(play_spec.seed) if keyed else play_spec.seed)


def start_state(game: Game, play_spec: PlaySpec) -> Any:
    """The state in which the bots start; ValueError if the opening cannot be played or the game is already over."""
    return after_opening(game, initial_state(game, play_spec), play_spec.opening)


def after_opening(game: Game, state: Any, opening: Iterable[Any]) -> Any:
    """The state after the moves of an opening; ValueError if one cannot be made."""
    for number, move in enumerate(opening):
        try:
            state = game.apply(state, move)
        except IllegalMove as wrong:
            raise ValueError(f"move {number} of the opening cannot be made: {wrong}") from wrong
    return state


def read_position(game: Game, position: Any) -> Any:
    """Check a position that someone set up; ValueError if it is malformed or the game is over in it."""
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


def agreed_draw_outcome(game: Game) -> Outcome:
    """The outcome of a draw that all players agreed to."""
    share = 1 / game.seats
    return Outcome(None, [share] * game.seats, [0] * game.seats, "the players agree to a draw")


def aborted_outcome(game: Game) -> Outcome:
    """The outcome of a game that the arena could not finish, by its own fault; it is not rated."""
    return Outcome(None, [0] * game.seats, [0] * game.seats, "the arena failed")


def read_move(game: Game, state: Any, move: Any) -> Any:
    """Parse a move that was sent as text; IllegalMove if that fails. Other moves stay as they are, unchecked."""
    if game.reads_text and type(move) is str:
        return game.parse_move(move, state)
    return move
