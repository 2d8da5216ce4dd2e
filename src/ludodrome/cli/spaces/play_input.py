"""Spaces on the full screen of `play`: boards are laid with the builder's grid, rounds run with both boards in view."""

from typing import Any

from rich.text import Text

from ludodrome.cli.board_input import BAD, MUTED, BoardInput, seat_colour
from ludodrome.cli.spaces.builder_app import PAD, GridControl, cell_at, draw_grid
from ludodrome.game import Game
from ludodrome.games.spaces.boards import DECK, encode_board
from ludodrome.games.spaces.display import EMPTY, PIECES, SMALL_SIZE, TRAPS, entry_view
from ludodrome.spaces_lab.board_builder import BoardBuilder
from ludodrome.text_board import Room

HEAD_LINES = 2
"""Lines above the grid."""


class LayInput(BoardInput):
    """Lay a board, or the ten boards of a deck, with the builder's grid."""

    keys = (
        ("↑ ← →", "move; first of all, choose the column"),
        ("t", "trap: then an arrow, enter for underfoot, or a click"),
        ("1 to 9", "trap, as on a number pad"),
        ("f", "finish: straight up to the goal"),
        ("z", "take the last step back"),
        ("c", "clear the board"),
        ("enter", "lay the board once it is finished"),
    )

    def __init__(self, game: Game, state: Any, seat: int) -> None:
        super().__init__()
        seen = game.observation(state, seat)
        self._game, self._seen = game, seen
        self._deck: list[dict[str, Any]] | None = [] if game.options["mode"] == "deck" else None
        chosen = seen["chosen"] if self._deck is None else None
        self._builder = BoardBuilder(game.options["size"], game.options["rules"], chosen)
        self.control = GridControl(self._builder, "finished: enter lays it, z takes a step back")
        self._room: Room = (80, 24)
        bare = {name: value for name, value in seen.items() if name != "you"}
        lines = game.tidy_drawing(game.render_observation(bare)).split("\n") if seen["history"] else []
        self._history = [line for line in lines if line.startswith("round ") and " : " in line and "totals" not in line]

    def draw(self, room: Room) -> Text:
        """The round and the points, then the grid."""
        self._room = room
        seen, text = self._seen, Text()
        points = Text.assemble((f"{PIECES[0]} {seen['totals'][0]}", seat_colour(0)), " : ")
        points.append(f"{seen['totals'][1]} {PIECES[1]}", seat_colour(1))
        text.append(f"round {seen['round']} of {seen['rounds']}   ").append_text(points)
        if self._deck is not None:
            text.append(f"   board {len(self._deck) + 1} of {DECK}")
        text.append(f"   {self._builder.code or 'lay your board'}\n")
        if self._builder.opponent is not None:
            text.append(f"against {encode_board(self._builder.opponent)}: ", MUTED)
            text.append(f"{PIECES[1]} its piece, y its traps", seat_colour(1))
        layout = self.control.layout(room[0], room[1] - HEAD_LINES)
        text.append("\n").append_text(draw_grid(self._builder, layout, self.control.cursor, self.control.aiming))
        free = room[1] - HEAD_LINES - 3 - len(layout.rows) * layout.height
        if self._history and free > 2:
            text.append("\n\nearlier rounds\n", MUTED).append("\n".join(self._history[2 - free :]))
        return text

    def press(self, key: str) -> bool:
        """Handle a key of the grid; enter lays a finished board."""
        control = self.control
        if key == "enter" and self._builder.is_finished:
            self._lay()
        elif key in ("up", "down", "left", "right", "enter"):
            control.go(key)
        elif key in PAD:
            control.trap(key)
        elif key == "t":
            control.aim()
        elif key == "f":
            control.do("finish")
        elif key in ("z", "backspace"):
            control.do("undo")
        elif key == "c":
            control.do("clear")
        elif key == "escape" and control.aiming:
            control.aim()
        else:
            return False
        return True

    def _lay(self) -> None:
        board = self._builder.board
        if self._deck is None:
            self.move = board
            return
        self._deck.append(board)
        if len(self._deck) == DECK:
            self.move = {"deck": self._deck}
            return
        self._builder.do("clear")
        self.control.say(f"board {len(self._deck)} of {DECK} is ready; now the next")

    def click(self, column: int, row: int) -> None:
        """Handle a click on the grid; a click on the finished board lays it."""
        if self._builder.is_finished:
            self._lay()
            return
        layout = self.control.layout(self._room[0], self._room[1] - HEAD_LINES)
        cell = cell_at(layout, column, row - HEAD_LINES)
        if cell is not None:
            self.control.click(cell)

    def note(self) -> Text:
        """The builder's message."""
        return Text(self.control.message, f"bold {BAD}" if self.control.is_bad else "")

    def show_hint(self, move: Any) -> None:
        """The hint's code is in the message; the board stays the player's own."""
        self.control.say("")


def make_input(game: Game, state: Any, seat: int) -> LayInput:
    """The input of a seat that lays a board."""
    return LayInput(game, state, seat)


# Rounds, step by step


def story(game: Game, before: Any, after: Any, seat: int | None, room: Room) -> list[Text]:
    """The round that an answer has started: the common grid and, if there is room, each seat's own board beside it."""
    if game.options["mode"] == "deck" or len(after["history"]) == len(before["history"]):
        return []
    size = game.options["size"]
    if size > SMALL_SIZE or size + 9 > room[1]:
        return [Text(frame) for frame in game.tell_move(before, after, seat)]
    seen = game.observation(after, seat)
    view = entry_view(seen["history"][-1], size, game.options["rules"])
    view["events"] = [{**event, "reason": game.name_seats(event["reason"])} for event in view["events"]]
    steps = max(map(len, view["squares"]))
    frames = [_frame(view, size, k, room) for k in range(steps)]
    ended = view["points"]
    frames[-1].append(f"\nround {len(seen['history'])}: {ended[0]} : {ended[1]} ({view['ended']})", "bold")
    return frames


def _frame(view: dict[str, Any], size: int, k: int, room: Room) -> Text:
    """The round after step ``k``, counted from 0."""
    events = [event for event in view["events"] if event["step"] <= k + 1]
    points = [sum(event["points"] for event in events if event["seat"] == seat) for seat in range(2)]
    text = Text(f"step {k + 1}   ").append(f"{PIECES[0]} {points[0]}", seat_colour(0)).append(" : ")
    text.append(f"{points[1]} {PIECES[1]}", seat_colour(1)).append("\n\n")
    columns = [_grid(view, size, k, (0,)), _grid(view, size, k, (0, 1)), _grid(view, size, k, (1,))]
    titles = [f"{PIECES[0]}'s board", "the round", f"{PIECES[1]}'s board"]
    width = max(4 * size + 3, 12)
    if 3 * width + 3 > room[0]:
        columns, titles = columns[1:2], titles[1:2]
    text.append("   " + "".join(f"{title:<{width}}" for title in titles).rstrip() + "\n", MUTED)
    numbers = "".join(f"{col:<4}" for col in range(size))
    text.append("   " + "".join(f"{numbers:<{width}}" for _ in titles).rstrip() + "\n", MUTED)
    for row, lines in enumerate(zip(*columns, strict=True), -1):
        text.append(f"{row:>2} " if 0 <= row < size else "   ", MUTED)
        for line in lines:
            text.append_text(line).append(" " * (width - line.cell_len))
        text.append("\n")
    text.append(f"{TRAPS[0]} {TRAPS[1]}: traps\n", MUTED)
    for event in events:
        if event["step"] == k + 1:
            text.append(f"{event['reason']}\n", seat_colour(event["seat"]))
    return text


def _grid(view: dict[str, Any], size: int, k: int, seats: tuple[int, ...]) -> list[Text]:
    """The common grid with the pieces, paths and traps of some seats; seat 0 runs up, seat 1 down."""
    signs: dict[tuple[int, int], list[tuple[str, int]]] = {}
    for seat in seats:
        for step, *square in view["traps"][seat]:
            if step <= k + 1 and square:
                signs.setdefault((square[0], square[1]), []).append((TRAPS[seat], seat))
        squares = view["squares"][seat]
        at = min(k, len(squares) - 1)
        if len(seats) == 1:
            for number, (row, col) in enumerate(squares[:at], 1):
                if list(squares[at]) != [row, col] and not _has_number(signs.get((row, col), [])):
                    signs.setdefault((row, col), []).append((str(number), seat))
        signs.setdefault(tuple(squares[at]), []).append((PIECES[seat], seat))
    lines = []
    for row in range(-1, size + 1):
        line = Text()
        for col in range(size):
            here = signs.get((row, col), [])[-3:]
            if not here:
                line.append(EMPTY if 0 <= row < size else " ", MUTED)
            for sign, seat in here:
                line.append(sign, seat_colour(seat))
            line.append(" " * (4 - max(1, sum(len(sign) for sign, _ in here))))
        lines.append(line)
    return lines


def _has_number(signs: list[tuple[str, int]]) -> bool:
    return any(sign.isdigit() for sign, _ in signs)
