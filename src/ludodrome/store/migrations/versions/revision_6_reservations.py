"""Reservations of remote bots by games of people."""

import sqlalchemy as sa
from alembic import op

revision = "6"
down_revision = "5"


def upgrade() -> None:
    """From revision 5 to 6."""
    op.create_table(
        "league_reservations",
        sa.Column("bot", sa.String(length=24), nullable=False),
        sa.Column("play", sa.String(length=40), nullable=False),
        sa.Column("caller", sa.String(length=160), nullable=True),
        sa.Column("asked", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=False),
        sa.Column("process", sa.String(length=40), nullable=False),
        sa.Column("answer_by", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bot"], ["league_bots.id"], name=op.f("fk_league_reservations_bot_league_bots"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("bot", "play", name=op.f("pk_league_reservations")),
    )
    with op.batch_alter_table("league_reservations", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_league_reservations_caller"), ["caller"], unique=False)
