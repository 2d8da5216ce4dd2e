"""One running WebAssembly program: a thread of its own, its input, its fuel and its end.

The program and the arena alternate. The thread waits inside the program's call that reads, so nothing that the program
sees depends on when a message arrives: a read returns bytes of one message, and each message brings its own fuel. Fuel
counts instructions. Without a clock of its own a program sees one that goes forward a nanosecond an instruction.
"""

import atexit
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import wasmtime

from ludodrome.arena.seats import ARENA, CRASH, TIMEOUT, SeatFault, Traffic
from ludodrome.arena.transports.wasi import IO, STDERR, Wasi, WasiFault
from ludodrome.arena.transports.wasm_compiler import START, new_engine

MAX_MEMORY = 256 << 20
"""Bytes of a program's memory."""
MAX_TABLE = 100_000
"""Entries of all tables."""
MAX_TABLES = 8
UNLIMITED = 1 << 62
"""Fuel that never runs out."""
MAX_STDERR = 64 * 1024
STOP_SECONDS = 10.0
"""A program that is interrupted ends at its next branch; this much later something is wrong with the engine."""

_TRAPS = {
    wasmtime.TrapCode.STACK_OVERFLOW: "its stack overflowed",
    wasmtime.TrapCode.MEMORY_OUT_OF_BOUNDS: "it accessed memory that it does not have",
    wasmtime.TrapCode.TABLE_OUT_OF_BOUNDS: "it accessed an entry that its table does not have",
    wasmtime.TrapCode.INDIRECT_CALL_TO_NULL: "it called an empty entry of its table",
    wasmtime.TrapCode.BAD_SIGNATURE: "it called a function by a wrong type",
    wasmtime.TrapCode.INTEGER_OVERFLOW: "an integer overflowed in a division",
    wasmtime.TrapCode.INTEGER_DIVISION_BY_ZERO: "it divided by zero",
    wasmtime.TrapCode.BAD_CONVERSION_TO_INTEGER: "it converted a number that no integer holds",
    wasmtime.TrapCode.UNREACHABLE: "it aborted (unreachable)",
}


@dataclass(frozen=True, slots=True)
class GuestEnd:
    """Why a program ended: a cause of a verdict and a sentence, which is the same on every machine."""

    cause: str
    why: str
    code: int | None = None
    """Its exit code, if it exited."""


_running: "weakref.WeakSet[Guest]" = weakref.WeakSet()


class Guest:
    """A program that runs. ``changed`` guards everything; it is notified when the program waits, speaks or ends."""

    def __init__(
        self, artifact: Path, seed: int, fuel: int | None, timed: bool, heard: Callable[[bytes], bool]
    ) -> None:
        self.changed = threading.Condition()
        self.idle = False
        """Whether the program waits for a message and there is none."""
        self.end: GuestEnd | None = None
        """Why it has ended, or will at its next instruction."""
        self.ended = False
        """Whether its thread is done."""
        self.stderr = bytearray()
        self.traffic: Traffic | None = None
        """Takes its standard error as it is written."""
        self._artifact = artifact
        self._heard = heard
        """Takes its output; False if it takes no more."""
        self.timed = timed
        """Whether the program sees the real time."""
        self._inbox: deque[tuple[bytes, int | None]] = deque()
        self._line = b""
        """What is left of the message that is being read."""
        self._input_ended = False
        self._last_fuel: int | None = None
        """Fuel that comes with the end of the input."""
        self._used: int | None = None
        """The instructions since the last message, once the program has ended."""
        self._budget = UNLIMITED if fuel is None else fuel
        self._limit = fuel
        self._elapsed = 0
        """Nanoseconds of the program's own clock until the last message."""
        self._began = time.monotonic_ns()
        self._engine = new_engine()
        self._store = wasmtime.Store(self._engine)
        self._wasi = Wasi(self, seed)
        self._thread = threading.Thread(target=self._run, name="wasm-guest", daemon=True)
        _running.add(self)
        self._thread.start()

    # For the seat, which holds ``changed``

    def deliver(self, line: bytes, fuel: int | None) -> None:
        """Pass on a message; the program has this much fuel from the moment it reads it, None without a limit."""
        self._inbox.append((line, fuel))
        self.idle = False
        self.changed.notify_all()

    def end_input(self, fuel: int) -> None:
        """Let the program read the end of its input, with fuel to finish."""
        self._input_ended = True
        self._last_fuel = fuel
        self.changed.notify_all()

    def stop(self) -> None:
        """End the program at its next branch or call, and wait until it has ended. Can be called twice.

        The caller does not hold ``changed``.
        """
        if self not in _running:
            return
        with self.changed:
            if self.end is None:
                self.end, self._used = GuestEnd(TIMEOUT, "it was stopped"), 0
            self.changed.notify_all()
        self._engine.increment_epoch()
        self._thread.join(STOP_SECONDS)
        if self._thread.is_alive():
            raise RuntimeError("a WebAssembly program did not stop")
        _running.discard(self)
        for one in (self._store, self._engine):
            one.close()

    # The thread

    def _run(self) -> None:
        try:
            end = self._execute()
        except BaseException as error:  # a fault of the engine or of this module
            end = GuestEnd(ARENA, f"the WebAssembly engine failed: {type(error).__name__}: {error}")
        with self.changed:
            self._finish(end)
            self.ended, self.idle = True, False
            self.changed.notify_all()

    def used(self) -> int:
        """The instructions since the last message. Only while the program is in a call, waits or has ended."""
        return self._budget - self._store.get_fuel() if self._used is None else self._used

    def _execute(self) -> GuestEnd:
        store = self._store
        store.set_fuel(self._budget)
        store.set_epoch_deadline(1)
        store.set_limits(MAX_MEMORY, MAX_TABLE, 1, MAX_TABLES, 1)
        with (
            wasmtime.Module.deserialize_file(self._engine, str(self._artifact)) as module,
            wasmtime.Linker(self._engine) as linker,
        ):
            self._wasi.link(linker, module)
            try:
                instance = linker.instantiate(store, module)
                start = instance.exports(store)[START]
                assert isinstance(start, wasmtime.Func)
                start(store)
            except wasmtime.Trap as trap:
                with trap.with_traceback(None):  # it holds the module; a frame of its own traceback holds it
                    return self._trapped(trap)
            except wasmtime.WasmtimeError as error:
                with error.with_traceback(None):
                    reason = [line.strip() for line in str(error).splitlines() if line.strip()][-1]
                    return GuestEnd(CRASH, f"it could not be started: {reason}")
        return GuestEnd(CRASH, "it exited with code 0", 0)

    def _trapped(self, trap: wasmtime.Trap) -> GuestEnd:
        code = trap.trap_code
        if code is wasmtime.TrapCode.OUT_OF_FUEL:
            return GuestEnd(TIMEOUT, SeatFault.out_of_fuel(self._limit or 0).why)
        if code is wasmtime.TrapCode.INTERRUPT:
            return GuestEnd(TIMEOUT, "it was stopped")
        return GuestEnd(CRASH, _TRAPS.get(code, "it broke a rule of WebAssembly") if code else "it broke")

    def _finish(self, end: GuestEnd) -> None:
        """Keep the first reason, and the instructions until then."""
        if self.end is None:
            self._used = self._budget - self._store.get_fuel() if end.cause != ARENA else 0
            self.end = end

    # The program's calls (``WasiHost``), in its thread

    @property
    def stopped(self) -> bool:
        """Whether the program is to run no more."""
        return self.end is not None

    def charge(self, instructions: int) -> None:
        """Count a call as instructions."""
        left = self._store.get_fuel()
        self._store.set_fuel(max(0, left - instructions))
        if left < instructions:
            raise WasiFault(IO)

    def read(self, limit: int) -> bytes:
        """Wait for input and return at most ``limit`` bytes of one message."""
        self.wait_for_input()
        data, self._line = self._line[:limit], self._line[limit:]
        return data

    def wait_for_input(self) -> None:
        """Wait until there is a message to read, or the input ends."""
        if self._line:
            return
        with self.changed:
            while not (self._inbox or self._input_ended or self.stopped):
                self.idle = True
                self.changed.notify_all()
                self.changed.wait()
            self.idle = False
            if self.stopped:
                self._store.set_fuel(0)
            elif self._inbox:
                self._line, fuel = self._inbox.popleft()
                self._refuel(fuel)
            elif self._last_fuel is not None:
                self._refuel(self._last_fuel)
                self._last_fuel = None

    def _refuel(self, fuel: int | None) -> None:
        self._elapsed += self.used()
        self._limit = fuel
        self._budget = UNLIMITED if fuel is None else fuel
        self._store.set_fuel(self._budget)

    def write(self, stream: int, data: bytes) -> bool:
        """Take output."""
        if stream == STDERR:
            self.stderr += data[: max(0, MAX_STDERR - len(self.stderr))]
            if (traffic := self.traffic) is not None:
                traffic("stderr", data.decode("utf-8", "backslashreplace"))
            return True
        with self.changed:
            return self._heard(data)

    def now(self) -> int:
        """Nanoseconds since the start: the real ones, or one for each instruction."""
        return time.monotonic_ns() - self._began if self.timed else self._elapsed + self.used()

    def sleep(self, nanoseconds: int) -> None:
        """Let time pass: wait if the time is real."""
        if not self.timed:
            self._elapsed += nanoseconds
            return
        until = time.monotonic() + min(nanoseconds / 1e9, threading.TIMEOUT_MAX / 2)
        with self.changed:
            while not self.stopped and (left := until - time.monotonic()) > 0:
                self.changed.wait(left)

    def exit(self, code: int) -> None:
        """End the program."""
        self._quit(GuestEnd(CRASH, f"it exited with code {code}", code))

    def failed(self, error: Exception) -> None:
        """End the program because of a fault of ours."""
        self._quit(GuestEnd(ARENA, f"a call of the arena failed: {type(error).__name__}: {error}"))

    def _quit(self, end: GuestEnd) -> None:
        """End the program by taking its fuel.

        An exception would not do: the engine's package keeps the last one of all threads in one place.
        """
        with self.changed:
            self._finish(end)
        self._store.set_fuel(0)


@atexit.register
def _stop_all() -> None:
    """Stop what runs before the interpreter ends: a thread must not be in the engine then."""
    for guest in list(_running):
        guest.stop()
