"""Queries about what callers have used, counted over all web processes. ``web/budgets.py`` has the budgets.

A leaky bucket is one row that all processes add to; its level sinks with time. What is open has a row for each process,
which expires unless the process confirms it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Engine, delete, func, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from ludodrome.store.database import writing
from ludodrome.store.models import BudgetLevelRow, BudgetOpenRow, now_ms

OPEN_MS = 15_000
"""How long what a process has open counts without being confirmed."""
LEVEL_MS = 2 * 3600 * 1000
"""How long an unused bucket is kept: longer than the slowest needs to become empty."""
BATCH = 400
"""Rows of one statement, at most: SQLite limits its parameters."""

Bucket = tuple[str, str]
"""The kind of a budget, and the caller."""


class Addition(NamedTuple):
    """An amount for a bucket that loses ``leak`` per second."""

    amount: float
    leak: float


def add_to_levels(
    engine: Engine, additions: Mapping[Bucket, Addition], limit: float | None = None
) -> tuple[dict[Bucket, float], bool]:
    """Add to buckets in one transaction; their new levels, and True.

    With a ``limit``, nothing is added if a level would exceed it: the present levels, and False.
    """
    found: dict[Bucket, float] = {}
    buckets = sorted(additions)  # one order in all processes: no deadlock
    with writing(engine) as session:
        _create(session, buckets)
        for some in _batches(buckets):
            wanted = select(BudgetLevelRow).where(tuple_(BudgetLevelRow.kind, BudgetLevelRow.caller).in_(some))
            ordered = wanted.order_by(BudgetLevelRow.kind, BudgetLevelRow.caller).with_for_update()
            moment = now_ms()
            for row in session.scalars(ordered):
                leaked = max(0, moment - row.at) / 1000 * additions[row.kind, row.caller].leak
                found[row.kind, row.caller] = max(0.0, row.level - leaked)
        if limit is not None and any(level + additions[one].amount > limit for one, level in found.items()):
            return found, False
        for one in buckets:
            found[one] = max(0.0, found[one] + additions[one].amount)
            mine = update(BudgetLevelRow).where(BudgetLevelRow.kind == one[0], BudgetLevelRow.caller == one[1])
            changed = mine.execution_options(synchronize_session=False)
            session.execute(changed.values(level=found[one], at=moment))
    return found, True


def _create(session: Session, buckets: Sequence[Bucket]) -> None:
    """Insert empty buckets where there are none."""
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    for some in _batches(buckets):
        rows = [{"kind": kind, "caller": caller, "level": 0.0, "at": now_ms()} for kind, caller in some]
        session.execute(insert(BudgetLevelRow).values(rows).on_conflict_do_nothing())


def confirm_open(engine: Engine, process: str, counts: Mapping[Bucket, int]) -> None:
    """Write what is open at a process for these callers; a count of 0 deletes the row."""
    dialect = postgresql if engine.dialect.name == "postgresql" else sqlite
    ordered = sorted(counts)
    with writing(engine) as session:
        for some in _batches([one for one in ordered if counts[one]]):
            rows = [
                {"process": process, "kind": kind, "caller": caller, "open": counts[kind, caller], "at": now_ms()}
                for kind, caller in some
            ]
            insert = dialect.insert(BudgetOpenRow).values(rows)
            keys = [BudgetOpenRow.process, BudgetOpenRow.kind, BudgetOpenRow.caller]
            new = {"open": insert.excluded.open, "at": insert.excluded.at}
            session.execute(insert.on_conflict_do_update(index_elements=keys, set_=new))
        for some in _batches([one for one in ordered if not counts[one]]):
            mine = delete(BudgetOpenRow).where(BudgetOpenRow.process == process)
            session.execute(mine.where(tuple_(BudgetOpenRow.kind, BudgetOpenRow.caller).in_(some)))


def open_elsewhere(engine: Engine, process: str) -> dict[Bucket, int]:
    """What callers have open at the other processes."""
    total = func.sum(BudgetOpenRow.open)
    wanted = select(BudgetOpenRow.kind, BudgetOpenRow.caller, total).where(
        BudgetOpenRow.process != process, BudgetOpenRow.at > now_ms() - OPEN_MS
    )
    with Session(engine) as session:
        rows = session.execute(wanted.group_by(BudgetOpenRow.kind, BudgetOpenRow.caller)).tuples()
        return {(kind, caller): int(count) for kind, caller, count in rows}


def expire(engine: Engine) -> None:
    """Delete the rows of dead processes, and of buckets that are long empty."""
    with Session(engine) as session:
        session.execute(delete(BudgetOpenRow).where(BudgetOpenRow.at < now_ms() - 4 * OPEN_MS))
        session.execute(delete(BudgetLevelRow).where(BudgetLevelRow.at < now_ms() - LEVEL_MS))
        session.commit()


def leave(engine: Engine, process: str) -> None:
    """Delete what a process had open: it ends."""
    with Session(engine) as session:
        session.execute(delete(BudgetOpenRow).where(BudgetOpenRow.process == process))
        session.commit()


def _batches(buckets: Sequence[Bucket]) -> list[list[Bucket]]:
    return [list(buckets[at : at + BATCH]) for at in range(0, len(buckets), BATCH)]
