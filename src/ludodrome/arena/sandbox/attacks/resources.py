"""Attacks that exhaust resources (memory, disk, files, kernel memory, processor time) or lift their limits."""

import contextlib
import mmap
import os
from typing import Any

from ludodrome.arena.sandbox.attacks.runner import Given, call, refusals, say

with contextlib.suppress(ImportError):  # Linux only
    import fcntl
    import resource

MEGABYTE = 1024 * 1024
PLACES = (
    "/",
    "/tmp",
    "/var/tmp",
    "/dev",
    "/dev/shm",
    "/run",
    "/run/lock",
    "/bot",
    ".",
    "/usr/lib",
    "/home",
    "/etc",
    "/mnt",
)


def memory(given: Given) -> str | None:
    """Takes four times the memory that it may have, piece by piece."""
    taken = []
    for _ in range(4 * given["memory"] // (16 * MEGABYTE)):
        taken.append(bytearray(16 * MEGABYTE))
    return f"{len(taken) * 16} MB"


def address_space(given: Given) -> str | None:
    """Maps more memory than it may have, private and shared."""
    size = 2 * given["memory"]

    def private() -> str:
        mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
        return "mapped"

    def shared() -> str:
        mmap.mmap(-1, size, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS).close()
        return "mapped"

    return refusals({"private": private, "shared": shared})


def disk(given: Given) -> str | None:
    """Writes a large file wherever it can."""

    def write(place: str) -> int:
        path = os.path.join(place, f"ludodrome-{os.getpid()}")
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            return os.write(opened, bytes(MEGABYTE))
        finally:
            os.close(opened)
            os.unlink(path)

    return refusals({place: lambda place=place: write(place) for place in PLACES})


def disk_without_a_name(given: Given) -> str | None:
    """Writes a file that has no name."""

    def write(place: str) -> int:
        return os.write(os.open(place, os.O_TMPFILE | os.O_RDWR, 0o600), bytes(MEGABYTE))

    return refusals({place: lambda place=place: write(place) for place in PLACES})


def inodes(given: Given) -> str | None:
    """Makes many empty files and folders wherever it can."""

    def make(place: str) -> int:
        for number in range(100):
            path = os.path.join(place, f"ludodrome-{os.getpid()}-{number}")
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
            with contextlib.suppress(OSError):
                os.unlink(path)
        return 100

    def make_folder(place: str) -> str:
        path = os.path.join(place, f"ludodrome-{os.getpid()}")
        os.mkdir(path)
        os.rmdir(path)
        return "a folder"

    files = {f"files in {place}": lambda place=place: make(place) for place in PLACES}
    return refusals({**files, **{f"folder in {place}": lambda place=place: make_folder(place) for place in PLACES}})


def own_source(given: Given) -> str | None:
    """Changes its own program, or the library, for the next game."""
    return refusals(
        {
            "write": lambda: os.open("main.py", os.O_WRONLY),
            "empty": lambda: os.truncate("main.py", 0),
            "mode": lambda: os.chmod("main.py", 0o777),
            "rename": lambda: os.rename("main.py", "other.py"),
            "library": lambda: os.open(os.__file__, os.O_RDWR),
            "times": lambda: os.utime("main.py", (0, 0)),
        }
    )


def shared_memory(given: Given) -> str | None:
    """Takes memory that outlives it: System V segments, semaphores and queues, POSIX queues."""

    def segment() -> Any:
        made = call(29, 0, MEGABYTE, 0o1600)
        call(31, made, 0, 0)
        return made

    def queue() -> Any:
        made = call(68, 0, 0o1600)
        call(71, made, 0, 0)
        return made

    return refusals({"segment": segment, "queue": queue, "POSIX": lambda: call(240, b"ludodrome", 0o102, 0o600, 0)})


def pipes(given: Given) -> str | None:
    """Takes the kernel's memory: large pipes, many descriptors."""

    def large() -> Any:
        reading, writing = os.pipe()
        size = fcntl.fcntl(writing, 1031, MEGABYTE)
        os.close(reading)
        os.close(writing)
        return size

    def many() -> Any:
        made: list[int] = []
        try:
            while len(made) < 4 * given["open_files"]:
                made.extend(os.pipe())
        finally:
            for one in made:
                os.close(one)
        return len(made)

    return refusals({"large": large, "many": many})


def limits(given: Given) -> str | None:
    """Lifts its own limits, and those of others."""
    names = ("AS", "NPROC", "FSIZE", "NOFILE", "CPU", "CORE")

    def lift(number: int) -> Any:
        hard = resource.getrlimit(number)[1]
        more = 2**40 if hard == resource.RLIM_INFINITY else hard + 1
        resource.setrlimit(number, (more, more))
        return more

    tries: dict[str, Any] = {
        name: lambda name=name: _lifted(lift, getattr(resource, f"RLIMIT_{name}")) for name in names
    }
    return refusals({**tries, "server": lambda: resource.prlimit(given["server"], resource.RLIMIT_NOFILE)})


def _lifted(lift: Any, number: int) -> Any:
    try:
        return lift(number)
    except ValueError:  # what Python says where the kernel says EPERM or EINVAL
        return False


def missing_names(given: Given) -> str | None:
    """Asks for names that do not exist: the kernel remembers each, in memory that no rlimit counts."""
    folder, filler = os.path.dirname(os.__file__), os.urandom(115).hex()
    for number in range(given["names"]):
        with contextlib.suppress(FileNotFoundError):
            os.stat(f"{folder}/{number}{filler}")
    return None


def error_flood(given: Given) -> str | None:
    """Writes to its standard error without end, also when others are on the move, to keep the arena busy."""
    say({"ready": "resources.error_flood"})
    line = b"x" * 65536
    while True:
        os.write(2, line)


def processor(given: Given) -> str | None:
    """Computes for ever; it must be gone all the same."""
    while True:
        pass
