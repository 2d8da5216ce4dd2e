"""Matches of clients: against bots or against one another, before a referee of the arena. Nothing here knows MCP.

Every call carries the id of its match. A seat of a client has a key, which is returned when the seat is taken; where a
match has one client alone, its id is enough. Bots answer before a call returns.
"""

import secrets
import threading
import time
from typing import Any

from ludodrome.arena.conditions import conditions
from ludodrome.arena.messages import clean_text
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import ILLEGAL, Answer, SeatFault, Turn
from ludodrome.arena.seeds import new_secret
from ludodrome.arena.transports.inprocess import InProcessSeat
from ludodrome.bots import bot, bot_names
from ludodrome.bots.prompts import MOVE, ParsedReply, legal_texts, read_reply, you_are
from ludodrome.bots.registry import is_built_in, read_spec
from ludodrome.game import Game, IllegalMove, TooManyMoves
from ludodrome.position import SeenPosition, seen_by
from ludodrome.validation import show

CLIENT = "client"
"""The spec of a seat that a client plays."""
POLICY = "retry:10"
KEY_BYTES = 9
MAX_PARAMS = {"time": 10, "nodes": 5_000_000, "sims": 200_000, "depth": 8}
"""Limits of an opponent per move."""
MAX_WAIT = 50.0
"""Seconds that a call waits for others, at most: clients give up long calls."""

Json = dict[str, Any]


class MatchError(ValueError):
    """The call cannot be executed; the sentence says why."""


def _check(spec: str, game: Game) -> None:
    """Refuse all but built-in bots with limited searches: no files, no addresses, no searches of hours."""
    if spec == CLIENT:
        return
    if not is_built_in(spec, game):
        raise MatchError(
            f"an opponent is {CLIENT!r} or a built-in bot ({', '.join(bot_names(game))}), not {show(spec)}"
        )
    _, params = read_spec(spec, game)
    for name, most in MAX_PARAMS.items():
        if params.get(name, 0) > most:
            raise MatchError(f"{name} of an opponent is at most {most:,} here, not {params[name]:,}")


class ClientMatch:
    """One match. All methods may be called from any thread."""

    def __init__(
        self,
        name: str,
        game: Game,
        specs: list[str],
        seed: int | None = None,
        legal_moves: bool = True,
        analysis: bool = False,
        policy: str | None = None,
    ) -> None:
        """A match between ``specs`` by seat, ``client`` for a seat that a client plays. ValueError if it cannot be."""
        for spec in specs:
            _check(spec, game)
        self.id = name
        self.game = game
        self.specs = specs
        self.analysis = analysis
        chosen = new_secret() if seed is None else seed
        names = tuple(f"{spec} {seat}" for seat, spec in enumerate(specs))
        agreed = conditions(game, policy or POLICY, "none", legal_moves)
        self.referee = Referee(PlaySpec(game.id, game.options, tuple(specs), names, agreed, chosen))
        self.keys = {seat: secrets.token_urlsafe(KEY_BYTES) for seat, spec in enumerate(specs) if spec == CLIENT}
        self._free = sorted(self.keys)
        self._states = [self.referee.state]
        self._moves: list[Json] = []
        self._open_moves = [0] * game.seats
        """By seat: the number of moves up to the last position in which nothing was hidden from it."""
        self._changed = threading.Condition()
        self._asked = time.perf_counter()
        self._bots = {
            seat: InProcessSeat(bot(spec, game, self.referee.play_spec.seat_seeds[seat]))
            for seat, spec in enumerate(specs)
            if spec != CLIENT
        }
        for seat, one in self._bots.items():
            one.start(self.referee.hello(seat))

    # Seats

    def join(self, seat: int | None = None) -> int:
        """Takes a seat that is free, the first if none is named; its key is in ``keys``."""
        with self._changed:
            if not self._free:
                raise MatchError(f"all seats of the match {self.id} are taken")
            chosen = self._free[0] if seat is None else seat
            if chosen not in self._free:
                raise MatchError(f"seat {show(seat)} of the match {self.id} is not free; free: {self._free}")
            self._free.remove(chosen)
            if not self._free:
                self._let_bots_move()
            return chosen

    def seat_of(self, key: str | None) -> int:
        """The seat whose key this is; the only one if no key is given."""
        if key is None:
            if len(self.keys) == 1:
                return next(iter(self.keys))
            raise MatchError(
                f"the match {self.id} has {len(self.keys)} clients: give the key that you got with your seat"
            )
        for seat, one in self.keys.items():
            if secrets.compare_digest(one.encode(), key.encode()):
                return seat
        raise MatchError(f"this is not a key of the match {self.id}")

    # Looking

    def view(self, seat: int) -> Json:
        """The state of the match as a seat sees it."""
        with self._changed:
            turn, result = self.referee.turn, self.referee.result
            seen = seen_by(self.game, self.referee.state, seat)
            mine = turn is not None and turn.seat == seat and not self._free
            view: Json = {
                "match": self.id,
                "game": self.game.id,
                "options": self.game.options,
                "you_are": you_are(self.game, seat).removesuffix("."),
                "seat": seat,
                "players": self.specs,
                "turn": len(self._moves),
                "to_move": None if turn is None else turn.seat,
                "your_turn": mine,
                "board": self.game.tidy_drawing(seen.drawing()),
                "last_moves": self._visible_moves(seat)[-self.game.seats :],
            }
            if self._free:
                view["waiting_for_players"] = list(self._free)
            if result is not None:
                names = ("winner", "reason", "scores", "decided_by")
                view["result"] = {name: result[name] for name in names}
                view["result"]["you_won"] = result["winner"] == seat
            return view

    def position(self, seat: int, turn: int | None = None) -> SeenPosition:
        """What a seat may see now, or after ``turn`` moves."""
        with self._changed:
            number = len(self._states) - 1 if turn is None else turn
            if not 0 <= number < len(self._states):
                raise MatchError(
                    f"the turns of this match are numbered from 0 to {len(self._states) - 1}, not {show(turn)}"
                )
            return seen_by(self.game, self._states[number], seat)

    def legal_moves(self, seat: int) -> list[str]:
        """The legal moves of the seat to move, as texts."""
        with self._changed:
            self._check_turn(seat)
            if not self.referee.conditions.legal_moves:
                raise MatchError("this match does not show the legal moves")
            try:
                moves = seen_by(self.game, self.referee.state, seat).legal_moves()
            except TooManyMoves as many:
                raise MatchError(str(many)) from None
            return legal_texts(self.game, self.referee.state, moves) or []

    def moves(self, seat: int) -> list[Json]:
        """Everything that was played, as a seat may see it."""
        with self._changed:
            return self._visible_moves(seat)

    def record(self) -> Json:
        """The record; only when the match is over."""
        with self._changed:
            if self.referee.result is None:
                raise MatchError("a match has a record once it is over")
            return self.referee.record()

    def position_to_analyse(self, seat: int) -> Any:
        """The state, if the match allows analysis, is against bots alone and it is the seat's turn."""
        with self._changed:
            if not self.analysis:
                raise MatchError("this match does not allow analysis; start_match takes allow_analysis=true")
            self._check_turn(seat)
            if seen_by(self.game, self.referee.state, seat).is_partial:
                raise MatchError("a part of the position is hidden from you, and an analysis would tell it")
            if len(self.keys) > 1:
                raise MatchError("clients play one another here: until the match is over, the engine says nothing")
            return self.referee.state

    # Playing

    def move(self, seat: int, move: Any) -> Json:
        """A client's move, a text or a JSON move; then the bots' answers. Refused says what was wrong."""
        with self._changed:
            self._check_turn(seat)
            turn = self.referee.turn
            assert turn is not None
            spent = time.perf_counter() - self._asked
            reading = self._read(turn.observation, move)
            if reading.kind == MOVE:
                self._deliver(Answer(spent, reading.move))
                self._let_bots_move()
                return self.view(seat)
            self._deliver(Answer(spent, fault=SeatFault(ILLEGAL, reading.why), sent=clean_text(move)))
            raise MatchError(f"{reading.why.rstrip('.')}. {self._after_refusal(turn)}")

    def resign(self, seat: int) -> Json:
        """Resign for a client."""
        with self._changed:
            if self.referee.result is not None:
                raise MatchError("the match is over")
            self.referee.resign(seat)
            self._changed.notify_all()
            return self.view(seat)

    def wait(self, seat: int, seconds: float) -> Json:
        """Wait until it is the turn of the seat or the match is over, at most ``seconds``."""

        def ready() -> bool:
            turn = self.referee.turn
            return turn is None or (turn.seat == seat and not self._free)

        with self._changed:
            self._changed.wait_for(ready, min(max(0.0, seconds), MAX_WAIT))
            return self.view(seat)

    def close(self) -> None:
        """Close the bots."""
        for one in self._bots.values():
            one.close()

    # Internal; the lock is held

    def _check_turn(self, seat: int) -> None:
        turn, result = self.referee.turn, self.referee.result
        if result is not None:
            raise MatchError(f"the match is over: {result['reason']}")
        if self._free:
            raise MatchError(f"the match waits for {len(self._free)} more to join it with join_match")
        if turn is not None and turn.seat != seat:
            raise MatchError(f"it is not your turn: player {turn.seat} is to move; wait_for_turn waits for it")

    def _read(self, observation: Any, move: Any) -> ParsedReply:
        if isinstance(move, str):
            return read_reply(self.game, observation, move)
        try:
            self.game.apply(self.referee.state, move)
        except IllegalMove as wrong:
            return ParsedReply(ILLEGAL, None, "", str(wrong))
        return ParsedReply(MOVE, move, "", "")

    def _after_refusal(self, turn: Turn) -> str:
        """What has become of a turn in which a move was refused."""
        left = [notice.message.get("tries_left") for notice in self.referee.notices()]
        self._let_bots_move()
        if self.referee.result is not None and self.referee.result["decided_by"] != "play":
            return "That was the last try, and the match is lost."
        if left and left[0] is not None:
            return f"Tries left: {left[0]}."
        return f"The first legal move was played for you in turn {turn.number}; look shows where that led."

    def _let_bots_move(self) -> None:
        self.referee.notices()
        while (turn := self.referee.turn) is not None and turn.seat in self._bots:
            self._deliver(self._bots[turn.seat].ask(turn))
            self.referee.notices()
        self._asked = time.perf_counter()
        self._changed.notify_all()

    def _deliver(self, answer: Answer) -> None:
        """The answer to the open question, and what was played, written down."""
        turn, before = self.referee.turn, self.referee.state
        assert turn is not None
        self.referee.deliver(answer)
        if self.referee.state is before or self.referee.state == before:
            return
        self._states.append(self.referee.state)
        substituted = answer.fault is not None
        text = "" if substituted else self.game.format_move(answer.move, before)
        move: Json = {"turn": len(self._moves), "seat": turn.seat, "move": text}
        self._moves.append(move | {"substituted": True} if substituted else move)
        for seat in range(self.game.seats):
            if not seen_by(self.game, self.referee.state, seat).is_partial:
                self._open_moves[seat] = len(self._moves)

    def _visible_moves(self, seat: int) -> list[Json]:
        """The moves; those of other seats are face down if nothing has been open to this seat since."""
        shown = [dict(move) for move in self._moves]
        for move in shown[self._open_moves[seat] :]:
            if move["seat"] != seat:
                move["move"] = "face down"
        return shown
