"""The traps, by number: what looks like a sandbox and is not.

Where it can be done, the trap is sprung too, so that one sees that the test would notice.
"""

import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ludodrome.arena.game_loop import play
from ludodrome.arena.sandbox import boxes, bubblewrap, landlock
from ludodrome.arena.sandbox.attacks import ATTACKS, ESCAPED, HELD, program, run_batch, targets
from ludodrome.arena.sandbox.boxes import ENVIRONMENT, Box, ResourceLimits, memory_file
from ludodrome.arena.sandbox.uid_pool import processes_of
from tests.arena.playing import Scripted, first, play_spec
from tests.arena.sandbox.boxed import Running, at_every_level, box, boxed_seat, eventually, need, zoo

WAITS = "import sys\nprint('ready', flush=True)\nsys.stdin.read()\n"
USUAL = ResourceLimits()
ALLOW_ALL = b"\x06\x00\x00\x00\x00\x00\xff\x7f"
ROOT_ONLY = pytest.mark.skipif("os.geteuid() != 0", reason="only root has a pool of uids, and sees its processes")


def verdicts(level: str, names: Sequence[str], known: ResourceLimits = USUAL, **limits: int) -> list[str]:
    """What becomes of attacks now, if they know these limits and others are in force."""
    chosen = [one for one in ATTACKS if one.name in names]
    with targets(known) as given:
        return [one.verdict for one in run_batch(chosen, box(level, program(chosen, given), **limits))]


def change_options(monkeypatch: pytest.MonkeyPatch, old: bytes, new: bytes) -> None:
    """Bubblewrap is given other options than ours."""
    need("bubblewrap")

    def changed(data: bytes) -> int:
        if b"--unshare-all\0" in data:
            assert old in data
            data = data.replace(old, new)
        return memory_file(data)

    monkeypatch.setattr(bubblewrap, "memory_file", changed)


@ROOT_ONLY
@at_every_level
def test_trap_1_no_environment_goes_along(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUDODROME_DATABASE_URL", "secret")
    with Running(box(level, WAITS)) as running:
        assert running.line() == "ready\n"
        for process in processes_of(running.uid):
            entries = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
            names = {entry.partition(b"=")[0].decode() for entry in entries if entry}
            assert names <= {*ENVIRONMENT, "PWD"}


def test_trap_1_a_mounted_proc_would_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    change_options(monkeypatch, b"--clearenv\0", b"--clearenv\0--proc\0/proc\0")
    assert verdicts("bubblewrap", ["access.environment_of_others"]) == [ESCAPED]


@ROOT_ONLY
def test_trap_2_command_lines_show_no_path_of_the_machine() -> None:
    with Running(box("bubblewrap", WAITS)) as running:
        assert running.line() == "ready\n"
        words = [
            word.decode()
            for process in processes_of(running.uid)
            for word in Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        ]
    paths = {word for word in words if "/" in word}
    assert paths == {
        bubblewrap.program(),
        bubblewrap.PRLIMIT,
        box("bubblewrap", WAITS).interpreter.path,
        "/bot/main.py",
    }


def test_traps_3_and_4_nothing_can_be_made_in_a_box(monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdicts("bubblewrap", ["resources.inodes"]) == [HELD]
    change_options(monkeypatch, b"--remount-ro\0/\0", b"")
    assert verdicts("bubblewrap", ["resources.inodes"]) == [ESCAPED]


def test_trap_4_not_even_in_a_small_tmpfs(monkeypatch: pytest.MonkeyPatch) -> None:
    change_options(monkeypatch, b"--clearenv\0", b"--clearenv\0--size\0001000000\0--tmpfs\0/tmp\0")
    assert verdicts("bubblewrap", ["resources.inodes"]) == [ESCAPED]


@ROOT_ONLY
@at_every_level
def test_trap_5_nothing_of_a_bot_is_root(level: str) -> None:
    with Running(box(level, WAITS)) as running:
        assert running.line() == "ready\n"
        assert running.uid >= 1000
        statuses = running.statuses()
        assert len(statuses) >= 1
        for status in statuses:
            assert set(status["Uid"].split()) == set(status["Gid"].split()) == {str(running.uid)}
            assert set(status["Groups"].split()) <= {str(running.uid), "65534"}


@at_every_level
def test_trap_5_threads_are_counted(level: str) -> None:
    assert verdicts(level, ["processes.threads"]) == [HELD]
    assert verdicts(level, ["processes.threads"], threads=500, memory=2**31) == [ESCAPED]


@at_every_level
def test_trap_6_memory_is_one_process(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["processes.fork", "processes.fork_by_number", "resources.address_space"]
    assert verdicts(level, names) == [HELD] * 3
    for module in (bubblewrap, landlock):
        monkeypatch.setattr(module, "_filter", lambda: ALLOW_ALL)
    assert verdicts(level, names, memory=2**31, threads=100) == [ESCAPED] * 3


@at_every_level
def test_trap_7_a_bot_outlives_the_thread_that_started_it(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = box(level, WAITS)

    def started() -> Running:
        found: list[tuple[Running, str]] = []

        def start() -> None:
            running = Running(made)
            found.append((running, running.line()))  # it has taken its measures, and the thread ends

        thread = threading.Thread(target=start)
        thread.start()
        thread.join()
        assert found[0][1] == "ready\n"
        return found[0][0]

    with started() as running:
        assert not running.process.has_exited(0.2)
    monkeypatch.setattr(boxes, "in_launcher_thread", lambda begin: begin())
    with started() as running:
        assert running.process.has_exited(20)


@at_every_level
def test_trap_8_a_closed_output_is_caught(level: str) -> None:
    seat = boxed_seat(level, zoo("closes_stdout"))
    began = time.monotonic()
    record = play(
        play_spec("dots", ("boxed", "b"), clock="500ms", start_ms=2000, rows=1, cols=2), [seat, Scripted(first)]
    )
    seat.close()
    cause = record["result"]["verdicts"][0]["cause"]
    assert cause == ("timeout" if level == "bubblewrap" else "crash")
    assert time.monotonic() - began < 60


@ROOT_ONLY
@at_every_level
def test_trap_9_no_capability_is_left(level: str) -> None:
    with Running(box(level, WAITS)) as running:
        assert running.line() == "ready\n"
        bot = [status for status in running.statuses() if status["Name"].startswith("python")]
        assert len(bot) == 1
        held = {name: value for name, value in bot[0].items() if name.startswith("Cap")}
        assert len(held) == 5
        assert {int(value, 16) for value in held.values()} == {0}
        assert bot[0]["NoNewPrivs"] == "1"
        assert bot[0]["Seccomp"] == "2"


def test_trap_10_the_interpreter_is_one_that_every_uid_can_run(tmp_path: Path) -> None:
    link = tmp_path / "python3"
    link.symlink_to(sys.executable)
    assert boxes.find_interpreter(["/nonexistent/python3"]) is None
    if not Path(sys.executable).resolve().is_relative_to("/usr"):
        assert boxes.find_interpreter([sys.executable, str(link)]) is None
    closed = tmp_path / "closed"
    closed.write_text("")
    assert boxes.find_interpreter([str(closed)]) is None
    found = boxes.find_interpreter()
    assert found is None or Path(found.path).is_relative_to("/usr")


@at_every_level
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("infinite", "1e999 is too large"),
        ("not_a_number", "NaN is not a number"),
        ("doubled_keys", "'type' twice"),
        ("half_a_character", "surrogate"),
        ("bad_utf8", "not UTF-8"),
        ("very_deep", "nested deeper than 32"),
        ("giant_line", "longer than 65536"),
    ],
)
def test_trap_11_what_json_lets_through_we_do_not(level: str, kind: str, why: str) -> None:
    seat = boxed_seat(level, zoo(kind))
    record = play(play_spec("dots", ("boxed", "b"), "forfeit", rows=1, cols=2), [seat, Scripted(first)])
    seat.close()
    verdict = record["result"]["verdicts"][0]
    assert verdict["cause"] == "protocol"
    assert why in verdict["why"]


@at_every_level
def test_trap_11_nul_is_written_out(level: str) -> None:
    seat = boxed_seat(level, zoo("chatty"))
    record = play(play_spec("dots", ("boxed", "b"), rows=1, cols=2), [seat, Scripted(first)])
    seat.close()
    assert record["result"]["verdicts"] == []
    assert next(turn["log"] for turn in record["turns"] if turn["seat"] == 0) == ["count 0 \\u0000"]


@at_every_level
def test_without_limits_memory_would_be_had(level: str) -> None:
    known = ResourceLimits(memory=64 * 1024 * 1024)
    assert verdicts(level, ["resources.memory"], known, memory=known.memory) == [HELD]
    assert verdicts(level, ["resources.memory"], known, memory=2**32) == [ESCAPED]


def test_a_shared_network_would_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["access.tcp", "access.unix_by_name"]
    monkeypatch.setattr(bubblewrap, "_filter", lambda: ALLOW_ALL)
    assert verdicts("bubblewrap", names) == [HELD] * 2  # the namespace alone holds them off
    change_options(monkeypatch, b"--unshare-all\0", b"--unshare-all\0--share-net\0")
    assert verdicts("bubblewrap", names) == [ESCAPED] * 2


def test_landlock_alone_holds_files_and_the_filter_alone_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    need("landlock")
    monkeypatch.setattr(landlock, "_filter", lambda: ALLOW_ALL)
    assert verdicts("landlock", ["access.database", "access.settings", "resources.disk"]) == [HELD] * 3
    assert verdicts("landlock", ["access.pairs"]) == [ESCAPED]


@ROOT_ONLY
@at_every_level
def test_processor_time_ends(level: str) -> None:
    made: Box = box(level, "print('ready', flush=True)\nwhile True: pass\n")
    with Running(replace(made, limits=replace(made.limits, cpu_seconds=1))) as running:
        assert running.line() == "ready\n"
        assert eventually(lambda: running.process.has_exited(0.1), 60)
