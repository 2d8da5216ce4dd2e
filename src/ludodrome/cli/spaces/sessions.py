"""The commands `session ...`: logs of board tests, listed, shown, replayed, compared and exported."""

import sys
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import NO, Command, CommandError, Group, Json, command_errors, examples
from ludodrome.cli.lazy import lazy_imports
from ludodrome.cli.spaces.boards import expect_little, print_json
from ludodrome.cli.spaces.rounds import drawing_width, show_lines

with lazy_imports():
    from rich import text as rich_text

    from ludodrome.games.spaces import simulation
    from ludodrome.spaces_lab import board_files, session_files, sessions, suite_report

if TYPE_CHECKING:
    from ludodrome.spaces_lab.session_files import BoardSession, SessionTest

app = typer.Typer(
    cls=Group,
    name="session",
    help="Keep, show, replay, compare and export logs of board tests.",
    epilog=examples(
        "ludodrome spaces session start 'size 4, corners' --tag corners",
        "ludodrome spaces session list",
        "ludodrome spaces session replay last 1",
        "ludodrome spaces session compare 3 last",
    ),
)

Which = Annotated[
    str,
    typer.Argument(metavar="SESSION", show_default=False, help="A number, last, a name, or a session file."),
]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", show_default=False, help="A tag. Repeatable. Default: none.")
]
Notes = Annotated[str, typer.Option("--notes", metavar="TEXT", show_default=False, help="Notes. Default: none.")]


def _found(text: str) -> "BoardSession":
    with command_errors(), console.compiling("spaces"):
        return sessions.find_session(text)


def _stored(text: str) -> int:
    """The number of a session in the data folder; CommandError for a file."""
    number = _found(text).number
    if number is None:
        raise CommandError(f"{text} is a file: only sessions of the data folder can be changed")
    return number


@app.command(cls=Command, epilog=examples("ludodrome spaces session start corners --tag size-4 --notes 'first try'"))
def start(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="Name of the session.")],
    tags: Tags = None,
    notes: Notes = "",
) -> None:
    """Start a session: the tests of later runs go there, until `session end`."""
    with command_errors():
        session = sessions.create_session(name, tags or [], notes)
        sessions.set_current(session.number)
    console.say(f"session {session.number} has started: {name}")


@app.command(cls=Command, epilog=examples("ludodrome spaces session end"))
def end() -> None:
    """End the session that was started: each later run makes its own."""
    with command_errors():
        current = sessions.current_session()
        if current is None:
            raise CommandError("no session was started: `session start NAME` starts one")
        sessions.set_current(None)
    console.say(f"session {current} has ended")


@app.command(
    "list", cls=Command, epilog=examples("ludodrome spaces session list", "ludodrome spaces session list --tag auto")
)
def list_sessions(
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", show_default=False, help="Only sessions with this tag. Repeatable."),
    ] = None,
    json: Json = False,
) -> None:
    """List the sessions, oldest first; * marks the one that was started."""
    with command_errors(), console.compiling("spaces"):
        found = [sessions.load_number(number) for number in sessions.session_numbers()]
        current = sessions.current_session()
    if tags:
        found = [one for one in found if {*tags} & {*one.tags}]
    if json:
        keys = ("number", "name", "started", "tags", "notes")
        print_json([{**{key: getattr(one, key) for key in keys}, "counts": one.counts()} for one in found])
        return
    rows = [
        (
            f"{one.number}{'*' if one.number == current else ''}",
            one.started[:16].replace("T", " "),
            *map(str, _columns(one.counts())),
            ", ".join(one.tags),
            one.name,
        )
        for one in found
    ]
    if rows:
        counts = ("tests", "passed", "failed")
        console.show_table(("#", "started", *counts, "tags", "name"), rows, ("#", *counts))
    else:
        console.say("there is no session yet: `ludodrome spaces test` makes one")


def _columns(counts: dict[str, int]) -> tuple[int, int, int]:
    """The numbers of tests, of those that passed, and of those that failed or could not be played."""
    return sum(counts.values()), counts.get("passed", 0), counts.get("failed", 0) + counts.get("error", 0)


@app.command(
    cls=Command,
    epilog=examples("ludodrome spaces session show last", "ludodrome spaces session show session.json --json"),
)
def show(session: Which, json: Json = False) -> None:
    """Show a session: its notes, every test with its result, and the boards that are not legal, with the rule."""
    found = _found(session)
    if json:
        print_json(session_files.session_value(found))
        return
    tags = f"; tags {', '.join(found.tags)}" if found.tags else ""
    console.say(f"{found.name}: {suite_report.counted(found.counts())}; started {found.started}{tags}")
    if found.notes:
        console.say(found.notes)
    rows = [(str(one.number), one.status or "recorded", one.rules, one.result, one.title) for one in found.tests]
    rows += [("", one["status"], one["rules"], sessions.table_result(one), one["name"]) for one in found.tables]
    rows += [("", one["status"], "", "not played", one["name"]) for one in found.unplayed]
    if rows:
        console.show_table(("#", "status", "rules", "result", "test"), rows, ("#",))
    with command_errors(), console.compiling("spaces"):
        for test in found.tests:
            for sentence in test.faults():
                console.say(f"test {test.number}: {sentence}")
    for one in found.unplayed:
        console.say(f"{one['name']}: {'; '.join(one['messages'])}")


@app.command(
    cls=Command,
    epilog=examples("ludodrome spaces session edit last --notes 'after the fix' --tag fixed"),
)
def edit(
    session: Which,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", show_default=False, help="A new name. Default: the old one.")
    ] = None,
    notes: Annotated[
        str | None,
        typer.Option("--notes", metavar="TEXT", show_default=False, help="New notes. Default: the old ones."),
    ] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", show_default=False, help="A tag to add. Repeatable.")
    ] = None,
    untag: Annotated[
        list[str] | None,
        typer.Option("--untag", metavar="TAG", show_default=False, help="A tag to remove. Repeatable."),
    ] = None,
    test: Annotated[
        int | None,
        typer.Option(
            "--test", metavar="N", min=1, show_default=False, help="Edit this test of it. Default: the session."
        ),
    ] = None,
) -> None:
    """Change the name, the notes or the tags of a session, or of one of its tests."""
    number = _stored(session)
    with command_errors(), sessions.editing(number) as found:
        what: BoardSession | SessionTest = found if test is None else found.test(test)
        what.name = what.name if name is None else name
        what.notes = what.notes if notes is None else notes
        what.tags = [tag for tag in dict.fromkeys([*what.tags, *(tags or [])]) if tag not in (untag or [])]
    console.say(f"session {number} is changed")


@app.command(cls=Command, epilog=examples("ludodrome spaces session delete 3"))
def delete(session: Which) -> None:
    """Delete a session from the data folder."""
    number = _stored(session)
    with command_errors():
        sessions.delete_session(number)
    console.say(f"session {number} is deleted")


@app.command(
    cls=Command,
    epilog=examples("ludodrome spaces session replay last 1", "ludodrome spaces session replay session.json 2 --all"),
)
def replay(
    session: Which,
    number: Annotated[int, typer.Argument(metavar="N", min=1, show_default=False, help="Number of the test.")],
    every: Annotated[bool, typer.Option("--all", help="Print all steps at once, in a terminal too.")] = False,
    json: Json = False,
) -> None:
    """Play a test of a session again, step by step; the exit code is 1 if the result differs.

    In a terminal, Enter shows the next step, b the one before, q ends.
    """
    expect_little(session)
    found = _found(session)
    with command_errors(), console.compiling("spaces"):
        test = found.test(number)
        played = test.replay()
    if json:
        steps = [{"step": one.step, "did": one.did, "points": one.points} for one in played.steps]
        print_json({"points": played.points, "ended": played.ended, "steps": steps})
    elif every or not (sys.stdin.isatty() and sys.stdout.isatty()):
        show_lines(suite_report.round_lines(test.boards, played, test.size, drawing_width()))
    else:
        _walk(test, played)
    wrong = test.expectation().judge_round(played)
    if wrong:
        console.complain(f"test {number} was recorded with another result: {'; '.join(wrong)}")
        raise typer.Exit(NO)


def _walk(test: "SessionTest", played: Any) -> None:
    """Show the steps one by one, by keys."""
    width = drawing_width()
    show_lines([*suite_report.board_lines(test.boards, width), "", *suite_report.wrapped(suite_report.LEGEND, width)])
    frames = simulation.round_frames(played, test.size)
    at = 0
    while True:
        show_lines(suite_report.step_lines(played.steps[at], frames[at], width))
        last = at == len(played.steps) - 1
        if last:
            show_lines([suite_report.verdict_line(played)])
        try:
            answer = (
                console.ask(rich_text.Text(f"step {at + 1} of {len(played.steps)}: Enter, b or q", "bold"))
                .strip()
                .lower()
            )
        except EOFError:
            return
        if answer == "q" or (last and answer != "b"):
            return
        at = max(0, at - 1) if answer == "b" else at + 1


@app.command(
    cls=Command,
    epilog=examples("ludodrome spaces session compare 3 last", "ludodrome spaces session compare session.json last"),
)
def compare(
    first: Annotated[str, typer.Argument(metavar="A", show_default=False, help="The earlier session, as in `show`.")],
    second: Annotated[str, typer.Argument(metavar="B", show_default=False, help="The later session.")],
    every: Annotated[bool, typer.Option("--all", help="List the tests that are the same, too.")] = False,
    json: Json = False,
) -> None:
    """Compare two sessions test by test; the exit code is 1 if a result differs or a test is missing.

    Tests are matched by name and rule set, those without a name by their boards.
    """
    sides = [_found(first), _found(second)]
    with command_errors():
        changes = sessions.compare(sides[0], sides[1])
    differs = [one for one in changes if one.change != "same"]
    if json:
        keys = ("name", "before", "after", "change")
        print_json([{key: getattr(one, key) for key in keys} for one in changes])
    else:
        console.say(f"A: {sides[0].name}\nB: {sides[1].name}")
        rows = [(one.change, one.before or "-", one.after or "-", one.name) for one in (changes if every else differs)]
        if rows:
            console.show_table(("change", "A", "B", "test"), rows)
        same = len(changes) - len(differs)
        console.say(f"{same} {'test' if same == 1 else 'tests'} the same, {len(differs)} not")
    if differs:
        raise typer.Exit(NO)


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome spaces session export last --out session.json",
        "ludodrome spaces session export last --out session.md",
    ),
)
def export(
    session: Which,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="FILE",
            show_default=False,
            help="Output file: .md is Markdown, else JSON. Default: stdout.",
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Write Markdown. Default: by the name of the file.")
    ] = False,
) -> None:
    """Export a session as JSON, in the layout of the public tool with further keys, or as Markdown."""
    found = _found(session)
    with command_errors(), console.compiling("spaces"):
        if markdown or (out or "").endswith(".md"):
            text = suite_report.session_markdown(found)
        else:
            text = dumps(session_files.session_value(found, grids=True), indent=1, ensure_ascii=False) + "\n"
        if out is None:
            console.say_data(text.rstrip("\n"))
            return
        board_files.write_text(out, text)
    console.say(f"session exported to {out}")
