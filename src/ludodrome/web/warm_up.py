"""Compile what the first moves need before somebody waits for it.

``python -m ludodrome.web.warm_up [GAME ...]`` compiles the kernels of games side by side, one process per game and as
many as there are cores; what is compiled already takes no time. ``scripts/serve`` runs it when it sets up, and the
server in the background for whatever is missing.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ludodrome import atomic_io, kernel_cache
from ludodrome.arena.ladder.show_matches import prepare_show
from ludodrome.games import PAGE_ORDER, find, package_folder
from ludodrome.system import core_count
from ludodrome.web.routes import games as game_routes

COMPILE_SECONDS = 15
"""About how long the kernels of a game compile, on one core."""
LOW_PRIORITY = 10
"""The priority of compilers beside a running server: people come first."""
PAUSE = 0.5
"""Seconds between two games that are loaded into the server."""
FIRST_MOVES, SHOW = "first_moves", "show_match"
"""What is compiled: what a person and a bot of level 3 need, and what the bots of show matches need."""
ALONE, NICELY, SHOWS = "--one", "--one-nicely", "--shows"
"""How a process is told to compile the first moves of one game, at once or beside a server; or show matches."""
READY, LOADING, COMPILING, WAITING, UNKNOWN = "ready", "loading", "compiling", "waiting", "unknown"


class KernelState(NamedTuple):
    """How far the kernels of a game's first moves are."""

    state: str
    """ready, loading (compiled, not in memory yet), compiling, waiting (to be compiled), or unknown."""
    seconds: int
    """About how many seconds it will take; 0 if it is ready."""


def is_compiled(game_id: str, what: str = FIRST_MOVES) -> bool:
    """Whether the kernels of a game's first moves, or of its show matches, were compiled before and are kept."""
    ready = _ready_file(game_id, what)
    return ready is not None and ready.exists()


def _ready_file(game_id: str, what: str) -> Path | None:
    with suppress(ValueError):  # a game without a folder is never known to be compiled
        return kernel_cache.ready_file(package_folder(find(game_id).module), what)
    return None


def compile_game(game_id: str, what: str = FIRST_MOVES) -> None:
    """Compile these kernels of a game, unless they are compiled."""
    if is_compiled(game_id, what):
        return
    game_routes.warm_up(game_id) if what == FIRST_MOVES else prepare_show(game_id)
    ready = _ready_file(game_id, what)
    if ready is not None:
        with suppress(OSError):
            atomic_io.write_whole(ready, b"")


def compile_shows_beside(games: Iterable[str]) -> None:
    """Start a process of low priority that compiles what the show matches of these games need; nobody waits for it."""
    missing = [game_id for game_id in games if not is_compiled(game_id, SHOW)]
    if missing:
        command = [sys.executable, "-m", "ludodrome.web.warm_up", SHOWS, *missing]
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)


class Compilers:
    """Processes that compile games side by side: at most one per core."""

    def __init__(
        self,
        games: Iterable[str],
        began: Callable[[str], None] = lambda game_id: None,
        ended: Callable[[str], None] = lambda game_id: None,
        *,
        nice: bool = False,
    ) -> None:
        self._waiting = list(games)
        self._began, self._ended = began, ended
        self._command = [sys.executable, "-m", "ludodrome.web.warm_up", NICELY if nice else ALONE]
        self._lock = threading.Lock()
        self._children: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    def run(self) -> None:
        """Compile all games; returns when the last one is done."""
        threads = [threading.Thread(target=self._work, name="compiler", daemon=True) for _ in range(core_count())]
        for thread in threads[: len(self._waiting)]:
            thread.start()
        for thread in threads[: len(self._waiting)]:
            thread.join()

    def close(self) -> None:
        """End the processes; what they have compiled is kept."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
            for child in self._children:
                child.kill()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting or self._closed:
                    return
                game_id = self._waiting.pop(0)
                # in a session of its own: Ctrl-C at the terminal is for the parent, which ends it
                child = subprocess.Popen(
                    [*self._command, game_id],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    start_new_session=True,
                )
                self._children.add(child)
            self._began(game_id)
            child.wait()
            with self._lock:
                self._children.discard(child)
            self._ended(game_id)


class WarmUp:
    """The kernels of some games on their way into a server: compiled by other processes, then loaded one by one."""

    def __init__(self, games: Sequence[str], load: Callable[[str], "Future[Any]"]) -> None:
        self._games, self._load = tuple(games), load
        self._begun: dict[str, float] = {}
        self._ready: set[str] = set()
        self._stop = threading.Event()
        self._missing = [game_id for game_id in self._games if not is_compiled(game_id)]
        self._compilers = Compilers(self._missing, self._note_begin, self._note_end, nice=True)
        self._compiled = {game_id: threading.Event() for game_id in self._missing}
        self.first: Future[Any] = Future()
        """Done when the first game is loaded, or cannot be."""

    def start(self) -> None:
        """Begin, in threads of its own."""
        if self._missing:
            threading.Thread(target=self._compilers.run, name="warm-up-compilers", daemon=True).start()
        if self._games:
            threading.Thread(target=self._load_all, name="warm-up", daemon=True).start()

    def stop(self) -> None:
        """Compile and load no more."""
        self._stop.set()
        self._compilers.close()
        for one in self._compiled.values():
            one.set()

    def state(self, game_id: str) -> KernelState:
        """How far a game is."""
        if game_id not in self._games:
            return KernelState(UNKNOWN, 0)
        if game_id in self._ready:
            return KernelState(READY, 0)
        if game_id not in self._compiled or self._compiled[game_id].is_set():
            return KernelState(LOADING, 1)
        if game_id in self._begun:
            left = COMPILE_SECONDS - (time.monotonic() - self._begun[game_id])
            return KernelState(COMPILING, max(2, round(left)))
        ahead = list(self._compiled).index(game_id) // core_count()
        return KernelState(WAITING, COMPILE_SECONDS * (1 + ahead))

    def _note_begin(self, game_id: str) -> None:
        self._begun[game_id] = time.monotonic()

    def _note_end(self, game_id: str) -> None:
        self._compiled[game_id].set()

    def _load_all(self) -> None:
        for game_id in sorted(self._games, key=lambda one: one in self._compiled):
            if game_id in self._compiled:
                self._compiled[game_id].wait()
            if self._stop.is_set():
                return
            loading = self._load(game_id)
            error = loading.exception()
            if error is None:
                self._ready.add(game_id)
            if game_id == self._games[0]:
                self.first.set_result(None) if error is None else self.first.set_exception(error)
            self._stop.wait(PAUSE)
        if not self._stop.is_set():
            compile_shows_beside(self._games)


def main() -> None:
    """Compile games, and say how long it takes."""
    mode, names = (sys.argv[1], sys.argv[2:]) if sys.argv[1:2] and sys.argv[1].startswith("-") else ("", sys.argv[1:])
    if mode in (NICELY, SHOWS) and hasattr(os, "nice"):
        os.nice(LOW_PRIORITY)
    if mode:
        for game_id in names:
            compile_game(game_id, SHOW if mode == SHOWS else FIRST_MOVES)
        return
    games = [game_id for game_id in names or PAGE_ORDER if not is_compiled(game_id)]
    if not games:
        return
    seconds = COMPILE_SECONDS * -(-len(games) // core_count())
    print(f"Compiling {', '.join(games)} for this machine, once: about {seconds} s ...", file=sys.stderr, flush=True)
    Compilers(games).run()


if __name__ == "__main__":
    main()
