"""The doctor's checks. Each plays a few games in which one thing is unusual, and says what held and what did not.

A check is a function from an examination to results. ``CHECKS`` lists them in order;
docs/tutorials/writing-a-bot.md explains them. ``examination.py`` plays the games.
"""

import signal
import time
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ludodrome.arena import messages, sandbox
from ludodrome.arena.clocks import MAX_FUEL, Clock
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
from ludodrome.splitmix import SplitMix64

SLOW_START = 2.0
"""A first answer that takes longer, in seconds, gets a warning."""
NEARLY_LATE = 0.8
"""Answers that take more than this share of the time get a warning."""
EXIT_SECONDS = 10.0
"""Seconds for a program to start, read its input and exit."""
FLOOD = 50
"""The number of notices in a row."""


class Check(NamedTuple):
    """One part of an examination."""

    name: str
    question: str
    """Shown while the check runs."""
    run: Callable[[Examination], Iterable[CheckResult]]


def _games(
    on: Examination,
    check: str,
    trials: Iterable[TrialGame],
    held: str,
    grade: str = FAILURE,
    interference: Callable[[], Interference] = Interference,
) -> Iterator[CheckResult]:
    """Play trials; yield a result for each kind of problem, or one that says what held."""
    problems: dict[tuple[str, str], list[CheckResult]] = {}
    turns = games = 0
    for trial in trials:
        played = on.play(trial, interference())
        games += 1
        turns += sum(entry["seat"] == trial.seat for entry in played.record["turns"])
        if verdict := played.verdict:
            same = problems.setdefault((verdict["cause"], verdict["why"]), [])
            same.append(on.verdict_result(check, played, grade))
        elif played.refusals:
            problems.setdefault(("refused", ""), []).append(_refused(on, check, played))
    for first, *others in problems.values():
        more = f" (and in {_count(len(others), 'more game')})" if others else ""
        yield replace(first, sentence=first.sentence + more)
    if not problems:
        yield CheckResult(check, HELD, f"{held} ({_count(games, 'game')}, {_count(turns, 'turn')})")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _refused(on: Examination, check: str, played: TrialResult) -> CheckResult:
    """A result about illegal moves that the policy allowed."""
    first = played.refusals[0]
    number = _count(len(played.refusals), "answer")
    words = f"{played.trial.words}: {number} refused, first in turn {first['turn']}: {first['why']}"
    return on.problem(check, WARNING, played, words)


# Usual conditions


def starting(on: Examination) -> Iterator[CheckResult]:
    """Play one game; measure the first answer."""
    played = on.play(TrialGame("in its first game"))
    if played.verdict:
        yield on.verdict_result("start", played)
        return
    seconds = played.recorder.answers[0].seconds if played.recorder.answers else 0.0
    grade = WARNING if seconds > SLOW_START else HELD
    slow = "; the first ten seconds are not charged, but every game begins with them" if grade == WARNING else ""
    yield CheckResult("start", grade, f"its first answer came {_duration(seconds)} after it was asked{slow}")


def seats(on: Examination) -> Iterator[CheckResult]:
    """Play a game in each seat."""
    trials = [TrialGame(f"as seat {seat}", seat, number=10 + seat) for seat in range(on.game.seats)]
    yield from _games(on, "seats", trials, "it plays in every seat")


def openings(on: Examination) -> Iterator[CheckResult]:
    """Play games that start after a few moves, as in a match, from positions that the bot does not expect."""
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
    """Play a game under each policy."""
    trials = [
        TrialGame(f"with the policy {policy}", number % on.game.seats, policy=policy, number=40 + number)
        for number, policy in enumerate((FORFEIT, SUBSTITUTE, f"{RETRY}:10"))
    ]
    yield from _games(on, "policies", trials, "no policy found anything to punish")


class Steering(Interference):
    """Replaces every move by another one, so that the game lasts; the bot's own move must be legal."""

    both = True

    def __init__(self) -> None:
        self._rng = SplitMix64(1)

    def after(self, referee: Referee, turn: Turn, answer: Answer, recorder: RecordingSeat) -> Answer:
        """Return a move that does not end the game."""
        game = referee.game
        if answer.fault is not None or game.actions_a_turn > 1 or not game.is_legal(referee.state, answer.move):
            return answer
        move = nonfinal_move(game, referee.state, self._rng.choice)
        return answer if move is None else replace(answer, move=move)


def long_games(on: Examination) -> Iterator[CheckResult]:
    """Play games with other moves than the bot's, as with substitution: they are long and unexpected."""
    trials = [TrialGame(f"as seat {seat}, other moves being played for it", seat, number=50 + seat) for seat in (0, 1)]
    yield from _games(on, "long", trials, "it follows long games that do not go its way", FAILURE, Steering)


def clocks(on: Examination) -> Iterator[CheckResult]:
    """Play without a clock and with little time; report the times under the usual clock."""
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
        yield CheckResult("clock", NOTE, f"{words}; the clock {'is ' + on.clock if limit else 'is off'})")


def _usual_limit(on: Examination) -> float | None:
    clock = Clock.parse(on.clock)
    return clock.move_ms / 1000 if clock.move_ms else None


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


# Other messages


class UnknownMessages(Interference):
    """Sends messages of unknown types before every question, and unknown keys in known ones."""

    def greet(self, hello: dict[str, Any]) -> dict[str, Any]:
        """Add an unknown key to the greeting."""
        return {**hello, "weather": {"wind": [1.5e-3, -0.0], "sky": "grau, fünf Grad ☁"}}

    def before(self, referee: Referee, turn: Turn, recorder: RecordingSeat, seat: int) -> Turn:
        """Send unknown messages before the bot's turn."""
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
            recorder.say(seat, message)
        asked = copy(turn)
        asked.message = {"new": [None, {"turn": 0}], **turn.message, "also": "new"}
        return asked


class Observing(Interference):
    """Shows the bot the positions of the others' turns, and many at once before its own first turn."""

    def __init__(self) -> None:
        self._flooded = False

    def before(self, referee: Referee, turn: Turn, recorder: RecordingSeat, seat: int) -> Turn:
        """Send ``observe``, as in games that ask every seat."""
        if turn.seat == seat and self._flooded:
            return turn
        shown = referee.game.observation(referee.state, seat)
        times = 1 if turn.seat != seat else FLOOD
        self._flooded |= times == FLOOD
        number = turn.number if turn.seat != seat else max(0, turn.number - 1)
        for _ in range(times):
            recorder.say(seat, messages.observe(referee.match, seat, number, shown))
        return turn


class Refusing(Interference):
    """Refuses every other answer and asks the same question again."""

    def after(self, referee: Referee, turn: Turn, answer: Answer, recorder: RecordingSeat) -> Answer:
        """Return the second answer."""
        if answer.fault is not None or turn.number % 4 >= 2:
            return answer
        if referee.game.actions_a_turn == 1 and not referee.game.is_legal(referee.state, answer.move):
            return answer
        why = "the doctor refuses this move, to see what happens"
        recorder.say(turn.seat, messages.refused(referee.match, turn.number, why, 9))
        return recorder.ask(turn)


def unknown(on: Examination) -> Iterator[CheckResult]:
    """Send unknown messages and keys."""
    if on.is_builtin:
        yield CheckResult("unknown", SKIPPED, "a built-in is sent no messages")
        return
    trials = [TrialGame(f"as seat {seat}, unknown messages in between", seat, number=70 + seat) for seat in (0, 1)]
    yield from _games(
        on, "unknown", trials, "it ignores messages and keys that it does not know", FAILURE, UnknownMessages
    )


def observing(on: Examination) -> Iterator[CheckResult]:
    """Show positions while others move."""
    if on.is_builtin:
        yield CheckResult("observe", SKIPPED, "a built-in is sent no messages")
        return
    grade = FAILURE if on.game.asks_every_seat else WARNING
    trials = [TrialGame(f"as seat {seat}, shown the others' turns", seat, number=80 + seat) for seat in (0, 1)]
    yield from _games(on, "observe", trials, "being shown the others' turns does not disturb it", grade, Observing)


def refusing(on: Examination) -> Iterator[CheckResult]:
    """Refuse legal moves and ask again."""
    if on.is_builtin:
        yield CheckResult("refused", SKIPPED, "a built-in is sent no messages")
        return
    grade = FAILURE if on.game.policy.startswith(RETRY) else WARNING
    trials = [TrialGame("after a refusal", seat, policy=f"{RETRY}:10", number=90 + seat) for seat in (0, 1)]
    yield from _games(on, "refused", trials, "it answers again after a refusal", grade, Refusing)


# Special conditions


def again(on: Examination) -> Iterator[CheckResult]:
    """Play three games in one process, in different seats."""
    if on.is_wasm:
        yield CheckResult("again", SKIPPED, "every game gets an instance of its own")
        return
    recorder = RecordingSeat(make_seat(on.spec, on.game, on.seed))
    try:
        for number in range(3):
            trial = TrialGame(f"in game {number + 1} of one process", number % on.game.seats, number=100 + number)
            played = on.play(trial, recorder=recorder)
            if played.verdict:
                yield on.verdict_result("again", played, WARNING if number else FAILURE)
                return
    finally:
        recorder.close()
    yield CheckResult("again", HELD, "it plays several games in one process")


def hidden(on: Examination) -> Iterator[CheckResult]:
    """Play games without a list of legal moves."""
    trials = [
        TrialGame(f"as seat {seat}, legal moves hidden", seat, legal_moves=False, number=110 + seat) for seat in (0, 1)
    ]
    yield from _games(on, "hidden", trials, "it needs no list of legal moves", WARNING)


def options(on: Examination) -> Iterator[CheckResult]:
    """Play games with rarely used options."""
    unusual = [one for one in on.game.doctor_options if {**on.game.options, **one} != on.game.options]
    trials = [
        TrialGame("with " + ", ".join(f"{name}={value}" for name, value in one.items()), 1, one, number=120 + number)
        for number, one in enumerate(unusual)
    ]
    if not trials:
        yield CheckResult("options", SKIPPED, f"nothing is known of unusual options of {on.game.id}")
        return
    yield from _games(on, "options", trials, "it plays with unusual options", WARNING)


# The process


def closing(on: Examination) -> Iterator[CheckResult]:
    """Close its input before the first turn, in the middle of a game and after it; the bot should exit."""
    if on.is_builtin:
        yield CheckResult("closing", SKIPPED, "a built-in has no process")
        return
    slowest, problems = 0.0, 0
    for words, turns in (("after the greeting", 0), ("in the middle of a game", 2), ("after a game", None)):
        sent = _conversation(on, turns)
        seconds, code = _leaving(on, sent)
        slowest = max(slowest, seconds)
        if code is None:
            problems += 1
            how = f"it had not left after {EXIT_SECONDS:.0f} s, and was killed"
            if on.is_wasm and seconds < EXIT_SECONDS:
                how = "it had not left when its last instructions were spent"
            yield CheckResult("closing", WARNING, f"{words}, its stdin closed: {how}")
            return
        elif code != 0:
            problems += 1
            how = f"with code {code}" if code > 0 else f"by {signal.Signals(-code).name}"
            yield CheckResult("closing", WARNING, f"{words}, its stdin closed: it left {how}, where 0 would be right")
    if not problems:
        yield CheckResult("closing", HELD, f"it leaves by itself when its stdin closes, within {slowest:.1f} s")


def _conversation(on: Examination, turns: int | None) -> bytes:
    """The messages to a bot in a game, up to ``turns`` of its turns or, if None, to the end. A random bot answers."""
    play_spec = on.play_spec(TrialGame("", number=130))
    referee = Referee(play_spec)
    recorder = RecordingSeat(make_seat("random", referee.game, 1))
    others = [make_seat("random", referee.game, seat) for seat in range(1, referee.game.seats)]
    recorder.start(referee.hello(0))
    while referee.turn is not None and (turns is None or len(recorder.answers) < turns):
        for notice in referee.notices():
            if notice.seat == 0:
                recorder.notify(notice)
        turn = referee.turn
        referee.deliver(recorder.ask(turn) if turn.seat == 0 else others[turn.seat - 1].ask(turn))
    for notice in referee.notices():
        if notice.seat == 0 and referee.turn is None:
            recorder.notify(notice)
    return b"".join(messages.line(message) for message in recorder.sent)


def _leaving(on: Examination, sent: bytes) -> tuple[float, int | None]:
    """Send messages and close stdin; return the seconds until the exit, and the exit code or None."""
    if on.is_wasm:
        from ludodrome.arena.transports import wasm  # an optional extra

        return wasm.leave(Path(on.spec.partition(":")[2]), sent, EXIT_SECONDS)
    process = _started(on.spec)
    began = time.monotonic()
    try:
        process.send(sent)
        code = process.leave(EXIT_SECONDS)
        return time.monotonic() - began, code
    finally:
        process.end(0.0, lambda data: None)


def _started(spec: str) -> Process:
    kind, _, rest = spec.partition(":")
    if kind == BOX:
        return BoxedProcess(sandbox.box(Path(rest)))
    return Process(command(kind, rest))


def fuel(on: Examination) -> Iterator[CheckResult]:
    """Report how many instructions the moves of a WebAssembly bot take. Other bots cannot be measured so."""
    if not on.is_wasm:
        yield CheckResult("fuel", SKIPPED, "only a WebAssembly bot is measured in instructions")
        return
    played = on.play(TrialGame("measured in instructions", clock=str(Clock(fuel=MAX_FUEL)), number=150))
    if played.verdict:
        yield on.verdict_result("fuel", played)
        return
    used = [entry["fuel"] for entry in played.record["turns"] if "fuel" in entry]
    words = f"its moves took {sum(used) // len(used):,} instructions on average and {max(used):,} at most"
    yield CheckResult("fuel", NOTE, f"{words}; `--clock fuel=50M` gives 50 million a move")


def noise(on: Examination) -> Iterator[CheckResult]:
    """Report standard error and unrequested answers."""
    if on.is_builtin:
        yield CheckResult("noise", SKIPPED, "a built-in writes nothing")
        return
    played = on.play(TrialGame("", number=140))
    notes = played.record.get("notes", [[]] * on.game.seats)[0]
    if notes:
        yield on.problem("noise", WARNING, played, f"it sent an unrequested message: {notes[0]}")
    if on.stderr >= MAX_STDERR - 1000:
        yield CheckResult(
            "noise", WARNING, f"it writes much to stderr: only {MAX_STDERR // 1024} KB of each game are kept"
        )
    elif on.stderr:
        words = f"it writes to stderr, up to {on.stderr} characters a game; they are kept with the record"
        yield CheckResult("noise", NOTE, words)
    elif not notes:
        yield CheckResult("noise", HELD, "it says nothing beside its answers")


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
    Check("fuel", "how many instructions do its moves take?", fuel),
    Check("again", "does it play several games in one process?", again),
    Check("hidden", "does it play without a list of legal moves?", hidden),
    Check("options", "does it play with unusual options?", options),
    Check("closing", "does it leave by itself?", closing),
    Check("noise", "does it keep quiet?", noise),
)
