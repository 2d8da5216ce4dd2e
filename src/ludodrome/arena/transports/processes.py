"""Child processes that can be trusted with nothing: pipes that never block, standard error kept, a certain end.

What is said over the pipes is for ``child.py``.

Every child leads a session and a process group of its own. What is in that group is ended with certainty. Where /proc
is there, so is what has left the group but not the session, or has left both and kept the environment that it was
born with: that is the best that can be done without a sandbox.
"""

import contextlib
import os
import re
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

MAX_STDERR = 64 * 1024
"""Bytes of standard error that are kept: the first half and the last half."""
CHUNK = 64 * 1024
MAX_QUEUED = 1024 * 1024
"""Notices are dropped for a child that leaves so many bytes unread; questions are not."""
TERM_SECONDS = 0.5
"""Between SIGTERM and SIGKILL."""
KILL_SECONDS = 30.0
"""Between SIGKILL and the exit. It comes at once, unless the machine hangs in a disk or a network: then we do not."""
EXIT_SECONDS = 1.5
"""Between the end of its output and its exit, if the two belong together."""
MAX_READS_AFTER_EXIT = 64
SWEEPS = 20

MARK = "LUDODROME_SEAT"
"""A child and whatever it starts bear this in their environment."""
PASSED_ON = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TERM|TMPDIR|TMP|TEMP|VIRTUAL_ENV|LD_LIBRARY_PATH|JAVA_HOME|GOPATH"
    "|GOROOT|GOCACHE|(BOT|LC|XDG|CONDA|NODE|CARGO|RUSTUP|NUMBA|OMP|CUDA|LUDODROME)_.*|PYTHON.*"
)
"""What a child sees of our environment; secrets are passed on under names that begin with BOT_."""


SECRETS = {"LUDODROME_DATABASE_URL", "LUDODROME_LLM_KEY"}
"""May hold a password, and a key: no bot sees them."""


def environment(mark: str) -> dict[str, str]:
    """The environment of a child."""
    passed = {name: value for name, value in os.environ.items() if PASSED_ON.fullmatch(name) and name not in SECRETS}
    return {**passed, MARK: mark}


def check_supported() -> None:
    """ValueError where programs cannot be bots: they need ``poll`` and process groups, as Unix systems have."""
    if not (hasattr(select, "poll") and hasattr(os, "killpg")):
        raise ValueError(
            f"programs as bots need poll() and process groups, which {sys.platform} lacks: "
            "built-in bots and language models (llm:) play here"
        )


class Process:
    """One child with three pipes. All methods are for one thread; standard error has a thread of its own."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._mark = secrets.token_hex(8)
        self._popen = self._spawn(arguments)
        pipes = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        self._in, self._out, err = (pipe.fileno() for pipe in pipes if pipe)
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._queue = bytearray()
        self._deaf = False
        """Whether its standard input is closed."""
        self.finished_output = False
        """Whether nothing will come from its standard output any more: it was closed, or the child has exited."""
        self.ended = False
        try:
            self._exit = _ExitWatch(self._popen)
            self._errors = _StderrReader(err, self._exit.descriptor)
            self._errors.start()
        except BaseException:
            self._signal(signal.SIGKILL)
            self._popen.communicate()
            raise
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._exit.descriptor, select.POLLIN)

    def _spawn(self, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
        """Start it; the first process of a session of its own."""
        return subprocess.Popen(
            arguments,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=environment(self._mark),
        )

    @property
    def stderr(self) -> str:
        """What it wrote there so far."""
        return self._errors.text

    # Talking

    @property
    def queued(self) -> int:
        """Bytes that it has not taken yet."""
        return len(self._queue)

    def send(self, data: bytes) -> None:
        """Hand over as much as the pipe takes; the rest follows whenever somebody waits."""
        if not self._deaf:
            self._queue += data
            self._flush()

    def receive(self, seconds: float) -> bytes:
        """Some of its output, or nothing if none comes in so many seconds. Meanwhile it is sent what is queued."""
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
            return
        except OSError:
            self._deafen()
            return
        self._quiet()

    def _quiet(self) -> None:
        """Nothing is left to be sent."""
        with contextlib.suppress(KeyError):
            self._poll.unregister(self._in)

    def _deafen(self) -> None:
        """It has closed its end, or we close ours."""
        if not self._deaf:
            self._deaf = True
            self._queue.clear()
            self._quiet()
            assert self._popen.stdin
            self._popen.stdin.close()

    # Ending

    def has_exited(self, seconds: float = 0.0) -> bool:
        """Whether it has exited, or does so within so many seconds; it is not reaped yet."""
        watch = select.poll()
        watch.register(self._exit.descriptor, select.POLLIN)
        return bool(watch.poll(seconds * 1000))

    def last_words(self) -> str:
        """How its output came to an end, for a verdict."""
        if not self.has_exited(EXIT_SECONDS):
            return "it closed its output"
        code = self._exit.code()
        return f"it exited with code {code}" if code >= 0 else f"it was ended by {_signal_name(-code)}"

    def leave(self, seconds: float) -> int | None:
        """Close its input once it has all that was sent; its exit code, below 0 for a signal. None: it stays on."""
        if not self._leaves(seconds, lambda data: None):
            return None
        return self._exit.code()

    def end(self, grace: float, heard: Callable[[bytes], None]) -> None:
        """Close its input, give it time to leave, then end it and whatever it started. ``heard`` gets its output."""
        if self.ended:
            return
        self.ended = True
        try:
            if not self._leaves(grace, heard):
                self._signal(signal.SIGTERM)
                self._leaves(TERM_SECONDS, heard)
        finally:
            self._signal(signal.SIGKILL)  # before it is reaped, so that its number is still its own
            self._sweep()
            self._deafen()
            if self.has_exited(KILL_SECONDS):
                self._give_back()

    def _sweep(self) -> None:
        """End what it has started and left behind."""
        sweep(self._popen.pid, f"{MARK}={self._mark}")

    def _give_back(self) -> None:
        """Reap it, and close what leads to it."""
        self._popen.wait()
        self._errors.join()
        for pipe in (self._popen.stdout, self._popen.stderr):
            assert pipe
            pipe.close()
        self._exit.close()

    def _leaves(self, seconds: float, heard: Callable[[bytes], None]) -> bool:
        """Whether it exits in time; it is sent what is queued first, and its output is taken."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if not self._queue:
                self._deafen()
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
    """Not every signal has a name."""
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
    """Takes what a child writes to its standard error, however much it is, until the child has exited."""

    def __init__(self, pipe: int, child: int) -> None:
        super().__init__(daemon=True, name="standard error of a bot")
        self._pipe = pipe
        self._child = child
        self._head = bytearray()
        self._tail = bytearray()
        self._cut = 0
        self._lock = threading.Lock()
        os.set_blocking(pipe, False)

    def run(self) -> None:
        """Read until the end, or until the child has exited and nothing more is there."""
        watch = select.poll()
        watch.register(self._pipe, select.POLLIN)
        watch.register(self._child, select.POLLIN)
        reads_left = MAX_READS_AFTER_EXIT
        while reads_left:
            events = dict(watch.poll())
            if self._pipe not in events:
                return
            reads_left -= self._child in events
            try:
                data = os.read(self._pipe, CHUNK)
            except BlockingIOError:
                continue
            if not data:
                return
            self._keep(data)

    def _keep(self, data: bytes) -> None:
        half = MAX_STDERR // 2 - 64
        with self._lock:
            room = half - len(self._head)
            self._head += data[:room]
            self._tail += data[room:] if room > 0 else data
            if (extra := len(self._tail) - half) > 0:
                del self._tail[:extra]
                self._cut += extra

    @property
    def text(self) -> str:
        """What is kept, as a text that anything can hold."""
        with self._lock:
            between = f"\n[{self._cut} bytes left out]\n".encode() if self._cut else b""
            whole = bytes(self._head + between + self._tail)
        text = whole.decode("utf-8", "replace").replace("\0", "\ufffd")
        return text.encode()[:MAX_STDERR].decode("utf-8", "ignore")  # what was no text has grown


def sweep(session: int, mark: str) -> None:
    """End whatever is left of a session, or has the mark in its environment, and wait until it is gone."""
    for attempt in range(SWEEPS):
        left = left_behind(session, mark.encode())
        if not left:
            return
        for process in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.001 * (attempt + 1))


def left_behind(session: int, mark: bytes) -> list[int]:
    """The living processes of a session, or with that mark in their environment; none where there is no /proc."""
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != session and _belongs(name, session, mark):
                found.append(int(name))
    return found


def _belongs(process: str, session: int, mark: bytes) -> bool:
    try:
        # After the name in parentheses: state, parent, group, session
        state, _, _, its_session = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[:4]
        if state in (b"Z", b"X"):
            return False
        return int(its_session) == session or mark in Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return False
