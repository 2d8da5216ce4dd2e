"""Bots that strangers wrote, run so that they can harm nobody.

docs/explanation/sandbox.md says what holds and what was tried. ``level()`` is what is in force here; ``seat`` is a
seat for a bot under it. What is not Linux has no level.
"""

import sys
from pathlib import Path

from ludodrome.arena.messages import MAX_LINE
from ludodrome.arena.sandbox import levels
from ludodrome.arena.sandbox.boxes import Box, BoxedSeat, Interpreter, read_folder
from ludodrome.arena.sandbox.levels import BACKENDS, NONE, NoSandbox, SandboxLevel
from ludodrome.arena.sandbox.limits import ResourceLimits

__all__ = ["NoSandbox", "SandboxLevel", "box", "level", "seat"]


def level(anew: bool = False) -> SandboxLevel:
    """The level in force, found by real attacks; ``anew``: try again what was found a while ago."""
    if sys.platform != "linux":
        return SandboxLevel(NONE, (f"a sandbox is made by the means of Linux, and this is {sys.platform}",))
    return levels.level(anew)


def box(source: Path, limits: ResourceLimits | None = None) -> Box:
    """How a bot is run under the level in force: a folder with a main.py, or a single Python file.

    NoSandbox if there is no level, ValueError if there is no such bot.
    """
    found = level()
    if not found.holds:
        raise NoSandbox(found.sentence)
    interpreter = Interpreter(found.interpreter, found.python, found.numpy)
    return Box(BACKENDS[found.name], interpreter, limits or ResourceLimits(), read_folder(source))


def seat(source: Path, name: str = "", longest_line: int = MAX_LINE, limits: ResourceLimits | None = None) -> BoxedSeat:
    """A seat for a program that speaks the bot protocol on its stdin and stdout, in a box."""
    return BoxedSeat(name or source.name, box(source, limits), longest_line)
