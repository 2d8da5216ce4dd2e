"""A tournament as one HTML page: tables and plots, no address of anything else, light or dark as the reader likes.

The numbers come from ``report.py``, the plots from ``report_plots.py``; ``report_page.css`` and ``.js`` are put in.
"""

from html import escape
from importlib.resources import files

from ludodrome.arena.matches.tallies import ranked
from ludodrome.arena.tournaments.report import Standing, crosstable, number, rated, standings
from ludodrome.arena.tournaments.report_plots import Scale, interval, length_plot, rating_plot, scale, share_bars
from ludodrome.arena.tournaments.tournament import Results, Tournament

SHADES = 10
"""Steps from nothing to everything in the heat map."""


def page(tournament: Tournament) -> str:
    """The whole page."""
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
    games = ", ".join(f"{one.name} (clock {one.conditions.clock}, {one.conditions.policy})" for one in plan.disciplines)
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
            told = f"{line.name} against {rival.name}: +{cell.wins} ={cell.draws} -{cell.losses}"
            squares.append(
                f'<td class="heat h{shade}" title="{escape(told, quote=True)}">{number(cell.points)}'
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
        return _section(results.discipline.name, '<p class="empty">No game is over yet.</p>')
    decided = [(how, tally.decided_by[how]) for how in ("play", "forfeit", "arena")]
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
    return _section(results.discipline.name, body, note)
