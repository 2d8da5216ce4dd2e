"""What callers have used, over several web processes, in both databases."""

import pytest
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from ludodrome.store import usage
from ludodrome.store.models import BudgetLevelRow, BudgetOpenRow
from ludodrome.store.usage import Addition

ADA, BOB = ("writes", "account ada"), ("writes", "account bob")


def test_levels_add_up(engine: Engine) -> None:
    assert usage.add_to_levels(engine, {ADA: Addition(2, 0.0)}) == ({ADA: 2.0}, True)
    assert usage.add_to_levels(engine, {ADA: Addition(3, 0.0), BOB: Addition(1, 0.0)}) == ({ADA: 5.0, BOB: 1.0}, True)
    assert usage.add_to_levels(engine, {ADA: Addition(1, 0.0), BOB: Addition(1, 0.0)}, 5) == (
        {ADA: 5.0, BOB: 1.0},
        False,
    )
    assert usage.add_to_levels(engine, {BOB: Addition(4, 0.0)}, 5) == ({BOB: 5.0}, True)


def test_levels_leak(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000]
    monkeypatch.setattr(usage, "now_ms", lambda: now[0])
    usage.add_to_levels(engine, {ADA: Addition(10, 2.0)})
    now[0] += 3000
    assert usage.add_to_levels(engine, {ADA: Addition(1, 2.0)})[0] == {ADA: 5.0}
    now[0] -= 60_000  # a clock that was set back
    assert usage.add_to_levels(engine, {ADA: Addition(1, 2.0)})[0] == {ADA: 6.0}


def test_many_levels_at_once(engine: Engine) -> None:
    many = {("reads", f"from {number}"): Addition(1, 0.0) for number in range(1000)}
    usage.add_to_levels(engine, many)
    found, _ = usage.add_to_levels(engine, many)
    assert len(found) == 1000
    assert set(found.values()) == {2.0}


def test_what_is_open_elsewhere(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000]
    monkeypatch.setattr(usage, "now_ms", lambda: now[0])
    usage.confirm_open(engine, "one", {ADA: 3, BOB: 1})
    usage.confirm_open(engine, "two", {ADA: 2})
    assert usage.open_elsewhere(engine, "one") == {ADA: 2}
    assert usage.open_elsewhere(engine, "three") == {ADA: 5, BOB: 1}
    usage.confirm_open(engine, "one", {ADA: 4, BOB: 0})
    assert usage.open_elsewhere(engine, "three") == {ADA: 6}
    usage.leave(engine, "two")
    assert usage.open_elsewhere(engine, "three") == {ADA: 4}
    now[0] += usage.OPEN_MS + 1  # the first was killed
    assert usage.open_elsewhere(engine, "three") == {}


def test_old_rows_expire(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000]
    monkeypatch.setattr(usage, "now_ms", lambda: now[0])
    usage.add_to_levels(engine, {ADA: Addition(1, 0.0)})
    usage.confirm_open(engine, "one", {ADA: 3})
    usage.expire(engine)
    assert _rows(engine) == (1, 1)
    now[0] += 5 * usage.OPEN_MS
    usage.expire(engine)
    assert _rows(engine) == (1, 0)
    now[0] += usage.LEVEL_MS
    usage.expire(engine)
    assert _rows(engine) == (0, 0)


def _rows(engine: Engine) -> tuple[int, int]:
    with Session(engine) as session:
        levels, opened = (
            session.scalar(select(func.count()).select_from(table)) for table in (BudgetLevelRow, BudgetOpenRow)
        )
    return levels or 0, opened or 0
