"""The process that plays the matches of the league: ``python -m ludodrome.arena.ladder.runner --db league.db``.

Matches are played by worker processes; this one hands them out and writes down what comes back. It ends when its
standard input does, so that it never outlives the server that has started it; what it had not finished is free for
others at once, or after some seconds if it was killed.
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

from ludodrome.arena.ladder.builtin_entries import enter_builtins
from ludodrome.arena.ladder.scheduler import GENTLE, LADDERS, ON, LadderScheduler
from ludodrome.arena.matches.pool import ClusterLost, run
from ludodrome.arena.matches.workers import Cluster, LocalWorkers, Workers
from ludodrome.store.database import open_database
from ludodrome.store.league_matches import dismiss, renew, report
from ludodrome.system import core_count

PAUSE = 0.5
"""Seconds between two looks when there is nothing to do."""
BEAT = 3.0
"""Seconds between two signs of life."""
LAST_SECONDS = 8.0
"""In which it ends once it should, or is ended."""
LOWEST = 19
"""The least urgent a process can be."""


class Runner:
    """One runner on a database."""

    def __init__(self, database: str, ladder: str, workers: Workers, sandboxed: bool) -> None:
        self._engine = open_database(database, create=True, durable=True)
        enter_builtins(self._engine)
        self._id = secrets.token_urlsafe(9)
        self._workers, self._ladder = workers, ladder
        self.agenda = LadderScheduler(self._engine, database, self._id, ladder, sandboxed)
        self._beaten = float("-inf")
        self._stop = threading.Event()

    def stop(self) -> None:
        """Ends what is being played, and then itself."""
        self.agenda.enough = True
        self._stop.set()

    def run(self) -> None:
        """Until it is stopped."""
        try:
            while not self._stop.is_set():
                self._beat()
                try:
                    run(self.agenda, self._workers, self._beat)
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
        """Claims are renewed, and everybody may know that it lives."""
        if time.monotonic() - self._beaten > BEAT:
            self._beaten = time.monotonic()
            renew(self._engine, self._id)
            report(self._engine, self._id, self._ladder, self._workers.width, self.agenda.word)


def _follow(runner: Runner) -> None:
    """Ends with whoever holds the other end of the standard input."""
    while sys.stdin.readline():
        pass
    _end(runner)


def _end(runner: Runner) -> None:
    runner.stop()
    watch = threading.Timer(LAST_SECONDS, os._exit, (1,))
    watch.daemon = True
    watch.start()


def main(arguments: Sequence[str] | None = None) -> None:
    """Plays until the standard input ends."""
    parser = argparse.ArgumentParser(description="Plays the matches of a league.")
    parser.add_argument("--db", required=True, help="file or URL of the database; - reads it from the standard input")
    parser.add_argument("--ladder", choices=LADDERS, default=GENTLE, help="whether bots play on by themselves")
    parser.add_argument(
        "--workers", type=int, default=0, help="games at once; 0: one if gentle, else one for each core"
    )
    parser.add_argument("--cluster", help="play on a Dask cluster: its scheduler, like tcp://host:8786")
    parser.add_argument("--sandbox", action="store_true", help="uploaded bots are strangers': run them in a sandbox")
    given = parser.parse_args(arguments)
    if given.ladder != ON:
        os.nice(LOWEST)
    workers: Workers
    workers = (
        Cluster(given.cluster)
        if given.cluster
        else LocalWorkers(given.workers or (core_count() if given.ladder == ON else 1))
    )
    database = sys.stdin.readline().strip() if given.db == "-" else given.db
    runner = Runner(database, given.ladder, workers, given.sandbox)
    signal.signal(signal.SIGTERM, lambda number, frame: _end(runner))
    threading.Thread(target=_follow, args=(runner,), daemon=True).start()
    runner.run()


# A runner as a child process: started with the server, started anew if it dies, ended with it.


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
            wait = FIRST_WAIT if time.monotonic() - began > LONG_LIFE else min(2 * wait, LONGEST_WAIT)
            self._over.wait(wait)


def _end_child(child: "subprocess.Popen[bytes]") -> None:
    """Closes its input, which it takes for its end; kills it if it does not leave."""
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
