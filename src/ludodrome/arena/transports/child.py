"""A child process as a seat: one JSON object a line on its standard input and output.

``conversation.py`` decides what its lines mean; ``processes.py`` starts and ends the processes.
"""

import errno
import multiprocessing.util
import os
import threading
import time
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from ludodrome.arena import messages
from ludodrome.arena.messages import MAX_LINE, Message
from ludodrome.arena.seats import CRASH, PROTOCOL, TIMEOUT, Answer, BotCapabilities, Notice, SeatFault, Traffic, Turn
from ludodrome.arena.transports.conversation import Conversation
from ludodrome.arena.transports.processes import MAX_QUEUED, Process
from ludodrome.bots.specs import LaunchSettings

GRACE = 1.0
"""Seconds for a bot to exit after the game, once its input is closed ..."""
LITTLE_GRACE = 0.1
"""... or after it failed to answer once."""
MAX_KEPT = 8
"""The most processes that are kept between games."""
KEPT_SECONDS = 10.0
"""Seconds for which they are kept."""
PROBES = 2
"""Bytes of a question that are sent alone, to see that a bot reads them."""
MIN_PAUSE, MAX_PAUSE = 0.00005, 0.002
"""Seconds between two looks at what a bot has read."""
ARENA_ERRORS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
"""Errors at the start of a process that are not the bot's fault."""


class ChildSeat:
    """A bot in any language. The process starts with its first game and can play several.

    With ``kept``, the process is taken from there, and left there at the end if the bot said that it can play more.
    """

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        longest_line: int = MAX_LINE,
        tolerant: bool = False,
        kept: "KeptProcesses | None" = None,
        launch: LaunchSettings | None = None,
    ) -> None:
        self.name = name
        self._launch = launch or LaunchSettings()
        self._arguments = list(arguments)
        self._talk = Conversation(longest_line, tolerant=tolerant)
        self._process: Process | None = None
        self._traffic: Traffic | None = None
        self._kept = kept
        self._key: Hashable = None
        """What a kept process must have in common with a new one."""
        self._sent: list[Message] | None = None
        """Notices sent in this game to a process that was kept, until it answers; None for any other process."""
        self._left: tuple[str, list[str]] | None = None
        """Standard error and notes of a game whose process was left for another."""
        self._failure = ""
        self._grace = GRACE
        self._answered = self._is_over = False
        """Whether it has answered every question without a fault, and whether the game is over."""

    @property
    def stderr(self) -> str:
        """Its standard error in this game."""
        if self._left is not None:
            return self._left[0]
        return self._process.stderr if self._process else ""

    @property
    def notes(self) -> list[str]:
        """What was dropped of what it said."""
        return self._talk.notes if self._left is None else self._left[1]

    @property
    def capabilities(self) -> BotCapabilities:
        """What it said in ``ready``."""
        return self._talk.capabilities

    def record_traffic(self, traffic: Traffic | None) -> None:
        """Pass on all lines in both directions, and standard error."""
        self._traffic = self._talk.traffic = traffic
        if self._process is not None:
            self._process.record_stderr(traffic)

    # The seat

    def start(self, hello: Message) -> None:
        """Start the process, or another game in it."""
        if self._process is None and not self._failure:
            self._take_process()
        if self._process is not None:
            self._talk.start(hello["match"])
            self.record_traffic(self._traffic)
            self._answered, self._is_over = True, False
            self._notify(hello)

    def _take_process(self) -> None:
        """Take a process that is kept, or start one."""
        if self._kept is not None:
            settings = (self._talk.longest_line, self._talk.tolerant, os.getcwd(), self._launch)
            self._key = (tuple(self._arguments), *settings)
            if found := self._kept.take(self._key):
                self._process, self._talk = found
                self._sent = []
                return
        self._start_process()

    def _start_process(self) -> None:
        self._sent = None
        try:
            self._process = self._begin()
        except OSError as error:
            if error.errno in ARENA_ERRORS:
                raise
            self._failure = f"it could not be started: {error.strerror}"
            return
        self._process.limit_reading()

    def _begin(self) -> Process:
        return Process(self._arguments, self._launch)

    def ask(self, turn: Turn) -> Answer:
        """Ask for a move; return it, or a fault, no later than the deadline. Time runs once the process can run."""
        if self._process is None:
            return Answer(0.0, fault=SeatFault(CRASH, self._failure))
        self._process.begin_turn()
        answered, self._answered = self._answered, False
        try:
            answer = self._ask(turn, self._process)
            if answer.fault is not None and self._ended_between_games():
                answer = self._ask_another(turn, answer)
        finally:
            self._process.end_turn()
        self._sent = None
        if answer.fault is None:
            self._answered = answered
        elif answer.fault.cause in (TIMEOUT, CRASH, PROTOCOL):
            self._grace = LITTLE_GRACE
        return answer

    def _ended_between_games(self) -> bool:
        """Whether a process that was kept ended before it said ``ready`` in this game: no fault in this game."""
        return self._sent is not None and self._process is not None and self._process.has_exited() and not self._talk.ready

    def _ask_another(self, turn: Turn, answer: Answer) -> Answer:
        """Ask a new process in the place of the one that ended; return ``answer`` if there is none."""
        assert self._process is not None
        ended, notices = self._process, self._sent or []
        self._start_process()
        if self._process is ended:
            return answer
        ended.end(LITTLE_GRACE, lambda data: None)
        self._talk = Conversation(self._talk.longest_line, tolerant=self._talk.tolerant)
        self._talk.start(notices[0]["match"])
        self.record_traffic(self._traffic)
        for message in notices:
            self._notify(message)
        self._process.begin_turn()
        return self._ask(turn, self._process)

    def _ask(self, turn: Turn, process: Process) -> Answer:
        talk = self._talk
        talk.begin(turn)
        answer, sent, settled = self._hear(process, 0.0), 0, False
        question = messages.line(turn.message)  # after ``ready``, which says what is to be in it
        if self._traffic is not None:
            self._traffic("to", question.decode().rstrip("\n"))
        talk.start_clock()
        if answer is None and talk.needs_settling and process.tells_what_is_read:
            answer, sent = self._settle(question, process)
            settled = answer is None
        process.send(question[sent:])
        talk.asked(settled)
        while answer is None:
            if process.finished_output:
                return talk.crash(process.last_words())
            answer = self._hear(process, talk.deadline - time.monotonic())
        return answer

    def _settle(self, question: bytes, process: Process) -> tuple[Answer | None, int]:
        """Hear all that it says about earlier messages: return a fault in that, and how many bytes were sent.

        It reads the first bytes of the question, which are sent one by one, only when it is done with the messages
        before. So what it writes later is about this question. The second byte is for readers that fetch more than
        they need if it comes soon enough.
        """
        for sent in range(PROBES + 1):
            process.send(question[max(0, sent - 1) : sent])
            pause = MIN_PAUSE
            while not (process.has_read_all or process.finished_output):
                if answer := self._hear(process, 0.0):
                    return answer, sent
                time.sleep(pause)
                pause = min(2 * pause, MAX_PAUSE)
        while data := process.receive(0.0):
            self._talk.receive(data)
            if answer := self._talk.answer():
                return answer, PROBES
        return None, PROBES

    def _hear(self, process: Process, seconds: float) -> Answer | None:
        """Wait up to ``seconds`` for output; return the answer or the fault in it."""
        self._talk.receive(process.receive(seconds))
        return self._talk.answer()

    def notify(self, notice: Notice) -> None:
        """Send a notice, unless the process stopped reading long ago."""
        if self._process is None:
            return
        message = notice.message
        if message["type"] == "observe" and self._process.queued > MAX_QUEUED:
            return
        self._notify(message)
        self._is_over = message["type"] == "over"

    def close(self) -> None:
        """End the process and everything it started, or leave it for another game."""
        if self._process is None:
            return
        if self._kept is not None and self._is_over and self._answered and self._talk.capabilities.games_many:
            self._left = self._process.take_stderr(), self._talk.notes
            self.record_traffic(None)
            self._kept.leave(self._key, self._process, self._talk)
            self._process = None
        else:
            self._process.end(self._grace, self._talk.overhear)

    def _notify(self, message: Message) -> None:
        assert self._process is not None
        if message["type"] == "observe":
            self._talk.observe(message["turn"])
        if self._sent is not None:
            self._sent.append(message)
        line = messages.line(message)
        if self._traffic is not None:
            self._traffic("to", line.decode().rstrip("\n"))
        self._process.send(line)


class KeptProcess(NamedTuple):
    """A process between two games."""

    key: Hashable
    process: Process
    talk: Conversation
    until: float
    """When it is ended, by ``time.monotonic``."""

    def end(self) -> None:
        """End it and everything it started."""
        self.process.end(GRACE, lambda data: None)


class KeptProcesses:
    """Processes of bots that can play several games, between two of them. Thread-safe.

    A process is ended when it was not needed for a while, when too many others were kept after it, and with the process
    that keeps it.
    """

    def __init__(self, most: int = MAX_KEPT, seconds: float = KEPT_SECONDS) -> None:
        self._most, self._seconds = most, seconds
        self._lock = threading.Lock()
        self._owner = 0
        """The process that keeps them; a fork keeps none."""
        self._idle: list[KeptProcess] = []
        """The longest kept first."""
        self._expiring = False

    def __len__(self) -> int:
        return len(self._idle)

    def take(self, key: Hashable) -> tuple[Process, Conversation] | None:
        """A process of this key that still runs; nobody else gets it."""
        while (found := self._pop(key)) is not None:
            if not found.process.has_exited():
                return found.process, found.talk
            found.end()
        return None

    def _pop(self, key: Hashable) -> KeptProcess | None:
        with self._lock:
            self._check_owner()
            for place in range(len(self._idle) - 1, -1, -1):
                if self._idle[place].key == key:
                    return self._idle.pop(place)
        return None

    def leave(self, key: Hashable, process: Process, talk: Conversation) -> None:
        """Keep a process for its next game."""
        with self._lock:
            self._check_owner()
            self._idle.append(KeptProcess(key, process, talk, time.monotonic() + self._seconds))
            extra = self._idle.pop(0) if len(self._idle) > self._most else None
            if not self._expiring:
                self._expiring = True
                threading.Thread(target=self._expire, daemon=True, name="end of kept bots").start()
        if extra is not None:
            extra.end()

    def close(self) -> None:
        """End all that are not in a game."""
        with self._lock:
            self._check_owner()
            idle, self._idle = self._idle, []
        for one in idle:
            one.end()

    def _check_owner(self) -> None:
        if self._owner != os.getpid():
            self._owner, self._idle, self._expiring = os.getpid(), [], False
            multiprocessing.util.Finalize(None, self.close, exitpriority=10)

    def _expire(self) -> None:
        """End those that were not needed for a while."""
        while True:
            with self._lock:
                if not self._idle:
                    self._expiring = False
                    return
                left = self._idle[0].until - time.monotonic()
                due = self._idle.pop(0) if left <= 0 else None
            if due is not None:
                due.end()
            else:
                time.sleep(left)
