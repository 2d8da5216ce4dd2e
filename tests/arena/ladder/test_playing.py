"""How contended the machine is during a game: by the kernel's pressure, or by a loop of known work."""

import hashlib
import threading
import time
from pathlib import Path

import pytest

from ludodrome.arena.ladder import playing
from ludodrome.arena.ladder.playing import CONTENDED, ContentionMeter, PlayedMatch
from ludodrome.system import core_count
from tests.arena.sandbox.boxed import eventually


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that a test sets, and with it the time that the loop seems to take."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_the_kernels_pressure_is_read(tmp_path: Path, clock: list[float]) -> None:
    pressure = tmp_path / "cpu"
    pressure.write_text("some avg10=1.00 avg60=1.00 avg300=1.00 total=5000000\nfull avg10=0.00 total=0\n")
    meter = ContentionMeter(pressure)
    clock[0] += 10.0
    pressure.write_text("some avg10=9.00 avg60=1.00 avg300=1.00 total=6000000\n")
    assert meter.share == pytest.approx(0.1)
    assert not PlayedMatch({}, meter.share).contended
    pressure.write_text("some avg10=9.00 avg60=1.00 avg300=1.00 total=9000000\n")
    assert meter.share == pytest.approx(0.4)
    assert PlayedMatch({}, meter.share).contended
    assert CONTENDED == 0.25  # docs/how-to/league.md


def test_without_it_a_loop_of_known_work_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([1.0, 1.0, 1.2, 1.0, 1.1, 2.0, 4.0, 2.0])
    ticks = iter(tick for one in seconds for tick in (0.0, one))
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    monkeypatch.setattr(ContentionMeter, "_best", float("inf"))
    meter = ContentionMeter(tmp_path / "nothing")
    assert meter.share == 0.0  # no answer yet
    for _ in range(3):
        meter.sample()
    assert meter.share == pytest.approx(1 - 3 / 8)


@pytest.mark.skipif(not playing.PRESSURE.exists(), reason="this kernel has no pressure stall information")
def test_a_busy_machine_is_noticed_here() -> None:
    """More busy threads outside of Python than processors: some of them must wait."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            hashlib.pbkdf2_hmac("sha256", b"x", b"y", 20_000)

    meter = ContentionMeter()
    threads = [threading.Thread(target=work) for _ in range(2 * core_count() + 2)]
    for one in threads:
        one.start()
    try:
        assert eventually(lambda: meter.share > CONTENDED, 30)
    finally:
        over.set()
        for one in threads:
            one.join()
