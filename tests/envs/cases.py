"""The games and options that the tests of environments run over, and what they have in common."""

from typing import Any

import pytest

from tests.cases import CASES, words

PART = "gymnasium"
pytest.importorskip(PART, reason="gymnasium and pettingzoo are not installed: pip install 'ludodrome[rl]'")


def larger(options: dict[str, Any]) -> bool:
    """Whether spaces with these options has records for which everything is compiled once more."""
    return bool(options.get("size", 0) > 5 or options.get("rounds", 0) > 10)


def each_case() -> pytest.MarkDecorator:
    """A decorator: all pairs of game and options; those with larger records only in the long run."""
    cases = [
        pytest.param(game, options, id=f"{game}-{words(options)}", marks=pytest.mark.xdist_group(game))
        for game, all_options in CASES.items()
        for options in all_options
    ]
    return pytest.mark.parametrize(("game_id", "options"), cases)


def skip_larger(options: dict[str, Any], long: bool) -> None:
    """Leave a case to the long run."""
    if larger(options) and not long:
        pytest.skip("the long run has the larger records")
