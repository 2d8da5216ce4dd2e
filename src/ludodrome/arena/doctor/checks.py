"""The doctor's checks: each plays a few games in which one thing is unusual, and says what held and what did not.

A check is a function from an examination to findings. ``CHECKS`` names them all, in order;
docs/tutorials/writing-a-bot.md says what each is for. How a trial is played is in ``examination.py``;
what concerns the process is in ``manners.py``.
"""

import signal
import time
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ludodrome.arena import messages, sandbox
from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import FORFEIT, RETRY, SUBSTITUTE
from ludodrome.arena.doctor.examination import (
    FAILURE,
    HELD,
    NOTE,
    SKIPPED,
    WARNING,
    CheckResult,
    Examination,
    Interference,
    RecordingSeat,
    TrialGame,
    TrialResult,
    nonfinal_move,
)
from ludodrome.arena.referee import Referee
from ludodrome.arena.sandbox.boxes import BoxedProcess
from ludodrome.arena.seats import Answer, Turn
from ludodrome.arena.transports import BOX, command, make_seat
from ludodrome.arena.transports.processes import MAX_STDERR, Process
from ludodrome.bots.player import SplitMix64

# The doctor's checks of a bot's process: whether it leaves by itself, and what it writes beside its answers.


PATIENCE = 10.0
"""Seconds in which a program should have started, heard what there is to hear, and left."""


def closing(on: Examination) -> Iterator[CheckResult]:
    """Its input is closed before the first turn, and in the middle of a game; it should leave by itself."""
    if on.inside:
        yield CheckResult("closing", SKIPPED, "a built-in has no process")
        return
    slowest, troubles = 0.0, 0
    for words, turns in (("after the greeting", 0), ("in the middle of a game", 2), ("after a game", None)):
        told = _conversation(on, turns)
        seconds, code = _leaving(on, told)
        slowest = max(slowest, seconds)
        if code is None:
            troubles += 1
            sentence = f"{words}, its stdin closed: it had not left after {PATIENCE:.0f} s, and was killed"
            yield CheckResult("closing", WARNING, sentence)
            return
        elif code != 0:
            troubles += 1
            how = f"with code {code}" if code > 0 else f"by {signal.Signals(-code).name}"
            yield CheckResult("closing", WARNING, f"{words}, its stdin closed: it left {how}, where 0 would be right")
    if not troubles:
        yield CheckResult("closing", HELD, f"it leaves by itself when its stdin closes, within {slowest:.1f} s")


def _conversation(on: Examination, turns: int | None) -> bytes:
    """What is said to a bot in a game up to so many of its turns; None: to its end. Somebody else answers."""
    play_spec = on.play_spec(TrialGame("", number=130))
    referee = Referee(play_spec)
    patient = RecordingSeat(make_seat("random", referee.game, 1))
    others = [make_seat("random", referee.game, seat) for seat in range(1, referee.game.seats)]
    patient.start(referee.hello(0))
    while referee.turn is not None and (turns is None or len(patient.answers) < turns):
        for notice in referee.notices():
            if notice.seat == 0:
                patient.tell(notice)
        turn = referee.turn
        referee.deliver(patient.ask(turn) if turn.seat == 0 else others[turn.seat - 1].ask(turn))
    for notice in referee.notices():
        if notice.seat == 0 and referee.turn is None:
            patient.tell(notice)
    return b"".join(messages.line(message) for message in patient.heard)


def _leaving(on: Examination, told: bytes) -> tuple[float, int | None]:
    """How long a bot stays after it was told something and its stdin closed, and its exit code; None: it stayed on."""
    process = _started(on.spec)
    began = time.monotonic()
    try:
        process.send(told)
        code = process.leave(PATIENCE)
        return time.monotonic() - began, code
    finally:
        process.end(0.0, lambda data: None)


def _started(spec: str) -> Process:
    kind, _, rest = spec.partition(":")
    if kind == BOX:
        return BoxedProcess(sandbox.box(Path(rest)))
    return Process(command(kind, rest))


def noise(on: Examination) -> Iterator[CheckResult]:
    """What it wrote to its standard error, and answers that nobody had asked for."""
    if on.inside:
        yield CheckResult("noise", SKIPPED, "a built-in writes nothing")
        return
    played = on.play(TrialGame("", number=140))
    notes = played.record.get("notes", [[]] * on.game.seats)[0]
    if notes:
        yield on.trouble("noise", WARNING, played, f"it said what nobody had asked for: {notes[0]}")
    if on.stderr >= MAX_STDERR - 1000:
        yield CheckResult(
            "noise", WARNING, f"it writes much to stderr: only {MAX_STDERR // 1024} KB of each game are kept"
        )
    elif on.stderr:
        words = f"it writes to stderr, up to {on.stderr} characters a game; they are kept with the record"
        yield CheckResult("noise", NOTE, words)
    elif not notes:
        yield CheckResult("noise", HELD, "it says nothing beside its answers")


SLOW_START = 2.0
"""Seconds to the first answer that deserve a warning."""
NEARLY_LATE = 0.8
"""A share of the time allowed; answers that take more deserve a warning."""
FLOOD = 50
"""Messages in a row that want no answer."""
UNUSUAL: dict[str, list[dict[str, Any]]] = {
    "caldera": [{"turn_limit": 1}, {"turn_limit": 1000}],
    "dots": [{"rows": 1, "cols": 1}, {"rows": 2, "cols": 12}, {"rows": 21, "cols": 1}],
    "santorini": [{"players": 2}, {"players": 3}],
    "skysummit": [{"turn_limit": 1}, {"turn_limit": 1000}],
    "spaces": [
        {"size": 2, "rules": "live"},
        {"size": 2, "rules": "written", "choice": "blind"},
        {"size": 5, "mode": "deck", "rounds": 1},
        {"size": 4, "rounds": 20},
        {"size": 100, "rules": "live", "rounds": 1},
    ],
}
"""Options that are seldom chosen, by game."""


class Check(NamedTuple):
    """One part of an examination."""

    name: str
    question: str
    """What it is about, while one waits."""
    run: Callable[[Examination], Iterable[CheckResult]]


def _games(
    on: Examination,
    check: str,
    trials: Iterable[TrialGame],
    held: str,
    grade: str = FAILURE,
    interference: Callable[[], Interference] = Interference,
) -> Iterator[CheckResult]:
    """Plays trials; a finding for each kind of trouble, or one that says what held."""
    troubles: dict[tuple[str, str], list[CheckResult]] = {}
    turns = games = 0
    for trial in trials:
        played = on.play(trial, interference())
        games += 1
        turns += sum(entry["seat"] == trial.seat for entry in played.record["turns"])
        if verdict := played.verdict:
            same = troubles.setdefault((verdict["cause"], verdict["why"]), [])
            same.append(on.judged(check, played, grade))
        elif played.refusals:
            troubles.setdefault(("refused", ""), []).append(_refused(on, check, played))
    for first, *others in troubles.values():
        more = f" (and in {_count(len(others), 'more game')})" if others else ""
        yield replace(first, sentence=first.sentence + more)
    if not troubles:
        yield CheckResult(check, HELD, f"{held} ({_count(games, 'game')}, {_count(turns, 'turn')})")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _refused(on: Examination, check: str, played: TrialResult) -> CheckResult:
    """Illegal moves that the policy forgave."""
    first = played.refusals[0]
    number = _count(len(played.refusals), "answer")
    words = f"{played.trial.words}: {number} refused, first in turn {first['turn']}: {first['why']}"
    return on.trouble(check, WARNING, played, words)


# Usual conditions


def starting(on: Examination) -> Iterator[CheckResult]:
    """One game; how long the first answer took, and that it came at all."""
    played = on.play(TrialGame("in its first game"))
    if played.verdict:
        yield on.judged("start", played)
        return
    seconds = played.patient.answers[0].seconds if played.patient.answers else 0.0
    grade = WARNING if seconds > SLOW_START else HELD
    slow = "; the first ten seconds are not charged, but every game begins with them" if grade == WARNING else ""
    yield CheckResult("start", grade, f"its first answer came {_duration(seconds)} after it was asked{slow}")


def seats(on: Examination) -> Iterator[CheckResult]:
    """A game in each seat."""
    trials = [TrialGame(f"as seat {seat}", seat, number=10 + seat) for seat in range(on.game.seats)]
    yield from _games(on, "seats", trials, "it plays in every seat")


def openings(on: Examination) -> Iterator[CheckResult]:
    """Games that begin after a few moves, as in a match: the first position it sees is none that it knows."""
    if on.game.actions_a_turn > 1:
        yield CheckResult("openings", SKIPPED, f"{on.game.id} has no openings")
        return
    trials = [
        TrialGame(
            f"as seat {seat}, from an opening of {moves} moves", seat, opening=moves, number=20 + 5 * seat + moves
        )
        for seat in range(on.game.seats)
        for moves in (3, 4)
    ]
    yield from _games(on, "openings", trials, "it goes on from openings")


def policies(on: Examination) -> Iterator[CheckResult]:
    """A game under each policy."""
    trials = [
        TrialGame(f"with the policy {policy}", number % on.game.seats, policy=policy, number=40 + number)
        for number, policy in enumerate((FORFEIT, SUBSTITUTE, f"{RETRY}:10"))
    ]
    yield from _games(on, "policies", trials, "no policy found anything to punish")


class Steering(Interference):
    """Whatever is answered, another move is played, so that the game lasts; what the bot answers must be legal."""

    both = True

    def __init__(self) -> None:
        self._dice = SplitMix64(1)

    def after(self, referee: Referee, turn: Turn, answer: Answer, patient: RecordingSeat) -> Answer:
        """A move that keeps the game open, in place of the bot's own."""
        game = referee.game
        if answer.fault is not None or game.actions_a_turn > 1 or not game.is_legal(referee.state, answer.move):
            return answer
        move = nonfinal_move(game, referee.state, self._dice.choice)
        return answer if move is None else replace(answer, move=move)


def long_games(on: Examination) -> Iterator[CheckResult]:
    """Games in which other moves are played than the bot wants, as a substitute would be: they last, and surprise."""
    trials = [TrialGame(f"as seat {seat}, other moves being played for it", seat, number=50 + seat) for seat in (0, 1)]
    yield from _games(on, "long", trials, "it follows long games that do not go its way", FAILURE, Steering)


def clocks(on: Examination) -> Iterator[CheckResult]:
    """No clock at all, and less time than usual; how long its answers took under the usual clock."""
    free = [
        TrialGame("without a clock (deadline_ms is null)", clock="none", number=60),
        TrialGame("with a budget of positions instead of a clock", 1, clock="nodes=1000", number=61),
    ]
    yield from _games(on, "clock", free, "it plays without a clock")
    hurried = [
        TrialGame("with 100 ms a move", clock="100ms", number=62),
        TrialGame("with 2 s for the game and 50 ms more each move", 1, clock="2s++50ms", number=63),
    ]
    yield from _games(on, "clock", hurried, "it plays with 100 ms a move, and with 2 s a game", WARNING)
    yield from _times(on)


def _times(on: Examination) -> Iterator[CheckResult]:
    seconds = sorted(answer.seconds for answer in on.answers)
    if not seconds:
        return
    limit = _usual_limit(on)
    middle, most = seconds[len(seconds) // 2], seconds[-1]
    words = f"its answers took {_duration(middle)} as a rule, {_duration(most)} at most ({len(seconds)} answers"
    if limit is not None and most > NEARLY_LATE * limit:
        yield CheckResult("clock", WARNING, f"{words}): that is close to the {_duration(limit)} of the clock")
    else:
        yield CheckResult("clock", NOTE, f"{words}; the clock {'is ' + on.clock if limit else 'stands'})")


def _usual_limit(on: Examination) -> float | None:
    clock = Clock.parse(on.clock)
    return clock.move_ms / 1000 if clock.move_ms else None


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


# What may come in between


class Strangers(Interference):
    """Messages of unknown types before every question, and unknown keys in the known ones."""

    def greet(self, hello: dict[str, Any]) -> dict[str, Any]:
        """A greeting with something new in it."""
        return {**hello, "weather": {"wind": [1.5e-3, -0.0], "sky": "grau, fünf Grad ☁"}}

    def before(self, referee: Referee, turn: Turn, patient: RecordingSeat, seat: int) -> Turn:
        """Something that the bot cannot know."""
        if turn.seat != seat:
            return turn
        for message in (
            {
                "type": "weather",
                "match": referee.match,
                "text": 'a "turn": {"type": "turn"} \\ ünïcödé 🎲 ]}',
                "n": 1e300,
            },
            {"type": "turns", "match": referee.match, "turn": turn.number, "legal_moves": [], "state": None},
            {
                "type": "long",
                "match": referee.match,
                "text": "x" * (20_000 if turn.number < 4 else 10),
                "deep": [[[[{}]]]],
            },
        ):
            patient.say(seat, message)
        asked = copy(turn)
        asked.message = {"new": [None, {"turn": 0}], **turn.message, "also": "new"}
        return asked


class Observing(Interference):
    """The bot is shown the positions of the others' turns, and many of them at once before its own first turn."""

    def __init__(self) -> None:
        self._flooded = False

    def before(self, referee: Referee, turn: Turn, patient: RecordingSeat, seat: int) -> Turn:
        """An ``observe`` as in games that ask every seat."""
        if turn.seat == seat and self._flooded:
            return turn
        shown = referee.game.observation(referee.state, seat)
        times = 1 if turn.seat != seat else FLOOD
        self._flooded |= times == FLOOD
        number = turn.number if turn.seat != seat else max(0, turn.number - 1)
        for _ in range(times):
            patient.say(seat, messages.observe(referee.match, seat, number, shown))
        return turn


class Refusing(Interference):
    """Every other answer is refused without a reason, and the same question put again."""

    def after(self, referee: Referee, turn: Turn, answer: Answer, patient: RecordingSeat) -> Answer:
        """The second answer counts."""
        if answer.fault is not None or turn.number % 4 >= 2:
            return answer
        if referee.game.actions_a_turn == 1 and not referee.game.is_legal(referee.state, answer.move):
            return answer
        why = "the doctor refuses this move, to see what happens"
        patient.say(turn.seat, messages.refused(referee.match, turn.number, why, 9))
        return patient.ask(turn)


def unknown(on: Examination) -> Iterator[CheckResult]:
    """Messages and keys that it cannot know."""
    if on.inside:
        yield CheckResult("unknown", SKIPPED, "a built-in is sent no messages")
        return
    trials = [TrialGame(f"as seat {seat}, unknown messages in between", seat, number=70 + seat) for seat in (0, 1)]
    yield from _games(on, "unknown", trials, "it ignores messages and keys that it does not know", FAILURE, Strangers)


def observing(on: Examination) -> Iterator[CheckResult]:
    """Positions that it is shown while others move."""
    if on.inside:
        yield CheckResult("observe", SKIPPED, "a built-in is sent no messages")
        return
    grade = FAILURE if on.game.asks_every_seat else WARNING
    trials = [TrialGame(f"as seat {seat}, shown the others' turns", seat, number=80 + seat) for seat in (0, 1)]
    yield from _games(on, "observe", trials, "being shown the others' turns does not disturb it", grade, Observing)


def refusing(on: Examination) -> Iterator[CheckResult]:
    """Moves that are refused, although they are legal; the same turn is asked again."""
    if on.inside:
        yield CheckResult("refused", SKIPPED, "a built-in is sent no messages")
        return
    grade = FAILURE if on.game.policy.startswith(RETRY) else WARNING
    trials = [TrialGame("after a refusal", seat, policy=f"{RETRY}:10", number=90 + seat) for seat in (0, 1)]
    yield from _games(on, "refused", trials, "it answers again after a refusal", grade, Refusing)


# Special conditions


def again(on: Examination) -> Iterator[CheckResult]:
    """Three games in one process, in different seats."""
    patient = RecordingSeat(make_seat(on.spec, on.game, on.seed))
    try:
        for number in range(3):
            trial = TrialGame(f"in game {number + 1} of one process", number % on.game.seats, number=100 + number)
            played = on.play(trial, patient=patient)
            if played.verdict:
                yield on.judged("again", played, WARNING if number else FAILURE)
                return
    finally:
        patient.close()
    yield CheckResult("again", HELD, "it plays several games in one process")


def hidden(on: Examination) -> Iterator[CheckResult]:
    """Games in which the legal moves are not shown."""
    trials = [
        TrialGame(f"as seat {seat}, legal moves hidden", seat, legal_moves=False, number=110 + seat) for seat in (0, 1)
    ]
    yield from _games(on, "hidden", trials, "it needs no list of legal moves", WARNING)


def options(on: Examination) -> Iterator[CheckResult]:
    """Games with options that are seldom chosen."""
    unusual = [one for one in UNUSUAL.get(on.game.id, ()) if {**on.game.options, **one} != on.game.options]
    trials = [
        TrialGame("with " + ", ".join(f"{name}={value}" for name, value in one.items()), 1, one, number=120 + number)
        for number, one in enumerate(unusual)
    ]
    if not trials:
        yield CheckResult("options", SKIPPED, f"nothing is known of unusual options of {on.game.id}")
        return
    yield from _games(on, "options", trials, "it plays with unusual options", WARNING)


CHECKS = (
    Check("start", "does it start?", starting),
    Check("seats", "does it play in every seat?", seats),
    Check("openings", "does it go on from openings?", openings),
    Check("policies", "does it stay legal under every policy?", policies),
    Check("long", "does it follow long games?", long_games),
    Check("unknown", "does it ignore what it does not know?", unknown),
    Check("observe", "does it bear being shown the others' turns?", observing),
    Check("refused", "does it answer again after a refusal?", refusing),
    Check("clock", "does it keep its time?", clocks),
    Check("again", "does it play several games in one process?", again),
    Check("hidden", "does it play without a list of legal moves?", hidden),
    Check("options", "does it play with unusual options?", options),
    Check("closing", "does it leave by itself?", closing),
    Check("noise", "does it keep quiet?", noise),
)
