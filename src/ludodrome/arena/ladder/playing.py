"""Play a match of the league in a worker: seats for its bots, the game, live views for spectators."""

import threading
import time
from contextlib import ExitStack
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Engine

from ludodrome.arena.game_loop import run
from ludodrome.arena.ladder.uploads import uploaded_seat
from ludodrome.arena.messages import max_line
from ludodrome.arena.play_spec import PlaySpec, initial_state
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import Seat
from ludodrome.arena.transports import make_seat
from ludodrome.arena.transports.remote import RelayAddress, RemoteSeat
from ludodrome.game import Game
from ludodrome.position import seen_by
from ludodrome.store.database import open_database
from ludodrome.store.league_matches import show
from ludodrome.store.league_models import REMOTE, UPLOADED
from ludodrome.store.league_presence import presence
from ludodrome.system import API

BREATH = 0.2
"""Minimum seconds between two live views, so that they do not slow a fast game down."""
LATEST_MOVES = 400
"""Moves in a live view."""
PRESSURE = Path("/proc/pressure/cpu")
"""The kernel's pressure stall information: for how long some process has waited for a processor."""
CONTENDED = 0.25
"""The share of a game's time that was lost to other work from which on its machine was contended."""
LOOP = 20_000
"""Additions of the calibrated loop: less than a millisecond."""


class LeagueJob(NamedTuple):
    """A match for a worker, with all that it needs."""

    play_spec: PlaySpec
    sources: dict[str, str]
    """The sources of uploaded bots, by spec."""
    database: str
    """The database of live views and of remote bots' relays."""
    sandbox: str
    """Whether uploaded bots run in a sandbox: one of ``SANDBOX_POLICIES``."""
    pace: float
    """Pause between two moves in seconds, for spectators; no clock runs in it."""


class PlayedMatch(NamedTuple):
    """A match that was played."""

    record: dict[str, Any]
    contention: float
    """The share of its time that was lost to other work on the machine, from 0 to 1."""

    @property
    def contended(self) -> bool:
        """Whether that was so much that it can have changed the result."""
        return self.contention > CONTENDED


def play_measured(order: LeagueJob) -> PlayedMatch:
    """Play the game; return its record, and how contended the machine was."""
    meter = ContentionMeter()
    record = play(order, meter)
    return PlayedMatch(record, meter.share)


def play(order: LeagueJob, meter: "ContentionMeter | None" = None) -> dict[str, Any]:
    """Play the game and return its record."""
    engine = _database(order.database)
    referee = Referee(order.play_spec)
    with ExitStack() as stack:
        seats: list[Seat] = []
        for spec, seed in zip(order.play_spec.bots, order.play_spec.seat_seeds, strict=True):
            seats.append(_seat(spec, referee.game, seed, order, engine))
            stack.callback(seats[-1].close)
        broadcast = stack.enter_context(Broadcast(engine, referee, order.pace))

        def watch(referee: Referee) -> None:
            if meter is not None:
                meter.sample()
            broadcast.update(referee)

        run(referee, seats, watch)
    return referee.record([one.stderr for one in seats], [one.notes for one in seats])


@lru_cache(maxsize=4)
def _database(where: str) -> Engine:
    return open_database(where)


def _seat(spec: str, game: Game, seed: int, order: LeagueJob, engine: Engine) -> Seat:
    kind, _, rest = spec.partition(":")
    if kind == UPLOADED:
        return uploaded_seat(spec, order.sources[spec], game, seed, order.sandbox)
    if kind == REMOTE:
        return RemoteSeat(spec, partial(find_relay, engine, rest), max_line(game))
    return make_seat(spec, game, seed)


def find_relay(engine: Engine, bot: str) -> RelayAddress | None:
    """The relay of a remote bot; None if it is not connected."""
    found = presence(engine, bot)
    if found is None:
        return None
    place, _, name = found[0].partition(" ")
    host, _, port = place.rpartition(":")
    return RelayAddress(host, int(port), name, f"{API}/bots/{bot}/relay", found[1])


class ContentionMeter:
    """Measures how much of a game's time is lost to other work on the machine.

    The kernel's pressure stall information says it; where there is none, a loop of known work is timed after every
    answer, and compared with the shortest time that this process has ever needed for it.
    """

    _best = float("inf")
    """The shortest time of the loop in this process, in seconds."""

    def __init__(self, pressure: Path = PRESSURE) -> None:
        self._pressure = pressure
        self._began = time.monotonic()
        self._stalled = self._stall()
        self._loops: list[float] = []
        if self._stalled is None:
            for _ in range(5):
                self._loop()

    def sample(self) -> None:
        """Time the loop, where it is needed."""
        if self._stalled is None:
            self._loops.append(self._loop())

    @property
    def share(self) -> float:
        """The share of the time since the beginning in which work had to wait."""
        stalled = self._stall()
        if stalled is not None and self._stalled is not None:
            return min(1.0, (stalled - self._stalled) / max(1e-6, time.monotonic() - self._began))
        return 1 - len(self._loops) * ContentionMeter._best / sum(self._loops) if self._loops else 0.0

    def _stall(self) -> float | None:
        """Seconds in which some process waited, since the start of the machine; None if the kernel does not say."""
        try:
            some = self._pressure.read_text().splitlines()[0]
            return int(some.rpartition("total=")[2]) / 1e6
        except (OSError, ValueError, IndexError):
            return None

    @staticmethod
    def _loop() -> float:
        began = time.perf_counter()
        sum(range(LOOP))
        seconds = time.perf_counter() - began
        ContentionMeter._best = min(ContentionMeter._best, seconds)
        return seconds


class LiveView:
    """What spectators see of a match, move by move; hidden parts of the position are left out."""

    def __init__(self, referee: Referee) -> None:
        game, play_spec = referee.game, referee.play_spec
        self._names = list(play_spec.names)
        self._texts: list[str] = []
        self._movers: list[int] = []
        self._open_moves = 0
        """The number of moves up to the last position in which nothing is hidden from spectators."""
        self._state = referee.state
        self._last: Any = None
        self._last_seat: int | None = None
        self._turns = 0
        """How many turns were taken over."""
        self._opening, self._opening_movers = _opening_texts(game, play_spec)

    def update(self, referee: Referee) -> dict[str, Any]:
        """Take over the referee's present state; the view of it."""
        game = referee.game
        for entry in referee.turns[self._turns :]:
            if "move" in entry:
                self._last, self._last_seat = entry["move"], entry["seat"]
                self._texts.append(game.move_label(self._last, self._state))
                self._movers.append(entry["seat"])
                self._state = game.apply(self._state, self._last)
                if not seen_by(game, self._state).is_partial:
                    self._open_moves = len(self._texts)
        self._turns = len(referee.turns)
        seen = seen_by(game, referee.state)
        shown = slice(max(0, len(self._texts) - LATEST_MOVES), self._open_moves)
        result = referee.result
        return {
            "game": game.id,
            "options": game.options,
            "names": self._names,
            "bots": list(referee.play_spec.bots),
            "clock": str(referee.conditions.clock),
            "state": seen.state,
            "last": None if seen.is_partial else self._last,
            "last_seat": self._last_seat,
            "ply": len(referee.play_spec.opening) + len(self._texts),
            "opening": self._opening,
            "opening_movers": self._opening_movers,
            "texts": self._texts[shown],
            "movers": self._movers[shown],
            "to_move": None if referee.turn is None else referee.turn.seat,
            "left_ms": [
                None if left is None else int(left * 1000) for left in map(referee.seconds_left, range(game.seats))
            ],
            "result": None if result is None else {name: result[name] for name in ("returns", "reason")},
        }


def _opening_texts(game: Game, play_spec: PlaySpec) -> tuple[list[str], list[int]]:
    """The moves of an opening in notation and their seats; none if spectators may not see what they led to."""
    state = initial_state(game, play_spec)
    texts: list[str] = []
    movers: list[int] = []
    for move in play_spec.opening:
        movers.append(game.to_move(state) or 0)
        texts.append(game.move_label(move, state))
        state = game.apply(state, move)
    return ([], []) if seen_by(game, state).is_partial else (texts, movers)


class Broadcast:
    """Writes live views of a match from its own thread, at a limited rate; the last one in any case."""

    def __init__(self, engine: Engine, referee: Referee, pace: float) -> None:
        self._engine, self._match, self._pace = engine, referee.match, pace
        self._view = LiveView(referee)
        self._latest: tuple[int, dict[str, Any]] | None = None
        self._version = self._sent = 0
        self._news, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._publish, daemon=True)

    def __enter__(self) -> "Broadcast":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._news.set()
        self._thread.join()
        self._send()  # how it ended, whatever the rate

    def update(self, referee: Referee) -> None:
        """Take over the referee's present state, and publish it."""
        self._version += 1
        self._latest = self._version, self._view.update(referee)
        self._news.set()
        if self._pace and referee.result is None:
            time.sleep(self._pace)

    def _publish(self) -> None:
        while not self._over.is_set():
            self._news.wait()
            self._news.clear()
            if not self._over.is_set():
                self._send()
                self._over.wait(BREATH)

    def _send(self) -> None:
        latest = self._latest
        if latest is not None and latest[0] != self._sent:
            self._sent = latest[0]
            show(self._engine, self._match, *latest)
