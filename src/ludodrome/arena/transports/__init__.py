"""Transports connect seats to bots: in this process, as child processes, over HTTP. ``make_seat`` takes a bot's spec.

``cmd:./mybot --fast`` is a program with arguments; ``py:mine.py:MyBot`` is a Python class, which runs in a child
process so that deadlines hold; ``wasm:bot.wasm`` is a WebAssembly program; ``llm:URL,model=NAME`` is a language model;
``box:FOLDER`` is a program in a sandbox; all other specs are built-in bots.
"""

from pathlib import Path

from ludodrome.arena.messages import max_line
from ludodrome.arena.seats import Seat
from ludodrome.arena.transports.child import ChildSeat, KeptProcesses
from ludodrome.arena.transports.inprocess import InProcessSeat
from ludodrome.arena.transports.processes import check_supported
from ludodrome.bots import bot
from ludodrome.bots.registry import FILE, LLM
from ludodrome.bots.specs import BOX, COMMAND, WASM, command, read_launch
from ludodrome.game import Game

__all__ = ["BOX", "COMMAND", "FILE", "WASM", "check_wasm", "command", "make_seat", "wasm_seat"]


def make_seat(
    spec: str, game: Game, seed: int, tolerant: bool = False, kept: KeptProcesses | None = None, bot_id: str = ""
) -> Seat:
    """Make a seat for the bot of a spec; ValueError says what would be right.

    ``tolerant``: a program's lines that are not JSON are ignored. ``kept``: processes that stay between games, each for
    games of the same ``bot_id`` (``bots/identity.py``).
    """
    kind, colon, rest = spec.partition(":") if type(spec) is str else ("", "", "")
    if colon and kind in (COMMAND, FILE):
        check_supported()
        launch = read_launch(rest)[0] if kind == COMMAND else None
        return ChildSeat(spec, command(kind, rest), max_line(game), tolerant, kept, launch, bot_id)
    if colon and kind == BOX:
        from ludodrome.arena import sandbox  # start-up: few bots run in a sandbox

        return sandbox.seat(Path(rest), spec, max_line(game), tolerant=tolerant)
    if colon and kind == WASM:
        return wasm_seat(spec, Path(rest), game, seed, tolerant)
    if colon and kind == LLM:
        from ludodrome.arena.transports.inprocess import ModelSeat  # start-up: it loads an HTTP client

        return ModelSeat(spec, game)
    return InProcessSeat(bot(spec, game, seed))


def wasm_seat(spec: str, module: bytes | Path, game: Game, seed: int, tolerant: bool = False) -> Seat:
    """Make a seat for a WebAssembly program, its file or its bytes; ValueError says what is wrong with it."""
    try:
        from ludodrome.arena.transports.wasm import WasmSeat  # an optional extra

        return WasmSeat(spec, module, seed, max_line(game), tolerant)
    except ModuleNotFoundError as missing:
        if missing.name != "wasmtime":
            raise
        raise ValueError("WebAssembly bots need the package wasmtime: pip install 'ludodrome[wasm]'") from None
    except ValueError as wrong:
        raise ValueError(f"{spec} is not a WebAssembly bot: {wrong}") from None


def check_wasm(spec: str) -> None:
    """Compile the module of a ``wasm`` spec; ValueError if it is not a bot."""
    from ludodrome.arena.transports import wasm_modules  # start-up: few bots are WebAssembly

    try:
        wasm_modules.compiled(wasm_modules.read_module(Path(spec.partition(":")[2])))
    except wasm_modules.BadModule as wrong:
        raise ValueError(f"{spec} is not a WebAssembly bot: {wrong}") from None
