"""Coins: points, extra turns, and two or three seats."""

from typing import Any

from ludodrome.game import Cell, Game, Option
from ludodrome.game_extras import Explanation, actor
from ludodrome.search.entry_points import make_kernels
from ludodrome_coins import codec, evaluate, rules


class Coins(Game):
    """Take coins from the ends of a row; a copper coin gives another turn."""

    id = "coins"
    title = "Coins"
    available = (Option("players", 2, "number of players", low=2, high=rules.MAX_SEATS),)

    dtype = rules.DTYPE
    num_actions = max_game_length = rules.COINS
    max_legal = 2
    reasons = rules.REASONS
    kernels = make_kernels(rules.RULES, evaluate.EVALUATOR, dtype=rules.DTYPE, seats=rules.MAX_SEATS)
    evaluator = evaluate.EVALUATOR
    codec = codec

    def __init__(self, /, **options: Any) -> None:
        super().__init__(**options)
        self.seats = self.options["players"]

    def scores_of(self, winner: int | None, states: Any) -> list[float]:
        """The points by seat."""
        points: list[float] = states["scores"][0, : self.seats].tolist()
        return points

    def cells(self, state: Any) -> list[list[Cell]]:
        """The row for the page: a click on a coin takes it."""
        first, last = state["first"] or 1, state["last"] or 0
        values = enumerate(rules.VALUES.tolist(), start=1)
        return [[Cell(str(coin), str(points) if first <= coin <= last else "") for coin, points in values]]

    def explain_move(self, before: Any, move: Any, after: Any, seat: int) -> list[Explanation]:
        """The coin, and the turn that a copper coin gives."""
        who, points = actor(before["to_move"], seat), rules.VALUES[move["coin"] - 1]
        told = [Explanation("coin", f"{who} took coin {move['coin']}, worth {points}.")]
        if after["to_move"] == before["to_move"]:
            told.append(Explanation("again", "It was copper, and copper gives another turn."))
        return told


GAME = Coins
