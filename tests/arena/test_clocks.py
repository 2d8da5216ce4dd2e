"""Clocks: their text and JSON forms, what a turn may take, what is left in the bank, how long a built-in bot thinks."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludodrome.arena.clocks import MAX_COUNT, MAX_FUEL, MAX_MS, Clock, SeatClock
from ludodrome.bots.player import Budget

TIMES = st.integers(0, MAX_MS) | st.integers(0, 3000) | st.just(0)
COUNTS = st.none() | st.integers(1, MAX_COUNT)
TIMED = st.builds(Clock, TIMES, TIMES).filter(lambda clock: clock.runs) | st.builds(
    Clock, st.integers(1, MAX_MS), TIMES, TIMES
)
BANKS = st.builds(Clock, st.just(0), st.integers(1, MAX_MS), TIMES)
COUNTED = st.builds(Budget, nodes=COUNTS, sims=COUNTS, depth=COUNTS).filter(lambda budget: not budget.empty)
UNFUELED = TIMED | BANKS | st.builds(Clock, budget=COUNTED) | st.just(Clock())
FUEL = st.none() | st.integers(1, MAX_FUEL) | st.integers(1, 1000).map(lambda million: million * 10**6)
CLOCKS = st.builds(replace, UNFUELED, fuel=FUEL)


@given(CLOCKS)
def test_the_text_and_the_json_of_a_clock_lose_nothing(clock: Clock) -> None:
    assert Clock.parse(str(clock)) == clock
    assert Clock.from_json(clock.to_json()) == clock


@pytest.mark.parametrize(
    "text", ["1s", "250ms", "1234.567s", "1s+10s", "60s++1s", "60s++0s", "1s+60s++2s", "1s+0s++2s", "nodes=500"]
)
def test_clocks_are_written_as_people_write_them(text: str) -> None:
    assert str(Clock.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["nodes=100000000", "sims=20", "depth=3", "nodes=999999999,depth=9", "fuel=50M", "none"]
)
def test_counts_are_written_as_people_write_them(text: str) -> None:
    assert str(Clock.parse(text)) == text
    assert Clock.from_json(Clock.parse(text).to_json()) == Clock.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        *["", "1", "0s", "0s+0s", "1h", "1s+", "+1s", "1s+1s+1s", "99999999s", "++1s", "1s++", "1s+++1s", "-1s"],
        *["nodes=0", "nodes=x", "nodes=1000000000", "nodes=1,nodes=2", "nodes=5,", "moves=5"],
        *[
            "fuel=0",
            "fuel=",
            "fuel=1T",
            "fuel=1001G",
            "fuel=-1",
            "fuel=1.5M",
            ",fuel=5",
            "fuel=5,1s",
            "1s,fuel=5,fuel=5",
        ],
    ],
)
def test_bad_clocks_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="clock is"):
        Clock.parse(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("fuel=50M", {"fuel": 50_000_000}),
        ("fuel=1500k", {"fuel": 1_500_000}),
        ("fuel=2G", {"fuel": 2_000_000_000}),
        ("fuel=1001", {"fuel": 1001}),
        ("1s,fuel=1M", {"move_ms": 1000, "bank_ms": 0, "increment_ms": 0, "fuel": 1_000_000}),
        ("60s++1s,fuel=1M", {"move_ms": 0, "bank_ms": 60_000, "increment_ms": 1000, "fuel": 1_000_000}),
        ("nodes=5,fuel=1M", {"nodes": 5, "fuel": 1_000_000}),
    ],
)
def test_fuel_is_written_alone_or_after_another_clock(text: str, value: dict[str, int]) -> None:
    assert Clock.parse(text).to_json() == value
    assert str(Clock.parse(text)) == text


def test_fuel_limits_built_in_bots_by_positions() -> None:
    assert clock("fuel=50M").budget() == Budget(nodes=50_000)
    assert clock("fuel=1").budget() == Budget(nodes=1)
    assert clock("nodes=7,fuel=50M").budget() == Budget(nodes=7)
    both = clock("1s,fuel=50M").budget()
    assert both is not None
    assert both.nodes == 50_000
    assert both.time == clock("1s").budget().time  # type: ignore[union-attr]


def test_fuel_is_no_time() -> None:
    assert clock("fuel=50M").allowed() is None
    assert not Clock.parse("fuel=50M").runs


def test_an_increment_alone_is_not_a_clock() -> None:
    with pytest.raises(ValueError, match="a clock with an increment has a time for each move, or a bank"):
        Clock.parse("0s++1s")


@pytest.mark.parametrize(
    "value",
    [
        *[5, {}, {"move_ms": 1.5}, {"move_ms": True}, {"speed": 1}, {"move_ms": 1, "nodes": 5}, {"move_ms": -1}],
        *[{"nodes": 0}, {"nodes": MAX_COUNT + 1}, {"move_ms": MAX_MS + 1}, {"increment_ms": 5}],
        *[{"fuel": 0}, {"fuel": MAX_FUEL + 1}, {"fuel": "50M"}, {"fuel": True}, {"increment_ms": 5, "fuel": 5}],
    ],
)
def test_bad_clocks_are_refused_in_json(value: Any) -> None:
    with pytest.raises(ValueError, match="clock"):
        Clock.from_json(value)


def test_a_bot_knows_its_bank_from_its_deadline() -> None:
    fischer = Clock.parse("60s++2s")
    assert SeatClock.at_deadline(fischer, 30_000).bank == 30
    assert SeatClock.at_deadline(Clock.parse("1s+10s"), 4_000).bank == 3
    assert SeatClock.at_deadline(Clock.parse("1s+10s"), 500).bank == 0
    assert SeatClock.at_deadline(fischer, None).bank == 60


def clock(text: str) -> SeatClock:
    return SeatClock(Clock.parse(text))


def test_a_time_for_each_move() -> None:
    seat = clock("1s")
    assert seat.allowed() == 1
    assert seat.allowed(0.25) == 0.75
    seat.charge(0.9)
    assert seat.allowed() == 1


def test_a_bank_is_used_up() -> None:
    seat = clock("1s+10s")
    assert seat.allowed() == 11
    seat.charge(0.5)
    assert seat.bank == 10
    seat.charge(4)
    assert seat.bank == 7
    assert seat.allowed() == 8
    seat.charge(100)
    assert seat.bank == 0
    assert seat.allowed() == 1


def test_fischer() -> None:
    seat = clock("60s++2s")
    assert seat.allowed() == 60
    seat.charge(10)
    assert seat.bank == 52
    seat.charge(1)
    assert seat.bank == 53


def test_no_clock() -> None:
    seat = clock("none")
    assert seat.allowed() is None
    assert seat.budget() is None


def test_budgets_are_passed_through() -> None:
    seat = clock("nodes=5000")
    assert seat.allowed() is None
    assert seat.budget() == Budget(nodes=5000)


@pytest.mark.parametrize("text", ["10ms", "100ms", "1s", "60s", "1s+10s", "60s++1s", "1s++1s"])
def test_a_built_in_thinks_less_than_it_may(text: str) -> None:
    seat = clock(text)
    for _ in range(300):
        budget, allowed = seat.budget(), seat.allowed()
        assert budget is not None
        assert budget.time is not None
        assert allowed is not None
        assert 0 < budget.time <= allowed * 0.99
        assert budget.time >= 0.4 * min(allowed, Clock.parse(text).move_ms / 1000)
        seat.charge(budget.time + 0.001)


def test_what_was_spent_on_refused_tries_is_gone() -> None:
    seat = clock("1s")
    budget = seat.budget(0.9)
    assert budget is not None
    assert budget.time is not None
    assert 0.05 <= budget.time < 0.1
    assert seat.budget(1.5) == Budget(time=0)
