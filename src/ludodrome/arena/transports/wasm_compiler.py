"""The settings of the WebAssembly engine, the imports that a module may have, and the program that compiles modules.

``wasm_modules.py`` runs this file as a child process with limits, because a hostile module can make a compiler slow or
large. The file imports nothing of this package, so that the child starts quickly.
"""

import json
import sys
from typing import Any

import wasmtime

try:
    import resource as _resource
except ImportError:  # only Unix has it
    _resource = None  # type: ignore[assignment]

resource: Any = _resource

STACK_BYTES = 1 << 20
"""The stack of an instance."""
SETTINGS: dict[str, Any] = {
    "consume_fuel": True,
    "epoch_interruption": True,
    "cranelift_nan_canonicalization": True,
    "max_wasm_stack": STACK_BYTES,
    "wasm_threads": False,
    "wasm_relaxed_simd": False,
    "wasm_memory64": False,
    "wasm_multi_memory": False,
    "wasm_custom_page_sizes": False,
    "wasm_wide_arithmetic": False,
    "wasm_stack_switching": False,
    "wasm_function_references": False,
    "wasm_gc": False,
    "wasm_exceptions": False,
    "memory_init_cow": False,
}
"""What makes a program run alike on every machine and stop on demand, and no feature that a bot does not need."""

WASI = "wasi_snapshot_preview1"
"""The module of all imports."""
SIGNATURES = {
    "args_get": "ii",
    "args_sizes_get": "ii",
    "clock_res_get": "ii",
    "clock_time_get": "iIi",
    "environ_get": "ii",
    "environ_sizes_get": "ii",
    "fd_advise": "iIIi",
    "fd_allocate": "iII",
    "fd_close": "i",
    "fd_datasync": "i",
    "fd_fdstat_get": "ii",
    "fd_fdstat_set_flags": "ii",
    "fd_fdstat_set_rights": "iII",
    "fd_filestat_get": "ii",
    "fd_filestat_set_size": "iI",
    "fd_filestat_set_times": "iIIi",
    "fd_pread": "iiiIi",
    "fd_prestat_dir_name": "iii",
    "fd_prestat_get": "ii",
    "fd_pwrite": "iiiIi",
    "fd_read": "iiii",
    "fd_readdir": "iiiIi",
    "fd_renumber": "ii",
    "fd_seek": "iIii",
    "fd_sync": "i",
    "fd_tell": "ii",
    "fd_write": "iiii",
    "path_create_directory": "iii",
    "path_filestat_get": "iiiii",
    "path_filestat_set_times": "iiiiIIi",
    "path_link": "iiiiiii",
    "path_open": "iiiiiIIii",
    "path_readlink": "iiiiii",
    "path_remove_directory": "iii",
    "path_rename": "iiiiii",
    "path_symlink": "iiiii",
    "path_unlink_file": "iii",
    "poll_oneoff": "iiii",
    "proc_exit": "i",
    "proc_raise": "i",
    "random_get": "ii",
    "sched_yield": "",
    "sock_accept": "iii",
    "sock_recv": "iiiiii",
    "sock_send": "iiiii",
    "sock_shutdown": "ii",
}
"""The functions of WASI preview 1 and their parameters, ``i`` for i32 and ``I`` for i64. All but ``proc_exit``, which
does not return, have an error number as their result."""
_TYPES = {"i": "i32", "I": "i64"}
START, MEMORY = "_start", "memory"
"""The exports that a program has."""


def new_engine() -> wasmtime.Engine:
    """An engine with our settings."""
    config = wasmtime.Config()
    for name, value in SETTINGS.items():
        setattr(config, name, value)
    return wasmtime.Engine(config)


def func_type(name: str) -> wasmtime.FuncType:
    """The type of a function of WASI."""
    kinds = {"i": wasmtime.ValType.i32, "I": wasmtime.ValType.i64}
    results = [] if name == "proc_exit" else [wasmtime.ValType.i32()]
    return wasmtime.FuncType([kinds[kind]() for kind in SIGNATURES[name]], results)


def why_not_a_bot(module: wasmtime.Module) -> str:
    """Why a module cannot be a bot, as a sentence; empty if it can."""
    for imported in module.imports:
        name = ascii(f"{imported.module[:80]}.{(imported.name or '')[:80]}")
        if imported.module != WASI or imported.name not in SIGNATURES:
            return f"it imports {name}, and a bot may import functions of {WASI} (WASI preview 1) only"
        found, right = imported.type, func_type(imported.name)
        if not isinstance(found, wasmtime.FuncType) or _shape(found) != _shape(right):
            return f"it imports {name} with another type than WASI preview 1 gives it"
    exports = {one.name: one.type for one in module.exports}
    start = exports.get(START)
    if not isinstance(start, wasmtime.FuncType) or _shape(start) != ([], []):
        return f"it exports no function {START} without parameters and results: build a program, not a library"
    if not isinstance(exports.get(MEMORY), wasmtime.MemoryType):
        return f"it exports no memory named {MEMORY}"
    return ""


def _shape(func: wasmtime.FuncType) -> tuple[list[str], list[str]]:
    return [str(one) for one in func.params], [str(one) for one in func.results]


# The child process: ``python wasm_compiler.py MEMORY SECONDS``
#
# Its standard input is a module. Its standard output is a line of JSON, and the compiled module if there is no error.


def main() -> None:
    """Compile the module on the standard input, within limits of memory (bytes) and CPU seconds."""
    memory, seconds = int(sys.argv[1]), int(sys.argv[2])
    if resource is not None:
        for name, most in (("RLIMIT_AS", memory), ("RLIMIT_CPU", seconds), ("RLIMIT_CORE", 0), ("RLIMIT_FSIZE", 0)):
            resource.setrlimit(getattr(resource, name), (most, most))
    source = sys.stdin.buffer.read()
    artifact = b""
    try:
        module = wasmtime.Module(new_engine(), source)
        error = why_not_a_bot(module)
        if not error:
            artifact = bytes(module.serialize())
    except wasmtime.WasmtimeError as wrong:
        error = f"it is not a valid module: {_short(str(wrong))}"
    sys.stdout.buffer.write(json.dumps({"error": error, "size": len(artifact)}).encode() + b"\n" + artifact)
    sys.stdout.buffer.flush()


def _short(message: str) -> str:
    """The cause at the end of an error message, on one line."""
    lines = [line.strip() for line in message.splitlines() if line.strip() and line.strip() != "Caused by:"]
    reason = lines[-1].removeprefix("0: ") if lines else "no reason is known"
    return "".join(letter if letter.isprintable() else "?" for letter in reason[:300])


if __name__ == "__main__":
    main()
