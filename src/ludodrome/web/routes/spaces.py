"""Boards of spaces in the making, by lot, and run against each other."""

import secrets

from fastapi import APIRouter

from ludodrome.web.position_view import Json, spaces_round
from ludodrome.web.routes.schemas import ERROR_RESPONSES, BoardPair, BoardSample, PartialBoard

router = APIRouter(prefix="/spaces", tags=["spaces"], responses=ERROR_RESPONSES)

SEED_BITS = 48


@router.post("/boards")
def board(asked: PartialBoard) -> Json:
    """What may come next on an unfinished board. If no legal board begins like this, the answer says why."""
    from ludodrome.games.spaces import encode_board, steps

    following = steps(asked.sequence, asked.size, asked.rules)
    finished = bool(asked.sequence) and not following
    whole = {"boardSize": asked.size, "sequence": asked.sequence}
    return {"next": following, "finished": finished, "code": encode_board(whole) if asked.sequence else ""}


@router.post("/samples")
def samples(asked: BoardSample) -> Json:
    """Legal boards by lot: each as likely as any other where they can be counted, else step by step."""
    from ludodrome.games.spaces import format_board, quick, sample
    from ludodrome.games.spaces.boards import is_live
    from ludodrome.games.spaces.sampling import UNIFORM

    is_live(asked.rules)
    seed = secrets.randbits(SEED_BITS) if asked.seed is None else asked.seed
    if asked.size <= UNIFORM[asked.rules]:
        boards = [format_board(one, asked.size) for one in sample(asked.size, asked.count, asked.rules, seed)]
    else:
        boards = [quick(asked.size, asked.rules, seed + number) for number in range(asked.count)]
    return {"boards": boards}


@router.post("/rounds")
def played(asked: BoardPair) -> Json:
    """Two boards run against each other, step by step."""
    from ludodrome.game import IllegalMove
    from ludodrome.games.spaces import check

    for number, one in enumerate(asked.boards):
        faults = check(one, asked.size, asked.rules)
        if faults:
            raise IllegalMove(f"board {number + 1}: {faults[0].sentence}")
    return spaces_round(asked.boards, asked.size, asked.rules)
