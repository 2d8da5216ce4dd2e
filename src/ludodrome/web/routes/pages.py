"""Pages: the start page, pages to play on, the rules."""

import hashlib
import html
import json
import re
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from markdown_it import MarkdownIt
from markupsafe import Markup

from ludodrome.arena.ladder.prior_ratings import prior_ratings
from ludodrome.game_extras import Diagram
from ludodrome.games import BUILT_IN, GAMES, PAGE_ORDER, GameEntry, find, package_folder
from ludodrome.puzzle import Puzzle, puzzles
from ludodrome.puzzle.lessons import FIRST_OPPONENT, lesson
from ludodrome.store import league_matches
from ludodrome.web import league
from ludodrome.web.auth import Anybody
from ludodrome.web.budgets import budget_of
from ludodrome.web.position_view import Json, board_of
from ludodrome.web.routes.puzzles import KIND_WORDS
from ludodrome.web.templating import general_page, page, seats_of

# The games in progress that a first visit finds: some moves are made, and it is your turn.
# They are read from a file, so that a page can draw its board before any rule is compiled.


OPPONENT = "level:3"


@cache
def _all() -> Json:
    read: Json = json.loads(files("ludodrome.web").joinpath("data", "showcase.json").read_text("utf-8"))
    return read


def showcase(game_id: str) -> Any:
    """``options``, ``seats``, moves (``opening``), their ``texts`` and ``movers``, the ``state`` they lead to."""
    return _all()[game_id] if game_id in BUILT_IN else _empty(game_id)


@cache
def _empty(game_id: str) -> Json:
    """The first position, for a game of another package."""
    others = find(game_id).game_class()().seats - 1
    return {
        "options": {},
        "seats": ["person"] + [OPPONENT] * others,
        "opening": [],
        "texts": [],
        "movers": [],
        "state": None,
    }


pages = APIRouter(include_in_schema=False)


# The start page: the games with a sample game each, what the reader may go on with, what the league is doing.


SAMPLE_FILE = "sample_game.json"
"""A game for the start page, in the package of the game; ``tools/sample_games.py`` makes it."""
DAILY_GRADES = (2, 3, 4)
"""Grades of the puzzle of the day."""
LATEST = 3
"""Results of the league on the start page."""


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
        recent=[league.match_json(one) for one in league_matches.recent(engine, most=LATEST)],
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
    return {
        "boards": {
            game_id: [GAMES[game_id].title, board_of(game_id), seats_of(game_id)["colours"]] for game_id in order
        }
    }


@pages.get("/favicon.ico")
def icon() -> Response:
    """For browsers that ignore the link in the page."""
    return RedirectResponse("/static/icon.svg")


@pages.get("/{game_id}")
def play(request: Request, game_id: str) -> Response:
    """Play: a game in progress."""
    first = showcase(game_id) if game_id in GAMES else None
    return page(request, "play.html", game_id, "", data=_play_data(request, game_id, None, first))


def _play_data(request: Request, game_id: str, play: str | None, first: Any) -> dict[str, Any]:
    """Data of the play page: the game, and the URL of this server for friends."""
    state = request.app.state
    data = {"game": game_id, "play": play, "showcase": first, "mode": state.mode, "address": state.public_address}
    if "first" in request.query_params:
        data["lesson"] = _first_game(game_id)
    return data


def _first_game(game_id: str) -> Json:
    """The game after a lesson: options for people, and the weakest opponent."""
    found = lesson(game_id) if game_id in GAMES else None
    return {"options": {} if found is None else found.first_options(), "seats": ["person", FIRST_OPPONENT]}


@pages.get("/join/{link}")
def join(request: Request, link: str) -> Response:
    """A link to a free seat; the page takes it."""
    return general_page(request, "join.html", data={"link": link})


@pages.get("/{game_id}/plays/{name}")
def play_again(request: Request, game_id: str, name: str) -> Response:
    """Play: the game of that id."""
    found = request.app.state.plays.find(name, budget_of(request).owner)
    if found is None or found.game.id != game_id:
        raise HTTPException(404, "There is no game with this id.")
    return page(request, "play.html", game_id, "", data=_play_data(request, game_id, name, None))


@pages.get("/{game_id}/learn")
def learn(request: Request, game_id: str) -> Response:
    """Learn: the lesson of a game, step by step; a game without one has its rules."""
    found = lesson(game_id) if game_id in GAMES else None
    if found is None and game_id in GAMES:
        return RedirectResponse(f"/{game_id}/rules")
    titles = [] if found is None else [step.title for step in found.steps]
    return page(request, "learn.html", game_id, "/learn", titles=titles, data={"game": game_id, "titles": titles})


# The rules as HTML: a part for people with diagrams that can be played on, and below it the part for programs.
# RULES.md is the only source of the text; its markup is rendered, raw HTML in it is not.


RULE = re.compile(r"<p><strong>(R(\d+)\. .*?)</strong>")
DRAWING = re.compile(r"<pre[^>]*>.*?</pre>\n?", re.DOTALL)


class Chapter(NamedTuple):
    """A chapter of the rules: its text, and the diagrams beside it."""

    anchor: str
    title: str
    body: str
    figures: str = ""


class RulesPage(NamedTuple):
    """The rules of a game, ready for the page. ``lead`` is what comes before the first chapter."""

    lead: str
    people: tuple[Chapter, ...]
    preface: str
    programs: tuple[Chapter, ...]
    diagrams: tuple[Diagram, ...]


@cache
def rules(game_id: str) -> RulesPage:
    """The rules of a game; ValueError if there is none of that name."""
    entry = find(game_id)
    diagrams = entry.game_class().diagrams
    people, programs = entry.rules_for_people(), entry.rules_for_programs()
    lead, first = _chapters(people, diagrams)
    preface, second = ("", ()) if people == programs else _chapters(programs.partition("\n")[2], diagrams)
    return RulesPage(lead, first, preface, second, diagrams)


def _chapters(markdown: str, diagrams: tuple[Diagram, ...]) -> tuple[str, tuple[Chapter, ...]]:
    """What comes before the first heading, and the chapters."""
    text = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    text = re.sub(r"<h1>.*?</h1>\s*", "", text, count=1)
    text = text.replace("<table>", '<div class="wide" tabindex="0"><table>').replace("</table>", "</table></div>")
    text = re.sub(r"<pre>", '<pre tabindex="0">', text)
    text = RULE.sub(r'<p id="R\2"><strong>\1</strong>', text)
    for number, diagram in enumerate(diagrams):
        text = _with_diagram(text, number, diagram)
    lead, *parts = re.split(r"<h2>(.*?)</h2>", text)
    chapters = []
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        figures = "".join(
            _figure(number, diagram) for number, diagram in enumerate(diagrams) if diagram.rule == html.unescape(title)
        )
        # The board is the picture; the drawing is for terminals.
        shown = DRAWING.sub("", body) if figures else body
        chapters.append(Chapter(_anchor(title), html.unescape(title), shown, figures))
    return lead, tuple(chapters)


def _with_diagram(text: str, number: int, diagram: Diagram) -> str:
    """Insert the diagram of a numbered rule below it, if the text has that rule."""
    start = text.find(f'<p id="R{diagram.rule}">')
    if start < 0:
        return text
    ends = [at for mark in ('<p id="R', "<h2>", "<h3>") if (at := text.find(mark, start + 1)) > 0]
    end = min(ends, default=len(text))
    return text[:end] + _figure(number, diagram) + text[end:]


def _figure(number: int, diagram: Diagram) -> str:
    return (
        f'<figure class="diagram{" still" if diagram.still else ""}" data-diagram="{number}">'
        f'<figcaption>{html.escape(diagram.caption)}</figcaption><div class="board"></div></figure>\n'
    )


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _reply(game_id: str, diagram: Diagram) -> Any:
    """The other side's answer in a diagram, as JSON; None if it has none."""
    if not diagram.reply:
        return None
    game = find(game_id).game_class()(**diagram.options)
    return game.parse_move(diagram.reply, game.parse_state(diagram.position))


@pages.get("/{game_id}/rules")
def rules_page(request: Request, game_id: str) -> Response:
    """The rules, with diagrams."""
    book = rules(game_id) if game_id in GAMES else None
    diagrams = [
        {"position": one.position, "options": one.options, "still": one.still, "reply": _reply(game_id, one)}
        for one in (book.diagrams if book else ())
    ]
    return page(request, "rules.html", game_id, "/rules", book=book, data={"game": game_id, "diagrams": diagrams})
