"""A bot in a recorded game."""

import pytest

from ludodrome.arena.conditions import conditions
from ludodrome.arena.game_loop import play
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.records.replay import rerun
from ludodrome.games import make


@pytest.mark.parametrize("game_id", ["dots", "santorini", "spaces", "skysummit"])
def test_the_same_bot_does_the_same(game_id: str) -> None:
    game = make(game_id)
    bots = ("random", "greedy")
    record = play(PlaySpec(game_id, game.options, bots, bots, conditions(game, clock="nodes=50"), 3))
    for seat in range(2):
        echoes = list(rerun(record, seat))
        assert [echo.turn for echo in echoes] == [turn["turn"] for turn in record["turns"] if turn["seat"] == seat]
        assert all(echo.same for echo in echoes)


def test_another_bot_departs() -> None:
    game = make("caldera")
    bots = ("random", "random")
    record = play(PlaySpec("caldera", game.options, bots, bots, conditions(game, clock="nodes=50"), 3))
    departures = [echo for echo in rerun(record, 1, "greedy") if not echo.same]
    assert departures
    for echo in departures:
        assert echo.fault is None
        assert game.is_legal(echo.state, echo.move)
        assert echo.move != echo.recorded


def test_there_must_be_such_a_seat() -> None:
    game = make("caldera")
    bots = ("random", "random")
    record = play(PlaySpec("caldera", game.options, bots, bots, conditions(game, clock="nodes=50"), 3))
    with pytest.raises(ValueError, match="the seats 0 to 1, not 2"):
        next(rerun(record, 2))
