"""What a sandbox costs: start, round trip, end, and how soon 50 bots are ready, beside a plain child process.

    benchmarks/sandbox

All run the same program under the same interpreter. The best and the median of many are printed: on a busy machine the
best says more.
"""

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ludodrome.arena.sandbox import control_groups
from ludodrome.arena.sandbox.boxes import MAIN, Box, BoxedProcess, ResourceLimits, find_interpreter
from ludodrome.arena.sandbox.levels import BACKENDS, probe
from ludodrome.arena.transports.processes import Process

STARTS = 40
TRIPS = 2000
CROWD = 50
ECHO = "import sys\nprint('ready', flush=True)\nfor line in sys.stdin:\n    print(line, end='', flush=True)\n"


def ready(process: Process) -> Process:
    """The process, once it has said so."""
    said = b""
    while not said.endswith(b"\n") and not process.finished_output:
        said += process.receive(30.0)
    if said != b"ready\n":
        raise SystemExit(f"it did not start: {process.stderr}")
    return process


def end(process: Process) -> None:
    """Whatever it is doing."""
    process.end(0.0, lambda data: None)


def timed(action: Callable[[], object]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000


def trip(process: Process) -> None:
    """A line there and back."""
    process.send(b"x\n")
    while not process.receive(30.0):
        pass


def measure(name: str, start: Callable[[], Process]) -> None:
    """Prints a line of the table."""
    starts, ends = [], []
    for _ in range(STARTS):
        began = time.perf_counter()
        process = ready(start())
        starts.append((time.perf_counter() - began) * 1000)
        ends.append(timed(lambda process=process: end(process)))
    process = ready(start())
    trips = [timed(lambda process=process: trip(process)) * 1000 for _ in range(TRIPS)]
    end(process)
    crowds = []
    for _ in range(3):
        began = time.perf_counter()
        crowd = [start() for _ in range(CROWD)]
        for one in crowd:
            ready(one)
        crowds.append(time.perf_counter() - began)
        for one in crowd:
            end(one)
    cells = [f"{min(starts):.0f} / {statistics.median(starts):.0f} ms", f"{statistics.median(ends):.0f} ms"]
    cells += [f"{min(trips):.0f} / {statistics.median(trips):.0f} us", f"{min(crowds):.2f} s"]
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """The table."""
    machine = find_interpreter()
    if machine is None:
        raise SystemExit("there is no interpreter under /usr")
    print(f"| way | start, best / median | end | round trip, best / median | {CROWD} ready |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / MAIN
        program.write_text(ECHO)
        measure("plain child process", lambda: Process(machine.command(str(program))))
    for name, kind in BACKENDS.items():
        if why := kind.missing():
            print(f"{name} cannot be measured here: {why}")
            continue
        box = Box(kind, machine, ResourceLimits(), {MAIN: ECHO.encode()})
        measure(name, lambda box=box: BoxedProcess(box))
        if controls := control_groups.places():
            box = replace(box, group=box.limits.group().only(controls))
            measure(f"{name} with control groups", lambda box=box: BoxedProcess(box))
    print(f"\nfinding the level in force, with all attacks: {timed(probe) / 1000:.1f} s")
    version = subprocess.run(["uname", "-sr"], capture_output=True, text=True).stdout.strip()
    print(f"on {version}, under {machine.path}")


if __name__ == "__main__":
    main()
