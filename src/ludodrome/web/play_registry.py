"""The games of the page: in memory while somebody looks at them, in the store for good.

Whatever happens is in the store before anybody is told. A game that is not in memory is read from its events: after a
restart it goes on where it was.
"""

import gc
import secrets
import threading
from contextlib import nullcontext
from functools import partial
from typing import NamedTuple, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from ludodrome.arena.play_spec import PlaySpec
from ludodrome.game import Game
from ludodrome.store import plays
from ludodrome.store.group_commit import GroupCommitter
from ludodrome.store.plays import FRIEND, FriendSeat, StoredPlay
from ludodrome.web.errors import Conflict, Forbidden, write_error
from ludodrome.web.lru_cache import LruCache
from ludodrome.web.play import BotPool, Participants, Viewer, WebPlay, make_play_spec
from ludodrome.web.position_view import open_game

MAX_PLAYS = 1000
"""So many games are in memory at once ..."""
KEEP_SECONDS = 3600.0
"""... and so long untouched."""
SEED_BITS = 48
Written = TypeVar("Written")
STRIPES = 64


class JoinedSeat(NamedTuple):
    """Somebody who has taken a seat."""

    play: WebPlay
    seat: int
    key: str


class PlayRegistry:
    """All games of the page. May be used from any thread."""

    def __init__(self, engine: Engine, staff: BotPool) -> None:
        self._engine, self._staff = engine, staff
        self._committer = GroupCommitter(engine)
        self._shelf = LruCache[WebPlay](MAX_PLAYS, KEEP_SECONDS, WebPlay.close)
        self._compiled: set[str] = set()
        self._locks = [threading.Lock() for _ in range(STRIPES)]

    def __len__(self) -> int:
        return len(self._shelf)

    def begin(
        self,
        game: Game,
        assignment: PlaySpec,
        kinds: tuple[str, ...],
        owner: str | None,
        digest: str | None = None,
        friends: dict[int, FriendSeat] | None = None,
    ) -> WebPlay:
        """A new game. Friends' seats get links, unless it is said who holds them."""
        held = friends or {}
        seats = {seat: held.get(seat) or plays.new_link(seat) for seat, kind in enumerate(kinds) if kind == FRIEND}
        kept = StoredPlay(self._shelf.new_id(), owner, digest, assignment.to_json(), kinds, seats, ())
        play = self._made(kept, game, assignment)
        self._keep(partial(plays.begin, self._committer, kept))
        self._shelf.put(play.id, play)
        play.wake()
        return play

    def find(self, name: str) -> WebPlay | None:
        """The game of an id."""
        known = self.at_hand(name)
        if known is not None:
            return known
        with self._locks[hash(name) % STRIPES]:  # two who ask at once must get the same one
            known = self.at_hand(name)
            if known is not None:
                return known
            kept = plays.find(self._engine, name)
            if kept is None:
                return None
            assignment = PlaySpec.from_json(kept.assignment)
            play = self._made(kept, open_game(assignment.game, assignment.options), assignment)
            self._shelf.put(name, play)
        play.wake()
        return play

    def at_hand(self, name: str) -> WebPlay | None:
        """The game of an id if it is in memory, where it stays for a while: somebody still looks at it."""
        known = self._shelf.find(name)
        return known if known is not None and not known.closed else None

    def record(self, play: WebPlay) -> plays.Json:
        """The record of a finished game, as it was kept."""
        play.look_at_clock()
        return plays.record_of(self._engine, play.id) or play.record()

    def lines(self, owner: str, most: int, before: int | None) -> list[plays.PlaySummary]:
        """The games that an account began."""
        return plays.lines_of(self._engine, owner, most, before)

    def join(self, link: str, called: str | None) -> JoinedSeat | None:
        """Somebody takes the seat of a link; None if the link leads nowhere, or not any more."""
        found = plays.find_link(self._engine, link)
        play = None if found is None else self.find(found[0])
        if found is None or play is None:
            return None
        seat, key = found[1], plays.new_key()

        def write(number: int) -> FriendSeat:
            friend = play.company.friends[seat]
            if friend.digest is not None:
                raise Conflict("somebody else has just taken this seat")
            return self._keep(partial(plays.take_seat, self._committer, play.id, number, friend, key, called))

        play.join(write)
        return JoinedSeat(play, seat, key)

    def rematch(self, play: WebPlay, watcher: Viewer) -> None:
        """Somebody wants the same again, with the seats changed; it begins when all people want it."""
        company = play.company
        play.look_at_clock()
        with play.lock:
            if play.scene.result is None:
                raise Conflict("a rematch is for when the game is over")
            if not watcher.seats:
                raise Forbidden("you are looking on: no seat here is yours")
            company.offers |= watcher.seats
            if company.next is None and company.offers >= company.people():
                company.next = self._again(play).id
        play.stir()

    def clear(self) -> None:
        """Nobody is served any more: whoever waits goes home."""
        self._shelf.clear()

    def close(self) -> None:
        """Everything is written."""
        self._committer.close()

    # Underneath

    def _again(self, play: WebPlay) -> WebPlay:
        """The same game with everybody one seat further."""
        was, company = play.assignment, play.company
        count = play.game.seats
        specs = [was.bots[(seat + 1) % count] for seat in range(count)]
        names = [was.names[(seat + 1) % count] for seat in range(count)] if company.shared else None
        kinds = tuple(company.kinds[(seat + 1) % count] for seat in range(count))
        moved = {(seat - 1) % count: friend for seat, friend in company.friends.items()}
        friends = {seat: FriendSeat(seat, None, one.digest, one.name) for seat, one in moved.items()}
        seed = secrets.randbits(SEED_BITS)
        assignment = make_play_spec(play.game, specs, str(was.conditions.clock), seed, [], names)
        return self.begin(play.game, assignment, kinds, company.owner, company.digest, friends)

    def _made(self, kept: StoredPlay, game: Game, assignment: PlaySpec) -> WebPlay:
        company = Participants(kept.kinds, kept.friends, kept.owner, kept.digest)
        journal = partial(plays.add, self._committer, kept.id)
        known = game.id in self._compiled  # a first game is compiled for seconds, and others go on meanwhile
        with self._staff.floor.taken() if known else nullcontext():
            play = WebPlay(kept.id, game, assignment, self._staff, company, journal, kept.events)
        if not known:
            self._compiled.add(game.id)
            gc.freeze()  # a compiled game is a hundred thousand objects that are never garbage
        return play

    def _keep(self, write: "partial[Written]") -> Written:
        """Something is written down; if it cannot be, it has not happened."""
        try:
            return write()
        except SQLAlchemyError as error:
            raise write_error(error) from error
