"""``llm:URL,model=NAME``: a language model as a player.

A turn is a conversation of its own: the rules, the position, and after a refusal the answer and what was wrong with
it. Every exchange is kept, so that a record can say what was asked, what came back, what it was taken for, and what it
cost.
The endpoint is in ``endpoints.py``, what is said in ``prompts.py``, how answers are read in ``replies.py``; the seat in
the arena is ``arena/transports/language_models.py``.
"""

import hashlib
import time
from dataclasses import dataclass
from typing import Any

from ludodrome.bots.endpoints import Completion, Endpoint, Failed, Message, read_settings
from ludodrome.bots.player import Budget
from ludodrome.bots.prompts import bare, legal_texts, refusal_prompt, rules_prompt, turn_prompt
from ludodrome.bots.replies import MOVE, Reading, read_reply
from ludodrome.game import BadState, Game, TooManyMoves

TRIES = 10
"""How often in a row a model may answer wrongly where no arena says so."""
LONGEST_KEPT = 64 * 1024
"""Characters that are kept of an answer."""
TIMEOUT, ENDPOINT = "timeout", "endpoint"
"""How asking can fail, beside what ``replies.py`` says of an answer."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question to a model, and what came of it."""

    model: str
    messages: list[dict[str, str]]
    """As they were sent; one that was sent before in this game has its ``sha256`` in place of its ``content``."""
    seconds: float
    completion: Completion | None
    """The answer; None if there was none."""
    reading: Reading | None
    """What it was taken for."""
    error: str = ""
    late: bool = False

    @property
    def outcome(self) -> str:
        """``move``, ``illegal``, ``nothing``, ``timeout`` or ``endpoint``."""
        if self.reading is not None:
            return self.reading.kind
        return TIMEOUT if self.late else ENDPOINT

    def to_json(self) -> dict[str, Any]:
        """As records carry it."""
        told: dict[str, Any] = {
            "llm": self.model,
            "messages": self.messages,
            "outcome": self.outcome,
            "ms": round(self.seconds * 1000),
        }
        if self.completion is not None:
            answer = self.completion
            told |= {
                "reply": answer.text[:LONGEST_KEPT],
                "tokens": {"prompt": answer.prompt_tokens, "completion": answer.completion_tokens},
                "finish": answer.finish,
                "attempts": answer.attempts,
            }
            if len(answer.text) > LONGEST_KEPT:
                told["cut"] = len(answer.text)
            if answer.declined:
                told["declined"] = True
        if self.reading is not None and self.reading.text:
            told["read"] = self.reading.text
        if self.error:
            told["error"] = self.error
        return told


class Conversation:
    """One game with a model."""

    def __init__(self, game: Game, endpoint: Endpoint, seat: int) -> None:
        self.game = game
        self._endpoint = endpoint
        self.seat = seat
        self._rules: Message = {"role": "system", "content": rules_prompt(game, seat)}
        self._messages: list[Message] = []
        self._observation: Any = None
        self._told: set[str] = set()

    def ask(self, observation: Any, legal: list[str] | None, seconds: float | None = None) -> Exchange:
        """A new turn; ``legal`` as in ``turn_prompt``."""
        self._observation = observation
        self._messages = [self._rules, _user(turn_prompt(self.game, observation, self.seat, legal))]
        return self._exchange(seconds)

    def ask_again(self, why: str, tries_left: int | None, seconds: float | None = None) -> Exchange:
        """The same turn, after an answer that was refused."""
        self._messages.append(_user(refusal_prompt(why, tries_left)))
        return self._exchange(seconds)

    def _exchange(self, seconds: float | None) -> Exchange:
        kept = [self._named(message) for message in self._messages]
        model = self._endpoint.settings.model
        began = time.perf_counter()
        try:
            answer = self._endpoint.complete(self._messages, seconds)
        except Failed as failed:
            return Exchange(model, kept, time.perf_counter() - began, None, None, str(failed), failed.late)
        spent = time.perf_counter() - began
        self._messages.append({"role": "assistant", "content": answer.text})
        reading = read_reply(self.game, self._observation, answer.text)
        return Exchange(model, kept, spent, answer, reading, reading.why)

    def _named(self, message: Message) -> dict[str, str]:
        """A message for the record: in full once, after that by its digest."""
        name = hashlib.sha256(message["content"].encode("utf-8", "backslashreplace")).hexdigest()
        if name in self._told:
            return {"role": message["role"], "sha256": name}
        self._told.add(name)
        return dict(message)


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


class LanguageModel:
    """A model as a bot for Python: it is shown the legal moves, and asked again when it answers wrongly.

    In the arena a seat of its own takes this place, where the match's policy and conditions hold.
    """

    def __init__(self, game: Game, name: str, endpoint: Endpoint) -> None:
        self.game = game
        self.name = name
        self.exchanges: list[Exchange] = []
        """Everything that was said in this game."""
        self._endpoint = endpoint
        self._seat: int | None = None
        self._conversation: Conversation | None = None

    def start(self, hello: dict[str, Any]) -> None:
        """A game begins."""
        self._seat = hello.get("seat")
        self._conversation = None
        self.exchanges = []

    def choose(self, observation: Any, budget: Budget | None = None) -> Any:
        """A legal move; ValueError if none came of so many tries."""
        seconds = None if budget is None else budget.time
        deadline = None if seconds is None else time.monotonic() + seconds
        talk = self._talk(observation)
        exchange = talk.ask(observation, self._legal(observation), seconds)
        self.exchanges.append(exchange)
        for left in range(TRIES - 1, 0, -1):
            if exchange.outcome == MOVE or exchange.reading is None:
                break
            seconds = None if deadline is None else deadline - time.monotonic()
            exchange = talk.ask_again(exchange.error, left, seconds)
            self.exchanges.append(exchange)
        if exchange.outcome != MOVE or exchange.reading is None:
            raise ValueError(f"{self.name} gave no legal move: {exchange.error}")
        return exchange.reading.move

    def close(self) -> None:
        """Nothing is held open."""

    def _talk(self, observation: Any) -> Conversation:
        seat = mover(self.game, observation) if self._seat is None else self._seat
        if self._conversation is None or self._conversation.seat != seat:
            self._conversation = Conversation(self.game, self._endpoint, seat)
        return self._conversation

    def _legal(self, observation: Any) -> list[str] | None:
        # What lies face down is missing from an observation; which boards are legal does not depend on it.
        state = self.game.initial_state() if self.game.actions_a_turn > 1 else bare(observation)
        try:
            return legal_texts(self.game, observation, self.game.legal_moves(state))
        except TooManyMoves:
            return None


def mover(game: Game, observation: Any) -> int:
    """The seat to move in what it was shown; ValueError if the game is over."""
    try:
        seat = game.to_move(bare(observation))
    except BadState:  # spaces: what lies face down is missing
        seat = observation["to_move"]
    if seat is None:
        raise ValueError("there is nothing to choose: the game is over")
    return seat


def make(game: Game, spec: str) -> LanguageModel:
    """The bot of a spec like ``llm:http://localhost:8000/v1,model=NAME``; ValueError says what would be right."""
    return LanguageModel(game, spec, endpoint(spec))


def endpoint(spec: str) -> Endpoint:
    """The endpoint that a spec names; nothing is asked of it yet."""
    return Endpoint(read_settings(spec.partition(":")[2]))
