"""What a match says about bots that fail, and about games that repeat."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ludodrome
from ludodrome.arena.matches.match import MAX_REPEATS, SprtRun
from ludodrome.arena.matches.tallies import Failure, GameResult, game_result
from ludodrome.arena.records import archive
from ludodrome.arena.results import MatchResult
from ludodrome.arena.statistics.sprt import Sprt
from tests.arena.quick import SMALL
from tests.cli.running import run

pytestmark = pytest.mark.xdist_group("dots")

CRASHING = """import sys
print("loading the weights", file=sys.stderr)
print("\\x1b[31mno such file: weights.bin", file=sys.stderr)
sys.stdin.readline()
sys.exit(3)
"""
FIRST = """import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        answer = {"type": "move", "move": message["legal_moves"][0], "turn": message["turn"]}
        print(json.dumps(answer), flush=True)
"""
USUAL: dict[str, Any] = {"clock": "none", "workers": 0, "openings": False}


@pytest.fixture
def crashing(tmp_path: Path) -> str:
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "crashing.py").write_text(CRASHING)
    return f"cmd:{sys.executable} -S {tmp_path}/bot/crashing.py"


def play(bots: list[str], games: int, **more: Any) -> MatchResult:
    return ludodrome.play_match(ludodrome.make("dots", **SMALL), bots, games=games, **USUAL | more)


def test_a_match_stops_after_a_bots_first_failures(crashing: str) -> None:
    """Before, all hundred games were played, and nothing said why the bot failed."""
    bots = [f"mine={crashing}", "random"]
    result = play(bots, 100)
    assert result.failing == "mine"
    assert 3 <= result.games <= 4  # one is under way when the third is over
    assert result.notes[0].startswith("stopped: mine failed in each of its first games; fix it, or continue")
    (failure,) = result.tally.lines["mine"].to_json()["failures"]
    assert failure["cause"] == "crash"
    assert failure["why"].startswith("it exited with code 3")
    assert failure["games"] == result.games
    assert failure["stderr"].splitlines()[-1].endswith("no such file: weights.bin")
    assert not result.tally.lines["random"].failures
    assert play(bots, 4, max_failures=None).games == 4
    assert play(bots, 8, max_failures=1).games <= 2
    test = ludodrome.sprt(ludodrome.make("dots", **SMALL), bots, **USUAL)
    assert (test.failing, test.passed) == ("mine", None)


def test_the_command_shows_each_reason_once(crashing: str) -> None:
    small = ["-o", "rows=2", "-o", "cols=2", "--clock", "none", "--no-openings", "--workers", "1"]
    done = run("match", "dots", f"mine={crashing}", "random", *small, "--games", "10", "--max-failures", "2")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    at = next(
        number for number, line in enumerate(lines) if re.match(r"  mine, in [2-4] games: crash: it exited", line)
    )
    assert lines[at + 1] == "    stderr: loading the weights"
    assert lines[at + 2].endswith("no such file: weights.bin")
    assert "\x1b" not in done.stdout
    assert sum("weights.bin" in line for line in lines) == 1
    assert lines[-1].startswith("stopped: mine failed")


HALF = """import sys
for line in sys.stdin:
    if '"turn"' in line[:20]:
        print('{"type": "move", "mo', end="", flush=True)
        sys.exit(2)
"""
TWICE = """import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        answer = json.dumps({"type": "move", "move": message["legal_moves"][0]})
        print(answer + "\\n" + answer, flush=True)
"""


@pytest.mark.parametrize(("text", "sent"), [(HALF, '{"type": "move", "mo'), ("print('Hello!')\n" + FIRST, "Hello!")])
def test_what_a_failing_bot_had_sent_is_shown(text: str, sent: str, tmp_path: Path) -> None:
    """Before, a half line was called that, and a malformed line was judged, but neither was shown."""
    bot, games = tmp_path / "mine.py", tmp_path / "games"
    bot.write_text(text)
    spec = f"mine=cmd:{sys.executable} -S {bot}"
    small = ["--clock", "20s", "--no-openings", "--workers", "1", "--no-swap", "--games", "1"]
    shown = run("match", "skysummit", spec, "random", *small, "--record", str(games)).stdout
    assert f"\n    sent: {sent}\n" in shown
    assert f"\n    sent: {sent}\n" in run("records", str(games)).stdout
    assert f"\n  sent: {sent}\n" in run("replay", str(games)).stdout
    (listed,) = json.loads(run("records", str(games), "--json").stdout)
    assert [failure["sent"] for failure in listed["failures"]] == [sent]


def test_answers_that_were_dropped_are_told(tmp_path: Path) -> None:
    """Before, only the record said that a bot answers twice."""
    bot, games = tmp_path / "mine.py", tmp_path / "games"
    bot.write_text(TWICE)
    spec = f"mine=cmd:{sys.executable} -S {bot}"
    small = ["-o", "turn_limit=6", "--clock", "20s", "--no-openings", "--workers", "1", "--no-swap", "--games", "1"]
    note = "a second answer to turn 0 came before turn 2 and was dropped"
    shown = run("match", "skysummit", spec, "random", *small, "--record", str(games)).stdout
    assert f"\nnotes on mine in 1 game; the first: {note}\n" in shown
    assert f"\nnotes:\n  mine, 1 game; the first: {note}\n" in run("records", str(games)).stdout
    assert f"\nmine: note: {note}\n" in run("replay", str(games)).stdout
    (listed,) = json.loads(run("records", str(games), "--json").stdout)
    assert listed["notes"][0][0] == note
    (record,) = archive.find([str(games)])
    found = game_result(record)
    assert GameResult.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert [(one.seat, one.first) for one in found.notes] == [(0, note)]


def game(failures: tuple[Failure, ...] = (), course: str = "") -> GameResult:
    usual = ("m", ("greedy", "random"), (1.0, -1.0), True, "", "play", (), 1, (1, 1), (0.0, 0.0), (0.0, 0.0))
    return GameResult(*usual, failures=failures, course=course)


def test_a_bot_that_fails_later_does_not_stop_the_match() -> None:
    match = SprtRun(play(["greedy", "random"], 2).spec, Sprt(0, 10), max_failures=2)
    bad = game((Failure(1, "crash", "it ended"),))
    for one in (bad, game(), bad, bad, bad):
        match.watch_failures(one)
    assert (match.stopping, match.failing) == (False, None)


def test_results_survive_json(crashing: str) -> None:
    result = play([f"mine={crashing}", "random"], 2)
    for record in result.records:
        found = game_result(record)
        assert found.failures
        assert GameResult.from_json(json.loads(json.dumps(found.to_json()))) == found
        older = {name: value for name, value in found.to_json().items() if name not in ("failures", "course")}
        assert GameResult.from_json(json.loads(json.dumps(older))).failures == ()


@pytest.fixture
def deterministic(tmp_path: Path) -> list[str]:
    (tmp_path / "first.py").write_text(FIRST)
    bot = f"cmd:{sys.executable} -S {tmp_path}/first.py"
    return [f"one={bot}", f"two={bot}"]


def test_identical_games_count_once_in_intervals(deterministic: list[str]) -> None:
    """Before, repetitions of one game made the interval as narrow as that many games."""
    two, six = play(deterministic, 2), play(deterministic, 6)
    assert (two.tally.repeats, six.tally.repeats, six.games) == (0, 4, 6)
    assert six.elo_interval == two.elo_interval
    assert (six.scores["one"].low, six.scores["one"].high) == (two.scores["one"].low, two.scores["one"].high)
    assert six.scores["one"].games == 6
    (note,) = six.notes
    assert note.startswith("4 of 6 games repeat an earlier one move by move, and count once in the intervals")
    one, three = (
        ludodrome.tournament(ludodrome.make("dots", **SMALL), deterministic, pairs=pairs, **USUAL) for pairs in (1, 3)
    )
    assert three.games == 6
    assert [line.rating for line in three.standings] == [line.rating for line in one.standings]
    assert three.notes == ["4 of 6 games repeat an earlier one move by move, and count once in the ratings"]


def test_a_sequential_test_of_bots_that_only_repeat_games_stops() -> None:
    result = play(["greedy", "random"], 2)
    same = [game_result(record) for record in result.records]
    test = SprtRun(replace(result.spec, games=1000), Sprt(0, 10))
    for _ in range(MAX_REPEATS + 1):
        for one in same:
            pairing = test.next()
            assert pairing is not None
            test.take(pairing, one)
    assert (test.counted, test.stopping, test.repeating) == (1, True, True)


NOISY = FIRST.replace("for line", 'print("Python 3, ready", flush=True)\nfor line')


def test_all_traffic_is_logged_and_noise_tolerated_on_request(tmp_path: Path) -> None:
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "noisy.py").write_text(NOISY)
    log, bots = tmp_path / "traffic.jsonl", [f"mine=cmd:{sys.executable} -S {tmp_path}/bot/noisy.py", "random"]
    strict = play(bots, 2)
    assert strict.tally.lines["mine"].verdicts["protocol"]
    result = play(bots, 2, tolerant=True, log=log)
    assert not result.tally.lines["mine"].verdicts
    assert all(record["conditions"]["tolerant"] for record in result.records)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert {(line["match"], line["dir"]) for line in lines} == {
        (record["match"], way) for record in result.records for way in ("to", "from")
    }
    assert any(line["line"] == "Python 3, ready" for line in lines)
    with pytest.raises(ValueError, match="the log /dev/null/x cannot be written: Not a directory"):
        play(bots, 2, log="/dev/null/x")
    cup = ludodrome.tournament(ludodrome.make("dots", **SMALL), bots, tolerant=True, log=log, **USUAL)
    assert not any(record["result"]["verdicts"] for record in cup.records)
    assert len(log.read_text().splitlines()) > len(lines)
