"""A tournament as one self-contained HTML page with tables and plots, light or dark."""

import math
from collections import Counter
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import NamedTuple

from ludodrome.arena.matches.tallies import ADJUDICATION, DECISIONS, ranked
from ludodrome.arena.tournaments.report import Standing, crosstable, number, rated, standings
from ludodrome.arena.tournaments.tournament import Results, Strength, Tournament

# Plots


ROW = 28
"""Height of a row, in pixels."""
TALL = 140
"""Height of a histogram, in pixels."""
BARS = 40
"""Greatest number of bars in a histogram."""


class Scale(NamedTuple):
    """The range of a plot."""

    low: float
    high: float

    def across(self, value: float) -> str:
        """The position of a value, in per cent."""
        return f"{4 + 92 * (value - self.low) / max(self.high - self.low, 1e-9):.2f}%"


def scale(ratings: Sequence[Strength]) -> Scale:
    """The range that covers all ratings with their intervals."""
    return Scale(min((one.low for one in ratings), default=0.0), max((one.high for one in ratings), default=0.0))


def steps(low: float, high: float, wanted: int = 5) -> list[float]:
    """About ``count`` round numbers between two others."""
    rough = max(high - low, 1e-9) / wanted
    size = 10 ** math.floor(math.log10(rough))
    step = next((size * times for times in (1, 2, 5) if size * times >= rough), size * 10)
    return [step * at for at in range(math.ceil(low / step), math.floor(high / step) + 1)]


def interval(one: Strength, on: Scale, marks: Sequence[float] = (0.0,)) -> str:
    """A rating as a dot on its interval, with grid lines."""
    lines = "".join(_upright(on.across(mark), mark == 0) for mark in marks if on.low <= mark <= on.high)
    return (
        f'<svg class="interval" height="{ROW}" role="img" aria-label="{one}"><title>{one}</title>{lines}'
        f'<line class="reach" x1="{on.across(one.low)}" x2="{on.across(one.high)}" y1="50%" y2="50%"/>'
        f'<circle class="dot" cx="{on.across(one.rating)}" cy="50%" r="5"/></svg>'
    )


def _upright(place: str, zero: bool) -> str:
    return f'<line class="{"axis" if zero else "grid"}" x1="{place}" x2="{place}" y1="0" y2="100%"/>'


def rating_plot(ratings: Sequence[tuple[str, Strength]]) -> str:
    """All ratings as dots on their intervals, with an axis below."""
    on = scale([one for _, one in ratings])
    marks = steps(on.low, on.high)
    rows = "".join(
        f'<span class="name" title="{escape(name)}">{escape(name)}</span>{interval(one, on, marks)}'
        for name, one in ratings
    )
    words = "".join(
        f'<text x="{on.across(mark)}" y="16" text-anchor="middle">{f"{mark:+.0f}" if mark else "0"}</text>'
        for mark in marks
    )
    return f'<div class="rows">{rows}<span></span><svg height="24" aria-hidden="true">{words}</svg></div>'


def share_bars(counts: Sequence[tuple[str, int]]) -> str:
    """Counts as bars, each with its number."""
    total = max(sum(count for _, count in counts), 1)
    rows = "".join(
        f'<span class="name" title="{escape(name)}">{escape(name)}</span>'
        f'<svg height="{ROW}" aria-hidden="true"><rect class="bar" y="6" width="{100 * count / total:.2f}%" '
        f'height="{ROW - 12}"/></svg><span class="number">{count:,} <small>{count / total:.1%}</small></span>'
        for name, count in counts
    )
    return f'<div class="rows three">{rows}</div>'


def length_plot(lengths: Counter[int]) -> str:
    """A histogram of game lengths."""
    least, most = min(lengths), max(lengths)
    wide = math.ceil((most - least + 1) / BARS)
    bars: Counter[int] = Counter()
    for length, count in lengths.items():
        bars[(length - least) // wide] += count
    columns = (most - least) // wide + 1
    tallest, step = max(bars.values()), 100 / max(columns, 8)
    parts = []
    for bar, count in sorted(bars.items()):
        high = max(1.0, count / tallest * TALL)
        parts.append(
            f'<rect class="bar" x="{bar * step + step / 20:.2f}%" width="{step * 0.9:.2f}%" y="{TALL - high:.1f}" '
            f'height="{high:.1f}"><title>{_turns(least + bar * wide, wide, most)}: {count:,} games</title></rect>'
        )
    often = min(bars, key=lambda bar: (-bars[bar], bar))
    label = (
        f"from {least} to {most} turns, most often {_turns(least + often * wide, wide, most)} ({bars[often]:,} games)"
    )
    return (
        f'<svg height="{TALL + 1}" role="img" aria-label="{label}">{"".join(parts)}'
        f'<line class="axis" x1="0" x2="100%" y1="{TALL + 0.5}" y2="{TALL + 0.5}"/></svg><p class="muted">{label}</p>'
    )


def _turns(first: int, wide: int, most: int) -> str:
    last = min(first + wide - 1, most)
    return str(first) if first == last else f"{first} to {last}"


SHADES = 10
"""Steps of the heat map."""


def page(tournament: Tournament) -> str:
    """The page."""
    plan = tournament.plan
    several = len(tournament.results) > 1
    sections = [_overall(tournament), _ratings(tournament), _heat(tournament, None)]
    if several:
        sections += [_heat(tournament, name) for name in tournament.results]
    sections += [_game(results) for results in tournament.results.values()]
    folder = files("ludodrome.arena.tournaments")
    style = folder.joinpath("report_page.css").read_text("utf-8")
    script = folder.joinpath("report_page.js").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(plan.name)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        f"{_head(tournament)}\n{''.join(sections)}</main>\n<script>\n{script}</script>\n</body>\n</html>\n"
    )


def _head(tournament: Tournament) -> str:
    plan = tournament.plan
    state = "finished" if tournament.finished else "unfinished"
    games = ", ".join(f"{one.name} (clock {one.conditions.clock}, {one.conditions.policy})" for one in plan.settings)
    how = "home and away, " if plan.home_and_away else ""
    return (
        f"<header><h1>{escape(plan.name)}</h1>"
        f'<p class="muted">{escape(plan.format)}, {how}{len(plan.entrants)} bots, '
        f"{tournament.played:,} of {tournament.total:,} games, {state}, seed {plan.seed}</p>"
        f'<p class="muted">{escape(games)}</p></header>'
    )


def _section(title: str, body: str, note: str = "") -> str:
    under = f'<p class="muted">{escape(note)}</p>' if note else ""
    return f"<section><h2>{escape(title)}</h2>{under}{body}</section>\n"


def _overall(tournament: Tournament) -> str:
    lines = standings(tournament)
    notes = any(line.note for line in lines)
    on = scale([line.rating for line in lines if line.rating is not None])
    head = ["#", "bot", "points", "rating", "games", "won", "drawn", "lost", "verdicts", *(["rounds"] if notes else [])]
    words = ("bot", "rating", "verdicts", "rounds")
    cells = "".join(f'<th scope="col"{"" if name in words else _NUMBER}>{name}</th>' for name in head)
    rows = "".join(_row(line, on, notes) for line in lines)
    under = " ".join(f"{note[:1].upper()}{note[1:]}." for note in rated(tournament).notes)
    table = f'<div class="wide"><table class="sorts"><thead><tr>{cells}</tr></thead><tbody>{rows}</tbody></table></div>'
    return _section("Standings", table, under)


_NUMBER = ' class="number"'


def _row(line: Standing, on: Scale, notes: bool) -> str:
    counts = "".join(f"<td{_NUMBER}>{one}</td>" for one in (line.games, line.wins, line.draws, line.losses))
    rating = '<td data-key="-99999"></td>'
    if line.rating is not None:
        ends = f"{line.rating.low:+.0f} to {line.rating.high:+.0f}"
        rating = (
            f'<td data-key="{line.rating.rating:.2f}"><span class="rated">{interval(line.rating, on)}'
            f'<b class="number">{line.rating.rating:+.0f}</b><small class="number">{ends}</small></span></td>'
        )
    verdicts = ", ".join(f"{cause} {count}" for cause, count in line.verdicts.items()) or "none"
    return (
        f'<tr><td{_NUMBER}>{line.place}</td><th scope="row" title="{escape(line.name)}">{escape(line.name)}</th>'
        f"<td{_NUMBER}>{number(line.points)}</td>{rating}{counts}<td>{verdicts}</td>"
        + (f"<td>{escape(line.note)}</td>" if notes else "")
        + "</tr>"
    )


def _ratings(tournament: Tournament) -> str:
    known = [(line.name, line.rating) for line in standings(tournament) if line.rating is not None]
    if not known:
        return _section("Ratings", '<p class="empty">No game that counts is over yet.</p>')
    known.sort(key=lambda item: -item[1].rating)
    return _section("Ratings", rating_plot(known), "Elo points from the mean, with the interval of 95 %.")


def _heat(tournament: Tournament, game: str | None) -> str:
    lines, cells = standings(tournament, game), crosstable(tournament, game)
    title = "Scores" if game is None else f"Scores in {game}"
    if not cells:
        return _section(title, '<p class="empty">No game that counts is over yet.</p>')
    head = "".join(f'<th scope="col" class="heading" title="{escape(line.name)}">{line.place}</th>' for line in lines)
    rows = []
    for line in lines:
        squares = []
        for rival in lines:
            cell = cells.get((line.name, rival.name))
            if cell is None:
                squares.append(f'<td class="none">{"·" if rival is line else ""}</td>')
                continue
            shade = round(cell.points / cell.games * SHADES)
            label = f"{line.name} against {rival.name}: +{cell.wins} ={cell.draws} -{cell.losses}"
            squares.append(
                f'<td class="heat h{shade}" title="{escape(label, quote=True)}">{number(cell.points)}'
                f"<small>/{cell.games}</small></td>"
            )
        name = escape(line.name)
        first = f'<td{_NUMBER}>{line.place}</td><th scope="row" title="{name}">{name}</th>'
        rows.append(f"<tr>{first}{''.join(squares)}</tr>")
    table = (
        f'<div class="wide"><table class="cross"><thead><tr><th></th><th></th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
    return _section(title, table, "Points of the bot in the line against the bot in the column; green won, red lost.")


def _game(results: Results) -> str:
    tally = results.tally
    if not tally.games:
        return _section(results.settings.name, '<p class="empty">No game is over yet.</p>')
    decided = [(how, tally.decided_by[how]) for how in DECISIONS if how != ADJUDICATION or tally.decided_by[how]]
    rated_games = tally.games - tally.unrated
    seats = ", ".join(
        f"seat {seat} {points / max(rated_games, 1):.1%}" for seat, points in enumerate(tally.seat_points)
    )
    body = (
        f'<div class="plots"><figure><figcaption>How games ended</figcaption>{share_bars(ranked(tally.reasons))}'
        f"</figure><figure><figcaption>What decided them</figcaption>{share_bars(decided)}</figure>"
        f"<figure><figcaption>How long they were</figcaption>{length_plot(results.lengths)}</figure></div>"
    )
    note = f"{tally.games:,} games; points by seat: {seats}; {tally.by_harness} decided by the harness, not by play."
    return _section(results.settings.name, body, note)
