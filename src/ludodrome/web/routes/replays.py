"""Replays of finished games: positions, grading, record; uploads of records."""

import hashlib
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Annotated, Any

from fastapi import APIRouter, Body, HTTPException, Query, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Engine

from ludodrome.analysis.game_review import GameReview, GradedMove
from ludodrome.analysis.win_probability import Value
from ludodrome.arena.records import from_text, to_text, verify
from ludodrome.arena.records.replay import Replay, ReplayTurn, replay_record
from ludodrome.game import Game
from ludodrome.games import GAMES
from ludodrome.store import league_matches, plays
from ludodrome.store.announcements import SharedCache
from ludodrome.web import league
from ludodrome.web.auth import Anybody
from ludodrome.web.budgets import BUDGETS, GRADINGS, REPLAYS, REVIEWS_CACHED, UNLIMITED, CallerBudget, budget_of
from ludodrome.web.concurrency import LruCache
from ludodrome.web.engine import engine_slot
from ludodrome.web.position_view import Json, line_labels, observation_marks, open_game
from ludodrome.web.responses import Busy, to_json_bytes
from ludodrome.web.routes.schemas import ERROR_RESPONSES
from ludodrome.web.templating import general_page, page

# Replays: records from the store or uploaded, position by position, and their grading in the background.
# A record exists once its game is over, so no position in it is hidden any more.


TURN_FIELDS = ("ms", "refusals", "verdict", "substituted", "log", "info", "fuel")
"""Fields of a turn that the page shows besides the move."""
ID_LENGTH = 24


Records = LruCache[Json] | SharedCache
"""Uploaded records: in memory, or where several web processes find them."""


def find_record(engine: Engine, cache: Records, name: str) -> Json | None:
    """The record of a finished game: of a play, of the league (as everybody may read it), or uploaded."""
    found = plays.record_of(engine, name)
    if found is None and (kept := league_matches.record_of(engine, name)) is not None:
        found = league.published(kept)
    return found or cache.get(name)


def add_record(cache: Records, content: Json, owner: str | None = None) -> str:
    """Verify an uploaded record and keep it for a while; returns its id. ValueError if it is not a valid record."""
    record = from_text(json.dumps(content).encode())
    if type(record.get("options")) is dict and type(record.get("game")) is str:
        open_game(record["game"], record["options"])
    verify(record)
    name = hashlib.sha256(to_text(record).encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]
    cache.put(name, record, owner)
    return name


def replay_json(name: str, record: Json) -> Json:
    """A record as the page shows it: all positions, all turns, the result."""
    replay = replay_record(record)
    game = replay.game
    return {
        "id": name,
        "match": record["match"],
        "game": game.id,
        "options": game.options,
        "seed": record.get("seed"),
        "position": record.get("position"),
        "names": record["names"],
        "bots": record["bots"],
        "conditions": record["conditions"],
        "opening": len(record["opening"]),
        "positions": [
            {
                "state": game.page_state(state),
                "line": game.page_line(state),
                "to_move": game.to_move(state),
                "marks": observation_marks(game, state),
            }
            for state in replay.states
        ],
        "turns": [_turn(game, turn, state) for turn, state in zip(replay.turns, replay.states, strict=False)],
        "stopped": None if replay.stopped is None else _turn(game, replay.stopped, None),
        "result": record["result"],
        "digest": record["digest"],
    }


def _turn(game: Game, turn: ReplayTurn, before: Any) -> Json:
    """A turn; ``before`` is the position that it was made in, None if it has no move."""
    shown = {name: turn.entry[name] for name in TURN_FIELDS if name in turn.entry}
    if "refusals" in shown:
        shown["refusals"] = [
            {"why": one["why"], **({"sent": one["sent"], "cut": True} if one.get("cut") else {})}
            for one in shown["refusals"]
        ]
    move = game.page_move(turn.move, turn.text)
    text = turn.text if before is None else game.move_label(turn.move, before)
    return {"seat": turn.seat, "move": move, "text": text, "opening": turn.opening, **shown}


# Grading in the background: one game after another, in one thread. ``analysis/game_review.py`` defines the grades.


SECONDS = 20.0
"""Seconds of full grading per game; the rest is graded quickly."""
KEPT, KEPT_SECONDS = 100, 12 * 3600.0
MAX_WAITING = 8
"""Games that wait to be graded, at most."""
FORGOTTEN = 60.0
"""Seconds without a request after which grading stops."""
SHARE_SECONDS = 0.5
"""Seconds between two reports to other web processes."""
STALLED = 45.0
"""Seconds without a report after which another web process grades the game."""


class Review:
    """The grading of one game, running or finished."""

    def __init__(self, replay: Replay, digest: str = "", shared: SharedCache | None = None) -> None:
        self._digest, self._shared, self._told = digest, shared, float("-inf")
        self.grading = GameReview(
            replay.game, replay.states, replay.moves, [turn.own for turn in replay.turns], seconds=SECONDS
        )
        self._states = replay.states
        self.order: list[Json] = []
        """The graded plies in the order of grading: the last ply first."""
        self.asked = time.monotonic()
        self.given_up = False
        self.failed = False

    def work(self) -> None:
        """Runs in a thread; releases the engine slot after each ply, so that an analysis never waits long."""
        try:
            work = self.grading.work(time.thread_time)
            while not self.given_up:
                with engine_slot():
                    graded = next(work, None)
                if graded is None:
                    return
                self.order.append(review_json(self.grading.game, self._states[graded.ply], graded))
                self._share()
                self.given_up = self._is_forgotten()
        except Busy:
            self.given_up = True
        except Exception:
            self.failed = True
            raise

    def give_up(self) -> None:
        """Stop the grading."""
        self.given_up = True

    def _share(self) -> None:
        """Tell other processes how far it is."""
        if self._shared is None:
            return
        done = len(self.order) == self.grading.total
        if done or time.monotonic() - self._told > SHARE_SECONDS:
            self._told = time.monotonic()
            self._shared.put(self._digest, self._view(0), use=False)

    def _is_forgotten(self) -> bool:
        if time.monotonic() - self.asked <= FORGOTTEN:
            return False
        idle = None if self._shared is None else self._shared.idle_seconds(self._digest)
        return idle is None or idle > FORGOTTEN

    def view(self, after: int) -> Json:
        """The state of the grading, with the plies graded after the first ``after``."""
        self.asked = time.monotonic()
        return self._view(after)

    def _view(self, after: int) -> Json:
        count = len(self.order)
        seats = range(self.grading.game.seats)
        return {
            "total": self.grading.total,
            "graded": count,
            "done": count == self.grading.total,
            "plies": self.order[after:count],
            "accuracy": [_rounded(self.grading.accuracy(seat)) for seat in seats],
            "turning_points": self.grading.turning_points(),
        }


def review_json(game: Game, state: Any, graded: GradedMove) -> Json:
    """A graded ply for the page; ``state`` is the position that its move was made in."""
    found = graded.review
    text, *continuation = line_labels(game, state, [found.text, *found.continuation])
    return {
        "ply": graded.ply,
        "seat": graded.seat,
        "grade": graded.grade,
        "worth": round(graded.win_probability, 4),
        "loss": round(graded.loss, 4),
        "points": None if graded.points is None else round(graded.points, 2),
        "exact": found.exact,
        "best": {"move": found.move, "text": text, "continuation": continuation, **_value_json(found.best)},
        "played": _value_json(found.played),
    }


def _value_json(value: Value) -> Json:
    return {"score": round(value.score, 2), "distance": value.distance, "proven": value.proven}


def _rounded(number: float | None) -> Any:
    return None if number is None else round(number, 1)


class Reviewer:
    """Grades one game after another. ``shared``: where several web processes find the grades."""

    def __init__(self, shared: SharedCache | None = None) -> None:
        self._shared = shared
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="grading")
        self._reviews = LruCache[Review](KEPT, KEPT_SECONDS, Review.give_up, share=BUDGETS[REVIEWS_CACHED].amount)
        self._lock = threading.Lock()
        self._waiting = 0

    def known(self, digest: str) -> Review | None:
        """The review of a record, unless it was stopped or has failed."""
        found = self._reviews.get(digest)
        return None if found is None or found.given_up or found.failed else found

    def grades(self, record: Json, after: int, budget: CallerBudget = UNLIMITED) -> Json:
        """The grades of a record so far; the first request starts the grading. Busy if too many are waiting."""
        digest = record["digest"]
        found = self.known(digest)
        if found is None and self._shared is not None:
            kept = self._shared.get(digest)
            if kept is not None and (kept["done"] or self._shared.get(digest, STALLED) is not None):
                return {**kept, "plies": kept["plies"][after:]}
        return (found or self.review(digest, replay_record(record), budget)).view(after)

    def review(self, digest: str, replay: Replay, budget: CallerBudget = UNLIMITED) -> Review:
        """The review of a record, started if necessary. Busy if too many are waiting; 429 over the caller's share."""
        with self._lock:
            found = self.known(digest)
            if found is not None:
                return found
            if self._waiting >= MAX_WAITING:
                raise Busy("too many games are waiting to be graded; try again in a moment")
            with ExitStack() as held:
                held.enter_context(budget.hold(GRADINGS))
                begun = Review(replay, digest, self._shared)
                share = held.pop_all()
            self._reviews.put(digest, begun, budget.owner)
            self._waiting += 1
        self._executor.submit(self._run, begun, share)
        return begun

    def _run(self, review: Review, share: ExitStack) -> None:
        try:
            with share:
                review.work()
        finally:
            with self._lock:
                self._waiting -= 1

    def close(self) -> None:
        """Stop all grading."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._reviews.clear()


router = APIRouter(prefix="/replays", tags=["replays"], responses=ERROR_RESPONSES)

MAX_PLIES = 100_000
MAX_REPLAYS = 8
"""Replays prepared at once: a long one of spaces takes a second of one of the forty threads."""
Record = Annotated[Json, Body(examples=[{"ludodrome": "record", "version": 1}])]


_slots = threading.BoundedSemaphore(MAX_REPLAYS)


def record_named(request: Request, name: str) -> Json:
    """The record of an id, or 404."""
    found = find_record(request.app.state.engine, request.app.state.uploaded_records, name)
    if found is None:
        raise HTTPException(404, "there is no finished game with this id")
    return found


@router.post("", status_code=201)
def bring(request: Request, record: Record) -> Json:
    """Upload a record. It is verified and kept for 12 hours."""
    return {"id": add_record(request.app.state.uploaded_records, record, budget_of(request).owner)}


@router.get("/{name}", response_class=Response, responses={200: {"content": {"application/json": {}}}})
def look(request: Request, name: str) -> Response:
    """A finished game: all its positions and turns."""
    found = record_named(request, name)
    with budget_of(request).hold(REPLAYS):
        if not _slots.acquire(blocking=False):
            raise Busy("too many replays are being prepared; try again in a moment")
        try:  # megabytes of plain JSON: validation would take longer than the rest
            return Response(to_json_bytes(replay_json(name, found)), media_type="application/json")
        finally:
            _slots.release()


@router.get("/{name}/grading")
def grading(request: Request, name: str, after: int = Query(0, ge=0, le=MAX_PLIES)) -> Json:
    """The grades so far; the first request starts the grading.

    Plies come in the order of grading, the last ply first; ``after`` skips that many.
    """
    reviewer: Reviewer = request.app.state.reviewer
    found = record_named(request, name)
    request.app.state.fair_play.check(request, open_game(found["game"], found["options"]))
    return reviewer.grades(found, after, budget_of(request))


@router.get("/{name}/record", response_class=Response, responses={200: {"content": {"application/json": {}}}})
def record(request: Request, name: str) -> Response:
    """The record. In the league its seeds are withheld while other games of its event or ladder pair are not over."""
    kept = record_named(request, name)
    file = json.dumps(f"{kept['match']}.json")
    headers = {"content-disposition": f"attachment; filename={file}"}
    return Response(to_text(kept) + "\n", media_type="application/json", headers=headers)


# Pages


pages = APIRouter(include_in_schema=False)


@pages.get("/games/{name}")
def replay_page(request: Request, name: str, who: Anybody) -> Response:
    """A finished game; a running one redirects to its play."""
    found = find_record(request.app.state.engine, request.app.state.uploaded_records, name)
    if found is None:
        running = plays.find(request.app.state.engine, name)
        if running is None or running.play_spec["game"] not in GAMES:
            raise HTTPException(404, "There is no finished game with this id.")
        return RedirectResponse(f"/{running.play_spec['game']}/plays/{running.id}")
    match = league_matches.find_match(request.app.state.engine, name)
    mine = match is not None and bool(league.own_seats(request.app.state.engine, match, who))
    data = {"game": found["game"], "id": name, "logs": mine}
    return page(request, "replay.html", found["game"], None, names=found["names"], data=data)


@pages.get("/replay")
def bring_page(request: Request) -> Response:
    """Upload a record."""
    return general_page(request, "bring.html")
