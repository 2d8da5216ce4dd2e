"""Child processes of untrusted bots: pipes that never block, standard error kept, a certain end.

``child.py`` interprets what goes over the pipes. Every child leads its own session and process group. Processes in the
group always end with it; ``orphans.py`` finds those that left it.
"""

import contextlib
import errno
import os
import re
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from ludodrome.arena.seats import Traffic
from ludodrome.arena.transports import orphans
from ludodrome.bots.specs import LaunchSettings

try:
    import fcntl as _fcntl
    import resource as _resource
    import termios as _termios
except ImportError:  # Windows, where no program is a bot
    _fcntl = _resource = _termios = None  # type: ignore[assignment]

fcntl: Any = _fcntl
resource: Any = _resource
termios: Any = _termios

MAX_STDERR = 64 * 1024
"""The most bytes kept of standard error: the first half and the last half."""
CHUNK = 64 * 1024
MAX_QUEUED = 1024 * 1024
"""A child with this many unread bytes gets no more notices, only questions."""
TERM_SECONDS = 0.5
"""Between SIGTERM and SIGKILL."""
KILL_SECONDS = 30.0
"""Longest wait for an exit after SIGKILL; only a hanging disk or network takes long."""
EXIT_SECONDS = 1.5
"""Longest wait for an exit after the end of the output."""
MAX_READS_AFTER_EXIT = 64
SLOW_READ_SECONDS = 0.25
"""Seconds between two reads of the standard error of a child that is not asked: at most ``CHUNK`` bytes each time."""

MARK = "LUDODROME_SEAT"
"""An environment variable that marks a child and its descendants."""
INHERITED = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TERM|TMPDIR|TMP|TEMP|VIRTUAL_ENV|LD_LIBRARY_PATH|JAVA_HOME|GOPATH"
    "|GOROOT|GOCACHE|(BOT|LC|XDG|CONDA|NODE|CARGO|RUSTUP|NUMBA|OMP|CUDA|LUDODROME)_.*|PYTHON.*"
)
"""The variables that a child inherits. Secrets for bots have names that begin with BOT_."""
SECRETS = {"LUDODROME_DATABASE_URL", "LUDODROME_LLM_KEY"}
"""Variables that can hold a password or a key: no bot sees them."""


def environment(mark: str) -> dict[str, str]:
    """The environment of a child."""
    passed = {name: value for name, value in os.environ.items() if INHERITED.fullmatch(name) and name not in SECRETS}
    return {**passed, MARK: mark}


def check_supported() -> None:
    """ValueError where programs cannot be bots: they need ``poll`` and process groups, as Unix systems have."""
    if not (hasattr(select, "poll") and hasattr(os, "killpg")):
        raise ValueError(
            f"programs as bots need poll() and process groups, which {sys.platform} lacks: "
            "built-in bots and language models (llm:) play here"
        )


def limit(pid: int, launch: LaunchSettings) -> None:
    """Limit the memory and the cores of a process that has just started; OSError if the system refuses."""
    try:
        if launch.memory is not None and hasattr(resource, "prlimit"):
            resource.prlimit(pid, resource.RLIMIT_AS, (launch.memory, launch.memory))
        if launch.affinity and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(pid, launch.affinity)
    except ProcessLookupError:
        pass  # it has ended already: that is seen later
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error)) from error


class Process:
    """One child with three pipes. Call its methods from one thread; another thread reads standard error."""

    def __init__(self, arguments: Sequence[str], launch: LaunchSettings | None = None) -> None:
        self._mark = secrets.token_hex(8)
        self._settings = launch or LaunchSettings()
        self._popen = self._spawn(arguments)
        orphans.register(self._popen.pid, f"{MARK}={self._mark}")
        pipes = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        self._in, self._out, err = (pipe.fileno() for pipe in pipes if pipe)
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._queue = bytearray()
        self._input_closed = self._polls_input = False
        self.finished_output = False
        """Whether its standard output has ended: it was closed, or the child has exited."""
        self.ended = False
        try:
            self._exit = _ExitWatch(self._popen)
            self._errors = _StderrReader(err, self._exit.descriptor)
            self._errors.start()
        except BaseException:
            self._signal(signal.SIGKILL)
            orphans.unregister(self._popen.pid)
            self._popen.communicate()
            raise
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._exit.descriptor, select.POLLIN)

    def _spawn(self, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
        """Start it as the leader of a new session, with the settings of a bots file."""
        started = subprocess.Popen(
            arguments,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd=self._settings.directory,
            env={**environment(self._mark), **dict(self._settings.environment)},
        )
        try:
            limit(started.pid, self._settings)
        except BaseException:
            started.kill()
            started.communicate()
            raise
        return started

    @property
    def stderr(self) -> str:
        """Its standard error so far."""
        return self._errors.text

    @property
    def stderr_bytes(self) -> int:
        """The number of bytes of its standard error that were read."""
        return self._errors.read_bytes

    def take_stderr(self) -> str:
        """Its standard error since the last call, with all that it has written by now."""
        return self._errors.take()

    def record_stderr(self, traffic: Traffic | None) -> None:
        """Pass on what it writes to its standard error, as it is read."""
        self._errors.traffic = traffic

    # Turns

    def begin_turn(self) -> None:
        """Its turn begins, or its game is over: it may run, and its standard error is read at once."""
        self._errors.eager.set()

    def end_turn(self) -> None:
        """Another's turn begins."""
        self.limit_reading()

    def limit_reading(self) -> None:
        """Read its standard error slowly from now on: a flood stops at the full pipe. Its output is not read at all."""
        self._errors.eager.clear()

    # Pipes

    @property
    def queued(self) -> int:
        """The number of unsent bytes."""
        return len(self._queue)

    def send(self, data: bytes) -> None:
        """Write what the pipe takes; the rest follows during later waits."""
        if not self._input_closed:
            self._queue += data
            self._flush()

    tells_what_is_read = sys.platform == "linux"
    """Whether ``has_read_all`` works here."""

    @property
    def has_read_all(self) -> bool:
        """Whether it has read all that was sent, or closed its input."""
        if self._input_closed:
            return True
        if self._queue:
            return False
        unread = array("i", [0])
        fcntl.ioctl(self._in, termios.FIONREAD, unread)
        return unread[0] == 0

    def receive(self, seconds: float) -> bytes:
        """Wait up to ``seconds`` for output and return it, or nothing. Send queued bytes meanwhile."""
        deadline = time.monotonic() + seconds
        while not self.finished_output:
            left = deadline - time.monotonic()
            events = dict(self._poll.poll(max(0.0, left * 1000)))
            if self._in in events:
                self._flush()
            if self._out in events:
                if data := self._read():
                    return data
            elif self._exit.descriptor in events:
                self.finished_output = True
            elif left <= 0:
                break
        return b""

    def _read(self) -> bytes:
        try:
            data = os.read(self._out, CHUNK)
        except BlockingIOError:
            return b""
        if not data:
            self.finished_output = True
            self._poll.unregister(self._out)
        return data

    def _flush(self) -> None:
        try:
            while self._queue:
                del self._queue[: os.write(self._in, self._queue[:CHUNK])]
        except BlockingIOError:
            self._poll.register(self._in, select.POLLOUT)
            self._polls_input = True
            return
        except OSError:
            self._close_input()
            return
        self._stop_polling_input()

    def _stop_polling_input(self) -> None:
        if self._polls_input:
            self._poll.unregister(self._in)
            self._polls_input = False

    def _close_input(self) -> None:
        """Close its standard input, or notice that it did."""
        if not self._input_closed:
            self._input_closed = True
            self._queue.clear()
            self._stop_polling_input()
            assert self._popen.stdin
            self._popen.stdin.close()

    # Ending

    def has_exited(self, seconds: float = 0.0) -> bool:
        """Whether it has exited, or exits within ``seconds``."""
        watch = select.poll()
        watch.register(self._exit.descriptor, select.POLLIN)
        return bool(watch.poll(seconds * 1000))

    def last_words(self) -> str:
        """Why its output ended, for a verdict."""
        if not self.has_exited(EXIT_SECONDS):
            return "it closed its output"
        code = self._exit.code()
        return f"it exited with code {code}" if code >= 0 else f"it was ended by {_signal_name(-code)}"

    def leave(self, seconds: float) -> int | None:
        """Close its input once everything is sent; return its exit code, negative for a signal, or None if it stays."""
        if not self._leaves(seconds, lambda data: None):
            return None
        return self._exit.code()

    def end(self, grace: float, heard: Callable[[bytes], None]) -> None:
        """Close its input, wait ``grace`` seconds, then kill it and its descendants. ``heard`` gets its output."""
        if self.ended:
            return
        self.ended = True
        self.begin_turn()
        try:
            if not self._leaves(grace, heard):
                self._signal(signal.SIGTERM)
                self._leaves(TERM_SECONDS, heard)
        finally:
            self._signal(signal.SIGKILL)  # before it is reaped, so that its number still belongs to it
            self._close_input()
            has_exited = self.has_exited(KILL_SECONDS)
            self._sweep()
            if has_exited:
                orphans.unregister(self._popen.pid)
                self._release()

    def _sweep(self) -> None:
        """Kill the processes that it left behind."""
        orphans.sweep(self._popen.pid, f"{MARK}={self._mark}")

    def _release(self) -> None:
        """Reap it and close its pipes."""
        self._popen.wait()
        self._errors.join()
        for pipe in (self._popen.stdout, self._popen.stderr):
            assert pipe
            pipe.close()
        self._exit.close()

    def _leaves(self, seconds: float, heard: Callable[[bytes], None]) -> bool:
        """Whether it exits in time. Sends queued bytes first, and reads its output."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if not self._queue:
                self._close_input()
            events = dict(self._poll.poll(left * 1000))
            if self._in in events:
                self._flush()
            if self._out in events:
                heard(self._read())
            elif self._exit.descriptor in events:
                return True
        return False

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, number)


def _signal_name(number: int) -> str:
    """The name of a signal; not every signal has one."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _ExitWatch:
    """A descriptor that becomes readable when a child exits, and the child's exit code."""

    def __init__(self, popen: "subprocess.Popen[bytes]") -> None:
        self._popen = popen
        self._unreaped = hasattr(os, "pidfd_open")
        """Whether the child stays unreaped until the end, so that its number stays its own. Only Linux can do it."""
        if self._unreaped:
            self.descriptor = os.pidfd_open(popen.pid)
            return
        self.descriptor, writing = os.pipe()
        threading.Thread(target=self._wait, args=(writing,), daemon=True, name="exit of a bot").start()

    def _wait(self, writing: int) -> None:
        self._popen.wait()
        os.close(writing)

    def code(self) -> int:
        """The exit code of a child that has exited; negative: the number of the signal that ended it."""
        if not self._unreaped:
            return self._popen.wait()
        status = os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT)
        assert status is not None
        return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status

    def close(self) -> None:
        """Close the descriptor of a child that has exited."""
        os.close(self.descriptor)


class _StderrReader(threading.Thread):
    """Reads the standard error of a child until the child has exited, and keeps part of it."""

    def __init__(self, pipe: int, child: int) -> None:
        super().__init__(daemon=True, name="standard error of a bot")
        self._pipe = pipe
        self._child = child
        self._head = bytearray()
        self._tail = bytearray()
        self._cut = 0
        self.read_bytes = 0
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        """Held from reading to keeping, so that two readers keep the order."""
        self.traffic: Traffic | None = None
        self.eager = threading.Event()
        """Whether to read at once; if not, a little at a time."""
        self.eager.set()
        os.set_blocking(pipe, False)

    def run(self) -> None:
        """Read until the end, or until the child has exited and the pipe is empty."""
        watch = select.poll()
        watch.register(self._pipe, select.POLLIN)
        watch.register(self._child, select.POLLIN)
        reads_left = MAX_READS_AFTER_EXIT
        while reads_left:
            events = dict(watch.poll())
            if self._pipe not in events:
                return
            reads_left -= self._child in events
            with self._reading:
                try:
                    data = os.read(self._pipe, CHUNK)
                except BlockingIOError:
                    continue
                if not data:
                    return
                self._keep(data)
            if self._child not in events:
                self.eager.wait(SLOW_READ_SECONDS)

    def _keep(self, data: bytes) -> None:
        if (traffic := self.traffic) is not None:
            traffic("stderr", data.decode("utf-8", "backslashreplace"))
        half = MAX_STDERR // 2 - 64
        with self._lock:
            self.read_bytes += len(data)
            free = half - len(self._head)
            self._head += data[:free]
            self._tail += data[free:] if free > 0 else data
            if (extra := len(self._tail) - half) > 0:
                del self._tail[:extra]
                self._cut += extra

    def take(self) -> str:
        """The kept part, with what the pipe holds now; forget it."""
        with self._reading:
            for _ in range(MAX_READS_AFTER_EXIT):
                try:
                    data = os.read(self._pipe, CHUNK)
                except BlockingIOError:
                    break
                if not data:
                    break
                self._keep(data)
        text = self.text
        with self._lock:
            self._head.clear()
            self._tail.clear()
            self._cut = 0
        return text

    @property
    def text(self) -> str:
        """The kept part, as valid text without NUL."""
        with self._lock:
            between = f"\n[{self._cut} bytes left out]\n".encode() if self._cut else b""
            whole = bytes(self._head + between + self._tail)
        text = whole.decode("utf-8", "replace").replace("\0", "\ufffd")
        return text.encode()[:MAX_STDERR].decode("utf-8", "ignore")  # replacement characters are longer
