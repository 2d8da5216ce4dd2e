"""A bot under examination: a seat that passes everything on, and keeps the conversation and the times."""

import json
from pathlib import Path

from ludodrome.arena.messages import Message
from ludodrome.arena.seats import Answer, Notice, Seat, Turn


class Patient:
    """A seat around a seat. What was said to the bot can be written to a file, and be fed to it again."""

    def __init__(self, inner: Seat) -> None:
        self._inner = inner
        self.heard: list[Message] = []
        """All messages to the bot, in order."""
        self.answers: list[Answer] = []

    @property
    def name(self) -> str:
        """The bot's."""
        return self._inner.name

    @property
    def stderr(self) -> str:
        """The bot's."""
        return self._inner.stderr

    @property
    def notes(self) -> list[str]:
        """What its carrier noticed."""
        return self._inner.notes

    def start(self, hello: Message) -> None:
        """A game begins."""
        self.heard.append(hello)
        self._inner.start(hello)

    def ask(self, turn: Turn) -> Answer:
        """The bot's answer."""
        self.heard.append(turn.message)
        answer = self._inner.ask(turn)
        self.answers.append(answer)
        return answer

    def tell(self, notice: Notice) -> None:
        """Something that wants no answer."""
        self.heard.append(notice.message)
        self._inner.tell(notice)

    def say(self, seat: int, message: Message) -> None:
        """A message of the doctor's own."""
        self.tell(Notice(seat, lambda: message))

    def close(self) -> None:
        """The bot is not needed any more."""
        self._inner.close()

    def write_heard(self, file: Path) -> None:
        """What the bot was told, a message a line, as it can be fed to its stdin."""
        lines = (json.dumps(message, separators=(",", ":")) for message in self.heard)
        file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
