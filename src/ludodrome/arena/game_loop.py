"""Playing one game: seats are asked and told what the table says, until it is over, and the record is handed back.

All judging is in ``table.py``; this loop is the only part that waits.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import Seat
from ludodrome.arena.transports import seat


def play(assignment: PlaySpec, seats: Sequence[Seat] | None = None) -> dict[str, Any]:
    """Play one game and return its record. Without seats, they are made from the specs, and closed at the end.

    ValueError: there is no such game or bot, or they do not fit together.
    """
    table = Referee(assignment)
    with ExitStack() as stack:
        if seats is None:
            seats = []
            for spec, seed in zip(assignment.bots, assignment.seat_seeds, strict=True):
                seats.append(seat(spec, table.game, seed))
                stack.callback(seats[-1].close)
        elif len(seats) != table.game.seats:
            raise ValueError(f"{table.game.id} has {table.game.seats} seats here, and {len(seats)} were given")
        run(table, seats)
    return table.record([one.stderr for one in seats], [one.notes for one in seats])


def run(table: Referee, seats: Sequence[Seat], watch: Callable[[Referee], None] = lambda table: None) -> None:
    """Greet the seats and play until the table says that it is over; a carrier that breaks is the arena's fault.

    ``watch`` is shown the table at the beginning and after every answer.
    """
    number = 0
    try:
        for number, one in enumerate(seats):
            one.start(table.hello(number))
        watch(table)
        while (turn := table.turn) is not None:
            number = turn.seat
            _tell(table, seats)
            table.deliver(seats[turn.seat].ask(turn))
            watch(table)
    except Exception as error:
        table.abort(number, f"the arena broke: {type(error).__name__}: {error}")
    with suppress(Exception):  # the game is over, whether or not everybody can be told
        _tell(table, seats)


def _tell(table: Referee, seats: Sequence[Seat]) -> None:
    for notice in table.notices():
        seats[notice.seat].tell(notice)
