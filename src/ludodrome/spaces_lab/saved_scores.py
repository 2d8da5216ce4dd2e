"""The progress of `ludodrome spaces scores` in a file: of all pairs, or of a search and its finalists."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from ludodrome.games.spaces.boards import format_code, parse_code
from ludodrome.games.spaces.legality import continuations
from ludodrome.games.spaces.score_search import ScoreSearch
from ludodrome.games.spaces.scores import SQUARES, AllPairs
from ludodrome.jit import Array
from ludodrome.spaces_lab.board_files import read_value, write_text
from ludodrome.validation import show


def load_pairs(path: str | None, size: int, rules: str) -> AllPairs:
    """All pairs of a size and rule set, from the start or where the file left them. ValueError names the fault."""
    if path is None or not Path(path).exists():
        return AllPairs(size, rules)
    value = _read(path, {"size": size, "rules": rules, "kind": "pairs"}, ("done", "tallies"))
    pairs = AllPairs(size, rules)
    pairs.tallies = _tallies(value["tallies"], pairs.orbits, path)
    pairs.done = _whole(value["done"], pairs.orbits, path)
    return pairs


def save_pairs(path: str, pairs: AllPairs) -> None:
    """Save the progress."""
    asked = {"size": pairs.size, "rules": pairs.rules, "kind": "pairs"}
    write_text(path, json.dumps({**asked, "done": pairs.done, "tallies": pairs.tallies.tolist()}) + "\n")


def load_search(path: str | None, search: ScoreSearch, candidates: int, exact: bool) -> bool:
    """Continue a search from the file, if there is one; return whether there was. ValueError names the fault."""
    if path is None or not Path(path).exists():
        return False
    value = _read(path, _asked(search, candidates, exact), ("finalists", "tallies", "overall", "played", "after"))
    codes = value["finalists"]
    if type(codes) is not list or not codes:
        raise ValueError(f"{path}: finalists is a list of codes, not {show(codes)}")
    boards = []
    for number, code in enumerate(codes, 1):
        size, actions = parse_code(str(code))
        if size != search.size or continuations(actions, size, search.live) != []:
            raise ValueError(f"{path}, finalist {number}: {show(code)} is not a legal board here")
        boards.append(actions)
    search.finalists = boards
    search.tallies = _tallies(value["tallies"], len(boards), path)
    search.overall = _tallies([value["overall"]], 1, path)[0]
    search.played = _whole(value["played"], 1 << 62, path)
    if value["after"] is not None and type(value["after"]) is not str:
        raise ValueError(f"{path}: after is a code or null, not {show(value['after'])}")
    search.after = value["after"]
    return True


def save_search(path: str, search: ScoreSearch, candidates: int, exact: bool) -> None:
    """Save the progress."""
    value = {
        **_asked(search, candidates, exact),
        "finalists": [format_code(board, search.size) for board in search.finalists],
        "tallies": search.tallies.tolist(),
        "overall": search.overall.tolist(),
        "played": search.played,
        "after": search.after,
    }
    write_text(path, json.dumps(value) + "\n")


def _asked(search: ScoreSearch, candidates: int, exact: bool) -> dict[str, Any]:
    return {
        "size": search.size,
        "rules": search.rules,
        "kind": "exact" if exact else "sample",
        "shares": search.shares,
        "by": search.measure,
        "seed": search.seed,
        "candidates": candidates,
    }


def _read(path: str, asked: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    value = read_value(path)
    if type(value) is not dict or value.keys() != {*asked, *keys}:
        raise ValueError(f"{path} is not a state of these scores: delete it, or give the same size, rules and options")
    other = [name for name, one in asked.items() if value[name] != one]
    if other:
        raise ValueError(f"{path} was started with another {other[0]}: delete it, or give the same")
    return value


def _tallies(value: Any, rows: int, path: str) -> Array:
    try:
        found = np.array(value, np.int64)
    except (TypeError, ValueError, OverflowError):
        found = np.zeros(0, np.int64)
    if found.shape != (rows, SQUARES + 1) or (found < 0).any():
        raise ValueError(f"{path}: tallies are {rows} rows of {SQUARES + 1} whole numbers")
    return found


def _whole(value: Any, most: int, path: str) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{path}: the progress is a whole number from 0 to {most}, not {show(value)}")
    return value
