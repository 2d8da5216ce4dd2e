"""A pool of uids: where the arena runs as root, every running bot has its own uid.

A uid is taken by locking a file, so several processes can share the pool, and a lock disappears when its holder dies.
Releasing a uid kills what runs under it and marks the file as clean if nothing is left. Taking a uid that is not marked
cleans it first.
"""

import contextlib
import os
import re
import shutil
import signal
import stat
import time
from pathlib import Path

with contextlib.suppress(ImportError):  # Linux only
    import pwd

from ludodrome import atomic_io

POOL = range(61000, 62000)
SETTING = "LUDODROME_SANDBOX_UIDS"
"""Environment variable for another pool: the first and the last uid, as in 61000-61999."""
FOLDER = Path("/run/ludodrome")
"""Owned by root; others can traverse it but change nothing."""
SWEEP_SECONDS, REAP_SECONDS = 5.0, 2.0
"""Longest waits for the processes of a uid to die, and for zombies to be reaped."""
_CLEAN = b"clean"
"""The content of the file of a uid without processes."""


class NoFreeUid(OSError):
    """All uids of the pool are in use."""


def pool() -> range:
    """The uids reserved for bots; ValueError if the setting is malformed, or a user has one of them."""
    text = os.environ.get(SETTING)
    if text is None:
        found = POOL
    else:
        match = re.fullmatch(r"(\d{4,9})-(\d{4,9})", text)
        if match is None or int(match[1]) > int(match[2]) or int(match[1]) < 1000:
            raise ValueError(
                f"{SETTING} is the first and the last uid reserved for bots, as in 61000-61999, not {text!r}"
            )
        found = range(int(match[1]), int(match[2]) + 1)
    if taken := sorted(entry.pw_name for entry in pwd.getpwall() if entry.pw_uid in found):
        raise ValueError(
            f"the uids {found[0]} to {found[-1]} are for bots, but {taken[0]} has one of them: set {SETTING}"
        )
    return found


def own_folder(name: str, mode: int) -> Path:
    """Make a folder of root for the sandbox's own files."""
    made = FOLDER / name
    for folder, right in ((FOLDER, 0o711), (made, mode)):
        folder.mkdir(mode=right, parents=True, exist_ok=True)
        state = folder.stat(follow_symlinks=False)
        if state.st_uid != os.geteuid() or state.st_mode & 0o022:
            raise PermissionError(f"{folder} must belong to root, and nobody else may write in it")
        if stat.S_IMODE(state.st_mode) != right:
            folder.chmod(right)  # regardless of the umask
    return made


def folder_of(uid: int) -> Path:
    """The folder for the files of the bot with this uid, under Landlock."""
    return own_folder("bots", 0o711) / str(uid)


class PooledUid:
    """One uid, and the gid of the same number, from ``take`` to ``release``."""

    def __init__(self, uid: int, lock: int) -> None:
        self.uid = uid
        self._lock: int | None = lock

    @staticmethod
    def take() -> "PooledUid":
        """Take a free uid; NoFreeUid if there is none. Waits a while for zombies to be reaped."""
        folder = own_folder("uids", 0o700)
        uids = pool()
        start = os.getpid() % len(uids)  # so that processes do not all try the same uids first
        deadline = time.monotonic() + REAP_SECONDS
        while True:
            waiting = False
            for uid in (*uids[start:], *uids[:start]):
                if (lock := atomic_io.lock_file(folder / str(uid))) is None:
                    continue
                identity = PooledUid(uid, lock)
                if os.pread(lock, len(_CLEAN), 0) == _CLEAN or identity.clean():
                    os.ftruncate(lock, 0)
                    return identity
                identity.close()
                waiting = True
            if not waiting or time.monotonic() > deadline:
                raise NoFreeUid(f"all {len(uids)} uids reserved for bots are in use")
            time.sleep(0.01)

    def clean(self) -> bool:
        """Remove what an earlier holder left; return whether nothing is left."""
        if not self.sweep() or processes_of(self.uid, dead=True):
            return False
        shutil.rmtree(folder_of(self.uid), ignore_errors=True)
        return True

    def sweep(self) -> bool:
        """Kill all processes of this uid; return whether none is left. They cannot fork meanwhile."""
        deadline = time.monotonic() + SWEEP_SECONDS
        while left := processes_of(self.uid):
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True

    def release(self, clean: bool = False) -> None:
        """Return the uid to the pool; no process of it is left. Can be called twice.

        ``clean``: there are no zombies either, which would count against the next bot's limit. If False, look.
        """
        if self._lock is not None:
            if clean or not processes_of(self.uid, dead=True):
                os.pwrite(self._lock, _CLEAN, 0)
            self.close()

    def close(self) -> None:
        """Unlock the uid as it is; the next holder cleans it."""
        if self._lock is not None:
            atomic_io.unlock_file(self._lock)
            self._lock = None


def processes_of(uid: int, dead: bool = False) -> list[int]:
    """The live processes of a uid; ``dead``: zombies too."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if _is_of(name, b"%d" % uid, dead):
                    found.append(int(name))
    return found


def _is_of(process: str, uid: bytes, dead: bool) -> bool:
    """Whether a process has the uid, by its status: the owner of /proc/PID is root for undumpable processes."""
    if os.stat(f"/proc/{process}").st_uid not in (0, int(uid)):
        return False
    status = Path(f"/proc/{process}/status").read_bytes()
    uids = status.partition(b"\nUid:")[2].partition(b"\n")[0].split()
    return uid in uids and (dead or not _is_dead(process, status))


def _is_dead(process: str, status: bytes) -> bool:
    """Whether a process is a zombie. One whose first thread has ended looks like one, but lives on."""
    state = status.partition(b"\nState:")[2].split(maxsplit=1)[0]
    return state in (b"Z", b"X") and len(os.listdir(f"/proc/{process}/task")) <= 1
