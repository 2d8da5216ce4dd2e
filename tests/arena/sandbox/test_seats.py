"""Sandboxed bots in games: they play, misbehave, are ended with certainty, and leave nothing."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena import records, sandbox
from ludodrome.arena.doctor import examine
from ludodrome.arena.game_loop import play
from ludodrome.arena.ladder.uploads import write_source
from ludodrome.arena.sandbox import NoSandbox, boxes, uid_pool
from ludodrome.arena.sandbox.boxes import MAX_BYTES, MAX_FILES, BoxedProcess, read_folder
from ludodrome.arena.sandbox.uid_pool import NoFreeUid, PooledUid, processes_of
from ludodrome.arena.transports.processes import MAX_STDERR
from ludodrome.bots.starters import starter
from ludodrome.games import make
from tests.arena.playing import Scripted, first, play_spec
from tests.arena.sandbox.boxed import Running, at_every_level, box, boxed_seat, eventually, need, zoo

ROOT_ONLY = pytest.mark.skipif("os.geteuid() != 0", reason="only root has a pool of uids")
SHORT: dict[str, Any] = {"rows": 1, "cols": 2}


def played(level: str, files: Any, **given: Any) -> dict[str, Any]:
    """A game of a boxed bot, after which nothing of it is there."""
    seat = boxed_seat(level, files)
    seen: list[int] = []

    def watch(turn: Any) -> Any:
        process = seat._process
        assert isinstance(process, BoxedProcess)
        if process._uid is not None:
            seen.append(process._uid.uid)
        return first(turn)

    try:
        record = play(play_spec("dots", ("boxed", "b"), **{**SHORT, **given}), [seat, Scripted(watch)])
    finally:
        seat.close()
        seat.close()
    records.verify(record)
    assert [processes_of(uid) for uid in set(seen)] == [[]] * len(set(seen))
    return record


@at_every_level
def test_the_starter_plays(level: str) -> None:
    texts = starter("dots", "python")
    files = {"main.py": texts["bot.py"].encode(), "strategy.py": texts["strategy.py"].encode()}
    record = played(level, files, rows=2, cols=2)
    assert record["result"]["verdicts"] == []
    assert "stderr" not in record


@at_every_level
@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("good", None),
        ("stubborn", "timeout"),
        ("endless_unknown", "timeout"),
        ("closes_stdin", "timeout"),
        ("endless_line", "protocol"),
        ("crash_at_start", "crash"),
        ("half_a_line", "crash"),
        ("flood_stderr", None),
        ("leaves_a_child_with_its_output", "crash"),
        ("children_away", "crash"),  # it may not fork, and breaks
    ],
)
def test_the_zoo_in_a_box(level: str, kind: str, cause: str | None) -> None:
    times: dict[str, Any] = {"clock": "300ms", "start_ms": 500} if cause == "timeout" else {}
    verdicts = played(level, zoo(kind), policy="forfeit", **times)["result"]["verdicts"]
    assert [one["cause"] for one in verdicts] == ([cause] if cause else [])


@at_every_level
def test_what_it_says_on_standard_error_is_kept_and_no_more(level: str) -> None:
    noisy = "import sys\nsys.stderr.write('first' + 'x' * 1000000 + 'last')\nsys.stderr.flush()\n"
    kept = played(level, noisy)["stderr"][0]
    assert kept.startswith("first")
    assert kept.endswith("last")
    assert len(kept.encode()) <= MAX_STDERR


@at_every_level
def test_threads_and_the_usual_library_work(level: str) -> None:
    text = """
import collections, ctypes, dataclasses, heapq, itertools, json, math, os, random, signal, sys, threading, time
found = []
threads = [threading.Thread(target=lambda number=number: found.append(number)) for number in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
signal.signal(signal.SIGALRM, lambda *_: found.append("alarm"))
signal.setitimer(signal.ITIMER_REAL, 0.01)
time.sleep(0.1)
with open(os.devnull, "w") as nothing: nothing.write("x")
with open("/dev/urandom", "rb") as dice: assert len(dice.read(8)) == 8
print(sorted(map(str, found)), random.Random(1).random() < 1, sys.stdout.encoding, os.listdir("."), flush=True)
"""
    with Running(box(level, text)) as running:
        assert running.line() == "['0', '1', '2', '3', 'alarm'] True utf-8 ['main.py']\n", running.process.stderr


@at_every_level
def test_threads_leave_a_bot_its_memory(level: str) -> None:
    """Four threads that hold a little, and half of the memory for the first one."""
    text = """
import threading
gate, enough = threading.Barrier(5), threading.Event()
def work():
    held = bytes(2000)
    gate.wait()
    enough.wait()
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
gate.wait()
print(len(bytearray(128 << 20)) >> 20, flush=True)
enough.set()
"""
    with Running(box(level, text)) as running:
        assert running.line() == "128\n", running.process.stderr


@at_every_level
def test_numpy_works_where_there_is_one(level: str) -> None:
    found = sandbox.levels.inspect_interpreter(sandbox.levels.BACKENDS[level], box(level, "").interpreter)
    assert not isinstance(found, str), found
    if found.numpy is None:
        pytest.skip("the machine's packages have no NumPy, so nothing is shown about it")
    assert found.numpy.count(".") >= 1
    assert "-S" not in found.command("main.py")[1]


# The end


@ROOT_ONLY
@at_every_level
def test_when_the_arena_is_killed_its_bots_are_gone(level: str, tmp_path: Path) -> None:
    need(level)
    script = f"""
import time
from tests.arena.sandbox.boxed import Running, box
running = Running(box({level!r}, "import time\\nprint('ready', flush=True)\\ntime.sleep(600)\\n"))
print(running.uid, running.line(), end="", flush=True)
time.sleep(600)
"""
    arena = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=Path.cwd())
    assert arena.stdout
    uid, ready = arena.stdout.readline().split()
    assert ready == "ready"
    assert processes_of(int(uid))
    arena.kill()
    arena.wait()
    arena.stdout.close()
    assert eventually(lambda: processes_of(int(uid)) == [])


@ROOT_ONLY
@at_every_level
def test_many_at_once_have_nothing_in_common(level: str) -> None:
    made = box(level, "import sys\nprint('ready', flush=True)\nsys.stdin.read()\n")
    running = [Running(made) for _ in range(10)]
    try:
        assert [one.line() for one in running] == ["ready\n"] * 10
        assert len({one.uid for one in running}) == 10
    finally:
        for one in running:
            one.process.end(0.0, lambda data: None)
    assert all(one.process.gone and processes_of(one.uid) == [] for one in running)
    assert not any(uid_pool.folder_of(one.uid).exists() for one in running)


@at_every_level
def test_a_forked_process_can_start_boxes_too(level: str) -> None:
    made = box(level, "print('ready', flush=True)\n")
    with Running(made) as running:
        assert running.line() == "ready\n"
    from multiprocessing import get_context

    reading, writing = os.pipe()

    def again() -> None:
        with Running(made) as inner:
            os.write(writing, inner.line().encode())

    child = get_context("fork").Process(target=again)
    child.start()
    child.join(60)
    os.close(writing)
    with os.fdopen(reading) as said:
        assert said.read() == "ready\n"
    assert child.exitcode == 0


def test_a_box_that_cannot_be_made_is_the_arenas_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise PermissionError(13, "no")

    seat = boxed_seat("bubblewrap", zoo("good"))
    monkeypatch.setattr(boxes, "in_launcher_thread", refuse)
    record = play(play_spec("dots", ("boxed", "b"), **SHORT), [seat, Scripted(first)])
    seat.close()
    assert (record["result"]["decided_by"], record["result"]["rated"]) == ("arena", False)
    monkeypatch.undo()
    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(boxes, "in_launcher_thread", refuse)
    for _ in range(3):
        with pytest.raises(PermissionError):
            BoxedProcess(box("bubblewrap", ""))
    assert len(os.listdir("/proc/self/fd")) == before


# Files of a bot


def test_folders_that_are_no_bots(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no .*nobody"):
        read_folder(tmp_path / "nobody")
    with pytest.raises(ValueError, match=r"a folder with a main\.py"):
        read_folder(tmp_path)
    (tmp_path / "main.py").write_text("pass")
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "more.py").write_text("pass")
    assert read_folder(tmp_path) == {"main.py": b"pass", "part/more.py": b"pass"}
    (tmp_path / "link").symlink_to("/etc/passwd")
    with pytest.raises(ValueError, match="link is not a plain file"):
        read_folder(tmp_path)
    (tmp_path / "link").unlink()
    (tmp_path / "large").write_bytes(bytes(MAX_BYTES))
    with pytest.raises(ValueError, match=f"at most {MAX_FILES} files"):
        read_folder(tmp_path)
    (tmp_path / "large").unlink()
    for number in range(MAX_FILES):
        (tmp_path / f"{number}.py").write_text("pass")
    with pytest.raises(ValueError, match=f"at most {MAX_FILES} files"):
        read_folder(tmp_path)
    assert read_folder(tmp_path / "main.py") == {"main.py": b"pass"}


def test_a_source_is_written_and_nothing_else(tmp_path: Path) -> None:
    program = write_source("raise SystemExit('never run here') # é", tmp_path)
    assert list(tmp_path.iterdir()) == [program]
    assert read_folder(tmp_path)["main.py"].decode() == "raise SystemExit('never run here') # é"


# Uids


@ROOT_ONLY
def test_the_pool_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(uid_pool.SETTING, "61990-61991")
    assert uid_pool.pool() == range(61990, 61992)
    first_taken, second_taken = PooledUid.take(), PooledUid.take()
    assert {first_taken.uid, second_taken.uid} == {61990, 61991}
    with pytest.raises(NoFreeUid, match="all 2 uids"):
        PooledUid.take()
    first_taken.release()
    first_taken.release()
    again = PooledUid.take()
    assert again.uid == first_taken.uid
    again.release()
    second_taken.release()
    for wrong in ("", "61000", "61001-61000", "0-10", "x-y", "10-61000"):
        monkeypatch.setenv(uid_pool.SETTING, wrong)
        with pytest.raises(ValueError, match="first and the last uid"):
            uid_pool.pool()
    monkeypatch.setenv(uid_pool.SETTING, "65000-65600")
    with pytest.raises(ValueError, match="nobody has one of them"):
        uid_pool.pool()


@ROOT_ONLY
def test_what_was_left_under_a_uid_is_ended_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(uid_pool.SETTING, "61992-61992")
    held = PooledUid.take()
    left = subprocess.Popen(["sleep", "600"], user=61992, group=61992, extra_groups=[])
    files = uid_pool.folder_of(61992)
    files.mkdir()
    (files / "main.py").touch()
    try:
        held.close()  # as if its holder had been killed
        with pytest.raises(NoFreeUid):  # it is dead now, and not reaped
            PooledUid.take()
        assert left.wait(20) == -signal.SIGKILL
        PooledUid.take().release()
        assert not files.exists()
    finally:
        left.kill()
        left.wait()


@ROOT_ONLY
def test_the_dead_count_until_they_are_reaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(uid_pool.SETTING, "61993-61994")
    held = PooledUid.take()
    dead = subprocess.Popen(["true"], user=held.uid, group=held.uid, extra_groups=[])
    os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
    assert processes_of(held.uid) == []
    assert processes_of(held.uid, dead=True) == [dead.pid]
    held.release()
    other = PooledUid.take()
    assert other.uid != held.uid
    with pytest.raises(NoFreeUid):
        PooledUid.take()
    dead.wait()
    again = PooledUid.take()
    assert again.uid == held.uid
    again.release()
    other.release()


@ROOT_ONLY
def test_a_process_whose_first_thread_has_ended_lives_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(uid_pool.SETTING, "61995-61995")
    held = PooledUid.take()
    script = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
print("ready", flush=True)
ctypes.CDLL(None).syscall(60, 0)
"""
    command = ["/usr/bin/python3", "-c", script]
    left = subprocess.Popen(command, stdout=subprocess.PIPE, user=held.uid, group=held.uid, extra_groups=[])
    assert left.stdout
    try:
        assert left.stdout.readline() == b"ready\n"
        assert eventually(lambda: "Z (zombie)" in Path(f"/proc/{left.pid}/status").read_text())
        assert processes_of(held.uid) == [left.pid]
        assert held.sweep()
        assert left.wait(20) == -signal.SIGKILL
    finally:
        left.kill()
        left.wait()
        left.stdout.close()
    held.release()


@ROOT_ONLY
@at_every_level
def test_a_uid_that_was_used_leaves_the_next_bot_all_its_threads(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(uid_pool.SETTING, "61981-61984")
    text = """
import threading, time
for _ in range(5):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
print("ready", flush=True)
"""
    for linger in (True, False) * 8:
        with Running(box(level, text + ("time.sleep(600)\n" if linger else ""))) as running:
            assert running.line() == "ready\n", running.process.stderr


@ROOT_ONLY
def test_the_folder_must_be_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uid_pool, "FOLDER", tmp_path / "open")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(PermissionError, match="nobody else may write"):
        PooledUid.take()


@ROOT_ONLY
@at_every_level
def test_a_strict_umask_does_no_harm(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = box(level, {"main.py": b"import part.more\n", "part/more.py": b"print('ready', flush=True)\n"})
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        monkeypatch.setattr(uid_pool, "FOLDER", Path(folder) / "ludodrome")
        monkeypatch.setenv(uid_pool.SETTING, "61985-61988")  # locks elsewhere keep nobody from the others
        before = os.umask(0o077)
        try:
            with Running(made) as running:
                assert running.line() == "ready\n", running.process.stderr
        finally:
            os.umask(before)


def test_without_a_level_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    (tmp_path / "main.py").write_text("pass")
    assert not sandbox.level().holds
    with pytest.raises(NoSandbox, match="this is darwin"):
        sandbox.seat(tmp_path)


def test_boxes_have_a_spec_and_the_doctor_knows_it(tmp_path: Path) -> None:
    if not sandbox.level().holds:
        pytest.skip(f"no level holds here, so nothing is shown: {sandbox.level().why_not_better}")
    texts = starter("dots", "python")
    (tmp_path / "main.py").write_text(texts["bot.py"])
    (tmp_path / "strategy.py").write_text(texts["strategy.py"])
    game, checks = make("dots", rows=1, cols=2), ["seats", "closing", "noise"]
    findings = list(examine(game, f"box:{tmp_path}", tmp_path / "troubles", only=checks))
    assert [(one.check, one.grade) for one in findings] == [("seats", "held"), ("closing", "held"), ("noise", "held")]
    (tmp_path / "main.py").write_text("import sys\nsys.stdin.read()\nsys.exit(3)\n")
    findings = list(examine(game, f"box:{tmp_path}", tmp_path / "troubles", only=["closing"]))
    assert findings[0].grade == "warning"
    assert "it left with code 3" in findings[0].sentence


def test_a_number_that_was_used_again_is_nobody_of_ours() -> None:
    """The report names a process that is not the child of ours: it must not be ended."""
    bystander = subprocess.Popen(["sleep", "600"])
    try:
        with Running(box("bubblewrap", "import sys\nprint('ready', flush=True)\nsys.stdin.read()\n")) as running:
            assert running.line() == "ready\n"
            launch = running.process._launch
            assert launch is not None
            assert launch.report is not None
            os.read(launch.report, 4096)
            reading, writing = os.pipe()
            os.write(writing, b'{"child-pid": %d}' % bystander.pid)
            os.close(writing)
            os.dup2(reading, launch.report)
            os.close(reading)
        assert running.process.gone
        assert bystander.poll() is None
        assert os.geteuid() != 0 or processes_of(running.uid) == []
    finally:
        bystander.kill()
        bystander.wait()
