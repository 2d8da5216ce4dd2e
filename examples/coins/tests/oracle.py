"""Coins a second time, written from RULES.md alone, slow and plain: the walk compares it with the kernels."""

from typing import Any

VALUES = dict(enumerate([2, 1, 3, 1, 2, 3, 1, 3, 2, 1, 3, 2, 1, 2, 3], start=1))


def initial(options: dict[str, Any], nonce: Any = None) -> Any:
    """R1."""
    return {
        "first": 1,
        "last": 15,
        "scores": [0] * options["players"],
        "to_move": 0,
        "turn": 0,
        "winner": None,
        "reason": "",
    }


def to_move(state: Any, options: dict[str, Any]) -> int | None:
    """R3."""
    seat: int | None = state["to_move"]
    return seat


def legal(state: Any, options: dict[str, Any]) -> list[Any]:
    """R2, from the left."""
    ends = {state["first"], state["last"]} - {None}
    return [{"coin": coin} for coin in sorted(ends)]


def apply(state: Any, move: Any, options: dict[str, Any]) -> Any:
    """R2, R3, R4."""
    row = list(range(state["first"], state["last"] + 1))
    row.remove(move["coin"])
    points, seat = VALUES[move["coin"]], state["to_move"]
    scores = list(state["scores"])
    scores[seat] += points
    after = {
        "first": row[0] if row else None,
        "last": row[-1] if row else None,
        "scores": scores,
        "to_move": None if not row else seat if points == 1 else (seat + 1) % options["players"],
        "turn": state["turn"] + 1,
        "winner": None,
        "reason": "",
    }
    end = outcome(after, options)
    if end:
        after["winner"], after["reason"] = end["winner"], end["reason"]
    return after


def outcome(state: Any, options: dict[str, Any]) -> Any:
    """R4; None while the game runs."""
    if state["first"] is not None:
        return None
    scores = state["scores"]
    best = [seat for seat, points in enumerate(scores) if points == max(scores)]
    winner = best[0] if len(best) == 1 else None
    loss = -1 if len(scores) == 2 else -0.5
    returns = [0 if winner is None else 1 if seat == winner else loss for seat in range(len(scores))]
    return {"winner": winner, "scores": scores, "returns": returns, "reason": "all coins taken"}
