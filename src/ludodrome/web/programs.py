"""Programs as opponents on the page: uploaded bots of the league, and on one's own machine ``cmd:`` and ``py:`` bots.

Each is a process that is kept between its moves and closed with its play. A stranger's program runs in the sandbox, has
a limit for each move even without a clock, and nothing of what it writes beside its moves is shown to its opponent.
"""

import copy
import threading
from dataclasses import replace

from sqlalchemy import Engine

from ludodrome.arena.ladder.uploads import REQUIRED, uploaded_seat
from ludodrome.arena.play_spec import read_move
from ludodrome.arena.records.format import PUBLIC_REASONS
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import Answer, Seat, SeatFault, SeatWrapper, Turn
from ludodrome.arena.telemetry import final_numbers
from ludodrome.arena.transports import BOX, COMMAND, FILE, WASM, make_seat
from ludodrome.game import Game, IllegalMove
from ludodrome.store.league_bots import source_of
from ludodrome.store.league_models import UPLOADED
from ludodrome.web.budgets import BUDGETS, PROGRAMS
from ludodrome.web.concurrency import LruCache

MAX_PROGRAMS = 8
"""Programs kept between their moves."""
IDLE_SECONDS = 900.0
MOVE_SECONDS = 10.0
"""Seconds that a program has for a move in a play without a clock."""
OWN = (COMMAND, FILE, WASM, BOX)
"""Kinds of programs that only the owner of the machine starts."""


class ProgramSeat(SeatWrapper):
    """A program in a play. ``private``: its own words are for its author, not for its opponent."""

    def __init__(self, inner: Seat, game: Game, private: bool) -> None:
        super().__init__(inner)
        self.asked = -1
        """The number of its last turn."""
        self._game, self._private = game, private
        self._lock = threading.Lock()
        self._busy = self._retired = False

    def ask(self, turn: Turn) -> Answer:
        """Ask for a move, with a limit."""
        with self._lock:
            self._busy, self.asked = True, turn.number
        limited = copy.copy(turn)
        if limited.seconds is None:
            limited.seconds = MOVE_SECONDS
        try:
            answer = super().ask(limited)
        finally:
            with self._lock:
                self._busy = False
                if self._retired:
                    self.close()
        return _public(answer) if self._private else answer

    def retire(self) -> None:
        """Close the program, now or after the move that it is thinking about."""
        with self._lock:
            self._retired = True
            if not self._busy:
                self.close()


def _public(answer: Answer) -> Answer:
    """An answer without the program's own words."""
    fault = answer.fault
    if fault is not None and fault.cause in PUBLIC_REASONS:
        fault = SeatFault(fault.cause, PUBLIC_REASONS[fault.cause])
    numbers = final_numbers(answer.info)
    return replace(answer, fault=fault, sent=None, log=(), info=(numbers,) if numbers else ())


def canonical(answer: Answer, game: Game, state: object) -> Answer:
    """An answer with its move as the game writes it; the referee judges one that is illegal."""
    if answer.fault is not None:
        return answer
    try:
        return replace(answer, move=read_move(game, state, answer.move))
    except IllegalMove:
        return answer


class ProgramPool:
    """The programs of this process's plays. ``own``: whether the owner's ``cmd:`` and ``py:`` bots may run here."""

    def __init__(self, engine: Engine | None = None, sandbox: str = REQUIRED, own: bool = False) -> None:
        self._engine, self._sandbox, self._own = engine, sandbox, own
        self._seats = LruCache[ProgramSeat](
            MAX_PROGRAMS, IDLE_SECONDS, ProgramSeat.retire, share=BUDGETS[PROGRAMS].amount
        )

    def __len__(self) -> int:
        return len(self._seats)

    @staticmethod
    def runs(spec: str) -> bool:
        """Whether a spec is a program, not a built-in bot."""
        return spec.partition(":")[0] in (UPLOADED, *OWN)

    def seat(self, key: str, referee: Referee, turn: Turn, owner: str | None) -> ProgramSeat:
        """The program of a seat, to be asked about a turn. It begins anew after an undo, since it knows nothing of one.

        ValueError says why it cannot run.
        """
        kept = self._seats.get(key)
        if kept is None or kept.asked >= turn.number:
            play_spec = referee.play_spec
            spec, seed = play_spec.bots[turn.seat], play_spec.seat_seeds[turn.seat]
            kept = self.start(key, spec, referee.game, seed, owner)
            kept.start(referee.hello(turn.seat))
        return kept

    def start(self, key: str, spec: str, game: Game, seed: int, owner: str | None) -> ProgramSeat:
        """Start the program of a seat, in place of the one that it had; ValueError says why it cannot run."""
        kind, _, rest = spec.partition(":")
        if kind == UPLOADED:
            source = None if self._engine is None else source_of(self._engine, rest)
            if source is None:
                raise ValueError("there is no such version of a bot")
            inner: Seat = uploaded_seat(spec, source, game, seed, self._sandbox)
        elif self._own:
            inner = make_seat(spec, game, seed)
        else:
            raise ValueError("programs of one's own play on a server that only its owner uses")
        made = ProgramSeat(inner, game, private=kind == UPLOADED)
        self._seats.put(key, made, owner)
        return made

    def end(self, play: str, seats: int) -> None:
        """Close the programs of a play."""
        for seat in range(seats):
            self._seats.discard(f"{play} {seat}")

    def clear(self) -> None:
        """Close all programs."""
        self._seats.clear()
