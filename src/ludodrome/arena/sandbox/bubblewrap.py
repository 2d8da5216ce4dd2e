"""The best level: bubblewrap. A bot gets its own namespaces and sees an interpreter, its files, and nothing else.

Nothing there can be written; there is no /proc, no network and no other process. Options travel through a descriptor,
because the command line of the first process is visible. As root, bubblewrap itself runs under a uid of the pool, so
that root's capabilities and exemptions from limits do not apply.
"""

import functools
import os
import shutil

from ludodrome.arena.sandbox import seccomp
from ludodrome.arena.sandbox.boxes import (
    DEVICES,
    ENVIRONMENT,
    MAIN,
    Files,
    Interpreter,
    Launch,
    ResourceLimits,
    links,
    memory_file,
    shown,
)

NAME = "bubblewrap"
NOBODY = "65534"
HOME = "/bot"
PRLIMIT, SETPRIV = "/usr/bin/prlimit", "/usr/bin/setpriv"
PROGRAMS = (PRLIMIT,)


def program() -> str | None:
    """The path of bubblewrap."""
    return shutil.which("bwrap")


def missing() -> str | None:
    """Why bubblewrap cannot be tried here; None if it can."""
    if program() is None:
        return "the program bwrap cannot be found (Debian and Ubuntu: apt install bubblewrap)"
    for needed in (PRLIMIT, SETPRIV):
        if not os.path.exists(needed):
            return f"the program {needed} cannot be found (Debian and Ubuntu: apt install util-linux)"
    return None


def launch(files: Files, interpreter: Interpreter, limits: ResourceLimits, user: int | None) -> Launch:
    """How to start a bot with these files."""
    made = Launch([])
    try:
        made.report, writing = os.pipe()
        made.descriptors.append(writing)
        options = ["--info-fd", str(writing), *_world(interpreter)]
        for name, data in files.items():
            made.descriptors.append(memory_file(data))
            options += ["--perms", "0444", "--file", str(made.descriptors[-1]), f"{HOME}/{name}"]
        made.descriptors.append(memory_file(_filter()))
        options += ["--chdir", HOME, "--remount-ro", "/", "--seccomp", str(made.descriptors[-1])]
        made.descriptors.append(memory_file("".join(f"{option}\0" for option in options).encode()))
    except BaseException:
        made.close()
        if made.report is not None:
            os.close(made.report)
        raise
    command = [*limits.command(PRLIMIT), *interpreter.command(f"{HOME}/{MAIN}")]
    made.arguments = [*_dropping(user), program() or "bwrap", "--args", str(made.descriptors[-1]), "--", *command]
    return made


def _dropping(user: int | None) -> list[str]:
    """A command prefix that gives up root; a program is faster than ``preexec_fn``."""
    return [] if user is None else [SETPRIV, f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"]


_filter = functools.cache(seccomp.program)


def _world(interpreter: Interpreter) -> list[str]:
    """The options that build the bot's view of the machine. A whole /dev would have terminals and writable places."""
    options = ["--unshare-all", "--unshare-user", "--disable-userns", "--uid", NOBODY, "--gid", NOBODY]
    options += ["--cap-drop", "ALL", "--die-with-parent", "--new-session", "--hostname", "bot", "--clearenv"]
    for name, value in ENVIRONMENT.items():
        options += ["--setenv", name, value]
    for path in shown(interpreter, PROGRAMS):
        options += ["--ro-bind", path, path]
    for link, target in links().items():
        options += ["--symlink", target, link]
    for device in DEVICES:
        options += ["--dev-bind", device, device]
    return options
