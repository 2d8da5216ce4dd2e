"""The best moves of a position with what they are worth, better and better as time goes by."""

import time as clock
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ludodrome.analysis.win_probability import why_not_searchable
from ludodrome.bots.dots import MAX_SOLVER_EDGES, SOLVER_TABLE_BITS
from ludodrome.game import Game, checked_count
from ludodrome.games.dots.solver import Solver
from ludodrome.search.alphabeta import MAX_DEPTH
from ludodrome.search.iterative import Searcher, SearchResult
from ludodrome.validation import show

LINES = 3
MAX_LINES = 100
HUNDREDTHS = 100


@dataclass(frozen=True, slots=True)
class Line:
    """A move, and how the game is expected to go on."""

    move: Any
    text: str
    """The move in the notation for people."""
    score: float
    """For the seat to move. In dots the final margin of boxes; elsewhere in units of about one good
    thing more than the other side has, and of no importance once ``distance`` is known."""
    continuation: list[str]
    """The moves that follow, in the notation for people."""
    proven: bool
    """Whether the score is the truth and not a guess."""
    distance: int | None
    """The plies to a decided end, this move included."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is known after some time."""

    lines: list[Line]
    """The best first."""
    depth: int
    nodes: int
    seconds: float


def analyse(
    game: Game, state: Any, time: float | None = 1.0, lines: int = LINES, depth: int | None = None
) -> Iterator[Analysis]:
    """Growing analyses of a running game, at most so many seconds long; ``time`` None: until all is known."""
    budget = check_time(time)
    lines = checked_count(lines, "the number of lines", 1, MAX_LINES)
    deepest = MAX_DEPTH if depth is None else checked_count(depth, "the depth", 1, MAX_DEPTH)
    states = game.encode_array(state)
    game.check_running(states)
    if game.evaluator is None:
        raise ValueError(f"{game.id} is not analysed move by move: {why_not_searchable(game)}")
    if game.evaluator.by_points and depth is None:
        return _counted(game, states, budget, lines)
    return _deepening(game, states, budget, lines, deepest)


def _counted(game: Game, states: Any, time: float | None, count: int) -> Iterator[Analysis]:
    """A first guess; then the truth, if it is found soon; else what a search finds."""
    begin = clock.perf_counter()
    yield from _deepening(game, states, time, count, 1)
    solved = exact_lines(game, states, time, count)
    if solved is not None:
        yield solved
        return
    left = None if time is None else time - (clock.perf_counter() - begin)
    for analysis in _deepening(game, states, left, count, MAX_DEPTH):
        if analysis.depth > 1:
            yield analysis


def check_time(time: Any) -> float | None:
    """Seconds, or None for no limit; ValueError with a sentence if it is neither."""
    if time is None:
        return None
    if isinstance(time, int | float) and not isinstance(time, bool) and 0 < time < float("inf"):
        return float(time)
    raise ValueError(f"time is a positive number of seconds, or None for no limit, not {show(time)}")


def _deepening(game: Game, states: Any, time: float | None, count: int, deepest: int) -> Iterator[Analysis]:
    thinker = Searcher(game)
    thinker.warm_up()
    begin = clock.perf_counter()
    buffer = game.buffer()
    count = min(count, int(game.kernels.legal(states, buffer)))
    nodes = 0
    for depth in range(1, deepest + 1):
        findings: list[SearchResult] = []
        while len(findings) < count:
            left = None if time is None or depth == 1 else time - (clock.perf_counter() - begin)
            if left is not None and left <= 0:
                return
            avoid = [finding.action for finding in findings]
            *_, finding = thinker.search(states, depth, None, left, avoid, first=depth)
            nodes += finding.nodes
            if finding.depth < depth:  # there was no time for this depth
                return
            findings.append(finding)
        findings.sort(key=lambda finding: -finding.score)
        lines = [_line(game, states, finding) for finding in findings]
        yield Analysis(lines, depth, nodes, clock.perf_counter() - begin)
        if all(line.proven for line in lines):
            return


def _line(game: Game, states: Any, finding: SearchResult) -> Line:
    """A finding in words."""
    texts = notations(game, states, finding.line)
    move = game.codec.format_moves([finding.action], states[0])[0]
    score = finding.score / HUNDREDTHS + lead(game, states)
    return Line(move, texts[0], score, texts[1:], finding.proven, finding.distance)


def notations(game: Game, states: Any, actions: tuple[int, ...]) -> list[str]:
    """A line of play in the notation for people."""
    follow = states.copy()
    texts = []
    for action in actions:
        texts.append(game.codec.format_notation(action, follow[0]))
        game.kernels.play(follow, action)
    return texts


def lead(game: Game, states: Any) -> int:
    """The points by which the seat to move leads, where points count."""
    if game.evaluator is None or not game.evaluator.by_points:
        return 0
    seat = int(game.kernels.mover(states))
    own, other = game.scores_of(None, states) if seat == 0 else reversed(game.scores_of(None, states))
    return int(own - other)


# Dots: the lines of an analysis from the exact solver, as far as it reaches. Before that they are searched for.


SOLVER_SLICE = 2000
"""Nodes between two looks at the clock."""
SOLVER_TIME_SHARE = 0.5
"""Of an analysis' time: the solver has no more, so that a position beyond its reach is still searched."""


def exact_lines(game: Game, states: Any, time: float | None, count: int) -> Analysis | None:
    """The best edges with their margins, if every edge's margin is found in a share of so many seconds."""
    begin = clock.perf_counter()
    edges = game.legal_actions_of(states)
    if len(edges) > MAX_SOLVER_EDGES:
        return None
    solver, nodes, margins = Solver(**game.options, table_bits=SOLVER_TABLE_BITS), 0, {}
    for edge in edges:
        solver.begin(states[0], edge)
        while not solver.run(SOLVER_SLICE):
            if time is not None and clock.perf_counter() - begin > SOLVER_TIME_SHARE * time:
                return None
        assert solver.value is not None
        nodes, margins[edge] = nodes + solver.nodes, solver.value
    best = sorted(edges, key=lambda edge: -margins[edge])[:count]
    lines = [_solved_line(game, states, edge, margins[edge], solver) for edge in best]
    return Analysis(lines, len(edges), nodes, clock.perf_counter() - begin)


def _solved_line(game: Game, states: Any, edge: int, margin: int, solver: Solver) -> Line:
    """An edge, and how both go on; the solver's table knows the way."""
    solver.begin(states[0], edge)
    solver.run()
    texts = notations(game, states, tuple(solver.line()) or (edge,))
    move = game.codec.format_moves([edge], states[0])[0]
    return Line(move, texts[0], float(margin + lead(game, states)), texts[1:], True, None)
