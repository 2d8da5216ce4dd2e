"""Opening databases of both kinds, and what is kept of tournaments in them."""

import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import BigInteger, Engine, create_engine, inspect, select, text

from ludodrome.store import league_bots, migrations
from ludodrome.store.database import open_database, read_url, writing
from ludodrome.store.league_models import METADATA
from ludodrome.store.models import SettingRow, iso_time
from ludodrome.store.tournaments import StoredLedger, tournaments

OLD = """
CREATE TABLE settings (name VARCHAR(40) NOT NULL, value VARCHAR(200) NOT NULL, PRIMARY KEY (name));
CREATE TABLE tournaments (
    id INTEGER NOT NULL, name VARCHAR(60) NOT NULL, plan JSON NOT NULL, begun VARCHAR(40) NOT NULL,
    PRIMARY KEY (id), UNIQUE (name)
);
CREATE TABLE openings (
    tournament_id INTEGER NOT NULL, discipline VARCHAR(60) NOT NULL, number INTEGER NOT NULL, moves JSON NOT NULL,
    PRIMARY KEY (tournament_id, discipline, number),
    FOREIGN KEY(tournament_id) REFERENCES tournaments (id) ON DELETE CASCADE
);
CREATE TABLE games (
    id INTEGER NOT NULL, tournament_id INTEGER NOT NULL, "match" VARCHAR(40) NOT NULL,
    discipline VARCHAR(60) NOT NULL, rated BOOLEAN NOT NULL, counted JSON NOT NULL, record BLOB NOT NULL,
    finished VARCHAR(40) NOT NULL, PRIMARY KEY (id), UNIQUE (tournament_id, "match"),
    FOREIGN KEY(tournament_id) REFERENCES tournaments (id) ON DELETE CASCADE
);
INSERT INTO settings VALUES ('schema', '1');
INSERT INTO tournaments VALUES (1, 'spring', '{"pairs": 3}', '2026-01-01T00:00:00+00:00');
"""
"""What version 0.1.0 wrote."""


def test_a_new_database_and_an_old_one(database: str) -> None:
    engine = open_database(database, create=True)
    assert tournaments(engine) == []
    StoredLedger.begin(engine, "spring", {"pairs": 3})
    engine.dispose()
    again = open_database(database)
    (found,) = tournaments(again)
    again.dispose()
    assert (found.name, found.plan, found.games) == ("spring", {"pairs": 3}, 0)


@pytest.mark.parametrize(("durable", "level"), [(False, 1), (True, 2)])
def test_how_sqlite_is_set_up(tmp_path: Path, durable: bool, level: int) -> None:
    engine = open_database(tmp_path / "a.sqlite", create=True, durable=durable)
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1
        assert connection.execute(text("PRAGMA synchronous")).scalar() == level


def test_the_migrations_lead_to_the_models(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []


def test_the_revisions_are_those_in_the_folder() -> None:
    from alembic.script import ScriptDirectory

    there = ScriptDirectory(str(migrations.FOLDER)).walk_revisions()
    assert tuple(one.revision for one in there)[::-1] == migrations.REVISIONS


def test_an_older_database_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    old = sqlite3.connect(path)
    old.executescript(OLD)
    old.close()
    engine = open_database(path)
    assert [one.name for one in tournaments(engine)] == ["spring"]
    with engine.connect() as connection:
        assert set(inspect(connection).get_table_names()) == {*METADATA.tables, migrations.VERSION_TABLE}


TIMES = {"made", "seen", "ends", "used", "begun", "finished", "created", "retired", "queued", "ended", "lease", "at"}


def test_every_time_is_in_milliseconds() -> None:
    times = [column for table in METADATA.sorted_tables for column in table.columns if column.name in TIMES]
    assert len(times) > 20
    assert all(isinstance(column.type, BigInteger) for column in times)


def test_times_that_were_texts_are_converted(database: str) -> None:
    engine = create_engine(read_url(database))
    with engine.begin() as connection:
        command.upgrade(migrations.configuration(connection), "2")
        for statement in REVISION_2:
            connection.execute(text(statement))
    engine.dispose()
    engine = open_database(database)
    with engine.connect() as connection:
        for table, column, moment in (
            ("tournaments", "begun", 1767225600000),
            ("games", "finished", 1767225601000),
            ("accounts", "made", 1767225600000),
            ("sign_ins", "ends", 1769817600000),
            ("tokens", "made", 1767225600000),
            ("tokens", "used", None),
        ):
            assert connection.execute(text(f"SELECT {column} FROM {table}")).scalars().all() == [moment], table
    assert iso_time(tournaments(engine)[0].begun) == "2026-01-01T00:00:00+00:00"
    engine.dispose()


MOMENT = "'2026-01-01T00:00:00+00:00'"
REVISION_2 = (
    f"INSERT INTO tournaments (id, name, plan, begun) VALUES (1, 'spring', '{{}}', {MOMENT})",
    "INSERT INTO games (id, tournament_id, match, discipline, rated, counted, record, finished)"
    " VALUES (1, 1, 'm', 'dots', true, '{}', '', '2026-01-01T00:00:01+00:00')",
    f"INSERT INTO accounts (id, name, folded, admin, banned, made) VALUES ('a', 'Ada', 'ada', false, false, {MOMENT})",
    "INSERT INTO sign_ins (id, digest, account_id, browser, made, seen, ends)"
    f" VALUES ('s', 'd', 'a', 'b', {MOMENT}, {MOMENT}, '2026-01-31T00:00:00+00:00')",
    f"INSERT INTO tokens (id, digest, account_id, label, scopes, made) VALUES ('t', 'd', 'a', 'l', '[]', {MOMENT})",
)
"""What a server of revision 2 wrote."""


def test_a_newer_database_is_refused(database: str) -> None:
    engine = open_database(database, create=True)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {migrations.VERSION_TABLE} SET version_num = '99'"))
    engine.dispose()
    with pytest.raises(ValueError, match="has tables of revision 99, and this program knows revision"):
        open_database(database)


OPEN = """
import sys
from ludodrome.store.database import open_database
import alembic.command
print(flush=True)
sys.stdin.readline()
open_database(sys.argv[1], create=True).dispose()
"""


def test_two_processes_that_begin_at_once(database: str) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    both = [subprocess.Popen([sys.executable, "-c", OPEN, database], **pipes) for _ in range(2)]  # type: ignore[call-overload]
    for one in both:
        one.stdout.readline()
    for one in both:
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in both:
        one.communicate(timeout=60)
    assert [one.returncode for one in both] == [0, 0]
    engine = open_database(database)
    assert tournaments(engine) == []
    engine.dispose()


def test_what_is_no_database_of_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no file"):
        open_database(tmp_path / "none.sqlite")
    (tmp_path / "text").write_text("not a database at all, but long enough to be looked at " * 20)
    with pytest.raises(ValueError, match="cannot be used as a database: file is not a database"):
        open_database(tmp_path / "text")
    with pytest.raises(ValueError, match="cannot be used as a database: unable to open database file"):
        open_database(tmp_path / "no" / "folder.sqlite", create=True)
    connection = sqlite3.connect(tmp_path / "other.sqlite")
    connection.execute("CREATE TABLE things (id INTEGER)")
    connection.close()
    with pytest.raises(ValueError, match="is a database, but not one of ludodrome"):
        open_database(tmp_path / "other.sqlite")


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ("mysql://host/name", "a database is an SQLite file or a URL that begins with postgresql://"),
        ("sqlite://", "a database is an SQLite file or a URL that begins with postgresql://"),
        ("postgresql://host:port/name", "a database's URL is written like postgresql://"),
    ],
)
def test_what_is_no_url_is_refused(wanted: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        open_database(wanted, create=True)


def test_urls() -> None:
    assert read_url("postgres://me@host/name").drivername == "postgresql+psycopg"
    assert read_url("sqlite:////tmp/a.db").database == "/tmp/a.db"
    assert read_url("a file.db").database == "a file.db"


def test_a_password_is_not_shown() -> None:
    with pytest.raises(ValueError, match="cannot be used as a database") as refused:
        open_database("postgresql://me:secret@127.0.0.1:1/name?connect_timeout=2", create=True)
    assert "secret" not in str(refused.value)


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    engine = open_database(path, create=True)
    ledger = StoredLedger.begin(engine, "spring", {})
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE games"))
    with pytest.raises(ValueError, match=r"a\.sqlite cannot be written: no such table: games"):
        ledger.add_game("m-1", "dots", True, {}, {})


def test_writing_is_done_whole_or_not_at_all(engine: Engine) -> None:
    with writing(engine) as session:
        session.add(SettingRow(name="a", value="1"))
    with suppress(RuntimeError), writing(engine) as session:
        session.add(SettingRow(name="b", value="1"))
        session.flush()
        raise RuntimeError
    with writing(engine) as session:
        assert [one.name for one in session.scalars(select(SettingRow))] == ["a"]


def test_a_ledger(engine: Engine) -> None:
    ledger = StoredLedger.begin(engine, "spring", {})
    other = StoredLedger.begin(engine, "autumn", {})
    with pytest.raises(ValueError, match="there is a tournament spring already"):
        StoredLedger.begin(engine, "spring", {})
    assert StoredLedger.find(engine, "winter") is None
    record = {"match": "m-1", "text": "ä" * 1000}
    assert ledger.add_game("m-1", "dots", True, {"points": 1}, record)
    assert not ledger.add_game("m-1", "dots", True, {"points": 2}, record)
    assert other.add_game("m-1", "dots", False, {"points": 3}, record)
    assert [(game, counted) for game, counted, _ in ledger.games()] == [("dots", {"points": 1})]
    assert list(ledger.records()) == [record]
    ledger.add_opening("dots", 0, [["H", 0, 0]])
    ledger.add_opening("dots", 0, [["V", 0, 0]])
    assert list(ledger.openings()) == [("dots", 0, [["H", 0, 0]])]
    assert (ledger.forget_unrated(), other.forget_unrated()) == (0, 1)
    assert [one.games for one in tournaments(engine)] == [1, 0]


REVISION_4 = (
    "INSERT INTO league_bots (id, game, name, key, kind, spec, created, banned)"
    " VALUES ('b', 'dots', 'random', 'random', 'builtin', 'random', 5, false)",
    "INSERT INTO league_bots (id, game, name, key, kind, spec, created, banned)"
    " VALUES ('u', 'dots', 'Mine', 'mine', 'uploaded', 'uploaded:v2', 6, false)",
    "INSERT INTO league_versions (id, bot, number, source, size, findings, created)"
    " VALUES ('v1', 'u', 1, 'print(1)', 8, '[]', 6), ('v2', 'u', 2, 'print(2)', 8, '[]', 7)",
    "INSERT INTO league_matches (id, game, why, number, assignment, status, queued, tries) VALUES"
    """ ('m1', 'dots', 'ladder', 0, '{"bots": ["random", "uploaded:v1"]}', 'done', 8, 1),"""
    """ ('m2', 'dots', 'ladder', 0, '{"bots": ["uploaded:v2", "random"]}', 'done', 9, 1)""",
    "INSERT INTO league_sittings (match, seat, bot)"
    " VALUES ('m1', 0, 'b'), ('m1', 1, 'u'), ('m2', 0, 'u'), ('m2', 1, 'b')",
    "INSERT INTO league_ladders (game, games) VALUES ('dots', 2)",
    "INSERT INTO league_ratings (bot, mu, sigma, games, wins, draws, losses, verdicts)"
    " VALUES ('b', 24, 8, 2, 1, 0, 1, '{}'), ('u', 26, 8, 2, 1, 0, 1, '{}')",
    "INSERT INTO league_steps (bot, place, mu, sigma) VALUES ('u', 1, 25, 8), ('u', 2, 26, 8)",
    "INSERT INTO league_pairs (first, second, game, wins, draws, losses) VALUES ('b', 'u', 'dots', 1, 0, 0)",
)
"""A league of revision 4: ratings belong to bots, and only uploaded ones have versions."""


def test_bots_get_versions_that_keep_their_ratings(database: str) -> None:
    engine = create_engine(read_url(database))
    with engine.begin() as connection:
        command.upgrade(migrations.configuration(connection), "4")
        for statement in REVISION_4:
            connection.exec_driver_sql(statement)
    engine.dispose()
    engine = open_database(database)
    random, mine = league_bots.standings(engine, "dots")[::-1]
    assert (random.entry.name, random.mu, random.games) == ("random", 24, 2)
    assert (mine.entry.name, mine.mu, mine.entry.version, mine.entry.paused) == ("Mine", 26, "v2", None)
    assert [(one.number, one.games) for one in league_bots.versions(engine, "u")] == [(2, 2), (1, 0)]
    assert [one.number for one in league_bots.versions(engine, "b")] == [1]
    assert len(league_bots.history(engine, "u")) == 2
    assert league_bots.head_to_heads(engine, "u") == [league_bots.HeadToHead("b", "random", 0, 0, 1)]
    with engine.connect() as connection:
        seats = connection.execute(text("SELECT match, seat, version FROM league_sittings ORDER BY match, seat")).all()
        assert [tuple(row) for row in seats] == [("m1", 0, "b"), ("m1", 1, "v1"), ("m2", 0, "v2"), ("m2", 1, "b")]
        assert connection.execute(text("SELECT rules FROM league_ladders")).scalar() == 0  # so all is recomputed once
    engine.dispose()
