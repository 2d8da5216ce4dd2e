"""What the tests of the sandbox share: the levels that can be tried here, boxes, processes looked at from outside."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena.messages import MAX_LINE
from ludodrome.arena.sandbox import boxes, control_groups
from ludodrome.arena.sandbox.boxes import MAIN, Box, BoxedProcess, BoxedSeat, Interpreter, ResourceLimits
from ludodrome.arena.sandbox.levels import BACKENDS, NAMES
from ludodrome.arena.sandbox.uid_pool import processes_of

ZOO = Path(__file__).parent.parent / "zoo.py"

at_every_level = pytest.mark.parametrize("level", NAMES)
"""Each level that can be in force; where one cannot be tried, the test says so and is skipped, which is not passed."""


def need(level: str) -> None:
    """Skips, and says why, where a level cannot be tried."""
    if why := BACKENDS[level].missing():
        pytest.skip(f"the level {level} cannot be tried here, so nothing is shown about it: {why}")


WITH_GROUPS = " with control groups"
at_every_level_and_with_groups = pytest.mark.parametrize("level", [*NAMES, *(f"{name}{WITH_GROUPS}" for name in NAMES)])


def need_groups() -> None:
    """Skips, and says why, where control groups cannot be tried."""
    if missing := [one for one in control_groups.CONTROLS if one not in control_groups.places()]:
        pytest.skip(f"there are no control groups for {', '.join(missing)} here, so nothing is shown about them")


def machine() -> Interpreter:
    """The interpreter that bots get."""
    found = boxes.find_interpreter()
    if found is None:
        pytest.skip("there is no interpreter under /usr, so no level can be tried here")
    return found


def box(level: str, files: Mapping[str, bytes] | str, **limits: int) -> Box:
    """A box for a program, or for files."""
    name = level.removesuffix(WITH_GROUPS)
    need(name)
    if name != level:
        need_groups()
    carried = {MAIN: files.encode()} if isinstance(files, str) else files
    chosen = replace(ResourceLimits(), **limits)
    return Box(BACKENDS[name], machine(), chosen, carried, chosen.group() if name != level else None)


def boxed_seat(level: str, files: Mapping[str, bytes] | str, **limits: int) -> BoxedSeat:
    """A seat for it."""
    return BoxedSeat("boxed", box(level, files, **limits), MAX_LINE)


def zoo(kind: str) -> dict[str, bytes]:
    """A bad bot of the zoo, as files."""
    return {MAIN: f"import zoo\nzoo.KINDS[{kind!r}]()\n".encode(), "zoo.py": ZOO.read_bytes()}


class Running:
    """A boxed process while a test looks at it; the ``with`` ends it."""

    def __init__(self, made: Box) -> None:
        self.process = BoxedProcess(made)
        identity = self.process._uid
        self.uid = identity.uid if identity else os.geteuid()

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: Any) -> None:
        self.process.end(0.0, lambda data: None)

    def line(self, seconds: float = 20.0) -> str:
        """The next line that it says."""
        said = b""
        deadline = time.monotonic() + seconds
        while not said.endswith(b"\n") and time.monotonic() < deadline and not self.process.finished_output:
            said += self.process.receive(deadline - time.monotonic())
        return said.decode()

    def statuses(self) -> list[dict[str, str]]:
        """What the kernel says of each of its processes."""
        texts = [Path(f"/proc/{process}/status").read_text() for process in processes_of(self.uid)]
        return [dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line) for text in texts]


def eventually(true: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Whether something comes true in time."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
