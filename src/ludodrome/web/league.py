"""The league: bots, standings, matches and events as plain values for pages and programs; spectators of matches."""

import asyncio
import json
import logging
import secrets
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, NamedTuple

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import Engine

from ludodrome.arena.clocks import Clock
from ludodrome.arena.ladder import CLOCK, events
from ludodrome.arena.ladder.prior_ratings import crosstable as measured_crosstable
from ludodrome.arena.ladder.prior_ratings import ladder_game, prior_ratings
from ludodrome.arena.ladder.rating_updates import MIDDLE, displayed_rating, failed_seats
from ludodrome.arena.ladder.show_matches import ShowMatches
from ludodrome.arena.matches.tallies import GameResult
from ludodrome.arena.records import private_parts, public, withheld
from ludodrome.arena.tournaments.plans import TournamentPlan
from ludodrome.arena.tournaments.report import crosstable, standings
from ludodrome.arena.tournaments.report_page import steps
from ludodrome.games import BUILT_IN, make
from ludodrome.store import league_bots, league_matches
from ludodrome.store.announcements import SharedCache
from ludodrome.store.league_bots import BotEntry, BotStanding, RatedVersion
from ludodrome.store.league_matches import KeptRecord, MatchInfo, find_match, live, live_views, logs_of
from ludodrome.store.league_models import BUILTIN, EventRow
from ludodrome.web.auth import Caller
from ludodrome.web.concurrency import Notifier
from ludodrome.web.position_view import Json, observation_marks

TREND, PAGE_ROWS = 30, 50
"""Games that a sparkline shows, and bots on one page of the leaderboard."""
RECENT = 20
LAST_LINES = 20
"""Lines of the standard error that are shown with a failure."""
MAX_SENT, MAX_NOTES = 200, 5
"""Characters of what it had sent, and notes, that are shown with a failure."""
MAX_POINTS = 400
"""Points of a history on a page, at most."""


def bot_json(entry: BotEntry) -> Json:
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
        "paused": entry.paused,
    }


def rated_bot(standing: BotStanding) -> Json:
    """A bot with the rating of its current version, which is null before its first rated game.

    ``measured`` is the date on which the rating of a built-in was measured; null for other bots.
    """
    counts = {name: getattr(standing, name) for name in ("games", "wins", "draws", "losses", "failures", "verdicts")}
    return {**bot_json(standing.entry), "rating": _rating(standing), "measured": _measured(standing.entry), **counts}


def _rating(rated: BotStanding | RatedVersion) -> Json | None:
    return None if rated.mu is None else displayed_rating(rated.mu, rated.sigma)._asdict()


def _measured(entry: BotEntry) -> str | None:
    priors = prior_ratings(entry.game)
    return priors.measured if entry.kind == BUILTIN and entry.name in priors.ratings else None


def version_json(one: RatedVersion, current: str) -> Json:
    """A version of a bot with its rating; ``current``: the id of the version that plays."""
    shown = {name: getattr(one, name) for name in ("number", "size", "created", "identity")}
    counts = {name: getattr(one, name) for name in ("games", "wins", "draws", "losses", "failures")}
    return {**shown, "current": one.id == current, "rating": _rating(one), **counts}


def version_list(engine: Engine, entry: BotEntry) -> list[Json]:
    """The versions of a bot, latest first."""
    return [version_json(one, entry.version) for one in league_bots.versions(engine, entry.id)]


def failures(engine: Engine, entry: BotEntry, most: int) -> list[Json]:
    """Why a bot failed in its latest games, newest first; only its owner may read what it said."""
    found = []
    for match in league_matches.recent(engine, bot=entry.id, most=most):
        counted = match.counted or {}
        mine = [seat for seat, bot in enumerate(match.bots) if bot == entry.id and seat in failed_seats(counted)]
        for seat in mine:
            found.append(_failure(engine, match, seat))
    return found


def _failure(engine: Engine, match: MatchInfo, seat: int) -> Json:
    kept = league_matches.record_of(engine, match.id)
    said = logs_of(engine, match.id).get(seat, {})
    verdicts = [] if kept is None else [one for one in kept.record["result"]["verdicts"] if one["seat"] == seat]
    first = verdicts[0] if verdicts else {"cause": "", "why": "", "turn": None}
    own = [turn["verdict"]["why"] for turn in said.get("turns", []) if turn.get("verdict")]
    sent = [turn["refusals"][-1]["sent"] for turn in said.get("turns", []) if turn.get("refusals")]
    stderr = said.get("stderr", "").splitlines()[-LAST_LINES:]
    return {
        "match": match.id,
        "opponents": [name for other, name in enumerate(match.names) if other != seat],
        "ended": match.ended,
        "turn": first["turn"],
        "cause": first["cause"],
        "why": own[0] if own else first["why"],
        "sent": str(sent[0])[:MAX_SENT] if sent else "",
        "notes": said.get("notes", [])[:MAX_NOTES],
        "stderr": "\n".join(stderr),
    }


def leaderboard(engine: Engine, game: str, most: int = PAGE_ROWS, skip: int = 0) -> list[Json]:
    """The bots of a game, the best first, each with its place and its trend; those without a rating have no place.

    ``measured_games`` and ``measured_score`` of a built-in are those of its measured rating, and so is its trend before
    its first rated game: how its rating settled while these games were counted.
    """
    found = league_bots.standings(engine, game, most, skip)
    measured = {one.spec: one for one in measured_crosstable(game)}
    trends = league_bots.trends(engine, [one.entry.id for one in found if one.games], TREND)
    lines = []
    for place, standing in enumerate(found, skip + 1):
        trend = [round(displayed_rating(mu, None).rating) for mu in trends.get(standing.entry.id, [])]
        line = {"place": None if standing.mu is None else place, **rated_bot(standing), "trend": trend}
        prior = measured.get(standing.entry.name) if standing.entry.kind == BUILTIN else None
        line["measured_games"] = 0 if prior is None else prior.rating.games
        line["measured_score"] = None if prior is None else round(prior.points / max(1, prior.rating.games), 4)
        if prior is not None and not standing.games:
            line["trend"] = [round(MIDDLE + elo) for elo in prior.trend]
        lines.append(line)
    return lines


def bot_details(engine: Engine, standing: BotStanding) -> Json:
    """A bot with its history, its head-to-heads and its recent games."""
    bot_id = standing.entry.id
    history = league_bots.history(engine, bot_id)
    thin = history[:: -(-len(history) // MAX_POINTS) or 1]
    if history and thin[-1] != history[-1]:
        thin.append(history[-1])
    rivals = league_bots.head_to_heads(engine, bot_id)
    return {
        **rated_bot(standing),
        "played": league_bots.played_count(engine, bot_id),
        "versions": version_list(engine, standing.entry),
        "history": [[place, *(round(value) for value in displayed_rating(mu, sigma))] for place, mu, sigma in thin],
        "rivals": [one._asdict() for one in rivals],
        "recent": [match_json(one) for one in league_matches.recent(engine, bot=bot_id, most=RECENT)],
    }


def match_json(seen: MatchInfo) -> Json:
    """A match; ``result`` is null while it is not over."""
    result = None
    if seen.counted is not None:
        counted = GameResult.from_json(seen.counted)
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
        "contended": seen.contended,
    }


def published(kept: KeptRecord) -> Json:
    """A record of the league as everybody may read it, without the bots' own words.

    Its seeds are withheld while other games of its event or its ladder pair are not over.
    """
    record = public(kept.record)
    return withheld(record) if kept.sealed else record


def logs_json(engine: Engine, match: MatchInfo, record: Json, who: Caller) -> list[Json]:
    """What the bots of a caller said in a finished game, by seat; administrators read all."""
    kept = logs_of(engine, match.id) or dict(enumerate(private_parts(record)))  # older records have it inside
    nothing = {"stderr": "", "notes": [], "turns": []}
    return [
        {"seat": seat, "name": match.names[seat], **kept.get(seat, nothing)} for seat in own_seats(engine, match, who)
    ]


def own_seats(engine: Engine, match: MatchInfo, who: Caller) -> list[int]:
    """The seats of a match whose bots belong to a caller; all of them to administrators."""
    if who.account is None:
        return []
    found = (league_bots.find_bot(engine, bot) for bot in match.bots)
    return [seat for seat, bot in enumerate(found) if who.admin or (bot is not None and bot.owner == who.account)]


def event_json(one: EventRow, played: int | None = None) -> Json:
    """A challenge or a tournament."""
    plan = TournamentPlan.from_json(one.plan)
    return {
        "id": one.id,
        "game": one.game,
        "why": one.why,
        "name": one.name,
        "format": plan.format,
        "clock": str(plan.settings[0].conditions.clock),
        "bots": [{"name": name, "id": one.bots[name]} for name in plan.names],
        "games": one.games,
        "played": played,
        "status": one.status,
        "trouble": one.trouble,
        "created": one.created,
    }


def event_details(engine: Engine, one: EventRow) -> Json:
    """A challenge or a tournament with its crosstable; cells are points and games against each opponent.

    ``seed`` is null until all its games are over.
    """
    tournament = events.standing_of(engine, one)
    cells, table = crosstable(tournament), standings(tournament)
    tags = {entrant.name: list(entrant.tags) for entrant in tournament.plan.entrants}
    lines = []
    for line in table:
        against: list[Any] = []
        for rival in (other.name for other in table):
            cell = cells.get((line.name, rival))
            against.append(None if cell is None else {"points": cell.points, "games": cell.games})
        lines.append({**line.to_json(), "id": one.bots[line.name], "tags": tags[line.name], "against": against})
    secret = None if league_matches.is_sealed(engine, one.id) else str(tournament.plan.seed)
    return {**event_json(one, tournament.played), "seed": secret, "standings": lines}


def event_list(engine: Engine, found: Sequence[EventRow]) -> list[Json]:
    """Events with their progress."""
    return [event_json(one, league_matches.played_of(engine, one.id)) for one in found]


def ladder_conditions(game_id: str) -> str:
    """A sentence that says with which options and which clock rated games are played."""
    options = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in ladder_game(game_id).options.items())
    clock = Clock.parse(CLOCK)
    time = f"{clock.move_ms // 1000} s a move and {clock.bank_ms // 1000} s in reserve"
    return f"Rated games: {options}; {time}." if options else f"Rated games: {time}."


def runner_notice(engine: Engine) -> str:
    """A notice if no runner plays matches; else empty."""
    alive = league_matches.runners(engine)
    if not alive:
        return "No runner is playing matches. Unless it was started without one, the server starts one within a minute."
    return ""


# Coordinates for SVG plots: ratings on an axis, sparklines.


EDGE = 3.0
"""Margin at both ends of an axis, in per cent."""
WIDE, TALL = 100.0, 24.0
"""The size of a sparkline."""


class RatingAxis(NamedTuple):
    """The range of a plot of ratings."""

    low: float
    high: float

    @staticmethod
    def around(lines: Sequence[Json]) -> "RatingAxis":
        """The axis that fits all ratings with their intervals."""
        ratings = [line["rating"] for line in lines if line["rating"] is not None]
        low = min((one["low"] for one in ratings), default=MIDDLE - 100)
        high = max((one["high"] for one in ratings), default=MIDDLE + 100)
        return RatingAxis(low, high)

    def across(self, value: float) -> str:
        """The position of a rating, in per cent."""
        return f"{EDGE + (100 - 2 * EDGE) * (value - self.low) / max(self.high - self.low, 1e-9):.2f}%"

    @property
    def marks(self) -> list[int]:
        """Round numbers for tick marks."""
        return [round(mark) for mark in steps(self.low, self.high, 3)]


def sparkline(values: Sequence[float]) -> str:
    """The points of a line through some values; empty if there are fewer than two."""
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    wide, tall = WIDE / (len(values) - 1), (TALL - 6) / max(high - low, 1e-9)
    if high == low:
        tall = 0.0
    return " ".join(f"{at * wide:.1f},{TALL - 3 - (value - low) * tall:.1f}" for at, value in enumerate(values))


# Spectators of league matches. One task reads the database for all of them, while there are any: at once when a change
# is announced, and now and then in any case.


POLL_SECONDS = 0.4
LOOK_SECONDS = 0.05
"""Least seconds between two looks."""
KEEP_ALIVE_SECONDS = 15.0
"""An idle stream sends a sign of life this often."""
MAX_WATCHED = 12
"""Matches of one game that a page shows at once."""

_log = logging.getLogger(__name__)


SHOW = "show-"
"""What the id of a game's show match begins with; the game follows."""
ANY = ""
"""The key of spectators who take any game."""


class Spectators:
    """The running matches, as this process knows them; where there is none, a show match."""

    def __init__(self, engine: Engine, shared: SharedCache | None = None) -> None:
        self._engine = engine
        self.shows = ShowMatches(self.hear, shared)
        self._watched_games: Counter[str] = Counter()
        """Open streams by game."""
        self._any_game: str | None = None
        """The game that is shown to those who take any."""
        self._views: dict[str, tuple[str, int, Json]] = {}
        """By match: its game, the version, the view; in the order in which they are shown."""
        self._notifier = Notifier()
        self._tick = 0
        self.watching = 0
        """Open streams."""
        self._polling: asyncio.Task[None] | None = None
        self._announced = Notifier()
        self._announcements = 0
        self.closed = False

    def close(self) -> None:
        """End all streams."""
        self.closed = True
        self.shows.close()
        self._notifier.notify_all()

    def hear(self, subject: str = "") -> None:
        """Look at once: a match has changed. Thread-safe."""
        self._announcements += 1
        self._announced.notify_all()

    async def matches(self, game: str | None = None, match: str | None = None) -> AsyncGenerator[Json | None, None]:
        """Changes in the matches of a game, or in one match: its ``view``, or ``gone``; None as a sign of life."""
        known: dict[str, int] = {}
        async with self._watched((game or ANY) if match is None else None):
            while not self.closed:
                tick = self._tick
                current = {
                    name: one
                    for name, one in list(self._views.items())
                    if (game is None or one[0] == game) and match in (None, name)
                }
                shown = dict(list(current.items())[:MAX_WATCHED])
                for name, (_, version, view) in shown.items():
                    if known.get(name) != version:
                        known[name] = version
                        yield {"match": name, "view": view}
                if match is None:
                    for name in [name for name in known if name not in shown]:
                        del known[name]
                        yield {"match": name, "gone": True}
                elif match not in shown and await run_in_threadpool(self._is_over, match):
                    yield {"match": match, "gone": True}
                    return
                await self._notifier.wait(partial(self._changed, tick), KEEP_ALIVE_SECONDS)
                if self._tick == tick:
                    yield None

    def _changed(self, tick: int) -> bool:
        return self.closed or self._tick != tick

    def _is_over(self, match: str) -> bool:
        found = find_match(self._engine, match)
        return found is None or found.ended is not None

    async def look(self) -> None:
        """Read the running matches once; notify the streams if one has changed."""
        found = await run_in_threadpool(self._look)
        if {name: version for name, (_, version, _) in found.items()} != {
            name: version for name, (_, version, _) in self._views.items()
        }:
            self._views = found
            self._tick += 1
            self._notifier.notify_all()

    def _look(self) -> dict[str, tuple[str, int, Json]]:
        now = live(self._engine)
        stale = [name for name, (_, version) in now.items() if self._views.get(name, ("", -1, {}))[1] != version]
        fresh = live_views(self._engine, stale) if stale else {}
        found = {}
        for name, (game, _) in now.items():
            if name in fresh:
                version, view = fresh[name]
                found[name] = game, version, with_marks(view)
            elif name in self._views:
                found[name] = self._views[name]
        return found | self._look_at_shows({game for game, _ in now.values()})

    def _look_at_shows(self, played: set[str]) -> dict[str, tuple[str, int, Json]]:
        """The show matches of the watched games of which nothing is played; they begin if they must."""
        watched = {game for game, count in list(self._watched_games.items()) if count > 0}
        wanted = watched - played - {ANY}
        if ANY in watched and not played and not wanted:
            if self._any_game is None:
                self._any_game = secrets.choice([game.id for game in BUILT_IN.values() if not game.by_steps])
            wanted = {self._any_game}
        self.shows.watch(wanted)
        found = {}
        for game in sorted(wanted):
            show, name = self.shows.view(game), f"{SHOW}{game}"
            if show is not None:
                old = self._views.get(name)
                known = old is not None and old[1] == show.version
                found[name] = old if known and old else (game, show.version, with_marks(show.view))
        return found

    async def _poll(self) -> None:
        heard = self._announcements
        while not self.closed:
            await self._announced.wait(partial(self._has_heard, heard), POLL_SECONDS)
            heard = self._announcements
            try:
                if self.watching:
                    await self.look()
                else:
                    self._any_game = None
                    plays = await run_in_threadpool(self.shows.watch, ())  # maybe for those of other web processes
                    if not plays and not self.watching:
                        return
            except Exception:  # the database may answer the next time, and nobody else would restart this task
                _log.exception("spectators: the matches could not be read")
            await asyncio.sleep(min(LOOK_SECONDS, POLL_SECONDS))

    def _has_heard(self, before: int) -> bool:
        return self._announcements != before

    @asynccontextmanager
    async def _watched(self, game: str | None) -> AsyncIterator[None]:
        """Count a spectator, of a game if a show match may be shown; the first one starts the polling."""
        self.watching += 1
        if game is not None:
            self._watched_games[game] += 1
        try:
            await self.look()
            if self._polling is None or self._polling.done():
                self._polling = asyncio.create_task(self._poll())
            yield
        finally:
            self.watching -= 1
            if game is not None:
                self._watched_games[game] -= 1


def with_marks(view: Json) -> Json:
    """A view with what its board draws besides the state."""
    game = make(view["game"], **view["options"])
    try:
        marks = observation_marks(game, view["state"])
    except ValueError:  # a part of it lies face down
        marks = {}
    return {**view, "state": game.page_state(view["state"]), "marks": marks}


def as_event(news: Json | None) -> str:
    """A change as a server-sent event."""
    return ": still here\n\n" if news is None else f"data: {json.dumps(news, separators=(',', ':'))}\n\n"
