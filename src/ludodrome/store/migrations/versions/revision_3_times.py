"""All times become milliseconds of universal time since 1970; some were texts."""

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"

TEXTS = {
    "tournaments": ["begun"],
    "games": ["finished"],
    "accounts": ["made"],
    "sign_ins": ["made", "seen", "ends"],
    "tokens": ["made", "used"],
}
"""The columns that held texts like 2026-01-01T00:00:00+00:00."""
OPTIONAL = {("tokens", "used")}
MILLISECONDS = {
    "sqlite": "CAST(strftime('%s', {old}) AS INTEGER) * 1000",
    "postgresql": "CAST(EXTRACT(EPOCH FROM CAST({old} AS TIMESTAMPTZ)) * 1000 AS BIGINT)",
}


def upgrade() -> None:
    """From revision 2 to 3. Tables are altered in place: SQLite would cascade if one were replaced."""
    convert = MILLISECONDS[op.get_bind().dialect.name]
    for table, columns in TEXTS.items():
        for name in columns:
            empty = None if (table, name) in OPTIONAL else sa.text("0")
            op.add_column(table, sa.Column(f"{name}_ms", sa.BigInteger(), nullable=empty is None, server_default=empty))
            found = convert.format(old=name) if empty is None else f"COALESCE({convert.format(old=name)}, 0)"
            op.execute(f"UPDATE {table} SET {name}_ms = {found}")
            op.execute(f"ALTER TABLE {table} DROP COLUMN {name}")
            op.execute(f"ALTER TABLE {table} RENAME COLUMN {name}_ms TO {name}")
