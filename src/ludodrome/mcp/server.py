"""The MCP server: tools with which a language model finds a game, reads its rules, and plays.

The tools are thin: matches are in ``matches.py``. Calls are stateless; each carries the id
of its match. Errors are sentences.
"""

import logging
import struct
import zlib
from json import dumps
from typing import Annotated, Any

import numpy as np

from ludodrome import __version__
from ludodrome.bots import bot_names
from ludodrome.bots.prompts import move_format
from ludodrome.envs import missing_extra
from ludodrome.envs.observations import frame
from ludodrome.games import GAMES, find
from ludodrome.jit import Array
from ludodrome.mcp.matches import CLIENT, ClientMatch, Json, MatchError
from ludodrome.position import SeenPosition
from ludodrome.validation import listing, show
from ludodrome.web.concurrency import LruCache
from ludodrome.web.engine import MAX_LINES, MAX_SECONDS, analyse_position
from ludodrome.web.responses import Busy

# Positions as PNG images. They are painted in ``envs/observations.py``; here they become files.


SCALE = 2
"""Enlargement of the painting: models read small images badly."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_BITS, _RGB = 8, 2


def picture(seen: SeenPosition) -> bytes:
    """What a seat sees, as a PNG image."""
    pixels = frame(seen.game, seen.states()[0], "rgb_array")
    return png(pixels.repeat(SCALE, 0).repeat(SCALE, 1))


def png(pixels: Array) -> bytes:
    """An image (height, width, 3) uint8 as PNG."""
    height, width = pixels.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, _BITS, _RGB, 0, 0, 0)
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")
    return _SIGNATURE + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


try:
    from mcp.server.mcpserver import Image, MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import Field, ValidationError
except ImportError as error:
    raise missing_extra(ImportError(name="mcp"), "MCP servers", "mcp") from error

MAX_MATCHES = 1000
MATCH_SECONDS = 24 * 3600.0
OPPONENT = "level:2"
INSTRUCTIONS = (
    "Board games to play against bots or other clients. list_games, then read_rules, then start_match; look shows "
    "the board, legal_moves what may be played, make_move plays and returns after the bots have answered. Every call "
    "needs the match id from start_match."
)

GameId = Annotated[str, Field(description="The id of the game, from list_games.")]
MatchId = Annotated[str, Field(description="The id of the match, from start_match.")]
Key = Annotated[
    str | None, Field(description="The key of your seat; needed only where several clients play one match.")
]


class McpServer(MCPServer):  # type: ignore[misc]
    """An MCP server whose errors are sentences."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool; ToolError with a sentence if it fails."""
        known = {tool.name: tool.input_schema.get("properties", {}) for tool in await self.list_tools()}
        if name not in known:
            raise ToolError(f"there is no tool {show(name)}; the tools are {listing(known)}")
        for argument in arguments:
            if argument not in known[name]:
                right = listing(known[name]) if known[name] else "none"
                raise ToolError(f"{name} has no argument {show(argument)}; its arguments are {right}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as wrong:
            cause = wrong.__cause__
            if isinstance(cause, ValidationError):
                raise ToolError(f"{name} was called with wrong arguments: {_sentence(cause)}") from cause
            if isinstance(cause, ValueError | Busy):
                raise ToolError(str(cause)) from cause
            raise


def _sentence(wrong: Any) -> str:
    found = []
    for one in wrong.errors():
        where = ".".join(str(part) for part in one["loc"][:1])
        if one["type"] == "missing":
            found.append(f"{where} is missing")
        else:
            found.append(f"{where}: {one['msg'][:1].lower()}{one['msg'][1:]}")
    return "; ".join(dict.fromkeys(found))


class Tools:
    """The tools. Models read their docstrings."""

    def __init__(self) -> None:
        self.matches = LruCache[ClientMatch](MAX_MATCHES, MATCH_SECONDS, lambda match: match.close())

    def list_games(self) -> Json:
        """All games: id, title, what they are about, their options, and the bots that can play them."""
        found = []
        for entry in GAMES.values():
            game_class = entry.game_class()
            options = [
                {"name": one.name, "default": one.default, "values": one.values, "meaning": one.meaning}
                for one in game_class.available
            ]
            listed = {"id": entry.id, "title": entry.title, "summary": entry.summary, "options": options}
            found.append(listed | {"bots": bot_names(game_class())})
        return {"games": found}

    def read_rules(self, game: GameId) -> str:
        """The rules of a game, and how its moves are written in make_move."""
        entry = find(game)
        return f"{entry.rules()}\n## Moves in make_move\n\n{move_format(entry.game_class()())}\n"

    def start_match(
        self,
        game: GameId,
        options: Annotated[Json | None, Field(description="Options of the game, like {'rows': 3}.")] = None,
        opponent: Annotated[
            str, Field(description=f"A bot, like level:1 to level:8, or '{CLIENT}': another client joins.")
        ] = OPPONENT,
        seat: Annotated[int, Field(description="Your seat; seat 0 moves first.")] = 0,
        seed: Annotated[int | None, Field(description="For a match that can be repeated.")] = None,
        show_legal_moves: Annotated[bool, Field(description="Whether legal_moves may be asked.")] = True,
        allow_analysis: Annotated[bool, Field(description="Whether analyse may be asked.")] = False,
        policy: Annotated[
            str | None, Field(description="What follows from illegal moves: retry:10 (usual), forfeit or substitute.")
        ] = None,
    ) -> Json:
        """Start a match and take a seat. The answer has the match id, which every other call needs, and your key."""
        made = find(game).game_class()(**(options or {}))
        if not 0 <= seat < made.seats:
            raise MatchError(f"a seat of {game} is a whole number from 0 to {made.seats - 1}, not {seat}")
        specs = [CLIENT if number == seat else opponent for number in range(made.seats)]
        match = ClientMatch(LruCache.new_id(), made, specs, seed, show_legal_moves, allow_analysis, policy)
        match.join(seat)
        self.matches.put(match.id, match)
        return {"key": match.keys[seat]} | match.view(seat)

    def join_match(
        self, match: MatchId, seat: Annotated[int | None, Field(description="A free seat; the first if none.")] = None
    ) -> Json:
        """Take a free seat in a match that another client has started. The answer has the key of your seat."""
        found = self._find(match)
        taken = found.join(seat)
        return {"key": found.keys[taken]} | found.view(taken)

    def look(
        self,
        match: MatchId,
        key: Key = None,
        turn: Annotated[int | None, Field(description="The position after this many moves; default: the last.")] = None,
        image: Annotated[bool, Field(description="Whether a picture comes with the text.")] = True,
        state: Annotated[bool, Field(description="Whether the position comes as JSON too.")] = False,
    ) -> list[Any]:
        """The board as text and as a picture, and how the match stands."""
        found = self._find(match)
        seat = found.seat_of(key)
        seen = found.position(seat, turn)
        text = f"{seen.game.tidy_drawing(seen.drawing())}\n\n{_standing(found.view(seat))}"
        shown = [Image(data=picture(seen), format="png")] if image else []
        return [text, *shown, *([dumps(seen.state)] if state else [])]

    def legal_moves(self, match: MatchId, key: Key = None) -> Json:
        """All legal moves, written as make_move takes them, if the match shows them and it is your turn."""
        found = self._find(match)
        return {"legal_moves": found.legal_moves(found.seat_of(key))}

    def make_move(
        self,
        match: MatchId,
        move: Annotated[str | Json, Field(description="In the game's notation, like [N1C2B2C3] or H(2,3), or JSON.")],
        key: Key = None,
    ) -> Json:
        """Make your move. The bots answer at once; the position after their moves comes back."""
        found = self._find(match)
        return found.move(found.seat_of(key), move)

    def wait_for_turn(
        self,
        match: MatchId,
        key: Key = None,
        seconds: Annotated[float, Field(description="Seconds to wait, at most 50.", ge=0)] = 20.0,
    ) -> Json:
        """Wait until it is your turn or the match is over, where other clients play; then how it stands."""
        found = self._find(match)
        return found.wait(found.seat_of(key), seconds)

    def analyse(
        self,
        match: MatchId,
        key: Key = None,
        seconds: Annotated[float, Field(description="Thinking time in seconds.", gt=0, le=MAX_SECONDS)] = 1.0,
        lines: Annotated[int, Field(description="Number of moves.", ge=1, le=MAX_LINES)] = 3,
    ) -> Json:
        """What an engine thinks of the position: the best moves with their values. Only if the match allows it."""
        found = self._find(match)
        return analyse_position(found.game, found.position_to_analyse(found.seat_of(key)), seconds, lines)

    def replay(self, match: MatchId, key: Key = None) -> Json:
        """All moves so far; when the match is over, its record as well. look shows the position of any turn."""
        found = self._find(match)
        seat = found.seat_of(key)
        answer: Json = {"match": found.id, "moves": found.moves(seat)}
        return answer | ({"record": found.record()} if found.referee.result is not None else {})

    def resign(self, match: MatchId, key: Key = None) -> Json:
        """Resign the match."""
        found = self._find(match)
        return found.resign(found.seat_of(key))

    def _find(self, match: str) -> ClientMatch:
        found = self.matches.get(match)
        if found is None:
            raise MatchError(f"there is no match {show(match)}; start_match gives the id of a new one")
        return found


def _standing(view: Json) -> str:
    """The state of a match in a sentence."""
    if "result" in view:
        winner = view["result"]["winner"]
        return f"The match is over ({view['result']['reason']}): " + (
            "nobody has won." if winner is None else f"player {winner} has won."
        )
    if "waiting_for_players" in view:
        return f"{view['you_are']}. The match waits for others to join."
    whose = "it is your turn" if view["your_turn"] else f"player {view['to_move']} is to move"
    return f"{view['you_are']}, turn {view['turn']}: {whose}."


def create_server() -> McpServer:
    """The server with its tools, and the rules as resources."""
    logging.getLogger("mcp").setLevel(logging.WARNING)
    server = McpServer(
        "ludodrome", title="Ludodrome", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    tools = Tools()
    for tool in (
        tools.list_games,
        tools.read_rules,
        tools.start_match,
        tools.join_match,
        tools.look,
        tools.legal_moves,
        tools.make_move,
        tools.wait_for_turn,
        tools.analyse,
        tools.replay,
        tools.resign,
    ):
        server.add_tool(tool, structured_output=False if tool in (tools.look, tools.read_rules) else None)
    for entry in GAMES.values():
        address, title = f"ludodrome://rules/{entry.id}", f"The rules of {entry.title}"
        server.resource(address, name=entry.id, title=title, mime_type="text/markdown")(entry.rules)
    return server
