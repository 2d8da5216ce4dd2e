"""An attempt at a puzzle: is a move right, what refutes it if not, how does the defender reply.

The puzzle knows the right move; searches find refutations and replies. Their budgets are in nodes, not in time, so
that the same moves get the same replies on every machine.
"""

from dataclasses import dataclass
from typing import Any

from ludodrome.analysis.lines import notations
from ludodrome.game import Game
from ludodrome.game_extras import extra
from ludodrome.puzzle.book import MARGIN, RESPOND, WIN, Puzzle
from ludodrome.search.iterative import Searcher, SearchResult

NODES = 400_000
"""Limit of one search."""
TABLE_BITS = 18
EXTRA_PLIES = 4
"""Wins are searched this many plies beyond the goal, so that a slow win is called a win."""
SHOWN_PLIES = 8
HINTS = (4, 2)
"""How many moves the first hint names, one of them right; then the second."""


def signed(number: int) -> str:
    """A whole number with its sign; nothing has none.

    >>> signed(2), signed(-1), signed(0)
    ('+2', '-1', '0')
    """
    return f"{number:+d}" if number else "0"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of a move."""

    right: bool
    sentence: str
    line: tuple[str, ...] = ()
    """The move and its continuation in notation: a refutation if the move is wrong."""
    replies: tuple[Any, ...] = ()
    """The defenders' moves, if the puzzle continues."""


class Attempt:
    """One puzzle, from its position until it is solved."""

    def __init__(self, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        self.game: Game = puzzle.game()
        self.state: Any = self.game.parse_state(puzzle.position)
        seat = self.game.to_move(self.state)
        assert seat is not None
        self.seat = seat
        self.solved = False
        self.begun = False
        """Whether the first move has been played."""
        self._hints = 0

    def to_json(self) -> dict[str, Any]:
        """How far the attempt is, without the puzzle."""
        return {"state": self.state, "solved": self.solved, "begun": self.begun, "hints": self._hints}

    def resume(self, kept: dict[str, Any]) -> None:
        """Go on from what ``to_json`` gave."""
        self.state, self.solved = kept["state"], kept["solved"]
        self.begun, self._hints = kept["begun"], kept["hints"]

    # Texts

    def task(self) -> str:
        """The task for the seat to move, in a sentence."""
        puzzle = self.puzzle
        if puzzle.kind == WIN:
            own = -(-puzzle.goal // self.game.seats)
            when = "at once" if own == 1 else f"in {puzzle.goal} plies, {own} of them yours"
            against = ", whatever the two others do" if self.game.seats == 3 else ""
            return f"Win {when}{against}. One move alone does it."
        if puzzle.kind == MARGIN:
            result = "wins" if puzzle.goal > 0 else "saves a draw"
            return f"Draw the only edge that {result}."
        if puzzle.kind == RESPOND:
            return f"Lay a board that beats the other by the most points there are: {signed(puzzle.goal)}."
        return f"Save the game: after every move but one the enemy wins within {puzzle.goal} plies."

    def hint(self) -> str:
        """A hint, more precise with every call."""
        self._hints += 1
        solution = self._best_now()
        if self.puzzle.kind == RESPOND:
            start = solution.rindex(":") + 1
            shown = start + (len(solution) - start) * self._hints // (len(HINTS) + 1)
            return f"One of the best boards {'begins with' if shown < len(solution) else 'is'} {solution[:shown]}"
        if self._hints > len(HINTS):
            return f"Try {self._label(solution)}."
        moves = [self.game.format_move(move, self.state) for move in self.game.legal_moves(self.state)]
        count, at = min(HINTS[0], len(moves)), moves.index(solution)
        first = at % count  # vary the place of the right move
        step = max(1, len(moves) // count)
        named = [moves[(at + (place - first) * step) % len(moves)] for place in range(count)]
        others = [move for move in dict.fromkeys(named) if move != solution]
        kept = sorted([solution, *others[: HINTS[self._hints - 1] - 1]])  # a later hint narrows the first
        return f"It is one of {', '.join(map(self._label, kept))}."

    def _label(self, notation: str) -> str:
        """A legal move as people read it."""
        return self.game.move_label(self.game.parse_move(notation, self.state), self.state)

    def solution(self) -> str:
        """The solution from here, with its continuation."""
        best = self._best_now()
        move = self.game.parse_move(best, self.state)
        if self.puzzle.kind == RESPOND:
            return best
        return "  ".join(self._line_of(move)[:SHOWN_PLIES])

    # Moves

    def play(self, move: Any) -> Verdict:
        """Judge a legal move; play it and the defenders' replies if it is right."""
        assert not self.solved
        if self.puzzle.kind == RESPOND:
            return self._respond(move)
        if self.puzzle.kind == MARGIN:
            return self._draw(move)
        if self.puzzle.kind == WIN:
            return self._strike(move)
        return self._defend(move)

    def _strike(self, move: Any) -> Verdict:
        text, result = self.game.format_move(move, self.state), self._search_move(move)
        line = self._line(result)
        won = result.distance is not None and result.score > 0
        if not self.begun and text != self.puzzle.solution:
            if won:
                return Verdict(False, f"That wins too, but in {result.distance} plies: it can be had sooner.", line)
            return Verdict(False, self._refuted(result), line)
        if self.begun and not won:
            return Verdict(False, self._refuted(result), line)
        self.begun = True
        self._hints = 0
        after = self.game.apply(self.state, move)
        replies = self._replies(after, result)
        for reply in replies:
            after = self.game.apply(after, reply)
        self.state = after
        self.solved = self.game.to_move(after) is None
        sentence = "Right, and that is the win." if self.solved else "Right."
        return Verdict(True, sentence, (text,), tuple(replies))

    def _defend(self, move: Any) -> Verdict:
        right = self.game.format_move(move, self.state) == self.puzzle.solution
        result = self._search_move(move)
        if not right:
            return Verdict(False, self._refuted(result), self._line(result))
        self.state, self.solved = self.game.apply(self.state, move), True
        return Verdict(True, "Right: every other move loses.", self._line(result))

    def _draw(self, move: Any) -> Verdict:
        line = tuple(self._line_of(move))
        if self.game.format_move(move, self.state) == self.puzzle.solution:
            self.state, self.solved = self.game.apply(self.state, move), True
            return Verdict(
                True, f"Right: it ends {signed(self.puzzle.goal)}, and no other edge {self._better()}.", line
            )
        margin = self._solve_move(self.game.action(move, self.state))[0] + self._lead()
        return Verdict(False, f"No: then it ends {signed(margin)} for you.", line)

    def _better(self) -> str:
        return "wins" if self.puzzle.goal > 0 else "saves the draw"

    def _respond(self, move: Any) -> Verdict:
        after = self.game.apply(self.state, move)
        points = after["history"][-1]["points"]
        own, other = points[self.seat], points[1 - self.seat]
        score = f"{own} to {other}, {signed(own - other)}"
        if own - other < self.puzzle.goal:
            return Verdict(False, f"Not yet: that makes {score}, and {signed(self.puzzle.goal)} can be had.")
        self.state, self.solved = after, True
        return Verdict(True, f"Right: {score}, and nothing makes more.")

    # Searches

    def _best_now(self) -> str:
        """The solution of the current position."""
        if not self.begun:
            return self.puzzle.solution
        *_, result = self._searcher().search(self._states(), self.puzzle.goal + EXTRA_PLIES, NODES)
        return notations(self.game, self._states(), (result.action,))[0]

    def _states(self) -> Any:
        states = self.game.new_states(1)
        states[0] = self.game.encode(self.state)
        return states

    def _searcher(self) -> Searcher:
        return Searcher(self.game, TABLE_BITS, reductions=False, shortest=True)

    def _search_move(self, move: Any) -> SearchResult:
        """The search result of a move, for the seat to move."""
        states = self._states()
        action = self.game.action(move, self.state)
        buffer = self.game.buffer()
        others = [int(other) for other in buffer[: self.game.kernels.legal(states, buffer)] if other != action]
        *_, result = self._searcher().search(states, self.puzzle.goal + EXTRA_PLIES, NODES, avoid=others)
        return result

    def _replies(self, after: Any, result: SearchResult) -> list[Any]:
        """The moves of the other seats until the solver's next turn: the longest resistance that is known."""
        replies: list[Any] = []
        expected = list(result.line[1:])
        while (seat := self.game.to_move(after)) is not None and seat != self.seat:
            move = self.game.move(expected.pop(0), after) if expected else self.game.legal_moves(after)[0]
            replies.append(move)
            after = self.game.apply(after, move)
        return replies

    def _refuted(self, result: SearchResult) -> str:
        if result.distance is not None and result.score < 0:
            return f"No: that loses in {result.distance} plies."
        return "No: that does not win by force." if self.puzzle.kind == WIN else "No: that is not the move."

    def _line(self, result: SearchResult) -> tuple[str, ...]:
        return tuple(notations(self.game, self._states(), result.line)[:SHOWN_PLIES])

    def _line_of(self, move: Any) -> list[str]:
        """A move and its continuation, in notation."""
        if self.puzzle.kind != MARGIN:
            return list(self._line(self._search_move(move)))
        edge = self.game.action(move, self.state)
        return notations(self.game, self._states(), self._solve_move(edge)[1])

    def _solve_move(self, action: int) -> tuple[int, tuple[int, ...]]:
        """The exact margin of the points still to be won after an action, and its continuation."""
        found: tuple[int, tuple[int, ...]]
        found = extra(self.game.analysis_module, "solve_move")(self.game, self._states(), action, TABLE_BITS)
        return found

    def _lead(self) -> int:
        owned = self.game.scores_of(None, self._states())
        return int(owned[self.seat] - owned[1 - self.seat])
