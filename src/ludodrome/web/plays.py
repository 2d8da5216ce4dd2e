"""One game on the page: people and built-ins at a table of the arena, with undo, clocks and resigning.

The judging is the table's; here is who is asked, when, and what has been shown. Bots think in threads: their
kernels let the interpreter go, so the server answers meanwhile.
"""

import asyncio
import threading
import time
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

from ludodrome.arena.assignments import Assignment
from ludodrome.arena.conditions import FORFEIT, Clock, Conditions
from ludodrome.arena.seats import ARENA, ERROR, Answer, Fault, Turn
from ludodrome.arena.table import Table
from ludodrome.arena.transports.inside import InsideSeat
from ludodrome.bots import bot
from ludodrome.game import Game, IllegalMove
from ludodrome.web.positions import Json, described
from ludodrome.web.shelves import Shelf

PERSON = "person"
"""The spec of a seat that people play."""
RESIGNED = "resigned"
MOST_BOTS = 16
"""So many bots are kept between their moves: a search remembers some 16 MB. Others are made anew for a move."""
BOT_SECONDS = 3600.0
MOST_OPENING = 200


class Refused(ValueError):
    """What was asked cannot be done now; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Made:
    """A move that was made after the opening."""

    seat: int
    move: Any
    seconds: float


class Staff:
    """The threads in which bots think, and the bots that are kept between their moves."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.bots = Shelf[InsideSeat](MOST_BOTS, BOT_SECONDS)


class Bell:
    """Wakes those who wait for something to change; may be rung from any thread."""

    def __init__(self) -> None:
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def ring(self) -> None:
        """Everybody who waits goes on."""
        for loop, event in list(self._waiting):
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    async def wait(self, changed: "partial[bool]", seconds: float) -> None:
        """Until the bell rings, unless ``changed`` is true by then; at most so long."""
        mine = (asyncio.get_running_loop(), asyncio.Event())
        self._waiting.add(mine)
        try:
            if not changed():
                await asyncio.wait_for(mine[1].wait(), seconds)
        except TimeoutError:
            pass
        finally:
            self._waiting.discard(mine)


class Play:
    """A game in progress. All methods may be called from any thread."""

    def __init__(self, name: str, game: Game, assignment: Assignment, staff: Staff) -> None:
        self.id = name
        self.game = game
        self.assignment = assignment
        self.version = 0
        self.bell = Bell()
        self._staff = staff
        self._lock = threading.RLock()
        self._desk = threading.Lock()
        """Held while a bot thinks: after an undo a bot must not be asked twice at once."""
        self._made: list[Made] = []
        self._texts: list[str] = []
        self._states: list[Any] = [game.initial_state(assignment.seed)]
        self._closed = False
        for move in assignment.opening:
            self._note(move)
        self._table = Table(assignment)
        self._asked = time.perf_counter()
        self._ask()

    # What is asked from outside

    def view(self) -> Json:
        """Everything the page needs to know about the game as it is now."""
        with self._lock:
            self._look_at_clock()
            state, mover = self._states[-1], self._mover()
            result = self._table.result
            eyes = mover if mover is not None and self._is_person(mover) else self._only_person()
            position = described(self.game, state, eyes)
            if result is not None:
                position["legal"] = [] if position["legal"] is not None else None
            return {
                "id": self.id,
                "game": self.game.id,
                "options": self.game.options,
                "version": self.version,
                "seats": [self._seat(number) for number in range(self.game.seats)],
                "clock": str(self.assignment.conditions.clock),
                "opening": len(self.assignment.opening),
                "moves": self._move_list(),
                "position": position,
                "to_move": mover,
                "thinking": mover is not None and not self._is_person(mover),
                "can_undo": self._undo_to() is not None,
                "result": result,
            }

    def position(self, number: int) -> Json:
        """The position after so many moves, the opening's among them, as everybody may see it."""
        with self._lock:
            if not 0 <= number < len(self._states):
                raise Refused(f"the positions of this game are numbered from 0 to {len(self._states) - 1}")
            return described(self.game, self._states[number])

    def move(self, move: Any, seen: int | None = None) -> None:
        """A person's move. An illegal one is refused and costs nothing; ``seen`` is the version it was made for."""
        with self._lock:
            self._look_at_clock()
            turn = self._table.turn
            if turn is None:
                raise Refused("the game is over")
            if not self._is_person(turn.seat):
                raise Refused("it is not your turn: the bot is thinking")
            if seen is not None and seen != self.version:
                raise Refused("the game has gone on since this move was made")
            try:
                self.game.apply(self._states[-1], move)
            except IllegalMove:
                self._check_running()
                raise
            self._deliver(Answer(time.perf_counter() - self._asked, move))

    def resign(self, seat: int | None = None) -> None:
        """A person gives up: the seat named, or the only one, or the one to move."""
        with self._lock:
            self._look_at_clock()
            self._check_running()
            people = [number for number in range(self.game.seats) if self._is_person(number)]
            turn = self._table.turn
            chosen = seat if seat is not None else self._only_person()
            if chosen is None and turn is not None:
                chosen = turn.seat
            if chosen not in people:
                raise Refused("only a person's seat can resign")
            if turn is None or turn.seat != chosen:
                raise Refused("you can resign when it is your turn")
            self._deliver(Answer(time.perf_counter() - self._asked, fault=Fault(ERROR, RESIGNED)))

    def undo(self) -> None:
        """Back to the last decision of a person."""
        with self._lock:
            keep = self._undo_to()
            if keep is None:
                raise Refused("there is no move to take back")
            kept = self._made[:keep]
            end = len(self.assignment.opening) + keep
            del self._states[end + 1 :], self._texts[end:]
            self._made = kept
            self._table = Table(self.assignment)
            for made in kept:
                self._table.deliver(Answer(made.seconds, made.move))
            self._changed()

    def record(self) -> Json:
        """The record of the finished game."""
        with self._lock:
            self._look_at_clock()
            if self._table.result is None:
                raise Refused("a game has its record when it is over")
            return self._table.record()

    def seconds_to_flag(self) -> float | None:
        """Until the clock of the person to move runs out; None if none runs."""
        with self._lock:
            turn = self._table.turn
            if turn is None or turn.seconds is None or not self._is_person(turn.seat):
                return None
            return max(0.0, turn.seconds + turn.allowance - (time.perf_counter() - self._asked))

    def close(self) -> None:
        """The game is not needed any more."""
        with self._lock:
            self._closed = True
        self.bell.ring()

    # Underneath

    def _is_person(self, seat: int) -> bool:
        return self.assignment.bots[seat] == PERSON

    def _only_person(self) -> int | None:
        people = [seat for seat, spec in enumerate(self.assignment.bots) if spec == PERSON]
        return people[0] if len(people) == 1 else None

    def _mover(self) -> int | None:
        return None if self._table.turn is None else self._table.turn.seat

    def _check_running(self) -> None:
        if self._table.result is not None:
            raise Refused("the game is over")

    def _seat(self, number: int) -> Json:
        left = self._table.left(number)
        turn = self._table.turn
        if left is not None and turn is not None and turn.seat == number:
            left = max(0.0, left - max(0.0, time.perf_counter() - self._asked - turn.allowance))
        return {
            "name": self.assignment.names[number],
            "spec": self.assignment.bots[number],
            "person": self._is_person(number),
            "left_ms": None if left is None else int(left * 1000),
        }

    def _move_list(self) -> list[Json]:
        opening = len(self.assignment.opening)
        hidden = self.game.observation(self._states[-1]) != self._states[-1]
        shown = []
        for number, text in enumerate(self._texts):
            down = hidden and number == len(self._texts) - 1
            move = self.assignment.opening[number] if number < opening else self._made[number - opening].move
            seat = self.game.to_move(self._states[number])
            shown.append({"seat": seat, "text": "face down" if down else text, "move": None if down else move})
        return shown

    def _note(self, move: Any) -> None:
        """Writes a move down; ValueError if it cannot be made."""
        before = self._states[-1]
        text = self.game.format_move(move, before)
        self._states.append(self.game.apply(before, move))
        self._texts.append(text)

    def _deliver(self, answer: Answer) -> None:
        """The answer to the open question. The lock is held."""
        turn, before = self._table.turn, self._table.state
        assert turn is not None
        self._table.deliver(answer)
        if self._table.state != before:
            self._note(answer.move)
            self._made.append(Made(turn.seat, answer.move, answer.seconds))
        self._changed()

    def _changed(self) -> None:
        self.version += 1
        self._asked = time.perf_counter()
        self._ask()
        self.bell.ring()

    def _look_at_clock(self) -> None:
        """A person who has let the time run out has lost."""
        if self.seconds_to_flag() == 0:
            self._table.expire(time.perf_counter() - self._asked)
            self._changed()

    def _undo_to(self) -> int | None:
        """How many moves after the opening would be left after an undo; None if there is nothing to take back."""
        result = self._table.result
        if result is not None and result["decided_by"] != "play" and self._is_person(self._last_asked()):
            return len(self._made)
        opening = len(self.assignment.opening)
        for keep in range(len(self._made) - 1, -1, -1):
            seat = self.game.to_move(self._states[opening + keep])
            if seat is not None and self._is_person(seat):
                return keep
        return None

    def _last_asked(self) -> int:
        """The seat to move in the last position, even if the game was broken off there."""
        seat = self.game.to_move(self._states[-1])
        return 0 if seat is None else seat

    # Bots

    def _ask(self) -> None:
        turn = self._table.turn
        if turn is not None and not self._is_person(turn.seat) and not self._closed:
            self._staff.executor.submit(self._think, turn)

    def _think(self, turn: Turn) -> None:
        """Runs in a thread: a bot's move, unless the game has gone another way meanwhile."""
        with self._desk:
            if self._table.turn is not turn or self._closed:
                return
            try:
                answer = self._bot(turn).ask(turn)
            except Exception as error:
                answer = Answer(0.0, fault=Fault(ARENA, f"the bot could not be made: {error}"))
        with self._lock:
            if self._table.turn is turn and not self._closed:
                self._deliver(answer)

    def _bot(self, turn: Turn) -> InsideSeat:
        seat, name = turn.seat, f"{self.id} {turn.seat}"
        kept = self._staff.bots.find(name)
        if kept is None:
            kept = InsideSeat(bot(self.assignment.bots[seat], self.game, self.assignment.seat_seeds[seat]))
            kept.start(self._table.hello(seat))
            self._staff.bots.put(name, kept)
            self._asked = time.perf_counter()
        return kept


def seated(
    game: Game, specs: list[str], clock: str | None, seed: int, opening: list[Any], names: list[str] | None = None
) -> Assignment:
    """The assignment of a game on the page; ValueError says what does not fit."""
    if len(specs) != game.seats:
        raise ValueError(f"{game.id} has {game.seats} seats here, and {len(specs)} players were named")
    if len(opening) > MOST_OPENING:
        raise ValueError(f"an opening has at most {MOST_OPENING} moves, not {len(opening)}")
    people = specs.count(PERSON)
    called = [
        ("You" if people == 1 else f"Player {seat + 1}") if spec == PERSON else spec for seat, spec in enumerate(specs)
    ]
    conditions = Conditions(FORFEIT, Clock.parse(clock or "none"))
    if conditions.clock.budget is not None:
        raise ValueError("on the page a clock counts time: none, 10s, 30s+60s (with a bank) or 5m++3s (Fischer)")
    return Assignment(game.id, game.options, tuple(specs), tuple(names or called), conditions, seed, tuple(opening))
