"""The full screen of `play`: board, seats, clocks, analysis and moves; keys and clicks become moves of a LocalPlay."""

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from rich.markdown import Markdown
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Footer, Input, Static

from ludodrome.analysis.lines import Analysis, analyse, suggested_line
from ludodrome.cli.base import CommandError
from ludodrome.cli.board_input import (
    BAD,
    MUTED,
    BoardInput,
    DrawingInput,
    PickInput,
    make_board_input,
    seat_text,
    story_frames,
)
from ludodrome.cli.console import printable, verdict
from ludodrome.cli.local_play import LocalPlay
from ludodrome.cli.play_widgets import (
    PLAY_CSS,
    BoardWidget,
    MoveList,
    PageScreen,
    Story,
    analysis_text,
    keys_text,
    moves_text,
    seats_text,
    title_text,
)
from ludodrome.game import IllegalMove, TooManyMoves
from ludodrome.games import GAMES
from ludodrome.text_board import Room

MIN_SIZE = (60, 20)
"""Columns and lines without which the screen cannot be used."""
HINT_SECONDS, ANALYSIS_SECONDS, ANALYSIS_LINES = 1.0, 30.0, 3
DEFAULT_FOLDER = "games"
"""Where `r` records, unless --record names another folder."""
WIDE = 110
"""Columns from which on the panel is wider."""


class PlayApp(App[None]):
    """A play on the full screen."""

    CSS = PLAY_CSS
    AUTO_FOCUS = ""
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key, f"press('{key}')", "", show=False)
            for key in ("up", "down", "left", "right", "enter", "space", "escape", "backspace", "n", "t", "f", "c", "z")
        ),
        *(Binding(str(digit), f"press('{digit}')", "", show=False) for digit in range(1, 10)),
        Binding("tab", "press('tab')", "", show=False, priority=True),
        Binding("question_mark", "keys", "keys", key_display="?"),
        Binding("m,colon", "list", "moves", key_display="m"),
        Binding("h", "hint", "hint"),
        Binding("a", "analysis", "analysis"),
        Binding("u", "undo", "undo"),
        Binding("r", "record", "record"),
        Binding("x", "resign", "resign"),
        Binding("i", "rules", "rules", show=False),
        Binding("q,ctrl+q", "leave", "quit", key_display="q"),
        Binding("ctrl+c", "leave", "", show=False, priority=True),
    ]

    def __init__(self, play: LocalPlay) -> None:
        super().__init__()
        self.play = play
        self.failure: CommandError | None = None
        """Why the screen ended early: a bot failed."""
        self.record_path: Path | None = None
        self.input: BoardInput = DrawingInput(Text())
        self.thinking = False
        self._message = Text()
        self._story: Story | None = None
        self._curtain = False
        self._wants_undo = self._analyses = False
        self._found: Analysis | dict[str, Any] | None = None
        self._ticket = 0
        self.list, self.board = MoveList(), BoardWidget(self._draw_board)

    def compose(self) -> ComposeResult:
        """Create the widgets."""
        yield Static(title_text(self.play), id="title")
        with Horizontal(id="middle"):
            yield self.board
            with Vertical(id="panel"):
                yield Static(id="seats")
                yield Static(id="analysis")
                yield Static(id="moves")
        yield Static(id="note")
        yield self.list
        yield Static(id="small")
        yield Footer()

    def on_mount(self) -> None:
        """Begin."""
        self.set_interval(0.25, self._tick)
        self._fit(self.size)
        self._advance()

    def on_resize(self, event: events.Resize) -> None:
        """Adapt to another size."""
        self._fit(event.size)

    def _fit(self, size: tuple[int, int]) -> None:
        width, height = size
        self.screen_stack[0].set_class(width >= WIDE, "wide")
        small = width < MIN_SIZE[0] or height < MIN_SIZE[1]
        self.screen_stack[0].set_class(small, "small")
        if small:
            words = (
                f"This terminal has {width} x {height} characters, and the screen needs {MIN_SIZE[0]} x {MIN_SIZE[1]}. "
                "Make it larger; or leave with q and play with --plain."
            )
            self.screen_stack[0].query_one("#small", Static).update(words)

    # The course of the play

    def _advance(self) -> None:
        """Show the position; then wait for a person, ask a bot, or end."""
        self._ticket += 1
        self._found = self._story = None
        play, self.input = self.play, self._make_input()
        if play.is_over:
            self._end()
        elif play.seat() in play.bots:
            self._ask_bot()
        else:
            play.restart_clock()
            hides = play.game.hides_earlier_moves or not play.is_open(play.state)
            self._curtain = bool(play.moves) and len(play.people) > 1 and hides
            if self._analyses:
                self._analyse()
            if isinstance(self.input, DrawingInput):
                self.action_list()
        self.show()

    def _make_input(self) -> BoardInput:
        cursor = self.input.cursor if isinstance(self.input, PickInput) else None
        return make_board_input(self.play, self.size, cursor)

    def _ask_bot(self) -> None:
        """Let the bot think on a thread of its own: the screen goes on."""
        self.thinking = True
        self._say(f"{self.play.bots[self.play.seat()].name} is thinking …")

        def think() -> None:
            try:
                move = self.play.ask_bot()
            except CommandError as error:
                self._later(self._fail, error)
            else:
                self._later(self._bot_moves, move)

        self._start(think)

    def _start(self, work: Callable[[], None]) -> None:
        threading.Thread(target=work, daemon=True).start()

    def _later(self, act: Callable[..., None], *arguments: Any) -> None:
        """Act on the screen's own thread, unless the screen is gone."""
        with suppress(RuntimeError, CancelledError):
            self.call_from_thread(lambda: act(*arguments) if self.screen_stack else None)

    def _fail(self, error: CommandError) -> None:
        self.failure = error
        self.exit()

    def _bot_moves(self, move: Any) -> None:
        self.thinking = False
        self._say("")
        if self._wants_undo:
            self._wants_undo = False
            self.play.undo()
            self._advance()
        else:
            self._make(move)

    def _make(self, move: Any) -> None:
        """Make a move, tell what it brings about, and go on."""
        before = self.play.state
        try:
            self.play.play(move)
        except IllegalMove as error:
            self._say(self.play.game.name_seats(str(error)), bad=True)
            self.input = self._make_input()
            self.show()
            return
        self._say("")
        room = (self.size.width - 30, self.size.height - 6)
        frames = story_frames(self.play, before, room) if self.play.state is not before else []
        if frames:
            self._story = Story(frames, self._advance)
            self.set_timer(self._story.pause, self._tell_on)
            self.show()
        else:
            self._advance()

    def _tell_on(self) -> None:
        story = self._story
        if story is None or story.is_told:
            return
        if not story.paused:
            story.at += 1
        self.set_timer(story.pause, self._tell_on)
        self.show()

    def _end(self) -> None:
        outcome = self.play.outcome()
        assert outcome is not None
        self._message = verdict(outcome, self.play.game)
        try:
            self.record_path = self.play.write_record()
        except CommandError as error:
            self._say(self.play.game.name_seats(str(error)), bad=True)
        if self.record_path is not None:
            self._message.append(f"\nrecord: {self.record_path}")
        self._message.append("   u: undo   q: leave")

    def _tick(self) -> None:
        """Update the clocks; end the play if one has run out."""
        if self.play.clock == "none" or self.play.is_over or self._story is not None or self._curtain:
            return
        if not self.thinking and self.play.check_clock():
            self._advance()
        self.screen_stack[0].query_one("#seats", Static).update(seats_text(self.play))

    # Display

    def _say(self, sentence: str, bad: bool = False) -> None:
        self._message = Text(printable(sentence), f"bold {BAD}" if bad else "")

    def show(self) -> None:
        """Redraw everything; a page may be over it."""
        self.board.refresh()
        self.screen_stack[0].query_one("#seats", Static).update(seats_text(self.play))
        self.screen_stack[0].query_one("#analysis", Static).update(self._analysis_text())
        moves = self.screen_stack[0].query_one("#moves", Static)
        lines = max(3, moves.size.height - 2)
        if self.list.is_open:
            moves.update(self.list.text(lines))
        else:
            moves.update(Text() if self._curtain else moves_text(self.play, lines))
        self.screen_stack[0].query_one("#note", Static).update(self._note())

    def _draw_board(self, room: Room) -> Text:
        game = self.play.game
        if self._curtain:
            words = "\n\n  The last move is face down.\n  Press enter when only you can see the screen.\n\n  "
            return Text(words).append_text(seat_text(game, self.play.seat(), game.seat_name(self.play.seat())))
        if self._story is not None:
            return self._story.draw()
        return self.input.draw(room)

    def _note(self) -> Text:
        if self._story is not None:
            return Text("enter: go on   ← →: step by step   space: pause or run", MUTED)
        if self._curtain:
            return Text("enter: show the board")
        if self._message.plain or self.play.is_over or self.thinking:
            return self._message
        seat, game = self.play.seat(), self.play.game
        return Text.assemble(seat_text(game, seat, f"{game.seat_name(seat)} to move"), "   ", self.input.note())

    def _analysis_text(self) -> Text:
        if not self._analyses or self._curtain or self._story is not None:
            return Text()
        return analysis_text(self.play, self._found, 36 if self.size.width >= WIDE else 24)

    # The list of moves

    def action_list(self) -> None:
        """Open the line for a move, with the legal moves beside it."""
        if not self._waits():
            return
        play = self.play
        texts: list[str] = []
        try:
            texts = [play.game.move_label(move, play.state) for move in play.game.legal_moves(play.state)]
        except TooManyMoves as error:
            self._say(str(error))
        self.list.open(texts)
        self.show()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter the list."""
        self.list.chosen = 0
        self.show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Make the typed move, or the chosen one of the list."""
        text = self.list.chosen_text()
        self._close_list()
        if text.strip():
            try:
                move = self.play.parse_move(text)
            except IllegalMove as error:
                self._say(self.play.game.name_seats(str(error)), bad=True)
                self.show()
            else:
                self._make(move)

    def _close_list(self) -> None:
        self.list.close()
        self._say("")
        self.show()

    # Keys

    def _waits(self) -> bool:
        """Whether a person can move now."""
        return not (self._story is not None or self._curtain or self.play.is_over or self.thinking)

    def action_press(self, key: str) -> None:
        """Handle a key of the board, the list or a story."""
        if self.list.is_open:
            if key in ("up", "down"):
                self.list.choose(1 if key == "down" else -1)
                self.show()
            elif key == "escape":
                self._close_list()
        elif self._story is not None:
            self._press_story(self._story, key)
        elif self._curtain:
            self._curtain = key != "enter"
            self.play.restart_clock()
            self.show()
        elif self._waits() and self.input.press(key):
            self._taken()

    def _taken(self) -> None:
        """Something was picked: make the move if that makes one."""
        if not self.play.is_over:
            self._say("")
        if self.input.move is not None:
            self._make(self.input.move)
        else:
            self.show()

    def _press_story(self, story: Story, key: str) -> None:
        if key in ("enter", "escape"):
            story.done()
            return
        if key == "space":
            story.paused = not story.paused
        elif key in ("left", "right"):
            story.paused = True
            story.at = max(0, min(len(story.frames) - 1, story.at + (1 if key == "right" else -1)))
        self.show()

    def on_board_widget_point_clicked(self, event: BoardWidget.PointClicked) -> None:
        """Handle a click on the board."""
        if self._story is not None:
            self._story.done()
        elif self._curtain:
            self.action_press("enter")
        elif self._waits():
            self.input.click(event.column, event.row)
            self._taken()

    def on_click(self, event: events.Click) -> None:
        """A click on the line below the board changes what a place is picked for, as tab does."""
        if event.widget is not None and event.widget.id == "note":
            self.action_press("tab")

    def action_undo(self) -> None:
        """Take back moves up to the last one of a person."""
        if self._story is not None or self._curtain:
            return
        if self.thinking:
            self._wants_undo = True
            self._say("Taken back as soon as the bot has answered.")
            self.show()
            return
        undone = self.play.undo()
        self._say("" if undone else "There is no move to take back.", bad=not undone)
        self.record_path = None
        if undone:
            self._advance()
        self.show()

    def action_resign(self) -> None:
        """Resign, at the second time."""
        if not self._waits():
            return
        question = f"Resign for {self.play.game.seat_name(self.play.seat())}? Press x again; any other key goes on."
        if self._message.plain != question:
            self._say(question, bad=True)
            self.show()
            return
        self.play.resign(self.play.seat())
        self._advance()

    def action_record(self) -> None:
        """Record this play, or stop recording it."""
        play = self.play
        if play.folder is None:
            play.folder = Path(DEFAULT_FOLDER)
            self._say(f"The record will be written into {play.folder}/ when the game is over.")
            if play.is_over:
                self._end()
        elif not play.is_over:
            play.folder = None
            self._say("This game is not recorded.")
        self.show()

    def action_keys(self) -> None:
        """Show the keys."""
        self.push_screen(PageScreen(keys_text(self.input.keys)))

    def action_rules(self) -> None:
        """Show the rules."""
        self.push_screen(PageScreen(Markdown(GAMES[self.play.game.id].rules(), code_theme="ansi_dark")))

    def action_leave(self) -> None:
        """Leave; the command prints how to go on."""
        self._ticket += 1  # ends an analysis
        self.exit()

    # Hints and analysis

    def _may_analyse(self) -> bool:
        """Whether the engine may look at this position; if not, say why."""
        if not self._waits():
            return False
        if why := self.play.why_no_engine():
            self._say(why, bad=True)
            self.show()
            return False
        return True

    def action_hint(self) -> None:
        """Mark a good move, found on another thread."""
        if not self._may_analyse():
            return
        ticket, game, state = self._ticket, self.play.game, self.play.state
        self._say("Looking for a good move …")

        def look() -> None:
            line = suggested_line(game, state, HINT_SECONDS)
            self._later(self._show_hint, ticket, line["move"], game.move_label(line["move"], state))

        self._start(look)
        self.show()

    def _show_hint(self, ticket: int, move: Any, text: str) -> None:
        if ticket == self._ticket:
            self._say(f"Hint: {text}")
            self.input.show_hint(move)
            self.show()

    def action_analysis(self) -> None:
        """Turn the analysis on or off."""
        if not self._analyses and self._waits() and not self._may_analyse():
            return
        self._analyses = not self._analyses
        self._ticket += 1
        self._found = None
        if self._analyses:
            self._analyse()
        self.show()

    def _analyse(self) -> None:
        """Analyse the position on another thread until it changes."""
        if not self._may_analyse():
            return
        ticket, game, state = self._ticket, self.play.game, self.play.state

        def look() -> None:
            if game.evaluator is None:
                self._later(self._show_analysis, ticket, suggested_line(game, state, HINT_SECONDS))
                return
            for found in analyse(game, state, ANALYSIS_SECONDS, ANALYSIS_LINES):
                if ticket != self._ticket:
                    return
                self._later(self._show_analysis, ticket, found)

        self._start(look)

    def _show_analysis(self, ticket: int, found: Analysis | dict[str, Any]) -> None:
        if ticket == self._ticket:
            self._found = found
            self.show()
