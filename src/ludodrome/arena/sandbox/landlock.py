"""The second level: Landlock, the seccomp filter, rlimits, and a separate uid, which needs root.

A bot shares the machine's files and processes, but can open only its interpreter and its files, and can signal nobody.
It can still ask whether a path exists. ``landlock_launcher.py`` sets it up.
"""

import ctypes
import functools
import json
import os
from pathlib import Path

from ludodrome.arena.sandbox import landlock_launcher, seccomp
from ludodrome.arena.sandbox.boxes import (
    DEVICES,
    ENVIRONMENT,
    MAIN,
    Files,
    Interpreter,
    Launch,
    ResourceLimits,
    listable,
    memory_file,
    shown,
)
from ludodrome.arena.sandbox.uid_pool import folder_of

NAME = "landlock"
PROGRAMS: tuple[str, ...] = ()


def missing() -> str | None:
    """Why Landlock cannot be tried here; None if it can."""
    if os.geteuid() != 0:
        return "it needs root, to give every bot a uid of its own"
    if landlock_launcher.version(ctypes.CDLL(None, use_errno=True)) < 1:
        return "this kernel has no Landlock, or it is switched off"
    return None


def launch(files: Files, interpreter: Interpreter, limits: ResourceLimits, user: int | None) -> Launch:
    """How to start a bot with these files, which are copied to a folder that only its uid can read."""
    assert user is not None, "without root there is no uid to run under"
    readable = shown(interpreter, PROGRAMS)
    folder = folder_of(user)
    made = Launch([], folder=folder)
    _write(files, folder, user)
    order = {
        "parent": os.getpid(),
        "uid": user,
        "folder": str(folder),
        "readable": [*readable, str(folder)],
        "listable": listable(interpreter),
        "runnable": [interpreter.path, *_loaders()],
        "devices": list(DEVICES),
        "limits": limits.values(),
        "filter": _filter().hex(),
        "command": interpreter.command(str(folder / MAIN)),
        "environment": ENVIRONMENT,
    }
    made.descriptors.append(memory_file(json.dumps(order).encode()))
    made.arguments = [interpreter.path, "-ISB", str(Path(landlock_launcher.__file__)), str(made.descriptors[0])]
    return made


_filter = functools.cache(seccomp.program)


def _write(files: Files, folder: Path, user: int) -> None:
    folders = {folder}
    for name in files:
        folders.update(one for one in (folder / name).parents if one.is_relative_to(folder))
    for one in sorted(folders):
        one.mkdir(mode=0o700)
        os.chown(one, -1, user)
        one.chmod(0o750)
    for name, data in files.items():
        path = folder / name
        path.write_bytes(data)
        os.chown(path, -1, user)
        path.chmod(0o440)


def _loaders() -> list[str]:
    """The dynamic loaders, which the kernel runs to start a program."""
    return [str(path.resolve()) for folder in ("/lib", "/lib64") for path in Path(folder).glob("ld-linux*.so.*")]
