"""A play on the page: people and bots before a referee, with undo, clocks and resigning.

The referee judges; a play decides whom to ask, when, and what to show. Every event goes to a journal first and counts
once the journal has saved it. Bots think in threads: their kernels release the GIL, so the server stays responsive.

Several web processes may have the same play in memory. Each writes events under their numbers, which are unique, so one
of two that write at once fails: it reloads the play and tries again. Each applies the events of the others in place
(``catch_up``). The process that wrote the last event lets the bot think.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from typing import Any

from fastapi.concurrency import run_in_threadpool
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.seats import ARENA, TIMEOUT, Answer, Seat, SeatFault, Turn
from ludodrome.game import Game
from ludodrome.store.models import now_ms
from ludodrome.store.plays import JOIN, OFFER, FriendSeat, PlayEnd, PlayEvent, StoredPlay
from ludodrome.web.bot_pool import BotPool
from ludodrome.web.play_state import AGREE, BESIDE, DRAW, FAULT, PROPOSE, RESIGN, UNDO, Participants, PlayState, Viewer
from ludodrome.web.position_view import Json
from ludodrome.web.programs import canonical
from ludodrome.web.remote_opponents import BotUnavailable, remote_bot
from ludodrome.web.responses import Conflict, Forbidden, write_error

MAX_CONFLICTS = 5
"""How often an action is tried again because another process was first."""
TAKEOVER_SECONDS = 15.0
"""Seconds after which a bot that another process lets think is asked here: that process may have died."""

Journal = Callable[[int, PlayEvent, PlayEnd | None], "Future[None]"]
"""Saves the event of a number, and the end of the play if it has one; the future completes once it is durable."""
Load = Callable[[int], StoredPlay | None]
"""Reads the play with the events from a number on."""


class Outdated(Exception):
    """Another process has written an event of this number first."""


def _null_journal(number: int, event: PlayEvent, end: PlayEnd | None) -> "Future[None]":
    """The journal of a play that is not stored."""
    done: Future[None] = Future()
    done.set_result(None)
    return done


class WebPlay(PlayState):
    """A play in progress. All methods are thread-safe; ``view`` takes no lock."""

    def __init__(
        self,
        name: str,
        game: Game,
        play_spec: PlaySpec,
        bot_pool: BotPool,
        participants: Participants | None = None,
        journal: Journal = _null_journal,
        events: Iterable[PlayEvent] = (),
        load: Load = lambda number: None,
        at: int | None = None,
        budget_owner: str | None = None,
    ) -> None:
        """``at``: when the turn began, in milliseconds; default: now."""
        super().__init__(name, game, play_spec, participants, events)
        self.closed = False
        self.lock = threading.Lock()
        self._bot_pool = bot_pool
        self.budget_owner = budget_owner
        """The caller whose share the bots and the memory of this play use; None without limits."""
        self._journal, self._load = journal, load
        self._bot_lock = threading.Lock()
        """Held while a bot thinks: after an undo it must not be asked twice at once."""
        self._stale = False
        """Whether memory is ahead of the store, because an event could not be written."""
        self._takeover: float | None = None
        """When a bot is asked here that another process lets think."""
        self._asking: Turn | None = None
        """The last turn about which a bot was to be asked here."""
        self._remote = {seat: found for seat, spec in enumerate(play_spec.bots) if (found := remote_bot(spec))}
        self._publish(_since(at))
        self._compile_move_path()
        if self._remote:
            bot_pool.remote.watch(self)

    def start_bots(self, elsewhere: bool = False) -> None:
        """Let a bot that is to move think, now that the play can be found.

        ``elsewhere``: another process may do that already; ask it only if no move comes.
        """
        with self.lock:
            if elsewhere:
                self._expect_bot()
                return
            self._ask()
            begins = self._referee.turn is not None and not self._played
            asked = None if self._asking is None else self._asking.seat
        for seat, remote in self._remote.items():
            if begins and seat != asked:  # it takes its place at once
                self.hold_up(seat, self._bot_pool.remote.reserve(self.id, remote, self.budget_owner))

    def look_after_bots(self) -> None:
        """Ask a remote bot that could not be asked, once it can be; tell viewers why it cannot be. Not for the loop."""
        if self.closed or self.snapshot.result is not None or not self.is_watched:
            return
        turn = self._bot_turn()
        mover = None if turn is None else turn.seat
        for seat, remote in sorted(self._remote.items(), key=lambda one: one[0] == mover):
            why = self._bot_pool.remote.obstacle(self.id, remote, self.budget_owner, waiting=seat == mover)
            if seat != mover or why is not None or self._asking is turn:
                self.hold_up(seat, why)
            else:
                with self.lock:
                    self._catch_up()
                    if self._bot_turn() is not self._asking:
                        self._ask()

    def seconds_to_takeover(self) -> float | None:
        """Seconds until a bot is asked here that another process lets think; None if there is none."""
        moment = self._takeover
        return None if moment is None else max(0.0, moment - time.perf_counter())

    def take_over(self) -> None:
        """Ask a bot that another process should have asked, if its time is over. Not for the event loop."""
        if self.seconds_to_takeover() == 0:
            with self.lock:
                self._catch_up()
                if self.seconds_to_takeover() == 0:
                    self._ask()

    def catch_up(self) -> None:
        """Apply the events that other processes have written. Not for the event loop."""
        with self.lock:
            if not self.closed:
                self._catch_up()

    def move(self, move: Any, seats: frozenset[int], seen: int | None = None) -> None:
        """Make a move for a holder of ``seats``. An illegal move is refused and costs nothing.

        ``seen`` is the version in which the move was chosen.
        """

        def work() -> None:
            self._check_clock()
            self._commit(*self._moved(move, seats, seen))

        with self.lock, self._bot_pool.kernel_lock.held():
            self._settle(work)

    async def move_async(self, move: Any, seats: frozenset[int], seen: int | None = None) -> None:
        """``move`` for coroutines: on the event loop if it is quick and the lock is free, else in a thread."""
        quick = self.game.actions_a_turn == 1 and self.seconds_left_to_move() != 0
        if quick and self.lock.acquire(blocking=False):
            done = await asyncio.shield(self._move_on_loop(move, seats, seen))  # finished even if the client leaves
        else:
            done = False
        if not done:
            await run_in_threadpool(self.move, move, seats, seen)

    async def _move_on_loop(self, move: Any, seats: frozenset[int], seen: int | None) -> bool:
        """Make a move on the event loop. The lock is held, and released at the end.

        False if it was not made: another process was first, or may have been.
        """
        try:
            if self._stale:
                return False
            try:
                event, end = self._moved(move, seats, seen)
            except ValueError:  # it may be right in a position that only the store knows yet
                return False
            try:
                await asyncio.wrap_future(self._journal(self._events, event, end))
            except IntegrityError:
                self._stale = True
                return False
            except SQLAlchemyError as error:
                self._stale = True
                self.close()
                raise write_error(error) from error
            self._after_commit(event)
            return True
        finally:
            self.lock.release()

    def _settle(self, work: Callable[[], None]) -> None:
        """Do something as if all other processes had been first. The lock is held."""
        for _ in range(MAX_CONFLICTS):
            if self._stale:
                self._reload()
            try:
                work()
            except Outdated:
                continue
            except ValueError:  # a refusal: is the position here the last one?
                if self.closed or not self._catch_up():
                    raise
                continue
            return
        raise Conflict("the game has changed meanwhile; load it again")

    def _moved(self, move: Any, seats: frozenset[int], seen: int | None) -> tuple[PlayEvent, PlayEnd | None]:
        """Apply the move of a person without saving it yet. The lock is held."""
        turn = self._referee.turn
        if turn is None:
            raise Conflict("the game is over")
        self._check_turn(turn.seat, seats)
        if seen is not None and seen != self.version:
            raise Conflict("the position has changed since this move was made")
        listed = type(move) is str and move in (self.snapshot.position(self.game, None)["legal"] or ())
        read = move if listed or type(move) is not str else self.game.parse_move(move, self._referee.state)
        self.game.apply_to(self._now.copy(), read)
        return self._deliver(Answer(time.perf_counter() - self._asked, read))

    def resign(self, seats: frozenset[int], seat: int | None = None) -> None:
        """Resign for ``seat``; default: the seat to move, or the only one held."""

        def work() -> None:
            self._check_clock()
            if self._referee.result is not None:
                raise Conflict("the game is over")
            chosen = seat if seat is not None else self._own_seat(seats)
            if chosen is None or chosen not in seats:
                raise Forbidden("you can only resign for a seat of yours")
            self._end(PlayEvent(RESIGN, {"seat": chosen, "seconds": self._seconds_of_turn()}))

        with self.lock:
            self._settle(work)

    def undo(self, viewer: Viewer) -> None:
        """Return to the last decision of a person. Not in plays with friends."""

        def work() -> None:
            if not viewer.owner or self.participants.shared:
                refusal = Conflict if viewer.seats else Forbidden
                raise refusal("only the owner of a game without friends can undo moves")
            self._check_clock()
            keep = self._undo_to()
            if keep is None:
                raise Conflict("there is no move to undo")
            self._return_to(keep)

        with self.lock:
            self._settle(work)

    def _return_to(self, keep: int) -> None:
        """Undo all but the first ``keep`` moves after the opening. The lock is held."""
        over = self._referee.result is not None
        event = PlayEvent(UNDO, {"keep": keep})
        self._replay_event(event, counted=False)
        self._rebuild()
        self._commit(event, PlayEnd(None) if over else None)

    def propose(self, viewer: Viewer, offer: str | None) -> None:
        """Offer the other people a draw or a takeback; if they offer it already, agree. None declines what is offered.

        A takeback returns to the last decision of the one who offered it first.
        """

        def work() -> None:
            self._check_clock()
            self._check_proposal(viewer, offer)
            proposals, others = self.participants.proposals, self.participants.people() - viewer.seats
            if offer is None or any(proposals.get(seat) != offer for seat in others):
                event = PlayEvent(PROPOSE, {"seats": sorted(viewer.seats), "offer": offer})
                self._replay_event(event, counted=False)
                self._commit(event, None)
            elif offer == DRAW:
                self._end(PlayEvent(AGREE, {"seconds": self._seconds_of_turn()}))
            else:
                keep = self._takeback_to([*proposals, *viewer.seats][:1])
                assert keep is not None
                self._return_to(keep)

        with self.lock:
            self._settle(work)
        self.mark_changed()

    def rematch(self, viewer: Viewer, begin: Callable[[int], PlayEvent]) -> None:
        """Offer a rematch; once all people have offered it, ``begin`` writes it as the event of a number."""

        def work() -> None:
            self._check_clock()
            if self._referee.result is None:
                raise Conflict("a rematch begins once the game is over")
            if not viewer.seats:
                raise Forbidden("you are watching: none of the seats is yours")
            participants = self.participants
            if not viewer.seats <= participants.offers:
                event = PlayEvent(OFFER, {"seats": sorted(viewer.seats)})
                self._replay_event(event, counted=False)
                self._commit(event, None)
            if participants.next is None and participants.offers >= participants.people():
                self._write(begin)

        with self.lock:
            self._settle(work)
        self.mark_changed()

    def _write(self, write: Callable[[int], PlayEvent]) -> None:
        """Let ``write`` save the event of the next number, and apply it. The lock is held."""
        try:
            event = write(self._events)
        except IntegrityError as error:
            self._stale = True
            raise Outdated from error
        except SQLAlchemyError as error:
            raise write_error(error) from error
        self._replay_event(event)

    def record(self) -> Json:
        """The record of the finished game."""
        with self.lock:
            self._settle(self._check_clock)
            if self._referee.result is None:
                raise Conflict("a game has a record once it is over")
            return self._referee.record()

    def check_clock(self) -> None:
        """End the game if the clock of the person to move has run out. Not for the event loop: it may wait."""
        if self.seconds_left_to_move() == 0:
            with self.lock:
                self._settle(self._check_clock)

    def _check_clock(self) -> None:
        """The lock is held."""
        if self.seconds_left_to_move() == 0:
            why = {"cause": TIMEOUT, "why": "no answer came in time"}
            self._end(PlayEvent(FAULT, {"seconds": time.perf_counter() - self._asked, **why}))

    def join(self, write: Callable[[int], FriendSeat]) -> None:
        """Fill a seat: ``write`` saves that as the event of a number. The play starts when all seats are taken."""

        def take(number: int) -> PlayEvent:
            friend = write(number)
            self.participants.friends[friend.seat] = friend
            return PlayEvent(JOIN, {"seat": friend.seat})

        def work() -> None:
            self._write(take)
            self._publish()
            self._ask()

        with self.lock:
            self._settle(work)
        self.notifier.notify_all()

    def close(self) -> None:
        """Leave memory: viewers must open the play again."""
        self.closed = True
        self._bot_pool.programs.end(self.id, self.game.seats)
        if self._remote:
            self._bot_pool.remote.end(self.id, self._referee.match, self.game.seats)
        self.notifier.notify_all()

    # The past: events

    def _catch_up(self) -> bool:
        """Apply the events that other processes have written; whether there are any. The lock is held."""
        if self._stale:
            self._reload()
            return True
        kernel_lock = self._bot_pool.kernel_lock
        with kernel_lock.released():
            found = self._load(self._events)
        if found is None or not found.events:
            return False
        with kernel_lock.held():
            self._take_friends(found)
            self._apply(found.events)
            self._show_stored(found)
        return True

    def _reload(self) -> None:
        """Read the play again: memory is ahead of the store. The lock is held."""
        kernel_lock = self._bot_pool.kernel_lock
        with kernel_lock.released():
            found = self._load(0)
        if found is None:
            self.close()
            raise Conflict("the game has changed meanwhile; load it again")
        with kernel_lock.held():
            self.participants.offers, self.participants.next = set(), None
            self.participants.proposals = {}
            self._take_friends(found)
            self._replay_all(found.events)
            self._rebuild()
            self._stale = False
            self._show_stored(found)

    def _take_friends(self, found: StoredPlay) -> None:
        self.participants.friends.update(found.friends)

    def _show_stored(self, found: StoredPlay) -> None:
        """Publish events of other processes."""
        times = [event.at for event in found.events if event.kind not in BESIDE]
        if times:
            self._publish(_since(times[-1]))
            self._expect_bot()
        self.mark_changed()

    # The present: moves and ends

    def _end(self, event: PlayEvent) -> None:
        """End the game by an event that is not a move. The lock is held."""
        self._end_event = event
        self._finish(event)
        self._commit(event, PlayEnd(self._referee.record()))

    def _commit(self, event: PlayEvent, end: PlayEnd | None) -> None:
        """Save an event, then publish it. The lock is held."""
        try:
            with self._bot_pool.kernel_lock.released():
                self._journal(self._events, event, end).result()
        except IntegrityError as error:
            self._stale = True
            raise Outdated from error
        except SQLAlchemyError as error:
            self._stale = True
            self.close()  # memory is ahead of the store: the next caller reads from the store
            raise write_error(error) from error
        self._after_commit(event)

    def _after_commit(self, event: PlayEvent) -> None:
        self._count(event)
        if event.kind not in BESIDE:
            self._publish()
            self._ask()
            if self._referee.result is not None:
                self._bot_pool.programs.end(self.id, self.game.seats)
                if self._remote:
                    self._held_up.clear()
                    self._bot_pool.remote.end(self.id, self._referee.match, self.game.seats, self._referee.result)
        self.notifier.notify_all()

    # Bots

    def _ask(self) -> None:
        """Let the bot that is to move think here."""
        self._takeover = None
        self._asking = turn = self._bot_turn()
        if turn is not None:
            self._bot_pool.queue.submit(self.budget_owner, partial(self._think, turn))

    def _expect_bot(self) -> None:
        """Wait for the move of a bot that another process lets think."""
        self._takeover = None if self._bot_turn() is None else self._asked + TAKEOVER_SECONDS

    def _bot_turn(self) -> Turn | None:
        """The turn of a bot that is to move."""
        turn = self._referee.turn
        idle = self.closed or bool(self.participants.missing)
        return None if turn is None or idle or self.participants.is_person(turn.seat) else turn

    def _think(self, turn: Turn) -> None:
        """Runs in a thread: make the move of a bot, unless the position has changed meanwhile."""
        with self._bot_lock:
            if self._referee.turn is not turn or self.closed:
                return
            try:
                answer = canonical(self._bot(turn).ask(turn), self.game, self._referee.state)
                self.hold_up(turn.seat, None)
            except BotUnavailable as error:
                self.hold_up(turn.seat, error.why)
                self._asking = None
                return
            except Exception as error:
                answer = Answer(0.0, fault=SeatFault(ARENA, f"the bot could not be created: {error}"))
        with self.lock, self._bot_pool.kernel_lock.held():
            if self._referee.turn is turn and not self.closed and not self._stale:
                try:
                    self._commit(*self._deliver(answer))
                except Outdated:  # the position has changed in another process
                    self._reload()

    def _bot(self, turn: Turn) -> Seat:
        seat, name = turn.seat, f"{self.id} {turn.seat}"
        if seat in self._remote:
            found = self._bot_pool.remote.seat(name, self._referee, turn, self.budget_owner)
            if seat in self._held_up:
                with self.lock, self._bot_pool.kernel_lock.held():
                    if self._referee.turn is turn:
                        self._publish()  # its clock runs from now on
                self.hold_up(seat, None)
            return found
        return self._bot_pool.seat(name, self._referee, turn, self.budget_owner)


def _since(at: int | None) -> float | None:
    """A time in milliseconds since 1970 on the clock of ``time.perf_counter``."""
    return None if at is None else time.perf_counter() - max(0, now_ms() - at) / 1000
