"""Files that one process at a time has locked."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ludodrome import atomic_io


def test_one_at_a_time_has_it(tmp_path: Path) -> None:
    path = tmp_path / "a lock"
    first = atomic_io.lock_file(path)
    assert first is not None
    assert path.stat().st_mode & 0o777 == 0o600
    assert atomic_io.lock_file(path) is None
    other = atomic_io.lock_file(tmp_path / "another")
    assert other is not None
    atomic_io.unlock_file(first)
    second = atomic_io.lock_file(path)
    assert second is not None
    for file in (other, second):
        atomic_io.unlock_file(file)


def test_a_fork_that_lives_on_keeps_nobody_waiting(tmp_path: Path) -> None:
    file = atomic_io.lock_file(tmp_path / "a lock")
    assert file is not None
    copy = os.dup(file)  # as a forked process has one
    atomic_io.unlock_file(file)
    again = atomic_io.lock_file(tmp_path / "a lock")
    assert again is not None
    atomic_io.unlock_file(again)
    os.close(copy)


def test_nothing_is_left_of_a_lock_whose_holder_was_killed(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from ludodrome import atomic_io; "
    code += "atomic_io.lock_file(Path(sys.argv[1])); print('mine', flush=True); sys.stdin.read()"
    program = [sys.executable, "-c", code, str(tmp_path / "a lock")]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"mine\n"
        assert atomic_io.lock_file(tmp_path / "a lock") is None
        holder.send_signal(signal.SIGKILL)
    file = atomic_io.lock_file(tmp_path / "a lock")
    assert file is not None
    atomic_io.unlock_file(file)


def test_a_file_that_cannot_be_opened_is_an_error_and_leaves_nothing_open(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    with pytest.raises(FileNotFoundError):
        atomic_io.lock_file(tmp_path / "nowhere" / "a lock")
    assert os.listdir("/proc/self/fd") == before
