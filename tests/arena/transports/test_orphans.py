"""What bots leave behind in a worker: it is found wherever it went, and nothing else is searched for it or hit."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.arena.playing import ZOO

DETACHES = """
import json, os, sys, time

def detach(environment):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", "import time; time.sleep(1000)", sys.argv[1]],
                  environment)
    os.wait()

games = sys.argv[2]
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        if games != "many" or "started" not in globals():
            started = True
            detach(dict(os.environ) if games == "many" else {})
        print(json.dumps({"type": "ready", "games": games}), flush=True)
    elif message["type"] == "turn":
        print(json.dumps({"type": "move", "move": message["legal_moves"][0]}), flush=True)
"""
WORKER = """
import os, sys
from pathlib import Path
from ludodrome.arena.game_loop import play
from ludodrome.arena.transports import orphans
from ludodrome.arena.transports.child import KeptProcesses
from tests.arena.playing import play_spec

def running(mark):
    found = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\\0")
            found += mark.encode() in words and int(name) != os.getpid()
        except OSError:
            pass
    return found

def never(*given):
    raise AssertionError("all processes of the machine were searched")

assert orphans.become_subreaper()
orphans.left_behind = never
kept = KeptProcesses(seconds=600)
program, zoo = sys.argv[1:]
start = f"cmd:{sys.executable} -I -S {program}"
for number in range(3):
    bots = (f"{start} helper-of-many many", f"{start} orphan-of-one one")
    record = play(play_spec("dots", bots, rows=1, cols=1, seed=number), kept=kept)
    assert record["result"]["verdicts"] == [], record
    print(running("helper-of-many"), running("orphan-of-one"))
for kind in ("children", "children_away", "leaves_a_child_with_its_output"):
    play(play_spec("dots", (f"cmd:{sys.executable} -I -S {zoo} {kind}", "random"), rows=1, cols=1), kept=kept)
kept.close()
print(running("helper-of-many"), running("orphan-of-one"), running(zoo))
left = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
print(left)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has child subreapers")
def test_a_worker_finds_orphans_that_left_session_and_environment(tmp_path: Path) -> None:
    """A program that detached itself and cleared its environment was not found, and every search read all of /proc."""
    program = tmp_path / "detaches.py"
    program.write_text(DETACHES)
    done = subprocess.run(
        [sys.executable, "-c", WORKER, str(program), str(ZOO)],
        check=False,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    # a bot that stays keeps its helper; orphans end with their bot; in the end nothing is left, not even zombies
    assert done.stdout.splitlines() == ["2 0", "2 0", "2 0", "0 0 0", "[]"]
