"""All plays of the page: cached in memory while they are in use, stored for good.

Every event is saved before anybody sees it. A play that is not in memory is rebuilt from its events, also after a
restart. Events that other web processes write are announced, and applied to the play in memory.
"""

import gc
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import HTTPConnection

from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import FORFEIT, Conditions
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.seeds import new_secret
from ludodrome.game import Game
from ludodrome.games import find as find_entry
from ludodrome.store import plays
from ludodrome.store.announcements import PRESENCE, SharedCache
from ludodrome.store.group_commit import GroupCommitter
from ludodrome.store.models import now_ms
from ludodrome.store.plays import FRIEND, FriendSeat, PlayEvent, StoredPlay, digest_of
from ludodrome.web.bot_pool import BotPool
from ludodrome.web.budgets import BUDGETS, PLAYS_CACHED, address_key, client_address
from ludodrome.web.concurrency import LruCache
from ludodrome.web.play import WebPlay
from ludodrome.web.play_state import PERSON, Participants, Viewer
from ludodrome.web.position_view import open_game
from ludodrome.web.responses import Conflict, Forbidden, write_error

MAX_PLAYS = 1000
"""Plays in memory at once."""
KEEP_SECONDS = 3600.0
"""Seconds that an unused entry stays in memory."""
Written = TypeVar("Written")
MAX_OPENING_PLIES = 200
STRIPES = 64
UPDATE_THREADS = 2
"""Threads that apply the events of other processes."""
ASK, NOBODY = "?", "-"
"""Presence: a question to all processes; nobody is present."""


class JoinedSeat(NamedTuple):
    """A seat that was just taken."""

    play: WebPlay
    seat: int
    key: str


class PlayRegistry:
    """All plays of the page. Thread-safe.

    ``several``: other web processes have the same plays; ``started``: when the first of them did, in milliseconds.
    """

    def __init__(self, engine: Engine, bot_pool: BotPool, *, several: bool = False, started: int | None = None) -> None:
        self._engine, self._bot_pool = engine, bot_pool
        self._several, self._started = several, now_ms() if started is None else started
        self._origin = secrets.token_urlsafe(6)
        """The name of this process in announcements."""
        self._updates = ThreadPoolExecutor(UPDATE_THREADS, "play-updates")
        self._updating: set[str] = set()
        """Plays whose update is about to begin."""
        self._committer = GroupCommitter(engine)
        self._cache = LruCache[WebPlay](MAX_PLAYS, KEEP_SECONDS, WebPlay.close, share=BUDGETS[PLAYS_CACHED].amount)
        self._compiled: set[str] = set()
        self._locks = [threading.Lock() for _ in range(STRIPES)]

    def __len__(self) -> int:
        return len(self._cache)

    def begin(
        self,
        game: Game,
        play_spec: PlaySpec,
        kinds: tuple[str, ...],
        owner: str | None,
        digest: str | None = None,
        friends: dict[int, FriendSeat] | None = None,
        budget_owner: str | None = None,
    ) -> WebPlay:
        """Begin a play. Seats of friends get links, except those in ``friends``.

        ``budget_owner``: the caller whose share of threads and memory it uses.
        """
        kept = self._new(play_spec, kinds, owner, digest, friends or {})
        play = self._open(kept, game, play_spec, budget_owner)
        self._keep(partial(plays.begin, self._committer, kept))
        self._cache.put(play.id, play, budget_owner)
        play.start_bots()
        return play

    def find(self, name: str, budget_owner: str | None = None) -> WebPlay | None:
        """The game of an id; ``budget_owner`` loads it if it is not in memory."""
        known = self.cached(name)
        if known is not None:
            if self._several and plays.event_count(self._engine, name) > known.events:
                known.catch_up()  # the caller may have seen more in another process
            known.take_over()
            return known
        with self._locks[hash(name) % STRIPES]:  # two callers at once must get the same play
            known = self.cached(name)
            if known is not None:
                return known
            kept = plays.find(self._engine, name)
            if kept is None:
                return None
            play_spec = PlaySpec.from_json(kept.play_spec)
            play = self._open(kept, open_game(play_spec.game, play_spec.options), play_spec, budget_owner)
            self._cache.put(name, play, budget_owner)
        if plays.event_count(self._engine, name) > play.events:
            play.catch_up()  # announced while it was not in memory yet
        play.start_bots(elsewhere=self._several and _last_change(kept) > self._started)
        if self._several and play.participants.shared:
            self._tell_presence(name, ASK)
        return play

    def cached(self, name: str) -> WebPlay | None:
        """The play of an id if it is in memory; this counts as a use."""
        known = self._cache.get(name)
        return known if known is not None and not known.closed else None

    # Other processes

    def hear_event(self, subject: str) -> None:
        """Another process may have written an event; called by the listener."""
        name, origin, number = subject.split(" ")
        play = None if origin == self._origin else self._cache.peek(name)
        if play is not None and not play.closed and play.events < int(number):
            self._update(play)

    def hear_presence(self, subject: str) -> None:
        """Another process says who is present at a play, or asks; called by the listener."""
        name, origin, said = subject.split(" ")
        play = None if origin == self._origin else self._cache.peek(name)
        if play is None or play.closed:
            return
        if said == ASK:
            if play.participants.present:
                self.tell_presence(play)
        elif play.participants.hear(origin, frozenset(int(seat) for seat in said.split(",") if seat != NOBODY)):
            play.mark_changed()

    def look_again(self) -> None:
        """Bring all plays up to date: announcements may have been missed."""
        for play in self._cache.values():
            self._update(play)

    def tell_presence(self, play: WebPlay) -> None:
        """Tell other processes who is present at a play here."""
        if self._several and play.participants.shared:
            self._tell_presence(play.id, ",".join(map(str, sorted(play.participants.present))) or NOBODY)

    def beat(self) -> None:
        """Tell other processes again who is present here; forget those that say nothing."""
        for play in self._cache.values():
            if play.participants.shared and not play.closed:
                if play.participants.present:
                    self.tell_presence(play)
                if play.participants.forget_silent():
                    play.mark_changed()

    def _tell_presence(self, name: str, said: str) -> None:
        self._committer.submit(lambda connection: None, (PRESENCE, f"{name} {self._origin} {said}"))

    def _update(self, play: WebPlay) -> None:
        if play.id not in self._updating:
            self._updating.add(play.id)
            with suppress(RuntimeError):  # the server shuts down
                self._updates.submit(self._bring_up_to_date, play)

    def _bring_up_to_date(self, play: WebPlay) -> None:
        self._updating.discard(play.id)
        try:
            play.catch_up()
        except SQLAlchemyError:
            play.close()  # the next caller reads from the store

    # Reading and writing

    def record(self, play: WebPlay) -> plays.Json:
        """The record of a finished game, as stored."""
        play.check_clock()
        return plays.record_of(self._engine, play.id) or play.record()

    def lines(self, owner: str, most: int, before: int | None) -> list[plays.PlaySummary]:
        """The games that an account began."""
        return plays.lines_of(self._engine, owner, most, before)

    def join(self, link: str, called: str | None) -> JoinedSeat | None:
        """Take the seat of a link; None if the link is unknown or used."""
        found = plays.find_link(self._engine, link)
        play = None if found is None else self.find(found[0])
        if found is None or play is None:
            return None
        seat, key = found[1], plays.new_key()

        def write(number: int) -> FriendSeat:
            friend = play.participants.friends[seat]
            if friend.digest is not None:
                raise Conflict("somebody else has just taken this seat")
            return plays.take_seat(self._committer, self._origin, play.id, number, friend, key, called)

        play.join(write)
        return JoinedSeat(play, seat, key)

    def rematch(self, play: WebPlay, viewer: Viewer) -> None:
        """Offer a rematch with swapped seats; it begins once all people have offered it."""
        begun: list[WebPlay] = []

        def begin(number: int) -> PlayEvent:
            kept, again = self._again(play)
            event = plays.begin_rematch(self._committer, kept, self._origin, play.id, number)
            begun.append(again)
            return event

        play.rematch(viewer, begin)
        for again in begun:
            self._cache.put(again.id, again, again.budget_owner)
            again.start_bots()
            self._update(again)  # another process may have been quick

    def clear(self) -> None:
        """Close all plays in memory, so that waiting requests are answered."""
        self._cache.clear()

    def close(self) -> None:
        """Wait until everything is saved."""
        self._updates.shutdown(cancel_futures=True)
        self._committer.close()

    # Internal

    def _new(
        self,
        play_spec: PlaySpec,
        kinds: tuple[str, ...],
        owner: str | None,
        digest: str | None,
        friends: dict[int, FriendSeat],
    ) -> StoredPlay:
        seats = {seat: friends.get(seat) or plays.new_link(seat) for seat, kind in enumerate(kinds) if kind == FRIEND}
        return StoredPlay(self._cache.new_id(), owner, digest, play_spec.to_json(), kinds, seats, ())

    def _again(self, play: WebPlay) -> tuple[StoredPlay, WebPlay]:
        """The rematch, everybody one seat further; not stored yet."""
        was, participants = play.play_spec, play.participants
        count = play.game.seats
        specs = [was.bots[(seat + 1) % count] for seat in range(count)]
        names = [was.names[(seat + 1) % count] for seat in range(count)] if participants.shared else None
        kinds = tuple(participants.kinds[(seat + 1) % count] for seat in range(count))
        moved = {(seat - 1) % count: friend for seat, friend in participants.friends.items()}
        friends = {seat: FriendSeat(seat, None, one.digest, one.name) for seat, one in moved.items()}
        seed = new_secret()
        play_spec = make_play_spec(play.game, specs, str(was.conditions.clock), seed, [], names)
        kept = self._new(play_spec, kinds, participants.owner, participants.digest, friends)
        return kept, self._open(kept, play.game, play_spec, play.budget_owner)

    def _open(self, kept: StoredPlay, game: Game, play_spec: PlaySpec, budget_owner: str | None) -> WebPlay:
        participants = Participants(kept.kinds, kept.friends, kept.owner, kept.digest)
        journal = partial(plays.add, self._committer, self._origin, kept.id)
        load = partial(plays.find, self._engine, kept.id)
        known = game.id in self._compiled  # the first play of a game compiles for seconds: do not hold the lock
        with self._bot_pool.kernel_lock.held() if known else nullcontext():
            play = WebPlay(
                kept.id,
                game,
                play_spec,
                self._bot_pool,
                participants,
                journal,
                kept.events,
                load,
                self._turn_began(kept),
                budget_owner,
            )
        if not known:
            self._compiled.add(game.id)
            gc.freeze()  # the objects of a compiled game, 100,000 of them, are never garbage
        return play

    def _turn_began(self, kept: StoredPlay) -> int | None:
        """When the turn of a stored play began; None for now. The time that all processes were away is not charged."""
        last = _last_change(kept)
        return last if last > self._started else self._started if last and self._several else None

    def _keep(self, write: "partial[Written]") -> Written:
        """Save something; if the database fails, raise what the caller should see."""
        try:
            return write()
        except SQLAlchemyError as error:
            raise write_error(error) from error


def _last_change(kept: StoredPlay) -> int:
    """When a stored play began or had its last event; 0 if it is new."""
    return max((event.at for event in kept.events), default=kept.at)


def make_play_spec(
    game: Game,
    specs: list[str],
    clock: str | None,
    seed: int,
    opening: list[Any],
    names: list[str] | None = None,
    position: Any = None,
) -> PlaySpec:
    """The spec of a play on the page; ValueError says what does not fit."""
    if len(specs) != game.seats:
        raise ValueError(f"{game.id} has {game.seats} seats here, not {len(specs)}")
    if len(opening) > MAX_OPENING_PLIES:
        raise ValueError(f"an opening has at most {MAX_OPENING_PLIES} moves, not {len(opening)}")
    people = specs.count(PERSON)
    called = [
        ("You" if people == 1 else f"Player {seat + 1}") if spec == PERSON else spec for seat, spec in enumerate(specs)
    ]
    conditions = Conditions(FORFEIT, Clock.parse(clock or "none"))
    if conditions.clock.budget is not None or conditions.clock.fuel is not None:
        raise ValueError("on this page a clock is none, 10s, 30s+60s (with a bank) or 5m++3s (Fischer)")
    made = PlaySpec(game.id, game.options, tuple(specs), tuple(names or called), conditions, seed, tuple(opening))
    return made if position is None else replace(made, position=position)


# Fair play: no engine for people who play against people.


KEY_HEADER = "x-play-key"
RUNNING_SECONDS = 24 * 3600.0
"""A game between people counts as running for this long after its last move."""
MAX_SEATED, MAX_PLAYS_EACH = 50_000, 100
"""Callers that are remembered, and games of one game for each."""


class FairPlay:
    """Who sits at games between people: until such a game is over, the engine tells them nothing about that game.

    A caller is known by account, by the key of a seat and, without an account, by address. Who sits where is noted
    whenever somebody begins, joins, opens or plays such a game, in the database, where all web processes find it.
    """

    def __init__(self, engine: Engine, registry: PlayRegistry) -> None:
        self._registry = registry
        self._seated = SharedCache(engine, "seated", MAX_SEATED, RUNNING_SECONDS)
        self._lock = threading.Lock()

    def is_noted(self, connection: HTTPConnection, play: WebPlay, key: str | None) -> bool:
        """Whether ``note`` has nothing to write: quick, for the event loop."""
        if len(play.participants.people()) < 2 or play.snapshot.result is not None:
            return True
        return play.noted_callers.issuperset(_identities(connection, key))

    def note(self, connection: HTTPConnection, play: WebPlay, key: str | None) -> None:
        """Note that the caller holds a seat of a play. Not for the event loop: it may write to the database."""
        if self.is_noted(connection, play, key):
            return
        for identity in _identities(connection, key):
            name = digest_of(f"{play.game.id} {identity}")
            with self._lock:
                known = self._seated.get(name) or []
                if play.id not in known:
                    self._seated.put(name, [*known, play.id][-MAX_PLAYS_EACH:])
            play.noted_callers.add(identity)

    def check(self, connection: HTTPConnection, game: Game, state: Any = None) -> None:
        """Refuse a question to the engine about a game that the caller plays against a person now.

        ``state``: the position asked about. Where one caller holds the seats of all people, only positions of the play
        itself are refused, from its first move on.
        """
        for play, identity in self._running(connection, game.id):
            if play.participants.shared or (state is not None and _occurs(play, game, state)):
                raise Forbidden(_refusal(play, identity))

    def plays_against_people(self, connection: HTTPConnection, game_id: str) -> bool:
        """Whether the caller sits at a running game against a person."""
        return any(play.participants.shared for play, _ in self._running(connection, game_id))

    def check_bot(self, connection: HTTPConnection, game: Game, state: Any) -> None:
        """Refuse to let a bot move in the very position in which the caller plays against a person now."""
        for play, identity in self._running(connection, game.id):
            if play.participants.shared and _occurs(play, game, state, last=True):
                raise Forbidden(_refusal(play, identity))

    def _running(self, connection: HTTPConnection, game_id: str) -> list[tuple[WebPlay, str]]:
        found: dict[str, tuple[WebPlay, str]] = {}
        for identity in _identities(connection, connection.headers.get(KEY_HEADER), asks=True):
            for name in self._seated.get(digest_of(f"{game_id} {identity}")) or ():
                play = None if name in found else self._registry.find(name)
                if play is not None and _is_running(play):
                    found[name] = play, identity
        return list(found.values())


def _identities(connection: HTTPConnection, key: str | None, asks: bool = False) -> list[str]:
    """What a caller is known by. The address of somebody who ``asks`` counts only if they have no account."""
    who = getattr(connection.state, "caller", None)
    account = None if who is None else who.account
    known = [] if account is None else [f"account {account}"]
    if key is not None:
        known.append(f"key {digest_of(key)}")
    if account is None or not asks:
        known.append(address_key(client_address(connection)))
    return known


def _is_running(play: WebPlay) -> bool:
    play.check_clock()
    idle = time.perf_counter() - play.snapshot.asked
    return play.snapshot.result is None and not play.participants.missing and idle < RUNNING_SECONDS


def _occurs(play: WebPlay, game: Game, state: Any, last: bool = False) -> bool:
    """Whether a position, as people see it, is one of a play after its first move, or its last position."""
    if play.game.options != game.options:
        return False
    position, snapshot = game.render(game.decode(game.encode(state))), play.snapshot
    first = snapshot.length if last else len(play.play_spec.opening) + 1
    numbers = range(first, snapshot.length + 1)
    return any(game.render(game.decode(snapshot.at(game, number)[0])) == position for number in numbers)


def _refusal(play: WebPlay, identity: str) -> str:
    title, game_id = find_entry(play.game.id).title, play.game.id
    if identity.startswith("from "):
        return (
            f"somebody at your address is playing {title} against a person: until that game is over, the engine says "
            f"nothing about {title} to guests from there"
        )
    return (
        f"you are playing {title} against a person: until that game is over, the engine says nothing about {title} "
        f"(/{game_id}/plays/{play.id})"
    )
