"""The best level: bubblewrap. A bot gets namespaces of its own: it sees an interpreter, its files, and nothing else.

Nothing in its world can be written, there is no /proc, no network and no other process. Options travel by a descriptor,
since the command line of the first process shows them. Where we are root, bubblewrap itself runs under a uid of the
pool: root's capabilities and root's freedom from limits do not go along.
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
    links,
    memory_file,
    shown,
)
from ludodrome.arena.sandbox.limits import ResourceLimits

NAME = "bubblewrap"
NOBODY = "65534"
HOME = "/bot"
PRLIMIT, SETPRIV = "/usr/bin/prlimit", "/usr/bin/setpriv"


def program() -> str | None:
    """Where bubblewrap is."""
    return shutil.which("bwrap")


def missing() -> str | None:
    """Why it cannot be tried here; None if it can."""
    if program() is None:
        return "the program bwrap cannot be found (Debian and Ubuntu: apt install bubblewrap)"
    for needed in (PRLIMIT, SETPRIV):
        if not os.path.exists(needed):
            return f"the program {needed} cannot be found (Debian and Ubuntu: apt install util-linux)"
    return None


def launch(files: Files, interpreter: Interpreter, limits: ResourceLimits, user: int | None) -> Launch:
    """How a bot with these files is started."""
    made = Launch([])
    try:
        made.report, writing = os.pipe()
        made.handed.append(writing)
        options = ["--info-fd", str(writing), *_world(interpreter)]
        for name, data in files.items():
            made.handed.append(memory_file(data))
            options += ["--perms", "0444", "--file", str(made.handed[-1]), f"{HOME}/{name}"]
        made.handed.append(memory_file(_filter()))
        options += ["--chdir", HOME, "--remount-ro", "/", "--seccomp", str(made.handed[-1])]
        made.handed.append(memory_file("".join(f"{option}\0" for option in options).encode()))
    except BaseException:
        made.close()
        if made.report is not None:
            os.close(made.report)
        raise
    command = [*limits.command(PRLIMIT), *interpreter.command(f"{HOME}/{MAIN}")]
    made.arguments = [*_dropping(user), program() or "bwrap", "--args", str(made.handed[-1]), "--", *command]
    return made


def _dropping(user: int | None) -> list[str]:
    """The command that gives up root in front of another; a program does it faster than a copy of our process could."""
    return [] if user is None else [SETPRIV, f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"]


_filter = functools.cache(seccomp.program)


def _world(interpreter: Interpreter) -> list[str]:
    """What a bot sees of the machine. Devices are single ones: a whole /dev has terminals and a place to write."""
    options = ["--unshare-all", "--unshare-user", "--disable-userns", "--uid", NOBODY, "--gid", NOBODY]
    options += ["--cap-drop", "ALL", "--die-with-parent", "--new-session", "--hostname", "bot", "--clearenv"]
    for name, value in ENVIRONMENT.items():
        options += ["--setenv", name, value]
    for path in (*shown(interpreter), PRLIMIT):
        options += ["--ro-bind", path, path]
    for link, target in links().items():
        options += ["--symlink", target, link]
    for device in DEVICES:
        options += ["--dev-bind", device, device]
    return options
