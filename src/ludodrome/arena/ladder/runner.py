"""The runner, which plays the matches of the league, and its supervisor in the server.

``python -m ludodrome.arena.ladder.runner --db league.db`` dispatches matches to worker processes and keeps the results.
It ends when its standard input ends, so it never outlives the server that started it. Other runners take over its
unfinished matches at once, or after some seconds if it was killed.
"""

import argparse
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import Engine

from ludodrome.arena.ladder import enter_builtins
from ludodrome.arena.ladder.scheduler import GENTLE, LADDERS, ON, LadderScheduler
from ludodrome.arena.ladder.uploads import PREFERRED, REQUIRED, SANDBOX_POLICIES
from ludodrome.arena.matches.pool import ClusterLost, run
from ludodrome.arena.matches.workers import Cluster, LocalWorkers, Workers
from ludodrome.store.database import open_database
from ludodrome.store.league_matches import dismiss, renew, report
from ludodrome.system import core_count

PAUSE = 0.5
"""Seconds between two polls while there is nothing to do."""
BEAT = 3.0
"""Seconds between two heartbeats."""
LAST_SECONDS = 8.0
"""Seconds in which it ends once asked to, or is killed."""
LOWEST_PRIORITY = 19
"""Lowest scheduling priority."""


class Runner:
    """One runner on a database."""

    def __init__(self, database: str, ladder: str, workers: Workers, sandbox: str) -> None:
        self._engine = open_database(database, create=True, durable=True)
        enter_builtins(self._engine)
        self._id = secrets.token_urlsafe(9)
        self._workers, self._ladder = workers, ladder
        self.scheduler = LadderScheduler(self._engine, database, self._id, ladder, sandbox)
        self._beaten = float("-inf")
        self._stop = threading.Event()

    def stop(self) -> None:
        """End the games in progress, then the runner."""
        self.scheduler.stopping = True
        self._stop.set()

    def run(self) -> None:
        """Run until stopped."""
        try:
            while not self._stop.is_set():
                self._beat()
                try:
                    run(self.scheduler, self._workers, self._beat)
                except ClusterLost as error:
                    print(error, file=sys.stderr, flush=True)
                self._stop.wait(PAUSE)
        except KeyboardInterrupt:
            self.stop()
        finally:
            dismiss(self._engine, self._id, broken=not self._stop.is_set())
            self._workers.close()
            self._engine.dispose()

    def _beat(self) -> None:
        """Renew the claims and report that the runner is alive."""
        if time.monotonic() - self._beaten > BEAT:
            self._beaten = time.monotonic()
            renew(self._engine, self._id)
            report(self._engine, self._id, self._ladder, self._workers.width, self.scheduler.status)


def _follow(runner: Runner) -> None:
    """End when the standard input ends."""
    while sys.stdin.readline():
        pass
    _end(runner)


def _end(runner: Runner) -> None:
    runner.stop()
    watch = threading.Timer(LAST_SECONDS, os._exit, (1,))
    watch.daemon = True
    watch.start()


def main(arguments: Sequence[str] | None = None) -> None:
    """Play until the standard input ends."""
    parser = argparse.ArgumentParser(description="Play the matches of a league.")
    parser.add_argument("--db", required=True, help="file or URL of the database; - reads it from the standard input")
    parser.add_argument("--ladder", choices=LADDERS, default=GENTLE, help="whether bots play on their own")
    parser.add_argument("--workers", type=int, default=0, help="games at once; 0: one if gentle, else one per core")
    parser.add_argument("--cluster", help="play on a Dask cluster: its scheduler, like tcp://host:8786")
    parser.add_argument(
        "--sandbox",
        nargs="?",
        choices=SANDBOX_POLICIES,
        const=REQUIRED,
        default=PREFERRED,
        help="run uploaded bots in a sandbox: always (the same as no value), where one holds, or never",
    )
    given = parser.parse_args(arguments)
    if given.ladder != ON:
        os.nice(LOWEST_PRIORITY)
    database = sys.stdin.readline().strip() if given.db == "-" else given.db
    if not database:  # the server ended before it named one
        return
    workers: Workers
    workers = (
        Cluster(given.cluster)
        if given.cluster
        else LocalWorkers(given.workers or (core_count() if given.ladder == ON else 1))
    )
    runner = Runner(database, given.ladder, workers, given.sandbox)
    signal.signal(signal.SIGTERM, lambda number, frame: _end(runner))
    threading.Thread(target=_follow, args=(runner,), daemon=True).start()
    runner.run()


# The supervisor


FIRST_WAIT, MAX_WAIT = 1.0, 60.0
"""Seconds before a dead runner is restarted: longer each time it dies soon."""
LONG_LIFE = 60.0
PATIENCE = 10.0
"""Seconds that a runner has to end before it is killed."""


class Supervisor:
    """Keeps a runner process alive."""

    def __init__(self, engine: Engine, ladder: str = GENTLE, *, sandbox: str = PREFERRED, workers: int = 0) -> None:
        self._database = engine.url.render_as_string(hide_password=False)
        self._command = [sys.executable, "-m", "ludodrome.arena.ladder.runner", "--db", "-", "--ladder", ladder]
        self._command += ["--workers", str(workers), "--sandbox", sandbox]
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._keep, name="runner", daemon=True)

    @property
    def pid(self) -> int | None:
        """The runner's process id; None if there is none."""
        with self._lock:
            return None if self._child is None or self._child.poll() is not None else self._child.pid

    def start(self) -> None:
        """Start the runner."""
        self._thread.start()

    def stop(self) -> None:
        """End the runner."""
        self._over.set()
        with self._lock:
            child = self._child
        if child is not None:
            _end_child(child)
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
                _end_child(child)
            child.wait()
            with suppress(OSError):
                child.stdin.close()
            wait = FIRST_WAIT if time.monotonic() - began > LONG_LIFE else min(2 * wait, MAX_WAIT)
            self._over.wait(wait)


def _end_child(child: "subprocess.Popen[bytes]") -> None:
    """Close its input, which ends it; kill it if it does not end."""
    if child.stdin is not None:
        with suppress(OSError):
            child.stdin.close()
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


if __name__ == "__main__":
    main()
