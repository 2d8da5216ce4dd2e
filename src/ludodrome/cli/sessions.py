"""A position at the terminal, and somebody who types: what `play` and `puzzle` have in common.

A line is a word, which the command knows, or else a move.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ludodrome.cli import console

if TYPE_CHECKING:
    from ludodrome.game import Game


class Leave(Exception):
    """Somebody has had enough."""


class Session(ABC):
    """A game with a position on the screen."""

    game: "Game"
    words: ClassVar[Mapping[str, Callable[[Any], None]]]
    """What may be typed beside moves; their docstrings are shown as help."""

    @property
    @abstractmethod
    def state(self) -> Any:
        """The position on the screen."""

    @abstractmethod
    def move(self, text: str) -> None:
        """Makes a move, or says why it cannot be made."""

    def answer(self, text: str) -> None:
        """Does what was typed: a word, or else a move."""
        word = text.strip().lower()
        if word in self.words:
            self.words[word](self)
        elif word:
            self.move(text)

    # Words

    def help(self) -> None:
        """How to write a move."""
        from ludodrome.games import GAMES

        notation = console.section(GAMES[self.game.id].rules(), "Notation")
        words = "\n".join(f"- `{word}`: {what.__doc__}" for word, what in self.words.items())
        console.show_markdown(f"**How to write a move**\n\n{notation}\n\n**Words**\n\n{words}\n")

    def moves(self) -> None:
        """All legal moves."""
        from ludodrome.game import TooManyMoves

        try:
            with console.compiling(self.game.id):
                notations = [self.game.format_move(move, self.state) for move in self.game.legal_moves(self.state)]
        except TooManyMoves as error:
            tell(str(error))
            return
        console.say(in_columns(notations, console.console().width))

    def leave(self) -> None:
        """Ends the session."""
        raise Leave


def in_columns(texts: list[str], width: int) -> str:
    """Texts in columns, read downwards, as ls prints them."""
    if not texts:
        return ""
    cell = max(map(len, texts)) + 2
    rows = -(-len(texts) // max(1, (width + 2) // cell))
    return "\n".join("".join(f"{text:<{cell}}" for text in texts[row::rows]).rstrip() for row in range(rows))


def tell(text: str, style: str = "") -> None:
    """A sentence to whoever sits there."""
    from rich.text import Text

    console.console().print(Text(text, style))


def tell_move(seat: int, words: str) -> None:
    """Who has made which move."""
    line = console.seat_name(seat).append(f"  {words}\n", "not bold default")
    console.console().print(line, soft_wrap=True)


def ask(seat: int) -> str:
    """One line from whoever is to move; EOFError when there is no more."""
    return console.ask(console.seat_name(seat))
