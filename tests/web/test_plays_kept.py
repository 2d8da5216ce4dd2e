"""Games outlast the server: what was answered is in the database, and a game goes on where it was."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, insert, select
from sqlalchemy.exc import IntegrityError, OperationalError

import ludodrome
from ludodrome.arena import records
from ludodrome.game import IllegalMove
from ludodrome.store import plays
from ludodrome.store.accounts import ensure_local
from ludodrome.store.announcements import PLAY, PRESENCE, Listener
from ludodrome.store.group_commit import GroupCommitter
from ludodrome.store.models import PlayEventRow, SettingRow, now_ms
from ludodrome.web.auth import OWNER
from ludodrome.web.bot_pool import BotPool
from ludodrome.web.play import TAKEOVER_SECONDS, WebPlay
from ludodrome.web.play_registry import FairPlay, PlayRegistry, make_play_spec
from ludodrome.web.play_state import SILENT_SECONDS, Viewer
from ludodrome.web.responses import Busy, Conflict
from ludodrome.web.routes.plays import move
from ludodrome.web.routes.schemas import NewMove

BOTH = frozenset({0, 1})
HOST = Viewer(BOTH, True)


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """A database, of each kind, with the account of the person at this machine."""
    ensure_local(engine)
    return engine


@pytest.fixture
def bot_pool() -> Iterator[BotPool]:
    with ThreadPoolExecutor(2) as executor:
        yield BotPool(executor)


def _begun(registry: PlayRegistry, specs: list[str], clock: str = "none", **options: Any) -> WebPlay:
    game = ludodrome.make("dots", **{"rows": 2, "cols": 2, **options})
    kinds = tuple("person" if spec == "person" else "bot" for spec in specs)
    return registry.begin(game, make_play_spec(game, specs, clock, 5, []), kinds, "local")


def _go_on(play: WebPlay, moves: int) -> None:
    for _ in range(moves):
        play.move(play.view(HOST)["position"]["legal"][0], BOTH)


def _same(one: Any, other: Any) -> bool:
    return {**one, "seats": None} == {**other, "seats": None}


def test_a_game_goes_on_after_a_restart(engine: Engine, bot_pool: BotPool) -> None:
    play = _begun(PlayRegistry(engine, bot_pool), ["person", "person"])
    _go_on(play, 4)
    play.undo(HOST)
    _go_on(play, 2)
    again = PlayRegistry(engine, bot_pool).find(play.id)
    assert again is not None
    assert again is not play
    assert _same(again.view(HOST), play.view(HOST))
    assert again.version == 7
    while again.snapshot.result is None:
        _go_on(again, 1)
    record = plays.record_of(engine, play.id)
    assert record == again.record()
    records.verify(record)
    third = PlayRegistry(engine, bot_pool).find(play.id)
    assert third is not None
    assert third.record() == record


@pytest.mark.parametrize("ending", ["resign", "flag"])
def test_an_end_is_kept_and_can_be_taken_back(
    engine: Engine, bot_pool: BotPool, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    play = _begun(PlayRegistry(engine, bot_pool), ["person", "person"], "10s")
    _go_on(play, 2)
    if ending == "resign":
        play.resign(BOTH, 1)
    else:
        now[0] += 30
        play.check_clock()
    record = plays.record_of(engine, play.id)
    assert record is not None
    records.verify(record)
    registry = PlayRegistry(engine, bot_pool)
    again = registry.find(play.id)
    assert again is not None
    assert _same(again.view(HOST), play.view(HOST))
    assert again.record() == record
    again.undo(HOST)
    assert plays.record_of(engine, play.id) is None
    assert again.snapshot.result is None
    assert again.snapshot.mover == 0
    with pytest.raises(Conflict, match="once it is over"):
        registry.record(again)


def test_the_time_that_the_server_was_away_is_not_charged(
    engine: Engine, bot_pool: BotPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    play = _begun(PlayRegistry(engine, bot_pool), ["person", "person"], "1m++1s")
    for _ in range(4):
        now[0] += 20
        _go_on(play, 1)
    used = [seat["left_ms"] for seat in play.view(HOST)["seats"]]
    assert used == [32000, 32000]
    now[0] += 5
    assert play.view(HOST)["seats"][0]["left_ms"] == 27000
    now[0] = 7.0
    again = PlayRegistry(engine, bot_pool).find(play.id)
    assert again is not None
    assert [seat["left_ms"] for seat in again.view(HOST)["seats"]] == used


def test_a_bot_that_was_thinking_is_asked_again(engine: Engine, bot_pool: BotPool) -> None:
    idle = BotPool(ThreadPoolExecutor(1))
    hold = threading.Event()
    idle.executor.submit(hold.wait)
    play = _begun(PlayRegistry(engine, idle), ["random", "person"])
    again = PlayRegistry(engine, bot_pool).find(play.id)
    assert again is not None
    while again.snapshot.mover == 0:
        time.sleep(0.005)
    assert len(again.snapshot.move_list()) >= 1
    play.close()
    hold.set()
    idle.executor.shutdown()


def test_two_servers_cannot_both_go_on_with_one_game(engine: Engine, bot_pool: BotPool) -> None:
    one = PlayRegistry(engine, bot_pool)
    play = _begun(one, ["person", "person"])
    other = PlayRegistry(engine, bot_pool).find(play.id)
    assert other is not None
    edge = play.view(HOST)["position"]["legal"][0]
    play.move(edge, BOTH)
    with pytest.raises(IllegalMove, match="already drawn"):  # as if the first had come here, too
        other.move(edge, BOTH)
    assert _same(other.view(HOST), play.view(HOST))
    _go_on(other, 1)
    with pytest.raises(Conflict, match="has changed since"):
        play.move(play.view(HOST)["position"]["legal"][-1], BOTH, 1)
    assert _same(other.view(HOST), play.view(HOST))
    third = PlayRegistry(engine, bot_pool).find(play.id)
    assert third is not None
    assert third.version == 2


def _listening(engine: Engine, *registries: PlayRegistry) -> Listener:
    """The thread that tells registries what the others write."""
    listener = Listener(engine)
    for registry in registries:
        listener.subscribe(PLAY, registry.hear_event)
        listener.subscribe(PRESENCE, registry.hear_presence)
        listener.on_gap(registry.look_again)
    listener.start()
    assert listener.wait(60)
    return listener


def _until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_process_applies_what_another_writes(engine: Engine, bot_pool: BotPool) -> None:
    one, two = (PlayRegistry(engine, bot_pool, several=True, started=0) for _ in range(2))
    play = _begun(one, ["person", "person"], "5m++3s")
    other = two.find(play.id)
    assert other is not None
    listener = _listening(engine, one, two)
    _go_on(play, 3)
    play.undo(HOST)
    _until(lambda: other.version == play.version)
    assert _same(other.view(HOST), play.view(HOST))
    clocks = [[seat["left_ms"] for seat in each.view(HOST)["seats"]] for each in (play, other)]
    assert all(abs(here - there) < 1000 for here, there in zip(*clocks, strict=True))
    other.resign(BOTH, 1)
    _until(lambda: play.snapshot.result is not None)
    assert play.record() == other.record() == plays.record_of(engine, play.id)
    two.rematch(other, HOST)
    _until(lambda: play.participants.next is not None)
    assert play.participants.next == other.participants.next
    assert play.version == other.version == 5
    listener.stop()


def test_after_a_gap_everything_is_read_again(engine: Engine, bot_pool: BotPool) -> None:
    one, two = PlayRegistry(engine, bot_pool), PlayRegistry(engine, bot_pool)
    play = _begun(one, ["person", "person"])
    other = two.find(play.id)
    assert other is not None
    _go_on(play, 3)
    assert other.version == 0
    two.look_again()
    _until(lambda: other.version == 3)


def test_one_of_several_processes_lets_a_bot_think(
    engine: Engine, bot_pool: BotPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = BotPool(ThreadPoolExecutor(1))
    hold = threading.Event()
    stuck.executor.submit(hold.wait)
    started = now_ms() - 1000
    one = PlayRegistry(engine, stuck, several=True, started=started)
    two = PlayRegistry(engine, bot_pool, several=True, started=started)
    listener = _listening(engine, one, two)
    play = _begun(one, ["person", "random"], rows=4, cols=4)
    other = two.find(play.id)
    assert other is not None
    _go_on(play, 1)
    _until(lambda: other.version == 1 and other.seconds_to_takeover() is not None)
    seconds = other.seconds_to_takeover()
    assert seconds is not None
    assert 0 < seconds <= TAKEOVER_SECONDS
    third = PlayRegistry(engine, bot_pool, several=True, started=started).find(play.id)
    assert third is not None
    assert third.seconds_to_takeover() is not None
    now = time.perf_counter() + TAKEOVER_SECONDS
    monkeypatch.setattr("time.perf_counter", lambda: now)
    assert two.find(play.id) is other  # whoever asks next lets it think: the first process is silent
    _until(lambda: other.snapshot.mover == 0 and play.snapshot.mover == 0)
    assert other.version == play.version
    version = other.version
    hold.set()
    stuck.executor.shutdown()  # the first process thinks after all, about a turn that is over
    assert play.version == version
    assert plays.event_count(engine, play.id) == version
    listener.stop()


def test_presence_is_told_to_other_processes(
    engine: Engine, bot_pool: BotPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (PlayRegistry(engine, bot_pool, several=True) for _ in range(2))
    listener = _listening(engine, one, two)
    game = ludodrome.make("dots", rows=1, cols=2)
    play = one.begin(game, make_play_spec(game, ["person", "person"], "none", 1, []), ("person", "friend"), "local")
    seat = Viewer(frozenset({0}), True)
    assert play.participants.arrive(seat)
    other = two.find(play.id)  # it asks who is there
    assert other is not None
    _until(lambda: bool(other.view(HOST)["seats"][0]["here"]))
    tick = other.tick
    assert play.participants.leave(seat)
    one.tell_presence(play)
    _until(lambda: not other.view(HOST)["seats"][0]["here"])
    assert other.tick != tick
    play.participants.arrive(seat)
    one.beat()
    _until(lambda: bool(other.view(HOST)["seats"][0]["here"]))
    now = time.monotonic() + SILENT_SECONDS + 1
    monkeypatch.setattr("ludodrome.web.play_state.time.monotonic", lambda: now)
    two.beat()
    assert not other.view(HOST)["seats"][0]["here"]
    listener.stop()


def test_what_cannot_be_written_has_not_happened(
    engine: Engine, bot_pool: BotPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = PlayRegistry(engine, bot_pool)
    play = _begun(registry, ["person", "person"])
    _go_on(play, 1)

    def fail(*rest: Any) -> None:
        raise OperationalError("insert", {}, Exception("disk full"))

    with monkeypatch.context() as broken:
        broken.setattr(GroupCommitter, "submit", fail)
        with pytest.raises(Busy, match="did not happen"):
            _go_on(play, 1)
    again = registry.find(play.id)
    assert again is not None
    assert again is not play
    assert again.version == 1
    with pytest.raises(IllegalMove):
        again.move({"orient": "H"}, BOTH)


def test_what_gathers_is_committed_together(engine: Engine) -> None:
    committer = GroupCommitter(engine)
    begun = threading.Event()
    hold = threading.Event()
    transactions = []

    def first(connection: Any) -> None:
        begun.set()
        hold.wait()
        transactions.append(id(connection))

    def write(name: str) -> None:
        def work(connection: Any) -> None:
            transactions.append(id(connection))
            connection.execute(insert(SettingRow).values(name=name, value="x"))

        committer.commit(work)

    with ThreadPoolExecutor(8) as callers:
        waiting = [callers.submit(committer.commit, first)]
        begun.wait()
        waiting += [callers.submit(write, name) for name in ("a", "b", "b", "c")]
        while committer._jobs.qsize() < 4:
            time.sleep(0.001)
        hold.set()
        faults = [type(one.exception()) for one in waiting]
    assert sorted(fault.__name__ for fault in faults) == ["IntegrityError"] + ["NoneType"] * 4
    assert IntegrityError in faults
    committer.close()
    committer.close()
    with engine.connect() as connection:
        names = set(connection.scalars(select(SettingRow.name)))
    assert {"a", "b", "c"} <= names


def test_a_game_that_waits_for_a_friend_keeps_its_events(engine: Engine, bot_pool: BotPool) -> None:
    registry = PlayRegistry(engine, bot_pool)
    game = ludodrome.make("dots", rows=1, cols=2)
    play = registry.begin(game, make_play_spec(game, ["person", "person"], "10s", 1, []), ("person", "friend"), "local")
    link = play.participants.friends[1].link
    assert link is not None
    with pytest.raises(Conflict, match="when everybody has joined"):
        play.move(play.view(HOST)["position"]["legal"][0], frozenset({0}))
    assert play.seconds_left_to_move() is None
    joined = PlayRegistry(engine, bot_pool).join(link, "Ada")
    assert joined is not None
    assert registry.join(link, None) is None
    again = PlayRegistry(engine, bot_pool).find(play.id)
    assert again is not None
    assert again.participants.missing == []
    assert again.view(Viewer())["seats"][1]["name"] == "Ada"
    assert again.participants.viewer(None, joined.key) == Viewer(frozenset({1}))
    assert again.participants.viewer("local", joined.key) == Viewer(frozenset({1}))
    assert again.participants.viewer("local", None) == Viewer(frozenset({0}), True)
    with engine.connect() as connection:
        assert list(connection.scalars(select(PlayEventRow.kind))) == ["join"]


def test_the_event_loop_never_waits_for_a_play(
    engine: Engine, bot_pool: BotPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    registry = PlayRegistry(engine, bot_pool)
    play = _begun(registry, ["person", "person"], "5s")
    state = SimpleNamespace(plays=registry, fair_play=FairPlay(engine, registry))
    request: Any = SimpleNamespace(app=SimpleNamespace(state=state), state=SimpleNamespace(caller=OWNER), client=None)
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1

    async def move_and_run_out(raw: Any, seats: frozenset[int], seen: int | None = None) -> None:
        now[0] += 100  # another request takes the lock of the play as its clock runs out
        play.lock.acquire()
        threading.Timer(0.5, play.lock.release).start()

    monkeypatch.setattr(play, "move_async", move_and_run_out)

    async def ask() -> None:
        beating = asyncio.create_task(beat())
        await move(request, play.id, NewMove(move=["H", 0, 0]), OWNER)
        beating.cancel()

    with ThreadPoolExecutor(1) as pool:  # the browser of other tests leaves a running loop in this thread
        pool.submit(asyncio.run, ask()).result()
    assert beats > 10
    assert play.snapshot.result is not None
