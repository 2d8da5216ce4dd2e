"""Caldera: kernel and oracle, ply by ply, from the start and from hilly ground."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ludodrome
from ludodrome.jit import COMPILED
from ludodrome.testing.walking import Chooser, Tally, any_move, examples, walk
from tests.games.caldera import oracle

pytestmark = pytest.mark.xdist_group("caldera")

SIDE = 7
KINDS = ("crown", "lancer", "lancer", "smith", "smith")
ALL_ENDS = {
    "crown captured",
    "crown erupted",
    "own crown erupted",
    "both crowns erupted",
    "no legal moves",
    "turn limit: more pieces",
    "turn limit: higher crown",
    "turn limit: draw",
}


def forging(moves: list[Any], state: Any, rng: random.Random) -> Any:
    """Forge where the ground is highest; random play from the start seldom makes anything erupt."""
    forges = [move for move in moves if move["action"] == "forge"]
    if not forges or rng.random() < 0.2:
        return rng.choice(moves)

    def height(move: Any) -> int:
        row, column = move["target"]
        value: int = state["board"][row][column]
        return value

    highest = max(map(height, forges))
    return rng.choice([move for move in forges if height(move) == highest])


def peaceful(moves: list[Any], state: Any, rng: random.Random) -> Any:
    """Neither capture nor forge if possible, so that the turn limit is reached."""
    taken = {(piece["r"], piece["c"]) for side in ("p0", "p1") for piece in state[side]}
    calm = [move for move in moves if move["action"] == "move" and tuple(move["to"]) not in taken]
    return rng.choice(calm or moves)


CHOOSERS: list[Chooser] = [any_move, forging, peaceful]


def hilly(game: ludodrome.Game, rng: random.Random) -> Any:
    """A position set up by hand: much ground at 3, vents, few pieces left, perhaps one side walled in."""
    steep = rng.choice([[0, 1, 2, 3], [2, 3, 3, 3], [3], [-1, -1, -1, 3, 0]])
    board = [[rng.choice(steep) for _ in range(SIDE)] for _ in range(SIDE)]
    cells = rng.sample([(r, c) for r in range(SIDE) for c in range(SIDE)], 10)
    sides: list[list[dict[str, Any]]] = []
    for seat in range(2):
        kinds = ["crown", *(kind for kind in KINDS[1:] if rng.random() < 0.7)]
        sides.append([{"type": kind, "r": r, "c": c} for kind, (r, c) in zip(kinds, cells[seat * 5 :], strict=False)])
    for side in sides:
        for piece in side:
            board[piece["r"]][piece["c"]] = max(0, board[piece["r"]][piece["c"]])
    ply = rng.randrange(max(1, game.options["turn_limit"]))
    state = {"board": board, "p0": sides[0], "p1": sides[1], "ply": ply, "winner": None, "reason": ""}
    try:
        game.encode(state)
    except ludodrome.BadState:
        return None  # the side to move has no move: not a running state
    return state


def test_walks(long: bool) -> None:
    tally = Tally()

    @settings(max_examples=examples(long, usual=240, long=4200))
    @given(
        turn_limit=st.one_of(st.just(200), st.integers(1, 60), st.integers(1, 1000)),
        choose=st.sampled_from(CHOOSERS),
        from_hills=st.booleans(),
        seed=st.integers(0, 2**32 - 1),
    )
    def explore(turn_limit: int, choose: Chooser, from_hills: bool, seed: int) -> None:
        rng = random.Random(seed)
        game = ludodrome.make("caldera", turn_limit=turn_limit)

        def watched(moves: list[Any], state: Any, rng: random.Random) -> Any:
            move = choose(moves, state, rng)
            if move["action"] == "forge":
                vents = sum(row.count(-1) for row in game.apply(state, move)["board"])
                erupted = vents - sum(row.count(-1) for row in state["board"])
                if erupted:
                    tally.events["one vent" if erupted == 1 else "chain"] += 1
                if erupted >= 10:
                    tally.events["chain of ten or more"] += 1
            return move

        walk(game, oracle, rng, tally, watched, hilly(game, rng) if from_hills else None, most=250)

    explore()
    if COMPILED:
        assert set(tally.ends) >= ALL_ENDS
        assert min(tally.events[kind] for kind in ("one vent", "chain", "chain of ten or more")) >= 5
        assert tally.plies >= (100_000 if long else 8_000)
