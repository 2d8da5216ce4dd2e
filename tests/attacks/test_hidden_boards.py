"""No board of spaces is told before its time: by no route, stream, record, analysis, message or MCP tool.

Every route of ``tests/web/matrix.txt`` is asked, and that table has every route of the server; every MCP tool is
called. The answers hold none of the hidden boards in any of their forms, and they are the same in two plays that
differ in nothing but what is hidden. ``blind``, ``fog`` and ``deck`` hide different things.
"""

import html
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from itertools import count
from typing import Any, NamedTuple

import pytest
from httpx import Client
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import ludodrome
from ludodrome import spaces
from ludodrome.arena import records
from ludodrome.arena.ladder.playing import Broadcast
from ludodrome.arena.referee import MoveHistory, Referee
from ludodrome.arena.seats import Answer
from ludodrome.store import league_bots, league_matches
from tests.arena.playing import play_spec
from tests.web import test_matrix as matrix
from tests.web.hosting import Hosted, hosting

pytestmark = pytest.mark.xdist_group("spaces")

API = matrix.API
FILLER = "5:2:uuuuf"


class Case(NamedTuple):
    """A kind of hiding. ``lays``: what the seats lay in turn; ``variants``: the same with other hidden boards."""

    options: dict[str, Any]
    lays: tuple[str, ...]
    variant: tuple[str, ...]
    """Other boards of seat 0, which look the same to everybody else."""
    secret: tuple[int, ...]
    """Which lays are hidden at the end from everybody but the seat that laid them."""


def _deck(code: str) -> str:
    return ",".join([*["5:2:uuuuf"] * 9, code])


OPTIONS = {"size": 5, "rounds": 3}
CASES = {
    # seat 0 has laid the first board
    "blind": Case({**OPTIONS, "choice": "blind"}, ("5:1:uu4ruuf",), ("5:3:l5uu7uuf",), (0,)),
    # a round is over, in the next one seat 1 has laid
    "blind, later": Case(
        {**OPTIONS, "choice": "blind"},
        (FILLER, "5:0:uuuuf", "5:3:u1lu9uuf"),
        (FILLER, "5:0:uuuuf", "5:3:5luuuuf"),
        (2,),
    ),
    # a round is over; its traps are hidden, and so is what came after its end
    "fog": Case({**OPTIONS, "choice": "fog"}, ("5:1:uu4uuf", "5:0:u6uuuf"), ("5:1:uu6uuf", "5:0:u6uuuf"), (0, 1)),
    "fog, later": Case(
        {**OPTIONS, "choice": "fog", "rules": "live"},
        ("5:1:uu4uuf", "5:0:u6uuuf", "5:3:u4uu6uf", "5:3:uuu4uf", "5:0:8ruuuuf"),
        ("5:1:uu6uuf", "5:0:u6uuuf", "5:3:u4uu6uf", "5:3:uuu5uf", "5:4:l5uuuuf"),
        (0, 1, 2, 3, 4),
    ),
    "deck": Case({"size": 5, "mode": "deck"}, (_deck("5:1:uu4ruuf"),), (_deck("5:3:l5uu7uuf"),), (0,)),
}
SEATS = (0, 1, 1, 0, 0, 1)
"""The seat of each lay."""


def moves_of(lays: tuple[str, ...]) -> list[Any]:
    boards = [[spaces.parse_board(code) for code in lay.split(",")] for lay in lays]
    return [{"deck": lay} if len(lay) > 1 else lay[0] for lay in boards]


def secrets_for(case: Case, lays: tuple[str, ...], seat: int | None) -> list[str]:
    """The codes that a seat, or a spectator (None), may not find."""
    hidden = [lays[index] for index in case.secret if SEATS[index] != seat]
    return sorted({code for lay in hidden for code in lay.split(",")} - {FILLER})


def leaks(text: str, codes: list[str], traps_too: bool = True) -> list[str]:
    """The forms of boards that a text holds: the code, its steps, the sequence, and single traps of it.

    Another board may have the same trap in the same step; so traps count only where no others are expected.
    """
    bare = re.sub(r"[\s\\]", "", html.unescape(text))
    found = []
    for code in codes:
        sequence = spaces.parse_board(code)["sequence"]
        traps = [step for step in sequence if step["type"] == "trap"]
        steps = code.rpartition(":")[2]
        forms = {"code": code, "steps": f":{steps}", "sequence": json.dumps(sequence, separators=(",", ":"))}
        for number, trap in enumerate(traps if traps_too else ()):
            forms[f"trap {number}"] = json.dumps(trap, separators=(",", ":"))
        found += [f"{code}: {name}" for name, form in forms.items() if form in bare]
    return found


def test_leaks_are_found() -> None:
    board = spaces.parse_board("5:1:uu4ruuf")
    trap = board["sequence"][3]
    for text in ("the board 5:1:uu4ruuf", json.dumps({"chosen": board}), html.escape(json.dumps([trap]), quote=True)):
        assert leaks(text, ["5:1:uu4ruuf"])
    assert not leaks(json.dumps(board), ["5:3:l5uu7uuf"])


@pytest.mark.parametrize("name", CASES)
def test_the_cases_look_alike_to_everybody_else(name: str) -> None:
    case = CASES[name]
    game = ludodrome.make("spaces", **case.options)
    states = []
    for lays in (case.lays, case.variant):
        state = game.initial_state()
        for lay, move in zip(SEATS, moves_of(lays), strict=False):
            assert game.to_move(state) == lay
            state = game.apply(state, move)
        states.append(state)
    assert states[0] != states[1]
    changed = {
        SEATS[index] for index, pair in enumerate(zip(case.lays, case.variant, strict=True)) if len(set(pair)) > 1
    }
    for seat in (0, 1, None):
        alike = game.observation(states[0], seat) == game.observation(states[1], seat)
        assert alike == (seat not in changed)


# The server


class Play:
    """A play of two people with hidden boards, and a match of the league with the same ones."""

    def __init__(self, hosted: Hosted, case: Case, lays: tuple[str, ...], name: str) -> None:
        self.hosted, self.case, self.lays = hosted, case, lays
        self.owner, self.guest = hosted.client("Owner"), hosted.client()
        wish = {"game": "spaces", "options": case.options, "seats": ["person", "friend"]}
        begun = self.owner.post(f"{API}/plays", json=wish).json()
        self.id = begun["id"]
        self.link = begun["seats"][1]["link"].rpartition("/")[2]
        self.key = self.owner.post(f"{API}/joins/{self.link}").json()["key"]
        for seat, move in zip(SEATS, moves_of(lays), strict=False):
            self.lay(seat, move)
        self.match = self._league_match(name)

    def __enter__(self) -> "Play":
        return self

    def __exit__(self, *error: object) -> None:
        self.owner.close()
        self.guest.close()

    def lay(self, seat: int, move: Any) -> None:
        headers = {"x-play-key": self.key} if seat else {}
        client = self.guest if seat else self.owner
        laid = client.post(f"{API}/plays/{self.id}/moves", json={"move": move}, headers=headers)
        assert laid.status_code == 200, laid.text

    def _league_match(self, name: str) -> str:
        engine = self.hosted.engine
        bots = [one.id for one in league_bots.bots(engine, "spaces") if one.kind == "builtin"][:2]
        match = {"game": "spaces", "options": self.case.options, "names": ["one", "two"]}
        league_matches.queue(engine, "challenge", [(name, match, bots, 0)], None)
        while (claimed := league_matches.claim(engine, "a runner")) is not None and claimed.id != name:
            pass
        referee = Referee(play_spec("spaces", ["random", "random"], **self.case.options))
        broadcast = Broadcast(engine, referee, 0)
        for move in moves_of(self.lays):
            referee.deliver(Answer(0.0, move))
        broadcast.update(referee)
        assert broadcast._latest is not None
        league_matches.show(engine, name, *broadcast._latest)
        return name

    def path(self, row: matrix.Row, thing: Callable[[str], str]) -> str:
        """The address of a row: of this play or match where it has one, else of some other thing."""
        own = {"play": self.id, "over": self.id, "match": self.match, "link": self.link}
        path = row.path.replace("/dots", "/spaces")
        path = path.replace("/positions/0", f"/positions/{len(self.lays)}").replace(
            "/replays/none/", "/replays/{over}/"
        )
        return re.sub(r"\{(\w+)\}", lambda found: own.get(found[1]) or thing(found[1]), path)

    def bare(self, text: str) -> Any:
        """A JSON answer without what differs from play to play, for comparison."""
        for word, name in ((self.id, "PLAY"), (self.link, "LINK"), (self.key, "KEY"), (self.match, "MATCH")):
            text = text.replace(word, name)
        return _timeless(json.loads(text))


VOLATILE = re.compile(r"(^|_)(ms|at|seconds|created|queued|begun|ended|tick)$|^(presence|here|link)$")


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(one) for name, one in value.items() if not VOLATILE.search(name) or name == "ended"}
    return [_timeless(one) for one in value] if isinstance(value, list) else value


def asked(client: Client, address: str, row: matrix.Row, path: str, headers: dict[str, str]) -> str:
    """What a route answers: the whole text, or the first event of a stream, or the first message of a socket."""
    if row.method == matrix.WS:
        key = headers.get("x-play-key")
        cookies = {"Cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}
        where = f"ws{address[4:]}{path}" + (f"?key={key}" if key else "")
        try:
            with connect(where, additional_headers=cookies) as socket:
                return str(socket.recv(timeout=10))
        except (InvalidStatus, ConnectionClosed, TimeoutError):
            return ""
    content = {"content": row.body, "headers": {**headers, "content-type": "application/json"}}
    if not row.body:
        content = {"headers": headers}
    with client.stream(row.method, path, **content) as answer:  # type: ignore[arg-type]
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            return next((line[6:] for line in answer.iter_lines() if line.startswith("data: ")), "")
        return answer.read().decode()


@pytest.fixture
def hosted() -> Iterator[Hosted]:
    with hosting() as running:
        yield running


_numbers = count()
OF_THE_PLAY = ("{play}", "{over}", "{match}", "/live/")


class Eyes(NamedTuple):
    """Somebody who looks."""

    name: str
    client: Client
    seat: int | None


@pytest.mark.parametrize("name", CASES)
def test_no_route_tells_a_board_before_its_time(hosted: Hosted, name: str) -> None:
    case = CASES[name]
    with ExitStack() as stack:
        others = matrix.World(hosted)
        stack.callback(others.close)
        thing = cache(others.thing)
        plays = [
            stack.enter_context(Play(hosted, case, lays, f"hidden-{next(_numbers)}"))
            for lays in (case.lays, case.variant)
        ]
        viewers = [
            Eyes(viewer, stack.enter_context(hosted.client(person)), seat)
            for viewer, person, seat in (
                ("a stranger", None, None),
                ("somebody", "Other", None),
                ("the administrator", "Chief", None),
                ("seat 0", "Owner", 0),
                ("seat 1", None, 1),
            )
        ]
        compared = sum(_ask(hosted, thing, case, plays, row, eyes) for row in matrix.rows() for eyes in viewers)
        assert compared >= 20
        _reveal(plays[0], len(case.lays))


def _ask(
    hosted: Hosted, thing: Callable[[str], str], case: Case, plays: list[Play], row: matrix.Row, eyes: Eyes
) -> bool:
    """Ask a route about both plays: neither answer holds what is hidden. Returns whether they were compared."""
    if eyes.name != "a stranger" and row.method not in ("GET", matrix.WS):
        return False  # with a seat it would change the play
    of_the_play = any(part in row.path for part in OF_THE_PLAY)
    texts = []
    for play in plays:
        headers = {"x-play-key": play.key} if eyes.seat == 1 else {}
        texts.append(asked(eyes.client, hosted.address, row, play.path(row, thing), headers))
        found = leaks(texts[-1], secrets_for(case, play.lays, eyes.seat), traps_too=of_the_play)
        assert not found, f"{row.method} {row.path} tells {eyes.name} {found}"
    alone = "/live/" not in row.path or row.method == matrix.WS  # else both matches run, and either may come first
    if not alone or not of_the_play or texts[0][:1] != "{":
        return False
    if eyes.seat not in _changed(case):
        assert plays[0].bare(texts[0]) == plays[1].bare(texts[1]), (row.path, eyes.name)
    return True


def _changed(case: Case) -> set[int]:
    """The seats whose boards differ in the variant: they see the difference."""
    return {SEATS[index] for index, pair in enumerate(zip(case.lays, case.variant, strict=True)) if len(set(pair)) > 1}


def _reveal(play: Play, laid: int) -> None:
    """Once it is over, everybody finds every board in the record: they were there to be found."""
    filler = (
        {"deck": [spaces.parse_board(FILLER)] * 10} if play.case.options.get("mode") else spaces.parse_board(FILLER)
    )
    for seat in SEATS[laid : 2 if play.case.options.get("mode") else len(SEATS)]:
        play.lay(seat, filler)
    with play.hosted.client() as stranger:
        text = stranger.get(f"{API}/plays/{play.id}/record").text
        record = records.from_text(text.encode())
        records.verify(record)
        assert leaks(text, secrets_for(play.case, play.lays, None))
        shown = stranger.get(f"{API}/plays/{play.id}").text
        assert leaks(shown, secrets_for(play.case, play.lays, None))
        assert stranger.get(f"{API}/replays/{play.id}").status_code == 200


def test_every_route_is_asked(hosted: Hosted) -> None:
    """The table has every route of the server (test_matrix.py); here: those of plays and matches are asked of these."""
    there = {path for method, path in matrix.routes(hosted.app) if method != "HEAD"}
    named = re.compile(r"\{(name|match_id|record|replay)")
    for path in sorted(one for one in there if named.search(one)):
        form = re.compile(re.sub(r"\\\{\w+(:path)?\\\}", "[^/]+", re.escape(path)))
        rows = [row for row in matrix.rows() if form.fullmatch(row.path)]
        assert rows, path


# The arena


@pytest.mark.parametrize("name", CASES)
def test_no_message_tells_a_board_before_its_time(name: str) -> None:
    """What bots are sent, over every transport: turns, observations, moves since the last turn."""
    case = CASES[name]
    sent: list[list[Any]] = []
    for lays in (case.lays, case.variant):
        spec = play_spec("spaces", ["random", "random"], seed=1, **case.options)
        referee = Referee(spec)
        history = MoveHistory(referee.game, spec)
        told: list[tuple[int, str]] = []
        for number, move in enumerate([*moves_of(lays), None]):
            turn = referee.turn
            assert turn is not None
            told.append((turn.seat, json.dumps(turn.message)))
            told.append((turn.seat, json.dumps(history.unsent(turn.seat, number))))
            if move is not None:
                referee.deliver(Answer(0.0, move))
                history.extend([move])
        for seat, text in told[-2:]:
            found = leaks(text, secrets_for(case, lays, seat))
            assert not found, f"a message tells seat {seat} {found}"
        sent.append([re.sub('"ts_ms": [0-9]+', "", text) for seat, text in told if seat not in _changed(case)])
    assert sent[0] == sent[1]
    assert all(sent) or len(_changed(case)) == 2


# MCP


TOOLS: dict[str, dict[str, Any]] = {
    "list_games": {},
    "read_rules": {"game": "spaces"},
    "look": {"state": True},
    "legal_moves": {},
    "make_move": {"move": "nonsense"},
    "wait_for_turn": {"seconds": 0},
    "analyse": {"seconds": 0.1},
    "replay": {},
}
"""The arguments of every tool that a client of a match calls."""
NOT_CALLED = {"start_match", "join_match", "resign"}
"""Tools that begin a match, take a seat (both are called to get there), or end it."""


@pytest.mark.parametrize("name", CASES)
def test_no_mcp_tool_tells_a_board_before_its_time(name: str) -> None:
    pytest.importorskip("mcp", reason="mcp is not installed: pip install 'ludodrome[mcp]'")
    from tests.test_mcp import Caller, inside

    case = CASES[name]

    async def test(call: Caller) -> None:
        tools = {tool.name for tool in (await call.client.list_tools()).tools}
        assert tools == set(TOOLS) | NOT_CALLED, "a new tool needs arguments here"
        told: list[dict[tuple[str, int], Any]] = []
        for lays in (case.lays, case.variant):
            mine = await call(
                "start_match", game="spaces", options=case.options, opponent="client", seed=3, allow_analysis=True
            )
            match, keys = mine["match"], [mine["key"]]
            keys.append((await call("join_match", match=match))["key"])
            for seat, move in zip(SEATS, moves_of(lays), strict=False):
                await call("make_move", match=match, key=keys[seat], move=move)
            texts: dict[tuple[str, int], Any] = {}
            for tool, arguments in TOOLS.items():
                for seat, key in enumerate(keys):
                    where = {} if tool in ("list_games", "read_rules") else {"match": match, "key": key}
                    for turn in range(len(lays) + 1) if tool == "look" else (None,):
                        more = {} if turn is None else {"turn": turn}
                        result = await call.client.call_tool(tool, {**arguments, **where, **more})
                        text = "\n".join(str(getattr(one, "text", getattr(one, "data", ""))) for one in result.content)
                        found = leaks(text, secrets_for(case, lays, seat))
                        assert not found, f"{tool} tells seat {seat} {found}"
                        texts[f"{tool} {turn}", seat] = text.replace(match, "MATCH")
            told.append(texts)
        for (tool, seat), text in told[0].items():
            if seat not in _changed(case):
                assert text == told[1][tool, seat], f"{tool} tells seat {seat} what is hidden"

    inside(test)


# Environments


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "mode" not in case.options])
def test_no_environment_tells_a_board_before_its_time(name: str) -> None:
    """OpenSpiel's texts and tensors, and the texts of TextArena."""
    case = CASES[name]
    game = ludodrome.make("spaces", **case.options)
    seats = [seat for seat in (0, 1) if seat not in _changed(case)]
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    import pyspiel

    from ludodrome.envs.openspiel import PREFIX

    told = []
    for lays in (case.lays, case.variant):
        state = pyspiel.load_game(f"{PREFIX}spaces", dict(case.options)).new_initial_state()
        for move in moves_of(lays):
            for action in game.actions_of(move, None):
                state.apply_action(action)
        texts = [state.observation_string(seat) + state.information_state_string(seat) for seat in seats]
        for seat, text in zip(seats, texts, strict=True):
            assert not leaks(text, secrets_for(case, lays, seat))
        told.append([texts, [state.observation_tensor(seat) for seat in seats]])
    assert told[0] == told[1]
