"""Measure the strength of the built-in bots by matches between them. Run it with ``benchmarks/strength``.

Matches are played with ``ludodrome.play_match``, in rounds: one opening, once with every bot in every seat. Every
round is appended to a file, the only state, so a run can be stopped and resumed. All matches share their openings.
"""

import argparse
import json
import math
import os
import signal
import sys
from collections import defaultdict
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import ludodrome
from ludodrome.arena.statistics.scores import points

SECONDS = 0.1
"""Seconds per move, if neither spec has a time of its own."""
GAMES = {"dots": {}, "skysummit": {}, "santorini": {}, "caldera": {}, "spaces": {}, "santorini3": {"players": 3}}
"""Games and their options; a number at the end is the number of players."""
MOST = 200
"""Games after which a claim must be decided."""
LEVELS = tuple(f"level:{k}" for k in range(1, 9))


class Match(NamedTuple):
    """One bot against another: in a game of three, against two of them."""

    game: str
    bot: str
    other: str


class Claim(NamedTuple):
    """The share of points that a bot must have shown, with 95 % certainty, after at most MOST games."""

    match: Match
    share: float


def claims(games: list[str]) -> list[Claim]:
    """What is promised."""
    expert = f"expert:time={SECONDS:g}"
    found = []
    for game in games:
        if game == "santorini3":
            found += [Claim(Match(game, expert, f"mcts:time={SECONDS:g}"), 0.5)]
        elif game != "spaces":
            rivals = (("greedy", 0.98), (f"mcts:time={SECONDS:g}", 0.95), (f"mcts:time={10 * SECONDS:g}", 0.75))
            found += [Claim(Match(game, expert, rival), share) for rival, share in rivals]
        if game != "santorini3":
            found += [Claim(Match(game, high, low), 0.6) for low, high in pairwise(LEVELS)]
    return found


def ladder(game: str) -> list[Match]:
    """Every bot against its neighbours, so that all are compared with all, directly or not."""
    played = set(ludodrome.bot_names(made(game)))
    rungs = ["random", "level:1", "level:2", "greedy", "level:3", "level:4", "chains", "level:5", "mcts"]
    rungs += ["level:6", "level:7", "alphabeta", "level:8", "expert"]
    there = [spec for spec in rungs if spec in played and (made(game).seats == 2 or "level" not in spec)]
    return [Match(game, there[i + gap], there[i]) for gap in (1, 2) for i in range(len(there) - gap)]


# Playing


@cache
def made(game: str) -> ludodrome.Game:
    """A game by its name here."""
    return ludodrome.make(game.rstrip("3"), **GAMES[game])


def play(match: Match, first: int, rounds: int, executor: Executor) -> tuple[dict[int, list[float]], bool]:
    """The first bot's points, game by game, in rounds from ``first`` on; and whether Ctrl-C ended it early.

    A spec with a time of its own plays without a clock, so both bots then have one.
    """
    game = made(match.game)
    bots = {"bot": match.bot} | {f"other {seat}": match.other for seat in range(1, game.seats)}
    clock = "none" if "time=" in match.bot + match.other else f"{1000 * SECONDS:g}ms"
    result = ludodrome.play_match(
        game, bots, games=rounds * game.seats, clock=clock, workers=executor, first_opening=first
    )
    found: dict[int, list[float]] = defaultdict(list)
    for record in result.records:
        if record["result"]["rated"]:
            found[record["number"] // game.seats].append(
                points(record["result"]["returns"])[record["names"].index("bot")]
            )
    return {number: won for number, won in found.items() if len(won) == game.seats}, result.interrupted


def ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


# The file, and what it says


@dataclass
class Score:
    """What is known of a match."""

    rounds: dict[int, list[float]] = field(default_factory=dict)

    @property
    def games(self) -> int:
        """How many were played."""
        return sum(map(len, self.rounds.values()))

    @property
    def points(self) -> float:
        """Of the first bot."""
        return sum(map(sum, self.rounds.values()))

    @property
    def share(self) -> float:
        """Points a game."""
        return self.points / self.games if self.games else 0.5

    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval.

        A draw varies less than a win here and a loss there: with draws a game counts for more than one, as much as
        its variance is smaller, but at most for two.
        """
        n, p, z = float(self.games), self.share, 1.959964
        if not n:
            return 0.0, 1.0
        spread = sum((points - p) ** 2 for round_ in self.rounds.values() for points in round_) / n
        if spread:
            n *= min(p * (1 - p) / spread, 2.0)
        middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def read(file: Path) -> dict[Match, Score]:
    """Everything that was played; a last line that was cut off does not count."""
    scores: dict[Match, Score] = defaultdict(Score)
    for line in file.read_text().splitlines() if file.exists() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        scores[Match(entry["game"], entry["bot"], entry["other"])].rounds[entry["round"]] = entry["points"]
    return scores


def write(file: Path, match: Match, number: int, points: list[float]) -> None:
    """One line more."""
    entry = {**match._asdict(), "round": number, "points": points}
    with file.open("a") as lines:
        lines.write(json.dumps(entry) + "\n")
        lines.flush()
        os.fsync(lines.fileno())


# Which games are still to be played


def undecided(claim: Claim, score: Score) -> bool:
    """Whether more games are needed: the share is neither shown nor out of reach, and the games are not used up."""
    low, high = score.interval()
    return low <= claim.share <= high and score.games < MOST


def wanted(task: list[Claim] | list[Match], scores: dict[Match, Score], games: int) -> list[Match]:
    """The matches that need another round, those with the fewest games first."""
    open_ones = [
        entry.match if isinstance(entry, Claim) else entry
        for entry in task
        if (undecided(entry, scores[entry.match]) if isinstance(entry, Claim) else scores[entry].games < games)
    ]
    return sorted(open_ones, key=lambda match: scores[match].games)


def run(task: list[Claim] | list[Match], scores: dict[Match, Score], options: argparse.Namespace) -> None:
    """Play until no match needs another round."""
    with ProcessPoolExecutor(options.workers, initializer=ignore_interrupts) as executor, Progress() as progress:
        bar = progress.add_task("games")
        while matches := wanted(task, scores, options.games):
            match = matches[0]
            first = next(number for number in range(MOST + 1) if number not in scores[match].rounds)
            played, interrupted = play(match, first, options.workers, executor)
            for number, won in played.items():
                if number not in scores[match].rounds:
                    scores[match].rounds[number] = won
                    write(options.file, match, number, won)
            low, high = scores[match].interval()
            progress.update(
                bar, advance=0, description=f"{match.game} {match.bot} - {match.other}: {low:.0%} to {high:.0%}"
            )
            if interrupted:
                print("Stopped; finished rounds are kept.")
                return


# Ratings


def elo(matches: list[Match], scores: dict[Match, Score]) -> dict[str, tuple[float, float]]:
    """The likeliest strengths (Bradley and Terry; a draw is half a win) and their 95 % half-widths; random is 0.

    Every match counts as if one more game had been drawn: whoever has won all games is not infinitely strong.
    """
    specs = sorted({spec for match in matches for spec in (match.bot, match.other)})
    place = {spec: i for i, spec in enumerate(specs)}
    zero = place["random"]
    ratings = np.zeros(len(specs))
    for _ in range(100):
        slope, bend = np.zeros(len(specs)), np.zeros((len(specs), len(specs)))
        for match in matches:
            a, b = place[match.bot], place[match.other]
            games, points = scores[match].games + 1, scores[match].points + 0.5
            expected = 1 / (1 + math.exp(ratings[b] - ratings[a]))
            weight = games * expected * (1 - expected)
            slope[a] += points - games * expected
            slope[b] -= points - games * expected
            bend[a, a] += weight
            bend[b, b] += weight
            bend[a, b] -= weight
            bend[b, a] -= weight
        keep = [i for i in range(len(specs)) if i != zero]
        inverse = np.linalg.inv(bend[np.ix_(keep, keep)])
        step = np.clip(inverse @ slope[keep], -1, 1)
        ratings[keep] += step
        if np.abs(step).max() < 1e-9:
            break
    scale = 400 / math.log(10)
    errors = np.zeros(len(specs))
    errors[keep] = 1.959964 * np.sqrt(np.diag(inverse))
    return {spec: (scale * ratings[i], scale * errors[i]) for spec, i in place.items()}


def show_ladder(console: Console, game: str, matches: list[Match], scores: dict[Match, Score]) -> None:
    """The table of one game."""
    table = Table("bot", "Elo", "+-", "games", box=None, title=game, title_justify="left", header_style="bold")
    ratings = elo(matches, scores)
    for spec, (rating, error) in sorted(ratings.items(), key=lambda item: -item[1][0]):
        count = sum(scores[match].games for match in matches if spec in (match.bot, match.other))
        table.add_row(spec, f"{rating:.0f}", f"{error:.0f}", str(count))
    console.print(table)


def show_claims(console: Console, task: list[Claim], scores: dict[Match, Score]) -> bool:
    """The table of the claims; whether all hold."""
    table = Table("game", "bot", "against", "points", "games", "95 % interval", "must be above", "holds", box=None)
    held = []
    for claim in task:
        score = scores[claim.match]
        low, high = score.interval()
        verdict = "yes" if low > claim.share else "no" if high < claim.share or score.games >= MOST else "open"
        held.append(verdict == "yes")
        share = f"{score.points:g} ({score.share:.1%})" if score.games else ""
        table.add_row(*claim.match, share, str(score.games), f"{low:.1%} to {high:.1%}", f"{claim.share:.0%}", verdict)
    console.print(table)
    return all(held)


def main() -> int:
    """Do as asked; 1 if a claim does not hold."""
    parser = argparse.ArgumentParser(description="Play the built-in bots against one another.")
    parser.add_argument("names", nargs="*", metavar="GAME", help=f"of {', '.join(GAMES)}; none: all")
    parser.add_argument("--claims", action="store_true", help="what is promised, instead of the ladder")
    parser.add_argument("--only", default="", help="of the claims, those in which this stands, such as level")
    parser.add_argument("--match", nargs=2, metavar="SPEC", help="these two bots instead")
    parser.add_argument("--games", type=int, default=40, help="games of each match of the ladder (default 40)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--file", type=Path, default=Path(__file__).with_suffix(".jsonl"), help="what was played")
    parser.add_argument("--show", action="store_true", help="play nothing, show what was played")
    options = parser.parse_args()
    if wrong := [name for name in options.names if name not in GAMES]:
        parser.error(f"there is no game {wrong[0]}; there are {', '.join(GAMES)}")
    names = options.names or list(GAMES)
    scores = read(options.file)
    console = Console(width=120 if not sys.stdout.isatty() else None)
    if options.match:
        matches = [Match(name, *options.match) for name in names]
        if not options.show:
            run(matches, scores, options)
        show_claims(console, [Claim(match, 0.5) for match in matches], scores)
        return 0
    if options.claims:
        task = [claim for claim in claims(names) if options.only in " ".join(claim.match)]
        if not options.show:
            run(task, scores, options)
        return 0 if show_claims(console, task, scores) else 1
    for name in names:
        matches = ladder(name)
        if not options.show:
            run(matches, scores, options)
        show_ladder(console, name, matches, scores)
    return 0


if __name__ == "__main__":
    sys.exit(main())
