"""``evaluate``: strength by play, and answers apart from it."""

import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ludodrome.bots import llm
from tests.bots.endpoint import Fake, serving
from tests.cli.running import PROGRAM, run


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    monkeypatch.setattr(llm, "FIRST_PAUSE", 0.01)
    with serving() as found:
        yield found


def evaluate(model: str, *words: str) -> list[dict[str, Any]]:
    done = run("evaluate", model, "--openings", "none", "--json", *words)
    assert done.exit_code == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["trials"]
    return found


def test_games_opponents_and_conditions_are_played_through(fake: Fake, tmp_path: Path) -> None:
    words = ["--game", "dots:rows=1,cols=2", "--game", "santorini", "--against", "random", "--games", "2"]
    words += ["--legal-moves", "both", "--record", str(tmp_path), "--policy", "retry:2"]
    model = fake.spec("mute")
    found = evaluate(model, *words)
    assert [(one["game"], one["opponent"], one["legal_moves"]) for one in found] == [
        ("dots", "random", True),
        ("dots", "random", False),
        ("santorini", "random", True),
        ("santorini", "random", False),
    ]
    for one in found:
        assert one["conditions"]["legal_moves"] is one["legal_moves"]
        assert one["strength"]["games"] == 0, "it never made a move of its own"
        assert one["everything"]["decided_by"] == {"forfeit": 2}
        assert one["answers"]["unparsable"] == one["answers"]["asked"] == 4
        assert one["moves"] == {"asked": 2, "own": 0, "retried": 0, "substituted": 0}
    asked = len(fake.requests)
    assert evaluate(model, *words) == found
    assert len(fake.requests) == asked, "what is in the folder is not played again"


def test_strength_counts_what_was_decided_by_play(fake: Fake) -> None:
    [one] = evaluate(fake.spec("rambling"), "--game", "santorini", "--against", "greedy", "--games", "2")
    assert one["strength"]["games"] == 2
    assert one["strength"]["losses"] == 2, "the last move of the list does not beat greedy"
    assert one["answers"]["illegal"] == one["answers"]["timed_out"] == one["answers"]["unparsable"] == 0
    assert one["moves"]["own"] == one["moves"]["asked"] == one["answers"]["asked"]
    assert one["answers"]["moves"] == one["answers"]["asked"] > 2
    assert one["answers"]["completion_tokens"] == 7 * one["answers"]["asked"]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("stubborn", "illegal"),
        ("mute", "unparsable"),
        ("declining", "refused"),
        ("slow", "timed_out"),
        ("dripping", "timed_out"),
    ],
)
def test_each_failure_is_counted_by_its_name(fake: Fake, model: str, name: str) -> None:
    fake.fault, fake.sound = model, 1  # the first question only asks whether it is there
    words = ["--game", "skysummit", "--against", "random", "--games", "2", "--policy", "forfeit"]
    [one] = evaluate(fake.spec("first", "timeout=0.2"), *words)
    assert one["answers"][name] == one["answers"]["asked"] == 2
    assert one["everything"]["losses"] == 2
    assert one["strength"]["games"] == 0


@pytest.mark.parametrize("model", ["declining", "mute", "stubborn"])
def test_moves_that_others_made_are_no_strength(fake: Fake, model: str) -> None:
    """A model that refused all 397 questions was reported at 55 %, "decided by play"."""
    words = ["--game", "dots:rows=2,cols=2", "--against", "random", "--games", "4", "--policy", "substitute"]
    [one] = evaluate(fake.spec(model), *words)
    assert one["everything"]["decided_by"] == {"play": 4}
    assert one["strength"]["games"] == one["with_substitutes"]["games"] == 0
    assert one["strength"]["share"] is None
    assert one["no_evidence"] == 4
    moves = one["moves"]
    assert moves["substituted"] == moves["asked"] == one["answers"]["asked"] > 0
    assert moves["own"] == moves["retried"] == 0


def test_games_with_some_substituted_moves_are_reported_apart(fake: Fake) -> None:
    words = ["--game", "skysummit", "--against", "greedy", "--games", "2", "--policy", "substitute"]
    [one] = evaluate(fake.spec("lapsing"), *words)
    assert one["strength"]["games"] == 0
    assert one["with_substitutes"]["games"] == 2
    assert one["moves"]["own"] >= one["moves"]["substituted"] > 0
    done = run("evaluate", fake.spec("lapsing"), *words, "--openings", "none")
    assert "Games with substituted moves" in done.stdout


def test_retried_moves_are_the_models_own(fake: Fake) -> None:
    [one] = evaluate(fake.spec("repentant"), "--game", "santorini", "--against", "random", "--games", "2")
    assert one["strength"]["games"] == 2
    moves = one["moves"]
    assert moves["retried"] == moves["own"] == moves["asked"] == one["answers"]["illegal"] > 0
    assert one["answers"]["asked"] == 2 * moves["own"]


def test_one_policy_holds_in_all_games(fake: Fake) -> None:
    words = ["--game", "dots:rows=1,cols=2", "--game", "santorini", "--game", "skysummit", "--games", "2"]
    found = evaluate(fake.spec("mute"), *words, "--against", "random")
    assert {one["conditions"]["policy"] for one in found} == {"retry:3"}
    assert {one["answers"]["asked"] for one in found} == {6}
    done = run("evaluate", fake.spec("mute"), *words, "--against", "random", "--openings", "none")
    assert "policy retry:3 in all games" in done.stdout


OUTAGES = {
    "locked": "answered 401: this key is not valid",
    "limited": "answered 429: too many requests",
    "broken": "answered 500: out of memory",
    "garbled": "is not a chat completion",
    "dying": "cannot be reached",
}
SMALL = ["--game", "dots:rows=2,cols=2", "--against", "greedy", "--games", "4", "--openings", "none", "--json"]


@pytest.mark.parametrize("fault", OUTAGES)
@pytest.mark.parametrize("sound", [0, 1, 6])
def test_an_outage_is_no_defeat_and_the_same_command_goes_on(
    fake: Fake, fault: str, sound: int, tmp_path: Path
) -> None:
    """Before the first question, before the first move, and in the middle of the games."""
    words = ["evaluate", fake.spec("first", "wait=0.1"), *SMALL, "--record", str(tmp_path)]
    fake.fault, fake.sound = fault, sound
    stopped = run(*words)
    assert stopped.exit_code == 3
    assert OUTAGES[fault] in stopped.stderr
    assert f"the same command plays what is missing in {tmp_path}" in stopped.stderr
    told = json.loads(stopped.stdout)
    assert told["complete"] is False
    assert OUTAGES[fault] in told["stopped"]
    for one in told["trials"]:
        assert one["complete"] is False
        assert OUTAGES[fault] in next(iter(one["void"]))
        assert one["everything"]["losses"] == one["strength"]["losses"], "an outage lost a game"
        assert one["strength"]["games"] + sum(one["void"].values()) <= 4
        assert one["answers"]["endpoint_errors"] > 0
    assert bool(told["trials"]) == (sound > 0), "without an answer to the first question nothing is played"
    fake.heal()
    done = run(*words)
    assert done.exit_code == 0, done.stderr
    [one] = json.loads(done.stdout)["trials"]
    assert one["complete"] is True
    assert one["strength"]["games"] == 4
    assert one["moves"]["own"] == one["moves"]["asked"]
    assert one["void"] == {}
    undisturbed = json.loads(run("evaluate", fake.spec("first", "wait=0.1"), *SMALL).stdout)["trials"][0]
    assert {**one["strength"], "score": 0} == {**undisturbed["strength"], "score": 0}


def test_a_match_stops_if_an_endpoint_is_down_and_nobody_has_lost() -> None:
    nobody = "llm:http://127.0.0.1:9/v1,model=m,wait=0"
    done = run("match", "dots", nobody, "random", "-o", "rows=2", "-o", "cols=2", "--games", "40", "--json")
    assert done.exit_code == 1
    data = json.loads(done.stdout)
    assert data["games"] == data["unrated"] < 40


def test_nobody_at_the_port_is_said_at_once() -> None:
    done = run("evaluate", "llm:http://127.0.0.1:9/v1,model=m,wait=0", *SMALL)
    assert done.exit_code == 3
    assert "does not answer: the endpoint cannot be reached" in done.stderr
    assert "with --record DIR games are kept" in done.stderr


@pytest.mark.parametrize("model", ["slow", "dripping"])
def test_an_endpoint_that_hangs_from_the_beginning_is_said_before_the_first_game(fake: Fake, model: str) -> None:
    fake.fault = model
    done = run("evaluate", fake.spec("first", "timeout=0.2"), *SMALL)
    assert done.exit_code == 3
    assert "does not answer: no answer came in time" in done.stderr
    assert json.loads(done.stdout)["trials"] == []


def test_a_short_outage_costs_nothing(fake: Fake) -> None:
    """A model lost its time, and so its game, while the endpoint asked it to wait."""
    fake.fault, fake.sound, fake.retry_after = "limited", 5, "0.5"
    threading.Timer(1.0, fake.heal).start()
    [one] = evaluate(fake.spec("first"), *SMALL[:6], "--clock", "400ms")
    assert one["strength"]["games"] == 4
    assert one["answers"]["waited_ms"] >= 500
    assert one["answers"]["timed_out"] == one["answers"]["endpoint_errors"] == 0


@pytest.mark.parametrize("workers", ["2", "4", "8"])
def test_the_default_path_draws_its_openings_in_threads(fake: Fake, workers: str) -> None:
    """Threads shared one search for drawing openings, and the process crashed."""
    words = ["--game", "skysummit:turn_limit=12", "--against", "random", "--games", "8", "--workers", workers]
    done = run("evaluate", fake.spec("first"), *words, "--json")
    assert done.exit_code == 0, done.stderr
    [one] = json.loads(done.stdout)["trials"]
    assert one["strength"]["games"] == 8
    assert one["everything"]["decided_by"] == {"play": 8}


def test_sixteen_runs_with_the_default_workers(long: bool, fake: Fake) -> None:
    """Of 16 runs 15 had failed, 4 of them with a segmentation fault."""
    for seed in range(16 if long else 2):
        words = ["--game", "skysummit:turn_limit=9", "--against", "random", "--games", "4", "--seed", str(seed)]
        done = subprocess.run([*PROGRAM, "evaluate", fake.spec("first"), *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_unknown_token_counts_are_said_to_be_unknown(fake: Fake) -> None:
    words = ["--game", "dots:rows=1,cols=1", "--against", "random", "--games", "2"]
    [one] = evaluate(fake.spec("uncounted"), *words)
    assert one["answers"]["prompt_tokens"] is one["answers"]["completion_tokens"] is None
    assert one["answers"]["uncounted"]["prompt"] == one["answers"]["finish"]["length"] == one["answers"]["moves"]
    done = run("evaluate", fake.spec("uncounted"), *words, "--openings", "none")
    assert "unknown" in done.stdout
    [other] = evaluate(fake.spec("thinking"), *words)
    assert other["answers"]["reasoning_tokens"] == 5 * other["answers"]["moves"]


def test_three_seats_are_filled_with_the_opponent(fake: Fake) -> None:
    [one] = evaluate(fake.spec("first"), "--game", "santorini:players=3", "--against", "random", "--games", "3")
    assert one["bots"][1:] == ["random", "random"]
    assert one["everything"]["games"] == 3


def test_the_tables_stand_apart(fake: Fake) -> None:
    words = ["--game", "dots:rows=1,cols=1", "--against", "random", "--games", "2", "--openings", "none"]
    done = run("evaluate", fake.spec("first"), *words)
    assert done.exit_code == 0
    strength, _, moves = done.stdout.partition("\nMoves:\n")
    assert "every move was the model's own" in strength
    assert "forfeits" in strength
    for column in ("asked", "own", "retried", "substituted", "refused", "unparsable", "timed out"):
        assert column in moves


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["llm:nowhere"], "a language model is asked for like"),
        (["random", "--legal-moves", "some"], "shown, hidden or both"),
        (["random", "--game", "chess"], "there is no game"),
        (["random", "--game", "dots:rows"], "an option is written like"),
        (["random", "--game", "dots", "--against", "nobody"], "there is no bot"),
        (["random", "--game", "dots", "--games", "3"], "not whole rounds"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(words: list[str], why: str) -> None:
    done = run("evaluate", *words)
    assert done.exit_code == 2
    assert why in done.stderr
