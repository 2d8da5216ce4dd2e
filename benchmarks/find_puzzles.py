"""Finds the puzzles that ship with the package (src/ludodrome/puzzle/data).

    python -m benchmarks.find_puzzles caldera --work build/puzzles            look for them, until all quotas are full
    python -m benchmarks.find_puzzles caldera --work build/puzzles --write    grade what was found, write the data file

The searches of the package look for positions in which one move stands apart, over games that bots of several strengths
play with each other; what they find is kept only if the exhaustive search of ``tests/exhaustive.py`` agrees. Each game
has its number, and the same number gives the same game; what is done is in the work folder, so that
a run can be stopped and goes on where it was.

Grades: in dots and spaces, which of four bots of rising strength find the solution (``LADDERS``), 1 if all do, 5 if not
even the last one does. Elsewhere the solver's own moves to the win, one more for a saving move than for as long a win,
one less if ``greedy`` plays the solution and one more if a search of three plies does not.
"""

import argparse
import functools
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import ludodrome
from ludodrome.bots.player import legal_actions
from ludodrome.games.dots.solver import Solver
from ludodrome.puzzle import GRADES, MARGIN, RESPOND, SAVE, WIN, Puzzle, format_puzzle, parse_puzzle
from ludodrome.search.frames import DECIDED
from ludodrome.search.iterative import Searcher, SearchResult
from tests.exhaustive import Prover, TooLong, edge_values, faults

FORCING = {"win 1": 8, "win 3": 30, "win 5": 36, "win 7": 16, "save 3": 20, "save 5": 20}
QUOTAS = {
    "caldera": FORCING,
    "skysummit": FORCING,
    "santorini": {**FORCING, "three": 12},
    "dots": {"grade 1": 12, "grade 2": 30, "grade 3": 36, "grade 4": 25, "grade 5": 20},
    "spaces": {f"{size} {rules}": 12 for size in range(2, 7) for rules in ("written", "live")},
}
LADDERS = {
    "dots": ("greedy", "level:4", "chains", "level:6"),
    "spaces": ("level:3", "level:6", "level:7", "expert:nodes=300"),
}
NATURAL, HIDDEN = "greedy", "alphabeta:depth=3"
"""A move that the first one plays is easier to find than its plies say, one that the second does not play is harder."""
FEWEST_MOVES = 6
"""With fewer legal moves a position is no task."""
QUICK = 5
"""For wins of so many plies every position is searched exhaustively; for longer ones if a look finds one."""
LOOK = 20_000
"""Nodes for a look at a position."""
SECOND_LOOK = 100_000
"""Nodes to see whether another move wins too, perhaps more slowly than can be refuted exhaustively."""
POSITIONS = 1_000_000
"""A proof for one move may list the moves of so many positions."""
LEAST_BOUND, LONGEST = 7, 7
"""Other moves are refuted to so many plies at least; longer wins are left out."""
FREE_EDGES = (7, 24)
"""The fewest and the most undrawn edges of a puzzle: all of their subsets are looked at to check one."""
BOARDS = ((3, 3), (3, 4), (4, 4), (4, 5), (5, 5))
SPACES_NODES = 3_000_000


class Found(NamedTuple):
    """A puzzle, and the quota it counts for."""

    quota: str
    puzzle: Puzzle


def one_of_each(found: list[Found], dice: random.Random) -> list[Found]:
    """Positions of one game resemble each other: at most one is kept for each quota."""
    dice.shuffle(found)
    return list({one.quota: one for one in found}.values())


class Seeker:
    """Looks through one game of win and loss for positions with one good move."""

    def __init__(self, game: ludodrome.Game) -> None:
        self.game = game
        self.options = {"players": 3} if game.seats == 3 else {}
        self.thinker = Searcher(game, table_bits=16)
        self.prover = Prover(game, POSITIONS)
        self.wanted: set[str] = set()
        """The quotas that are not full."""

    def look(self, states: Any, avoid: tuple[int, ...] = (), nodes: int = LOOK) -> SearchResult:
        """What the search makes of a position."""
        *_, finding = self.thinker.search(states, nodes=nodes, avoid=avoid)
        return finding

    def games(self, dice: random.Random) -> Iterator[Found]:
        """What one game gives: players of chance strength, an opening by chance, now and then a move by chance.

        Where a blunder could lead is looked at as well, one in each position.
        """
        game = self.game
        self.thinker.clear()
        states = game.encode_array(game.initial_state())
        strengths = [dice.choice((100, 1_000, 5_000)) for _ in range(game.seats)]
        opening, slips = dice.randint(2, 8), dice.choice((0.05, 0.15, 0.3))
        found: list[Found] = []
        while (seat := int(game.kernels.mover(states))) >= 0:
            actions = legal_actions(game, states)
            turn = int(game.kernels.turns(states))
            blunder = states.copy()
            game.kernels.play(blunder, dice.choice(actions))
            for position in (states, blunder) if turn >= opening + 4 else ():
                if (one := self.puzzle(position)) is not None:
                    found.append(one)
            if turn < opening or dice.random() < slips:
                action = dice.choice(actions)
            else:
                action = self.look(states, nodes=strengths[seat]).action
            game.kernels.play(states, action)
        yield from one_of_each(found, dice)

    def puzzle(self, states: Any) -> Found | None:
        """The puzzle that a position is, if it is one and that is soon proved."""
        try:
            return self._puzzle(states)
        except TooLong:
            return None

    def _puzzle(self, states: Any) -> Found | None:
        if self.game.kernels.mover(states) < 0 or len(legal_actions(self.game, states)) < FEWEST_MOVES:
            return None
        step = self.game.seats
        for goal in range(1, QUICK + 1, step):
            if winning := self.prover.winning(states, goal):
                return self._win(states, winning, goal)
        if step == 2 and len(holding := self.prover.holding(states, 3)) < 2:
            return self._save(states, holding, 3)
        best = self.look(states)
        if best.score > DECIDED and best.distance == LONGEST:
            return self._win(states, [best.action], LONGEST)
        if step == 2 and abs(best.score) < DECIDED and self.look(states, (best.action,)).score < -DECIDED:
            return self._save(states, self.prover.holding(states, 5), 5)
        return None

    def _win(self, states: Any, winning: list[int], goal: int) -> Found | None:
        step, quota = self.game.seats, f"win {goal}"
        bound = LEAST_BOUND
        if step == 3:
            quota, bound = "three", max(bound, goal + step)
        if quota not in self.wanted or len(winning) > 1 or (step == 3 and goal == 1):
            return None
        if self.look(states, (winning[0],), SECOND_LOOK).score > DECIDED:
            return None
        if goal > QUICK and self.prover.winning(states, goal - step):
            return None
        if self.prover.winning(states, bound) != winning:
            return None
        return Found(quota, self._made(states, WIN, goal, bound, winning[0]))

    def _save(self, states: Any, holding: list[int], goal: int) -> Found | None:
        if f"save {goal}" not in self.wanted or len(holding) != 1 or len(self.prover.holding(states, goal - 2)) == 1:
            return None
        bound = max(LEAST_BOUND, goal + 2)
        other = 1 - int(self.game.kernels.mover(states))
        if self.prover.forces(states, holding[0], other, bound):
            return None
        return Found(f"save {goal}", self._made(states, SAVE, goal, bound, holding[0]))

    def _made(self, states: Any, kind: str, goal: int, bound: int, action: int) -> Puzzle:
        line, move = self.game.codec.format_line(states[0]), self.game.codec.format_notation(action, states[0])
        return Puzzle(self.game.id, 0, 0, kind, goal, bound, dict(self.options), line, move)


class BoxSeeker:
    """The same for dots, where the exact solver looks for edges that alone win or draw."""

    def __init__(self, rows: int, cols: int) -> None:
        self.options = {"rows": rows, "cols": cols}
        self.game = ludodrome.make("dots", **self.options)
        self.solver = Solver(rows, cols, 18)

    def games(self, dice: random.Random) -> Iterator[Found]:
        """What one game gives."""
        game = self.game
        states = game.encode_array({**game.initial_state(), "nonce": 0})
        players = [
            ludodrome.bot(dice.choice(("greedy", "chains", "level:3")), game, dice.getrandbits(30)) for _ in "ab"
        ]
        opening, slips = dice.randint(2, game.num_actions // 3), dice.choice((0.0, 0.1, 0.2))
        found: list[Found] = []
        while (seat := int(game.kernels.mover(states))) >= 0:
            edges = legal_actions(game, states)
            if FREE_EDGES[0] <= len(edges) <= FREE_EDGES[1] and (one := self.puzzle(states, edges)):
                found.append(one)
            state = game.decode(states[0])
            if game.num_actions - len(edges) < opening or dice.random() < slips:
                action = dice.choice(edges)
            else:
                action = game.action(players[seat].choose(game.observation(state, seat)), state)
            game.kernels.play(states, action)
        yield from one_of_each(found, dice)

    def value(self, states: Any, edge: int | None = None) -> int:
        """The exact value of a position, or of an edge."""
        self.solver.begin(states[0], edge)
        while not self.solver.run():
            pass
        value = self.solver.value
        assert value is not None
        return value

    def puzzle(self, states: Any, edges: list[int]) -> Found | None:
        """The puzzle that a position is, if it is one."""
        seat = int(self.game.kernels.mover(states))
        owned = [int(own).bit_count() for own in states["boxes"][0]]
        lead = owned[seat] - owned[1 - seat]
        goal = self.value(states) + lead
        best = self.solver.best_edge
        if goal < 0 or best is None:
            return None
        if self._closes(states, best):  # taking a box is no task
            return None
        least = 1 if goal > 0 else 0
        if any(self.value(states, edge) + lead >= least for edge in edges if edge != best):
            return None
        values = edge_values(self.game, states)
        bound = max(value for edge, value in values.items() if edge != best)
        if values[best] != goal or bound >= least:
            raise RuntimeError(f"solver and exhaustive search differ: {self.game.codec.format_line(states[0])}")
        line, move = self.game.codec.format_line(states[0]), self.game.codec.format_notation(best, states[0])
        puzzle = graded(Puzzle("dots", 0, 0, MARGIN, goal, bound, dict(self.options), line, move))
        return Found(f"grade {puzzle.grade}", puzzle)

    def _after(self, states: Any, edge: int) -> Any:
        after = states.copy()
        self.game.kernels.play(after, edge)
        return after

    def _closes(self, states: Any, edge: int) -> bool:
        return bool((self._after(states, edge)["boxes"] != states["boxes"]).any())


class BoardSeeker:
    """Spaces: boards that are worth answering, with the exact best response."""

    def __init__(self, size: int, rules: str) -> None:
        self.size, self.rules = size, rules
        self.options: dict[str, int | str] = {"size": size, "rules": rules, "rounds": 1}
        self.game = ludodrome.make("spaces", **self.options)

    def games(self, dice: random.Random) -> Iterator[Found]:
        """A board of some bot, or an answer to one: answers are harder to answer."""
        game, start = self.game, self.game.initial_state()
        spec = dice.choice(("random", "random", "level:5", "expert:nodes=1000"))
        board = ludodrome.bot(spec, game, dice.getrandbits(30)).choose(start)
        if dice.random() < 0.4:
            board = ludodrome.spaces.respond(board, self.size, self.rules, nodes=SPACES_NODES).board
        state = game.apply(start, board)
        response = ludodrome.spaces.respond(board, self.size, self.rules, nodes=SPACES_NODES)
        if response.proven:
            answer = game.format_move(response.board, state)
            margin, line = response.margin, game.format_state(state)
            puzzle = Puzzle("spaces", 0, 0, RESPOND, margin, margin, dict(self.options), line, answer)
            yield Found(f"{self.size} {self.rules}", puzzle)


def seekers(game_id: str) -> list[Any]:
    """What takes turns at the games."""
    if game_id == "dots":
        return [BoxSeeker(rows, cols) for rows, cols in BOARDS]
    if game_id == "spaces":
        return [BoardSeeker(size, rules) for size in range(2, 7) for rules in ("written", "live")]
    if game_id == "santorini":
        two = Seeker(ludodrome.make("santorini"))
        return [two, two, two, Seeker(ludodrome.make("santorini", players=3))]
    return [Seeker(ludodrome.make(game_id))]


def seek(game_id: str, work: Path, most: int) -> None:
    """Games one after another until all quotas are full; what is found is appended to the work file."""
    done, found = recall(game_id, work)
    full = Counter(quota for quota, _ in found)
    known = {puzzle.position for _, puzzle in found}
    turns = seekers(game_id)
    quotas = QUOTAS[game_id]
    with work.open("a", encoding="utf-8") as file:
        for number in range(done, most):
            wanted = {quota for quota, most in quotas.items() if full[quota] < most}
            if not wanted:
                return
            seeker = turns[number % len(turns)]
            seeker.wanted = wanted
            for quota, puzzle in seeker.games(random.Random(f"{game_id} {number}")):
                if quota in wanted and puzzle.position not in known:
                    full[quota] += 1
                    known.add(puzzle.position)
                    print(f"{number} | {quota} | {format_puzzle(puzzle)}", file=file)
            print(f"{number} | done |", file=file, flush=True)
            print(f"{game_id}: game {number}, {dict(full)}", flush=True)


def recall(game_id: str, work: Path) -> tuple[int, list[Found]]:
    """How many games are done, and what they gave."""
    done, found = 0, []
    for line in work.read_text("utf-8").splitlines() if work.exists() else ():
        number, quota, rest = line.split(" | ", 2) if not line.endswith("| done |") else (*line.split(" | ")[:2], "")
        if quota.startswith("done"):
            done = int(number) + 1
        else:
            found.append(Found(quota, parse_puzzle(rest, game_id, 0)))
    return done, found


@functools.cache
def _bot(spec: str, game: ludodrome.Game) -> ludodrome.Bot:
    return ludodrome.bot(spec, game)


def graded(puzzle: Puzzle) -> Puzzle:
    """The puzzle with its grade."""
    if puzzle.kind in (WIN, SAVE):
        own = -(-puzzle.goal // puzzle.game().seats)
        grade = own + (puzzle.kind == SAVE) - finds(NATURAL, puzzle) + (not finds(HIDDEN, puzzle))
        return replace(puzzle, grade=max(GRADES[0], min(GRADES[-1], grade)))
    missed = [place for place, spec in enumerate(LADDERS[puzzle.game_id], 2) if not finds(spec, puzzle)]
    return replace(puzzle, grade=max(missed, default=1))


def finds(spec: str, puzzle: Puzzle) -> bool:
    """Whether a bot solves a puzzle."""
    game = puzzle.game()
    state = game.parse_state(puzzle.position)
    bot = _bot(spec, game)
    bot.start({})
    return solves(puzzle, game, state, bot.choose(game.observation(state, game.to_move(state))))


def solves(puzzle: Puzzle, game: ludodrome.Game, state: Any, move: Any) -> bool:
    """Whether a move is the solution, or as good as it."""
    if puzzle.kind != RESPOND:
        return game.format_move(move, state) == puzzle.solution
    points = game.apply(state, move)["history"][-1]["points"]
    seat = game.to_move(state)
    assert seat is not None
    return bool(points[seat] - points[1 - seat] == puzzle.goal)


def write(game_id: str, work: Path) -> None:
    """Grades what was found and writes the data file, easy puzzles first."""
    puzzles = []
    for _, puzzle in recall(game_id, work)[1]:
        wrong = faults(puzzle)
        if wrong:
            raise RuntimeError(f"{puzzle.position}: {wrong}")
        puzzles.append(graded(puzzle))
        print(f"{len(puzzles)}: {format_puzzle(puzzles[-1])}", flush=True)
    puzzles.sort(key=lambda puzzle: (puzzle.grade, puzzle.kind, puzzle.goal, puzzle.position))
    head = "# GRADE ; KIND ; GOAL ; BOUND ; OPTIONS ; POSITION ; SOLUTION (puzzle/book.py says what they mean)"
    text = "\n".join([head, *map(format_puzzle, puzzles)]) + "\n"
    Path(str(files("ludodrome.puzzle"))).joinpath("data", f"{game_id}.txt").write_text(text, "utf-8")
    print(Counter(puzzle.grade for puzzle in puzzles), Counter(f"{p.kind} {p.goal}" for p in puzzles))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Find positions that make puzzles.")
    parser.add_argument("game", choices=sorted(QUOTAS))
    parser.add_argument("--work", type=Path, default=Path("build/puzzles"))
    parser.add_argument("--games", type=int, default=100_000, help="the most games to look through")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    file = chosen.work / f"{chosen.game}.txt"
    if chosen.write:
        write(chosen.game, file)
    else:
        seek(chosen.game, file, chosen.games)


if __name__ == "__main__":
    main()
