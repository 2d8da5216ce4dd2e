"""What a ``turn`` carries for bots that ask for it: the clocks of all seats, and the moves since their last turn."""

import json
from dataclasses import replace
from typing import Any

import pytest

from ludodrome.arena import records
from ludodrome.arena.clocks import Clock
from ludodrome.arena.game_loop import play
from ludodrome.arena.seats import TIMEOUT, Answer, BotCapabilities, SeatFault, Turn
from tests.arena.playing import Scripted, first, play_spec


class Wanting(Scripted):
    """A seat that wants something in its turns."""

    def __init__(self, answer: Any = first, *, moves: bool = False, clocks: bool = False) -> None:
        super().__init__(answer)
        self.capabilities = BotCapabilities(wants_moves=moves, wants_clocks=clocks)

    @property
    def turns(self) -> list[dict[str, Any]]:
        return [message for message in self.heard if message["type"] == "turn"]


def slow(seconds: float) -> Any:
    return lambda turn: Answer(seconds, turn.message["legal_moves"][0])


# Clocks


def test_a_bot_that_asks_for_clocks_sees_those_of_all_seats() -> None:
    seats = [Wanting(slow(2.0), clocks=True), Wanting(slow(3.0))]
    spec = play_spec("dots", ("a", "b"), clock="60s++0s", start_ms=0, rows=1, cols=2)
    play(spec, seats)
    shown = [turn["clocks"] for turn in seats[0].turns]
    assert shown[0] == [{"seat": 0, "left_ms": 60_000}, {"seat": 1, "left_ms": 60_000}]
    assert shown[1] == [{"seat": 0, "left_ms": 58_000}, {"seat": 1, "left_ms": 57_000}]
    assert all(turn["clocks"][0]["left_ms"] == turn["deadline_ms"] for turn in seats[0].turns)
    assert all("clocks" not in turn and "moves" not in turn for turn in seats[1].turns)


def test_clocks_are_null_without_one() -> None:
    seats = [Wanting(clocks=True), Wanting()]
    play(play_spec("dots", ("a", "b"), clock="none", rows=1, cols=1), seats)
    assert seats[0].turns[0]["clocks"] == [{"seat": 0, "left_ms": None}, {"seat": 1, "left_ms": None}]


# Moves


def test_a_bot_that_asks_for_moves_gets_each_once_and_in_order() -> None:
    seats = [Wanting(moves=True), Wanting(moves=True)]
    spec = play_spec("dots", ("a", "b"), rows=1, cols=2)
    opening = play(spec, [Scripted(first), Scripted(first)])["turns"][0]["move"]
    record = play(replace(spec, opening=(opening,)), seats)
    played = [opening, *(entry["move"] for entry in record["turns"])]
    movers = [0, *(entry["seat"] for entry in record["turns"])]
    everything = [{"seat": movers[at], "turn": at, "move": played[at]} for at in range(len(played))]
    for seat in seats:
        heard = [one for turn in seat.turns for one in turn["moves"]]
        assert heard == everything[: len(heard)]
        assert len(heard) == seat.turns[-1]["turn"]


def test_a_turn_asked_again_has_the_same_moves() -> None:
    refused: list[int] = []

    def stubborn(turn: Turn) -> Answer:
        again = turn.number in refused
        refused.append(turn.number)
        return first(turn) if again else Answer(0.0, "nonsense")

    seats = [Wanting(stubborn, moves=True), Wanting(moves=True)]
    play(play_spec("santorini", ("a", "b"), policy="retry:3"), seats)
    by_turn: dict[int, list[Any]] = {}
    for turn in seats[0].turns:
        by_turn.setdefault(turn["turn"], []).append(turn["moves"])
    assert all(len(moves) == 2 and moves[0] == moves[1] for moves in by_turn.values())
    assert [one["turn"] for turn in list(by_turn)[:3] for one in by_turn[turn][0]] == [0, 1, 2, 3]


def test_a_bot_that_asks_late_gets_all_moves() -> None:
    late = Wanting()

    def answer(turn: Turn) -> Answer:
        if turn.number == 2:
            late.capabilities = BotCapabilities(wants_moves=True)
        return first(turn)

    late._answer = answer
    play(play_spec("skysummit", ("a", "b")), [late, Wanting()])
    assert "moves" not in late.turns[1]
    assert [one["turn"] for one in late.turns[2]["moves"]] == [0, 1, 2, 3]


def laying(moves: list[Any]) -> Any:
    """Lay the boards or decks of a list, one a turn."""
    given = iter(moves)
    return lambda turn: Answer(0.0, next(given))


@pytest.mark.parametrize("hidden", [{"choice": "blind", "rounds": 3}, {"mode": "deck"}])
def test_moves_do_not_show_what_is_hidden(hidden: dict[str, Any]) -> None:
    spec = play_spec("spaces", ("random", "random"), size=2, **hidden)
    recorded = play(spec)
    own = [[entry["move"] for entry in recorded["turns"] if entry["seat"] == seat] for seat in range(2)]
    seats = [Wanting(laying(own[seat]), moves=True) for seat in range(2)]
    record = play(spec, seats)
    assert [entry["move"] for entry in record["turns"]] == [entry["move"] for entry in recorded["turns"]]
    told: list[set[int]] = [set(), set()]
    for seat, other in ((0, 1), (1, 0)):
        for turn in seats[seat].turns:
            for one in turn["moves"]:
                laid = record["turns"][one["turn"]]
                assert laid["seat"] == one["seat"]
                second = turn["turn"] % 2 == 1  # the other seat has laid, face down
                face_down = second and one["seat"] == other and one["turn"] == turn["turn"] - 1
                assert one["move"] == (None if face_down else laid["move"])
                if one["move"] is not None:
                    told[seat].add(one["turn"])
    if "choice" in hidden:
        assert told == [{0, 1, 2, 3}] * 2
    else:
        assert seats[1].turns[0]["moves"] == [{"seat": 0, "turn": 0, "move": None}]
        assert json.dumps(own[0][0]) not in json.dumps(seats[1].heard[:-1])


# Handicaps


def test_each_seat_has_its_own_clock() -> None:
    seats = [Wanting(slow(2.0), clocks=True), Wanting(slow(2.0))]
    spec = play_spec("skysummit", ("a", "b"), clock="60s++0s", start_ms=0)
    handicap = replace(spec, clocks=(Clock.parse("60s++0s"), Clock.parse("5s++0s")))
    record = play(handicap, seats)
    records.verify(record)
    assert [seat.heard[0]["clock"]["bank_ms"] for seat in seats] == [60_000, 5_000]
    assert seats[0].turns[1]["clocks"] == [{"seat": 0, "left_ms": 58_000}, {"seat": 1, "left_ms": 3_000}]
    assert record["result"]["verdicts"] == [
        {"seat": 1, "cause": "timeout", "why": "its answer came too late", "turn": 5}
    ]
    assert [clock["bank_ms"] for clock in record["clocks"]] == [60_000, 5_000]
    assert handicap.match != spec.match
    record["clocks"][1]["bank_ms"] = 6_000
    with pytest.raises(records.BadRecord, match="match is "):
        records.verify(record)


def test_equal_clocks_are_no_handicap() -> None:
    spec = play_spec("skysummit", ("a", "b"))
    same = replace(spec, clocks=(spec.conditions.clock,) * 2)
    assert same == spec
    assert "clocks" not in same.to_json()
    with pytest.raises(ValueError, match="there are 2 bots and 3 clocks"):
        replace(spec, clocks=(Clock(),) * 3)


def test_clocks_of_a_play_spec_lose_nothing() -> None:
    spec = replace(play_spec("skysummit", ("a", "b")), clocks=(Clock.parse("fuel=5M"), Clock()))
    assert type(spec).from_json(json.loads(json.dumps(spec.to_json()))) == spec
    for wrong in ([], "1s", [5, 5], [None]):
        with pytest.raises(ValueError, match="clock"):
            type(spec).from_json({**spec.to_json(), "clocks": wrong})


def test_a_seat_without_a_clock_beside_one_with_a_clock_is_not_asked_again() -> None:
    """Without a clock, transports give up after a very long wait; once is enough."""
    asked: list[int] = []

    def silent(turn: Turn) -> Answer:
        asked.append(turn.number)
        return Answer(600.0, fault=SeatFault(TIMEOUT, "no answer came in time"))

    spec = play_spec("dots", ("a", "b"), policy="substitute", clock="20s", start_ms=0, rows=1, cols=2)
    record = play(replace(spec, clocks=(Clock.parse("20s"), Clock())), [Scripted(first), Scripted(silent)])
    records.verify(record)
    assert len(asked) == 1
