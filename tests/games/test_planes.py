"""What learners see, against the JSON states: every plane of every game, from every seat, along random games."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.envs.observations import as_planes, new_observations
from ludodrome.game import Game
from ludodrome.jit import COMPILED, Array
from tests.cases import each_case


def seen(game: Game, states: Any, seat: int) -> tuple[dict[str, Array], Array]:
    """The planes by name, and the mask."""
    observations = new_observations(game, 1)
    observations.planes[:] = 99
    observations.mask[:] = 1
    game.kernels.look_many(states, np.zeros(1, np.int64), np.array([seat], np.int8), observations)
    planes = game.planes
    picture = as_planes(game, observations)[0]
    assert picture.dtype == planes.dtype
    for number, (plane, most) in enumerate(zip(picture, planes.highest, strict=True)):
        assert 0 <= plane.min() <= plane.max() <= most, planes.names[number]
    return dict(zip(planes.names, picture, strict=True)), observations.mask[0]


def walk(game: Game, seed: int) -> Iterator[Any]:
    """The records of a random game, every one of a short game, some of a long one."""
    states = game.blank()
    game.kernels.reset(states, np.uint64(seed))
    buffer, dice = game.buffer(), random.Random(seed)
    often = 1 if game.max_game_length < 70 else 5 if COMPILED else 20
    ply = 0
    while count := int(game.kernels.legal(states, buffer)):
        if ply % often == 0:
            yield states
        game.kernels.play(states, int(buffer[dice.randrange(count)]))
        ply += 1
    yield states


def waiting(game: Game, state: Any, seat: int) -> int:
    mover = game.to_move(state)
    return 0 if mover is None else 1 + (mover - seat) % game.seats


def tower_planes(heights: list[int]) -> dict[str, Any]:
    board = np.array(heights).reshape(5, 5)
    return {f"higher than {level}": board > level for level in range(4)}


def spot(size: int, cell: int | None) -> Array:
    plane = np.zeros((size, size), int)
    if cell is not None:
        plane[divmod(cell, size)] = 1
    return plane


def skysummit(game: Game, state: Any, seat: int) -> dict[str, Any]:
    planes = tower_planes(state["board"])
    for whose, owner in (("own", seat), ("other", 1 - seat)):
        for worker, cell in enumerate(state["workers"][owner]):
            planes[f"{whose} worker {worker}"] = spot(5, cell)
    planes["turns left"] = min(game.options["turn_limit"] - state["ply"], 255)
    return planes


def santorini(game: Game, state: Any, seat: int) -> dict[str, Any]:
    planes = tower_planes([height for row in state["board"] for height in row])
    for place, whose in zip(range(game.seats), ("own", "next seat's", "last seat's"), strict=False):
        for worker, name in enumerate(state["workers"][(seat + place) % game.seats], 1):
            planes[f"{whose} worker {worker}"] = spot(5, "ABCDE".index(name[0]) * 5 + int(name[1]) - 1)
    return planes


def caldera(game: Game, state: Any, seat: int) -> dict[str, Any]:
    board = np.array(state["board"])
    planes: dict[str, Any] = {f"higher than {level}": (board > level) | (board == -1) for level in range(3)}
    planes["vent"] = board == -1
    for whose, owner in (("own", seat), ("other", 1 - seat)):
        numbers = {"lancer": 0, "smith": 0, "crown": 0}
        for piece in ("crown", "lancer 1", "lancer 2", "smith 1", "smith 2"):
            planes[f"{whose} {piece}"] = spot(7, None)
        for piece in state[f"p{owner}"]:
            kind = piece["type"]
            numbers[kind] += 1
            name = kind if kind == "crown" else f"{kind} {numbers[kind]}"
            planes[f"{whose} {name}"] = spot(7, piece["r"] * 7 + piece["c"])
    planes["turns left"] = min(game.options["turn_limit"] - state["ply"], 255)
    return planes


def dots(game: Game, state: Any, seat: int) -> dict[str, Any]:
    rows, cols = game.options["rows"], game.options["cols"]
    blank = np.zeros((rows + 1, cols + 1), int)
    planes = {name: blank.copy() for name in game.planes.names}
    for r in range(rows + 1):
        for c in range(cols):
            planes["horizontal edges drawn"][r, c] = state["h"][r][c]
    for r in range(rows):
        for c in range(cols + 1):
            planes["vertical edges drawn"][r, c] = state["v"][r][c]
    for r in range(rows):
        for c in range(cols):
            owner = state["owner"][r][c]
            planes["own boxes"][r, c] = owner == seat
            planes["other's boxes"][r, c] = owner == 1 - seat
            sides = (state["h"][r][c], state["h"][r + 1][c], state["v"][r][c], state["v"][r][c + 1])
            planes["undrawn sides"][r, c] = sum(not side for side in sides)
    return planes


def board_planes(steps: list[dict[str, Any]], size: int, turned: bool) -> list[Array]:
    """The path and the traps of a JSON sequence."""
    planes = [np.zeros((size, size), int), np.zeros((size, size), int)]
    for step in steps:
        row, col = step["position"]["row"], step["position"]["col"]
        if row >= 0:
            planes[step["type"] == "trap"][row, col] = step["order"]
    return [np.rot90(plane, 2) if turned else plane for plane in planes]


def fog_planes(board: dict[str, Any], size: int) -> list[Array]:
    """A board in fog, turned: its path, and where its piece was when it set traps, with the last such step."""
    planes = [np.zeros((size, size), int), np.zeros((size, size), int)]
    for step, row, col in board["visited"]:
        if row >= 0:
            planes[0][row, col] = step
    for step in board["traps"]:
        *_, (_, row, col) = (place for place in board["visited"] if place[0] < step)
        planes[1][row, col] = step
    return [np.rot90(plane, 2) for plane in planes]


def spaces(game: Game, state: Any, seat: int, prefix: list[dict[str, Any]]) -> dict[str, Any]:
    size, deck = game.options["size"], game.options["mode"] == "deck"
    planes: dict[str, Any] = dict.fromkeys(game.planes.names, 0)
    mover = game.to_move(state)
    own = prefix if mover == seat else []
    if mover == 1 - seat and state["chosen"] is not None and not deck:
        own = state["chosen"]["sequence"]
    planes["own path"], planes["own traps"] = board_planes(own, size, False)
    planes["step"] = len(own)
    if mover == seat and prefix:
        *_, last = (step for step in prefix if step["type"] == "piece")
        planes["own position"] = spot(size, last["position"]["row"] * size + last["position"]["col"])
    if mover == seat and not deck and state["chosen"] is not None and game.options["choice"] == "seen":
        planes["other's path"], planes["other's traps"] = board_planes(state["chosen"]["sequence"], size, True)
    planes["own total"], planes["other's total"] = state["totals"][seat], state["totals"][1 - seat]
    planes["round"] = state["round"]
    if not deck:
        for back, entry in enumerate(reversed(game.observation(state, seat)["history"]), 1):
            for whose, board, turned in (
                ("own", entry["boards"][seat], False),
                ("other's", entry["boards"][1 - seat], True),
            ):
                if f"{back} before: {whose} path" in planes:
                    fog = "visited" in board
                    pair = fog_planes(board, size) if fog else board_planes(board["sequence"], size, turned)
                    planes[f"{back} before: {whose} path"], planes[f"{back} before: {whose} traps"] = pair
    return planes


EXPECTED: dict[str, Callable[[Game, Any, int], dict[str, Any]]] = {
    "skysummit": skysummit,
    "santorini": santorini,
    "caldera": caldera,
    "dots": dots,
}


@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_planes_show_what_the_state_says(game_id: str, options: dict[str, Any], long: bool) -> None:
    if options.get("mode") == "deck":
        pytest.skip("the next test has decks")
    if not long and (options.get("size", 0) > 5 or options.get("rounds", 0) > 10):
        pytest.skip("the long run has the larger records")
    game = ludodrome.make(game_id, **options)
    for seed in range(2 if COMPILED else 1):
        for states in walk(game, seed):
            state = game.decode(states[0])
            for seat in range(game.seats):
                planes, mask = seen(game, states, seat)
                if game_id == "spaces":
                    expected = spaces(game, state, seat, game.prefix(states[0]))  # type: ignore[attr-defined]
                else:
                    expected = EXPECTED[game_id](game, state, seat)
                expected["to move"] = waiting(game, state, seat)
                assert expected.keys() == planes.keys()
                for name, plane in planes.items():
                    assert (plane == expected[name]).all(), (name, state, seat)
                legal = set()
                if game.to_move(state) == seat:
                    buffer = game.buffer()
                    legal = set(buffer[: game.kernels.legal(states, buffer)].tolist())
                assert set(np.flatnonzero(mask).tolist()) == legal


def test_a_deck_shows_the_boards_of_the_own_deck_alone() -> None:
    game = ludodrome.make("spaces", size=2, rules="live", mode="deck")
    most = 0
    for states in walk(game, 3):
        prefix: list[dict[str, Any]] = game.prefix(states[0])  # type: ignore[attr-defined]
        laid = int(states["laid"][0])
        for seat in range(2):
            planes, _ = seen(game, states, seat)
            own = min(max(laid - 10 * seat, 0), 10)
            assert (planes["round"] == min(own + 1, 10)).all()
            assert not planes["other's path"].any()
            building = game.kernels.mover(states) == seat
            path, traps = board_planes(prefix if building else [], 2, False)
            assert (planes["own path"] == path).all()
            assert (planes["own traps"] == traps).all()
            shown = [back for back in range(1, 10) if planes[f"{back} before: own path"].any()]
            assert shown == list(range(1, min(own, 9) + 1))
            assert not any(planes[f"{back} before: other's path"].any() for back in range(1, 10))
            most = max(most, len(shown))
    assert most == 9


def test_a_hidden_board_is_not_seen() -> None:
    for choice, visible in (("seen", True), ("blind", False)):
        game = ludodrome.make("spaces", size=2, choice=choice)
        states = game.blank()
        game.kernels.reset(states, np.uint64(0))
        for action in (1, 2, 14):
            game.kernels.play(states, action)
        assert game.kernels.mover(states) == 1
        planes, _ = seen(game, states, 1)
        assert planes["other's path"].tolist() == ([[1, 0], [2, 0]] if visible else [[0, 0], [0, 0]])
        planes, _ = seen(game, states, 0)
        assert planes["own path"].tolist() == [[0, 2], [0, 1]]
