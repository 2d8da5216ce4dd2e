"""Budgets: rates, what is open, several processes, fair threads, and the table in the documentation."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastapi import HTTPException
from sqlalchemy import Engine

from ludodrome.store import usage
from ludodrome.web.budgets import BUDGETS, Allowance, Budgets, CallerBudget, budget_table, is_exempt
from tests.attacks.sockets import eventually
from tests.web.hosting import hosting

SMALL = {
    "ask": Allowance(10, 1e9),
    "rare": Allowance(4, 1e9, strict=True),
    "open": Allowance(4, None),
    "seconds": Allowance(5, 1e9),
}
PAGE = Path(__file__).parent.parent.parent / "docs" / "how-to" / "hosting.md"


def refused(limits: Budgets, kind: str, *keys: str) -> bool:
    """Whether a use is one too many."""
    try:
        limits.take(kind, *keys)
    except HTTPException as error:
        return error.status_code == 429 and int((error.headers or {})["retry-after"]) > 0
    return False


def full(limits: Budgets, kind: str, *keys: str) -> bool:
    """Whether too much is open."""
    try:
        limits.acquire(kind, *keys)
    except HTTPException as error:
        return error.status_code == 429
    return False


def test_the_documentation_has_the_table() -> None:
    assert budget_table() in PAGE.read_text("utf-8"), f"the table is:\n{budget_table()}"


@pytest.mark.parametrize(
    ("mode", "address", "exempt"),
    [
        ("local", "127.0.0.1", True),
        ("lan", "127.0.0.1", True),
        ("lan", "192.168.1.5", False),
        ("hosted", "127.0.0.1", False),
        ("hosted", "::1", False),
    ],
)
def test_who_has_no_limits(mode: str, address: str, exempt: bool) -> None:
    assert is_exempt(mode, address) is exempt


def test_what_is_open_is_closed_again() -> None:
    limits = Budgets(SMALL)
    with limits.hold("open", "a", "b"), limits.hold("open", "b"), limits.hold("open", "b"), limits.hold("open", "b"):
        assert full(limits, "open", "a", "b")
        assert limits.open_of("open", "a") == 1  # a refused use counts nowhere
        assert not full(limits, "open", "a")
        limits.release("open", "a")
    assert limits.open_of("open", "a") == limits.open_of("open", "b") == 0
    assert not limits._open


def test_seconds_are_counted_after_they_were_used() -> None:
    limits = Budgets(SMALL)
    budget = CallerBudget(limits, ("a",))
    with budget.timed("seconds"):
        limits.charge("seconds", "a", cost=100.0)
    with pytest.raises(HTTPException), budget.timed("seconds"):
        pytest.fail("nothing is left")


# Several processes


def test_rates_are_exact_up_to_an_exchange(engine: Engine) -> None:
    one, two = Budgets(SMALL, engine=engine), Budgets(SMALL, engine=engine)
    for _ in range(6):
        one.take("ask", "a")
    one.exchange()
    two.take("ask", "a")  # it does not know of the six yet
    two.exchange()
    for _ in range(3):
        two.take("ask", "a")
    assert refused(two, "ask", "a")
    two.exchange()
    one.take("ask", "b")
    one.take("ask", "a")  # the eleventh: the price of counting in memory
    one.exchange()
    assert refused(one, "ask", "a")
    assert not refused(one, "ask", "b")


def test_rare_kinds_are_exact_at_once(engine: Engine) -> None:
    one, two = Budgets(SMALL, engine=engine), Budgets(SMALL, engine=engine)
    with ThreadPoolExecutor(4) as crowd:
        answers = list(crowd.map(lambda number: refused((one, two)[number % 2], "rare", "a", "b"), range(20)))
    assert answers.count(False) == 4


def test_what_is_open_counts_in_all_processes(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = Budgets(SMALL, engine=engine), Budgets(SMALL, engine=engine)
    for _ in range(3):
        one.acquire("open", "a")
    one.exchange()
    two.exchange()
    assert not full(two, "open", "a")
    assert full(two, "open", "a")
    one.release("open", "a")
    one.exchange()
    two.exchange()
    assert not full(two, "open", "a")
    one.close()
    two.exchange()
    assert not full(two, "open", "a")
    monkeypatch.setattr(usage, "OPEN_MS", -1)  # as if the second had been killed long ago
    three = Budgets(SMALL, engine=engine)
    three.exchange()
    assert [full(three, "open", "a") for _ in range(5)] == [False] * 4 + [True]


def test_a_process_confirms_what_stays_open(engine: Engine) -> None:
    clock = [0.0]
    one, two = Budgets(SMALL, lambda: clock[0], engine), Budgets(SMALL, engine=engine)
    one.acquire("open", "a")
    one.exchange()
    usage.leave(engine, one.process)  # as if it had expired
    clock[0] = 1.0
    one.exchange()
    two.exchange()
    assert not two._elsewhere
    clock[0] = 10.0
    one.exchange()
    two.exchange()
    assert two._elsewhere == {("open", "a"): 1}


def test_a_failing_database_loses_no_count(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlalchemy.exc import OperationalError

    def fail(*arguments: object) -> None:
        raise OperationalError("gone", None, Exception())

    one, two = Budgets(SMALL, engine=engine), Budgets(SMALL, engine=engine)
    for _ in range(10):
        one.take("ask", "a")
    with monkeypatch.context() as patched:
        patched.setattr(usage, "add_to_levels", fail)
        with pytest.raises(OperationalError):
            one.exchange()
    assert refused(one, "ask", "a")
    one.exchange()
    two.take("ask", "a")
    two.exchange()
    assert refused(two, "ask", "a")


def test_the_exchange_runs_by_itself(engine: Engine) -> None:
    one, two = Budgets(SMALL, engine=engine), Budgets(SMALL, engine=engine)
    one.start()
    two.start()
    try:
        one.acquire("open", "a")
        assert eventually(lambda: two._elsewhere == {("open", "a"): 1})
    finally:
        one.close()
        assert eventually(lambda: not two._elsewhere)
        two.close()


def test_one_process_asks_no_database() -> None:
    with hosting() as running:
        assert running.app.state.limits._thread is None
    with hosting(processes=2) as running, running.client() as client:
        running.app.state.limits = Budgets(engine=running.engine)
        assert client.get("/health").status_code == 200


def test_app_shares_counts_if_there_are_several_processes(engine: Engine) -> None:
    from ludodrome.web.app import create_app

    assert create_app(engine).state.limits._engine is None
    assert create_app(engine, processes=2).state.limits._engine is engine


def test_amounts_are_sensible() -> None:
    for kind, one in BUDGETS.items():
        assert one.amount > 0, kind
        assert one.seconds is None or one.seconds <= usage.LEVEL_MS / 1000, kind
        assert len(kind) <= 20
