"""The command `test`: suites of board tests, as a test runner."""

import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import NO, Command, CommandError, Json, command_errors, examples, interruptible
from ludodrome.cli.lazy import lazy_imports
from ludodrome.cli.spaces.boards import SMALL_FILE, checked_rules, expect_little, print_json
from ludodrome.cli.spaces.rounds import drawing_width, show_lines

with lazy_imports():
    from rich import padding as rich_padding
    from rich import text as rich_text

    from ludodrome.spaces_lab import board_files, board_sources, sessions, suite_page, suite_report, suites

if TYPE_CHECKING:
    from ludodrome.spaces_lab.session_files import BoardSession
    from ludodrome.spaces_lab.suites import BoardTest, BoardTestResult

app = typer.Typer()

COLOURS = {"passed": console.GOOD, "failed": console.BAD, "error": console.BAD, "skipped": "dim"}
LISTED = 20
"""Rows of a table that the terminal shows; files have all."""
_MARGIN = 9
_SETTINGS = ("rules", "size", "count", "seed", "boards")
_EXPECTED = ("winner", "points", "ended", "step", "min_won", "max_lost")


def _option(flag: str, metavar: str, text: str, **settings: Any) -> Any:
    return typer.Option(flag, metavar=metavar, show_default=False, help=text, **settings)


@app.command(
    "test",
    cls=Command,
    epilog=examples(
        "ludodrome spaces test suite.toml",
        "ludodrome spaces test --player 3:1:uuf --opponent 3:0:u6uf --expect player --points 3:2",
        "ludodrome spaces test --player 4:1:uuuf --opponent random --count 1000 --rules live",
        "ludodrome spaces test suite.toml --tag quick --junit report.xml --html report.html",
        "ludodrome spaces test --last --failed",
        "ludodrome spaces test suite.toml --watch",
    ),
)
def run_suites(
    suites_: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SUITE",
            show_default=False,
            help="Suites in TOML or JSON, or sessions; a session is expected to give its results again.",
        ),
    ] = None,
    player: Annotated[
        str | None,
        _option(
            "--player",
            "BOARD",
            "Seat 0 of a single test: a code, FILE, FILE#3, FILE#NAME, FILE#index:0, JSON, builder, random, generated, "
            "generated:7, generated:7-20, best-response, deck:FILE or all:FILE.",
        ),
    ] = None,
    opponent: Annotated[str | None, _option("--opponent", "BOARD", "Seat 1 of it, in the same forms.")] = None,
    expect: Annotated[
        str | None,
        _option("--expect", "WHO", "Who wins: player, opponent or tie; of a table, by all points. Default: anyone."),
    ] = None,
    points: Annotated[
        str | None, _option("--points", "A:B", "Expected points of player and opponent. Default: any.")
    ] = None,
    ended: Annotated[
        str | None, _option("--ended", "HOW", "Expected end: goal, collision, trap or complete. Default: any.")
    ] = None,
    step: Annotated[
        int | None, _option("--step", "N", "Step in which the round ends, from 1. Default: any.", min=1)
    ] = None,
    min_won: Annotated[
        float | None, _option("--min-won", "SHARE", "Least share of rounds won, 0 to 1. Default: 0.", min=0, max=1)
    ] = None,
    max_lost: Annotated[
        float | None, _option("--max-lost", "SHARE", "Greatest share of rounds lost, 0 to 1. Default: 1.", min=0, max=1)
    ] = None,
    rules: Annotated[
        str | None, _option("--rules", "RULES", "Rule set of tests that name none: written or live. Default: written.")
    ] = None,
    size: Annotated[
        int | None,
        _option("--size", "N", "Rows and columns where no board says so, 2 to 100. Default: none.", min=2, max=100),
    ] = None,
    count: Annotated[
        int | None, _option("--count", "N", "Number of random boards on a side. Default: 1.", min=1)
    ] = None,
    seed: Annotated[int | None, _option("--seed", "S", "Random seed of random boards. Default: 0.", min=0)] = None,
    boards: Annotated[
        str | None,
        _option(
            "--boards",
            "DEGREE",
            "What boards must be: playable, or legal, which skips tests with other boards. Default: playable; for "
            "sessions of the public tool, legal.",
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        _option("--name", "TEXT", "Only tests with this in their name; * and ? are patterns. Repeatable."),
    ] = None,
    tags: Annotated[list[str] | None, _option("--tag", "TAG", "Only tests with this tag. Repeatable.")] = None,
    last: Annotated[bool, typer.Option("--last", help="Run the tests of the last run again.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="With --last: only those that did not pass.")] = False,
    stop: Annotated[bool, typer.Option("--stop", help="Stop after the first test that does not pass.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Run again whenever a suite or a board file changes, until Ctrl-C.")
    ] = False,
    interval: Annotated[
        float, typer.Option("--interval", metavar="S", min=0.05, help="Seconds between looks at the files.")
    ] = 0.5,
    list_: Annotated[bool, typer.Option("--list", help="List the tests instead of running them.")] = False,
    steps: Annotated[bool, typer.Option("--steps", help="Draw the rounds of tests that passed, too.")] = False,
    junit: Annotated[str | None, _option("--junit", "FILE", "Write JUnit XML to this file.")] = None,
    html: Annotated[str | None, _option("--html", "FILE", "Write an HTML report with drawings to this file.")] = None,
    session: Annotated[
        str | None,
        _option(
            "--session", "NAME", "Session to record in, made if it is new. Default: the one started, or a new one."
        ),
    ] = None,
    no_session: Annotated[bool, typer.Option("--no-session", help="Record nothing.")] = False,
    json: Json = False,
) -> None:
    """Test boards: play pairs of boards and compare with what is expected.

    Prints pass or fail, and the round step by step where a test fails. A side of several boards makes a table: shares
    of rounds won, drawn and lost, against random boards with intervals of 95 %. The exit code is 1 if a test did not
    pass.
    """
    if rules is not None:
        checked_rules(rules)
    expected = (expect, _read_points(points), ended, step, min_won, max_lost)
    wanted: dict[str, Any] = {
        "suites": [os.path.abspath(path) for path in suites_ or []],
        "folder": os.getcwd(),
        "test": _single(player, opponent, dict(zip(_EXPECTED, expected, strict=True))),
        "names": names or [],
        "tags": tags or [],
        "settings": {
            key: value
            for key, value in zip(_SETTINGS, (rules, size, count, seed, boards), strict=True)
            if value is not None
        },
    }
    _expect(suites_ or [], [side for side in (player, opponent) if side is not None])
    run = _Run(wanted, last, failed, stop, steps, junit, html, session, no_session, json)
    with command_errors():
        if list_:
            _list_tests(run.tests())
            return
        if watch:
            run.watch(interval)
            return
        if not run.once():
            raise typer.Exit(NO)


def _expect(paths: Sequence[str], sides: Sequence[str]) -> None:
    """Prepare for these tests: without compiled kernels if they are few, single rounds, and need no search."""
    texts = list(sides)
    with suppress(OSError, ValueError):  # what is wrong with a suite is said when it is read
        texts += [Path(path).read_text("utf-8") for path in paths if os.path.getsize(path) <= SMALL_FILE]
    if texts and not any(re.search("random|generated|best-response|deck:|all:", text) for text in texts):
        expect_little(*paths, *sides)


def _read_points(text: str | None) -> list[int] | None:
    if text is None:
        return None
    parts = text.split(":")
    if len(parts) != 2 or not all(part.strip().isdecimal() for part in parts):
        raise CommandError(f"points are written like 3:2, the player's first, not {text!r}")
    return [int(part) for part in parts]


def _single(player: str | None, opponent: str | None, expected: dict[str, Any]) -> dict[str, Any] | None:
    """The test that the options describe, as in a suite."""
    expect = {key: value for key, value in expected.items() if value is not None}
    if player is None and opponent is None:
        if expect:
            raise CommandError(
                "--expect, --points and the like go with --player and --opponent; suites say it themselves"
            )
        return None
    if player is None or opponent is None:
        raise CommandError("a test has two sides: give --player and --opponent")
    return {"name": f"{player} against {opponent}", "player": player, "opponent": opponent, "expect": expect}


def _list_tests(tests: Sequence["BoardTest"]) -> None:
    rows = [(test.suite, test.rules, ", ".join(test.tags), test.name) for test in tests]
    console.show_table(("suite", "rules", "tags", "test"), rows)


class _Run:
    """One call of the command."""

    def __init__(
        self,
        wanted: dict[str, Any],
        last: bool,
        failed: bool,
        stop: bool,
        steps: bool,
        junit: str | None,
        html: str | None,
        session: str | None,
        no_session: bool,
        json: bool,
    ) -> None:
        self.stop, self.steps, self.junit, self.html, self.json = stop, steps, junit, html, json
        self.session_name, self.no_session = session, no_session
        self.session: BoardSession | None = None
        self.files: set[Path] = set()
        """What --watch looks at."""
        self.statuses: dict[str, str] = {}
        self.failed = failed
        with command_errors():
            self.wanted = self._recalled(wanted) if last else wanted
        if failed and not last:
            raise CommandError("--failed goes with --last: it runs those tests of the last run that did not pass")
        if not self.wanted["suites"] and self.wanted["test"] is None:
            raise CommandError("what to test? Give a suite, or --player and --opponent, or --last")
        if no_session and session is not None:
            raise CommandError("--session and --no-session exclude each other")

    def _recalled(self, wanted: dict[str, Any]) -> dict[str, Any]:
        if wanted["suites"] or wanted["test"] is not None or wanted["settings"]:
            raise CommandError("--last runs the same tests with the same settings: give neither suites nor boards")
        before = sessions.load_last_run()
        self.statuses = before["statuses"]
        asked: dict[str, Any] = before["asked"]
        return {**asked, "names": wanted["names"] or asked["names"], "tags": wanted["tags"] or asked["tags"]}

    # Tests

    def tests(self) -> list["BoardTest"]:
        """The tests to run; ValueError says why there is none."""
        found: list[BoardTest] = []
        settings = self.wanted["settings"]
        self.title, self.about = [], []
        for path in self.wanted["suites"]:
            self.files.add(Path(path))
            suite = sessions.read_tests(path, **settings)
            self.title.append(suite.name)
            self.about.append(suite.notes)
            found += suite.tests
        if self.wanted["test"] is not None:
            value = {"name": "command line", "tests": [self.wanted["test"]]}
            found += suites.parse_suite(value, str(Path(self.wanted["folder"], "command line")), **settings).tests
            self.title.append(self.wanted["test"]["name"])
        chosen = suites.select(found, self.wanted["names"], self.wanted["tags"])
        if not chosen:
            raise ValueError(f"no test has such a name or tag; there are {len(found)} in all: --list lists them")
        if self.failed:
            chosen = [test for test in chosen if self.statuses.get(test.id) in (suites.FAILED, suites.ERROR)]
        return chosen

    def once(self) -> bool:
        """Run the tests once; whether all passed."""
        tests = self.tests()
        if not tests:
            console.say("nothing failed in the last run")
            return True
        began = time.monotonic()
        results: list[BoardTestResult] = []
        try:
            with console.compiling("spaces"):
                for result in self._results(tests):
                    results.append(result)
                    if not self.json:
                        _show_result(result, many=len({one.suite for one in tests}) > 1)
        finally:
            if results:
                self._report(results, time.monotonic() - began)
        return not any(result.status in (suites.FAILED, suites.ERROR) for result in results)

    def _results(self, tests: Sequence["BoardTest"]) -> Iterator["BoardTestResult"]:
        reader = board_sources.BoardReader()
        running = suites.run_tests(tests, reader)
        try:
            while (result := interruptible(lambda: next(running, None))) is not None:
                yield result
                if self.stop and result.status in (suites.FAILED, suites.ERROR):
                    break
        finally:
            self.files |= reader.files

    # Results

    def _report(self, results: Sequence["BoardTestResult"], seconds: float) -> None:
        self.statuses |= {result.test.id: result.status for result in results}
        sessions.save_last_run({"asked": self.wanted, "statuses": self.statuses})
        if not self.no_session:
            self._record(results)
        counts = suite_report.counts_of(results)
        if self.json:
            value: dict[str, Any] = {**counts, "session": self.session.number if self.session else None}
            print_json({**value, "tests": [suite_report.result_value(result) for result in results]})
        else:
            for result in results:
                if result.played is not None and (self.steps or result.status == suites.FAILED):
                    _show_round(result)
            kept = f"; session {self.session.number}" if self.session else ""
            console.say(f"{suite_report.counted(counts)} in {seconds:.2f} s{kept}")
        if self.junit is not None:
            board_files.write_text(self.junit, suite_report.junit(results, seconds))
        if self.html is not None:
            title, about = ", ".join(self.title), " ".join(filter(None, self.about))
            when = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
            board_files.write_text(self.html, suite_page.page(results, title, when, about))

    def _record(self, results: Sequence["BoardTestResult"]) -> None:
        if self.session is None:
            self.session = self._open_session()
        assert self.session.number is not None
        with sessions.editing(self.session.number) as session:
            sessions.record(session, results)

    def _open_session(self) -> "BoardSession":
        if self.session_name is None:
            current = sessions.current_session()
            if current is not None:
                return sessions.load_number(current)
            return sessions.create_session(", ".join(self.title), [sessions.AUTO])
        for number in sessions.session_numbers():
            session = sessions.load_number(number)
            if str(number) == self.session_name or (
                session.name == self.session_name and sessions.AUTO not in session.tags
            ):
                return session
        return sessions.create_session(self.session_name)

    # Watching

    def watch(self, interval: float) -> None:
        """Run the tests, and again whenever one of their files changes, until Ctrl-C."""
        try:
            while True:
                try:
                    self.once()
                except ValueError as error:
                    console.complain(str(error))
                seen = self._stamps()
                console.say(f"watching {len(seen)} {'file' if len(seen) == 1 else 'files'}; Ctrl-C ends")
                while self._stamps() == seen:
                    time.sleep(interval)
                console.say(f"\nchanged at {datetime.now():%H:%M:%S}")
        except KeyboardInterrupt:
            console.say("\nended")

    def _stamps(self) -> dict[Path, tuple[int, int] | None]:
        """Modification time and size of each file; None for one that is missing."""
        stamps: dict[Path, tuple[int, int] | None] = {}
        for path in self.files:
            try:
                found = path.stat()
                stamps[path] = (found.st_mtime_ns, found.st_size)
            except OSError:
                stamps[path] = None
        return stamps


# What the terminal shows


def _show_result(result: "BoardTestResult", many: bool) -> None:
    """A line with status, name and result; below it what is to be said about the test, and its table."""
    out, test = console.stdout(), result.test
    name = f"{test.suite}: {test.name}" if many else test.name
    line = rich_text.Text(f"{result.status:>7}", COLOURS[result.status])
    summary = result.summary()
    fits = not sys.stdout.isatty() or _MARGIN + len(name) + 2 + len(summary) <= out.width
    line.append(f"  {name}" + (f"  {summary}" if fits and summary else ""), "default")
    out.print(line, soft_wrap=True)
    said = [*([] if fits else [summary]), *result.messages, *result.notes]
    for sentence in said:
        if sys.stdout.isatty():
            out.print(rich_padding.Padding(rich_text.Text(sentence), (0, 0, 0, _MARGIN), expand=False))
        else:
            console.say(" " * _MARGIN + sentence)
    if result.rows:
        _show_rows(result)


def _show_round(result: "BoardTestResult") -> None:
    """The round of a test, step by step, with what was expected."""
    assert result.played is not None
    test = result.test
    console.stdout().print(
        rich_text.Text(f"\n{result.status}: {test.name}", f"bold {COLOURS[result.status]}"), soft_wrap=True
    )
    for sentence in (test.notes, f"rules {test.rules}; expected: {test.expect.words()}"):
        if sentence:
            console.say(sentence)
    show_lines(["", *suite_report.round_lines(result.boards(), result.played, result.size, drawing_width())])


def _show_rows(result: "BoardTestResult") -> None:
    header, rows = suite_report.table_of(result.rows, result.sampled)
    seed = f", seed {result.test.seed}" if result.sampled else ""
    console.say(f"{' ' * _MARGIN}{suite_report.table_totals(result.rows)}{seed}")
    indented = [" " * _MARGIN + header[0], *header[1:]]
    shown = [[" " * _MARGIN + row[0], *row[1:]] for row in rows[:LISTED]]
    console.show_table(indented, shown, indented[1:])
    if len(rows) > LISTED:
        console.say(f"{' ' * _MARGIN}and {len(rows) - LISTED:,} more; --json has all")
