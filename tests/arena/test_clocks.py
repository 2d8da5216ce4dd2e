"""What a turn may take, what is left in the bank, how long a built-in thinks."""

import pytest

from ludodrome.arena.clocks import Clock, SeatClock
from ludodrome.bots.player import Budget


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
