"""Malformed states, moves and texts to every entry: only the documented errors come back."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import ludodrome
from ludodrome.jit import COMPILED
from tests.cases import each_game
from tests.hostile import damaged, damaged_text, hostile_value
from tests.test_contract import random_move, sample_states

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "caldera": [{}],
    "dots": [{}, {"rows": 1, "cols": 2}],
    "santorini": [{}, {"players": 3}],
    "skysummit": [{}, {"turn_limit": 9}],
    "spaces": [
        {},
        {"size": 2, "rules": "live"},
        {"size": 2, "rules": "live", "mode": "deck"},
        {"size": 4, "rules": "live", "choice": "blind"},
    ],
}

Game = ludodrome.Game
Call = Callable[[Game, Any, Any], Any]

WITH_STATE: dict[str, Call] = {
    "to_move": lambda game, state, move: game.to_move(state),
    "legal_moves": lambda game, state, move: game.legal_moves(state),
    "is_legal": lambda game, state, move: game.is_legal(state, move),
    "apply": lambda game, state, move: game.apply(state, move),
    "outcome": lambda game, state, move: game.outcome(state),
    "observation": lambda game, state, move: game.observation(state, 0),
    "render": lambda game, state, move: game.render(state),
    "format_state": lambda game, state, move: game.format_state(state),
    "format_move": lambda game, state, move: game.format_move(move, state),
    "parse_move": lambda game, state, move: game.parse_move("x", state),
    "action": lambda game, state, move: game.action(move, state),
    "move": lambda game, state, move: game.move(0, state),
    "encode": lambda game, state, move: game.encode(state),
    "perft": lambda game, state, move: ludodrome.perft(game, 0, state),
}
WITH_MOVE: dict[str, Call] = {
    "is_legal": lambda game, state, move: game.is_legal(state, move),
    "apply": lambda game, state, move: game.apply(state, move),
    "format_move": lambda game, state, move: game.format_move(move, state),
    "action": lambda game, state, move: game.action(move, state),
}
WITH_TEXT: dict[str, Call] = {
    "parse_move": lambda game, state, text: game.parse_move(text, state),
    "parse_state": lambda game, state, text: game.parse_state(text),
}


def attempts(game_id: str, count: int, rng: random.Random) -> Counter[str]:
    """Sends damaged things until ``count`` were refused; gives the refusals by entry."""
    games = [ludodrome.make(game_id, **options) for options in OPTIONS[game_id]]
    material = []
    for game in games:
        deck = game.options.get("mode") == "deck"  # a finished one is a hundred games long, and slow to damage
        for state in [*sample_states(game, 0)[:4], *([] if deck else sample_states(game, 12))]:
            running = game.to_move(state) is not None
            move = random_move(game, state if running else game.initial_state(), rng)
            texts = [game.format_state(state), game.format_move(move, state) if running else "?"]
            material.append((game, state, move, texts))
    refused: Counter[str] = Counter()
    entries: list[tuple[str, str, Call]] = [
        *(("state", name, call) for name, call in WITH_STATE.items()),
        *(("move", name, call) for name, call in WITH_MOVE.items()),
        *(("text", name, call) for name, call in WITH_TEXT.items()),
    ]
    while refused.total() < count:
        for kind, name, call in entries:
            game, state, move, texts = rng.choice(material)
            if kind == "state":
                arguments = (damaged(state, rng) if rng.random() < 0.95 else hostile_value(rng), move)
            elif kind == "move":
                arguments = (state, damaged(move, rng) if rng.random() < 0.9 else hostile_value(rng))
            else:
                text = damaged_text(rng.choice(texts), rng) if rng.random() < 0.95 else hostile_value(rng)
                arguments = (state, text)
            try:
                answer = call(game, *arguments)
            except (ludodrome.BadState, ludodrome.IllegalMove, ludodrome.TooManyMoves) as error:
                sentence = str(error)
                assert 8 <= len(sentence) <= 1500, f"{name}: {sentence[:200]}"
                refused[f"{name}({kind})"] += 1
            else:
                if answer is False:
                    refused[f"{name}({kind})"] += 1
    return refused


@pytest.mark.parametrize("game_id", each_game())
def test_only_the_documented_errors_come_back(game_id: str, long: bool) -> None:
    count = 20_000 if COMPILED else 1_000
    entries = len(WITH_STATE) + len(WITH_MOVE) + len(WITH_TEXT)
    refused = attempts(game_id, count * entries if long and COMPILED else count, random.Random(11))
    assert refused.total() >= count
    assert len(refused) == entries, f"never refused: {refused}"
