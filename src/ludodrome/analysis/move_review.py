"""Compare a move with the best one: a reviewer for each kind of game.

Games are reviewed from the end to the beginning: the proven value of a position is also the value of the move that led
to it, and the transposition table already knows what follows. Work is limited in nodes, so that a review is the same
on every machine. Win probabilities and grades are in ``win_probability.py``.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from ludodrome.analysis.lines import HUNDREDTHS, lead, notations
from ludodrome.analysis.win_probability import Value
from ludodrome.bots.networks import network_weights
from ludodrome.game import Game
from ludodrome.game_extras import extra
from ludodrome.search.iterative import Searcher, SearchResult

SEARCH_BITS = 18
SHOWN_PLIES = 8


@dataclass(frozen=True, slots=True)
class MoveReview:
    """A move compared with the best one, for the seat that played it."""

    best: Value
    played: Value
    move: Any
    """A best move: the one played, if none is better."""
    text: str
    continuation: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether both values are proven."""
        return self.best.proven and self.played.proven


class MoveReviewer(Protocol):
    """Reviews the moves of one game, the last move first."""

    def review(self, state: Any, move: Any, after: Value | None, nodes: int) -> MoveReview:
        """Review a move. ``after``: the value of the next position for the seat that moved, if known."""


def reviewer_of(game: Game) -> MoveReviewer:
    """The reviewer for a game. Raises ValueError if the game has no evaluator."""
    own = extra(game.analysis_module, "make_reviewer")
    if own is not None:
        reviewer: MoveReviewer = own(game)
        return reviewer
    check_can_review(game)
    return SearchReviewer(game)


def check_can_review(game: Game) -> None:
    """Raise ValueError if a game has neither a reviewer of its own nor an evaluator."""
    if game.evaluator is None and extra(game.analysis_module, "make_reviewer") is None:
        raise ValueError(f"games of {game.id} cannot be graded: it has no evaluator for positions")


class SearchReviewer:
    """Alpha-beta: the best move and the move played, both to the same depth."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._searcher = Searcher(game, SEARCH_BITS, weights=network_weights(game))

    def review(self, state: Any, move: Any, after: Value | None, nodes: int) -> MoveReview:
        """Review a move with two searches of the same depth, so that the values are comparable."""
        game = self.game
        states = game.encode_array(state)
        action = game.action(move, state)
        if after is not None and not after.proven:
            after = None
        if after is not None and after.distance is not None and after.score > 0:
            return MoveReview(after, after, move, game.format_move(move, state))
        *_, best = self._searcher.search(states, nodes=nodes)
        if best.action == action:
            return self._review_of(states, best, self._value(states, best) if after is None else after)
        if after is None:
            others = [one for one in game.legal_actions_of(states) if one != action]
            *_, found = self._searcher.search(states, max(best.depth, 1), nodes=nodes, avoid=others)
            after = self._value(states, found)
        return self._review_of(states, best, after, move)

    def _review_of(self, states: Any, best: SearchResult, played: Value, move: Any = None) -> MoveReview:
        """``move``: the move played, if it was not the best."""
        game = self.game
        value = self._value(states, best)
        chosen = game.codec.format_moves([best.action], states[0])[0]
        if move is None:
            value = played if played.proven else value
        elif not better(value, played):  # the search of the one move went further
            value, chosen = played, move
        if chosen == move:
            return MoveReview(value, played, move, game.format_move(move, game.decode(states[0])))
        texts = notations(game, states, best.line[:SHOWN_PLIES])
        return MoveReview(value, played if move is not None else value, chosen, texts[0], tuple(texts[1:]))

    def _value(self, states: Any, found: SearchResult) -> Value:
        if found.distance is not None:
            return Value(1.0 if found.score > 0 else -1.0, found.distance, found.proven)
        return Value(found.score / HUNDREDTHS + lead(self.game, states), None, found.proven)


def better(one: Value, other: Value) -> bool:
    """Whether a value is higher; the distance of wins and losses does not count."""
    return rank(one) > rank(other)


def rank(value: Value) -> float:
    """A sort key for values: wins above all others, losses below."""
    if value.distance is not None:
        return float("inf") if value.score > 0 else float("-inf")
    return value.score
