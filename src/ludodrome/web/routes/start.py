"""The start page: the games with a sample game each, what the reader may go on with, what the league is doing."""

import hashlib
import json
from datetime import UTC, date, datetime
from functools import cache
from typing import Any, NamedTuple

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response
from markupsafe import Markup

from ludodrome.arena.ladder.prior_ratings import prior_ratings
from ludodrome.games import GAMES, PAGE_ORDER, GameEntry, find, package_folder
from ludodrome.puzzle import Puzzle, puzzles
from ludodrome.store import league_matches
from ludodrome.web import league
from ludodrome.web.auth import Anybody
from ludodrome.web.position_view import Json, board_of
from ludodrome.web.routes.bots import check_game
from ludodrome.web.routes.puzzles import KIND_WORDS
from ludodrome.web.routes.schemas import ERROR_RESPONSES
from ludodrome.web.templating import general_page

router = APIRouter(prefix="/games", tags=["games"], responses=ERROR_RESPONSES)
pages = APIRouter(include_in_schema=False)

SAMPLE_FILE = "sample_game.json"
"""A game for the start page, in the package of the game; ``tools/sample_games.py`` makes it."""
DAILY_GRADES = (2, 3, 4)
"""Grades of the puzzle of the day."""
RECENT = 3
"""Results of the league on the page."""


class GameCard(NamedTuple):
    """A game on the start page."""

    entry: GameEntry
    feel: str
    """What it feels like, in a sentence."""
    box: str
    """The view box of its drawing; empty if there is none."""
    drawing: Markup
    """A position of its sample game, as the inside of an SVG element."""
    description: str
    """The drawing in words."""


@cache
def sample_game(game_id: str) -> Json | None:
    """The sample game of a game; None if its package has none."""
    try:
        path = package_folder(find(game_id).module) / SAMPLE_FILE
    except ValueError:  # a module without a folder
        return None
    found: Json | None = json.loads(path.read_text("utf-8")) if path.is_file() else None
    return found


@cache
def _card(game_id: str) -> GameCard:
    entry, sample = find(game_id), sample_game(game_id)
    feel = entry.game_class().feel or f"{entry.summary[0].upper()}{entry.summary[1:]}."
    if sample is None:
        return GameCard(entry, feel, "", Markup(), "")
    drawn = "".join(sample["elements"][number] for number in sample["frames"][sample["still"]])
    players = " against ".join(sample["bots"])
    return GameCard(
        entry, feel, " ".join(map(str, sample["box"])), Markup(drawn), f"A game of {entry.title}: {players}"
    )


def puzzle_of_the_day(day: date) -> Puzzle | None:
    """The same puzzle for everybody on a day, from another game on the next; None if no game has puzzles."""
    books = [book for game_id in (*PAGE_ORDER, *sorted(set(GAMES) - set(PAGE_ORDER))) if (book := puzzles(game_id))]
    if not books:
        return None
    book = books[day.toordinal() % len(books)]
    fair = [puzzle for puzzle in book if puzzle.grade in DAILY_GRADES] or book
    digest = hashlib.blake2b(day.isoformat().encode(), digest_size=8).digest()
    return fair[int.from_bytes(digest) % len(fair)]


@router.get("/{game_id}/sample")
def sample(game_id: str) -> Json:
    """A sample game for the start page: drawings as lists of SVG elements, one for every position."""
    check_game(game_id)
    found = sample_game(game_id)
    if found is None:
        raise HTTPException(404, "this game has no sample game")
    return {name: found[name] for name in ("bots", "returns", "elements", "frames", "still")}


@pages.get("/")
def start_page(request: Request, who: Anybody) -> Response:
    """The games; the last game of the reader, the puzzle of the day, the league."""
    engine, order = request.app.state.engine, (*PAGE_ORDER, *sorted(set(GAMES) - set(PAGE_ORDER)))
    mine = request.app.state.plays.lines(who.account, 1, None) if who.account is not None else []
    puzzle = puzzle_of_the_day(datetime.now(UTC).date())
    leaders = [(GAMES[game_id], line) for game_id in order for line in league.leaderboard(engine, game_id, 1)]
    return general_page(
        request,
        "start.html",
        cards=[_card(game_id) for game_id in order],
        last=next((GAMES[play.game] for play in mine if play.finished is None and play.game in GAMES), None),
        last_play=mine[0].id if mine else None,
        puzzle=puzzle,
        puzzle_game=None if puzzle is None else GAMES[puzzle.game_id],
        puzzle_task="" if puzzle is None else KIND_WORDS[puzzle.kind].format(goal=puzzle.goal),
        leaders=[(entry, line) for entry, line in leaders if line["rating"] is not None],
        recent=[league.match_json(one) for one in league_matches.recent(engine, most=RECENT)],
        measured_games=_measured_games(order),
        games_by_id=GAMES,
        first=order[0],
        data=_data(order),
    )


@cache
def _measured_games(order: tuple[str, ...]) -> int:
    """How many games the measured ratings of all games follow from."""
    return sum(sum(prior_ratings(game_id).results.values()) for game_id in order)


def _data(order: tuple[str, ...]) -> dict[str, Any]:
    return {"boards": {game_id: [GAMES[game_id].title, board_of(game_id)] for game_id in order}}
