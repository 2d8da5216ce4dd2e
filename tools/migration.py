"""Generate the latest database migration from the models: ``python -m tools.migration``."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from alembic import command
from sqlalchemy import create_engine

from ludodrome.store import migrations

NAME = "arena"
TITLE = "Accounts, the league and people's games."


def main() -> None:
    """Write the revision and move it into place, so that a running program never sees half of it."""
    *kept, last = migrations.REVISIONS
    versions = migrations.FOLDER / "versions"
    name = f"revision_{last}_{NAME}.py"
    with TemporaryDirectory(dir=versions) as folder, create_engine("sqlite://").connect() as connection:
        for path in versions.glob("revision_*.py"):
            if path.name != name:
                shutil.copy(path, folder)
        config = migrations.configuration(connection)
        config.set_main_option("version_locations", folder)
        command.upgrade(config, kept[-1])
        command.revision(config, message=NAME, autogenerate=True, rev_id=last)
        made = Path(folder) / name
        source = re.sub(r"^ *# ###.*\n", "", made.read_text("utf-8"), flags=re.MULTILINE)
        made.write_text(source.replace(f'"""{NAME}."""', f'"""{TITLE}"""'), "utf-8")
        ruff = Path(sys.executable).with_name("ruff")
        subprocess.run([ruff, "format", "--quiet", made], check=True)
        subprocess.run([ruff, "check", "--fix", "--quiet", made], check=True)
        made.replace(versions / name)


if __name__ == "__main__":
    main()
