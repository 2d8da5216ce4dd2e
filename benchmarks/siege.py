"""A hosted server under attack from one address: how long others wait for moves and ``/health``.

``benchmarks/siege [--seconds 30] [--readers 500] [--streams 2000] [--flooders 200] [--db URL]``

The attackers come from 127.0.0.2: readers that take 100 bytes a second of 25 MB of records, event streams that are
only held open, and WebSockets that send moves and pings as fast as they can. An attacker that is refused or cut off
comes back after a few seconds. The player comes from 127.0.0.3 and makes a move several times a second. Server,
attackers and player are three processes; attackers yield the processor to the other two, since real ones would have
their own.
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
from collections import Counter
from pathlib import Path
from typing import Any

import uvloop
from sqlalchemy.orm import Session

from ludodrome.arena.ladder import enter_builtins
from ludodrome.store.accounts import ensure_local
from ludodrome.store.database import open_database
from ludodrome.store.league_bots import bots
from ludodrome.store.league_models import DONE, LADDER, FinishedGameRow, MatchRow, MatchSeatRow
from ludodrome.store.models import packed

SERVER = """
import socket, sys
from ludodrome.store.database import open_database
from ludodrome.web.app import create_app
from ludodrome.web.server import serve
engine = open_database(sys.argv[2], create=True, durable=True)
serve(create_app(engine, mode="hosted"), [socket.socket(fileno=int(sys.argv[1]))])
"""
API = "/api/v1"
ATTACKER, PLAYER = "127.0.0.2", "127.0.0.3"
GAME: dict[str, Any] = {"game": "dots", "options": {"rows": 5, "cols": 5}, "seats": ["person", "person"]}
RECORDS, RECORD_BYTES = 250, 100_000
MOVES_LIMIT_MS, HEALTH_LIMIT_MS = 200, 100
PACE, HEALTH_PACE = 0.12, 0.1
"""Seconds between two moves (fewer than 600 a minute are allowed), and between two looks at ``/health``."""
RAMP = 4.0
"""Seconds in which the attackers arrive."""
RETRY = 5.0
"""Seconds after which an attacker comes back."""
PING = b'{"type": "ping", "id": 1}'
MOVE = b'{"type": "move", "move": "a wrong one", "id": 2}'


def add_records(where: str) -> str:
    """25 MB of records of one bot; its id."""
    engine = open_database(where, create=True)
    ensure_local(engine)
    enter_builtins(engine)
    bot = bots(engine, GAME["game"])[0].id
    with Session(engine) as session:
        for number in range(RECORDS):
            name = f"siege-{number}"
            assignment: dict[str, Any] = {"names": []}
            match = MatchRow(id=name, game=GAME["game"], why=LADDER, assignment=assignment, status=DONE, queued=number)
            session.add(match)
            session.flush()
            parts = {"version": 2, "turns": [], "result": {"verdicts": []}}
            record = packed({"match": name, "text": "x" * RECORD_BYTES, **parts})
            session.add(MatchSeatRow(match=name, seat=0, bot=bot))
            session.add(FinishedGameRow(match=name, game=GAME["game"], counted={}, record=record, ended=number))
        session.commit()
    engine.dispose()
    return bot


# The player


class Line:
    """A kept connection from an address of its own, and requests over it, one after the other."""

    def __init__(self, port: int, source: str) -> None:
        self._port, self._source = port, source
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: Any = None, key: str = "") -> tuple[int, Any]:
        """The status and the content of an answer."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, local_addr=(self._source, 0))
        reader, writer = self._streams
        content = b"" if body is None else json.dumps(body).encode()
        lines = [
            f"{method} {path} HTTP/1.1",
            "host: 127.0.0.1",
            f"content-length: {len(content)}",
            f"x-play-key: {key}",
        ]
        if content:
            lines.append("content-type: application/json")
        writer.write("\r\n".join((*lines, "", "")).encode() + content)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length:")[2].partition("\r")[0])
        return int(head.split()[1]), json.loads(await reader.readexactly(length))


class Latencies:
    """Milliseconds until answers arrived, and how many were not the right ones."""

    def __init__(self) -> None:
        self.milliseconds: list[float] = []
        self.wrong = Counter[int]()

    def at(self, share: float) -> float:
        """A quantile."""
        ordered = sorted(self.milliseconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def line(self, name: str) -> str:
        """The figures."""
        wrong = f"   wrong answers: {dict(self.wrong)}" if self.wrong else ""
        return (
            f"{name:<28} {len(self.milliseconds):>5}   p50 {self.at(0.5):6.1f}   p99 {self.at(0.99):6.1f}   "
            f"max {max(self.milliseconds):6.1f} ms{wrong}"
        )


async def play(port: int, seconds: float) -> Latencies:
    """Moves, one after the other; a game that is over is followed by another."""
    found, line, view = Latencies(), Line(port, PLAYER), None
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        if view is None or view["result"] is not None:
            status, view = await line.ask("POST", f"{API}/plays", GAME)
            assert status == 201, view
            key = view.get("key", "")
        body = {"move": view["position"]["legal"][0], "version": view["version"]}
        sent = time.perf_counter()
        status, moved = await asyncio.wait_for(line.ask("POST", f"{API}/plays/{view['id']}/moves", body, key), 60)
        found.milliseconds.append((time.perf_counter() - sent) * 1000)
        if status == 200:
            view = moved
        else:
            found.wrong[status] += 1
        await asyncio.sleep(max(0.0, sent + PACE - time.perf_counter()))
    return found


async def look(port: int, seconds: float) -> Latencies:
    """``/health``, again and again."""
    found, line = Latencies(), Line(port, PLAYER)
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        sent = time.perf_counter()
        status, _ = await asyncio.wait_for(line.ask("GET", "/health"), 60)
        found.milliseconds.append((time.perf_counter() - sent) * 1000)
        if status != 200:
            found.wrong[status] += 1
        await asyncio.sleep(max(0.0, sent + HEALTH_PACE - time.perf_counter()))
    return found


# The attackers


class Attack:
    """All attackers, and what became of them."""

    def __init__(self, port: int, bot: str, until: float) -> None:
        self._port, self._bot, self._until = port, bot, until
        self.seen = Counter[str]()
        self.open = Counter[str]()
        self.most = Counter[str]()

    async def run(self, readers: int, streams: int, flooders: int) -> None:
        """Attack until the time is over."""
        status, begun = await Line(self._port, ATTACKER).ask("POST", f"{API}/plays", GAME)
        assert status == 201, begun
        upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
        key = "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        live = f"{API}/plays/{begun['id']}/live?key={begun.get('key', '')}"
        kinds = (
            [("flooding sockets", live, upgrade + key)] * flooders
            + [("slow readers", f"{API}/bots/{self._bot}/records", "")] * readers
            + [("idle streams", f"{API}/live/{GAME['game']}", "")] * streams
        )
        pause = RAMP / len(kinds)
        tasks = [asyncio.create_task(self._again(at * pause, *kind)) for at, kind in enumerate(kinds)]
        await asyncio.sleep(max(0.0, self._until - time.time()))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _again(self, delay: float, kind: str, path: str, more: str) -> None:
        await asyncio.sleep(delay)
        while True:
            with socket.socket() as connection:
                try:
                    await self._attack(connection, kind, path, more)
                except OSError as error:
                    self.seen[f"{kind}: {error.strerror or error}"] += 1
            await asyncio.sleep(RETRY * random.uniform(0.8, 1.2))

    async def _attack(self, connection: socket.socket, kind: str, path: str, more: str) -> None:
        loop = asyncio.get_running_loop()
        connection.setblocking(False)
        if kind == "slow readers":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.bind((ATTACKER, 0))
        await loop.sock_connect(connection, ("127.0.0.1", self._port))
        await loop.sock_sendall(connection, f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{more}\r\n".encode())
        status = (await loop.sock_recv(connection, 1024))[9:12].decode() or "closed"
        self.seen[f"{kind}: {status}"] += 1
        if status not in ("200", "101"):
            return
        self.open[kind] += 1
        self.most[kind] = max(self.most[kind], self.open[kind])
        try:
            if kind == "flooding sockets":
                await self._flood(connection)
            while await loop.sock_recv(connection, 100 if kind == "slow readers" else 4096):
                await asyncio.sleep(1.0 if kind == "slow readers" else 0)
        finally:
            self.open[kind] -= 1

    async def _flood(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        frames = b"".join(bytes((0x81, 0x80 | len(text), 0, 0, 0, 0)) + text for text in (PING, MOVE) * 10)

        async def send() -> None:
            while True:
                await loop.sock_sendall(connection, frames)
                self.seen["flooding sockets: messages"] += 20
                await asyncio.sleep(0)

        sending = asyncio.create_task(send())
        try:
            while await loop.sock_recv(connection, 65536):
                await asyncio.sleep(0)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)


def attack(asked: argparse.Namespace) -> None:
    """The process of the attackers."""
    os.nice(10)
    all_of_them = Attack(asked.port, asked.bot, asked.until)
    uvloop.run(all_of_them.run(asked.readers, asked.streams, asked.flooders))
    print("open at once, at most:      ", ", ".join(f"{n} {kind}" for kind, n in all_of_them.most.items()))
    print("what the attackers saw:     ", ", ".join(f"{what} {n}" for what, n in sorted(all_of_them.seen.items())))


async def measure(port: int, name: str, seconds: float) -> tuple[Latencies, Latencies]:
    """The player and ``/health`` for some seconds."""
    moves, health = await asyncio.gather(play(port, seconds), look(port, seconds))
    print(moves.line(f"{name}: moves"), flush=True)
    print(health.line(f"{name}: /health"), flush=True)
    return moves, health


def cpu_seconds(process: int) -> float:
    """What a process has used so far."""
    ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def show_server(process: int, cpu: float) -> None:
    """What the server holds, and what share of a core it used."""
    status = Path(f"/proc/{process}/status").read_text()
    now, most = (int(status.partition(name)[2].split()[0]) // 1024 for name in ("VmRSS:", "VmHWM:"))
    used = len(os.listdir(f"/proc/{process}/fd"))
    print(f"the server: {used} descriptors, {now} MB, {most} MB at most, {cpu:.0%} of a core", flush=True)


async def warm_up(port: int) -> None:
    """Wait for the server, and for the kernels of the game."""
    for _ in range(600):
        try:
            await look(port, 3)  # the first look probes the sandbox
            await play(port, 3)
            return
        except OSError:
            await asyncio.sleep(0.2)
    raise TimeoutError("the server did not start")


def besiege(port: int, server: int, bot: str, asked: argparse.Namespace) -> bool:
    """Measure before and during the attack; whether the limits were kept."""
    uvloop.run(warm_up(port))
    used = cpu_seconds(server)
    uvloop.run(measure(port, "before", asked.seconds / 3))
    show_server(server, (cpu_seconds(server) - used) / (asked.seconds / 3))
    until = time.time() + RAMP + asked.seconds + 1
    numbers = ["--readers", str(asked.readers), "--streams", str(asked.streams), "--flooders", str(asked.flooders)]
    place = ["--attack", "--port", str(port), "--bot", bot, "--until", str(until)]
    with subprocess.Popen([sys.executable, __file__, *place, *numbers]):
        time.sleep(RAMP + 1)
        used = cpu_seconds(server)
        moves, health = uvloop.run(measure(port, "during", asked.seconds))
        show_server(server, (cpu_seconds(server) - used) / asked.seconds)
    good = (
        moves.at(0.99) < MOVES_LIMIT_MS and health.at(0.99) < HEALTH_LIMIT_MS and not moves.wrong and not health.wrong
    )
    limits = f"moves within {MOVES_LIMIT_MS} ms and /health within {HEALTH_LIMIT_MS} ms at p99"
    print(limits if good else f"NOT {limits}, or wrong answers")
    return good


def main() -> int:
    """Start a server, attack it, say how long others waited."""
    parser = argparse.ArgumentParser(description="A hosted server under attack from one address.")
    parser.add_argument("--seconds", type=float, default=30, help="seconds of the attack that are measured")
    parser.add_argument("--readers", type=int, default=500, help="slow readers of records")
    parser.add_argument("--streams", type=int, default=2000, help="idle event streams")
    parser.add_argument("--flooders", type=int, default=200, help="WebSockets that send as fast as they can")
    parser.add_argument("--db", help="database of the server: a URL. Default: a new SQLite file")
    for name, kind in (("port", int), ("bot", str), ("until", float)):
        parser.add_argument(f"--{name}", type=kind, help=argparse.SUPPRESS)
    parser.add_argument("--attack", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if asked.attack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        attack(asked)
        return 0
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 1024), hard))  # the server raises its own
    with tempfile.TemporaryDirectory() as folder:
        where = asked.db or str(Path(folder) / "siege.db")
        bot = add_records(where)
        listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
        command = [sys.executable, "-c", SERVER, str(listening.fileno()), where]
        environment = {**os.environ, "XDG_DATA_HOME": folder}
        log = Path(folder) / "log"
        with (
            log.open("wb") as errors,
            subprocess.Popen(command, pass_fds=[listening.fileno()], env=environment, stderr=errors) as server,
        ):
            try:
                good = besiege(listening.getsockname()[1], server.pid, bot, asked)
            finally:
                server.terminate()
        said = log.read_text(errors="replace")
        print(f"tracebacks in the log of the server: {said.count('Traceback')}")
        print(said[-2000:] if "Traceback" in said else "", end="")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
