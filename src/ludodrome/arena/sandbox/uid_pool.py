"""A uid for every running bot, from a pool that is kept for bots, where the arena runs as root.

A uid is taken with a lock on a file, so that several processes can share the pool, and nothing is left of a lock when
its holder dies. Whoever gives a uid back has ended what ran under it, and says in the file whether nothing is left of
it; if the file does not say so, whoever takes it sees to it first.
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
"""Another pool: the first and the last uid, as in 61000-61999."""
FOLDER = Path("/run/ludodrome")
"""Belongs to root; others can look through it and change nothing."""
SWEEP_SECONDS, REAP_SECONDS = 5.0, 2.0
"""How long whoever lives under a uid may take to die, and the dead to be reaped, by whoever does that."""
_CLEAN = b"clean"
"""Stands in the file of a uid under which there is nothing."""


class NoFreeUid(OSError):
    """All uids of the pool are taken."""


def pool() -> range:
    """The uids that are kept for bots; ValueError if the setting cannot be read, or somebody has one of them."""
    text = os.environ.get(SETTING)
    if text is None:
        found = POOL
    else:
        match = re.fullmatch(r"(\d{4,9})-(\d{4,9})", text)
        if match is None or int(match[1]) > int(match[2]) or int(match[1]) < 1000:
            raise ValueError(f"{SETTING} is the first and the last uid kept for bots, as in 61000-61999, not {text!r}")
        found = range(int(match[1]), int(match[2]) + 1)
    if taken := sorted(entry.pw_name for entry in pwd.getpwall() if entry.pw_uid in found):
        raise ValueError(
            f"the uids {found[0]} to {found[-1]} are for bots, but {taken[0]} has one of them: set {SETTING}"
        )
    return found


def own_folder(name: str, mode: int) -> Path:
    """A folder of root's for the sandbox's own things."""
    made = FOLDER / name
    for folder, right in ((FOLDER, 0o711), (made, mode)):
        folder.mkdir(mode=right, parents=True, exist_ok=True)
        state = folder.stat(follow_symlinks=False)
        if state.st_uid != os.geteuid() or state.st_mode & 0o022:
            raise PermissionError(f"{folder} must belong to root, and nobody else may write in it")
        if stat.S_IMODE(state.st_mode) != right:
            folder.chmod(right)  # whatever the umask is
    return made


def folder_of(uid: int) -> Path:
    """Where the files of the bot that has this uid are, if they are outside of its box."""
    return own_folder("bots", 0o711) / str(uid)


class PooledUid:
    """One uid (and the gid of the same number), from ``take`` to ``give_back``."""

    def __init__(self, uid: int, lock: int) -> None:
        self.uid = uid
        self._lock: int | None = lock

    @staticmethod
    def take() -> "PooledUid":
        """One that nobody has; NoneFree if there is none. Where its dead only wait to be reaped, it waits for that."""
        folder = own_folder("uids", 0o700)
        uids = pool()
        start = os.getpid() % len(uids)  # so that processes do not all try the same ones first
        deadline = time.monotonic() + REAP_SECONDS
        while True:
            haunted = False
            for uid in (*uids[start:], *uids[:start]):
                if (lock := atomic_io.lock_file(folder / str(uid))) is None:
                    continue
                identity = PooledUid(uid, lock)
                if os.pread(lock, len(_CLEAN), 0) == _CLEAN or identity.clean():
                    os.ftruncate(lock, 0)
                    return identity
                identity.close()
                haunted = True
            if not haunted or time.monotonic() > deadline:
                raise NoFreeUid(f"all {len(uids)} uids that are kept for bots are in use")
            time.sleep(0.01)

    def clean(self) -> bool:
        """See to it that nothing is left of whoever had it before, and may have been killed; whether nothing is."""
        if not self.sweep() or processes_of(self.uid, dead=True):
            return False
        shutil.rmtree(folder_of(self.uid), ignore_errors=True)
        return True

    def sweep(self) -> bool:
        """End whatever lives under this uid; whether nothing does. It cannot make more while it is being ended."""
        deadline = time.monotonic() + SWEEP_SECONDS
        while left := processes_of(self.uid):
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True

    def give_back(self, clean: bool = False) -> None:
        """Nothing lives under it, and somebody else may have it. Twice does no harm.

        It is clean if nothing dead waits to be reaped either: the dead take from what the next bot may start. Who knows
        that it is need not have it looked up.
        """
        if self._lock is not None:
            if clean or not processes_of(self.uid, dead=True):
                os.pwrite(self._lock, _CLEAN, 0)
            self.close()

    def close(self) -> None:
        """Let it go as it is: whoever takes it next ends what is left."""
        if self._lock is not None:
            atomic_io.unlock_file(self._lock)
            self._lock = None


def processes_of(uid: int, dead: bool = False) -> list[int]:
    """The living processes of a uid; on demand with those that are dead and not reaped."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if _is_of(name, b"%d" % uid, dead):
                    found.append(int(name))
    return found


def _is_of(process: str, uid: bytes, dead: bool) -> bool:
    """By its status: the folder's owner is root where a process may not be dumped."""
    if os.stat(f"/proc/{process}").st_uid not in (0, int(uid)):
        return False
    status = Path(f"/proc/{process}/status").read_bytes()
    uids = status.partition(b"\nUid:")[2].partition(b"\n")[0].split()
    return uid in uids and (dead or not _is_dead(process, status))


def _is_dead(process: str, status: bytes) -> bool:
    """A process whose first thread has ended looks dead, and lives on with the others."""
    state = status.partition(b"\nState:")[2].split(maxsplit=1)[0]
    return state in (b"Z", b"X") and len(os.listdir(f"/proc/{process}/task")) <= 1
