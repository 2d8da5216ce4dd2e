"""Long work on perfect play, kept in files so that it can be taken up: double oracles and inspections."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ludodrome.game import IllegalMove
from ludodrome.games.spaces.equilibrium import Inspection
from ludodrome.games.spaces.legality import check, refusal
from ludodrome.games.spaces.notation import format_code, parse_board, parse_code
from ludodrome.games.spaces.strategy_ import Mixture
from ludodrome.lab.files import read_value, write_text
from ludodrome.validation import show

MOST_INSPECTED = 10**10
"""More boards than this are not played one by one."""


def read_boards_of(path: str, size: int, rules: str) -> list[bytes]:
    """The boards that an earlier attempt was left with; none if there was none. ValueError names what is wrong."""
    if not Path(path).exists():
        return []
    value = _state(path, {"size": size, "rules": rules}, ("boards",))
    if type(value["boards"]) is not list:
        raise ValueError(f"{path}: boards is a list of codes, not {show(value['boards'])}")
    boards = []
    for number, code in enumerate(value["boards"], 1):
        try:
            wrong = refusal(check(parse_board(code), size, rules))
        except IllegalMove as error:
            wrong = str(error)
        if wrong:
            raise ValueError(f"{path}, board {number}: {wrong}")
        boards.append(parse_code(code)[1])
    return boards


def write_boards_of(path: str, size: int, rules: str, boards: Iterable[bytes]) -> None:
    """Keep the boards of an attempt."""
    codes = [format_code(board, size) for board in boards]
    write_text(path, json.dumps({"size": size, "rules": rules, "boards": codes}) + "\n")


def inspection_of(mixture: Mixture, path: str | None) -> Inspection:
    """An inspection from its beginning, or where an earlier one stopped."""
    if path is None or not Path(path).exists():
        return Inspection(mixture)
    value = _state(path, {"size": mixture.size, "rules": mixture.rules}, ("after", "done", "best"))
    if not (type(value["after"]) is str and type(value["done"]) is int and type(value["best"]) is int):
        raise ValueError(f"{path}: after is a code, done and best are whole numbers")
    return Inspection(mixture, value["after"], value["done"], value["best"])


def write_inspection(path: str, inspection: Inspection) -> None:
    """Keep how far an inspection is."""
    mixture = inspection.mixture
    value = {"size": mixture.size, "rules": mixture.rules}
    write_text(
        path,
        json.dumps({**value, "after": inspection.after, "done": inspection.done, "best": inspection.best}) + "\n",
    )


def _state(path: str, asked: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    value = read_value(path)
    if type(value) is not dict or value.keys() != {*asked, *keys}:
        raise ValueError(f"{path}: a state has the keys {', '.join((*asked, *keys))}; this is another file")
    if any(value[name] != one for name, one in asked.items()):
        raise ValueError(f"{path} was begun with another size or rule set: delete it, or ask for the same")
    return value
