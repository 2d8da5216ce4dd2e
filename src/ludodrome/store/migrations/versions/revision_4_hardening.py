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
    """Add what databases lack that were made before revision 2 had its present form.

    It was rewritten twice after databases existed: ``league_events`` got ``pace_ms``, then came ``solved_puzzles``.
    """
    there = sa.inspect(op.get_bind())
    if "pace_ms" not in {column["name"] for column in there.get_columns("league_events")}:
        op.add_column("league_events", sa.Column("pace_ms", sa.Integer(), nullable=False, server_default=sa.text("0")))
    if "solved_puzzles" not in there.get_table_names():
        op.create_table(
            "solved_puzzles",
            sa.Column("account_id", sa.String(length=12), nullable=False),
            sa.Column("puzzle", sa.String(length=40), nullable=False),
            sa.ForeignKeyConstraint(
                ["account_id"], ["accounts.id"], name=op.f("fk_solved_puzzles_account_id_accounts"), ondelete="CASCADE"
            ),
            sa.PrimaryKeyConstraint("account_id", "puzzle", name=op.f("pk_solved_puzzles")),
        )


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
    """Changes that web processes tell each other, where the database itself cannot; caches that they share."""
    op.create_table(
        "announcements",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("topic", sa.String(length=20), nullable=False),
        sa.Column("subject", sa.String(length=60), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_announcements")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "cache_entries",
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("written", sa.BigInteger(), nullable=False),
        sa.Column("owner", sa.String(length=160), nullable=True),
        sa.Column("used", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "key", name=op.f("pk_cache_entries")),
    )
    op.create_index("cache_entries_used", "cache_entries", ["kind", "used"], unique=False)


def _league() -> None:
    """Secrets of events, private logs, marks of contended machines."""
    op.add_column("league_matches", sa.Column("pair", sa.String(length=24), nullable=True))
    op.create_index("league_matches_pair", "league_matches", ["pair"])
    op.create_table(
        "league_logs",
        sa.Column("match", sa.String(length=40), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["match"], ["league_matches.id"], name=op.f("fk_league_logs_match_league_matches"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("match", "seat", name=op.f("pk_league_logs")),
    )


def _contention() -> None:
    """Whether the machine of a game was contended; nobody measured it before."""
    op.add_column("league_games", sa.Column("contended", sa.Boolean(), nullable=False, server_default=sa.false()))
