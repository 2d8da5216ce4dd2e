"""A runner as a child process: started with the server, started anew if it dies, ended with it."""

import subprocess
import sys
import threading
import time
from contextlib import suppress

from sqlalchemy import Engine

from ludodrome.arena.ladder.agenda import GENTLE

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before a runner that died is started anew: longer each time that it does not live for long."""
LONG_LIFE = 60.0
PATIENCE = 10.0
"""Seconds that a runner has to end."""


class Supervisor:
    """Keeps a runner alive."""

    def __init__(self, engine: Engine, ladder: str = GENTLE, *, sandboxed: bool = False, workers: int = 0) -> None:
        self._database = engine.url.render_as_string(hide_password=False)
        self._command = [sys.executable, "-m", "ludodrome.arena.ladder.runner", "--db", "-", "--ladder", ladder]
        self._command += ["--workers", str(workers), *(["--sandbox"] if sandboxed else [])]
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._keep, name="runner", daemon=True)

    @property
    def pid(self) -> int | None:
        """Of the runner, if one lives."""
        with self._lock:
            return None if self._child is None or self._child.poll() is not None else self._child.pid

    def start(self) -> None:
        """From now on there is a runner."""
        self._thread.start()

    def stop(self) -> None:
        """No runner any more."""
        self._over.set()
        with self._lock:
            child = self._child
        if child is not None:
            _end(child)
        if self._thread.is_alive():
            self._thread.join(PATIENCE)

    def _keep(self) -> None:
        wait = FIRST_WAIT
        while not self._over.is_set():
            began = time.monotonic()
            # in a session of its own: Ctrl-C at the server's terminal is for the server, which ends it
            child = subprocess.Popen(self._command, stdin=subprocess.PIPE, start_new_session=True)
            with self._lock:
                self._child = child
            assert child.stdin is not None
            with suppress(OSError):
                child.stdin.write(f"{self._database}\n".encode())
                child.stdin.flush()
            if self._over.is_set():
                _end(child)
            child.wait()
            with suppress(OSError):
                child.stdin.close()
            wait = FIRST_WAIT if time.monotonic() - began > LONG_LIFE else min(2 * wait, LONGEST_WAIT)
            self._over.wait(wait)


def _end(child: "subprocess.Popen[bytes]") -> None:
    """Closes its input, which it takes for its end; kills it if it does not leave."""
    if child.stdin is not None:
        with suppress(OSError):
            child.stdin.close()
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
