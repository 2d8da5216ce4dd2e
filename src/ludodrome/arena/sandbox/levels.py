"""The level in force: try each backend with real attacks, the best first, and cache the result.

Control groups are tried with attacks of their own; where they hold, every box has one. A cached result is valid for
this boot, these programs, these sources and this uid, and for some hours.
"""

import contextlib
import functools
import hashlib
import json
import os
import platform
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ludodrome.arena.sandbox import bubblewrap, control_groups, landlock, seccomp, uid_pool
from ludodrome.arena.sandbox.attacks import (
    GROUP_ATTACKS,
    HELD,
    UNTRIED,
    Attack,
    AttackResult,
    batches,
    program,
    run_batch,
    run_group_attack,
    targets,
)
from ludodrome.arena.sandbox.boxes import (
    MAIN,
    PACKAGES,
    Box,
    BoxBackend,
    BoxedProcess,
    Interpreter,
    ResourceLimits,
    find_interpreter,
    shown,
)
from ludodrome.arena.sandbox.control_groups import GroupLimits
from ludodrome.atomic_io import write_whole

NONE = "none"
BUBBLEWRAP = "bubblewrap"
LANDLOCK = "landlock"
NAMES = (BUBBLEWRAP, LANDLOCK)
"""From the best level to the weakest acceptable one."""


class NoSandbox(ValueError):
    """A bot cannot run because no level holds; the sentence says why."""


@dataclass(frozen=True, slots=True)
class SandboxLevel:
    """The sandbox that strangers' bots run in on this machine."""

    name: str
    """One of ``NAMES``, or ``NONE``."""
    why_not_better: tuple[str, ...] = ()
    """A sentence for each better level: why it does not hold."""
    interpreter: str = ""
    python: str = ""
    """The interpreter's version."""
    numpy: str | None = None
    """NumPy's version, if bots have it."""
    tried: tuple[dict[str, str], ...] = field(default=(), repr=False)
    """The attacks: ``name``, ``verdict`` (``held``), ``words``."""
    paths: tuple[str, ...] = field(default=(), repr=False)
    """The system's files and folders that bots can read."""
    control_groups: tuple[str, ...] = ()
    """The controls of control groups that hold: ``memory``, ``processes``, ``processor``, ``freezer``."""
    groups_tried: tuple[dict[str, str], ...] = field(default=(), repr=False)
    """The attacks on control groups: ``control``, ``name``, ``verdict``, ``words``. Those not tried were not held."""

    @property
    def holds(self) -> bool:
        """Whether bots can run at all."""
        return self.name != NONE

    @property
    def sentence(self) -> str:
        """What a bot gets, or why it cannot run."""
        if not self.holds:
            return f"Uploaded bots are not run here, because no sandbox holds: {self.reasons}."
        numpy = f"with NumPy {self.numpy}" if self.numpy else "without NumPy"
        what = f"with Python {self.python} and its standard library, {numpy}"
        return f"Uploaded bots run under {self.name}{self._groups}, {what}."

    @property
    def _groups(self) -> str:
        return f" with control groups ({', '.join(self.control_groups)})" if self.control_groups else ""

    @property
    def groups_sentence(self) -> str:
        """Which control groups bots have, and what is missing."""
        missing = [control for control in control_groups.CONTROLS if control not in self.control_groups]
        if not missing:
            return (
                "Every bot has a control group, which limits its memory with the kernel's, its processes and threads, "
                "and gives it one processor on its own move and none on others'."
            )
        failed = {one["control"]: one for one in reversed(self.groups_tried) if one["verdict"] != HELD}
        words = {control: f"{one['name']}: {one['verdict']}, {one['words']}" for control, one in failed.items()}
        why = "; ".join(f"{control} ({words.get(control, 'not tried')})" for control in missing)
        return f"Not held by control groups: {why}."

    @property
    def label(self) -> str:
        """The level in a few words, as in ``bubblewrap with control groups (memory, freezer)``."""
        return f"{self.name}{self._groups}"

    def group_limits(self, limits: ResourceLimits) -> GroupLimits | None:
        """The control group of a bot with these limits; None without control groups."""
        return limits.group().only(self.control_groups) if self.control_groups else None

    @property
    def reasons(self) -> str:
        """Why no better level holds."""
        return "; ".join(self.why_not_better)

    def to_json(self) -> dict[str, Any]:
        """A plain value for ``from_json``."""
        return {
            "level": self.name,
            "why_not_better": list(self.why_not_better),
            "interpreter": self.interpreter,
            "python": self.python,
            "numpy": self.numpy,
            "tried": list(self.tried),
            "paths": list(self.paths),
            "control_groups": list(self.control_groups),
            "groups_tried": list(self.groups_tried),
        }

    @staticmethod
    def from_json(value: dict[str, Any]) -> "SandboxLevel":
        """Read what ``to_json`` wrote."""
        return SandboxLevel(
            value["level"],
            tuple(value["why_not_better"]),
            value["interpreter"],
            value["python"],
            value["numpy"],
            tuple(value["tried"]),
            tuple(value["paths"]),
            tuple(value["control_groups"]),
            tuple(value["groups_tried"]),
        )


BACKENDS: dict[str, BoxBackend] = {one.NAME: one for one in (bubblewrap, landlock)}
HOURS = 6.0
"""How long the result is cached if a level holds ..."""
MINUTES = 1.0
"""... and if none does: a busy machine can be the reason."""
PARALLEL_BOXES = 4
"""The number of boxes at a time during attacks."""
SECONDS = 20.0


# Caching

_lock = threading.Lock()
_known: dict[str, tuple[float, SandboxLevel]] = {}


def level(refresh: bool = False) -> SandboxLevel:
    """The level in force. The first call can take two seconds; ``refresh``: attack again."""
    key = _cache_key()
    with _lock:
        found = None if refresh else _known.get(key) or _read(key)
        if found is None or not _is_fresh(*found):
            found = time.time(), probe()
            _write(key, *found)
        _known[key] = found
        return found[1]


def _is_fresh(since: float, found: SandboxLevel) -> bool:
    return 0 <= time.time() - since < (HOURS * 3600 if found.holds else MINUTES * 60)


def _cache_key() -> str:
    """A hash of everything that the result depends on."""
    machine = find_interpreter()
    groups = sorted((control, place.version) for control, place in control_groups.places().items())
    parts: list[Any] = [platform.release(), os.geteuid(), os.environ.get(uid_pool.SETTING), _sources(), groups]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text())
    programs = (bubblewrap.program(), bubblewrap.PRLIMIT, bubblewrap.SETPRIV, machine.path if machine else None)
    for file in (*programs, *PACKAGES):
        with contextlib.suppress(OSError):
            state = os.stat(file or "")
            parts += [file, state.st_mtime_ns, state.st_size]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@functools.cache
def _sources() -> str:
    """A hash of the sandbox's sources."""
    here = Path(__file__).parent
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(here.rglob("*.py")))).hexdigest()


def _file() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(home) / "ludodrome" / "sandbox.json"


def _read(key: str) -> tuple[float, SandboxLevel] | None:
    """The result of an earlier process, if only we can write the file."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        state = _file().stat()
        if state.st_uid == os.geteuid() and not state.st_mode & 0o022:
            kept = json.loads(_file().read_text("utf-8"))
            if kept["key"] == key:
                return float(kept["time"]), SandboxLevel.from_json(kept["found"])
    return None


def _write(key: str, when: float, found: SandboxLevel) -> None:
    with contextlib.suppress(OSError):  # without a cache, every process probes again
        _file().parent.mkdir(parents=True, exist_ok=True)
        write_whole(_file(), json.dumps({"key": key, "time": when, "found": found.to_json()}).encode())


# Probing


def probe(names: Sequence[str] = NAMES) -> SandboxLevel:
    """Try the levels, the best first, until one holds."""
    machine = find_interpreter()
    if machine is None:
        return SandboxLevel(NONE, ("there is no /usr/bin/python3 that every uid can run",))
    if not seccomp.here():
        why = f"the filter of system calls is written for {seccomp.MACHINE}, and this is {platform.machine()}"
        return SandboxLevel(NONE, (why,))
    why_not: list[str] = []
    for name in names:
        found = _try(name, machine)
        if isinstance(found, SandboxLevel):
            return replace(found, why_not_better=tuple(why_not))
        why_not.append(f"{name}: {found}")
    return SandboxLevel(NONE, tuple(why_not))


def _try(name: str, machine: Interpreter) -> SandboxLevel | str:
    """The level if it holds; otherwise the reason."""
    kind = BACKENDS[name]
    if why := kind.missing():
        return why
    try:
        found_interpreter = inspect_interpreter(kind, machine)
        if isinstance(found_interpreter, str):
            return found_interpreter
        groups_tried = run_group_attacks(kind, found_interpreter)
        held = tuple(c for c in control_groups.CONTROLS if all(o.verdict == HELD for k, o in groups_tried if k == c))
        group = ResourceLimits().group().only(held) if held else None
        tried = run_attacks(kind, found_interpreter, group)
    except (OSError, ValueError) as error:
        return f"it could not be started: {error}"
    if through := [one for one in tried if one.verdict != HELD]:
        first = through[0]
        return f"{len(through)} of {len(tried)} attacks were not held off; {first.name}: {first.verdict}, {first.words}"
    return SandboxLevel(
        name,
        (),
        found_interpreter.path,
        found_interpreter.version,
        found_interpreter.numpy,
        tuple(one.to_json() for one in tried),
        found_interpreter.paths,
        held,
        tuple({"control": control, **one.to_json()} for control, one in groups_tried),
    )


VERSION_PROGRAM = b"""
import json, platform
try:
    import numpy
    found = numpy.__version__ if numpy.ones((50, 50)).dot(numpy.ones((50, 50))).sum() == 125000 else None
except ImportError:
    found = None
print(json.dumps([platform.python_version(), found]), flush=True)
"""


def inspect_interpreter(kind: BoxBackend, machine: Interpreter) -> Interpreter | str:
    """The interpreter in the box, with its version, NumPy's if there is NumPy, and what it needs to run.

    A sentence if nothing runs in the box.
    """
    searching = Interpreter(machine.path, numpy="perhaps")
    process = BoxedProcess(Box(kind, searching, ResourceLimits(), {MAIN: VERSION_PROGRAM}))
    said = b""
    deadline = time.monotonic() + SECONDS
    try:
        while b"\n" not in said and not process.finished_output and time.monotonic() < deadline:
            said += process.receive(deadline - time.monotonic())
    finally:
        process.end(0.0, lambda data: None)
    try:
        version, numpy = json.loads(said)
    except ValueError:
        return f"nothing runs in it: {process.stderr.strip()[-300:] or 'no answer came'}"
    found = Interpreter(machine.path, version, numpy)
    return replace(found, paths=shown(found, kind.PROGRAMS))


def run_group_attacks(kind: BoxBackend, machine: Interpreter) -> list[tuple[str, AttackResult]]:
    """Run every attack on control groups in boxes of a backend; return each with the control that it attacks."""
    where = control_groups.places()
    box = Box(kind, machine, ResourceLimits(), {})

    def run(attack: Attack) -> tuple[str, AttackResult]:
        try:
            return attack.control, run_group_attack(attack, box, where)
        except OSError as error:
            return attack.control, AttackResult(attack.name, UNTRIED, f"it could not be started: {error}")

    with ThreadPoolExecutor(PARALLEL_BOXES) as threads:
        return list(threads.map(run, GROUP_ATTACKS))


def run_attacks(kind: BoxBackend, machine: Interpreter, group: GroupLimits | None = None) -> list[AttackResult]:
    """Run every attack on a backend, with or without control groups."""
    limits = ResourceLimits()
    with targets(limits) as given, ThreadPoolExecutor(PARALLEL_BOXES) as threads:
        boxes = [(batch, Box(kind, machine, limits, program(batch, given), group)) for batch in batches()]
        runs = [threads.submit(run_batch, batch, box) for batch, box in boxes]
        return [one for run in runs for one in run.result()]
