"""The launcher of a bot under Landlock: a program for the interpreter under /usr, with only its standard library.

    python3 -ISB landlock_launcher.py DESCRIPTOR

It reads its order from the descriptor, gives up root, confines itself and becomes the bot. If any step fails, the bot
does not run.
"""

import contextlib
import ctypes
import json
import os
import signal
import struct
import sys
from typing import Any

with contextlib.suppress(ImportError):  # Linux only
    import resource

# linux/landlock.h, linux/prctl.h; the numbers of the calls are the same on all machines
CREATE, ADD, RESTRICT = 444, 445, 446
PATH_BENEATH = 1
ASK_VERSION = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
ALL_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""The file rights that can be restricted, by the first Landlock version that knows them."""
ALL_NETWORK = {4: (1 << 2) - 1}
ALL_SCOPES = {6: (1 << 2) - 1}
"""Abstract sockets, and signals to other processes."""
SET_PARENT_DEATH, SET_SECCOMP, DROP_CAPABILITY, SET_NO_NEW_PRIVILEGES = 1, 22, 24, 38
MAX_CAPABILITIES = 64
FILTER_MODE = 2


def version(c: Any) -> int:
    """The kernel's Landlock version; below 1 if it has none."""
    return int(c.syscall(CREATE, None, 0, ASK_VERSION))


def main(descriptor: int) -> None:
    """Become the bot."""
    with os.fdopen(descriptor, "rb") as file:
        order = json.load(file)
    c = ctypes.CDLL(None, use_errno=True)
    for capability in range(MAX_CAPABILITIES):
        if c.prctl(DROP_CAPABILITY, capability, 0, 0, 0) < 0:  # the kernel has no more capabilities
            break
    os.setgroups([])
    os.setresgid(order["uid"], order["uid"], order["uid"])
    os.setresuid(order["uid"], order["uid"], order["uid"])
    _done(c.prctl(SET_PARENT_DEATH, signal.SIGKILL, 0, 0, 0), "the parent's death")
    if os.getppid() != order["parent"]:
        sys.exit("the arena has gone")
    _done(c.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "giving up new privileges")
    _lock(c, order)
    os.chdir(order["folder"])
    os.umask(0o077)
    for name, value in order["limits"].items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    _filter(c, bytes.fromhex(order["filter"]))
    os.execve(order["command"][0], order["command"], order["environment"])


def _lock(c: Any, order: "dict[str, Any]") -> None:
    """Allow opening only the listed paths."""
    known = version(c)
    masks = [_newest(table, known) for table in (ALL_FILES, ALL_NETWORK, ALL_SCOPES)]
    size = 24 if known >= 6 else 16 if known >= 4 else 8
    rules = c.syscall(CREATE, struct.pack("=QQQ", *masks), size, 0)
    _done(rules, "Landlock")
    for path in order["readable"]:
        _allow(c, rules, path, READ_FILE | READ_DIR)
    for path in order["listable"]:  # an import looks for its module in the list of names
        _allow(c, rules, path, READ_DIR)
    for path in order["runnable"]:
        _allow(c, rules, path, EXECUTE | READ_FILE)
    for path in order["devices"]:
        _allow(c, rules, path, READ_FILE | WRITE_FILE)
    _done(c.syscall(RESTRICT, rules, 0), "Landlock")
    os.close(rules)


def _newest(table: "dict[int, int]", known: int) -> int:
    return max((mask for since, mask in table.items() if since <= known), default=0)


def _allow(c: Any, rules: int, path: str, rights: int) -> None:
    opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not os.path.isdir(path):
            rights &= ~READ_DIR
        _done(c.syscall(ADD, rules, PATH_BENEATH, struct.pack("=Qi", rights, opened), 0), path)
    finally:
        os.close(opened)


def _filter(c: Any, program: bytes) -> None:
    """Install the seccomp filter."""
    lines = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("=H6xQ", len(program) // 8, ctypes.addressof(lines))
    _done(c.prctl(SET_SECCOMP, FILTER_MODE, head, 0, 0), "the seccomp filter")


def _done(result: int, what: str) -> None:
    """Raise OSError if a call failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
