"""Boards of spaces in the making."""

from fastapi import APIRouter

from ludodrome.web.positions import Json
from ludodrome.web.routes.asking import FAULTS, Unfinished

router = APIRouter(prefix="/spaces", tags=["spaces"], responses=FAULTS)


@router.post("/boards")
def board(asked: Unfinished) -> Json:
    """What may come next on an unfinished board. If no legal board begins like this, the answer says why."""
    from ludodrome.games.spaces import encode_board, steps

    following = steps(asked.sequence, asked.size, asked.rules)
    finished = bool(asked.sequence) and not following
    whole = {"boardSize": asked.size, "sequence": asked.sequence}
    return {"next": following, "finished": finished, "code": encode_board(whole) if asked.sequence else ""}
