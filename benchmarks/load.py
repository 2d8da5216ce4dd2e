"""A server under load: 300 live games over WebSockets, moves over HTTP, idle clients beside them.

``benchmarks/load [--seconds 300] [--games 300] [--rate 310] [--idle 1000] [--db URL] [--processes 1]``

The server is a process of its own, as ``ludodrome serve`` starts it, with a new database, and every move is committed
before it is answered. A latency is the time from sending a move to the answer that it is kept. Moves as plain requests
go over bare connections: a library's requests cost its program more than the server, and it is the server that is
measured. Nobody moves in step with the others: the time between two moves of a game is by lot, from half the mean to
one and a half times as long, so that those who had to wait together do not go on together for ever.
"""

import argparse
import asyncio
import json
import os
import random
import resource
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import uvloop
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

WISHES: list[dict[str, Any]] = [
    {"game": "dots", "options": {"rows": 5, "cols": 5}},
    {"game": "skysummit"},
    {"game": "santorini"},
    {"game": "caldera"},
]
SERVER = """
import socket, sys
from ludodrome.store.database import open_database
from ludodrome.web.app import create_app
from ludodrome.web.processes import WebProcesses
from ludodrome.web.server import serve
app = create_app(open_database(sys.argv[2], create=True, durable=True))
listening = socket.socket(fileno=int(sys.argv[1]))
if sys.argv[3] == "1":
    serve(app, [listening])
else:
    WebProcesses(app, listening, int(sys.argv[3])).run()
"""
LIMIT_MS = 100
FEW = httpx.Limits(max_connections=20, keepalive_expiry=2)
"""Connections for beginning games: given up before the server closes those that rest."""


def cpu_seconds(process: int) -> float:
    """What a process and its children have used so far."""
    ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK") + sum(cpu_seconds(int(child)) for child in children)


class Tally:
    """Latencies, and what went wrong."""

    server = 0
    """The server's process."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.cpu = cpu_seconds(Tally.server)
        self.milliseconds: list[float] = []
        self.drops = 0
        self.refusals = 0
        self.began = time.perf_counter()

    def end(self) -> None:
        """Nothing is counted any more."""
        self.seconds = time.perf_counter() - self.began
        self.cpu = cpu_seconds(Tally.server) - self.cpu

    def line(self) -> str:
        """What came of it."""
        ordered = sorted(self.milliseconds)
        at = [ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.95, 0.99)]
        rate = len(ordered) / self.seconds
        cpu = self.cpu / len(ordered) * 1000
        verdict = "" if at[2] < LIMIT_MS and not self.drops else f"   NOT within {LIMIT_MS} ms, or not without a drop"
        return (
            f"{self.name:<34} {len(ordered):>7} moves {rate:6.0f}/s   p50 {at[0]:5.1f}  p95 {at[1]:5.1f}  "
            f"p99 {at[2]:5.1f}  max {ordered[-1]:6.1f} ms   {self.drops} drops, {self.refusals} refusals, "
            f"{cpu:.2f} ms of CPU a move{verdict}"
        )


class Table:
    """A live game with both seats at one client, and its WebSocket."""

    def __init__(self, client: httpx.AsyncClient, address: str, number: int) -> None:
        self.client, self.number = client, number
        self.address = address.replace("http", "ws")
        self.live: ClientConnection | None = None
        self.play: Any = None

    async def sit(self) -> None:
        """A new game is begun, and its WebSocket opened."""
        view = await begin(self.client, self.number)
        if self.live is not None:
            await self.live.close()
        path = f"{self.address}/api/v1/plays/{view['id']}/live"
        self.live = await connect(path, compression=None, open_timeout=60, ping_interval=None)  # browsers send no pings
        self.play = await _next(self.live, "play")

    async def go_on(self, tally: Tally, pace: float, until: float) -> None:
        """A move every ``pace`` seconds; a game that is over is followed by another."""
        dice = random.Random(self.number)
        await asyncio.sleep(pace * dice.random())
        while time.perf_counter() < until:
            try:
                if self.play["result"] is not None:
                    await self.sit()
                sent = time.perf_counter()
                tally.refusals += not await self._move()
            except (ConnectionClosed, OSError, TimeoutError):
                tally.drops += 1
                self.play = {"result": "dropped"}
                continue
            tally.milliseconds.append((time.perf_counter() - sent) * 1000)
            await asyncio.sleep(max(0.0, sent + pace * dice.uniform(0.5, 1.5) - time.perf_counter()))

    async def _move(self) -> bool:
        assert self.live is not None
        legal, version = self.play["position"]["legal"], self.play["version"]
        move = {"type": "move", "move": legal[(self.number + version) % len(legal)], "version": version}
        await self.live.send(json.dumps(move))
        while True:
            said = json.loads(await asyncio.wait_for(self.live.recv(), 30))
            if said["type"] == "play":
                self.play = said["play"]
            elif said["type"] == "refused":
                return False
            elif said["type"] == "done":
                if self.play["version"] == version:
                    self.play = await _next(self.live, "play")
                return True


async def _next(live: ClientConnection, kind: str) -> Any:
    while True:
        said = json.loads(await asyncio.wait_for(live.recv(), 30))
        if said["type"] == kind:
            return said[kind]


async def begin(client: httpx.AsyncClient, number: int) -> Any:
    """A new game for two people at one screen."""
    wish = {**WISHES[number % len(WISHES)], "seats": ["person", "person"]}
    answer = await client.post("/api/v1/plays", json=wish)
    assert answer.status_code == 201, answer.text
    return answer.json()


class Line:
    """A connection that is kept, and requests over it, one after the other."""

    def __init__(self, address: str) -> None:
        self._host, _, port = address.rpartition("/")[2].partition(":")
        self._port = int(port)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: Any) -> tuple[int, bytes]:
        """The status and the content of an answer."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        content = json.dumps(body).encode()
        lines = (f"POST {path} HTTP/1.1", f"host: {self._host}", "content-type: application/json", "accept: */*")
        writer.write("\r\n".join((*lines, f"content-length: {len(content)}", "", "")).encode() + content)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length:")[2].partition("\r")[0])
        return int(head.split()[1]), await reader.readexactly(length)

    def hang_up(self) -> None:
        """A connection that rests is closed by the server after some seconds; before that it is better not used."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def post_moves(
    client: httpx.AsyncClient, number: int, view: Any, tally: Tally, pace: float, until: float
) -> None:
    """A game whose moves are plain requests."""
    dice = random.Random(number)
    await asyncio.sleep(pace * dice.random())
    line = Line(str(client.base_url).rstrip("/"))
    while time.perf_counter() < until:
        legal = view["position"]["legal"]
        body = {"move": legal[(number + view["version"]) % len(legal)], "version": view["version"]}
        sent = time.perf_counter()
        try:
            status, content = await line.post(f"/api/v1/plays/{view['id']}/moves", body)
        except (OSError, asyncio.IncompleteReadError):
            tally.drops += 1
            line.hang_up()
            continue
        tally.milliseconds.append((time.perf_counter() - sent) * 1000)
        tally.refusals += status != 200
        view = json.loads(content) if status == 200 else {"result": True}
        if view["result"] is not None:
            line.hang_up()
            view = await begin(client, number)
        await asyncio.sleep(max(0.0, sent + pace * dice.uniform(0.5, 1.5) - time.perf_counter()))
    line.hang_up()


async def live_games(address: str, name: str, games: int, pace: float, seconds: float) -> Tally:
    """So many live games, each with a move every ``pace`` seconds."""
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=FEW) as client:
        tables = [Table(client, address, number) for number in range(games)]
        for some in range(0, games, 20):
            await asyncio.gather(*(table.sit() for table in tables[some : some + 20]))
        tally = Tally(name)
        until = time.perf_counter() + seconds
        await asyncio.gather(*(table.go_on(tally, pace, until) for table in tables))
        tally.end()
        await asyncio.gather(*(table.live.close() for table in tables if table.live is not None))
    return tally


async def requests(address: str, name: str, games: int, rate: float, seconds: float) -> Tally:
    """Moves as plain requests."""
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=FEW) as client:
        views = [await begin(client, number) for number in range(games)]
        tally = Tally(name)
        until, pace = time.perf_counter() + seconds, games / rate
        await asyncio.gather(*(post_moves(client, at, view, tally, pace, until) for at, view in enumerate(views)))
        tally.end()
    return tally


async def idle_beside(address: str, idle: int, games: int, pace: float, seconds: float) -> Tally:
    """Live games beside clients that only look on."""
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        views = [await begin(client, number) for number in range(20)]
    ready, over = asyncio.Semaphore(0), asyncio.Event()

    async def look_on(number: int) -> bool:
        path = f"{address.replace('http', 'ws')}/api/v1/plays/{views[number % len(views)]['id']}/live"
        async with connect(path, compression=None, open_timeout=60, ping_interval=None) as live:
            await live.recv()
            ready.release()
            waiting = asyncio.create_task(over.wait())
            heard = asyncio.create_task(live.recv())
            done, _ = await asyncio.wait({waiting, heard}, return_when=asyncio.FIRST_COMPLETED)
            heard.cancel()
            return waiting in done

    watching = [asyncio.create_task(look_on(number)) for number in range(idle)]
    for _ in range(idle):
        await ready.acquire()
    tally = await live_games(address, f"{games} live games, {idle} idle clients", games, pace, seconds)
    over.set()
    tally.drops += [one is True for one in await asyncio.gather(*watching, return_exceptions=True)].count(False)
    return tally


async def run(address: str, asked: argparse.Namespace) -> bool:
    """All of it, a line each; whether everything is within the limits."""
    pace = asked.games / asked.rate
    await live_games(address, "warming up", 8, 0.05, 4)
    lines = []
    for work in (
        live_games(address, f"{asked.games} live games", asked.games, pace, asked.seconds),
        requests(address, "moves as requests", min(asked.games, 60), asked.rate, asked.seconds / 5),
        idle_beside(address, asked.idle, asked.games, pace, asked.seconds / 5),
    ):
        lines.append((await work).line())
        print(lines[-1], flush=True)
    return not any("NOT" in line for line in lines)


def main() -> int:
    """Starts a server, loads it, says how it went."""
    parser = argparse.ArgumentParser(description="A server under load.")
    parser.add_argument("--seconds", type=float, default=300, help="of the live games; the rest takes a fifth each")
    parser.add_argument("--games", type=int, default=300, help="that are live at once")
    parser.add_argument("--rate", type=float, default=310, help="moves a second, of all games together")
    parser.add_argument("--idle", type=int, default=1000, help="clients that only look on")
    parser.add_argument("--db", help="of the server: a URL; by default a new file of SQLite's")
    parser.add_argument("--processes", type=int, default=1, help="web processes of the server")
    asked = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 16384)), hard))
    with tempfile.TemporaryDirectory() as folder:
        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        listening.listen(2048)
        where = asked.db or str(Path(folder) / "load.db")
        command = [sys.executable, "-c", SERVER, str(listening.fileno()), where, str(asked.processes)]
        quiet = subprocess.DEVNULL  # a server that is ended in the middle complains
        environment = {**os.environ, "XDG_DATA_HOME": folder}
        with subprocess.Popen(command, pass_fds=[listening.fileno()], env=environment, stderr=quiet) as server:
            address = f"http://127.0.0.1:{listening.getsockname()[1]}"
            Tally.server = server.pid
            try:
                good = uvloop.run(run(address, asked))
            finally:
                server.terminate()
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
