"""Find and kill what bots leave behind.

A worker is a *child subreaper*: a process of a bot that outlives its parent becomes a child of the worker, whatever
session it moved to and whatever it did to its environment. So everything that bots started is found below the worker,
in a few files of /proc. Elsewhere (a bot in a process of somebody else, an older kernel, another system) all processes
of the machine are searched for the session of the bot, or for the mark in its environment.
"""

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
SWEEPS = 20
MAX_WAIT = 0.02
"""Seconds between two sweeps, at most."""

_lock = threading.Lock()
_leaders: dict[int, bytes] = {}
"""The running bots that this process started, by process id, with their marks."""
_subreaper = 0
"""The process that is a subreaper; a fork of it is none."""


def become_subreaper() -> bool:
    """Adopt the orphans among this process's descendants from now on; False if the system cannot do that."""
    global _subreaper
    if sys.platform != "linux" or not _task_files():
        return False
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        return False
    _subreaper = os.getpid()
    return True


def register(leader: int, mark: str) -> None:
    """A bot was started: it leads a session, and has the mark in its environment."""
    with _lock:
        _leaders[leader] = mark.encode()


def unregister(leader: int) -> None:
    """A bot is about to be reaped: its number will no longer be its own."""
    with _lock:
        _leaders.pop(leader, None)


def sweep(session: int, mark: str) -> None:
    """Kill what is left of a bot that leads a session, and wait until it is gone. The bot itself has exited."""
    adopts = session > 0 and _subreaper == os.getpid()
    for attempt in range(SWEEPS):
        left = _orphans(session) if adopts else left_behind(session, mark.encode())
        if not left:
            return
        for process in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(min(MAX_WAIT, 0.001 * (attempt + 1)))


# Below a subreaper


def _orphans(session: int) -> list[int]:
    """The living descendants that may belong to this bot and to no other one. Reap those that have ended."""
    with _lock:
        others = {leader: mark for leader, mark in _leaders.items() if leader != session}
    own_session = os.getsid(0)
    found = []
    for child in _children(os.getpid()):
        if child == session or child in others:
            continue
        status = _status(child)
        if status is None or status[1] == own_session:  # a child of our own, such as a compiler
            continue
        if status[0] == b"Z":
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)
        elif status[1] not in others and not _has_mark_of(child, set(others.values())):
            found += [child, *_descendants(child)]
    return found


def _has_mark_of(process: int, marks: set[bytes]) -> bool:
    try:
        return not marks.isdisjoint(Path(f"/proc/{process}/environ").read_bytes().split(b"\0"))
    except OSError:
        return False


def _descendants(process: int) -> list[int]:
    found, level = [], _children(process)
    while level:
        found += level
        level = [child for one in level for child in _children(one)]
    return found


def _children(process: int) -> list[int]:
    found = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{process}/task"):
            with contextlib.suppress(OSError):  # a thread that has ended meanwhile
                found += [int(child) for child in Path(f"/proc/{process}/task/{task}/children").read_bytes().split()]
    return found


def _task_files() -> bool:
    """Whether the kernel lists the children of a process."""
    return os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children")


# Anywhere


def left_behind(session: int, mark: bytes) -> list[int]:
    """The live processes of a session or with the mark in their environment; none without /proc."""
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != session and _belongs(int(name), session, mark):
                found.append(int(name))
    return found


def _belongs(process: int, session: int, mark: bytes) -> bool:
    status = _status(process)
    if status is None or status[0] in (b"Z", b"X"):
        return False
    return status[1] == session or _has_mark_of(process, {mark})


def _status(process: int) -> tuple[bytes, int] | None:
    """The state and the session of a process; None if it is gone."""
    try:
        # After the name in parentheses: state, parent, group, session
        state, _, _, session = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[:4]
        return state, int(session)
    except (OSError, ValueError):
        return None
