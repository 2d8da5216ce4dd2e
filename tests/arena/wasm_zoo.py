"""WebAssembly bots for the tests, good and bad, written as text: no compiler is needed.

``program`` makes a module of what a bot does at its start and when it is asked. The rest is a small library: read a
line, find the first legal move in it, answer.
"""

import random
from functools import cache
from pathlib import Path

import wasmtime

from ludodrome.arena.transports.wasm_compiler import SIGNATURES, WASI

LINE = 1 << 16
"""Where the current line is in memory."""
PAGES = 80
"""Pages of memory: lines of up to five megabytes."""
TEXTS = 1024
"""Where the texts of a program are."""

LIBRARY = r"""
  (func $put (param $stream i32) (param $at i32) (param $length i32)
    (loop $more
      (if (i32.gt_s (local.get $length) (i32.const 0)) (then
        (i32.store (i32.const 0) (local.get $at))
        (i32.store (i32.const 4) (local.get $length))
        (if (call $fd_write (local.get $stream) (i32.const 0) (i32.const 1) (i32.const 8)) (then return))
        (local.set $at (i32.add (local.get $at) (i32.load (i32.const 8))))
        (local.set $length (i32.sub (local.get $length) (i32.load (i32.const 8))))
        (br $more)))))
  (func $read (result i32) (local $got i32)  ;; the length of the next line; 0 at the end
    (loop $more
      (i32.store (i32.const 0) (i32.add (i32.const LINE) (local.get $got)))
      (i32.store (i32.const 4) (i32.const 4096))
      (if (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)) (then (return (i32.const 0))))
      (if (i32.eqz (i32.load (i32.const 8))) (then (return (i32.const 0))))
      (local.set $got (i32.add (local.get $got) (i32.load (i32.const 8))))
      (br_if $more (i32.ne (i32.const 10) (i32.load8_u (i32.add (i32.const 65535) (local.get $got))))))
    (local.get $got))
  (func $find (param $text i32) (param $length i32) (result i32) (local $at i32) (local $k i32)
    ;; the place after a text in the line
    (local.set $at (i32.const LINE))
    (loop $next
      (local.set $k (i32.const 0))
      (block $differs
        (loop $same
          (br_if $differs (i32.ne
            (i32.load8_u (i32.add (local.get $at) (local.get $k)))
            (i32.load8_u (i32.add (local.get $text) (local.get $k)))))
          (local.set $k (i32.add (local.get $k) (i32.const 1)))
          (br_if $same (i32.lt_u (local.get $k) (local.get $length))))
        (return (i32.add (local.get $at) (local.get $length))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next))
    (unreachable))
  (func $value_end (param $at i32) (result i32) (local $depth i32) (local $c i32) (local $quoted i32)
    ;; where a JSON value ends
    (loop $next
      (local.set $c (i32.load8_u (local.get $at)))
      (if (i32.eq (local.get $c) (i32.const 34)) (then (local.set $quoted (i32.xor (local.get $quoted) (i32.const 1)))))
      (if (i32.eqz (local.get $quoted)) (then
        (if (i32.and (i32.eqz (local.get $depth))
              (i32.or (i32.eq (local.get $c) (i32.const 44)) (i32.eq (local.get $c) (i32.const 93))))
          (then (return (local.get $at))))
        (if (i32.or (i32.eq (local.get $c) (i32.const 91)) (i32.eq (local.get $c) (i32.const 123)))
          (then (local.set $depth (i32.add (local.get $depth) (i32.const 1)))))
        (if (i32.or (i32.eq (local.get $c) (i32.const 93)) (i32.eq (local.get $c) (i32.const 125)))
          (then (local.set $depth (i32.sub (local.get $depth) (i32.const 1)))))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next))
    (unreachable))
  (func $skip (param $count i32) (result i32) (local $at i32)  ;; where the legal move of a number begins
    (local.set $at (call $find (i32.const 512) (i32.const 15)))
    (loop $next
      (if (local.get $count) (then
        (local.set $at (i32.add (call $value_end (local.get $at)) (i32.const 1)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next))))
    (local.get $at))
  (func $play (param $number i32) (local $at i32) (local $length i32)  ;; answer with a legal move, as one line
    (local.set $at (call $skip (local.get $number)))
    (local.set $length (i32.sub (call $value_end (local.get $at)) (local.get $at)))
    (memory.copy (i32.const 32768) (i32.const 544) (i32.const 22))
    (memory.copy (i32.const 32790) (local.get $at) (local.get $length))
    (memory.copy (i32.add (i32.const 32790) (local.get $length)) (i32.const 576) (i32.const 2))
    (call $put (i32.const 1) (i32.const 32768) (i32.add (local.get $length) (i32.const 24))))
  (data (i32.const 512) "\"legal_moves\":[")
  (data (i32.const 544) "{\"type\":\"move\",\"move\":")
  (data (i32.const 576) "}\n")
""".replace("LINE", str(LINE))


def imports(*names: str) -> str:
    """Imports of WASI, each named as the function is called."""
    kinds = {"i": "i32", "I": "i64"}
    lines = []
    for name in dict.fromkeys(("fd_read", "fd_write", *names)):
        params = " ".join(kinds[kind] for kind in SIGNATURES[name])
        result = "" if name == "proc_exit" else "(result i32)"
        lines.append(f'  (import "{WASI}" "{name}" (func ${name} (param {params}) {result}))')
    return "\n".join(lines)


def program(
    turn: str = "(call $play (i32.const 0))",
    start: str = "",
    other: str = "",
    uses: tuple[str, ...] = (),
    extra: str = "",
    texts: tuple[str, ...] = (),
) -> bytes:
    """A bot: what it does at its start, at a ``turn`` and at other messages, with ``$count`` turns before.

    ``texts`` are at 1024, 1280, and so on. ``extra`` holds definitions.
    """
    data = "".join(f'  (data (i32.const {TEXTS + 256 * n}) "{escaped(text)}")\n' for n, text in enumerate(texts))
    text = f"""(module
{imports(*uses)}
  (memory (export "memory") {PAGES})
  (global $count (mut i32) (i32.const 0))
{LIBRARY}{data}{extra}
  (func $turn (param $length i32) {turn})
  (func $other (param $length i32) {other})
  (func (export "_start") (local $length i32)
    {start}
    (loop $next
      (local.set $length (call $read))
      (if (i32.eqz (local.get $length)) (then return))
      (if (i32.eq (i32.load8_u (i32.const {LINE + 9})) (i32.const 116))
        (then (call $turn (local.get $length)) (global.set $count (i32.add (global.get $count) (i32.const 1))))
        (else (call $other (local.get $length))))
      (br $next))))"""
    return assemble(text)


@cache
def assemble(text: str) -> bytes:
    """A module of its text."""
    return bytes(wasmtime.wat2wasm(text))


def escaped(text: str) -> str:
    """A text as a literal."""
    return "".join(f"\\{byte:02x}" for byte in text.encode("utf-8", "surrogateescape"))


def say(text_number: int, length: int, stream: int = 1) -> str:
    """Write a text of the program."""
    return f"(call $put (i32.const {stream}) (i32.const {TEXTS + 256 * text_number}) (i32.const {length}))"


def saying(text: str, stream: int = 1) -> bytes:
    """A bot that answers with a text."""
    return program(turn=say(0, len(text.encode("utf-8", "surrogateescape")), stream), texts=(text,))


def spinning(instructions: int) -> str:
    """Instructions that take some fuel: a loop, eight instructions a time."""
    return f"""(local $i i32) (loop $spin
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $spin (i32.lt_u (local.get $i) (i32.const {instructions // 8}))))"""


def of_size(size: int) -> bytes:
    """A bot of about this many bytes, most of them functions that it does not call."""
    rng = random.Random(1)
    constant = "(i64.const {})"

    def function() -> str:
        steps = (
            f"(local.set 0 (i64.xor (i64.mul (local.get 0) {constant.format(rng.getrandbits(62))})"
            f" {constant.format(rng.getrandbits(62))}))"
            for _ in range(400)
        )
        return f"(func (param i64) (result i64) {' '.join(steps)} (local.get 0))"

    return program(extra="".join(function() for _ in range(size // 10_400)))


FOREVER = "(loop $forever (br $forever))"
MOVE = "(call $play (i32.const 0))"


def write(folder: Path, name: str, module: bytes) -> str:
    """Write a module into a folder; returns its spec."""
    path = folder / f"{name}.wasm"
    path.write_bytes(module)
    return f"wasm:{path}"
