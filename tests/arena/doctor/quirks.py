"""Bots with one weakness each, for the doctor to find: ``python quirks.py KIND`` is one of them."""

import json
import sys
import time
from typing import Any

KIND = sys.argv[1]
game: dict[str, Any] = {"seat": -1, "asked": 0, "overs": 0, "last": None}


def answer(turn: dict[str, Any], **beside: Any) -> None:
    move = {"type": "move", "move": turn["legal_moves"][0], **beside}
    if KIND not in ("plain", "answers observe"):
        move["turn"] = turn["turn"]
    print(json.dumps(move), flush=True)


def asked(turn: dict[str, Any]) -> None:
    game["asked"] += 1
    if KIND == "illegal as seat 1" and turn["player"] == 1 and game["asked"] == 3:
        turn["legal_moves"] = [{"t": "move", "w": 0, "to": 99, "build": 0}]
    if KIND == "begins at the beginning" and game["asked"] == 1:
        assert turn["turn"] == turn["player"], "I do not know this position"
    if KIND == "remembers" and game["last"]:
        edge = game["last"]
        assert turn["state"][edge["orient"].lower()][edge["r"]][edge["c"]], "that is not what I played"
    if KIND == "counts on a clock":
        assert turn["deadline_ms"] - 50 > 0
    if KIND == "needs 150 ms":
        time.sleep(0.15)
    if KIND == "knows one board":
        assert len(turn["state"]["h"]) == 6, "where is my board?"
    if KIND == "illegal once":
        if game["asked"] == 2:
            turn = {**turn, "legal_moves": ["[N1A1A1A1]"]}
        elif game["asked"] == 3:
            game["asked"] = 100
    answer(turn)
    if KIND == "answers twice":
        print(json.dumps({"type": "move", "move": None, "turn": turn["turn"]}), flush=True)
    game["last"] = turn["legal_moves"][0]


def heard(message: dict[str, Any]) -> None:
    kind = message["type"]
    if KIND == "strict":
        assert kind in ("hello", "turn", "observe", "refused", "over"), f"what is {kind}?"
    if kind == "turn":
        asked(message)
    elif KIND == "plain":
        return
    elif kind == "hello":
        game.update(seat=message["seat"], asked=0, last=None)
        if KIND == "one game" and game["overs"]:
            sys.exit(4)
        if KIND == "talks":
            print("I am thinking", file=sys.stderr)
    elif kind == "observe" and KIND == "answers observe":
        print(json.dumps({"type": "move", "move": {"orient": "H", "r": 0, "c": 99}}), flush=True)
    elif kind == "observe" and KIND == "answers the next turn":
        move = {"type": "move", "move": {"orient": "H", "r": 0, "c": 99}, "turn": message["turn"] + 1}
        print(json.dumps(move), flush=True)
    elif kind == "observe" and KIND == "shy":
        sys.exit("do not show me this")
    elif kind == "refused" and KIND == "proud":
        sys.exit("I do not make mistakes")
    elif kind == "over":
        game["overs"] += 1


if KIND == "dead":
    sys.exit("I will not play")
if KIND == "floods stderr":
    print("x" * 100_000, file=sys.stderr, flush=True)
for line in sys.stdin:
    heard(json.loads(line))
if KIND == "stays":
    time.sleep(1000)
if KIND == "leaves with 3":
    sys.exit(3)
