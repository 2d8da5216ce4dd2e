"""Results of tests as one self-contained HTML page with drawings, light or dark."""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from ludodrome.games.spaces.boards import TRAP, Steps, encode_board, parse_playable, steps_of
from ludodrome.games.spaces.simulation import Round
from ludodrome.spaces_lab.suite_report import SIDES, counted, counts_of, table_of, table_totals
from ludodrome.spaces_lab.suites import ERROR, FAILED, STATUSES, BoardTestResult

CELL = 44
"""Width of a square, in units of the drawing."""
GUTTER, BAND, MARGIN = 34, 16, 4
"""Room for row numbers on the left, for column numbers above, and around everything."""
APART = 9
"""How far the two pieces are drawn from the middle of a square, so that both can be seen."""
MAX_FILM = 10
"""Up to this size the steps of a failed round are drawn one by one."""
MAX_ROWS = 1000
"""Rows of a table that are shown."""
MAX_DRAWN = 40
"""Up to this size rounds are drawn."""


def page(results: Sequence[BoardTestResult], title: str, when: str, about: str = "") -> str:
    """The page: what failed comes first, then a table of all tests, then all rounds."""
    style = files("ludodrome.spaces_lab").joinpath("suite_page.css").read_text("utf-8")
    wrong = [result for result in results if result.status in (FAILED, ERROR)]
    rest = [result for result in results if result.status not in (FAILED, ERROR)]
    sections = [_details("What did not pass", wrong, opened=True)] if wrong else []
    sections += [_all(results)]
    if any(result.played is not None or result.rows for result in rest):
        sections.append(_details("Rounds and tables", rest, opened=False))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        f"{_head(results, title, when, about)}{''.join(sections)}</main>\n</body>\n</html>\n"
    )


def _head(results: Sequence[BoardTestResult], title: str, when: str, about: str) -> str:
    counts = counts_of(results)
    bars = "".join(
        f'<span class="{status}" style="width:{100 * counts[status] / max(1, len(results)):.2f}%"></span>'
        for status in STATUSES
        if counts[status]
    )
    words = escape(counted(counts))
    notes = f"<p>{escape(about)}</p>" if about else ""
    return (
        f"<header><h1>{escape(title)}</h1>{notes}"
        f'<div class="bar" role="img" aria-label="{words}">{bars}</div>'
        f'<p>{words}</p><p class="muted">{escape(when)}</p></header>\n'
    )


def _all(results: Sequence[BoardTestResult]) -> str:
    names = ("status", "test", "player", "opponent", "rules", "result", "expected")
    extra = ("player", "opponent", "rules", "expected")
    head = "".join(f'<th scope="col"{_extra(name in extra)}>{name}</th>' for name in names)
    rows = "".join(_row(result) for result in results)
    table = f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    return f"<section><h2>All tests</h2>{table}</section>\n"


def _extra(is_extra: bool) -> str:
    return ' class="extra"' if is_extra else ""


def _row(result: BoardTestResult) -> str:
    test = result.test
    sources = "".join(f'<td class="extra"><code>{escape(one)}</code></td>' for one in test.sources)
    said = escape(result.summary() or "; ".join(result.messages))
    return (
        f'<tr><td class="status {result.status}">{result.status}</td><th scope="row">{escape(test.name)}</th>{sources}'
        f'<td class="extra">{test.rules}</td><td>{said}</td><td class="extra">{escape(test.expect.words())}</td></tr>'
    )


def _details(title: str, results: Iterable[BoardTestResult], opened: bool) -> str:
    parts = "".join(_detail(result, opened) for result in results if result.played or result.rows or result.messages)
    return f"<section><h2>{title}</h2>{parts}</section>\n"


def _detail(result: BoardTestResult, opened: bool) -> str:
    test = result.test
    messages = "".join(f'<li class="wrong">{escape(one)}</li>' for one in result.messages)
    notes = "".join(
        f'<li class="muted">{escape(one)}</li>' for one in (*([test.notes] if test.notes else []), *result.notes)
    )
    facts = [f"rules {test.rules}", *([f"seed {test.seed}"] if result.sampled else []), *test.tags]
    body = _round(result) if result.played is not None else _table(result) if result.rows else ""
    return (
        f"<details{' open' if opened else ''}><summary>"
        f'<span class="status {result.status}">{result.status}</span><h3>{escape(test.name)}</h3>'
        f'<span class="muted">{escape(result.summary())}</span></summary>'
        f'<p class="muted">{escape(test.suite)}; {escape(", ".join(facts))}</p>'
        f"{f'<ul>{messages}{notes}</ul>' if messages or notes else ''}{body}</details>"
    )


# Tables


def _table(result: BoardTestResult) -> str:
    header, rows = table_of(result.rows, result.sampled)
    head = "".join(f'<th scope="col"{_number(at > 0)}>{escape(name)}</th>' for at, name in enumerate(header))
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td{_number(True)}>{cell}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows[:MAX_ROWS]
    )
    left = f'<p class="muted">and {len(rows) - MAX_ROWS:,} more</p>' if len(rows) > MAX_ROWS else ""
    sources = " against ".join(result.test.sources)
    return (
        f'<p class="muted">{escape(sources)}: {escape(table_totals(result.rows))}</p>'
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{left}'
    )


def _number(is_number: bool) -> str:
    return ' class="number"' if is_number else ""


# Rounds


def _round(result: BoardTestResult) -> str:
    assert result.played is not None
    played, size, boards = result.played, result.size, result.boards()
    codes = [escape(encode_board(board)) for board in boards]
    key = "".join(
        f'<span><b class="k{seat}">{sign} {side}</b> <code>{code}</code></span>'
        for seat, (sign, side, code) in enumerate(zip("●◆", SIDES, codes, strict=True))
    )
    if size > MAX_DRAWN:
        return f'<div class="key">{key}</div><div class="wide">{_steps(played)}</div>'
    words = f"{result.summary()}; {SIDES[0]} {codes[0]}, {SIDES[1]} {codes[1]}"
    picture = round_svg([steps_of(parse_playable(board)[1], size) for board in boards], played, size, words)
    film = ""
    if result.status == FAILED and size <= MAX_FILM:
        frames = "".join(
            f"<figure>{step_svg(played, at, size)}<figcaption>step {at + 1}: {step.points[0]} : {step.points[1]}"
            "</figcaption></figure>"
            for at, step in enumerate(played.steps)
        )
        film = f'<div class="film">{frames}</div>'
    caption = "Both boards on the common grid: the opponent's is turned. Circles and diamonds are steps, crosses traps."
    return (
        f'<div class="key">{key}</div><div class="round"><figure>{picture}<figcaption>{caption}</figcaption></figure>'
        f'<div class="wide">{_steps(played)}</div></div>{film}'
    )


def _steps(played: Round) -> str:
    rows = "".join(
        f"<tr><td{_number(True)}>{step.step}</td><td>{escape(step.did[0])}</td><td>{escape(step.did[1])}</td>"
        f"<td{_number(True)}>{step.points[0]} : {step.points[1]}</td>"
        f'<td class="muted why">{"<br>".join(escape(event.reason) for event in step.events)}</td></tr>'
        for step in played.steps
    )
    head = "".join(
        f'<th scope="col"{_number(name in ("step", "points"))}>{name}</th>'
        for name in ("step", *SIDES, "points", "why")
    )
    return f'<table class="steps"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def round_svg(boards: Sequence[Steps], played: Round, size: int, label: str) -> str:
    """Both boards on the common grid, numbered; what was not played any more is dashed."""
    parts = [_grid(size)]
    last = len(played.steps)
    for seat, steps in enumerate(boards):
        common = [_common(seat, step, size) for step in steps]
        reached = min(last, _acted(played, seat))
        way = [_middle(row, col, seat) for row, col, kind in common[:reached] if kind != TRAP]
        rest = way[-1:] + [_middle(row, col, seat) for row, col, kind in common[reached:] if kind != TRAP]
        parts.append(_line(way, f"way s{seat}"))
        parts.append(_line(rest, f"way lapsed s{seat}") if len(rest) > 1 else "")
        for number, (row, col, kind) in enumerate(common[:reached], 1):
            x, y = _middle(row, col, seat)
            parts.append(_cross(row, col, seat, number) if kind == TRAP else _mark(x, y, seat, str(number)))
    return _svg(size, parts, label)


def step_svg(played: Round, at: int, size: int) -> str:
    """The common grid after one step: pieces and traps."""
    parts = [_grid(size)]
    for step in played.steps[: at + 1]:
        for seat, trap in enumerate(step.traps):
            if trap is not None:
                parts.append(_cross(trap[0], trap[1], seat, step.step))
    for seat, (row, col) in enumerate(played.steps[at].squares):
        x, y = _middle(row, col, seat)
        parts.append(_mark(x, y, seat, ""))
    return _svg(size, parts, f"the grid after step {at + 1}")


def _acted(played: Round, seat: int) -> int:
    """The number of steps that a side carried out."""
    return sum(step.did[seat] not in ("stopped", "") for step in played.steps)


def _common(seat: int, step: tuple[int, int, str], size: int) -> tuple[int, int, str]:
    row, col, kind = step
    return (row, col, kind) if seat == 0 else (size - 1 - row, size - 1 - col, kind)


def _middle(row: int, col: int, seat: int) -> tuple[int, int]:
    aside = -APART if seat == 0 else APART
    return GUTTER + col * CELL + CELL // 2 + aside, BAND + (row + 1) * CELL + CELL // 2 + aside


def _svg(size: int, parts: Iterable[str], label: str) -> str:
    width, height = GUTTER + size * CELL + MARGIN, BAND + (size + 2) * CELL + MARGIN
    return (
        f'<svg viewBox="0 0 {width} {height}" style="max-width:{width * 3 // 2}px" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _grid(size: int) -> str:
    """The lines, with coordinates as the player sees them, and the goal rows of both."""
    left, top, wide = GUTTER, BAND + CELL, size * CELL
    across = "".join(f"M{left},{top + at * CELL}h{wide}" for at in range(1, size))
    down = "".join(f"M{left + at * CELL},{top}v{wide}" for at in range(1, size))
    texts = [_label(left + at * CELL + CELL // 2, BAND // 2, str(at)) for at in range(size)]
    texts += [_label(left // 2, top + at * CELL + CELL // 2, str(at)) for at in range(size)]
    texts += [
        _label(left // 2, BAND + CELL // 2, "goal", "t0"),
        _label(left // 2, top + wide + CELL // 2, "goal", "t1"),
    ]
    edge = f'<rect class="edge" x="{left}" y="{top}" width="{wide}" height="{wide}"/>'
    return f'<path class="lines" d="{across}{down}"/>{edge}{"".join(texts)}'


def _label(x: int, y: int, text: str, names: str = "label") -> str:
    return f'<text class="{names}" x="{x}" y="{y}">{text}</text>'


def _line(points: Sequence[tuple[int, int]], names: str) -> str:
    return f'<polyline class="{names}" points="{" ".join(f"{x},{y}" for x, y in points)}"/>'


def _mark(x: int, y: int, seat: int, text: str) -> str:
    """A circle for the player, a diamond for the opponent, with a number."""
    names = f"mark s{seat}" if text else f"piece t{seat}"
    if seat == 0:
        shape = f'<circle class="{names}" cx="{x}" cy="{y}" r="9"/>'
    else:
        shape = f'<path class="{names}" d="M{x},{y - 11}l11,11l-11,11l-11,-11z"/>'
    return shape + (f'<text class="t{seat}" x="{x}" y="{y}">{text}</text>' if text else "")


def _cross(row: int, col: int, seat: int, number: int) -> str:
    """A trap: a cross in a corner of its square, top right for the player, bottom left for the opponent."""
    x, y = GUTTER + col * CELL, BAND + (row + 1) * CELL
    x, y = (x + CELL - 11, y + 9) if seat == 0 else (x + 11, y + CELL - 9)
    text = f'<text class="t{seat}" x="{x - 13 if seat == 0 else x + 13}" y="{y}">{number}</text>'
    return f'<path class="trap s{seat}" d="M{x - 5},{y - 5}l10,10m0,-10l-10,10"/>{text}'
