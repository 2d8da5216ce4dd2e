"""WASI preview 1 for bots: the standard streams, random numbers from a seed, a clock if one is given, and nothing else.

There are no files, no folders and no network. Functions that a bot has no use for answer that it lacks the capability.
No pointer or length that a bot passes reaches beyond its memory, and every call costs fuel.
"""

import ctypes
import hashlib
import struct
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import wasmtime

from ludodrome.arena.transports.wasm_compiler import MEMORY, SIGNATURES, WASI, func_type

OK, BADF, FAULT, INVAL, IO, NOTCAPABLE, SPIPE = 0, 8, 21, 28, 29, 76, 70
"""Error numbers."""
STDIN, STDOUT, STDERR = range(3)
CHARACTER_DEVICE = 2
READ_RIGHT, WRITE_RIGHT, POLL_RIGHT = 1 << 1, 1 << 6, 1 << 27
CALL_FUEL = LINE_FUEL = 1000
"""Instructions that a call of the host counts as, and a line that it writes; each byte that it moves is one more."""
MAX_TRANSFER = 64 * 1024
"""Bytes that one call moves at most. Programs repeat a call that moved fewer than they asked for."""
MAX_VECTORS = 1024
MAX_SUBSCRIPTIONS = 64
CLOCK_SUBSCRIPTION, READ_SUBSCRIPTION, WRITE_SUBSCRIPTION = range(3)
SUBSCRIPTION_BYTES, EVENT_BYTES = 48, 32
MASK32, MASK64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


class WasiFault(Exception):
    """A call that is answered with an error number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class WasiHost(Protocol):
    """What a program is connected to."""

    def read(self, limit: int) -> bytes:
        """Wait for input and return at most ``limit`` bytes of one message; empty at the end of the input."""

    def wait_for_input(self) -> None:
        """Wait until a read would not wait."""

    def write(self, stream: int, data: bytes) -> bool:
        """Take output; False if no more is taken."""

    def now(self) -> int:
        """Nanoseconds since the start, by the clock of this game."""

    def sleep(self, nanoseconds: int) -> None:
        """Let time pass."""

    def exit(self, code: int) -> None:
        """End the program: no instruction of it runs once the call returns."""

    def failed(self, error: Exception) -> None:
        """End the program because of a fault of ours."""

    def charge(self, instructions: int) -> None:
        """Count a call as instructions."""

    @property
    def stopped(self) -> bool:
        """Whether the program is to run no more."""


class GuestMemory:
    """The memory of an instance during one call. Every access is checked."""

    def __init__(self, memory: Any, caller: wasmtime.Caller) -> None:
        self._size = memory.data_len(caller)
        self._base = ctypes.addressof(memory.data_ptr(caller).contents) if self._size else 0

    def check(self, start: int, length: int) -> None:
        """WasiFault unless all of the bytes are inside."""
        if start + length > self._size:
            raise WasiFault(FAULT)

    def read(self, start: int, length: int) -> bytes:
        """A copy of some bytes."""
        self.check(start, length)
        return ctypes.string_at(self._base + start, length) if length else b""

    def write(self, start: int, data: bytes) -> None:
        """Replace some bytes."""
        self.check(start, len(data))
        if data:
            ctypes.memmove(self._base + start, data, len(data))

    def vectors(self, start: int, count: int) -> Iterator[tuple[int, int]]:
        """The buffers of a call, cut to what one call moves."""
        if count > MAX_VECTORS:
            raise WasiFault(INVAL)
        left = MAX_TRANSFER
        for pointer, length in struct.iter_unpack("<II", self.read(start, 8 * count)):
            used = min(left, length)
            self.check(pointer, used)
            if used:
                yield pointer, used
            left -= used


class Wasi:
    """The functions of WASI for one instance."""

    def __init__(self, host: WasiHost, seed: int) -> None:
        self._host = host
        self._seed = seed
        self._random_blocks = 0
        self._open = {STDIN, STDOUT, STDERR}

    def link(self, linker: wasmtime.Linker, module: wasmtime.Module) -> None:
        """Define the functions that a module imports."""
        for imported in module.imports:
            assert imported.name is not None
            linker.allow_shadowing = True
            linker.define_func(WASI, imported.name, func_type(imported.name), self._function(imported.name), True)

    def _function(self, name: str) -> Callable[..., int | None]:
        """A function as the engine calls it: no exception leaves it, and it does nothing once the program is ended."""
        made: Callable[..., int | None] = getattr(self, f"_{name}", self._refuse)
        masks = [MASK32 if kind == "i" else MASK64 for kind in SIGNATURES[name]]
        failed = None if name == "proc_exit" else IO
        host = self._host

        def function(caller: wasmtime.Caller, *values: int) -> int | None:
            if host.stopped:
                return failed
            try:
                host.charge(CALL_FUEL)
                memory = GuestMemory(caller[MEMORY], caller)
                return made(memory, *(value & mask for value, mask in zip(values, masks, strict=True)))
            except WasiFault as fault:
                return fault.number
            except Exception as error:
                host.failed(error)
                return failed

        return function

    def _refuse(self, memory: GuestMemory, *values: int) -> int:
        """Answer that the program lacks the capability."""
        return NOTCAPABLE

    def _check_open(self, descriptor: int) -> None:
        if descriptor not in self._open:
            raise WasiFault(BADF)

    # Arguments and environment: there are none

    def _args_sizes_get(self, memory: GuestMemory, count: int, size: int) -> int:
        memory.write(count, bytes(4))
        memory.write(size, bytes(4))
        return OK

    def _args_get(self, memory: GuestMemory, pointers: int, texts: int) -> int:
        return OK

    _environ_sizes_get = _args_sizes_get
    _environ_get = _args_get

    # Streams

    def _fd_read(self, memory: GuestMemory, descriptor: int, vectors: int, count: int, result: int) -> int:
        self._check_open(descriptor)
        if descriptor != STDIN:
            return NOTCAPABLE
        memory.check(result, 4)
        buffers = list(memory.vectors(vectors, count))
        data = self._host.read(sum(length for _, length in buffers)) if buffers else b""
        if self._host.stopped:
            return IO
        self._host.charge(len(data))
        done = 0
        for start, length in buffers:
            memory.write(start, data[done : done + length])
            done += len(data[done : done + length])
        memory.write(result, struct.pack("<I", done))
        return OK

    def _fd_write(self, memory: GuestMemory, descriptor: int, vectors: int, count: int, result: int) -> int:
        self._check_open(descriptor)
        if descriptor == STDIN:
            return NOTCAPABLE
        memory.check(result, 4)
        data = b"".join(memory.read(start, length) for start, length in memory.vectors(vectors, count))
        self._host.charge(len(data) + LINE_FUEL * data.count(b"\n"))
        if not self._host.write(descriptor, data):
            return IO
        memory.write(result, struct.pack("<I", len(data)))
        return OK

    def _fd_close(self, memory: GuestMemory, descriptor: int) -> int:
        self._check_open(descriptor)
        self._open.discard(descriptor)
        return OK

    def _fd_fdstat_get(self, memory: GuestMemory, descriptor: int, result: int) -> int:
        self._check_open(descriptor)
        rights = POLL_RIGHT | (READ_RIGHT if descriptor == STDIN else WRITE_RIGHT)
        # a character device that cannot seek is a terminal to the C library, which writes line by line then
        memory.write(result, struct.pack("<BxHxxxxQQ", CHARACTER_DEVICE, 0, rights, 0))
        return OK

    def _fd_filestat_get(self, memory: GuestMemory, descriptor: int, result: int) -> int:
        self._check_open(descriptor)
        memory.write(result, struct.pack("<QQBxxxxxxxQQQQQ", 0, 0, CHARACTER_DEVICE, 1, 0, 0, 0, 0))
        return OK

    def _fd_seek(self, memory: GuestMemory, descriptor: int, *values: int) -> int:
        self._check_open(descriptor)
        return SPIPE

    _fd_tell = _fd_seek

    def _fd_sync(self, memory: GuestMemory, descriptor: int) -> int:
        self._check_open(descriptor)
        return OK

    _fd_datasync = _fd_sync

    def _fd_prestat_get(self, memory: GuestMemory, descriptor: int, result: int) -> int:
        return BADF  # there are no folders; the C library asks until it hears this

    # Time and chance

    def _clock_time_get(self, memory: GuestMemory, clock: int, precision: int, result: int) -> int:
        memory.write(result, struct.pack("<Q", self._host.now() & MASK64))
        return OK

    def _clock_res_get(self, memory: GuestMemory, clock: int, result: int) -> int:
        memory.write(result, struct.pack("<Q", 1))
        return OK

    def _random_get(self, memory: GuestMemory, start: int, length: int) -> int:
        if length > MAX_TRANSFER:
            return INVAL
        memory.check(start, length)
        self._host.charge(length)
        data = bytearray()
        while len(data) < length:
            data += hashlib.sha256(f"ludodrome wasi random {self._seed} {self._random_blocks}".encode()).digest()
            self._random_blocks += 1
        memory.write(start, bytes(data[:length]))
        return OK

    def _poll_oneoff(self, memory: GuestMemory, subscriptions: int, events: int, count: int, result: int) -> int:
        """Wait for the first of some events. Input comes before time: else the answer would depend on the machine."""
        if not 0 < count <= MAX_SUBSCRIPTIONS:
            return INVAL
        memory.check(events, EVENT_BYTES * count)
        memory.check(result, 4)
        wanted = []
        data = memory.read(subscriptions, SUBSCRIPTION_BYTES * count)
        for number in range(count):
            fields = struct.unpack_from("<QBxxxxxxxIxxxxQQH", data, SUBSCRIPTION_BYTES * number)
            wanted.append((fields[0], fields[1], fields[2], fields[3], fields[5]))
        ready = self._first_events(wanted)
        if self._host.stopped:
            return IO
        for number, (user_data, kind, error) in enumerate(ready):
            memory.write(
                events + EVENT_BYTES * number, struct.pack("<QHBxxxxxQHxxxxxx", user_data, error, kind, kind > 0, 0)
            )
        memory.write(result, struct.pack("<I", len(ready)))
        return OK

    def _first_events(self, wanted: list[tuple[int, int, int, int, int]]) -> list[tuple[int, int, int]]:
        """The events that come first: user data, kind and error number of each."""
        if any(kind > WRITE_SUBSCRIPTION for _, kind, *_ in wanted):
            raise WasiFault(INVAL)
        streams = {READ_SUBSCRIPTION: {STDIN}, WRITE_SUBSCRIPTION: {STDOUT, STDERR}}
        bad = [
            (user_data, kind, BADF)
            for user_data, kind, descriptor, *_ in wanted
            if kind in streams and descriptor not in streams[kind] & self._open
        ]
        writable = [(user_data, kind, OK) for user_data, kind, *_ in wanted if kind == WRITE_SUBSCRIPTION]
        if bad or writable:
            return bad or writable
        readable = [(user_data, kind, OK) for user_data, kind, *_ in wanted if kind == READ_SUBSCRIPTION]
        if readable:
            self._host.wait_for_input()
            return readable
        now = self._host.now()
        waits = [(max(0, time - now) if flags & 1 else time, user_data) for user_data, _, _, time, flags in wanted]
        self._host.sleep(min(waits)[0])
        return [(user_data, CLOCK_SUBSCRIPTION, OK) for wait, user_data in waits if wait == min(waits)[0]]

    # The end

    def _proc_exit(self, memory: GuestMemory, code: int) -> None:
        self._host.exit(code)

    def _sched_yield(self, memory: GuestMemory) -> int:
        return OK
