"""Tic-tac-toe: three in a row win."""

from typing import Any

from ludodrome.game import Cell, Game
from ludodrome.game_spec import Planes
from ludodrome.search.entry_points import make_kernels
from ludodrome_tictactoe import codec, evaluate, rules


class TicTacToe(Game):
    """Two seats put their signs on 3 x 3 cells in turn."""

    id = "tictactoe"
    title = "Tic-tac-toe"

    dtype = rules.DTYPE
    num_actions = max_legal = max_game_length = rules.CELLS
    reasons = rules.REASONS
    kernels = make_kernels(rules.RULES, evaluate.EVALUATOR, evaluate.observe)
    evaluator = evaluate.EVALUATOR
    codec = codec
    seat_names = seat_signs = codec.SIGNS

    @property
    def planes(self) -> Planes:
        """The planes that a learner sees."""
        return evaluate.PLANES

    def cells(self, state: Any) -> list[list[Cell]]:
        """The board for the page: a click on a cell is the move of its name."""
        signs = "".join(state["board"])
        cells = [
            Cell(name, "" if sign == codec.EMPTY else sign, None if sign == codec.EMPTY else codec.SIGNS.index(sign))
            for name, sign in zip(codec.NAMES, signs, strict=True)
        ]
        return [cells[at : at + rules.SIDE] for at in range(0, rules.CELLS, rules.SIDE)]


GAME = TicTacToe
