"""Transports connect seats to bots: in this process, as child processes, over HTTP. ``make_seat`` takes a bot's spec.

``cmd:./mybot --fast`` is a program with arguments; ``py:mine.py:MyBot`` is a Python class, which runs in a child
process so that deadlines hold; ``llm:URL,model=NAME`` is a language model; ``box:FOLDER`` is a program in a sandbox;
all other specs are built-in bots.
"""

import ast
import os
import shlex
import shutil
import sys
from pathlib import Path

from ludodrome.arena.messages import max_line
from ludodrome.arena.seats import Seat
from ludodrome.arena.transports.child import ChildSeat
from ludodrome.arena.transports.inprocess import InProcessSeat
from ludodrome.arena.transports.processes import check_supported
from ludodrome.bots import bot
from ludodrome.bots.registry import LLM
from ludodrome.game import Game
from ludodrome.validation import show

COMMAND, FILE, BOX = "cmd", "py", "box"
PROGRAMS = "cmd:PROGRAM is a program of one's own, box:FOLDER one in a sandbox, llm:URL,model=NAME a language model"
"""The specs besides built-in bots and py:, as part of a sentence."""


def make_seat(spec: str, game: Game, seed: int) -> Seat:
    """Make a seat for the bot of a spec; ValueError says what would be right."""
    kind, colon, rest = spec.partition(":") if type(spec) is str else ("", "", "")
    if colon and kind in (COMMAND, FILE):
        check_supported()
        return ChildSeat(spec, command(kind, rest), max_line(game))
    if colon and kind == BOX:
        from ludodrome.arena import sandbox  # start-up: few bots run in a sandbox

        return sandbox.seat(Path(rest), spec, max_line(game))
    if colon and kind == LLM:
        from ludodrome.arena.transports.inprocess import ModelSeat  # start-up: it loads an HTTP client

        return ModelSeat(spec, game)
    return InProcessSeat(bot(spec, game, seed))


def command(kind: str, rest: str) -> list[str]:
    """The program of a ``cmd`` or ``py`` bot and its arguments; ValueError if it cannot be found."""
    if kind == FILE:
        path, colon, name = rest.rpartition(":")
        if not (colon and path and name.isidentifier()):
            raise ValueError(f"a bot of one's own is named like py:mine.py:MyBot, not py:{rest}")
        if not Path(path).is_file():
            raise ValueError(f"there is no file {path} for the bot py:{rest}")
        if not _binds(Path(path), name):
            raise ValueError(f"there is no class {name} in {path} for the bot py:{rest}")
        return [sys.executable, "-P", "-m", "ludodrome.arena.py_bot_host", rest]
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise ValueError(f"the command {show(rest)} cannot be read: {error}") from None
    if not words:
        raise ValueError("a program is named like cmd:./mybot --fast, and here nothing follows cmd:")
    if shutil.which(words[0]) is None:
        there = "is not executable" if os.path.exists(words[0]) else "cannot be found"
        raise ValueError(f"the program {words[0]} of the bot cmd:{rest} {there}")
    return words


def _binds(path: Path, name: str) -> bool:
    """Whether a Python file binds a name, without running it; True if the file cannot be parsed."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return True  # the bot's own process reports the error
    bound = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            bound.add(node.name)
        elif isinstance(node, ast.Name):
            bound.add(node.id)
        elif isinstance(node, ast.ImportFrom):
            bound.update(alias.asname or alias.name for alias in node.names)
    return not bound.isdisjoint({name, "*"})
