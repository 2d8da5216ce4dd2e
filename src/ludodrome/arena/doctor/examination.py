"""What the doctor examines bots with: findings, and trials, which are games with something unusual in them.

Which trials there are, and what each proves, is in ``checkups.py``; the order of an examination in ``__init__.py``.
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
from ludodrome.bots.player import SplitMix64
from ludodrome.game import Game
from ludodrome.games import make

# A bot under examination: a seat that passes everything on, and keeps the conversation and the times.


class RecordingSeat(SeatWrapper):
    """What was said to the bot can be written to a file, and be fed to it again."""

    def __init__(self, inner: Seat) -> None:
        super().__init__(inner)
        self.heard: list[Message] = []
        """All messages to the bot, in order."""
        self.answers: list[Answer] = []

    def start(self, hello: Message) -> None:
        """A game begins."""
        self.heard.append(hello)
        super().start(hello)

    def ask(self, turn: Turn) -> Answer:
        """The bot's answer."""
        self.heard.append(turn.message)
        answer = super().ask(turn)
        self.answers.append(answer)
        return answer

    def tell(self, notice: Notice) -> None:
        """Something that wants no answer."""
        self.heard.append(notice.message)
        super().tell(notice)

    def say(self, seat: int, message: Message) -> None:
        """A message of the doctor's own."""
        self.tell(Notice(seat, lambda: message))

    def write_heard(self, file: Path) -> None:
        """What the bot was told, a message a line, as it can be fed to its stdin."""
        lines = (json.dumps(message, separators=(",", ":")) for message in self.heard)
        file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


HELD, NOTE, WARNING, FAILURE, SKIPPED = GRADES = ("held", "note", "warning", "failure", "skipped")
"""What a finding can be. A failure: a match under usual conditions would be lost, or the protocol is broken.
A warning: a match under special conditions would be lost, or somebody should know. A note: nothing is wrong."""

OPPONENT = "random"
LAST_WORDS = 1500
"""Characters of a bot's standard error that a finding shows."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One line of the doctor's page, and what is needed to see a trouble again."""

    check: str
    grade: str
    sentence: str
    position: str = ""
    """The position on one line, or as JSON where a part of it is hidden."""
    stderr: str = ""
    """The bot's last words."""
    commands: tuple[str, ...] = field(default=())
    """Each shows the trouble again."""

    def to_json(self) -> dict[str, Any]:
        """For machines; what is empty is left out."""
        found = {"check": self.check, "grade": self.grade, "sentence": self.sentence}
        beside = {"position": self.position, "stderr": self.stderr, "commands": list(self.commands)}
        return {**found, **{name: value for name, value in beside.items() if value}}


@dataclass(frozen=True, slots=True)
class TrialGame:
    """A game to be played with the bot in one seat: what is unusual about it is said here."""

    words: str
    """What is special about it, for sentences: "as seat 1", "with the policy substitute"."""
    seat: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    """Beside those of the examination."""
    policy: str | None = None
    clock: str | None = None
    legal_moves: bool = True
    opening: int = 0
    """How many random moves are on the board before anybody is asked."""
    number: int = 0


class Interference:
    """What the doctor does in a game beside letting it be played; by itself, nothing."""

    both = False
    """Whether ``after`` concerns the answers of the other seats too."""

    def greet(self, hello: dict[str, Any]) -> dict[str, Any]:
        """The greeting that the bot gets."""
        return hello

    def before(self, referee: Referee, turn: Turn, patient: RecordingSeat, seat: int) -> Turn:
        """Before anybody is asked; the turn that is asked."""
        return turn

    def after(self, referee: Referee, turn: Turn, answer: Answer, patient: RecordingSeat) -> Answer:
        """An answer has come; what the referee is given for it."""
        return answer


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What came of a trial."""

    trial: TrialGame
    game: Game
    referee: Referee
    record: dict[str, Any]
    patient: RecordingSeat

    @property
    def verdict(self) -> dict[str, Any] | None:
        """The first verdict against the bot, or the arena's own fault."""
        verdicts = self.record["result"]["verdicts"]
        return next((one for one in verdicts if one["seat"] == self.trial.seat or one["cause"] == ARENA), None)

    @property
    def refusals(self) -> list[dict[str, Any]]:
        """Answers of the bot that were not accepted."""
        turns = (entry for entry in self.record["turns"] if entry["seat"] == self.trial.seat)
        return [{"turn": entry["turn"], **refusal} for entry in turns for refusal in entry.get("refusals", ())]


class Examination:
    """One bot, one game, one seed, and the trials made with them."""

    def __init__(self, game: Game, spec: str, seed: int, clock: str, folder: Path) -> None:
        self.game = game
        self.spec = spec
        self.seed = seed
        self.clock = clock
        self.folder = folder
        """Where conversations and records of troubles go."""
        self.answers: list[Answer] = []
        """All that the bot gave under the usual clock, but for the first of each process."""
        self.stderr = 0
        """The most characters that it wrote to its standard error in one game."""
        self._written = 0

    @property
    def inside(self) -> bool:
        """Whether the bot is a built-in, to which no messages are sent."""
        return self.spec.partition(":")[0] not in ("cmd", "py", "box")

    def play_spec(self, trial: TrialGame) -> PlaySpec:
        """The game of a trial, the bot in its seat and random players in the others."""
        options = {**self.game.options, **trial.options}
        game = make(self.game.id, **options)
        bots = tuple(self.spec if seat == trial.seat else OPPONENT for seat in range(game.seats))
        rules = conditions(game, trial.policy, trial.clock or self.clock, trial.legal_moves)
        seed = self.seed * 1000 + trial.number
        moves = random_moves(game, seed, trial.opening)
        return PlaySpec(self.game.id, options, bots, bots, rules, seed, moves, trial.number)

    def play(
        self, trial: TrialGame, interference: Interference | None = None, patient: RecordingSeat | None = None
    ) -> TrialResult:
        """Plays a trial to its end. A patient that is given is used and stays open; else it is made, and closed."""
        play_spec = self.play_spec(trial)
        referee = Referee(play_spec)
        game = referee.game
        used = patient or RecordingSeat(make_seat(self.spec, game, play_spec.seat_seeds[trial.seat]))
        known = len(used.answers)
        seats: list[Seat] = [
            used if seat == trial.seat else make_seat(OPPONENT, game, play_spec.seat_seeds[seat])
            for seat in range(game.seats)
        ]
        try:
            run(referee, seats, trial.seat, used, interference or Interference())
        finally:
            for one in seats:
                if one is not patient:
                    one.close()
        if trial.clock is None:
            self.answers += used.answers[max(known, 1) :]
        self.stderr = max(self.stderr, len(used.stderr))
        record = referee.record([one.stderr for one in seats], [one.notes for one in seats])
        return TrialResult(trial, game, referee, record, used)

    # What is said of them

    def judged(self, check: str, played: TrialResult, grade: str = FAILURE) -> CheckResult:
        """The finding of a trial with a verdict against the bot."""
        verdict = played.verdict
        assert verdict is not None
        if verdict["cause"] == ARENA and not self.inside:
            sentence = f"{played.trial.words}: the arena itself failed, which says nothing of the bot: {verdict['why']}"
            return self.trouble(check, WARNING, played, sentence)
        where = f"{played.trial.words}, turn {verdict['turn']}: {verdict['cause']}: {verdict['why']}"
        return self.trouble(check, grade, played, where)

    def trouble(self, check: str, grade: str, played: TrialResult, sentence: str) -> CheckResult:
        """A finding with the position of the last question, the bot's last words, and commands to see it again."""
        position = _position(played)
        commands = [*_showing(played.game, position), *self._commands(check, played)]
        return CheckResult(check, grade, sentence, position, played.patient.stderr[-LAST_WORDS:], tuple(commands))

    def _commands(self, check: str, played: TrialResult) -> Sequence[str]:
        self._written += 1
        name = f"{check}-{self._written}"
        quoted = shlex.quote(self.spec)
        clock = "" if self.clock == USUAL_CLOCK else f" --clock {self.clock}"
        given = f"{self.game.id} {quoted}{format_options(self.game)}{clock}"
        again = f"ludodrome doctor {given} --seed {self.seed} --only {check}"
        if self.inside:
            return [again]
        self.folder.mkdir(parents=True, exist_ok=True)
        heard = self.folder / f"{name}.jsonl"
        played.patient.write_heard(heard)
        path = shlex.quote(str(records.write(played.record, self.folder)))
        commands = [again, f"ludodrome rerun {path} --seat {played.trial.seat} {quoted}"]
        if self.spec.startswith("cmd:"):
            commands.append(f"{self.spec.removeprefix('cmd:')} < {shlex.quote(str(heard))}")
        return commands


USUAL_CLOCK = "1s"
UNCLOCKED = 60.0
"""Seconds that the doctor waits for an answer where no clock runs."""


def run(referee: Referee, seats: Sequence[Seat], own: int, patient: RecordingSeat, interference: Interference) -> None:
    """A game as ``judge.run`` plays it, with the doctor's interference in the conversation with one seat."""
    for number, one in enumerate(seats):
        hello = referee.hello(number)
        one.start(interference.greet(hello) if number == own else hello)
    try:
        while (turn := referee.turn) is not None:
            for notice in referee.notices():
                seats[notice.seat].tell(notice)
            asked = with_timeout(interference.before(referee, turn, patient, own))
            answer = seats[turn.seat].ask(asked)
            if turn.seat == own or interference.both:
                answer = interference.after(referee, asked, answer, patient)
            referee.deliver(answer)
    except Exception as error:
        referee.abort(own, f"{type(error).__name__}: {error}")
    for notice in referee.notices():
        seats[notice.seat].tell(notice)


def with_timeout(turn: Turn) -> Turn:
    """The same question, with an end to the doctor's patience where no clock runs; the bot is not told."""
    if turn.seconds is not None:
        return turn
    asked = copy(turn)
    asked.message = turn.message
    asked.seconds = UNCLOCKED
    return asked


def random_moves(game: Game, seed: int, count: int) -> tuple[Any, ...]:
    """So many moves by lot that leave the game open; none where moves cannot be listed."""
    if not count or game.actions_a_turn > 1:
        return ()
    dice = SplitMix64(seed)
    moves: list[Any] = []
    state = game.initial_state(seed)
    while len(moves) < count:
        found = nonfinal_move(game, state, dice.choice)
        if found is None:
            break
        moves.append(found)
        state = game.apply(state, found)
    return tuple(moves)


def nonfinal_move(game: Game, state: Any, choice: Callable[[list[Any]], Any]) -> Any:
    """A legal move by lot after which the game goes on; None if a few tries find none."""
    moves = game.legal_moves(state)
    for _ in range(20):
        move = choice(moves)
        if game.outcome(game.apply(state, move)) is None:
            return move
    return None


def format_options(game: Game) -> str:
    """The options of a game that are not what they usually are, as a command takes them."""
    usual = {option.name: option.default for option in game.available}
    return "".join(f" -o {name}={value}" for name, value in game.options.items() if value != usual[name])


def _showing(game: Game, position: str) -> list[str]:
    """The command that draws a position, if the whole of it is known."""
    if not position or position.startswith("{"):
        return []
    return [f"ludodrome show {game.id}{format_options(game)} {shlex.quote(position)}"]


def _position(played: TrialResult) -> str:
    """The position in which the bot was asked when it failed, else the last; nothing if it was never asked."""
    asked = [message for message in played.patient.heard if message["type"] == "turn"]
    if not asked:
        return ""
    verdict = played.verdict
    number = verdict["turn"] if verdict else next(iter(played.refusals), asked[-1])["turn"]
    message = next((one for one in reversed(asked) if one["turn"] == number), asked[-1])
    shown = {key: value for key, value in message["state"].items() if key != "you"}
    try:
        return played.game.format_state(shown)
    except ValueError:  # a part of it is hidden
        return json.dumps(shown)
