"""The threads in which bots think, and the bots that are kept between their moves."""

from concurrent.futures import Executor

from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import Seat, Turn
from ludodrome.arena.transports.inprocess import InProcessSeat
from ludodrome.bots import bot
from ludodrome.web.budgets import BOTS_CACHED, BOTS_THINKING, BUDGETS
from ludodrome.web.concurrency import FairExecutor, KernelLock, LruCache
from ludodrome.web.programs import ProgramPool
from ludodrome.web.remote_opponents import RemoteOpponents

MAX_BOTS = 16
"""Bots kept between their moves: a search holds about 16 MB. Further bots are created anew for each move."""
BOT_IDLE_SECONDS = 3600.0


class BotPool:
    """The threads in which bots think, and the bots kept between their moves."""

    def __init__(
        self, executor: Executor, programs: ProgramPool | None = None, remote: RemoteOpponents | None = None
    ) -> None:
        self.executor = executor
        self.programs = ProgramPool() if programs is None else programs
        self.remote = RemoteOpponents() if remote is None else remote
        self.queue = FairExecutor(executor, BUDGETS[BOTS_THINKING].amount)
        """The turns of the bots, shared fairly between those who began the plays."""
        self.bots = LruCache[InProcessSeat](MAX_BOTS, BOT_IDLE_SECONDS, share=BUDGETS[BOTS_CACHED].amount)
        self.kernel_lock = KernelLock()

    def seat(self, name: str, referee: Referee, turn: Turn, owner: str | None) -> Seat:
        """The bot of a seat, to be asked about a turn; not for remote ones."""
        spec, seed = referee.play_spec.bots[turn.seat], referee.play_spec.seat_seeds[turn.seat]
        if ProgramPool.runs(spec):
            return self.programs.seat(name, referee, turn, owner)
        kept = self.bots.get(name)
        if kept is None:
            kept = InProcessSeat(bot(spec, referee.game, seed))
            kept.start(referee.hello(turn.seat))
            self.bots.put(name, kept, owner)
        return kept
