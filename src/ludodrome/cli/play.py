"""Games in the terminal, between people and bots: `play`; and the sessions that `play` and `puzzle` share.

Here is the form line by line, for pipes and screen readers; ``play_app.py`` is the full screen.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from ludodrome.bots.specs import spec_of
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
from ludodrome.cli.local_play import LocalPlay, make_opponents, options_again
from ludodrome.games import GAMES

with lazy_imports():
    from rich import live as rich_live
    from rich import text as rich_text

    from ludodrome import game as game_api
    from ludodrome.arena import seeds
    from ludodrome.cli import play_app

if TYPE_CHECKING:
    from ludodrome.game import Game


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
        "ludodrome play dots --against alphabeta:depth=6 --seat 1 --clock 5m++3s",
        "ludodrome play santorini --option players=3 --record games",
        "ludodrome play dots --against 'cmd:python3 mybot.py'",
        "ludodrome play skysummit --state '00000/03200/00111/00000/00000 B3E5 C4D2 8'",
        "ludodrome play spaces --plain",
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
    clock: Annotated[
        str,
        typer.Option(
            metavar="C", help="Time control of every seat: 30s a move, 10s+5m (bank), 5m++3s (Fischer) or none."
        ),
    ] = "none",
    record: Annotated[
        Path | None,
        typer.Option(metavar="DIR", show_default=False, help="Save the record of the game in this folder at its end."),
    ] = None,
    plain: Annotated[
        bool,
        typer.Option("--plain", help="Line by line instead of full screen, as in pipes and for screen readers."),
    ] = False,
) -> None:
    """Play a game in the terminal, against people or bots.

    On a terminal the game fills the screen, and ? shows the keys. With --plain, and in pipes, you type moves in the
    game's notation, or one of: help, moves, undo, state, rules, quit.
    Options that you do not choose are those that suit people best; with --state they are the defaults.
    """
    chosen = open_game(game, option, for_people=state is None)
    secret = seeds.new_secret() if seed is None else seed
    specs = against or []
    bots = make_opponents(chosen, specs, seat, secret)
    others = [other for other in range(chosen.seats) if other != seat]
    with command_errors(), console.compiling(chosen.id):
        session = PlaySession(
            LocalPlay(
                chosen,
                [read_state(chosen, state)],
                bots,
                options_again(specs, seat, secret),
                secret,
                clock,
                {other: spec_of(specs[number % len(specs)]) for number, other in enumerate(others) if specs},
                record,
            )
        )
    try:
        if not plain and _has_screen():
            _play_on_screen(session.play)
        else:
            _play_in_lines(session, option if state is None else None, explained=state is None, secret=secret)
    finally:
        session.play.close()


def _has_screen() -> bool:
    """Whether the game can be played on a full screen; if only Textual is missing, say so."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    if find_spec("textual") is None:
        console.say("The full screen needs Textual: pip install 'ludodrome[lab]'. This is the form line by line.")
        return False
    return True


def _play_on_screen(play: LocalPlay) -> None:
    """Play on a full screen; afterwards print how it ended."""
    screen = play_app.PlayApp(play)
    screen.run()
    if screen.failure is not None:
        _say_farewell(play)
        raise screen.failure
    outcome = play.outcome()
    if outcome is None:
        _say_farewell(play)
        return
    console.stdout().print(console.verdict(outcome, play.game))
    if screen.record_path is not None:
        console.say(f"Record: {screen.record_path}")


def _play_in_lines(session: PlaySession, given: list[str] | None, explained: bool, secret: int) -> None:
    """Play line by line."""
    play = session.play
    console.say(f"{play.game.title}. Type a move, or one of {', '.join(PlaySession.words)}.")
    console.say(f"Seed of the bots: {secret}.\n" if play.bots else "")
    if explained:
        _explain_options(play.game, given)
    try:
        session.draw()
        play.restart_clock()
        while not session.finished():
            if play.seat() in play.bots:
                session.let_bot_move()
            else:
                session.answer(ask(play.game, play.seat()))
    except Leave:
        _say_farewell(play)
    except (EOFError, KeyboardInterrupt) as end:
        console.say("")
        _say_farewell(play)
        if isinstance(end, KeyboardInterrupt):
            raise typer.Exit(INTERRUPTED) from None


def _explain_options(game: Game, given: list[str] | None) -> None:
    """Say which options were chosen for people, why, and how to play with the defaults."""
    named = {text.partition("=")[0] for text in given or ()}
    chosen = {name: value for name, value in game.people_options.items() if name not in named}
    if chosen:
        usual = {option.name: option.default for option in game.available}
        options = " ".join(f"{name}={value}" for name, value in chosen.items())
        back = " ".join(f"-o {name}={usual[name]}" for name in chosen)
        console.say(f"{options}: {game.people_options_reason} To play otherwise: {back}\n")


def _say_farewell(play: LocalPlay) -> None:
    """Print how to continue a game that ends early."""
    note, *command = play.farewell()
    print_text(note)
    for line in command:
        console.say(line)


@dataclass
class PlaySession(Session):
    """A play line by line."""

    play: LocalPlay

    @property
    def game(self) -> Game:  # type: ignore[override]
        """The game."""
        return self.play.game

    @property
    def state(self) -> Any:
        """The current position."""
        return self.play.state

    def draw(self) -> None:
        """Draw the board, unless part of it is hidden from the seat to move."""
        if self.play.is_open(self.state):
            console.draw(self.game, self.state)
            return
        if self.game.hides_earlier_moves:
            self._draw_for_seat()
            return
        if self.play.bots:
            print_text("The other move stays face down until you have made yours.")
            return
        self._clear()
        print_text("The last move stays face down until it is answered.")

    def _draw_for_seat(self) -> None:
        """Draw what the seat to move sees, or the only person if a bot is to move."""
        seat = self.play.viewer
        if seat is None:
            return
        if not self.play.bots:
            self._clear()
        print_text(self.game.name_seats(self.play.seen(seat).drawing()))

    def _clear(self) -> None:
        """Clear the screen, so that the next person at it sees nothing of the last one's move."""
        console.stdout().clear()
        if "readline" in sys.modules:  # the arrow key must not show the hidden move
            sys.modules["readline"].clear_history()

    def finished(self) -> bool:
        """Whether the game is over; if so, print the result and write the record."""
        with console.compiling(self.game.id):
            outcome = self.play.outcome()
        if outcome is None:
            return False
        console.stdout().print(console.verdict(outcome, self.game))
        path = self.play.write_record()
        if path is not None:
            console.say(f"Record: {path}")
        return True

    def move(self, text: str) -> None:
        """Make a move, or say why it is illegal."""
        try:
            with console.compiling(self.game.id):
                move = self.play.parse_move(text)
                self._put(move, self.game.move_label(move, self.state))
        except game_api.IllegalMove as error:
            print_text(self.game.name_seats(str(error)), console.BAD)

    def let_bot_move(self) -> None:
        """Let the bot to move make its move; if it fails, end the session with a sentence."""
        name = self.play.bots[self.play.seat()].name
        try:
            with console.waiting(f"{name} is thinking ..."):
                move = interruptible(self.play.ask_bot)
        except CommandError:
            _say_farewell(self.play)
            raise
        notation, after = self.game.move_label(move, self.state), self.game.apply(self.state, move)
        self._put(move, f"({name})" if not self.play.is_open(after) else f"{notation}  ({name})")

    def _put(self, move: Any, words: str) -> None:
        """Make a legal move, print it and the position after it."""
        before, seat = self.state, self.play.seat()
        self.play.play(move)
        if self.state is before:  # it came too late
            return
        print_move(self.game, seat, words)
        self._tell(before)
        after = self.state
        answered_at_once = self.game.to_move(after) in self.play.bots and not self.play.is_open(after)
        if not answered_at_once:
            self.draw()
        self.play.restart_clock()

    def _tell(self, before: Any) -> None:
        """Show what a move brought about, step by step; all at once if the output is not a terminal."""
        frames = self.play.frames(before, self.state)
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
        if self.play.undo():
            self.draw()
        else:
            print_text("there is no move to take back", console.BAD)

    def line(self) -> None:
        """The position on one line, as `--state` takes it."""
        if self.play.is_open(self.state):
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


PlaySession.words = {
    "help": PlaySession.help,
    "moves": PlaySession.moves,
    "undo": PlaySession.undo,
    "state": PlaySession.line,
    "rules": PlaySession.rules,
    "quit": PlaySession.leave,
}
