"""Measure the built-in bots of the league against each other. Run it with ``benchmarks/strength --league``.

The bots play under the conditions of the ladder: its clock and its options. Levels that the league does not have join
them where they link two bots that are far apart. The next pair is always the one that tells most for its processor
time. Every round is appended to a file; with the rounds of ``strength.jsonl`` between the same bots it gives the
ratings that the league starts from, ``ratings.json`` in the package of each game. Rounds that were played with other
options do not count.
"""

import argparse
import json
import time
from collections import Counter, defaultdict
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import ludodrome
from ludodrome.arena.ladder import CLOCK
from ludodrome.arena.ladder.prior_ratings import FILE as RATINGS_FILE
from ludodrome.arena.ladder.prior_ratings import ladder_game, relative, to_json
from ludodrome.arena.statistics.ratings import Ratings, rate
from ludodrome.arena.statistics.scores import ELO, points
from ludodrome.games import GAMES, find, package_folder

HERE = Path(__file__).parent
EARLIER, FILE = HERE / "strength.jsonl", HERE / "strength_league.jsonl"
SAME = frozenset(("random", "greedy", "chains", *(f"level:{k}" for k in range(1, 7))))
"""Bots that play alike under every clock: they search little, or not at all."""
LINKS = ("mcts:sims=3", "mcts:sims=15", "mcts:sims=100", "level:1", "level:3", "level:5", "level:7")
SEARCH = 2
"""The version of the search that a result was played with; 1 if the entry does not say. Raise it when bots change."""
UNCHANGED = ("random", "greedy", "chains", "mcts", "level:1", "level:2")
"""Bots that play as they did with version 1; in games of points all but ``expert`` do, in spaces all."""
ROUNDS = 2
"""Rounds that are played before the next pair is chosen."""

Results = Counter[tuple[tuple[str, str], tuple[float, float]]]
"""How often each result was seen: the bots by seat, their returns by seat."""


def players(game: str) -> list[str]:
    """The bots of the league, and those that link them."""
    links = LINKS[3:] if find(game).by_steps else LINKS
    return list(dict.fromkeys((*find(game).game_class().ladder_bots, *links)))


def counts(game: str, entry: dict[str, Any]) -> bool:
    """Whether the bots of a result play as they did then."""
    if entry.get("search", 1) == SEARCH or find(game).by_steps:
        return True
    evaluator = ludodrome.make(game).evaluator
    by_points = evaluator is not None and evaluator.by_points
    return all(
        not bot.startswith("expert") if by_points else bot.startswith(UNCHANGED)
        for bot in (entry["bot"], entry["other"])
    )


def read(game: str) -> tuple[Results, dict[tuple[str, str], int]]:
    """The results of a game so far, and by pair of bots the number of the next round."""
    found: Results = Counter()
    following: dict[tuple[str, str], int] = defaultdict(int)
    there, options = set(players(game)), dict(find(game).game_class().people_options)
    for path in (EARLIER, FILE):
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            entry = json.loads(line)
            pair = entry["bot"], entry["other"]
            if entry["game"] != game or entry.get("options", {}) != options or not counts(game, entry):
                continue
            if not there.issuperset(pair) or (path == EARLIER and not SAME.issuperset(pair)):
                continue
            for seat, won in enumerate(entry["points"]):
                add(found, pair, seat, won)
            key = min(pair), max(pair)
            following[key] = max(following[key], entry["round"] + 1)
    return found, following


def add(results: Results, pair: tuple[str, str], seat: int, won: float) -> None:
    """Count a game: the first bot of the pair in a seat, and its points."""
    value = 2 * won - 1
    results[(pair, (value, -value)) if seat == 0 else (pair[::-1], (-value, value))] += 1


def next_pair(
    fit: Ratings | None,
    names: list[str],
    league: set[str],
    cost: dict[tuple[str, str], float],
) -> tuple[str, str]:
    """The pair whose game tells most about the bots of the league for its processor time."""
    pairs = list(combinations(sorted(names), 2))
    if fit is None or len(fit.names) < len(names):
        seen = set() if fit is None else set(fit.names)
        return next(pair for pair in pairs if not seen.issuperset(pair))
    spread, best = fit.covariance, (0.0, pairs[0])
    for pair in pairs:
        a, b = (fit.names.index(name) for name in pair)
        expected = 1 / (1 + np.exp((fit.ratings[b] - fit.ratings[a]) / ELO))
        counted = [fit.names.index(name) for name in names if name in league]
        towards = spread[counted][:, a] - spread[counted][:, b]
        gain = expected * (1 - expected) * float(towards @ towards)
        best = max(best, (gain / cost.get(pair, 0.05), pair))
    return best[1]


def play(game: str, pair: tuple[str, str], first: int) -> list[list[float]]:
    """Some rounds of a pair: the points of its first bot, round by round."""
    bots = {"bot": pair[0], "other": pair[1]}
    made = ladder_game(game)
    result = ludodrome.play_match(made, bots, games=2 * ROUNDS, clock=CLOCK, workers=0, seed=0, first_opening=first)
    rounds: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for record in result.records:
        seat = record["names"].index("bot")
        rounds[record["number"] // 2][seat] = points(record["result"]["returns"])[seat]
    return [rounds[number] for number in sorted(rounds)]


def measure(game: str, seconds: float) -> None:
    """Play for some processor time."""
    results, following = read(game)
    names, league = players(game), set(find(game).game_class().ladder_bots)
    options = dict(find(game).game_class().people_options)
    played_with = ({"options": options} if options else {}) | {"search": SEARCH}
    cost: dict[tuple[str, str], float] = {}
    began = time.process_time()
    while time.process_time() < began + seconds:
        pair = next_pair(rate(results) if results else None, names, league, cost)
        at, first = time.process_time(), following[pair]
        for number, won in enumerate(play(game, pair, first), first):
            for seat, value in enumerate(won):
                add(results, pair, seat, value)
            with FILE.open("a", encoding="utf-8") as lines:
                entry = {"game": game, "bot": pair[0], "other": pair[1], "round": number, "points": won}
                lines.write(json.dumps(entry | played_with) + "\n")
        following[pair] = first + ROUNDS
        taken = (time.process_time() - at) / (2 * ROUNDS)
        cost[pair] = min(taken, cost[pair]) if pair in cost else taken


def write(game: str, results: Results) -> None:
    """Write the ratings of a game's built-ins into its package."""
    specs = find(game).game_class().ladder_bots
    command = f"benchmarks/strength --league {game}"
    options = find(game).game_class().people_options
    contents = to_json(datetime.now(UTC).date().isoformat(), command, results, specs, options)
    lines = [json.dumps(row) for row in contents.pop("results")]
    head = json.dumps(contents, indent=1)[:-2]
    text = head + ',\n "results": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n"
    (package_folder(find(game).module) / RATINGS_FILE).write_text(text, "utf-8")


def show(game: str, fit: Ratings) -> None:
    """The table of a game: ratings relative to the mean of the league, and what links its bots."""
    league = find(game).game_class().ladder_bots
    print(game)
    for spec, one in relative(fit, league).items():
        print(f"  {spec:24}{one.elo:7.0f} +- {1.96 * one.error:4.0f}{one.games:7}")
    print(f"  links: {', '.join(name for name in sorted(fit.names) if name not in league)}")
    for note in fit.notes:
        print(f"  {note}")


def main() -> None:
    """Do as asked."""
    parser = argparse.ArgumentParser(description="Measure the built-in bots of the league.")
    parser.add_argument("names", nargs="*", metavar="GAME", help=f"of {', '.join(GAMES)}; none: all")
    parser.add_argument("--minutes", type=float, default=4.0, help="processor time for each game (default 4)")
    parser.add_argument("--show", action="store_true", help="play nothing, write nothing, show what was played")
    options = parser.parse_args()
    for name in options.names or GAMES:
        if not options.show:
            measure(name, 60 * options.minutes)
        results = read(name)[0]
        if not options.show:
            write(name, results)
        show(name, rate(results))


if __name__ == "__main__":
    main()
