"""An endpoint on this machine that speaks OpenAI's chat completions and behaves as the model's name says."""

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ludodrome.bots.llm import PREFLIGHT

Request = dict[str, Any]


class Fake:
    """What was asked, and how it is answered."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.times: list[float] = []
        """When each request came."""
        self.headers: list[dict[str, str]] = []
        self.url = ""
        self.release = threading.Event()
        """What the slow models wait for; set when the test is over."""
        self.fault: str | None = None
        """What becomes of the requests after the first ``sound`` ones, whatever the model: see ``FAULTS``."""
        self.sound = 0
        self.retry_after = ""
        """The header of answers with an error."""

    def heal(self) -> None:
        """Answer as the models do from now on."""
        self.fault = None

    def behaviour(self, model: str) -> str:
        """The name of the model, or the fault that is due."""
        return self.fault if self.fault is not None and len(self.requests) > self.sound else model

    def spec(self, model: str, *params: str) -> str:
        """The spec of a bot."""
        return ",".join([f"llm:{self.url}", f"model={model}", *params])

    def answer(self, request: Request) -> tuple[int, Any]:
        """Status and body."""
        model, messages = self.behaviour(request["model"]), request["messages"]
        count = len(self.requests)
        if model in STATUSES:
            return STATUSES[model]
        if model == "unknown":
            return 404, {"error": {"message": "there is no such model"}}
        if model == "flaky" and count % 2:
            return 503, {"error": "busy"}
        if model == "nonsense":
            return 200, {"object": "list"}
        if model == "slow":
            self.release.wait(20)
        if model == "declining":
            return 200, completion(None, refusal="I cannot help with that.")
        if model == "thinking":
            thoughts = completion(reply(model, messages), reasoning_content="Perhaps the first one.")
            thoughts["usage"]["completion_tokens_details"] = {"reasoning_tokens": 5}
            return 200, thoughts
        if model == "uncounted":
            found = completion(reply(model, messages))
            del found["usage"]
            found["choices"][0]["finish_reason"] = "length"
            return 200, found
        return 200, completion(reply(model, messages))


STATUSES = {
    "locked": (401, {"error": {"message": "this key is not valid"}}),
    "limited": (429, {"error": {"message": "too many requests"}}),
    "broken": (500, {"error": {"message": "out of memory"}}),
}
FAULTS = (*STATUSES, "garbled", "dying", "dripping", "slow", "declining", "mute")


def reply(model: str, messages: list[dict[str, str]]) -> str:
    """What a model of that name says."""
    question = next(one["content"] for one in messages if one["role"] == "user")
    legal = re.findall(r"\[[^\]]+\]", question.rpartition("Legal moves")[2].partition("\n")[0])
    again = messages[-1]["content"] if len(messages) > 2 else ""
    if messages == PREFLIGHT:
        return "ready"
    if model == "mute":
        return "I am not sure that I understand this game."
    if model == "stubborn":
        return "My answer is [N1A1A1A1] and [V(99,99)], [C00-00], [1A1-A1 ^A1] or [9:0:f]. I insist."
    if model == "repentant" and not again:
        return "Let me see ... [N1A1A1A1]!"
    if model == "lapsing" and f"Legal moves ({len(legal)})" in question and len(legal) % 3 == 0:
        return "I pass."
    if model == "rambling":
        wrong = "I first thought of [N1A1A1A1], which is not possible. " * 3
        return f"<think>Maybe {legal[0]}?</think>**Analysis.** {wrong}So my move is\n\n{legal[-1]}\n\nGood luck!"
    if model == "blind":
        return "[3:1:uuf]"
    return f"I play {legal[0]}."


def completion(text: str | None, **more: Any) -> dict[str, Any]:
    """A response as OpenAI's servers give it."""
    message = {"role": "assistant", "content": text, **more}
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107},
    }


@contextmanager
def serving() -> Iterator[Fake]:
    """The endpoint, for as long as it is needed."""
    fake = Fake()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fake.requests.append(request | {"path": self.path})
            fake.times.append(time.monotonic())
            fake.headers.append(dict(self.headers))
            how = fake.behaviour(request["model"])
            if how == "dripping":
                self._drip()
                return
            status, body = fake.answer(request)
            content = b'{"choices": [{"mess' if how == "garbled" else json.dumps(body).encode()
            try:
                if how == "dying":
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_response(status)
                if fake.retry_after and status != 200:
                    self.send_header("Retry-After", fake.retry_after)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                pass  # the client has given up

        def _drip(self) -> None:
            """A byte now and then: no single read takes long, and yet it never ends."""
            try:
                self.send_response(200)
                self.end_headers()
                while not fake.release.is_set():
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    time.sleep(0.02)
            except OSError:
                pass

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        fake.release.set()
        server.shutdown()
        server.server_close()
        thread.join()
