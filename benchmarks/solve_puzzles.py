"""Has ``expert`` solve every puzzle that ships and every tactic of the tests, with so much time for each.

    python -m benchmarks.solve_puzzles --time 1
    python -m benchmarks.solve_puzzles caldera dots --time 0.3

Prints what it fails, and a count for each game. The exit code is 1 if there is anything.
"""

import argparse
import sys
from collections.abc import Iterator

import ludodrome
from benchmarks.find_puzzles import finds
from ludodrome.puzzle import RESPOND, WIN, Puzzle, puzzles
from tests.games.spaces.tactics import margin
from tests.tactics import options, read


def tactics(game_id: str) -> Iterator[Puzzle]:
    """The tactics of a game as if they were puzzles."""
    for number, tactic in enumerate(read(game_id), 1):
        kind, goal = (RESPOND, margin(tactic)) if game_id == "spaces" else (WIN, 0)
        yield Puzzle(
            game_id, number, 0, kind, goal, goal, options(game_id, tactic.position), tactic.position, tactic.move
        )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Have expert solve all puzzles and tactics.")
    parser.add_argument("games", nargs="*", default=ludodrome.game_ids())
    parser.add_argument("--time", type=float, default=1.0, help="seconds for each")
    chosen = parser.parse_args()
    spec, missed = f"expert:time={chosen.time:g}", 0
    for game_id in chosen.games:
        for what, tasks in (("puzzles", puzzles(game_id)), ("tactics", list(tactics(game_id)))):
            failed = [task for task in tasks if not finds(spec, task)]
            for task in failed:
                print(f"{game_id} {what} {task.number}: {task.position} ; {task.solution}")
            missed += len(failed)
            print(f"{game_id}: {len(tasks) - len(failed)} of {len(tasks)} {what} solved by {spec}", flush=True)
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
