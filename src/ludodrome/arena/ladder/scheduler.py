"""The jobs of a runner: requested matches first, then the ladder; openings are drawn before their matches.

All state is in the database. A job can be lost at any moment and is then done again, by this runner or another; a match
counts once, because only one transaction can finish it.
"""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine

from ludodrome.arena.conditions import conditions
from ludodrome.arena.ladder import CLOCK, events, playing
from ludodrome.arena.ladder.matchmaking import choose_pair
from ludodrome.arena.ladder.prior_ratings import ladder_game
from ludodrome.arena.ladder.rating_updates import belongs, count_game, failures_of, prior_score
from ludodrome.arena.ladder.uploads import PREFERRED
from ludodrome.arena.matches.pool import Job
from ludodrome.arena.matches.scheduler import MatchSettings, Pairing, rotations, unplayed
from ludodrome.arena.matches.tallies import game_result
from ludodrome.arena.matches.workers import draw_opening
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.records import private_parts, public
from ludodrome.arena.seeds import new_secret
from ludodrome.arena.statistics.ratings import Rating
from ludodrome.arena.tournaments.plans import TournamentPlan
from ludodrome.games import GAMES, make
from ludodrome.store.accounts import new_id
from ludodrome.store.league_bots import Contender, contenders, source_of
from ludodrome.store.league_matches import (
    ClaimedMatch,
    busy_bots,
    claim,
    close_event,
    event_games,
    find_event,
    open_events,
    queue,
)
from ludodrome.store.league_models import BUILTIN, DONE, DROPPED, LADDER, QUEUED, UPLOADED, EventRow
from ludodrome.store.league_ratings import finish

OFF, GENTLE, ON = LADDERS = ("off", "gentle", "on")
MIN_QUEUED_GAMES = 4
"""Queued games of an event below which its next opening is drawn."""
CONTENDERS_TTL = 2.0
"""Seconds for which the list of contenders is cached."""


class LadderScheduler:
    """The jobs of one runner."""

    def __init__(
        self, engine: Engine, database: str, runner: str, ladder: str = GENTLE, sandbox: str = PREFERRED
    ) -> None:
        self._engine, self._database, self._runner = engine, database, runner
        self._ladder, self._sandbox = ladder, sandbox
        self.stopping = False
        """Whether the runner should end."""
        self.status = "waiting"
        """What the runner is doing, in a few words, for the status page."""
        self.finished = 0
        self._claims: dict[str, ClaimedMatch] = {}
        self._pending_openings: dict[str, tuple[EventRow | str, list[tuple[int, Pairing]], dict[str, str]]] = {}
        """Openings being drawn: the event or the id of the ladder pair, the numbered pairings, the ids of the bots by
        name."""
        self._plans: dict[str, dict[int, list[tuple[int, Pairing]]]] = {}
        """The games of open events, by opening."""
        self._contenders_cache: dict[str, tuple[float, list[Contender]]] = {}
        self._rng = np.random.default_rng()

    def next(self) -> Job | None:
        """The next job: a match, or an opening to draw; None if there is none now."""
        if self.stopping:
            return None
        job = self._event_job() or self._claimed_job() or (self._ladder_job() if self._ladder != OFF else None)
        if job is None and not self._claims and not self._pending_openings:
            self.status = "the ladder is off" if self._ladder == OFF else "idle: all ratings are settled"
        return job

    # Matches

    def _claimed_job(self) -> Job | None:
        claimed = claim(self._engine, self._runner)
        if claimed is None:
            return None
        self._claims[claimed.id] = claimed
        self.status = " - ".join(claimed.play_spec["names"])
        event = find_event(self._engine, claimed.event) if claimed.event else None
        order = playing.LeagueJob(
            PlaySpec.from_json(claimed.play_spec),
            {spec: self._source(spec) for spec in claimed.play_spec["bots"] if spec.startswith(f"{UPLOADED}:")},
            self._database,
            self._sandbox,
            event.pace_ms / 1000 if event is not None else 0.0,
        )
        return Job(claimed.id, playing.play_measured, order)

    def _source(self, spec: str) -> str:
        return source_of(self._engine, spec.partition(":")[2]) or ""

    def done(self, job: Job, result: Any) -> None:
        """Take the record of a match, or the moves of an opening."""
        if job.function is draw_opening:
            self._queue(job.name, result.moves)
            return
        claimed = self._claims.pop(job.name)
        played: playing.PlayedMatch = result
        shown, logs = public(played.record), private_parts(played.record)
        counted = game_result(shown).to_json()  # everybody may read it, so it has no bot's own words
        finish(
            self._engine,
            job.name,
            counted,
            shown,
            count_game,
            logs,
            contended=played.contended,
            failures=failures_of(counted, played.contended),
            belongs=belongs(claimed.play_spec),
        )
        self.finished += 1
        self._contenders_cache.pop(claimed.play_spec["game"], None)
        if claimed.event is not None:
            self._close(claimed.event)

    def failed(self, job: Job, why: str) -> None:
        """Record a match that could not be played as unrated; drop an event whose opening cannot be drawn."""
        if job.function is draw_opening:
            event = self._pending_openings.pop(job.name)[0]
            if isinstance(event, EventRow):
                close_event(self._engine, event.id, f"an opening could not be drawn: {why}")
            return
        play_spec = PlaySpec.from_json(self._claims[job.name].play_spec)
        self.done(job, playing.PlayedMatch(unplayed(play_spec, why), 0.0))

    # Events

    def _event_job(self) -> Job | None:
        """Draw the next opening of an event whose games are not queued yet."""
        for event in open_events(self._engine):
            games = event_games(self._engine, event.id)
            there = {number for _, number, _, _ in games}
            missing = [
                (opening, batch)
                for opening, batch in self._batches(event).items()
                if not all(number in there for number, _ in batch)
            ]
            if not missing:
                self._close(event.id)
            elif sum(status == QUEUED for *_, status in games) < MIN_QUEUED_GAMES:
                opening, batch = missing[0]
                name = f"opening {opening} of {event.id}"
                if name not in self._pending_openings:
                    self._pending_openings[name] = event, batch, event.bots
                    if job := self._opening_job(name, batch[0][1], event.plan["openings"]):
                        return job
        return None

    def _batches(self, event: EventRow) -> dict[int, list[tuple[int, Pairing]]]:
        """The games of an event, by opening."""
        known = self._plans.get(event.id)
        if known is None:
            known = self._plans[event.id] = {}
            for number, pairing in enumerate(events.event_pairings(TournamentPlan.from_json(event.plan))):
                known.setdefault(pairing.opening, []).append((number, pairing))
        return known

    def _opening_job(self, name: str, pairing: Pairing, wanted: bool) -> Job | None:
        """The job that draws an opening; without openings, queue the games at once."""
        on = pairing.settings
        if wanted and make(on.game, **on.options).actions_a_turn == 1:
            return Job(name, draw_opening, pairing.opening_request())
        self._queue(name, ())
        return None

    def _queue(self, name: str, moves: tuple[Any, ...]) -> None:
        event, batch, ids = self._pending_openings.pop(name)
        rows = []
        for number, pairing in batch:
            play_spec = pairing.play_spec(moves)
            rows.append((play_spec.match, play_spec.to_json(), [ids[one] for one in pairing.names], number))
        if isinstance(event, EventRow):
            queue(self._engine, event.why, rows, event.id)
        else:
            queue(self._engine, LADDER, rows, None, event)

    def _close(self, event_id: str) -> None:
        """Close an event if all its games are finished."""
        event = find_event(self._engine, event_id)
        games = event_games(self._engine, event_id)
        if event is not None and len(games) >= event.games and all(status in (DONE, DROPPED) for *_, status in games):
            close_event(self._engine, event_id)
            self._plans.pop(event_id, None)

    # The ladder

    def _ladder_job(self) -> Job | None:
        """The next ladder pair: one game per seating from one opening."""
        for game in self._rng.permutation(list(GAMES)):
            found = self._group(str(game))
            if found is not None:
                return self._ladder_opening(str(game), found)
        return None

    def _group(self, game: str) -> list[Contender] | None:
        """A pair of bots, one of them entered by somebody; if all of these rest, a pair of built-ins.

        Where nobody has entered a bot, nobody plays.
        """
        listed = self._contenders(game)
        own = np.array([one.kind != BUILTIN for one in listed], dtype=bool)
        if not own.any():
            return None
        busy = busy_bots(self._engine) | {bot for _, _, ids in self._pending_openings.values() for bot in ids.values()}
        free = np.array([one.kind == BUILTIN or one.id not in busy for one in listed], dtype=bool)
        return self._seated(game, listed, own, free) or self._seated(game, listed, ~own, ~own)

    def _seated(
        self, game: str, listed: list[Contender], eager: NDArray[np.bool_], free: NDArray[np.bool_]
    ) -> list[Contender] | None:
        """One of the eager bots and a free opponent; with more than two seats, others join them at random."""
        seats = ladder_game(game).seats
        known = [_known_rating(game, one) for one in listed]
        mu, sigma = np.array([one.mu for one in known]), np.array([one.sigma for one in known])
        pair = choose_pair(mu, sigma, eager, free, self._rng)
        if pair is None:
            return None
        others = self._rng.permutation([at for at in np.flatnonzero(free) if at not in pair])[: seats - len(pair)]
        return [listed[at] for at in (*pair, *others)] if len(others) == seats - len(pair) else None

    def _contenders(self, game: str) -> list[Contender]:
        known = self._contenders_cache.get(game)
        if known is None or time.monotonic() - known[0] > CONTENDERS_TTL:
            known = self._contenders_cache[game] = time.monotonic(), contenders(self._engine, game)
        return known[1]

    def _ladder_opening(self, game: str, group: list[Contender]) -> Job | None:
        made = ladder_game(game)
        settings = MatchSettings(game, game, made.options, made.seats, conditions(made, clock=CLOCK), new_secret())
        batch = []
        for number, seating in enumerate(rotations(len(group))):
            seated = [group[one] for one in seating]
            bots, names = tuple(one.spec for one in seated), tuple(one.name for one in seated)
            batch.append((number, Pairing(settings, bots, names, 0, number)))
        pair = new_id()
        name = f"ladder pair {pair} of {game}"
        self._pending_openings[name] = pair, batch, {one.name: one.id for one in group}
        return self._opening_job(name, batch[0][1], True) or self._claimed_job()


def _known_rating(game: str, one: Contender) -> Rating:
    """The rating that matchmaking uses: a built-in without one has its measured rating."""
    if one.mu is not None and one.sigma is not None:
        return Rating(one.mu, one.sigma)
    measured = prior_score(game, one.name if one.kind == BUILTIN else None)
    return Rating() if measured is None else Rating(measured.mu, measured.sigma)
