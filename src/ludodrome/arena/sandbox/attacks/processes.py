"""Attacks with processes and privileges: forks, programs, signals, tracing, namespaces, capabilities."""

import contextlib
import ctypes
import mmap
import os
import signal
import struct
import subprocess
import sys
import threading
import time
import zlib
from typing import Any

from ludodrome.arena.sandbox.attacks.runner import Given, call, refusals, say

with contextlib.suppress(ImportError):  # Linux only
    import fcntl

PARENT_DEATH = 1
THREADS = 64
"""More than any bot may have."""
BUSY_THREADS = 3


def fork(given: Given) -> str | None:
    """Forks, as often as it can."""
    children = []
    try:
        for _ in range(50):
            child = os.fork()
            if child == 0:
                time.sleep(5)
                os._exit(0)
            children.append(child)
    except OSError:
        pass
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return f"{len(children)} children" if children else None


def fork_by_number(given: Given) -> str | None:
    """Forks with the kernel's own calls: fork, clone, and clone3, which has its flags in memory."""
    arguments = ctypes.create_string_buffer(struct.pack("=11Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0))

    def made(number: int, *given: Any) -> int:
        child = call(number, *given)
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        return child

    return refusals(
        {
            "fork": lambda: made(57),
            "clone": lambda: made(56, int(signal.SIGCHLD), 0, 0, 0, 0),
            "clone with a namespace": lambda: made(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0),
            "clone3": lambda: made(435, arguments, 88),
        }
    )


def programs(given: Given) -> str | None:
    """Runs a shell and other programs."""
    return refusals(
        {
            "shell": lambda: subprocess.run("id", shell=True, capture_output=True, check=True).stdout,
            "spawn": lambda: os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {}),
            "python": lambda: (
                subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, check=True).stdout
            ),
        }
    )


def shell_in_its_place(given: Given) -> str | None:
    """Becomes a shell, which needs no fork."""
    for path in ("/bin/sh", "/usr/bin/sh", "/bin/busybox", "/usr/bin/env"):
        try:
            os.execve(path, [path, "-c", 'echo \'{"ended": "processes.shell_in_its_place", "escaped": "sh"}\''], {})
        except OSError:
            continue
    return None


def program_without_a_name(given: Given) -> str | None:
    """Makes a program in memory, to run it."""

    def make() -> str:
        os.close(os.memfd_create("program"))
        return "made"

    return refusals({"memfd": make, "secret": lambda: call(447, 0)})


def threads(given: Given) -> str | None:
    """Starts more and more threads; a few are allowed."""
    enough = threading.Event()
    started = []
    try:
        for _ in range(THREADS):
            one = threading.Thread(target=enough.wait, daemon=True)
            one.start()
            started.append(one)
    except RuntimeError:
        pass
    enough.set()
    for one in started:
        one.join()
    time.sleep(0.2)  # until they are gone: with threads the kernel refuses namespaces, and that proves nothing
    return f"{len(started)} threads" if len(started) >= 2 * given["threads"] else None


def busy_threads(given: Given) -> str | None:
    """Computes for ever on every processor that it can get, also when others are on the move."""
    for _ in range(BUSY_THREADS):
        threading.Thread(target=_compute, daemon=True).start()
    say({"ready": "processes.busy_threads"})
    while True:
        time.sleep(600)


def _compute() -> None:
    data = bytes(1024 * 1024)
    while True:
        zlib.crc32(data)  # releases the lock of the interpreter


def orphan(given: Given) -> str | None:
    """Leaves a grandchild behind in a session of its own."""
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
    os.waitpid(child, 0)
    return "a grandchild"


def stays(given: Given) -> str | None:
    """Ignores every signal it can and goes on for ever; it must be gone all the same."""
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    say({"ended": "processes.stays", "escaped": None, "words": "stays"})
    while True:
        time.sleep(600)


def session(given: Given) -> str | None:
    """Leaves its session and its process group, and outlives its parent."""
    libc = ctypes.CDLL(None, use_errno=True)

    def unbound() -> Any:
        return "unbound" if libc.prctl(PARENT_DEATH, 0, 0, 0, 0) == 0 else False

    return refusals({"setsid": os.setsid, "setpgid": lambda: os.setpgid(0, 0), "parent's death": unbound})


def signals(given: Given) -> str | None:
    """Signals its parent, the server, and everybody. The signal is 0, which only asks whether it may."""
    wanted = {"parent": os.getppid(), "server": given["server"], "group": 0, "everybody": -1}

    def send(process: int) -> Any:
        os.kill(process, 0)
        return "may"

    return refusals({name: lambda process=process: send(process) for name, process in wanted.items()})


def tracing(given: Given) -> str | None:
    """Traces others, reads their memory and takes their descriptors."""
    server = given["server"]
    space = ctypes.create_string_buffer(16)
    vector = struct.pack("=QQ", ctypes.addressof(space), 16)
    return refusals(
        {
            "attach": lambda: call(101, 16, server, 0, 0),
            "read memory": lambda: call(310, server, vector, 1, vector, 1, 0),
            "handle of a process": lambda: call(434, server, 0),
        }
    )


def namespaces(given: Given) -> str | None:
    """Makes namespaces of its own, in which it would be root."""
    kinds = {"user": 0x10000000, "mount": 0x20000, "network": 0x40000000, "process": 0x20000000, "cgroup": 0x02000000}
    tries = {name: lambda flags=flags: call(272, flags) for name, flags in kinds.items()}
    return refusals({**tries, "another's": lambda: call(308, 0, 0)})


def mounting(given: Given) -> str | None:
    """Mounts, changes the root, in the old way and in the new."""
    return refusals(
        {
            "mount": lambda: call(165, b"none", b"/", b"tmpfs", 0, 0),
            "chroot": lambda: os.chroot("."),
            "pivot": lambda: call(155, b".", b"."),
            "open a filesystem": lambda: call(430, b"tmpfs", 0),
            "open a tree": lambda: call(428, -100, b"/", 1),
        }
    )


def privileges(given: Given) -> str | None:
    """Becomes root, or has capabilities, or is root already."""
    head, data = struct.pack("=Ii", 0x20080522, 0), ctypes.create_string_buffer(24)

    def capable() -> Any:
        call(125, head, data)
        return data.raw.hex() if any(data.raw) else False

    return refusals(
        {
            "is root": lambda: "yes" if 0 in (*os.getresuid(), *os.getresgid()) else False,
            "becomes root": lambda: os.setuid(0),
            "becomes another": lambda: os.setresuid(1, 1, 1),
            "capabilities": capable,
        }
    )


def kernel(given: Given) -> str | None:
    """Calls what attacks on kernels begin with: bpf, perf, userfaultfd, keys, modules, kexec."""
    attribute = ctypes.create_string_buffer(128)
    return refusals(
        {
            "bpf": lambda: call(321, 0, attribute, 128),
            "perf": lambda: call(298, attribute, 0, -1, -1, 0),
            "userfaultfd": lambda: call(323, 0),
            "keyring": lambda: call(250, 1, b"ludodrome"),
            "add a key": lambda: call(248, b"user", b"ludodrome", b"x", 1, -3),
            "module": lambda: call(175, attribute, 128, b""),
            "kexec": lambda: call(246, 0, 0, 0, 0),
            "personality": lambda: call(135, 0x0400000),
            "asynchronous files": lambda: call(206, 1, ctypes.create_string_buffer(8)),
            "handles of files": lambda: call(304, -100, attribute, 0),
        }
    )


def other_architecture(given: Given) -> str | None:
    """Calls the kernel as a 32-bit program would, past a filter that knows other numbers."""
    code = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"  # mov eax, 20 (getpid); int 0x80; ret
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    found = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
    return f"getpid said {found}" if found == os.getpid() else None


def other_numbers(given: Given) -> str | None:
    """Calls the kernel by the numbers of x32."""
    return refusals({"getpid": lambda: call(0x40000000 | 39)})


def terminal(given: Given) -> str | None:
    """Types into the terminal from which the server was started."""

    def push() -> str:
        for number in (0, 1, 2, os.open("/dev/tty", os.O_RDWR)):
            fcntl.ioctl(number, 0x5412, b"x")
        return "pushed"

    return refusals({"push": push})


def priority(given: Given) -> str | None:
    """Gives itself a real-time priority, or the processors of its choice, or locks memory."""
    return refusals(
        {
            "real time": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
            "nice": lambda: os.setpriority(os.PRIO_PROCESS, 0, -10),
            "processors": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
            "lock": lambda: call(151, 3),
        }
    )
