"""`scores`: which boards win against opponents who are not perfect."""

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import Command, CommandError, Json, command_errors, examples, interruptible
from ludodrome.cli.lazy import lazy_imports
from ludodrome.cli.spaces.boards import Rules, Size, checked_rules, print_json

with lazy_imports():
    from ludodrome.games.spaces import boards as game_boards
    from ludodrome.games.spaces import counting, generation, score_search
    from ludodrome.games.spaces import scores as game_scores
    from ludodrome.spaces_lab import saved_scores

if TYPE_CHECKING:
    from ludodrome.games.spaces.score_search import ScoreSearch
    from ludodrome.games.spaces.scores import BoardScore, ScoreTable

app = typer.Typer()

SAVE_INTERVAL = 10.0
"""Seconds between two saves."""


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome spaces scores 3 --rules live",
        "ludodrome spaces scores 4 --rules live --state scores.json",
        "ludodrome spaces scores 5 --rules live --exact --by margin",
        "ludodrome spaces scores 4 --opponents 100000 --seed 7 --json",
    ),
)
def scores(
    size: Size,
    rules: Rules = "written",
    by: Annotated[str, typer.Option("--by", metavar="WHAT", help="Rank by won (share of rounds) or margin.")] = "won",
    runs: Annotated[
        float, typer.Option(metavar="SHARE", min=0.0, max=1.0, help="How often people lay a straight run.")
    ] = 0.5,
    top: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Number of boards to show.")] = 10,
    exact: Annotated[
        bool, typer.Option("--exact", help="Let the best boards found meet every legal board, not a sample.")
    ] = False,
    opponents: Annotated[int, typer.Option(metavar="N", min=1, help="Random opponents of the best boards.")] = 20_000,
    candidates: Annotated[
        int, typer.Option(metavar="N", min=1, max=1_000_000, help="Random boards to begin the search with.")
    ] = 5_000,
    seed: Annotated[int, typer.Option(metavar="S", help="Random seed.")] = 0,
    state: Annotated[
        str | None,
        typer.Option(
            "--state", metavar="FILE", show_default=False, help="Save progress to this file and resume from it."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show which boards win most, against random legal boards and against people who are not perfect.

    People lay a straight run in a random column with the probability --runs, else a random legal board. Up to 200,000
    boards (live to size 4, written at size 2) all pairs are played, and everything is exact. Beyond, good boards are
    searched and meet random opponents, with intervals of 95 %, or with --exact every legal board.
    """
    checked_rules(rules)
    with command_errors(), console.compiling("spaces"):
        game_scores.checked_measure(by)
        paired = game_scores.can_pair(size, rules)
        if exact and not paired and not game_scores.can_meet(size, rules):
            raise CommandError(
                f"size {size} under {rules} has too many boards to meet every one of them: leave out --exact"
            )
    if paired:
        table, facts = _play_pairs(size, rules, state)
    else:
        search = score_search.ScoreSearch(size, rules, (0.0, runs), by, seed)
        table, facts = _play_finalists(search, candidates, opponents, exact, state)
    best = {name: table.best(share, by, top) for name, share in (("random", 0.0), ("people", runs))}
    by_share = game_scores.best_by_share(table.tallies, table.runs_tallies, by) if table.exact else []
    switches = [(share, game_boards.format_code(table.boards[at], size)) for share, at in by_share]
    if json:
        print_json(
            {
                "size": size,
                "rules": rules,
                "by": by,
                "runs": runs,
                **facts,
                **{name: [_json_score(one) for one in found] for name, found in best.items()},
                "best_by_share": [{"from": share, "board": code} for share, code in switches],
            }
        )
        return
    _print_facts(size, rules, facts)
    console.say("against a random legal board:")
    _print_scores(best["random"])
    console.say(f"against people ({runs:.0%} straight runs in a random column, else a random legal board):")
    _print_scores(best["people"])
    if switches:
        which = "the best board" if "won_by_tenths" in facts else "the best of these boards"
        console.say(f"{which}, by {by}, for each share of straight runs:")
    for number, (share, code) in enumerate(switches):
        until = switches[number + 1][0] if number + 1 < len(switches) else 1.0
        console.say(f"  {share:.3f} to {until:.3f}: {code}")


def _play_pairs(size: int, rules: str, state: str | None) -> tuple["ScoreTable", dict[str, Any]]:
    """All boards against all boards."""
    with command_errors(), console.compiling("spaces"):
        pairs = saved_scores.load_pairs(state, size, rules)
    saved = time.monotonic()
    with console.bar("pairs of boards") as progress:
        while not pairs.over:
            interruptible(pairs.step)
            progress(pairs.rounds_done, pairs.rounds_total)
            if state and (pairs.over or time.monotonic() - saved > SAVE_INTERVAL):
                with command_errors():
                    saved_scores.save_pairs(state, pairs)
                saved = time.monotonic()
    tallies = pairs.all_tallies()
    count = len(pairs.boards)
    won = sorted(game_scores.values_of(tallies, "won").tolist())
    facts = {
        "exact": True,
        "uniform": True,
        "boards": count,
        "opponents": count,
        "overall": _overall(tallies.sum(axis=0)),
        "won_by_tenths": [won[round(part * (count - 1) / 10)] for part in range(11)],
        "by_traps": [
            dict(zip(("traps", "boards", "won", "margin"), row, strict=True))
            for row in game_scores.average_by_traps(pairs.boards, tallies, size)
        ],
    }
    return game_scores.ScoreTable(size, pairs.boards, tallies, pairs.runs_tallies(), exact=True), facts


def _play_finalists(
    search: "ScoreSearch", candidates: int, opponents: int, exact: bool, state: str | None
) -> tuple["ScoreTable", dict[str, Any]]:
    """A search, then its best boards against random opponents or against all."""
    size, rules = search.size, search.rules
    with command_errors(), console.compiling("spaces"):
        known = saved_scores.load_search(state, search, candidates, exact)
        count = counting.count_boards(size, rules) if score_search.is_uniform(size, rules) else None
    if not known:
        with console.waiting("searching for good boards ..."):
            interruptible(lambda: search.search(candidates))
    total = count if exact and count is not None else opponents
    walk = generation.BoardWalk(size, rules, search.after) if exact else None
    saved = time.monotonic()
    with console.bar("opponents") as progress:
        while search.played < total:
            if walk is not None:
                interruptible(lambda: search.step_exactly(walk))
            else:
                interruptible(lambda: search.step(total - search.played))
            progress(search.played, total)
            if state and (search.played >= total or time.monotonic() - saved > SAVE_INTERVAL):
                with command_errors():
                    saved_scores.save_search(state, search, candidates, exact)
                saved = time.monotonic()
    facts = {
        "exact": exact,
        "uniform": score_search.is_uniform(size, rules),
        "boards": count,
        "opponents": search.played,
        "overall": _overall(search.overall),
    }
    return game_scores.ScoreTable(size, search.finalists, search.tallies, search.runs_tallies(), exact), facts


def _overall(tally: Any) -> dict[str, float]:
    """How random boards do against random boards."""
    one = game_scores.score_of("", tally, tally, 0.0, exact=True)
    return {"won": one.won, "drawn": one.drawn, "lost": one.lost, "points": one.points}


def _print_facts(size: int, rules: str, facts: dict[str, Any]) -> None:
    boards = "an unknown number of" if facts["boards"] is None else f"{facts['boards']:,}"
    overall = facts["overall"]
    if "won_by_tenths" in facts:
        how = "all pairs are played: every number is exact"
    elif facts["exact"]:
        how = (
            f"the best boards found, each against all {facts['opponents']:,}: the numbers are exact, the search is not"
        )
    else:
        kind = "random" if facts["uniform"] else "random (not uniform)"
        how = f"the best boards found, each against {facts['opponents']:,} {kind} boards; intervals of 95 %"
    console.say(f"size {size}, {rules}: {boards} boards; {how}")
    about = "" if "won_by_tenths" in facts else "about "
    console.say(
        f"a random board against a random board wins {about}{overall['won']:.1%}, draws {about}{overall['drawn']:.1%} "
        f"and scores {about}{overall['points']:.2f}"
    )
    if "won_by_tenths" in facts:
        tenths = facts["won_by_tenths"]
        console.say(f"the middle board wins {tenths[5]:.1%}, the best tenth at least {tenths[9]:.1%}")
        rows = [
            (str(one["traps"]), f"{one['boards']:,}", f"{one['won']:.2%}", f"{one['margin']:+.3f}")
            for one in facts["by_traps"]
        ]
        console.say("by the number of traps, on average against a random legal board:")
        console.show_table(("traps", "boards", "won", "margin"), rows, ("traps", "boards", "won", "margin"))


def _print_scores(found: list["BoardScore"]) -> None:
    header = ("board", "won", "drawn", "lost", "points", "other", "margin")
    rows = [
        (
            one.board,
            _share(one.won, one.won_interval),
            f"{one.drawn:.2%}",
            f"{one.lost:.2%}",
            f"{one.points:.3f}",
            f"{one.other_points:.3f}",
            _number(one.margin, one.margin_interval),
        )
        for one in found
    ]
    console.show_table(header, rows, header[1:])


def _share(value: float, interval: tuple[float, float] | None) -> str:
    return f"{value:.2%}" if interval is None else f"{value:.2%} ({interval[0]:.2%} to {interval[1]:.2%})"


def _number(value: float, interval: tuple[float, float] | None) -> str:
    return f"{value:+.3f}" if interval is None else f"{value:+.3f} ({interval[0]:+.3f} to {interval[1]:+.3f})"


def _json_score(one: "BoardScore") -> dict[str, Any]:
    return {**asdict(one), "margin": one.margin}
