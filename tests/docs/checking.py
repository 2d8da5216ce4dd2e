"""Checking the blocks that are no commands: JSON, positions, plans, quotations, help texts, bots."""

import json
import random
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ludodrome
from ludodrome.arena import messages
from ludodrome.arena.doctor import examine
from ludodrome.arena.doctor.examination import FAILURE
from ludodrome.arena.referee import Referee
from ludodrome.arena.tournaments.plans import make_plan
from ludodrome.bots.bots_file import read_bots_file
from ludodrome.game import BadState, Game, IllegalMove
from ludodrome.spaces_lab.suites import parse_suite
from tests.arena.playing import AMPLE, play_spec
from tests.docs.blocks import ROOT, BadPage, Block
from tests.docs.parsing import check_command, parse

RULES_PAGE = re.compile(r"games/(\w+)/RULES\.md$")
MAX_GAMES = 500
SHAPES = ("rows", "cols", "players", "size", "rules", "mode", "choice")
"""Options that a state contains."""


def check(block: Block, page: Sequence[Block]) -> None:
    """BadPage if a block that is not run is not what it seems; ``page`` are all blocks of its page."""
    if quoted := block.mark("quoted from "):
        if block.text not in (ROOT / quoted).read_text("utf-8"):
            raise BadPage(f"{quoted} has no such piece")
    elif block.language == "json":
        _check_json(block, page)
    elif block.mark("a bots file") is not None:
        with TemporaryDirectory() as folder:
            file = Path(folder, "bots.toml")
            file.write_text(block.text, "utf-8")
            for bot in tomllib.loads(block.text)["bots"]:
                Path(folder, bot.get("directory", ".")).mkdir(parents=True, exist_ok=True)
            read_bots_file(file)
    elif block.mark("a board suite") is not None:
        parse_suite(tomllib.loads(block.text), block.place)
    elif block.language == "toml":
        make_plan(tomllib.loads(block.text))
    elif block.language == "text":
        _check_text(block)


def _check_text(block: Block) -> None:
    """A drawing, or a page of help; no commands."""
    if block.text.startswith("Usage: ludodrome "):
        for line in re.sub(r"\\\n *", "", block.text.partition("Examples:\n")[2]).splitlines():
            check_command(line)
    elif rules := RULES_PAGE.search(block.page):
        _check_positions(block, rules[1])
    elif re.search(r"^(\$|ludodrome) ", block.text, re.MULTILINE):
        raise BadPage("commands stand in blocks of console or sh")


# Rules pages


def _check_positions(block: Block, name: str) -> None:
    """Positions on one line each; anything else that is not under that heading is a drawing."""
    games = list(_variants(name))
    lines = block.text.splitlines()
    read = [any(_reads(game, line) for game in games) for line in lines]
    if (block.heading == "One line" or any(read)) and not all(read):
        raise BadPage(f"{lines[read.index(False)]} is no position of {name}")


def _reads(game: Game, text: str) -> bool:
    try:
        return game.format_state(game.parse_state(text)) == text
    except BadState:
        return False


def _variants(name: str) -> Iterator[Game]:
    """A game with those of its options that the one-line form does not contain."""
    yield ludodrome.make(name)
    if name == "santorini":
        yield ludodrome.make(name, players=3)
    if name == "spaces":
        yield ludodrome.make(name, rounds=1)
    if name == "dots":
        yield from (ludodrome.make(name, rows=rows, cols=cols) for rows in range(1, 4) for cols in range(1, 4))


# JSON


def _check_json(block: Block, page: Sequence[Block]) -> None:
    """JSON it is, on one line or many; where it is one of ours, it is accepted."""
    values = _values(block.text)
    if rules := RULES_PAGE.search(block.page):
        for value in values:
            _check_of_game(rules[1], value, page)
    elif all(isinstance(value, dict) and "type" in value for value in values):
        for value in values:
            _check_message(value)
    for value in values:
        if isinstance(value, dict) and "mcpServers" in value:
            for server in value["mcpServers"].values():
                if server["command"] != "ludodrome":
                    raise BadPage("the program is ludodrome")
                parse(server["args"])


def _values(text: str) -> list[Any]:
    """The values in a block; ``{...}`` and ``[...]`` mark what the page leaves out."""
    text = text.replace("{...}", "{}").replace("[...]", "[]")
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def _is_state(value: Any) -> bool:
    return isinstance(value, dict) and "winner" in value


def _check_of_game(name: str, value: Any, page: Sequence[Block]) -> None:
    """A state is read by the game, a move is legal in one of the page's positions or at the beginning."""
    if _is_state(value):
        if "you" not in value and not _reads_state(name, value):
            raise BadPage(f"this is no state of {name}")
        return
    moves = value if isinstance(value, list) else [value]
    if not any(_can_play(game, state, moves) for game, state in _positions(name, page)):
        raise BadPage(f"this is legal nowhere in {name}: {moves}")


def _positions(name: str, page: Sequence[Block]) -> Iterator[tuple[Game, Any]]:
    """Where a move may be meant: at the beginning, in the page's states, in its lines and diagrams."""
    lines = [line for block in page if block.language == "text" for line in block.text.splitlines()]
    for game in _variants(name):
        yield game, game.initial_state()
        yield from ((game, game.parse_state(line)) for line in lines if _reads(game, line))
    for state in (one for block in page if block.language == "json" for one in _values(block.text)):
        if _is_state(state) and "you" not in state:
            yield _game_of(name, state), state
    for diagram in ludodrome.make(name).diagrams:
        game = ludodrome.make(name, **diagram.options)
        yield game, game.parse_state(diagram.position) if diagram.position else game.initial_state()


def _game_of(name: str, state: Any) -> Game:
    options = {key: state[key] for key in SHAPES if key in state and key in ludodrome.make(name).options}
    if name == "spaces" and state["mode"] == "rounds":
        options["rounds"] = state["rounds"]
    return ludodrome.make(name, **options)


def _reads_state(name: str, state: Any) -> bool:
    game = _game_of(name, state)
    return bool(game.decode(game.encode(state)) == state)


def _can_play(game: Game, state: Any, moves: list[Any]) -> bool:
    try:
        for move in moves:
            state = game.apply(state, move)
    except IllegalMove:
        return False
    return True


def _check_message(value: dict[str, Any]) -> None:
    """A message of the arena has the keys that the arena sends; one of a bot is read."""
    ours = _messages()
    if value["type"] in ours:
        if sorted(value) != sorted(ours[value["type"]]):
            raise BadPage(f"a message {value['type']} has the keys {', '.join(ours[value['type']])}")
    else:
        messages.read(json.dumps(value).encode())
        if value["type"] == "move":
            _check_met("skysummit", value["move"])


def _check_met(name: str, move: Any) -> None:
    """A move is met in some game."""
    game = ludodrome.make(name)
    for seed in range(MAX_GAMES):
        dice, state = random.Random(seed), game.initial_state()
        while moves := game.legal_moves(state):
            if move in moves:
                return
            state = game.apply(state, dice.choice(moves))
    raise BadPage(f"this is no move of {name}: {move}")


def _messages() -> dict[str, dict[str, Any]]:
    """A message of each type, as the arena makes it."""
    table = Referee(play_spec("dots", rows=1, cols=1))
    assert table.turn is not None
    result = {"winner": 0, "reason": "", "scores": [1, 0], "verdicts": []}
    made = [
        table.hello(0),
        messages.observe("m-0", 1, 0, table.state),
        messages.refused("m-0", 0, "", 9),
        messages.over("m-0", result, 0),
        table.turn.message,
    ]
    return {message["type"]: message for message in made}


# Bots


def check_bot(block: Block, games: list[str], folder: Path) -> str:
    """What the doctor has against a bot that is a whole program; empty if nothing."""
    program = folder / f"bot_{block.line}.py"
    program.write_text(block.text, "utf-8")
    spec = f"cmd:{sys.executable} -I {program}"
    for game in games:
        for finding in examine(ludodrome.make(game), spec, folder, clock=AMPLE, only=["start", "seats", "unknown"]):
            if finding.grade == FAILURE:
                return f"{game}: {finding}"
    return ""
