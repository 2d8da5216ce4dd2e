"""Dask: the same records as from processes of this machine, also if a worker is killed again and again."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena.matches.scheduler import Play, Record
from ludodrome.arena.matches.workers import Cluster, LocalWorkers, Workers, play_game
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.tournaments.report import standings
from tests.arena import quick

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.xdist_group("dots")


@contextmanager
def running_cluster() -> Iterator[str]:
    """A cluster of two processes, each of which is restarted when it dies."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_cluster() as found:
        yield found


@pytest.fixture
def own_address() -> Iterator[str]:
    """A cluster for one test: one whose workers were killed may have lost one of them for good."""
    with running_cluster() as found:
        yield found


def played(
    path: Path, workers: Workers, pairs: int, play: Play = play_game, bots: Sequence[Any] = quick.BOTS
) -> tuple[object, object]:
    """Records and standings of a tournament with ``pairs`` pairs for each two bots; one pair has openings."""
    opened = quick.tournament(path, quick.plan(bots=bots, pairs=pairs, seed=7, openings=pairs == 1))
    try:
        opened.play(workers, play)
    finally:
        workers.close()
    assert opened.finished
    assert opened.played == len(bots) * (len(bots) - 1) * pairs == quick.count(path)
    assert all(not line.verdicts for line in standings(opened))
    return quick.kept(path), [line.to_json() for line in standings(opened)]


def test_the_same_records_everywhere(tmp_path: Path, address: str) -> None:
    alone = played(tmp_path / "one.sqlite", LocalWorkers(1), 1)
    assert played(tmp_path / "two.sqlite", LocalWorkers(2), 1) == alone
    assert played(tmp_path / "dask.sqlite", Cluster(address), 1) == alone


def test_the_same_records_of_programs_that_stay_and_of_modules(tmp_path: Path, address: str) -> None:
    pytest.importorskip("wasmtime")
    bots = quick.programs(tmp_path)
    alone = played(tmp_path / "one.sqlite", LocalWorkers(1), 2, bots=bots)
    assert played(tmp_path / "dask.sqlite", Cluster(address), 2, bots=bots) == alone
    wait_for_nobody(tmp_path / "stays.py")


def wait_for_nobody(path: Path) -> None:
    """The workers of a cluster outlive a match; the bots that they keep do not for long."""
    deadline = time.monotonic() + 120
    while quick.running(str(path)):
        assert time.monotonic() < deadline
        time.sleep(0.1)


SETTLED = 3.0
"""Seconds after which a worker is no longer new."""


def slow_play(play_spec: PlaySpec) -> Record:
    """So that there is time to kill somebody."""
    time.sleep(0.1)
    return play_game(play_spec)


@pytest.mark.parametrize("kind", ["built-in", "programs"])
def test_one_worker_is_killed_repeatedly(kind: str, tmp_path: Path, long: bool, request: pytest.FixtureRequest) -> None:
    """One of the two is killed whenever both have been there for a while.

    Dask's nanny gives up a worker that is killed in the moment in which it begins, and never starts it again.
    """
    if not long:
        pytest.skip("some minutes: --long")
    address = request.getfixturevalue("own_address")
    pairs, least, bots = 50, 5, list[Any](quick.BOTS)
    if kind == "programs":
        pytest.importorskip("wasmtime")
        pairs, least, bots = 150, 2, quick.programs(tmp_path)  # on a busy machine a worker takes long to come back
    path = tmp_path / "killed.sqlite"
    stop = threading.Event()
    killed: list[int] = []
    seen: dict[int, float] = {}

    def kill_now_and_then() -> None:
        with distributed.Client(address, set_as_default=False) as client:
            while not stop.wait(0.1):
                there = sorted(client.run(os.getpid, on_error="ignore").values())
                youngest = max((seen.setdefault(one, time.monotonic()) for one in there), default=0.0)
                if len(there) == 2 and time.monotonic() - youngest > SETTLED and quick.count(path):
                    victim = there[len(killed) % 2]
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)

    killer = threading.Thread(target=kill_now_and_then)
    killer.start()
    try:
        disturbed = played(path, Cluster(address), pairs, slow_play, bots)
    finally:
        stop.set()
        killer.join()
    assert len(killed) >= least
    assert disturbed == played(tmp_path / "quiet.sqlite", LocalWorkers(2), pairs, bots=bots)
    wait_for_nobody(tmp_path / "stays.py")


def test_without_distributed_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"install it with pip install 'ludodrome\[cluster\]'"):
        Cluster("tcp://127.0.0.1:1")


def test_no_cluster_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ludodrome.arena.matches.workers.ANSWER", 0.2)
    with pytest.raises(ValueError, match=r"there is no cluster at tcp://127\.0\.0\.1:1"):
        Cluster("tcp://127.0.0.1:1")
    with pytest.raises(ValueError, match="there is no cluster at nonsense"):
        Cluster("nonsense://x")
