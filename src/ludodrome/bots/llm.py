"""``llm:URL,model=NAME``: a language model as a bot, through an endpoint with OpenAI's chat completions API.

Each turn is a separate conversation: the rules, the position, and after a refusal the answer and what was wrong with
it. Every exchange is kept for the record: the question, the answer, how it was read, and what it cost. The API key is
read from the environment, never from a spec: records contain specs. ``prompts.py`` writes
the questions and reads the answers; the seat in the arena is ``arena/transports/inprocess.py``.
"""

import hashlib
import http.client
import json
import math
import os
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ludodrome.bots.player import Budget
from ludodrome.bots.prompts import (
    MOVE,
    ParsedReply,
    bare,
    legal_texts,
    read_reply,
    refusal_prompt,
    rules_prompt,
    turn_prompt,
)
from ludodrome.bots.registry import Param
from ludodrome.game import BadState, Game, TooManyMoves
from ludodrome.validation import listing, show

# The endpoint: settings, requests, responses


KEY = "LUDODROME_LLM_KEY"
"""The default environment variable of the API key."""
PATH = "/chat/completions"
EXAMPLE = "llm:http://localhost:8000/v1,model=NAME"
MAX_RESPONSE_BYTES = 4 * 1024 * 1024
RETRY_STATUSES = (408, 409, 425, 429, 500, 502, 503, 504, 529)
"""HTTP statuses after which a request is retried."""
UNREACHABLE, MALFORMED = 0, -1
"""In place of a status: no connection, or one that was cut; no chat completion."""
FIRST_PAUSE, MAX_PAUSE = 0.5, 15.0
"""Seconds before the first retry; doubled for each further one, up to a limit."""
PREFLIGHT = [{"role": "user", "content": "Answer with the word ready."}]

LLM_PARAMS = (
    Param("temperature", "sampling temperature; default: the endpoint's", "0", 0, 10, whole=False),
    Param("max_tokens", "maximum tokens of an answer, under the name of most servers", "2000", 1, 10**7),
    Param("max_completion_tokens", "the same under the name of newer servers", "2000", 1, 10**7),
    Param("timeout", "seconds for one request; default: 120", "60", 0.05, 86_400, whole=False),
    Param(
        "wait",
        "seconds to wait for an endpoint that is down, off the clock; default: 120",
        "600",
        0,
        86_400,
        whole=False,
    ),
    Param("retries", "retries of a failed request; default: as many as fit into wait", "5", 0, 100),
)
"""The parameters besides ``model`` and ``key``."""

Message = dict[str, str]


class EndpointSettings(NamedTuple):
    """The settings of a spec."""

    url: str
    model: str
    key: str | None = None
    """Name of the environment variable with the API key; None for the default."""
    timeout: float = 120.0
    wait: float = 120.0
    retries: int | None = None
    sent: tuple[tuple[str, Any], ...] = ()
    """Parameters that are sent to the endpoint unchanged."""


class EndpointError(Exception):
    """There was no answer. ``late``: the time for it was up; otherwise the endpoint failed.

    ``seconds``: the time of the last request; ``waited``: that of earlier ones that failed, and of the pauses.
    """

    def __init__(self, message: str, late: bool = False, seconds: float = 0.0, waited: float = 0.0) -> None:
        super().__init__(message)
        self.late, self.seconds, self.waited = late, seconds, waited


class _FailedRequest(Exception):
    """A request without an answer that may be sent again. ``pause``: the seconds that the endpoint asks for."""

    def __init__(self, status: int, why: str, pause: float = 0.0) -> None:
        super().__init__(why)
        self.status, self.pause = status, pause


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer of a model."""

    text: str
    declined: bool = False
    """Whether the model refused to answer."""
    finish: str | None = None
    """The endpoint's reason to stop, such as ``length``; None: unknown, as for the counts."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    reasoning: str = ""
    attempts: int = 1
    seconds: float = 0.0
    """From the question to the answer, without ``waited``: the failed requests before it, and the pauses."""
    waited: float = 0.0


def read_settings(text: str) -> EndpointSettings:
    """Parse the settings after ``llm:``. Raises ValueError if they are wrong."""
    url, *parts = text.split(",")
    try:
        where = urlsplit(url)
        _ = where.port
    except ValueError:
        where = urlsplit("")
    if where.scheme not in ("http", "https") or not where.hostname:
        raise ValueError(
            f"a language model is asked for like {EXAMPLE}, with the address of its endpoint, not llm:{text}"
        )
    if where.username or where.password or where.query:
        raise ValueError(f"the address of an endpoint has no user, password or query; keys are read from {KEY}")
    params = {param.name: param for param in LLM_PARAMS}
    found: dict[str, Any] = {}
    for part in parts:
        name, _, value = part.partition("=")
        if name not in ("model", "key", *params):
            raise ValueError(
                f"llm has no parameter {show(name)}; its parameters are {listing(('model', 'key', *params))}"
            )
        if name in found:
            raise ValueError(f"the parameter {name} of llm is set twice")
        if not value:
            raise ValueError(f"the parameter {name} of llm has no value; it is set like {name}=...")
        found[name] = params[name].read(value, "llm") if name in params else value
    if "model" not in found:
        raise ValueError(f"llm needs the name of a model: {EXAMPLE}")
    own = {name: found.pop(name) for name in ("model", "key", "timeout", "wait", "retries") if name in found}
    return EndpointSettings(url.rstrip("/"), **own, sent=tuple(found.items()))


class Endpoint:
    """An endpoint with one model. Raises ValueError if the key's environment variable is not set."""

    def __init__(self, settings: EndpointSettings) -> None:
        self.settings = settings
        where = urlsplit(settings.url)
        self._where = where
        self._path = where.path if where.path.endswith(PATH) else where.path + PATH
        secret = os.environ.get(settings.key or KEY)
        if secret is None and settings.key is not None:
            raise ValueError(f"the environment variable {settings.key}, which is to hold the key, is not set")
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if secret:
            self._headers["Authorization"] = f"Bearer {secret}"

    def complete(self, messages: list[Message], seconds: float | None = None) -> Completion:
        """Ask the model; ``seconds`` limits the time of its answer. Raises EndpointError if there is no answer.

        A request that fails through no fault of the model is sent again with the full time, at most ``wait`` seconds
        after the first one. The endpoint's Retry-After is kept to.
        """
        limit = self.settings.timeout if seconds is None else min(seconds, self.settings.timeout)
        payload = {"model": self.settings.model, "messages": messages, **dict(self.settings.sent)}
        body = json.dumps(payload).encode()
        first, pause, attempts = time.monotonic(), FIRST_PAUSE, 0
        while True:
            attempts += 1
            began = time.monotonic()
            try:
                answer = _completion(self._post(body, began + limit), attempts)
            except EndpointError as failed:
                failed.seconds, failed.waited = time.monotonic() - began, began - first
                raise
            except _FailedRequest as failed:
                waited = time.monotonic() - first
                why = self._why_give_up(failed, attempts, waited, pause)
                if why is not None:
                    raise EndpointError(f"the endpoint {failed}{why}", waited=waited) from failed
                time.sleep(max(pause, failed.pause))
                pause = min(2 * pause, MAX_PAUSE)
            else:
                return replace(answer, seconds=time.monotonic() - began, waited=began - first)

    def _why_give_up(self, failed: _FailedRequest, attempts: int, waited: float, pause: float) -> str | None:
        """What to add to the error if no other request is sent; None if one is."""
        times = f", {attempts} times" if attempts > 1 else ""
        retries, wait = self.settings.retries, self.settings.wait
        if failed.status > 0 and failed.status not in RETRY_STATUSES:
            return times
        if retries is not None and attempts > retries:
            return times
        if waited + max(pause, failed.pause) <= wait:
            return None
        if failed.pause > pause:
            return f"{times}, and asks to wait for {failed.pause:g} s; the limit is wait={wait:g}"
        return f"{times} in {wait:g} s" if wait else times

    def _post(self, body: bytes, deadline: float) -> bytes:
        """The content of a good response. Raises EndpointError at the deadline, otherwise _FailedRequest."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise EndpointError("no answer came in time", late=True)
        kind = http.client.HTTPSConnection if self._where.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._where.hostname or "", self._where.port, timeout=left)
        alarm: threading.Timer | None = None
        try:
            connection.connect()
            # A socket's timeout does not end a response that arrives byte by byte.
            alarm = threading.Timer(deadline - time.monotonic(), _cut, [connection.sock])
            alarm.daemon = True
            alarm.start()
            connection.request("POST", self._path, body, self._headers)
            response = connection.getresponse()
            content = response.read(MAX_RESPONSE_BYTES + 1)
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            if time.monotonic() >= deadline or isinstance(error, TimeoutError):
                raise EndpointError("no answer came in time", late=True) from error
            said = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise _FailedRequest(UNREACHABLE, _complaint(UNREACHABLE, said.encode())) from error
        finally:
            if alarm is not None:
                alarm.cancel()
            connection.close()
        if time.monotonic() >= deadline:
            raise EndpointError("no answer came in time", late=True)
        if len(content) > MAX_RESPONSE_BYTES:
            raise EndpointError(f"the endpoint sent more than {MAX_RESPONSE_BYTES} bytes")
        if response.status != http.client.OK:
            pause = _seconds(response.getheader("Retry-After"))
            raise _FailedRequest(response.status, _complaint(response.status, content), pause)
        return content


def _cut(connected: socket.socket) -> None:
    with suppress(OSError, ValueError):
        connected.shutdown(socket.SHUT_RDWR)


def _seconds(text: str | None) -> float:
    """The seconds of a Retry-After header, which has a number or a date; 0 if it has neither."""
    if not text:
        return 0.0
    with suppress(ValueError):
        return max(0.0, float(text)) if math.isfinite(float(text)) else 0.0
    with suppress(ValueError, TypeError):
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    return 0.0


def _complaint(status: int, content: bytes) -> str:
    """Why there was no answer, with the start of the endpoint's message."""
    said = content.decode("utf-8", "replace")
    with suppress(ValueError, KeyError, TypeError):
        found = json.loads(said)
        error = found["error"]
        said = error["message"] if isinstance(error, dict) else str(error)
    words = " ".join(str(said).split())[:200]
    if status == UNREACHABLE:
        return f"cannot be reached: {words}"
    return f"answered {status}" + (f": {words}" if words else "")


def _completion(content: bytes, attempts: int = 1) -> Completion:
    """Parse a response. Raises _FailedRequest if it has no answer."""
    try:
        found = json.loads(content)
        choice = found["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        why = "sent an answer that is not a chat completion: choices[0].message is missing"
        raise _FailedRequest(MALFORMED, why) from error
    if isinstance(text, list):  # some servers answer in parts
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    thoughts = next((one for name in THOUGHTS if isinstance(one := message.get(name), str) and one), "")
    finish = found_reason if isinstance(found_reason := choice.get("finish_reason"), str) else None
    declined = (isinstance(refusal, str) and bool(refusal)) or finish == FILTERED
    answer = refusal if declined and not text else text
    prompt, completed, reasoned = _token_counts(found.get("usage"))
    said = (answer if isinstance(answer, str) else "", declined, finish)
    return Completion(*said, prompt, completed, reasoned, thoughts, attempts)


THOUGHTS, FILTERED = ("reasoning_content", "reasoning"), "content_filter"
"""The fields of a message that hold thoughts; the finish reason of an answer that was withheld."""


def _token_counts(usage: Any) -> tuple[int | None, int | None, int | None]:
    """Tokens of the prompt, of the completion, and of the thoughts in it; None for each that is unknown."""
    counts = usage if isinstance(usage, dict) else {}
    details = counts.get("completion_tokens_details")
    thoughts = details.get("reasoning_tokens") if isinstance(details, dict) else None
    found = [counts.get("prompt_tokens"), counts.get("completion_tokens"), thoughts]
    prompt, completed, reasoned = (count if type(count) is int and count >= 0 else None for count in found)
    return prompt, completed, reasoned


MAX_ANSWERS = 10
"""Answers a turn, outside of the arena."""
MAX_KEPT_CHARS = 64 * 1024
"""Characters of an answer in a record."""
TIMEOUT, ENDPOINT = "timeout", "endpoint"
"""Outcomes of an exchange without an answer."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question to a model and its outcome."""

    model: str
    messages: list[dict[str, str]]
    """The messages sent; a message sent earlier in this game has ``sha256`` instead of ``content``."""
    seconds: float
    completion: Completion | None
    """The answer, if there was one."""
    reading: ParsedReply | None
    """How the answer was read."""
    error: str = ""
    late: bool = False
    waited: float = 0.0

    @property
    def outcome(self) -> str:
        """``move``, ``illegal``, ``nothing``, ``timeout`` or ``endpoint``."""
        if self.reading is not None:
            return self.reading.kind
        return TIMEOUT if self.late else ENDPOINT

    def to_json(self) -> dict[str, Any]:
        """The exchange as in a record."""
        json_form: dict[str, Any] = {
            "llm": self.model,
            "messages": self.messages,
            "outcome": self.outcome,
            "ms": round(self.seconds * 1000),
        }
        if self.completion is not None:
            answer = self.completion
            json_form |= {
                "reply": answer.text[:MAX_KEPT_CHARS],
                "tokens": {"prompt": answer.prompt_tokens, "completion": answer.completion_tokens},
                "finish": answer.finish,
                "attempts": answer.attempts,
            }
            if answer.reasoning_tokens is not None:
                json_form["tokens"]["reasoning"] = answer.reasoning_tokens
            if answer.reasoning:
                json_form["reasoning"] = answer.reasoning[:MAX_KEPT_CHARS]
            if len(answer.text) > MAX_KEPT_CHARS:
                json_form["cut"] = len(answer.text)
            if answer.declined:
                json_form["declined"] = True
        if self.reading is not None and self.reading.text:
            json_form["read"] = self.reading.text
        if self.error:
            json_form["error"] = self.error
        if self.waited:
            json_form["waited_ms"] = round(self.waited * 1000)
        return json_form


class Chat:
    """The exchanges with a model in one game."""

    def __init__(self, game: Game, endpoint: Endpoint, seat: int) -> None:
        self.game = game
        self._endpoint = endpoint
        self.seat = seat
        self._rules: Message = {"role": "system", "content": rules_prompt(game, seat)}
        self._messages: list[Message] = []
        self._observation: Any = None
        self._recorded: set[str] = set()

    def ask(self, observation: Any, legal: list[str] | None, seconds: float | None = None) -> Exchange:
        """Ask for a move; ``legal`` as in ``turn_prompt``."""
        self._observation = observation
        self._messages = [self._rules, _user(turn_prompt(self.game, observation, self.seat, legal))]
        return self._exchange(seconds)

    def ask_again(self, why: str, tries_left: int | None, seconds: float | None = None) -> Exchange:
        """Ask again after a refused answer."""
        self._messages.append(_user(refusal_prompt(why, tries_left)))
        return self._exchange(seconds)

    def _exchange(self, seconds: float | None) -> Exchange:
        kept = [self._named(message) for message in self._messages]
        model = self._endpoint.settings.model
        try:
            answer = self._endpoint.complete(self._messages, seconds)
        except EndpointError as failed:
            return Exchange(model, kept, failed.seconds, None, None, str(failed), failed.late, failed.waited)
        self._messages.append({"role": "assistant", "content": answer.text})
        reading = read_reply(self.game, self._observation, answer.text)
        return Exchange(model, kept, answer.seconds, answer, reading, reading.why, waited=answer.waited)

    def _named(self, message: Message) -> dict[str, str]:
        """A message for the record: in full once, later by its digest."""
        name = hashlib.sha256(message["content"].encode("utf-8", "backslashreplace")).hexdigest()
        if name in self._recorded:
            return {"role": message["role"], "sha256": name}
        self._recorded.add(name)
        return dict(message)


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


class LanguageModelBot:
    """A model as a bot: it sees the legal moves, and is asked again after a wrong answer.

    In the arena, ``arena/transports/inprocess.py`` takes its place, with the match's policy and conditions.
    """

    def __init__(self, game: Game, name: str, endpoint: Endpoint) -> None:
        self.game = game
        self.name = name
        self.exchanges: list[Exchange] = []
        """All exchanges of this game."""
        self._endpoint = endpoint
        self._seat: int | None = None
        self._chat: Chat | None = None

    def start(self, hello: dict[str, Any]) -> None:
        """Start a game."""
        self._seat = hello.get("seat")
        self._chat = None
        self.exchanges = []

    def choose(self, observation: Any, budget: Budget | None = None) -> Any:
        """A legal move. Raises ValueError if none of MAX_ANSWERS answers has one."""
        seconds = None if budget is None else budget.time
        talk = self._talk(observation)
        exchange = talk.ask(observation, self._legal(observation), seconds)
        self.exchanges.append(exchange)
        for left in range(MAX_ANSWERS - 1, 0, -1):
            if exchange.outcome == MOVE or exchange.reading is None:
                break
            seconds = None if seconds is None else seconds - exchange.seconds
            exchange = talk.ask_again(exchange.error, left, seconds)
            self.exchanges.append(exchange)
        if exchange.outcome != MOVE or exchange.reading is None:
            raise ValueError(f"{self.name} gave no legal move: {exchange.error}")
        return exchange.reading.move

    def close(self) -> None:
        """Do nothing: no resources are held."""

    def _talk(self, observation: Any) -> Chat:
        seat = mover(self.game, observation) if self._seat is None else self._seat
        if self._chat is None or self._chat.seat != seat:
            self._chat = Chat(self.game, self._endpoint, seat)
        return self._chat

    def _legal(self, observation: Any) -> list[str] | None:
        # Observations lack hidden boards; which boards are legal does not depend on them.
        state = self.game.initial_state() if self.game.actions_a_turn > 1 else bare(observation)
        try:
            return legal_texts(self.game, observation, self.game.legal_moves(state))
        except TooManyMoves:
            return None


def mover(game: Game, observation: Any) -> int:
    """The seat to move in an observation. Raises ValueError if the game is over."""
    try:
        seat = game.to_move(bare(observation))
    except BadState:  # spaces: what lies face down is missing
        seat = observation["to_move"]
    if seat is None:
        raise ValueError("there is nothing to choose: the game is over")
    return seat


def make_llm(game: Game, spec: str) -> LanguageModelBot:
    """The bot of a spec like ``llm:http://localhost:8000/v1,model=NAME``. Raises ValueError if the spec is wrong."""
    return LanguageModelBot(game, spec, endpoint(spec))


def endpoint(spec: str) -> Endpoint:
    """The endpoint of a spec; sends nothing yet. Raises ValueError if the spec is wrong."""
    return Endpoint(read_settings(spec.partition(":")[2]))
