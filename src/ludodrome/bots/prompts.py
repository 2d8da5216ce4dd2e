"""What a language model is told: the rules, how a move is written, the position, the legal moves.

The rules are those of the room's RULES.md. How an answer is read is in ``replies.py``; who is asked, and how, is in
``languagemodels.py`` and in the environments for text.
"""

import re
from collections.abc import Sequence
from typing import Any

from ludodrome.game import Game
from ludodrome.games import find
from ludodrome.validation import listing

SECTIONS = ("Board", "Rules", "How it ends", "Drawing")
"""The parts of RULES.md that a player needs; the others speak to machines."""

ANSWER = (
    "Think as you like, and end your answer with your move in square brackets. The last legal move in your answer is "
    "the one that is played."
)
MOVES_SHOWN = 3
"""Of a game that does not say how its moves are written, so many are shown."""


def rules_prompt(game: Game, seat: int) -> str:
    """What a player is told once: the game, its rules, its options, how moves are written."""
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
    """The text under one heading, up to the next that is no deeper; empty if there is no such heading."""
    heading = re.search(rf"^(#+) {re.escape(name)}\n", page, re.MULTILINE)
    if heading is None:
        return ""
    following = re.search(rf"^#{{1,{len(heading[1])}}} ", page[heading.end() :], re.MULTILINE)
    return page[heading.end() :][: following.start() if following else None].strip()


def you_are(game: Game, seat: int) -> str:
    """Who the player is."""
    names = game.seat_names
    return f"You are player {seat}" + (f" ({names[seat]})." if names else f", seat {seat}.")


def move_format(game: Game) -> str:
    """How a move of the game is written."""
    if not game.move_format:
        state = game.initial_state()
        shown = [bracketed(game.format_move(move, state)) for move in game.legal_moves(state)[:MOVES_SHOWN]]
        return f"A move is written as in {listing(shown, 'or')}."
    return game.move_format


def turn_prompt(game: Game, observation: Any, seat: int, legal: Sequence[str] | None) -> str:
    """What a player is told each turn; ``legal`` are moves as texts, None where they are hidden or too many."""
    parts = [f"{you_are(game, seat)} It is your turn.", drawing(game, observation)]
    if legal is not None:
        parts.append(f"Legal moves ({len(legal)}): {' '.join(legal)}")
    parts.append("Your move, in square brackets:")
    return "\n\n".join(parts)


def refusal_prompt(why: str, tries_left: int | None = None) -> str:
    """What a player is told whose answer was refused."""
    left = "" if tries_left is None else f" You have {tries_left} {'try' if tries_left == 1 else 'tries'} left."
    return f"Your move was not accepted: {why.rstrip('.')}.{left} Answer with a legal move in square brackets."


def drawing(game: Game, observation: Any) -> str:
    """The position as a seat sees it, drawn."""
    return game.render_observation(bare(observation))


def bare(observation: Any) -> Any:
    """An observation as a state: whose eyes saw it is no part of it."""
    if type(observation) is dict and "you" in observation:
        return {name: value for name, value in observation.items() if name != "you"}
    return observation


def legal_texts(game: Game, observation: Any, moves: Sequence[Any] | None) -> list[str] | None:
    """Legal moves as they are written in answers, in brackets; None stays None."""
    if moves is None:
        return None
    state = game.initial_state() if game.actions_a_turn > 1 else bare(observation)
    return [bracketed(game.format_move(move, state)) for move in moves]


def bracketed(text: str) -> str:
    """A move in brackets; santorini's have theirs."""
    return text if text.startswith("[") else f"[{text}]"
