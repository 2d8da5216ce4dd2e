"""A play in the terminal, without its front end: positions, bots, clocks, undo, resignation, the record.

``play.py`` shows it line by line, ``play_app.py`` on a full screen.
"""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ludodrome.bots import bot
from ludodrome.bots.specs import BOX, COMMAND, WASM, spec_of
from ludodrome.cli import console
from ludodrome.cli.base import CommandError, command_errors
from ludodrome.cli.lazy import lazy_imports

with lazy_imports():
    from ludodrome import game as game_api
    from ludodrome import game_extras, position
    from ludodrome.arena import clocks, play_spec, records, referee, seats, seeds, transports
    from ludodrome.arena import conditions as arena_conditions
    from ludodrome.bots import player

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ludodrome.arena.play_spec import PlaySpec
    from ludodrome.arena.referee import Referee
    from ludodrome.arena.seats import Answer
    from ludodrome.bots.player import Bot, Budget
    from ludodrome.game import Game, Outcome
    from ludodrome.position import SeenPosition

PROTOCOL_KINDS = (COMMAND, BOX, WASM)
"""Kinds of specs that are programs, which play over the protocol and not as a Python object."""
LAST_LINES = 8
"""Lines of a program's standard error that are shown when it fails."""
PERSON = "person"
"""The spec of a person in records."""
FACE_DOWN = "face down"


# Bots


class ProgramFailed(Exception):
    """A program made no move; the sentences say why."""


class ProgramBot:
    """A program behind ``cmd:``, ``box:`` or ``wasm:`` as an opponent: a child process for the whole session."""

    def __init__(self, spec: str, game: Game, seed: int) -> None:
        self.name = spec
        self._game, self._seed, self._asked = game, seed, -1
        self._hello: dict[str, Any] = {}
        self._seat = transports.make_seat(spec, game, seed)

    def start(self, hello: dict[str, Any]) -> None:
        """Start the program."""
        self._hello = hello
        self._seat.start(hello)

    def choose(self, observation: Any, budget: Budget | None = None) -> Any:
        """Programs are asked with the number of the turn: see ``ask``."""
        return self.ask(observation, observation, self._asked + 1)

    def ask(self, state: Any, observation: Any, number: int, seconds: float | None = None) -> Any:
        """Its move in turn ``number``; after an undo it begins anew. ProgramFailed says why there is none."""
        if number <= self._asked:
            self._seat.close()
            self._seat = transports.make_seat(self.name, self._game, self._seed)
            self._seat.start(self._hello)
        self._asked = number
        try:
            legal = self._game.legal_moves(state)
        except game_api.TooManyMoves:
            legal = None
        own = {name: self._hello[name] for name in ("match", "game", "seat", "player")}
        message = {"type": "turn", **own, "turn": number, "state": observation, "legal_moves": legal}
        deadline = None if seconds is None else int(seconds * 1000)
        asked = {**message, "deadline_ms": deadline, "ts_ms": time.time_ns() // 1_000_000}
        turn = seats.Turn(number, own["seat"], seconds, 0.0, None, lambda: observation, lambda turn: asked)
        answer = self._seat.ask(turn)
        if answer.fault is not None:
            self._seat.close()  # ends the program, so that all of its standard error has been read
            last = console.printable("\n".join(self._seat.stderr.strip().splitlines()[-LAST_LINES:]))
            raise ProgramFailed(f"{answer.fault.cause}: {answer.fault.why}" + (f"\n{last}" if last else ""))
        return answer.move

    def close(self) -> None:
        """End the program."""
        self._seat.close()


def make_opponents(game: Game, specs: Sequence[str], seat: int, seed: int) -> dict[int, Bot]:
    """The bots by seat, started: every seat but the user's, or none if no bot is given."""
    if not specs:
        return {}
    others = [other for other in range(game.seats) if other != seat]
    if len(others) == game.seats:
        raise CommandError(f"a seat of {game.id} is a whole number from 0 to {game.seats - 1}, not {seat}")
    if len(specs) not in (1, len(others)):
        raise CommandError(f"give --against once, or once per other seat (here {len(others)}), not {len(specs)} times")
    with command_errors(), console.compiling(game.id):
        bots: dict[int, Bot] = {}
        for number, other in enumerate(others):
            spec = spec_of(specs[number % len(specs)])
            is_program = spec.partition(":")[0] in PROTOCOL_KINDS
            own = seeds.seat_seed(seed, 0, other)
            bots[other] = ProgramBot(spec, game, own) if is_program else bot(spec, game, own)
            bots[other].start(player.hello_message(game, other, own))
        return bots


# The play


class LocalMove(NamedTuple):
    """A move of a play: its seat, the move as people read it, and the answer that the referee got."""

    seat: int
    move: Any
    notation: str
    answer: Answer


@dataclass
class LocalPlay:
    """A play between people and bots at one terminal; ``states`` are its positions, the last one is the current one."""

    game: Game
    states: list[Any]
    bots: dict[int, Bot] = field(default_factory=dict)
    """Bots by seat; people play the other seats."""
    against: str = ""
    """The options that name the bots, to print the command that continues the play."""
    seed: int = 0
    clock: str = "none"
    specs: dict[int, str] = field(default_factory=dict)
    """The bots' specs by seat, for the record."""
    folder: Path | None = None
    """Where the record is written when the play is over; None: nowhere."""

    def __post_init__(self) -> None:
        self.moves: list[LocalMove] = []
        self._start = self.states[0]
        self._asked_at = time.perf_counter()
        self._referee: Referee | None = None
        if self.game.to_move(self._start) is not None:
            self._referee = referee.Referee(self._play_spec())

    def _play_spec(self) -> PlaySpec:
        running = clocks.Clock.parse(self.clock)
        if running.budget is not None or running.fuel is not None:
            raise CommandError(
                f"a clock of `play` counts time: 10s, 30s+60s (with a bank), 5m++3s (Fischer) or none, not {self.clock}"
            )
        people = self.people
        names = [
            self.bots[seat].name if seat in self.bots else "You" if len(people) == 1 else f"Player {seat + 1}"
            for seat in range(self.game.seats)
        ]
        specs = [self.specs.get(seat, self.bots[seat].name) if seat in self.bots else PERSON for seat in self.seats]
        made = play_spec.PlaySpec(
            self.game.id,
            self.game.options,
            tuple(specs),
            tuple(names),
            arena_conditions.Conditions(arena_conditions.FORFEIT, running),
            self.seed,
        )
        set_up = self._start != play_spec.initial_state(self.game, made)
        return replace(made, position=self._start) if set_up else made

    # What there is to show

    @property
    def state(self) -> Any:
        """The current position."""
        return self.states[-1]

    @property
    def seats(self) -> range:
        """All seats."""
        return range(self.game.seats)

    @property
    def people(self) -> list[int]:
        """The seats that people play."""
        return [seat for seat in self.seats if seat not in self.bots]

    @property
    def is_over(self) -> bool:
        """Whether the play is over, by the rules, on time or by resignation."""
        return self._referee is None or self._referee.result is not None

    def seat(self) -> int:
        """The seat to move."""
        seat = self.game.to_move(self.state)
        assert seat is not None
        return seat

    def outcome(self) -> Outcome | None:
        """The outcome; None while the play runs."""
        if self._referee is None:
            return self.game.outcome(self.state)
        result = self._referee.result
        if result is None:
            return None
        return game_api.Outcome(result["winner"], result["scores"], result["returns"], result["reason"])

    def is_open(self, state: Any) -> bool:
        """Whether the seat to move sees the whole position."""
        return bool(self.game.observation(state) == state)

    def why_no_engine(self) -> str:
        """Why the engine may not look at the position; empty if it may."""
        if len(self.people) > 1:
            return "People play each other here: until the game is over, the engine is off."
        if not self.is_open(self.state) and game_extras.extra(self.game.analysis_module, "hint") is None:
            return "A part of the position is hidden, so there is no analysis."
        return ""

    def seen(self, seat: int | None, state: Any = None) -> SeenPosition:
        """The current or another position as a seat sees it, or a spectator (None)."""
        return position.seen_by(self.game, self.state if state is None else state, seat)

    @property
    def viewer(self) -> int | None:
        """The seat for whom the screen is: the only person, or the person to move; None if a bot is to move."""
        people = self.people
        if len(people) == 1:
            return people[0]
        seat = self.game.to_move(self.state)
        return seat if seat in people else None

    def points(self) -> list[float] | None:
        """The points so far, as the person at the screen may see them; None in games without points."""
        if self.game.point_unit is None:
            return None
        return self.game.scores_of(None, self.seen(None if self.is_over else self.viewer).states())

    def shown_notation(self, number: int) -> str:
        """The notation of a move as the person at the screen may read it."""
        played, later = self.moves[number], self.states[number + 1]
        if self.is_over or played.seat == self.viewer:
            return played.notation
        hidden = self.game.hides_earlier_moves or (number == len(self.moves) - 1 and not self.is_open(later))
        return FACE_DOWN if hidden else played.notation

    def frames(self, before: Any, after: Any) -> list[str]:
        """What a move brought about, as drawings one after another; empty if the position says it all."""
        people = self.people
        return self.game.tell_move(before, after, people[0] if len(people) == 1 else None)

    # Moves

    def parse_move(self, text: str) -> Any:
        """The move of a notation; IllegalMove says why there is none."""
        return self.game.parse_move(text, self.state)

    def play(self, move: Any) -> str:
        """Make a move of the seat to move, return it as people read it.

        IllegalMove: it is not legal, and nothing changed.

        A move that comes too late is not made: then the play is over.
        """
        seat, notation = self.seat(), self.game.move_label(move, self.state)
        after = self.game.apply(self.state, move)
        answer = seats.Answer(time.perf_counter() - self._asked_at, move)
        assert self._referee is not None
        self._referee.deliver(answer)
        if self._referee.result is None or self._referee.state == after:
            self.moves.append(LocalMove(seat, move, notation, answer))
            self.states.append(after)
        self._asked_at = time.perf_counter()
        return notation

    def ask_bot(self) -> Any:
        """The move of the bot to move, which may take its time; CommandError if the bot fails."""
        seat = self.seat()
        asked = self.bots[seat]
        shown = self.game.observation(self.state, seat)
        turn = None if self._referee is None else self._referee.turn
        try:
            if isinstance(asked, ProgramBot):
                seconds = None if turn is None or turn.seconds is None else turn.seconds + turn.allowance
                move = asked.ask(self.state, shown, len(self.states) - 1, seconds)
            elif turn is None or turn.budget is None:
                move = asked.choose(shown)
            else:
                move = asked.choose(shown, turn.budget)
            self.game.apply(self.state, move)
        except ProgramFailed as error:
            raise CommandError(f"the bot {asked.name} failed: {error}") from error
        except Exception as error:
            raise CommandError(f"the bot {asked.name} failed: {type(error).__name__}: {error}") from error
        return move

    def undo(self) -> bool:
        """Take back moves up to the last one of a person; False if there is none."""
        if len(self.states) == 1:
            return False
        self._drop_last()
        while len(self.states) > 1 and self.seat() in self.bots:
            self._drop_last()
        self._referee = referee.Referee(self._play_spec())
        for played in self.moves:
            self._referee.deliver(played.answer)
        self._asked_at = time.perf_counter()
        return True

    def _drop_last(self) -> None:
        self.states.pop()
        self.moves.pop()

    def resign(self, seat: int) -> None:
        """End the play: a seat resigns."""
        assert self._referee is not None
        self._referee.resign(seat)

    # Clocks

    def seconds_left(self, seat: int) -> float | None:
        """The seconds that a seat has left now; None without a clock."""
        judge = self._referee
        if judge is None or (left := judge.seconds_left(seat)) is None:
            return None
        if judge.turn is None or judge.turn.seat != seat:
            return left
        return max(0.0, left - max(0.0, time.perf_counter() - self._asked_at - judge.turn.allowance))

    def check_clock(self) -> bool:
        """End the play if the clock of the seat to move has run out; whether that has happened."""
        judge = self._referee
        if judge is None or judge.turn is None or self.seconds_left(judge.turn.seat) != 0.0:
            return False
        late = seats.SeatFault(seats.TIMEOUT, "no answer came in time")
        judge.deliver(seats.Answer(time.perf_counter() - self._asked_at, fault=late))
        return True

    def restart_clock(self) -> None:
        """Let the time of the seat to move begin now: what happened before was shown to it, not its to use."""
        self._asked_at = time.perf_counter()

    # Afterwards

    def write_record(self) -> Path | None:
        """Write the record of a play that is over; None if there is nothing to record or no folder for it."""
        if self.folder is None or self._referee is None or self._referee.result is None:
            return None
        try:
            return records.write(self._referee.record(), self.folder)
        except OSError as error:
            raise CommandError(f"the record cannot be written into {self.folder}: {error.strerror}") from error

    def farewell(self) -> list[str]:
        """How to continue a play that ends early: a sentence and, if there is a position to show, the command."""
        state = next((state for state in reversed(self.states) if self.is_open(state)), None)
        if state is None:
            return ["You left the game. Its first move is face down, so there is no position to show."]
        note = (
            "You left the game. To continue it later:"
            if state is self.state
            else "You left the game. The last move is face down; "
            "to continue later from the last position with nothing hidden:"
        )
        usual = {option.name: option.default for option in self.game.available}
        chosen = {name: value for name, value in self.game.options.items() if value != usual[name]}
        options = "".join(f" -o {name}={value}" for name, value in chosen.items())
        line = self.game.format_state(state)
        return [note, f"ludodrome play {self.game.id}{options}{self.against} --state '{line}'"]

    def close(self) -> None:
        """End the bots."""
        for one in self.bots.values():
            one.close()


def options_again(against: Sequence[str], seat: int, seed: int) -> str:
    """The options of the command that name the bots again."""
    if not against:
        return ""
    return "".join(f" --against {shlex.quote(spec)}" for spec in against) + f" --seat {seat} --seed {seed}"
