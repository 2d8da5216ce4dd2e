"""What the full screen of `play` is made of: the board's widget, pages over it, stories, and the texts of the panel."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from ludodrome.analysis.lines import Analysis, Line
from ludodrome.analysis.win_probability import Value, win_probability
from ludodrome.cli.board_input import BAD, GOOD, MUTED, seat_colour, seat_text
from ludodrome.cli.console import printable
from ludodrome.cli.local_play import LocalPlay
from ludodrome.text_board import Room

KEYS = (
    ("m", "type a move, or choose from the list"),
    ("h", "hint: mark a good move"),
    ("a", "analysis: who is ahead, best lines"),
    ("u", "undo your last move"),
    ("r", "record this game, or stop that"),
    ("x", "resign: press it twice"),
    ("i", "the rules of the game"),
    ("?", "these keys"),
    ("q", "leave; the command to go on is printed"),
)
MARKS_TEXT = "[ ] cursor   { } picked   > < can be picked   ( ) last move   * * hint"


PLAY_CSS = """
#title { height: 1; background: $primary-darken-2; color: $text; padding: 0 1; }
#middle { height: 1fr; }
#board { width: 1fr; }
#panel { width: 28; border-left: solid $primary; padding: 0 1; }
#seats { height: auto; }
#analysis { height: auto; }
#moves { height: 1fr; }
#note { height: 2; padding: 0 1; }
#typed { height: 1; border: none; padding: 0 1; display: none; }
#typed.open { display: block; }
#small { display: none; padding: 1; }
.wide #panel { width: 40; }
.small #small { display: block; }
.small #title, .small #middle, .small #note, .small Footer { display: none; }
"""


class BoardWidget(Widget):
    """What fills the left of the screen; posts a message when it is clicked."""

    class PointClicked(Message):
        """A point of the board was clicked."""

        def __init__(self, column: int, row: int) -> None:
            super().__init__()
            self.column, self.row = column, row

    def __init__(self, draw: Callable[[Room], Text]) -> None:
        super().__init__(id="board")
        self._draw = draw

    def render(self) -> Text:
        """Draw what there is to see."""
        return self._draw((self.size.width, self.size.height))

    def on_click(self, event: events.Click) -> None:
        """Post the clicked point."""
        self.post_message(self.PointClicked(event.x, event.y))


class PageScreen(ModalScreen[None]):
    """A page over the game: the keys, or the rules. Esc, enter, q and its own key close it."""

    CSS = """
    PageScreen { align: center middle; }
    #page { width: 76; max-width: 96%; height: auto; max-height: 92%; }
    #page { border: round $primary; padding: 0 1; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,space,q,question_mark,i", "dismiss", "close"),
    ]

    def __init__(self, page: Any) -> None:
        super().__init__()
        self._page = page

    def compose(self) -> ComposeResult:
        """Create the page."""
        with VerticalScroll(id="page"):
            yield Static(self._page)


FRAME_SECONDS, STORY_SECONDS = 0.6, 12.0
"""Seconds that a step of a story is shown, and seconds of a whole story, at most."""


class Story:
    """What a move brought about, step by step."""

    def __init__(self, frames: list[Text], done: Callable[[], None]) -> None:
        self.frames, self.done = frames, done
        self.at, self.paused = 0, False

    @property
    def pause(self) -> float:
        """Seconds to the next step."""
        return min(FRAME_SECONDS, STORY_SECONDS / len(self.frames))

    @property
    def is_told(self) -> bool:
        """Whether the last step is shown."""
        return self.at == len(self.frames) - 1

    def draw(self) -> Text:
        """The current step and a time line."""
        left = self.at + 1
        line = Text("\n" + "━" * left, f"bold {GOOD}").append("─" * (len(self.frames) - left), MUTED)
        return Text.assemble(self.frames[self.at], "\n", line, (f"  {left} of {len(self.frames)}", MUTED))


class MoveList(Input):
    """A line for a move in notation, and the legal moves that match what is typed."""

    def __init__(self) -> None:
        super().__init__(placeholder="a move in notation; ↑ ↓ choose, enter plays, esc closes", id="typed")
        self._texts: list[str] = []
        self.chosen = 0

    @property
    def is_open(self) -> bool:
        """Whether it is on the screen."""
        return self.has_class("open")

    def open(self, texts: list[str]) -> None:
        """Show it with these moves."""
        self._texts, self.chosen, self.value = texts, 0, ""
        self.add_class("open")
        self.focus()

    def close(self) -> None:
        """Hide it."""
        self.remove_class("open")
        self.blur()

    def matching(self) -> list[str]:
        """The moves that contain what is typed; blanks and capitals do not matter."""
        wanted = "".join(self.value.lower().split())
        return [text for text in self._texts if wanted in "".join(text.lower().split())]

    def choose(self, step: int) -> None:
        """Choose another of them."""
        self.chosen = max(0, min(len(self.matching()) - 1, self.chosen + step))

    def chosen_text(self) -> str:
        """The chosen move; what is typed if nothing matches."""
        found = self.matching()
        return found[self.chosen] if found else self.value

    def text(self, lines: int) -> Text:
        """The matching moves around the chosen one."""
        found = self.matching()
        text = Text(f"\n{len(found)} of {len(self._texts)} moves\n", MUTED)
        first = max(0, min(self.chosen - lines // 2, len(found) - lines))
        for number, words in enumerate(found[first : first + lines], first):
            here = number == self.chosen
            text.append(f"{'▶' if here else ' '} {words}\n", "bold default" if here else "default")
        return text


# The texts of the panel


LOW_SECONDS = 10
"""A clock below this is shown in red."""
BAR_WIDTH = 14


def title_text(play: LocalPlay) -> Text:
    """The game, and the options that differ from the defaults."""
    usual = {option.name: option.default for option in play.game.available}
    changed = [f"{name}={value}" for name, value in play.game.options.items() if value != usual[name]]
    return Text(", ".join([play.game.title, *changed]))


def seats_text(play: LocalPlay) -> Text:
    """The seats: who plays them, whose turn it is, points and clocks."""
    text = Text()
    mover = None if play.is_over else play.game.to_move(play.state)
    for seat in play.seats:
        who = play.bots[seat].name if seat in play.bots else "you" if len(play.people) == 1 else "person"
        text.append("▶ " if seat == mover else "  ", "bold")
        text.append_text(seat_text(play.game, seat, play.game.seat_name(seat)))
        text.append(f" {printable(who, one_line=True)[:16]}")
        left = play.seconds_left(seat)
        if left is not None:
            text.append(f" {int(left) // 60}:{int(left) % 60:02}", f"bold {BAD}" if left < LOW_SECONDS else "bold")
        text.append("\n")
    points = play.points()
    if points is not None:
        text.append("  " + " : ".join(f"{score:g}" for score in points) + "\n", "bold")
    if play.folder is not None:
        text.append("  recording\n", MUTED)
    return text


def analysis_text(play: LocalPlay, found: Analysis | dict[str, Any] | None, room: int) -> Text:
    """Who is ahead as a bar, and the best lines, each as long as there is room.

    ``found`` is None before anything is found, and a suggested line in games without an evaluator.
    """
    if not isinstance(found, Analysis):
        score = "" if found is None or found["score"] is None else f"{found['score']:+g} "
        words = "…" if found is None else f"{score}{found['text']}"
        return Text("\nanalysis\n", MUTED).append(f"{words}\n", "default")
    seat, game = play.seat(), play.game
    best = found.lines[0]
    chance = win_probability(game, Value(best.score, best.distance, best.proven))
    own = round(chance * BAR_WIDTH)
    text = Text(f"\nanalysis, depth {found.depth}\n", MUTED)
    text.append_text(seat_text(game, seat)).append(f" {chance:4.0%} ", "default")
    text.append("█" * own, seat_colour(seat, game)).append("░" * (BAR_WIDTH - own), MUTED)
    if game.seats == 2:
        text.append(" ").append_text(seat_text(game, 1 - seat))
    for line in found.lines:
        words = f"{score_text(line)} {line.text}"
        text.append(f"\n{words}", "bold default" if line is best else "default")
        rest = "  ".join(line.continuation)
        if room - len(words) > len((line.continuation or [""])[0]):
            text.append(f" {rest}"[: room - len(words)], MUTED)
    return text.append("\n")


def score_text(line: Line) -> str:
    """The score of a line in a few characters: ``+0.35``, ``+#5`` for a win in five plies."""
    if line.distance is not None:
        return f"{'+' if line.score > 0 else '-'}#{line.distance}"
    return f"{line.score:+.2f}"


def moves_text(play: LocalPlay, lines: int) -> Text:
    """The last moves, the last one at the bottom."""
    text = Text("\nmoves\n", MUTED)
    for number in range(max(0, len(play.moves) - lines), len(play.moves)):
        text.append(f"{number + 1:>3} ", MUTED)
        text.append_text(seat_text(play.game, play.moves[number].seat)).append(
            f" {play.shown_notation(number)}\n", "default"
        )
    return text


def keys_text(own: Sequence[tuple[str, str]]) -> Text:
    """The page of keys: those of the board, then those of the screen."""
    text = Text("keys\n", "bold")
    for key, meaning in (*own, *KEYS):
        text.append(f"\n{key:>8}  ", "bold").append(meaning, "not bold")
    text.append(f"\n\n{MARKS_TEXT}\nThe mouse picks as enter does; esc closes this page.", "not bold")
    return text
