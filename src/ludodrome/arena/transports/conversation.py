"""What a bot says in a game, line by line: which line answers the open question, and what the record keeps beside it.

A ``Conversation`` neither waits nor sends. ``child.py`` carries its bytes through pipes, ``remote.py`` its frames
through a WebSocket. Lines are handled in order; the first answer to the open question, or the first malformed line,
ends the turn.

An answer with a turn number is matched by it. An answer without one that came before the question was sent belongs to
an earlier message, and is dropped. After that it is the answer, unless earlier messages can still be unanswered:

- a question that timed out is owed an answer;
- an ``observe`` can have one on its way, unless the transport knows that the bot has read everything that was sent
  before the question (``asked(settled=True)``). If it cannot know, the answer belongs to the oldest unanswered message
  of a bot that has been seen to answer ``observe``.

Of several answers without a number that come together after an ``observe``, the last one is to the question.
"""

import time
from collections import deque
from typing import Any

from ludodrome.arena import messages
from ludodrome.arena.messages import MAX_INFO, MAX_LINE, BadLine, Message, NotJson, clean_text
from ludodrome.arena.seats import (
    CRASH,
    ERROR,
    NO_CAPABILITIES,
    PROTOCOL,
    TIMEOUT,
    Answer,
    BotCapabilities,
    SeatFault,
    Traffic,
    Turn,
)
from ludodrome.arena.telemetry import MAX_TURN_INFO
from ludodrome.validation import show

UNTIMED_SECONDS = 600.0
"""Timeout of an answer without a clock."""
MAX_NOTES = 100
MAX_LOGGED = 64 * 1024
"""The most characters of log kept of one bot in a game."""


class Conversation:
    """The bot's side of the protocol, in one game after another.

    Call ``start``, then for each turn ``begin``, ``asked`` and, as bytes come, ``receive`` and ``answer``.
    """

    def __init__(self, longest_line: int = MAX_LINE, needs_numbers: bool = False, tolerant: bool = False) -> None:
        self.notes: list[str] = []
        """What was dropped, and why, in this game."""
        self.capabilities = NO_CAPABILITIES
        self.longest_line = longest_line
        self.traffic: Traffic | None = None
        """Takes every line that the bot sent; the transport passes on the rest."""
        self._needs_numbers = needs_numbers
        """Whether each answer must have a turn number."""
        self.tolerant = tolerant
        """Whether lines that are no JSON objects are ignored."""
        self._buffer = bytearray()
        self._searched = 0
        self._skipping = False
        """Whether to skip the rest of a line that was too long."""
        self._begun_early = False
        """Whether the line in the buffer began before the open question was sent."""
        self._asking: _OpenQuestion | None = None
        self._owed = 0
        """The number of questions that timed out and were not answered since."""
        self._unsettled = 0
        """The number of ``observe`` messages that may still be answered."""
        self._observed: set[int] = set()
        """The turns of this game in which it was sent ``observe``."""
        self.start()

    def start(self, match: str = "") -> None:
        """A game begins: forget what belongs to the last one, except for answers that can still come."""
        self.notes = []
        self.capabilities = NO_CAPABILITIES
        self._match = match
        self._asking = None
        self._ready = False
        self._last_turn = -1
        self._observed_before, self._observed = self._observed, set()
        self._answers_observe = False
        self._numbers: bool | None = None
        """Whether its last answer had a turn number; None before the first."""
        self._logged = self._overheard = 0

    def observe(self, number: int) -> None:
        """An ``observe`` was sent."""
        self._observed.add(number)
        self._unsettled += 1

    @property
    def ready(self) -> bool:
        """Whether it has said ``ready`` in this game."""
        return self._ready

    # A turn

    def begin(self, turn: Turn) -> None:
        """A turn begins, and its clock. Until ``asked``, answers are to earlier messages."""
        self._asking = _OpenQuestion(turn, time.monotonic(), self._ready)

    def start_clock(self) -> None:
        """The clock of the turn starts now, not at ``begin``."""
        self._question.start_clock(time.monotonic())

    @property
    def needs_settling(self) -> bool:
        """Whether an answer without a number could be one to an ``observe``."""
        return self._unsettled > 0 and not self._numbers

    def asked(self, settled: bool = False) -> None:
        """The question is sent. ``settled``: before that, the bot had read, and answered, everything else."""
        asking = self._question
        asking.sent = True
        asking.unanswered = self._unsettled
        self._begun_early = bool(self._buffer.strip())
        if settled:
            self._unsettled = 0
            asking.forget_info()

    @property
    def deadline(self) -> float:
        """When the time for the open question runs out, by ``time.monotonic``."""
        return self._question.deadline

    def in_time(self) -> bool:
        """Whether there is time left. Fixes the time that an answer heard now took."""
        return self._question.in_time()

    def receive(self, data: bytes) -> None:
        """Take bytes of the bot's output."""
        self._buffer += data

    def answer(self) -> Answer | None:
        """Handle the lines received so far; return the answer or the fault that ends the turn, if there is one."""
        asking = self._question
        while asking.in_time():
            text = self._line()
            if text is None:
                return self._too_long()
            if found := self.hear(text):
                return found
        self._owed += 1
        return self.fault(TIMEOUT, self._with_half_line("no answer came in time"), self.half_line)

    def hear(self, text: bytes) -> Answer | None:
        """Handle one line; return the answer or the fault if it ends the turn."""
        if self.traffic is not None:
            self.traffic("from", text.decode("utf-8", "backslashreplace"))
        if not text.strip():
            return None
        early, self._begun_early = self._begun_early or not self._question.sent, False
        try:
            message = messages.read(text, self.longest_line)
            kind = messages.message_kind(message)
            if self._needs_numbers and kind in ("move", "error") and "turn" not in message:
                raise BadLine(f"over a connection a {kind} says which turn it is for")
        except BadLine as wrong:
            sent = clean_text(text[: 4 * messages.MAX_TEXT].decode("utf-8", "backslashreplace"))
            if self.tolerant and isinstance(wrong, NotJson):
                self._note(f"a line that is not JSON came in turn {self._question.turn.number} and was ignored: {sent}")
                return None
            return self.fault(PROTOCOL, str(wrong), sent)
        if kind == "log":
            self._log(message["text"])
        elif kind == "info":
            self._inform(message, len(text))
        elif kind == "ready":
            self._get_ready(message)
        elif kind in ("move", "error") and self._is_current(message, early):
            self._last_turn = self._question.turn.number
            if kind == "move":
                return self._question.answer(message["move"])
            return self.fault(ERROR, clean_text(message["error"]))
        return None

    def fault(self, cause: str, why: str, sent: str | None = None) -> Answer:
        """The answer to the open question that is a fault."""
        return self._question.answer(None, SeatFault(cause, why), sent)

    def crash(self, why: str) -> Answer:
        """The fault of a bot that has ended; what it left of a line is kept."""
        self._question.in_time()
        return self.fault(CRASH, self._with_half_line(why), self.half_line)

    @property
    def half_line(self) -> str | None:
        """The start of the line that has no end yet; None if there is none."""
        if not self._buffer.strip() or self._skipping:
            return None
        return clean_text(bytes(self._buffer[: 4 * messages.MAX_TEXT]).decode("utf-8", "backslashreplace"))

    def _with_half_line(self, why: str) -> str:
        return f"{why}; its last line had no newline" if self.half_line else why

    @property
    def _question(self) -> "_OpenQuestion":
        if self._asking is None:
            raise RuntimeError("no question is open")
        return self._asking

    # Lines

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

    def _too_long(self) -> Answer | None:
        """The fault of an incomplete line that exceeds the limit; the rest of it is skipped."""
        if len(self._buffer) <= self.longest_line:
            return None
        self._buffer.clear()
        self._searched = 0
        self._skipping = True
        return self.fault(PROTOCOL, f"its line was longer than {self.longest_line} bytes")

    # Messages

    def _is_current(self, message: Message, early: bool) -> bool:
        """Whether a message answers the open question; if not, drop it and add a note."""
        number = self._question.turn.number
        if "turn" in message:
            return self._is_numbered(message, number)
        if self._owed:
            self._owed -= 1
            self._note(f"a late answer without a number came in turn {number} and was dropped")
        elif early and not self._unsettled:
            self._note(f"a second answer to turn {self._last_turn} came before turn {number} and was dropped")
        elif early or (self._unsettled and (self._answers_observe or self._numbers)):
            self._unsettled = max(0, self._unsettled - 1)
            self._answers_observe = True
        elif self._question.unanswered and self._is_followed():
            self._question.unanswered -= 1
        else:
            self._numbers = False
            return True
        self._numbers = False
        return False

    def _is_followed(self) -> bool:
        """Whether another answer has come too: the last one is to the question, which is the newest message."""
        number = self._question.turn.number
        for text in bytes(self._buffer).split(b"\n")[:-1]:
            try:
                message = messages.read(text, self.longest_line)
                kind = messages.message_kind(message)
                if kind in ("move", "error") and message.get("turn", number) == number:
                    return True
            except BadLine:
                return False
        return False

    def _is_numbered(self, message: Message, number: int) -> bool:
        self._owed, self._numbers = 0, True
        same_match = message.get("match", self._match) == self._match
        if same_match and message["turn"] == number:
            return True
        if message["turn"] not in self._observed and message["turn"] not in self._observed_before:
            self._note(f"an answer to turn {show(message['turn'])} came in turn {number} and was dropped")
        return False

    def _log(self, text: str) -> None:
        words = clean_text(text)
        if self._logged + len(words) <= MAX_LOGGED:
            self._logged += len(words)
            self._question.log.append(words)

    def _inform(self, message: Message, size: int) -> None:
        """Keep telemetry of this turn; drop it with a note if it is malformed or too much."""
        asking = self._question
        number = asking.turn.number
        try:
            if message.get("turn", number) != number:
                return
            if size > MAX_INFO:
                raise BadLine(f"it has at most {MAX_INFO} bytes, and this one has {size}")
            found = messages.read_info(message)
        except BadLine as wrong:
            self._note(f"info in turn {number} was dropped: {wrong}")
            return
        if found and asking.keep_info(found, size):
            self._note(f"more than {MAX_TURN_INFO} bytes of info came in turn {number}; the earliest were dropped")

    def _get_ready(self, message: Message) -> None:
        """The bot's start is over: from now on its clock runs."""
        try:
            games, wants = messages.read_ready(message)
        except BadLine as wrong:
            self._note(f"ready was read without its fields: {wrong}")
            games, wants = "one", []
        self._ready = True
        self.capabilities = BotCapabilities(games == "many", "moves" in wants, "clocks" in wants)
        if self._asking is not None:
            self._asking.ready()

    def _note(self, text: str) -> None:
        if len(self.notes) < MAX_NOTES:
            self.notes.append(text)

    def overhear(self, data: bytes) -> None:
        """Keep log messages that come after the game, up to the length of one line."""
        self._overheard += len(data)
        if self._overheard > self.longest_line:
            return
        self._buffer += data
        while (text := self._line()) is not None:
            if self.traffic is not None:
                self.traffic("from", text.decode("utf-8", "backslashreplace"))
            try:
                message = messages.read(text, self.longest_line)
                if messages.message_kind(message) == "log":
                    self._note(f"after the game: {clean_text(message['text'])}")
            except BadLine:
                continue


class _OpenQuestion:
    """One open question: its start, its deadline, its log and telemetry."""

    def __init__(self, turn: Turn, now: float, ready: bool) -> None:
        self.turn = turn
        self.sent = False
        self.unanswered = 0
        """The number of ``observe`` messages without an answer when it was sent."""
        self.log: list[str] = []
        self._info: deque[tuple[dict[str, Any], int]] = deque()
        """Telemetry, and the bytes of each message."""
        self._info_bytes, self._info_dropped = 0, False
        self._limit = UNTIMED_SECONDS if turn.seconds is None else turn.seconds
        self._ready_after = 0.0 if ready else None
        self._seconds = 0.0
        self.start_clock(now)

    def start_clock(self, now: float) -> None:
        """Start, or start again."""
        self._began = now
        start = self.turn.allowance if self._ready_after is None else min(self._ready_after, self.turn.allowance)
        self.deadline = now + self._limit + start
        """When time runs out."""

    def in_time(self) -> bool:
        """Whether there is time left. Fixes the time that an answer found now took."""
        now = time.monotonic()
        self._seconds = now - self._began
        return now < self.deadline

    def ready(self) -> None:
        """The bot has started: what is left of its allowance lapses."""
        if self._ready_after is None:
            self._ready_after = self._seconds if self.sent else 0.0
            self.deadline = self._began + self._limit + min(self._ready_after, self.turn.allowance)

    def forget_info(self) -> None:
        """Drop the telemetry so far: it belongs to earlier messages."""
        self._info.clear()
        self._info_bytes = 0

    def keep_info(self, info: dict[str, Any], size: int) -> bool:
        """Keep telemetry, and drop the earliest if it gets too much; return whether that happens for the first time."""
        self._info.append((info, size))
        self._info_bytes += size
        first = self._info_bytes > MAX_TURN_INFO and not self._info_dropped
        while self._info_bytes > MAX_TURN_INFO:
            self._info_bytes -= self._info.popleft()[1]
            self._info_dropped = True
        return first

    def answer(self, move: Any, fault: SeatFault | None = None, sent: str | None = None) -> Answer:
        """The answer to it, with a move or a fault."""
        log, info = tuple(self.log), tuple(one for one, _ in self._info)
        return Answer(self._seconds, move, fault, sent, log, info, self._ready_after)
