"""Built-ins as seats, in this process. They need no messages: they are shown the position and given a budget."""

import time

from ludodrome.arena.messages import Message
from ludodrome.arena.seats import ARENA, Answer, Fault, Notice, Turn
from ludodrome.bots.player import Bot


class InProcessSeat:
    """A bot of our own. If it breaks, that is the arena's fault; if it is late, it is judged like everybody else."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self.name = bot.name
        self.stderr = ""
        self.notes: list[str] = []

    def start(self, hello: Message) -> None:
        """A game begins."""
        self._bot.start(hello)

    def ask(self, turn: Turn) -> Answer:
        """What the bot chooses. It cannot be interrupted, so it may be late; the referee judges that."""
        observation = turn.observation
        began = time.perf_counter()
        try:
            move, fault = self._bot.choose(observation, turn.budget), None
        except Exception as error:
            move, fault = None, Fault(ARENA, f"{self.name} broke: {type(error).__name__}: {error}")
        return Answer(time.perf_counter() - began, move, fault)

    def tell(self, notice: Notice) -> None:
        """A built-in looks at nothing but the position it must move in."""

    def close(self) -> None:
        """The bot gives back what it holds."""
        self._bot.close()
