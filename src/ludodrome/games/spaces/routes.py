"""The HTTP API of boards: unfinished ones, random ones, and rounds between two."""

import secrets
from typing import Any

import numpy as np
from fastapi import APIRouter
from pydantic import Field

from ludodrome.game import IllegalMove
from ludodrome.game_extras import Json
from ludodrome.games.spaces import rules as kernels
from ludodrome.games.spaces.boards import (
    LARGEST,
    LEFT,
    RIGHT,
    SMALLEST,
    UP,
    encode_board,
    format_board,
    is_live,
    max_steps,
    parse_board,
    parse_playable,
)
from ludodrome.games.spaces.display import round_view
from ludodrome.games.spaces.legality import check_playable, empty_states, finished, steps
from ludodrome.games.spaces.sampling import UNIFORM, quick, sample
from ludodrome.web.routes.schemas import ERROR_RESPONSES, MAX_SEED, Strict

router = APIRouter(prefix="/spaces", tags=["spaces"], responses=ERROR_RESPONSES)

SEED_BITS = 48
MAX_CODE = max_steps(LARGEST) + 10
"""Characters of the longest code."""
STRAIGHT = {"up": UP, "left": LEFT, "right": RIGHT}

Size = Field(ge=SMALLEST, le=LARGEST)
RuleSet = Field(default="written", max_length=20)


class PartialBoard(Strict):
    """An unfinished board: its steps, or its code; and perhaps one step more."""

    size: int = Size
    rules: str = RuleSet
    sequence: list[Any] = Field(default=[], max_length=max_steps(LARGEST))
    code: str = Field(default="", max_length=MAX_CODE, description="Instead of the sequence, like 3:1:u6.")
    step: Any = Field(default=None, description="A step to try after these: its position and its type.")


class BoardSample(Strict):
    """A request for random boards."""

    size: int = Size
    rules: str = RuleSet
    count: int = Field(default=1, ge=1, le=10)
    seed: int | None = Field(default=None, ge=0, le=MAX_SEED)


class BoardPair(Strict):
    """Two boards, seat 0's and seat 1's, as JSON or as codes. They may be unfinished."""

    size: int = Size
    rules: str = RuleSet
    boards: list[Any] = Field(min_length=2, max_length=2)


@router.post("/boards")
def board(asked: PartialBoard) -> Json:
    """The steps that may come next on an unfinished board. If no legal board begins like this, the answer says why.

    ``runs`` says how many steps may be taken straight up, left and right one after another, ``finish`` is the code of
    the board that goes on to the goal as directly as possible.
    """
    sequence = _sequence(asked)
    following = steps(sequence, asked.size, asked.rules)
    answer: Json = {"next": following, "finished": bool(sequence) and not following, "code": "", "runs": {}}
    if not sequence:
        return answer
    live = is_live(asked.rules)
    _, actions = parse_playable({"boardSize": asked.size, "sequence": sequence})
    whole = finished(actions, asked.size, live)
    return {
        **answer,
        "code": encode_board({"boardSize": asked.size, "sequence": sequence}),
        "runs": {} if answer["finished"] else _runs(actions, asked.size, live),
        "finish": encode_board(format_board(whole, asked.size)),
    }


def _sequence(asked: PartialBoard) -> list[Any]:
    """The steps that were sent."""
    sequence = asked.sequence
    if asked.code:
        if sequence:
            raise IllegalMove("an unfinished board has a sequence or a code, not both")
        sequence = _of_size(parse_board(asked.code), asked.size)["sequence"]
    if asked.step is not None:
        if type(asked.step) is not dict:
            raise IllegalMove("a step is an object with a position and a type")
        sequence = [*sequence, {**asked.step, "order": len(sequence) + 1}]
    return sequence


def _of_size(board: Json, size: int) -> Json:
    if board["boardSize"] != size:
        raise IllegalMove(f"the size is {size} here, and this code is that of a board of size {board['boardSize']}")
    return board


def _runs(actions: bytes, size: int, live: bool) -> dict[str, int]:
    """How many piece steps may follow in each direction."""
    found = {}
    for name, direction in STRAIGHT.items():
        run = np.frombuffer(actions + bytes([size + direction]) * size, np.uint8)
        found[name] = int(kernels.lay_steps(empty_states(size, live), run)) - len(actions)
    return found


@router.post("/samples")
def samples(asked: BoardSample) -> Json:
    """Random legal boards: all equally likely where they can be counted, else step by step."""
    is_live(asked.rules)
    seed = secrets.randbits(SEED_BITS) if asked.seed is None else asked.seed
    if asked.size <= UNIFORM[asked.rules]:
        boards = [format_board(one, asked.size) for one in sample(asked.size, asked.count, asked.rules, seed)]
    else:
        boards = [quick(asked.size, asked.rules, seed + number) for number in range(asked.count)]
    return {"boards": boards}


@router.post("/rounds")
def played(asked: BoardPair) -> Json:
    """Two boards run against each other. They must be playable; they may be unfinished, or not legal."""
    return round_view([_checked(asked, number) for number in range(2)], asked.size, asked.rules)


def _checked(asked: BoardPair, number: int) -> Json:
    """One of two boards; IllegalMove if it is not playable."""
    sent = asked.boards[number]
    try:
        board: Json = _of_size(parse_board(sent), asked.size) if type(sent) is str else sent
    except IllegalMove as wrong:
        raise IllegalMove(f"board {number + 1}: {wrong}") from None
    faults = check_playable(board, asked.size, asked.rules)
    if faults:
        raise IllegalMove(f"board {number + 1}: {faults[0].sentence}")
    return board
