"""The language of specs: ``random``, ``alphabeta:depth=6,time=0.5``, ``level:3``, ``py:mine.py:MyBot``, ``llm:URL``.

A spec is a bot's name and, after a colon, its knobs, parted by commas. What is wrong with one is said in a
sentence that lists what is right.
"""

from typing import TYPE_CHECKING, Any

from ludodrome.bots.catalogue import KINDS, Kind, playable, right_specs
from ludodrome.validation import listing, show

if TYPE_CHECKING:
    from ludodrome.bots.player import Bot
    from ludodrome.game import Game

FILE, LLM = "py", "llm"
LONGEST = 1000


def make_bot(spec: str, game: "Game", seed: int = 0) -> "Bot":
    """The bot that a spec describes, for one game; ValueError if there is no such bot."""
    kind_name = spec.partition(":")[0] if type(spec) is str and len(spec) <= LONGEST else ""
    if kind_name == FILE:
        from ludodrome.bots.files import load

        return load(spec.partition(":")[2])
    if kind_name == LLM:
        from ludodrome.bots.languagemodels import make

        return make(game, spec)
    kind, knobs = read_spec(spec, game)
    return kind.make(game, spec, seed, knobs)


def read_spec(spec: str, game: "Game") -> tuple[Kind, dict[str, Any]]:
    """The kind of a built-in bot and its knobs; ValueError if there is none. Nothing is made or compiled."""
    if type(spec) is not str or len(spec) > LONGEST:
        raise ValueError(f"a bot is named by a text like {_example(game)}, not by {show(spec)}")
    name, colon, rest = spec.partition(":")
    kind = _kind(name, game)
    return kind, settings(kind, rest if colon else None)


def _kind(name: str, game: "Game") -> Kind:
    kind = KINDS.get(name)
    if kind is None:
        raise ValueError(f"there is no bot {show(name)}; the bots of {game.id} are {right_specs(game)}")
    if why := kind.cannot(game):
        raise ValueError(f"{name} cannot play {game.id}: {why}; the bots of {game.id} are {right_specs(game)}")
    return kind


def settings(kind: Kind, text: str | None) -> dict[str, Any]:
    """The knobs that a spec sets, by name; ``text`` is what stands after the bot's name, None if nothing does."""
    knobs = {knob.name: knob for knob in kind.knobs}
    plain = next((knob for knob in kind.knobs if knob.plain), None)
    if text is None and plain is None:
        return {}
    if plain is not None:
        return {plain.name: plain.read(text or "", kind.name)}
    if not knobs:
        raise ValueError(f"{kind.name} has no knobs: it is just {kind.name!r}, not {show(f'{kind.name}:{text}')}")
    right = listing(f"{knob.name}={knob.example}" for knob in kind.knobs)
    chosen: dict[str, Any] = {}
    for part in (text or "").split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"a knob of {kind.name} is set like {right}, not {show(part)}")
        if name not in knobs:
            raise ValueError(f"{kind.name} has no knob {show(name)}; its knobs are {right}")
        if name in chosen:
            raise ValueError(f"the knob {name} of {kind.name} is set twice")
        chosen[name] = knobs[name].read(value, kind.name)
    return chosen


def _example(game: "Game") -> str:
    return repr(playable(game)[0].name)
