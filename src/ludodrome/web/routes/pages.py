"""Pages for people."""

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from ludodrome.games import GAMES
from ludodrome.puzzle import puzzles
from ludodrome.web.auth import Anybody
from ludodrome.web.puzzles import solved_by
from ludodrome.web.routes.puzzles import puzzle_of
from ludodrome.web.routes.rules import rules
from ludodrome.web.showcase import showcase
from ludodrome.web.templating import general_page, page

router = APIRouter(include_in_schema=False)

FIRST = "skysummit"
KIND_WORDS = {"win": "Win in {goal}", "save": "Save the game", "margin": "The only edge", "respond": "Best answer"}


@router.get("/")
def home() -> Response:
    """The first game."""
    return RedirectResponse(f"/{FIRST}")


@router.get("/favicon.ico")
def icon() -> Response:
    """For browsers that do not read the page's link."""
    return RedirectResponse("/static/icon.svg")


@router.get("/{game_id}")
def play(request: Request, game_id: str) -> Response:
    """Play: a game in progress."""
    first = showcase(game_id) if game_id in GAMES else None
    return page(request, "play.html", game_id, "", data=_play_data(request, game_id, None, first))


def _play_data(request: Request, game_id: str, play: str | None, first: Any) -> dict[str, Any]:
    """What the play page is told: the game, and where friends find this server."""
    state = request.app.state
    return {"game": game_id, "play": play, "showcase": first, "mode": state.mode, "address": state.public_address}


@router.get("/join/{link}")
def join(request: Request, link: str) -> Response:
    """A link that gives a seat away: the page takes it."""
    return general_page(request, "join.html", data={"link": link})


@router.get("/{game_id}/plays/{name}")
def play_again(request: Request, game_id: str, name: str) -> Response:
    """Play: the game of that id."""
    found = request.app.state.plays.find(name)
    if found is None or found.game.id != game_id:
        raise HTTPException(404, "There is no such game of this kind.")
    return page(request, "play.html", game_id, "", data=_play_data(request, game_id, name, None))


@router.get("/{game_id}/rules")
def rules_page(request: Request, game_id: str) -> Response:
    """The rules, with diagrams."""
    book = rules(game_id) if game_id in GAMES else None
    diagrams = [] if book is None else [{"position": one.position, "options": one.options} for one in book.diagrams]
    return page(request, "rules.html", game_id, "/rules", book=book, data={"game": game_id, "diagrams": diagrams})


@router.get("/{game_id}/puzzles")
def puzzles_page(request: Request, game_id: str, who: Anybody) -> Response:
    """The puzzles of a game, by grade."""
    book = puzzles(game_id) if game_id in GAMES else []
    solved = solved_by(request, who)
    grades = [
        [(one, KIND_WORDS[one.kind].format(goal=one.goal), one in solved) for one in book if one.grade == grade]
        for grade in sorted({one.grade for one in book})
    ]
    count = sum(one in solved for one in book)
    first = next((one.number for one in book if one not in solved), 1)
    return page(request, "puzzles.html", game_id, "/puzzles", grades=grades, count=count, total=len(book), first=first)


@router.get("/{game_id}/puzzles/{number}")
def puzzle_page(request: Request, game_id: str, number: int, who: Anybody) -> Response:
    """One puzzle."""
    if game_id not in GAMES:
        return page(request, "puzzle.html", game_id, "/puzzles")
    one, total = puzzle_of(game_id, number), len(puzzles(game_id))
    data = {"game": game_id, "number": number, "total": total}
    solved = one in solved_by(request, who)
    return page(request, "puzzle.html", game_id, "/puzzles", puzzle=one, total=total, solved=solved, data=data)
