"""Compiled WebAssembly modules: check a file, compile it once in a child process with limits, keep it on disk.

The cache holds machine code that runs in this process, so its folder belongs to the user alone. A file is named by the
hash of its source, of the engine and its settings, and by the hash of its own contents, which is checked once a
process.
"""

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import stat
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from ludodrome.atomic_io import write_whole
from ludodrome.kernel_cache import KEPT_DAYS, OTHERS_WRITE, cache_root

MAX_MODULE = 64 << 20
"""Bytes of a module. Uploads have a limit of their own."""
COMPILE_MEMORY = 4 << 30
COMPILE_CPU_SECONDS = 120
COMPILE_SECONDS = 180.0
"""Limits of the compiler, in bytes, CPU seconds and seconds."""
MAX_CACHE = 1 << 30
"""Bytes of all compiled modules that are kept."""
PREFIX = b"\0asm"
CORE, COMPONENT = b"\x01\0\0\0", b"\x0d\0\x01\0"
"""The versions of a module and of a component, after the prefix."""
SUFFIX = ".cwasm"
MISSING = "WebAssembly bots need the package wasmtime: pip install 'ludodrome[wasm]'"
_COMPILER = Path(__file__).with_name("wasm_compiler.py")
_checked: dict[Path, tuple[int, int]] = {}
"""Compiled modules whose contents this process has checked: inode and size. They are replaced, never changed."""


class BadModule(ValueError):
    """A file is not a WebAssembly bot; the sentence says why."""


def is_installed() -> bool:
    """Whether the engine is installed."""
    return importlib.util.find_spec("wasmtime") is not None


def check_module(source: bytes, limit: int = MAX_MODULE) -> None:
    """Check size and first bytes of a module; BadModule says what is wrong. The compiler checks the rest."""
    if len(source) > limit:
        raise BadModule(f"a WebAssembly module has at most {limit} bytes here, and this one has {len(source)}")
    if source[:4] != PREFIX:
        raise BadModule("it is not a WebAssembly module: its first bytes are not 00 61 73 6d")
    if source[4:8] == COMPONENT:
        raise BadModule("it is a WebAssembly component; build for WASI preview 1 (wasm32-wasip1), not preview 2")
    if source[4:8] != CORE:
        raise BadModule(f"it has version {source[4:8].hex(' ') or 'nothing'} of WebAssembly, not 01 00 00 00")


def read_module(path: Path) -> bytes:
    """The bytes of a module's file; BadModule if it cannot be one."""
    try:
        with open(path, "rb") as file:
            source = file.read(MAX_MODULE + 1)
    except OSError as error:
        raise BadModule(f"the module {path} cannot be read: {error.strerror}") from error
    check_module(source)
    return source


def compiled(source: bytes) -> Path:
    """The compiled form of a module as a file of the cache; compiles it if it is not there.

    BadModule if it is not a bot, or cannot be compiled within the limits; OSError if nothing can be written.
    """
    if not is_installed():
        raise BadModule(MISSING)
    check_module(source)
    folder, key = _folder(), module_key(source)
    for found in folder.glob(f"{key}-*{SUFFIX}"):
        if _is_intact(found):
            with suppress(OSError):
                os.utime(found)
            return found
        found.unlink(missing_ok=True)
    artifact = _compile(source)
    path = folder / f"{key}-{_hash(artifact)}{SUFFIX}"
    write_whole(path, artifact, mode=0o600)
    _evict(folder, path)
    return path


def module_key(source: bytes) -> str:
    """A hash of a module, and of what it is compiled with."""
    return hashlib.sha256(f"{_engine_key()} {hashlib.sha256(source).hexdigest()}".encode()).hexdigest()[:40]


@cache
def _engine_key() -> str:
    """The engine, its settings (those in the source of the compiler) and this machine."""
    version = importlib.metadata.version("wasmtime")
    return f"{version} {platform.machine()} {sys.platform} {hashlib.sha256(_COMPILER.read_bytes()).hexdigest()}"


def _hash(artifact: bytes) -> str:
    return hashlib.sha256(artifact).hexdigest()


def _folder() -> Path:
    """The folder of compiled modules, which only this user can write."""
    folder = cache_root() / "wasm"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    owned = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    if not stat.S_ISDIR(found.st_mode) or not owned or found.st_mode & OTHERS_WRITE:
        raise BadModule(f"{folder} holds compiled modules, and other users can write to it: make it yours alone")
    return folder


def _is_intact(path: Path) -> bool:
    """Whether a compiled module has the contents that its name says."""
    try:
        found = path.stat()
        mark = (found.st_ino, found.st_size)
        if _checked.get(path) == mark:
            return True
        if path.stem.rpartition("-")[2] != _hash(path.read_bytes()):
            return False
    except OSError:
        return False
    _checked[path] = mark
    return True


def _compile(source: bytes) -> bytes:
    """Compile a module in a child process with limits."""
    command = [sys.executable, "-I", str(_COMPILER), str(COMPILE_MEMORY), str(COMPILE_CPU_SECONDS)]
    try:
        made = subprocess.run(command, input=source, capture_output=True, timeout=COMPILE_SECONDS, check=False, env={})
    except subprocess.TimeoutExpired:
        raise BadModule(f"it takes longer than {COMPILE_SECONDS:.0f} seconds to compile") from None
    head, _, artifact = made.stdout.partition(b"\n")
    try:
        told = json.loads(head)
    except ValueError:
        limits = f"{COMPILE_MEMORY >> 20} MB and {COMPILE_CPU_SECONDS} CPU seconds"
        raise BadModule(f"it cannot be compiled within {limits}") from None
    if told["error"]:
        raise BadModule(told["error"])
    if made.returncode or len(artifact) != told["size"]:
        raise BadModule("the compiler ended before it was done")
    return artifact


def _evict(folder: Path, kept: Path) -> None:
    """Remove modules that were not used for a month, and the oldest beyond the size of the cache."""
    files = []
    for path in folder.glob(f"*{SUFFIX}"):
        with suppress(OSError):
            found = path.stat()
            files.append((found.st_mtime, found.st_size, path))
    total = sum(size for _, size, _ in files)
    for used, size, path in sorted(files):
        if path != kept and (total > MAX_CACHE or used < time.time() - KEPT_DAYS * 86400):
            with suppress(OSError):
                path.unlink()
                total -= size
