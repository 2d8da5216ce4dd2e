"""Good boards against opponents who are not perfect, at sizes with too many boards to play all pairs.

The search looks among candidates and their neighbours and plays the best of them against fresh random boards, which
gives intervals, or against every legal board, which is exact. ``scores.py`` says what the opponents are.
"""

import random
from collections.abc import Sequence

import numpy as np

from ludodrome.games.spaces.boards import FINISH, checked_size, format_code, is_live, parse_playable
from ludodrome.games.spaces.counting import count_boards
from ludodrome.games.spaces.generation import BoardWalk
from ludodrome.games.spaces.legality import continuations
from ludodrome.games.spaces.ranking import MAX_RANKED, board_at
from ludodrome.games.spaces.sampling import UNIFORM, pool, quick, sample
from ludodrome.games.spaces.scores import SQUARES, checked_measure, checked_share, straight_runs, tally, values_of
from ludodrome.jit import Array


def random_boards(size: int, count: int, rules: str, seed: int) -> list[bytes]:
    """Random legal boards, all equally likely as far as ``is_uniform`` says."""
    if size <= UNIFORM[rules]:
        return sample(size, count, rules, seed)
    rng = random.Random(seed)
    if is_uniform(size, rules):
        most = count_boards(size, rules)
        return [board_at(rng.randint(1, most), size, rules) for _ in range(count)]
    return [parse_playable(quick(size, rules, rng.getrandbits(32)))[1] for _ in range(count)]


def is_uniform(size: int, rules: str) -> bool:
    """Whether random boards of this size are equally likely."""
    return size <= max(UNIFORM[rules], MAX_RANKED[rules])


class ScoreSearch:
    """Good boards against mixtures, found among random boards, a pool, and neighbours of the best.

    ``shares``: the shares of straight runs in the mixtures. ``search`` chooses the ``finalists``, the best for each
    share; then ``step`` lets them meet fresh random boards, ``BATCH`` at a time, or ``step_exactly`` every legal board
    in order. That no other board is better is not proven.
    """

    BATCH = 2_000
    SCREENED = 1_000
    """Opponents in the search."""
    KEPT = 30
    """Finalists for each share."""
    CLIMBS = 6
    """How often the neighbours of the best are tried."""
    NEIGHBOURS = 3_000
    """The most boards that are tried each time."""

    def __init__(
        self,
        size: int,
        rules: str = "written",
        shares: Sequence[float] = (0.0,),
        measure: str = "won",
        seed: int = 0,
    ) -> None:
        self.size, self.rules, self.live = checked_size(size), rules, is_live(rules)
        self.shares = [checked_share(share) for share in shares]
        self.measure, self.seed = checked_measure(measure), seed
        self.finalists: list[bytes] = []
        self.tallies = np.zeros((0, SQUARES + 1), np.int64)
        """Of the finalists, against fresh random boards: (finalists, 6) int64."""
        self.overall = np.zeros(SQUARES + 1, np.int64)
        """Of random boards against random boards, (6,) int64."""
        self.played = 0
        """Opponents that the finalists have met."""
        self.after: str | None = None
        """The last of them, if they come in order."""

    def search(self, candidates: int) -> None:
        """Choose the finalists: the best of random boards, the pool and the runs, improved by single edits."""
        screen = random_boards(self.size, self.SCREENED, self.rules, self._seed(0))
        drawn = random_boards(self.size, candidates, self.rules, self._seed(1))
        self.overall = tally(drawn, screen, self.size, self.live).sum(axis=0)
        rng = random.Random(self._seed(2))
        known: dict[bytes, tuple[float, float]] = {}
        new = [*straight_runs(self.size), *pool(self.size), *drawn]
        for _ in range(self.CLIMBS):
            fresh = sorted({*new} - known.keys())
            if not fresh:
                break
            known.update(zip(fresh, self._values(fresh, screen), strict=True))
            around = {
                one for board in self._best(known) for one in neighbours(board, self.size, self.live, rng, _MAX_EDITS)
            }
            new = sorted(around - known.keys())
            new = rng.sample(new, min(len(new), self.NEIGHBOURS))
        self.finalists = sorted({*self._best(known), *straight_runs(self.size)})
        self.tallies = np.zeros((len(self.finalists), SQUARES + 1), np.int64)

    def _values(self, boards: Sequence[bytes], screen: Sequence[bytes]) -> list[tuple[float, float]]:
        """The values of boards against random boards and against runs."""
        against = [tally(boards, others, self.size, self.live) for others in (screen, straight_runs(self.size))]
        columns = [values_of(one, self.measure).tolist() for one in against]
        return list(zip(*columns, strict=True))

    def _best(self, known: dict[bytes, tuple[float, float]]) -> list[bytes]:
        """The best boards for each share."""
        found: dict[bytes, None] = {}
        for share in self.shares:
            value = {board: (1 - share) * random_ + share * runs for board, (random_, runs) in known.items()}
            found.update(dict.fromkeys(sorted(value, key=lambda board: (-value[board], board))[: self.KEPT]))
        return list(found)

    def step(self, most: int) -> None:
        """Play the finalists against the next fresh opponents, at most ``most``."""
        count = min(self.BATCH, most)
        fresh = random_boards(self.size, count, self.rules, self._seed(3 + self.played // self.BATCH))
        self.tallies += tally(self.finalists, fresh, self.size, self.live)
        self.played += count

    def step_exactly(self, walk: BoardWalk) -> bool:
        """Play the finalists against the next boards of a walk; return whether there were any."""
        chunk = walk.next()
        if not len(chunk.ends):
            return False
        self.tallies += tally(self.finalists, chunk, self.size, self.live)
        self.played += len(chunk.ends)
        self.after = format_code(chunk.actions[chunk.ends[-2] if len(chunk.ends) > 1 else 0 :].tobytes(), self.size)
        return True

    def runs_tallies(self) -> Array:
        """The tallies of the finalists against the straight runs, (finalists, 6) int64."""
        return tally(self.finalists, straight_runs(self.size), self.size, self.live)

    def _seed(self, purpose: int) -> int:
        return self.seed * 1_000_003 + purpose


_MAX_EDITS = 1_000
"""The most edits of one board that are tried."""


def neighbours(board: bytes, size: int, live: bool, rng: random.Random, most: int) -> list[bytes]:
    """Legal boards that differ by one step: left out, put in or replaced, or by the start column.

    At most ``most`` edits are tried, chosen at random if there are more.
    """
    steps = range(size, size + FINISH)
    edits = [bytes([col]) + board[1:] for col in range(size) if col != board[0]]
    for at in range(1, len(board)):
        before, here, after = board[:at], board[at], board[at + 1 :]
        edits += [before + bytes([step, here]) + after for step in steps]
        if at < len(board) - 1:
            edits.append(before + after)
            edits += [before + bytes([step]) + after for step in steps if step != here]
    tried = [*dict.fromkeys(edits)]
    tried = rng.sample(tried, min(len(tried), most))
    return [one for one in tried if one != board and continuations(one, size, live) == []]
