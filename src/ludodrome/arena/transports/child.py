"""A child process as a seat: one JSON object a line on its standard input and output.

Lines are handled in order; the first answer, or the first malformed line, ends the turn. ``processes.py`` starts and
ends the processes.
"""

import errno
import time
from collections.abc import Sequence
from typing import Any

from ludodrome.arena import messages
from ludodrome.arena.messages import MAX_LINE, BadLine, Message, clean_text
from ludodrome.arena.seats import CRASH, ERROR, PROTOCOL, TIMEOUT, Answer, Notice, SeatFault, Turn
from ludodrome.arena.transports.processes import MAX_QUEUED, Process
from ludodrome.validation import show

UNTIMED_SECONDS = 600.0
"""Timeout of an answer without a clock."""
GRACE = 1.0
"""Seconds for a bot to exit after the game, once its input is closed ..."""
LITTLE_GRACE = 0.1
"""... or after it failed to answer once."""
MAX_NOTES = 100
ARENA_ERRORS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
"""Errors at the start of a process that are not the bot's fault."""
MAX_LOGGED = 64 * 1024
"""The most characters of log kept of one bot."""


class ChildSeat:
    """A bot in any language. The process starts with its first game and can play several."""

    def __init__(self, name: str, arguments: Sequence[str], longest_line: int = MAX_LINE) -> None:
        self.name = name
        self.notes: list[str] = []
        self._arguments = list(arguments)
        self._longest = longest_line
        self._process: Process | None = None
        self._failure = ""
        self._buffer = bytearray()
        self._searched = 0
        self._skipping = False
        """Whether to skip the rest of a line that was too long."""
        self._owed = 0
        """The number of unanswered questions; an answer without a turn number belongs to the oldest."""
        self._observed: set[int] = set()
        self._grace = GRACE
        self._logged = self._overheard = 0

    @property
    def stderr(self) -> str:
        """Its standard error."""
        return self._process.stderr if self._process else ""

    # The seat

    def start(self, hello: Message) -> None:
        """Start the process, or another game in it."""
        if self._process is None and not self._failure:
            try:
                self._process = self._begin()
            except OSError as error:
                if error.errno in ARENA_ERRORS:
                    raise
                self._failure = f"it could not be started: {error.strerror}"
                return
            self._process.limit_reading()
        self._observed.clear()
        self._send(hello)

    def _begin(self) -> Process:
        return Process(self._arguments)

    def ask(self, turn: Turn) -> Answer:
        """Ask for a move; return it, or a fault, no later than the deadline. Time runs once the process can run."""
        question = messages.line(turn.message)
        if self._process is None:
            return _Asking(turn, time.monotonic()).fault(CRASH, self._failure)
        self._process.begin_turn()
        try:
            return self._ask(question, _Asking(turn, time.monotonic()), self._process)
        finally:
            self._process.end_turn()

    def _ask(self, question: bytes, asking: "_Asking", process: Process) -> Answer:
        process.send(question)
        while True:
            while asking.in_time() and (text := self._line()) is not None:
                if answer := self._hear(text, asking):
                    return answer
            if not asking.in_time():
                self._owed += 1
                self._grace = LITTLE_GRACE
                return asking.fault(TIMEOUT, "no answer came in time")
            if self._is_too_long():
                return asking.fault(PROTOCOL, f"its line was longer than {self._longest} bytes")
            if process.finished_output:
                self._grace = LITTLE_GRACE
                return asking.fault(CRASH, process.last_words())
            self._buffer += process.receive(asking.deadline - time.monotonic())

    def notify(self, notice: Notice) -> None:
        """Send a notice, unless the process stopped reading long ago."""
        if self._process is None:
            return
        message = notice.message
        if message["type"] == "observe":
            self._observed.add(message["turn"])
            if self._process.queued > MAX_QUEUED:
                return
        self._send(message)

    def close(self) -> None:
        """End the process and everything it started."""
        if self._process is not None:
            self._process.end(self._grace, self._overhear)

    # Receiving

    def _send(self, message: Message) -> None:
        if self._process is not None:
            self._process.send(messages.line(message))

    def _line(self) -> bytes | None:
        """The next complete line, without its end."""
        end = self._buffer.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._buffer)
            if self._skipping:
                self._buffer.clear()
                self._searched = 0
            return None
        text = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        if self._skipping:
            self._skipping = False
            return b""
        return text

    def _is_too_long(self) -> bool:
        """Whether the incomplete line exceeds the limit; if so, skip the rest of it."""
        if len(self._buffer) <= self._longest:
            return False
        self._buffer.clear()
        self._searched = 0
        self._skipping = True
        self._grace = LITTLE_GRACE
        return True

    def _hear(self, text: bytes, asking: "_Asking") -> Answer | None:
        """Handle a line; return the answer if it is one."""
        if not text.strip():
            return None
        try:
            message = messages.read(text, self._longest)
            kind = message_kind(message)
        except BadLine as wrong:
            sent = clean_text(text[: 4 * messages.MAX_TEXT].decode("utf-8", "backslashreplace"))
            return asking.fault(PROTOCOL, str(wrong), sent)
        if kind == "log":
            self._log(message["text"], asking)
        elif kind in ("move", "error") and self._is_current(message, asking.turn.number):
            if kind == "move":
                return asking.move(message["move"])
            return asking.fault(ERROR, clean_text(message["error"]))
        return None

    def _is_current(self, message: Message, number: int) -> bool:
        """Whether a message answers the open question; if not, drop it and add a note."""
        if "turn" in message:
            self._owed = 0
            if message["turn"] == number:
                return True
            if message["turn"] not in self._observed:
                self._note(f"an answer to turn {show(message['turn'])} came in turn {number} and was dropped")
            return False
        if self._owed:
            self._owed -= 1
            self._note(f"a late answer without a number came in turn {number} and was dropped")
            return False
        return True

    def _log(self, text: str, asking: "_Asking") -> None:
        words = clean_text(text)
        if self._logged + len(words) <= MAX_LOGGED:
            self._logged += len(words)
            asking.log.append(words)

    def _note(self, text: str) -> None:
        if len(self.notes) < MAX_NOTES:
            self.notes.append(text)

    def _overhear(self, data: bytes) -> None:
        """Keep log messages that come after the game, up to the length of one line."""
        self._overheard += len(data)
        if self._overheard > self._longest:
            return
        self._buffer += data
        while (text := self._line()) is not None:
            try:
                message = messages.read(text, self._longest)
                if message_kind(message) == "log":
                    self._note(f"after the game: {clean_text(message['text'])}")
            except BadLine:
                continue


class _Asking:
    """One open question: its start, its deadline, its log."""

    def __init__(self, turn: Turn, now: float) -> None:
        self.turn = turn
        self.log: list[str] = []
        self._began = now
        self.deadline = now + turn.allowance + (UNTIMED_SECONDS if turn.seconds is None else turn.seconds)
        """When time runs out."""
        self._seconds = 0.0

    def in_time(self) -> bool:
        """Whether there is time left. Fixes the time that an answer found now took."""
        now = time.monotonic()
        self._seconds = now - self._began
        return now < self.deadline

    def move(self, move: Any) -> Answer:
        """An answer with a move."""
        return Answer(self._seconds, move, log=tuple(self.log))

    def fault(self, cause: str, why: str, sent: str | None = None) -> Answer:
        """An answer with a fault."""
        return Answer(self._seconds, fault=SeatFault(cause, why), sent=sent, log=tuple(self.log))


def message_kind(message: Message) -> str:
    """Check the fields of a bot's message and return its type; BadLine if they are wrong."""
    kind = message.get("type")
    if type(kind) is not str:
        raise BadLine(f'a message has a type, as in {{"type": "move", "move": ...}}, not {show(kind)}')
    if kind == "move" and "move" not in message:
        raise BadLine("a message of the type move has the key move")
    for name, owner in (("error", "error"), ("text", "log")):
        if kind == owner and type(message.get(name)) is not str:
            raise BadLine(f"a message of the type {owner} has the key {name}, a text, not {show(message.get(name))}")
    if kind in ("move", "error") and "turn" in message and type(message["turn"]) is not int:
        raise BadLine(f"turn is a whole number, not {show(message['turn'])}")
    return kind
