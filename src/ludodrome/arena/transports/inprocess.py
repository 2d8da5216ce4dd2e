"""Built-in bots as seats, in this process. They need no messages: they get the position and a budget."""

import time

from ludodrome.arena.messages import Message
from ludodrome.arena.seats import ARENA, Answer, Fault, Notice, Turn
from ludodrome.bots.player import Bot


class InProcessSeat:
    """A built-in bot. An exception is the arena's fault; a late answer is judged like that of any bot."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self.name = bot.name
        self.stderr = ""
        self.notes: list[str] = []

    def start(self, hello: Message) -> None:
        """Start a game."""
        self._bot.start(hello)

    def ask(self, turn: Turn) -> Answer:
        """Let the bot choose. It cannot be interrupted, so it can be late; the referee judges that."""
        observation = turn.observation
        began = time.perf_counter()
        try:
            move, fault = self._bot.choose(observation, turn.budget), None
        except Exception as error:
            move, fault = None, Fault(ARENA, f"{self.name} broke: {type(error).__name__}: {error}")
        return Answer(time.perf_counter() - began, move, fault)

    def tell(self, notice: Notice) -> None:
        """Do nothing: a built-in bot needs only the position in which it moves."""

    def close(self) -> None:
        """Close the bot."""
        self._bot.close()
