"""The sandbox: run bots that strangers wrote. Only Linux can do it; elsewhere the level is ``none``.

``level()`` is the level in force here; ``seat`` makes a seat for a bot under it. docs/explanation/sandbox.md says what
holds and what was tried.
"""

import sys
from pathlib import Path

from ludodrome.arena.messages import MAX_LINE
from ludodrome.arena.sandbox import levels
from ludodrome.arena.sandbox.boxes import Box, BoxedSeat, Interpreter, ResourceLimits, read_folder
from ludodrome.arena.sandbox.levels import BACKENDS, NONE, NoSandbox, SandboxLevel

__all__ = ["NoSandbox", "SandboxLevel", "box", "level", "seat"]


def level(refresh: bool = False) -> SandboxLevel:
    """The level in force, found by real attacks and cached for some hours; ``refresh``: attack again."""
    if sys.platform != "linux":
        return SandboxLevel(NONE, (f"only Linux can run a sandbox, and this is {sys.platform}",))
    return levels.level(refresh)


def box(source: Path, limits: ResourceLimits | None = None) -> Box:
    """The box for a bot under the level in force. ``source``: a folder with a main.py, or a single Python file.

    NoSandbox if no level holds, ValueError if there is no such bot.
    """
    found = level()
    if not found.holds:
        raise NoSandbox(found.sentence)
    interpreter = Interpreter(found.interpreter, found.python, found.numpy, found.paths)
    chosen = limits or ResourceLimits()
    return Box(BACKENDS[found.name], interpreter, chosen, read_folder(source), found.group_limits(chosen))


def seat(
    source: Path,
    name: str = "",
    longest_line: int = MAX_LINE,
    limits: ResourceLimits | None = None,
    tolerant: bool = False,
) -> BoxedSeat:
    """A seat for a program in a box that speaks the bot protocol on stdin and stdout."""
    return BoxedSeat(name or source.name, box(source, limits), longest_line, tolerant)
