"""Show matches: built-ins that play for spectators while nothing else is played, and the process that plays them.

``python -m ludodrome.arena.ladder.show_matches`` reads lines with the games that are watched, as a JSON list, and
writes a line with the view after every move. It has the lowest priority, plays each watched game at a pace that people
can follow, and ends with its standard input, or some time after nobody watches. Nothing is stored.
"""

import json
import os
import random
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from typing import Any, NamedTuple

from sqlalchemy.exc import OperationalError

from ludodrome.analysis.win_probability import Value, win_probability
from ludodrome.arena.conditions import conditions
from ludodrome.arena.game_loop import run
from ludodrome.arena.ladder.playing import LiveView
from ludodrome.arena.ladder.prior_ratings import prior_ratings
from ludodrome.arena.ladder.runner import LOWEST_PRIORITY
from ludodrome.arena.matches.openings import opening
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.referee import Referee
from ludodrome.arena.transports import make_seat
from ludodrome.bots import bot
from ludodrome.bots.networks import network_weights
from ludodrome.game import Game
from ludodrome.games import GAMES, find, make
from ludodrome.search.iterative import Searcher
from ludodrome.store.announcements import SharedCache

CLOCK = "5m++2s"
"""Generous: a process of the lowest priority must not lose on time."""
PACE, ROUND_PACE = 1.4, 5.0
"""Seconds between two moves; where a move is a whole plan, spectators need longer."""
INTERMISSION = 5.0
"""Seconds for which the end of a game is shown."""
SHARED_SECONDS = 12.0
"""Seconds after which the view of another web process is too old: longer than any pause of a show."""
PATIENCE = 2.0
"""Seconds that the thread which reads has to end."""
IDLE_SECONDS = 20.0
"""Seconds after which the process ends if nobody watches."""
BEST = 5
"""Show matches are between neighbours among this many of the best built-ins."""
NODES = 2_000
"""Positions searched for the evaluation that spectators see."""
HUNDREDTHS = 100

Json = dict[str, Any]


def show_bots(game_id: str) -> list[str]:
    """The built-ins of a game's show matches, the best first."""
    rated = prior_ratings(game_id).ratings
    ladder = find(game_id).game_class().ladder_bots
    return sorted(ladder, key=lambda spec: -rated[spec].elo if spec in rated else 0.0)[:BEST]


def pairing(game_id: str, rng: random.Random) -> list[str]:
    """The bots of a show match, by seat: neighbours on the ladder."""
    ladder = show_bots(game_id)
    first = rng.randrange(max(1, len(ladder) - 1))
    chosen = ladder[first : first + 2] if len(ladder) > 1 else ladder * 2
    rng.shuffle(chosen)
    return chosen


def show_spec(game_id: str, number: int, rng: random.Random) -> PlaySpec:
    """A show match."""
    game = make(game_id, **find(game_id).game_class().people_options)
    pair = pairing(game_id, rng)
    bots = tuple(pair[seat % 2] for seat in range(game.seats))
    seed = rng.randrange(2**53)
    rules = conditions(game, clock=CLOCK)
    return PlaySpec(game_id, game.options, bots, bots, rules, seed, opening(game, seed, 0).moves, number)


def prepare_show(game_id: str) -> None:
    """Compile or load what the first moves of a show match need."""
    play_spec = show_spec(game_id, 1, random.Random(1))
    referee = Referee(play_spec)
    LiveView(referee).update(referee)
    Evaluation(referee.game).of(referee.state)
    seen = referee.game.observation(referee.state, referee.game.to_move(referee.state))
    for spec in show_bots(game_id):
        player = bot(spec, referee.game)
        player.choose(seen)
        player.close()


class Evaluation:
    """What a short search says about the positions of a game for two, where there is one."""

    def __init__(self, game: Game) -> None:
        searched = game.evaluator is not None and game.seats == 2 and game.actions_a_turn == 1
        self._searcher = Searcher(game, weights=network_weights(game)) if searched else None
        self._game = game

    def of(self, state: Any) -> float | None:
        """The probability that seat 0 wins, from 0 to 1; None if nothing is known."""
        game = self._game
        ending = game.outcome(state)
        if ending is not None:
            return (1 + ending.returns[0]) / 2
        if self._searcher is None:
            return None
        states = game.encode_array(state)
        *_, found = self._searcher.search(states, None, NODES, None)
        mover = int(game.kernels.mover(states))
        score = found.score / HUNDREDTHS
        if game.evaluator is not None and game.evaluator.by_points:
            points = game.scores_of(None, states)
            score += 2 * points[mover] - sum(points)
        value = Value(score, found.distance, found.proven)
        chance = win_probability(game, value)
        return chance if mover == 0 else 1 - chance


class _Unwatched(BaseException):
    """Nobody watches this game any more."""


class ShowPlayer:
    """Plays show matches of one game, one after another, while it is watched."""

    def __init__(self, game_id: str, send: Callable[[Json], None]) -> None:
        self.game_id, self._send = game_id, send
        self._pace = ROUND_PACE if GAMES[game_id].by_steps else PACE
        self._rng = random.Random()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._play, name=f"show {game_id}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the game at its next move."""
        self._stop.set()

    def _play(self) -> None:
        number = 0
        with suppress(_Unwatched):
            while True:
                number += 1
                self._play_one(show_spec(self.game_id, number, self._rng))
                self._wait(INTERMISSION)

    def _play_one(self, play_spec: PlaySpec) -> None:
        referee = Referee(play_spec)
        view, evaluation = LiveView(referee), Evaluation(referee.game)

        def watch(referee: Referee) -> None:
            shown = view.update(referee)
            if not referee.game.has_hidden_information:
                shown["evaluation"] = evaluation.of(referee.state)
            self._send({"game": self.game_id, "number": play_spec.number, "view": {**shown, "show": True}})
            if referee.result is None:
                self._wait(self._pace)

        with ExitStack() as stack:
            seats = []
            for spec, seed in zip(play_spec.bots, play_spec.seat_seeds, strict=True):
                seats.append(make_seat(spec, referee.game, seed))
                stack.callback(seats[-1].close)
            run(referee, seats, watch)

    def _wait(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise _Unwatched


def main() -> None:
    """Play what is watched, until the standard input ends."""
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, 0, LOWEST_PRIORITY)
    writing = threading.Lock()
    players: dict[str, ShowPlayer] = {}
    idle = time.monotonic()

    def send(line: Json) -> None:
        with writing, suppress(OSError):
            sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
            sys.stdout.flush()

    def end_when_idle() -> None:
        while players or time.monotonic() - idle < IDLE_SECONDS:
            time.sleep(1.0)
        os._exit(0)

    threading.Thread(target=end_when_idle, daemon=True).start()
    for line in sys.stdin:
        wanted = [game for game in json.loads(line) if game in GAMES]
        for game in [game for game in players if game not in wanted]:
            players.pop(game).stop()
        for game in wanted:
            if game not in players:
                players[game] = ShowPlayer(game, send)
        idle = time.monotonic()
    os._exit(0)  # a thinking bot must not block the end


# In the server


class ShowView(NamedTuple):
    """The newest view of a show match."""

    version: int
    """Higher after every move, also of later matches."""
    view: Json


class ShowMatches:
    """Starts the process when somebody watches, and takes its views. Thread-safe.

    ``changed`` is called after every move, in the thread that reads. ``shared``: where several web processes find each
    other's views, so that each game is played by one of them.
    """

    COMMAND = (sys.executable, "-m", "ludodrome.arena.ladder.show_matches")

    def __init__(self, changed: Callable[[], None], shared: SharedCache | None = None) -> None:
        self._changed, self._shared = changed, shared
        self._host = secrets.token_hex(8)
        self._lock = threading.Lock()
        self._child: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._played: frozenset[str] = frozenset()
        """The games that this process plays."""
        self._views: dict[str, ShowView] = {}
        self._version = 0
        self._asked: dict[str, float] = {}
        self._closed = False

    def watch(self, games: Iterable[str]) -> bool:
        """Play these games from now on, and no others; whether any is played here, for this web process or others."""
        wanted = frozenset(games)
        elsewhere = {} if self._shared is None else self._played_elsewhere(self._shared, wanted)
        others = self._watched_elsewhere(self._shared, wanted) if self._shared is not None else frozenset()
        played = wanted - set(elsewhere) | others
        with self._lock:
            self._views = {game: view for game, view in self._views.items() if game in played} | elsewhere
            running = self._child is not None and self._child.poll() is None
            if self._closed or (played == self._played and (running or not played)):
                return bool(played) and not self._closed
            self._played = played
            if not running:
                if not played:
                    return False
                self._child = self._start()
            child = self._child
            assert child is not None
            assert child.stdin is not None
            with suppress(OSError, ValueError):  # it has just ended: the next call starts another one
                child.stdin.write(json.dumps(sorted(played)) + "\n")
                child.stdin.flush()
        return bool(played)

    def _played_elsewhere(self, shared: SharedCache, wanted: frozenset[str]) -> dict[str, ShowView]:
        """The views of other web processes. Of two that play the same game, the one with the lower name goes on."""
        found = {}
        for game in wanted:
            seen = shared.get(f"view {game}", SHARED_SECONDS)
            if seen is None or seen["host"] == self._host or (game in self._played and self._host < seen["host"]):
                continue
            found[game] = ShowView(seen["version"], seen["view"])
            if time.monotonic() - self._asked.get(game, float("-inf")) > SHARED_SECONDS / 3:
                self._asked[game] = time.monotonic()
                shared.put(f"watched {game}", self._host)
        return found

    def _watched_elsewhere(self, shared: SharedCache, wanted: frozenset[str]) -> frozenset[str]:
        """The games that this process plays and only others watch."""
        played = self._played - wanted
        return frozenset(
            game for game in played if shared.get(f"watched {game}", SHARED_SECONDS) not in (None, self._host)
        )

    def view(self, game: str) -> ShowView | None:
        """The newest view of a game's show match; None before its first one."""
        return self._views.get(game)

    @property
    def pid(self) -> int | None:
        """The id of the process; None if there is none."""
        with self._lock:
            return None if self._child is None or self._child.poll() is not None else self._child.pid

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._closed, child, self._child = True, self._child, None
        if child is not None:
            child.kill()
            child.wait()
            if self._reader is not None:
                self._reader.join(PATIENCE)

    def _start(self) -> "subprocess.Popen[str]":
        # in a session of its own: Ctrl-C at the server's terminal is for the server, which ends it
        child = subprocess.Popen(
            self.COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        self._reader = threading.Thread(target=self._read, args=(child,), name="show-matches", daemon=True)
        self._reader.start()
        return child

    def _read(self, child: "subprocess.Popen[str]") -> None:
        assert child.stdout is not None
        with suppress(ValueError, OSError):  # a line cut off by the end of the process
            for line in child.stdout:
                news = json.loads(line)
                with self._lock:
                    if news["game"] not in self._played:
                        continue
                    self._version += 1
                    self._views[news["game"]] = ShowView(self._version, news["view"])
                if self._shared is not None:
                    told = {"host": self._host, "version": self._version, "view": news["view"]}
                    with suppress(OperationalError):  # the next move is told again
                        self._shared.put(f"view {news['game']}", told)
                self._changed()
        child.wait()
        with self._lock, suppress(OSError):
            child.stdout.close()
            if child.stdin is not None:
                child.stdin.close()


if __name__ == "__main__":
    main()
