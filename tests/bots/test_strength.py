"""Who must beat whom, in a few games; the figures that count are measured by ``benchmarks/strength``."""

import pytest

import ludodrome
from tests.bots.playing import play_out


def wins(game: ludodrome.Game, stronger: str, weaker: str, pairs: int) -> float:
    """The points of the first bot out of 2 x pairs games, seats swapped."""
    points = 0.0
    first, second = ludodrome.bot(stronger, game), ludodrome.bot(weaker, game)
    for seed in range(pairs):
        for seat in (0, 1):
            _, state = play_out(game, [first, second] if seat == 0 else [second, first], seed=seed)
            outcome = game.outcome(state)
            assert outcome is not None
            points += 0.5 if outcome.winner is None else outcome.winner == seat
    return points


@pytest.mark.parametrize("game_id", ["caldera", "dots", "santorini", "skysummit", "spaces"])
def test_greedy_beats_random(game_id: str) -> None:
    assert wins(ludodrome.make(game_id), "greedy", "random", 4) >= 7


def test_counting_chains_beats_greed() -> None:
    assert wins(ludodrome.make("dots"), "chains", "greedy", 5) >= 8


@pytest.mark.parametrize("game_id", ["caldera", "santorini", "skysummit"])
def test_looking_ahead_beats_greed(game_id: str) -> None:
    assert wins(ludodrome.make(game_id), "alphabeta:depth=3", "greedy", 3) >= 4


@pytest.mark.parametrize("game_id", ["caldera", "santorini", "skysummit"])
def test_noise_costs_games(game_id: str) -> None:
    assert wins(ludodrome.make(game_id), "alphabeta:depth=3", "alphabeta:depth=3,noise=300", 3) >= 4


@pytest.mark.parametrize("game_id", ["caldera", "dots", "santorini", "skysummit"])
def test_three_levels_up_wins(game_id: str) -> None:
    game = ludodrome.make(game_id)
    assert wins(game, "level:4", "level:1", 3) >= 5
    assert wins(game, "level:7", "level:4", 3) >= 4


def test_greedy_wins_at_once_and_blocks() -> None:
    game = ludodrome.make("skysummit")
    for seed in range(5):
        winning = game.parse_state("00000/03200/00111/00000/00000 B3E5 C4D2 8")
        assert game.outcome(game.apply(winning, ludodrome.bot("greedy", game, seed).choose(winning))) is not None
        threatened = game.parse_state("00000/03200/00111/00000/00000 B3E5 C4D2 9")
        after = game.apply(threatened, ludodrome.bot("greedy", game, seed).choose(threatened))
        answers = [game.outcome(game.apply(after, move)) for move in game.legal_moves(after)]
        assert not any(answers)
