"""Uploaded bots as seats: a folder for a game, limits on one's own machine, a sandbox for strangers'."""

import tempfile
from pathlib import Path

import pytest

from ludodrome.arena import sandbox
from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import FORFEIT, Conditions
from ludodrome.arena.game_loop import run
from ludodrome.arena.ladder.uploads import MEMORY, UploadedSeat, check_source
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.referee import Referee
from ludodrome.arena.transports import make_seat
from ludodrome.bots.starters import one_file

OPTIONS = {"rows": 2, "cols": 2}
HOARD = f"hoard = bytearray({2 * MEMORY})\n"
WRITE = "open('left.txt', 'w', buffering=1).write('a line\\n')\n"


def _play(source: str, sandboxed: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """A game of the source against ``random``; the record."""
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    bots = ("uploaded:x", "random")
    referee = Referee(PlaySpec("dots", OPTIONS, bots, bots, Conditions(FORFEIT, Clock.parse("5s"))))
    seats = [UploadedSeat("uploaded:x", source, referee.game, sandboxed), make_seat("random", referee.game, 0)]
    try:
        run(referee, seats)
    finally:
        for one in seats:
            one.close()
    assert not list(folder.glob("ludodrome-bot-*")), "its folder is gone with it"
    return referee.record([one.stderr for one in seats])


def test_a_starter_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = _play(one_file("dots"), False, tmp_path, monkeypatch)
    assert record["result"]["verdicts"] == []  # type: ignore[index]


@pytest.mark.parametrize(("crime", "word"), [(HOARD, "MemoryError"), (WRITE, "File too large")])
def test_on_ones_own_machine_it_has_limits(
    crime: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = _play(crime + one_file("dots"), False, tmp_path, monkeypatch)
    assert record["result"]["verdicts"][0]["cause"] == "crash"  # type: ignore[index]
    assert word in record["stderr"][0]  # type: ignore[index]
    assert not Path("left.txt").exists()


def test_a_strangers_bot_plays_in_a_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not sandbox.level().holds:
        pytest.skip(f"no sandbox holds here, and nothing was run: {sandbox.level().sentence}")
    record = _play(one_file("dots"), True, tmp_path, monkeypatch)
    assert record["result"]["verdicts"] == []  # type: ignore[index]


@pytest.mark.parametrize("source", ["", "\n", "\0", "\ud800", "x" * 70_000])
def test_what_is_no_source(source: str) -> None:
    with pytest.raises(ValueError, match="source"):
        check_source(source)
