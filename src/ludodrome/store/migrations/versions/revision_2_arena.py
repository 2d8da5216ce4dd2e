"""Accounts, the league and people's games."""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """From revision 1 to 2."""
    op.create_table(
        "accounts",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("name", sa.String(length=30), nullable=False),
        sa.Column("folded", sa.String(length=120), nullable=False),
        sa.Column("password", sa.String(length=200), nullable=True),
        sa.Column("admin", sa.Boolean(), nullable=False),
        sa.Column("banned", sa.Boolean(), nullable=False),
        sa.Column("made", sa.String(length=40), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("folded", name=op.f("uq_accounts_folded")),
    )
    op.create_table(
        "league_ladders",
        sa.Column("game", sa.String(length=40), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("game", name=op.f("pk_league_ladders")),
    )
    op.create_table(
        "league_runners",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("ladder", sa.String(length=10), nullable=False),
        sa.Column("workers", sa.Integer(), nullable=False),
        sa.Column("word", sa.String(length=200), nullable=False),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_league_runners")),
    )
    op.create_table(
        "league_bots",
        sa.Column("id", sa.String(length=24), nullable=False),
        sa.Column("game", sa.String(length=40), nullable=False),
        sa.Column("owner", sa.String(length=12), nullable=True),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("key", sa.String(length=120), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("spec", sa.String(length=200), nullable=False),
        sa.Column("token", sa.String(length=64), nullable=True),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("retired", sa.BigInteger(), nullable=True),
        sa.Column("banned", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["accounts.id"], name=op.f("fk_league_bots_owner_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_league_bots")),
        sa.UniqueConstraint("game", "key", name="league_bots_game_key"),
    )
    with op.batch_alter_table("league_bots", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_league_bots_owner"), ["owner"], unique=False)
        batch_op.create_index(batch_op.f("ix_league_bots_token"), ["token"], unique=False)

    op.create_table(
        "league_events",
        sa.Column("id", sa.String(length=24), nullable=False),
        sa.Column("game", sa.String(length=40), nullable=False),
        sa.Column("why", sa.String(length=10), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("bots", sa.JSON(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("pace_ms", sa.Integer(), nullable=False),
        sa.Column("asked_by", sa.String(length=12), nullable=True),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("trouble", sa.String(length=300), nullable=False),
        sa.ForeignKeyConstraint(["asked_by"], ["accounts.id"], name=op.f("fk_league_events_asked_by_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_league_events")),
    )
    with op.batch_alter_table("league_events", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_league_events_game"), ["game"], unique=False)
        batch_op.create_index(batch_op.f("ix_league_events_status"), ["status"], unique=False)

    op.create_table(
        "plays",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("owner_id", sa.String(length=12), nullable=True),
        sa.Column("digest", sa.String(length=64), nullable=True),
        sa.Column("game", sa.String(length=40), nullable=False),
        sa.Column("assignment", sa.JSON(), nullable=False),
        sa.Column("kinds", sa.JSON(), nullable=False),
        sa.Column("begun", sa.BigInteger(), nullable=False),
        sa.Column("finished", sa.BigInteger(), nullable=True),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("record", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["accounts.id"], name=op.f("fk_plays_owner_id_accounts"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plays")),
    )
    with op.batch_alter_table("plays", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_plays_owner_id"), ["owner_id"], unique=False)

    op.create_table(
        "sign_ins",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=12), nullable=False),
        sa.Column("browser", sa.String(length=200), nullable=False),
        sa.Column("made", sa.String(length=40), nullable=False),
        sa.Column("seen", sa.String(length=40), nullable=False),
        sa.Column("ends", sa.String(length=40), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_sign_ins_account_id_accounts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_ins")),
        sa.UniqueConstraint("digest", name=op.f("uq_sign_ins_digest")),
    )
    with op.batch_alter_table("sign_ins", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sign_ins_account_id"), ["account_id"], unique=False)

    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=12), nullable=False),
        sa.Column("label", sa.String(length=60), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("made", sa.String(length=40), nullable=False),
        sa.Column("used", sa.String(length=40), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_tokens_account_id_accounts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_tokens_digest")),
    )
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tokens_account_id"), ["account_id"], unique=False)

    op.create_table(
        "league_matches",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("game", sa.String(length=40), nullable=False),
        sa.Column("why", sa.String(length=10), nullable=False),
        sa.Column("event", sa.String(length=24), nullable=True),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("assignment", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("queued", sa.BigInteger(), nullable=False),
        sa.Column("begun", sa.BigInteger(), nullable=True),
        sa.Column("ended", sa.BigInteger(), nullable=True),
        sa.Column("runner", sa.String(length=40), nullable=True),
        sa.Column("lease", sa.BigInteger(), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["event"], ["league_events.id"], name=op.f("fk_league_matches_event_league_events"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_league_matches")),
    )
    with op.batch_alter_table("league_matches", schema=None) as batch_op:
        batch_op.create_index("league_matches_event", ["event", "number"], unique=False)
        batch_op.create_index("league_matches_status", ["status", "game"], unique=False)

    op.create_table(
        "league_pairs",
        sa.Column("first", sa.String(length=24), nullable=False),
        sa.Column("second", sa.String(length=24), nullable=False),
        sa.Column("game", sa.String(length=40), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["first"], ["league_bots.id"], name=op.f("fk_league_pairs_first_league_bots"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["second"], ["league_bots.id"], name=op.f("fk_league_pairs_second_league_bots"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("first", "second", name=op.f("pk_league_pairs")),
    )
    with op.batch_alter_table("league_pairs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_league_pairs_game"), ["game"], unique=False)
        batch_op.create_index(batch_op.f("ix_league_pairs_second"), ["second"], unique=False)

    op.create_table(
        "league_presences",
        sa.Column("bot", sa.String(length=24), nullable=False),
        sa.Column("address", sa.String(length=200), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bot"], ["league_bots.id"], name=op.f("fk_league_presences_bot_league_bots"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("bot", name=op.f("pk_league_presences")),
    )
    op.create_table(
        "league_ratings",
        sa.Column("bot", sa.String(length=24), nullable=False),
        sa.Column("mu", sa.Float(), nullable=False),
        sa.Column("sigma", sa.Float(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("verdicts", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bot"], ["league_bots.id"], name=op.f("fk_league_ratings_bot_league_bots"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("bot", name=op.f("pk_league_ratings")),
    )
    op.create_table(
        "league_steps",
        sa.Column("bot", sa.String(length=24), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("mu", sa.Float(), nullable=False),
        sa.Column("sigma", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bot"], ["league_bots.id"], name=op.f("fk_league_steps_bot_league_bots"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("bot", "place", name=op.f("pk_league_steps")),
    )
    op.create_table(
        "league_versions",
        sa.Column("id", sa.String(length=24), nullable=False),
        sa.Column("bot", sa.String(length=24), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bot"], ["league_bots.id"], name=op.f("fk_league_versions_bot_league_bots"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_league_versions")),
        sa.UniqueConstraint("bot", "number", name="league_versions_bot_number"),
    )
    op.create_table(
        "play_events",
        sa.Column("play_id", sa.String(length=12), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["play_id"], ["plays.id"], name=op.f("fk_play_events_play_id_plays"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("play_id", "number", name=op.f("pk_play_events")),
    )
    op.create_table(
        "play_seats",
        sa.Column("play_id", sa.String(length=12), nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("link", sa.String(length=32), nullable=True),
        sa.Column("digest", sa.String(length=64), nullable=True),
        sa.Column("name", sa.String(length=30), nullable=True),
        sa.ForeignKeyConstraint(
            ["play_id"], ["plays.id"], name=op.f("fk_play_seats_play_id_plays"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("play_id", "seat", name=op.f("pk_play_seats")),
        sa.UniqueConstraint("link", name=op.f("uq_play_seats_link")),
    )
    op.create_table(
        "league_games",
        sa.Column("match", sa.String(length=40), nullable=False),
        sa.Column("game", sa.String(length=40), nullable=False),
        sa.Column("place", sa.Integer(), nullable=True),
        sa.Column("counted", sa.JSON(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.Column("ended", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["match"], ["league_matches.id"], name=op.f("fk_league_games_match_league_matches"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("match", name=op.f("pk_league_games")),
        sa.UniqueConstraint("game", "place", name="league_games_game_place"),
    )
    with op.batch_alter_table("league_games", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_league_games_ended"), ["ended"], unique=False)

    op.create_table(
        "league_live",
        sa.Column("match", sa.String(length=40), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("view", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["match"], ["league_matches.id"], name=op.f("fk_league_live_match_league_matches"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("match", name=op.f("pk_league_live")),
    )
    op.create_table(
        "league_sittings",
        sa.Column("match", sa.String(length=40), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("bot", sa.String(length=24), nullable=False),
        sa.ForeignKeyConstraint(
            ["bot"], ["league_bots.id"], name=op.f("fk_league_sittings_bot_league_bots"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["match"], ["league_matches.id"], name=op.f("fk_league_sittings_match_league_matches"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("match", "seat", name=op.f("pk_league_sittings")),
    )
    with op.batch_alter_table("league_sittings", schema=None) as batch_op:
        batch_op.create_index("league_sittings_bot", ["bot", "match"], unique=False)
