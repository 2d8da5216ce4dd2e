"""``mcts``: players that search by playouts, with ``search/mcts_search.py``."""

from typing import Any

from ludodrome.bots.player import ActionBot, Bot, Budget, Stopwatch, resolve_budget
from ludodrome.game import Game
from ludodrome.search.mcts_search import TreeSearch, TreeSearchResult

USUAL = Budget(sims=5000)
"""What a move may cost if nobody says otherwise: the same on every machine."""

PORTION = 100
"""Playouts between two looks at the clock, where playouts and time are limited both."""


class MctsBot(ActionBot):
    """Plays what has done best in playouts. Each seat is taken to want the most for itself."""

    def __init__(
        self,
        game: Game,
        name: str,
        seed: int = 0,
        *,
        own: Budget = USUAL,
        usual: Budget = USUAL,
        threads: int = 1,
    ) -> None:
        super().__init__(game, name, seed)
        self.own, self.usual = own, usual
        self.threads = threads
        self.tree = TreeSearch(game, self.seed, threads)

    def start(self, hello: dict[str, Any]) -> None:
        """A new game: nothing is remembered."""
        super().start(hello)
        self.tree = TreeSearch(self.game, self.seed, self.threads)

    def action(self, states: Any, budget: Budget, clock: Stopwatch) -> int:
        """The best action found."""
        limits = resolve_budget(self.own, budget, self.usual).for_sims
        if limits.empty:
            limits = self.usual.for_sims
        if limits.sims is None:
            return self.tree.search(states, time=clock.left(limits.time)).best
        if limits.time is None:
            return self.tree.search(states, sims=limits.sims).best
        return self._within_both(states, limits.sims, limits.time, clock).best

    def _within_both(self, states: Any, sims: int, time: float, clock: Stopwatch) -> TreeSearchResult:
        """Portion after portion, until the playouts or the time are spent, or the end is certain."""
        while True:
            found = self.tree.search(states, sims=min(sims, PORTION))
            sims -= PORTION
            if sims <= 0 or found.proven or clock.left(time) == 0:
                return found


def make_mcts(
    game: Game, name: str, seed: int, sims: int | None = None, time: float | None = None, threads: int = 1
) -> Bot:
    """A player that searches by playouts."""
    return MctsBot(game, name, seed, own=Budget(time, None, sims), threads=threads)
