"""Point 3: seeds foretell hidden boards. All that is public is taken while an event runs, and nothing follows."""

import hashlib
import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from httpx import Client
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from ludodrome.arena import records
from ludodrome.arena.ladder import events, playing
from ludodrome.arena.ladder import scheduler as scheduling
from ludodrome.arena.ladder.scheduler import OFF, ON, LadderScheduler
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.records import replay
from ludodrome.arena.referee import Referee
from ludodrome.games import make
from ludodrome.store import league_bots, league_matches
from ludodrome.store.accounts import ensure_local
from ludodrome.store.league_models import DONE, PLAYING, MatchRow
from ludodrome.store.models import LOCAL
from tests.web.hosting import Hosted, hosting
from tests.web.test_matrix import routes

BLIND = {"size": 2, "rounds": 2, "choice": "blind"}
PLAYED = 3
API = "/api/v1"


@pytest.fixture
def hosted() -> Iterator[Hosted]:
    with hosting() as running:
        ensure_local(running.engine)
        league_bots.ensure_builtins(running.engine, "spaces", {"random": "random", "greedy": "greedy"})
        yield running
        playing._database(str(running.engine.url)).dispose()
        playing._database.cache_clear()


def _bots(engine: Engine) -> list[league_bots.BotEntry]:
    return [one for one in league_bots.bots(engine, "spaces") if one.name in ("random", "greedy")]


def _agenda(engine: Engine, ladder: str = OFF) -> LadderScheduler:
    return LadderScheduler(engine, engine.url.render_as_string(hide_password=False), "r", ladder)


def _play(agenda: LadderScheduler, games: int | None = None) -> None:
    """Play so many games, or all."""
    while games is None or agenda.finished < games:
        job = agenda.next()
        if job is None:
            return
        agenda.done(job, job.function(job.argument))


def _specs(engine: Engine, *, over: bool) -> list[PlaySpec]:
    """The games that are over, or the others."""
    with Session(engine) as session:
        rows = session.scalars(select(MatchRow)).all()
        return [PlaySpec.from_json(row.assignment) for row in rows if (row.status == DONE) is over]


def _filled(path: str, values: dict[str, str]) -> str:
    """The address of a route with these names in it, and 1 for other names."""
    return re.sub(r"{(\w+)[^}]*}", lambda found: values.get(found[1], "1"), path)


def _paths(hosted: Hosted, event: str) -> Iterator[str]:
    """Every address of the server that names a game, a bot, a match or an event of this league."""
    engine = hosted.engine
    with Session(engine) as session:
        matches = list(session.scalars(select(MatchRow.id)))
    bots = [one.id for one in _bots(engine)]
    for method, path in routes(hosted.app):
        if method != "GET" or path.endswith("/events") or "/live/" in path:
            continue  # streams: see below
        for match in matches:
            for bot in bots:
                values = {"game_id": "spaces", "match_id": match, "name": match, "event_id": event, "bot_id": bot}
                yield _filled(path, values)


def _everything(hosted: Hosted, event: str) -> str:
    """All that anybody can read, as one text."""
    texts = []
    with hosted.client() as nobody:
        for path in sorted(set(_paths(hosted, event))):
            answer = nobody.get(path)
            assert answer.status_code < 500, path
            texts.append(answer.text)
        texts += [nobody.get(f"{API}/matches?event={event}").text, nobody.get(f"{API}/tournaments?game=spaces").text]
        texts.append(_stream(nobody, hosted.engine))
    return "\n".join(texts)


def _stream(nobody: Client, engine: Engine) -> str:
    """The first view of the running match, if there is one."""
    if not league_matches.live(engine):
        return ""
    with nobody.stream("GET", f"{API}/live/spaces") as stream:
        return next(line for line in stream.iter_lines() if line.startswith("data:"))


def _begin(agenda: LadderScheduler, engine: Engine) -> None:
    """Begin the next game, as spectators see it."""
    job = agenda.next()
    assert job is not None
    while job.function is not playing.play_measured:
        agenda.done(job, job.function(job.argument))
        job = agenda.next()
        assert job is not None
    referee = Referee(job.argument.play_spec)
    broadcast = playing.Broadcast(engine, referee, 0)
    broadcast.update(referee)
    with broadcast:
        deadline = time.monotonic() + 60
        while not league_matches.live(engine):
            assert time.monotonic() < deadline
            time.sleep(0.01)


def _foretold(public: str, spec: PlaySpec) -> int:
    """How many of the seats' seeds follow from what is public, by the formula of version 1 or by being there."""
    numbers = {int(found) for found in re.findall(r"\d{1,60}", public)}
    words = {int(found, 16) for found in re.findall(r"\b[0-9a-f]{16,64}\b", public)}
    begins = {number >> 32 for number in numbers | words if number >> 32}
    secrets = numbers | words | {(begin << 32) + opening for begin in begins for opening in range(20)}
    found = 0
    for seat, seed in enumerate(spec.seat_seeds):
        purposes = (f"ludodrome seat {seat} of game {spec.number} of {secret}" for secret in secrets)
        old = {int.from_bytes(hashlib.sha256(one.encode()).digest()[:8], "little") >> 11 for one in purposes}
        found += seed in old or seed in numbers
    return found


def test_point_3_nothing_public_foretells_a_face_down_board(hosted: Hosted) -> None:
    engine = hosted.engine
    bots = _bots(engine)
    event = events.ask(engine, "spaces", bots, LOCAL, options=BLIND, pairs=4, name="Blind cup")
    agenda = _agenda(engine)
    _play(agenda, PLAYED)
    _begin(agenda, engine)
    public = _everything(hosted, event)
    assert "face down" in public or "Blind cup" in public
    waiting = _specs(engine, over=False)
    assert len(waiting) >= 2
    assert sum(_foretold(public, spec) for spec in waiting) == 0
    found = league_matches.find_event(engine, event)
    assert found is not None
    secrets = {found.plan["seed"], *(spec.seed for spec in waiting), *(spec.seed for spec in _specs(engine, over=True))}
    for secret in secrets:
        assert secret.bit_length() > 64
        for form in (str(secret), f"{secret:x}", f"{secret >> 32}"):
            assert form not in public
    # another runner finishes what this one began; then everything is published, and verifies
    league_matches.release(engine, "r")
    _play(_agenda(engine))
    public = _everything(hosted, event)
    assert str(found.plan["seed"]) in public
    with hosted.client() as nobody:
        for spec in _specs(engine, over=True):
            record = nobody.get(f"{API}/replays/{spec.match}/record").json()
            assert record["seed"] == str(spec.seed)
            assert record["seeds"] == spec.seat_seeds
            records.verify(record)
            assert all(turn.same for turn in replay.rerun(record, 0))


def test_point_3_a_record_verifies_while_its_event_runs(hosted: Hosted) -> None:
    engine = hosted.engine
    events.ask(engine, "spaces", _bots(engine), LOCAL, options=BLIND, pairs=2)
    _play(_agenda(engine), 1)
    (spec,) = _specs(engine, over=True)
    with hosted.client() as nobody:
        record = nobody.get(f"{API}/replays/{spec.match}/record").json()
        (line,) = nobody.get(f"{API}/bots/{_bots(engine)[0].id}/records").text.splitlines()
        shown = nobody.get(f"{API}/replays/{spec.match}").json()
    assert not {"seed", "seeds"} & record.keys()
    assert json.loads(line) == record
    assert shown["seed"] is None
    records.verify(record)
    assert records.withheld(record) == record


def test_point_3_the_first_game_of_a_ladder_pair_tells_nothing_about_the_second(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = hosted.engine
    small: Any = make("spaces", size=2, rounds=2, choice="blind")
    monkeypatch.setattr(scheduling, "make", lambda game, **options: small)
    monkeypatch.setattr(scheduling, "GAMES", ("spaces",))
    monkeypatch.setattr(scheduling, "choose_pair", lambda mu, sigma, own, free, rng: (0, 1))
    monkeypatch.setattr(
        scheduling,
        "contenders",
        lambda engine, game: [
            league_bots.Contender(one.id, one.name, "uploaded", "random", one.version, None, None)
            for one in _bots(engine)
        ],
    )
    agenda = _agenda(engine, ON)
    _play(agenda, 1)
    (first,), (second,) = _specs(engine, over=True), _specs(engine, over=False)
    assert first.seed == second.seed
    with hosted.client() as nobody:
        public = nobody.get(f"{API}/replays/{first.match}/record").text
        assert _foretold(public, second) == 0
        assert str(first.seed) not in public
        _play(agenda, 2)
        record = nobody.get(f"{API}/replays/{first.match}/record").json()
    assert record["seed"] == str(first.seed)
    records.verify(record)


def test_point_3_old_events_go_on(hosted: Hosted) -> None:
    """An event that an older version began, with a seed of 31 bits, is played to its end and verifies."""
    engine = hosted.engine
    event = events.ask(engine, "spaces", _bots(engine), LOCAL, options=BLIND)
    found = league_matches.find_event(engine, event)
    assert found is not None
    plan = {**found.plan, "seed": 7, "games": [{**found.plan["games"][0], "seed": 7}]}
    del plan["games"][0]["version"]
    with Session(engine) as session:
        row = session.get(type(found), event)
        assert row is not None
        row.plan = plan
        session.commit()
    _play(_agenda(engine))
    specs = _specs(engine, over=True)
    assert [spec.version for spec in specs] == [1, 1]
    assert {spec.seed for spec in specs} == {7 << 32}
    for spec in specs:
        kept = league_matches.record_of(engine, spec.match)
        assert kept is not None
        records.verify(kept.record)
    assert PLAYING not in {status for *_, status in league_matches.event_games(engine, event)}
