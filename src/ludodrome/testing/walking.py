"""Walks through a game that compare the package with an oracle, rules written a second time, at every ply."""

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from ludodrome.game import Game
from ludodrome.jit import COMPILED

Chooser = Callable[[list[Any], Any, random.Random], Any]


def any_move(moves: list[Any], state: Any, rng: random.Random) -> Any:
    """Choose one at random."""
    return rng.choice(moves)


@dataclass
class Tally:
    """What the walks of a test have met."""

    plies: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)


def walk(
    game: Game,
    oracle: ModuleType,
    rng: random.Random,
    tally: Tally,
    choose: Chooser = any_move,
    start: Any = None,
    most: int = 10_000,
) -> None:
    """One game from start to end, or ``most`` plies of it."""
    options = game.options
    state = game.initial_state(rng.getrandbits(40)) if start is None else start
    if start is None:
        assert state == oracle.initial(options, state.get("nonce"))
    for _ in range(most):
        moves = compare(game, oracle, state)
        if not moves:
            tally.ends[state["reason"]] += 1
            return
        move = choose(moves, state, rng)
        before = json.dumps(state)
        following = game.apply(state, move)
        assert json.dumps(state) == before
        assert following == oracle.apply(state, move, options)
        compare_notations(game, state, move)
        state = following
        tally.plies += 1


def compare(game: Game, oracle: ModuleType, state: Any) -> list[Any]:
    """Everything that both can say about a position; gives the legal moves."""
    moves = game.legal_moves(state)
    assert moves == oracle.legal(state, game.options)
    assert game.to_move(state) == oracle.to_move(state, game.options)
    outcome = game.outcome(state)
    expected = oracle.outcome(state, game.options)
    if outcome is None:
        assert expected is None
    else:
        assert {
            "winner": outcome.winner,
            "scores": outcome.scores,
            "returns": outcome.returns,
            "reason": outcome.reason,
        } == expected
    assert game.decode(game.encode(state)) == state
    assert game.parse_state(game.format_state(state)) == state
    return moves


def compare_notations(game: Game, state: Any, move: Any) -> None:
    """A move survives its notation and its number."""
    assert game.is_legal(state, move)
    assert game.parse_move(game.format_move(move, state), state) == move
    assert game.move(game.action(move, state), state) == move


def perft(oracle: ModuleType, state: Any, depth: int, options: dict[str, Any]) -> int:
    """The oracle's count of games of ``depth`` moves."""
    moves = oracle.legal(state, options)
    if depth == 1:
        return len(moves)
    return sum(perft(oracle, oracle.apply(state, move, options), depth - 1, options) for move in moves)


def examples(long_run: bool, usual: int, long: int) -> int:
    """How many walks Hypothesis makes; without compilation a few must do."""
    if not COMPILED:
        return max(4, usual // 12)
    return long if long_run else usual
