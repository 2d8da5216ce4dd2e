"""How a person chooses a move on the full screen: keys and clicks on a drawn board.

``PickInput`` does it for every game that draws a ``TextBoard``; a game with moves of another kind has an input of its
own (``GameExtras.terminal_module``). Nothing here needs Textual.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

from rich.text import Text

from ludodrome.cli.console import SEAT_SIGNS, drawing, printable
from ludodrome.cli.local_play import FACE_DOWN, LocalPlay
from ludodrome.game import Game, TooManyMoves
from ludodrome.game_extras import extra
from ludodrome.text_board import BOLD, DIM, HOT, STONE, VENT, MovePicker, Pick, Room, TextBoard

SEATS_ON_DARK = ("#55B3DC", "#EC8457", "#9CC168")
"""The seats' colours on a dark screen, as on the page."""
PIECES_ON_DARK = {"navy": "#84A5EE", "white": "#FFFFFF", "grey": "#A9B0B7"}
"""The same of games with colours of their own."""
GOOD, BAD, MUTED = "#74C479", "#F28B82", "#A39C8E"
CURSOR = "on #57524A"
TONES = {DIM: MUTED, STONE: "#D8CFBC", HOT: "#E0B050", VENT: "#8A8272", BOLD: "bold"}
MARKS = {
    "last": ("(", ")", "bold"),
    "target": (">", "<", f"bold {GOOD}"),
    "warning": ("!", "!", f"bold {BAD}"),
    "hint": ("*", "*", f"bold {GOOD}"),
    "picked": ("{", "}", "bold"),
    "cursor": ("[", "]", f"bold {CURSOR}"),
}
"""The signs at both sides of a marked place; of several marks the last counts."""
ARROWS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def seat_colour(seat: int, game: Game | None = None) -> str:
    """The style of a seat on the dark screen."""
    usual = SEATS_ON_DARK[seat % len(SEATS_ON_DARK)]
    return f"bold {usual if game is None else PIECES_ON_DARK.get(game.seat_colours[seat], usual)}"


def seat_text(game: Game, seat: int, words: str = "") -> Text:
    """A seat's shape and words about it, in its colour."""
    return Text(f"{SEAT_SIGNS[seat % len(SEAT_SIGNS)]} {words}".rstrip(), seat_colour(seat, game))


class BoardInput(ABC):
    """A position on the screen in which a person chooses a move; ``move`` is the chosen one."""

    keys: ClassVar[Sequence[tuple[str, str]]] = ()
    """Keys of this input and what they do, for the page of keys."""

    def __init__(self) -> None:
        self.move: Any = None

    @abstractmethod
    def draw(self, room: Room) -> Text:
        """The board, at most as large as there is room for."""

    @abstractmethod
    def press(self, key: str) -> bool:
        """Handle a key; whether it means anything here."""

    @abstractmethod
    def click(self, column: int, row: int) -> None:
        """Handle a click on the drawing."""

    @abstractmethod
    def note(self) -> Text:
        """What can be done next, in a sentence."""

    def show_hint(self, move: Any) -> None:
        """Mark a suggested move on the board, where that is possible."""
        return


class PickInput(BoardInput):
    """Pick a move place by place with a cursor: each place that can be picked is marked."""

    keys = (
        ("arrows", "move the cursor"),
        ("enter", "pick: a piece, then where it goes"),
        ("tab", "another action on the same place"),
        ("n", "next place that can be picked"),
        ("esc", "take the last pick back"),
    )

    def __init__(
        self,
        game: Game,
        state: Any,
        observation: Any,
        moves: Sequence[Any],
        last: Iterable[str] = (),
        cursor: str | None = None,
    ) -> None:
        """``moves``: the legal moves to choose from, none while nobody can choose. ``last``: places to mark."""
        super().__init__()
        self.game, self._state, self._observation = game, state, observation
        self._moves, self._last = moves, frozenset(last)
        self.picker = MovePicker(game, state, moves)
        self.board = self._draw_board((80, 24))
        names = [place.name for place in self.board.places]
        self._choices: Mapping[str, list[Pick]] = self.picker.choices()
        first = next((name for name in names if name in self._choices), names[0])
        self.cursor = cursor if cursor in names else first
        self._turn = 0
        self._hint: frozenset[str] = frozenset()
        self._refusal = ""
        self._corner = (0, 0)

    def _draw_board(self, room: Room) -> TextBoard:
        board: TextBoard = self.game.text_board(self._observation, room)
        return board

    # Drawing

    def draw(self, room: Room) -> Text:
        """The board with its marks; if it is larger than the room, the part around the cursor."""
        self.board = board = self._draw_board(room)
        signs = [[" "] * board.width for _ in range(board.height)]
        styles = [[""] * board.width for _ in range(board.height)]
        for ink in board.inks:
            style = TONES.get(ink.tone, "") if ink.seat is None else seat_colour(ink.seat, self.game)
            for at, sign in enumerate(printable(ink.text, one_line=True), ink.column):
                if at < board.width:
                    signs[ink.row][at], styles[ink.row][at] = sign, style
        marks = self._marks()
        for place in board.places:
            if place.name in marks:
                left, right, style = MARKS[marks[place.name]]
                ground = f" {CURSOR}" if place.name == self.cursor and self._moves else ""
                every = range(place.row, place.row + place.height)
                middle = place.row + (place.height - 1) // 2
                for row in every if ground or place.height < 3 else (middle,):
                    signs[row][place.column], signs[row][place.column + place.width - 1] = left, right
                    styles[row][place.column] = styles[row][place.column + place.width - 1] = style
                    for at in range(place.column + 1, place.column + place.width - 1):
                        styles[row][at] += ground
        return self._visible(signs, styles, room)

    def _visible(self, signs: list[list[str]], styles: list[list[str]], room: Room) -> Text:
        here = next(place for place in self.board.places if place.name == self.cursor)
        left = _first_visible(here.column + here.width // 2, self.board.width, room[0])
        top = _first_visible(here.row + here.height // 2, self.board.height, room[1])
        self._corner = (left, top)
        text = Text(no_wrap=True)
        for row, line in list(enumerate(signs))[top : top + room[1]]:
            for at, sign in list(enumerate(line))[left : left + room[0]]:
                text.append(sign, styles[row][at])
            text.append("\n")
        return text

    def _marks(self) -> dict[str, str]:
        """The mark of each marked place."""
        marks = dict.fromkeys(self._last, "last")
        if self._moves:
            if (
                self.picker.picked or len(self._choices) < len(self.board.places) // 2
            ):  # a board full of marks says nothing
                marks |= dict.fromkeys(self._choices, "target")
            warning = self._warning()
            if warning is not None:
                marks |= dict.fromkeys(warning.places, "warning")
            marks |= dict.fromkeys(self._hint, "hint")
            marks |= {pick.place: "picked" for pick in self.picker.picked}
            marks[self.cursor] = "cursor"
        return marks

    def _under_cursor(self) -> Pick | None:
        """What Enter would pick."""
        picks = self._choices.get(self.cursor)
        return None if not picks else picks[self._turn % len(picks)]

    def _warning(self) -> Any:
        pick = self._under_cursor()
        aimed = self.game.pick_warning(self._state, (*self.picker.picked, pick)) if pick is not None else None
        return aimed or (self.game.pick_warning(self._state, self.picker.picked) if self.picker.picked else None)

    def note(self) -> Text:
        """What Enter does on this place."""
        if self._refusal:
            return Text(self._refusal, f"bold {BAD}")
        done = ", ".join(map(str, self.picker.picked))
        text = Text(f"{done}, then … " if done else "")
        pick = self._under_cursor()
        if pick is None:
            if done and self.cursor == self.picker.picked[-1].place:
                return text.append("choose a place marked ><", "bold")
            return text.append(f"{self.cursor} cannot be picked now; {'>< marks' if done else 'n finds'} what can")
        text.append(f"enter: {pick}", "bold")
        others = [str(one) for one in self._choices[self.cursor] if one != pick]
        off_board = len(self._choices.keys() - {place.name for place in self.board.places})
        if off_board:
            text.append(f"   m: {off_board} more {'move' if off_board == 1 else 'moves'}")
        if others:
            text.append(f"   tab: {', '.join(others)}")
        warning = self._warning()
        if warning is not None:
            text.append(f"   {warning.note}", f"bold {BAD}")
        return text

    # Choosing

    def press(self, key: str) -> bool:
        """Move the cursor, pick, or take a pick back."""
        if not self._moves:
            return False
        self._refusal = ""
        if key in ARROWS:
            self._go(self.board.beside(self.cursor, *ARROWS[key]))
        elif key in ("enter", "space"):
            self._pick()
        elif key == "tab":
            self._turn += 1
        elif key == "n":
            names = [place.name for place in self.board.places]
            order = names[names.index(self.cursor) + 1 :] + names
            self._go(next((name for name in order if name in self._choices), self.cursor))
        elif key in ("escape", "backspace") and self.picker.picked:
            back = self.picker.picked[-1].place
            self.picker.back()
            self._choices = self.picker.choices()
            self._go(back)
        else:
            return False
        return True

    def _go(self, place: str) -> None:
        self.cursor, self._turn = place, 0

    def _pick(self) -> None:
        pick = self._under_cursor()
        if pick is None:
            marked = "the places that can are marked ><" if self.picker.picked else "n finds the next that can"
            self._refusal = f"{self.cursor} cannot be picked now: {marked}"
            return
        self.move = self.picker.pick(pick)
        self._choices, self._turn, self._hint = self.picker.choices(), 0, frozenset()

    def click(self, column: int, row: int) -> None:
        """Pick the place under the mouse; one that can be picked for several things asks first."""
        place = self.board.place_at(column + self._corner[0], row + self._corner[1])
        if place is None or not self._moves:
            return
        self._refusal = ""
        if self.picker.picked and place == self.picker.picked[-1].place and place not in self._choices:
            self.press("escape")
            return
        asks = len(self._choices.get(place, ())) > 1 and self.cursor != place
        if not asks and place not in self._choices and self.picker.picked:
            self._choose_again(place)
        if self.cursor != place:
            self._go(place)
        if not asks:
            self._pick()

    def _choose_again(self, place: str) -> None:
        """Another piece was clicked instead of a target: begin again if it can be picked."""
        picked = self.picker.picked
        self.picker.picked = ()
        if place not in self.picker.choices():
            self.picker.picked = picked
        self._choices = self.picker.choices()

    def show_hint(self, move: Any) -> None:
        """Mark the places of a move."""
        self._hint = frozenset(pick.place for pick in self.game.move_picks(move, self._state)[0])


def _first_visible(at: int, size: int, room: int) -> int:
    return max(0, min(at - room // 2, size - room))


class DrawingInput(BoardInput):
    """A game without places on its board: its text drawing; moves are typed or chosen from the list."""

    keys = (("m", "type a move, or choose one from the list"),)

    def __init__(self, drawing: Text) -> None:
        super().__init__()
        self._drawing = drawing

    def draw(self, room: Room) -> Text:
        """The drawing as the game makes it."""
        return self._drawing

    def press(self, key: str) -> bool:
        """No key means anything on the drawing."""
        return False

    def click(self, column: int, row: int) -> None:
        """Nothing can be clicked."""

    def note(self) -> Text:
        """How to make a move."""
        return Text("m: type a move, or choose one from the list")


# The input and the story of a position


def make_board_input(play: LocalPlay, room: Room, cursor: str | None) -> BoardInput:
    """The input for the current position; without moves to choose from if no person is to move."""
    game = play.game
    waits = not play.is_over and play.seat() not in play.bots
    own = extra(game.terminal_module, "make_input")
    if own is not None and waits:
        made: BoardInput = own(game, play.state, play.seat())
        return made
    seen = play.seen(play.viewer)
    if own is None and game.text_board(seen.bare_state, room) is not None:
        moves: list[Any] = []
        with suppress(TooManyMoves):
            moves = game.legal_moves(play.state) if waits else []
        return PickInput(game, play.state, seen.bare_state, moves, _last_places(play), cursor)
    return DrawingInput(Text(game.name_seats(seen.drawing())) if seen.is_partial else drawing(game, play.state))


def _last_places(play: LocalPlay) -> list[str]:
    """The places of the last move, if everybody may see it."""
    if not play.moves or play.shown_notation(len(play.moves) - 1) == FACE_DOWN:
        return []
    return [pick.place for pick in play.game.move_picks(play.moves[-1].move, play.states[-2])[0]]


def story_frames(play: LocalPlay, before: Any, room: Room) -> list[Text]:
    """What the last move brought about, step by step; empty if the position says it all."""
    people = play.people
    tell = extra(play.game.terminal_module, "story")
    if tell is None:
        return [Text(play.game.name_seats(frame)) for frame in play.frames(before, play.state)]
    told: list[Text] = tell(play.game, before, play.state, people[0] if len(people) == 1 else None, room)
    return told
