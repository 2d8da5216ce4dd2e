"""Games in the terminal, between people and bots: `play`; and the sessions that `play` and `puzzle` share."""

from __future__ import annotations

import shlex
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from ludodrome.bots import bot
from ludodrome.bots.specs import BOX, COMMAND, WASM, spec_of
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
from ludodrome.cli.lazy import lazy_imports
from ludodrome.games import GAMES

with lazy_imports():
    from rich import live as rich_live
    from rich import text as rich_text

    from ludodrome import game as game_api
    from ludodrome import position
    from ludodrome.arena import seats, seeds, transports
    from ludodrome.bots import player

if TYPE_CHECKING:
    from ludodrome.bots.player import Bot, Budget
    from ludodrome.game import Game


PROTOCOL_KINDS = (COMMAND, BOX, WASM)
"""Kinds of specs that are programs, which play over the protocol and not as a Python object."""
LAST_LINES = 8
"""Lines of a program's standard error that are shown when it fails."""
FRAME_SECONDS, STORY_SECONDS = 0.5, 12.0
"""Seconds that a drawing of a story is shown, and seconds of a whole story, at most."""
FRAME_GAP = 4
"""Blanks between drawings that are printed side by side."""


# Sessions: each line typed is a word that the session knows, or else a move.


class Leave(Exception):
    """The user quits."""


class Session(ABC):
    """A game with a position on the screen."""

    game: Game
    words: ClassVar[Mapping[str, Callable[[Any], None]]]
    """What can be typed besides moves; the docstrings are shown as help."""

    @property
    @abstractmethod
    def state(self) -> Any:
        """The position on the screen."""

    @abstractmethod
    def move(self, text: str) -> None:
        """Make a move, or say why it is illegal."""

    def answer(self, text: str) -> None:
        """Execute what was typed: a word, or else a move."""
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
                notations = [self.game.move_label(move, self.state) for move in self.game.legal_moves(self.state)]
        except game_api.TooManyMoves as error:
            print_text(str(error))
            return
        console.say(in_columns(notations, console.stdout().width))

    def leave(self) -> None:
        """End the session."""
        raise Leave


def in_columns(texts: list[str], width: int) -> str:
    """Lay texts out in columns, top to bottom, as ls does."""
    if not texts:
        return ""
    cell = max(map(len, texts)) + 2
    rows = -(-len(texts) // max(1, (width + 2) // cell))
    return "\n".join("".join(f"{text:<{cell}}" for text in texts[row::rows]).rstrip() for row in range(rows))


def side_by_side(frames: list[str], width: int) -> str:
    """Lay drawings of several lines out side by side, in as many rows as it takes; single lines one below the other."""
    blocks = [frame.split("\n") for frame in frames]
    if all(len(block) == 1 for block in blocks):
        return "\n".join(frames)
    cell = max(len(line) for block in blocks for line in block) + FRAME_GAP
    across = max(1, (width + FRAME_GAP) // cell)
    rows = []
    for first in range(0, len(blocks), across):
        row = blocks[first : first + across]
        lines = zip_longest(*row, fillvalue="")
        rows.append("\n".join("".join(f"{line:<{cell}}" for line in one).rstrip() for one in lines))
    return "\n\n".join(row.rstrip() for row in rows)


def print_text(text: str, style: str = "") -> None:
    """Print a sentence to the user."""
    console.stdout().print(rich_text.Text(text, style))


def print_move(game: Game, seat: int, words: str) -> None:
    """Print a seat's move."""
    line = console.seat_name(seat, game).append(f"  {words}\n", "not bold default")
    console.stdout().print(line, soft_wrap=True)


def ask(game: Game, seat: int) -> str:
    """Read a line from the player to move; EOFError at the end of the input."""
    return console.ask(console.seat_name(seat, game))


app = typer.Typer()


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome play skysummit --against level:3",
        "ludodrome play dots --against alphabeta:depth=6 --seat 1",
        "ludodrome play santorini --option players=3",
        "ludodrome play dots --against 'cmd:python3 mybot.py'",
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
            metavar="BOT",
            show_default=False,
            help="Bot for the other seats, like level:3, cmd:./mybot or ./bot.py: one for all, or one each. "
            "Default: people.",
        ),
    ] = None,
    seat: Annotated[int, typer.Option(metavar="SEAT", min=0, help="Your seat when playing against bots.")] = 0,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            show_default=False,
            help="Random seed of the bots, to repeat a game. Default: new.",
        ),
    ] = None,
) -> None:
    """Play a game in the terminal, against people or bots.

    Type moves in the game's notation, or one of: help, moves, undo, state, rules, quit.
    Options that you do not choose are those that suit people best; with --state they are the defaults.
    """
    chosen = open_game(game, option, for_people=state is None)
    secret = seeds.new_secret() if seed is None else seed
    bots = _opponents(chosen, against or [], seat, secret)
    again = "".join(f" --against {shlex.quote(spec)}" for spec in against or [])
    again += f" --seat {seat} --seed {secret}" if bots else ""
    session = PlaySession(chosen, [read_state(chosen, state)], bots, again)
    console.say(f"{chosen.title}. Type a move, or one of {', '.join(PlaySession.words)}.")
    console.say(f"Seed of the bots: {secret}.\n" if bots else "")
    if state is None:
        _explain_options(chosen, option)
    try:
        session.draw()
        while not session.finished():
            if session.seat() in session.bots:
                session.let_bot_move()
            else:
                session.answer(ask(session.game, session.seat()))
    except Leave:
        session.farewell()
    except (EOFError, KeyboardInterrupt) as end:
        console.say("")
        session.farewell()
        if isinstance(end, KeyboardInterrupt):
            raise typer.Exit(INTERRUPTED) from None
    finally:
        for bot in session.bots.values():
            bot.close()


def _explain_options(game: Game, given: list[str] | None) -> None:
    """Say which options were chosen for people, why, and how to play with the defaults."""
    named = {text.partition("=")[0] for text in given or ()}
    chosen = {name: value for name, value in game.people_options.items() if name not in named}
    if chosen:
        usual = {option.name: option.default for option in game.available}
        options = " ".join(f"{name}={value}" for name, value in chosen.items())
        back = " ".join(f"-o {name}={usual[name]}" for name in chosen)
        console.say(f"{options}: {game.people_options_reason} To play otherwise: {back}\n")


def _opponents(game: Game, specs: list[str], seat: int, seed: int) -> dict[int, Bot]:
    """The bots by seat: every seat but the user's, or none if no bot is given."""
    if not specs:
        return {}
    others = [other for other in range(game.seats) if other != seat]
    if len(others) == game.seats:
        raise CommandError(f"a seat of {game.id} is a whole number from 0 to {game.seats - 1}, not {seat}")
    if len(specs) not in (1, len(others)):
        raise CommandError(f"give --against once, or once per other seat (here {len(others)}), not {len(specs)} times")
    with command_errors(), console.compiling(game.id):
        bots: dict[int, Bot] = {}
        for number, other in enumerate(others):
            spec = spec_of(specs[number % len(specs)])
            is_program = spec.partition(":")[0] in PROTOCOL_KINDS
            own = seeds.seat_seed(seed, 0, other)
            bots[other] = ProgramBot(spec, game, own) if is_program else bot(spec, game, own)
            bots[other].start(player.hello_message(game, other, own))
        return bots


class ProgramFailed(Exception):
    """A program made no move; the sentences say why."""


class ProgramBot:
    """A program behind ``cmd:``, ``box:`` or ``wasm:`` as an opponent: a child process for the whole session."""

    def __init__(self, spec: str, game: Game, seed: int) -> None:
        self.name = spec
        self._game, self._seed, self._asked = game, seed, -1
        self._hello: dict[str, Any] = {}
        self._seat = transports.make_seat(spec, game, seed)

    def start(self, hello: dict[str, Any]) -> None:
        """Start the program."""
        self._hello = hello
        self._seat.start(hello)

    def choose(self, observation: Any, budget: Budget | None = None) -> Any:
        """Programs are asked with the number of the turn: see ``ask``."""
        return self.ask(observation, observation, self._asked + 1)

    def ask(self, state: Any, observation: Any, number: int) -> Any:
        """Its move in turn ``number``; after an undo it begins anew. ProgramFailed says why there is none."""
        if number <= self._asked:
            self._seat.close()
            self._seat = transports.make_seat(self.name, self._game, self._seed)
            self._seat.start(self._hello)
        self._asked = number
        try:
            legal = self._game.legal_moves(state)
        except game_api.TooManyMoves:
            legal = None
        own = {name: self._hello[name] for name in ("match", "game", "seat", "player")}
        message = {"type": "turn", **own, "turn": number, "state": observation, "legal_moves": legal}
        asked = {**message, "deadline_ms": None, "ts_ms": time.time_ns() // 1_000_000}
        turn = seats.Turn(number, own["seat"], None, 0.0, None, lambda: observation, lambda turn: asked)
        answer = self._seat.ask(turn)
        if answer.fault is not None:
            self._seat.close()  # ends the program, so that all of its standard error has been read
            last = console.printable("\n".join(self._seat.stderr.strip().splitlines()[-LAST_LINES:]))
            raise ProgramFailed(f"{answer.fault.cause}: {answer.fault.why}" + (f"\n{last}" if last else ""))
        return answer.move

    def close(self) -> None:
        """End the program."""
        self._seat.close()


@dataclass
class PlaySession(Session):
    """A game in progress; ``states`` are the positions so far, the last one is the current one."""

    game: Game
    states: list[Any]
    bots: dict[int, Bot] = field(default_factory=dict)
    """Bots by seat; people play the other seats."""
    against: str = ""
    """The options that name the bots, to print the command that continues the game."""

    @property
    def state(self) -> Any:
        """The current position."""
        return self.states[-1]

    def seat(self) -> int:
        """The seat to move."""
        seat = self.game.to_move(self.state)
        assert seat is not None
        return seat

    def open(self, state: Any) -> bool:
        """Whether the seat to move sees the whole position."""
        return bool(self.game.observation(state) == state)

    def draw(self) -> None:
        """Draw the board, unless part of it is hidden from the seat to move."""
        if self.open(self.state):
            console.draw(self.game, self.state)
            return
        if self.game.hides_earlier_moves:
            self._draw_for_seat()
            return
        if self.bots:
            print_text("The other move stays face down until you have made yours.")
            return
        self._clear()
        print_text("The last move stays face down until it is answered.")

    def _draw_for_seat(self) -> None:
        """Draw what the seat to move sees, or the only person if a bot is to move."""
        people = [seat for seat in range(self.game.seats) if seat not in self.bots]
        seat = self.game.to_move(self.state)
        if seat not in people:
            if len(people) != 1:
                return
            seat = people[0]
        if not self.bots:
            self._clear()
        seen = position.seen_by(self.game, self.state, seat)
        print_text(self.game.name_seats(seen.drawing()))

    def _clear(self) -> None:
        """Clear the screen, so that the next person at it sees nothing of the last one's move."""
        console.stdout().clear()
        if "readline" in sys.modules:  # the arrow key must not show the hidden move
            sys.modules["readline"].clear_history()

    def finished(self) -> bool:
        """Whether the game is over; if so, print the result."""
        with console.compiling(self.game.id):
            outcome = self.game.outcome(self.state)
        if outcome is None:
            return False
        console.stdout().print(console.verdict(outcome, self.game))
        return True

    def move(self, text: str) -> None:
        """Make a move, or say why it is illegal."""
        try:
            with console.compiling(self.game.id):
                move = self.game.parse_move(text, self.state)
                notation = self.game.move_label(move, self.state)
                after = self.game.apply(self.state, move)
        except game_api.IllegalMove as error:
            print_text(self.game.name_seats(str(error)), console.BAD)
            return
        self._put(after, notation)

    def let_bot_move(self) -> None:
        """Let the bot to move make its move; if it fails, end the session with a sentence."""
        seat = self.seat()
        bot = self.bots[seat]
        shown = self.game.observation(self.state, seat)
        try:
            with console.waiting(f"{bot.name} is thinking ..."):
                if isinstance(bot, ProgramBot):
                    move = interruptible(lambda: bot.ask(self.state, shown, len(self.states) - 1))
                else:
                    move = interruptible(lambda: bot.choose(shown))
            after, notation = self.game.apply(self.state, move), self.game.move_label(move, self.state)
        except ProgramFailed as error:
            self.farewell()
            raise CommandError(f"the bot {bot.name} failed: {error}") from error
        except Exception as error:
            self.farewell()
            raise CommandError(f"the bot {bot.name} failed: {type(error).__name__}: {error}") from error
        hidden = not self.open(after)
        self._put(after, f"({bot.name})" if hidden else f"{notation}  ({bot.name})")

    def _put(self, after: Any, words: str) -> None:
        """Print a move and the position after it."""
        print_move(self.game, self.seat(), words)
        self._tell(after)
        self.states.append(after)
        answered_at_once = self.game.to_move(after) in self.bots and not self.open(after)
        if not answered_at_once:
            self.draw()

    def _tell(self, after: Any) -> None:
        """Show what a move brought about, step by step; all at once if the output is not a terminal."""
        people = [seat for seat in range(self.game.seats) if seat not in self.bots]
        frames = self.game.tell_move(self.state, after, people[0] if len(people) == 1 else None)
        if not frames:
            return
        if not console.stdout().is_terminal:
            console.say(side_by_side(frames, console.stdout().width) + "\n")
            return
        pause = min(FRAME_SECONDS, STORY_SECONDS / len(frames))
        with rich_live.Live(console=console.stdout(), auto_refresh=False) as live:
            for frame in frames:
                live.update(rich_text.Text(frame), refresh=True)
                time.sleep(pause)
        console.say("")

    # The words

    def undo(self) -> None:
        """Take back the last move."""
        if len(self.states) == 1:
            print_text("there is no move to take back", console.BAD)
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
            print_text("The last move is face down: the position can be shown when both have moved.")

    def rules(self) -> None:
        """The rules of the game."""
        page = GAMES[self.game.id].rules_for_people()
        if sys.stdin.isatty() and sys.stdout.isatty():
            console.show_markdown(page, paged=True)
        else:
            console.say(page)

    def farewell(self) -> None:
        """Print how to continue a game that ends early."""
        state = next((state for state in reversed(self.states) if self.open(state)), None)
        if state is None:
            print_text("You left the game. Its first move is face down, so there is no position to show.")
            return
        if state is self.state:
            print_text("You left the game. To continue it later:")
        else:
            print_text(
                "You left the game. The last move is face down; "
                "to continue later from the last position with nothing hidden:"
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
