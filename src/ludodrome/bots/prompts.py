"""Prompts for language models: the rules, the notation, the position, the legal moves.

The rules come from the game's RULES.md. Answers are read in ``replies.py``; ``llm.py`` and the text environments use
both.
"""

import re
from collections.abc import Sequence
from typing import Any

from ludodrome.game import Game
from ludodrome.games import find
from ludodrome.validation import listing

SECTIONS = ("Board", "Rules", "How it ends", "Drawing")
"""The sections of RULES.md for players; the others are for programs."""

ANSWER = (
    "Think as you like, and end your answer with your move in square brackets. The last legal move in your answer is "
    "the one that is played."
)
MOVES_SHOWN = 3
"""Example moves, if a game does not describe its notation."""


def rules_prompt(game: Game, seat: int) -> str:
    """The first prompt: the game, its rules, its options, its notation."""
    page = find(game.id).rules()
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
    names = game.seat_names
    return f"You are player {seat}" + (f" ({names[seat]})." if names else f", seat {seat}.")


def move_format(game: Game) -> str:
    """The notation of moves, in a sentence."""
    if not game.move_format:
        state = game.initial_state()
        shown = [bracketed(game.format_move(move, state)) for move in game.legal_moves(state)[:MOVES_SHOWN]]
        return f"A move is written as in {listing(shown, 'or')}."
    return game.move_format


def turn_prompt(game: Game, observation: Any, seat: int, legal: Sequence[str] | None) -> str:
    """The prompt of a turn. ``legal``: the legal moves as texts; None if they are hidden or too many."""
    parts = [f"{you_are(game, seat)} It is your turn.", drawing(game, observation)]
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
    return game.render_observation(bare(observation))


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


def bracketed(text: str) -> str:
    """A move in brackets; santorini's already have them."""
    return text if text.startswith("[") else f"[{text}]"
