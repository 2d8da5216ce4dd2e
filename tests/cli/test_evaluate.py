"""``evaluate``: strength by play, and answers apart from it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ludodrome.bots import llm
from tests.bots.endpoint import Fake, serving
from tests.cli.running import run


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
        assert one["answers"]["parse_failures"] == one["answers"]["asked"] == 4
    asked = len(fake.requests)
    assert evaluate(model, *words) == found
    assert len(fake.requests) == asked, "what is in the folder is not played again"


def test_strength_counts_what_was_decided_by_play(fake: Fake) -> None:
    [one] = evaluate(fake.spec("rambling"), "--game", "santorini", "--against", "greedy", "--games", "2")
    assert one["strength"]["games"] == 2
    assert one["strength"]["losses"] == 2, "the last move of the list does not beat greedy"
    assert one["answers"]["refusals"] == one["answers"]["timeouts"] == one["answers"]["parse_failures"] == 0
    assert one["answers"]["moves"] == one["answers"]["asked"] > 2
    assert one["answers"]["completion_tokens"] == 7 * one["answers"]["asked"]


@pytest.mark.parametrize(
    ("model", "name"), [("stubborn", "refusals"), ("slow", "timeouts"), ("broken", "endpoint_errors")]
)
def test_each_failure_is_counted_by_its_name(fake: Fake, model: str, name: str) -> None:
    words = ["--game", "skysummit", "--against", "random", "--games", "2"]
    [one] = evaluate(fake.spec(model, "timeout=0.2"), *words)
    assert one["answers"][name] == one["answers"]["asked"] == 2
    assert one["everything"]["losses"] == 2
    assert one["strength"]["games"] == 0


def test_a_model_that_declines_is_counted(fake: Fake) -> None:
    [one] = evaluate(fake.spec("declining"), "--game", "dots:rows=1,cols=1", "--against", "random", "--games", "2")
    assert one["answers"]["declined"] == one["answers"]["parse_failures"] == one["answers"]["asked"] > 0
    assert one["strength"]["games"] == 2, "in dots another edge is drawn for it, and the game goes on"


def test_three_seats_are_filled_with_the_opponent(fake: Fake) -> None:
    [one] = evaluate(fake.spec("first"), "--game", "santorini:players=3", "--against", "random", "--games", "3")
    assert one["bots"][1:] == ["random", "random"]
    assert one["everything"]["games"] == 3


def test_the_tables_stand_apart(fake: Fake) -> None:
    words = ["--game", "dots:rows=1,cols=1", "--against", "random", "--games", "2", "--openings", "none"]
    done = run("evaluate", fake.spec("first"), *words)
    assert done.exit_code == 0
    strength, _, answers = done.stdout.partition("\nAnswers:\n")
    assert "decided by play" in strength
    assert "forfeits" in strength
    assert "no move" in answers
    assert "timeouts" in answers


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
