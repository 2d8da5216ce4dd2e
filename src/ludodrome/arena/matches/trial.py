"""A match that ends as soon as a sequential test has its verdict. The test itself is in ``sprt.py``."""

from collections.abc import Callable

from ludodrome.arena.matches.fixtures import Fixture
from ludodrome.arena.matches.match import Match, Playing
from ludodrome.arena.matches.tallies import Played
from ludodrome.arena.statistics.sprt import Sprt, State


class Trial(Playing):
    """The first bot of a match is tested against the second; pairs count in the order of the schedule.

    The tally holds the games that were counted up to the verdict, so that a run can be repeated: what came in too
    early or too late is in neither. A pair in which the arena failed is left out.
    """

    def __init__(
        self, match: Match, sprt: Sprt, told: Callable[[Fixture, Played], None] = lambda fixture, game: None
    ) -> None:
        super().__init__(match, told)
        self.sprt = sprt
        self.counted = 0
        """Pairs that the test has seen."""
        self._next = 0
        self._arrived: dict[int, dict[int, tuple[Fixture, Played]]] = {}

    @property
    def state(self) -> State:
        """How far the test has come."""
        return self.sprt.state

    def next(self) -> Fixture | None:
        """The next game, while there is no verdict."""
        return None if self.enough else super().next()

    def take(self, fixture: Fixture, game: Played) -> None:
        """Keeps a game until its turn has come."""
        self._arrived.setdefault(fixture.opening, {})[fixture.number] = fixture, game
        while not self.enough and len(self._arrived.get(self._next, ())) == 2:
            self._count([pair for _, pair in sorted(self._arrived.pop(self._next).items())])
            self._next += 1

    def _count(self, pair: list[tuple[Fixture, Played]]) -> None:
        for fixture, game in pair:
            super().take(fixture, game)
        if all(game.rated for _, game in pair):
            new = self.match.names[0]
            first, second = (game.points[game.names.index(new)] for _, game in pair)
            self.sprt.add(self.counted, first, second)
            self.counted += 1
            self.enough = self.state.verdict is not None
