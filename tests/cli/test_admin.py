"""The group admin."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from argon2 import PasswordHasher
from sqlalchemy import Engine

from ludodrome.store import accounts as account_store
from ludodrome.store import audit, league_bots
from ludodrome.store.accounts import accounts, add_account, ensure_local
from ludodrome.store.database import open_database
from ludodrome.web import auth
from tests.cli.running import complaint, output, run


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


def _logged(*arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(output("admin", "audit", "--json", *arguments))
    return found


def test_a_one_time_password(engine: Engine) -> None:
    ada = next(one for one in accounts(engine) if one.name == "Ada")
    account_store.sign_in(engine, ada.id, "a browser")
    account_store.begin_second_factor(engine, ada.id, "GEZDGNBVGY3TQOJQ")
    account_store.confirm_second_factor(engine, ada.id, 1, [])
    with patch.object(auth, "_hasher", PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)):
        password = output("admin", "reset-password", "ADA").strip()
        known = account_store.credentials(engine, "Ada")
        assert known is not None
        assert (known.once, known.second_factor) == (True, True)
        assert auth.verify_password(password, known.password)
        assert account_store.sign_ins(engine, ada.id) == []
        assert output("admin", "reset-password", "Ada", "--stdin", "--second-factor", stdin="another password\n") == ""
        known = account_store.credentials(engine, "Ada")
        assert known is not None
        assert (known.once, known.second_factor) == (True, False)
        assert auth.verify_password("another password", known.password)
        assert "10 to 1000 characters" in complaint(run("admin", "reset-password", "Ada", "--stdin", stdin="short\n"))
    assert "there is no account Eve" in complaint(run("admin", "reset-password", "Eve"))
    text = output("admin", "audit", "--json")
    assert password not in text
    assert "another password" not in text
    actions = [one["action"] for one in json.loads(text)]
    assert actions.count("password-reset") == 2
    assert actions[0] == "second-factor-off"


def test_one_accounts_data_and_its_end(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "ada.json"
    assert "the data of Ada" in output("admin", "export-account", "ada", str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text("utf-8"))["account"]["name"] == "Ada"
    assert "cannot be written" in complaint(run("admin", "export-account", "Ada", str(file)))
    assert "say --yes" in complaint(run("admin", "delete-account", "Ada"))
    assert "person at this machine cannot be deleted" in complaint(_delete_local(engine))
    assert output("admin", "delete-account", "Ada", "--yes").strip() == "Ada is deleted"
    assert [one.name for one in accounts(engine)] == ["You"]
    assert _logged("--account", "Ada")[0]["action"] == "account-deleted"


def _delete_local(engine: Engine) -> Any:
    with engine.begin() as connection:  # its name is reserved, so that nobody finds it by name
        connection.exec_driver_sql("UPDATE accounts SET folded = 'you' WHERE id = 'local'")
    return run("admin", "delete-account", "You", "--yes")


def test_what_commands_do_is_logged(engine: Engine, tmp_path: Path) -> None:
    run("admin", "make-admin", "Ada")
    run("admin", "ban", "Ada")
    run("admin", "backup", str(tmp_path / "monday.db"))
    assert "restored" in output("admin", "restore", str(tmp_path / "monday.db"), "--replace")
    found = _logged()
    assert [one["action"] for one in found] == ["restore", "account-banned", "admin-granted", "sign-up"]
    assert all(one["actor"].startswith("command line (") for one in found[:3])
    assert found[0]["details"]["file"] == "monday.db"
    assert {one["subject"] for one in found[1:]} == {"Ada"}
    assert [one["action"] for one in _logged("--action", "account-banned")] == ["account-banned"]
    assert len(_logged("--limit", "2")) == 2
    assert "account-banned" in output("admin", "audit", "--account", "ADA")
    assert "there is no action x" in complaint(run("admin", "audit", "--action", "x"))
    assert set(audit.ACTIONS) >= {one["action"] for one in found}
