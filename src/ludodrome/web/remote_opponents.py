"""Remote bots as opponents on the page. A play reserves its bot, so that the ladder leaves it alone for that long.

The seat dials the web process that holds the bot's connection, this one or another. While the bot is in a match, in
another play or not connected, the play waits, its viewers see why, and a thread asks again once it is there.
"""

import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol
from weakref import WeakSet

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from ludodrome.arena import messages
from ludodrome.arena.ladder.playing import find_relay
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import Answer, Notice, Turn
from ludodrome.arena.transports.remote import BotAway, RemoteSeat
from ludodrome.game import Game
from ludodrome.store import league_reservations as reservations
from ludodrome.store.league_models import REMOTE
from ludodrome.store.league_presence import RESERVATION_MS
from ludodrome.web.budgets import BUDGETS, REMOTE_BOTS
from ludodrome.web.concurrency import LruCache
from ludodrome.web.programs import MOVE_SECONDS, ProgramSeat

MAX_SEATS = 64
"""Remote bots in plays of this process."""
AWAY_SECONDS = 3.0
"""Seconds without a connection after which a play stops waiting inside a question, and its viewers are told."""
WATCH_SECONDS = 1.0
"""Seconds between two looks at the bots of a play that somebody watches."""
RENEW_SECONDS = 30.0
"""Seconds between two renewals of the reservation of a play that waits."""
SENTENCES = {
    reservations.AWAY: "{name} is not connected now. The game goes on when it is back.",
    reservations.IN_MATCH: "{name} is in a match of the league. It comes to this game next.",
    reservations.IN_PLAY: "{name} is in a game with somebody else. It comes to this game after that.",
    reservations.TOO_MANY: "Your other games have as many remote bots as one person can hold: {most}. "
    "{name} comes to this game when one of them is over.",
}

_log = logging.getLogger(__name__)


class BotUnavailable(Exception):
    """A remote bot cannot be asked now; ``why`` is a reason of ``league_reservations``."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class WatchedPlay(Protocol):
    """A play with remote bots."""

    def look_after_bots(self) -> None:
        """Ask a bot that could not be asked, once it can be; tell viewers why it cannot be."""


def sentence(why: str, name: str) -> str | None:
    """What viewers are told about a bot that cannot be asked; None if another process asks it."""
    text = SENTENCES.get(why)
    return None if text is None else text.format(name=name, most=BUDGETS[REMOTE_BOTS].amount)


def remote_bot(spec: str) -> str | None:
    """The id of the remote bot of a spec; None if it is another kind of player."""
    kind, _, bot = spec.partition(":")
    return bot if kind == REMOTE else None


class RemoteOpponentSeat(ProgramSeat):
    """A remote bot in a play. ``finished`` is called after each question, ``given_back`` when it leaves the play."""

    def __init__(
        self, inner: RemoteSeat, game: Game, finished: Callable[[], None], given_back: Callable[[], None]
    ) -> None:
        super().__init__(inner, game, private=True)
        self._remote, self._finished, self._given_back = inner, finished, given_back

    @property
    def busy(self) -> bool:
        """Whether a question is open."""
        return self._busy

    def ask(self, turn: Turn) -> Answer:
        """Ask for a move; BotUnavailable if the bot is not connected."""
        try:
            return super().ask(turn)
        except (BotAway, SQLAlchemyError):
            self.asked = turn.number - 1
            raise BotUnavailable(reservations.AWAY) from None
        finally:
            self._finished()

    def retire(self) -> None:
        """Leave the bot, withdrawing an open question."""
        self._remote.abandon()
        super().retire()

    def close(self) -> None:
        """Close the connection to the relay and give the bot back."""
        super().close()
        self._given_back()


class RemoteOpponents:
    """The remote bots in the plays of this process, and the thread that looks after those plays."""

    def __init__(self, engine: Engine | None = None) -> None:
        self._engine = engine
        self._process = secrets.token_urlsafe(9)
        """The name of this process in reservations."""
        self._seats = LruCache[RemoteOpponentSeat](MAX_SEATS, RESERVATION_MS / 1000, RemoteOpponentSeat.retire)
        self._plays = WeakSet[WatchedPlay]()
        self._renewed: dict[str, float] = {}
        self._lock = threading.Lock()
        self._ended: deque[Callable[[], None]] = deque()
        self._news, self._closing = threading.Event(), False
        self._thread: threading.Thread | None = None

    def __len__(self) -> int:
        return len(self._seats)

    # Questions

    def seat(self, key: str, referee: Referee, turn: Turn, owner: str | None) -> RemoteOpponentSeat:
        """The bot of a seat, reserved to be asked about a turn; BotUnavailable if that cannot be.

        After an undo the game begins anew for it, since it knows nothing of one.
        """
        engine, spec, play = self._engine, referee.play_spec.bots[turn.seat], key.partition(" ")[0]
        bot = remote_bot(spec)
        if engine is None or bot is None:
            raise ValueError("there is no league here")
        kept = self._seats.get(key)
        if kept is None:
            self._seats.discard(key)  # an expired one, before it could give the new reservation back
        seconds = (MOVE_SECONDS if turn.seconds is None else turn.seconds) + turn.allowance
        why = self._reserve(bot, play, owner, seconds)
        if why is not None:
            raise BotUnavailable(why)
        if kept is None or kept.asked >= turn.number:
            kept = kept or self._new_seat(key, play, bot, referee, owner)
            kept.start(referee.hello(turn.seat))
        return kept

    def _new_seat(self, key: str, play: str, bot: str, referee: Referee, owner: str | None) -> RemoteOpponentSeat:
        assert self._engine is not None
        find = partial(find_relay, self._engine, bot)
        inner = RemoteSeat(f"{REMOTE}:{bot}", find, messages.max_line(referee.game), AWAY_SECONDS)
        made = RemoteOpponentSeat(
            inner,
            referee.game,
            partial(_quietly, reservations.rest, self._engine, bot, play, self._process),
            partial(_quietly, reservations.release, self._engine, play, self._process),
        )
        self._seats.put(key, made, owner)
        return made

    # Reservations

    def reserve(self, play: str, bot: str, owner: str | None) -> str | None:
        """Reserve a bot for a play without asking it yet; return why it could not be asked now."""
        self._renewed[play] = time.monotonic()
        return self._reserve(bot, play, owner, None)

    def _reserve(self, bot: str, play: str, owner: str | None, seconds: float | None) -> str | None:
        if self._engine is None:
            return None
        most = BUDGETS[REMOTE_BOTS].amount
        try:
            return reservations.reserve(self._engine, bot, play, owner, self._process, seconds, most)
        except SQLAlchemyError as error:
            _log.warning("a remote bot could not be reserved: %s", error)
            return reservations.ELSEWHERE  # nobody is told; the next look tries again

    def obstacle(self, play: str, bot: str, owner: str | None, waiting: bool) -> str | None:
        """Why a bot could not be asked for a play now. ``waiting``: its move is due, so keep its place."""
        if self._engine is None:
            return None
        if waiting and time.monotonic() - self._renewed.get(play, float("-inf")) > RENEW_SECONDS:
            return self.reserve(play, bot, owner)
        return reservations.obstacle(self._engine, bot, play)

    def end(self, play: str, match: str, seats: int, result: Any = None) -> None:
        """Give the bots of a play back; ``result``: the play is over, and they are told. Returns at once."""
        with self._lock:
            self._ended.append(partial(self._end, play, match, seats, result))
        self._news.set()

    def _end(self, play: str, match: str, seats: int, result: Any) -> None:
        busy = False
        self._renewed.pop(play, None)
        for number in range(seats):
            seat = self._seats.peek(f"{play} {number}")
            if seat is not None:
                busy = busy or seat.busy
                if result is not None:
                    seat.notify(Notice(number, partial(messages.over, match, result, number)))
                self._seats.discard(f"{play} {number}")
        if result is not None and not busy and self._engine is not None:  # one that is busy gives itself back
            reservations.release(self._engine, play)

    # The thread

    def watch(self, play: WatchedPlay) -> None:
        """Look after a play with remote bots as long as it exists."""
        with self._lock:
            self._plays.add(play)
            if self._thread is None and not self._closing:
                self._thread = threading.Thread(target=self._run, name="remote-opponents", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while not self._closing:
            self._news.wait(WATCH_SECONDS)
            self._news.clear()
            self._work()

    def _work(self) -> None:
        self._end_all()
        with self._lock:
            plays = list(self._plays)
        for play in plays:
            _quietly(play.look_after_bots)

    def _end_all(self) -> None:
        with self._lock:
            ended = [self._ended.popleft() for _ in range(len(self._ended))]
        for call in ended:
            _quietly(call)

    def clear(self) -> None:
        """End the thread and give all bots back."""
        self._closing = True
        self._news.set()
        if self._thread is not None:
            self._thread.join(WATCH_SECONDS)
        self._end_all()
        self._seats.clear()


def _quietly(call: Callable[..., Any], *values: Any) -> None:
    """Do something that must not disturb its caller; a reservation that stays behind expires."""
    try:
        call(*values)
    except SQLAlchemyError as error:
        _log.warning("the reservation of a remote bot could not be changed: %s", error)
    except Exception:
        _log.exception("a play with a remote bot could not be looked after")
