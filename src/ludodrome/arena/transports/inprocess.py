"""Built-in bots as seats, in this process. They need no messages: they get the position and a budget."""

import json
import time

from ludodrome.arena.messages import Message, clean_text
from ludodrome.arena.seats import ARENA, ILLEGAL, NO_CAPABILITIES, TIMEOUT, Answer, Notice, SeatFault, Turn
from ludodrome.bots.llm import Chat, Exchange, endpoint
from ludodrome.bots.player import Bot
from ludodrome.bots.prompts import legal_texts
from ludodrome.game import Game


class InProcessSeat:
    """A built-in bot. An exception is the arena's fault; a late answer is judged like that of any bot."""

    capabilities = NO_CAPABILITIES

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
            move, fault = None, SeatFault(ARENA, f"{self.name} broke: {type(error).__name__}: {error}")
        seconds = time.perf_counter() - began
        telemetry = getattr(self._bot, "telemetry", None) if fault is None else None
        return Answer(seconds, move, fault, info=(telemetry,) if telemetry else ())

    def notify(self, notice: Notice) -> None:
        """Do nothing: a built-in bot needs only the position in which it moves."""

    def close(self) -> None:
        """Close the bot."""
        self._bot.close()


# Language models as seats: ``llm:URL,model=NAME``.
# The policy decides how often a wrong answer can be tried again; the conditions decide whether the model sees the legal
# moves. The turn's ``log`` in the record holds every exchange, as JSON text.


MAX_LOG = 4 * 1024 * 1024


class ModelSeat:
    """A model behind an endpoint. ``bots/prompts.py`` reads its answers."""

    capabilities = NO_CAPABILITIES

    def __init__(self, spec: str, game: Game) -> None:
        self.name = spec
        self.stderr = ""
        self.notes: list[str] = []
        self._game = game
        self._endpoint = endpoint(spec)
        self._talk: Chat | None = None
        self._refused: Message | None = None

    def start(self, hello: Message) -> None:
        """Start a game."""
        self._talk = Chat(self._game, self._endpoint, hello["seat"])
        self._refused = None

    def ask(self, turn: Turn) -> Answer:
        """Ask the model; return its move or a fault."""
        assert self._talk is not None
        seconds = None if turn.seconds is None else turn.seconds + turn.allowance
        refused, self._refused = self._refused, None
        if refused is not None and refused["turn"] == turn.number:
            exchange = self._talk.ask_again(refused["why"], refused["tries_left"], seconds)
        else:
            legal = legal_texts(self._game, turn.observation, turn.message["legal_moves"])
            exchange = self._talk.ask(turn.observation, legal, seconds)
        return _answer(exchange)

    def notify(self, notice: Notice) -> None:
        """Keep a refusal for the next question; ignore other notices."""
        if notice.message["type"] == "refused":
            self._refused = notice.message

    def close(self) -> None:
        """Do nothing: no connection stays open."""


def _answer(exchange: Exchange) -> Answer:
    log = (clean_text(json.dumps(exchange.to_json(), ensure_ascii=False), MAX_LOG),)
    reading, completion = exchange.reading, exchange.completion
    if reading is None or completion is None:
        # An endpoint that is down says nothing about the model: the game is not rated.
        cause = TIMEOUT if exchange.late else ARENA
        return Answer(exchange.seconds, fault=SeatFault(cause, exchange.error), log=log)
    if reading.why:
        return Answer(
            exchange.seconds, fault=SeatFault(ILLEGAL, reading.why), sent=clean_text(completion.text), log=log
        )
    return Answer(exchange.seconds, reading.move, log=log)
