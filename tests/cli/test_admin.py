"""The group admin."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from ludodrome.store import league_bots
from ludodrome.store.accounts import accounts, add_account, ensure_local
from ludodrome.store.database import open_database
from tests.cli.running import complaint, run


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """A server's database, which the environment names."""
    monkeypatch.setenv("LUDODROME_DATABASE_URL", str(tmp_path / "server.db"))
    opened = open_database(tmp_path / "server.db", create=True)
    ensure_local(opened)
    add_account(opened, "Ada", "hash")
    return opened


def test_accounts(engine: Engine) -> None:
    assert run("admin", "ban", "ADA").output.strip() == "ADA is banned"
    assert run("admin", "make-admin", "ada").output.strip() == "ada is an administrator"
    listed = run("admin", "accounts").output
    assert "Ada" in listed
    assert "admin, banned" in listed
    assert run("admin", "unban", "Ada").output.strip() == "Ada is no longer banned"
    assert run("admin", "make-admin", "Ada", "--no").output.strip() == "Ada is no longer an administrator"
    (ada,) = (one for one in accounts(engine) if one.name == "Ada")
    assert not ada.banned
    assert not ada.admin
    for command in ("ban", "unban", "make-admin"):
        assert "there is no account Eve" in complaint(run("admin", command, "Eve"))


def test_a_bot_is_banned_and_may_play_again(engine: Engine) -> None:
    league_bots.enter_remote(engine, "dots", accounts(engine)[0].id, "Mallory", "secret")
    league_bots.ensure_builtins(engine, "dots", {"level:2": "level:2"})
    assert run("admin", "ban-bot", "dots", "MALLORY").output.strip() == "Mallory is banned"
    assert [one.name for one in league_bots.bots(engine, "dots")] == ["level:2"]
    assert [one.entry.name for one in league_bots.standings(engine, "dots")] == ["level:2"]
    assert [one.name for one in league_bots.contenders(engine, "dots")] == ["level:2"]
    assert run("admin", "unban-bot", "dots", "mallory").output.strip() == "Mallory may play again"
    assert [one.name for one in league_bots.bots(engine, "dots")] == ["level:2", "Mallory"]
    assert run("admin", "ban-bot", "dots", "level:2").output.strip() == "level:2 is banned"
    for command in ("ban-bot", "unban-bot"):
        assert "there is no bot Mallory in the league of caldera" in complaint(
            run("admin", command, "caldera", "Mallory")
        )


def test_there_and_back(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "monday.db"
    assert run("admin", "backup", str(file)).output.strip().endswith(" rows")
    assert "is there already" in complaint(run("admin", "backup", str(file)))
    add_account(engine, "Eve", "hash")
    assert "is not empty; say --replace" in complaint(run("admin", "restore", str(file)))
    assert run("admin", "restore", str(file), "--replace").output.strip().endswith(" rows restored")
    assert [one.name for one in accounts(engine)] == ["Ada", "You"]
    assert run("admin", "restore", str(file), "--db", str(tmp_path / "new.db")).output.strip().endswith(" restored")


def test_ratings_made_anew(engine: Engine) -> None:
    assert "all ratings were right" in run("admin", "recompute").output


def test_a_database_that_is_not_there(tmp_path: Path) -> None:
    assert "there is no file" in complaint(run("admin", "accounts", "--db", str(tmp_path / "none.db")))
