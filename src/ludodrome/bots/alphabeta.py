"""``alphabeta``: players that search with ``search/iterative.py``, and what they misjudge on purpose."""

from typing import Any

from ludodrome.bots.baselines import OnePlyEvaluator
from ludodrome.bots.player import (
    ActionBot,
    Bot,
    Budget,
    SplitMix64,
    Stopwatch,
    legal_actions,
    position_rng,
    resolve_budget,
)
from ludodrome.game import Game
from ludodrome.jit import as_words
from ludodrome.search.alphabeta import DECIDED
from ludodrome.search.iterative import Searcher, SearchResult
from ludodrome.search.maxn import MaxN

USUAL = Budget(nodes=200_000)
"""What a move may cost if nobody says otherwise: the same on every machine."""

LINES = 6
"""Whoever misjudges compares so many moves, the best ones."""


class AlphaBetaBot(ActionBot):
    """Looks ahead as far as its budget reaches."""

    def __init__(
        self, game: Game, name: str, seed: int = 0, *, own: Budget = USUAL, usual: Budget = USUAL, noise: int = 0
    ) -> None:
        super().__init__(game, name, seed)
        self.own, self.usual = own, usual
        self.noise = noise
        self.thinker = Searcher(game)
        self.thinker.warm_up()
        self.trodden = VisitedPositions(game)

    def start(self, hello: dict[str, Any]) -> None:
        """A new game: nothing is remembered."""
        super().start(hello)
        self.thinker.forget()
        self.trodden = VisitedPositions(self.game)

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """The best action found."""
        limits = resolve_budget(self.own, budget.for_nodes, self.usual)
        if self.noise:
            return self._misjudged(states, limits, clock)
        action = self._forward(states, limits, clock).action
        self.trodden.note(states, action)
        return action

    def _forward(self, states: Any, limits: Budget, clock: Stopwatch) -> SearchResult:
        """The best action found. Whoever is ahead does not go back to where it has been, if it stays ahead so."""
        back = self.trodden.back(states)
        if not back:
            return self.find(states, limits, clock)
        onward = self.find(states, _half(limits), clock, back)
        return onward if onward.score > 0 else self.find(states, limits, clock)

    def find(self, states: Any, limits: Budget, clock: Stopwatch, avoid: tuple[int, ...] = ()) -> SearchResult:
        """The last word of a search; one action at least must not be avoided."""
        time = clock.left(limits.time)
        *_, finding = self.thinker.search(states, limits.depth, limits.nodes, time, avoid)
        return finding

    def _misjudged(self, states: Any, limits: Budget, clock: Stopwatch) -> int:
        """The best of a few good actions, each taken for better or worse than it is."""
        share = Budget(
            None if limits.time is None else (clock.left(limits.time) or 0) / LINES,
            None if limits.nodes is None else max(1, limits.nodes // LINES),
            None,
            limits.depth,
        )
        count = self.game.kernels.legal(states, self.game.buffer())
        dice = position_rng(states, self.seed)
        lines: list[SearchResult] = []
        while len(lines) < min(LINES, count):
            finding = self.find(states, share, Stopwatch(), tuple(line.action for line in lines))
            lines.append(finding)
            if abs(finding.score) > DECIDED:
                break  # a win is a win, and what comes after a loss is lost too
        return max(lines, key=lambda line: line.score + blur(line.score, self.noise, dice)).action


class MaxNBot(ActionBot):
    """For three seats: takes every seat to want the most for itself."""

    def __init__(self, game: Game, name: str, seed: int, *, own: Budget, usual: Budget) -> None:
        super().__init__(game, name, seed)
        self.own, self.usual = own, usual
        self.searcher = MaxN(game)

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """The best action found."""
        limits = resolve_budget(self.own, budget.for_nodes, self.usual)
        *_, finding = self.searcher.search(states, limits.depth, limits.nodes, clock.left(limits.time))
        return finding.action


class VisitedPositions:
    """The positions that a player has moved to in this game, whatever turn it was.

    A search sees no harm in moving to and fro, and a game that is all but won would be drawn at the turn limit.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._after = OnePlyEvaluator(game)
        self._seen: set[bytes] = set()

    def back(self, states: Any) -> tuple[int, ...]:
        """The actions that lead to such a position; none if all do."""
        if not self._seen:
            return ()
        actions = legal_actions(self._game, states)
        back = tuple(action for action in actions if self._place(states, action) in self._seen)
        return back if len(back) < len(actions) else ()

    def note(self, states: Any, action: int) -> None:
        """Such an action was made."""
        self._seen.add(self._place(states, action))

    def _place(self, states: Any, action: int) -> bytes:
        after = self._after.after(as_words(states), action)
        if "ply" in (self._game.dtype.names or ()):
            after["ply"] = 0
        return bytes(after.tobytes())


def _half(limits: Budget) -> Budget:
    """Half of the time and of the nodes."""
    time = None if limits.time is None else limits.time / 2
    return Budget(time, None if limits.nodes is None else limits.nodes // 2 + 1, limits.sims, limits.depth)


def blur(score: int, noise: int, dice: SplitMix64) -> float:
    """An error of judgement, about as large as ``noise``; decided games are seen as they are."""
    error = noise * (sum(dice.fraction() for _ in range(3)) - 1.5) * 2  # a bell of that standard deviation
    return 0 if abs(score) > DECIDED else error


def make_alphabeta(
    game: Game,
    name: str,
    seed: int,
    depth: int | None = None,
    nodes: int | None = None,
    time: float | None = None,
    noise: int = 0,
) -> Bot:
    """A player that searches by alpha-beta; where three play, it takes the others for one side."""
    own = Budget(time, nodes, None, depth)
    return AlphaBetaBot(game, name, seed, own=own, noise=noise)
