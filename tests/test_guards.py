"""Wrong arguments from friends: each is refused with a sentence, nothing is written where it must not be."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import ludodrome
from tests.cases import each_case, each_game


@pytest.mark.parametrize("game_id", each_game())
def test_a_mask_is_written_only_where_it_fits(game_id: str) -> None:
    game = ludodrome.make(game_id)
    batch = ludodrome.batch(game, 4)
    right = np.zeros((4, game.num_actions), np.bool_)
    assert batch.legal_mask(right) is right
    assert (right == batch.legal_mask()).all()
    wide = np.zeros((6, game.num_actions), np.bool_)
    frozen = right.copy()
    frozen.flags.writeable = False
    wrong: list[Any] = [
        wide[1:4],
        wide[:, ::2],
        np.zeros((4, game.num_actions - 1), np.bool_),
        np.zeros((4, game.num_actions), np.uint8),
        np.zeros((4, 2 * game.num_actions), np.bool_)[:, ::2],
        np.zeros(4 * game.num_actions, np.bool_),
        frozen,
        [],
        "x",
    ]
    for out in wrong:
        with pytest.raises(ValueError, match="out is a writable, contiguous array of booleans of shape"):
            batch.legal_mask(out)
    assert not wide.any()


def test_where_is_a_mask_or_numbers() -> None:
    game = ludodrome.make("dots", rows=2, cols=2)
    batch = ludodrome.batch(game, 4)
    batch.step([0, 0, 0, 0])
    before = batch.states.tobytes()
    batch.reset(1, where=[])
    assert batch.states.tobytes() == before
    batch.reset(1, where=[2])
    assert [int(state["turn"]) for state in batch.states] == [1, 1, 0, 1]
    wrong: list[Any] = [
        [True] * 3,
        [4],
        [-1],
        [0.5],
        "x",
        [[True] * 4],
        np.array([1, 0, 1, 0], np.uint8),
    ]
    for where in wrong:
        with pytest.raises(
            ValueError, match="where is a mask of 4 booleans, or a list of numbers of games from 0 to 3"
        ):
            batch.reset(1, where=where)


@pytest.mark.parametrize("game_id", each_game())
def test_seeds_of_numpy_are_seeds(game_id: str) -> None:
    game = ludodrome.make(game_id)
    expected = ludodrome.playouts(game, 3, seed=3)
    assert ludodrome.playouts(game, np.int64(3), seed=np.int64(3), threads=np.int32(2)) == expected  # type: ignore[arg-type]
    same = ludodrome.batch(game, 2, seed=np.int32(3))  # type: ignore[arg-type]
    assert same.states.tobytes() == ludodrome.batch(game, 2, seed=3).states.tobytes()
    wrong: list[Any] = [None, 1.0, "1", True]
    for seed in wrong:
        for call in (ludodrome.playouts, ludodrome.batch):
            with pytest.raises(ValueError, match="a seed is a whole number, not"):
                call(game, 2, seed=seed)


def test_counts_are_counts() -> None:
    game = ludodrome.make("dots", rows=1, cols=1)
    wrong: list[Any] = [None, 2.0, "2", True, -1, 10**30]
    for count in wrong:
        with pytest.raises(ValueError, match="the number of playouts is a whole number from 0 to"):
            ludodrome.playouts(game, count)
        with pytest.raises(ValueError, match="the depth of perft is a whole number from 0 to"):
            ludodrome.perft(game, count)


def test_what_cannot_be_counted_is_not_begun() -> None:
    for options, count in (({"mode": "deck", "size": 2, "rules": "live"}, 14**10), ({"size": 4}, 968799595254970)):
        game = ludodrome.make("spaces", **options)
        with pytest.raises(ludodrome.TooManyMoves, match="too many to make one by one") as caught:
            ludodrome.perft(game, 1)
        assert caught.value.count == count


@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_games_are_values(game_id: str, options: dict[str, Any]) -> None:
    game = ludodrome.make(game_id, **options)
    for other in (ludodrome.make(game_id, **options), pickle.loads(pickle.dumps(game)), copy.deepcopy(game)):
        assert other == game
        assert hash(other) == hash(game)
        assert other.initial_state() == game.initial_state()
    assert game != ludodrome.make("dots", rows=1, cols=3)
    assert game != game_id
    game.options.clear()
    assert game.options == ludodrome.make(game_id, **options).options


def test_a_record_of_another_game_is_no_record() -> None:
    record = ludodrome.make("santorini").encode(ludodrome.make("santorini").initial_state())
    for wrong in (record, None, 7, b"", np.zeros(3)):
        with pytest.raises(ludodrome.BadState, match="a record of skysummit"):
            ludodrome.make("skysummit").decode(wrong)


class Touchy:
    """Something that must not be compared."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared before its type was looked at")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("game_id", each_game())
def test_types_are_looked_at_before_values(game_id: str) -> None:
    game = ludodrome.make(game_id)
    state = game.initial_state()
    strange: list[Any] = [Touchy(), np.array([1, 2]), np.str_("place"), np.int64(0)]
    for value in strange:
        for key in state:
            with pytest.raises(ludodrome.BadState):
                game.to_move({**state, key: value})
        assert not game.is_legal(state, value)
        for key in ("t", "to", "w", "build", "action", "from", "orient", "r", "boardSize", "sequence"):
            assert not game.is_legal(state, {key: value})
    if game_id == "skysummit":
        for value in strange:
            with pytest.raises(ludodrome.BadState):
                game.to_move({**state, "workers": [[value, None], [None, None]]})


def test_lists_of_boards_are_lists() -> None:
    wrong: list[Any] = [None, 7, "3:1:uuf", b""]
    for boards in wrong:
        with pytest.raises(ludodrome.IllegalMove, match="boards come as a list"):
            ludodrome.spaces.simulate_matrix(boards, [], 3)
    good = ludodrome.spaces.parse_board("3:1:uuf")
    with pytest.raises(ludodrome.IllegalMove, match="in the second list board 1"):
        ludodrome.spaces.simulate_matrix([good], [good, {}], 3)


def test_no_game_of_santorini_counts_past_what_a_record_holds() -> None:
    game = ludodrome.make("santorini")
    state = {**game.initial_state(), "ply": 999_999_902}
    with pytest.raises(ludodrome.BadState, match="ply is at most 999999900"):
        game.to_move(state)
