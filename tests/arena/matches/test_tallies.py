"""What counts of a record, and what many come to."""

import json

import pytest

from ludodrome.arena.game_loop import play
from ludodrome.arena.matches.match import MatchSpec
from ludodrome.arena.matches.tallies import GameResult, MatchTally, game_result
from tests.arena.quick import match_settings

pytestmark = pytest.mark.xdist_group("dots")


def game(first: float, names: tuple[str, ...] = ("a", "b"), rated: bool = True, **changed: object) -> GameResult:
    usual = {
        "match": "m-1",
        "names": names,
        "returns": (first, -first),
        "rated": rated,
        "reason": "over",
        "decided_by": "play",
        "verdicts": (),
        "length": 10,
        "moves": (5, 5),
        "ms": (10.0, 20.0),
        "slowest_ms": (4.0, 5.0),
    }
    return GameResult(**(usual | changed))  # type: ignore[arg-type]


def test_what_counts_of_a_record() -> None:
    match = MatchSpec(match_settings(), ("random", "greedy"), ("r", "g"), 2)
    record = play(next(match.pairings()).play_spec(()))
    found = game_result(record)
    assert found.match == record["match"]
    assert found.names == ("r", "g")
    assert found.length == sum(found.moves) == len(record["turns"]) == 12
    assert found.decided_by == "play"
    assert sum(found.points) == 1
    assert all(slowest <= total for slowest, total in zip(found.slowest_ms, found.ms, strict=True))
    assert GameResult.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_verdicts_survive_json() -> None:
    found = game(1, verdicts=((1, "timeout"), (1, "crash")), decided_by="forfeit")
    assert GameResult.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_tally() -> None:
    tally = MatchTally(["a", "b"], 2)
    tally.add(game(1), 0)
    tally.add(game(1, ("b", "a"), length=20), 0)
    tally.add(game(0, reason="a draw"), 1)
    tally.add(game(-1, verdicts=((0, "timeout"),), decided_by="forfeit", reason="timeout"), 2)
    tally.add(game(0, rated=False, decided_by="arena", reason="the arena failed"), 2)
    a, b = tally.lines["a"], tally.lines["b"]
    assert (a.wins, a.draws, a.losses, a.points) == (1, 1, 2, 1.5)
    assert (b.wins, b.draws, b.losses, b.points) == (2, 1, 1, 2.5)
    assert (tally.games, tally.unrated, tally.by_harness) == (5, 1, 2)
    assert a.verdicts == {"timeout": 1}
    assert tally.seat_points == [2.5, 1.5]
    assert (a.moves, a.ms, a.slowest_ms) == (25, 60.0, 5.0)
    data = tally.to_json()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["length"] == {"mean": 12.0, "least": 10, "most": 20}
    assert list(data["reasons"]) == ["over", "a draw", "the arena failed", "timeout"]
    assert data["score"]["wins"] == 1
    assert data["decided_by"] == {"arena": 1, "forfeit": 1, "play": 3}


def test_an_empty_tally_has_no_strange_numbers() -> None:
    assert json.dumps(MatchTally(["a", "b"], 2).to_json(), allow_nan=False)
    assert json.dumps(MatchTally(["a", "b", "c"], 3).to_json(), allow_nan=False)


def test_three_seats_share_the_first_place() -> None:
    tally = MatchTally(["a", "b", "c"], 3)
    three = {"moves": (1, 1, 1), "ms": (0, 0, 0), "slowest_ms": (0, 0, 0)}
    tally.add(game(0, returns=(0.5, 0.5, -1), names=("a", "b", "c"), **three), 0)  # type: ignore[arg-type]
    assert [line.points for line in tally.lines.values()] == [0.5, 0.5, 0]
    assert [(line.wins, line.draws, line.losses) for line in tally.lines.values()] == [(0, 1, 0), (0, 1, 0), (0, 0, 1)]
    with pytest.raises(ValueError, match="Elo compares two players"):
        tally.score("a")
    assert tally.to_json()["score"] is None
