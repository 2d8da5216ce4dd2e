"""From one form of the tables to the next. The revisions are in ``versions/``, one file each, run by Alembic.

Revisions only go forward: one that exists never changes. ``scripts/migration`` writes the next one from the models.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, text

if TYPE_CHECKING:
    from alembic.config import Config

REVISIONS = ("1", "2", "3", "4", "5", "6")
"""All of them, the oldest first; a test compares this with the files."""
FOLDER = Path(__file__).parent
VERSION_TABLE = "alembic_version"


def revision_of(connection: Connection, tables: set[str]) -> str | None:
    """The revision of a database with these tables; None if nothing says it."""
    if VERSION_TABLE in tables:
        found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
        return None if found is None else str(found)
    if "settings" in tables:  # version 0.1.0 wrote its number here, and knew tournaments alone
        return connection.execute(text("SELECT value FROM settings WHERE name = 'schema'")).scalar()
    return None


def upgrade(connection: Connection, found: str | None) -> None:
    """Bring the tables to the last revision, in the transaction that the connection is in."""
    from alembic import command  # start-up: most databases are up to date

    config = configuration(connection)
    if found is not None:
        command.stamp(config, found)
    command.upgrade(config, REVISIONS[-1])


def configuration(connection: Connection) -> "Config":
    """Alembic, set up for a connection."""
    from alembic.config import Config  # start-up: most databases are up to date

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("file_template", "revision_%%(rev)s_%%(slug)s")
    config.attributes["connection"] = connection
    return config
