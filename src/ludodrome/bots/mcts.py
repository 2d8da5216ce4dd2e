"""``mcts``: Monte Carlo tree search (``search/mcts_search.py``)."""

from typing import Any

from ludodrome.bots.player import ActionBot, Bot, Budget, Stopwatch, resolve_budget
from ludodrome.game import Game
from ludodrome.search.mcts_search import TreeSearch, TreeSearchResult

DEFAULT_BUDGET = Budget(sims=5000)
"""Counted in playouts, so that moves are the same on every machine."""

PORTION = 100
"""Playouts between two looks at the clock, if both playouts and time are limited."""


class MctsBot(ActionBot):
    """Plays the move with the best playouts. Every seat is assumed to maximise its own result."""

    def __init__(
        self,
        game: Game,
        name: str,
        seed: int = 0,
        *,
        own: Budget = DEFAULT_BUDGET,
        default: Budget = DEFAULT_BUDGET,
        threads: int = 1,
    ) -> None:
        super().__init__(game, name, seed)
        self.own, self.default = own, default
        self.threads = threads
        self.tree = TreeSearch(game, self.seed, threads)

    def start(self, hello: dict[str, Any]) -> None:
        """Start a game with an empty tree."""
        super().start(hello)
        self.tree = TreeSearch(self.game, self.seed, self.threads)

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """The best action found."""
        limits = resolve_budget(self.own, budget, self.default).for_sims
        if limits.empty:
            limits = self.default.for_sims
        if limits.sims is None:
            return self.tree.search(states, time=clock.left(limits.time)).best
        if limits.time is None:
            return self.tree.search(states, sims=limits.sims).best
        return self._within_both(states, limits.sims, limits.time, clock).best

    def _within_both(self, states: Any, sims: int, time: float, clock: Stopwatch) -> TreeSearchResult:
        """Search in portions until the playouts or the time are used up, or the result is proven."""
        while True:
            found = self.tree.search(states, sims=min(sims, PORTION))
            sims -= PORTION
            if sims <= 0 or found.proven or clock.left(time) == 0:
                return found


def make_mcts(
    game: Game, name: str, seed: int, sims: int | None = None, time: float | None = None, threads: int = 1
) -> Bot:
    """Monte Carlo tree search."""
    return MctsBot(game, name, seed, own=Budget(time, None, sims), threads=threads)
