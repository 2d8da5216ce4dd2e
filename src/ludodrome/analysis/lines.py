"""The best moves of a position with their values, refined as long as time allows."""

import time as clock
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ludodrome.bots.networks import network_weights
from ludodrome.game import Game, checked_count
from ludodrome.game_extras import extra
from ludodrome.search.frames import MAX_DEPTH
from ludodrome.search.iterative import MAX_THREADS, Searcher, SearchResult
from ludodrome.search.mcts_search import TreeSearch
from ludodrome.validation import show

LINES = 3
MAX_LINES = 100
HUNDREDTHS = 100


@dataclass(frozen=True, slots=True)
class Line:
    """A move and its expected continuation."""

    move: Any
    text: str
    """The move in notation."""
    score: float
    """For the seat to move. In games of points the final margin, with three seats over the two others together;
    elsewhere the evaluation, where 1 is a clear advantage; meaningless once ``distance`` is known."""
    continuation: list[str]
    """The moves that follow, in notation."""
    proven: bool
    """Whether the score is exact."""
    distance: int | None
    """Plies to a decided end, including this move; None if no end is in sight."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The lines found so far.

    >>> import ludodrome
    >>> game = ludodrome.make("dots", rows=2, cols=2)
    >>> *_, analysis = ludodrome.analyse(game, game.initial_state(), lines=2, depth=2)
    >>> len(analysis.lines), analysis.lines[0].score >= analysis.lines[1].score
    (2, True)
    """

    lines: list[Line]
    """Best first."""
    depth: int
    nodes: int
    seconds: float


ExactAnalysis = Callable[[Game, Any, float | None, int], Analysis | None]
"""(game, states, seconds, number of lines): the exact lines, None if they are not found in time."""


def analyse(
    game: Game,
    state: Any,
    time: float | None = 1.0,
    lines: int = LINES,
    depth: int | None = None,
    threads: int = 1,
) -> Iterator[Analysis]:
    """Analyse a position of a running game and yield better and better results.

    ``time``: seconds, or None to search until everything is proven. ``lines``: how many moves to compare.
    ``depth``: the last depth to search; it also turns a game's exact solver off. ``threads``: how many threads search;
    with more than one, the same analysis may give other results.

    Raises ValueError if the game is over, has no evaluator, or an argument is out of range.

    >>> import ludodrome
    >>> game = ludodrome.make("skysummit")
    >>> for analysis in analyse(game, game.initial_state(), lines=2, depth=1):
    ...     print(analysis.depth, len(analysis.lines))
    1 2
    """
    budget = check_time(time)
    lines = checked_count(lines, "the number of lines", 1, MAX_LINES)
    threads = checked_count(threads, "the number of threads", 1, MAX_THREADS)
    deepest = MAX_DEPTH if depth is None else checked_count(depth, "the depth", 1, MAX_DEPTH)
    states = game.encode_array(state)
    game.check_running(states)
    if game.evaluator is None:
        raise ValueError(f"{game.id} is not analysed move by move: {game.why_not_searchable}")
    exact = extra(game.analysis_module, "exact_analysis")
    if exact is not None and depth is None:
        return _solve_or_search(game, states, budget, lines, exact, threads)
    return _search_lines(game, states, budget, lines, deepest, threads)


def suggested_line(game: Game, state: Any, seconds: float) -> dict[str, Any]:
    """The best line found in a time, in every game: by search, else the game's own hint, else by playouts.

    The keys are the fields of ``Line``; ``score`` is None where it is not known.
    """
    own = extra(game.analysis_module, "hint")
    if game.evaluator is not None:
        *_, found = analyse(game, state, seconds, 1)
        return asdict(found.lines[0])
    if own is not None:
        line: dict[str, Any] = own(game, state, seconds)
        return line
    move = game.move(TreeSearch(game).search(game.encode_array(state), time=seconds).best, state)
    text = game.move_label(move, state)
    return {"move": move, "text": text, "score": None, "continuation": [], "proven": False, "distance": None}


def _solve_or_search(
    game: Game, states: Any, time: float | None, count: int, exact: ExactAnalysis, threads: int
) -> Iterator[Analysis]:
    """Games with an exact solver: an estimate, then the exact values if they are found soon, otherwise a search."""
    begin = clock.perf_counter()
    yield from _search_lines(game, states, time, count, 1, threads)
    solved = exact(game, states, time, count)
    if solved is not None:
        yield solved
        return
    left = None if time is None else time - (clock.perf_counter() - begin)
    for analysis in _search_lines(game, states, left, count, MAX_DEPTH, threads):
        if analysis.depth > 1:
            yield analysis


def check_time(time: Any) -> float | None:
    """Check a time limit in seconds, None for no limit. Raises ValueError if it is neither."""
    if time is None:
        return None
    if isinstance(time, int | float) and not isinstance(time, bool) and 0 < time < float("inf"):
        return float(time)
    raise ValueError(f"time is a positive number of seconds, or None for no limit, not {show(time)}")


def _search_lines(
    game: Game, states: Any, time: float | None, count: int, deepest: int, threads: int
) -> Iterator[Analysis]:
    searcher = Searcher(game, threads=threads, weights=network_weights(game))
    searcher.warm_up()
    begin = clock.perf_counter()
    buffer = game.buffer()
    count = min(count, int(game.kernels.legal(states, buffer)))
    nodes = 0
    for depth in range(1, deepest + 1):
        results: list[SearchResult] = []
        while len(results) < count:
            left = None if time is None or depth == 1 else time - (clock.perf_counter() - begin)
            if left is not None and left <= 0:
                return
            avoid = [result.action for result in results]
            *_, result = searcher.search(states, depth, None, left, avoid, first=depth)
            nodes += result.nodes
            if result.depth < depth:  # there was no time for this depth
                return
            results.append(result)
        results.sort(key=lambda result: -result.score)
        lines = [_line(game, states, result) for result in results]
        yield Analysis(lines, depth, nodes, clock.perf_counter() - begin)
        if all(line.proven for line in lines):
            return


def _line(game: Game, states: Any, result: SearchResult) -> Line:
    """A search result as a line."""
    texts = notations(game, states, result.line)
    move = game.codec.format_moves([result.action], states[0])[0]
    score = result.score / HUNDREDTHS + lead(game, states)
    return Line(move, texts[0], score, texts[1:], result.proven, result.distance)


def notations(game: Game, states: Any, actions: tuple[int, ...]) -> list[str]:
    """A sequence of actions in notation."""
    follow = states.copy()
    texts = []
    for action in actions:
        texts.append(game.codec.format_notation(action, follow[0]))
        game.kernels.play(follow, action)
    return texts


def lead(game: Game, states: Any) -> int:
    """The points of the seat to move minus those of all others; 0 in games without points."""
    if game.evaluator is None or not game.evaluator.by_points:
        return 0
    scores = game.scores_of(None, states)
    own = scores[int(game.kernels.mover(states))]
    return int(2 * own - sum(scores))
