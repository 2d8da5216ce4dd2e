"""Point 18: two web processes on one database show the same, and what one browser does may reach either."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from ludodrome.arena import records
from ludodrome.arena.transports.remote import SECRET_HEADER
from ludodrome.puzzle import puzzles
from ludodrome.store import league_bots, league_presence
from ludodrome.store.accounts import ensure_local
from ludodrome.store.database import open_database
from ludodrome.store.models import LOCAL
from ludodrome.web.app import create_app
from tests.attacks.web_process import web_process
from tests.web.serving import serving
from tests.web.walking import API

PATIENCE = 20.0
"""Seconds for a loaded machine; an idle one needs a tenth of a second."""
SMALL = {"rows": 2, "cols": 2}


def _ask(address: str, method: str, path: str, body: Any = None, key: str | None = None) -> httpx.Response:
    """A request over a connection of its own: whichever process accepts it answers."""
    headers = {} if key is None else {"x-play-key": key}
    if method == "POST":
        return httpx.post(f"{address}{API}{path}", json={} if body is None else body, headers=headers, timeout=60)
    return httpx.request(method, f"{address}{API}{path}", headers=headers, timeout=60)


def _begin(address: str, seats: list[str], **more: Any) -> Any:
    answer = _ask(address, "POST", "/plays", {"game": "dots", "options": SMALL, "seats": seats, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def _until(seen: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not seen():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.01)


class Watcher:
    """What an open WebSocket shows last, without ever connecting again."""

    def __init__(self, stack: ExitStack, address: str, play: str, key: str | None = None) -> None:
        path = f"{address.replace('http', 'ws')}{API}/plays/{play}/live" + (f"?key={key}" if key else "")
        self.socket: ClientConnection = stack.enter_context(connect(path))
        self.view = json.loads(self.socket.recv(timeout=60))["play"]
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            for text in self.socket:
                said = json.loads(text)
                if said["type"] == "play":
                    self.view = said["play"]
        except ConnectionClosed:
            pass

    def waits(self, shows: Callable[[Any], bool], otherwise: str) -> None:
        """Until it shows something."""
        _until(lambda: shows(self.view), otherwise)


def _has_version(version: int, view: Any) -> bool:
    return bool(view["version"] == version)


def _has_gone_on(version: int, view: Any) -> bool:
    """Whether it is the person's turn again."""
    return bool(view["version"] > version and view["to_move"] == 0)


def _spectate(address: str, play: str, seen: list[Any]) -> None:
    with httpx.stream("GET", f"{address}{API}/plays/{play}/events", timeout=60) as answer:
        for line in answer.iter_lines():
            if line.startswith("data:"):
                seen.append(json.loads(line[5:])["play"])
                if seen[-1]["result"] is not None:
                    return


def test_point_18_two_apps_show_the_same(database: str) -> None:
    with ExitStack() as stack:
        engines = [open_database(database, create=True) for _ in range(2)]
        _compare(*(stack.enter_context(serving(create_app(engine))) for engine in engines))
    for engine in engines:
        engine.dispose()


def test_point_18_two_processes_show_the_same(database: str, tmp_path: Path, long: bool) -> None:
    _only_long_on_postgresql(database, long)
    with ExitStack() as stack:
        _compare(*(stack.enter_context(web_process(database, tmp_path)) for _ in range(2)))


def _only_long_on_postgresql(database: str, long: bool) -> None:
    if database.startswith("postgresql") and not long:
        pytest.skip("processes on PostgreSQL come with --long: two apps in one process are tested on it")


def _compare(one: str, two: str) -> None:
    with ExitStack() as stack:
        _show_moves(stack, one, two)
        _show_friends(stack, one, two)
        _let_bots_think_once(stack, one, two)
        _race(one, two)


def _show_moves(stack: ExitStack, one: str, two: str) -> None:
    """Moves, an undo and a resignation reach sockets and streams that are open in the other process."""
    play = _begin(one, ["person", "person"], clock="5m++3s")
    path, seen = f"/plays/{play['id']}", list[Any]()
    watcher = Watcher(stack, two, play["id"])
    stream = threading.Thread(target=_spectate, args=(two, play["id"], seen), daemon=True)
    stream.start()
    lag = []
    for number in range(4):
        move = _ask(one, "POST", f"{path}/moves", {"move": play["position"]["legal"][0], "version": number})
        answered = time.monotonic()
        assert move.status_code == 200, move.text
        play = move.json()
        watcher.waits(partial(_has_version, number + 1), "the move is not shown")
        lag.append(time.monotonic() - answered)
    assert watcher.view["moves"] == play["moves"]
    assert watcher.view["position"] == play["position"]
    left = [abs(a["left_ms"] - b["left_ms"]) for a, b in zip(watcher.view["seats"], play["seats"], strict=True)]
    assert max(left) < 1000 * PATIENCE
    print(f"shown after {', '.join(f'{1000 * each:.0f}' for each in lag)} ms")
    assert _ask(two, "POST", f"{path}/undo").json()["version"] == 5
    _until(lambda: _ask(one, "GET", path).json()["version"] == 5, "the undo is not shown")
    assert len(_ask(one, "GET", path).json()["moves"]) == 3
    assert _ask(one, "POST", f"{path}/resign", {"seat": 0}).status_code == 200
    watcher.waits(lambda view: view["result"] is not None, "the resignation is not shown")
    stream.join(PATIENCE)
    assert seen[-1]["result"] is not None
    assert _ask(two, "POST", f"{path}/rematch").json()["next"] is not None
    watcher.waits(lambda view: view["next"] is not None, "the rematch is not shown")
    _until(lambda: _ask(one, "GET", path).json()["next"] == watcher.view["next"], "another rematch is shown")
    assert _ask(one, "POST", f"{path}/rematch").json()["next"] == watcher.view["next"]
    record = _ask(two, "GET", f"{path}/record").json()
    records.verify(record)


def _show_friends(stack: ExitStack, one: str, two: str) -> None:
    """A friend joins in the other process, and both offer a rematch in theirs."""
    play = _begin(one, ["person", "friend"])
    path = f"/plays/{play['id']}"
    watcher = Watcher(stack, one, play["id"])
    key = _ask(two, "POST", f"/joins/{play['seats'][1]['link'].rpartition('/')[2]}").json()["key"]
    watcher.waits(lambda view: not view["waiting"], "the friend is not shown")
    move = {"move": watcher.view["position"]["legal"][0]}
    assert _ask(one, "POST", f"{path}/moves", move).status_code == 200
    answer = {"move": watcher.view["position"]["legal"][-1], "version": 2}  # the friend has seen it here, plays there
    assert _ask(two, "POST", f"{path}/moves", answer, key).status_code == 200
    assert _ask(two, "POST", f"{path}/resign", key=key).status_code == 200
    watcher.waits(lambda view: view["result"] is not None, "the end is not shown")
    assert _ask(two, "POST", f"{path}/rematch", key=key).json()["next"] is None
    watcher.waits(lambda view: view["seats"][1]["offers"], "the offer is not shown")
    following = _ask(one, "POST", f"{path}/rematch").json()["next"]
    assert following is not None
    _until(lambda: _ask(two, "GET", path, key=key).json()["next"] == following, "the rematch is not shown")
    assert [seat["yours"] for seat in _ask(two, "GET", f"/plays/{following}", key=key).json()["seats"]] == [True, False]
    assert _ask(two, "POST", f"/plays/{following}/resign", key=key).status_code == 200  # bots may be asked again


def _let_bots_think_once(stack: ExitStack, one: str, two: str) -> None:
    """The process that wrote the move of a person asks the bot, and every event is there once."""
    play = _begin(one, ["person", "random"])
    watcher = Watcher(stack, two, play["id"])
    for address in (one, two, one):
        seen = watcher.view["version"]
        move = {"move": watcher.view["position"]["legal"][0], "version": seen}
        assert _ask(address, "POST", f"/plays/{play['id']}/moves", move).status_code == 200
        watcher.waits(partial(_has_gone_on, seen), "the bot does not move")
    assert watcher.view["version"] == len(watcher.view["moves"])


def _race(one: str, two: str) -> None:
    """Of two moves in one position one is made; the other is refused, as if it had come later."""
    play = _begin(one, ["person", "person"], options={"rows": 4, "cols": 4})
    path = f"/plays/{play['id']}"
    assert _ask(two, "GET", path).json()["version"] == 0
    with ThreadPoolExecutor(2) as pool:
        for number in range(8):
            legal = play["position"]["legal"]
            asked = [
                pool.submit(_ask, address, "POST", f"{path}/moves", {"move": legal[place], "version": number})
                for place, address in enumerate((one, two))
            ]
            answers = [each.result() for each in asked]
            assert sorted(each.status_code for each in answers) == [200, 409]
            refused = next(each for each in answers if each.status_code == 409)
            assert "has changed since" in refused.json()["error"]
            play = next(each.json() for each in answers if each.status_code == 200)
            assert play["version"] == number + 1


@pytest.fixture
def together(database: str, tmp_path: Path, long: bool) -> Iterator[tuple[str, str, int]]:
    """The address, the database and the process id of one server of two processes."""
    _only_long_on_postgresql(database, long)
    engine = open_database(database, create=True)
    ensure_local(engine)
    engine.dispose()
    command = [sys.executable, "-m", "ludodrome", "serve", "--port", "0", "--no-browser", "--db", database]
    command += ["--ladder", "off", "--processes", "2"]
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://[\d.:]+", process.stdout.readline().decode())
            assert found is not None
            assert httpx.get(f"{found[0]}/health", timeout=120).status_code == 200
            yield found[0], database, process.pid
            for _ in range(3):
                process.send_signal(signal.SIGINT)
            _, complaints = process.communicate(timeout=60)
            assert process.returncode == 0
            assert complaints == b""
        finally:
            process.kill()


def _web_processes(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                stat, line = (folder / "stat").read_text(), (folder / "cmdline").read_text()
            except OSError:
                continue
            if int(stat.rpartition(")")[2].split()[1]) == parent and "ludodrome.web.processes" in line:
                found.append(int(folder.name))
    return found


def test_point_18_one_browser_may_reach_either_process(together: tuple[str, str, int]) -> None:
    address, database, parent = together
    _until(lambda: len(_web_processes(parent)) == 2, "there are no two processes")
    _play_on(address)
    _solve(address)
    _grade(address)
    _dial(address, database)
    os.kill(_web_processes(parent)[0], signal.SIGKILL)
    _play_on(address)
    _until(lambda: len(_web_processes(parent)) == 2, "the dead process is not replaced")


def _play_on(address: str) -> None:
    """Every request sees what the one before has done."""
    play = _begin(address, ["person", "person"])
    path = f"/plays/{play['id']}"
    for number in range(12):
        assert play["version"] == number
        body = {"move": play["position"]["legal"][0], "version": number}
        while True:
            try:
                assert _ask(address, "POST", f"{path}/moves", body).status_code == 200
                break
            except httpx.TransportError:  # it was on its way to a process that was killed
                if _ask(address, "GET", path).json()["version"] == number + 1:
                    break
        play = _ask(address, "GET", path).json()


def _solve(address: str) -> None:
    puzzle = puzzles("dots")[0]
    attempts = [_ask(address, "POST", "/puzzles/dots/1/attempts").json() for _ in range(4)]
    for attempt in attempts:
        path = f"/attempts/{attempt['id']}"
        hints = [_ask(address, "POST", f"{path}/hint").json()["hint"] for _ in range(3)]
        assert len(set(hints)) == 3
        assert puzzle.solution in hints[2]
        legal = attempt["position"]["legal"]
        verdicts = [_ask(address, "POST", f"{path}/moves", {"move": move}).json() for move in legal[:3]]
        assert all("judgement" in one or "solved" in one["error"] for one in verdicts)


def _grade(address: str) -> None:
    play = _begin(address, ["random", "random"])
    path = f"/plays/{play['id']}"
    _until(lambda: _ask(address, "GET", path).json()["result"] is not None, "the bots do not play")
    record = _ask(address, "GET", f"{path}/record").json()
    name = _ask(address, "POST", "/replays", record).json()["id"]
    assert all(_ask(address, "GET", f"/replays/{name}").status_code == 200 for _ in range(6))
    graded = 0
    deadline = time.monotonic() + 60
    while True:
        view = _ask(address, "GET", f"/replays/{name}/grading").json()
        assert len(view["plies"]) == view["graded"]
        if view["done"]:
            break
        graded = max(graded, view["graded"])
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert all(_ask(address, "GET", f"/replays/{name}/grading").json() == view for _ in range(6))


def _is_news(engine: Engine, bot: str, before: tuple[str, str] | None) -> bool:
    return league_presence.presence(engine, bot) not in (None, before)


def _dial(address: str, database: str) -> None:
    """A remote bot has one connection, whichever process holds it, and a worker finds that process."""
    engine = open_database(database)
    bot = league_bots.enter_remote(engine, "dots", LOCAL, "Dialler", "bot_secret")
    path, headers = f"{address.replace('http', 'ws')}{API}/bots/{bot}", {"authorization": "Bearer bot_secret"}
    shared = int(address.rpartition(":")[2])
    with ExitStack() as stack:
        opened = [stack.enter_context(connect(f"{path}/connect", additional_headers=headers))]
        ports = set()
        known = None
        for _ in range(6):
            _until(partial(_is_news, engine, bot, known), "the bot is not known")
            known = league_presence.presence(engine, bot)
            assert known is not None
            port = int(known[0].partition(" ")[0].rpartition(":")[2])
            assert port != shared
            ports.add(port)
            assert httpx.get(f"http://127.0.0.1:{port}/health").status_code == 404
            relay = f"ws://127.0.0.1:{port}{API}/bots/{bot}/relay"
            with connect(relay, additional_headers={SECRET_HEADER: known[1]}) as seat:
                assert json.loads(seat.recv(timeout=60)) == {"attached": True}
                opened[-1].send('{"type": "hello"}')
                assert json.loads(seat.recv(timeout=60)) == {"said": '{"type": "hello"}'}
            opened.append(stack.enter_context(connect(f"{path}/connect", additional_headers=headers)))
            with pytest.raises(ConnectionClosed) as closed:
                opened[-2].recv(timeout=60)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4000
    engine.dispose()
