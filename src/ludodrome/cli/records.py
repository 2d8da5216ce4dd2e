"""Recorded games: `replay`, `rerun` and `records`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.atomic_io import write_whole
from ludodrome.cli import console
from ludodrome.cli.base import INTERRUPTED, NO, Command, CommandError, Json, command_errors, examples
from ludodrome.cli.lazy import lazy_imports
from ludodrome.games import make

with lazy_imports():
    from rich import text as rich_text

    from ludodrome import game as game_api
    from ludodrome.arena import records as arena_records
    from ludodrome.arena import telemetry
    from ludodrome.arena.matches import tallies
    from ludodrome.arena.records import archive
    from ludodrome.arena.records import replay as replays

if TYPE_CHECKING:
    from rich.text import Text

    from ludodrome.arena.records.replay import RerunTurn


app = typer.Typer()

Paths = Annotated[list[str], typer.Argument(metavar="PATH", show_default=False, help="Files or folders of records.")]
OnlyGame = Annotated[str | None, typer.Option(metavar="GAME", show_default=False, help="Only this game.")]
OnlyBot = Annotated[
    str | None, typer.Option(metavar="BOT", show_default=False, help="Only games of this bot (name or spec).")
]
OnlyWinner = Annotated[
    str | None, typer.Option(metavar="BOT", show_default=False, help="Only games won by this bot, or draw.")
]
MAX_FAILURES = 10
"""Distinct failures that `records` shows."""
MAX_SHOWN = 200
"""Characters of a line of play or a text of telemetry that `replay` shows."""
MAX_TEXTS = 5
"""Texts of telemetry that `replay` shows of a turn, and notes of a game."""
WORDS = "Enter: next   back   first   last   a number: that turn   quit"


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome replay games/m-0123456789abcdef.json",
        "ludodrome replay game.json --turn 12",
        "ludodrome replay games --verify",
    ),
)
def replay(
    paths: Paths,
    verify: Annotated[
        bool, typer.Option("--verify", help="Replay the records by the rules and compare everything.")
    ] = False,
    turn: Annotated[int | None, typer.Option(metavar="N", show_default=False, help="Show only this turn.")] = None,
) -> None:
    """Step through a recorded game, or verify recorded games.

    In a terminal, Enter shows the next turn; to a file or pipe the whole game is written. With --verify you can give
    several files and folders; exit code 1 means that a record is wrong.
    """
    if verify:
        _verify(paths)
        return
    games = _found(paths)
    if len(games) != 1:
        raise CommandError(f"replay shows one game, but {', '.join(paths)} has {len(games)}")
    with command_errors(), console.compiling(games[0]["game"]):
        arena_records.verify(games[0])
        player = RecordViewer(games[0])
    if turn is not None:
        player.go(turn)
    elif sys.stdin.isatty() and sys.stdout.isatty():
        player.step_through()
    else:
        player.write_all()


@app.command(cls=Command, epilog=examples("ludodrome rerun game.json --seat 0 py:mine.py:MyBot"))
def rerun(
    path: Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="Record of a game.")],
    bot: Annotated[
        str | None,
        typer.Argument(metavar="BOT", show_default=False, help="Bot to ask. Default: the recorded one."),
    ] = None,
    seat: Annotated[int, typer.Option(metavar="N", help="Seat of the bot.")] = 0,
    first: Annotated[bool, typer.Option("--first", help="Stop at the first difference.")] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="Play the whole game again with all recorded bots and compare the records.")
    ] = False,
    json: Json = False,
) -> None:
    """Ask a bot for the moves of a recorded game and compare.

    The bot gets the recorded seed and every position of its seat; the game continues as recorded. With --whole the
    game is played anew: under fuel, WebAssembly and built-in bots repeat it exactly. Exit code 1 means that something
    differs.
    """
    games = _found([path])
    if len(games) != 1:
        raise CommandError(f"rerun takes one game, but {path} has {len(games)}")
    record = games[0]
    if whole and (bot is not None or seat or first):
        raise CommandError("--whole plays the recorded bots in all seats: it takes no bot, no --seat and no --first")
    with command_errors():
        with console.compiling(record["game"]):
            arena_records.verify(record)
        if whole:
            _play_again(record, json)
            return
        echoes = []
        try:
            for echo in replays.rerun(record, seat, bot):
                echoes.append(echo)
                if not json and not echo.same:
                    _show_departure(record, echo)
                if first and not echo.same:
                    break
        except KeyboardInterrupt:
            console.complain("stopped")
            raise typer.Exit(INTERRUPTED) from None
    departed = sum(not echo.same for echo in echoes)
    if json:
        _print_json([_echo_json(echo) for echo in echoes])
    else:
        asked = f"{len(echoes)} turns of seat {seat}"
        console.say(f"{asked}: all moves are the same" if not departed else f"{asked}: {departed} differ")
    if departed:
        raise typer.Exit(NO)


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome records games --game dots --winner greedy",
        "ludodrome records games --verdict timeout --json",
        "ludodrome records games --export csv --out games.csv",
        "ludodrome records games --export moves --out moves.csv",
        "ludodrome records games.txt --export jsonl",
    ),
)
def records(
    paths: Paths,
    game: OnlyGame = None,
    bot: OnlyBot = None,
    winner: OnlyWinner = None,
    reason: Annotated[
        str | None, typer.Option(metavar="TEXT", show_default=False, help="Only games that ended for this reason.")
    ] = None,
    verdict: Annotated[
        str | None,
        typer.Option(metavar="CAUSE", show_default=False, help="Only games with this verdict, like timeout or crash."),
    ] = None,
    export: Annotated[
        str | None,
        typer.Option(
            metavar="FORM",
            show_default=False,
            help="Export as jsonl, csv (a row a game), moves (CSV, a row a move) or text.",
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", show_default=False, help="File to export to. Default: stdout.")
    ] = None,
    json: Json = False,
) -> None:
    """List, filter and export recorded games; show why bots failed."""
    with command_errors():
        wanted = archive.RecordFilter(game, bot, winner, reason, verdict)
    chosen = [record for record in _found(paths) if record in wanted]
    if export is not None:
        _export(chosen, export, out)
    elif json:
        _print_json(
            [
                {**archive.facts(record), "failures": _failures_json(record), "notes": record.get("notes", [])}
                for record in chosen
            ]
        )
    else:
        _list(chosen)


def _found(paths: list[str]) -> list[dict[str, Any]]:
    with command_errors():
        return list(archive.find(paths))


def _verify(paths: list[str]) -> None:
    """Verify every record and complain about each wrong one."""
    held = failed = sealed = 0
    with command_errors(), console.bar("verifying") as advance:
        for record in archive.find(paths):
            try:
                arena_records.verify(record)
                held += 1
                sealed += arena_records.is_withheld(record)
            except arena_records.BadRecord as wrong:
                failed += 1
                console.complain(f"{record.get('match', 'a record')} is wrong: {wrong}")
            advance(held + failed, held + failed)
    if not held + failed:
        raise CommandError(f"{', '.join(paths)} has no record")
    console.say(f"{held} of {held + failed} records are correct")
    if sealed:
        console.say(f"{sealed} of them are without their seeds, which were not verified: they are published later")
    if failed:
        raise typer.Exit(NO)


def _export(chosen: list[dict[str, Any]], form: str, out: str | None) -> None:
    with command_errors():
        lines = archive.export(chosen, form)
        if out is None:
            for line in lines:
                console.say_data(line)
            return
        text = "".join(f"{line}\n" for line in lines)
    try:
        write_whole(Path(out), text.encode())
    except OSError as error:
        raise CommandError(f"{out} cannot be written: {error.strerror}") from error


def _list(chosen: list[dict[str, Any]]) -> None:
    rows = [
        (
            record["match"],
            record["game"],
            " - ".join(record["names"]),
            str(len(record["opening"]) + len(record["turns"])),
            archive.winner_name(record),
            record["result"]["reason"],
        )
        for record in chosen
    ]
    if rows:
        console.show_table(("match", "game", "players", "turns", "winner", "reason"), rows, ("turns",))
    console.say(f"{len(rows)} games" if len(rows) != 1 else "1 game")
    _list_failures(chosen)
    _list_notes(chosen)


def _list_failures(chosen: list[dict[str, Any]]) -> None:
    """Why bots failed in these games: each distinct reason once, with what was sent and the end of standard error."""
    found: dict[tuple[str, str, str], list[tallies.Failure]] = {}
    for record in chosen:
        for failure in tallies.game_result(record).failures:
            kind = record["names"][failure.seat], failure.cause, failure.why
            found.setdefault(kind, []).append(failure)
    if not found:
        return
    console.say("\nfailures:")
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    for (name, cause, why), failures in ranked[:MAX_FAILURES]:
        games = "1 game" if len(failures) == 1 else f"{len(failures)} games"
        console.say(f"  {name}, {games}: {cause}: {console.printable(why, True)}")
        for line in failures[0].details():
            console.say(f"    {console.printable(line, True)}")
    if len(ranked) > MAX_FAILURES:
        console.say(f"  and {len(ranked) - MAX_FAILURES} other reasons")


def _list_notes(chosen: list[dict[str, Any]]) -> None:
    """What was noted about bots: answers that were dropped, lines that were ignored."""
    games: dict[str, list[str]] = {}
    for record in chosen:
        for note in tallies.seat_notes(record):
            games.setdefault(record["names"][note.seat], []).append(note.first)
    if games:
        console.say("\nnotes:")
    for name, notes in sorted(games.items()):
        count = "1 game" if len(notes) == 1 else f"{len(notes)} games"
        console.say(f"  {name}, {count}; the first: {console.printable(notes[0], True)}")


def _failures_json(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": record["names"][one.seat], **one._asdict()} for one in tallies.game_result(record).failures]


def _print_json(value: Any) -> None:
    console.say_data(json.dumps(value, ensure_ascii=False, indent=2))


def _play_again(record: dict[str, Any], as_json: bool) -> None:
    again, difference = replays.play_again(record)
    if as_json:
        _print_json({"same": not difference, "difference": difference or None, "digest": again["digest"]})
    elif difference:
        console.say(console.printable(f"the game differs: {difference}", True))
    else:
        console.say(f"the game is the same: {len(record['turns'])} turns, digest {again['digest']}")
    if difference:
        raise typer.Exit(NO)


def _show_departure(record: dict[str, Any], echo: RerunTurn) -> None:
    game = make(record["game"], **record["options"])
    recorded = "nothing" if echo.recorded is None else game.format_move(echo.recorded, echo.state)
    console.say(f"turn {echo.turn}: recorded {recorded}, the bot plays {_own(game, echo)}")
    console.say(f"    {game.format_state(echo.state)}")


def _own(game: Any, echo: RerunTurn) -> str:
    if echo.fault is not None:
        return f"nothing: {echo.fault.cause}, {console.printable(echo.fault.why, True)}"
    return str(game.format_move(echo.move, echo.state))


def _echo_json(echo: RerunTurn) -> dict[str, Any]:
    fault = {"cause": echo.fault.cause, "why": echo.fault.why} if echo.fault else None
    return {
        "turn": echo.turn,
        "same": echo.same,
        "recorded": echo.recorded,
        "move": echo.move,
        "ms": round(echo.seconds * 1000, 3),
        "fault": fault,
    }


def _short(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def _evaluation(numbers: dict[str, Any]) -> str:
    """An evaluation in words: +120 at depth 9, 350,000 nodes."""
    score = f"{numbers['score']:+g}" if "score" in numbers else "no score"
    depth = f" at depth {numbers['depth']}" if "depth" in numbers else ""
    nodes = f", {numbers['nodes']:,} nodes" if "nodes" in numbers else ""
    return f"{score}{depth}{nodes}"


class RecordViewer:
    """A record on the console, one turn at a time. Position 0 is where the game began."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.record = record
        self.game = make(record["game"], **record["options"])
        opening = [{"turn": number, "move": move} for number, move in enumerate(record["opening"])]
        self.entries: list[dict[str, Any]] = opening + record["turns"]
        self.states = [arena_records.first_state(self.game, record)]
        for entry in self.entries:
            last = self.states[-1]
            self.states.append(self.game.apply(last, entry["move"]) if "move" in entry else last)

    def go(self, turn: int) -> None:
        """Show one turn and the position after it."""
        if not 0 <= turn < len(self.entries):
            raise CommandError(f"the game has turns 0 to {len(self.entries) - 1}, not {turn}")
        self.show(turn + 1)

    def write_all(self) -> None:
        """Print the whole game."""
        console.stdout().print(self.title())
        for place in range(len(self.states)):
            self.show(place)

    def step_through(self) -> None:
        """Show turn after turn, as the user asks."""
        place = 0
        console.stdout().print(self.title())
        self.show(place)
        console.stdout().print(WORDS, style="dim")
        while True:
            try:
                word = console.ask(rich_text.Text(f"{place}/{len(self.entries)}", "bold")).strip().lower()
            except (EOFError, KeyboardInterrupt):
                console.say("")
                return
            wanted = self.place_after(word, place)
            if wanted is None:
                return
            if wanted != place:
                place = wanted
                self.show(place)

    def place_after(self, word: str, place: int) -> int | None:
        """The position that a word leads to; None to quit."""
        last = len(self.entries)
        if word in ("", "next", "n"):
            return min(place + 1, last)
        if word in ("back", "b"):
            return max(place - 1, 0)
        if word in ("first", "f"):
            return 0
        if word in ("last", "l"):
            return last
        if word.isdecimal() and int(word) < last:
            return int(word) + 1
        if word in ("quit", "q"):
            return None
        console.say(WORDS)
        return place

    def show(self, place: int) -> None:
        """Print a position, the turn that led to it, and at the end the result."""
        out = console.stdout()
        if place:
            out.print(self.turn_text(self.entries[place - 1], self.states[place - 1]))
        console.draw(self.game, self.states[place])
        if place == len(self.entries):
            out.print(self.ending())
        console.say("")

    def title(self) -> Text:
        """The game and its players."""
        line = rich_text.Text(f"{self.record['match']}  {self.record['game']}  ")
        for seat, name in enumerate(self.record["names"]):
            line.append("  ").append(console.seat_name(seat, self.game)).append(f" {name}")
        return line

    def turn_text(self, entry: dict[str, Any], before: Any) -> Text:
        """The events of a turn."""
        seat = self.game.to_move(before)
        assert seat is not None
        line = (
            rich_text.Text(f"turn {entry['turn']}  ")
            .append(console.seat_name(seat, self.game))
            .append(f" {self.record['names'][seat]}: ")
        )
        line.append(self.game.move_label(entry["move"], before) if "move" in entry else "no move", "bold")
        if "ms" in entry:
            line.append(f"  {entry['ms']:g} ms", "dim")
        for refusal in entry.get("refusals", ()):
            line.append(f"\n  refused: {console.printable(refusal['why'], True)}", console.BAD)
        if verdict := entry.get("verdict"):
            played = ", the first legal move is played for it" if entry.get("substituted") else ""
            why = console.printable(verdict["why"], True)
            line.append(f"\n  {verdict['cause']}: {why}{played}", console.BAD)
        for text in entry.get("log", ()):
            line.append(f"\n  log: {console.printable(text, True)}", "dim")
        for words in self.telemetry_lines(entry, before):
            line.append(f"\n  {console.printable(words, True)}", "dim")
        return line

    def telemetry_lines(self, entry: dict[str, Any], before: Any) -> list[str]:
        """What the bots think: the last evaluation of each so far, then the line and the texts of this turn."""
        infos = entry.get("info", ())
        if not infos:
            return []
        lines = [f"evaluations: {self.evaluations(entry['turn'])}"]
        if variations := [info["pv"] for info in infos if "pv" in info]:
            lines.append(f"line: {_short(self.line_text(variations[-1], before))}")
        texts = [info["text"] for info in infos if "text" in info]
        if len(texts) > MAX_TEXTS:
            lines.append(f"{len(texts) - MAX_TEXTS} earlier texts")
        return lines + [f"text: {_short(text)}" for text in texts[-MAX_TEXTS:]]

    def evaluations(self, turn: int) -> str:
        """The last evaluation of each bot up to a turn, each from its own point of view."""
        said: dict[int, str] = {}
        for entry in self.entries[: turn + 1]:
            if numbers := telemetry.final_numbers(entry.get("info", ())):
                said[entry["seat"]] = _evaluation(numbers)
        return "; ".join(f"{self.record['names'][seat]} {said[seat]}" for seat in sorted(said)) or "none"

    def line_text(self, moves: list[Any], state: Any) -> str:
        """A line of play in the game's notation; as it was sent where it is not one of legal moves."""
        texts = []
        for number, move in enumerate(moves):
            try:
                if self.game.reads_text and type(move) is str:
                    move = self.game.parse_move(move, state)
                after = self.game.apply(state, move)
                texts.append(self.game.move_label(move, state))
                state = after
            except game_api.IllegalMove:
                rest = (one if type(one) is str else json.dumps(one, ensure_ascii=False) for one in moves[number:])
                return " ".join(["; ".join(texts), *rest]).lstrip()
        return "; ".join(texts)

    def ending(self) -> Text:
        """The result, and why bots failed."""
        result = self.record["result"]
        line = console.verdict(
            game_api.Outcome(result["winner"], result["scores"], result["returns"], result["reason"]), self.game
        )
        for failure in tallies.game_result(self.record).failures:
            name = console.printable(self.record["names"][failure.seat], True)
            line.append(f"\n{name}: {failure.cause}: {console.printable(failure.why, True)}", console.BAD)
            for words in failure.details():
                line.append(f"\n  {console.printable(words, True)}", "dim")
        for seat, notes in enumerate(self.record.get("notes", ())):
            for words in notes[:MAX_TEXTS]:
                line.append(f"\n{self.record['names'][seat]}: note: {console.printable(words, True)}", "dim")
            if len(notes) > MAX_TEXTS:
                line.append(f"\n{self.record['names'][seat]}: {len(notes) - MAX_TEXTS} more notes", "dim")
        return line
