"""``alphabeta``: alpha-beta search (``search/iterative.py``), also with deliberate errors of judgement."""

from collections.abc import Iterable
from typing import Any

from ludodrome.bots.baselines import OnePlyEvaluator
from ludodrome.bots.networks import NONE, network_weights
from ludodrome.bots.player import (
    ActionBot,
    Bot,
    Budget,
    Stopwatch,
    legal_actions,
    position_rng,
    resolve_budget,
)
from ludodrome.game import Game
from ludodrome.jit import as_words
from ludodrome.search.frames import DECIDED
from ludodrome.search.iterative import Searcher, SearchResult
from ludodrome.search.maxn import MaxN
from ludodrome.splitmix import SplitMix64

DEFAULT_BUDGET = Budget(nodes=200_000)
"""Counted in nodes, so that moves are the same on every machine."""
MAX_PV = 8
"""Moves of a line in telemetry."""

PREDICTED = 3
"""A seat is predictable after this many predicted moves in a row."""
SELECTED = 10
"""Own moves that are searched where all others are predictable."""

NOISY_CANDIDATES = 6
"""How many of the best moves a bot with noise compares."""


class AlphaBetaBot(ActionBot):
    """Searches as deep as its budget allows. ``own``: the spec's budget; ``default``: if nothing is limited.

    ``network``: what judges positions, see ``bots/networks.py``.
    """

    def __init__(
        self,
        game: Game,
        name: str,
        seed: int = 0,
        *,
        own: Budget = DEFAULT_BUDGET,
        default: Budget = DEFAULT_BUDGET,
        noise: int = 0,
        threads: int = 1,
        network: str = NONE,
    ) -> None:
        super().__init__(game, name, seed)
        self.own, self.default = own, default
        self.noise = noise
        self.searcher = Searcher(game, threads=threads, weights=network_weights(game, network))
        self.visited = VisitedPositions(game)

    def warm_up(self) -> None:
        """Compile or load what only some searches need."""
        self.searcher.warm_up()

    def start(self, hello: dict[str, Any]) -> None:
        """Start a game with an empty memory."""
        super().start(hello)
        self.searcher.clear()
        self.visited = VisitedPositions(self.game)

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """The best action found."""
        limits = resolve_budget(self.own, budget.for_nodes, self.default)
        if self.noise:
            return self._noisy_best(states, limits, clock)
        result = self._avoiding_repetition(states, limits, clock)
        self.telemetry = search_telemetry(self.game, states, result)
        self.visited.add(states, result.action)
        return result.action

    def _avoiding_repetition(self, states: Any, limits: Budget, clock: Stopwatch) -> SearchResult:
        """The best action that leads to no visited position, if it keeps an advantage; else the best of all."""
        repeating = self.visited.repeating(states)
        if not repeating:
            return self.find(states, limits, clock)
        onward = self.find(states, _half(limits), clock, repeating)
        return onward if onward.score > 0 else self.find(states, limits, clock)

    def find(self, states: Any, limits: Budget, clock: Stopwatch, avoid: tuple[int, ...] = ()) -> SearchResult:
        """The last result of a search; ``avoid`` must leave at least one legal action."""
        time = clock.left(limits.time)
        *_, result = self.searcher.search(states, limits.depth, limits.nodes, time, avoid)
        return result

    def _noisy_best(self, states: Any, limits: Budget, clock: Stopwatch) -> int:
        """The best of a few good actions after noise is added to each score."""
        share = Budget(
            None if limits.time is None else (clock.left(limits.time) or 0) / NOISY_CANDIDATES,
            None if limits.nodes is None else max(1, limits.nodes // NOISY_CANDIDATES),
            None,
            limits.depth,
        )
        count = self.game.kernels.legal(states, self.game.buffer())
        rng = position_rng(states, self.seed)
        results: list[SearchResult] = []
        while len(results) < min(NOISY_CANDIDATES, count):
            result = self.find(states, share, Stopwatch(), tuple(one.action for one in results))
            results.append(result)
            if abs(result.score) > DECIDED:
                break  # a win needs no alternatives, and after a loss every other move loses too
        return max(results, key=lambda one: one.score + noise_on(one.score, self.noise, rng)).action


class MaxNBot(ActionBot):
    """For three seats: max-n search, in which every seat maximises its own value.

    Against a seat that plays as predicted (``PredictedSeats``) it searches one reply, and so looks further ahead.
    """

    def __init__(self, game: Game, name: str, seed: int, *, own: Budget, default: Budget) -> None:
        super().__init__(game, name, seed)
        self.own, self.default = own, default
        self.searcher = MaxN(game)
        self.predicted = PredictedSeats(game)

    def start(self, hello: dict[str, Any]) -> None:
        """Start a game with unknown opponents."""
        super().start(hello)
        self.predicted = PredictedSeats(self.game)

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """The best action found."""
        limits = resolve_budget(self.own, budget.for_nodes, self.default)
        self.predicted.observe(states)
        widths = self._widths(int(self.game.kernels.mover(states)))
        *_, result = self.searcher.search(states, limits.depth, limits.nodes, clock.left(limits.time), widths)
        self.predicted.remember(states, result.action)
        return result.action

    def _widths(self, own: int) -> list[int]:
        """How many moves of each seat are searched; the own ones are selected only if that makes the search deeper."""
        others = [seat for seat in range(self.game.seats) if seat != own]
        widths = [self.game.max_legal] * self.game.seats
        for seat in others:
            if self.predicted.is_predictable(seat):
                widths[seat] = 1
        if all(widths[seat] == 1 for seat in others):
            widths[own] = SELECTED
        return widths


class PredictedSeats:
    """Which opponents play the best move at one ply, judged by the turns since the bot's own last move.

    A bot sees positions, not moves: if the predicted moves lead from the position after its own move to the one it sees
    now, they were played.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._one_ply = OnePlyEvaluator(game)
        self._before: Any = None
        """The position after the bot's own last move."""
        self._in_a_row = [0] * game.seats
        """How many of its last moves were predicted, by seat."""

    def __getstate__(self) -> dict[str, Any]:
        """The position as words: positions are compared byte by byte, and a copy of records leaves gaps undefined."""
        return {**vars(self), "_before": None if self._before is None else as_words(self._before)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self._before is not None:
            self._before = self._game.new_states(1)
            as_words(self._before)[:] = state["_before"]

    def is_predictable(self, seat: int) -> bool:
        """Whether the last moves of a seat were all predicted."""
        return self._in_a_row[seat] >= PREDICTED

    def remember(self, states: Any, action: int) -> None:
        """Remember the position after the bot's own move."""
        self._before = self._played(states, action)

    def observe(self, states: Any) -> None:
        """Compare what was played since with what was predicted."""
        if self._before is None:
            return
        reached, own = [self._before], int(self._game.kernels.mover(states))
        self._before = None
        for _ in range(self._game.seats - 1):
            seat = int(self._game.kernels.mover(reached[0]))
            if seat in (-1, own):
                return
            predicted = self._running(after for before in reached for after in self._predictions(before))
            if not self._leads_to(predicted, states, own):
                self._in_a_row[seat] = 0
                return
            self._in_a_row[seat] += 1
            reached = predicted

    def _predictions(self, before: Any) -> list[Any]:
        """The positions after the best moves at one ply."""
        actions = legal_actions(self._game, before)
        values = self._one_ply.values(before, actions)
        best = max(values)
        return [self._played(before, action) for action, value in zip(actions, values, strict=True) if value == best]

    def _leads_to(self, found: list[Any], states: Any, own: int) -> bool:
        """Whether the position seen follows from one of these by the moves of the remaining opponents."""
        if not found or int(self._game.kernels.mover(found[0])) == own:
            return any(one.tobytes() == states.tobytes() for one in found)
        following = (self._played(one, action) for one in found for action in legal_actions(self._game, one))
        return self._leads_to(self._running(following), states, own)

    def _running(self, found: Iterable[Any]) -> list[Any]:
        """Those of some positions in which the game goes on."""
        return [one for one in found if int(self._game.kernels.mover(one)) >= 0]

    def _played(self, before: Any, action: int) -> Any:
        after = self._game.new_states(1)
        as_words(after)[:] = as_words(before)  # word by word: a copy of records leaves gaps between fields undefined
        self._game.kernels.play(after, action)
        return after


class VisitedPositions:
    """The positions that a bot has moved to in this game, regardless of the ply.

    A search sees no harm in moving back and forth, and a won game would be drawn at the turn limit.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._after = OnePlyEvaluator(game)
        self._seen: set[bytes] = set()

    def repeating(self, states: Any) -> tuple[int, ...]:
        """The legal actions that lead to a visited position; empty if all of them do."""
        if not self._seen:
            return ()
        actions = legal_actions(self._game, states)
        repeating = tuple(action for action in actions if self._key_after(states, action) in self._seen)
        return repeating if len(repeating) < len(actions) else ()

    def add(self, states: Any, action: int) -> None:
        """Remember the position after an action."""
        self._seen.add(self._key_after(states, action))

    def _key_after(self, states: Any, action: int) -> bytes:
        after = self._after.after(as_words(states), action)
        if "ply" in (self._game.dtype.names or ()):
            after["ply"] = 0
        return bytes(after.tobytes())


def search_telemetry(game: Game, states: Any, result: SearchResult) -> dict[str, Any]:
    """A search result as telemetry. The score is in hundredths; in games of points it includes the present lead."""
    score = result.score
    if game.evaluator is not None and game.evaluator.by_points:
        points = game.scores_of(None, states)
        score += int(100 * (2 * points[int(game.kernels.mover(states))] - sum(points)))
    follow, moves = states.copy(), []
    for action in result.line[:MAX_PV]:
        moves += game.codec.format_moves([action], follow[0])
        game.kernels.play(follow, action)
    return {"score": score, "depth": result.depth, "nodes": result.nodes, "pv": moves}


def _half(limits: Budget) -> Budget:
    """Half of the time and nodes."""
    time = None if limits.time is None else limits.time / 2
    return Budget(time, None if limits.nodes is None else limits.nodes // 2 + 1, limits.sims, limits.depth)


def noise_on(score: int, noise: int, rng: SplitMix64) -> float:
    """A random error with the standard deviation ``noise``; 0 for the score of a decided game."""
    error = noise * (sum(rng.fraction() for _ in range(3)) - 1.5) * 2  # roughly normal
    return 0 if abs(score) > DECIDED else error


def make_alphabeta(
    game: Game,
    name: str,
    seed: int,
    depth: int | None = None,
    nodes: int | None = None,
    time: float | None = None,
    noise: int = 0,
    threads: int = 1,
    network: str = NONE,
) -> Bot:
    """Alpha-beta search; with three seats it treats the two others as one side (paranoid)."""
    own = Budget(time, nodes, None, depth)
    return AlphaBetaBot(game, name, seed, own=own, noise=noise, threads=threads, network=network)
