"""The HTTP API of boards: unfinished ones, random ones, and rounds between two."""

import secrets
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from ludodrome.game import IllegalMove
from ludodrome.game_extras import Json
from ludodrome.games.spaces.boards import encode_board, format_board, is_live
from ludodrome.games.spaces.display import MAX_SIZE, round_view
from ludodrome.games.spaces.legality import check_playable, steps
from ludodrome.games.spaces.sampling import UNIFORM, quick, sample
from ludodrome.web.routes.schemas import ERROR_RESPONSES, MAX_SEED, Strict

router = APIRouter(prefix="/spaces", tags=["spaces"], responses=ERROR_RESPONSES)

SEED_BITS = 48


class PartialBoard(Strict):
    """An unfinished board."""

    size: int = Field(ge=2, le=MAX_SIZE)
    rules: str = Field(default="written", max_length=20)
    sequence: list[Any] = Field(default=[], max_length=400)


class BoardSample(Strict):
    """A request for random boards."""

    size: int = Field(ge=2, le=MAX_SIZE)
    rules: str = Field(default="written", max_length=20)
    count: int = Field(default=1, ge=1, le=10)
    seed: int | None = Field(default=None, ge=0, le=MAX_SEED)


class BoardPair(Strict):
    """Two boards, seat 0's and seat 1's."""

    size: int = Field(ge=2, le=MAX_SIZE)
    rules: str = Field(default="written", max_length=20)
    boards: list[Any] = Field(min_length=2, max_length=2)


@router.post("/boards")
def board(asked: PartialBoard) -> Json:
    """The steps that may come next on an unfinished board. If no legal board begins like this, the answer says why."""
    following = steps(asked.sequence, asked.size, asked.rules)
    finished = bool(asked.sequence) and not following
    whole = {"boardSize": asked.size, "sequence": asked.sequence}
    return {"next": following, "finished": finished, "code": encode_board(whole) if asked.sequence else ""}


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
    """Two boards run against each other, step by step. They must be playable; they may be unfinished, or not legal."""
    for number, one in enumerate(asked.boards):
        faults = check_playable(one, asked.size, asked.rules)
        if faults:
            raise IllegalMove(f"board {number + 1}: {faults[0].sentence}")
    return round_view(asked.boards, asked.size, asked.rules)
