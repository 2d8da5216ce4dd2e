"""Files that one process at a time has locked."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ludodrome import locks


def test_one_at_a_time_has_it(tmp_path: Path) -> None:
    path = tmp_path / "a lock"
    first = locks.take(path)
    assert first is not None
    assert path.stat().st_mode & 0o777 == 0o600
    assert locks.take(path) is None
    other = locks.take(tmp_path / "another")
    assert other is not None
    locks.give_back(first)
    second = locks.take(path)
    assert second is not None
    for file in (other, second):
        locks.give_back(file)


def test_a_fork_that_lives_on_keeps_nobody_waiting(tmp_path: Path) -> None:
    file = locks.take(tmp_path / "a lock")
    assert file is not None
    copy = os.dup(file)  # as a forked process has one
    locks.give_back(file)
    again = locks.take(tmp_path / "a lock")
    assert again is not None
    locks.give_back(again)
    os.close(copy)


def test_nothing_is_left_of_a_lock_whose_holder_was_killed(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from ludodrome import locks; "
    code += "locks.take(Path(sys.argv[1])); print('mine', flush=True); sys.stdin.read()"
    program = [sys.executable, "-c", code, str(tmp_path / "a lock")]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"mine\n"
        assert locks.take(tmp_path / "a lock") is None
        holder.send_signal(signal.SIGKILL)
    file = locks.take(tmp_path / "a lock")
    assert file is not None
    locks.give_back(file)


def test_a_file_that_cannot_be_opened_is_an_error_and_leaves_nothing_open(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    with pytest.raises(FileNotFoundError):
        locks.take(tmp_path / "nowhere" / "a lock")
    assert os.listdir("/proc/self/fd") == before
