"""The standings and the crosstable of a tournament, as values, text and CSV."""

import csv
import io
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import Any

from ludodrome.arena.tournaments.tournament import CrosstableCell, Strength, Strengths, Tournament, strengths


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of the standings."""

    place: int
    name: str
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    share: float
    """Points per game."""
    rating: Strength | None
    """None if it has no rated games."""
    verdicts: dict[str, int]
    note: str
    """A note of the format: rounds, meetings won."""

    def to_json(self) -> dict[str, Any]:
        """A plain value for JSON output."""
        return asdict(self) | {"rating": self.rating._asdict() if self.rating is not None else None}


def standings(tournament: Tournament, game: str | None = None) -> list[Standing]:
    """The standings over all games, or in one of them, best first."""
    chosen = [one for name, one in tournament.results.items() if game in (None, name)]
    notes = tournament.rounds.notes() if game is None else {}
    ratings = rated(tournament, game).ratings
    lines = []
    for name in tournament.plan.names:
        parts = [one.tally.lines[name] for one in chosen]
        games = sum(len(part.results) for part in parts)
        points = sum(part.points for part in parts)
        verdicts: Counter[str] = sum((part.verdicts for part in parts), Counter())
        lines.append(
            Standing(
                0,
                name,
                games,
                sum(part.wins for part in parts),
                sum(part.draws for part in parts),
                sum(part.losses for part in parts),
                round(points, 9),
                points / games if games else 0.0,
                ratings.get(name),
                dict(sorted(verdicts.items())),
                notes.get(name, ""),
            )
        )
    return _placed(tournament, lines, game)


def rated(tournament: Tournament, game: str | None = None) -> Strengths:
    """The ratings over all games, or in one of them."""
    return strengths([one.games for name, one in tournament.results.items() if game in (None, name)])


def _placed(tournament: Tournament, lines: list[Standing], game: str | None) -> list[Standing]:
    """Order by format, or by points if all have equally many games, else by rating."""
    order = tournament.rounds.order() if game is None else None
    if order is not None:
        ranked = [lines[number] for number in order]
    elif len({line.games for line in lines}) == 1:
        ranked = sorted(lines, key=lambda line: (-line.points, -_rating(line)))
    else:
        ranked = sorted(lines, key=lambda line: (line.rating is None, -_rating(line), -line.share))
    return [replace(line, place=place) for place, line in enumerate(ranked, 1)]


def _rating(line: Standing) -> float:
    return line.rating.rating if line.rating is not None else 0.0


def crosstable(tournament: Tournament, game: str | None = None) -> dict[tuple[str, str], CrosstableCell]:
    """All cells of the crosstable, over all games or in one of them."""
    cells: dict[tuple[str, str], CrosstableCell] = {}
    for name, results in tournament.results.items():
        if game in (None, name):
            for pair, cell in results.cells.items():
                total = cells.setdefault(pair, CrosstableCell())
                total.wins += cell.wins
                total.draws += cell.draws
                total.losses += cell.losses
    return cells


def number(value: float) -> str:
    """Points, without a trailing .0."""
    return f"{value:.1f}".removesuffix(".0")


def text_table(tournament: Tournament, game: str | None = None) -> list[str]:
    """Standings and crosstable as lines of fixed-width text; columns are the opponents' places."""
    lines, cells = standings(tournament, game), crosstable(tournament, game)
    rows = [["", "bot", "games", "points", "rating (95 %)", *(str(line.place) for line in lines)]]
    for line in lines:
        against = ["·" if rival is line else _cell(cells.get((line.name, rival.name))) for rival in lines]
        rating = str(line.rating) if line.rating is not None else ""
        rows.append([str(line.place), line.name, str(line.games), number(line.points), rating, *against])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_set(cell, at, widths[at]) for at, cell in enumerate(row)).rstrip() for row in rows]


def _set(cell: str, column: int, width: int) -> str:
    return cell.ljust(width) if column == 1 else cell.rjust(width)


def _cell(cell: CrosstableCell | None) -> str:
    return "" if cell is None else f"{number(cell.points)}/{cell.games}"


def csv_table(tournament: Tournament) -> str:
    """The standings of every game and over all games, as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names = tournament.plan.names
    writer.writerow(
        ["game", "place", "name", "games", "wins", "draws", "losses", "points", "rating", "low", "high", "note"]
        + [f"against {name}" for name in names]
    )
    several = len(tournament.results) > 1
    for game in [*([None] if several else []), *tournament.results]:
        cells = crosstable(tournament, game)
        for line in standings(tournament, game):
            rating = line.rating
            strength = [f"{one:.1f}" for one in (rating.rating, rating.low, rating.high)] if rating else ["", "", ""]
            against = [cells.get((line.name, rival)) for rival in names]
            writer.writerow(
                [game or "all", line.place, line.name, line.games, line.wins, line.draws, line.losses]
                + [number(line.points), *strength, line.note]
                + ["" if cell is None else number(cell.points) for cell in against]
            )
    return stream.getvalue()
