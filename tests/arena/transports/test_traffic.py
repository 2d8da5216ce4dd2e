"""All that is said between the arena and its bots, line by line, and lines that are tolerated."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

from ludodrome.arena import records
from ludodrome.arena.conditions import Conditions
from ludodrome.arena.game_loop import play
from ludodrome.arena.matches.workers import play_game
from ludodrome.arena.play_spec import PlaySpec
from tests.arena.playing import play_spec, zoo

NOISY = """
import json, sys
print("hello, I am a bot", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        print("a word", file=sys.stderr, flush=True)
        print("thinking", flush=True)
        print(json.dumps({"type": "move", "move": message["legal_moves"][0]}), flush=True)
"""


def noisy(folder: Path) -> str:
    """A bot that prints more than its moves."""
    path = folder / "noisy.py"
    path.write_text(NOISY)
    return f"cmd:{sys.executable} -I -S {path}"


def tolerant_spec(*bots: str) -> PlaySpec:
    """A short game in which noise is tolerated."""
    usual = play_spec("dots", bots, rows=1, cols=1)
    conditions = Conditions("forfeit", usual.conditions.clock, tolerant=True)
    return PlaySpec(usual.game, usual.options, usual.bots, usual.names, conditions, usual.seed)


def test_tolerated_lines_are_noted_and_no_fault(tmp_path: Path) -> None:
    record = play(tolerant_spec(noisy(tmp_path), "random"))
    records.verify(record)
    assert record["result"]["verdicts"] == []
    assert record["conditions"]["tolerant"] is True
    assert record["notes"][0][0] == "a line that is not JSON came in turn 0 and was ignored: hello, I am a bot"
    strict = play(play_spec("dots", (noisy(tmp_path), "random"), policy="forfeit", rows=1, cols=1))
    assert strict["result"]["verdicts"][0]["cause"] == "protocol"
    assert "tolerant" not in strict["conditions"]


def test_every_line_is_recorded_in_both_directions(tmp_path: Path) -> None:
    entries: list[dict[str, Any]] = []
    record = play(tolerant_spec("random", noisy(tmp_path)), traffic=entries.append)
    assert {entry["match"] for entry in entries} == {record["match"]}
    assert {entry["seat"] for entry in entries} == {1}  # built-in bots have no lines
    assert [entry["ms"] for entry in entries] == sorted(entry["ms"] for entry in entries)
    sent = [json.loads(entry["line"]) for entry in entries if entry["dir"] == "to"]
    own = sum(turn["seat"] == 1 for turn in record["turns"])
    kinds = [message["type"] for message in sent]
    assert (kinds[0], kinds[-1], kinds.count("turn")) == ("hello", "over", own)
    said = [entry["line"] for entry in entries if entry["dir"] == "from"]
    assert said.count("thinking") == own
    assert "".join(entry["line"] for entry in entries if entry["dir"] == "stderr") == "a word\n" * own


def test_workers_append_to_one_log(tmp_path: Path) -> None:
    log = tmp_path / "traffic.jsonl"
    logged = partial(play_game, log=str(log))
    games = [logged(play_spec("dots", (zoo("good"), "random"), rows=1, cols=1, seed=seed)) for seed in range(2)]
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert {entry["match"] for entry in entries} == {record["match"] for record in games}
    assert all(set(entry) == {"match", "seat", "dir", "ms", "line"} for entry in entries)
