"""Adjudication: end a game early because its result is clear. A condition of a match, off by default.

Every rule (``conditions.Adjudication``) can be applied again to a record and gives the same answer on every machine:

- ``agree`` looks at the bots' own scores, as the record keeps them;
- ``margin`` at the points of the game;
- ``engine`` at a search of ENGINE_NODES positions;
- ``solver`` at a proof that depends on nothing but the position.
"""

from collections.abc import Callable
from typing import Any

from ludodrome.analysis.lines import HUNDREDTHS, lead
from ludodrome.analysis.solving import proven_value
from ludodrome.arena.conditions import AGREE, ENGINE, SOLVER, Adjudication, AdjudicationRule
from ludodrome.arena.telemetry import score_of
from ludodrome.game import Game, Outcome, returns_of
from ludodrome.search.iterative import Searcher

ENGINE_NODES = 5_000
ENGINE_TABLE_BITS = 16
NO_SEAT = -1


class Adjudicator:
    """Applies the rules to one game. ``add`` each turn, then ``judge``."""

    def __init__(self, adjudication: Adjudication, game: Game) -> None:
        adjudication.check_fits(game)
        self._rules, self._game = adjudication.rules, game
        self._entries: list[dict[str, Any]] = []
        self._positions: list[Any] = []
        """The compiled position after each turn."""
        self._searched: dict[int, int] = {}
        """The engine's score for seat 0 after a turn."""
        self._searcher: Searcher | None = None

    def add(self, entry: dict[str, Any], states: Any) -> None:
        """Take a turn of the record, with a move, and the position after it."""
        self._entries.append(entry)
        self._positions.append(states.copy())

    def judge(self) -> Outcome | None:
        """The outcome if a rule decides the game after the last turn; None: play on. The game must be running."""
        for rule in self._rules:
            if not self._entries:
                break
            if rule.kind == SOLVER:
                if (value := proven_value(self._game, self._positions[-1], rule.nodes)) is not None:
                    return self._proven(rule, value)
            elif (winner := self._winner(rule)) != NO_SEAT:
                return self._outcome(rule, winner)
        return None

    def _winner(self, rule: AdjudicationRule) -> int:
        if rule.kind == AGREE:
            return self._agreed(rule)
        if rule.kind == ENGINE:
            return self._constant(rule, self._ahead_by_search)
        return self._constant(rule, self._ahead_by_points) if rule.limit else self._uncatchable()

    # Rules

    def _agreed(self, rule: AdjudicationRule) -> int:
        """The seat that both bots believe to win."""
        believed = []
        for seat in range(2):
            turns = [entry for entry in self._entries if entry["seat"] == seat][-rule.moves :]
            scores = [None if "verdict" in entry else score_of(entry) for entry in turns]
            if len(scores) < rule.moves or None in scores:
                return NO_SEAT
            if all(score >= rule.limit for score in scores if score is not None):
                believed.append(seat)
            elif all(score <= -rule.limit for score in scores if score is not None):
                believed.append(1 - seat)
            else:
                return NO_SEAT
        return believed[0] if believed[0] == believed[1] else NO_SEAT

    def _constant(self, rule: AdjudicationRule, ahead: Callable[[int], tuple[int, float]]) -> int:
        """The seat that was ahead after each of the last turns."""
        first = len(self._positions) - rule.moves
        if first < 0:
            return NO_SEAT
        winner = NO_SEAT
        for at in range(len(self._positions) - 1, first - 1, -1):
            leader, by = ahead(at)
            if by < rule.limit or winner not in (NO_SEAT, leader):
                return NO_SEAT
            winner = leader
        return winner

    def _ahead_by_points(self, at: int) -> tuple[int, float]:
        """The seat with the most points after a turn, and its lead."""
        points = self._game.scores_of(None, self._positions[at])
        leader = max(range(len(points)), key=lambda seat: points[seat])
        return leader, points[leader] - max(points[:leader] + points[leader + 1 :])

    def _uncatchable(self) -> int:
        leader, by = self._ahead_by_points(len(self._positions) - 1)
        left = self._game.points_left(self._positions[-1])
        return leader if left is not None and by > left else NO_SEAT

    def _ahead_by_search(self, at: int) -> tuple[int, float]:
        """The seat that the built-in search prefers after a turn, and by how much."""
        if at not in self._searched:
            self._searched[at] = self._search(self._positions[at])
        score = self._searched[at]
        return int(score < 0), abs(score)

    def _search(self, states: Any) -> int:
        """The score for seat 0 in hundredths. It depends on the position alone, so it can be found again."""
        if self._searcher is None:
            self._searcher = Searcher(self._game, ENGINE_TABLE_BITS)
        self._searcher.clear()
        *_, found = self._searcher.search(states, nodes=ENGINE_NODES)
        score = found.score + HUNDREDTHS * lead(self._game, states)
        return -score if int(self._game.kernels.mover(states)) else score

    # Outcomes

    def _proven(self, rule: AdjudicationRule, value: int) -> Outcome:
        mover = int(self._game.kernels.mover(self._positions[-1]))
        return self._outcome(rule, None if value == 0 else mover if value > 0 else 1 - mover)

    def _outcome(self, rule: AdjudicationRule, winner: int | None) -> Outcome:
        seats = self._game.seats
        scores = [0.5 if winner is None else int(seat == winner) for seat in range(seats)]
        return Outcome(winner, scores, returns_of(winner, seats), f"adjudicated by {rule}")
