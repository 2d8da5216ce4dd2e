"""Golden playthroughs: complete games kept as files, so that no change of the rules goes unseen.

``python -m tests.golden`` writes those that are missing; delete a file to have it made anew.
Each file is a list of lines: the options, then for every ply the position and the move.
"""

import json
import random
from pathlib import Path
from typing import Any

import ludodrome
from tests.cases import CASES, words
from tests.test_contract import random_move

GAMES = Path(__file__).parent / "games"
PLAYOUTS = 200


def path(game_id: str, options: dict[str, Any]) -> Path:
    return GAMES / game_id / "golden" / f"{words(options)}.txt"


def playthrough(game_id: str, options: dict[str, Any]) -> str:
    """One random game as text, with the fingerprint of many more."""
    game = ludodrome.make(game_id, **options)
    rng = random.Random(f"{game_id} {words(options)}")
    state = game.initial_state(seed=1)
    lines = [f"# {game_id} {json.dumps(game.options)}", game.format_state(state)]
    while game.to_move(state) is not None:
        move = random_move(game, state, rng)
        lines.append(f"    {game.format_move(move, state)}")
        state = game.apply(state, move)
        lines.append(game.format_state(state))
    outcome = game.outcome(state)
    assert outcome is not None
    lines.append(f"= {outcome.winner} {outcome.scores} {outcome.returns} {outcome.reason}")
    count = 2 if options.get("size", 0) > 10 else PLAYOUTS
    result = ludodrome.playouts(game, count, seed=1)
    lines.append(f"= {count} playouts: {result.wins} {result.draws} {result.plies} {result.digest}")
    return "\n".join(lines) + "\n"


def main() -> None:
    for game_id, cases in CASES.items():
        for options in cases:
            file = path(game_id, options)
            if not file.exists():
                file.parent.mkdir(exist_ok=True)
                file.write_text(playthrough(game_id, options), "utf-8")
                print(f"wrote {file}")


if __name__ == "__main__":
    main()
