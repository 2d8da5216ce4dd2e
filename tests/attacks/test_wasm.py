"""Attacks by WebAssembly bots: each gets one verdict, or a refusal, and the arena stays as it was."""

import gc
import os
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

wasmtime = pytest.importorskip("wasmtime")

from ludodrome.arena import records  # noqa: E402
from ludodrome.arena.game_loop import play  # noqa: E402
from ludodrome.arena.transports import make_seat, wasm, wasm_modules  # noqa: E402
from ludodrome.arena.transports.wasm_compiler import SIGNATURES  # noqa: E402
from ludodrome.arena.transports.wasm_guest import MAX_MEMORY, MAX_STDERR  # noqa: E402
from ludodrome.arena.transports.wasm_modules import BadModule, check_module, compiled  # noqa: E402
from ludodrome.games import make  # noqa: E402
from tests.arena.playing import play_spec  # noqa: E402
from tests.arena.transports.test_zoo import resident  # noqa: E402
from tests.arena.wasm_zoo import FOREVER, MOVE, assemble, program, say, saying, spinning, write  # noqa: E402

FUEL = "fuel=5M"
SHORT = "300ms"
MEGABYTE = 1 << 20


class Attack(NamedTuple):
    """A bot, the cause of its verdict (None: it plays on), and words of the sentence."""

    make: Callable[[], bytes]
    cause: str | None
    why: str = ""
    clock: str = FUEL
    stderr: int = 0
    """Characters of standard error that are kept."""


def unless_refused(call: str) -> str:
    """Abort if a call succeeds."""
    return f"(if (i32.eqz {call}) (then unreachable))"


def with_values(name: str, value: int) -> str:
    """A call of a function of WASI with the same value for every parameter."""
    values = " ".join(f"({'i32' if kind == 'i' else 'i64'}.const {value})" for kind in SIGNATURES[name])
    call = f"(call ${name} {values})"
    return call if name == "proc_exit" else f"(drop {call})"


SURVIVABLE = tuple(name for name in SIGNATURES if name != "proc_exit")


def bad_pointers() -> bytes:
    """Call every function with every kind of bad pointer and length, and the streams with bad buffers."""
    calls = [
        with_values(name, value)
        for name in SURVIVABLE
        for value in (-1, 0x7FFFFFFF, 80 * 65536 - 1, -65536)
        if name != "fd_close"
    ]
    vectors = "(i32.store (i32.const 0) (i32.const -4)) (i32.store (i32.const 4) (i32.const -1))"
    for name in ("fd_read", "fd_write"):
        for stream in range(4):
            calls.append(
                f"{vectors} (drop (call ${name} (i32.const {stream}) (i32.const 0) (i32.const 1) (i32.const 8)))"
            )
            calls.append(
                f"(drop (call ${name} (i32.const {stream}) (i32.const 0) (i32.const 4096) (i32.const 5242879)))"
            )
    return program(turn=f"{' '.join(calls)} {MOVE}", uses=SURVIVABLE)


def no_files() -> bytes:
    """Abort if any folder is there, or anything can be opened."""
    calls = []
    for descriptor in (0, 1, 2, 3, 4, 5, 100):
        d = f"(i32.const {descriptor})"
        calls.append(unless_refused(f"(call $fd_prestat_get {d} (i32.const 16))"))
        calls.append(
            unless_refused(
                f"(call $path_open {d} (i32.const 0) (i32.const 1024) (i32.const 11) (i32.const 0) (i64.const -1)"
                " (i64.const -1) (i32.const 0) (i32.const 16))"
            )
        )
        calls.append(
            unless_refused(f"(call $fd_readdir {d} (i32.const 64) (i32.const 64) (i64.const 0) (i32.const 16))")
        )
    uses = ("fd_prestat_get", "path_open", "fd_readdir")
    return program(turn=f"{' '.join(calls)} {MOVE}", uses=uses, texts=("/etc/passwd",))


def no_sockets() -> bytes:
    calls = [
        unless_refused(f"(call $sock_accept (i32.const {number}) (i32.const 0) (i32.const 16))") for number in range(6)
    ] + [
        unless_refused(
            f"(call $sock_send (i32.const {number}) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 16))"
        )
        for number in range(6)
    ]
    return program(turn=f"{' '.join(calls)} {MOVE}", uses=("sock_accept", "sock_send"))


def grows() -> bytes:
    """Take all memory that there is, touch it, and play on."""
    return program(
        turn=f"""(loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
        (if (i32.gt_u (memory.size) (i32.const {MAX_MEMORY // 65536})) (then unreachable))
        (i32.store (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 4)) (i32.const 1)) {MOVE}"""
    )


def nobody_listens(stream: int) -> bytes:
    """Write for ever."""
    return program(turn=f"(loop $more {say(0, 200, stream)} (br $more))", texts=("\n" * 200,))


def table_recursion() -> bytes:
    return program(
        turn="(call_indirect (type $f) (i32.const 0))",
        extra="(type $f (func)) (table 1 funcref) (elem (i32.const 0) $deep) "
        "(func $deep (call_indirect (type $f) (i32.const 0)) (call_indirect (type $f) (i32.const 0)))",
    )


def poll(kind: int, nanoseconds: int) -> str:
    """Wait by ``poll_oneoff`` for one event."""
    return f"""(i64.store (i32.const 4096) (i64.const 7)) (i32.store8 (i32.const 4104) (i32.const {kind}))
      (i32.store (i32.const 4112) (i32.const 0)) (i64.store (i32.const 4120) (i64.const {nanoseconds}))
      (drop (call $poll_oneoff (i32.const 4096) (i32.const 8192) (i32.const 1) (i32.const 16)))"""


YEAR = 365 * 86400 * 10**9
ATTACKS = {
    "plays": Attack(program, None),
    "endless_loop": Attack(lambda: program(turn=FOREVER), "timeout", "used up its fuel of 5000000 instructions"),
    "endless_loop_by_the_clock": Attack(lambda: program(turn=FOREVER), "timeout", "in time", SHORT),
    "endless_loop_at_the_start": Attack(lambda: program(start=FOREVER), "timeout", "used up its fuel of 20000000"),
    "endless_loop_in_a_start_function": Attack(
        lambda: program(extra=f"(func $begin {FOREVER}) (start $begin)"), "timeout", "used up its fuel of 20000000"
    ),
    "endless_loop_at_hello": Attack(lambda: program(other=FOREVER), "timeout", "used up its fuel of 20000000"),
    "endless_loop_after_the_answer": Attack(lambda: program(turn=MOVE + FOREVER), "timeout", "fuel of 5000000"),
    "endless_calls": Attack(
        lambda: program(turn="(loop $more (drop (call $sched_yield)) (br $more))", uses=("sched_yield",)),
        "timeout",
        "used up its fuel",
    ),
    "endless_fills": Attack(
        lambda: program(
            turn="(loop $more (memory.fill (i32.const 65536) (i32.const 0) (i32.const 4000000)) (br $more))"
        ),
        "timeout",
        "used up its fuel",
    ),
    "endless_table_growth": Attack(
        lambda: program(
            turn="(loop $more (drop (table.grow $t (ref.null func) (i32.const 1000))) (br $more))",
            extra="(table $t 1 funcref)",
        ),
        "timeout",
        "used up its fuel",
    ),
    "endless_random_numbers": Attack(
        lambda: program(
            turn="(loop $more (drop (call $random_get (i32.const 65536) (i32.const 65536))) (br $more))",
            uses=("random_get",),
        ),
        "timeout",
        "used up its fuel",
    ),
    "deep_recursion": Attack(
        lambda: program(turn="(call $deep)", extra="(func $deep (call $deep) (call $deep))"), "crash", "its stack"
    ),
    "recursion_through_a_table": Attack(table_recursion, "crash", "its stack"),
    "memory_growth": Attack(grows, None),
    "memory_of_4_gb": Attack(
        lambda: assemble('(module (memory (export "memory") 65536) (func (export "_start")))'),
        "crash",
        "could not be started",
    ),
    "huge_table": Attack(lambda: program(extra="(table 10000000 funcref)"), "crash", "could not be started"),
    "many_tables": Attack(lambda: program(extra="(table 1 funcref)" * 90), "crash", "could not be started"),
    "many_globals": Attack(lambda: program(extra="(global i64 (i64.const 1))" * 5000), None),
    "data_beyond_memory": Attack(
        lambda: program(extra=f'(data (i32.const {80 * 65536 - 2}) "abcd")'), "crash", "memory that it does not have"
    ),
    "trap_at_the_start": Attack(lambda: program(start="unreachable"), "crash", "it aborted"),
    "trap_in_a_start_function": Attack(
        lambda: program(extra="(func $begin unreachable) (start $begin)"), "crash", "it aborted"
    ),
    "division_by_zero": Attack(
        lambda: program(turn="(drop (i32.div_u (i32.const 1) (i32.load (i32.const 40))))"), "crash", "divided by zero"
    ),
    "wild_pointer": Attack(
        lambda: program(turn="(i32.store (i32.const -8) (i32.const 1))"), "crash", "memory that it does not have"
    ),
    "empty_table_entry": Attack(
        lambda: program(turn="(call_indirect (type $f) (i32.const 0))", extra="(type $f (func)) (table 1 funcref)"),
        "crash",
        "empty entry of its table",
    ),
    "exit_in_a_turn": Attack(
        lambda: program(turn="(call $proc_exit (i32.const 7))", uses=("proc_exit",)), "crash", "exited with code 7"
    ),
    "exit_and_go_on": Attack(
        lambda: program(turn=f"(call $proc_exit (i32.const 7)) {MOVE} {FOREVER}", uses=("proc_exit",)),
        "crash",
        "exited with code 7",
    ),
    "exit_at_the_start": Attack(lambda: program(start="return"), "crash", "exited with code 0"),
    "exit_at_half_a_line": Attack(
        lambda: program(
            turn=f"{say(0, 15)} (call $proc_exit (i32.const 0))", uses=("proc_exit",), texts=('{"type": "move"',)
        ),
        "crash",
        "exited with code 0",
    ),
    "bad_pointers": Attack(bad_pointers, None, clock="fuel=50M"),
    "no_files": Attack(no_files, None),
    "no_sockets": Attack(no_sockets, None),
    "never_answers": Attack(lambda: program(turn=""), "timeout", "asked for the next message instead of answering"),
    "closes_its_output": Attack(
        lambda: program(start="(drop (call $fd_close (i32.const 1)))", uses=("fd_close",)), "timeout", "instead of"
    ),
    "closes_its_input": Attack(
        lambda: program(start="(drop (call $fd_close (i32.const 0)))", uses=("fd_close",)), "crash", "code 0"
    ),
    "endless_line": Attack(
        lambda: program(turn=f"(loop $more {say(0, 200)} (br $more))", texts=("x" * 200,)),
        "protocol",
        "longer than 65536",
    ),
    "giant_line": Attack(
        lambda: program(
            turn="(memory.fill (i32.const 65536) (i32.const 120) (i32.const 4000000))"
            "(call $put (i32.const 1) (i32.const 65536) (i32.const 4000000))"
        ),
        "protocol",
        "longer than 65536",
    ),
    "endless_blank_lines": Attack(lambda: nobody_listens(1), "timeout", "used up its fuel"),
    "endless_standard_error": Attack(lambda: nobody_listens(2), "timeout", "used up its fuel", stderr=200),
    "much_standard_error": Attack(
        lambda: program(turn=f"(call $put (i32.const 2) (i32.const {1 << 16}) (i32.const 100000)) {MOVE}"),
        None,
        stderr=MAX_STDERR,
    ),
    "output_without_being_asked": Attack(
        lambda: program(turn=f"{MOVE} (call $put (i32.const 1) (i32.const 65536) (i32.const 200000))"),
        "protocol",
        "without being asked",
    ),
    "answers_before_the_question": Attack(
        lambda: program(start=f"{say(0, 28)}", turn="", texts=('{"type": "move", "move": 42}\n',)),
        "timeout",
        "instead of answering",
    ),
    "not_json": Attack(lambda: saying("I move\n"), "protocol", "not JSON"),
    "bad_utf8": Attack(lambda: saying('{"type": "\udcff"}\n'), "protocol", "not UTF-8"),
    "not_a_number": Attack(lambda: saying('{"type": "move", "move": NaN}\n'), "protocol", "NaN is not a number"),
    "deep_json": Attack(lambda: saying('{"type": "move", "move": ' + "[" * 100 + "\n"), "protocol", "JSON"),
    "illegal": Attack(lambda: saying('{"type": "move", "move": 42}\n'), "illegal", "42"),
    "gives_up": Attack(lambda: saying('{"type": "error", "error": "I am lost"}\n'), "error", "I am lost"),
    "sleeps_for_a_year": Attack(lambda: program(turn=poll(0, YEAR) + MOVE, uses=("poll_oneoff",)), None),
    "sleeps_by_the_clock": Attack(
        lambda: program(turn=poll(0, YEAR) + MOVE, uses=("poll_oneoff",)), "timeout", "in time", SHORT
    ),
    "waits_for_input_by_poll": Attack(
        lambda: program(turn=poll(1, 0) + MOVE, uses=("poll_oneoff",)), "timeout", "instead of answering"
    ),
}


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A start of 20 million instructions is enough here. No thread and no file handle is left."""
    monkeypatch.setattr(wasm, "START_FUEL", 20_000_000)
    threads, handles = threading.active_count(), len(os.listdir("/proc/self/fd"))
    yield
    assert threading.active_count() <= threads
    assert len(os.listdir("/proc/self/fd")) <= handles


def attacked(folder: Path, name: str) -> dict[str, Any]:
    attack = ATTACKS[name]
    spec = write(folder, name, attack.make())
    start_ms = 0 if attack.clock == SHORT else 10_000
    return play(play_spec("skysummit", (spec, "random"), clock=attack.clock, start_ms=start_ms))


def check(name: str, record: dict[str, Any]) -> None:
    attack, result = ATTACKS[name], record["result"]
    records.verify(record)
    assert result["rated"]
    assert len(record.get("stderr", [""])[0]) >= attack.stderr
    assert len(record.get("stderr", [""])[0]) <= MAX_STDERR
    if attack.cause is None:
        assert (result["decided_by"], result["verdicts"]) == ("play", [])
        return
    assert len(result["verdicts"]) == 1
    verdict = result["verdicts"][0]
    assert (verdict["seat"], verdict["cause"]) == (0, attack.cause), verdict
    assert attack.why in verdict["why"], verdict
    assert (result["decided_by"], result["winner"]) == ("forfeit", 1)


@pytest.mark.parametrize("name", ATTACKS)
def test_one_verdict_each(name: str, tmp_path: Path) -> None:
    check(name, attacked(tmp_path, name))


def test_five_hundred_attacks_leave_nothing(long: bool, tmp_path: Path) -> None:
    names = [name for name, attack in ATTACKS.items() if long or attack.clock != SHORT]
    for name in names[:12]:
        attacked(tmp_path, name)
    gc.collect()
    before = resident()
    for number in range(500 if long else 40):
        check(names[number % len(names)], attacked(tmp_path, names[number % len(names)]))
    gc.collect()
    assert resident() - before < 20 * MEGABYTE


# Refused before they run


def minimal(extra: str = "", exports: str = '(export "_start" (func $run)) (export "memory" (memory 0))') -> bytes:
    return assemble(f"(module {extra} (memory 1) (func $run) {exports})")


REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "not_a_module": (lambda: b"#!/bin/sh\necho hello\n", "first bytes are not 00 61 73 6d"),
    "nothing": (lambda: b"", "first bytes are not"),
    "a_component": (lambda: b"\0asm\x0d\0\x01\0", "build for WASI preview 1"),
    "another_version": (lambda: b"\0asm\x02\0\0\0", "version 02 00 00 00"),
    "only_its_head": (lambda: b"\0asm\x01\0\0\0", "exports no function _start"),
    "library": (lambda: minimal(exports='(export "memory" (memory 0))'), "exports no function _start"),
    "start_with_parameters": (
        lambda: assemble('(module (memory (export "memory") 1) (func (export "_start") (param i32)))'),
        "exports no function _start",
    ),
    "start_that_is_a_memory": (lambda: assemble('(module (memory (export "_start") 1))'), "exports no function _start"),
    "no_memory": (lambda: assemble('(module (func (export "_start")))'), "exports no memory"),
    "unknown_import": (lambda: minimal('(import "env" "system" (func (param i32)))'), "imports 'env.system'"),
    "unknown_wasi_function": (
        lambda: minimal('(import "wasi_snapshot_preview1" "proc_spawn" (func))'),
        "imports 'wasi_snapshot_preview1.proc_spawn'",
    ),
    "threads": (lambda: minimal('(import "wasi" "thread-spawn" (func (param i32) (result i32)))'), "thread-spawn"),
    "wrong_type": (lambda: minimal('(import "wasi_snapshot_preview1" "fd_read" (func (param i32)))'), "another type"),
    "imported_memory": (
        lambda: assemble(
            '(module (import "env" "memory" (memory 1)) (export "memory" (memory 0)) (func (export "_start")))'
        ),
        "imports 'env.memory'",
    ),
    "escapes_in_names": (lambda: minimal(r'(import "\1b[31m" "\00\07" (func))'), r"'\x1b[31m.\x00\x07'"),
    "shared_memory": (
        lambda: assemble('(module (memory (export "memory") 1 1 shared) (func (export "_start")))'),
        "not a valid module",
    ),
    "memory64": (lambda: assemble('(module (memory (export "memory") i64 1) (func (export "_start")))'), "not a valid"),
    "two_memories": (lambda: minimal("(memory 1)"), "not a valid module"),
    "relaxed_simd": (
        lambda: minimal(
            "(func (result v128) (i32x4.relaxed_trunc_f32x4_s (v128.const i32x4 0 0 0 0)))",
        ),
        "not a valid module",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_it_runs(name: str, tmp_path: Path) -> None:
    made, why = REFUSED[name]
    with pytest.raises(ValueError, match="is not a WebAssembly bot: ") as refused:
        make_seat(write(tmp_path, "bad", made()), make("skysummit"), 1)
    assert why in str(refused.value)
    assert str(refused.value).isprintable()


def test_a_module_has_a_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(wasm_modules, "MAX_MODULE", 1000)
    with pytest.raises(BadModule, match="has at most 1000 bytes here, and this one has 1001"):
        check_module(b"\0asm\x01\0\0\0" + bytes(993), 1000)
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        make_seat(f"wasm:{tmp_path / 'none.wasm'}", make("skysummit"), 1)
    with pytest.raises(ValueError, match="cannot be read: Is a directory"):
        make_seat(f"wasm:{tmp_path}", make("skysummit"), 1)


def test_a_compiler_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wasm_modules, "COMPILE_SECONDS", 0.001)
    with pytest.raises(BadModule, match="longer than 0 seconds to compile"):
        compiled(minimal('(@custom "slow" "1")'))


def test_a_compiler_that_takes_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wasm_modules, "COMPILE_MEMORY", 64 << 20)
    with pytest.raises(BadModule, match="cannot be compiled within 64 MB"):
        compiled(minimal("(func (drop (i32.const 1)))" * 20_000))


def test_damaged_modules_are_refused_or_get_a_verdict(long: bool, tmp_path: Path) -> None:
    """Truncations and flipped bits of a good module: a refusal, a verdict on the bot, or a whole game."""
    good = program()
    cuts = range(8, len(good), 1 if long else len(good) // 4)
    flips = range(8 * 8, 8 * len(good), 7 if long else len(good))
    damaged = [good[:cut] for cut in cuts]
    for bit in flips:
        copy = bytearray(good)
        copy[bit // 8] ^= 1 << bit % 8
        damaged.append(bytes(copy))
    refusals = 0
    for module in damaged:
        spec = write(tmp_path, "damaged", module)
        try:
            record = play(play_spec("skysummit", (spec, "random"), clock=FUEL))
        except ValueError:
            refusals += 1
            continue
        assert record["result"]["rated"]
        assert all(verdict["seat"] == 0 for verdict in record["result"]["verdicts"])
    assert refusals >= len(cuts)


# Probes: what a program sees is the same in every run


def probe(turn: str, uses: tuple[str, ...]) -> bytes:
    """A bot that writes 16 bytes at 4096 to its standard error at every turn, and plays on."""
    return program(turn=f"{turn} (call $put (i32.const 2) (i32.const 4096) (i32.const 16)) {MOVE}", uses=uses)


def seen(folder: Path, module: bytes, clock: str = FUEL, seed: int = 1) -> bytes:
    """What a probe wrote in its first turn."""
    spec = write(folder, "probe", module)
    record = play(play_spec("skysummit", (spec, "random"), clock=clock, seed=seed))
    assert record["result"]["verdicts"] == []
    text: str = record["stderr"][0]
    return text.encode().decode("unicode_escape").encode("latin-1")[:16]


CLOCKS = (
    "(drop (call $clock_time_get (i32.const 0) (i64.const 0) (i32.const 4096)))"
    "(drop (call $clock_time_get (i32.const 1) (i64.const 0) (i32.const 4104)))"
)


def test_under_fuel_a_clock_counts_instructions(tmp_path: Path) -> None:
    module = probe(CLOCKS, ("clock_time_get",))
    first, second = struct.unpack("<QQ", seen(tmp_path, module))
    assert 0 < first < second < first + 5000
    assert struct.unpack("<QQ", seen(tmp_path, module)) == (first, second)
    assert seen(tmp_path, module, clock="none") == seen(tmp_path, module, clock="none")


def test_a_wall_clock_starts_at_zero(tmp_path: Path) -> None:
    module = probe(CLOCKS, ("clock_time_get",))
    first, second = struct.unpack("<QQ", seen(tmp_path, module, clock="20s"))
    assert 0 < first <= second < 3600 * 10**9


def test_random_numbers_follow_the_seed(tmp_path: Path) -> None:
    module = probe("(drop (call $random_get (i32.const 4096) (i32.const 16)))", ("random_get",))
    assert seen(tmp_path, module) == seen(tmp_path, module) != seen(tmp_path, module, seed=2)


@pytest.mark.parametrize(
    "number",
    ["f32.div (f32.const 0) (f32.const 0)", "f32.sqrt (f32.const -1)", "f32.sub (f32.const inf) (f32.const inf)"],
)
def test_every_nan_is_the_same(number: str, tmp_path: Path) -> None:
    module = probe(f"(f32.store (i32.const 4096) ({number}))", ())
    assert seen(tmp_path, module)[:4] == struct.pack("<I", 0x7FC00000)


def test_fuel_at_the_limit(tmp_path: Path) -> None:
    """A bot with exactly the fuel that it needs answers; with one instruction less it does not."""
    spec = write(tmp_path, "exact", program(turn=spinning(100_000) + MOVE))
    first = play(play_spec("skysummit", (spec, "random"), clock=FUEL))["turns"][0]
    assert 100_000 < first["fuel"] < 200_000
    enough = play(play_spec("skysummit", (spec, "random"), clock=f"fuel={first['fuel']}"))["turns"][0]
    assert (enough["move"], enough["fuel"]) == (first["move"], first["fuel"])
    short = play(play_spec("skysummit", (spec, "random"), clock=f"fuel={first['fuel'] - 1}"))
    assert short["result"]["verdicts"][0]["cause"] == "timeout"
    assert short["turns"][0]["fuel"] == first["fuel"] - 1
