"""`enter`: a bot of this machine in the league of a server."""

import subprocess
import threading

from sqlalchemy import Engine

from ludodrome.arena import records
from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import FORFEIT, Conditions
from ludodrome.arena.ladder import playing
from ludodrome.arena.ladder.playing import LeagueJob
from ludodrome.arena.ladder.rating_updates import count_game, failures_of
from ludodrome.arena.matches.tallies import game_result
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.client import Client
from ludodrome.games import make
from ludodrome.store import league_bots, league_matches
from ludodrome.store.league_models import LADDER
from ludodrome.store.league_ratings import MAX_FAILURES, finish
from tests.arena.doctor.test_checks import quirk
from tests.cli.running import PROGRAM, complaint, run

SMALL = {"rows": 1, "cols": 2}


def _play(engine: Engine, bot: str, number: int) -> dict[str, object]:
    """A game of the league between a remote bot and another one."""
    specs = (f"remote:{bot}", "random")
    conditions = Conditions(FORFEIT, Clock.parse("30s"), start_ms=30_000)
    play_spec = PlaySpec("dots", make("dots", **SMALL).options, specs, specs, conditions, number)
    record = playing.play(LeagueJob(play_spec, {}, str(engine.url), "off", 0.0))
    records.verify(record)
    result: dict[str, object] = record["result"]
    return result


def _entered(address: str, spec: str, games: int) -> "subprocess.Popen[str]":
    words = ["enter", "dots", spec, "--name", "Mine", "--server", address, "--games", str(games)]
    return subprocess.Popen([*PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_bot_is_entered_plays_and_comes_back(league: tuple[Engine, str]) -> None:
    engine, address = league
    ids = []
    for spec, games in ((quirk("strict"), 2), ("greedy", 1)):
        process = _entered(address, spec, games)
        assert process.stdout
        first = process.stdout.readline()
        assert first.startswith(f"Mine is in the league: {address}/dots/bots/"), first
        ids.append(first.split()[5].rpartition("/")[2])
        for number in range(games):
            assert _play(engine, ids[-1], number)["verdicts"] == []
        rest, errors = process.communicate()
        assert process.returncode == 0, errors
        assert [line.split(":")[0] for line in rest.splitlines()] == [f"game {n + 1}" for n in range(games)]
    assert len(set(ids)) == 1
    with Client(address) as client:
        assert [one["name"] for one in client.bots("dots", mine=True)] == ["Mine"]


def test_a_bot_that_fails_says_so(league: tuple[Engine, str]) -> None:
    engine, address = league
    process = _entered(address, quirk("dead"), 1)
    assert process.stdout
    bot = process.stdout.readline().split()[5].rpartition("/")[2]
    result = _play(engine, bot, 1)
    assert result["winner"] == 1
    rest, _ = process.communicate()
    assert rest.startswith("game 1: lost (")
    assert "error: crash: " in rest


def test_it_names_opponent_result_rating_and_link_and_leaves_when_paused(league: tuple[Engine, str]) -> None:
    engine, address = league
    random_id = next(one.id for one in league_bots.bots(engine, "dots") if one.name == "random")
    process = _entered(address, quirk("dead"), 2 * MAX_FAILURES)
    assert process.stdout
    bot = process.stdout.readline().split()[5].rpartition("/")[2]
    for number in range(MAX_FAILURES):
        specs, names = (f"remote:{bot}", "random"), ("Mine", "random")
        conditions = Conditions(FORFEIT, Clock.parse("30s"), start_ms=30_000)
        play_spec = PlaySpec("dots", make("dots", **SMALL).options, specs, names, conditions, number)
        league_matches.queue(engine, LADDER, [(play_spec.match, play_spec.to_json(), [bot, random_id], 0)], None)
        record = playing.play(LeagueJob(play_spec, {}, str(engine.url), "off", 0.0))
        counted = game_result(record).to_json()
        finish(engine, play_spec.match, counted, record, count_game, failures=failures_of(counted, False))
        line = process.stdout.readline()
        assert line.startswith(f"game {number + 1}: lost (")
        assert " against random; rating " in line
        assert f"; {address}/games/{play_spec.match}; error: crash: " in line
        assert process.stdout.readline() == "  stderr: I will not play\n"
    rest = process.stdout.read()
    process.communicate()
    assert process.returncode == 0
    assert rest.splitlines()[-1] == "Mine is paused, because it kept failing. Fix it, then enter it again."
    process = _entered(address, "greedy", 1)
    assert process.stdout
    told = process.stdout.readline()
    assert told.startswith("Mine was paused because it kept failing; it plays again. The last failure was a error: ")
    process.stdout.readline()
    process.kill()
    process.communicate()
    with Client(address) as client:
        assert client.bot(bot)["paused"] is None
        assert [one["number"] for one in client.bot_versions(bot)] == [2, 1]


def test_ctrl_c_ends_it(league: tuple[Engine, str]) -> None:
    from tests.cli.running import beside

    with beside("enter", "dots", "greedy", "--name", "Mine", "--server", league[1]) as process:
        assert process.stdout
        process.stdout.readline()
        threading.Event().wait(0.3)
        process.send_signal(2)
        _, errors = process.communicate()
    assert process.returncode == 0
    assert b"Traceback" not in errors


def test_what_is_asked_wrongly_is_refused() -> None:
    assert complaint(run("enter", "dots", "grady", "--name", "x")).startswith("there is no bot 'grady'")
    assert complaint(run("enter", "dots", "greedy", "--name", "x", "--server", "here")).startswith(
        "a server address looks like"
    )
    nobody = complaint(run("enter", "dots", "greedy", "--name", "x", "--server", "http://127.0.0.1:9"))
    assert nobody.endswith("is `ludodrome serve` running there? Give another address with --server")
