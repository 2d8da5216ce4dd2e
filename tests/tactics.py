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
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import ludodrome
from tests import exhaustive

DEEPEST = 5
LOST_WITHIN = 3
"""After the moves that do not save, the enemy wins within this number of plies."""
FEWEST_MOVES = 5
"""With fewer legal moves a position is no task."""
MAX_PER_GAME = 2
SAVES = "saves"
FOLDER = Path(__file__).parent / "games"


class Tactic(NamedTuple):
    """One line of a file."""

    position: str
    move: str
    task: str

    def __str__(self) -> str:
        return " ; ".join(self)


class Prover(exhaustive.Prover):
    """Exhaustive search in one game of two seats, and what is a tactic there."""

    def __init__(self, game: ludodrome.Game) -> None:
        if game.seats != 2:
            raise ValueError(f"tactics are for games of two seats; {game!r} has {game.seats}")
        super().__init__(game)

    def after(self, states: Any, action: int) -> Any:
        following = states.copy()
        self.game.kernels.play(following, action)
        return following

    def tactic(self, states: Any) -> tuple[int, str] | None:
        """The action and the task, if the position is one."""
        for plies in range(1, DEEPEST + 1, 2):
            if winners := self.winning(states, plies):
                alone = len(winners) == 1 and self.winning(states, DEEPEST) == winners
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


def options(game_id: str, position: str) -> dict[str, Any]:
    """The options of the game, as far as the position's line has them."""
    words = position.split()
    if game_id == "dots":
        rows, cols = words[0].split("x")
        return {"rows": int(rows), "cols": int(cols)}
    if game_id == "spaces":
        return {"size": int(words[1]), "rules": words[2], "rounds": int(words[4].split("/")[1])}
    return {}


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
            sensible = prover.winning(states, 1) or prover.holding(states, 1) or legal
            states = prover.after(states, rng.choice(sensible))
        yield from rng.sample(found, min(MAX_PER_GAME, len(found)))


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
