"""A remote bot for tests: it is disconnected in mid-move on demand, and remembers all its messages."""

import json
import random
import threading
from collections import defaultdict
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect


class RemoteBot:
    """Plays any legal move, a new one whenever it is asked again."""

    def __init__(self, address: str, bot_id: str, token: str, cuts: int = 0, seed: int = 0) -> None:
        self.url = f"{address.replace('http', 'ws', 1)}/api/v1/bots/{bot_id}/connect"
        self.token, self.cuts = token, cuts
        self.made = 0
        """How often it was cut off in mid-move."""
        self.sent: dict[tuple[str, int], list[Any]] = defaultdict(list)
        self.heard: list[dict[str, Any]] = []
        self.over = threading.Event()
        self.attached = threading.Event()
        self._dice = random.Random(seed)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "RemoteBot":
        self._thread.start()
        assert self.attached.wait(10)
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join(10)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                with connect(self.url, additional_headers={"authorization": f"Bearer {self.token}"}) as line:
                    self.attached.set()
                    self._play(line)
            except (OSError, WebSocketException):
                self._stop.wait(0.02)

    def _play(self, line: Any) -> None:
        while not self._stop.is_set():
            try:
                message = json.loads(line.recv(0.1))
            except TimeoutError:
                continue
            self.heard.append(message)
            if message["type"] == "over":
                self.over.set()
            if message["type"] == "turn" and not self._answer(line, message):
                return

    def _answer(self, line: Any, turn: dict[str, Any]) -> bool:
        """Answers, or is cut off: before it has said a word, or right after it."""
        how = self._dice.randrange(3) if self.made < self.cuts else 2
        if how < 2:
            self.made += 1
        if how > 0:
            move = self._dice.choice(turn["legal_moves"])
            self.sent[turn["match"], turn["turn"]].append(move)
            line.send(json.dumps({"type": "move", "move": move, "turn": turn["turn"], "match": turn["match"]}))
        if how < 2:
            line.socket.close()
            return False
        return True
