"""`generate --view`: drawings of boards, five at a time, with keys to go on, back or to any number."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import Any, NamedTuple

from ludodrome.cli import console
from ludodrome.games.spaces.boards import FINAL, MARKS, draw, format_code, parse_code, steps_of
from ludodrome.games.spaces.counting import count_boards
from ludodrome.games.spaces.generation import EVERYTHING, BoardFilter, BoardWalk
from ludodrome.games.spaces.ranking import MAX_RANKED, board_at, number_of

try:
    import termios as _termios
    import tty as _tty
except ImportError:  # Windows: keys are read with the enter key after them
    _termios = _tty = None  # type: ignore[assignment]

termios: Any = _termios
tty: Any = _tty

A_PAGE = 5
"""Boards per page."""
MAX_NUMBERED = 40
"""The largest size that is drawn with the numbers of the steps."""
BOTH = "■"
"""In small drawings: a square of the way with a trap."""
NEXT, PREVIOUS, FIRST, LAST, JUMP, HELP, QUIT = "next", "previous", "first", "last", "jump", "help", "quit"
KEYS = {
    **dict.fromkeys(("n", " ", "\r", "\n", "j", "\x1b[C", "\x1b[B", "\x1b[6~"), NEXT),
    **dict.fromkeys(("p", "b", "k", "\x1b[D", "\x1b[A", "\x1b[5~"), PREVIOUS),
    **dict.fromkeys(("g", ":"), JUMP),
    **dict.fromkeys(("0", "\x1b[H", "\x1b[1~"), FIRST),
    **dict.fromkeys(("G", "\x1b[F", "\x1b[4~"), LAST),
    "?": HELP,
    **dict.fromkeys(("q", "\x03", "\x04", "\x1b", ""), QUIT),
}
KEYS_TEXT = """keys
  n, space, enter, → or ↓   the next five boards
  p, b, ← or ↑              the five before
  g or :                    go to a board by its number
  0 or Home                 the first boards
  G or End                  the last boards
  ?                         these keys
  q                         quit

Where five drawings with numbered steps do not fit, small ones are shown: ● the way, X a trap, ■ both."""
FOOTER = "n next  p previous  g go to number  ? keys  q quit"


# Where the boards come from


class RankedBoards:
    """All boards of a size and rule set, found by their numbers."""

    def __init__(self, size: int, rules: str) -> None:
        self.size, self.rules = size, rules
        self.total: int | None = count_boards(size, rules)

    def boards(self, first: int) -> list[bytes]:
        """A page of boards from a number on."""
        assert self.total is not None
        return [board_at(number, self.size, self.rules) for number in range(first, min(first + A_PAGE, self.total + 1))]

    def last(self) -> int | None:
        """The number of the last board."""
        return self.total


class WalkedBoards:
    """Boards that match a filter, or that have no numbers of their own: found by listing those before them."""

    def __init__(self, size: int, rules: str, where: BoardFilter, after: str | None = None) -> None:
        self.size, self.rules, self.where = size, rules, where
        self.total: int | None = None
        """The number of boards, once it is known."""
        self._before: list[str | None] = [after]
        """The board before each page so far."""

    def boards(self, first: int) -> list[bytes]:
        """A page of boards from a number on: the page that has this number. Empty beyond the last."""
        page = (first - 1) // A_PAGE
        while page >= len(self._before):
            found = self._read(len(self._before) - 1)
            if len(found) < A_PAGE:
                return []
            self._before.append(format_code(found[-1], self.size))
        return self._read(page)

    def last(self) -> int | None:
        """The number of the last board, if it has been reached."""
        return self.total

    def _read(self, page: int) -> list[bytes]:
        found = BoardWalk(self.size, self.rules, self._before[page], A_PAGE, self.where).next().boards()
        if len(found) < A_PAGE:
            self.total = page * A_PAGE + len(found)
        return found


# Pages


class BoardPages(NamedTuple):
    """A source of boards, and the number to begin with."""

    source: RankedBoards | WalkedBoards
    first: int
    title: str


def open_pages(size: int, rules: str, where: BoardFilter = EVERYTHING, after: str | None = None) -> BoardPages:
    """The pages of all boards that match; ValueError if the board to begin after is not legal."""
    title = f"size {size}, {rules}" + (f", {where}" if where != EVERYTHING else "")
    if where == EVERYTHING and size <= MAX_RANKED[rules]:
        first = 1
        if after is not None:
            BoardWalk(size, rules, after, A_PAGE)  # raises with a sentence
            first = number_of(parse_code(after)[1], size, rules) + 1
        ranked = RankedBoards(size, rules)
        return BoardPages(ranked, min(first, ranked.total or 1), title)
    return BoardPages(WalkedBoards(size, rules, where, after), 1, title)


def page_text(pages: BoardPages, first: int, boards: list[bytes], width: int, height: int) -> str:
    """One page: a head, and the drawings side by side as far as they fit; codes alone if they do not."""
    total = pages.source.last()
    of = f" of {total:,}" if total is not None else ""
    head = f"boards {first:,} to {first + len(boards) - 1:,}{of}, {pages.title}" if boards else "no board"
    size = pages.source.size
    codes = [format_code(board, size) for board in boards]
    names = [f"{first + at:,}  {code}" for at, code in enumerate(codes)]
    for lines in _drawings(first, boards, size, width):
        if len(lines) <= height and all(len(line) <= width for line in lines):
            return "\n".join([head, "", *lines])
    return "\n".join([head, "", *(name if len(name) <= width else f"{name[: width - 3]}..." for name in names)])


def _drawings(first: int, boards: list[bytes], size: int, width: int) -> Iterator[list[str]]:
    """Drawings of boards, the best first: with numbered steps, one below the other, small."""
    numbers = [f"{first + at:,}" for at in range(len(boards))]
    codes = [format_code(board, size) for board in boards]
    if size <= MAX_NUMBERED:
        drawn = [draw(steps_of(board, size), size).splitlines() for board in boards]
        blocks = [[f"{one}  {code}", *lines] for one, code, lines in zip(numbers, codes, drawn, strict=True)]
        yield _beside(blocks, width)
        yield _below(blocks)
    small = [draw_small(board, size) for board in boards]
    yield _beside([[one, code, *lines] for one, code, lines in zip(numbers, codes, small, strict=True)], width)


def draw_small(board: bytes, size: int) -> list[str]:
    """One sign a square: the way, a trap, both; and the goal above."""
    cells = [["·"] * size for _ in range(size)]
    goal = [" "] * size
    for row, col, kind in steps_of(board, size):
        if kind == FINAL:
            goal[col] = MARKS[FINAL]
        elif cells[row][col] != BOTH:
            cells[row][col] = MARKS[kind] if cells[row][col] in ("·", MARKS[kind]) else BOTH
    return [" ".join(line).rstrip() for line in [goal, *cells]]


def _below(blocks: list[list[str]]) -> list[str]:
    return [line for block in blocks for line in [*block, ""]][:-1]


def _beside(blocks: list[list[str]], width: int) -> list[str]:
    """Blocks in rows, as many in a row as fit."""
    lines: list[str] = []
    row: list[list[str]] = []
    for block in [*blocks, []]:
        wide = sum(max(map(len, one)) + 3 for one in [*row, block] if one)
        if row and (not block or wide > width + 3):
            tall = max(map(len, row))
            full = [[*one, *[""] * (tall - len(one))] for one in row]
            wides = [max(map(len, one)) + 3 for one in full]
            lines += [
                "".join(f"{text:<{wide}}" for text, wide in zip(texts, wides, strict=True)).rstrip()
                for texts in zip(*full, strict=True)
            ]
            lines.append("")
            row = []
        row.append(block)
    return lines[:-1]


# The terminal


def show_pages(pages: BoardPages) -> None:
    """Page through boards; in a pipe print the first five and say how to go on."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        with _keys() as read_key:
            turn_pages(pages, read_key, _put)
        return
    boards = pages.source.boards(pages.first)
    console.say(page_text(pages, pages.first, boards, 80, 1000))
    if len(boards) == A_PAGE:
        code = format_code(boards[-1], pages.source.size)
        console.say(f"in a terminal --view pages through them; here --view --after {code} shows the next five")


def turn_pages(pages: BoardPages, read_key: Callable[[str], str], put: Callable[[str], None]) -> None:
    """Show pages as the keys ask. ``read_key`` shows a prompt and returns a key; ``put`` shows a screen."""
    first, note, shows_keys = pages.first, "", False
    boards = pages.source.boards(first)
    while True:
        width, height = get_terminal_size()
        put(KEYS_TEXT if shows_keys else page_text(pages, first, boards, width, height - 4))
        key = KEYS.get(read_key(f"{note or FOOTER} "), HELP)
        note = ""
        if key == QUIT:
            return
        if shows_keys or key == HELP:
            shows_keys = not shows_keys and key == HELP
            continue
        wanted: int | None = {NEXT: first + A_PAGE, PREVIOUS: max(1, first - A_PAGE), FIRST: 1}.get(key)
        if key == LAST:
            total = pages.source.last()
            wanted = total - (total - 1) % A_PAGE if total else None
            note = "" if wanted else "the number of these boards is not known yet"
        elif key == JUMP:
            wanted = _read_number(read_key)
            note = "" if wanted else "a number is 1 or more, in digits"
        if wanted is None:
            continue
        found = _at(pages, wanted)
        if found:
            first, boards = found
        else:
            note = f"the last board is number {pages.source.last() or 0:,}"


def _at(pages: BoardPages, wanted: int) -> tuple[int, list[bytes]] | None:
    """The number and boards of the page with this number, or None beyond the last board."""
    if isinstance(pages.source, WalkedBoards):
        wanted -= (wanted - 1) % A_PAGE
    total = pages.source.last()
    boards = pages.source.boards(wanted) if total is None or wanted <= total else []
    return (wanted, boards) if boards else None


def _read_number(read_key: Callable[[str], str]) -> int | None:
    """Digits up to enter; blanks and commas between them do not matter."""
    digits = ""
    while (key := read_key(f"number: {digits}")) not in ("\r", "\n"):
        if key in ("\x7f", "\b"):
            digits = digits[:-1]
        elif key.isdecimal() and key.isascii():
            digits += key
        elif key not in (",", " ", "."):
            return None
    return int(digits) if digits and int(digits) > 0 and len(digits) < 400 else None


def split_keys(text: str) -> list[str]:
    """The keys that were typed: characters, and sequences such as those of the arrows."""
    return re.findall(r"\x1b[\[O][0-9;]*[A-Za-z~]|.", text, re.DOTALL)


def _put(text: str) -> None:
    sys.stdout.write("\x1b[H\x1b[J" + console.printable(text) + "\n\n")
    sys.stdout.flush()


@contextmanager
def _keys() -> Iterator[Callable[[str], str]]:
    """A function that shows a prompt on the last line and reads one key."""

    def prompt(text: str) -> None:
        sys.stdout.write(f"\r\x1b[K{console.printable(text)}")
        sys.stdout.flush()

    if termios is None:

        def read_line(text: str) -> str:
            prompt(text)
            return sys.stdin.readline()[:1]

        yield read_line
        return

    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)

    waiting: list[str] = []

    def read(text: str) -> str:
        prompt(text)
        if not waiting:
            waiting.extend(split_keys(os.read(number, 1024).decode("ascii", "replace")) or [""])
        return waiting.pop(0)

    sys.stdout.write("\x1b[?1049h")  # the screen of full-screen programs
    try:
        tty.setcbreak(number)
        yield read
    except KeyboardInterrupt:
        pass
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)
        sys.stdout.write("\x1b[?1049l")
        sys.stdout.flush()
