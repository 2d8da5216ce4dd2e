"""``alphabeta``: players that search with ``search/thinking.py``, and what they misjudge on purpose."""

import hashlib
from typing import Any

from ludodrome.bots.player import Bot, Budget, Clock, Dice, Player
from ludodrome.game import Game
from ludodrome.search.alphabeta import DECIDED
from ludodrome.search.thinking import Finding, Thinker

USUAL = Budget(nodes=200_000)
"""What a move may cost if nobody says otherwise: the same on every machine."""

LINES = 6
"""Whoever misjudges compares so many moves, the best ones."""


class AlphaBeta(Player):
    """Looks ahead as far as its budget reaches."""

    def __init__(
        self, game: Game, name: str, seed: int = 0, *, own: Budget = USUAL, usual: Budget = USUAL, noise: int = 0
    ) -> None:
        super().__init__(game, name, seed)
        self.own, self.usual = own, usual
        self.noise = noise
        self.thinker = Thinker(game)

    def start(self, hello: dict[str, Any]) -> None:
        """A new game: nothing is remembered."""
        super().start(hello)
        self.thinker.forget()

    def action(self, states: Any, budget: Budget, clock: Clock) -> int:
        """The best action found."""
        limits = agreed(self.own, budget.for_nodes, self.usual)
        if self.noise:
            return self._misjudged(states, limits, clock)
        return self.find(states, limits, clock).action

    def find(self, states: Any, limits: Budget, clock: Clock, avoid: tuple[int, ...] = ()) -> Finding:
        """The last word of a search; one action at least must not be avoided."""
        time = clock.left(limits.time)
        *_, finding = self.thinker.search(states, limits.depth, limits.nodes, time, avoid)
        return finding

    def _misjudged(self, states: Any, limits: Budget, clock: Clock) -> int:
        """The best of a few good actions, each taken for better or worse than it is."""
        share = Budget(
            None if limits.time is None else (clock.left(limits.time) or 0) / LINES,
            None if limits.nodes is None else max(1, limits.nodes // LINES),
            None,
            limits.depth,
        )
        count = self.game.kernels.legal(states, self.game.buffer())
        dice = dice_at(states, self.seed)
        lines: list[Finding] = []
        while len(lines) < min(LINES, count):
            finding = self.find(states, share, Clock(), tuple(line.action for line in lines))
            lines.append(finding)
            if abs(finding.score) > DECIDED:
                break  # a win is a win, and what comes after a loss is lost too
        return max(lines, key=lambda line: line.score + blur(line.score, self.noise, dice)).action


def agreed(own: Budget, given: Budget, usual: Budget) -> Budget:
    """What the spec says within what the clock says; if neither says anything, what is usual."""
    limits = own.within(given)
    return usual if limits.empty else limits


def dice_at(states: Any, seed: int) -> Dice:
    """Random numbers that depend on the position and the seed alone."""
    digest = hashlib.blake2b(states.tobytes() + seed.to_bytes(8, "little"), digest_size=8).digest()
    return Dice(int.from_bytes(digest, "little"))


def blur(score: int, noise: int, dice: Dice) -> float:
    """An error of judgement, about as large as ``noise``; decided games are seen as they are."""
    error = noise * (sum(dice.fraction() for _ in range(3)) - 1.5) * 2  # a bell of that standard deviation
    return 0 if abs(score) > DECIDED else error


def make(
    game: Game,
    name: str,
    seed: int,
    depth: int | None = None,
    nodes: int | None = None,
    time: float | None = None,
    noise: int = 0,
) -> Bot:
    """A player that searches by alpha-beta; where three play, it takes the others for one side."""
    own = Budget(time, nodes, None, depth)
    return AlphaBeta(game, name, seed, own=own, noise=noise)
