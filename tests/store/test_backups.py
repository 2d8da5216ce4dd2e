"""A whole database in a file, and back, from one kind to the other."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from ludodrome.store import backups
from ludodrome.store.accounts import accounts, add_account, add_token, ensure_local, sign_in, token_of
from ludodrome.store.backups import back_up, restore
from ludodrome.store.database import open_database
from ludodrome.store.league_models import METADATA
from ludodrome.store.tournaments import StoredLedger, tournaments


def _fill(engine: Engine) -> str:
    ensure_local(engine)
    person = add_account(engine, "Ämil", "hash")
    sign_in(engine, person.id, "a browser")
    _, secret = add_token(engine, person.id, "laptop", ["play"])
    ledger = StoredLedger.begin(engine, "spring", {"pairs": 3})
    for number in range(10):
        ledger.add_opening("dots", number, [["H", 0, number]])
    ledger.add_game("m-1", "dots", True, {"points": 1}, {"match": "m-1", "text": "ä\u2028"})
    return secret


def _all(engine: Engine) -> dict[str, list[Any]]:
    with engine.connect() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key.columns))]
            for table in METADATA.sorted_tables
        }


def test_there_and_back(engine: Engine, tmp_path: Path, postgresql: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.postgresql import new_database

    monkeypatch.setattr(backups, "ROWS", 3)
    secret = _fill(engine)
    rows = back_up(engine, tmp_path / "backup")
    before = _all(engine)
    assert rows == sum(map(len, before.values())) == 10 + 6 + 3  # what the audit log says
    for place in (str(tmp_path / "new.db"), new_database(postgresql)):
        assert restore(tmp_path / "backup", place) == rows
        again = open_database(place)
        assert _all(again) == before
        known = token_of(again, secret)
        assert known is not None
        assert known.person.name == "Ämil"
        StoredLedger.begin(again, "autumn", {})  # numbers go on where they were
        assert [one.name for one in tournaments(again)] == ["spring", "autumn"]
        again.dispose()


def test_nothing_is_lost_unasked(engine: Engine, tmp_path: Path) -> None:
    database = engine.url.render_as_string(hide_password=False)
    ensure_local(engine)
    back_up(engine, tmp_path / "backup")
    add_account(engine, "Eve", "hash")
    with pytest.raises(ValueError, match="is there already; name a new file"):
        back_up(engine, tmp_path / "backup")
    with pytest.raises(ValueError, match="is not empty; say --replace"):
        restore(tmp_path / "backup", database)
    assert len(accounts(engine)) == 2
    (tmp_path / "half").write_bytes(
        (tmp_path / "backup").read_bytes()[:-20] if engine.dialect.name == "postgresql" else b"SQLite format 3\0"
    )
    with pytest.raises(ValueError, match=r"is damaged|cannot be used"):
        restore(tmp_path / "half", database, replace=True)
    assert len(accounts(engine)) == 2
    restore(tmp_path / "backup", database, replace=True)
    assert [one.id for one in accounts(engine)] == ["local"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not a backup of ludodrome"),
        (b"[1]\n", "is not a backup of ludodrome"),
        (b"\xff\xfe", "is not a backup of ludodrome"),
        (json.dumps({"format": "ludodrome backup", "revision": "0"}).encode(), "is of revision 0"),
    ],
)
def test_what_is_no_backup_is_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / "backup").write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        restore(tmp_path / "backup", tmp_path / "a.db")
    with pytest.raises(ValueError, match="cannot be read"):
        restore(tmp_path / "nothing", tmp_path / "a.db")


def test_a_backup_that_cannot_be_written(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "a.db", create=True)
    with pytest.raises(ValueError, match="cannot be written"):
        back_up(engine, tmp_path / "no" / "folder")
    engine.dispose()
