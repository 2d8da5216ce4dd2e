"""Recorded games for the page: found wherever they are kept, told position by position, taken in when somebody has one.

A record exists when its game is over, so nothing that is shown here was hidden from anybody any more.
"""

import hashlib
import json

from sqlalchemy import Engine

from ludodrome.arena.records import from_text, to_text, verify
from ludodrome.arena.records.courses import Turn, course
from ludodrome.store import league_matches, plays
from ludodrome.web.lru_cache import LruCache
from ludodrome.web.positions import Json, marks, open_game

TOLD = ("ms", "refusals", "verdict", "substituted", "log")
"""What a turn of the page says beside its move."""
ID_LENGTH = 24


def find_record(engine: Engine, shelf: LruCache[Json], name: str) -> Json | None:
    """The record of a finished game: somebody's own, one of the league, or one that was brought along."""
    return plays.record_of(engine, name) or league_matches.record_of(engine, name) or shelf.find(name)


def take_in(shelf: LruCache[Json], content: Json) -> str:
    """Keeps a record that somebody brought along, for a while; its id. A ValueError says if it is none, or false."""
    record = from_text(json.dumps(content).encode())
    if type(record.get("options")) is dict and type(record.get("game")) is str:
        open_game(record["game"], record["options"])
    verify(record)
    name = hashlib.sha256(to_text(record).encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]
    shelf.put(name, record)
    return name


def replay(name: str, record: Json) -> Json:
    """A record as the page shows it: all positions, all turns, the result."""
    told = course(record)
    game = told.game
    return {
        "id": name,
        "match": record["match"],
        "game": game.id,
        "options": game.options,
        "seed": record["seed"],
        "position": record.get("position"),
        "names": record["names"],
        "bots": record["bots"],
        "conditions": record["conditions"],
        "opening": len(record["opening"]),
        "positions": [
            {
                "state": state,
                "line": game.format_state(state),
                "to_move": game.to_move(state),
                "marks": marks(game, state, []),
            }
            for state in told.states
        ],
        "turns": [_turn(turn) for turn in told.turns],
        "stopped": None if told.stopped is None else _turn(told.stopped),
        "result": record["result"],
        "digest": record["digest"],
    }


def _turn(turn: Turn) -> Json:
    shown = {name: turn.entry[name] for name in TOLD if name in turn.entry}
    if "refusals" in shown:
        shown["refusals"] = [{"why": one["why"]} for one in shown["refusals"]]
    return {"seat": turn.seat, "move": turn.move, "text": turn.text, "opening": turn.opening, **shown}
