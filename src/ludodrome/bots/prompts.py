"""Prompts for language models (the rules, the notation, the position, the legal moves), and reading their replies.

The rules come from the game's RULES.md. ``llm.py`` and the text environments use both. How a reply is read, also in
docs/how-to/language-models.md:

1. Thoughts before the answer, ``<think>...</think>``, are not part of it.
2. Everything that looks like a move of the game is a candidate: the notation in a generous reading, with or without
   square brackets, and the move as JSON.
3. The move is the last legal candidate in square brackets. If no legal candidate is in brackets, it is the last legal
   one.
4. If no candidate is legal, the error describes the last one; without candidates no move was found.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

from ludodrome.game import Game, IllegalMove
from ludodrome.games import find
from ludodrome.validation import listing

SECTIONS = ("Board", "Rules", "How it ends", "Drawing")
"""The sections of the numbered rules that a player needs; the others are about encodings."""

ANSWER = (
    "Think as you like, and end your answer with your move in square brackets. The last legal move in your answer is "
    "the one that is played."
)
MOVES_SHOWN = 3
"""Example moves, if a game does not describe its notation."""


@lru_cache(maxsize=64)
def rules_prompt(game: Game, seat: int) -> str:
    """The first prompt: the game, its rules, its options, its notation."""
    page = find(game.id).rules_for_programs()
    introduction = page.partition("\n## ")[0].partition("\n")[2].strip()
    sections = [f"## {name}\n\n{text}" for name in SECTIONS if (text := _section(page, name))]
    options = ", ".join(f"{name} = {value}" for name, value in game.options.items()) or "none"
    return "\n\n".join(
        [
            f"You are playing {game.title}. {you_are(game, seat)}",
            introduction,
            *sections,
            f"## This game\n\nOptions: {options}.",
            f"## Your answer\n\n{move_format(game)} {ANSWER}",
        ]
    )


def _section(page: str, name: str) -> str:
    """The text under a heading, up to the next one of its level or above; empty without such a heading."""
    heading = re.search(rf"^(#+) {re.escape(name)}\n", page, re.MULTILINE)
    if heading is None:
        return ""
    following = re.search(rf"^#{{1,{len(heading[1])}}} ", page[heading.end() :], re.MULTILINE)
    return page[heading.end() :][: following.start() if following else None].strip()


def you_are(game: Game, seat: int) -> str:
    """The player's number and seat, in a sentence."""
    signs = game.seat_signs
    return f"You are player {seat}" + (f" ({signs[seat]})." if signs else f", seat {seat}.")


def move_format(game: Game) -> str:
    """The notation of moves, in a sentence."""
    if not game.move_format:
        state = game.initial_state()
        shown = [bracketed(game.format_move(move, state)) for move in game.legal_moves(state)[:MOVES_SHOWN]]
        return f"A move is written as in {listing(shown, 'or')}."
    return game.move_format


def turn_prompt(game: Game, observation: Any, seat: int, legal: Sequence[str] | None, states: Any = None) -> str:
    """The prompt of a turn. ``legal``: the legal moves as texts; None if they are hidden or too many.

    ``states``: the position in compiled form, which saves reading the observation; see ``has_plain_states``.
    """
    drawn = drawing(game, observation) if states is None else game.tidy_drawing(game.render_record(states[0]))
    parts = [f"{you_are(game, seat)} It is your turn.", drawn]
    if legal is not None:
        parts.append(f"Legal moves ({len(legal)}): {' '.join(legal)}")
    parts.append("Your move, in square brackets:")
    return "\n\n".join(parts)


def refusal_prompt(why: str, tries_left: int | None = None) -> str:
    """The prompt after a refused answer."""
    left = "" if tries_left is None else f" You have {tries_left} {'try' if tries_left == 1 else 'tries'} left."
    return f"Your move was not accepted: {why.rstrip('.')}.{left} Answer with a legal move in square brackets."


def drawing(game: Game, observation: Any) -> str:
    """A drawing of the position as a seat sees it."""
    return game.tidy_drawing(game.render_observation(bare(observation)))


def bare(observation: Any) -> Any:
    """An observation without ``you``, as a state."""
    if type(observation) is dict and "you" in observation:
        return {name: value for name, value in observation.items() if name != "you"}
    return observation


def legal_texts(game: Game, observation: Any, moves: Sequence[Any] | None) -> list[str] | None:
    """Legal moves in notation and brackets; None for None."""
    if moves is None:
        return None
    state = game.initial_state() if game.actions_a_turn > 1 else bare(observation)
    return [bracketed(game.format_move(move, state)) for move in moves]


def has_plain_states(game: Game) -> bool:
    """Whether prompts and replies can use the compiled state: nothing is hidden, and a move is one action."""
    return game.actions_a_turn == 1 and not game.has_hidden_information


def legal_texts_of(game: Game, states: Any) -> list[str]:
    """The same as ``legal_texts`` for all legal moves of states[0]."""
    actions, record = game.legal_actions_of(states), states[0]
    if game.reads_text:  # the moves are their notation, in brackets
        return game.codec.format_moves(actions, record)
    return [bracketed(game.codec.format_notation(action, record)) for action in actions]


def bracketed(text: str) -> str:
    """A move in brackets; santorini's already have them."""
    return text if text.startswith("[") else f"[{text}]"


# Replies: the last legal move in an answer counts

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


def read_reply(game: Game, observation: Any, reply: str, states: Any = None) -> ParsedReply:
    """Find the move of an answer in the position that was shown; ``states`` as in ``turn_prompt``."""
    answer = spoken(reply)[-MAX_CHARS:]
    state = game.initial_state() if game.actions_a_turn > 1 else bare(observation)
    found = sorted(_candidates(game, answer), key=lambda one: (not one.bracketed, -one.end, one.start))
    last: ParsedReply | None = None
    for candidate in found[:MAX_CANDIDATES]:
        text = answer[candidate.start : candidate.end]
        try:
            return ParsedReply(MOVE, _move(game, state, candidate.value, states), text, "")
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


def _move(game: Game, state: Any, value: Any, states: Any) -> Any:
    """The legal move of a candidate. Raises IllegalMove."""
    if isinstance(value, str) and states is not None:
        return game.parse_move_of(value, states)
    if isinstance(value, str):
        return game.parse_move(value, state)
    game.apply(state, value)
    return value
