"""Point 2 of the list of attacks: other users of the machine do not become the owner of a local server.

The server runs as the user of the tests. Where the tests are root's, programs of another uid attack it.
"""

import json
import os
import re
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ludodrome.arena import sandbox
from ludodrome.bots.starters import one_file
from ludodrome.client import Client, Refused
from ludodrome.store.database import open_database
from ludodrome.system import owner_token, owner_token_file
from ludodrome.web.app import create_app
from ludodrome.web.auth import Mode
from ludodrome.web.owner import OwnerProof, own_uid, uid_of_socket
from ludodrome.web.routes import bots
from tests.web.hosting import hosting
from tests.web.serving import CHROMIUM, browser, serving

API = "/api/v1"
STRANGER = 65534
UPLOAD = {"game": "dots", "source": "print('run as the owner')"}
PLAY = {"game": "dots", "seats": ["person", "friend"], "options": {"rows": 2, "cols": 2}}
WRITES = (
    ("POST", "/checks", UPLOAD),
    ("POST", "/bots", {**UPLOAD, "name": "Stranger", "kind": "uploaded"}),
    ("POST", "/tokens", {"label": "mine", "scopes": ["admin"]}),
    ("POST", "/matches", {"game": "dots", "bots": ["a", "b"]}),
    ("GET", "/tokens", None),
    ("GET", "/accounts", None),
    ("GET", "/plays", None),
)
STRANGERS_PROGRAM = """
import encodings.idna, json, os, socket, sys
os.setgroups([]); os.setgid({uid}); os.setuid({uid})
host, port, requests = {host!r}, {port}, {requests!r}
for method, path, body, headers in requests:
    data = b"" if body is None else json.dumps(body).encode()
    head = dict(headers, host=host + ":" + str(port), connection="close")
    if body is not None:
        head.update({{"content-type": "application/json", "content-length": str(len(data))}})
    lines = [method + " " + path + " HTTP/1.1"] + [name + ": " + value for name, value in head.items()]
    there = socket.create_connection((host, port), timeout=60)
    there.sendall("\\r\\n".join(lines).encode() + b"\\r\\n\\r\\n" + data)
    {ending}
    answer = b""
    while there.fileno() >= 0 and (part := there.recv(65536)):
        answer += part
    there.close()
    if not answer:
        continue
    head, _, rest = answer.partition(b"\\r\\n\\r\\n")
    print(json.dumps([int(head.split()[1]), rest.decode("utf-8", "replace")]), flush=True)
"""

needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can start programs of another uid: not attacked"
)
needs_uids = pytest.mark.skipif(own_uid() is None, reason="this system does not tell uids of connections: no owner")


@contextmanager
def running(mode: Mode = "local", owner: OwnerProof | None = None) -> Iterator[tuple[str, FastAPI]]:
    """The address of a server, and its app."""
    with TemporaryDirectory() as folder:
        engine = open_database(Path(folder) / "ludodrome.db", create=True)
        app = create_app(engine, mode=mode, owner=owner)
        try:
            with serving(app) as address:
                yield address, app
        finally:
            engine.dispose()


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No token file of a running server is read or written."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def as_stranger(address: str, requests: Any, ending: str = "") -> list[tuple[int, str]]:
    """Statuses and bodies of the answers to a program of another uid: (method, path, body[, headers])."""
    host, _, port = address.removeprefix("http://").rpartition(":")
    asked = [(method, path, body, dict(*headers)) for method, path, body, *headers in requests]
    source = STRANGERS_PROGRAM.format(uid=STRANGER, host=host, port=int(port), requests=asked, ending=ending)
    ran = subprocess.run([sys.executable, "-I", "-c", source], capture_output=True, text=True, timeout=120, cwd="/")
    assert ran.returncode == 0, ran.stderr
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ending or len(found) == len(asked)
    return [(status, body) for status, body in found]


@needs_root
@pytest.mark.parametrize("mode", ["local", "lan"])
def test_point_2_another_uid_is_not_the_owner(mode: Mode) -> None:
    with running(mode) as (address, _app):
        calls = [(method, f"{API}{path}", body) for method, path, body in WRITES]
        for (status, body), (_, path, _) in zip(as_stranger(address, calls), calls, strict=True):
            assert status == 401, (path, body)
            assert "ludodrome serve" in body
        begun, account, page = as_stranger(
            address, [("POST", f"{API}/plays", PLAY), ("GET", f"{API}/account", None), ("GET", "/dots", None)]
        )
        assert begun[0] == 403
        assert json.loads(account[1])["account"] is None
        assert page[0] == 200
        assert "You are a guest here" in page[1]


@needs_root
@pytest.mark.parametrize("ending", ["there.shutdown(socket.SHUT_WR)", "there.close()"])
def test_point_2_a_connection_that_is_being_closed_is_nobodys(ending: str) -> None:
    """The kernel reports sockets without a process as root's, and the server may be root's."""
    with running() as (address, app), httpx.Client(base_url=address, timeout=60) as owner:
        wish = ("POST", f"{API}/tokens", {"label": "stolen", "scopes": ["admin"]})
        as_stranger(address, [wish] * 20, ending)
        deadline = time.monotonic() + 20
        while (counted := _answered(app, "/tokens", 401)) < 20 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert counted > 0
        assert owner.get(f"{API}/tokens").json() == []


def _answered(app: FastAPI, path: str, status: int) -> int:
    """How many requests for a path have had this status."""
    line = rf'requests_total\{{method="POST",route="{API}{path}",status="{status}"\}} (\d+)'
    found = re.search(line, app.state.metrics.text().decode())
    return int(found[1]) if found else 0


@needs_root
def test_point_2_a_strangers_token_or_cookie_is_worth_nothing() -> None:
    with running() as (address, app):
        port = address.rpartition(":")[2]
        stolen = {"cookie": f"ludodrome-owner-{port}={app.state.owner.cookie(os.geteuid())}"}
        guessed = {"authorization": "Bearer owner_guessed"}
        derived = {"authorization": f"Bearer {app.state.owner.cookie(STRANGER)}"}
        forwarded = {"x-forwarded-for": "127.0.0.1", "forwarded": "for=127.0.0.1"}
        calls = [("GET", f"{API}/account", None, one) for one in (stolen, guessed, forwarded)]
        for status, body in as_stranger(address, calls):
            assert status == 200
            assert json.loads(body)["account"] is None
        assert as_stranger(address, [("GET", f"{API}/account", None, derived)])[0][0] == 401
        own = {"authorization": f"Bearer {app.state.owner.token}"}
        assert json.loads(as_stranger(address, [("GET", f"{API}/account", None, own)])[0][1])["account"] == "local"


@needs_root
def test_point_2_the_file_of_the_token_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the umask is, and whatever was there before."""
    with TemporaryDirectory() as home:
        os.chmod(home, 0o755)
        monkeypatch.setenv("XDG_DATA_HOME", home)
        owner = OwnerProof()
        before = os.umask(0)
        try:
            for _ in range(2):
                file = owner.write_file(8008)
                assert file == owner_token_file(8008)
                assert stat.S_IMODE(file.stat().st_mode) == 0o600
                file.chmod(0o644)
            owner.write_file(8008)
        finally:
            os.umask(before)
        drop = f"import os; os.setgroups([]); os.setgid({STRANGER}); os.setuid({STRANGER})"
        reading = f"{drop}; print(os.listdir({str(file.parent)!r})); open({str(file)!r})"
        read = subprocess.run([sys.executable, "-I", "-c", reading], capture_output=True, text=True, cwd="/")
        assert read.stdout.split() == ["['server-8008.token']"]
        assert "PermissionError" in read.stderr
        OwnerProof().remove_files(8008)
        assert file.exists()
        owner.remove_files(8008)
        assert not file.exists()


@needs_uids
def test_the_uid_of_a_connection() -> None:
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.socket(family) as listening:
            try:
                listening.bind((host, 0))
            except OSError:
                pytest.skip(f"there is no {host} here")
            listening.listen()
            with socket.create_connection(listening.getsockname()[:2]) as one:
                ends = one.getsockname()[:2], one.getpeername()[:2]
                assert uid_of_socket(*ends) == os.geteuid()
                one.shutdown(socket.SHUT_WR)
                assert uid_of_socket(*ends) is None
            assert uid_of_socket(*ends) is None
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket(socket.AF_INET6) as mapped:
        mapped.connect(("::ffff:127.0.0.1", listening.getsockname()[1]))
        assert uid_of_socket(("127.0.0.1", mapped.getsockname()[1]), listening.getsockname()) == os.geteuid()
    assert uid_of_socket(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
    assert uid_of_socket(("no address", 1), ("127.0.0.1", 2)) is None


@needs_uids
def test_programs_of_the_owner_need_no_token() -> None:
    with running() as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        assert client.get(f"{API}/account").json()["account"] == "local"
        assert client.get(f"{API}/account", headers={"x-forwarded-for": "192.0.2.1"}).json()["account"] is None


# Without uids, as on other systems and for other users: the token is needed.


@pytest.fixture(scope="module")
def proven() -> Iterator[tuple[str, FastAPI]]:
    """A server on which the uid proves nothing."""
    with running(owner=OwnerProof(by_uid=False)) as found:
        yield found


def test_point_2_without_the_token_a_local_caller_is_a_guest(proven: tuple[str, FastAPI]) -> None:
    address, _app = proven
    with httpx.Client(base_url=address, timeout=60) as client:
        for method, path, body in WRITES:
            assert client.request(method, f"{API}{path}", json=body).status_code == 401, path
        assert client.post(f"{API}/plays", json=PLAY).status_code == 403
        assert client.get("/metrics").status_code == 401
        wrong = client.get("/dots", params={"token": "owner_wrong"})
        assert wrong.status_code == 303
        assert "set-cookie" not in wrong.headers
        other = client.get("/dots", params={"token": "something else"})
        assert other.status_code == 200


@pytest.mark.parametrize("path", ["/", "/dots", "/dots/plays/x", "/nowhere", "/docs/"])
def test_the_token_becomes_a_cookie_and_leaves_the_address(proven: tuple[str, FastAPI], path: str) -> None:
    address, app = proven
    with httpx.Client(base_url=address, timeout=60) as client:
        answer = client.get(path, params={"a": "1 &", "token": app.state.owner.token, "b": ""})
        assert answer.status_code == 303
        assert answer.headers["location"] == f"{address}{path}?a=1+%26&b="
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert "path=/" in cookie
        assert app.state.owner.token not in cookie
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert client.get(f"{API}/account").json()["account"] == "local"
        assert client.post(f"{API}/plays", json=PLAY).status_code == 201
        assert (
            client.get(f"{address}{path}", params={"token": app.state.owner.token}).headers["location"]
            == address + path
        )


def test_the_token_leads_to_no_other_server(proven: tuple[str, FastAPI]) -> None:
    address, app = proven
    with httpx.Client(timeout=60) as client:
        for path in ("//example.org/", "/.//example.org/", "/%2F/example.org/", "/\\example.org/", "/%5Cexample.org"):
            answer = client.get(httpx.URL(address, raw_path=f"{path}?token={app.state.owner.token}".encode()))
            assert answer.headers["location"].startswith(f"{address}/"), path


def test_point_2_the_owner_is_at_this_machine() -> None:
    """The token is not accepted from the network, where others can read it."""
    with hosting("lan", behind_proxy=True, owner=OwnerProof(by_uid=False)) as lan, lan.client() as client:
        token = lan.app.state.owner.token
        for headers in ({"x-forwarded-for": "192.168.1.5"}, {"x-forwarded-for": "127.0.0.1, 192.168.1.5"}):
            shown = {**headers, "authorization": f"Bearer {token}"}
            assert client.get(f"{API}/account", headers=shown).json()["account"] is None
            assert "set-cookie" not in client.get("/dots", params={"token": token}, headers=headers).headers
        shown = {"authorization": f"Bearer {token}"}
        assert client.get(f"{API}/account", headers=shown).json()["account"] == "local"


def test_point_2_sockets_need_the_token_too(proven: tuple[str, FastAPI]) -> None:
    from websockets.sync.client import connect

    address, app = proven
    own = {"authorization": f"Bearer {app.state.owner.token}"}
    alone = {"game": "dots", "seats": ["person", "person"], "options": {"rows": 2, "cols": 2}}
    begun = httpx.post(f"{address}{API}/plays", json=alone, headers=own, timeout=60).json()
    where = f"{address}{API}/plays/{begun['id']}/live".replace("http", "ws", 1)
    cookie = {"cookie": f"ludodrome-owner-{address.rpartition(':')[2]}={app.state.owner.cookie(os.geteuid())}"}
    move = json.dumps({"type": "move", "move": begun["position"]["legal"][0], "id": 1})
    for headers, yours in ((None, False), ({"cookie": cookie["cookie"] + "x"}, False), (own, True), (cookie, True)):
        with connect(where, additional_headers=headers) as live:
            assert all(seat["yours"] is yours for seat in json.loads(live.recv())["play"]["seats"])
            if not yours:
                live.send(move)
                assert json.loads(live.recv())["status"] == 403


def test_point_2_a_client_reads_the_token_of_its_own_server(proven: tuple[str, FastAPI]) -> None:
    address, app = proven
    port = int(address.rpartition(":")[2])
    with Client(address) as client, pytest.raises(Refused):
        client.begin("dots", ["person", "person"])
    app.state.owner.write_file(port)
    with Client(address) as client:
        play = client.begin("dots", ["person", "person"], {"rows": 2, "cols": 2})
        with play.live() as live:
            live.move(play.view["position"]["legal"][0])
    assert owner_token(f"http://localhost:{port}/") == app.state.owner.token
    for elsewhere in (
        f"http://192.0.2.1:{port}",
        f"http://example.org:{port}",
        "http://127.0.0.1",
        "no url",
        "http://[x",
    ):
        assert owner_token(elsewhere) is None
    owner_token_file(port).write_text("owner_of_a_server_that_has_ended")
    with Client(address) as client, pytest.raises(Refused, match="ludodrome serve"):
        client.begin("dots", ["person", "person"])


# Uploads


def test_point_2_uploads_are_checked_in_the_sandbox_where_one_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    async def messages(wish: Any) -> Any:
        asked.append(wish)
        yield {"over": True}

    monkeypatch.setattr(bots, "_messages", messages)
    monkeypatch.setattr(sandbox, "level", lambda: sandbox.SandboxLevel("landlock"))
    with running() as (address, app):
        headers = {"authorization": f"Bearer {app.state.owner.token}"}
        assert httpx.post(f"{address}{API}/checks", json=UPLOAD, headers=headers, timeout=60).status_code == 200
    assert [one["sandboxed"] for one in asked] == [True]


@needs_uids
def test_point_2_uploads_run_in_the_sandbox_on_ones_own_machine(tmp_path: Path, long: bool) -> None:
    """A bot that looks for a file of the user does not find it, and plays."""
    if not long:
        pytest.skip("the doctor takes ten seconds: with --long")
    if not sandbox.level().holds:
        pytest.skip(f"no sandbox holds here: {sandbox.level().reasons}")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    os.chmod(secret, 0o644)
    source = f"import os\nif os.path.exists({str(secret)!r}):\n    raise SystemExit('it was found')\n{one_file('dots')}"
    with running() as (address, _app), httpx.Client(base_url=address, timeout=120) as client:
        entered = client.post(
            f"{API}/bots", json={"game": "dots", "name": "Seeker", "kind": "uploaded", "source": source}
        )
        assert entered.status_code == 201, entered.text
        assert "run under" in client.get("/dots/bots/new").text


def test_point_2_where_no_sandbox_holds_the_page_and_the_terminal_say_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sandbox, "level", lambda: sandbox.SandboxLevel("none", ("bubblewrap: it is missing",)))
    with running(owner=OwnerProof()) as (address, app), httpx.Client(base_url=address, timeout=120) as client:
        assert app.state.doctor.check_policy() is False
        assert "limits only, which is not a sandbox: bubblewrap: it is missing" in caplog.text
        assert "That is not a sandbox" in client.get("/dots/bots/new").text
    with hosting() as public, public.client("Ada") as client:
        refused = client.post(f"{API}/checks", json=UPLOAD)
        assert refused.status_code == 409
        assert "no sandbox holds" in refused.text


# In a browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser; without one, tests that need it are skipped."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed: nothing is clicked")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no Chromium at {CHROMIUM}: nothing was clicked")
    with browser() as opened:
        yield opened


def test_the_printed_address_opens_a_page_that_is_ready_to_play(chromium: Any, proven: tuple[str, FastAPI]) -> None:
    address, app = proven
    page = chromium.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{address}/?token={app.state.owner.token}")
    page.locator(".ways").first.get_by_role("link", name="Play").click()
    page.wait_for_selector("#board[data-ready] .target.live")
    assert "token" not in page.url
    assert "/plays/" in page.url
    assert not page.get_by_text("You are a guest here").count()
    play = f"{address}{API}/plays/{page.url.rpartition('/')[2]}"
    before = httpx.get(play, timeout=60).json()["version"]
    deadline = time.monotonic() + 60
    while httpx.get(play, timeout=60).json()["version"] == before and time.monotonic() < deadline:
        page.locator("#board[data-ready] .target.live").first.click()  # a worker, where it goes, what it builds
    assert httpx.get(play, timeout=60).json()["version"] > before
    page.close()


def test_point_2_the_token_is_not_on_the_command_line_of_a_browser(chromium: Any, proven: tuple[str, FastAPI]) -> None:
    """Everybody can read command lines. The file that is opened instead is private, and leads to the owner's page."""
    address, app = proven
    port = int(address.rpartition(":")[2])
    if own_uid() is not None:
        assert OwnerProof().address_to_open(f"{address}/", port) == f"{address}/"
    opened = app.state.owner.address_to_open(f"{address}/", port)
    assert app.state.owner.token not in opened
    file = Path(opened.removeprefix("file://"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    page = chromium.new_context().new_page()
    page.set_default_timeout(120_000)
    page.goto(opened)
    page.wait_for_url(f"{address}/**")
    page.locator(".ways a.first").first.click()
    page.wait_for_selector("#board[data-ready] .target.live")
    assert "token" not in page.url
    page.close()
    app.state.owner.remove_files(port)
    assert not file.exists()


def test_point_2_a_browser_without_the_token_is_a_guest(chromium: Any, proven: tuple[str, FastAPI]) -> None:
    address, _ = proven
    page = chromium.new_context().new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{address}/dots")
    page.get_by_text("You are a guest here").wait_for()
    page.get_by_text("That did not work. Guests play by link").wait_for()
    assert "/plays/" not in page.url
    page.close()
