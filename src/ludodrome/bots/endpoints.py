"""Endpoints that speak OpenAI's chat completions: their settings in a spec, asking them, what comes back.

Nothing here knows a game; ``languagemodels.py`` plays through this. The key stands in the environment, never in a spec:
specs are written into records.
"""

import http.client
import json
import os
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ludodrome.bots.knobs import Knob
from ludodrome.validation import listing, show

KEY = "LUDODROME_LLM_KEY"
"""The environment variable that holds the key, if the spec names no other."""
PATH = "/chat/completions"
EXAMPLE = "llm:http://localhost:8000/v1,model=NAME"
LONGEST = 4 * 1024 * 1024
"""Bytes that are read of a response."""
AGAIN = (408, 409, 429, 500, 502, 503, 504, 529)
"""What an endpoint says when it may be asked once more."""
FIRST_PAUSE = 0.5

KNOBS = (
    Knob("temperature", "how freely the model chooses its words; not sent if not said", "0", 0, 10, whole=False),
    Knob("max_tokens", "tokens of an answer, by the name that most servers know", "2000", 1, 10**7),
    Knob("max_completion_tokens", "the same by the name that newer ones want", "2000", 1, 10**7),
    Knob("timeout", "seconds for one request; 120 if not said", "60", 0.05, 86_400, whole=False),
    Knob("retries", "how often a failing endpoint is asked again; 2 if not said", "5", 0, 100),
)
"""What can be set beside ``model`` and ``key``."""

Message = dict[str, str]


class Settings(NamedTuple):
    """What a spec says."""

    url: str
    model: str
    key: str | None = None
    """The name of the environment variable, if the spec gives one."""
    timeout: float = 120.0
    retries: int = 2
    sent: tuple[tuple[str, Any], ...] = ()
    """Parameters that go to the endpoint as they are."""


class Failed(Exception):
    """The endpoint gave no answer; the sentence says why. ``late`` if the time was over."""

    def __init__(self, message: str, late: bool = False) -> None:
        super().__init__(message)
        self.late = late


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered."""

    text: str
    declined: bool = False
    """Whether the endpoint says that the model refused to answer."""
    finish: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    attempts: int = 1


def read_settings(text: str) -> Settings:
    """The settings after ``llm:``; ValueError says what would be right."""
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
    knobs = {knob.name: knob for knob in KNOBS}
    found: dict[str, Any] = {}
    for part in parts:
        name, _, value = part.partition("=")
        if name not in ("model", "key", *knobs):
            raise ValueError(f"llm has no knob {show(name)}; its knobs are {listing(('model', 'key', *knobs))}")
        if name in found:
            raise ValueError(f"the knob {name} of llm is set twice")
        if not value:
            raise ValueError(f"the knob {name} of llm has no value; it is set like {name}=...")
        found[name] = knobs[name].read(value, "llm") if name in knobs else value
    if "model" not in found:
        raise ValueError(f"llm needs the name of a model: {EXAMPLE}")
    own = {name: found.pop(name) for name in ("model", "key", "timeout", "retries") if name in found}
    return Settings(url.rstrip("/"), **own, sent=tuple(found.items()))


class Endpoint:
    """One endpoint, with one model."""

    def __init__(self, settings: Settings) -> None:
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
        """The model's answer within so many seconds; Failed if there is none."""
        limit = self.settings.timeout if seconds is None else min(seconds, self.settings.timeout)
        deadline = time.monotonic() + limit
        payload = {"model": self.settings.model, "messages": messages, **dict(self.settings.sent)}
        body = json.dumps(payload).encode()
        attempts, pause = 0, FIRST_PAUSE
        while True:
            attempts += 1
            try:
                status, said, content = self._post(body, deadline)
            except OSError as error:
                status, said, content = 0, 0.0, str(error.strerror or error).encode()
            if status == http.client.OK:
                return _completion(content, attempts)
            why = _complaint(status, content)
            wait = max(pause, said)
            may = attempts <= self.settings.retries and (status == 0 or status in AGAIN)
            if not may or time.monotonic() + wait >= deadline:
                raise Failed(f"the endpoint {why}" + (f", {attempts} times" if attempts > 1 else ""))
            time.sleep(wait)
            pause *= 2

    def _post(self, body: bytes, deadline: float) -> tuple[int, float, bytes]:
        """Status, seconds to wait and content; Failed at the deadline, OSError if nothing can be sent or read."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise Failed("no answer came in time", late=True)
        kind = http.client.HTTPSConnection if self._where.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._where.hostname or "", self._where.port, timeout=left)
        alarm: threading.Timer | None = None
        try:
            connection.connect()
            # A server that drips would outlast any socket's timeout.
            alarm = threading.Timer(deadline - time.monotonic(), _cut, [connection.sock])
            alarm.daemon = True
            alarm.start()
            connection.request("POST", self._path, body, self._headers)
            response = connection.getresponse()
            content = response.read(LONGEST + 1)
            if time.monotonic() >= deadline:
                raise Failed("no answer came in time", late=True)
            if len(content) > LONGEST:
                raise Failed(f"the endpoint sent more than {LONGEST} bytes")
            return response.status, _seconds(response.getheader("Retry-After")), content
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            if time.monotonic() >= deadline or isinstance(error, TimeoutError):
                raise Failed("no answer came in time", late=True) from error
            raise OSError(str(error) or type(error).__name__) from error
        finally:
            if alarm is not None:
                alarm.cancel()
            connection.close()


def _cut(connected: socket.socket) -> None:
    with suppress(OSError, ValueError):
        connected.shutdown(socket.SHUT_RDWR)


def _seconds(text: str | None) -> float:
    with suppress(ValueError):
        return max(0.0, float(text or 0))
    return 0.0


def _complaint(status: int, content: bytes) -> str:
    """Why there was no answer, in the endpoint's words as far as they are few."""
    said = content.decode("utf-8", "replace")
    with suppress(ValueError, KeyError, TypeError):
        found = json.loads(said)
        error = found["error"]
        said = error["message"] if isinstance(error, dict) else str(error)
    words = " ".join(str(said).split())[:200]
    if status == 0:
        return f"cannot be reached: {words}"
    return f"answered {status}" + (f": {words}" if words else "")


def _completion(content: bytes, attempts: int) -> Completion:
    """The answer in a response; Failed if there is none."""
    try:
        found = json.loads(content)
        choice = found["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise Failed("the endpoint's answer is no chat completion: choices[0].message is missing") from error
    if isinstance(text, list):  # some servers answer in parts
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    usage = found.get("usage")
    counts = [usage.get(name) if isinstance(usage, dict) else None for name in ("prompt_tokens", "completion_tokens")]
    tokens = [count if type(count) is int and count >= 0 else None for count in counts]
    finish = choice.get("finish_reason")
    declined = isinstance(refusal, str) and bool(refusal)
    answer = refusal if declined and not text else text
    return Completion(
        answer if isinstance(answer, str) else "",
        declined,
        finish if isinstance(finish, str) else None,
        tokens[0],
        tokens[1],
        attempts,
    )
