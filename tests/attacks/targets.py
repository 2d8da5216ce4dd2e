"""Every parser of untrusted input as a fuzz target: bytes in, and nothing out but the documented errors.

``python -m tests.attacks.targets`` lists them; ``python -m tests.attacks.targets NAME --runs 100000`` runs one under
atheris (``pip install atheris``), guided by coverage. ``test_fuzz_targets.py`` runs them with Hypothesis.

JSON bodies of the HTTP API have a fuzzer that knows their fields (``tests/web/test_fuzz.py``) and Schemathesis
(``tests/web/test_schemathesis.py``); states and moves damaged in their structure are in ``tests/test_fuzz.py``.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

import ludodrome
from ludodrome import installation
from ludodrome.arena import messages
from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import Adjudication, Conditions, read_policy
from ludodrome.arena.ladder.uploads import check_source, pack_archive
from ludodrome.arena.matches.openings import read_book
from ludodrome.arena.records import from_text, verify
from ludodrome.arena.records.notation import format_records, parse_records
from ludodrome.arena.tournaments.plans import read_plan
from ludodrome.arena.transports.wasm_modules import read_module
from ludodrome.bots.bots_file import read_bots_file
from ludodrome.bots.llm import read_settings
from ludodrome.bots.player import parse_observation
from ludodrome.bots.prompts import read_reply
from ludodrome.bots.registry import read_spec
from ludodrome.bots.specs import read_launch
from ludodrome.cli.base import CommandError, read_options
from ludodrome.games.dots.analysis import load_solver
from ludodrome.games.dots.solver import MIN_BITS
from ludodrome.games.dots.solver.table import BUCKET
from ludodrome.games.spaces.boards import parse_board, parse_playable
from ludodrome.games.spaces.legality import check
from ludodrome.puzzle.book import parse_puzzle
from ludodrome.puzzle.lessons import parse_lesson
from ludodrome.spaces_lab.board_files import read_boards
from ludodrome.store import backups, migrations
from ludodrome.store.accounts import ensure_local, read_name
from ludodrome.store.database import open_database, read_url
from ludodrome.web import security
from ludodrome.web.logs import redacted
from tests.attacks import spaces_targets as spaces
from tests.attacks.web_targets import REQUESTS, ask, say, target_folder

MAX_BYTES = 4096
LESSON = b'[[step]]\ntitle = "A"\nidea = "B"\n[[step.tasks]]\ntask = "C"\nmoves = ["H(0,0)"]\nrepeat = 2\n'


@dataclass(frozen=True)
class Target:
    """A parser: a call with bytes, good inputs to begin with, and the errors that it documents."""

    name: str
    call: Callable[[bytes], object]
    corpus: tuple[bytes, ...]
    covers: tuple[str, ...]
    """The functions that it reaches, as ``module.function`` below ``ludodrome``."""
    allowed: tuple[type[Exception], ...] = (ValueError,)
    slow: bool = False
    """Whether a call takes many milliseconds: fewer are made."""


def _text(data: bytes) -> str:
    """Any text, with lone surrogates too."""
    return data.decode("utf-8", "surrogateescape")


def of_text(call: Callable[[str], object]) -> Callable[[bytes], object]:
    """A target for a parser of texts."""
    return lambda data: call(_text(data))


def of_json(call: Callable[[Any], object]) -> Callable[[bytes], object]:
    """A target for a parser of JSON values; what is not JSON is not for it."""

    def run(data: bytes) -> object:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return None
        return call(value)

    return run


def of_file(call: Callable[[Path], object], suffix: str = "") -> Callable[[bytes], object]:
    """A target for a parser of files."""

    def run(data: bytes) -> object:
        path = target_folder() / f"input{suffix}"
        path.write_bytes(data)
        return call(path)

    return run


def _encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


@cache
def _game(game_id: str) -> ludodrome.Game:
    return ludodrome.make(game_id)


def _of_game(game_id: str) -> Iterator[Target]:
    game = _game(game_id)
    state = game.initial_state()
    moves = game.legal_moves(state)[:3] if game.id != "spaces" else [parse_board("3:1:uuf")]
    later = game.apply(state, moves[0]) if game.id != "spaces" else state
    where = f"games.{game_id}.codec"
    yield Target(
        f"{game_id}-state", of_json(game.encode), (_encoded(state), _encoded(later)), (f"{where}.parse_state",)
    )
    lines = tuple(game.format_state(one).encode() for one in (state, later))
    yield Target(f"{game_id}-position", of_text(game.parse_state), lines, (f"{where}.parse_line",))
    yield Target(
        f"{game_id}-move",
        of_json(lambda move: game.apply(state, move)),
        tuple(map(_encoded, moves)),
        (f"{where}.parse_move",),
    )
    yield Target(
        f"{game_id}-notation",
        of_text(lambda text: game.parse_move(text, state)),
        tuple(game.format_move(move, state).encode() for move in moves),
        (f"{where}.parse_notation",),
    )
    yield Target(
        f"{game_id}-options",
        of_json(lambda options: ludodrome.make(game_id, **options) if _is_options(options) else None),
        (_encoded(game.options), b"{}"),
        (),
    )
    fog = game if game.id != "spaces" else ludodrome.make("spaces", choice="fog")
    seen = state if fog is game else fog.parse_state("rounds 3 written fog 2/5 - 3:1:u6uf|3:0:5uuf")
    covers = ("bots.player.parse_observation", *(() if fog is game else ("games.spaces.fog.parse_observation",)))
    given = (_encoded(fog.observation(seen, 0)),)
    yield Target(f"{game_id}-observation", of_json(lambda shown: parse_observation(fog, shown)), given, covers)
    yield Target(
        f"{game_id}-reply",
        of_text(lambda text: read_reply(game, game.observation(state, 0), text)),
        (f"I think. {{{game.format_move(moves[0], state)}}}".encode(), _encoded({"move": moves[0]}), b"<think>h00"),
        ("bots.prompts.read_reply",),
    )
    specs = (b"random", b"greedy", b"level:3", b"expert", b"alphabeta:depth=4,time=0.5", b"mcts:sims=100")
    yield Target(
        f"{game_id}-bot",
        of_text(lambda text: read_spec(text, game)),
        specs,
        ("bots.registry.read_spec", "bots.registry.parse_params"),
    )


def _is_options(value: Any) -> bool:
    return type(value) is dict and all(name.isidentifier() for name in value)


@cache
def _record() -> dict[str, Any]:
    """A finished game of two random bots on a small board."""
    small = ludodrome.make("dots", rows=1, cols=2)
    found = ludodrome.play_match(small, ["random", "random"], games=2, openings=False, workers=0).records[0]
    return dict(found)


PLAN = b"""
name = "spring"
pairs = 2
seed = 7
[[games]]
id = "dots"
options = { rows = 2, cols = 2 }
clock = "1s"
[[bots]]
bot = "random"
[[bots]]
bot = "greedy"
name = "Greta"
"""
BOTS = b"""
[[bots]]
name = "mine"
command = "python3 bot.py --fast"
environment = { THREADS = "1" }
memory = "512MB"
affinity = [0, 1]
clock = "2s"
tags = ["new"]
[[bots]]
name = "old"
spec = "level:3"
"""
LAUNCH = b'{"directory": "/tmp", "environment": {"A": "1"}, "memory": 1000000, "affinity": [0]} ./bot --fast'
BOARD = b"3:1:uuf"
EDGE = b'{"orient": "H", "r": 0, "c": 0}'
MESSAGE = b'{"type": "move", "match": "m", "turn": 3, "move": ' + EDGE + b', "log": "so"}'
INFO = b'{"type": "info", "turn": 3, "score": 1.5, "depth": 9, "nodes": 12, "pv": ["H 0 0"], "text": "so"}'
READY = b'{"type": "ready", "games": "many", "wants": ["moves", "clocks"]}'


@cache
def _backup() -> tuple[bytes, bytes]:
    """A backup of SQLite, and one in lines."""
    path = target_folder() / "good.db"
    engine = open_database(path, create=True)
    ensure_local(engine)
    backups.back_up(engine, target_folder() / "good.backup")
    engine.dispose()
    head = {"format": backups.FORMAT, "revision": migrations.REVISIONS[-1]}
    row = {"table": "settings", "row": {"name": "a", "value": "1"}}
    lines = b"".join(_encoded(one) + b"\n" for one in (head, row))
    end = {"rows": 1, "sha256": hashlib.sha256(lines).hexdigest()}
    return (target_folder() / "good.backup").read_bytes(), lines + _encoded(end) + b"\n"


def _read_backup(path: Path) -> None:
    with backups._reading(path) as rows:
        for _ in rows:
            pass


def _open(path: Path) -> None:
    open_database(path).dispose()
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _solver_table() -> bytes:
    file = BytesIO()
    table = np.zeros(((1 << MIN_BITS) // BUCKET, 2 * BUCKET), np.uint64)
    np.savez(file, board=np.array([1, 2], np.int64), table=table)
    return file.getvalue()


def _requirement(text: str) -> None:
    found = installation.read_requirement(text)
    installation.fits("1.2.3", found.bounds)


def _lines_of(path: Path) -> None:
    for _ in backups._lines(path):
        pass


@cache
def targets() -> dict[str, Target]:
    """All targets by name."""
    found = [target for game_id in ludodrome.game_ids() for target in _of_game(game_id)]
    dots = ludodrome.make("dots", rows=1, cols=2)
    legal = dots.legal_moves(dots.initial_state())
    record = _encoded(_record())
    database, lines = _backup()
    found += [
        Target(
            "record",
            lambda data: verify(from_text(data)),
            (record,),
            ("arena.records.format.from_text", "arena.records.format.read", "arena.play_spec.PlaySpec.from_json"),
        ),
        Target(
            "records-as-text",
            of_text(lambda text: list(parse_records(text))),
            ("\n".join(format_records([_record()])).encode(),),
            ("arena.records.notation.parse_records", "arena.play_spec.read_move"),
        ),
        Target(
            "plan",
            of_file(read_plan, ".toml"),
            (PLAN,),
            ("arena.tournaments.plans.read_plan", "arena.tournaments.plans.TournamentPlan.from_json"),
        ),
        Target("bots-file", of_file(read_bots_file, ".toml"), (BOTS,), ("bots.bots_file.read_bots_file",)),
        Target("launch-settings", of_text(read_launch), (LAUNCH,), ("bots.specs.read_launch",)),
        Target(
            "opening-book",
            of_file(lambda path: read_book(dots, path)),
            (_encoded(legal[:1]) + b"\n" + _encoded({"moves": legal[1:2]}), b"# game: dots\nH(0,0); V(0,1) # 0\n"),
            ("arena.matches.openings.read_book",),
        ),
        Target(
            "boards",
            of_file(lambda path: read_boards(str(path))),
            (BOARD + b"\n", _encoded(parse_board(BOARD.decode())), _encoded([parse_board(BOARD.decode())])),
            (
                "spaces_lab.board_files.read_board",
                "spaces_lab.board_files.read_boards",
                "spaces_lab.board_files.read_deck",
            ),
        ),
        Target("board-filter", of_text(spaces.read_filter), spaces.FILTERS, spaces.FILTER_PARSERS),
        Target("board-suite", of_file(spaces.read_suite), spaces.SUITES, spaces.SUITE_PARSERS),
        Target("board-session", of_file(spaces.read_session), spaces.SESSIONS, spaces.SESSION_PARSERS),
        Target("solver-boards", of_file(spaces.read_solver_boards), spaces.SOLVER_BOARDS, spaces.SOLVER_PARSERS),
        Target(
            "solver-table",
            of_file(lambda path: load_solver(dots, path, None)),
            (_solver_table(),),
            ("games.dots.analysis.load_solver", "analysis.solving.load_solving"),
            slow=True,
        ),
        Target(
            "board-code",
            of_text(parse_board),
            (BOARD, b"2:0:uf"),
            ("games.spaces.boards.parse_board", "games.spaces.boards.parse_code"),
        ),
        Target(
            "board",
            of_json(parse_playable),
            (_encoded(parse_board(BOARD.decode())),),
            ("games.spaces.boards.parse_playable", "games.spaces.boards.read_board", "games.spaces.boards.read_steps"),
        ),
        Target("board-faults", of_json(lambda board: check(board, 3)), (_encoded(parse_board(BOARD.decode())),), ()),
        Target("bot-message", messages.read, (MESSAGE,), ("arena.messages.read", "arena.messages.read_json")),
        Target("info", lambda data: messages.read_info(messages.read(data)), (INFO,), ("arena.messages.read_info",)),
        Target(
            "ready",
            lambda data: messages.read_ready(messages.read(data)),
            (READY,),
            ("arena.messages.read_ready",),
        ),
        Target(
            "clock",
            of_text(Clock.parse),
            (b"1s", b"1s+10s", b"5m++2s", b"none", b"nodes=100", b"1s,fuel=50M"),
            ("arena.clocks.Clock.parse",),
        ),
        Target(
            "clock-json",
            of_json(Clock.from_json),
            (_encoded(Clock.parse("1s").to_json()),),
            ("arena.clocks.Clock.from_json",),
        ),
        Target(
            "conditions",
            of_json(Conditions.from_json),
            (_encoded(_record()["conditions"]) if "conditions" in _record() else b"{}",),
            ("arena.conditions.Conditions.from_json",),
        ),
        Target(
            "adjudication",
            of_json(Adjudication.parse),
            (b'"agree:300x8,margin,solver:500"', b'"margin:5x6"'),
            ("arena.conditions.Adjudication.parse",),
        ),
        Target("policy", of_json(read_policy), (b'"forfeit"', b'"retry"'), ("arena.conditions.read_policy",)),
        Target("source", of_text(check_source), (b"print(1)\n",), ()),
        Target("module", of_file(read_module), (b"\0asm\1\0\0\0",), ("arena.transports.wasm_modules.read_module",)),
        Target("archive", of_text(pack_archive), (b"UEsDBAAA", b"AGFzbQ=="), ()),
        Target(
            "model-endpoint",
            of_text(read_settings),
            (b"http://127.0.0.1:8000/v1,model=m,retries=2", b"https://[::1]:1/v1,model=m,key=K"),
            ("bots.llm.read_settings",),
        ),
        Target(
            "option",
            of_text(lambda text: read_options([text])),
            (b"rows=2", b"rules=live"),
            ("cli.base.read_options",),
            (CommandError,),
        ),
        Target(
            "puzzle",
            of_text(lambda line: parse_puzzle(line, "dots", 1)),
            (ludodrome_puzzle(),),
            ("puzzle.book.parse_puzzle",),
        ),
        Target("lesson", of_text(partial(parse_lesson, game_id="dots")), (LESSON,), ("puzzle.lessons.parse_lesson",)),
        Target("name", of_text(read_name), ("Ämil 3".encode(), b"a.b-c"), ("store.accounts.read_name",)),
        Target(
            "database-url",
            of_text(read_url),
            (b"postgresql://me:secret@[::1]:5432/name?sslmode=require", b"sqlite:////tmp/a.db", b"a.db"),
            ("store.database.read_url",),
        ),
        Target("backup-lines", of_file(_lines_of), (lines,), ()),
        Target("backup", of_file(_read_backup), (database, lines), (), slow=True),
        Target("database-file", of_file(_open, ".db"), (database,), (), slow=True),
        Target(
            "requirement",
            of_text(_requirement),
            (b"numba<0.69,>=0.68", b"fastapi>=0.120; extra == 'web'"),
            ("installation.read_requirement",),
        ),
        Target("json-depth", security._is_deep, (b'{"a": [1, "]", {"b": "\\""}]}',), ()),
        Target("log-line", of_text(redacted), (b"?key=abc&x=1", b"postgresql://me:pw@host/x", b"Bearer abc"), ()),
        Target("http-request", ask, REQUESTS, (), slow=True),
        Target(
            "websocket-message",
            say,
            (b'{"type": "move", "move": ' + EDGE + b', "version": 0, "id": 1}', b'{"type": "undo"}'),
            (),
            slow=True,
        ),
    ]
    return {target.name: target for target in found}


def ludodrome_puzzle() -> bytes:
    """A line of a book of puzzles."""
    from ludodrome.puzzle.book import format_puzzle, puzzles

    return format_puzzle(puzzles("dots")[0]).encode()


EXEMPT = {
    "nnue.samples.read": "reads what this program wrote into a folder of its user",
    **dict.fromkeys(("nnue.samples.read_settings", "nnue.training.read_training_set"), "likewise"),
    "arena.matches.tallies.GameResult.from_json": "reads what this program wrote into its database",
    "arena.sandbox.levels.SandboxLevel.from_json": "reads what this program wrote into its cache",
    "arena.play_spec.read_position": "encode of a game, which is a target",
    "arena.sandbox.boxes.read_folder": "reads a folder of its user; content is not parsed",
    "bots.files.load": "runs a file of its user",
    "cli.base.read_state": "parse_state and encode of a game, which are targets",
    "datasets.files.read": "reads datasets that this program wrote",
    "envs.core.read_game": "an argument of a Python call",
    **dict.fromkeys(("envs.opponents.read_opponents", "envs.gym_env.read_number"), "likewise"),
    "envs.pettingzoo_env.read_action": "likewise",
    "games.spaces.bots.read_view": "an observation, after parse_observation",
    "games.spaces.codec.parse_boards_text": "a part of parse_notation",
    "games.spaces.codec.parse_codes": "a part of parse_notation",
    "games.spaces.codec.parse_lay": "a part of parse_move",
    "games.spaces.codec.parse_chosen": "a part of parse_state",
    "games.spaces.fog.read_in_fog": "a part of parse_observation",
    "games.spaces.legality.read_finished": "a part of parse_move",
    "games.towers.parse_cells": "a part of parse_line",
    "games.towers.parse_height_rows": "a part of parse_line",
    "games.towers.parse_number": "a part of parse_line",
    "games.towers.read_heights": "a part of parse_state",
    "web.auth.read_recovery_code": "changes the spelling of a text, which is then hashed",
}
EXEMPT |= spaces.EXEMPT
"""Functions with the name of a parser that need no target of their own, and why."""


def _plain_functions(target: Target) -> Iterator[FunctionType]:
    """The functions and methods of the modules that a target reaches; no kernels: they compile from bytecode."""
    modules = {_module_of(covered) for covered in target.covers}
    for module in sorted(modules, key=lambda one: one.__name__):
        classes = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
        for owner in (module, *classes):
            for value in vars(owner).values():
                plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
                if isinstance(plain, FunctionType) and plain.__module__ == module.__name__:
                    yield plain


def _module_of(covered: str) -> ModuleType:
    """The module of ``module.function`` or ``module.Class.method``, below ``ludodrome``."""
    parts = ["ludodrome", *covered.split(".")[:-1]]
    if parts[-1][0].isupper():
        parts.pop()
    return import_module(".".join(parts))


def main() -> None:
    """List the targets, or run one under atheris."""
    if len(sys.argv) == 1:
        for name, target in targets().items():
            print(f"{name:<24} {', '.join(target.covers)}")
        return
    atheris: Any = import_module("atheris")  # optional, and there are no types for it

    name, runs = sys.argv[1], sys.argv[3] if sys.argv[2:3] == ["--runs"] else "20000"
    target = targets()[name]
    corpus = target_folder() / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(target.corpus):
        (corpus / str(number)).write_bytes(seed)

    def one(data: bytes) -> None:
        try:
            target.call(data)
        except target.allowed:
            return

    atheris.instrument_func(target.call)
    for function in _plain_functions(target):
        atheris.instrument_func(function)
    atheris.Setup([sys.argv[0], f"-runs={runs}", f"-max_len={MAX_BYTES}", "-timeout=25", str(corpus)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
