"""Databases of every form that revision 2 once had: they are recognised and completed, and nothing in them is lost."""

import hashlib

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, text

from ludodrome.installation import database as database_status
from ludodrome.store import migrations
from ludodrome.store.database import look, open_database, read_url
from ludodrome.store.league_models import METADATA
from tests.store.test_database import REVISION_2

LANDED = {
    "revision_1_tournaments.py": "435dce02c84e55832c67ab6c928abee69316d3d0dcad9e226cb2db78b47401c9",
    "revision_2_arena.py": "6bf146bc60cc38bcb9d7bdbe63f4d7da33f3c4cef072d3f8a14350405759e0fe",
    "revision_3_times.py": "71c2ee051a43c8634727a16d07fe61add1913b3ec504082d09b154c057b826a5",
    "revision_4_hardening.py": "b4700857888702ccba46c1dccaba54bd0054f9fab6ef14f640781145ebe4243c",
    "revision_5_versions.py": "967d916b509712531bef9de4984b70bcdf10cfa91689da5b44358761e7e8b871",
}
"""SHA-256 of the revisions that databases were made with. A change of one breaks databases: write a new revision."""

FORMS = {
    "as it began": ("ALTER TABLE league_events DROP COLUMN pace_ms", "DROP TABLE solved_puzzles"),
    "with a pace": ("DROP TABLE solved_puzzles",),
    "complete": (),
}
"""The forms of revision 2, by what is taken from the present one: the column came first, the table later."""

EVENT = (
    "INSERT INTO league_events (id, game, why, name, plan, bots, games, asked_by, status, created, trouble{column})"
    " VALUES ('e', 'dots', 'challenge', 'one', '{{}}', '{{}}', 2, 'a', 'queued', 5, ''{value})"
)


def _fill(connection: Connection, form: str) -> None:
    for statement in REVISION_2:
        connection.execute(text(statement))
    paced = "pace_ms" not in "".join(FORMS[form])
    event = EVENT.format(column=", pace_ms" if paced else "", value=", 250" if paced else "")
    connection.exec_driver_sql(event)


def _make(place: str, form: str, revision: str) -> None:
    """A database of this form at revision 2, or brought from there to 3."""
    engine = create_engine(read_url(place))
    with engine.begin() as connection:
        configuration = migrations.configuration(connection)
        command.upgrade(configuration, "2")
        for statement in FORMS[form]:
            connection.execute(text(statement))
        _fill(connection, form)
        command.upgrade(configuration, revision)
    engine.dispose()


@pytest.mark.parametrize("revision", ["2", "3"])
@pytest.mark.parametrize("form", FORMS)
def test_point_17_every_form_of_revision_2_is_completed(database: str, form: str, revision: str) -> None:
    _make(database, form, revision)
    engine = open_database(database)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []
        paces = connection.execute(text("SELECT id, pace_ms FROM league_events")).all()
        assert [tuple(row) for row in paces] == [("e", 0 if form == "as it began" else 250)]
        assert connection.execute(text("SELECT COUNT(*) FROM accounts")).scalar() == 1
        assert connection.execute(text("SELECT begun FROM tournaments")).scalar() == 1767225600000
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO solved_puzzles (account_id, puzzle) VALUES ('a', 'dots-1')"))
    engine.dispose()


def test_point_17_what_is_missing_is_named_when_a_database_is_opened(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = open_database(database, create=True)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE league_events DROP COLUMN pace_ms"))
        connection.execute(text("DROP TABLE solved_puzzles"))
    engine.dispose()
    sentence = r"lacks the column league_events\.pace_ms and the table solved_puzzles"
    with pytest.raises(ValueError, match=sentence):
        open_database(database)
    with pytest.raises(ValueError, match=sentence):
        look(database)
    monkeypatch.setenv("LUDODROME_DATABASE_URL", database)
    status = database_status()
    assert status.grade == "problem"
    assert "lacks the column" in status.sentence


def test_point_17_a_landed_revision_never_changes() -> None:
    folder = migrations.FOLDER / "versions"
    found = {path.name: _digest(path.read_text("utf-8")) for path in folder.glob("revision_*.py")}
    for name, digest in LANDED.items():
        assert found.get(name) == digest, f"{name} was rewritten: databases made with it would lack the change"
    landed = {name.split("_")[1] for name in LANDED}
    assert landed >= set(migrations.REVISIONS[:-1]), "before a new revision, add the hash of the last one here"


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()
