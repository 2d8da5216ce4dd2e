"""Tournaments of games that take milliseconds, for tests of everything around the games."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from ludodrome.arena.conditions import conditions
from ludodrome.arena.matches.scheduler import MatchSettings
from ludodrome.arena.records import comparable
from ludodrome.arena.tournaments.plans import TournamentPlan, make_plan
from ludodrome.arena.tournaments.tournament import Tournament
from ludodrome.games import make
from ludodrome.store.database import open_database
from ludodrome.store.tournaments import StoredLedger

SMALL = {"rows": 2, "cols": 2}
DOTS: dict[str, Any] = {"id": "dots", "name": "dots", "options": SMALL}
BOTS = ["random", "greedy", "level:1", "level:2", "chains"]
"""Ten pairs of bots."""
PROGRAM = [sys.executable, "-m", "ludodrome"]
STAYS = """import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "games": "many"}), flush=True)
    elif message["type"] == "turn":
        print(json.dumps({"type": "move", "move": message["legal_moves"][-1], "turn": message["turn"]}), flush=True)
"""
"""A bot whose process stays between games."""


def programs(folder: Path) -> list[dict[str, str]]:
    """Three bots for a plan: a program that stays, a WebAssembly program, and a built-in. Needs wasmtime."""
    from tests.arena.wasm_zoo import program, write  # an optional extra

    (folder / "stays.py").write_text(STAYS)
    return [
        {"bot": f"cmd:{sys.executable} -I -S {folder / 'stays.py'}", "name": "stays"},
        {"bot": write(folder, "module", program()), "name": "module"},
        {"bot": "greedy", "name": "greedy"},
    ]


def running(text: str) -> int:
    """How many processes have a text in their command line."""
    found = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            found += text.encode() in Path(f"/proc/{name}/cmdline").read_bytes()
    return found


def match_settings(game_id: str = "dots", seed: int = 0, **options: Any) -> MatchSettings:
    game = make(game_id, **(options or (SMALL if game_id == "dots" else {})))
    return MatchSettings(game.id, game.id, game.options, game.seats, conditions(game, clock="nodes=100"), seed)


def plan(**changed: Any) -> TournamentPlan:
    usual: dict[str, Any] = {
        "name": "quick",
        "games": [DOTS],
        "bots": BOTS[:3],
        "clock": "nodes=100",
        "openings": False,
    }
    return make_plan(usual | changed)


def tournament(path: Path, wanted: TournamentPlan) -> Tournament:
    """A tournament in a file: the one that is there, or a new one."""
    engine = open_database(path, create=True)
    found = StoredLedger.find(engine, wanted.name)
    return Tournament(wanted, found[0] if found else StoredLedger.begin(engine, wanted.name, wanted.to_json()))


def write_plan(folder: Path, pairs: int, entrants: list[dict[str, str]] | None = None) -> Path:
    """Round robin of five bots, twenty games for each pair; or of others."""
    tables = entrants or [{"bot": one} for one in BOTS]
    bots = "\n".join("\n".join(["[[bots]]", *(f'{key} = "{one}"' for key, one in table.items())]) for table in tables)
    options = '[[games]]\nid = "dots"\noptions = { rows = 2, cols = 2 }'
    path = folder / "quick.toml"
    path.write_text(f'pairs = {pairs}\nseed = 7\nclock = "nodes=100"\nopenings = false\n{options}\n{bots}\n')
    return path


def begin(path: Path, store: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A tournament that runs beside the test, and heeds Ctrl-C."""
    command = [*PROGRAM, "tournament", "run", str(path), "--store", str(store), "--resume", "--json", *arguments]
    heed = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # noqa: E731
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, preexec_fn=heed
    )


def count(store: Path) -> int:
    """Games in a store that somebody else writes to; 0 if there are no tables yet."""
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
            (found,) = connection.execute("SELECT count(*) FROM games").fetchone()
    except sqlite3.OperationalError:
        return 0
    finally:
        if "connection" in locals():
            connection.close()
    return int(found)


def kept(store: Path) -> dict[str, Any]:
    """The records in a store by their match, without times; every match is there once."""
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    rows = connection.execute("SELECT match, record FROM games").fetchall()
    connection.close()
    records = {match: comparable(json.loads(zlib.decompress(record))) for match, record in rows}
    assert len(records) == len(rows)
    return records
