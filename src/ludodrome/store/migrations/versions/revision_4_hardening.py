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
    """One-time passwords, addresses of sessions, second factors, the audit log."""
    op.add_column("accounts", sa.Column("password_set", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("accounts", sa.Column("password_once", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("sign_ins", sa.Column("network", sa.String(length=60), nullable=False, server_default=""))
    op.create_table(
        "second_factors",
        sa.Column("account_id", sa.String(length=12), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("made", sa.BigInteger(), nullable=False),
        sa.Column("confirmed", sa.Boolean(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("recovery", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_second_factors_account_id_accounts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_second_factors")),
    )
    op.create_table(
        "audit_log",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor_id", sa.String(length=12), nullable=True),
        sa.Column("actor", sa.String(length=60), nullable=False),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("subject_id", sa.String(length=24), nullable=False),
        sa.Column("subject", sa.String(length=60), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("address", sa.String(length=60), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
        sqlite_autoincrement=True,
    )
    op.create_index("audit_log_action", "audit_log", ["action", "at"])
    for column in ("at", "actor_id", "subject_id"):
        op.create_index(op.f(f"ix_audit_log_{column}"), "audit_log", [column])


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
