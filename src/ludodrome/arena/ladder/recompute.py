"""All ratings of the league, made anew from its games: they come to what was stored, to the last digit."""

from dataclasses import dataclass, field

from sqlalchemy import Engine

from ludodrome.arena.ladder.beliefs import count_game
from ludodrome.store.league_counting import ladders, recount


@dataclass(frozen=True, slots=True)
class Report:
    """What a recomputation found."""

    bots: int
    """How many have a rating."""
    games: int
    """How many rated games there are."""
    changed: list[str] = field(default_factory=list)
    """The ids of the bots whose ratings were not what they should have been."""

    def __str__(self) -> str:
        what = f"{self.games:,} rated games, {self.bots:,} bots"
        return f"{what}: all ratings were right" if not self.changed else f"{what}: {len(self.changed)} were put right"


def recompute(engine: Engine) -> Report:
    """Makes all ratings anew, and says what was not right before."""
    bots = games = 0
    changed: list[str] = []
    for game in ladders(engine):
        before, after = recount(engine, game, count_game)
        bots += len(after)
        games += sum(score.games for score in after.values()) // 2
        changed += [bot for bot in sorted({*before, *after}) if before.get(bot) != after.get(bot)]
    return Report(bots, games, changed)
