"""The board builder: an unfinished board that takes commands in words, for the terminal application and scripts.

Commands: ``start 1``, ``up``, ``left``, ``right``, ``trap left`` (and the other places), ``finish``, ``undo``,
``clear``. ``finish`` goes straight up to the goal. A step that is not legal is refused with its reason, and nothing
changes.
"""

from collections.abc import Callable
from typing import Any

from ludodrome.game import IllegalMove
from ludodrome.games.spaces.boards import (
    FINISH,
    TRAP,
    UP,
    format_board,
    format_code,
    step_numbers,
    step_words,
    steps_of,
)
from ludodrome.games.spaces.legality import continuations, finished, iter_faults, refusal
from ludodrome.games.spaces.simulation import Round, simulate
from ludodrome.validation import show

DOWN = "down"
FINISH_WORD = "finish"
_SHORT = {"u": "up", "l": "left", "r": "right", "f": "finish", "trap": "trap here", "z": "undo"}


class BoardBuilder:
    """An unfinished board, and optionally an opponent's board to try it against."""

    def __init__(self, size: int, rules: str = "written", opponent: dict[str, Any] | None = None) -> None:
        if opponent is not None and opponent.get("boardSize") != size:
            raise ValueError(f"the opponent's board has size {opponent.get('boardSize')}, and this one has size {size}")
        self.size, self.rules, self.live = size, rules, rules == "live"
        self.opponent = opponent
        if opponent is not None:
            simulate(opponent, opponent, size, rules)  # raises if the board is not playable
        self.actions = b""
        self.on_change: Callable[[BoardBuilder], None] | None = None
        """Called after every command that was not refused."""

    # State

    @property
    def code(self) -> str:
        """The code of the board so far; empty before the start."""
        return format_code(self.actions, self.size) if self.actions else ""

    @property
    def board(self) -> dict[str, Any]:
        """The board so far as JSON."""
        return format_board(self.actions, self.size)

    @property
    def is_finished(self) -> bool:
        """Whether the last step was the finish."""
        return len(self.actions) > 1 and self.actions[-1] == self.size + FINISH

    @property
    def position(self) -> tuple[int, int] | None:
        """Row and column of the piece."""
        steps = steps_of(self.actions, self.size)
        return next(((row, col) for row, col, kind in reversed(steps) if kind != TRAP), None)

    def following(self) -> list[str]:
        """The words of the legal next steps."""
        words = step_words(self.size)
        return [words[action] for action in continuations(self.actions, self.size, self.live) or []]

    def trial(self) -> Round | None:
        """The round against the opponent if the board goes straight on from here; None without an opponent."""
        if self.opponent is None or not self.actions:
            return None
        whole = finished(self.actions, self.size, self.live)
        return simulate(format_board(whole, self.size), self.opponent, self.size, self.rules)

    def ghost(self) -> tuple[int, int] | None:
        """The square of the opponent's piece after the same number of steps; None if it is off the grid."""
        played = self.trial()
        if played is None:
            return None
        row, col = played.steps[min(len(self.actions), len(played.steps)) - 1].squares[1]
        return (row, col) if 0 <= row < self.size else None

    # Commands

    def do(self, command: str) -> str:
        """Run a command; return what was done. IllegalMove or ValueError says why it is refused."""
        done = self._run(command)
        if self.on_change is not None:
            self.on_change(self)
        return done

    def _run(self, command: str) -> str:
        word = " ".join(command.lower().split())
        word = _SHORT.get(word, word)
        if word == "undo":
            return self.undo()
        if word == "clear":
            self.actions = b""
            return "the board is empty"
        if word == FINISH_WORD:
            return self.finish()
        action = step_numbers(self.size).get(word)
        if action is None and word != DOWN:
            raise ValueError(
                f"there is no command {show(command)}: start N, up, left, right, trap PLACE, finish, undo, clear"
            )
        return self._lay(word, action)

    def undo(self) -> str:
        """Take the last step back."""
        if not self.actions:
            raise IllegalMove("there is nothing to take back")
        word = step_words(self.size)[self.actions[-1]]
        self.actions = self.actions[:-1]
        return f"taken back: {word}"

    def finish(self) -> str:
        """Go straight up to the goal from where the piece is; IllegalMove if that way is closed."""
        self._check_unfinished(started=True)
        assert self.position is not None
        rows = self.position[0]
        laid = self.actions + bytes([*[self.size + UP] * rows, self.size + FINISH])
        if continuations(laid, self.size, self.live) is None:
            why = refusal(iter_faults(steps_of(laid, self.size), self.size, self.live))
            raise IllegalMove(f"the straight way to the goal is closed: {why}")
        self.actions = laid
        return FINISH_WORD if not rows else f"{rows} {'step' if rows == 1 else 'steps'} up, and the finish"

    def _check_unfinished(self, started: bool) -> None:
        if self.is_finished:
            raise IllegalMove("the board is finished: undo, or save it")
        if started and not self.actions:
            raise IllegalMove(f"a board begins with a start on row {self.size - 1} (R3)")

    def _lay(self, word: str, action: int | None) -> str:
        self._check_unfinished(started=False)
        if action is None:
            raise IllegalMove("a piece never goes down (R9)")
        self._check_unfinished(started=action >= self.size)
        if self.actions and action < self.size:
            raise IllegalMove("the piece has started already (R3)")
        laid = self.actions + bytes([action])
        if continuations(laid, self.size, self.live) is None:
            steps = steps_of(laid, self.size)
            raise IllegalMove(
                refusal(fault for fault in iter_faults(steps, self.size, self.live, unfinished=True))
                or f"step {len(laid)}: a trap straight up leaves no step to the side (R17)"
            )
        self.actions = laid
        return word
