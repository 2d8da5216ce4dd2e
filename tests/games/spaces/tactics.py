"""The last board of a match of spaces, where few of all boards win or save: finding such positions, and proving them.

Through the rules alone, by trying every legal board. The seat behind by two or three points must answer as well
as possible; traps that nobody steps on make some answers alike, so there are a few such boards, not one. To
rewrite the file (the same seed finds the same positions):

    python -m tests.games.spaces.tactics > tests/games/spaces/tactics.txt

A line is a position, one of the boards, and what they do, such as ``wins, 9 of 796``: with the other 787 boards the
match is not won. ``saves``: it is lost with the others, and none wins.
"""

import random
from collections.abc import Iterator
from typing import Any

import ludodrome
from ludodrome.puzzle import puzzles
from tests.tactics import SAVES, Tactic, options

SIZE, RULES, ROUNDS = 3, "live", (2, 3)
FEW = 40
"""At most one in this many boards succeeds."""
COUNT = 11
"""Positions for each number of rounds and each task."""
WINS = "wins"


def found(game: ludodrome.Game, state: Any) -> Tactic | None:
    """The position as a tactic, if it is one; the board to be laid is the last of the match."""
    seat = game.to_move(state)
    assert seat is not None
    by_result: dict[float, list[Any]] = {}
    boards = game.legal_moves(state)
    for board in boards:
        outcome = game.outcome(game.apply(state, board))
        assert outcome is not None
        by_result.setdefault(outcome.returns[seat], []).append(board)
    best = by_result[max(by_result)]
    if max(by_result) < 0 or len(best) * FEW > len(boards):
        return None
    task = f"{WINS if max(by_result) > 0 else SAVES}, {len(best)} of {len(boards)}"
    return Tactic(game.format_state(state), game.format_move(best[0], state), task)


def margin(tactic: Tactic) -> int:
    """By how much the round is won with the tactic's board."""
    game = ludodrome.make("spaces", **options("spaces", tactic.position))
    state = game.parse_state(tactic.position)
    seat = game.to_move(state)
    assert seat is not None
    points = game.apply(state, game.parse_move(tactic.move, state))["history"][-1]["points"]
    return int(points[seat] - points[1 - seat])


def find(rounds: int, chance: random.Random) -> Iterator[Tactic]:
    """Tactics without end: the last boards of matches of random boards, where somebody is behind."""
    game = ludodrome.make("spaces", size=SIZE, rules=RULES, rounds=rounds)
    boards = game.legal_moves(game.initial_state())
    while True:
        state = game.initial_state()
        for _ in range(2 * rounds - 1):
            state = game.apply(state, chance.choice(boards))
        seat = game.to_move(state)
        assert seat is not None
        behind = state["totals"][1 - seat] - state["totals"][seat]
        if behind in (2, 3) and (tactic := found(game, state)):
            yield tactic


def main() -> None:
    """Prints the file."""
    print("# POSITION ; BOARD ; wins or saves, as so many boards of all do (tests/games/spaces/tactics.py)")
    known = {puzzle.position for puzzle in puzzles("spaces")}
    for rounds in ROUNDS:
        missing = {WINS: COUNT, SAVES: COUNT}
        for tactic in find(rounds, random.Random(rounds)):
            task = tactic.task.split(",")[0]
            if missing[task] and tactic.position not in known:
                known.add(tactic.position)
                missing[task] -= 1
                print(tactic, flush=True)
            if not any(missing.values()):
                break


if __name__ == "__main__":
    main()
