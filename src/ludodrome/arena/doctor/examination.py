"""An examination: trial games with something unusual in them, and the results of checks.

The checks, and what each proves, are in ``checks.py``; ``__init__.py`` runs them in order.
"""

import json
import shlex
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ludodrome.arena import records
from ludodrome.arena.conditions import conditions
from ludodrome.arena.messages import Message
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import ARENA, Answer, Notice, Seat, SeatWrapper, Turn
from ludodrome.arena.transports import make_seat
from ludodrome.game import Game
from ludodrome.games import make
from ludodrome.splitmix import SplitMix64


class RecordingSeat(SeatWrapper):
    """A seat that keeps the messages to the bot and its answers, to write them to a file."""

    def __init__(self, inner: Seat) -> None:
        super().__init__(inner)
        self.sent: list[Message] = []
        """All messages to the bot, in order."""
        self.answers: list[Answer] = []

    def start(self, hello: Message) -> None:
        """Start a game."""
        self.sent.append(hello)
        super().start(hello)

    def ask(self, turn: Turn) -> Answer:
        """Ask the bot."""
        self.sent.append(turn.message)
        answer = super().ask(turn)
        self.answers.append(answer)
        return answer

    def notify(self, notice: Notice) -> None:
        """Pass on a notice."""
        self.sent.append(notice.message)
        super().notify(notice)

    def say(self, seat: int, message: Message) -> None:
        """Send a message of the doctor's own."""
        self.notify(Notice(seat, lambda: message))

    def write_sent(self, file: Path) -> None:
        """Write all messages to the bot, one a line, ready for its stdin."""
        lines = (json.dumps(message, separators=(",", ":")) for message in self.sent)
        file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


HELD, NOTE, WARNING, FAILURE, SKIPPED = GRADES = ("held", "note", "warning", "failure", "skipped")
"""The grades of a result. Failure: the bot would lose a match under usual conditions, or breaks the protocol.
Warning: it would lose under special conditions, or its author should know. Note: nothing is wrong."""

OPPONENT = "random"
MAX_STDERR_SHOWN = 1500
"""The last characters of a bot's standard error that a result shows."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One line of the doctor's report, and how to reproduce a problem."""

    check: str
    grade: str
    sentence: str
    position: str = ""
    """The position on one line, or as JSON if a part of it is hidden."""
    stderr: str = ""
    """The end of the bot's standard error."""
    commands: tuple[str, ...] = field(default=())
    """Commands that reproduce the problem."""

    def to_json(self) -> dict[str, Any]:
        """A plain value for ``--json``, without empty fields."""
        found = {"check": self.check, "grade": self.grade, "sentence": self.sentence}
        beside = {"position": self.position, "stderr": self.stderr, "commands": list(self.commands)}
        return {**found, **{name: value for name, value in beside.items() if value}}


@dataclass(frozen=True, slots=True)
class TrialGame:
    """A game for the bot in one seat; the fields say what is unusual about it."""

    words: str
    """What is special, for sentences: "as seat 1", "with the policy substitute"."""
    seat: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    """Options that differ from the examination's."""
    policy: str | None = None
    clock: str | None = None
    legal_moves: bool = True
    opening: int = 0
    """The number of random moves before the bots are asked."""
    number: int = 0


class Interference:
    """Changes to the conversation of a trial game; the base class changes nothing."""

    both = False
    """Whether ``after`` also gets the answers of the other seats."""

    def greet(self, hello: dict[str, Any]) -> dict[str, Any]:
        """Change the greeting."""
        return hello

    def before(self, referee: Referee, turn: Turn, recorder: RecordingSeat, seat: int) -> Turn:
        """Called before a seat is asked; return the turn to ask."""
        return turn

    def after(self, referee: Referee, turn: Turn, answer: Answer, recorder: RecordingSeat) -> Answer:
        """Called with an answer; return what the referee gets."""
        return answer


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A trial game that was played."""

    trial: TrialGame
    game: Game
    referee: Referee
    record: dict[str, Any]
    recorder: RecordingSeat

    @property
    def verdict(self) -> dict[str, Any] | None:
        """The first verdict on the bot, or the arena's own fault."""
        verdicts = self.record["result"]["verdicts"]
        return next((one for one in verdicts if one["seat"] == self.trial.seat or one["cause"] == ARENA), None)

    @property
    def refusals(self) -> list[dict[str, Any]]:
        """The refused answers of the bot."""
        turns = (entry for entry in self.record["turns"] if entry["seat"] == self.trial.seat)
        return [{"turn": entry["turn"], **refusal} for entry in turns for refusal in entry.get("refusals", ())]


class Examination:
    """One bot, one game, one seed, and what its trials showed."""

    def __init__(self, game: Game, spec: str, seed: int, clock: str, folder: Path) -> None:
        self.game = game
        self.spec = spec
        self.seed = seed
        self.clock = clock
        self.folder = folder
        """Where conversations and records of problems go."""
        self.answers: list[Answer] = []
        """All answers under the usual clock, except the first of each process."""
        self.stderr = 0
        """The most characters of standard error in one game."""
        self._written = 0

    @property
    def is_builtin(self) -> bool:
        """Whether the bot is built in and gets no messages."""
        return self.spec.partition(":")[0] not in ("cmd", "py", "box", "wasm")

    @property
    def is_wasm(self) -> bool:
        """Whether the bot is a WebAssembly program."""
        return self.spec.startswith("wasm:")

    def play_spec(self, trial: TrialGame) -> PlaySpec:
        """The play spec of a trial: the bot in its seat, random players in the others."""
        options = {**self.game.options, **trial.options}
        game = make(self.game.id, **options)
        bots = tuple(self.spec if seat == trial.seat else OPPONENT for seat in range(game.seats))
        rules = conditions(game, trial.policy, trial.clock or self.clock, trial.legal_moves)
        seed = self.seed * 1000 + trial.number
        moves = random_moves(game, seed, trial.opening)
        return PlaySpec(self.game.id, options, bots, bots, rules, seed, moves, trial.number)

    def play(
        self, trial: TrialGame, interference: Interference | None = None, recorder: RecordingSeat | None = None
    ) -> TrialResult:
        """Play a trial to its end. A given ``recorder`` is used and stays open; otherwise one is made and closed."""
        play_spec = self.play_spec(trial)
        referee = Referee(play_spec)
        game = referee.game
        used = recorder or RecordingSeat(make_seat(self.spec, game, play_spec.seat_seeds[trial.seat]))
        known = len(used.answers)
        seats: list[Seat] = [
            used if seat == trial.seat else make_seat(OPPONENT, game, play_spec.seat_seeds[seat])
            for seat in range(game.seats)
        ]
        try:
            run(referee, seats, trial.seat, used, interference or Interference())
        finally:
            for one in seats:
                if one is not recorder:
                    one.close()
        if trial.clock is None:
            self.answers += used.answers[max(known, 1) :]
        self.stderr = max(self.stderr, len(used.stderr))
        record = referee.record([one.stderr for one in seats], [one.notes for one in seats])
        return TrialResult(trial, game, referee, record, used)

    # Results

    def verdict_result(self, check: str, played: TrialResult, grade: str = FAILURE) -> CheckResult:
        """The result of a trial with a verdict on the bot."""
        verdict = played.verdict
        assert verdict is not None
        if verdict["cause"] == ARENA and not self.is_builtin:
            sentence = (
                f"{played.trial.words}: the arena itself failed, which says nothing about the bot: {verdict['why']}"
            )
            return self.problem(check, WARNING, played, sentence)
        where = f"{played.trial.words}, turn {verdict['turn']}: {verdict['cause']}: {verdict['why']}"
        return self.problem(check, grade, played, where)

    def problem(self, check: str, grade: str, played: TrialResult, sentence: str) -> CheckResult:
        """A result with the position of the last question, the bot's stderr, and commands that reproduce it."""
        position = _position(played)
        commands = [*_showing(played.game, position), *self._commands(check, played)]
        return CheckResult(
            check, grade, sentence, position, played.recorder.stderr[-MAX_STDERR_SHOWN:], tuple(commands)
        )

    def _commands(self, check: str, played: TrialResult) -> Sequence[str]:
        self._written += 1
        name = f"{check}-{self._written}"
        quoted = shlex.quote(self.spec)
        clock = "" if self.clock == USUAL_CLOCK else f" --clock {self.clock}"
        given = f"{self.game.id} {quoted}{format_options(self.game)}{clock}"
        again = f"ludodrome doctor {given} --seed {self.seed} --only {check}"
        if self.is_builtin:
            return [again]
        self.folder.mkdir(parents=True, exist_ok=True)
        heard = self.folder / f"{name}.jsonl"
        played.recorder.write_sent(heard)
        path = shlex.quote(str(records.write(played.record, self.folder)))
        commands = [again, f"ludodrome rerun {path} --seat {played.trial.seat} {quoted}"]
        if self.spec.startswith("cmd:"):
            commands.append(f"{self.spec.removeprefix('cmd:')} < {shlex.quote(str(heard))}")
        return commands


USUAL_CLOCK = "1s"
UNCLOCKED = 60.0
"""The doctor's timeout of an answer without a clock."""


def run(referee: Referee, seats: Sequence[Seat], own: int, recorder: RecordingSeat, interference: Interference) -> None:
    """Like ``game_loop.run``, with interference in the conversation with one seat."""
    referee.capabilities_of = lambda seat: seats[seat].capabilities
    for number, one in enumerate(seats):
        hello = referee.hello(number)
        one.start(interference.greet(hello) if number == own else hello)
    try:
        while (turn := referee.turn) is not None:
            for notice in referee.notices():
                seats[notice.seat].notify(notice)
            asked = with_timeout(interference.before(referee, turn, recorder, own))
            answer = seats[turn.seat].ask(asked)
            if turn.seat == own or interference.both:
                answer = interference.after(referee, asked, answer, recorder)
            referee.deliver(answer)
    except Exception as error:
        referee.abort(own, f"{type(error).__name__}: {error}")
    for notice in referee.notices():
        seats[notice.seat].notify(notice)


def with_timeout(turn: Turn) -> Turn:
    """The same turn with the doctor's timeout if no clock runs; the message stays the same."""
    if turn.seconds is not None:
        return turn
    asked = copy(turn)
    asked.message = turn.message
    asked.seconds = UNCLOCKED
    return asked


def random_moves(game: Game, seed: int, count: int) -> tuple[Any, ...]:
    """Random moves that do not end the game; none if the moves cannot be listed."""
    if not count or game.actions_a_turn > 1:
        return ()
    rng = SplitMix64(seed)
    moves: list[Any] = []
    state = game.initial_state(seed)
    while len(moves) < count:
        found = nonfinal_move(game, state, rng.choice)
        if found is None:
            break
        moves.append(found)
        state = game.apply(state, found)
    return tuple(moves)


def nonfinal_move(game: Game, state: Any, choice: Callable[[list[Any]], Any]) -> Any:
    """A random legal move that does not end the game; None if 20 tries find none."""
    moves = game.legal_moves(state)
    for _ in range(20):
        move = choice(moves)
        if game.outcome(game.apply(state, move)) is None:
            return move
    return None


def format_options(game: Game) -> str:
    """The options that differ from the defaults, as command-line options."""
    usual = {option.name: option.default for option in game.available}
    return "".join(f" -o {name}={value}" for name, value in game.options.items() if value != usual[name])


def _showing(game: Game, position: str) -> list[str]:
    """The command that draws a position, if nothing is hidden."""
    if not position or position.startswith("{"):
        return []
    return [f"ludodrome show {game.id}{format_options(game)} {shlex.quote(position)}"]


def _position(played: TrialResult) -> str:
    """The position of the failed turn, else of the last turn; empty if the bot was never asked."""
    asked = [message for message in played.recorder.sent if message["type"] == "turn"]
    if not asked:
        return ""
    verdict = played.verdict
    number = verdict["turn"] if verdict else next(iter(played.refusals), asked[-1])["turn"]
    message = next((one for one in reversed(asked) if one["turn"] == number), asked[-1])
    shown = {key: value for key, value in message["state"].items() if key != "you"}
    try:
        return played.game.format_state(shown)
    except ValueError:  # part of it is hidden
        return json.dumps(shown)
