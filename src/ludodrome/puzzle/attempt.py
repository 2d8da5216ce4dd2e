"""Somebody at a puzzle: whether a move is right, what refutes it if not, how the defender answers.

What is right is known from the puzzle; the searches of the package find refutations and replies. They have
budgets of positions, not of time, so that the same moves get the same answers everywhere.
"""

from dataclasses import dataclass
from typing import Any

from ludodrome.analysis.lines import notations
from ludodrome.game import Game
from ludodrome.games.dots.solver import Solver
from ludodrome.puzzle.book import MARGIN, RESPOND, WIN, Puzzle
from ludodrome.search.iterative import Searcher, SearchResult

NODES = 400_000
"""For one question to a search."""
TABLE_BITS = 18
BEYOND = 4
"""Wins are looked for so many plies further than the puzzle asks: a slow one shall be called a win."""
SHOWN = 8
"""So many plies of a line are shown."""
HINTS = (4, 2)
"""A hint names so many moves, one of them right; the next one fewer."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What there is to say about a move."""

    right: bool
    sentence: str
    line: tuple[str, ...] = ()
    """How the game goes on, in notation, the move first: a refutation if it was wrong."""
    replies: tuple[Any, ...] = ()
    """The moves of the defenders, if the puzzle goes on."""


class Attempt:
    """One puzzle, from its position to the end of the task."""

    def __init__(self, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        self.game: Game = puzzle.game()
        self.state: Any = self.game.parse_state(puzzle.position)
        seat = self.game.to_move(self.state)
        assert seat is not None
        self.seat = seat
        self.solved = False
        self.begun = False
        """Whether the first move is made."""
        self._hints = 0

    # Words

    def task(self) -> str:
        """What is to be done, for whoever is to move."""
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
            return f"Lay a board that beats the other by the most points there are: {puzzle.goal:+d}."
        return f"Save the game: after every move but one the enemy wins within {puzzle.goal} plies."

    def hint(self) -> str:
        """A little more each time."""
        self._hints += 1
        solution = self._best_now()
        if self.puzzle.kind == RESPOND:
            start = solution.rindex(":") + 1
            shown = start + (len(solution) - start) * self._hints // (len(HINTS) + 1)
            return f"One of the best boards {'begins with' if shown < len(solution) else 'is'} {solution[:shown]}"
        if self._hints > len(HINTS):
            return f"Try {solution}."
        moves = [self.game.format_move(move, self.state) for move in self.game.legal_moves(self.state)]
        count, at = min(HINTS[self._hints - 1], len(moves)), moves.index(solution)
        first = at % count  # the right one is now here, now there
        step = max(1, len(moves) // count)
        named = sorted({moves[(at + (place - first) * step) % len(moves)] for place in range(count)})
        return f"It is one of {', '.join(named)}."

    def solution(self) -> str:
        """The solution from here, with what follows."""
        best = self._best_now()
        move = self.game.parse_move(best, self.state)
        if self.puzzle.kind == RESPOND:
            return best
        return "  ".join(self._line_of(move)[:SHOWN])

    # Moves

    def play(self, move: Any) -> Verdict:
        """Judges a legal move and, if it is right, makes it together with the defenders' replies."""
        assert not self.solved
        if self.puzzle.kind == RESPOND:
            return self._respond(move)
        if self.puzzle.kind == MARGIN:
            return self._draw(move)
        if self.puzzle.kind == WIN:
            return self._strike(move)
        return self._defend(move)

    def _strike(self, move: Any) -> Verdict:
        text, finding = self.game.format_move(move, self.state), self._worth(move)
        line = self._line(finding)
        won = finding.distance is not None and finding.score > 0
        if not self.begun and text != self.puzzle.solution:
            if won:
                return Verdict(False, f"That wins too, but in {finding.distance} plies: it can be had sooner.", line)
            return Verdict(False, self._refuted(finding), line)
        if self.begun and not won:
            return Verdict(False, self._refuted(finding), line)
        self.begun = True
        self._hints = 0
        after = self.game.apply(self.state, move)
        replies = self._replies(after, finding)
        for reply in replies:
            after = self.game.apply(after, reply)
        self.state = after
        self.solved = self.game.to_move(after) is None
        sentence = "Right, and that is the win." if self.solved else "Right."
        return Verdict(True, sentence, (text,), tuple(replies))

    def _defend(self, move: Any) -> Verdict:
        right = self.game.format_move(move, self.state) == self.puzzle.solution
        finding = self._worth(move)
        if not right:
            return Verdict(False, self._refuted(finding), self._line(finding))
        self.state, self.solved = self.game.apply(self.state, move), True
        return Verdict(True, "Right: every other move loses.", self._line(finding))

    def _draw(self, move: Any) -> Verdict:
        line = tuple(self._line_of(move))
        if self.game.format_move(move, self.state) == self.puzzle.solution:
            self.state, self.solved = self.game.apply(self.state, move), True
            return Verdict(True, f"Right: it ends {self.puzzle.goal:+d}, and no other edge {self._better()}.", line)
        solver = self._solved(self.game.action(move, self.state))
        assert solver.value is not None
        margin = solver.value + self._lead()
        return Verdict(False, f"No: then it ends {margin:+d} for you.", line)

    def _better(self) -> str:
        return "wins" if self.puzzle.goal > 0 else "saves the draw"

    def _respond(self, move: Any) -> Verdict:
        after = self.game.apply(self.state, move)
        points = after["history"][-1]["points"]
        own, other = points[self.seat], points[1 - self.seat]
        score = f"{own} to {other}, {own - other:+d}"
        if own - other < self.puzzle.goal:
            return Verdict(False, f"Not yet: that makes {score}, and {self.puzzle.goal:+d} can be had.")
        self.state, self.solved = after, True
        return Verdict(True, f"Right: {score}, and nothing makes more.")

    # Underneath: searches

    def _best_now(self) -> str:
        """The solution in the present position."""
        if not self.begun:
            return self.puzzle.solution
        *_, finding = self._thinker().search(self._states(), self.puzzle.goal + BEYOND, NODES)
        return notations(self.game, self._states(), (finding.action,))[0]

    def _states(self) -> Any:
        states = self.game.new_states(1)
        states[0] = self.game.encode(self.state)
        return states

    def _thinker(self) -> Searcher:
        return Searcher(self.game, TABLE_BITS, reductions=False, shortest=True)

    def _worth(self, move: Any) -> SearchResult:
        """What a move leads to, for whoever makes it."""
        states = self._states()
        action = self.game.action(move, self.state)
        buffer = self.game.buffer()
        others = [int(other) for other in buffer[: self.game.kernels.legal(states, buffer)] if other != action]
        *_, finding = self._thinker().search(states, self.puzzle.goal + BEYOND, NODES, avoid=others)
        return finding

    def _replies(self, after: Any, finding: SearchResult) -> list[Any]:
        """What the others do until it is the solver's turn again: what holds out longest, as far as is known."""
        replies: list[Any] = []
        expected = list(finding.line[1:])
        while (seat := self.game.to_move(after)) is not None and seat != self.seat:
            move = self.game.move(expected.pop(0), after) if expected else self.game.legal_moves(after)[0]
            replies.append(move)
            after = self.game.apply(after, move)
        return replies

    def _refuted(self, finding: SearchResult) -> str:
        if finding.distance is not None and finding.score < 0:
            return f"No: that loses in {finding.distance} plies."
        return "No: that does not win by force." if self.puzzle.kind == WIN else "No: that is not the move."

    def _line(self, finding: SearchResult) -> tuple[str, ...]:
        return tuple(notations(self.game, self._states(), finding.line)[:SHOWN])

    def _line_of(self, move: Any) -> list[str]:
        """A move and what follows, in notation."""
        if self.puzzle.kind != MARGIN:
            return list(self._line(self._worth(move)))
        edge = self.game.action(move, self.state)
        line = self._solved(edge).line()
        return notations(self.game, self._states(), tuple(line))

    def _solved(self, edge: int) -> Solver:
        solver = Solver(self.game.options["rows"], self.game.options["cols"], TABLE_BITS)
        solver.begin(self.game.encode(self.state), edge)
        while not solver.run():
            pass
        return solver

    def _lead(self) -> int:
        owned = self.game.scores_of(None, self._states())
        return int(owned[self.seat] - owned[1 - self.seat])
