"""Evaluation of language models: `evaluate`."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ludodrome.cli import console
from ludodrome.cli.base import (
    DONE,
    INTERRUPTED,
    UNDECIDED,
    Command,
    CommandError,
    Json,
    check_bots,
    command_errors,
    examples,
    open_game,
)
from ludodrome.cli.lazy import lazy_imports
from ludodrome.games import GAMES

with lazy_imports():
    from ludodrome.arena import model_evaluation

if TYPE_CHECKING:
    from ludodrome.arena.matches.tallies import MatchTally
    from ludodrome.arena.model_evaluation import AnswerCounts, ModelTrial
    from ludodrome.game import Game

app = typer.Typer()

CONDITIONS = {"shown": (True,), "hidden": (False,), "both": (True, False)}
WORKERS = 4
HEAD = ("game", "opponent", "legal moves")
POINTS = (*HEAD, "games", "won", "drawn", "lost", "share", "95 %")
STRENGTH = (*POINTS, "forfeits", "substituted", "no evidence", "void")
MOVES = (*HEAD, "asked", "own", "retried", "substituted", "illegal", "unparsable", "refused", "timed out")
COSTS = (
    *HEAD,
    "answers",
    "cut off",
    "endpoint errors",
    "tokens in",
    "tokens out",
    "reasoning",
    "s an answer",
    "s waited",
)
CUT_OFF = "length"
"""The finish reason of an answer that reached its most tokens."""


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome evaluate llm:http://localhost:8000/v1,model=NAME --games 20",
        "ludodrome evaluate llm:http://host/v1,model=NAME --game dots:rows=3,cols=3",
        "ludodrome evaluate llm:https://host/v1,model=NAME,key=MY_KEY --record games",
    ),
)
def evaluate(
    model: Annotated[str, typer.Argument(metavar="MODEL", show_default=False, help="Model, like llm:URL,model=NAME.")],
    game: Annotated[
        list[str] | None,
        typer.Option(
            "--game",
            metavar="GAME",
            show_default=False,
            help="Game, like dots or dots:rows=3,cols=3. Repeatable. Default: all games.",
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against", metavar="BOT", show_default=False, help="Opponent. Repeatable. Default: random and greedy."
        ),
    ] = None,
    legal_moves: Annotated[
        str,
        typer.Option(
            "--legal-moves", metavar="WHICH", help="Whether the model sees the legal moves: shown, hidden or both."
        ),
    ] = "shown",
    games: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            show_default=False,
            help="Games against each opponent. Default: 10, rounded up to whole rounds.",
        ),
    ] = None,
    openings: Annotated[
        str, typer.Option(metavar="WHICH", help="Openings, as in `match`: drawn, none, or a file.")
    ] = "drawn",
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Random seed of openings and bots.")] = 0,
    workers: Annotated[int, typer.Option(metavar="N", min=1, max=256, help="Games played at once.")] = WORKERS,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record", metavar="DIR", help="Save records here, and do not replay games already recorded here."
        ),
    ] = None,
    policy: Annotated[
        str, typer.Option(metavar="P", help="After a bad answer, in all games: forfeit, substitute or retry:N.")
    ] = "retry:3",
    clock: Annotated[str, typer.Option("--clock", metavar="C", help="Time per move, like 60s, or none.")] = "60s",
    json: Json = False,
) -> None:
    """Evaluate a language model: its strength and its answers.

    Strength counts the games decided by play in which every move was the model's own. Forfeits, games with substituted
    moves and games that are void because the endpoint failed are listed apart. If the endpoint stays down, the command
    ends with code 3; with --record, the same command plays what is missing.
    """
    chosen = [_game(text) for text in game or _all_games()]
    opponents = against or ["random", "greedy"]
    if legal_moves not in CONDITIONS:
        raise CommandError(f"--legal-moves is shown, hidden or both, not {legal_moves!r}")
    for one in chosen:
        check_bots(one, [model, *opponents])
    with command_errors():
        plan = model_evaluation.trials(model, chosen, opponents, CONDITIONS[legal_moves], games, policy, clock, seed)
    end, why = _play(plan, chosen, workers, openings, record, json)
    if json:
        trials = [trial.to_json() for trial in plan if trial.everything.games]
        console.say(dumps({"model": model, "complete": end == DONE, "stopped": why or None, "trials": trials}))
    elif any(trial.everything.games for trial in plan):
        _show(model, plan)
    if why:
        kept = f"the same command plays what is missing in {record}" if record else "with --record DIR games are kept"
        console.complain(f"{why}; {kept}")
    if end == INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
    if end != DONE:
        raise typer.Exit(UNDECIDED)


def _all_games() -> list[str]:
    return sorted(GAMES)


def _game(text: str) -> Game:
    """``dots`` or ``dots:rows=3,cols=3``."""
    name, _, options = text.partition(":")
    return open_game(name, options.split(",") if options else None)


def _play(
    plan: list[ModelTrial], games: list[Game], workers: int, openings: str, folder: Path | None, quiet: bool
) -> tuple[int, str]:
    """Play all trials with a line of progress. Returns the exit code, and why it stopped before the end."""
    total = sum(trial.match.games for trial in plan)
    by_options = {(game.id, str(game.options)): game for game in games}
    which = {"drawn": True, "none": False}.get(openings, openings)
    preflight = model_evaluation.Preflight()
    try:
        with (
            command_errors(),
            console.game_progress(lambda: _done(plan), lambda: total, lambda: _standing(plan), quiet=quiet) as show,
        ):
            for trial in plan:
                on = trial.match.settings
                game = by_options[on.game, str(on.options)]
                model_evaluation.evaluate(trial, game, workers, which, folder, show, preflight)
    except KeyboardInterrupt:
        return INTERRUPTED, ""
    except model_evaluation.EndpointDown as down:
        return UNDECIDED, str(down)
    return DONE, ""


def _done(plan: list[ModelTrial]) -> int:
    return sum(trial.everything.games for trial in plan)


def _standing(plan: list[ModelTrial]) -> str:
    lines = [trial.strength.lines[trial.match.names[0]] for trial in plan]
    own = sum(trial.moves.own for trial in plan)
    asked = sum(trial.moves.asked for trial in plan)
    return f"{sum(line.points for line in lines):g} points by its own moves, {own} own moves of {asked}"


def _show(model: str, plan: list[ModelTrial]) -> None:
    played = [trial for trial in plan if trial.everything.games]
    on = plan[0].match.settings.conditions
    console.say(f"{model}\npolicy {on.policy} in all games, clock {on.clock}")
    console.say("\nStrength, by the games decided by play in which every move was the model's own:\n")
    console.show_table(STRENGTH, (_strength(trial) for trial in played), numbers=STRENGTH[3:])
    if mixed := [trial for trial in played if trial.with_substitutes.games]:
        console.say("\nGames with substituted moves, at least half of them the model's own:\n")
        console.show_table(POINTS, (_points(trial, trial.with_substitutes) for trial in mixed), numbers=POINTS[3:])
    console.say("\nMoves:\n")
    console.show_table(MOVES, (_moves(trial) for trial in played), numbers=MOVES[3:])
    console.say("\nAnswers:\n")
    console.show_table(COSTS, (_costs(trial) for trial in played), numbers=COSTS[3:])
    for trial in played:
        for why, count in trial.void.items():
            console.say(f"\n{count} void in {', '.join(_head(trial)[:2])}: {why}")


def _head(trial: ModelTrial) -> list[str]:
    on = trial.match.settings
    options = ",".join(f"{name}={value}" for name, value in on.options.items())
    return [f"{on.game} {options}", trial.opponent, "shown" if trial.legal_moves else "hidden"]


def _points(trial: ModelTrial, tally: MatchTally) -> list[str]:
    name = trial.match.names[0]
    line = tally.lines[name]
    share = tally.share(name) if line.results else None
    return [
        *_head(trial),
        str(len(line.results)),
        *map(str, (line.wins, line.draws, line.losses)),
        f"{share.share:.1%}" if share else "",
        f"{share.low:.1%} to {share.high:.1%}" if share else "",
    ]


def _strength(trial: ModelTrial) -> list[str]:
    apart = trial.everything.decided_by["forfeit"], trial.with_substitutes.games, trial.no_evidence
    return [*_points(trial, trial.strength), *map(str, (*apart, sum(trial.void.values())))]


def _moves(trial: ModelTrial) -> list[str]:
    moves, answers = trial.moves.to_json(), trial.answers.to_json()
    counts = [moves[name] for name in ("asked", "own", "retried", "substituted")]
    return [*_head(trial), *map(str, counts), *(str(answers[name.replace(" ", "_")]) for name in MOVES[7:])]


def _costs(trial: ModelTrial) -> list[str]:
    found = trial.answers
    return [
        *_head(trial),
        str(found.answers),
        str(found.finish[CUT_OFF]),
        str(found.to_json()["endpoint_errors"]),
        *(_tokens(found, kind) for kind in ("prompt", "completion", "reasoning")),
        f"{found.ms / found.asked / 1000:.2f}" if found.asked else "",
        f"{found.waited_ms / 1000:.0f}",
    ]


def _tokens(found: AnswerCounts, kind: str) -> str:
    known = found.known_tokens(kind)
    if known is None:
        return "unknown"
    return f"{known:,}" if found.counted[kind] == found.answers else f"at least {known:,}"
