"""Play one game: pass the referee's questions to the seats and their answers back, until it is over.

The referee decides everything; only this loop waits.
"""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import RecordsTraffic, Seat
from ludodrome.arena.transports import make_seat
from ludodrome.arena.transports.child import KeptProcesses


def play(
    play_spec: PlaySpec,
    seats: Sequence[Seat] | None = None,
    kept: KeptProcesses | None = None,
    traffic: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Play one game and return its record. Without ``seats``, make them from the bots' specs and close them at the end.

    ``kept``: where processes of bots that can play several games stay after this one. ``traffic`` takes every line to
    and from the bots as it passes: ``{"match", "seat", "dir": "to" | "from" | "stderr", "ms", "line"}``, with the
    milliseconds since the start of the game. It can be called from several threads, but never twice at once.
    ValueError: an unknown game or bot, or the two do not fit together.
    """
    referee = Referee(play_spec)
    with ExitStack() as stack:
        if seats is None:
            seats = []
            bot_ids = play_spec.bot_ids or ("",) * len(play_spec.bots)
            for spec, seed, bot_id in zip(play_spec.bots, play_spec.seat_seeds, bot_ids, strict=True):
                seats.append(make_seat(spec, referee.game, seed, referee.conditions.tolerant, kept, bot_id))
                stack.callback(seats[-1].close)
        elif len(seats) != referee.game.seats:
            raise ValueError(f"{referee.game.id} has {referee.game.seats} seats here, and {len(seats)} were given")
        if traffic is not None:
            _record_traffic(referee.match, seats, traffic)
        run(referee, seats)
    return referee.record([one.stderr for one in seats], [one.notes for one in seats])


def _record_traffic(match: str, seats: Sequence[Seat], take: Callable[[dict[str, Any]], None]) -> None:
    """Pass on what all seats say and are told."""
    began, lock = time.monotonic(), threading.Lock()

    def record(seat: int, direction: str, line: str) -> None:
        with lock:
            ms = round((time.monotonic() - began) * 1000, 3)
            take({"match": match, "seat": seat, "dir": direction, "ms": ms, "line": line})

    for number, one in enumerate(seats):
        if isinstance(one, RecordsTraffic):
            one.record_traffic(partial(record, number))


def run(referee: Referee, seats: Sequence[Seat], watch: Callable[[Referee], None] = lambda referee: None) -> None:
    """Greet the seats and play until the game is over. An exception of a transport is the arena's fault.

    ``watch`` is called with the referee at the start and after every answer.
    """
    number = 0
    referee.capabilities_of = lambda seat: seats[seat].capabilities
    try:
        for number, one in enumerate(seats):
            one.start(referee.hello(number))
        watch(referee)
        while (turn := referee.turn) is not None:
            number = turn.seat
            _notify(referee, seats)
            referee.deliver(seats[turn.seat].ask(turn))
            watch(referee)
    except Exception as error:
        referee.abort(number, f"the arena broke: {type(error).__name__}: {error}")
    with suppress(Exception):  # the game is over even if a seat cannot be notified
        _notify(referee, seats)


def _notify(referee: Referee, seats: Sequence[Seat]) -> None:
    for notice in referee.notices():
        seats[notice.seat].notify(notice)
