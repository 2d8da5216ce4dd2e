"""Telemetry: what is accepted, how much of it a record keeps, and who may read it."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena import records, telemetry
from ludodrome.arena.game_loop import play
from ludodrome.arena.records import format as record_format
from ludodrome.arena.records.notation import format_records, parse_records
from ludodrome.arena.seats import Answer, Turn
from ludodrome.arena.telemetry import MAX_TURN_INFO
from ludodrome.games import make
from tests.arena.playing import Scripted, first, play_spec

SAID = (
    {"score": 10, "depth": 1, "nodes": 20, "pv": ["a", {"t": "b"}], "text": "secret plan"},
    {"score": -2.5, "depth": 2},
    {"text": "done"},
)


def saying(*infos: dict[str, Any]) -> Callable[[Turn], Answer]:
    return lambda turn: Answer(0.0, turn.message["legal_moves"][0], info=infos, log=("a log",))


def played(*infos: dict[str, Any]) -> dict[str, Any]:
    """A game of dots in which seat 0 sends telemetry and seat 1 does not."""
    spec = play_spec("dots", ("a", "b"), rows=1, cols=2)
    return play(spec, [Scripted(saying(*infos)), Scripted(first)])


# Records


def test_a_record_keeps_telemetry_by_turn_and_verifies() -> None:
    record = played(*SAID)
    records.verify(record)
    for entry in record["turns"]:
        assert entry.get("info") == (list(SAID) if entry["seat"] == 0 else None)
    assert record_format.from_text(records.to_text(record).encode()) == record
    assert list(parse_records("\n".join(format_records([record])))) == [record]


def test_digests_do_not_depend_on_telemetry() -> None:
    said, silent = played(*SAID), played()
    assert said["digest"] == silent["digest"]
    assert [entry["digest"] for entry in said["turns"]] == [entry["digest"] for entry in silent["turns"]]


def test_a_turn_keeps_its_last_messages() -> None:
    many = [{"text": f"{number:04d}" + "x" * 990} for number in range(100)]
    record = played(*many)
    records.verify(record)
    kept = record["turns"][0]["info"]
    assert kept == many[-len(kept) :]
    assert MAX_TURN_INFO - 1100 < sum(map(telemetry.size, kept)) <= MAX_TURN_INFO
    assert record["notes"] == [
        ["it sent more telemetry than a record keeps; the earlier part of some turns was left out"],
        [],
    ]


def test_a_record_keeps_numbers_when_it_has_no_room_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "MAX_RECORD_INFO", 1000)
    record = played({"score": 3, "nodes": 9, "text": "x" * 600})
    records.verify(record)
    kept = [entry["info"] for entry in record["turns"] if "info" in entry]
    assert len(kept) > 2
    assert "text" in kept[0][0]
    assert kept[1:] == [[{"score": 3, "nodes": 9}]] * (len(kept) - 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        [],
        ["x"],
        [{}],
        [{"score": None}],
        [{"score": 1, "seat": 2}],
        [{"text": "a\0"}],
        [{"text": "x" * 990}] * 67,
        [{"score": [1]}],
    ],
)
def test_impossible_telemetry_does_not_verify(wrong: Any) -> None:
    record = played(*SAID)
    record["turns"][0]["info"] = wrong
    with pytest.raises(records.BadRecord, match="turn 0: "):
        records.verify(record)


# From a program

TALKER = """import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "wants": ["moves", "clocks"]}), flush=True)
    if message["type"] == "turn":
        heard = {"moves": [one["turn"] for one in message.get("moves", ())], "clocks": len(message.get("clocks", ()))}
        print(json.dumps({"type": "info", "turn": message["turn"], "score": 1.5, "text": json.dumps(heard)}))
        print(json.dumps({"type": "info", "score": "high"}))
        print(json.dumps({"type": "move", "move": message["legal_moves"][0], "turn": message["turn"]}), flush=True)
"""


def test_a_program_sends_telemetry_and_gets_moves_and_clocks(tmp_path: Path) -> None:
    (tmp_path / "talker.py").write_text(TALKER)
    talker = f"cmd:{sys.executable} -I -S {tmp_path / 'talker.py'}"
    record = play(play_spec("skysummit", (talker, "greedy"), policy="forfeit"))
    records.verify(record)
    own = [entry for entry in record["turns"] if entry["seat"] == 0]
    assert all([info["score"] for info in entry["info"]] == [1.5] for entry in own)
    assert record["notes"][0][0].startswith("info in turn 0 was dropped: score of info is a number, not 'high'")
    heard = [json.loads(entry["info"][0]["text"]) for entry in own]
    assert all(one["clocks"] == 2 for one in heard[1:])  # the first turn may have been sent before ready was read
    moves = [turn for one in heard for turn in one["moves"]]
    assert moves == list(range(own[-1]["turn"]))


# Who may read it


def test_everybody_reads_the_last_numbers_and_the_owner_reads_all() -> None:
    record = played(*SAID)
    public = records.public(record)
    records.verify(public)
    assert public["digest"] == record["digest"]
    assert public["turns"][0]["info"] == [{"score": -2.5, "depth": 2, "nodes": 20}]
    assert "secret plan" not in json.dumps(public)
    owner, other = records.private_parts(record)
    assert owner["turns"][0] == {"turn": 0, "log": ["a log"], "info": list(SAID)}
    assert other["turns"] == []


def test_telemetry_without_numbers_is_for_the_owner_alone() -> None:
    public = records.public(played({"text": "secret plan", "pv": ["x"]}))
    assert all("info" not in entry for entry in public["turns"])


# Built-in bots


@pytest.mark.parametrize("game", ["skysummit", "dots"])
def test_built_in_searches_say_what_they_think(game: str) -> None:
    options: dict[str, Any] = {"rows": 2, "cols": 2} if game == "dots" else {"turn_limit": 12}
    record = play(play_spec(game, ("alphabeta:nodes=500", "random"), clock="none", **options))
    records.verify(record)
    made = make(game, **options)
    state = records.first_state(made, record)
    for entry in record["turns"]:
        if entry["seat"] == 0:
            (said,) = entry["info"]
            assert set(said) == {"score", "depth", "nodes", "pv"}
            assert said["pv"][0] == entry["move"]
            line = state
            for move in said["pv"]:
                line = made.apply(line, move)
        else:
            assert "info" not in entry
        state = made.apply(state, entry["move"])
    last = [entry for entry in record["turns"] if entry["seat"] == 0][-1]["info"][0]
    if game == "dots":  # the last search sees the end of the game
        assert last["score"] == 100 * (state["scores"][0] - state["scores"][1])
