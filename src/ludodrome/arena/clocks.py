"""A seat's running clock: what a turn may take, what is left in the bank, how long a built-in should think.

What a clock *is* stands in ``conditions.py``; ``transports/`` measure time, ``table.py`` judges it.
"""

from ludodrome.arena.conditions import Clock
from ludodrome.bots.player import Budget

RESERVE = 0.02
"""Seconds that a built-in leaves unused in each turn, so that a busy machine does not make it late ..."""
RESERVED_SHARE = 0.02
"""... and a share of what it may use ..."""
LEAST_SHARE = 0.5
"""... but so much of it is used at least."""
BANK_TURNS = 25
"""A built-in spreads its bank over about so many turns."""
INCREMENT_SHARE = 0.8
MOST_OF_BANK = 0.4


class SeatClock:
    """The clock of one seat, in seconds. A turn is *charged* once it is over, all its tries together."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.bank = clock.bank_ms / 1000
        self._move = clock.move_ms / 1000
        self._increment = clock.increment_ms / 1000

    def allowed(self, spent: float = 0.0) -> float | None:
        """What the turn may still take, of which so much is spent; None without a clock."""
        return self._move + self.bank - spent if self.clock.runs else None

    def charge(self, spent: float) -> None:
        """A turn is over."""
        self.bank = max(0.0, self.bank - max(0.0, spent - self._move)) + self._increment

    def budget(self, spent: float = 0.0) -> Budget | None:
        """What a built-in should use for a decision; None: what its spec says."""
        if self.clock.budget is not None or not self.clock.runs:
            return self.clock.budget
        share = self.bank / BANK_TURNS + INCREMENT_SHARE * min(self._increment, self.bank)
        wanted = self._move + min(share, MOST_OF_BANK * self.bank) - spent
        allowed = max(0.0, min(wanted, self.allowed(spent) or 0.0))
        return Budget(time=max(LEAST_SHARE * allowed, allowed - RESERVE - RESERVED_SHARE * allowed))
