"""Handing work out: order, limits, errors, workers that die, and Ctrl-C."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena.matches import pool
from ludodrome.arena.matches.pool import AHEAD, MAX_DEATHS, ClusterLost, Job, run
from ludodrome.arena.matches.workers import AnyExecutor, LocalWorkers, processes_with


class List:
    """A source of fixed jobs."""

    def __init__(self, *jobs: Job) -> None:
        self.jobs = deque(jobs)
        self.results: dict[str, Any] = {}
        self.failures: dict[str, str] = {}
        self.stopping = False

    def next(self) -> Job | None:
        return self.jobs.popleft() if self.jobs else None

    def done(self, job: Job, result: Any) -> None:
        self.results[job.name] = result

    def failed(self, job: Job, why: str) -> None:
        self.failures[job.name] = why


def double(number: int) -> int:
    return 2 * number


def divide(number: int) -> float:
    return 1 / number


def die(path: str) -> None:
    """Leaves a mark and takes its process along."""
    with open(path, "a") as file:
        file.write("x")
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(path: str) -> str:
    if not os.path.exists(path):
        die(path)
    return "alive"


def doze(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    time.sleep(600)


def jobs(count: int, function: Callable[[Any], Any] = double) -> list[Job]:
    return [Job(f"job {number}", function, number) for number in range(count)]


def test_everything_comes_back() -> None:
    source = List(*jobs(20))
    run(source, LocalWorkers(2))
    assert source.results == {f"job {number}": 2 * number for number in range(20)}


def test_any_executor_serves() -> None:
    source = List(*jobs(20))
    with ThreadPoolExecutor(3) as executor:
        run(source, AnyExecutor(executor, 3))
        assert executor.submit(double, 3).result() == 6  # it is still open
    assert len(source.results) == 20


def test_an_error_is_a_failure_and_no_more() -> None:
    source = List(*jobs(4, divide))
    run(source, LocalWorkers(2))
    assert source.failures == {"job 0": "ZeroDivisionError: division by zero"}
    assert source.results == {"job 1": 1.0, "job 2": 0.5, "job 3": 1 / 3}


def test_results_may_lead_to_more() -> None:
    class Growing(List):
        def done(self, job: Job, result: Any) -> None:
            super().done(job, result)
            if result < 100:
                self.jobs.append(Job(f"job {len(self.results)}", double, result))

    source = Growing(Job("job 0", double, 1))
    run(source, LocalWorkers(2))
    assert list(source.results.values()) == [2, 4, 8, 16, 32, 64, 128]


class Counting(Executor):
    """An executor that does nothing before it is released, and counts what it holds."""

    def __init__(self) -> None:
        self.held: list[tuple[Future[Any], Callable[[], Any]]] = []
        self.most = 0

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.held.append((future, lambda: function(*arguments, **named)))
        self.most = max(self.most, len(self.held))
        return future

    def work(self) -> None:
        if self.held:
            future, call = self.held.pop(0)
            future.set_result(call())


def test_no_more_is_handed_out_than_is_needed() -> None:
    executor, source = Counting(), List(*jobs(30))
    run(source, AnyExecutor(executor, 3), executor.work)
    assert len(source.results) == 30
    assert executor.most == AHEAD * 3


def test_enough_drops_the_rest() -> None:
    class Satisfied(List):
        def done(self, job: Job, result: Any) -> None:
            super().done(job, result)
            self.stopping = len(self.results) >= 3

    executor, source = Counting(), Satisfied(*jobs(30))
    run(source, AnyExecutor(executor, 2), executor.work)
    assert len(source.results) in (3, 4)  # one may have been finished at the same time


def test_what_a_dead_worker_had_is_done_again(tmp_path: Path) -> None:
    source = List(*jobs(3), Job("killer", die_once, str(tmp_path / "killed")), *jobs(6)[3:])
    run(source, LocalWorkers(2))
    assert source.results == {**{f"job {number}": 2 * number for number in range(6)}, "killer": "alive"}
    assert not source.failures


def test_what_kills_every_worker_is_given_up_and_nothing_else(tmp_path: Path) -> None:
    mark = tmp_path / "deaths"
    source = List(*jobs(3), Job("killer", die, str(mark)), *jobs(6)[3:])
    run(source, LocalWorkers(2))
    assert len(source.results) == 6
    assert source.failures == {"killer": f"{MAX_DEATHS} workers in a row were killed while running only this"}
    assert len(mark.read_text()) in (MAX_DEATHS, MAX_DEATHS + 1)  # the first time it may not have been alone


def test_workers_that_always_die_are_an_error(tmp_path: Path) -> None:
    killers = [Job(f"killer {number}", die, str(tmp_path / "deaths")) for number in range(5)]
    with pytest.raises(ClusterLost, match="every worker dies, whatever its job"):
        run(List(*killers), LocalWorkers(1))


def test_a_broken_executor_of_somebody_else_is_an_error() -> None:
    class Broken(Executor):
        def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
            raise BrokenExecutor("it is broken")

    with pytest.raises(ClusterLost, match="the workers take no more jobs: it is broken"):
        run(List(*jobs(1)), AnyExecutor(Broken(), 1))


def test_cancelled_work_means_that_the_cluster_is_gone() -> None:
    class Cancelling(Executor):
        def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with pytest.raises(ClusterLost, match="are they still running"):
        run(List(*jobs(1)), AnyExecutor(Cancelling(), 1))


def test_ctrl_c_keeps_what_is_finished_and_ends_the_rest(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    source = List(*jobs(3), Job("endless", doze, str(pid)), Job("endless too", doze, str(pid)))

    def interrupt() -> None:
        if len(source.results) == 3 and pid.exists() and pid.read_text():
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(source, LocalWorkers(2), interrupt)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(source.results) == 3
    assert not alive(int(pid.read_text()))


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def start_bot(path: str) -> None:
    """A worker that starts something which ignores that its worker died."""
    import subprocess

    bot = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
    Path(path).write_text(str(bot.pid))
    os.kill(os.getpid(), signal.SIGKILL)


def test_bots_of_dead_workers_are_ended(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    source = List(*jobs(1), Job("killer", start_bot, str(pid)))
    run(source, LocalWorkers(1))
    assert "killer" in source.failures
    assert not alive(int(pid.read_text()))


def environment(name: str) -> str | None:
    return os.environ.get(name)


def test_workers_do_not_bear_their_own_mark() -> None:
    source = List(Job("mark", environment, "LUDODROME_CREW"))
    run(source, LocalWorkers(1))
    assert len(source.results["mark"]) == 16
    assert processes_with(f"LUDODROME_CREW={source.results['mark']}") == []


def signals(argument: None) -> tuple[bool, bool]:
    blocked = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    signal.raise_signal(signal.SIGINT)
    return blocked, signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_workers_take_no_notice_of_ctrl_c_and_hand_nothing_on() -> None:
    source = List(Job("signals", signals, None))
    run(source, LocalWorkers(1))
    assert source.results == {"signals": (False, False)}


def test_outside_the_main_thread_it_works_too() -> None:
    source = List(*jobs(3))
    thread = threading.Thread(target=pool.run, args=(source, LocalWorkers(1)))
    thread.start()
    thread.join()
    assert len(source.results) == 3
