"""A bot under examination: a seat that passes everything on, and keeps the conversation and the times."""

import json
from pathlib import Path

from ludodrome.arena.messages import Message
from ludodrome.arena.seats import Answer, AroundSeat, Notice, Seat, Turn


class Patient(AroundSeat):
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
