"""Language models as seats: ``llm:URL,model=NAME``.

A wrong answer is refused and tried again as the match's policy says; whether the legal moves are shown is the match's
condition. Every exchange stands in the record, in the turn's ``log``, as a JSON text.
"""

import json

from ludodrome.arena.messages import Message, clean_text
from ludodrome.arena.seats import ERROR, ILLEGAL, TIMEOUT, Answer, Fault, Notice, Turn
from ludodrome.bots.llm import Conversation, Exchange, endpoint
from ludodrome.bots.prompts import legal_texts
from ludodrome.game import Game

LONGEST_LOG = 4 * 1024 * 1024


class ModelSeat:
    """A model behind an endpoint. What it answers is read by ``bots/replies.py``."""

    def __init__(self, spec: str, game: Game) -> None:
        self.name = spec
        self.stderr = ""
        self.notes: list[str] = []
        self._game = game
        self._endpoint = endpoint(spec)
        self._talk: Conversation | None = None
        self._refused: Message | None = None

    def start(self, hello: Message) -> None:
        """A game begins."""
        self._talk = Conversation(self._game, self._endpoint, hello["seat"])
        self._refused = None

    def ask(self, turn: Turn) -> Answer:
        """What the model answers, or what went wrong with it."""
        assert self._talk is not None
        seconds = None if turn.seconds is None else turn.seconds + turn.allowance
        refused, self._refused = self._refused, None
        if refused is not None and refused["turn"] == turn.number:
            exchange = self._talk.ask_again(refused["why"], refused["tries_left"], seconds)
        else:
            legal = legal_texts(self._game, turn.observation, turn.message["legal_moves"])
            exchange = self._talk.ask(turn.observation, legal, seconds)
        return _answer(exchange)

    def tell(self, notice: Notice) -> None:
        """A refusal is told with the next question; nothing else is of interest to a model."""
        if notice.message["type"] == "refused":
            self._refused = notice.message

    def close(self) -> None:
        """Nothing is held open."""


def _answer(exchange: Exchange) -> Answer:
    log = (clean_text(json.dumps(exchange.to_json(), ensure_ascii=False), LONGEST_LOG),)
    reading, completion = exchange.reading, exchange.completion
    if reading is None or completion is None:
        return Answer(exchange.seconds, fault=Fault(TIMEOUT if exchange.late else ERROR, exchange.error), log=log)
    if reading.why:
        return Answer(exchange.seconds, fault=Fault(ILLEGAL, reading.why), sent=clean_text(completion.text), log=log)
    return Answer(exchange.seconds, reading.move, log=log)
