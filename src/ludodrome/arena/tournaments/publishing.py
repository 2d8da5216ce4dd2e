"""Publish a tournament of the command line on the page of a server: in its database, as finished events."""

from collections.abc import Iterator
from dataclasses import replace

from sqlalchemy import Engine

from ludodrome.arena.ladder import enter_builtins
from ludodrome.arena.ladder.events import event_pairings
from ludodrome.arena.matches.tallies import GameResult
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.records import private_parts, public
from ludodrome.arena.tournaments.plans import GAUNTLET, ROUND_ROBIN, Entrant, TournamentPlan
from ludodrome.arena.tournaments.tournament import Tournament
from ludodrome.store.published_tournaments import PublishedGame, PublishedTournament, publish
from ludodrome.validation import listing

MAX_PUBLISHED = 10_000
"""Games of a tournament that can be published."""


def publish_tournament(engine: Engine, tournament: Tournament) -> list[tuple[str, str]]:
    """Publish the games of a tournament that count; return game and event id of each of its games.

    ValueError if the page cannot show it: it shows round robins and gauntlets.
    """
    plan = tournament.plan
    if plan.format not in (ROUND_ROBIN, GAUNTLET) or plan.home_and_away:
        raise ValueError(
            f"the page shows tournaments of the formats {listing((ROUND_ROBIN, GAUNTLET))} without home and away; "
            f"write a page of this one with `ludodrome tournament export --html`"
        )
    if tournament.played > MAX_PUBLISHED:
        raise ValueError(f"at most {MAX_PUBLISHED:,} games can be published, and this has {tournament.played:,}")
    enter_builtins(engine)
    return [(on.game, publish(engine, _told(tournament, _of_one_game(plan, on.name)))) for on in plan.settings]


def _of_one_game(plan: TournamentPlan, name: str) -> TournamentPlan:
    """The part of a plan that concerns one of its games."""
    entrants = (Entrant(one.name, {name: one.specs[name]}, None, one.clock, one.tags) for one in plan.entrants)
    return replace(plan, settings=(plan.settings_of(name),), entrants=tuple(entrants))


def _told(tournament: Tournament, plan: TournamentPlan) -> PublishedTournament:
    (on,) = plan.settings
    specs = {one.name: one.specs[on.name] for one in plan.entrants}
    pairings = event_pairings(plan)
    return PublishedTournament(
        plan.name,
        on.game,
        plan.to_json(),
        specs,
        {name: on.identities.get(spec, "") for name, spec in specs.items()},
        len(pairings),
        list(_games(tournament, plan, [(pairing.names, pairing.opening) for pairing in pairings])),
    )


def _games(
    tournament: Tournament, plan: TournamentPlan, places: list[tuple[tuple[str, ...], int]]
) -> Iterator[PublishedGame]:
    """The finished games of one game, each with its place in the event: who sits where, and the opening."""
    (on,) = plan.settings
    counted = {
        result["match"]: (GameResult.from_json(result), finished)
        for name, result, finished in tournament.ledger.games()
        if name == on.name
    }
    numbers = {place: number for number, place in enumerate(places)}
    openings = {match: opening for name, match, opening in tournament.counted_games if name == on.name}
    for record in tournament.ledger.records():
        match = record["match"]
        if match in openings and match in counted:
            game, finished = counted[match]
            yield PublishedGame(
                numbers[game.names, openings[match]],
                match,
                game.names,
                PlaySpec.from_json(record).to_json(),
                game.to_json(),
                public(record),
                private_parts(record),
                finished,
            )
