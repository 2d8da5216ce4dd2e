"""`enter`: a bot of this machine in the league of a server."""

import subprocess
import threading

from sqlalchemy import Engine

from ludodrome.arena import records
from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import FORFEIT, Conditions
from ludodrome.arena.ladder import playing
from ludodrome.arena.ladder.playing import LeagueJob
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.client import Client
from ludodrome.games import make
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
