"""The contract of Game (``ludodrome.testing.contract``), over all games and options."""

import random
from typing import Any

import pytest

import ludodrome
from ludodrome.testing import contract
from ludodrome.testing.contract import CHECKS, CHECKS_ONCE, listed_move, refused
from tests.cases import CASES, each_case, each_game

SHORT = {"caldera": {"turn_limit": 1}, "skysummit": {"turn_limit": 1}, "dots": {"rows": 1, "cols": 1}}


def random_move(game: ludodrome.Game, state: Any, rng: random.Random) -> Any:
    """A random legal move; in spaces a board is walked step by step, since boards are too many to list."""
    if game.id != "spaces":
        return listed_move(game, state, rng)
    boards = [random_board(game, rng) for _ in range(10 if game.options["mode"] == "deck" else 1)]
    return {"deck": boards} if game.options["mode"] == "deck" else boards[0]


def random_board(game: ludodrome.Game, rng: random.Random) -> Any:
    size, rules = game.options["size"], game.options["rules"]
    sequence: list[Any] = []
    while more := ludodrome.spaces.steps(sequence, size, rules):
        pieces = [step for step in more if step["type"] != "trap"]
        sequence.append(rng.choice(pieces if rng.random() < 0.7 and pieces else more))
    return {"boardSize": size, "sequence": sequence}


def sample_states(game: ludodrome.Game, count: int = contract.STATES_A_GAME) -> list[Any]:
    return contract.sample_states(game, random_move, count)


def test_the_cases_cover_every_game_and_option() -> None:
    assert sorted(CASES) == ludodrome.game_ids() == ["caldera", "dots", "santorini", "skysummit", "spaces"]
    for game_id, cases in CASES.items():
        assert {name for case in cases for name in case} == set(ludodrome.make(game_id).options)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_with_these_options(game_id: str, options: dict[str, Any], check: Any) -> None:
    check(ludodrome.make(game_id, **options), random_move)


@pytest.mark.parametrize("check", CHECKS_ONCE, ids=lambda check: check.__name__)
@pytest.mark.parametrize("game_id", each_game())
def test_once(game_id: str, check: Any) -> None:
    short = check.__name__.startswith("finished")
    check(ludodrome.make(game_id, **(SHORT.get(game_id, {}) if short else {})), random_move)


def test_an_unknown_game_is_refused_with_the_right_ones() -> None:
    for wrong in ("chess", None, 7, ["dots"]):
        with pytest.raises(ValueError, match="caldera, dots, santorini, skysummit and spaces"):
            ludodrome.make(wrong)  # type: ignore[arg-type]


def test_seats() -> None:
    assert [ludodrome.make(game_id).seats for game_id in CASES] == [2] * len(CASES)
    assert ludodrome.make("santorini", players=3).seats == 3


def test_a_check_says_what_should_have_been_refused() -> None:
    with pytest.raises(AssertionError, match="IllegalMove was due"), refused(ludodrome.IllegalMove, "over"):
        pass
    with pytest.raises(AssertionError, match="lacks 'over'"), refused(ValueError, "over"):
        raise ValueError("too far")
