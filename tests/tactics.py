"""Positions where exactly one move wins or saves: finding them, and proving them by exhaustive search.

For all games of two seats, through their rules alone: nothing here knows an evaluation or a clever search,
so that what is in ``tests/games/<id>/tactics.txt`` can be held against those. ``tests/test_tactics.py`` proves
every line of these files anew. To find more (the same seed finds the same positions; stop it when there are enough):

    python -m tests.tactics caldera --count 60 --seed 1 >> tests/games/caldera/tactics.txt

``--starts FILE`` begins the games in the positions of a file, one a line, rather than in the initial one.

A line is a position in the one-line form, a move in notation, and what the move does, with semicolons between:

    POSITION ; MOVE ; win in N plies    it forces a win in N plies, N being 1, 3 or 5 and the move itself one
                                        of them; no move does so in fewer, and no other within 5
    POSITION ; MOVE ; saves             after any other move the enemy forces a win within 3 plies;
                                        after this one not within 5
"""

import argparse
import functools
import importlib
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ludodrome
from ludodrome.jit import Array, copy_state, kernel, new_states, words
from ludodrome.room import Verbs

DEEPEST = 5
LOST_WITHIN = 3
"""After the moves that do not save, the enemy wins within so many plies."""
FEWEST_MOVES = 5
"""With fewer legal moves a position is no task."""
MOST_A_GAME = 2
SAVES = "saves"
FOLDER = Path(__file__).parent / "games"


class Tactic(NamedTuple):
    """One line of a file."""

    position: str
    move: str
    task: str

    def __str__(self) -> str:
        return " ; ".join(self)


def make_force(verbs: Verbs) -> Callable[..., Any]:
    """The exhaustive search of one game."""
    legal, play, mover, winner = verbs.legal, verbs.play, verbs.mover, verbs.winner

    @kernel
    def force(states: Any, memory: Array, buffers: Array, cursors: Array, attacker: int, depth: int) -> Any:
        """Whether a seat can force a win within so many plies of states[0], whoever is to move there.

        states: (levels,), a stack, and memory the same as words; buffers: (levels, most_legal) int16;
        cursors: (levels, 2) int64, next and end; there are more levels than plies.
        """
        level, entering, won = 0, True, False
        while level >= 0:
            state = states[level]
            choosing = mover(state) == attacker
            if entering and (mover(state) < 0 or level == depth):
                won = winner(state) == attacker
                level -= 1
                entering = False
                continue
            if entering:
                cursors[level, 0] = 0
                cursors[level, 1] = legal(state, buffers[level])
            elif won == choosing:  # one good move is enough for the attacker, one good answer for the other
                level -= 1
                continue
            at = cursors[level, 0]
            if at == cursors[level, 1]:
                won = not choosing
                level -= 1
                entering = False
                continue
            cursors[level, 0] = at + 1
            copy_state(memory, level + 1, memory, level)
            play(states[level + 1], buffers[level, at])
            level += 1
            entering = True
        return won

    return force


@functools.cache
def _force(game_id: str) -> Callable[..., Any]:
    verbs: Verbs = importlib.import_module(f"ludodrome.games.{game_id}.rules").VERBS
    return make_force(verbs)


class Prover:
    """Exhaustive search in one game, with its memory."""

    def __init__(self, game: ludodrome.Game) -> None:
        if game.seats != 2:
            raise ValueError(f"tactics are for games of two seats; {game!r} has {game.seats}")
        self.game = game
        self._force = _force(game.id)
        self._stack = new_states(game.dtype, DEEPEST + 2)
        self._memory = words(self._stack)
        self._buffers = np.empty((DEEPEST + 2, game.most_legal), np.int16)
        self._cursors = np.empty((DEEPEST + 2, 2), np.int64)

    def legal(self, states: Any) -> list[int]:
        buffer = self.game.buffer()
        actions: list[int] = buffer[: self.game.kernels.legal(states, buffer)].tolist()
        return actions

    def after(self, states: Any, action: int) -> Any:
        following = states.copy()
        self.game.kernels.play(following, action)
        return following

    def forces(self, states: Any, seat: int, plies: int) -> bool:
        """Whether a seat can force a win within so many plies from here."""
        self._stack[0] = states[0]
        return bool(self._force(self._stack, self._memory, self._buffers, self._cursors, seat, plies))

    def winners(self, states: Any, plies: int) -> list[int]:
        """The actions of the seat to move with which it forces a win within so many plies."""
        seat = int(self.game.kernels.mover(states))
        return [a for a in self.legal(states) if self.forces(self.after(states, a), seat, plies - 1)]

    def holding(self, states: Any, plies: int) -> list[int]:
        """The actions after which the other seat cannot force a win within so many plies."""
        seat = int(self.game.kernels.mover(states))
        return [a for a in self.legal(states) if not self.forces(self.after(states, a), 1 - seat, plies)]

    def tactic(self, states: Any) -> tuple[int, str] | None:
        """The action and the task, if the position is one."""
        for plies in range(1, DEEPEST + 1, 2):
            if winners := self.winners(states, plies):
                alone = len(winners) == 1 and self.winners(states, DEEPEST) == winners
                return (winners[0], f"win in {plies} plies") if alone else None
        holding = self.holding(states, LOST_WITHIN)
        if len(holding) == 1 and self.holding(states, DEEPEST) == holding:
            return holding[0], SAVES
        return None


def states_of(game: ludodrome.Game, state: Any) -> Any:
    """An array of one record."""
    states = game.new_states(1)
    states[0] = game.encode(state)
    return states


def read(game_id: str) -> list[Tactic]:
    """The file of a game."""
    lines = (FOLDER / game_id / "tactics.txt").read_text("utf-8").splitlines()
    parts = [line.split(" ; ") for line in lines if line and not line.startswith("#")]
    return [Tactic(position, move, task) for position, move, task in parts]


def find(game: ludodrome.Game, rng: random.Random, starts: list[str]) -> Iterator[Tactic]:
    """Tactics without end, from games between players that see what wins or loses at once and no more.

    starts: where games begin, or empty for the initial position.
    """
    prover = Prover(game)
    while True:
        first = game.parse_state(rng.choice(starts)) if starts else game.initial_state(rng.getrandbits(40))
        states = states_of(game, first)
        found: list[Tactic] = []
        while legal := prover.legal(states):
            if len(legal) >= FEWEST_MOVES and (tactic := prover.tactic(states)):
                state = game.decode(states[0])
                move = game.format_move(game.move(tactic[0], state), state)
                found.append(Tactic(game.format_state(state), move, tactic[1]))
            sensible = prover.winners(states, 1) or prover.holding(states, 1) or legal
            states = prover.after(states, rng.choice(sensible))
        yield from rng.sample(found, min(MOST_A_GAME, len(found)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Find positions where exactly one move wins or saves.")
    parser.add_argument("game", choices=[name for name in ludodrome.game_ids() if name != "spaces"])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--starts", type=Path)
    chosen = parser.parse_args()
    starts = chosen.starts.read_text("utf-8").splitlines() if chosen.starts else []
    tasks: Counter[str] = Counter()
    for tactic in find(ludodrome.make(chosen.game), random.Random(chosen.seed), starts):
        if tasks[tactic.task] < chosen.count // 3 and tactic.task != "win in 1 plies":
            tasks[tactic.task] += 1
            print(tactic, flush=True)
        if tasks.total() >= chosen.count // 3 * 3:
            return


if __name__ == "__main__":
    main()
