"""Records of games in which the bots say what they think, and a bot of one file that does."""

from dataclasses import replace
from functools import cache
from typing import Any

from ludodrome.arena.conditions import conditions
from ludodrome.arena.game_loop import run
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import Answer, SeatWrapper, Turn
from ludodrome.arena.transports import make_seat
from ludodrome.games import make

SPITE = "<img src=x onerror=alert(1)> I like it"


class TellingSeat(SeatWrapper):
    """A bot that says what it thinks: a score, a depth, the move that it makes and one that it expects, a text."""

    def __init__(self, spec: str, referee: Referee, seed: int, as_text: bool) -> None:
        super().__init__(make_seat(spec, referee.game, seed))
        self._referee, self._game, self._as_text = referee, referee.game, as_text

    def ask(self, turn: Turn) -> Answer:
        """Ask the bot, and add what it says."""
        answer = self._inner.ask(turn)
        state = self._referee.state
        after = self._game.apply(state, answer.move)
        pv = [(state, answer.move)]
        if self._game.to_move(after) is not None:
            pv.append((after, self._game.legal_moves(after)[-1]))
        moves = [self._game.format_move(move, place) if self._as_text else move for place, move in pv]
        score = 30 * turn.number - 100 * turn.seat
        info: tuple[dict[str, Any], ...] = (
            {"score": score - 5, "depth": 2, "text": SPITE},
            {"score": score, "depth": 3, "nodes": 1234 + turn.number, "pv": moves},
        )
        return replace(answer, info=info, log=("thinking aloud",))


@cache
def told_record(game_id: str, bots: tuple[str, ...] = ("greedy", "random"), **options: Any) -> Any:
    """The record of such a game; one seat writes its line as JSON, the other in the game's notation."""
    game = make(game_id, **options)
    referee = Referee(PlaySpec(game_id, game.options, bots, ("Ada's bot", "Bob's bot"), conditions(game), 7))
    seats = [TellingSeat(spec, referee, at, at == 1) for at, spec in enumerate(bots)]
    try:
        run(referee, seats)
    finally:
        for one in seats:
            one.close()
    return referee.record()
