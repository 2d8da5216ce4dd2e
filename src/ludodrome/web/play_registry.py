"""All plays of the page: cached in memory while they are in use, stored for good.

Every event is saved before anybody sees it. A play that is not in memory is rebuilt from its events, also after a
restart.
"""

import gc
import threading
from contextlib import nullcontext
from functools import partial
from typing import NamedTuple, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.seeds import new_secret
from ludodrome.game import Game
from ludodrome.store import plays
from ludodrome.store.group_commit import GroupCommitter
from ludodrome.store.plays import FRIEND, FriendSeat, StoredPlay
from ludodrome.web.lru_cache import LruCache
from ludodrome.web.play import BotPool, WebPlay, make_play_spec
from ludodrome.web.play_state import Participants, Viewer
from ludodrome.web.position_view import open_game
from ludodrome.web.responses import Conflict, Forbidden, write_error

MAX_PLAYS = 1000
"""Plays in memory at once."""
KEEP_SECONDS = 3600.0
"""Seconds that an unused entry stays in memory."""
Written = TypeVar("Written")
STRIPES = 64


class JoinedSeat(NamedTuple):
    """A seat that was just taken."""

    play: WebPlay
    seat: int
    key: str


class PlayRegistry:
    """All plays of the page. Thread-safe."""

    def __init__(self, engine: Engine, bot_pool: BotPool) -> None:
        self._engine, self._bot_pool = engine, bot_pool
        self._committer = GroupCommitter(engine)
        self._cache = LruCache[WebPlay](MAX_PLAYS, KEEP_SECONDS, WebPlay.close)
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
    ) -> WebPlay:
        """Begin a play. Seats of friends get links, except those in ``friends``."""
        held = friends or {}
        seats = {seat: held.get(seat) or plays.new_link(seat) for seat, kind in enumerate(kinds) if kind == FRIEND}
        kept = StoredPlay(self._cache.new_id(), owner, digest, play_spec.to_json(), kinds, seats, ())
        play = self._open(kept, game, play_spec)
        self._keep(partial(plays.begin, self._committer, kept))
        self._cache.put(play.id, play)
        play.start_bots()
        return play

    def find(self, name: str) -> WebPlay | None:
        """The game of an id."""
        known = self.cached(name)
        if known is not None:
            return known
        with self._locks[hash(name) % STRIPES]:  # two callers at once must get the same play
            known = self.cached(name)
            if known is not None:
                return known
            kept = plays.find(self._engine, name)
            if kept is None:
                return None
            play_spec = PlaySpec.from_json(kept.play_spec)
            play = self._open(kept, open_game(play_spec.game, play_spec.options), play_spec)
            self._cache.put(name, play)
        play.start_bots()
        return play

    def cached(self, name: str) -> WebPlay | None:
        """The play of an id if it is in memory; this counts as a use."""
        known = self._cache.get(name)
        return known if known is not None and not known.closed else None

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
            return self._keep(partial(plays.take_seat, self._committer, play.id, number, friend, key, called))

        play.join(write)
        return JoinedSeat(play, seat, key)

    def rematch(self, play: WebPlay, viewer: Viewer) -> None:
        """Offer a rematch with swapped seats; it begins once all people have offered it."""
        participants = play.participants
        play.check_clock()
        with play.lock:
            if play.snapshot.result is None:
                raise Conflict("a rematch begins once the game is over")
            if not viewer.seats:
                raise Forbidden("you are watching: none of the seats is yours")
            participants.offers |= viewer.seats
            if participants.next is None and participants.offers >= participants.people():
                participants.next = self._again(play).id
        play.mark_changed()

    def clear(self) -> None:
        """Close all plays in memory, so that waiting requests are answered."""
        self._cache.clear()

    def close(self) -> None:
        """Wait until everything is saved."""
        self._committer.close()

    # Internal

    def _again(self, play: WebPlay) -> WebPlay:
        """Begin the rematch, everybody one seat further."""
        was, participants = play.play_spec, play.participants
        count = play.game.seats
        specs = [was.bots[(seat + 1) % count] for seat in range(count)]
        names = [was.names[(seat + 1) % count] for seat in range(count)] if participants.shared else None
        kinds = tuple(participants.kinds[(seat + 1) % count] for seat in range(count))
        moved = {(seat - 1) % count: friend for seat, friend in participants.friends.items()}
        friends = {seat: FriendSeat(seat, None, one.digest, one.name) for seat, one in moved.items()}
        seed = new_secret()
        play_spec = make_play_spec(play.game, specs, str(was.conditions.clock), seed, [], names)
        return self.begin(play.game, play_spec, kinds, participants.owner, participants.digest, friends)

    def _open(self, kept: StoredPlay, game: Game, play_spec: PlaySpec) -> WebPlay:
        participants = Participants(kept.kinds, kept.friends, kept.owner, kept.digest)
        journal = partial(plays.add, self._committer, kept.id)
        known = game.id in self._compiled  # the first play of a game compiles for seconds: do not hold the lock
        with self._bot_pool.kernel_lock.held() if known else nullcontext():
            play = WebPlay(kept.id, game, play_spec, self._bot_pool, participants, journal, kept.events)
        if not known:
            self._compiled.add(game.id)
            gc.freeze()  # the objects of a compiled game, 100,000 of them, are never garbage
        return play

    def _keep(self, write: "partial[Written]") -> Written:
        """Save something; if the database fails, raise what the caller should see."""
        try:
            return write()
        except SQLAlchemyError as error:
            raise write_error(error) from error
