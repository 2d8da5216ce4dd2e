"""Control groups of boxed bots: limits of memory, processes and processor that rlimits cannot set, and freezing.

Each control is looked up where it lives: in version 2 of the kernel's control groups if its controller is delegated to
us, else in a version 1 hierarchy that we can write. A ``ControlGroup`` is one folder in each hierarchy that it needs.
Kernel memory, such as the names that the kernel remembers, counts as memory of the group.

A process under version 2 that starts groups must not be a member of their parent: it first moves itself to a child
named ``LEAF``.
"""

import contextlib
import errno
import functools
import itertools
import os
import re
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

MEMORY, PROCESSES, PROCESSOR, FREEZER = CONTROLS = ("memory", "processes", "processor", "freezer")
CONTROLLERS = {MEMORY: "memory", PROCESSES: "pids", PROCESSOR: "cpu", FREEZER: "freezer"}
"""The kernel's names. Version 2 has no controller for freezing: every group can be frozen."""

FILES = {
    1: {
        "memory": "memory.limit_in_bytes",
        "memory and swap": "memory.memsw.limit_in_bytes",
        "memory peak": "memory.max_usage_in_bytes",
        "memory refusals": "memory.failcnt",
        "memory and swap refusals": "memory.memsw.failcnt",
        "kernel memory": "memory.kmem.usage_in_bytes",
        "release memory": "memory.force_empty",
        "processes": "pids.max",
        "processor": "cpu.cfs_quota_us",
        "processor weight": "cpu.shares",
        "freezer": "freezer.state",
    },
    2: {
        "memory": "memory.max",
        "memory and swap": "memory.swap.max",
        "memory peak": "memory.peak",
        "release memory": "memory.reclaim",
        "processes": "pids.max",
        "processor": "cpu.max",
        "processor weight": "cpu.weight.nice",
        "freezer": "cgroup.freeze",
        "kill": "cgroup.kill",
    },
}
"""The files of a group, by version. Some exist only in newer kernels, or only with swap."""
FREEZE = {1: (b"THAWED", b"FROZEN"), 2: (b"0", b"1")}
MEMBERS = "cgroup.procs"
PERIOD = 100_000
"""Microseconds; a group gets its share of the processors in each period."""
LEAF = "ludodrome-arena"
"""The group of the arena itself, under version 2."""
NAME = re.compile(r"ludodrome-(\d+)-(\d+)-\d+")
"""Groups of bots: the arena's pid and start time, and a number."""
REMOVE_SECONDS = 5.0
MUCH_KERNEL_MEMORY = 8 * 1024 * 1024
"""A group that leaves more than this behind is made to release it first; else it would count for nobody."""
JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"'
"""A shell program that joins groups, then becomes the rest of its command line."""


@dataclass(frozen=True, slots=True)
class GroupLimits:
    """The limits of one group; None and False: not limited."""

    memory: int | None = None
    """Bytes, including those of the kernel for it."""
    processes: int | None = None
    """Processes and threads."""
    processor: float | None = None
    """Processors at a time."""
    freezer: bool = False
    """Whether it can be frozen."""

    @property
    def controls(self) -> tuple[str, ...]:
        """The controls that it needs."""
        return tuple(name for name in CONTROLS if getattr(self, name) not in (None, False))

    def only(self, controls: Iterable[str]) -> "GroupLimits":
        """The same limits, for some of the controls."""
        return replace(GroupLimits(), **{name: getattr(self, name) for name in self.controls if name in set(controls)})


# Where groups can be made


@dataclass(frozen=True, slots=True)
class GroupPlace:
    """A folder in which groups with a control can be made."""

    version: int
    folder: Path


@dataclass(frozen=True, slots=True)
class _Mount:
    """A mounted hierarchy, and our own group in it."""

    version: int
    controllers: frozenset[str]
    top: Path
    own: Path


@functools.cache
def places() -> dict[str, GroupPlace]:
    """Where this process can make groups, by control; empty where the system has none for us. Looked up once."""
    found = find_places()
    remove_leftovers(found)
    return found


def find_places(process: Path = Path("/proc/self")) -> dict[str, GroupPlace]:
    """Look for every control in version 2, then in version 1. May move this process to the leaf of its own group."""
    found: dict[str, GroupPlace] = {}
    try:
        mounts = list(_mounts((process / "mountinfo").read_text(), (process / "cgroup").read_text()))
    except OSError:  # not Linux
        return found
    for mount in mounts:
        if mount.version == 2:
            own = mount.own.parent if mount.own.name == LEAF else mount.own
            for folder in (own, mount.top) if os.geteuid() == 0 else (own,):
                for control in _usable(folder, folder == mount.top):
                    found.setdefault(control, GroupPlace(2, folder))
    for control, controller in CONTROLLERS.items():
        for mount in mounts:
            if mount.version == 1 and controller in mount.controllers and _is_writable(mount.own):
                found.setdefault(control, GroupPlace(1, mount.own))
    return found


def _mounts(mountinfo: str, cgroup: str) -> Iterator[_Mount]:
    """The mounted hierarchies, from two files of /proc/self."""
    own = {names: path for _, names, path in (line.split(":", 2) for line in cgroup.splitlines())}
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        root, top = (re.sub(r"\\(\d{3})", lambda m: chr(int(m[1], 8)), word) for word in before.split()[3:5])
        kind, _, options = after.split(" ", 2)
        if kind not in ("cgroup", "cgroup2"):
            continue
        controllers = frozenset(options.split(",")) if kind == "cgroup" else frozenset()
        for names, path in own.items():
            if (kind == "cgroup2") if not names else controllers.issuperset(names.split(",")):
                inside = os.path.relpath(path, root)
                if not inside.startswith(".."):  # outside of what is mounted here
                    yield _Mount(1 if names else 2, controllers, Path(top), Path(os.path.normpath(f"{top}/{inside}")))


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and os.access(folder / MEMBERS, os.W_OK)


def _usable(folder: Path, is_top: bool) -> list[str]:
    """The controls that children of a version 2 group can have; enables their controllers."""
    if not _is_writable(folder):
        return []
    with contextlib.suppress(OSError):
        wanted = [c for c in CONTROLLERS.values() if c in (folder / "cgroup.controllers").read_text().split()]
        if set(wanted) - set((folder / "cgroup.subtree_control").read_text().split()):
            _enable(folder, wanted)
        enabled = (folder / "cgroup.subtree_control").read_text().split()
        freezer = [FREEZER] if (folder / FILES[2][FREEZER]).exists() or (is_top and _kernel() >= (5, 2)) else []
        return [control for control, name in CONTROLLERS.items() if name in enabled] + freezer
    return []


def _kernel() -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])


def _enable(folder: Path, controllers: Iterable[str]) -> None:
    """Let children use these controllers. The kernel refuses it while the group has members: move ours to the leaf."""
    for controller in controllers:
        try:
            _write(folder / "cgroup.subtree_control", f"+{controller}")
        except OSError as error:
            if error.errno != errno.EBUSY:
                continue
            members = _members(folder)
            if not all(_is_ours(member) for member in members):
                return  # others would be moved with us
            (folder / LEAF).mkdir(exist_ok=True)
            for member in members:
                with contextlib.suppress(ProcessLookupError):
                    _write(folder / LEAF / MEMBERS, str(member))
            with contextlib.suppress(OSError):
                _write(folder / "cgroup.subtree_control", f"+{controller}")


def _is_ours(process: int) -> bool:
    """Whether a process is this one or a descendant."""
    for _ in range(100):
        if process == os.getpid():
            return True
        try:
            process = int(Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, ValueError):
            return False
        if process <= 1:
            return process == os.getpid()
    return False


def _write(file: Path, text: str) -> None:
    """Write to a file of the kernel, which must exist."""
    opened = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(opened, text.encode())
    finally:
        os.close(opened)


def _members(folder: Path) -> list[int]:
    try:
        return [int(word) for word in (folder / MEMBERS).read_text().split()]
    except OSError:
        return []


def _started(process: int) -> str | None:
    """When a process started, in the kernel's ticks; None if there is no such process."""
    try:
        return Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    except OSError:
        return None


def remove_leftovers(found: dict[str, GroupPlace]) -> None:
    """Kill and remove the groups of arenas that have died."""
    for place in set(found.values()):
        with contextlib.suppress(OSError):
            for folder in sorted(place.folder.iterdir()):
                named = NAME.fullmatch(folder.name)
                if named and _started(int(named[1])) != named[2]:
                    ControlGroup(GroupLimits(), {folder: place.version}).remove()


# Groups


_numbers = itertools.count(1)


class ControlGroup:
    """The group of one bot, from ``make`` to ``remove``."""

    def __init__(self, limits: GroupLimits, folders: dict[Path, int]) -> None:
        self.limits = limits
        self._folders = folders
        """The folders of the group, with the version of their hierarchies."""

    @staticmethod
    def make(limits: GroupLimits, where: dict[str, GroupPlace] | None = None) -> "ControlGroup":
        """Make an empty group; OSError if the system does not allow it."""
        chosen = places() if where is None else where
        if missing := [control for control in limits.controls if control not in chosen]:
            raise OSError(errno.ENOTSUP, f"there are no control groups for {', '.join(missing)} here")
        name = f"ludodrome-{os.getpid()}-{_started(os.getpid())}-{next(_numbers)}"
        used = {chosen[control] for control in limits.controls}
        group = ControlGroup(limits, {place.folder / name: place.version for place in used})
        try:
            for folder in group._folders:
                folder.mkdir(mode=0o755)
            for control in limits.controls:
                group._limit(control, chosen[control].folder / name, chosen[control].version)
        except BaseException:
            group.remove()
            raise
        return group

    def _limit(self, control: str, folder: Path, version: int) -> None:
        file = folder / FILES[version][control]
        if control == MEMORY:
            _write(file, str(self.limits.memory))
            with contextlib.suppress(OSError):  # without swap there is no such file
                swap = folder / FILES[version]["memory and swap"]
                _write(swap, str(self.limits.memory) if version == 1 else "0")
        elif control == PROCESSES:
            _write(file, str(self.limits.processes))
        elif control == PROCESSOR:
            assert self.limits.processor is not None
            quota = int(self.limits.processor * PERIOD)
            _write(file, f"{quota} {PERIOD}" if version == 2 else str(quota))
            nice = os.getpriority(os.PRIO_PROCESS, 0)  # it counts only among the processes of one group
            _write(folder / FILES[version]["processor weight"], str(nice if version == 2 else int(1024 / 1.25**nice)))
        elif not file.exists():
            raise OSError(errno.ENOTSUP, f"{folder} cannot be frozen")

    def command(self) -> list[str]:
        """A command prefix: the process joins the group before it becomes anything else."""
        return ["/bin/sh", "-c", JOIN, "sh", *(str(folder / MEMBERS) for folder in self._folders), "--"]

    @property
    def members(self) -> list[int]:
        """The processes in the group."""
        return sorted({member for folder in self._folders for member in _members(folder)})

    def freeze(self) -> None:
        """Stop all its processes. The kernel needs a fraction of a millisecond, longer under version 1."""
        self._set_frozen(True)

    def thaw(self) -> None:
        """Let its processes run again."""
        self._set_frozen(False)

    @property
    def is_frozen(self) -> bool:
        """Whether all its processes have stopped."""
        for folder, version in self._folders.items():
            with contextlib.suppress(OSError):
                if version == 1 and (folder / FILES[1][FREEZER]).read_text().strip() == "FROZEN":
                    return True
        return bool(self._statistics("cgroup.events").get("frozen"))

    def _set_frozen(self, frozen: bool) -> None:
        for folder, version in self._folders.items():
            file = folder / FILES[version][FREEZER]
            if file.exists():
                _write(file, FREEZE[version][frozen].decode())

    # Measuring

    @property
    def memory_peak(self) -> int:
        """The most bytes that it has had; 0 if the kernel does not say."""
        return self._number("memory peak")

    @property
    def memory_refusals(self) -> int:
        """How often it reached its limit of memory."""
        numbers = self._number("memory refusals") + self._number("memory and swap refusals")
        return numbers + self._statistics("memory.events").get("max", 0)

    @property
    def kernel_memory(self) -> int:
        """The bytes of kernel memory that count for it."""
        found = self._statistics("memory.stat")
        return found.get("kernel", found.get("slab", 0)) or self._number("kernel memory")

    def _statistics(self, name: str) -> dict[str, int]:
        """The lines of a statistics file of version 2."""
        for folder, version in self._folders.items():
            if version == 2:
                with contextlib.suppress(OSError):
                    lines = [line.split(" ") for line in (folder / name).read_text().splitlines()]
                    return {key: int(value) for key, value in lines}
        return {}

    def _number(self, name: str) -> int:
        for folder, version in self._folders.items():
            with contextlib.suppress(OSError, ValueError, KeyError):
                return int((folder / FILES[version][name]).read_text())
        return 0

    @property
    def processor_seconds(self) -> float:
        """The processor time of its present processes."""
        ticks = 0
        for member in self.members:
            with contextlib.suppress(OSError):
                ticks += sum(map(int, Path(f"/proc/{member}/stat").read_bytes().rpartition(b")")[2].split()[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    # Ending

    def kill(self) -> None:
        """Kill all its processes."""
        for folder, version in self._folders.items():
            if version == 2:
                with contextlib.suppress(OSError):  # kernels before 5.14 lack it
                    _write(folder / FILES[2]["kill"], "1")
        for member in self.members:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(member, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self.thaw()  # under version 1 even a killed process stays while it is frozen

    def remove(self) -> bool:
        """Kill its processes and remove it; return whether nothing is left. Can be called twice."""
        deadline = time.monotonic() + REMOVE_SECONDS
        pause = 0.0005
        self._release_memory()
        while True:
            if self.members:
                self.kill()
            for folder in list(self._folders):
                with contextlib.suppress(FileNotFoundError):
                    try:
                        os.rmdir(folder)
                    except OSError as error:
                        if error.errno not in (errno.EBUSY, errno.EAGAIN):
                            raise
                        continue
                del self._folders[folder]
            if not self._folders:
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(pause)
            pause = min(2 * pause, 0.05)

    def _release_memory(self) -> None:
        left = self.kernel_memory
        if left > MUCH_KERNEL_MEMORY:
            for folder, version in self._folders.items():
                with contextlib.suppress(OSError):  # it is not there, or not all can be released
                    _write(folder / FILES[version]["release memory"], "0" if version == 1 else str(left))
