"""The MCP server: clients of the SDK play whole games over stdio and over HTTP, and bad calls get sentences."""

import base64
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import ludodrome
from ludodrome.arena import records

pytest.importorskip("mcp", reason="mcp is not installed: pip install 'ludodrome[mcp]'")

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from ludodrome.mcp.server import create_server, picture
from ludodrome.position import seen_by

GAMES: dict[str, dict[str, Any]] = {
    "caldera": {"turn_limit": 10},
    "dots": {"rows": 2, "cols": 2},
    "santorini": {},
    "skysummit": {"turn_limit": 10},
    "spaces": {"rounds": 2, "choice": "blind"},
}
PNG = b"\x89PNG\r\n\x1a\n"
PROGRAM = [sys.executable, "-m", "ludodrome", "mcp"]


class Caller:
    """A client, with its answers read."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        """What a call returns that must succeed."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content[0].text
        return json.loads(result.content[0].text)

    async def complaint(self, tool: str, **arguments: Any) -> str:
        """What is said about a call that cannot be done."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error
        text: str = result.content[0].text
        assert "Traceback" not in text
        assert "validation error" not in text
        return text


def run_apart(run: Callable[[], Awaitable[None]]) -> None:
    """Runs it in a thread of its own: the loop of a browser that other tests have opened may run in this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(anyio.run, run).result()


def inside(test: Callable[[Caller], Awaitable[None]]) -> None:
    """Runs a test with a client of a server in this process."""

    async def run() -> None:
        async with Client(create_server()) as client:
            await test(Caller(client))

    run_apart(run)


@asynccontextmanager
async def over_stdio() -> AsyncIterator[Caller]:
    program = StdioServerParameters(command=PROGRAM[0], args=PROGRAM[1:])
    async with Client(stdio_client(program)) as client:
        yield Caller(client)


@asynccontextmanager
async def over_http() -> AsyncIterator[tuple[Caller, Caller]]:
    """Two clients of one server."""
    server = subprocess.Popen([*PROGRAM, "--http", "--port", "0"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        address = server.stdout.readline().split()[3]
        async with Client(address) as one, Client(address) as other:
            yield Caller(one), Caller(other)
    finally:
        server.terminate()
        server.wait(20)
        server.stdout.close()


async def chosen(call: Caller, view: dict[str, Any]) -> str:
    """A legal move, found as a client would."""
    if view["game"] == "spaces":
        return "3:1:uuf"
    moves = (await call("legal_moves", match=view["match"], key=view.get("key")))["legal_moves"]
    return str(moves[len(moves) // 2])


async def play(call: Caller, game: str, **more: Any) -> dict[str, Any]:
    """A whole game against a bot."""
    view: dict[str, Any] = await call("start_match", game=game, options=GAMES[game], opponent="random", seed=5, **more)
    match = view["match"]
    while "result" not in view:
        assert view["your_turn"]
        view = await call("make_move", match=match, move=await chosen(call, view))
    return view


def test_a_client_plays_a_whole_game_of_each_over_stdio(long: bool) -> None:
    async def run() -> None:
        async with over_stdio() as call:
            listed = (await call("list_games"))["games"]
            assert [game["id"] for game in listed] == ludodrome.game_ids()
            for game in ludodrome.game_ids() if long else ("dots", "spaces"):  # over HTTP each is played in any run
                rules = await call.client.call_tool("read_rules", {"game": game})
                assert "**R1. " in rules.content[0].text
                view = await play(call, game)
                replay = await call("replay", match=view["match"])
                records.verify(replay["record"])
                assert len(replay["moves"]) == len(replay["record"]["turns"]) == view["turn"]
                assert replay["record"]["result"]["decided_by"] == "play"

    run_apart(run)


def test_two_clients_play_each_other_and_every_game_over_http() -> None:
    async def run() -> None:
        async with over_http() as (one, other):
            small = {"rows": 2, "cols": 2}
            mine = await one("start_match", game="dots", options=small, opponent="client", seat=1)
            assert mine["waiting_for_players"] == [0]
            assert "waits for 1 more" in await one.complaint(
                "make_move", match=mine["match"], move="H(0,0)", key=mine["key"]
            )
            yours = await other("join_match", match=mine["match"])
            assert (yours["seat"], yours["your_turn"]) == (0, True)
            assert "all seats" in await other.complaint("join_match", match=mine["match"])
            assert "give the key" in await other.complaint("make_move", match=mine["match"], move="H(0,0)")
            assert "not a key" in await other.complaint("look", match=mine["match"], key="guessed")
            assert "not your turn" in await one.complaint(
                "make_move", match=mine["match"], move="H(1,0)", key=mine["key"]
            )
            seats = {0: (other, yours["key"]), 1: (one, mine["key"])}
            view = yours
            while "result" not in view:
                call, key = seats[view["to_move"]]
                view = await call("wait_for_turn", match=mine["match"], key=key, seconds=5)
                assert view["your_turn"]
                move = await chosen(call, view | {"key": key})
                view = await call("make_move", match=mine["match"], move=move, key=key)
            last = await one("wait_for_turn", match=mine["match"], key=mine["key"])
            assert last["result"]["winner"] == view["result"]["winner"]
            records.verify((await one("replay", match=mine["match"], key=mine["key"]))["record"])
            for game in ludodrome.game_ids():
                view = await play(other, game)
                records.verify((await one("replay", match=view["match"]))["record"])

    run_apart(run)


@pytest.mark.parametrize("game", ludodrome.game_ids())
def test_boards_are_shown_as_text_and_as_a_picture(game: str) -> None:
    async def test(call: Caller) -> None:
        view = await call("start_match", game=game, options=GAMES[game], opponent="random", seat=1)
        shown = await call.client.call_tool("look", {"match": view["match"], "state": True})
        text, image, state = shown.content
        assert view["board"] in text.text
        assert image.mime_type == "image/png"
        assert base64.b64decode(image.data).startswith(PNG)
        made = ludodrome.make(game, **GAMES[game])
        assert json.loads(state.text).keys() >= made.initial_state().keys()
        plain = await call.client.call_tool("look", {"match": view["match"], "turn": 0, "image": False})
        assert len(plain.content) == 1

    inside(test)


def test_pictures_are_real_images() -> None:
    import zlib

    game = ludodrome.make("dots", rows=1, cols=1)
    content = picture(seen_by(game, game.initial_state(), 0))
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    at = content.index(b"IDAT")
    rows = zlib.decompress(content[at + 4 : at + 4 + int.from_bytes(content[at - 4 : at], "big")])
    assert len(rows) == height * (1 + 3 * width)
    assert len(set(rows)) > 3


def test_a_face_down_move_stays_hidden() -> None:
    async def test(call: Caller) -> None:
        mine = await call("start_match", game="spaces", options={"choice": "blind", "rounds": 1}, opponent="client")
        match = mine["match"]
        yours = await call("join_match", match=match)
        await call("make_move", match=match, key=mine["key"], move="3:1:ul8uf")
        for tool in ("wait_for_turn", "replay"):
            assert "ul8uf" not in str(await call(tool, match=match, key=yours["key"]))
        seen = await call.client.call_tool("look", {"match": match, "key": yours["key"], "state": True})
        assert "ul8uf" not in seen.content[0].text
        assert json.loads(seen.content[2].text)["chosen"] is None
        assert "ul8uf" in str(await call("replay", match=match, key=mine["key"]))

    inside(test)


def test_three_seats_and_bots_that_begin() -> None:
    async def test(call: Caller) -> None:
        view = await call("start_match", game="santorini", options={"players": 3}, opponent="random", seat=2)
        assert view["turn"] == 2, "both bots have moved"
        assert view["players"] == ["random", "random", "client"]
        assert [move["seat"] for move in view["last_moves"]] == [0, 1]
        over = await call("resign", match=view["match"])
        assert over["result"]["decided_by"] == "resignation"
        assert "over" in await call.complaint("make_move", match=view["match"], move="[G1D2D1E1]")
        assert "over" in await call.complaint("resign", match=view["match"])
        records.verify((await call("replay", match=view["match"]))["record"])

    inside(test)


def test_illegal_moves_get_a_reason_and_lose_in_the_end() -> None:
    async def test(call: Caller) -> None:
        view = await call("start_match", game="santorini", policy="retry:3")
        match = view["match"]
        complaint = await call.complaint("make_move", match=match, move="[N1C2C3B3]")
        assert complaint == "Cannot build there: B3 is occupied by Navy's worker 2. Tries left: 2."
        assert "No move was found" in await call.complaint("make_move", match=match, move="hello")
        assert "the match is lost" in await call.complaint("make_move", match=match, move={"move": "[N1C2C3B3]"})
        record = (await call("replay", match=match))["record"]
        assert record["result"]["decided_by"] == "forfeit"
        assert len(record["turns"][0]["refusals"]) == 3
        records.verify(record)

    inside(test)


def test_a_move_may_be_json_and_may_be_substituted() -> None:
    async def test(call: Caller) -> None:
        options = {"rows": 2, "cols": 2}
        view = await call("start_match", game="dots", options=options, policy="substitute", opponent="random")
        match = view["match"]
        assert "first legal move was played" in await call.complaint("make_move", match=match, move="H(9,9)")
        state = json.loads((await call.client.call_tool("look", {"match": match, "state": True})).content[2].text)
        game = ludodrome.make("dots", **options)
        free = game.legal_moves({name: value for name, value in state.items() if name != "you"})
        after = await call("make_move", match=match, move=free[0])
        assert after["turn"] > state["turn"]

    inside(test)


def test_analysis_and_legal_moves_only_where_the_match_allows_them() -> None:
    async def test(call: Caller) -> None:
        plain = await call("start_match", game="dots", options={"rows": 2, "cols": 2}, show_legal_moves=False)
        assert "does not allow analysis" in await call.complaint("analyse", match=plain["match"])
        assert "does not show the legal moves" in await call.complaint("legal_moves", match=plain["match"])
        open_ = await call("start_match", game="dots", options={"rows": 2, "cols": 2}, allow_analysis=True)
        analysis = await call("analyse", match=open_["match"], seconds=0.2, lines=2)
        assert len(analysis["lines"]) == 2
        assert analysis["to_move"] == 0
        two = {"game": "dots", "options": {"rows": 2, "cols": 2}, "opponent": "client", "allow_analysis": True}
        mine = await call("start_match", **two)
        await call("join_match", match=mine["match"])
        assert "the engine says nothing" in await call.complaint("analyse", match=mine["match"], key=mine["key"])

    inside(test)


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("start_game", {}, "there is no tool 'start_game'; the tools are list_games"),
        ("start_match", {}, "start_match was called with wrong arguments: game is missing"),
        ("start_match", {"game": "chess"}, "there is no game 'chess'; the games are caldera"),
        ("start_match", {"game": "dots", "options": {"rows": 99}}, "rows of dots is a whole number from 1"),
        ("start_match", {"game": "dots", "options": {"row": 3}}, "dots has no option 'row'"),
        ("start_match", {"game": "dots", "options": "rows=3"}, "start_match was called with wrong arguments: options"),
        ("start_match", {"game": "dots", "opponent": "nobody"}, "an opponent is 'client' or a built-in bot"),
        ("start_match", {"game": "dots", "opponent": "py:evil.py:Bot"}, "an opponent is 'client' or a built-in bot"),
        ("start_match", {"game": "dots", "opponent": "llm:http://a/v1,model=b"}, "an opponent is 'client' or"),
        ("start_match", {"game": "dots", "opponent": "alphabeta:deep=3"}, "alphabeta has no parameter 'deep'"),
        ("start_match", {"game": "dots", "opponent": "expert:time=3000"}, "time of an opponent is at most 10"),
        ("start_match", {"game": "dots", "seat": 2}, "a seat of dots is a whole number from 0 to 1, not 2"),
        ("start_match", {"game": "dots", "policy": "shrug"}, "a policy is forfeit, substitute or retry"),
        ("start_match", {"game": "spaces", "options": {"size": 101}}, "size of spaces is a whole number from 2 to 100"),
        ("start_match", {"game": "dots", "oponent": "random"}, "start_match has no argument 'oponent'"),
        ("list_games", {"page": 2}, "list_games has no argument 'page'; its arguments are none"),
        ("look", {"match": "none"}, "there is no match 'none'; start_match gives the id of a new one"),
        ("read_rules", {"game": 5}, "read_rules was called with wrong arguments: game: input should be a valid string"),
    ],
)
def test_bad_calls_get_clear_errors(tool: str, arguments: dict[str, Any], why: str) -> None:
    async def test(call: Caller) -> None:
        assert why in await call.complaint(tool, **arguments)

    inside(test)


def test_bad_turns_and_moves_of_spaces_get_clear_errors() -> None:
    async def test(call: Caller) -> None:
        view = await call("start_match", game="spaces")
        assert "too many to list" in await call.complaint("legal_moves", match=view["match"])
        assert "numbered from 0 to 0, not 7" in await call.complaint("look", match=view["match"], turn=7)
        small = await call("start_match", game="spaces", options={"size": 2, "rules": "live"})
        assert len((await call("legal_moves", match=small["match"]))["legal_moves"]) == 14
        two = await call("start_match", game="spaces", opponent="client")
        assert "seat 0" in await call.complaint("join_match", match=two["match"], seat=0)

    inside(test)


@pytest.mark.parametrize("size", [11, 100])
def test_large_grids_of_spaces_are_played_in_short_texts(size: int) -> None:
    async def test(call: Caller) -> None:
        options = {"size": size, "rules": "live", "rounds": 2}
        view = await call("start_match", game="spaces", options=options, opponent="random", seed=3)
        code = f"{size}:{size // 2}:{'u' * (size - 1)}f"
        view = await call("make_move", match=view["match"], move=f"[{code}]")
        assert view["your_turn"]
        assert code in view["board"]
        assert "laid by seat 1: " in view["board"]
        assert len(view["board"].splitlines()) == 3  # the round, the board laid, how it stands: no grid
        looked = (await call.client.call_tool("look", {"match": view["match"]})).content
        assert looked[0].text.startswith(view["board"])
        assert base64.b64decode(looked[1].data).startswith(PNG)
        assert sum(len(part.text if part.type == "text" else part.data) for part in looked) < 100_000
        view = await call("make_move", match=view["match"], move=code)
        assert view["result"]["reason"] in ("higher total", "equal totals")

    inside(test)


def test_the_rules_are_resources() -> None:
    async def test(call: Caller) -> None:
        found = await call.client.list_resources()
        assert sorted(one.name for one in found.resources) == ludodrome.game_ids()
        page = await call.client.read_resource("ludodrome://rules/dots")
        assert page.contents[0].text.startswith("# Dots and Boxes")

    inside(test)


def test_every_tool_is_on_the_page() -> None:
    async def test(call: Caller) -> None:
        page = (Path(__file__).parents[1] / "docs" / "how-to" / "mcp.md").read_text("utf-8")
        lines = dict(re.findall(r"^\| `(\w+)` \|([^|]*)\|", page, re.MULTILINE))
        tools = (await call.client.list_tools()).tools
        assert list(lines) == [tool.name for tool in tools]
        for tool in tools:
            assert re.findall(r"`(\w+)`", lines[tool.name]) == list(tool.input_schema.get("properties", {}))
            assert tool.description

    inside(test)


def test_without_the_sdk_the_error_names_the_extra() -> None:
    script = (
        "import sys; sys.modules['mcp'] = None; sys.argv = ['ludodrome', 'mcp']; import ludodrome.cli as c; c.main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 2
    assert "MCP servers need mcp, which is not installed: pip install 'ludodrome[mcp]'" in done.stderr


def test_a_port_needs_http() -> None:
    done = subprocess.run([*PROGRAM, "--port", "9"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "--port needs --http" in done.stderr
