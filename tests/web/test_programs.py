"""Play against a bot of the league, or a program of one's own: limited, private, and gone with the play."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ludodrome.arena import sandbox
from ludodrome.arena.seats import Answer, SeatWrapper, Turn
from ludodrome.bots.starters import one_file
from ludodrome.games import make
from ludodrome.store import league_bots
from ludodrome.store.models import LOCAL
from ludodrome.web import programs
from ludodrome.web.programs import ProgramPool, ProgramSeat
from tests.web.hosting import Hosted, hosting
from tests.web.walking import API, begin, move, settled

SMALL = {"rows": 1, "cols": 2}
COUNTING = """import json, sys
asked = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        asked += 1
        print(json.dumps({"type": "log", "text": "my secret"}))
        print("my secret", file=sys.stderr)
        if asked > 1:
            print(json.dumps({"type": "error", "error": f"my secret {asked}"}), flush=True)
        else:
            print(json.dumps({"type": "move", "move": message["legal_moves"][0]}), flush=True)
"""
"""Moves once; then it says an error of its own."""
SILENT = "import sys\nfor line in sys.stdin:\n    pass\n"


@pytest.fixture(scope="module")
def local() -> Iterator[Hosted]:
    """A server of one's own, without a sandbox for uploads."""
    with hosting("local", sandbox="off") as running:
        yield running


def _enter(home: Hosted, name: str, source: str, owner: str = LOCAL) -> str:
    return f"bot:{league_bots.enter_uploaded(home.engine, 'dots', owner, name, source, [])}"


def test_a_guest_plays_against_an_uploaded_bot_in_its_sandbox(hosted: Hosted) -> None:
    if not sandbox.level().holds:
        pytest.skip(f"no sandbox holds here, and nothing was run: {sandbox.level().sentence}")
    bot = _enter(hosted, "Opponent", one_file("dots"), hosted.person("Owner").id)
    with hosted.client() as guest:
        view = begin(guest, "dots", [bot, "person"])
        assert [seat["name"] for seat in view["seats"]] == ["Opponent", "You"]
        view = settled(guest, view)
        assert view["result"] is None, view["result"]["verdicts"]
        assert [one["seat"] for one in view["moves"]] == [0]
        odd = {"game": "dots", "seats": [bot, "person"], "options": SMALL}
        assert "usual options" in guest.post(f"{API}/plays", json=odd).json()["error"]
        other = {"game": "skysummit", "seats": [bot, "person"]}
        assert "plays dots" in guest.post(f"{API}/plays", json=other).json()["error"]
        gone = {"game": "dots", "seats": ["bot:none", "person"]}
        assert guest.post(f"{API}/plays", json=gone).status_code == 404


def test_it_is_private_begins_anew_after_an_undo_and_ends_with_the_play(local: Hosted) -> None:
    bot = _enter(local, "Counting", COUNTING)
    pool: ProgramPool = local.app.state.bot_pool.programs
    with local.client() as client:
        view = settled(client, begin(client, "dots", ["person", bot], options=SMALL))
        view = settled(client, move(client, view, view["position"]["legal"][0]))
        assert len(view["moves"]) == 2
        assert len(pool) == 1
        view = client.post(f"{API}/plays/{view['id']}/undo").json()
        view = settled(client, move(client, view, view["position"]["legal"][0]))
        assert len(view["moves"]) == 2, "a process that went on would have said its error"
        view = settled(client, move(client, view, view["position"]["legal"][0]))
        assert view["result"]["verdicts"][0]["cause"] == "error"
        record = client.get(f"{API}/plays/{view['id']}/record").text
        assert "secret" not in record
        assert "secret" not in client.get(f"{API}/replays/{view['id']}").text
        assert len(pool) == 0


def test_it_has_a_limit_without_a_clock(local: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "MOVE_SECONDS", 0.05)
    bot = _enter(local, "Silent", SILENT)
    with local.client() as client:
        view = settled(client, begin(client, "dots", [bot, "person"], options=SMALL))
        assert view["result"]["verdicts"][0]["cause"] == "timeout"
        assert view["result"]["winner"] == 1


def test_the_owner_plays_against_programs_and_nobody_else(local: Hosted, hosted: Hosted, tmp_path: Path) -> None:
    program = tmp_path / "mine.py"
    program.write_text(one_file("dots"), "utf-8")
    spec = f"cmd:{sys.executable} {program}"
    wish: dict[str, Any] = {"game": "dots", "seats": [spec, "person"], "options": SMALL}
    with local.client() as owner:
        view = settled(owner, begin(owner, "dots", [spec, "person"], options=SMALL))
        assert len(view["moves"]) == 1
        missing = owner.post(f"{API}/plays", json={**wish, "seats": ["cmd:no-such-program", "person"]})
        assert missing.status_code == 422
        assert "no-such-program" in missing.json()["error"]
    with hosting("lan", sandbox="off") as lan, lan.client() as client:
        assert client.post(f"{API}/plays", json=wish).status_code == 403
    for name in (None, "Owner", "Chief"):
        with hosted.client(name) as stranger:
            assert stranger.post(f"{API}/plays", json=wish).status_code == 403


def test_a_stored_play_with_a_program_runs_only_at_its_owners() -> None:
    pool = ProgramPool(own=False)
    with pytest.raises(ValueError, match="owner"):
        pool.start("a", "cmd:true", make("dots"), 0, None)


class _Slow(SeatWrapper):
    """A seat that thinks until it is let go."""

    def __init__(self) -> None:
        self.go, self.thinking, self.closed = threading.Event(), threading.Event(), 0

    def ask(self, turn: Turn) -> Answer:
        self.thinking.set()
        self.go.wait(60)
        return Answer(0.1, "a move")

    def close(self) -> None:
        self.closed += 1


def test_a_program_that_is_evicted_finishes_its_move_first() -> None:
    slow = _Slow()
    seat = ProgramSeat(slow, make("dots"), private=False)
    turn = Turn(3, 0, None, 0.0, None, lambda: None, lambda turn: {})
    answers: list[Answer] = []
    thread = threading.Thread(target=lambda: answers.append(seat.ask(turn)))
    thread.start()
    assert slow.thinking.wait(60)
    seat.retire()
    assert slow.closed == 0
    slow.go.set()
    thread.join()
    assert answers[0].move == "a move"
    assert slow.closed == 1
