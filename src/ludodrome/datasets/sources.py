"""The rows of a dataset and their sources: records of the arena, or self-play by tree search.

A source yields one game at a time and keeps none. The planes are those of the environments.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from ludodrome.arena.play_spec import PlaySpec, after_opening
from ludodrome.arena.records import BadRecord, first_state, verify
from ludodrome.envs.observations import PositionEncoder
from ludodrome.game import Game, checked_count, checked_seed
from ludodrome.jit import Array, new_states
from ludodrome.search.mcts_search import TreeSearch, TreeSearchResult

MAX_GAMES = 1 << 30
FREE_TURNS = 8
"""Default number of turns in self-play that are sampled in proportion to the search's visits."""


class DatasetRow(NamedTuple):
    """A position in which a seat chose an action."""

    planes: Array
    """[planes, rows, columns]"""
    mask: Array
    """[num_actions] uint8: 1 where an action is legal."""
    action: int
    outcome: float
    """The result of the game for the seat to move, from -1 to 1."""
    ply: int
    seat: int
    policy: Array | None = None
    """[num_actions] float32: the search's share of visits; sums to 1."""


class PlayedGame(NamedTuple):
    """A game: its line in games.jsonl, and its rows."""

    facts: dict[str, Any]
    rows: list[DatasetRow]


class Column(NamedTuple):
    """A column of a dataset."""

    name: str
    dtype: Any
    shape: tuple[int, ...]
    """Of one row; () for a scalar."""
    meaning: str


def columns_of(game: Game, policy: bool) -> tuple[Column, ...]:
    """The columns of a dataset; ``policy``: with the search's visits."""
    planes = game.planes
    columns = (
        Column("planes", np.dtype(planes.dtype), planes.shape, "the position as the seat to move sees it"),
        Column("mask", np.dtype(np.uint8), (game.num_actions,), "1 where an action is legal"),
        Column("action", np.dtype(np.int16), (), "the action that was played"),
        Column("outcome", np.dtype(np.float32), (), "what the game came to for the seat to move, from -1 to 1"),
        Column("ply", np.dtype(np.int32), (), "the number of the turn, from 0"),
        Column("seat", np.dtype(np.int8), (), "the seat to move"),
        Column("game", np.dtype(np.int32), (), "the number of the game; games.jsonl has a line for each"),
    )
    share = Column("policy", np.dtype(np.float32), (game.num_actions,), "the search's visits, scaled to add up to 1")
    return (*columns, share) if policy else columns


class GameSource(Protocol):
    """A source of played games, all of one game with the same options."""

    game: Game
    policy: bool
    """Whether rows have a search policy."""

    def iter_games(self) -> Iterator[PlayedGame]:
        """Yield the games."""

    def description(self) -> str:
        """How the games were made, for the data card; called after the last one."""


class Recorded:
    """Recorded games. Every record is verified; games that were not decided by play are left out.

    Rows are the moves that a seat chose itself: no openings, no substituted moves. Raises ValueError without records.
    """

    policy = False

    def __init__(self, records: Iterable[dict[str, Any]]) -> None:
        self._records = iter(records)
        first = next(self._records, None)
        if first is None:
            raise ValueError("there are no records to export")
        self._first = first
        self.game = _verified_game(first)
        self.left_out = 0
        self._bots: set[str] = set()

    def iter_games(self) -> Iterator[PlayedGame]:
        """Yield the games in the order of the records. Raises BadRecord if one is invalid or of another game."""
        encoder = PositionEncoder(self.game)
        yield from self._one(self._first, encoder)
        for record in self._records:
            if _verified_game(record) != self.game:
                raise BadRecord(
                    f"{record['match']} is no game of {self.game!r}: a dataset is of one game and its options"
                )
            yield from self._one(record, encoder)

    def _one(self, record: dict[str, Any], encoder: PositionEncoder) -> Iterator[PlayedGame]:
        result = record["result"]
        if result["decided_by"] != "play":
            self.left_out += 1
            return
        self._bots.update(record["names"])
        facts = {
            "match": record["match"],
            "names": record["names"],
            "bots": record["bots"],
            "seed": record.get("seed"),
            "returns": result["returns"],
            "reason": result["reason"],
        }
        yield PlayedGame(facts, self._rows(record, encoder))

    def _rows(self, record: dict[str, Any], encoder: PositionEncoder) -> list[DatasetRow]:
        game, returns = self.game, record["result"]["returns"]
        states = new_states(game.dtype, 1)
        states[0] = game.encode(after_opening(game, first_state(game, record), record["opening"]))
        rows = []
        for entry in record["turns"]:
            if entry.get("substituted"):
                game.apply_to(states, entry["move"])
                continue
            for action in game.actions_of(entry["move"], states):
                seat = int(game.kernels.mover(states))
                planes, mask = encoder.encode(states, seat)
                rows.append(DatasetRow(planes, mask.view(np.uint8), action, returns[seat], entry["turn"], seat))
                game.kernels.play(states, action)
        return rows

    def description(self) -> str:
        """How the games were made."""
        out = f" {self.left_out} games that were not decided by play were left out." if self.left_out else ""
        return f"Games of the arena between {', '.join(sorted(self._bots))}, each verified by the rules.{out}"


def _verified_game(record: dict[str, Any]) -> Game:
    verify(record)
    return PlaySpec.from_json({"seed": "0", **record}).make_game()


class SelfPlay:
    """Self-play by tree search, with the shares of visits as policy. Raises ValueError for wrong arguments."""

    policy = True

    def __init__(self, game: Game, games: int, sims: int, seed: int = 0, free: int = FREE_TURNS) -> None:
        if game.actions_a_turn > 1:
            raise ValueError(
                f"{game.id} has no self-play by tree search, since its moves are lists of steps: export records"
            )
        self.game = game
        self.games = checked_count(games, "the number of games", 1, MAX_GAMES)
        self.sims = checked_count(sims, "sims", 2, 1 << 24)
        self.free = checked_count(free, "the number of free turns", 0, MAX_GAMES)
        self.seed = int(checked_seed(seed))

    def iter_games(self) -> Iterator[PlayedGame]:
        """Yield the games. Game i of a seed does not depend on their number."""
        encoder = PositionEncoder(self.game)
        for number in range(self.games):
            yield self._played(number, encoder)

    def _played(self, number: int, encoder: PositionEncoder) -> PlayedGame:
        game = self.game
        dice = np.random.default_rng([self.seed, number])
        tree = TreeSearch(game, seed=int(dice.integers(1 << 62)), nodes=max(1 << 16, 64 * self.sims))
        states = game.blank()
        game.kernels.reset(states, np.uint64(dice.integers(1 << 62)))
        turns: list[tuple[int, Array, Array, int, int, Array]] = []
        while game.kernels.mover(states) >= 0:
            found = tree.search(states, sims=self.sims)
            policy = visit_shares(found, game.num_actions)
            turn = int(game.kernels.turns(states))
            action = int(dice.choice(len(policy), p=policy / policy.sum())) if turn < self.free else found.best
            seat = int(game.kernels.mover(states))
            planes, mask = encoder.encode(states, seat)
            turns.append((seat, planes, mask.view(np.uint8), action, turn, policy.astype(np.float32)))
            game.kernels.play(states, action)
        outcome = game.outcome_of(states)
        assert outcome is not None
        rows = [
            DatasetRow(planes, mask, action, outcome.returns[seat], turn, seat, policy)
            for seat, planes, mask, action, turn, policy in turns
        ]
        return PlayedGame({"returns": outcome.returns, "reason": outcome.reason}, rows)

    def description(self) -> str:
        """How the games were made."""
        return (
            f"Games that `mcts` played against itself with {self.sims} simulations a move, seed {self.seed}. The first "
            f"{self.free} turns of each game were drawn in proportion to visits, then the best move was played."
        )


def visit_shares(found: TreeSearchResult, actions: int) -> Array:
    """The shares of visits, [num_actions] float64; all to the best move if the result is proven."""
    policy = np.zeros(actions)
    if found.proven:
        policy[found.best] = 1.0
        return policy
    for choice in found.choices:
        policy[choice.action] = choice.visits
    policy /= policy.sum()
    return policy
