"""Settings for all tests: --long, --quick, deterministic Hypothesis, uids for sandboxed bots, databases, a league."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from sqlalchemy import Engine

SHADOWS = str(Path(__file__).parent / "shadows")
"""What stands before other packages; it says why."""

VARIANTS = {"options", "line", "rows", "cols", "size", "sizes", "rules", "count", "margin"}
"""Parameters of tests that vary a game: --quick takes the first of their values."""

settings.register_profile(
    "ludodrome",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("ludodrome")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run what takes many minutes")
    parser.addoption("--quick", action="store_true", help="of each test only the first case of each game")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --quick, keep the first case of each test and game (the games are the groups of xdist)."""
    if not config.getoption("--quick"):
        return
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    seen = set()
    for item in items:
        group = item.get_closest_marker("xdist_group")
        params = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        others = tuple(repr(value) for name, value in params.items() if name not in VARIANTS)
        case = (item.nodeid.partition("[")[0], group.args if group else (), others)
        (left_out if case in seen else kept).append(item)
        seen.add(case)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


def pytest_configure(config: pytest.Config) -> None:
    """Each worker has boxed bots' uids of its own: tests look at what is left under one when its bot has gone."""
    if "PYTEST_XDIST_WORKER" in os.environ:  # for the programs that a worker starts, not for the workers
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (SHADOWS, os.environ.get("PYTHONPATH"))))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    if worker < 8:
        first = 61000 + 100 * worker
        os.environ["LUDODROME_SANDBOX_UIDS"] = f"{first}-{first + 99}"


@pytest.fixture(scope="session")
def long(request: pytest.FixtureRequest) -> bool:
    """Whether this is the long run."""
    return bool(request.config.getoption("--long"))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Path]:
    """A PostgreSQL, for ``new_database``; without its programs, tests that need it are skipped."""
    from tests.postgresql import PLACES, cluster, programs

    if programs() is None:
        pytest.skip(f"there is no PostgreSQL in {PLACES}: nothing was tested on it")
    with cluster() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new database can be made: a file of SQLite's, and then a PostgreSQL."""
    if request.param == "sqlite":
        return str(tmp_path / "a.sqlite")
    from tests.postgresql import new_database

    return new_database(request.getfixturevalue("postgresql"))


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator["Engine"]:
    """A new database with its tables, of both kinds one after the other."""
    from ludodrome.store.database import open_database

    if request.param == "sqlite":
        opened = open_database(tmp_path / "tables.sqlite", create=True)
    else:
        from tests.postgresql import new_database, with_tables

        home = request.getfixturevalue("postgresql")
        opened = open_database(new_database(home, with_tables(home)))
    yield opened
    opened.dispose()


@pytest.fixture
def league(tmp_path: Path) -> Iterator[tuple["Engine", str]]:
    """A league that games are played in by this process: its database, and the address of its server."""
    from tests.web import serving

    with serving.league(tmp_path) as running:
        yield running
