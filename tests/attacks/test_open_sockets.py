"""Point 6: open WebSockets and streams end when whoever opened them is banned, signed out, revoked or renewed."""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from httpx import Client
from sqlalchemy import Engine
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from ludodrome.store import accounts, league_bots
from ludodrome.store.announcements import ACCOUNT, Listener
from ludodrome.store.database import open_database
from ludodrome.web.app import create_app
from ludodrome.web.auth import COOKIE
from ludodrome.web.concurrency import POLICY_VIOLATION
from tests.attacks.web_process import web_process
from tests.cli.running import run
from tests.web.hosting import Hosted, hosting
from tests.web.serving import serving
from tests.web.walking import API

SECONDS = 10.0
"""For a loaded machine: an idle one needs a tenth of a second."""
SMALL = {"rows": 1, "cols": 2}


@pytest.fixture(scope="module")
def hosted() -> Iterator[Hosted]:
    with hosting() as running:
        yield running


def _signed_in(engine: Engine, account: str) -> dict[str, str]:
    return {"cookie": f"{COOKIE}={accounts.sign_in(engine, account, 'a test')}"}


def _token(engine: Engine, account: str, *scopes: str) -> tuple[str, dict[str, str]]:
    row, secret = accounts.add_token(engine, account, "a test", list(scopes))
    return row.id, {"authorization": f"Bearer {secret}"}


def _begin(address: str, headers: dict[str, str]) -> str:
    wish = {"game": "dots", "options": SMALL, "seats": ["person", "person"]}
    with Client(base_url=address, headers=headers, timeout=60) as client:
        answer = client.post(f"{API}/plays", json=wish)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])


@contextmanager
def _open(address: str, path: str, headers: dict[str, str]) -> Iterator[ClientConnection]:
    with connect(f"{address.replace('http', 'ws')}{API}{path}", additional_headers=headers) as opened:
        yield opened


def _live(stack: ExitStack, address: str, play: str, headers: dict[str, str]) -> ClientConnection:
    opened = stack.enter_context(_open(address, f"/plays/{play}/live", headers))
    assert json.loads(opened.recv(timeout=60))["type"] == "play"
    return opened


def _ended(opened: ClientConnection) -> bool:
    """Whether it is closed soon, with the code and a sentence."""
    deadline = time.monotonic() + SECONDS
    try:
        while (left := deadline - time.monotonic()) > 0:
            opened.recv(timeout=left)
    except (TimeoutError, ConnectionClosed):
        pass
    closed = opened.protocol.close_rcvd
    return closed is not None and closed.code == POLICY_VIOLATION and "no longer valid" in closed.reason


def _answers(opened: ClientConnection) -> bool:
    opened.send(json.dumps({"type": "ping", "id": 7}))
    while True:
        said = json.loads(opened.recv(timeout=60))
        if said["type"] == "pong":
            return bool(said["id"] == 7)


def _refused(address: str, path: str, headers: dict[str, str]) -> bool:
    try:
        with _open(address, path, headers):
            return False
    except InvalidStatus:
        return True


@pytest.mark.parametrize("how", ["ban", "password", "sign-out", "revoke", "demote", "command"])
def test_point_6_a_websocket_ends_with_the_rights_of_its_caller(hosted: Hosted, how: str, tmp_path: Path) -> None:
    engine, person = hosted.engine, hosted.person(f"Holder {how}")
    other = _signed_in(engine, person.id)  # a second browser
    accounts.set_admin(engine, person.id, how == "demote")
    token = None
    if how == "revoke":
        token, headers = _token(engine, person.id, "play")
    elif how == "demote":
        _, headers = _token(engine, person.id, "play", "admin")
    else:
        headers = _signed_in(engine, person.id)
    play = _begin(hosted.address, headers)
    ends: dict[str, Callable[[], Any]] = {
        "ban": lambda: accounts.set_banned(engine, person.id, True),
        "password": lambda: accounts.set_password(engine, person.id, "another"),
        "sign-out": lambda: accounts.sign_out(engine, person.id, accounts.sign_ins(engine, person.id)[0].id),
        "revoke": lambda: accounts.revoke(engine, person.id, str(token)),
        "demote": lambda: accounts.set_admin(engine, person.id, False),
        "command": lambda: run("admin", "ban", person.name, "--db", str(engine.url.database)),
    }
    if how == "sign-out":  # the session that was used last comes first
        with Client(base_url=hosted.address, headers=headers) as client:
            found = [one["id"] for one in client.get(f"{API}/account/sessions").json() if one["current"]]
        ends[how] = lambda: accounts.sign_out(engine, person.id, found[0])
    with ExitStack() as stack:
        mine = _live(stack, hosted.address, play, headers)
        beside = _live(stack, hosted.address, play, other)
        stranger = _live(stack, hosted.address, play, {})
        ends[how]()
        assert _ended(mine)
        assert _answers(stranger)
        if how in ("sign-out", "revoke"):
            assert _answers(beside)


def test_point_6_streams_end_too(hosted: Hosted) -> None:
    person = hosted.person("Spectator")
    headers = _signed_in(hosted.engine, person.id)
    play = _begin(hosted.address, headers)
    for path in (f"/plays/{play}/events", "/live/dots"):
        headers = _signed_in(hosted.engine, person.id)
        with (
            Client(base_url=hosted.address, headers=headers, timeout=SECONDS) as client,
            client.stream("GET", f"{API}{path}") as answer,
        ):
            lines = answer.iter_lines()
            next(lines)
            accounts.set_password(hosted.engine, person.id, "another")
            for _ in lines:  # it ends, or times out
                pass


@pytest.mark.parametrize("how", ["renew", "ban-bot", "ban", "revoke"])
def test_point_6_a_remote_bot_is_cut_off(hosted: Hosted, how: str) -> None:
    engine, person = hosted.engine, hosted.person(f"Owner {how}")
    bot = league_bots.enter_remote(engine, "dots", person.id, f"Bot {how}", f"bot_secret {how}")
    token, headers = _token(engine, person.id, "bots")
    if how != "revoke":
        headers = {"authorization": f"Bearer bot_secret {how}"}
    path = f"/bots/{bot}/connect"
    with _open(hosted.address, path, headers) as opened:
        deadline = time.monotonic() + 60
        while not _here(engine, bot):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        ends: dict[str, Callable[[], Any]] = {
            "renew": lambda: league_bots.set_token(engine, bot, "bot_another"),
            "ban-bot": lambda: league_bots.ban(engine, bot, True),
            "ban": lambda: accounts.set_banned(engine, person.id, True),
            "revoke": lambda: accounts.revoke(engine, person.id, token),
        }
        ends[how]()
        assert _ended(opened)
    assert _refused(hosted.address, path, headers)


def _here(engine: Engine, bot: str) -> bool:
    found = league_bots.find_bot(engine, bot)
    return found is not None and found.here


def test_point_6_a_client_that_ignores_the_close_can_do_nothing_more(hosted: Hosted) -> None:
    person = hosted.person("Deaf")
    headers = _signed_in(hosted.engine, person.id)
    play = _begin(hosted.address, headers)
    host, port = hosted.address.rpartition("/")[2].split(":")
    with socket.create_connection((host, int(port)), 60) as raw:
        lines = [f"GET {API}/plays/{play}/live HTTP/1.1", f"host: {host}", "upgrade: websocket", "connection: upgrade"]
        lines += ["sec-websocket-version: 13", "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA=="]
        raw.sendall("\r\n".join((*lines, f"cookie: {headers['cookie']}", "", "")).encode())
        while b'"type":"play"' not in raw.recv(65536):
            pass
        accounts.set_banned(hosted.engine, person.id, True)
        heard = b""
        while b"no longer valid" not in heard:
            heard += raw.recv(65536)
        edge = json.dumps({"type": "move", "move": {"orient": "H", "r": 0, "c": 0}}).encode()
        frame = struct.pack("!BB", 0x81, 0x80 | len(edge)) + bytes(4) + edge
        raw.sendall(frame)
        raw.settimeout(2.0)
        with suppress(TimeoutError, ConnectionError):
            assert b"done" not in raw.recv(65536)
    with Client(base_url=hosted.address, timeout=60) as client:
        assert client.get(f"{API}/plays/{play}").json()["version"] == 0


def test_point_6_a_ban_while_the_caller_is_identified_counts(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    person = hosted.person("Racer")
    headers = _signed_in(hosted.engine, person.id)
    play = _begin(hosted.address, headers)
    heard, real = threading.Event(), accounts.session_of
    listener = Listener(hosted.engine)
    listener.subscribe(ACCOUNT, lambda subject: heard.set())
    listener.start()
    assert listener.wait(60)

    def slow(engine: Engine, secret: str) -> Any:
        found = real(engine, secret)
        if not heard.is_set():
            accounts.set_banned(engine, person.id, True)
            assert heard.wait(60)
            deadline = time.monotonic() + 60
            while (ACCOUNT, person.id) not in hosted.app.state.sockets._recent:  # the server hears it, too
                assert time.monotonic() < deadline
                time.sleep(0.01)
        return found

    monkeypatch.setattr("ludodrome.web.auth.session_of", slow)
    with ExitStack() as stack:
        stack.callback(listener.stop)
        try:  # it is refused, or ends at once: that depends on which thread is quicker
            ended = _ended(_live(stack, hosted.address, play, headers))
        except (InvalidHandshake, ConnectionClosed) as refused:
            ended = not isinstance(refused, InvalidStatus) or refused.response.status_code == 403
        assert ended


def test_point_6_across_apps(database: str) -> None:
    with ExitStack() as stack:
        engines = [open_database(database, create=True) for _ in range(2)]
        apps = [create_app(engine, mode="hosted") for engine in engines]
        _revoke(database, *(stack.enter_context(serving(app)) for app in apps))
    for engine in engines:
        engine.dispose()


def test_point_6_across_processes(database: str, tmp_path: Path, long: bool) -> None:
    if database.startswith("postgresql") and not long:
        pytest.skip("processes on PostgreSQL come with --long: two apps in one process are tested on it")
    with ExitStack() as stack:
        _revoke(database, *(stack.enter_context(web_process(database, tmp_path, "--hosted")) for _ in range(2)))


def _revoke(database: str, *addresses: str) -> None:
    """Sockets in both servers end, and only those whose callers have lost their rights."""
    engine = open_database(database)
    names = ("Ada", "Bea", "Cyd")
    people = [accounts.add_account(engine, name, "no password") for name in names]
    bot = league_bots.enter_remote(engine, "dots", people[2].id, "Dialler", "bot_first")
    with ExitStack() as stack:
        token, bearer = _token(engine, people[1].id, "play")
        sockets = []
        for address in addresses:
            for headers in (_signed_in(engine, people[0].id), bearer):
                sockets.append(_live(stack, address, _begin(address, headers), headers))
        keeper = _live(stack, addresses[0], _begin(addresses[0], bearer), _signed_in(engine, people[2].id))
        dialled = stack.enter_context(
            _open(addresses[1], f"/bots/{bot}/connect", {"authorization": "Bearer bot_first"})
        )
        accounts.set_banned(engine, people[0].id, True)
        accounts.revoke(engine, people[1].id, token)
        with Client(base_url=addresses[0], headers=_signed_in(engine, people[2].id), timeout=60) as client:
            assert client.post(f"{API}/bots/{bot}/token", json={}).status_code == 201
        assert all(map(_ended, sockets))
        assert _ended(dialled)
        assert _answers(keeper)
    engine.dispose()
