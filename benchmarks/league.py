"""What a league costs its database: tables, queues and finished games, with many bots in one game.

The database is a new SQLite file with ``synchronous=FULL``, as a server has it. Printed is
processor time: medians of milliseconds, and how many in a second of it; waiting for the disk comes on top.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from ludodrome.arena import game_loop
from ludodrome.arena.conditions import conditions
from ludodrome.arena.ladder.rating_updates import count_game, recompute
from ludodrome.arena.matches.tallies import game_result
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.statistics.ratings import MU, SIGMA
from ludodrome.games import make
from ludodrome.store import league_bots, league_matches
from ludodrome.store.database import open_database
from ludodrome.store.league_models import LADDER, RatingRow
from ludodrome.store.league_ratings import finish
from ludodrome.store.models import packed

GAME = "dots"
TREND = 20
LINES = 100
REPEATS = 7


def settled(engine: Engine, count: int) -> list[str]:
    """Enter and rate this many bots of one game; return their ids."""
    league_bots.ensure_builtins(engine, GAME, {f"bot {number}": "random" for number in range(count)})
    entries = league_bots.bots(engine, GAME)
    dice = random.Random(1)
    played: dict[str, Any] = {"games": 10, "wins": 5, "draws": 0, "losses": 5, "failures": 0, "verdicts": {}}
    with Session(engine) as session, session.begin():
        session.add_all(
            RatingRow(version=one.version, mu=dice.gauss(MU, 8), sigma=SIGMA / 3, **played) for one in entries
        )
    return [one.id for one in entries]


def matches(names: list[str], count: int) -> list[tuple[PlaySpec, list[str]]]:
    """Games between bots by lot."""
    game, dice = make(GAME, rows=2, cols=2), random.Random(2)
    usual = conditions(game, clock="none")
    pairs = [dice.sample(names, 2) for _ in range(count)]
    return [
        (PlaySpec(GAME, game.options, ("random", "random"), tuple(pair), usual, number, (), number), pair)
        for number, pair in enumerate(pairs)
    ]


def milliseconds(work: Callable[[], Any]) -> float:
    """The median of processor time."""
    found = []
    for _ in range(REPEATS):
        begun = time.process_time()
        work()
        found.append(1000 * (time.process_time() - begun))
    return statistics.median(found)


def a_second(count: int, work: Callable[[], Any]) -> float:
    """How many a second of processor time."""
    begun = time.process_time()
    work()
    return count / (time.process_time() - begun)


def leaderboard(engine: Engine) -> None:
    """A page of it, with its trends."""
    lines = league_bots.standings(engine, GAME, LINES)
    league_bots.trends(engine, [one.entry.id for one in lines], TREND)


def measure(engine: Engine, bots: int, games: int) -> None:
    """All of it, a line each."""
    names = settled(engine, bots)
    tasks = matches(names, games)
    records = {task.match: game_loop.play(task) for task, _ in tasks}
    print(f"{bots:,} bots, {games:,} games of {GAME} 2 x 2, SQLite")
    queue = a_second(
        games,
        lambda: [league_matches.queue(engine, LADDER, [(a.match, a.to_json(), ids, 0)], None) for a, ids in tasks],
    )
    claim = a_second(games, lambda: [league_matches.claim(engine, "benchmark") for _ in tasks])
    done = a_second(
        games,
        lambda: [
            finish(engine, one, game_result(record).to_json(), record, count_game) for one, record in records.items()
        ],
    )
    again = a_second(games, lambda: recompute(engine))
    size = statistics.median(len(packed(record)) for record in records.values())
    print(f"{LINES} lines of the leaderboard with their trends  {milliseconds(lambda: leaderboard(engine)):.0f} ms")
    print(f"all who could play, for matchmaking  {milliseconds(lambda: league_bots.contenders(engine, GAME)):.0f} ms")
    print(f"matches queued  {queue:.0f} a second")
    print(f"matches claimed  {claim:.0f} a second")
    print(f"games finished: record, ratings, history in one transaction  {done:.0f} a second")
    print(f"ratings recomputed from the games  {again:.0f} games a second")
    print(f"a record, as it is kept  {size / 1000:.2f} KB")


def main() -> None:
    """Do as asked."""
    parser = argparse.ArgumentParser(description="What a league costs its database.")
    parser.add_argument("--bots", type=int, default=10_000)
    parser.add_argument("--games", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        engine = open_database(Path(folder) / "league.db", create=True, durable=True)
        try:
            measure(engine, options.bots, options.games)
        finally:
            engine.dispose()


if __name__ == "__main__":
    main()
