"""Read the answers of language models: the last legal move in an answer counts.

The whole rule, also in docs/how-to/language-models.md:

1. Thoughts before the answer, ``<think>...</think>``, are not part of it.
2. Everything that looks like a move of the game is a candidate: the notation in a generous reading, with or without
   square brackets, and the move as JSON.
3. The move is the last legal candidate in square brackets. If no legal candidate is in brackets, it is the last legal
   one.
4. If no candidate is legal, the error describes the last one; without candidates no move was found.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from ludodrome.bots.prompts import bare, move_format
from ludodrome.game import Game, IllegalMove

MOVE, ILLEGAL, NOTHING = "move", "illegal", "nothing"
"""The kinds of answers: a legal move, only illegal moves, or no move."""
MAX_CHARS = 100_000
"""Characters that are searched for moves, from the end of an answer."""
MAX_CANDIDATES = 500

_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THINKING = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_decoder = json.JSONDecoder()


class ParsedReply(NamedTuple):
    """An answer and the move found in it."""

    kind: str
    """``move``, ``illegal`` or ``nothing``."""
    move: Any
    """The legal move, if there is one."""
    text: str
    """The part of the answer that was read."""
    why: str
    """What is wrong, as a sentence; empty for a move."""


class _Candidate(NamedTuple):
    start: int
    end: int
    value: Any
    """A text in the game's notation, or a JSON object."""
    bracketed: bool


def read_reply(game: Game, observation: Any, reply: str) -> ParsedReply:
    """Find the move of an answer in the position that was shown."""
    answer = spoken(reply)[-MAX_CHARS:]
    state = game.initial_state() if game.actions_a_turn > 1 else bare(observation)
    found = sorted(_candidates(game, answer), key=lambda one: (not one.bracketed, -one.end, one.start))
    last: ParsedReply | None = None
    for candidate in found[:MAX_CANDIDATES]:
        text = answer[candidate.start : candidate.end]
        try:
            return ParsedReply(MOVE, _move(game, state, candidate.value), text, "")
        except IllegalMove as wrong:
            last = last or ParsedReply(ILLEGAL, None, text, str(wrong))
    return last or ParsedReply(NOTHING, None, "", f"No move was found in the answer. {move_format(game)}")


def spoken(reply: str) -> str:
    """An answer without its thoughts; empty if the thoughts were cut off."""
    ends = [match.end() for match in _THOUGHT.finditer(reply)]
    return _THINKING.split(reply[ends[-1] :] if ends else reply)[0]


def _candidates(game: Game, answer: str) -> Iterator[_Candidate]:
    for pattern in game.reply_patterns:
        for match in re.finditer(pattern, answer, re.IGNORECASE):
            yield _Candidate(match.start(), match.end(), game.tidy_reply(match[0]), _in_brackets(answer, match))
    at, tried = answer.rfind("{"), 0
    while at >= 0 and tried < MAX_CANDIDATES:
        with suppress(ValueError, RecursionError):
            value, end = _decoder.raw_decode(answer, at)
            if game.reply_keys is None or game.reply_keys & value.keys():
                yield _Candidate(at, end, value, False)
        at, tried = answer.rfind("{", 0, at), tried + 1


def _in_brackets(answer: str, match: "re.Match[str]") -> bool:
    return bool(re.search(r"\[\s*\Z", answer[max(0, match.start() - 5) : match.start()])) and bool(
        re.match(r"\s*\]", answer[match.end() : match.end() + 5])
    )


def _move(game: Game, state: Any, value: Any) -> Any:
    """The legal move of a candidate. Raises IllegalMove."""
    if isinstance(value, str):
        return game.parse_move(value, state)
    game.apply(state, value)
    return value
