"""Write the next database migration from the models: ``python -m tools.migration NAME "Title."``.

It compares the models with a database at the last revision and writes ``revision_N_NAME.py``. Add N to ``REVISIONS``
in ``ludodrome/store/migrations`` and read what was written: a comparison cannot see renamed columns or moved data.
"""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from alembic import command
from sqlalchemy import create_engine

from ludodrome.store import migrations


def main() -> None:
    """Write the revision and move it into place, so that a running program never sees half of it."""
    if len(sys.argv) != 3:
        raise SystemExit('usage: python -m tools.migration NAME "Title."')
    _, message, title = sys.argv
    number = int(migrations.REVISIONS[-1]) + 1
    name = f"revision_{number}_{message}.py"
    with TemporaryDirectory() as folder, create_engine("sqlite://").connect() as connection:
        config = migrations.configuration(connection)
        command.upgrade(config, migrations.REVISIONS[-1])
        versions = migrations.FOLDER / "versions"
        config.set_main_option("version_locations", f"{versions} {folder}")
        command.revision(config, message=message, autogenerate=True, rev_id=str(number), version_path=folder)
        made = Path(folder) / name
        source = re.sub(r"^ *# ###.*\n", "", made.read_text("utf-8"), flags=re.MULTILINE)
        made.write_text(source.replace(f'"""{message}."""', f'"""{title}"""'), "utf-8")
        ruff = Path(sys.executable).with_name("ruff")
        subprocess.run([ruff, "format", "--quiet", made], check=True)
        subprocess.run([ruff, "check", "--fix", "--quiet", made], check=True)
        (versions / name).write_bytes(made.read_bytes())
    print(f"{name} is written; add {str(number)!r} to REVISIONS in {migrations.__name__}.")


if __name__ == "__main__":
    main()
