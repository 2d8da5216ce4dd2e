"""Versions of all bots, each with its own rating; failures, and bots that are paused because of them."""

import json

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    """From revision 4 to 5."""
    _columns()
    _versions()
    _seats()
    _ratings()


def _columns() -> None:
    op.add_column("league_bots", sa.Column("version", sa.String(length=24), nullable=False, server_default=""))
    op.add_column("league_bots", sa.Column("failures", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("league_bots", sa.Column("paused", sa.BigInteger(), nullable=True))
    op.add_column("league_bots", sa.Column("paused_by", sa.String(length=40), nullable=True))
    op.add_column("league_versions", sa.Column("identity", sa.String(length=64), nullable=False, server_default=""))
    op.add_column("league_sittings", sa.Column("version", sa.String(length=24), nullable=False, server_default=""))
    op.add_column("league_ladders", sa.Column("rules", sa.Integer(), nullable=False, server_default="0"))


def _versions() -> None:
    """Give a version to each bot without one: its id is that of the bot, so that no new one has to be made."""
    nothing = "CAST('[]' AS JSON)" if op.get_bind().dialect.name == "postgresql" else "'[]'"
    op.execute(
        "INSERT INTO league_versions (id, bot, number, source, size, findings, created, identity)"
        f" SELECT id, id, 1, '', 0, {nothing}, created, '' FROM league_bots"
        " WHERE NOT EXISTS (SELECT 1 FROM league_versions WHERE league_versions.bot = league_bots.id)"
    )
    latest = "SELECT id FROM league_versions WHERE league_versions.bot = league_bots.id ORDER BY number DESC LIMIT 1"
    op.execute(f"UPDATE league_bots SET version = ({latest})")


def _seats() -> None:
    """Name the version of each seat: of bots with several, the one that the match was queued for."""
    op.execute(
        "UPDATE league_sittings SET version ="
        " (SELECT version FROM league_bots WHERE league_bots.id = league_sittings.bot)"
    )
    connection = op.get_bind()
    known = set(connection.execute(sa.text("SELECT id FROM league_versions WHERE number > 1")).scalars())
    if not known:
        return
    known = set(connection.execute(sa.text("SELECT id FROM league_versions")).scalars())
    seats = connection.execute(
        sa.text(
            "SELECT league_sittings.match, league_sittings.seat, league_matches.assignment FROM league_sittings"
            " JOIN league_matches ON league_matches.id = league_sittings.match WHERE league_sittings.bot IN"
            " (SELECT bot FROM league_versions WHERE number > 1)"
        )
    ).all()
    for match, seat, assignment in seats:
        play_spec = json.loads(assignment) if isinstance(assignment, str) else assignment
        version = (play_spec.get("bots") or [""] * (seat + 1))[seat].partition(":")[2]
        if version in known:
            change = sa.text("UPDATE league_sittings SET version = :version WHERE match = :match AND seat = :seat")
            connection.execute(change, {"version": version, "match": match, "seat": seat})


def _ratings() -> None:
    """Key ratings, histories and pairs by version. The next runner computes them again by the present rules."""
    for table in ("ratings", "steps", "pairs"):
        op.execute(f"CREATE TABLE old_{table} AS SELECT * FROM league_{table}")
        op.drop_table(f"league_{table}")
    _tables()
    mine = "(SELECT version FROM league_bots WHERE league_bots.id = {})"
    counts = "mu, sigma, games, wins, draws, losses"
    op.execute(
        f"INSERT INTO league_ratings (version, {counts}, failures, verdicts)"
        f" SELECT {mine.format('bot')}, {counts}, 0, verdicts FROM old_ratings"
    )
    op.execute(
        "INSERT INTO league_steps (version, place, mu, sigma)"
        f" SELECT {mine.format('bot')}, place, mu, sigma FROM old_steps"
    )
    op.execute(
        "INSERT INTO league_pairs (first, second, game, wins, draws, losses, failed_first, failed_second)"
        f" SELECT {mine.format('first')}, {mine.format('second')}, game, wins, draws, losses, 0, 0 FROM old_pairs"
    )
    for table in ("ratings", "steps", "pairs"):
        op.drop_table(f"old_{table}")


def _tables() -> None:
    op.create_table(
        "league_ratings",
        sa.Column("version", sa.String(length=24), nullable=False),
        sa.Column("mu", sa.Float(), nullable=False),
        sa.Column("sigma", sa.Float(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("games", "wins", "draws", "losses", "failures")),
        sa.Column("verdicts", sa.JSON(), nullable=False),
        _version_key("league_ratings", "version"),
        sa.PrimaryKeyConstraint("version", name=op.f("pk_league_ratings")),
    )
    op.create_table(
        "league_steps",
        sa.Column("version", sa.String(length=24), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("mu", sa.Float(), nullable=False),
        sa.Column("sigma", sa.Float(), nullable=False),
        _version_key("league_steps", "version"),
        sa.PrimaryKeyConstraint("version", "place", name=op.f("pk_league_steps")),
    )
    numbers = ("wins", "draws", "losses", "failed_first", "failed_second")
    op.create_table(
        "league_pairs",
        sa.Column("first", sa.String(length=24), nullable=False),
        sa.Column("second", sa.String(length=24), nullable=False),
        sa.Column("game", sa.String(length=40), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in numbers),
        _version_key("league_pairs", "first"),
        _version_key("league_pairs", "second"),
        sa.PrimaryKeyConstraint("first", "second", name=op.f("pk_league_pairs")),
    )
    op.create_index(op.f("ix_league_pairs_game"), "league_pairs", ["game"])
    op.create_index(op.f("ix_league_pairs_second"), "league_pairs", ["second"])


def _version_key(table: str, column: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}_league_versions")
    return sa.ForeignKeyConstraint([column], ["league_versions.id"], name=name, ondelete="CASCADE")
