"""Every route, asked by everybody: the answers are those of ``matrix.txt``, and no route is missing there.

``python -m tests.web.test_matrix`` prints the table as it would be now.
"""

import re
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastapi import FastAPI
from httpx import Client
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from ludodrome.store import accounts, league_bots, league_matches
from tests.web.hosting import Hosted, hosting

TABLE = Path(__file__).with_name("matrix.txt")
CALLERS = (None, "Other", "Owner", "Chief")
WS = "WS"
API = "/api/v1"
MATCH: dict[str, Any] = {"game": "dots", "options": {}, "names": ["one", "two"]}
MOST_BOTS = 10
"""Of one owner at a time: an account may not have many."""
_numbers = count()


class Row(NamedTuple):
    """A line of the table."""

    method: str
    path: str
    statuses: tuple[str, ...]
    body: str

    def __str__(self) -> str:
        return f"{self.method:<6} {self.path:<41} {' '.join(self.statuses):<16} {self.body}".rstrip()


def rows() -> list[Row]:
    """The table."""
    found = []
    for line in TABLE.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            method, path, first, second, third, fourth, *body = line.split(None, 6)
            found.append(Row(method, path, (first, second, third, fourth), "".join(body)))
    return found


def routes(app: FastAPI) -> Iterator[tuple[str, str]]:
    """The method and the form of the address of every route."""
    for route in app.routes:
        inner = getattr(route, "original_router", None)
        if inner is None:
            for method in getattr(route, "methods", None) or ():
                yield method, getattr(route, "path", "")
            continue
        prefix = getattr(route, "include_context").prefix  # noqa: B009 (FastAPI keeps it to itself)
        for one in inner.routes:
            for method in getattr(one, "methods", None) or (WS,):
                yield method, prefix + one.path


class World:
    """What belongs to the owner, each thing made anew for whoever asks for it."""

    def __init__(self, hosted: Hosted) -> None:
        self.hosted = hosted
        self.owner = hosted.client("Owner")
        self._bots: list[str] = []
        self.clients = {name: hosted.client(name) for name in CALLERS}

    def thing(self, name: str) -> str:
        """A new one."""
        made: str = getattr(self, f"_{name}")()
        return made

    def close(self) -> None:
        """All clients leave."""
        for client in (self.owner, *self.clients.values()):
            client.close()

    def _begun(self, *seats: str) -> Any:
        wish = {"game": "dots", "options": {"rows": 1, "cols": 1}, "seats": list(seats)}
        return self.owner.post(f"{API}/plays", json=wish).json()

    def _play(self) -> str:
        return str(self._begun("person", "person")["id"])

    def _over(self) -> str:
        play = self._play()
        assert self.owner.post(f"{API}/plays/{play}/resign", json={}).status_code == 200
        return play

    def _link(self) -> str:
        seats = self._begun("person", "friend")["seats"]
        return str(next(seat["link"] for seat in seats if seat.get("link"))).rpartition("/")[2]

    def _bot(self) -> str:
        owner, number = self.hosted.person("Owner").id, next(_numbers)
        if len(self._bots) > MOST_BOTS:
            league_bots.retire(self.hosted.engine, self._bots.pop(0))
        self._bots.append(
            league_bots.enter_remote(self.hosted.engine, "dots", owner, f"Bot {number}", f"secret {number}")
        )
        return self._bots[-1]

    def _event(self) -> str:
        entered = [one.id for one in league_bots.bots(self.hosted.engine, "dots") if one.kind == "builtin"]
        for event in league_matches.open_events(self.hosted.engine):  # one may ask for a few at a time
            league_matches.close_event(self.hosted.engine, event.id)
        wish = {"game": "dots", "name": f"Cup {next(_numbers)}", "bots": entered[:2]}
        begun = self.owner.post(f"{API}/tournaments", json=wish)
        assert begun.status_code == 201, begun.text
        return str(begun.json()["id"])

    def _match(self) -> str:
        name, bots = f"m-{next(_numbers)}", [self._bot(), self._bot()]
        league_matches.queue(self.hosted.engine, "challenge", [(name, MATCH, bots, 0)], None)
        return name

    def _token(self) -> str:
        row, _ = accounts.add_token(self.hosted.engine, self.hosted.person("Owner").id, "x", ["play"])
        return row.id

    def _session(self) -> str:
        owner = self.hosted.person("Owner").id
        known = accounts.session_of(self.hosted.engine, accounts.sign_in(self.hosted.engine, owner, ""))
        assert known is not None
        return str(known.sign_in)

    def _account(self) -> str:
        return accounts.add_account(self.hosted.engine, f"Somebody {next(_numbers)}", "hash").id

    def asked(self, row: Row, caller: str | None) -> str:
        """What somebody is answered."""
        path = re.sub(r"\{(\w+)\}", lambda found: self.thing(found[1]), row.path)
        if row.method == WS:
            return self._opened(path, caller)
        leaving = row.path in (f"{API}/session", f"{API}/account/password")
        client = self.hosted.client(caller) if leaving else self.clients[caller]
        try:
            return _status(client, row.method, path, row.body)
        finally:
            if leaving:
                client.close()
            if (row.method, row.path) == ("DELETE", f"{API}/account/sessions"):  # it has ended all others of the caller
                self.close()
                self.owner = self.hosted.client("Owner")
                self.clients = {name: self.hosted.client(name) for name in CALLERS}

    def _opened(self, path: str, caller: str | None) -> str:
        headers = {}
        if caller is not None:
            row, secret = accounts.add_token(self.hosted.engine, self.hosted.person(caller).id, "x", ["bots"])
            headers["Authorization"] = f"Bearer {secret}"
        try:
            with connect(f"ws{self.hosted.address[4:]}{path}", additional_headers=headers):
                return "open"
        except InvalidStatus as refused:
            return str(refused.response.status_code)
        finally:
            if caller is not None:
                accounts.revoke(self.hosted.engine, self.hosted.person(caller).id, row.id)


def _status(client: Client, method: str, path: str, body: str) -> str:
    content = {"content": body, "headers": {"content-type": "application/json"}} if body else {}
    with client.stream(method, path, **content) as answer:  # type: ignore[arg-type] # events never end: look, and leave
        return str(answer.status_code)


@pytest.fixture(scope="module")
def world(hosted: Hosted) -> Iterator[World]:
    made = World(hosted)
    yield made
    made.close()


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row.method} {row.path}")
def test_the_answers_are_those_of_the_table(world: World, row: Row) -> None:
    assert tuple(map(partial(world.asked, row), CALLERS)) == row.statuses


def test_no_route_is_missing(hosted: Hosted) -> None:
    there = {(method, path) for method, path in routes(hosted.app) if method != "HEAD"}
    for method, path in sorted(there):
        form = re.compile(re.sub(r"\\\{\w+(:path)?\\\}", "[^/]+", re.escape(path)))
        assert any(row.method == method and form.fullmatch(row.path) for row in rows()), (method, path)
    assert len(rows()) == len(there)


if __name__ == "__main__":
    with hosting() as running:
        now = World(running)
        for line in rows():
            print(line._replace(statuses=tuple(now.asked(line, name) for name in CALLERS)))
        now.close()
