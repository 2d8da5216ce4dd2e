"""What a board of spaces was worth: against the board in view exactly, else by what it loses to a best answer.

Values are final margins of the match for the seat that lays: the points so far, this round, and the rounds after it
with both sides doing their best. The appraisers of the other games are in ``appraisers.py``.
"""

from functools import cache
from typing import Any

from ludodrome.analysis.appraisers import Appraisal
from ludodrome.analysis.worth import Value
from ludodrome.game import Game
from ludodrome.games.spaces import perfect, respond, sensible, simulate, simulate_matrix
from ludodrome.games.spaces.perfect import SOLVED
from ludodrome.games.spaces.seen import KNOWN_LOSS

LIVE = "live"


@cache
def least_loss(size: int, rules: str) -> tuple[dict[str, Any], int, bool]:
    """A board that loses little to its best answer, by how much, and whether no board loses less."""
    board = sensible(size, rules, foreseen=True)
    found = respond(board, size, rules)
    known = found.margin == 0 or (rules == LIVE and found.margin == KNOWN_LOSS.get(size))
    return board, found.margin, found.proven and known


class Boards:
    """Spaces."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.size, self.rules = game.options["size"], game.options["rules"]
        self.blind = game.options["choice"] == "blind" or game.options["mode"] == "deck"

    def appraise(self, state: Any, move: Any, after: Value | None, nodes: int) -> Appraisal:
        """By the round that the board is laid for; what follows after it does not depend on the board."""
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
        return Appraisal(_raised(best, base), _raised(played, base), board, text)

    def _answer(self, state: Any, move: Any, nodes: int) -> tuple[Value, Value, Any]:
        """To a board in view."""
        best = respond(state["chosen"], self.size, self.rules, nodes=nodes)
        own, other = simulate(move, state["chosen"], self.size, self.rules).points
        return Value(best.margin, proven=best.proven), Value(own - other, proven=True), best.board

    def _first(self, move: Any, nodes: int) -> tuple[Value, Value, Any]:
        """The first board of a round: what counts is the best answer to it."""
        found = respond(move, self.size, self.rules, nodes=nodes)
        board, loss, known = least_loss(self.size, self.rules)
        return Value(-loss, proven=known), Value(-found.margin, proven=found.proven), board

    def _unseen(self, move: Any) -> tuple[Value, Value, Any]:
        """Against the mixture that no board beats: the mean margin. The best is to lose nothing."""
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
        """What the rounds after this one bring to the seat to move: the first chooser of each loses a little."""
        if self.blind:
            return 0
        loss = least_loss(self.size, self.rules)[1]
        firsts = [number % 2 for number in range(state["round"], state["rounds"])]
        own = state["to_move"]
        return sum(-loss if first == own else loss for first in firsts)


def _raised(value: Value, base: int) -> Value:
    return Value(value.score + base, None, value.proven)
