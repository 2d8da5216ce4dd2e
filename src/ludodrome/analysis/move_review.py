"""Compare a move with the best one: a reviewer for each kind of game.

Games are reviewed from the end to the beginning: the proven value of a position is also the value of the move that led
to it, and the transposition table already knows what follows. Work is limited in nodes, so that a review is the same
on every machine. Win probabilities and grades are in ``win_probability.py``.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from ludodrome.analysis.lines import HUNDREDTHS, lead, notations
from ludodrome.analysis.win_probability import Value
from ludodrome.game import Game
from ludodrome.games.dots.bots import MAX_SOLVER_EDGES, SOLVER_TABLE_BITS
from ludodrome.games.dots.solver import Solver
from ludodrome.games.spaces import perfect, respond, sensible, simulate, simulate_matrix
from ludodrome.games.spaces.equilibria import KNOWN_LOSS, SOLVED
from ludodrome.search.iterative import Searcher, SearchResult

SEARCH_BITS = 18
SOLVER_SHARE = 4
"""The solver of dots may visit this many times the nodes of a search, since its values are exact."""
MAX_FAILURES = 3
"""The solver is not tried again after this many unsolved positions in a row."""
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
    if game.id == "spaces":
        return SpacesReviewer(game)
    if game.evaluator is None:
        raise ValueError(f"games of {game.id} cannot be graded: it has no evaluator for positions")
    return DotsReviewer(game) if game.evaluator.by_points else SearchReviewer(game)


class SearchReviewer:
    """Alpha-beta: the best move and the move played, both to the same depth."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._searcher = Searcher(game, SEARCH_BITS)

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


class DotsReviewer:
    """Dots: the exact solver where it is fast enough, otherwise the search."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._search = SearchReviewer(game)
        self._solver = Solver(game.options["rows"], game.options["cols"], SOLVER_TABLE_BITS)
        self._failures = 0

    def review(self, state: Any, move: Any, after: Value | None, nodes: int) -> MoveReview:
        """Review a move by the final margin of boxes."""
        states = self.game.encode_array(state)
        edge = self._solved(states, nodes * SOLVER_SHARE)
        if edge is None:  # an estimate of the best move beside the exact value of the one played would be unfair
            return self._search.review(state, move, None, nodes)
        best = Value(float((self._solver.value or 0) + lead(self.game, states)), proven=True)
        text = self.game.format_move(move, state)
        if after is None or not after.proven:
            after = self._after(states, move, state, nodes)
        if after.score >= best.score:
            return MoveReview(best, after if after.proven else best, move, text)
        chosen = self.game.codec.format_moves([edge], states[0])[0]
        texts = notations(self.game, states, tuple(self._solver.line(nodes)[:SHOWN_PLIES]))
        return MoveReview(best, after, chosen, texts[0], tuple(texts[1:]))

    def _solved(self, states: Any, nodes: int) -> int | None:
        """A best edge, or None if the solver does not find it."""
        undrawn = len(self.game.legal_actions_of(states))
        if undrawn > MAX_SOLVER_EDGES or self._failures >= MAX_FAILURES:
            return None
        self._solver.begin(states[0])
        if not self._solver.run(nodes):
            self._failures += 1
            return None
        self._failures = 0
        return self._solver.best_edge

    def _after(self, states: Any, move: Any, state: Any, nodes: int) -> Value:
        """The value of one edge, if that of the next position is unknown; uses the solver's table."""
        edge = self.game.action(move, state)
        one = Solver(self._solver.rows, self._solver.cols, table=self._solver.table)
        one.begin(states[0], edge)
        solved = one.run(nodes * SOLVER_SHARE)
        low, high = one.bounds
        return Value((low + high) / 2 + lead(self.game, states), proven=solved)


# Spaces: a board is compared exactly with the visible one, otherwise by what it loses to a best response.
# Values are final margins of the match for the seat that lays: the points so far, this round, and best play after it.


LIVE = "live"


@cache
def least_loss(size: int, rules: str) -> tuple[dict[str, Any], int, bool]:
    """A board that loses little to its best response, how much it loses, and whether no board loses less."""
    board = sensible(size, rules, foreseen=True)
    found = respond(board, size, rules)
    known = found.margin == 0 or (rules == LIVE and found.margin == KNOWN_LOSS.get(size))
    return board, found.margin, found.proven and known


class SpacesReviewer:
    """Spaces: best responses and equilibrium mixtures."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.size, self.rules = game.options["size"], game.options["rules"]
        self.blind = game.options["choice"] == "blind" or game.options["mode"] == "deck"

    def review(self, state: Any, move: Any, after: Value | None, nodes: int) -> MoveReview:
        """Review a board by its own round; later rounds do not depend on it."""
        if self.blind:
            best, played, board = self._unseen(move)
        elif state["chosen"] is None:
            best, played, board = self._first(move, nodes)
        else:
            best, played, board = self._answer(state, move, nodes)
        base = self._lead(state) + self._rest(state)
        if played.score >= best.score:
            best, board = played, move
        text = self.game.format_move(board, state)
        return MoveReview(_plus(best, base), _plus(played, base), board, text)

    def _answer(self, state: Any, move: Any, nodes: int) -> tuple[Value, Value, Any]:
        """A response to a visible board."""
        best = respond(state["chosen"], self.size, self.rules, nodes=nodes)
        own, other = simulate(move, state["chosen"], self.size, self.rules).points
        return Value(best.margin, proven=best.proven), Value(own - other, proven=True), best.board

    def _first(self, move: Any, nodes: int) -> tuple[Value, Value, Any]:
        """The first board of a round, valued by the best response to it."""
        found = respond(move, self.size, self.rules, nodes=nodes)
        board, loss, known = least_loss(self.size, self.rules)
        return Value(-loss, proven=known), Value(-found.margin, proven=found.proven), board

    def _unseen(self, move: Any) -> tuple[Value, Value, Any]:
        """A hidden board: its mean margin against the equilibrium mixture. The best possible is 0."""
        mixture = perfect(self.size, self.rules).json_boards()
        laid = move.get("deck", [move])
        own, other = simulate_matrix(laid, mixture, self.size, self.rules)
        proven = self.size <= SOLVED[self.rules]
        mean = float((own - other).mean())
        best = (
            {"deck": [mixture[number % len(mixture)] for number in range(len(laid))]} if "deck" in move else mixture[0]
        )
        return Value(0.0, proven=proven), Value(mean, proven=proven), best

    def _lead(self, state: Any) -> int:
        own = state["to_move"]
        return int(state["totals"][own] - state["totals"][1 - own])

    def _rest(self, state: Any) -> int:
        """The expected margin of the remaining rounds for the seat to move: the first chooser loses a little."""
        if self.blind:
            return 0
        loss = least_loss(self.size, self.rules)[1]
        firsts = [number % 2 for number in range(state["round"], state["rounds"])]
        own = state["to_move"]
        return sum(-loss if first == own else loss for first in firsts)


def _plus(value: Value, base: int) -> Value:
    return Value(value.score + base, None, value.proven)
