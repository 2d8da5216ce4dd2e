"""The doctor finds what is wrong with a bot, calls it by its right grade, and says how to see it again."""

import json
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import ludodrome
from ludodrome.arena import records
from ludodrome.arena.doctor import checks, examine
from ludodrome.arena.doctor.checks import CHECKS
from ludodrome.arena.doctor.examination import (
    FAILURE,
    GRADES,
    HELD,
    NOTE,
    SKIPPED,
    WARNING,
    CheckResult,
    Examination,
    TrialGame,
)
from tests.arena.playing import AMPLE

QUIRKS = Path(__file__).with_name("quirks.py")


def quirk(kind: str) -> str:
    """The spec of a bot with one weakness."""
    return f"cmd:{sys.executable} -I -S {QUIRKS} {shlex.quote(kind)}"


def examined(game: str, spec: str, folder: Path, *only: str, **options: Any) -> list[CheckResult]:
    return list(examine(ludodrome.make(game, **options), spec, folder, clock=AMPLE, only=only))


@pytest.mark.parametrize(
    ("kind", "game", "check", "grade", "words"),
    [
        ("dead", "skysummit", "start", FAILURE, "in its first game, turn 0: crash: it exited with code 1"),
        ("illegal as seat 1", "skysummit", "seats", FAILURE, "as seat 1, turn 5: illegal: "),
        (
            "begins at the beginning",
            "caldera",
            "openings",
            FAILURE,
            "as seat 0, from an opening of 3 moves, turn 4: crash",
        ),
        ("illegal as seat 1", "skysummit", "policies", FAILURE, "with the policy substitute, turn 5: illegal: "),
        ("remembers", "dots", "long", FAILURE, "other moves being played for it, turn"),
        (
            "strict",
            "skysummit",
            "unknown",
            FAILURE,
            "unknown messages in between, turn 0: crash: it exited with code 1",
        ),
        ("answers the next turn", "dots", "observe", FAILURE, "shown the others' turns, turn 2: illegal: "),
        ("answers the next turn", "skysummit", "observe", WARNING, "shown the others' turns, turn 2: illegal: "),
        ("shy", "dots", "observe", FAILURE, "shown the others' turns, turn 0: crash: it exited with code 1"),
        ("shy", "skysummit", "observe", WARNING, "shown the others' turns, turn 0: crash: it exited with code 1"),
        ("proud", "santorini", "refused", FAILURE, "after a refusal, turn 0: crash: it exited with code 1"),
        ("proud", "skysummit", "refused", WARNING, "after a refusal, turn 0: crash: it exited with code 1"),
        ("counts on a clock", "skysummit", "clock", FAILURE, "without a clock (deadline_ms is null), turn 0: crash"),
        ("needs 150 ms", "skysummit", "clock", WARNING, "with 100 ms a move, turn "),
        ("one game", "skysummit", "again", WARNING, "in game 2 of one process, turn 1: crash: it exited with code 4"),
        ("good", "skysummit", "hidden", WARNING, "as seat 0, legal moves hidden, turn 0: crash"),
        ("knows one board", "dots", "options", WARNING, "with rows=1, cols=1, turn 1: crash"),
        ("illegal once", "santorini", "seats", WARNING, "as seat 0: 1 answer refused, first in turn 2: "),
        (
            "leaves with 3",
            "skysummit",
            "closing",
            WARNING,
            "its stdin closed: it left with code 3, where 0 would be right",
        ),
        ("talks", "skysummit", "noise", NOTE, "it writes to stderr, up to 14 characters a game"),
        ("floods stderr", "skysummit", "noise", WARNING, "it writes much to stderr: only 64 KB of each game are kept"),
        ("answers twice", "skysummit", "noise", WARNING, "it sent an unrequested message: an answer to turn 0 came"),
    ],
)
def test_a_weakness_is_found(kind: str, game: str, check: str, grade: str, words: str, tmp_path: Path) -> None:
    found = examined(game, quirk(kind), tmp_path, check)
    assert {finding.check for finding in found} == {check}
    assert [finding for finding in found if finding.grade == grade and words in finding.sentence], found
    assert GRADES.index(grade) >= max(GRADES.index(finding.grade) for finding in found if finding.grade != SKIPPED)


@pytest.mark.parametrize("game", ["skysummit", "dots"])
def test_a_bot_without_a_weakness_passes(game: str, tmp_path: Path) -> None:
    found = examined(game, quirk("good"), tmp_path)
    grades = Counter(finding.grade for finding in found)
    assert grades[FAILURE] == 0, found
    assert {finding.check for finding in found if finding.grade == WARNING} <= {"hidden", "start", "clock"}
    assert {finding.check for finding in found} == {check.name for check in CHECKS}


@pytest.mark.parametrize("game", ["skysummit", "dots"])
def test_an_answer_to_observe_does_no_harm(game: str, tmp_path: Path) -> None:
    """It is taken for no move, unless it claims to be one by the number of the next turn."""
    found = examined(game, quirk("answers observe"), tmp_path, "observe")
    assert {(finding.check, finding.grade) for finding in found} == {("observe", HELD)}, found


@pytest.mark.parametrize("game", ["skysummit", "caldera"])
def test_a_bot_of_the_older_protocol_passes(game: str, tmp_path: Path) -> None:
    """It knows ``turn`` and ``move``, and neither numbers its answers nor looks at anything else."""
    found = examined(game, quirk("plain"), tmp_path)
    assert not [finding for finding in found if finding.grade == FAILURE]
    assert {finding.check for finding in found if finding.grade == WARNING} <= {"hidden", "start", "clock"}


def test_a_bot_that_stays_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "EXIT_SECONDS", 1.0)
    (finding,) = examined("skysummit", quirk("stays"), tmp_path, "closing")
    assert finding.grade == WARNING
    assert finding.sentence == "after the greeting, its stdin closed: it had not left after 1 s, and was killed"


def test_a_bot_that_does_not_start_is_examined_no_further(tmp_path: Path) -> None:
    first, *rest = examined("skysummit", quirk("dead"), tmp_path)
    assert (first.check, first.grade, first.stderr) == ("start", FAILURE, "I will not play\n")
    assert {finding.grade for finding in rest} == {SKIPPED}
    assert len(rest) == len(CHECKS) - 1


def test_built_ins_and_classes_can_be_examined(tmp_path: Path) -> None:
    found = examined("dots", "greedy", tmp_path, rows=2, cols=2)
    assert {finding.grade for finding in found} <= {HELD, NOTE, SKIPPED}
    assert not list(tmp_path.iterdir())
    file = tmp_path / "mine.py"
    file.write_text("class Mine:\n    def choose(self, seen):\n        return '[N1C2B2C3]'\n", "utf-8")
    first, _ = examined("santorini", f"py:{file}:Mine", tmp_path, "seats")
    assert first.grade == FAILURE
    assert first.sentence.startswith("as seat 0, turn 2: illegal: No such worker there: N1 ")


def test_a_problem_can_be_reproduced(tmp_path: Path) -> None:
    (finding,) = examined("skysummit", quirk("illegal as seat 1"), tmp_path, "seats")
    game = ludodrome.make("skysummit")
    state = game.parse_state(finding.position)
    assert game.to_move(state) == 1
    show, again, rerun, feed = finding.commands
    assert show == f"ludodrome show skysummit '{finding.position}'"
    assert again.startswith("ludodrome doctor skysummit ")
    assert again.endswith(f" --clock {AMPLE} --seed 0 --only seats")
    words = shlex.split(rerun)
    record = records.read(words[2])
    records.verify(record)
    assert words[:2] + words[3:] == ["ludodrome", "rerun", "--seat", "1", quirk("illegal as seat 1")]
    assert record["result"]["verdicts"][0]["turn"] == state["ply"]
    fed = subprocess.run(feed, shell=True, capture_output=True, text=True, check=True)
    assert json.loads(fed.stdout.splitlines()[-1])["move"]["to"] == 99


def test_the_same_seed_gives_the_same_findings(tmp_path: Path) -> None:
    one, two = (examined("skysummit", quirk("illegal as seat 1"), tmp_path / name, "seats") for name in "ab")
    assert [(a.sentence, a.position) for a in one] == [(b.sentence, b.position) for b in two]


def test_positions_with_something_hidden_are_shown_as_json(tmp_path: Path) -> None:
    on = Examination(ludodrome.make("spaces", choice="blind"), quirk("good"), 0, AMPLE, tmp_path)
    played = on.play(TrialGame("as seat 1", 1))  # in spaces there are no legal moves from which it could choose
    finding = on.verdict_result("seats", played)
    assert finding.sentence == "as seat 1, turn 1: crash: it exited with code 1"
    assert json.loads(finding.position)["choice"] == "blind"


def test_findings_are_json() -> None:
    assert CheckResult("a", HELD, "b").to_json() == {"check": "a", "grade": HELD, "sentence": "b"}
    full = CheckResult("a", HELD, "b", "c", "d", ("e",)).to_json()
    assert json.loads(json.dumps(full)) == full
    assert full["commands"] == ["e"]


@pytest.mark.parametrize(
    ("spec", "clock", "only", "sentence"),
    [
        ("greedy", "1s", ["luck"], "there is no check 'luck'; the checks are start, seats"),
        ("greedy", "soon", [], "'soon' is not a time"),
        ("cmd:/nowhere/bot", "1s", [], "the program /nowhere/bot of the bot cmd:/nowhere/bot cannot be found"),
        ("grady", "1s", [], "there is no bot 'grady'"),
    ],
)
def test_refusals(spec: str, clock: str, only: list[str], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=sentence.replace("/", ".")):
        examine(ludodrome.make("dots"), spec, tmp_path, clock=clock, only=only)


def test_unusual_options_exist() -> None:
    for game in ludodrome.game_ids():
        choices = ludodrome.make(game).doctor_options
        assert choices
        for options in choices:
            ludodrome.make(game, **options)
