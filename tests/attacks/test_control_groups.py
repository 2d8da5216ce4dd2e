"""Points 11, 12 and 21: bots that slow their rivals, that fill the kernel's memory, that look around."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena import sandbox
from ludodrome.arena.sandbox.boxes import ResourceLimits
from ludodrome.arena.sandbox.uid_pool import processes_of
from ludodrome.arena.seats import Turn
from ludodrome.arena.transports.child import ChildSeat
from tests.arena.sandbox.boxed import Running, at_every_level, box

SECONDS = 0.5
HELLO = {"type": "hello", "match": "m-1"}

ANSWERS = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        print(json.dumps({"type": "move", "move": 1, "turn": message["turn"]}), flush=True)
"""
BUSY = """
import threading, zlib
def compute():
    while True:
        zlib.crc32(bytes(1 << 20))
for _ in range(3):
    threading.Thread(target=compute, daemon=True).start()
"""
FLOOD = """
import os, threading
def flood():
    while True:
        os.write(2, b"x" * 65536)
threading.Thread(target=flood, daemon=True).start()
"""


def turn(number: int) -> Turn:
    return Turn(number, 0, 20.0, 0.0, None, dict, lambda asked: {"type": "turn", "turn": asked.number})


def answered(seat: Any, number: int) -> None:
    answer = seat.ask(turn(number))
    assert answer.fault is None, (answer.fault, seat.stderr)
    assert answer.move == 1


def processor_seconds(processes: list[int]) -> float:
    """What they have used so far."""
    ticks = 0
    for process in processes:
        ticks += sum(map(int, Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def read_bytes() -> int:
    """What this process has read so far, from pipes too."""
    return int(Path("/proc/self/io").read_text().split()[1])


def need_control(name: str) -> None:
    found = sandbox.level()
    if not found.holds or name not in found.control_groups:
        pytest.skip(f"nothing is shown: {found.groups_sentence if found.holds else found.sentence}")


@pytest.mark.skipif(os.geteuid() != 0, reason="finds the processes of a bot by its uid")
def test_point_11_a_bot_does_not_compute_on_its_rivals_time(tmp_path: Path) -> None:
    need_control("freezer")
    (tmp_path / "main.py").write_text(BUSY + ANSWERS)
    seat = sandbox.seat(tmp_path)
    try:
        seat.start(HELLO)
        answered(seat, 0)
        processes = processes_of(seat._process._uid.uid)  # type: ignore[union-attr]
        assert processes
        for number in range(1, 4):
            time.sleep(0.05)
            before = processor_seconds(processes)
            time.sleep(SECONDS)  # the rival's move
            assert processor_seconds(processes) - before < 0.1 * SECONDS
            answered(seat, number)
    finally:
        seat.close()
    assert processes_of(processes[0]) == []


@pytest.mark.parametrize("boxed", [False, True])
def test_point_11_a_flood_off_the_move_is_read_slowly(tmp_path: Path, boxed: bool) -> None:
    program = tmp_path / "main.py"
    program.write_text(FLOOD + ANSWERS)
    if boxed and not sandbox.level().holds:
        pytest.skip(f"nothing is shown: {sandbox.level().sentence}")
    seat = sandbox.seat(tmp_path) if boxed else ChildSeat("flood", [sys.executable, str(program)])
    try:
        seat.start(HELLO)
        for number in range(3):
            answered(seat, number)
            time.sleep(0.1)
            before = read_bytes()
            time.sleep(SECONDS)
            assert read_bytes() - before < 2 * 1024 * 1024
        assert "bytes left out" in seat.stderr
    finally:
        seat.close()


def test_point_11_what_is_written_on_the_move_is_read_at_once(tmp_path: Path) -> None:
    program = tmp_path / "main.py"
    program.write_text("import os\nfor _ in range(100):\n    os.write(2, bytes(65536))\n" + ANSWERS)
    seat = ChildSeat("much", [sys.executable, str(program)])
    try:
        seat.start(HELLO)
        answered(seat, 0)  # 6 MB of standard error come first: slow reading would take 25 seconds
    finally:
        seat.close()


NAMES = """
import os
folder, filler = os.path.dirname(os.__file__), os.urandom(115).hex()
for number in range(400_000):
    try:
        os.stat(f"{folder}/{number}{filler}")
    except OSError:
        pass
print("ready", flush=True)
input()
"""


def test_point_12_the_kernels_memory_is_limited(tmp_path: Path, long: bool) -> None:
    need_control("memory")
    tried = [one for one in sandbox.level().groups_tried if one["name"] == "resources.missing_names"]
    assert [one["verdict"] for one in tried] == ["held"]
    if not long:
        pytest.skip("the attack was held off when the level was found; its full size runs with --long")
    (tmp_path / "main.py").write_text(NAMES)

    def entries() -> int:
        return int(Path("/proc/sys/fs/dentry-state").read_text().split()[0])

    before = entries()
    with Running(sandbox.box(tmp_path, ResourceLimits(memory=48 * 1024 * 1024))) as running:
        assert running.line(120) == "ready\n"
        assert entries() - before < 300_000  # 80 MB; without a limit all 400,000 are kept


LOOKS = """
import os
seen = set()
for root in ("/", "/usr", "/usr/lib", "/usr/lib64", "/usr/bin", "/usr/share", "/etc", os.path.dirname(os.__file__)):
    seen |= {os.path.realpath(os.path.join(top, name)) for top, _, names in os.walk(root) for name in names}
print(len(seen), flush=True)
input()
"""


@at_every_level
def test_point_21_a_bot_sees_few_files(level: str) -> None:
    with Running(box(level, LOOKS)) as running:
        seen = int(running.line())
    assert 100 < seen < 6000  # more than 60,000 when all of /usr/lib was shown
