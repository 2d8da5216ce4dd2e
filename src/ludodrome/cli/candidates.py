"""What may stand at a place of the command line, for the shells' completion: games, bots, options, words.

A parameter is known by what its help calls it (GAME, BOT, K=V), or by its name where only a few words are right.
Nothing here imports Numba, so that an answer comes while one's finger is still on the key. Where nothing is known,
the shell completes names of files.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

Words = Iterable[tuple[str, str]]
"""What may be typed, each with a few words about it."""

PREFIXES = {"cmd:": "a command", "py:": "a class in a Python file", "box:": "a folder, in the sandbox"}


def candidates(parameter: Any, context: Any, begun: str) -> list[tuple[str, str]]:
    """The words that go on with what was begun, for one parameter of a command."""
    words = WORDS.get(parameter.name) or KINDS.get((parameter.metavar or "").strip("[]."))
    if words is None:
        return []
    return [(word, told) for word, told in words(context.params) if word.startswith(begun)]


def _games(typed: Mapping[str, Any]) -> Words:
    from ludodrome.games import GAMES

    return [(game_id, GAMES[game_id].title) for game_id in sorted(GAMES)]


def _game(typed: Mapping[str, Any]) -> str:
    """The game that the line is about, if it names one: a word, or the first of several."""
    value = typed.get("game") or typed.get("games") or ""
    return str(value if isinstance(value, str) else value[0]).partition(":")[0]


def _bots(typed: Mapping[str, Any]) -> Words:
    """All built-ins but those that the table of games rules out: more is known only when a game's room is open."""
    from ludodrome.bots.catalogue import playable
    from ludodrome.games import GAMES

    entry = GAMES.get(_game(typed))
    steps = 2 if entry is not None and entry.by_steps else 1
    game = SimpleNamespace(id=_game(typed), actions_a_turn=steps, insight=True)
    for kind in playable(game):  # type: ignore[arg-type]
        yield from ((spec, kind.meaning) for spec in kind.specs)
    yield from PREFIXES.items()


def _options(typed: Mapping[str, Any]) -> Words:
    """The options of the game, as its RULES.md has them; with their values where these are words."""
    from ludodrome.cli.screen import section
    from ludodrome.games import GAMES

    entry = GAMES.get(_game(typed))
    table = section(entry.rules(), "Options") if entry else ""
    for name, values, meaning in re.findall(r"^\| `(\w+)` \| (.+?) \| .+? \| (.+?) \|$", table, re.MULTILINE):
        if words := re.findall(r"`([^`]+)`", values):
            yield from ((f"{name}={word}", meaning) for word in words)
        else:
            yield f"{name}=", f"{meaning}: {values}"


def _languages(typed: Mapping[str, Any]) -> Words:
    from ludodrome.bots.starters import LANGUAGES

    return [(name, "") for name in LANGUAGES]


def _few(*words: str) -> Callable[[Mapping[str, Any]], Words]:
    return lambda typed: [(word, "") for word in words]


KINDS: dict[str, Callable[[Mapping[str, Any]], Words]] = {
    "GAME": _games,
    "BOT": _bots,
    "NEW": _bots,
    "OLD": _bots,
    "K=V": _options,
}
"""By what the help calls a parameter."""

WORDS: dict[str, Callable[[Mapping[str, Any]], Words]] = {
    "language": _languages,
    "ladder": _few("gentle", "off", "on"),
    "legal_moves": _few("both", "hidden", "shown"),
    "policy": _few("forfeit", "retry:3", "substitute"),
    "shell": _few("bash", "fish", "zsh"),
}
"""By a parameter's name."""
