"""Threads that many callers share."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from ludodrome.web.concurrency import FairExecutor
from tests.attacks.sockets import eventually


def test_threads_are_shared_fairly() -> None:
    over = threading.Event()
    ran: list[str] = []

    def work(name: str, wait: bool) -> None:
        if wait:
            assert over.wait(60)
        ran.append(name)

    with ThreadPoolExecutor(4) as executor:
        fair = FairExecutor(executor, 3)
        for number in range(10):
            fair.submit("greedy", partial(work, f"greedy {number}", True))
        fair.submit("other", partial(work, "other", False))  # though the greedy one was first
        assert eventually(lambda: ran == ["other"])
        over.set()
        assert eventually(lambda: len(ran) == 11)
    assert sorted(ran) == [*(f"greedy {number}" for number in range(10)), "other"]
    assert not fair._running
    assert not fair._waiting


def test_a_call_that_fails_does_not_stop_the_others() -> None:
    done = threading.Event()
    with ThreadPoolExecutor(1) as executor:
        fair = FairExecutor(executor, 1)
        fair.submit("a", lambda: 1 / 0)
        fair.submit("a", done.set)
        assert done.wait(30)
