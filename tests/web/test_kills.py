"""`ludodrome serve`, killed under load: what it answered is there when it comes back, whole, and all goes on.

People play, matches of the league are asked for and played, and ratings change meanwhile. Every other kill hits the
server alone, whose runner then ends by itself; the others hit the runner and its workers too. Of several web processes,
every third kill hits one, and the server goes on.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from ludodrome.arena import records
from ludodrome.arena.ladder import enter_builtins
from ludodrome.arena.ladder.rating_updates import recompute
from ludodrome.arena.matches.tallies import GameResult, game_result
from ludodrome.bots.starters import one_file
from ludodrome.cli.serve import FIRST_GAME
from ludodrome.client import Client
from ludodrome.store import league_bots, league_matches
from ludodrome.store.accounts import ensure_local
from ludodrome.store.database import open_database
from ludodrome.store.league_models import DONE, FinishedGameRow, LadderRow, MatchRow, RatingRow, RatingStepRow
from ludodrome.store.models import LOCAL, unpacked
from ludodrome.web.routes.games import warm_up
from tests.web.players import Challenger, Player

KILLS = {"sqlite": 100, "postgresql": 20}
"""Kills of the long run, by database."""
WEB = "ludodrome.web.processes"
PLAYERS = 6
LONGEST_LIFE = 1.2
"""Seconds of load before a server is killed, at most ..."""
LONG_LIVES = 10
"""... but every so many lives it may first finish some games of the league."""
FINISHED = 2
PATIENCE = 180.0
People = list[Player | Challenger]
QUICK = ("random", "greedy")
"""The built-ins that stay in the league, so that its games are short."""


class Server:
    """`ludodrome serve`, with all that it starts in a session of its own."""

    def __init__(self, where: str, folder: Path, ladder: str, processes: int = 1) -> None:
        options = ["--port", "0", "--no-browser", "--db", where, "--ladder", ladder, "--processes", str(processes)]
        command = [sys.executable, "-m", "ludodrome", "serve", *options]
        environment = {**os.environ, "XDG_DATA_HOME": str(folder)}
        quiet = subprocess.DEVNULL
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdout=pipe, stderr=quiet, env=environment, start_new_session=True)
        assert self._process.stdout is not None
        announced = re.search(r"http://[\d.:]+", self._process.stdout.readline().decode())
        assert announced is not None, "the server did not say where it is"
        self.address = announced[0]
        with Client(self.address, timeout=PATIENCE) as client:
            client.games()

    def kill(self, with_runner: bool) -> None:
        """At once."""
        if with_runner:
            children = self.children()
            os.killpg(self._process.pid, signal.SIGKILL)
            for child in children:
                _kill(child)
        else:
            self._process.kill()
        self.wait()

    def kill_one(self, dice: random.Random) -> None:
        """One of the web processes, at once; the server goes on."""
        _until(lambda: len(self.children(WEB)) > 1, "the web processes do not run")
        _kill(dice.choice(self.children(WEB)))

    def children(self, what: str = "ludodrome") -> list[int]:
        """The processes that it has started."""
        found = []
        for child in Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split():
            with suppress(OSError):
                if what in Path(f"/proc/{child}/cmdline").read_text():
                    found.append(int(child))
        return found

    def end(self) -> None:
        """As by Ctrl-C."""
        self._process.send_signal(signal.SIGINT)
        self.wait()

    def wait(self) -> None:
        """Until it has gone."""
        self._process.wait(PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize("processes", [1, 2])
def test_nothing_acknowledged_is_lost(database: str, tmp_path: Path, long: bool, processes: int) -> None:
    kills = KILLS["postgresql" if database.startswith("postgresql") else "sqlite"] if long else 1
    if not long and (database.startswith("postgresql") or processes > 1):
        pytest.skip("kills on PostgreSQL and of several web processes come with --long")
    for game in ("dots", FIRST_GAME):  # what a server that dies young compiles is never kept
        warm_up(game)
    engine = open_database(database, create=True, durable=True)
    dice = random.Random(1)
    people: People = [Player(number) for number in range(PLAYERS)]
    if long:
        people.append(Challenger(_league(engine)))
    server = None
    for number in range(kills):
        server = server or Server(database, tmp_path, "on" if long else "off", processes)
        try:
            _check(people, server)
            people = [one.again(server.address) for one in people]
            _carry_on(people, number, dice)
        finally:
            if processes > 1 and number % 3 == 0:
                server.kill_one(dice)
            else:
                server.kill(with_runner=number % 2 == 1)
                server = None
            for one in people:
                one.ending.set()
                if one.ident is not None:
                    one.join(PATIENCE)
        assert not any(one.is_alive() for one in people)
    server = server or Server(database, tmp_path, "on" if long else "off", processes)
    try:
        _check(people, server)
        for one in people:
            if isinstance(one, Challenger):
                _until(partial(_is_over, engine, one), "the matches that were asked for are not played")
                _until(partial(_ladder_games, engine), "the ladder does not play")
    finally:
        server.end()
    for one in people:
        if isinstance(one, Challenger):
            _check_league(engine, one)
    engine.dispose()


def _league(engine: Engine) -> list[str]:
    """Two bots of the league that play on, with few others; their ids."""
    ensure_local(engine)
    enter_builtins(engine)
    for one in league_bots.bots(engine):
        if one.name not in QUICK:
            league_bots.retire(engine, one.id)
    return [league_bots.enter_uploaded(engine, "dots", LOCAL, name, one_file("dots"), []) for name in ("One", "Two")]


def _carry_on(people: People, number: int, dice: random.Random) -> None:
    """Everybody goes on for a while."""
    players = [one for one in people if isinstance(one, Player)]
    before = sum(player.acknowledged for player in players)
    _until(lambda: sum(player.acknowledged for player in players) >= before + PLAYERS, "nothing was acknowledged")
    for one in people:
        if isinstance(one, Challenger) and number % LONG_LIVES == LONG_LIVES - 1:
            _until(partial(_has_seen, one, len(one.ended) + FINISHED), "the league does not play")
    time.sleep(dice.random() * LONGEST_LIFE)


def _check(people: People, server: Server) -> None:
    with Client(server.address, timeout=PATIENCE) as client:
        for one in people:
            one.check(client)


def _until(reached: Callable[[], object], otherwise: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.02)


def _has_seen(asked: Challenger, games: int) -> bool:
    return len(asked.ended) >= games


def _ladder_games(engine: Engine) -> int:
    """Rated games of the ladder so far."""
    with Session(engine) as session:
        return session.scalar(select(LadderRow.games).where(LadderRow.game == "dots")) or 0


def _is_over(engine: Engine, asked: Challenger) -> bool:
    events = [league_matches.find_event(engine, one) for one in asked.promised]
    return all(event is not None and event.status == DONE for event in events)


def _check_league(engine: Engine, asked: Challenger) -> None:
    """Whatever was promised was played, once; every game is whole; the ratings are those of the games."""
    for event_id, count in asked.promised.items():
        games = league_matches.event_games(engine, event_id)
        assert [number for _, number, _, _ in games] == list(range(count))
        assert {status for *_, status in games} == {DONE}
    with Session(engine) as session:
        finished = session.scalars(select(FinishedGameRow)).all()
        done = session.scalars(select(MatchRow.id).where(MatchRow.status == DONE)).all()
        ladder = session.scalar(select(LadderRow.games).where(LadderRow.game == "dots")) or 0
        ratings = session.scalars(select(RatingRow)).all()
        steps = Counter(session.scalars(select(RatingStepRow.place)))
    assert {one.match for one in finished} == set(done) >= set(asked.ended)
    for one in finished:
        record = unpacked(one.record)
        records.verify(record)
        assert game_result(record) == GameResult.from_json(one.counted)
    ladder = _ladder_games(engine)
    assert sorted(one.place for one in finished if one.place is not None) == list(range(1, ladder + 1))
    assert ladder > 0
    assert sum(one.games for one in ratings) == 2 * ladder
    assert set(steps) == set(range(1, ladder + 1))
    assert recompute(engine).changed == []
