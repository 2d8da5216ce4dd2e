"""The state of a play: who takes part (``Participants``), and what its events say (``PlayState``)."""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple

from ludodrome.arena.play_spec import PlaySpec, start_state
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import Answer, SeatFault
from ludodrome.game import Game
from ludodrome.store.plays import FRIEND, JOIN, OFFER, REMATCH, FriendSeat, PlayEnd, PlayEvent, digest_of
from ludodrome.web.concurrency import Notifier
from ludodrome.web.position_view import Json, Snapshot, count_open_moves, pack_position
from ludodrome.web.remote_opponents import sentence
from ludodrome.web.responses import Conflict, Forbidden

# Participants. The store keeps the seats of friends and offers of a rematch; presence lives as long as the server.


VIEWED_SECONDS = 60.0
"""Seconds after its last view for which a play counts as watched."""
SILENT_SECONDS = 30.0
"""Seconds after which a web process that says nothing about presence is forgotten."""
PERSON, BOT = "person", "bot"
"""Kinds of seats, besides ``friend``. A ``person`` is at the screen of the owner; records call both ``person``."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who looks at a play: the seats they hold, and whether they own it."""

    seats: frozenset[int] = frozenset()
    owner: bool = False


class Participants:
    """The seats of a play, who holds them, and who is present."""

    def __init__(
        self, kinds: tuple[str, ...], friends: dict[int, FriendSeat], owner: str | None, digest: str | None
    ) -> None:
        self.kinds = kinds
        self.friends = dict(friends)
        self.owner = owner
        self.digest = digest
        """Digest of the key of an owner without an account."""
        self.offers: set[int] = set()
        """Seats that offer a rematch."""
        self.proposals: dict[int, str] = {}
        """Seats that offer a draw or a takeback, the first one first."""
        self.next: str | None = None
        """Id of the rematch."""
        self._here: Counter[int] = Counter()
        self._elsewhere: dict[str, tuple[frozenset[int], float]] = {}
        """By web process: the seats that are present there, and when that was heard."""

    @property
    def missing(self) -> list[int]:
        """Seats that nobody has taken yet; the game has not started."""
        return [seat for seat, friend in self.friends.items() if friend.digest is None]

    @property
    def shared(self) -> bool:
        """Whether people at different screens play."""
        return FRIEND in self.kinds

    def is_person(self, seat: int) -> bool:
        """Whether a person plays this seat, here or by link."""
        return self.kinds[seat] != BOT

    def people(self) -> frozenset[int]:
        """The seats that people play."""
        return frozenset(seat for seat in range(len(self.kinds)) if self.is_person(seat))

    def viewer(self, account: str | None, key: str | None) -> Viewer:
        """The viewer with this account or key. A key takes precedence over the account."""
        own = frozenset(seat for seat, kind in enumerate(self.kinds) if kind == PERSON)
        if key is None:
            return Viewer(own, True) if account is not None and account == self.owner else Viewer()
        digest = digest_of(key)
        if self.digest == digest:
            return Viewer(own, True)
        return Viewer(frozenset(seat for seat, friend in self.friends.items() if friend.digest == digest))

    def described(self, seat: int, viewer: Viewer) -> Json:
        """A seat as a viewer may see it."""
        friend = self.friends.get(seat)
        link = friend.link if friend is not None and viewer.owner else None
        return {
            "kind": self.kinds[seat],
            "person": self.is_person(seat),
            "yours": seat in viewer.seats,
            "taken": friend is None or friend.digest is not None,
            "here": not self.is_person(seat) or self._here[seat] > 0 or self._is_elsewhere(seat),
            "link": None if link is None else f"/join/{link}",
            "offers": seat in self.offers,
            "proposes": self.proposals.get(seat),
        }

    def apply_proposal(self, seats: Sequence[int], offer: str | None) -> None:
        """Seats offer something to the others; None: they decline what is offered, or withdraw what they offered."""
        if offer is None:
            self.proposals.clear()
        else:
            self.proposals.update(dict.fromkeys(seats, offer))

    def lapse(self, mover: int | None) -> None:
        """Forget what is offered, after a move of ``mover`` or a change of the position (None).

        A draw that somebody offers with a move stays open for the others.
        """
        kept = mover is not None and self.proposals.get(mover) == DRAW
        self.proposals = {mover: DRAW} if kept and mover is not None else {}

    def arrive(self, viewer: Viewer) -> bool:
        """Count a viewer as present; returns whether the presence of a seat has changed."""
        return self._count(viewer, 1)

    def leave(self, viewer: Viewer) -> bool:
        """Count a viewer as gone; returns whether the presence of a seat has changed."""
        return self._count(viewer, -1)

    @property
    def present(self) -> list[int]:
        """The seats that are present in this process."""
        return [seat for seat, count in self._here.items() if count > 0]

    def hear(self, process: str, seats: frozenset[int]) -> bool:
        """The seats that are present in another process; returns whether that is news."""
        before = self._elsewhere.get(process)
        self._elsewhere[process] = seats, time.monotonic()
        return (frozenset() if before is None else before[0]) != seats

    def forget_silent(self) -> bool:
        """Forget processes that have been silent; returns whether somebody was present there."""
        silent = [name for name, (_, at) in self._elsewhere.items() if time.monotonic() - at > SILENT_SECONDS]
        gone = [self._elsewhere.pop(name)[0] for name in silent]
        return any(gone)

    def _is_elsewhere(self, seat: int) -> bool:
        return any(seat in seats for seats, _ in list(self._elsewhere.values()))

    def _count(self, viewer: Viewer, step: int) -> bool:
        before = [self._here[seat] > 0 for seat in viewer.seats]
        for seat in viewer.seats:
            self._here[seat] += step
        return self.shared and before != [self._here[seat] > 0 for seat in viewer.seats]


MOVE, UNDO, RESIGN, FAULT, AGREE = "move", "undo", "resign", "fault", "agree"
"""Kinds of events, besides those of the store. ``agree``: all people agree to a draw."""
PROPOSE = "propose"
"""Seats offer a draw or a takeback to the others, or decline what is offered."""
DRAW, TAKEBACK = "draw", "takeback"
BESIDE = (OFFER, REMATCH, PROPOSE)
"""Kinds of events that do not change the game: they have a number, but make no new version."""


class PlayedMove(NamedTuple):
    """A move after the opening."""

    seat: int
    move: Any
    seconds: float


class PlayState:
    """A play in memory: what its events say, the referee, the snapshot. No locks, no saving, no bots."""

    def __init__(
        self, name: str, game: Game, play_spec: PlaySpec, participants: Participants | None, events: Iterable[PlayEvent]
    ) -> None:
        self.id = name
        self.game = game
        self.play_spec = play_spec
        kinds = tuple(PERSON if spec == PERSON else BOT for spec in play_spec.bots)
        self.participants = participants or Participants(kinds, {}, None, None)
        self.notifier = Notifier()
        self._ticks = count()
        self.tick = next(self._ticks)
        """Changes whenever viewers should see something new, event or not."""
        self._held_up: dict[int, Json] = {}
        """What viewers are told about remote bots that cannot be asked now, by seat."""
        self._viewed = time.monotonic()
        self.noted_callers: set[str] = set()
        """Callers whose seats here were noted for fair play."""
        self._replay_all(events)
        self._rebuild()

    @property
    def version(self) -> int:
        """The number of events."""
        return self.snapshot.version

    @property
    def events(self) -> int:
        """The number of events, those that make no new version included."""
        return self._events

    def view(self, viewer: Viewer) -> Json:
        """The play as a viewer may see it now."""
        snapshot, self._viewed = self.snapshot, time.monotonic()
        alone = viewer.owner and not self.participants.shared
        return {
            "id": self.id,
            "game": self.game.id,
            "options": self.game.options,
            "version": snapshot.version,
            "seats": [self._seat(snapshot, number, viewer) for number in range(self.game.seats)],
            "clock": str(self.play_spec.conditions.clock),
            "free_ms": snapshot.free_ms(),
            "opening": len(self.play_spec.opening),
            "moves": snapshot.move_list(viewer.seats if self.game.hides_earlier_moves else frozenset()),
            "position": snapshot.position(self.game, snapshot.point_of_view(viewer.seats)),
            "to_move": snapshot.mover,
            "thinking": snapshot.mover is not None and not self.participants.is_person(snapshot.mover),
            "held_up": self.held_up,
            "can_undo": alone and snapshot.undo_to is not None,
            "waiting": bool(self.participants.missing),
            "next": self.participants.next,
            "result": snapshot.result,
        }

    def position(self, number: int, viewer: Viewer | None = None) -> Json:
        """The position after ``number`` moves, opening included, as everybody may see it or the viewer's only seat.

        Once the game is over nothing is hidden.
        """
        snapshot = self.snapshot
        if not 0 <= number <= snapshot.length:
            raise Conflict(f"the positions of this game have the numbers 0 to {snapshot.length}")
        return snapshot.position_at(self.game, number, frozenset() if viewer is None else viewer.seats)

    def seconds_left_to_move(self) -> float | None:
        """Seconds until the clock of the person to move runs out; None if no clock runs."""
        flag = self.snapshot.flag
        return None if flag is None else max(0.0, flag - time.perf_counter())

    def mark_changed(self) -> None:
        """Notify viewers of a change outside the game, such as presence or an offer of a rematch."""
        self.tick = next(self._ticks)
        self.notifier.notify_all()

    @property
    def is_watched(self) -> bool:
        """Whether somebody looks at the play, or did a moment ago."""
        return self.notifier.is_awaited or time.monotonic() - self._viewed < VIEWED_SECONDS

    @property
    def held_up(self) -> Json | None:
        """The remote bot that the game waits for: its seat, why it cannot be asked, and that as a sentence."""
        held, mover = dict(self._held_up), self.snapshot.mover
        return held.get(-1 if mover is None else mover) or next(iter(held.values()), None)

    def hold_up(self, seat: int, why: str | None) -> None:
        """Tell viewers why the remote bot of a seat cannot be asked; None: it can be."""
        text = None if why is None else sentence(why, self.play_spec.names[seat])
        before = self._held_up.pop(seat, None)
        if text is not None:
            self._held_up[seat] = {"seat": seat, "why": why, "text": text}
        if self._held_up.get(seat) != before:
            self.mark_changed()

    # The past: events

    def _replay_all(self, events: Iterable[PlayEvent]) -> None:
        """Start from the stored events, before ``_rebuild``."""
        self._events = self._versions = 0
        self._played: list[PlayedMove] = []
        self._end_event: PlayEvent | None = None
        """The event that ended the game, unless a move did."""
        for event in events:
            self._replay_event(event)

    def _replay_event(self, event: PlayEvent, counted: bool = True) -> None:
        """Apply a stored event to the list of moves, before ``_rebuild``."""
        if counted:
            self._count(event)
        if event.kind == OFFER:
            self.participants.offers |= set(event.content["seats"])
        elif event.kind == REMATCH:
            self.participants.next = event.content["next"]
        elif event.kind == PROPOSE:
            self.participants.apply_proposal(event.content["seats"], event.content["offer"])
        elif event.kind == MOVE:
            self._played.append(PlayedMove(event.content["seat"], event.content["move"], event.content["seconds"]))
        elif event.kind == UNDO:
            self._played, self._end_event = self._played[: event.content["keep"]], None
        elif event.kind != JOIN:
            self._end_event = event

    def _count(self, event: PlayEvent) -> None:
        self._events += 1
        self._versions += event.kind not in BESIDE
        if event.kind not in (JOIN, *BESIDE):
            self.participants.lapse(event.content["seat"] if event.kind == MOVE else None)

    def _rebuild(self) -> None:
        """Set up positions and referee from the events so far."""
        self._now = self.game.new_states(1)
        """The last position in compiled form."""
        self._now[0] = self.game.encode(start_state(self.game, replace(self.play_spec, opening=())))
        self._records = [pack_position(self.game, self._now)]
        self._moves: list[Json] = []
        for move in self.play_spec.opening:
            self._append_move(move)
        self._referee = Referee(self.play_spec)
        self._stood: tuple[int, float] | None = None
        """The seat whose turn the game ended in, and the seconds it had left."""
        for made in self._played:
            self._stop_clock(made.seconds)
            self._referee.deliver(Answer(made.seconds, made.move))
            self._append_move(made.move)
        if self._end_event is not None:
            self._finish(self._end_event)

    def _finish(self, event: PlayEvent) -> None:
        """Tell the referee about an end that is not a move."""
        content = event.content
        self._stop_clock(content.get("seconds"))
        if event.kind == RESIGN:
            self._referee.resign(content["seat"])
        elif event.kind == AGREE:
            self._referee.agree_to_draw()
        else:
            fault = SeatFault(content["cause"], content["why"])
            self._referee.deliver(Answer(content["seconds"], fault=fault))

    def _stop_clock(self, seconds: float | None) -> None:
        """Note what is left on the clock of the open turn, of which ``seconds`` have passed."""
        turn = self._referee.turn
        self._stood = None
        if turn is not None and turn.seconds is not None and seconds is not None:
            self._stood = turn.seat, max(0.0, turn.seconds - max(0.0, seconds - turn.allowance))

    def _append_move(self, move: Any) -> None:
        """Append a legal move and the position after it."""
        seat, text = int(self.game.kernels.mover(self._now)), self._move_text(move)
        self._moves.append({"seat": seat, "text": text, "move": self.game.page_move(move, text)})
        self.game.apply_to(self._now, move)
        self._records.append(pack_position(self.game, self._now))

    def _move_text(self, move: Any) -> str:
        return self.game.move_label(move, self.game.decode(self._now[0]))

    def _apply(self, events: Iterable[PlayEvent]) -> None:
        """Apply events that follow the present ones."""
        rebuild = False
        for event in events:
            ahead = len(self._played)
            self._replay_event(event)
            rebuild = rebuild or event.kind == UNDO
            if rebuild or event.kind in (JOIN, *BESIDE):
                continue
            if event.kind == MOVE:
                made = self._played[ahead]
                self._stop_clock(made.seconds)
                self._referee.deliver(Answer(made.seconds, made.move))
                self._append_move(made.move)
            else:
                self._finish(event)
        if rebuild:
            self._rebuild()

    # The present

    def _deliver(self, answer: Answer) -> tuple[PlayEvent, PlayEnd | None]:
        """Hand the answer of the seat to move to the referee: a legal move, unless a bot failed. The lock is held."""
        turn = self._referee.turn
        assert turn is not None
        self._stop_clock(answer.seconds)
        self._referee.deliver(answer)
        result = self._referee.result
        end = None if result is None else PlayEnd(self._referee.record())
        if result is not None and result["verdicts"]:
            verdict = result["verdicts"][-1]
            why = {"seconds": answer.seconds, "cause": verdict["cause"], "why": verdict["why"]}
            self._end_event = PlayEvent(FAULT, why)
            return self._end_event, end
        self._played.append(PlayedMove(turn.seat, answer.move, answer.seconds))
        self._append_move(answer.move)
        return PlayEvent(MOVE, {"seat": turn.seat, "move": answer.move, "seconds": answer.seconds}), end

    def _publish(self, asked: float | None = None) -> None:
        """Replace the snapshot; no clock runs while a seat is free. The lock is held.

        ``asked``: when the turn began; default: now.
        """
        self._asked = time.perf_counter() if asked is None else asked
        referee, turn = self._referee, self._referee.turn
        referee.notices()  # people see the page: notices have no other recipient
        left = [referee.seconds_left(seat) for seat in range(self.game.seats)]
        if referee.result is not None and self._stood is not None:
            left[self._stood[0]] = self._stood[1]
        runs = turn is not None and self.participants.is_person(turn.seat) and not self.participants.missing
        still = 0.0 if not self.participants.missing else float("inf")
        self.snapshot = Snapshot(
            version=self._versions,
            records=self._records,
            moves=self._moves,
            length=len(self._moves),
            mover=None if turn is None else turn.seat,
            left=left,
            asked=self._asked,
            allowance=still if turn is None else turn.allowance + still,
            flag=self._asked + turn.seconds + turn.allowance if turn and runs and turn.seconds else None,
            result=referee.result,
            undo_to=self._undo_to(),
            has_hidden_information=self.game.has_hidden_information,
            open_moves=count_open_moves(self.game, self._records, len(self._moves)),
        )
        self.snapshot.position(self.game, None)
        self.tick = next(self._ticks)

    def _seat(self, snapshot: Snapshot, number: int, viewer: Viewer) -> Json:
        friend = self.participants.friends.get(number)
        left = snapshot.left[number]
        return {
            "name": (friend and friend.name) or self.play_spec.names[number],
            "spec": self.play_spec.bots[number],
            **self.participants.described(number, viewer),
            "left_ms": int(left * 1000) if number in self._held_up and left is not None else snapshot.left_ms(number),
        }

    def _undo_to(self) -> int | None:
        """The number of moves after the opening that an undo keeps; None if there is nothing to undo."""
        if self._end_event is not None and self.participants.is_person(self._last_asked()):
            return len(self._played)
        for keep in range(len(self._played) - 1, -1, -1):
            if self.participants.is_person(self._played[keep].seat):
                return keep
        return None

    def _takeback_to(self, seats: Iterable[int]) -> int | None:
        """The number of moves after the opening up to the last one of ``seats``; None if they have made none."""
        made = [number for number, move in enumerate(self._played) if move.seat in seats]
        return made[-1] if made else None

    def _last_asked(self) -> int:
        """The seat to move in the last position, even if the game was aborted there."""
        return max(0, int(self.game.kernels.mover(self._now)))

    def _check_proposal(self, viewer: Viewer, offer: str | None) -> None:
        """Refuse an offer that means nothing here. The lock is held."""
        participants = self.participants
        if not viewer.seats:
            raise Forbidden("you are watching: none of the seats is yours")
        if self._referee.result is not None:
            raise Conflict("the game is over")
        if participants.missing:
            raise Conflict("the game starts when everybody has joined: a seat is still free")
        if len(participants.people()) < 2:
            raise Conflict("there is nobody to offer this to: bots agree to nothing")
        if offer is None and not participants.proposals:
            raise Conflict("nothing is offered")
        if offer is not None and all(participants.proposals.get(seat) == offer for seat in viewer.seats):
            raise Conflict(f"you have offered a {offer} already")
        if offer == DRAW and len(participants.people()) < self.game.seats:
            raise Conflict("a bot plays here, and bots agree to no draw")
        asker = [*(seat for seat, what in participants.proposals.items() if what == TAKEBACK), *viewer.seats][:1]
        if offer == TAKEBACK and self._takeback_to(asker) is None:
            raise Conflict("there is no move of yours to take back")

    def _check_turn(self, seat: int, seats: frozenset[int]) -> None:
        if not seats:
            raise Forbidden("you are watching: none of the seats is yours")
        if self.participants.missing:
            raise Conflict("the game starts when everybody has joined: a seat is still free")
        if not self.participants.is_person(seat):
            raise Conflict("it is not your turn: the bot is thinking")
        if seat not in seats:
            raise Conflict("it is not your turn")

    def _own_seat(self, seats: frozenset[int]) -> int | None:
        """The seat to move if it is among ``seats``, or their only one."""
        return self.snapshot.mover if self.snapshot.mover in seats else next(iter(seats)) if len(seats) == 1 else None

    def _seconds_of_turn(self) -> float:
        """The seconds since the turn began; none while a seat is free."""
        return 0.0 if self.participants.missing else time.perf_counter() - self._asked

    def _compile_move_path(self) -> None:
        """Compile here, in a thread, what a first move needs, rather than later on the event loop."""
        legal = self.snapshot.position(self.game, None)["legal"]
        if legal:
            self._move_text(legal[0])
            self.game.apply_to(self._now.copy(), legal[0])
