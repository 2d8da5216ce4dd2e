"""Golden playthroughs re-run bit for bit; a game without one fails."""

import json
from typing import Any

import pytest

import ludodrome
from ludodrome.jit import COMPILED
from tests import golden
from tests.cases import each_case


@pytest.mark.parametrize(("game_id", "options"), each_case())
def test_a_playthrough_re_runs(game_id: str, options: dict[str, Any]) -> None:
    file = golden.path(game_id, options)
    assert file.exists(), "python -m tests.golden writes it"
    head, start, *rest, result, fingerprint = file.read_text("utf-8").splitlines()
    game = ludodrome.make(game_id, **json.loads(head.split(" ", 2)[2]))
    state = game.initial_state(seed=1)
    assert game.format_state(state) == start
    for move, line in zip(rest[::2], rest[1::2], strict=True):
        state = game.apply(state, game.parse_move(move.strip(), state))
        assert game.format_state(state) == line
    outcome = game.outcome(state)
    assert outcome is not None
    assert result == f"= {outcome.winner} {outcome.scores} {outcome.returns} {outcome.reason}"
    count = int(fingerprint.split()[1])
    if COMPILED:  # tests/test_jit.py compares playouts with and without compilation
        many = ludodrome.playouts(game, count, seed=1)
        assert fingerprint == f"= {count} playouts: {many.wins} {many.draws} {many.plies} {many.digest}"
