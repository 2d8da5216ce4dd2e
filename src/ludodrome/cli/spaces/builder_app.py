"""The terminal application of `build`: keys and clicks become commands of a BoardBuilder.

``GridControl``, the grid under keys and clicks, also lays boards on the full screen of `play`.
"""

from pathlib import Path
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Button, Footer, Input, Static

from ludodrome.cli.console import SEAT_SIGNS, seat_style
from ludodrome.games.spaces.boards import FINAL, PLACES, TRAP, encode_board, step_words, steps_of
from ludodrome.spaces_lab.board_builder import BoardBuilder
from ludodrome.spaces_lab.board_files import add_to_collection

# The grid: its layout, its drawing, and the square under a click


WIDTHS = (9, 7, 5, 3)
"""Possible widths of a square; the widest that fits is used."""
HIDDEN = "dim"


class Layout(NamedTuple):
    """How the grid is drawn: the width of a square, lines between rows or not, and the visible part."""

    width: int
    lined: bool
    rows: range
    columns: range

    @property
    def height(self) -> int:
        """Lines per row."""
        return 2 if self.lined else 1


def lay_out(size: int, width: int, height: int, focus: tuple[int, int]) -> Layout:
    """The largest layout that fits; if none does, the part of the grid around the focus."""
    chosen = next((one for one in WIDTHS if size * (one + 1) + 4 <= width), WIDTHS[-1])
    lined = 2 * size + 3 <= height
    across = min(size, max(1, (width - 4) // (chosen + 1)))
    down = min(size, max(1, (height - 3) // (2 if lined else 1)))
    return Layout(chosen, lined, _around(size, down, focus[0]), _around(size, across, focus[1]))


def _around(size: int, seen: int, at: int) -> range:
    first = min(max(0, at - seen // 2), size - seen)
    return range(first, first + seen)


def cell_at(layout: Layout, x: int, y: int) -> tuple[int, int] | None:
    """The square at a position on the screen; row -1 is the goal."""
    column = (x - 4) // (layout.width + 1)
    row = (y - 2) // layout.height if y >= 2 else -1  # the line above a row belongs to it
    if x < 4 or y < 1 or not 0 <= column < len(layout.columns) or row >= len(layout.rows):
        return None
    return (layout.rows[row] if row >= 0 else -1), layout.columns[column]


def draw_grid(builder: BoardBuilder, layout: Layout, cursor: int, aiming: bool) -> Text:
    """The grid, with column numbers above and row numbers on the left."""
    cells = _cells(builder)
    text = Text()
    text.append("    " + " ".join(str(column).center(layout.width) for column in layout.columns) + "\n", HIDDEN)
    above, between, below = (_line(layout, ends) for ends in ("┌┬┐", "├┼┤", "└┴┘"))
    for row in (-1, *layout.rows):
        if layout.lined and row >= 0:
            text.append(f"   {above if row == layout.rows[0] else between}\n", HIDDEN)
        _draw_row(text, builder, layout, row, cells, cursor, aiming)
    if layout.lined:
        text.append(f"   {below}", HIDDEN)
    return text


def _line(layout: Layout, ends: str) -> str:
    return ends[0] + ends[1].join(["─" * layout.width] * len(layout.columns)) + ends[2]


def _draw_row(
    text: Text,
    builder: BoardBuilder,
    layout: Layout,
    row: int,
    cells: dict[tuple[int, int], list[tuple[str, str]]],
    cursor: int,
    aiming: bool,
) -> None:
    text.append(f"{row:>2} ", HIDDEN)
    for column in layout.columns:
        text.append("│" if row >= 0 else " ", HIDDEN)
        marks = cells.get((row, column), [])
        if not builder.actions and row == builder.size - 1 and column == cursor:
            marks = [*marks, ("●?", "bold reverse")]
        here = (row, column) == builder.position
        text.append_text(_cell(marks, layout.width, "on #4A3B00" if aiming and here else ""))
    text.append("│\n" if row >= 0 else "\n", HIDDEN)


def _cell(marks: list[tuple[str, str]], width: int, ground: str) -> Text:
    """The latest marks of a square that fit."""
    shown: list[tuple[str, str]] = []
    for mark in reversed(marks):
        if sum(len(one) for one, _ in shown) + len(mark[0]) > width:
            break
        shown.insert(0, mark)
    used = sum(len(one) for one, _ in shown)
    left = (width - used) // 2
    cell = Text(" " * left)
    for sign, style in shown:
        cell.append(sign, style)
    cell.append(" " * (width - used - left))
    if ground:
        cell.stylize(ground)
    return cell


def _cells(builder: BoardBuilder) -> dict[tuple[int, int], list[tuple[str, str]]]:
    """The marks of each square: steps by number, the opponent's traps and piece."""
    cells: dict[tuple[int, int], list[tuple[str, str]]] = {}
    steps = steps_of(builder.actions, builder.size)
    last_piece = max((number for number, step in enumerate(steps) if step[2] != TRAP), default=-1)
    for number, (row, col, kind) in enumerate(steps):
        mark = {TRAP: "X", FINAL: "★"}.get(kind, "●" if number == last_piece else "·")
        style = "bold #B3261E" if kind == TRAP else seat_style(0) if number == last_piece else "#0B6E99"
        cells.setdefault((row, col), []).append((f"{number + 1}{mark}", style))
    played = builder.trial()
    if played is not None:
        for step in played.steps[: len(builder.actions)]:
            if step.traps[1] is not None:
                cells.setdefault(step.traps[1], []).insert(0, ("y", seat_style(1)))
    ghost = builder.ghost()
    if ghost is not None:
        cells.setdefault(ghost, []).append(("◆", seat_style(1)))
    return cells


PAD = "789456123"
"""Number pad keys of the nine trap places."""
DEFAULT_FILE = "boards.json"
FIRST_NOTE = "choose a column with ← and →, then ↑ to start"
_PLACE_WORDS = {key: step_words(2)[2 + 3 + number] for number, key in enumerate(PAD)}
_SHIFTED = {shift: step_words(2)[2 + 3 + number] for number, shift in enumerate(PLACES)}
_ARROWS = {"up": "8", "left": "4", "right": "6", "down": "2", "enter": "5", "space": "5"}


KEYS_TEXT = """keys
↑ ← →  move; first of
       all, choose the
       column
t      trap: then an
       arrow, enter or
       a click
1 to 9 trap, as on a
       number pad
f      finish: straight
       up to the goal
z      undo
c      clear
s      save
:      type a command
?      these keys
q      quit

Click beside the piece
to move it there."""
"""Narrow enough for the panel of a terminal of 80 columns."""


class GridControl:
    """The grid under keys and clicks: a cursor for the start column, the aim of a trap, and the last message."""

    def __init__(self, builder: BoardBuilder, when_finished: str) -> None:
        """``when_finished``: the message once the board is finished."""
        self.builder, self._when_finished = builder, when_finished
        self.cursor = builder.size // 2
        self.aiming = False
        self.message, self.is_bad = FIRST_NOTE, False

    def layout(self, width: int, height: int) -> Layout:
        """The layout of the grid in a room."""
        return lay_out(self.builder.size, width, height, self.builder.position or (self.builder.size - 1, self.cursor))

    def say(self, sentence: str, bad: bool = False) -> None:
        """Set the message."""
        self.message, self.is_bad = sentence, bad

    def do(self, command: str) -> None:
        """Run a command of the builder."""
        self.aiming = False
        try:
            done = self.builder.do(command)
        except ValueError as error:
            self.say(str(error), bad=True)
            return
        self.say(self._when_finished if self.builder.is_finished else done)

    def go(self, way: str) -> None:
        """Handle an arrow: a step, the choice of a start column, or the direction of a trap."""
        if self.aiming:
            self.do(_PLACE_WORDS[_ARROWS[way]])
        elif not self.builder.actions:
            self._choose_start(way)
        elif way == "up" and self.builder.position is not None and self.builder.position[0] == 0:
            self.do("finish")
        elif way == "enter":
            self.say("arrows move, t and a direction set a trap")
        else:
            self.do(way)

    def _choose_start(self, way: str) -> None:
        if way in ("up", "enter"):
            self.do(f"start {self.cursor}")
        elif way == "down":
            self.say(FIRST_NOTE)
        else:
            self.cursor = (self.cursor + (1 if way == "right" else -1)) % self.builder.size
            self.say(f"start in column {self.cursor}?")

    def trap(self, key: str) -> None:
        """Set a trap with a key of the number pad."""
        self.do(_PLACE_WORDS[key])

    def aim(self) -> None:
        """Let the next arrow or click set a trap, or no longer."""
        self.aiming = not self.aiming
        self.say("trap where? an arrow, enter for underfoot, 1 to 9 as on a number pad" if self.aiming else "")

    def click(self, cell: tuple[int, int]) -> None:
        """Handle a click: a start, a step, the finish, or the place of a trap."""
        row, col = cell
        if not self.builder.actions:
            self.cursor = col
            self.do(f"start {col}")
            return
        assert self.builder.position is not None
        shift = (row - self.builder.position[0], col - self.builder.position[1])
        if self.aiming and shift in _SHIFTED:
            self.do(_SHIFTED[shift])
        elif row < 0:
            self.do("finish")
        elif shift in ((-1, 0), (0, -1), (0, 1), (1, 0)):
            self.do({(-1, 0): "up", (0, -1): "left", (0, 1): "right", (1, 0): "down"}[shift])
        else:
            self.say("click a square next to the piece; t first, to set a trap", bad=True)


class GridWidget(Widget):
    """The grid; posts a message when a square is clicked."""

    class Clicked(Message):
        """A square was clicked."""

        def __init__(self, cell: tuple[int, int]) -> None:
            super().__init__()
            self.cell = cell

    def __init__(self, control: GridControl) -> None:
        super().__init__(id="grid")
        self.control = control

    @property
    def seen(self) -> Layout:
        """The current layout."""
        return self.control.layout(self.size.width, self.size.height)

    def render(self) -> Text:
        """Draw the grid."""
        return draw_grid(self.control.builder, self.seen, self.control.cursor, self.control.aiming)

    def on_click(self, event: events.Click) -> None:
        """Post the clicked square."""
        cell = cell_at(self.seen, event.x, event.y)
        if cell is not None:
            self.post_message(self.Clicked(cell))


class BuilderApp(App[list[str]]):
    """Build a board, try it against another, save it to a collection."""

    CSS = """
    Screen { layers: base; }
    #title { height: 1; background: $primary-darken-2; color: $text; padding: 0 1; }
    #middle { height: 1fr; }
    #grid { width: 2fr; padding: 0; }
    #panel { width: 1fr; min-width: 26; border-left: solid $primary; padding: 0 1; }
    #facts { height: auto; }
    #finish { width: auto; margin: 1 0 0 0; }
    #message { height: 2; padding: 0 1; }
    #command { height: 1; border: none; padding: 0 1; display: none; }
    #command.open { display: block; }
    """
    TITLE = "spaces"
    AUTO_FOCUS = ""
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "go('up')", "move", key_display="↑←→"),
        Binding("left", "go('left')", "left", show=False),
        Binding("right", "go('right')", "right", show=False),
        Binding("down", "go('down')", "down", show=False),
        Binding("enter,space", "go('enter')", "start", show=False),
        Binding("t", "aim", "trap"),
        *(Binding(key, f"trap('{key}')", "trap", show=False) for key in PAD),
        Binding("f", "command('finish')", "finish"),
        Binding("z,u,backspace", "command('undo')", "undo", key_display="z"),
        Binding("c", "command('clear')", "clear"),
        Binding("s", "save", "save"),
        Binding("colon", "ask", "command", key_display=":"),
        Binding("question_mark", "keys", "keys", key_display="?"),
        Binding("escape", "leave", "", show=False),
        Binding("q,ctrl+q", "end", "quit", key_display="q"),
    ]

    def __init__(self, builder: BoardBuilder, path: str = "") -> None:
        super().__init__()
        self.builder = builder
        self.path = path or DEFAULT_FILE
        self.saved: list[str] = []
        self.control = GridControl(builder, "finished; s saves it")
        self.grid = GridWidget(self.control)
        self.shows_keys = False
        self.finish_button = Button("Finish straight up (f)", id="finish", compact=True)
        self.finish_button.can_focus = False

    def compose(self) -> ComposeResult:
        """Create the widgets."""
        against = f", against {encode_board(self.builder.opponent)}" if self.builder.opponent else ""
        yield Static(Text(f"Spaces, size {self.builder.size}, {self.builder.rules}{against}"), id="title")
        with Horizontal(id="middle"):
            yield self.grid
            with VerticalScroll(id="panel", can_focus=False):
                yield Static(id="facts")
                yield self.finish_button
        yield Static(id="message")
        yield Input(placeholder="up, trap left, finish, undo, save, quit", id="command")
        yield Footer()

    def on_mount(self) -> None:
        """Show everything."""
        self.show()

    # Display

    def show(self) -> None:
        """Redraw everything."""
        self.grid.refresh()
        self.query_one("#facts", Static).update(Text(KEYS_TEXT) if self.shows_keys else self.facts())
        self.finish_button.display = bool(self.builder.actions) and not (self.builder.is_finished or self.shows_keys)
        self.query_one("#message", Static).update(
            Text(self.control.message, "bold #B3261E" if self.control.is_bad else "")
        )

    def facts(self) -> Text:
        """The state of the board, the trial round, and the legal next steps."""
        builder = self.builder
        text = Text()
        state = "finished: legal" if builder.is_finished else "legal so far" if builder.actions else "empty"
        text.append(f"{state}\n", "bold #557828" if builder.is_finished else "bold")
        steps = len(builder.actions)
        text.append(f"{builder.code or '-'}\n{steps} {'step' if steps == 1 else 'steps'}\n\n")
        played = builder.trial()
        if played is not None:
            text.append("straight on from here:\n" if not builder.is_finished else "the round:\n", "dim")
            text.append(f"{SEAT_SIGNS[0]} {played.points[0]}", seat_style(0))
            text.append(" : ")
            text.append(f"{played.points[1]} {SEAT_SIGNS[1]}", seat_style(1))
            text.append(f"  ({played.ended}, step {len(played.steps)})\n")
            events_ = played.steps[min(len(builder.actions), len(played.steps)) - 1].events
            for event in events_:
                text.append(f"{event.reason}\n", "dim")
            text.append("\n")
        words = builder.following()
        if words:
            text.append("next:\n", "dim")
            traps = [word.removeprefix("trap ") for word in words if word.startswith("trap ")]
            text.append(", ".join(word for word in words if not word.startswith("trap ")) + "\n")
            if traps:
                text.append(f"trap {', '.join(traps)}\n")
        return text

    def show_message(self, sentence: str, bad: bool = False) -> None:
        """Show a message below the grid."""
        self.control.say(sentence, bad)
        self.show()

    # Commands

    def do(self, command: str) -> None:
        """Run a command of the builder."""
        self.shows_keys = False
        self.control.do(command)
        self.show()

    def action_command(self, command: str) -> None:
        """Run the command of a key."""
        self.do(command)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Handle the button."""
        self.do("finish")

    def action_keys(self) -> None:
        """Show the keys, or what was there before."""
        self.shows_keys = not self.shows_keys
        self.show()

    def action_go(self, way: str) -> None:
        """Handle an arrow."""
        self.shows_keys = False
        self.control.go(way)
        self.show()

    def action_trap(self, key: str) -> None:
        """Set a trap with a key of the number pad."""
        self.do(_PLACE_WORDS[key])

    def action_aim(self) -> None:
        """Let the next arrow or click set a trap."""
        self.control.aim()
        self.show()

    def on_grid_widget_clicked(self, event: GridWidget.Clicked) -> None:
        """Handle a click."""
        self.shows_keys = False
        self.control.click(event.cell)
        self.show()

    def action_save(self) -> None:
        """Add the board to the collection."""
        if not self.builder.is_finished:
            self.show_message("the board is not finished: go on to the goal, then save", bad=True)
            return
        try:
            count = add_to_collection(self.path, self.builder.board)
        except ValueError as error:
            self.show_message(str(error), bad=True)
            return
        self.saved.append(f"{self.builder.code} saved in {self.path}")
        self.show_message(f"saved: board {count} of {Path(self.path).name}; c begins a new one")

    def action_ask(self) -> None:
        """Open the line for commands."""
        line = self.query_one("#command", Input)
        line.add_class("open")
        line.focus()

    def action_leave(self) -> None:
        """Close the command line, or cancel aiming."""
        line = self.query_one("#command", Input)
        line.remove_class("open")
        line.value = ""
        self.set_focus(None)
        self.control.aiming = False
        self.show_message("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Run a command from the command line."""
        command = event.value.strip().lower()
        self.action_leave()
        if command in ("quit", "exit", "q"):
            self.action_end()
        elif command == "save":
            self.action_save()
        elif command:
            self.do(command)

    def action_end(self) -> None:
        """Quit."""
        self.exit(self.saved)
