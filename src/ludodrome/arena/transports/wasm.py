"""A WebAssembly program as a seat: the protocol's lines on its standard input and output, in this process.

Every game gets a fresh instance, so a game does not depend on the ones before it. The program runs only from a message
until it asks for the next one, so a clock is not needed to tell that it will not answer: it asks for more input.
"""

import signal
import time
from dataclasses import replace
from pathlib import Path

from ludodrome.arena import messages
from ludodrome.arena.messages import MAX_LINE, Message
from ludodrome.arena.seats import CRASH, PROTOCOL, TIMEOUT, Answer, BotCapabilities, Notice, Traffic, Turn
from ludodrome.arena.transports.conversation import Conversation
from ludodrome.arena.transports.wasi import MAX_TRANSFER
from ludodrome.arena.transports.wasm_guest import Guest
from ludodrome.arena.transports.wasm_modules import compiled, read_module

START_FUEL = 10_000_000_000
"""Instructions until the first turn, if fuel is counted: like the seconds of a start, they are not charged."""
NOTICE_FUEL, NOTICE_FUEL_A_BYTE = 1_000_000, 100
"""Instructions for a message that needs no answer. An ``observe`` has those of a move: some bots answer it."""
FINAL_FUEL = 100_000_000
"""Instructions after the end of the input."""
GRACE = 1.0
"""Seconds for a program to end after the game, once its input has ended ..."""
LITTLE_GRACE = 0.1
"""... or after it failed."""


class WasmSeat:
    """A bot in a WebAssembly module. ValueError: the file is not one."""

    def __init__(
        self, name: str, module: bytes | Path, seed: int, longest_line: int = MAX_LINE, tolerant: bool = False
    ) -> None:
        self.name = name
        self._artifact = compiled(read_module(module) if isinstance(module, Path) else module)
        self._seed = seed
        self._talk = Conversation(longest_line, tolerant=tolerant)
        self._max_pending = longest_line + MAX_TRANSFER
        """Bytes that are kept of what a program writes without being asked."""
        self._guest: Guest | None = None
        self._fuel: int | None = None
        self._stderr = ""
        self._traffic: Traffic | None = None
        self._answer: Answer | None = None
        self._asking = False
        self._pending = 0
        self._flooded = False

    @property
    def stderr(self) -> str:
        """Its standard error."""
        return bytes(self._guest.stderr).decode("utf-8", "backslashreplace") if self._guest else self._stderr

    @property
    def notes(self) -> list[str]:
        """What was dropped, and why."""
        return self._talk.notes

    @property
    def capabilities(self) -> BotCapabilities:
        """What it said in ``ready``. It plays one game: an instance is made in less than a millisecond."""
        return replace(self._talk.capabilities, games_many=False)

    def record_traffic(self, traffic: Traffic | None) -> None:
        """Pass on all lines in both directions, and standard error."""
        self._traffic = self._talk.traffic = traffic
        if self._guest is not None:
            self._guest.traffic = traffic

    def start(self, hello: Message) -> None:
        """Start a game in a fresh instance."""
        self.close()
        self._talk.start(hello["match"])
        clock = hello["clock"] or {}
        self._fuel = clock.get("fuel")
        timed = self._fuel is None and "move_ms" in clock
        self._asking, self._answer, self._pending, self._flooded = False, None, 0, False
        fuel = None if self._fuel is None else START_FUEL
        self._guest = Guest(self._artifact, self._seed, fuel, timed, self._hear)
        self.record_traffic(self._traffic)
        self._deliver(hello, fuel)

    def ask(self, turn: Turn) -> Answer:
        """Ask for a move; return it, or a fault, no later than the deadline."""
        guest = self._guest
        assert guest is not None
        self._talk.begin(turn)
        with guest.changed:
            self._answer = None
            answer = self._settle(guest)
            if answer is None:
                self._talk.asked(settled=True)
                self._asking = True
                self._deliver(turn.message if guest.timed else {**turn.message, "ts_ms": 0}, turn.fuel)
                self._wait(guest)
                answer = self._answer or self._failure(guest)
                self._asking = False
        if answer.fault is not None and answer.fault.cause == TIMEOUT and not guest.idle:
            guest.stop()
        return answer

    def _settle(self, guest: Guest) -> Answer | None:
        """Wait until the program has read all earlier messages; what it wrote until then does not answer this one."""
        self._wait(guest)
        if self._flooded:
            return self._talk.fault(PROTOCOL, f"it wrote more than {self._max_pending} bytes without being asked")
        self._pending = 0
        answer = self._talk.answer()
        if answer is None and not guest.idle:
            answer = self._failure(guest)
        return answer

    def _wait(self, guest: Guest) -> None:
        """Wait until the program answers, waits for the next message or ends, or until time runs out."""
        while not (self._answer or guest.idle or guest.ended):
            left = self._talk.deadline - time.monotonic()
            if left <= 0:
                return
            guest.changed.wait(left)

    def _failure(self, guest: Guest) -> Answer:
        """Why there is no answer."""
        fuel = guest.used() if self._fuel is not None and (guest.ended or guest.idle) else None
        self._talk.in_time()
        if guest.end is not None and guest.end.cause == CRASH:
            answer = self._talk.crash(guest.end.why)
        elif guest.end is not None:
            answer = self._talk.fault(guest.end.cause, guest.end.why)
        elif guest.idle:  # it has read the question, so no answer is on its way
            answer = self._talk.fault(TIMEOUT, "it asked for the next message instead of answering")
        else:
            answer = self._talk.fault(TIMEOUT, "no answer came in time")
        return replace(answer, fuel=fuel)

    def notify(self, notice: Notice) -> None:
        """Pass on a notice."""
        message = notice.message
        if message["type"] == "observe":
            self._talk.observe(message["turn"])
        fuel = None
        if self._fuel is not None:
            small = NOTICE_FUEL + NOTICE_FUEL_A_BYTE * len(messages.line(message))
            fuel = max(small, self._fuel) if message["type"] == "observe" else small
        self._deliver(message, fuel)

    def close(self) -> None:
        """End the program."""
        guest, self._guest = self._guest, None
        if guest is None:
            return
        with guest.changed:
            failed = self._flooded or guest.end is not None
            guest.end_input(FINAL_FUEL)
            guest.changed.wait_for(lambda: guest.ended, LITTLE_GRACE if failed else GRACE)
        guest.stop()
        self._stderr = bytes(guest.stderr).decode("utf-8", "backslashreplace")
        self._talk.overhear(b"")

    def _deliver(self, message: Message, fuel: int | None) -> None:
        guest = self._guest
        if guest is None:
            return
        line = messages.line(message)
        if self._traffic is not None:
            self._traffic("to", line.decode().rstrip("\n"))
        with guest.changed:
            guest.deliver(line, fuel)

    def _hear(self, data: bytes) -> bool:
        """Take output, in the program's thread and under ``changed``."""
        guest = self._guest
        if self._asking and self._answer is None and guest is not None:
            self._talk.receive(data)
            answer = self._talk.answer()
            if answer is not None:
                self._answer = replace(answer, fuel=None if self._fuel is None else guest.used())
                guest.changed.notify_all()
            return True
        self._pending += len(data)
        self._flooded = self._flooded or self._pending > self._max_pending
        if not self._flooded:
            self._talk.receive(data)
        return not self._flooded


def leave(module: Path, sent: bytes, seconds: float) -> tuple[float, int | None]:
    """Send lines to a program, end its input, and return the seconds until it exited, and its exit code.

    The code is None if it stayed (until the time or its instructions ran out), and negative, as of a process that
    aborted, if it failed.
    """
    guest = Guest(compiled(read_module(module)), 0, None, False, lambda data: True)
    began = time.monotonic()
    try:
        with guest.changed:
            for line in sent.splitlines(keepends=True):
                guest.deliver(line, None)
            guest.end_input(FINAL_FUEL)
            guest.changed.wait_for(lambda: guest.ended, seconds)
            end = guest.end
        taken = time.monotonic() - began
    finally:
        guest.stop()
    if end is None or end.cause == TIMEOUT:
        return taken, None
    return taken, -signal.SIGABRT if end.code is None else end.code
