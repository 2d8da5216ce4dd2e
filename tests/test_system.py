"""Facts about the machine."""

import os

import pytest

from ludodrome.system import core_count, is_loopback


def test_the_cores_of_this_process_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {1, 5, 7}, raising=False)
    assert core_count() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert core_count() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert core_count() == 1


def test_loopback_addresses() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1")))
    assert not any(map(is_loopback, ("10.0.0.1", "fe80::1", "localhost", "", "127.0.0.1:80")))
