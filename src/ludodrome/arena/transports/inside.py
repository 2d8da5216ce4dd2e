"""Built-ins as seats, in this process. They need no messages: they are shown the position and given a budget."""

import time

from ludodrome.arena.clocks import STARTUP
from ludodrome.arena.messages import Message
from ludodrome.arena.seats import ARENA, Answer, Fault, Notice, Turn
from ludodrome.bots.player import Bot


class InsideSeat:
    """A bot of our own. If it breaks, that is the arena's fault; if it is late, it is judged like everybody else."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._new = True
        self.name = bot.name
        self.stderr = ""
        self.notes: list[str] = []

    def start(self, hello: Message) -> None:
        """A game begins."""
        self._bot.start(hello)

    def ask(self, turn: Turn) -> Answer:
        """What the bot chooses. Its first choice may compile kernels: the start-up allowance is for that."""
        observation = turn.observation
        began = time.perf_counter()
        try:
            move, fault = self._bot.choose(observation, turn.budget), None
        except Exception as error:
            move, fault = None, Fault(ARENA, f"{self.name} broke: {type(error).__name__}: {error}")
        seconds = time.perf_counter() - began
        charged = max(0.0, seconds - STARTUP) if self._new else seconds
        self._new = False
        return Answer(seconds, move, fault, charged)

    def tell(self, notice: Notice) -> None:
        """A built-in looks at nothing but the position it must move in."""

    def close(self) -> None:
        """The bot gives back what it holds."""
        self._bot.close()
