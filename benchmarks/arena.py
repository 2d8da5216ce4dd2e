"""What the arena costs: overhead of a turn in process and over pipes, of a match, and how far a deadline is overshot.

    benchmarks/arena

The game is skysummit, and the moves are known beforehand, so that the bots answer at once. A child written in C (in
Python where there is no compiler) reads its questions, legal moves and all, and answers with the next of its lines.
"""

import gc
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ludodrome.arena.api import play_match
from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import Conditions
from ludodrome.arena.game_loop import play, run
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import Answer, Turn
from ludodrome.arena.transports.child import ChildSeat
from ludodrome.arena.transports.inprocess import InProcessSeat
from ludodrome.arena.transports.orphans import become_subreaper
from ludodrome.game import Game
from ludodrome.games import make

GAMES = 40
MATCH_GAMES = 40
TIMEOUTS = 200
DEADLINE_MS = 100

IN_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
int main(int count, char **words) {
    FILE *answers = fopen(words[1], "r");
    char *line = NULL, *answer = NULL;
    size_t room = 0, other = 0;
    while (getline(&line, &room, stdin) > 0)
        if (strncmp(line, "{\"type\":\"turn\"", 14) == 0 && getline(&answer, &other, answers) > 0) {
            fputs(answer, stdout);
            fflush(stdout);
        }
    return 0;
}
"""
FIRST_MOVE_IN_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
int main(int count, char **words) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        if (count > 1 && strncmp(line, "{\"type\":\"hello\"", 15) == 0)
            puts("{\"type\":\"ready\",\"games\":\"many\"}");
        else if (strncmp(line, "{\"type\":\"turn\"", 14) == 0) {
            char *move = strstr(line, "\"legal_moves\":[") + 15, *end = move;
            int depth = 0;
            do {
                depth += *end == '{' || *end == '[';
                depth -= *end == '}' || *end == ']';
            } while (*end++ && depth > 0);
            printf("{\"type\":\"move\",\"move\":%.*s}\n", (int)(end - move), move);
        }
        fflush(stdout);
    }
    return 0;
}
"""
"""A bot that plays the first legal move; with an argument, it plays many games."""
IN_PYTHON = """
import sys
answers = open(sys.argv[1], "rb")
for line in sys.stdin.buffer:
    if line.startswith(b'{"type":"turn"'):
        sys.stdout.buffer.write(answers.readline())
        sys.stdout.buffer.flush()
"""


def assignment(bots: tuple[str, str], clock: Clock, seed: int = 0, start_ms: int = 10_000) -> PlaySpec:
    """A game of skysummit."""
    return PlaySpec("skysummit", {}, bots, bots, Conditions("forfeit", clock, True, start_ms), seed)


class Script:
    """A bot that knows its moves."""

    name = "script"

    def __init__(self, moves: list[Any]) -> None:
        self._moves = iter(moves)

    def start(self, hello: dict[str, Any]) -> None:
        """Nothing to prepare."""

    def choose(self, observation: Any, budget: Any = None) -> Any:
        """The next of them."""
        return next(self._moves)

    def close(self) -> None:
        """Nothing is held."""


def known_games() -> Iterator[tuple[PlaySpec, list[list[Any]]]]:
    """Games, and the moves of each seat in them."""
    for seed in range(GAMES):
        given = assignment(("random", "random"), Clock(move_ms=10_000), seed)
        turns = play(given)["turns"]
        yield given, [[turn["move"] for turn in turns if turn["seat"] == seat] for seat in (0, 1)]


def inside(games: list[tuple[PlaySpec, list[list[Any]]]]) -> tuple[float, float]:
    """Microseconds of processor time a turn: of the loop alone, and of the whole game with its table and its record."""
    loop = whole = turns = 0.0
    for given, moves in games:
        began = time.thread_time()
        table = Referee(given)
        seats = [InProcessSeat(Script(own)) for own in moves]
        middle = time.thread_time()
        run(table, seats)
        done = time.thread_time()
        table.record()
        loop += done - middle
        whole += time.thread_time() - began
        turns += sum(map(len, moves))
    return loop / turns * 1e6, whole / turns * 1e6


def child(games: list[tuple[PlaySpec, list[list[Any]]]], command: list[str], folder: Path) -> float:
    """Microseconds of a turn of a child, the median: from making the question to the answer, without its start."""
    times: list[float] = []
    for given, moves in games:
        answers = folder / "answers"
        lines = [json.dumps({"type": "move", "move": move}) + "\n" for move in moves[0]]
        answers.write_text("".join(lines))
        table = Referee(given)
        asked = Timed("child", [*command, str(answers)])
        try:
            run(table, [asked, InProcessSeat(Script(moves[1]))])
        finally:
            asked.close()
        record = table.record()
        assert record["result"]["decided_by"] == "play"
        times += [turn["ms"] for turn in record["turns"] if turn["seat"] == 0][1:]
    return statistics.median(times) * 1000


def match_cost(game: Game, shorter: Game, bot: str) -> tuple[float, float]:
    """Milliseconds of processor time that the arena takes for a turn and for a game of a match, without its bots.

    A match of long games and one of short games give the two; each is the best of some.
    """
    (long_cost, long_turns), (short_cost, short_turns) = (best(partial(cost, one, bot), 5) for one in (game, shorter))
    turn = (long_cost - short_cost) / (long_turns - short_turns)
    return turn, short_cost - turn * short_turns


def cost(game: Game, bot: str) -> tuple[float, float]:
    """Milliseconds of a game, and its turns. Only this process is counted; the games are played in it."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    result = play_match(game, [bot, bot], games=MATCH_GAMES, workers=0, openings=False, clock="10s", seed=1)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert all(record["result"]["decided_by"] == "play" for record in result.records)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent * 1000 / MATCH_GAMES, statistics.mean(len(record["turns"]) for record in result.records)


def print_match_costs(bot: Path) -> None:
    """A match between two programs in C, with one process a game and with processes that stay."""
    become_subreaper()  # as workers are
    pairs = [
        (make("skysummit"), make("skysummit", turn_limit=2)),
        (make("caldera"), make("caldera", turn_limit=2)),
        (make("dots"), make("dots", rows=1, cols=1)),
    ]
    for game, shorter in pairs:
        for way, spec in (("one process a game", f"cmd:{bot}"), ("processes that stay", f"cmd:{bot} many")):
            turn, whole = match_cost(game, shorter, spec)
            print(f"match in {game.id}, {way}: {turn:.3f} ms a turn, {whole:.2f} ms a game (wanted: 0.3 and 3)")


class Timed(ChildSeat):
    """A child whose answer takes from before its question is made until it is there."""

    def ask(self, turn: Turn) -> Answer:
        """Its answer, with that time."""
        began = time.perf_counter()
        answer = super().ask(turn)
        return Answer(time.perf_counter() - began, answer.move, answer.fault)


def overshoots() -> list[float]:
    """Milliseconds by which deadlines are overshot."""
    found = []
    silent = ["sleep", "1000"]
    for _ in range(TIMEOUTS):
        table = Referee(assignment(("silent", "random"), Clock(move_ms=DEADLINE_MS), start_ms=0))
        seat = ChildSeat("silent", silent)
        seat.start(table.hello(0))
        assert table.turn is not None
        _ = table.turn.message
        began = time.perf_counter()
        answer = seat.ask(table.turn)
        found.append((time.perf_counter() - began) * 1000 - DEADLINE_MS)
        assert answer.fault is not None
        seat.close()
    return sorted(found)


def best(measure: Callable[[], Any], times: int = 5) -> Any:
    """The best of some measurements: what others do on the machine can only make it slower."""
    gc.collect()
    return min(measure() for _ in range(times))


def main() -> None:
    """Measure and print."""
    games = list(known_games())
    loop, whole = best(lambda: inside(games))
    print(f"in process, a turn: {loop:.0f} us; with the table and the record: {whole:.0f} us (wanted: below 100)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if shutil.which("gcc"):
            (folder / "bot.c").write_text(IN_C)
            subprocess.run(["gcc", "-O2", "-o", str(folder / "bot"), str(folder / "bot.c")], check=True)
            figure = best(lambda: child(games, [str(folder / "bot")], folder), 3)
            print(f"child in C, a turn: {figure:.0f} us (wanted: below 300)")
            (folder / "first.c").write_text(FIRST_MOVE_IN_C)
            subprocess.run(["gcc", "-O2", "-o", str(folder / "first"), str(folder / "first.c")], check=True)
            print_match_costs(folder / "first")
        (folder / "bot.py").write_text(IN_PYTHON)
        figure = best(lambda: child(games, [sys.executable, "-I", "-S", str(folder / "bot.py")], folder), 3)
        print(f"child in Python, a turn: {figure:.0f} us (wanted: below 300)")
    late = overshoots()
    median, high, most = late[len(late) // 2], late[len(late) * 99 // 100], late[-1]
    print(
        f"{TIMEOUTS} deadlines overshot by p50 {median:.1f} ms, p99 {high:.1f} ms, at most {most:.1f} ms (wanted: 50)"
    )


if __name__ == "__main__":
    main()
