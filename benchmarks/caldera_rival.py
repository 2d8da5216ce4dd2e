"""Play a match of caldera between a bot and the plain alpha-beta of ``caldera_rival.cpp``.

Every opening of the book is played twice, with seats swapped. Both bots have the same clock.
"""

import argparse
import statistics
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import ludodrome
from ludodrome.arena.statistics.scores import points

SOURCE = Path(__file__).with_suffix(".cpp")
PROGRAM = SOURCE.parent / "build" / "caldera_rival"
COMPILE = ("g++", "-O3", "-march=native", "-std=c++17", "-Wall", "-Wextra", "-Werror")


def build(program: Path = PROGRAM) -> Path:
    """Compile the rival if its source is newer; return the program."""
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([*COMPILE, "-o", str(program), str(SOURCE)], check=True)
    return program


def report(records: list[dict[str, Any]]) -> list[str]:
    """What the games of a match came to, seen from the bot."""
    won, lengths, reasons, faults = [], [], Counter[str](), Counter[str]()
    for record in records:
        seat = record["names"].index("bot")
        won.append(points(record["result"]["returns"])[seat])
        lengths.append(len(record["opening"]) + len(record["turns"]))
        reasons[record["result"]["reason"]] += 1
        faults.update(f"{record['names'][one['seat']]}: {one['cause']}" for one in record["result"]["verdicts"])
    counts = Counter(won)
    quartiles = statistics.quantiles(lengths, n=4) if len(lengths) > 1 else lengths * 3
    lines = [
        f"{sum(won):g} points of {len(won)} games ({sum(won) / len(won):.1%})",
        f"{counts[1.0]} wins, {counts[0.5]} draws, {counts[0.0]} losses",
        f"plies: {min(lengths)} to {max(lengths)}, quartiles {', '.join(f'{one:g}' for one in quartiles)}",
        f"ends: {', '.join(f'{count} {reason}' for reason, count in reasons.most_common())}",
    ]
    return lines + [f"faults: {', '.join(f'{count} {fault}' for fault, count in faults.most_common())}"] * bool(faults)


def main() -> None:
    """Build the rival, play the match, print its result."""
    parser = argparse.ArgumentParser(description="A bot of caldera against a plain alpha-beta.")
    parser.add_argument("bot", nargs="?", default="expert", help="its spec (default: expert)")
    parser.add_argument("--games", type=int, default=20, help="number of games, in pairs (default 20)")
    parser.add_argument("--clock", default="100ms", help="the clock of both (default 100ms)")
    parser.add_argument("--seed", type=int, default=0, help="random seed of openings and bots (default 0)")
    asked = parser.parse_args()
    bots = {"bot": asked.bot, "rival": f"cmd:{build()}"}
    match = ludodrome.play_match(
        "caldera",
        bots,
        games=asked.games,
        clock=asked.clock,
        workers=0,
        seed=asked.seed,
        progress=lambda result: print(f"\r{result.games} of {asked.games} games", end="", flush=True),
    )
    print(f"\r{asked.bot} against a plain alpha-beta, {asked.clock} a move, seed {asked.seed}")
    print("\n".join(report(match.records)))


if __name__ == "__main__":
    main()
