"""Events: challenges and tournaments between bots of the league that people request.

An event is a tournament plan of ``arena/tournaments/``; its games are matches of the league, played by any runner. They
do not change the ladder's ratings.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine

from ludodrome.arena.clocks import Clock
from ludodrome.arena.matches.scheduler import Pairing
from ludodrome.arena.matches.tallies import GameResult
from ludodrome.arena.seeds import new_secret
from ludodrome.arena.tournaments.plans import GAUNTLET, ROUND_ROBIN, TournamentPlan, make_plan
from ludodrome.arena.tournaments.rounds import FixedRounds, rounds_of
from ludodrome.arena.tournaments.tournament import MemoryLedger, Tournament
from ludodrome.game import Game
from ludodrome.games import make
from ludodrome.store.league_bots import BotEntry
from ludodrome.store.league_matches import add_event, event_games, open_events
from ludodrome.store.league_models import CHALLENGE, REMOTE, TOURNAMENT, EventRow
from ludodrome.store.models import LOCAL

FORMATS = (ROUND_ROBIN, GAUNTLET)
MAX_BOTS = 20
MAX_PAIRS = 100
MAX_GAMES = 1000
MAX_OPEN = 5
"""Unfinished events per account."""
MAX_PACE_MS = 3000
MAX_CLOCK = Clock(move_ms=10_000, bank_ms=300_000, increment_ms=10_000)
"""The longest clock of remote accounts: a waiting bot occupies a worker."""


def ask(
    engine: Engine,
    game: str,
    bots: Sequence[BotEntry],
    account: str,
    *,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    kind: str = ROUND_ROBIN,
    pairs: int = 1,
    clock: str | None = None,
    openings: bool = True,
    pace_ms: int = 0,
) -> str:
    """Request an event and return its id; without a name it is a challenge. ValueError says what does not fit."""
    _check_bots(game, bots)
    if kind not in FORMATS:
        raise ValueError(f"a tournament here is a {ROUND_ROBIN} or a {GAUNTLET}")
    if not 1 <= pairs <= MAX_PAIRS or not 0 <= pace_ms <= MAX_PACE_MS:
        raise ValueError(f"there are 1 to {MAX_PAIRS} pairs of games, and a pace of 0 to {MAX_PACE_MS} ms")
    if len(open_events(engine, account)) >= MAX_OPEN:
        raise ValueError(f"{MAX_OPEN} of your matches and tournaments are not over; wait for one of them")
    if account != LOCAL:
        check_options(make(game, **(options or {})), bots, account)
    entry: dict[str, Any] = {"id": game, "options": options or {}}
    plan = make_plan(
        {
            "name": name or " - ".join(bot.name for bot in bots)[:60],
            "format": kind,
            "games": [entry | ({"clock": clock} if clock else {})],
            "bots": [{"bot": bot.spec, "name": bot.name} for bot in bots],
            "pairs": pairs,
            "openings": openings,
            "seed": new_secret(),
        }
    )
    if account != LOCAL:
        _check_clock(plan.settings[0].conditions.clock)
    total = rounds_of(plan).total
    if total > MAX_GAMES:
        raise ValueError(f"that would be {total} games; an event has at most {MAX_GAMES}")
    if name is None and len(bots) != plan.settings[0].seats:
        raise ValueError(f"a match of {game} is between {plan.settings[0].seats} bots, not {len(bots)}")
    why = CHALLENGE if name is None else TOURNAMENT
    ids = {bot.name: bot.id for bot in bots}
    return add_event(engine, game, why, plan.name, plan.to_json(), ids, total, account, pace_ms)


def _check_bots(game: str, bots: Sequence[BotEntry]) -> None:
    if not 2 <= len(bots) <= MAX_BOTS:
        raise ValueError(f"there are 2 to {MAX_BOTS} bots in it, not {len(bots)}")
    if len({(bot.id, bot.version) for bot in bots}) < len(bots):
        raise ValueError("a bot does not meet itself")
    for bot in bots:
        if bot.game != game:
            raise ValueError(f"{bot.name} plays {bot.game}, not {game}")
        if not bot.here:
            away = "is not connected" if bot.kind == REMOTE and bot.retired is None else "does not play any more"
            raise ValueError(f"{bot.name} {away}")


def check_options(game: Game, bots: Sequence[BotEntry], account: str) -> None:
    """Bots of other people play with options that their authors can expect; one's own and built-ins with any."""
    game.check_page()
    if all(bot.owner in (None, account) for bot in bots):
        return
    allowed = [make(game.id, **one).options for one in ({}, *game.challenge_options)]
    if game.options not in allowed:
        others = "".join(f", {_words(one)}" for one in game.challenge_options)
        raise ValueError(
            f"bots of other people play {game.id} with its usual options{others}, not with {_words(game.options)}; "
            "your own bots and the built-in ones play with any"
        )


def _words(options: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in options.items())


def _check_clock(clock: Clock) -> None:
    pairs = (
        (clock.move_ms, MAX_CLOCK.move_ms),
        (clock.bank_ms, MAX_CLOCK.bank_ms),
        (clock.increment_ms, MAX_CLOCK.increment_ms),
    )
    if not clock.runs or any(wanted > most for wanted, most in pairs):
        move, bank, increment = (most // 1000 for _, most in pairs)
        raise ValueError(
            f"a clock counts time here: at most {move}s a move, {bank}s in the bank and {increment}s more for each "
            f"move, not {clock}"
        )


def event_pairings(plan: TournamentPlan) -> list[Pairing]:
    """All games of an event's plan, in order; their index is their number in the event."""
    rounds = rounds_of(plan)
    assert isinstance(rounds, FixedRounds)
    found = []
    while pairing := rounds.next():
        found.append(pairing)
    return found


def standing_of(engine: Engine, event: EventRow) -> Tournament:
    """An event as a tournament, with all finished games counted."""
    plan = TournamentPlan.from_json(event.plan)
    tournament = Tournament(plan, MemoryLedger())
    counted = {number: counts for _, number, counts, _ in event_games(engine, event.id) if counts is not None}
    for number, pairing in enumerate(event_pairings(plan)):
        if number in counted:
            tournament.take(pairing, GameResult.from_json(counted[number]))
    return tournament
