"""Processes that stay between the games of a match, and the start that ``ready`` ends."""

import os
import secrets
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ludodrome
from ludodrome.arena import records
from ludodrome.arena.game_loop import play
from ludodrome.arena.matches import workers
from ludodrome.arena.transports.child import KeptProcesses
from tests.arena.playing import play_spec, zoo
from tests.arena.transports.test_zoo import branded

MANY = """
import json, os, sys, time
print("started", os.getpid(), file=sys.stderr, flush=True)
games = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        games += 1
        print("game", games, "seat", message["seat"], file=sys.stderr, flush=True)
        print(json.dumps({"type": "ready", "games": "many"}), flush=True)
    elif message["type"] == "turn":
        {when_asked}
        print(json.dumps({"type": "move", "move": message["legal_moves"][0]}), flush=True)
"""


@pytest.fixture
def kept() -> Iterator[KeptProcesses]:
    """A place for processes; nothing of them is left after the test."""
    found = KeptProcesses(seconds=600)
    yield found
    found.close()
    assert len(found) == 0


@pytest.fixture(autouse=True)
def brand(monkeypatch: pytest.MonkeyPatch) -> Iterator[bytes]:
    """A mark that the bots of one test bear (the same tests may run beside us); none of them outlives it."""
    mark = secrets.token_hex(8)
    monkeypatch.setenv("BOT_BRAND", mark)
    yield mark.encode()
    assert branded(mark.encode()) == []


def script(folder: Path, when_asked: str = "pass", name: str = "many.py") -> str:
    """The spec of a bot that plays many games."""
    path = folder / name
    path.write_text(MANY.replace("{when_asked}", when_asked))
    return f"cmd:{sys.executable} -I -S {path}"


def small(*bots: str, kept: KeptProcesses, **given: Any) -> dict[str, Any]:
    """A short game, verified."""
    record = play(play_spec("dots", bots, **{"rows": 1, "cols": 1, **given}), kept=kept)
    records.verify(record)
    return record


def started(record: dict[str, Any], seat: int = 0) -> int:
    """How many processes started in a game."""
    return str(record.get("stderr", ["", ""])[seat]).count("started")


def test_a_process_stays_for_the_next_game(tmp_path: Path, kept: KeptProcesses, brand: bytes) -> None:
    found = [small(script(tmp_path), "random", kept=kept, seed=seed) for seed in range(3)]
    assert [started(record) for record in found] == [1, 0, 0]
    assert [record["stderr"][0].splitlines()[-1] for record in found] == [f"game {n} seat 0" for n in (1, 2, 3)]
    assert all(record["result"]["verdicts"] == [] for record in found)
    assert len(kept) == 1
    assert len(branded(brand)) == 1


def test_two_seats_never_share_a_process(tmp_path: Path, kept: KeptProcesses) -> None:
    bot = script(tmp_path)
    first, second = (small(bot, bot, kept=kept, seed=seed) for seed in range(2))
    assert [started(first, seat) for seat in (0, 1)] == [1, 1]
    assert [started(second, seat) for seat in (0, 1)] == [0, 0]
    assert len(kept) == 2


def test_without_the_word_many_each_game_has_its_own_process(kept: KeptProcesses, brand: bytes) -> None:
    small(zoo("good"), "random", kept=kept)
    assert len(kept) == 0
    assert branded(brand) == []


@pytest.mark.parametrize(
    ("trouble", "cause"),
    [
        ("os._exit(3)", "crash"),
        ("time.sleep(1000)", "timeout"),
        ("print('nonsense', flush=True)", "protocol"),
        ("print(json.dumps({'type': 'error', 'error': 'lost'}), flush=True); continue", "error"),
    ],
)
def test_a_process_with_a_fault_is_ended(
    trouble: str, cause: str, tmp_path: Path, kept: KeptProcesses, brand: bytes
) -> None:
    bot = script(tmp_path, trouble)
    clock = "300ms" if cause == "timeout" else "20s"
    record = small(bot, "random", kept=kept, policy="forfeit", clock=clock)
    assert record["result"]["verdicts"][0]["cause"] == cause
    assert len(kept) == 0
    assert branded(brand) == []


def test_a_process_that_ended_between_games_is_replaced(tmp_path: Path, kept: KeptProcesses, brand: bytes) -> None:
    bot = script(tmp_path)
    small(bot, "random", kept=kept)
    (pid,) = branded(brand)
    os.kill(int(pid), 9)
    record = small(bot, "random", kept=kept)
    assert record["result"]["verdicts"] == []
    assert started(record) == 1
    assert len(branded(brand)) == 1


@pytest.mark.parametrize("seat", [0, 1])
def test_a_process_that_ends_at_its_second_hello_is_replaced(seat: int, tmp_path: Path, kept: KeptProcesses) -> None:
    path = tmp_path / "once.py"
    path.write_text(
        MANY.replace("{when_asked}", "pass").replace("games += 1", "games += 1; games == 2 and os._exit(0)")
    )
    bot = f"cmd:{sys.executable} -I -S {path}"
    bots = (bot, "random") if seat == 0 else ("random", bot)
    found = [small(*bots, kept=kept, seed=seed) for seed in range(3)]
    assert [record["result"]["verdicts"] for record in found] == [[], [], []]
    assert [started(record, seat) for record in found] == [1, 1, 1]


def test_another_command_or_condition_needs_another_process(tmp_path: Path, kept: KeptProcesses) -> None:
    bot = script(tmp_path)
    small(bot, "random", kept=kept)
    assert started(small(f"{bot} --fast", "random", kept=kept)) == 1
    usual = play_spec("dots", (bot, "random"), rows=1, cols=1)
    tolerant = replace(usual, conditions=replace(usual.conditions, tolerant=True))
    assert started(play(tolerant, kept=kept)) == 1
    assert len(kept) == 3


def test_only_so_many_are_kept(tmp_path: Path, brand: bytes) -> None:
    few = KeptProcesses(most=1, seconds=600)
    try:
        for name in ("a.py", "b.py"):
            small(script(tmp_path, name=name), "random", kept=few)
        assert len(few) == 1
        assert len(branded(brand)) == 1
    finally:
        few.close()


def test_those_that_nobody_needs_are_ended(tmp_path: Path, brand: bytes) -> None:
    short = KeptProcesses(seconds=0.05)
    small(script(tmp_path), "random", kept=short)
    deadline = time.monotonic() + 120
    while branded(brand) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(short) == 0


def test_an_interrupted_game_leaves_nothing(
    tmp_path: Path, kept: KeptProcesses, monkeypatch: pytest.MonkeyPatch, brand: bytes
) -> None:
    bot = script(tmp_path)
    small(bot, "random", kept=kept)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ludodrome.arena.transports.inprocess.InProcessSeat.ask", interrupt)
    with pytest.raises(KeyboardInterrupt):
        small(bot, "random", kept=kept)
    assert len(kept) == 0
    assert branded(brand) == []


def running(path: Path) -> int:
    """How many processes have a path in their command line."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            count += str(path).encode() in Path(f"/proc/{name}/cmdline").read_bytes()
    return count


def test_workers_end_the_bots_that_they_keep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOT_BRAND")  # the server that forks workers stays, and would bear it
    bots = (script(tmp_path), "random")
    local = workers.LocalWorkers(1)
    executor = local.open()
    specs = [play_spec("dots", bots, rows=1, cols=1, seed=seed) for seed in range(3)]
    found = [executor.submit(workers.work, workers.play_game, spec).result() for spec in specs]
    assert [started(record) for record in found] == [1, 0, 0]
    assert running(tmp_path) == 1
    local.end(executor)
    assert running(tmp_path) == 0


# Python classes

CLASS = """
import neighbour
print("loaded")
games = []

class Plays:
    def __init__(self):
        games.append(1)
        neighbour.games.append(1)

    def choose(self, observation):
        print("game", len(games), len(neighbour.games))
        return {"orient": "H", "r": 0, "c": 0} if not observation["h"][0][0] else None

    def close(self):
        print("closes")
"""


def test_a_class_is_loaded_anew_for_each_game_in_one_process(tmp_path: Path, kept: KeptProcesses, brand: bytes) -> None:
    (tmp_path / "neighbour.py").write_text("games = []\n")
    (tmp_path / "plays.py").write_text(CLASS)
    for seed in range(3):
        record = small(f"py:{tmp_path / 'plays.py'}:Plays", "random", kept=kept, seed=seed)
        words = record["stderr"][0].splitlines()
        assert "loaded" in words
        assert "game 1 1" in words
        assert set(words) <= {"loaded", "game 1 1", "closes"}
        assert len(branded(brand)) == 1


# The start


def test_ready_ends_the_start(tmp_path: Path) -> None:
    """A bot thought for ten seconds at its first turn, and nothing was charged."""
    path = tmp_path / "thinks.py"
    path.write_text(
        "import json, sys, time\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'hello':\n"
        "        print(json.dumps({'type': 'ready'}), flush=True)\n"
        "    elif message['type'] == 'turn':\n"
        "        time.sleep(1)\n"
        "        print(json.dumps({'type': 'move', 'move': message['legal_moves'][0]}), flush=True)\n"
    )
    bot = f"cmd:{sys.executable} -I -S {path}"
    record = play(play_spec("skysummit", (bot, "random"), clock="300ms", start_ms=10_000))
    verdict = record["result"]["verdicts"][0]
    assert (verdict["seat"], verdict["cause"], verdict["turn"]) == (0, "timeout", 0)


def test_an_agent_of_ai_arena_plays_in_its_own_process(tmp_path: Path, kept: KeptProcesses) -> None:
    path = tmp_path / "agent.py"
    path.write_text(
        "def select_move(state, legal_moves, seat, deadline_ms, rng):\n"
        "    print(seat, deadline_ms, state['you'])\n"
        "    return rng.choice(legal_moves)\n"
    )
    record = small(f"py:{path}:select_move", "random", kept=kept)
    assert record["result"]["verdicts"] == []
    assert record["stderr"][0].splitlines()[0] == "0 20000 0"


def test_a_mended_bot_is_not_played_by_the_process_of_its_older_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers that outlive a match (a cluster, an executor of one's own) kept a process for the next match."""
    keeping = KeptProcesses(seconds=600)
    monkeypatch.setattr(workers, "_kept", keeping)
    choices = ['print("old", file=sys.stderr, flush=True)', 'print("mended", file=sys.stderr, flush=True)']
    usual: dict[str, Any] = {"games": 2, "openings": False, "clock": "20s"}
    try:
        with ThreadPoolExecutor(1) as executor:
            for number, when_asked in enumerate(choices):
                bots = [script(tmp_path, when_asked), "random"]
                result = ludodrome.play_match(ludodrome.make("dots", rows=1, cols=1), bots, workers=executor, **usual)
                words = "".join("".join(record.get("stderr", [])) for record in result.records)
                assert ("old" in words, "mended" in words) == (number == 0, number == 1)
                assert words.count("started") == 1
    finally:
        keeping.close()
