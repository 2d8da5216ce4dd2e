"""People at one terminal, against each other or against bots: `play`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import (
    INTERRUPTED,
    Command,
    CommandError,
    GameId,
    Options,
    StateText,
    command_errors,
    examples,
    interruptible,
    open_game,
    read_state,
)

if TYPE_CHECKING:
    from ludodrome.bots.player import Bot
    from ludodrome.game import Game

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from ludodrome.bots import bot
from ludodrome.cli.lazy import lazy_imports
from ludodrome.games import GAMES

with lazy_imports():
    from rich import text as rich_text

    from ludodrome import game as game_api
    from ludodrome.arena import transports
    from ludodrome.bots import player

if TYPE_CHECKING:
    from ludodrome.game import Game


# A position at the terminal, and somebody who types: what `play` and `puzzle` have in common.
# A line is a word, which the command knows, or else a move.


class Leave(Exception):
    """Somebody has had enough."""


class Session(ABC):
    """A game with a position on the screen."""

    game: Game
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
        notation = console.section(GAMES[self.game.id].rules(), "Notation")
        words = "\n".join(f"- `{word}`: {what.__doc__}" for word, what in self.words.items())
        console.show_markdown(f"**How to write a move**\n\n{notation}\n\n**Words**\n\n{words}\n")

    def moves(self) -> None:
        """All legal moves."""
        try:
            with console.compiling(self.game.id):
                notations = [self.game.format_move(move, self.state) for move in self.game.legal_moves(self.state)]
        except game_api.TooManyMoves as error:
            tell(str(error))
            return
        console.say(in_columns(notations, console.stdout().width))

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
    console.stdout().print(rich_text.Text(text, style))


def tell_move(seat: int, words: str) -> None:
    """Who has made which move."""
    line = console.seat_name(seat).append(f"  {words}\n", "not bold default")
    console.stdout().print(line, soft_wrap=True)


def ask(seat: int) -> str:
    """One line from whoever is to move; EOFError when there is no more."""
    return console.ask(console.seat_name(seat))


app = typer.Typer()


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome play skysummit --against level:3",
        "ludodrome play dots --against alphabeta:depth=6 --seat 1",
        "ludodrome play santorini --option players=3",
        "ludodrome play skysummit --state '00000/03200/00111/00000/00000 B3E5 C4D2 8'",
        "printf 'H(0,0)\\nstate\\n' | ludodrome play dots",
    ),
)
def play(
    game: GameId,
    option: Options = None,
    state: StateText = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BOT", show_default=False, help="A bot for the other seats, like level:3; one each, or one for all."
        ),
    ] = None,
    seat: Annotated[int, typer.Option(metavar="SEAT", min=0, help="Your seat, if you play against bots.")] = 0,
    seed: Annotated[int, typer.Option(metavar="SEED", help="What the bots draw lots from.")] = 0,
) -> None:
    """Play a game in the terminal, against people or bots.

    Moves are typed in the game's notation. Beside moves there are the words help, moves, undo, state, rules and quit.
    """
    chosen = open_game(game, option)
    bots = _opponents(chosen, against or [], seat, seed)
    again = "".join(f" --against {shlex.quote(spec)}" for spec in against or []) + (f" --seat {seat}" if bots else "")
    table = PlaySession(chosen, [read_state(chosen, state)], bots, again)
    console.say(f"{chosen.title}. Type a move, or one of {', '.join(PlaySession.words)}.\n")
    try:
        table.draw()
        while not table.finished():
            if table.seat() in table.bots:
                table.let_bot_move()
            else:
                table.answer(ask(table.seat()))
    except Leave:
        table.farewell()
    except (EOFError, KeyboardInterrupt) as end:
        console.say("")
        table.farewell()
        if isinstance(end, KeyboardInterrupt):
            raise typer.Exit(INTERRUPTED) from None
    finally:
        for bot in table.bots.values():
            bot.close()


def _opponents(game: Game, specs: list[str], seat: int, seed: int) -> dict[int, Bot]:
    """The bots by seat: all seats but the person's, if there are any bots at all."""
    if not specs:
        return {}
    others = [other for other in range(game.seats) if other != seat]
    if len(others) == game.seats:
        raise CommandError(f"a seat of {game.id} is a whole number from 0 to {game.seats - 1}, not {seat}")
    if len(specs) not in (1, len(others)):
        raise CommandError(f"--against is given once, or once for each other seat; this game has {len(others)} of them")
    with command_errors(), console.compiling(game.id):
        if programs := [spec for spec in specs if spec.partition(":")[0] in (transports.BOX, transports.COMMAND)]:
            raise ValueError(
                f"programs such as {programs[0]} play in matches, in tournaments and on the page, where `ludodrome "
                f"enter` takes them; here a built-in, py:FILE.py:NAME or llm:URL,model=NAME can play"
            )
        bots = {}
        for number, other in enumerate(others):
            bots[other] = bot(specs[number % len(specs)], game, seed + other)
            bots[other].start(player.hello_message(game, other, seed + other))
        return bots


@dataclass
class PlaySession(Session):
    """A game in progress: ``states`` holds the positions so far, the last one is on the table."""

    game: Game
    states: list[Any]
    bots: dict[int, Bot] = field(default_factory=dict)
    """The seats that people do not play."""
    against: str = ""
    """The bots as they were asked for on the command line."""

    @property
    def state(self) -> Any:
        """The position on the table."""
        return self.states[-1]

    def seat(self) -> int:
        """Whose turn it is."""
        seat = self.game.to_move(self.state)
        assert seat is not None
        return seat

    def open(self, state: Any) -> bool:
        """Whether nothing in a position is hidden from whoever is to move."""
        return bool(self.game.observation(state) == state)

    def draw(self) -> None:
        """The board, unless something on it is hidden from whoever is to move."""
        if self.open(self.state):
            console.draw(self.game, self.state)
            return
        if self.bots:
            tell("The other move lies face down until yours is there.")
            return
        console.stdout().clear()
        if "readline" in sys.modules:  # else the arrow key would show the hidden move
            sys.modules["readline"].clear_history()
        tell("The last move lies face down until it is answered.")

    def finished(self) -> bool:
        """Whether it is over; if so, says how it ended."""
        with console.compiling(self.game.id):
            outcome = self.game.outcome(self.state)
        if outcome is None:
            return False
        console.stdout().print(console.verdict(outcome))
        return True

    def move(self, text: str) -> None:
        """Makes a move, or says why it cannot be made."""
        try:
            with console.compiling(self.game.id):
                move = self.game.parse_move(text, self.state)
                notation = self.game.format_move(move, self.state)
                after = self.game.apply(self.state, move)
        except game_api.IllegalMove as error:
            tell(str(error), console.BAD)
            return
        self._put(after, notation)

    def let_bot_move(self) -> None:
        """The move of the bot that is to move; a bot that fails ends the session with a sentence."""
        seat = self.seat()
        bot = self.bots[seat]
        shown = self.game.observation(self.state, seat)
        try:
            with console.waiting(f"{bot.name} is thinking ..."):
                move = interruptible(lambda: bot.choose(shown))
            after, notation = self.game.apply(self.state, move), self.game.format_move(move, self.state)
        except Exception as error:
            self.farewell()
            raise CommandError(f"the bot {bot.name} failed: {type(error).__name__}: {error}") from error
        hidden = not self.open(after)
        self._put(after, f"({bot.name})" if hidden else f"{notation}  ({bot.name})")

    def _put(self, after: Any, words: str) -> None:
        """A move has been made: says so and draws what came of it."""
        tell_move(self.seat(), words)
        self.states.append(after)
        answered_at_once = self.game.to_move(after) in self.bots and not self.open(after)
        if not answered_at_once:
            self.draw()

    # The words

    def undo(self) -> None:
        """Takes the last move back."""
        if len(self.states) == 1:
            tell("there is no move to take back", console.BAD)
            return
        self.states.pop()
        while len(self.states) > 1 and self.seat() in self.bots:
            self.states.pop()
        self.draw()

    def line(self) -> None:
        """The position on one line, as `--state` takes it."""
        if self.open(self.state):
            console.say(self.game.format_state(self.state))
        else:
            tell("The position can be shown when both have laid: the last move lies face down.")

    def rules(self) -> None:
        """The rules of the game."""
        page = GAMES[self.game.id].rules()
        if sys.stdin.isatty() and sys.stdout.isatty():
            console.show_markdown(page, paged=True)
        else:
            console.say(page)

    def farewell(self) -> None:
        """What is said when a game is left before its end."""
        state = next((state for state in reversed(self.states) if self.open(state)), None)
        if state is None:
            tell("The game is left. It began with a move face down, so there is no position to show.")
            return
        if state is self.state:
            tell("The game is left. To go on with it another time:")
        else:
            tell(
                "The game is left. The last move lies face down; "
                "to go on another time from the last position in which nothing was hidden:"
            )
        usual = {option.name: option.default for option in self.game.available}
        chosen = {name: value for name, value in self.game.options.items() if value != usual[name]}
        options = "".join(f" -o {name}={value}" for name, value in chosen.items())
        console.say(f"ludodrome play {self.game.id}{options}{self.against} --state '{self.game.format_state(state)}'")


PlaySession.words = {
    "help": PlaySession.help,
    "moves": PlaySession.moves,
    "undo": PlaySession.undo,
    "state": PlaySession.line,
    "rules": PlaySession.rules,
    "quit": PlaySession.leave,
}
