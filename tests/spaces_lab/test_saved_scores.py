"""The progress of scores in files: taken up, and refused when it does not fit."""

import json
from pathlib import Path
from typing import Any

import pytest

from ludodrome.games.spaces.score_search import ScoreSearch
from ludodrome.games.spaces.scores import AllPairs
from ludodrome.spaces_lab.saved_scores import load_pairs, load_search, save_pairs, save_search

pytestmark = pytest.mark.xdist_group("spaces")


def test_all_pairs_are_taken_up(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    assert load_pairs(path, 3, "live").done == 0
    pairs = AllPairs(3, "live")
    pairs.step(20_000)
    save_pairs(path, pairs)
    again = load_pairs(path, 3, "live")
    assert 0 < again.done == pairs.done < again.orbits
    while not again.over:
        again.step(20_000)
    whole = AllPairs(3, "live")
    whole.step(10**9)
    assert (again.tallies == whole.tallies).all()


def test_a_search_is_taken_up(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    search = ScoreSearch(3, "live", (0.0, 0.5), "won", seed=4)
    assert not load_search(path, search, 10, exact=False)
    search.search(10)
    search.step(1000)
    save_search(path, search, 10, exact=False)
    again = ScoreSearch(3, "live", (0.0, 0.5), "won", seed=4)
    assert load_search(path, again, 10, exact=False)
    assert (again.finalists, again.played) == (search.finalists, 1000)
    assert (again.tallies == search.tallies).all()
    assert (again.overall == search.overall).all()
    other = ScoreSearch(3, "live", (0.0, 0.5), "won", seed=5)
    with pytest.raises(ValueError, match="was started with another seed: delete it, or give the same"):
        load_search(path, other, 10, exact=False)
    with pytest.raises(ValueError, match="was started with another kind"):
        load_search(path, again, 10, exact=True)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"done": -1}, "the progress is a whole number from 0 to"),
        ({"done": True}, "the progress is a whole number"),
        ({"tallies": [[1, 2]]}, "tallies are 7 rows of 6 whole numbers"),
        ({"tallies": "x"}, "rows of 6 whole numbers"),
        ({"more": 1}, "is not a state of these scores"),
        ({"rules": "written"}, "was started with another rules"),
    ],
)
def test_a_damaged_state_is_refused(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    path = tmp_path / "state.json"
    save_pairs(str(path), AllPairs(2, "live"))
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ValueError, match=sentence):
        load_pairs(str(path), 2, "live")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"finalists": []}, "finalists is a list of codes, not a list of 0"),
        ({"finalists": ["3:1:u8uf"]}, "finalist 1: '3:1:u8uf' is not a legal board here"),
        ({"finalists": ["4:1:uuuf"]}, "finalist 1: .* is not a legal board here"),
        ({"after": 5}, "after is a code or null, not 5"),
        ({"played": "x"}, "the progress is a whole number"),
    ],
)
def test_a_damaged_search_is_refused(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    path = tmp_path / "state.json"
    search = ScoreSearch(3, "live")
    search.search(3)
    save_search(str(path), search, 3, exact=False)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ValueError, match=sentence):
        load_search(str(path), ScoreSearch(3, "live"), 3, exact=False)
