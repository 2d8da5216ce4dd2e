"""WebAssembly bots as seats: messages, fuel, fresh instances, the cache of compiled modules, exact repetition."""

import gc
import json
import multiprocessing
import os
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

wasmtime = pytest.importorskip("wasmtime")

import ludodrome  # noqa: E402
from ludodrome.arena import records  # noqa: E402
from ludodrome.arena.doctor import examine  # noqa: E402
from ludodrome.arena.doctor.examination import FAILURE, NOTE  # noqa: E402
from ludodrome.arena.game_loop import play  # noqa: E402
from ludodrome.arena.records.format import comparable  # noqa: E402
from ludodrome.arena.records.replay import play_again, rerun  # noqa: E402
from ludodrome.arena.transports import make_seat, wasm_modules  # noqa: E402
from ludodrome.arena.transports.wasm import WasmSeat  # noqa: E402
from ludodrome.arena.transports.wasm_modules import BadModule, compiled  # noqa: E402
from ludodrome.games import make  # noqa: E402
from tests.arena.playing import play_spec  # noqa: E402
from tests.arena.transports.test_zoo import resident  # noqa: E402
from tests.arena.wasm_zoo import MOVE, of_size, program, say, saying, spinning, write  # noqa: E402

FUEL = "fuel=5M"


def played(spec: str, game: str = "skysummit", clock: str = FUEL, **more: Any) -> dict[str, Any]:
    record = play(play_spec(game, (spec, "random"), clock=clock, **more))
    records.verify(record)
    return record


# Messages


def test_a_record_keeps_the_fuel_of_each_turn(tmp_path: Path) -> None:
    record = played(write(tmp_path, "bot", program()))
    assert record["result"]["decided_by"] == "play"
    for entry in record["turns"]:
        assert ("fuel" in entry) == (entry["seat"] == 0)
    assert all(2000 < entry["fuel"] < 5_000_000 for entry in record["turns"] if entry["seat"] == 0)
    without = played(write(tmp_path, "bot", program()), clock="20s")
    assert not [entry for entry in without["turns"] if "fuel" in entry]


@pytest.mark.parametrize("clock", [FUEL, "20s"])
@pytest.mark.parametrize("answers_observe", [False, True])
def test_both_kinds_of_bots_play_where_every_seat_is_asked(answers_observe: bool, clock: str, tmp_path: Path) -> None:
    """The second byte of the type tells observe from over; the answer to observe is no move of the next turn."""
    text = '{"type":"move","move":null}\n'
    answer = say(0, len(text))
    observe = f"(if (i32.eq (i32.load8_u (i32.const {(1 << 16) + 10})) (i32.const 98)) (then {answer}))"
    bot = program(other=observe if answers_observe else "", texts=(text,))
    spec = write(tmp_path, "bot", bot)
    for number in range(4):
        record = played(spec, "dots", clock, seed=number, rows=2, cols=2)
        assert record["result"]["verdicts"] == []


def test_a_refused_move_is_tried_again_with_new_fuel(tmp_path: Path) -> None:
    text = '{"type":"move","move":"nonsense"}\n'
    bot = program(
        turn=f"(if (i32.eqz (i32.and (global.get $count) (i32.const 1))) (then {say(0, len(text))}) (else {MOVE}))",
        texts=(text,),
    )
    record = played(write(tmp_path, "bot", bot), "santorini")
    own = [entry for entry in record["turns"] if entry["seat"] == 0]
    assert record["result"]["verdicts"] == []
    assert all(len(entry["refusals"]) == 1 for entry in own)
    assert play_again(record)[1] == ""


def test_what_a_bot_says_beside_its_move_is_kept(tmp_path: Path) -> None:
    ready, info, log = (
        '{"type":"ready","games":"many"}\n',
        '{"type":"info","depth":3}\n',
        '{"type":"log","text":"hm"}\n',
    )
    bot = program(
        start=say(0, len(ready)), turn=f"{say(1, len(info))} {say(2, len(log))} {MOVE}", texts=(ready, info, log)
    )
    seat = make_seat(write(tmp_path, "bot", bot), make("skysummit"), 1)
    record = play(
        play_spec("skysummit", ("wasm:bot", "random"), clock=FUEL), [seat, make_seat("random", make("skysummit"), 1)]
    )
    assert not seat.capabilities.games_many  # every game gets a fresh instance
    seat.close()
    own = [entry for entry in record["turns"] if entry["seat"] == 0]
    assert {json.dumps(entry["log"]) for entry in own} == {'["hm"]'}
    assert {json.dumps(entry["info"]) for entry in own} == {'[{"depth": 3}]'}


def test_every_game_gets_a_fresh_instance(tmp_path: Path) -> None:
    """The bot aborts at its eighth turn; a game of six turns with the same seat leaves nothing for the next."""
    bot = program(turn=f"(if (i32.eq (global.get $count) (i32.const 7)) (then unreachable)) {MOVE}")
    game = make("dots", rows=1, cols=1)
    seat, other = make_seat(write(tmp_path, "bot", bot), game, 1), make_seat("random", game, 1)
    for number in range(4):
        record = play(play_spec("dots", ("wasm:bot", "random"), seed=number, rows=1, cols=1, clock=FUEL), [seat, other])
        assert record["result"]["verdicts"] == []
    seat.close()


def test_all_traffic_can_be_recorded(tmp_path: Path) -> None:
    bot = program(turn=f"{say(0, 3, 2)} {MOVE}", texts=("hm\n",))
    seat = make_seat(write(tmp_path, "bot", bot), make("skysummit"), 1)
    assert isinstance(seat, WasmSeat)
    lines: list[tuple[str, str]] = []
    seat.record_traffic(lambda direction, text: lines.append((direction, text)))
    play(play_spec("skysummit", ("wasm:bot", "random"), clock=FUEL), [seat, make_seat("random", make("skysummit"), 1)])
    seat.close()
    assert [json.loads(text)["type"] for direction, text in lines[:2] if direction == "to"] == ["hello", "turn"]
    assert ("stderr", "hm\n") in lines
    assert json.loads(next(text for direction, text in lines if direction == "from"))["type"] == "move"


def test_a_bot_that_fails_once_is_substituted_and_goes_on(tmp_path: Path) -> None:
    """It answers no first question, and every later one."""
    bot = program(turn=f"(if (global.get $count) (then {MOVE}))")
    record = played(write(tmp_path, "bot", bot), "dots", "20s")
    assert [(one["cause"], one["turn"]) for one in record["result"]["verdicts"]] == [("timeout", 0)]


def test_a_bot_without_fuel_is_not_asked_again(tmp_path: Path) -> None:
    bot = program(turn=f"(if (i32.eq (global.get $count) (i32.const 2)) (then (loop $l (br $l)))) {MOVE}")
    record = played(write(tmp_path, "bot", bot), "dots")
    verdicts = record["result"]["verdicts"]
    assert {one["cause"] for one in verdicts} == {"timeout"}
    assert record["result"]["decided_by"] == "play"
    assert "fuel of 5000000" in verdicts[0]["why"]


def test_long_lines_of_spaces_arrive(tmp_path: Path) -> None:
    """A board of size 100 in the answer: longer than 64 KB only in decks, and read in pieces."""
    steps = ", ".join(
        f'{{"position": {{"row": {row}, "col": 0}}, "type": "{"piece" if row >= 0 else "final"}", "order": {order}}}'
        for order, row in enumerate(range(99, -2, -1), 1)
    )
    text = f'{{"type": "move", "move": {{"boardSize": 100, "sequence": [{steps}]}}}}\n'
    bot = assemble_with_long_text(text)
    record = played(write(tmp_path, "bot", bot), "spaces", "fuel=100M", size=100, rounds=2, rules="live")
    assert [one for one in record["result"]["verdicts"] if one["seat"] == 0] == []


def assemble_with_long_text(text: str) -> bytes:
    """A bot that answers with a text of any length."""
    place = 3_000_000
    literal = "".join(f"\\{byte:02x}" for byte in text.encode())
    return program(
        turn=f"(call $put (i32.const 1) (i32.const {place}) (i32.const {len(text.encode())}))",
        extra=f'(data (i32.const {place}) "{literal}")',
    )


# Compiled modules


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("LUDODROME_CACHE", str(folder))
    return folder / "wasm"


def test_a_module_is_compiled_once(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compiled(program())
    assert first.parent == fresh_cache
    assert stat.S_IMODE(fresh_cache.stat().st_mode) == 0o700
    assert stat.S_IMODE(first.stat().st_mode) == 0o600

    def compile_again(source: bytes) -> bytes:
        raise AssertionError("it was compiled again")

    monkeypatch.setattr(wasm_modules, "_compile", compile_again)
    monkeypatch.setattr(wasm_modules, "_checked", {})  # as another process
    assert compiled(program()) == first


def test_a_module_of_8_mb_loads_within_a_second_the_second_time(tmp_path: Path) -> None:
    """In another process, which does not compile it. The second is one of processor time: others may use the rest."""
    module = of_size(8 << 20)
    assert len(module) > 8_000_000
    spec = write(tmp_path, "large", module)
    kept = compiled(module)
    program_text = (
        "import sys, time\nfrom ludodrome.arena.transports import make_seat, wasm_modules\n"
        "from ludodrome.arena.game_loop import play\nfrom tests.arena.playing import play_spec\n"
        "play(play_spec('skysummit', clock='fuel=5M'))\n"  # kernels are loaded, and the engine is
        "import ludodrome.arena.transports.wasm\n"
        "wasm_modules._compile = None\n"
        "began = time.process_time()\n"
        "record = play(play_spec('skysummit', (sys.argv[1], 'random'), clock='fuel=5M'))\n"
        "print(time.process_time() - began, len(record['result']['verdicts']))\n"
    )
    try:
        command = [sys.executable, "-c", program_text, spec]
        told = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=True)
    finally:
        kept.unlink()
    seconds, verdicts = told.stdout.split()
    assert verdicts == "0"
    assert float(seconds) < 1


def test_a_damaged_file_of_the_cache_is_made_anew(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compiled(program())
    whole = first.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", whole[:-1] + bytes([whole[-1] ^ 1])):
        first.write_bytes(damaged)
        monkeypatch.setattr(wasm_modules, "_checked", {})
        assert compiled(program()).read_bytes() == whole


def test_the_cache_is_the_users_alone(fresh_cache: Path) -> None:
    fresh_cache.mkdir(parents=True)
    fresh_cache.chmod(0o777)
    with pytest.raises(BadModule, match="other users can write to it: make it yours alone"):
        compiled(program())


def test_the_cache_forgets_what_is_old_or_too_much(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = compiled(program()), compiled(saying("x\n"))
    os.utime(first, (1, 1))
    third = compiled(saying("y\n"))
    assert set(fresh_cache.iterdir()) == {second, third}
    monkeypatch.setattr(wasm_modules, "MAX_CACHE", 1)
    last = compiled(saying("z\n"))
    assert set(fresh_cache.iterdir()) == {last}


def test_without_the_engine_a_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("wasmtime", "ludodrome.arena.transports.wa"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    with pytest.raises(ValueError, match=r"need the package wasmtime: pip install 'ludodrome\[wasm\]'"):
        make_seat(write(tmp_path, "bot", program()), make("skysummit"), 1)


# The same everywhere


def test_a_match_of_programs_and_built_ins_is_repeated_exactly(long: bool, tmp_path: Path) -> None:
    """By another process, while others take the processors; in the long run it gets only what they leave."""
    spec = write(
        tmp_path,
        "bot",
        program(turn=spinning(200_000) + "(call $play (i32.rem_u (global.get $count) (i32.const 3)))"),
    )
    record = play(play_spec("skysummit", (spec, "alphabeta"), clock="fuel=2M", seed=3))
    assert record["result"]["verdicts"] == []
    file = records.write(record, tmp_path)
    program_text = (
        f"import os, sys\nfrom ludodrome.cli import main\nos.nice({19 if long else 1})\n"
        "sys.argv = ['ludodrome', 'rerun', sys.argv[1], '--whole', '--json']\nmain()\n"
    )
    context = multiprocessing.get_context("spawn")
    load = [context.Process(target=_burn, daemon=True) for _ in range(2 if long else 1)]
    for one in load:
        one.start()
    try:
        command = [sys.executable, "-c", program_text, str(file)]
        told = subprocess.run(command, capture_output=True, text=True, check=True)
    finally:
        for one in load:
            one.terminate()
            one.join()
    assert json.loads(told.stdout) == {"same": True, "difference": None, "digest": record["digest"]}


def _burn() -> None:
    while True:
        pass


def test_many_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Eight threads: good bots, bots that trap, and bots that exit."""
    specs = [
        write(tmp_path, "good", program(turn=spinning(500_000) + MOVE)),
        write(
            tmp_path, "trap", program(turn=f"(if (i32.eq (global.get $count) (i32.const 3)) (then unreachable)) {MOVE}")
        ),
        write(
            tmp_path,
            "exit",
            program(
                turn=f"(if (i32.eq (global.get $count) (i32.const 3)) (then (call $proc_exit (i32.const 9)))) {MOVE}",
                uses=("proc_exit",),
            ),
        ),
    ]

    def run(number: int) -> dict[str, Any]:
        return comparable(play(play_spec("skysummit", (specs[number % 3], "random"), clock=FUEL, seed=1)))

    alone = [run(number) for number in range(3)]
    with ThreadPoolExecutor(8) as pool:
        for number, record in enumerate(pool.map(run, range(48))):
            assert record == alone[number % 3]


def test_another_program_is_noticed(tmp_path: Path) -> None:
    spec = write(tmp_path, "bot", program())
    record = played(spec)
    assert [one.same for one in rerun(record, 0)] == [True] * len([e for e in record["turns"] if e["seat"] == 0])
    write(tmp_path, "bot", program(turn=spinning(800) + MOVE))
    assert "turn 0: fuel was" in play_again(record)[1]
    assert not any(one.same for one in rerun(record, 0))
    write(tmp_path, "bot", program(turn="(call $play (i32.const 1))"))
    assert "turn 0: move was" in play_again(record)[1]


def test_thousand_matches_leave_nothing(long: bool, tmp_path: Path) -> None:
    spec = write(tmp_path, "bot", program())
    for _ in range(20):
        play(play_spec("dots", (spec, spec), clock=FUEL, rows=2, cols=2))
    gc.collect()
    before, handles, threads = resident(), len(os.listdir("/proc/self/fd")), threading.active_count()
    for number in range(1000 if long else 100):
        record = play(play_spec("dots", (spec, spec), clock=FUEL, seed=number, rows=2, cols=2))
        assert record["result"]["verdicts"] == []
    gc.collect()
    assert resident() - before < (20 << 20)
    assert len(os.listdir("/proc/self/fd")) == handles
    assert threading.active_count() == threads


# Everything else knows them


def test_matches_take_them(tmp_path: Path) -> None:
    spec = write(tmp_path, "bot", program())
    result = ludodrome.play_match(make("dots", rows=2, cols=2), [spec, "random"], games=4, clock=FUEL, seed=1)
    assert len(result.records) == 4
    with pytest.raises(ValueError, match="is not a WebAssembly bot: it is not a WebAssembly module"):
        ludodrome.play_match("dots", [write(tmp_path, "bad", b"x"), "random"], games=2)


def test_the_doctor_examines_them(tmp_path: Path) -> None:
    spec = write(tmp_path, "bot", program())
    only = ("start", "observe", "fuel", "again", "closing", "noise")
    found = list(examine(make("dots", rows=2, cols=2), spec, tmp_path / "troubles", clock="20s", only=only))
    assert not [one for one in found if one.grade == FAILURE]
    (fuel,) = [one for one in found if one.check == "fuel"]
    assert fuel.grade == NOTE
    assert "instructions on average" in fuel.sentence
    stays = program(other="(loop $l (if (i32.eqz (call $read)) (then (br $l))) (br $l))")
    (left,) = examine(make("dots"), write(tmp_path, "stays", stays), tmp_path / "troubles", only=("closing",))
    assert left.grade == "warning"
    assert "it had not left" in left.sentence
