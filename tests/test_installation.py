"""The checks of an installation, each with something missing."""

import os
import socket
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from ludodrome import installation
from ludodrome.installation import OK, PROBLEM, WARNING
from ludodrome.jit import COMPILED
from ludodrome.store import migrations
from ludodrome.store.database import look, open_database

ROOT = Path(__file__).parents[1]
compiled_only = pytest.mark.skipif(not COMPILED, reason="there is no cache without compilation")


# Packages


@pytest.mark.parametrize(
    ("found", "bounds", "fit"),
    [
        ("0.68.1", ">=0.68,<0.69", True),
        ("0.69", "<0.69,>=0.68", False),
        ("0.7", ">=0.68", False),
        ("2.13.4", "==2.13.*", True),
        ("2.14", "==2.13.*", False),
        ("2.13.4+cpu", "==2.13.*", True),
        ("1.27.0", "==1.27", True),
        ("2", ">=2.0", True),
        ("2.0", "!=2", False),
        ("3.1rc1", ">3, <=3.1", True),
        ("9", "", True),
    ],
)
def test_bounds(found: str, bounds: str, fit: bool) -> None:
    assert installation.fits(found, bounds) is fit


def test_a_bound_that_cannot_be_read_is_no_silent_yes() -> None:
    with pytest.raises(ValueError, match="a bound is written like"):
        installation.fits("1", "~=1.0")
    with pytest.raises(ValueError, match="a requirement is written like"):
        installation.read_requirement("@@")


def test_every_requirement_of_the_project_can_be_read() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for line in [*project["dependencies"], *chain(*project["optional-dependencies"].values())]:
        wanted = installation.read_requirement(line)
        installation.fits("1.0", wanted.bounds)
        assert wanted.name
    assert set(installation.PURPOSES) == set(project["optional-dependencies"]) - {"all", "build", "dev", "docs"}
    assert installation.read_requirement("psycopg[binary]>=3.2; extra == 'postgresql'") == (
        "psycopg",
        ">=3.2",
        "postgresql",
    )
    assert installation.read_requirement("a (>=2) ; (sys_platform != 'x') and extra == \"b\"") == ("a", ">=2", "b")


def test_what_is_wanted_is_there() -> None:
    assert installation.python().grade == OK
    assert installation.required().grade == OK
    assert "numba 0." in installation.required().sentence
    assert all(one.grade == OK for one in installation.extras())


def test_missing_and_outdated_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "numba>=9",
        "nothing-like-this>=2",
        "rich>=14; extra == 'web'",
        "absent>1; extra == 'lab'",
        "typer<0.1; extra == 'mcp'",
    ]
    monkeypatch.setattr(installation, "requirements", lambda: [installation.read_requirement(line) for line in lines])
    found = installation.required()
    assert found.grade == PROBLEM
    assert "but >=9 is required; nothing-like-this is not installed" in found.sentence
    assert found.advice == "pip install 'numba>=9' 'nothing-like-this>=2'"
    lab, mcp, web = installation.extras()
    assert (lab.grade, web.grade, mcp.grade) == (OK, OK, WARNING)
    assert lab.sentence.startswith("not installed; for `spaces solve`")
    assert mcp.advice == "pip install 'ludodrome[mcp]'"


def test_sources_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "NAME", "nothing-like-this")
    assert installation.required().grade == WARNING
    assert installation.python().grade == OK
    assert list(installation.extras()) == []


def test_an_old_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 2, "final", 0))
    found = installation.python()
    assert (found.grade, found.sentence) == (PROBLEM, "Python 3.10.2, but >=3.11 is required")


# The cache


@compiled_only
def test_the_cache_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ludodrome.kernel_cache import cache_directory

    cache_directory.cache_clear()
    monkeypatch.setenv("LUDODROME_CACHE", str(tmp_path / "kept"))
    found = installation.cache()
    assert found.grade == OK, found
    assert f" MB of compiled code in {tmp_path / 'kept'}; a kernel was cached and found again" in found.sentence
    cache_directory.cache_clear()
    blocked = tmp_path / "a file"
    blocked.touch()
    monkeypatch.setenv("LUDODROME_CACHE", str(blocked))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = installation.cache()
    assert found.grade == WARNING
    assert f"since {blocked} cannot be written" in found.sentence
    cache_directory.cache_clear()
    (tmp_path / f"ludodrome-{os.getuid()}").chmod(0o777)
    found = installation.cache()
    assert found.grade == PROBLEM
    assert "every start compiles again" in found.sentence
    assert "LUDODROME_CACHE" in found.advice
    cache_directory.cache_clear()


@compiled_only
def test_a_cache_that_forgets_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_is_found_again", lambda: False)
    assert (installation.cache().grade, "not found again" in installation.cache().sentence) == (PROBLEM, True)


@pytest.mark.skipif(COMPILED, reason="compiles")
def test_plain_python_is_reported() -> None:
    assert installation.cache().grade == WARNING


# The database


def test_a_database_is_looked_at_and_not_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "new" / "server.db"
    monkeypatch.setenv("LUDODROME_DATABASE_URL", str(file))
    assert installation.database().sentence == f"{file}: does not exist yet, `serve` creates it"
    assert not file.parent.exists()
    file.parent.mkdir()
    open_database(file, create=True).dispose()
    before = file.read_bytes()
    found = installation.database()
    assert (found.grade, found.sentence) == (OK, f"{file}, tables of revision {migrations.REVISIONS[-1]}, the latest")
    assert file.read_bytes() == before


def test_a_database_that_cannot_be_written_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "league.db"
    monkeypatch.setenv("LUDODROME_DATABASE_URL", str(file))
    open_database(file, create=True).dispose()
    monkeypatch.setattr(os, "access", lambda path, mode: path != file)  # nothing is forbidden to root
    found = installation.database()
    assert (found.grade, found.sentence) == (PROBLEM, f"{file} cannot be written")


def test_an_old_database_is_not_brought_up_to_date_by_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "server.db"
    engine = open_database(file, create=True)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE {migrations.VERSION_TABLE} SET version_num = '1'")
    engine.dispose()
    monkeypatch.setenv("LUDODROME_DATABASE_URL", str(file))
    found = installation.database()
    assert found.grade == WARNING
    assert "has tables of revision 1; " in found.sentence
    assert look(file) == "1"


def test_what_is_no_database_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no database, but a text that is long enough to be looked at" * 9)
    monkeypatch.setenv("LUDODROME_DATABASE_URL", str(file))
    found = installation.database()
    assert (found.grade, found.advice) == (PROBLEM, "choose another with --db or LUDODROME_DATABASE_URL")
    assert "cannot be used as a database: file is not a database" in found.sentence
    monkeypatch.setenv("LUDODROME_DATABASE_URL", "mysql://somewhere/else")
    assert installation.database().grade == PROBLEM
    monkeypatch.setenv("LUDODROME_DATABASE_URL", str(file / "in a file" / "server.db"))
    assert "cannot be created" in installation.database().sentence


# The rest


def test_a_port_that_is_taken() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        number = other.getsockname()[1]
        found = installation.port("127.0.0.1", range(number, number + 1))
        assert (found.grade, found.advice) == (PROBLEM, "choose a free one: ludodrome serve --port N")
        found = installation.port("127.0.0.1", range(number, min(number + 50, 65536)))
        assert found.grade == OK
        assert found.sentence.startswith(f"port {number} is taken, port ")
    assert installation.port("127.0.0.1", range(number, number + 1)).sentence == f"port {number} is free"


def test_browsers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert installation.browser().sentence == "no display, so no browser opens"
    import webbrowser

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.GenericBrowser("lynx"))
    assert installation.browser().sentence == "lynx can be opened"

    def none() -> None:
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", none)
    assert installation.browser().grade == WARNING


def test_a_sandbox_that_does_not_hold_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    from ludodrome.arena import sandbox
    from ludodrome.arena.sandbox.levels import NONE, SandboxLevel

    monkeypatch.setattr(sandbox, "level", lambda: SandboxLevel(NONE, ("no kernel for it",)))
    found = installation.sandbox()
    assert (found.grade, "no kernel for it" in found.sentence) == (WARNING, True)
