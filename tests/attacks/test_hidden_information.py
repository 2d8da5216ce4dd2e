"""Point 10 of the list of attacks: games of other packages do not show spectators what is hidden.

The package ``tests/scaffold/picks`` is a game of hidden numbers. Its variants here leak in one place each: the contract
finds them, and what leaves the server is made of the observation all the same.
"""

import ast
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ludodrome
from ludodrome.game import Cell, Game
from ludodrome.games import GAMES, GameEntry
from ludodrome.testing.contract import CHECKS, hidden_information_stays_hidden, observations_show_the_state
from ludodrome.web.position_view import position_view
from tests.scaffold.installing import PICKS

SECRET = 3
SOURCE = Path(ludodrome.__file__).parent


@pytest.fixture(scope="module")
def picks() -> type[Game]:
    """The class of the game, as if its package were installed."""
    folder = str(PICKS / "src")
    sys.path.insert(0, folder)
    try:
        from ludodrome_picks import Picks  # type: ignore[import-not-found, unused-ignore]
    finally:
        sys.path.remove(folder)
    found: type[Game] = Picks
    return found


def variant(picks: type[Game], **changes: Any) -> Game:
    """The game with some of its methods replaced."""
    made: type[Game] = type("Variant", (picks,), changes)
    return made()


def _whole_state(game: Game, observation: Any) -> Any:
    """Every number, from somewhere else than the observation."""
    return game.decode(LEAK[-1])


LEAK: list[Any] = []
"""The last record that was decoded: what a careless game might remember."""


def remembering(game: Game, record: Any) -> Any:
    LEAK.append(record.copy())
    return Game.decode(game, record)


def leaky_drawing(game: Any, observation: Any) -> str:
    return f"picks {_whole_state(game, observation)['picks']}"


def leaky_cells(game: Any, observation: Any) -> list[list[Cell]]:
    return [[Cell("", str(pick)) for pick in _whole_state(game, observation)["picks"]]]


def leaky_record(game: Any, observation: Any) -> Any:
    return LEAK[-1]


def shows_spectators_all(game: Any, state: Any, seat: int | None = None) -> Any:
    return Game.observation(game, state) if seat is None else super(type(game), game).observation(state, seat)


def mask_with_a_number(game: Any, state: Any, seat: int | None = None) -> Any:
    """A hidden number looks like a 1, so that a 1 seems to be open."""
    seen = Game.observation(game, state, seat)
    if not seen["reason"]:
        seen["picks"] = [1 if pick is not None and other != seat else pick for other, pick in enumerate(seen["picks"])]
    return seen


def legal_that_depends(game: Any, states: Any) -> list[Any]:
    """The second seat may not repeat the hidden number of the first."""
    moves = Game.legal_moves_of(game, states)
    return [move for move in moves if move["pick"] != int(states["picks"][0, 0])]


LEAKS: dict[str, tuple[dict[str, Any], str]] = {
    "drawing": ({"render_observation": leaky_drawing, "decode": remembering}, "render_observation tells"),
    "cells": ({"cells": leaky_cells, "decode": remembering}, "cells tells"),
    "record": ({"encode_observation": leaky_record, "decode": remembering}, "encode_observation tells"),
    "spectators": ({"observation": shows_spectators_all}, "spectators see more than seat 1"),
    "mask": ({"observation": mask_with_a_number}, "is_partial tells"),
    "legal moves": ({"legal_moves_of": legal_that_depends}, "legal_moves tells seat 1"),
    "nothing hidden": ({"observation": Game.observation}, "nothing is hidden in any position"),
}


def test_the_game_of_hidden_numbers_keeps_them(picks: type[Game]) -> None:
    assert hidden_information_stays_hidden in CHECKS
    for players in (2, 3):
        hidden_information_stays_hidden(picks(players=players))


@pytest.mark.parametrize("leak", LEAKS)
def test_point_10_the_contract_finds_a_leak(picks: type[Game], leak: str) -> None:
    changes, sentence = LEAKS[leak]
    with pytest.raises(AssertionError, match=sentence):
        hidden_information_stays_hidden(variant(picks, **changes))


def test_point_10_the_contract_finds_planes_that_leak(picks: type[Game], monkeypatch: pytest.MonkeyPatch) -> None:
    game = variant(picks)

    class Kernels:
        def __getattr__(self, name: str) -> Any:
            return getattr(picks.kernels, name)

        def look_many(self, states: Any, rows: Any, seats: Any, observed: Any) -> None:
            observed.planes[0, 0, :2] = states["picks"][0, :2]

    monkeypatch.setattr(type(game), "kernels", Kernels())
    with pytest.raises(AssertionError, match="planes tells"):
        hidden_information_stays_hidden(game)


def test_point_10_a_game_that_does_not_say_that_it_hides_is_not_shown(
    picks: type[Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The observation decides, not the flag: state, drawing, cells, legal moves and moves stay hidden."""
    monkeypatch.setattr(picks, "has_hidden_information", False)
    game = picks()
    state = game.apply(game.initial_state(), {"pick": SECRET})
    with pytest.raises(AssertionError):
        observations_show_the_state(game)
    assert game.hides(state)
    view = position_view(game, state)
    assert view["legal"] == []
    assert view["marks"]["texts"] == []
    assert view["state"]["picks"] == [0, None]
    assert view["marks"]["drawing"].startswith("picks ?-")
    assert str(SECRET) not in json.dumps(view)
    assert [move["pick"] for move in position_view(game, state, 1)["legal"]] == [1, 2, 3, 4]


@pytest.fixture
def listed(picks: type[Game], monkeypatch: pytest.MonkeyPatch) -> type[Game]:
    """The game in the registry, hiding without saying so."""
    monkeypatch.setattr(picks, "has_hidden_information", False)
    module = ModuleType("picks_of_a_test")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.GAME = picks  # type: ignore[attr-defined]
    entry = GameEntry("picks", "Picks", "numbers", module.__name__)
    monkeypatch.setitem(GAMES._plugins, "picks", entry)
    return picks


def test_point_10_plays_and_live_views_stay_hidden(listed: type[Game]) -> None:
    """A play and a match of the league: neither spectators nor the other seat see the number or the move."""
    from ludodrome.arena.ladder.playing import Broadcast
    from ludodrome.arena.referee import Referee
    from ludodrome.arena.seats import Answer
    from ludodrome.web.league import with_marks
    from tests.arena.playing import play_spec
    from tests.web.hosting import hosting

    referee = Referee(play_spec("picks", ["random", "random"]))
    broadcast = Broadcast(None, referee, 0)  # type: ignore[arg-type]
    referee.deliver(Answer(0.0, {"pick": SECRET}))
    broadcast.update(referee)
    assert broadcast._latest is not None
    view = with_marks(json.loads(json.dumps(broadcast._latest[1])))
    assert view["last"] is None
    assert view["texts"] == []
    assert view["state"]["picks"] == [0, None]
    assert str(SECRET) not in json.dumps([view["marks"], view["state"], view["texts"], view["last"]])
    with hosting() as hosted, hosted.client() as owner, hosted.client() as stranger:
        begun = owner.post("/api/v1/plays", json={"game": "picks", "seats": ["person", "friend"]}).json()
        link = begun["seats"][1]["link"].rpartition("/")[2]
        friend = {"x-play-key": owner.post(f"/api/v1/joins/{link}").json()["key"]}
        where, own = f"/api/v1/plays/{begun['id']}", {"x-play-key": begun["key"]}
        assert owner.post(f"{where}/moves", json={"move": {"pick": SECRET}}, headers=own).status_code == 200
        for headers in ({}, friend, own):
            seen = stranger.get(where, headers=headers).json()
            assert [move["text"] for move in seen["moves"]] == ["face down"]
            assert [move["move"] for move in seen["moves"]] == [None]
            assert seen["position"]["state"]["picks"] == [0, None]
            assert seen["position"]["legal"] == []
            assert str(SECRET) not in json.dumps(seen["position"])
        past = stranger.get(f"{where}/positions/1").json()
        assert past["state"]["picks"] == [0, None]
        assert past["legal"] == []


ASKING = {"observation", "observation_of", "hides", "render_observation", "encode_observation", "cells"}
"""Methods of a game that say what a viewer sees. What leaves the server asks for them through ``SeenPosition``."""
MAY_ASK = {
    "web/position_view.py": {"render_observation", "cells"},  # of an observation
    "web/routes/games.py": {"observation"},  # for the bot of the warm-up
    "arena/ladder/show_matches.py": {"observation"},  # likewise
}


def test_point_10_everything_that_leaves_the_server_passes_one_function() -> None:
    """No module of the page, of MCP or of the league's live views asks a game itself what a viewer sees."""
    found = []
    for folder in ("web", "mcp", "arena/ladder"):
        for path in sorted((SOURCE / folder).rglob("*.py")):
            name = path.relative_to(SOURCE).as_posix()
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ASKING:
                    owner = node.func.value
                    called = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
                    if called == "game" and node.func.attr not in MAY_ASK.get(name, ()):
                        found.append(f"{name}:{node.lineno} {node.func.attr}")
    assert found == []
