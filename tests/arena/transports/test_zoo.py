"""Every bad bot gets its verdict, and nothing of it stays."""

import gc
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ludodrome.arena import records
from ludodrome.arena.game_loop import play
from ludodrome.arena.transports.child import KeptProcesses
from tests.arena.playing import AMPLE, play_spec, zoo
from tests.arena.zoo import KINDS

SHORT = "300ms"
MEMORY = 20 * 1024 * 1024


class Case(NamedTuple):
    """What is to come of a bot: the cause of its verdict, if any, and words of the sentence."""

    cause: str | None
    why: str = ""
    game: str = "skysummit"
    clock: str = AMPLE


CASES = {
    "good": Case(None),
    "silent": Case("timeout", "in time", clock=SHORT),
    "deaf": Case("timeout", "in time", clock=SHORT),
    "slow": Case("timeout", "in time", clock=SHORT),
    "stubborn": Case("timeout", "in time", clock=SHORT),
    "wrong_number": Case("timeout", "in time", clock=SHORT),
    "endless_unknown": Case("timeout", "in time", clock=SHORT),
    "endless_blank": Case("timeout", "in time", clock=SHORT),
    "endless_log": Case("timeout", "in time", clock=SHORT),
    "closes_stdin": Case("timeout", "in time", clock=SHORT),
    "crash_at_start": Case("crash", "code 3"),
    "crash_at_move_10": Case("crash", "code 4", "dots"),
    "crash_at_the_end": Case(None),
    "half_a_line": Case("crash", "code 0"),
    "segfault": Case("crash", "SIGSEGV"),
    "dies_oddly": Case("crash", "it was ended by signal"),
    "closes_stdout": Case("crash", "closed its output"),
    "leaves_a_child_with_its_output": Case("crash", "code 5"),
    "giant_line": Case("protocol", "longer than 65536"),
    "endless_line": Case("protocol", "longer than 65536"),
    "bad_utf8": Case("protocol", "not UTF-8"),
    "deep": Case("protocol", "nested deeper than 32"),
    "very_deep": Case("protocol", "nested deeper than 32"),
    "infinite": Case("protocol", "1e999 is too large"),
    "not_a_number": Case("protocol", "NaN is not a number"),
    "doubled_keys": Case("protocol", "'type' twice"),
    "half_a_character": Case("protocol", "surrogate"),
    "many_digits": Case("protocol", "too many digits"),
    "not_json": Case("protocol", "not JSON"),
    "a_list": Case("protocol", "not a list of 2"),
    "no_type": Case("protocol", "has a type"),
    "no_move": Case("protocol", "has the key move"),
    "number_is_text": Case("protocol", "turn is a whole number"),
    "illegal": Case("illegal", "two"),
    "shapeless": Case("illegal", "42"),
    "null_move": Case("illegal", "null"),
    "gives_up": Case("error", "I have lost my way"),
    "children": Case(None),
    "children_away": Case(None),
    "flood_stderr": Case(None),
    "answers_observe": Case(None, game="dots"),
    "chatty": Case(None),
    "answers_twice": Case(None),
    "learns": Case(None, game="santorini"),
    "moves_for_the_other": Case("illegal", "Not your worker", "santorini"),
}
ELSEWHERE = {"late_once", "late_once_without_number"}
"""Bots that test_child.py looks at."""


@pytest.fixture
def brand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[bytes]:
    """A mark that all bots of a test bear; none is alive after it, and no temporary file is left."""
    mark = secrets.token_hex(8)
    monkeypatch.setenv("BOT_BRAND", mark)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    gc.collect()  # what other tests have left is not ours
    handles = len(os.listdir("/proc/self/fd"))
    yield mark.encode()
    assert branded(mark.encode()) == []
    assert len(os.listdir("/proc/self/fd")) <= handles
    assert list(tmp_path.iterdir()) == []


def branded(mark: bytes) -> list[str]:
    """The processes that bear a mark, and our own children that nobody has reaped."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            state, parent = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()[:2]
            # one that is exiting shows neither its environment nor its command, a moment before it can be reaped
            ended = state == b"Z" or not Path(f"/proc/{name}/cmdline").read_bytes()
            orphan = ended and int(parent) == os.getpid()
            if orphan or (name != str(os.getpid()) and mark in Path(f"/proc/{name}/environ").read_bytes()):
                found.append(name)
        except OSError:
            continue
    return found


def played(kind: str, kept: KeptProcesses | None = None) -> dict[str, Any]:
    """A game of a bad bot; with ``kept`` it says that it can play many games, and may get the process of an earlier."""
    case = CASES[kind]
    start_ms = 0 if case.clock == SHORT else 10_000
    bots = (zoo(kind, stays=kept is not None), "random")
    return play(play_spec(case.game, bots, clock=case.clock, start_ms=start_ms), kept=kept)


def check(kind: str, record: dict[str, Any]) -> None:
    case, result = CASES[kind], record["result"]
    records.verify(record)
    assert result["rated"]
    if case.cause is None:
        assert (result["decided_by"], result["verdicts"]) == ("play", [])
        return
    verdict = result["verdicts"][0]
    assert (verdict["seat"], verdict["cause"]) == (0, case.cause), verdict
    assert case.why in verdict["why"]
    assert result["decided_by"] == ("play" if case.game == "dots" else "forfeit")
    assert case.game == "dots" or result["winner"] == 1


def test_every_bot_of_the_zoo_is_looked_at() -> None:
    assert set(CASES) | ELSEWHERE == set(KINDS)
    assert sum(case.cause is not None for case in CASES.values()) >= 20


@pytest.mark.parametrize("kind", CASES)
def test_verdict(kind: str, brand: bytes) -> None:
    check(kind, played(kind))


@pytest.mark.parametrize("stays", [False, True])
def test_five_hundred_bad_matches_leave_nothing(stays: bool, long: bool, brand: bytes) -> None:
    """Also if the bots say that they can play many games: those without a fault stay, and nothing of the others."""
    kinds = [kind for kind, case in CASES.items() if long or case.clock != SHORT]
    kept = KeptProcesses() if stays else None
    try:
        for kind in kinds[:12]:
            played(kind, kept)
        gc.collect()
        before = resident()
        for number in range(500 if long else 30):
            kind = kinds[number % len(kinds)]
            check(kind, played(kind, kept))
        gc.collect()
        assert resident() - before < MEMORY
    finally:
        if kept is not None:
            kept.close()


def test_a_bot_that_keeps_its_process_is_judged_like_any_other(brand: bytes) -> None:
    """Each twice: the second game of a process that stayed, or the first of a new one."""
    kept = KeptProcesses(seconds=600)
    kinds = ("good", "crash_at_the_end", "half_a_line", "children", "chatty", "illegal", "answers_twice", "learns")
    try:
        for kind in kinds * 2:
            check(kind, played(kind, kept))
        assert 0 < len(kept) <= len(kinds)
    finally:
        kept.close()


def resident() -> int:
    """Bytes of memory that this process uses."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
