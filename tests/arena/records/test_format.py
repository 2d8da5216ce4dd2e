"""What is published of a record: old versions still verify; seeds and private words can be left out."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena import records
from ludodrome.arena.game_loop import play
from ludodrome.arena.play_spec import HASHED
from ludodrome.arena.records import BadRecord, archive, replay
from ludodrome.arena.records.notation import format_records, parse_records
from ludodrome.arena.seats import ERROR, PROTOCOL, Answer, SeatFault, Turn
from tests.arena.playing import Scripted, first, play_spec

VERSION_1 = Path(__file__).parent / "version_1.jsonl"
"""Records that the last release with version 1 wrote; in some of them a bot says a line of its source."""
SECRET_LINE = "secret_line = my_clever_table"


def telling(turn: Turn) -> Answer:
    """A seat that says a line of its source in every way it can."""
    moves = [first(turn).move]
    if turn.number == 2:
        return Answer(0.0, fault=SeatFault(ERROR, f"in main.py: {SECRET_LINE}"), log=(SECRET_LINE,))
    if turn.number == 4:
        return Answer(0.0, fault=SeatFault(PROTOCOL, f"it is not JSON: {SECRET_LINE}"), sent=f"Traceback {SECRET_LINE}")
    return Answer(0.0, moves[0], log=(SECRET_LINE,))


def told(version: int) -> dict[str, Any]:
    spec = replace(play_spec("dots", ("a", "b"), seed=2**100, rows=2, cols=2), version=version)
    record = play(spec, [Scripted(telling), Scripted(telling)])
    return {**record, "stderr": [SECRET_LINE, ""], "notes": [[], [SECRET_LINE]]}


def old_records() -> list[dict[str, Any]]:
    return list(archive.find([VERSION_1]))


def test_records_of_version_1_verify_and_can_be_rerun() -> None:
    found = old_records()
    assert [record["version"] for record in found] == [1] * 4
    for record in found:
        records.verify(record)
        assert json.dumps(list(parse_records("\n".join(format_records([record]))))) == json.dumps([record])
    assert all(turn.same for turn in replay.rerun(found[0], 1))
    assert all(turn.same for turn in replay.rerun(found[3], 0))


def test_a_touched_record_of_version_1_is_found_out() -> None:
    for record in old_records():
        record["turns"][1]["log"] = ["I was here"]
        with pytest.raises(BadRecord, match="its digest does not fit"):
            records.verify(record)


@pytest.mark.parametrize("version", [1, 2])
def test_the_public_record_verifies_without_a_bots_own_words(version: int) -> None:
    for record in [told(version), *(old_records()[1:3] if version == HASHED else ())]:
        records.verify(record)
        before = copy.deepcopy(record)
        public = records.public(record)
        assert record == before
        assert SECRET_LINE not in json.dumps(public)
        records.verify(public)
        causes = [one["cause"] for one in record["result"]["verdicts"]]
        assert [one["cause"] for one in public["result"]["verdicts"]] == causes
        assert {"it reported an error"} <= {one["why"] for one in public["result"]["verdicts"]}
        assert records.public(public) == public
        assert (public["digest"] == record["digest"]) is (version != HASHED)


def test_private_parts_are_what_the_public_record_lacks() -> None:
    first_seat, second_seat = records.private_parts(told(2))
    assert first_seat["stderr"] == SECRET_LINE
    assert second_seat["notes"] == [SECRET_LINE]
    said = {one["turn"]: one for one in first_seat["turns"]}
    assert SECRET_LINE in said[2]["verdict"]["why"]
    assert said[2]["log"] == [SECRET_LINE]
    assert SECRET_LINE in said[4]["refusals"][0]["sent"]
    assert records.private_parts(records.public(told(2))) == [{"stderr": "", "notes": [], "turns": []}] * 2


def test_a_record_verifies_with_its_seed_withheld_and_with_it() -> None:
    for game, options in (("dots", {"rows": 2, "cols": 2}), ("spaces", {"size": 2, "choice": "blind"})):
        record = play(play_spec(game, ("random", "random"), seed=2**127 + 1, **options))
        sealed = records.withheld(record)
        assert not {"seed", "seeds"} & sealed.keys()
        assert str(2**127 + 1) not in json.dumps(sealed)
        assert not any(str(seed) in json.dumps(sealed) for seed in record["seeds"])
        records.verify(record)
        records.verify(sealed)
        assert sealed["digest"] == record["digest"]
        assert records.withheld(sealed) == sealed
        assert json.dumps(list(parse_records("\n".join(format_records([sealed]))))) == json.dumps([sealed])
        assert replay.replay_record(sealed).states == replay.replay_record(record).states
        with pytest.raises(ValueError, match="the seed of this record is withheld"):
            next(replay.rerun(sealed, 0))
        changes: list[dict[str, Any]] = [{"commitment": "0" * 64}, {"commitment": 1}, {"seeds": [1, 2]}, {"start": {}}]
        for change in changes:
            with pytest.raises(BadRecord):
                records.verify(sealed | change)
    start = {**sealed["start"], "totals": [1, 0]}
    with pytest.raises(BadRecord):
        records.verify({**sealed, "start": start})


def test_version_1_cannot_be_verified_with_its_seed_withheld() -> None:
    for record in old_records():
        with pytest.raises(BadRecord, match="version 1 cannot be verified"):
            records.verify(records.withheld(record))
