"""The doctor's checks of a bot's process: whether it leaves by itself, and what it writes beside its answers."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

from ludodrome.arena import messages
from ludodrome.arena.doctor.examination import HELD, NOTE, SKIPPED, WARNING, Examination, Finding, Trial
from ludodrome.arena.doctor.patients import Patient
from ludodrome.arena.referee import Referee
from ludodrome.arena.transports import BOX, command
from ludodrome.arena.transports import seat as make_seat
from ludodrome.arena.transports.processes import KEPT, Process

PATIENCE = 10.0
"""Seconds in which a program should have started, heard what there is to hear, and left."""


def closing(on: Examination) -> Iterator[Finding]:
    """Its input is closed before the first turn, and in the middle of a game; it should leave by itself."""
    if on.inside:
        yield Finding("closing", SKIPPED, "a built-in has no process")
        return
    slowest, troubles = 0.0, 0
    for words, turns in (("after the greeting", 0), ("in the middle of a game", 2), ("after a game", None)):
        told = _conversation(on, turns)
        seconds, code = _leaving(on, told)
        slowest = max(slowest, seconds)
        if code is None:
            troubles += 1
            sentence = f"{words}, its stdin closed: it had not left after {PATIENCE:.0f} s, and was killed"
            yield Finding("closing", WARNING, sentence)
            return
        elif code != 0:
            troubles += 1
            how = f"with code {code}" if code > 0 else f"by {signal.Signals(-code).name}"
            yield Finding("closing", WARNING, f"{words}, its stdin closed: it left {how}, where 0 would be right")
    if not troubles:
        yield Finding("closing", HELD, f"it leaves by itself when its stdin closes, within {slowest:.1f} s")


def _conversation(on: Examination, turns: int | None) -> bytes:
    """What is said to a bot in a game up to so many of its turns; None: to its end. Somebody else answers."""
    assignment = on.assignment(Trial("", number=130))
    table = Referee(assignment)
    patient = Patient(make_seat("random", table.game, 1))
    others = [make_seat("random", table.game, seat) for seat in range(1, table.game.seats)]
    patient.start(table.hello(0))
    while table.turn is not None and (turns is None or len(patient.answers) < turns):
        for notice in table.notices():
            if notice.seat == 0:
                patient.tell(notice)
        turn = table.turn
        table.deliver(patient.ask(turn) if turn.seat == 0 else others[turn.seat - 1].ask(turn))
    for notice in table.notices():
        if notice.seat == 0 and table.turn is None:
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
        from ludodrome.arena import sandbox
        from ludodrome.arena.sandbox.boxes import BoxedProcess

        return BoxedProcess(sandbox.box(Path(rest)))
    return Process(command(kind, rest))


def noise(on: Examination) -> Iterator[Finding]:
    """What it wrote to its standard error, and answers that nobody had asked for."""
    if on.inside:
        yield Finding("noise", SKIPPED, "a built-in writes nothing")
        return
    played = on.play(Trial("", number=140))
    notes = played.record.get("notes", [[]] * on.game.seats)[0]
    if notes:
        yield on.trouble("noise", WARNING, played, f"it said what nobody had asked for: {notes[0]}")
    if on.stderr >= KEPT - 1000:
        yield Finding("noise", WARNING, f"it writes much to stderr: only {KEPT // 1024} KB of each game are kept")
    elif on.stderr:
        words = f"it writes to stderr, up to {on.stderr} characters a game; they are kept with the record"
        yield Finding("noise", NOTE, words)
    elif not notes:
        yield Finding("noise", HELD, "it says nothing beside its answers")
