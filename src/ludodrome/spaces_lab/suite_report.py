"""Results of tests as text, tables, JUnit XML and Markdown; ``suite_page.py`` is the HTML report."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from typing import Any

from ludodrome.games.spaces import Spaces
from ludodrome.games.spaces.boards import encode_board
from ludodrome.games.spaces.simulation import Round, RoundStep, box_board, round_frames, side_by_side
from ludodrome.spaces_lab.session_files import BoardSession, SessionTest
from ludodrome.spaces_lab.sessions import table_result
from ludodrome.spaces_lab.suites import (
    ERROR,
    FAILED,
    SKIPPED,
    STATUSES,
    BoardTestResult,
    TableRow,
    total_row,
    wilson,
)
from ludodrome.validation import plural

SIDES = ("player", "opponent")
LEGEND = (
    "● {}, the player, x its traps; ◆ {}, the opponent, y its traps; xy a trap of each".format(*Spaces.seat_names),
    "all on the common grid: the opponent's board is turned by 180 degrees",
)
"""What the signs of a drawn round mean."""
FILE_WIDTH = 100
"""Columns of drawings in files."""
NO_LIMIT = 10_000
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# Counts


def counts_of(results: Iterable[BoardTestResult]) -> dict[str, int]:
    """The number of tests by status, those with 0 included."""
    counts = dict.fromkeys(STATUSES, 0)
    for result in results:
        counts[result.status] += 1
    return counts


def counted(counts: dict[str, int]) -> str:
    """``3 tests: 2 passed, 1 failed``."""
    words = {ERROR: "error" if counts.get(ERROR) == 1 else "errors"}
    parts = [f"{count:,} {words.get(status, status)}" for status, count in counts.items() if count]
    return f"{plural(sum(counts.values()), 'test')}: {', '.join(parts)}"


# Rounds as text


def with_seat_names(text: str) -> str:
    """A sentence of the rules for people: ``seat 0`` becomes Blue."""
    return re.sub(r"\bseat ([01])\b", lambda found: Spaces.seat_name(int(found[1])), text)


def board_lines(boards: Sequence[Any], width: int = NO_LIMIT) -> list[str]:
    """Both boards as their owners see them, with their steps: side by side if that fits, else one below the other."""
    sides = [
        [f"{Spaces.seat_name(seat)} {sign}  {encode_board(board)}", *box_board(board).splitlines()]
        for seat, (sign, board) in enumerate(zip("●◆", boards, strict=True))
    ]
    beside = side_by_side(sides[0], sides[1])
    return beside if max(map(len, beside)) <= width else [*sides[0], "", *sides[1]]


def step_lines(step: RoundStep, frame: Sequence[str], width: int = NO_LIMIT) -> list[str]:
    """One step: the common grid, where it fits, with what happened on its right or below."""
    notes = [f"step {step.step}", *(f"{Spaces.seat_name(seat)}: {did}" for seat, did in enumerate(step.did))]
    notes += [f"  {with_seat_names(event.reason)}" for event in step.events]
    notes.append(f"{step.points[0]} : {step.points[1]}")
    if not frame or max(map(len, frame)) > width:
        return [", ".join(notes[:3]), *notes[3:]]
    beside = side_by_side(frame, notes)
    return beside if max(map(len, beside)) <= width else [*frame, *notes]


def verdict_line(played: Round) -> str:
    """Points, end and winner of a round."""
    points, last = played.points, len(played.steps)
    winner = "a draw" if points[0] == points[1] else f"{Spaces.seat_name(int(points[1] > points[0]))} wins"
    return f"{points[0]} : {points[1]} ({played.ended}, step {last}), {winner}"


def round_lines(boards: Sequence[Any], played: Round, size: int, width: int = NO_LIMIT) -> list[str]:
    """A round step by step, drawn, with a reason for every point."""
    frames = round_frames(played, size)
    lines = [*board_lines(boards, width), "", *wrapped(LEGEND, width), ""]
    for step, frame in zip(played.steps, frames, strict=True):
        lines += [*step_lines(step, frame, width), ""]
    return [*lines, verdict_line(played)]


def wrapped(sentences: Iterable[str], width: int) -> list[str]:
    """Sentences whose parts, separated by semicolons, go to lines of their own where a line would be too long."""
    lines: list[str] = []
    for sentence in sentences:
        lines += [sentence] if len(sentence) <= width else sentence.split("; ")
    return lines


# Tables


def table_of(rows: Sequence[TableRow], sampled: bool) -> tuple[list[str], list[list[str]]]:
    """Header and cells of a table: won, drawn and lost of one board, or a line for each of several.

    ``sampled``: the boards of the opponent are a random sample, so shares have Wilson intervals of 95 %.
    """
    if len(rows) == 1:
        row = rows[0]
        cells = [
            [word, f"{count:,}", f"{count / row.rounds:.1%}", *([_interval(count, row.rounds)] if sampled else [])]
            for word, count in (("won", row.won), ("drawn", row.drawn), ("lost", row.lost))
        ]
        return ["", "rounds", "share", *(["interval of 95 %"] if sampled else [])], cells
    cells = [
        [
            row.name,
            *(f"{count / row.rounds:.1%}" for count in (row.won, row.drawn, row.lost)),
            *([_interval(row.won, row.rounds)] if sampled else []),
            f"{(row.points[0] - row.points[1]) / row.rounds:+.3f}",
        ]
        for row in rows
    ]
    return ["board", "won", "drawn", "lost", *(["won, 95 %"] if sampled else []), "margin"], cells


def _interval(count: int, rounds: int) -> str:
    low, high = wilson(count, rounds)
    return f"{low:.1%} to {high:.1%}"


def table_totals(rows: Sequence[TableRow]) -> str:
    """The points of all rounds together, and their averages."""
    total = total_row(rows)
    means = " : ".join(f"{points / total.rounds:.2f}" for points in total.points)
    return f"{total.points[0]:,} : {total.points[1]:,} points, {means} on average"


# JUnit XML


def junit(results: Sequence[BoardTestResult], seconds: float) -> str:
    """All results as JUnit XML, as continuous integration reads it: a test suite per suite, a test case per test."""
    counts = counts_of(results)
    root = ElementTree.Element(
        "testsuites", {"name": "ludodrome spaces test", **_attributes(counts), "time": f"{seconds:.3f}"}
    )
    for name in dict.fromkeys(result.test.suite for result in results):
        own = [result for result in results if result.test.suite == name]
        suite = ElementTree.SubElement(root, "testsuite", {"name": _clean(name), **_attributes(counts_of(own))})
        for result in own:
            _case(suite, result)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _attributes(counts: dict[str, int]) -> dict[str, str]:
    total = {"tests": str(sum(counts.values()))}
    return {**total, "failures": str(counts[FAILED]), "errors": str(counts[ERROR]), "skipped": str(counts[SKIPPED])}


def _case(suite: ElementTree.Element, result: BoardTestResult) -> None:
    test = result.test
    case = ElementTree.SubElement(suite, "testcase", {"name": _clean(test.name), "classname": _clean(test.suite)})
    facts = {"player": test.sources[0], "opponent": test.sources[1], "rules": test.rules, "seed": str(test.seed)}
    facts |= {"tags": ", ".join(test.tags), "result": result.summary(), "notes": "; ".join(result.notes)}
    properties = ElementTree.SubElement(case, "properties")
    for key, value in facts.items():
        if value:
            ElementTree.SubElement(properties, "property", {"name": key, "value": _clean(value)})
    element = {FAILED: "failure", ERROR: "error", SKIPPED: "skipped"}.get(result.status)
    if element is not None:
        found = ElementTree.SubElement(case, element, {"message": _clean("; ".join(result.messages))})
        if result.status == FAILED and result.played is not None:
            found.text = _clean("\n".join(round_lines(result.boards(), result.played, result.size, FILE_WIDTH)))


def _clean(text: str) -> str:
    """A text without the characters that XML cannot hold."""
    return _NOT_XML.sub("?", text)


# JSON


def result_value(result: BoardTestResult) -> dict[str, Any]:
    """A result as JSON."""
    test, played = result.test, result.played
    value: dict[str, Any] = {
        "suite": test.suite,
        "name": test.name,
        "status": result.status,
        "messages": result.messages,
        "notes": result.notes,
        "tags": list(test.tags),
        "rules": test.rules,
        "player": test.sources[0],
        "opponent": test.sources[1],
        "expected": test.expect.words(),
    }
    if played is not None:
        codes = [encode_board(board) for board in result.boards()]
        value |= {"codes": codes, "points": played.points, "ended": played.ended, "step": len(played.steps)}
    if result.rows:
        value["seed"] = test.seed
        value["rows"] = [
            {
                "board": row.name,
                "code": row.code,
                "rounds": row.rounds,
                "points": list(row.points),
                **{word: getattr(row, word) for word in ("won", "drawn", "lost")},
                "won_interval": list(wilson(row.won, row.rounds)) if result.sampled else None,
            }
            for row in result.rows
        ]
    return value


# Sessions as Markdown


def session_markdown(session: BoardSession) -> str:
    """A session for people: what was tested, the results, and every round that failed, drawn."""
    tags = f" Tags: {', '.join(session.tags)}." if session.tags else ""
    parts = [f"# {_inline(session.name)}\n", f"{counted(session.counts())}. Started {session.started}.{tags}\n"]
    if session.notes:
        parts.append(f"{session.notes}\n")
    if session.tests:
        parts.append(_markdown_table(("#", "test", "rules", "result", "status"), [_row(one) for one in session.tests]))
    for table in session.tables:
        rows = [TableRow(**{**row, "points": tuple(row["points"])}) for row in table["rows"]]
        header, cells = table_of(rows, bool(table.get("sampled")))
        sources = " against ".join(table["sources"])
        facts = f"{sources}, {table['rules']}, seed {table.get('seed', 0)}: {table['status']}, {table_result(table)}"
        parts += [f"## {_inline(table['name'])}\n", f"{_inline(facts)}.\n", _markdown_table(header, cells)]
    if session.unplayed:
        parts.append("## Not played\n")
        lines = [f"- {one['name']} ({one['status']}): {'; '.join(one['messages'])}" for one in session.unplayed]
        parts.append("\n".join(map(_inline, lines)) + "\n")
    for one in session.tests:
        if one.status == FAILED:
            drawn = "\n".join(round_lines(one.boards, one.replay(), one.size, FILE_WIDTH))
            messages = "; ".join(one.messages)
            parts.append(f"## {one.number}. {_inline(one.title)}\n\n{_inline(messages)}\n\n```text\n{drawn}\n```\n")
    return "\n".join(parts)


def _row(test: SessionTest) -> list[str]:
    return [str(test.number), test.title, test.rules, test.result, test.status or "recorded"]


def _markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return (
        "\n".join("| " + " | ".join(_inline(cell).replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"
    )


def _inline(text: str) -> str:
    return " ".join(text.split())
