"""The league as pages and programs see it: bots, standings, matches and events as plain values."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine

from ludodrome.arena.ladder import events
from ludodrome.arena.ladder.beliefs import shown
from ludodrome.arena.matches.tallies import Played
from ludodrome.arena.tournaments.plans import Plan
from ludodrome.arena.tournaments.report import crosstable, standings
from ludodrome.store import league, league_matches
from ludodrome.store.league import Entry, Standing
from ludodrome.store.league_matches import Seen
from ludodrome.store.league_models import EventRow
from ludodrome.web.positions import Json

TREND = 30
"""Games that a sparkline shows."""
LINES = 50
"""Bots on one page of the leaderboard."""
RECENT = 20
MOST_POINTS = 400
"""Points of a history that a page is given; more would not be seen."""


def bot(entry: Entry) -> Json:
    """A bot."""
    return {
        "id": entry.id,
        "game": entry.game,
        "name": entry.name,
        "kind": entry.kind,
        "owner": entry.owner_name,
        "created": entry.created,
        "retired": entry.retired is not None,
        "here": entry.here,
    }


def rated(standing: Standing) -> Json:
    """A bot with what is believed of it; the rating is null before its first rated game."""
    rating = None if standing.mu is None else shown(standing.mu, standing.sigma)._asdict()
    counts = {name: getattr(standing, name) for name in ("games", "wins", "draws", "losses", "verdicts")}
    return {**bot(standing.entry), "rating": rating, **counts}


def leaderboard(engine: Engine, game: str, most: int = LINES, skip: int = 0) -> list[Json]:
    """The bots of a game, the best first, each with its place and its trend; those without games have no place."""
    found = league.standings(engine, game, most, skip)
    trends = league.trends(engine, [one.entry.id for one in found if one.games], TREND)
    lines = []
    for place, standing in enumerate(found, skip + 1):
        trend = [round(shown(mu, None).rating) for mu in trends.get(standing.entry.id, [])]
        lines.append({"place": place if standing.games else None, **rated(standing), "trend": trend})
    return lines


def one_bot(engine: Engine, standing: Standing) -> Json:
    """A bot with its history, its head-to-heads and its recent games."""
    bot_id = standing.entry.id
    history = league.history(engine, bot_id)
    thin = history[:: -(-len(history) // MOST_POINTS) or 1]
    if history and thin[-1] != history[-1]:
        thin.append(history[-1])
    rivals = league.head_to_heads(engine, bot_id)
    return {
        **rated(standing),
        "played": league.played_count(engine, bot_id),
        "versions": [
            {"number": one.number, "size": one.size, "created": one.created} for one in league.versions(engine, bot_id)
        ],
        "history": [[place, *(round(value) for value in shown(mu, sigma))] for place, mu, sigma in thin],
        "rivals": [one._asdict() for one in rivals],
        "recent": [match(one) for one in league_matches.recent(engine, bot=bot_id, most=RECENT)],
    }


def match(seen: Seen) -> Json:
    """A match; ``result`` is null while it is not over."""
    result = None
    if seen.counted is not None:
        counted = Played.from_json(seen.counted)
        result = {
            "returns": counted.returns,
            "points": counted.points,
            "reason": counted.reason,
            "decided_by": counted.decided_by,
            "verdicts": [{"seat": seat, "cause": cause} for seat, cause in counted.verdicts],
            "length": counted.length,
        }
    return {
        "id": seen.id,
        "game": seen.game,
        "why": seen.why,
        "event": seen.event,
        "status": seen.status,
        "names": seen.names,
        "bots": seen.bots,
        "queued": seen.queued,
        "begun": seen.begun,
        "ended": seen.ended,
        "result": result,
    }


def event(one: EventRow, played: int | None = None) -> Json:
    """A challenge or a tournament, in a few words."""
    plan = Plan.from_json(one.plan)
    return {
        "id": one.id,
        "game": one.game,
        "why": one.why,
        "name": one.name,
        "format": plan.format,
        "clock": str(plan.disciplines[0].conditions.clock),
        "bots": [{"name": name, "id": one.bots[name]} for name in plan.names],
        "games": one.games,
        "played": played,
        "status": one.status,
        "trouble": one.trouble,
        "created": one.created,
    }


def whole_event(engine: Engine, one: EventRow) -> Json:
    """A challenge or a tournament with its table and crosstable; cells are points and games against each rival."""
    tournament = events.standing_of(engine, one)
    cells, table = crosstable(tournament), standings(tournament)
    lines = []
    for line in table:
        against: list[Any] = []
        for rival in (other.name for other in table):
            cell = cells.get((line.name, rival))
            against.append(None if cell is None else {"points": cell.points, "games": cell.games})
        lines.append({**line.to_json(), "id": one.bots[line.name], "against": against})
    return {**event(one, tournament.played), "standings": lines}


def event_list(engine: Engine, found: Sequence[EventRow]) -> list[Json]:
    """Events with how far they are."""
    return [event(one, league_matches.played_of(engine, one.id)) for one in found]


def word(engine: Engine) -> str:
    """What the runners do, for people who wait; empty if all is well and something is played."""
    alive = league_matches.runners(engine)
    if not alive:
        return "No runner plays the matches now: the server starts one within a minute, unless it was told not to."
    return ""
