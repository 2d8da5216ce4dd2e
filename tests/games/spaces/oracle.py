"""Spaces by the book: a slow, plain second implementation of RULES.md, against which the fast one is tested.

Here is the match (R24 to R27); boards, rounds and samples have a file each, and their chief functions are given on.
"""

import copy
from typing import Any

from tests.games.spaces.oracle_boards import Json, boards, check, continuations, faults, json_board, playable, steps_of
from tests.games.spaces.oracle_rounds import carried_out, simulate
from tests.games.spaces.oracle_samples import decode_code, encode_code, random_legal, random_playable, random_unfinished

__all__ = [
    "apply",
    "boards",
    "check",
    "continuations",
    "decode_code",
    "encode_code",
    "faults",
    "initial",
    "legal",
    "observation",
    "outcome",
    "playable",
    "random_legal",
    "random_playable",
    "random_unfinished",
    "simulate",
    "to_move",
]

DECK = 10


def initial(options: Json, nonce: int | None = None) -> Json:
    """The state before the first lay (R24, R25)."""
    return {
        "mode": options["mode"],
        "size": options["size"],
        "rules": options["rules"],
        "choice": options["choice"],
        "round": 1,
        "rounds": 1 if options["mode"] == "deck" else options["rounds"],
        "to_move": 0,
        "chosen": None,
        "history": [],
        "totals": [0, 0],
        "winner": None,
        "reason": "",
    }


def over(state: Json) -> bool:
    """Whether all rounds, or all pairings, are played (R24, R25)."""
    pairings = DECK * DECK if state["mode"] == "deck" else 1
    return bool(len(state["history"]) == state["rounds"] * pairings)


def to_move(state: Json, options: Json) -> int | None:
    """The seat that lays next: the seats take turns in laying first (R24, R25)."""
    if over(state):
        return None
    first: int = (state["round"] - 1) % 2
    return first if state["chosen"] is None else 1 - first


def legal(state: Json, options: Json) -> list[Json]:
    """All legal moves in the documented order; decks are never listed."""
    if over(state):
        return []
    if state["mode"] == "deck":
        raise ValueError("decks are never listed")
    return list(boards(state["size"], state["rules"]))


def laid_boards(state: Json, move: Any) -> list[Json]:
    """The boards of a legal move, bare of their grids: one, or ten in the mode `deck` (R17, R25)."""
    size, rules = state["size"], state["rules"]
    laid = [move]
    if state["mode"] == "deck":
        if not isinstance(move, dict) or set(move) != {"deck"} or not isinstance(move["deck"], list):
            raise ValueError('a deck is {"deck": [ten boards]} (R25)')
        laid = move["deck"]
        if len(laid) != DECK:
            raise ValueError("a deck has ten boards (R25)")
    complaints = [complaint for board in laid for complaint in check(board, size, rules)]
    if complaints:
        raise ValueError("; ".join(complaints))
    return [json_board(steps_of(board), size) for board in laid]


def apply(state: Json, move: Any, options: Json) -> Json:
    """The state after a lay (R24, R25 and "State")."""
    seat = to_move(state, options)
    if seat is None:
        raise ValueError("the game is over")
    after: Json = copy.deepcopy(state)
    laid = laid_boards(state, move)
    if state["chosen"] is None:
        after["chosen"] = {"deck": laid} if state["mode"] == "deck" else laid[0]
        after["to_move"] = 1 - seat
        return after
    earlier = laid_boards(state, state["chosen"])
    boards_0, boards_1 = (laid, earlier) if seat == 0 else (earlier, laid)
    for a in boards_0:
        for b in boards_1:
            points, ended = simulate(a, b, state["size"], state["rules"])
            after["history"].append({"boards": copy.deepcopy([a, b]), "points": points, "ended": ended})
    after["totals"] = totals(after)
    after["chosen"] = None
    if not over(after):
        after["round"] += 1
    after["to_move"] = to_move(after, options)
    result = outcome(after, options)
    if result is not None:
        after["winner"], after["reason"] = result["winner"], result["reason"]
    return after


def observation(state: Json, seat: int | None) -> Json:
    """What a seat is shown, or a spectator: R25, R26 and "Observation"."""
    shown: Json = copy.deepcopy(state)
    if over(state):
        return shown
    laid_by = (state["round"] - 1) % 2
    if (state["mode"] == "deck" or state["choice"] in ("blind", "fog")) and seat != laid_by:
        shown["chosen"] = None
    if state["mode"] == "rounds" and state["choice"] == "fog":
        for entry in shown["history"]:
            a, b = entry["boards"]
            entry["steps"] = carried_out(a, b, state["size"], state["rules"])
            for owner in (0, 1):
                if owner != seat:
                    entry["boards"][owner] = in_fog(entry["boards"][owner], entry["steps"][owner])
    return shown


def in_fog(board: Json, done: int) -> Json:
    """The squares that a piece visited, with their steps, and the steps of the traps, as far as it came (R26)."""
    steps = [step for step in board["sequence"] if step["order"] <= done]
    return {
        "boardSize": board["boardSize"],
        "visited": [
            [step["order"], step["position"]["row"], step["position"]["col"]]
            for step in steps
            if step["type"] in ("piece", "final")
        ],
        "traps": [step["order"] for step in steps if step["type"] == "trap"],
    }


def totals(state: Json) -> list[int]:
    """The sums of the points by seat (R24, R25)."""
    return [sum(entry["points"][seat] for entry in state["history"]) for seat in (0, 1)]


def outcome(state: Json, options: Json) -> Json | None:
    """The end of the match, once it is there: the higher total wins (R27)."""
    if not over(state):
        return None
    scores = totals(state)
    if scores[0] == scores[1]:
        return {"winner": None, "scores": scores, "returns": [0, 0], "reason": "equal totals"}
    winner = scores.index(max(scores))
    returns = [1 if seat == winner else -1 for seat in (0, 1)]
    return {"winner": winner, "scores": scores, "returns": returns, "reason": "higher total"}
