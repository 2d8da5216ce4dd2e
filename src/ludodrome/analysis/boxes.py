"""Dots: the lines of an analysis from the exact solver, as far as it reaches. Before that they are searched for."""

import time as clock
from typing import Any

from ludodrome.analysis.lines import Analysis, Line, lead, notations
from ludodrome.bots.solvers import TABLE_BITS, WITHIN_REACH
from ludodrome.game import Game
from ludodrome.games.dots.solve import Solver

SLICE = 2000
"""Nodes between two looks at the clock."""
SHARE = 0.5
"""Of an analysis' time: the solver has no more, so that a position beyond its reach is still searched."""


def exact(game: Game, states: Any, time: float | None, count: int) -> Analysis | None:
    """The best edges with their margins, if every edge's margin is found in a share of so many seconds."""
    begin = clock.perf_counter()
    edges = game._legal(states)
    if len(edges) > WITHIN_REACH:
        return None
    solver, nodes, margins = Solver(**game.options, table_bits=TABLE_BITS), 0, {}
    for edge in edges:
        solver.begin(states[0], edge)
        while not solver.run(SLICE):
            if time is not None and clock.perf_counter() - begin > SHARE * time:
                return None
        assert solver.value is not None
        nodes, margins[edge] = nodes + solver.nodes, solver.value
    best = sorted(edges, key=lambda edge: -margins[edge])[:count]
    lines = [_line(game, states, edge, margins[edge], solver) for edge in best]
    return Analysis(lines, len(edges), nodes, clock.perf_counter() - begin)


def _line(game: Game, states: Any, edge: int, margin: int, solver: Solver) -> Line:
    """An edge, and how both go on; the solver's table knows the way."""
    solver.begin(states[0], edge)
    solver.run()
    texts = notations(game, states, tuple(solver.line()) or (edge,))
    move = game.codec.format_moves([edge], states[0])[0]
    return Line(move, texts[0], float(margin + lead(game, states)), texts[1:], True, None)
