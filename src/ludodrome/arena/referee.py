"""The referee: one game in progress, as a state machine that neither waits nor sends.

``turn`` is the open question, ``deliver`` takes its answer, ``notices`` are the messages to pass on, ``result`` is the
end. ``game_loop.play`` runs it in a loop; a server can drive it from its own events. Only the referee decides what a
fault leads to. If an answer is wrong in several ways, the first of these counts:

1. the transport failed: ``arena`` (our own fault) or ``crash``,
2. the answer came after the deadline: ``timeout``,
3. the answer is malformed: ``protocol``,
4. the bot reports an error: ``error``,
5. the rules refuse the move: ``illegal``.
"""

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

from ludodrome.arena import messages
from ludodrome.arena.adjudication import Adjudicator
from ludodrome.arena.clocks import SeatClock
from ludodrome.arena.conditions import SUBSTITUTE
from ludodrome.arena.play_spec import (
    PlaySpec,
    aborted_outcome,
    agreed_draw_outcome,
    forfeit_outcome,
    initial_state,
    resignation_outcome,
    start_state,
)
from ludodrome.arena.records.format import Chain, header, rounded, secret_part, stored_answer
from ludodrome.arena.seats import (
    ARENA,
    CRASH,
    ILLEGAL,
    NO_CAPABILITIES,
    RESIGNED,
    TIMEOUT,
    Answer,
    BotCapabilities,
    Notice,
    SeatFault,
    Turn,
)
from ludodrome.arena.telemetry import TelemetryBudget
from ludodrome.game import Game, IllegalMove, Outcome, TooManyMoves

ADJUDICATION = "adjudication"
"""``decided_by`` of a game that ended early by the rules of its conditions."""
AGREEMENT = "agreement"
"""``decided_by`` of a draw that the players agreed to."""
INFO_CUT = "it sent more telemetry than a record keeps; the earlier part of some turns was left out"


class Referee:
    """A game in progress and its history. ValueError: the play spec does not fit its game."""

    def __init__(self, play_spec: PlaySpec) -> None:
        self.play_spec = play_spec
        self.game = play_spec.make_game()
        if len(play_spec.bots) != self.game.seats or len(play_spec.names) != self.game.seats:
            raise ValueError(
                f"{self.game.id} has {self.game.seats} seats here, and {len(play_spec.bots)} bots were given"
            )
        self.conditions = play_spec.conditions
        self.match = play_spec.match
        self.state = start_state(self.game, play_spec)
        self.turn: Turn | None = None
        """The open question; None when the game is over."""
        self.result: dict[str, Any] | None = None
        """The result; None while the game runs."""
        self.capabilities_of: Callable[[int], BotCapabilities] = lambda seat: NO_CAPABILITIES
        """What the bot of a seat can do, as its transport knows it; set by the game loop."""
        self._history = MoveHistory(self.game, play_spec)
        self._states = self.game.new_states(1)
        self._states[0] = self.game.encode(self.state)
        self._head = header(play_spec)
        self._chain = Chain(self._head, self.state)
        self._clocks = [SeatClock(play_spec.clock_of(seat)) for seat in range(self.game.seats)]
        self._allowances = [self.conditions.start_ms / 1000] * self.game.seats
        self._dropped_seats: dict[int, SeatFault] = {}
        """The seats that are no longer asked, and the fault of each of their turns."""
        self._number = len(play_spec.opening)
        self._turn_records: list[dict[str, Any]] = []
        self._verdicts: list[dict[str, Any]] = []
        self._fuel: int | None = None
        self._telemetry = TelemetryBudget()
        rules = self.conditions.adjudication
        self._adjudicator = None if rules is None else Adjudicator(rules, self.game)
        self._notices: list[Notice] = []
        self._seconds = [0.0] * self.game.seats
        self._begin()
        self._next()

    # For the game loop

    def hello(self, seat: int) -> messages.Message:
        """The ``hello`` message of a seat."""
        seed = self.play_spec.seat_seeds[seat]
        return messages.hello(self.match, self.game, seat, self.play_spec.clock_of(seat), seed)

    def notices(self) -> list[Notice]:
        """Take the notices to pass on before the open question is asked; each is returned once."""
        ready, self._notices = self._notices, []
        return ready

    @property
    def turns(self) -> tuple[dict[str, Any], ...]:
        """The record's entries so far, for spectators."""
        return tuple(self._turn_records)

    @property
    def states(self) -> Any:
        """The position in compiled form, an array of one record; it changes with every move."""
        return self._states

    def seconds_left(self, seat: int) -> float | None:
        """The seconds that a seat has for a whole turn; None without a clock."""
        return self._clocks[seat].allowed()

    def deliver(self, answer: Answer) -> None:
        """Take the answer to the open question."""
        turn = self.turn
        if turn is None:
            raise RuntimeError("no question is open")
        start = turn.allowance if answer.ready_after is None else min(turn.allowance, answer.ready_after)
        charged = max(0.0, answer.seconds - start)
        self._spent += charged
        self._allowances[turn.seat] = 0.0
        self._elapsed += answer.seconds
        self._log += answer.log
        self._info += answer.info
        if answer.fuel is not None:
            self._fuel = (self._fuel or 0) + answer.fuel
        fault = answer.fault
        late = turn.seconds is not None and charged > turn.seconds
        if late and (fault is None or fault.cause not in (ARENA, CRASH, TIMEOUT)):
            fault = SeatFault(TIMEOUT, "its answer came too late")
        if fault is None:
            fault = self._try(turn.seat, answer.move)
            if fault is None:
                return
        elif answer.sent is not None:
            self._record_refusal({"sent": answer.sent, "cut": True}, fault, answer)
        self._judge(turn.seat, fault, answer)

    def resign(self, seat: int) -> None:
        """End the game by resignation, which a player may do at any time; recorded in the result, not as a turn."""
        if self.result is None:
            self._note_verdict(seat, SeatFault(RESIGNED, "the player resigned"))
            self._finish(resignation_outcome(self.game, seat), "resignation")

    def agree_to_draw(self) -> None:
        """End the game as a draw: all players have agreed to it; recorded in the result, not as a turn."""
        if self.result is None:
            self._finish(agreed_draw_outcome(self.game), AGREEMENT)

    def abort(self, seat: int, why: str) -> None:
        """End the game because the arena failed; it is not rated."""
        if self.result is None:
            self._note_verdict(seat, SeatFault(ARENA, why))
            self._finish(aborted_outcome(self.game), ARENA)

    def record(self, stderr: list[str] | None = None, notes: list[list[str]] | None = None) -> dict[str, Any]:
        """The record of the finished game. ``stderr`` and ``notes`` are by seat."""
        if self.result is None:
            raise RuntimeError("the game is not over")
        beside: dict[str, Any] = {"stderr": stderr} if stderr and any(stderr) else {}
        all_notes = [list(of_seat) for of_seat in notes or [[] for _ in range(self.game.seats)]]
        for seat in self._telemetry.cut_seats:
            all_notes[seat].append(INFO_CUT)
        if any(all_notes):
            beside["notes"] = all_notes
        times = [rounded(seconds * 1000) for seconds in self._seconds]
        return self._chain.finish(
            {
                **self._head,
                **secret_part(self.play_spec),
                "turns": self._turn_records,
                "result": self.result,
                **beside,
                "ms": times,
            }
        )

    # Turns

    def _begin(self) -> None:
        """Reset what belongs to one turn."""
        self._spent = self._elapsed = 0.0
        self._tries = 0
        self._refusals: list[dict[str, Any]] = []
        self._log: tuple[str, ...] = ()
        self._info: tuple[dict[str, Any], ...] = ()
        self._fuel = None
        self._verdict: dict[str, str] | None = None

    def _next(self) -> None:
        """Open the next question. Play the turns of seats that are no longer asked."""
        self.turn = None
        while self.result is None:
            if ending := self.game.outcome_of(self._states):
                self._finish(ending, "play")
                return
            if self._adjudicator and (ending := self._adjudicator.judge()):
                self._finish(ending, ADJUDICATION)
                return
            seat = int(self.game.kernels.mover(self._states))
            allowed = self._clocks[seat].allowed()
            if seat in self._dropped_seats:
                self._apply_policy(seat, self._dropped_seats[seat])
            elif allowed is not None and allowed <= 0:
                self._apply_policy(seat, SeatFault(TIMEOUT, "its clock had run out before"))
            else:
                self._open(seat)
                return

    def _open(self, seat: int) -> None:
        game, number, clock = self.game, self._number, self._clocks[seat]
        self.turn = Turn(
            number,
            seat,
            clock.allowed(self._spent),
            self._allowances[seat],
            clock.budget(self._spent),
            lambda: game.observation_of(self._states, seat),
            self._message,
            clock.clock.fuel,
        )
        if game.asks_every_seat and not self._tries:
            for other in range(game.seats):
                if other != seat:
                    self._notices.append(Notice(other, partial(self._observe, other, number, self.state)))

    def _observe(self, seat: int, number: int, state: Any) -> messages.Message:
        if number == self._number:  # usual: the question is still open, and the position need not be parsed again
            return messages.observe(self.match, seat, number, self.game.observation_of(self._states, seat))
        return messages.observe(self.match, seat, number, self.game.observation(state, seat))

    def _message(self, turn: Turn) -> messages.Message:
        state = turn.observation
        return {
            "type": "turn",
            "match": self.match,
            "game": self.game.id,
            "seat": turn.seat,
            "player": turn.seat,
            "turn": turn.number,
            "state": state,
            "legal_moves": self._legal_moves_or_none() if self.conditions.legal_moves else None,
            "deadline_ms": None if turn.seconds is None else int(turn.seconds * 1000),
            "ts_ms": time.time_ns() // 1_000_000,
            **self._wanted(turn),
        }

    def _wanted(self, turn: Turn) -> messages.Message:
        """What the bot has asked for in ``ready``: the clocks of all seats, the moves since its last turn."""
        capabilities, wanted = self.capabilities_of(turn.seat), {}
        if capabilities.wants_clocks:
            left = [turn.seconds if seat == turn.seat else clock.allowed() for seat, clock in enumerate(self._clocks)]
            wanted["clocks"] = [
                {"seat": seat, "left_ms": None if seconds is None else int(seconds * 1000)}
                for seat, seconds in enumerate(left)
            ]
        if capabilities.wants_moves:
            self._history.extend(entry["move"] for entry in self._turn_records[self._history.turns_after_opening :])
            wanted["moves"] = self._history.unsent(turn.seat, turn.number)
        return wanted

    def _legal_moves_or_none(self) -> list[Any] | None:
        try:
            return self.game.legal_moves_of(self._states)
        except TooManyMoves:
            return None

    # Judging

    def _try(self, seat: int, move: Any) -> SeatFault | None:
        """Play the move, or return what is wrong with it."""
        try:
            played = self._apply(move)
        except IllegalMove as wrong:
            return SeatFault(ILLEGAL, str(wrong))
        except Exception as error:  # no move may raise another exception in the rules; if one does, the bug is ours
            return SeatFault(ARENA, f"internal error in the rules: {type(error).__name__}: {error}")
        self._played(seat, played)
        self._next()
        return None

    def _apply(self, move: Any) -> Any:
        """Make a move and return it as JSON. Raises IllegalMove."""
        game = self.game
        try:
            game.apply_to(self._states, move)
        except IllegalMove:
            if not game.reads_text or type(move) is not str:
                raise
            move = game.parse_move_of(move, self._states)  # text that is not a move in JSON may still be read as one
            game.apply_to(self._states, move)
        return move

    def _judge(self, seat: int, fault: SeatFault, answer: Answer) -> None:
        if fault.cause == ILLEGAL:
            if answer.fault is None:  # a transport that parses answers itself has stored what was sent
                self._record_refusal(stored_answer(answer.move), fault, answer)
            self._tries += 1
            tries_left = self.conditions.tries - self._tries
            remaining = self._clocks[seat].allowed(self._spent)
            if tries_left > 0 and (remaining is None or remaining > 0):
                number = self._number
                self._notices.append(Notice(seat, partial(messages.refused, self.match, number, fault.why, tries_left)))
                self._open(seat)
                return
        self.turn = None
        self._apply_policy(seat, fault)
        self._next()

    def _record_refusal(self, sent: dict[str, Any], fault: SeatFault, answer: Answer) -> None:
        self._refusals.append({**sent, "why": fault.why, "ms": rounded(answer.seconds * 1000)})

    def _apply_policy(self, seat: int, fault: SeatFault) -> None:
        """Apply the policy to a fault."""
        self._note_verdict(seat, fault)
        if fault.cause == ARENA:
            self._write(seat, {})
            self._finish(aborted_outcome(self.game), ARENA)
            return
        if fault.cause == CRASH:
            self._dropped_seats[seat] = SeatFault(CRASH, "it had ended before")
        elif fault.cause == TIMEOUT and not self._clocks[seat].clock.runs:
            # without a clock, transports time out only after a very long wait: do not wait for this seat again
            self._dropped_seats[seat] = SeatFault(TIMEOUT, "it had not answered before")
        if self.conditions.policy != SUBSTITUTE:
            self._write(seat, {})
            self._finish(forfeit_outcome(self.game, seat, fault.cause), "forfeit")
            return
        move = self.game.substitute_move(self.state)
        self.game.apply_to(self._states, move)
        self._played(seat, move, substituted=True)

    def _note_verdict(self, seat: int, fault: SeatFault) -> None:
        self._verdict = {"cause": fault.cause, "why": fault.why}
        self._verdicts.append({"seat": seat, **self._verdict, "turn": self._number})

    # Recording

    def _played(self, seat: int, move: Any, substituted: bool = False) -> None:
        self.state = self.game.decode(self._states[0])
        self._clocks[seat].charge(self._spent)
        self._write(seat, {"move": move}, substituted)
        if self._adjudicator:
            self._adjudicator.add(self._turn_records[-1], self._states)
        self._number += 1
        self._begin()

    def _write(self, seat: int, entry: dict[str, Any], substituted: bool = False) -> None:
        written = {"turn": self._number, "seat": seat, **entry, "ms": rounded(self._elapsed * 1000)}
        if self._fuel is not None:
            written["fuel"] = self._fuel
        if self._refusals:
            written["refusals"] = self._refusals
        if self._verdict is not None:
            written["verdict"] = self._verdict
        if substituted:
            written["substituted"] = True
        if self._log:
            written["log"] = list(self._log)
        if kept := self._telemetry.kept(seat, self._info):
            written["info"] = kept
        self._seconds[seat] += self._elapsed
        self._turn_records.append(self._chain.link(written, self.state))

    def _finish(self, ending: Outcome, decided_by: str) -> None:
        self.turn = None
        self.result = result = {
            "winner": ending.winner,
            "reason": ending.reason,
            "scores": [rounded(score) for score in ending.scores],
            "returns": [rounded(value) for value in ending.returns],
            "decided_by": decided_by,
            "verdicts": self._verdicts,
            "rated": decided_by != ARENA,
        }
        for seat in range(self.game.seats):
            self._notices.append(Notice(seat, partial(messages.over, self.match, result, seat)))


class SentMoves(NamedTuple):
    """The moves that a seat got with one of its turns."""

    turn: int
    first: int
    """The turn of the first move."""
    owed: frozenset[int]
    """The turns of earlier moves that were hidden before."""
    hidden: frozenset[int]
    """The turns of moves that are still hidden."""


class MoveHistory:
    """The moves of a game as each seat may know them, for bots that want them in their ``turn``.

    Of a game with hidden information a seat is shown its own moves, and those of others up to the last position in
    which nothing was hidden from it. A hidden move is null, and comes again once it is revealed.
    """

    def __init__(self, game: Game, play_spec: PlaySpec) -> None:
        self._game, self._opening = game, play_spec.opening
        self._start = partial(initial_state, game, play_spec)
        self._state: Any = None
        self._moves: list[dict[str, Any]] = []
        self._open = [0] * game.seats
        """By seat: the number of moves up to the last position of which it saw everything."""
        self._sent: dict[int, SentMoves] = {}
        """By seat: what it got with its last turn."""

    @property
    def turns_after_opening(self) -> int:
        """The number of moves after the opening that were added."""
        return max(0, len(self._moves) - len(self._opening))

    def extend(self, moves: Iterable[Any]) -> None:
        """Add the next moves of the game; at first also those of the opening."""
        if self._state is None:
            self._state = self._start()
            moves = [*self._opening, *moves]
        for move in moves:
            seat = self._game.to_move(self._state)
            self._moves.append({"seat": seat, "turn": len(self._moves), "move": move})
            self._state = self._game.apply(self._state, move)
            for viewer in range(self._game.seats):
                if not self._game.hides(self._state, viewer):
                    self._open[viewer] = len(self._moves)

    def unsent(self, seat: int, turn: int) -> list[dict[str, Any]]:
        """The moves that a seat gets with a turn: all since its last turn, and those revealed since.

        The same turn, asked again, has the same moves.
        """
        last = self._sent.get(seat, SentMoves(turn, 0, frozenset(), frozenset()))
        first, owed = (last.first, last.owed) if last.turn == turn else (last.turn, last.hidden)
        hidden = {one["turn"] for one in self._moves[self._open[seat] :] if one["seat"] != seat}
        self._sent[seat] = SentMoves(turn, first, owed, frozenset(hidden))
        return [
            {**one, "move": None} if one["turn"] in hidden else one
            for one in self._moves
            if one["turn"] >= first or one["turn"] in owed - hidden
        ]
