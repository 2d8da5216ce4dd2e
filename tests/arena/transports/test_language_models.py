"""Language models in the arena: policies, conditions, time, records."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ludodrome.arena import game_loop, records
from ludodrome.bots import llm
from tests.arena.playing import play_spec
from tests.bots.endpoint import Fake, serving

Record = dict[str, Any]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    monkeypatch.setattr(llm, "FIRST_PAUSE", 0.01)
    with serving() as found:
        yield found


def exchanges(record: Record) -> list[Record]:
    return [json.loads(text) for turn in record["turns"] for text in turn.get("log", ())]


def test_a_game_is_recorded_with_all_that_was_said(fake: Fake) -> None:
    record = game_loop.play(play_spec("santorini", (fake.spec("rambling"), "random")))
    records.verify(records.from_text(records.to_text(record).encode()))
    assert record["result"]["decided_by"] == "play"
    said = exchanges(record)
    assert len(said) == sum(turn["seat"] == 0 for turn in record["turns"])
    assert all(one["tokens"] == {"prompt": 100, "completion": 7} for one in said)
    assert all(one["reply"].startswith("<think>") for one in said)
    assert "**R1. " in said[0]["messages"][0]["content"]
    assert "sha256" in said[1]["messages"][0]


@pytest.mark.parametrize("shown", [True, False])
def test_whether_legal_moves_are_shown_is_a_condition(fake: Fake, shown: bool) -> None:
    record = game_loop.play(play_spec("dots", (fake.spec("mute"), "random"), rows=1, cols=1, legal_moves=shown))
    assert record["conditions"]["legal_moves"] is shown
    assert all(("Legal moves (" in request["messages"][1]["content"]) is shown for request in fake.requests)


def test_wrong_answers_are_retried_as_the_policy_says(fake: Fake) -> None:
    record = game_loop.play(play_spec("santorini", (fake.spec("repentant"), "random"), policy="retry:3"))
    records.verify(record)
    turn = record["turns"][0]
    assert len(turn["refusals"]) == 1
    assert "N1A1A1A1" in turn["refusals"][0]["sent"]
    assert "No such worker there" in turn["refusals"][0]["why"]
    assert "You have 2 tries left" in fake.requests[1]["messages"][-1]["content"]
    assert "verdict" not in turn


@pytest.mark.parametrize(("model", "why"), [("mute", "No move was found"), ("stubborn", "No such worker there")])
def test_the_last_try_forfeits(fake: Fake, model: str, why: str) -> None:
    record = game_loop.play(play_spec("santorini", (fake.spec(model), "random"), policy="retry:3"))
    records.verify(record)
    assert record["result"]["decided_by"] == "forfeit"
    assert record["result"]["verdicts"][0]["cause"] == "illegal"
    assert why in record["result"]["verdicts"][0]["why"]
    assert len(record["turns"][0]["refusals"]) == len(fake.requests) == 3


def test_in_dots_the_first_edge_is_drawn_for_a_model_without_a_move(fake: Fake) -> None:
    record = game_loop.play(play_spec("dots", (fake.spec("mute"), "random"), rows=1, cols=2))
    records.verify(record)
    mine = [turn for turn in record["turns"] if turn["seat"] == 0]
    assert mine
    assert all(turn["substituted"] and turn["verdict"]["cause"] == "illegal" for turn in mine)
    assert record["result"]["decided_by"] == "play"


def test_lateness_is_a_timeout_and_a_broken_endpoint_the_arenas_fault(fake: Fake) -> None:
    late = game_loop.play(play_spec("skysummit", (fake.spec("slow"), "random"), clock="200ms", start_ms=0))
    assert late["result"]["verdicts"][0]["cause"] == "timeout"
    assert exchanges(late)[0]["outcome"] == "timeout"
    broken = game_loop.play(play_spec("skysummit", (fake.spec("broken", "wait=0"), "random")))
    assert (broken["result"]["verdicts"][0]["cause"], broken["result"]["rated"]) == ("arena", False)
    assert "out of memory" in broken["result"]["verdicts"][0]["why"]
    for record in (late, broken):
        records.verify(record)
