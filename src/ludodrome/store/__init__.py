"""Everything that is kept in a database: accounts, plays, tournaments, the league. Needs ``ludodrome[database]``."""

from importlib.util import find_spec

for _package in ("sqlalchemy", "alembic"):
    if find_spec(_package) is None:
        raise ImportError(
            f"databases need {_package}, which is not installed: pip install 'ludodrome[database]'", name=_package
        )
