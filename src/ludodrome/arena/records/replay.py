"""Replay a record: its positions and turns, to show or review; or play it again, one seat or the whole game."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ludodrome.arena.game_loop import play
from ludodrome.arena.play_spec import PlaySpec, read_move
from ludodrome.arena.records.format import comparable, first_state, is_withheld
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import ILLEGAL, Answer, SeatFault
from ludodrome.arena.transports import make_seat
from ludodrome.game import Game, IllegalMove
from ludodrome.games import make


@dataclass(frozen=True, slots=True)
class ReplayTurn:
    """A turn of a replay: a move, or the end of the game without one."""

    seat: int
    move: Any
    """None: the game ended here without a move."""
    text: str
    """The move in the game's notation; empty without one."""
    opening: bool = False
    """Whether it belongs to the opening."""
    entry: dict[str, Any] = field(default_factory=dict)
    """The record's entry, with ``ms``, ``refusals``, ``verdict``, ``substituted``, ``log``."""

    @property
    def own(self) -> bool:
        """Whether the seat chose the move itself."""
        return not self.opening and not self.entry.get("substituted", False)


@dataclass(frozen=True, slots=True)
class Replay:
    """The positions and turns of a record."""

    game: Game
    states: list[Any]
    """One more than there are turns."""
    turns: list[ReplayTurn]
    """The turns with a move: number k leads from states[k] to states[k + 1]."""
    stopped: ReplayTurn | None
    """The turn that ended the game without a move, if one did."""

    @property
    def moves(self) -> list[Any]:
        """The moves of the turns."""
        return [turn.move for turn in self.turns]


def replay_record(record: dict[str, Any]) -> Replay:
    """Replay a record that is verified or was written by this arena."""
    game = make(record["game"], **record["options"])
    states = [first_state(game, record)]
    turns: list[ReplayTurn] = []
    stopped = None
    for entry in [*({"move": move} for move in record["opening"]), *record["turns"]]:
        before = states[-1]
        seat = game.to_move(before)
        assert seat is not None
        opening = len(turns) < len(record["opening"])
        if "move" not in entry:
            stopped = ReplayTurn(seat, None, "", opening, entry)
            break
        turns.append(ReplayTurn(seat, entry["move"], game.format_move(entry["move"], before), opening, entry))
        states.append(game.apply(before, entry["move"]))
    return Replay(game, states, turns, stopped)


# Asking a bot again


@dataclass(frozen=True, slots=True)
class RerunTurn:
    """The bot's answer at one turn of the record."""

    turn: int
    state: Any
    """The position."""
    recorded: Any
    """The recorded move; None if there is none."""
    move: Any
    """The bot's move; None if there is a fault."""
    seconds: float
    fault: SeatFault | None = None
    fuel: int | None = None
    """The instructions that the answer took, if they are counted."""
    recorded_fuel: int | None = None

    @property
    def same(self) -> bool:
        """Whether the bot repeats the recorded move, and needs the recorded instructions for it."""
        known = self.fuel is not None and self.recorded_fuel is not None
        return (
            self.fault is None and bool(self.move == self.recorded) and not (known and self.fuel != self.recorded_fuel)
        )


def rerun(record: dict[str, Any], seat: int, spec: str | None = None) -> Iterator[RerunTurn]:
    """Ask a bot, by default the recorded one, at every turn of a seat, with the seat's recorded seed.

    The record must verify. The game follows the record. ValueError if there is no such seat or bot.
    """
    if is_withheld(record):
        raise ValueError("the seed of this record is withheld: a bot can be asked again once it is published")
    play_spec = PlaySpec.from_json(record)
    if not 0 <= seat < len(play_spec.bots):
        raise ValueError(f"the record has the seats 0 to {len(play_spec.bots) - 1}, not {seat}")
    referee = Referee(play_spec)
    bot = make_seat(spec or play_spec.bots[seat], referee.game, play_spec.seat_seeds[seat])
    try:
        bot.start(referee.hello(seat))
        for entry in record["turns"]:
            if referee.turn is None:
                return
            for notice in referee.notices():
                if notice.seat == seat:
                    bot.notify(notice)
            if entry["seat"] == seat:
                yield _asked(referee, bot.ask(referee.turn), entry)
            if "move" not in entry:
                return
            referee.deliver(Answer(_seconds(referee, entry), entry["move"]))
    finally:
        bot.close()


def _seconds(referee: Referee, entry: dict[str, Any]) -> float:
    """The time to charge: as recorded, but at most what keeps the recorded move in time now."""
    allowed = referee.turn.seconds if referee.turn else None
    recorded: float = 0.0 if "verdict" in entry else entry["ms"] / 1000
    return recorded if allowed is None else min(recorded, allowed)


def _asked(referee: Referee, answer: Answer, entry: dict[str, Any]) -> RerunTurn:
    fault, move = answer.fault, answer.move
    if fault is None:
        try:
            move = read_move(referee.game, referee.state, move)
            referee.game.apply(referee.state, move)
        except IllegalMove as wrong:
            fault = SeatFault(ILLEGAL, str(wrong))
    return RerunTurn(
        entry["turn"],
        referee.state,
        entry.get("move"),
        None if fault else move,
        answer.seconds,
        fault,
        answer.fuel,
        entry.get("fuel") if "refusals" not in entry else None,
    )


# Playing the whole game again


def play_again(record: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Play a recorded game again with its bots; return the new record, and the first difference, empty if none.

    Everything is compared but times, standard errors and notes. A game of WebAssembly and built-in bots under fuel is
    the same every time. ValueError if the seed is withheld or a bot is gone.
    """
    if is_withheld(record):
        raise ValueError("the seed of this record is withheld: the game can be played again once it is published")
    again = play(PlaySpec.from_json(record))
    old, new = comparable(record), comparable(again)
    if old == new:
        return again, ""
    for before, after in zip(old["turns"], new["turns"], strict=False):
        if before != after:
            names = (*before, *(name for name in after if name not in before))
            wrong = next(name for name in names if before.get(name) != after.get(name))
            return again, f"turn {before['turn']}: {wrong} was {before.get(wrong)}, and is {after.get(wrong)}"
    if len(old["turns"]) != len(new["turns"]):
        return again, f"the game had {len(old['turns'])} turns, and has {len(new['turns'])}"
    wrong = next(name for name in (*old, *new) if old.get(name) != new.get(name))
    return again, f"{wrong} was {old.get(wrong)}, and is {new.get(wrong)}"
