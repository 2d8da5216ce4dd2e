"""Reservations: a remote bot plays one game at a time, of a person or of the league."""

import threading

import pytest
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from ludodrome.store import league_bots, league_matches
from ludodrome.store import league_reservations as reservations
from ludodrome.store.accounts import ensure_local
from ludodrome.store.league_models import LADDER, ReservationRow
from ludodrome.store.league_presence import RESERVATION_MS, arrive, leave
from ludodrome.store.league_reservations import AWAY, ELSEWHERE, IN_MATCH, IN_PLAY, TOO_MANY, reserve
from ludodrome.store.models import LOCAL

SECRET = "the relay's"


def _connected(engine: Engine, name: str = "Far") -> str:
    ensure_local(engine)
    bot = league_bots.enter_remote(engine, "dots", LOCAL, name, f"token of {name}")
    arrive(engine, bot, "127.0.0.1:80 localhost", SECRET)
    return bot


def _queue(engine: Engine, bot: str, *matches: str) -> None:
    play_spec = {"game": "dots", "names": ["Far"], "bots": [f"remote:{bot}"]}
    league_matches.queue(engine, LADDER, [(one, play_spec, [bot], 0) for one in matches], None)


def _age(engine: Engine, play: str, milliseconds: int) -> None:
    with Session(engine) as session:
        older = ReservationRow.expires - milliseconds
        session.execute(update(ReservationRow).where(ReservationRow.play == play).values(expires=older))
        session.commit()


def _plays(engine: Engine) -> set[str]:
    with Session(engine) as session:
        return set(session.scalars(select(ReservationRow.play)))


def test_the_ladder_leaves_a_reserved_bot_alone_and_has_it_again(engine: Engine) -> None:
    bot = _connected(engine)
    _queue(engine, bot, "m-1")
    assert [one.id for one in league_bots.contenders(engine, "dots")] == [bot]
    assert reserve(engine, bot, "play", None, "one") is None
    assert league_bots.contenders(engine, "dots") == []
    assert league_matches.claim(engine, "runner") is None
    reservations.release(engine, "play")
    claimed = league_matches.claim(engine, "runner")
    assert claimed is not None
    assert claimed.id == "m-1"


def test_a_person_waits_for_a_match_and_comes_before_the_next_one(engine: Engine) -> None:
    bot = _connected(engine)
    _queue(engine, bot, "m-1", "m-2")
    assert league_matches.claim(engine, "runner") is not None
    assert reserve(engine, bot, "play", None, "one", 10.0) == IN_MATCH
    assert reservations.obstacle(engine, bot, "play") == IN_MATCH
    league_matches.release(engine, "runner")
    assert league_matches.claim(engine, "runner") is None
    assert reserve(engine, bot, "play", None, "one", 10.0) is None


def test_people_take_turns_in_the_order_in_which_they_came(engine: Engine) -> None:
    bot = _connected(engine)
    assert reserve(engine, bot, "b-first", None, "one") is None
    assert reserve(engine, bot, "a-second", None, "one", 10.0) == IN_PLAY
    reservations.release(engine, "b-first")
    assert reservations.obstacle(engine, bot, "a-second") is None
    assert reserve(engine, bot, "b-first", None, "one", 10.0) == IN_PLAY


def test_an_idle_game_gives_the_bot_back_and_one_that_goes_on_does_not(engine: Engine) -> None:
    bot = _connected(engine)
    assert reserve(engine, bot, "play", None, "one", 10.0) is None
    reservations.rest(engine, bot, "play", "one")
    _age(engine, "play", RESERVATION_MS - 60_000)
    assert reserve(engine, bot, "other", None, "one") == IN_PLAY
    assert reserve(engine, bot, "play", None, "one", 10.0) is None
    reservations.rest(engine, bot, "play", "one")
    _age(engine, "play", RESERVATION_MS + 1)
    assert reserve(engine, bot, "other", None, "one") is None
    assert _plays(engine) == {"other"}


@pytest.mark.parametrize("ahead", [True, False])
def test_a_reservation_by_a_clock_that_was_ahead_does_not_hold(engine: Engine, ahead: bool) -> None:
    bot = _connected(engine)
    assert reserve(engine, bot, "play", None, "one") is None
    _age(engine, "play", -10 * 3_600_000 if ahead else 0)
    assert (reservations.obstacle(engine, bot, "other") is None) is ahead


def test_one_process_asks_at_a_time(engine: Engine) -> None:
    bot = _connected(engine)
    assert reserve(engine, bot, "play", None, "one", 10.0) is None
    assert reserve(engine, bot, "play", None, "two", 10.0) == ELSEWHERE
    assert reserve(engine, bot, "play", None, "one", 10.0) is None
    reservations.release(engine, "play", "two")
    assert _plays(engine) == {"play"}
    reservations.rest(engine, bot, "play", "one")
    assert reserve(engine, bot, "play", None, "two", 10.0) is None


def test_a_bot_that_is_gone_or_retired_is_away(engine: Engine) -> None:
    bot = _connected(engine)
    league_bots.retire(engine, bot)
    assert reserve(engine, bot, "play", None, "one", 10.0) == AWAY
    league_bots.retire(engine, bot, back=True)
    assert reserve(engine, bot, "play", None, "one", 10.0) is None
    leave(engine, bot, SECRET)
    assert reservations.obstacle(engine, bot, "play") == AWAY


def test_one_caller_cannot_hold_many_bots(engine: Engine) -> None:
    bots = [_connected(engine, f"Far {number}") for number in range(4)]
    assert reserve(engine, bots[0], "play 0", "guest", "one", most=2) is None
    assert reserve(engine, bots[1], "play 1", "guest", "one", 10.0, most=2) is None
    assert reserve(engine, bots[2], "play 2", "guest", "one", 10.0, most=2) is None
    assert _plays(engine) == {"play 1", "play 2"}, "the idle one made room"
    assert reserve(engine, bots[3], "play 3", "guest", "one", 10.0, most=2) == TOO_MANY
    assert reserve(engine, bots[3], "play 4", "somebody else", "one", 10.0, most=2) is None
    reservations.rest(engine, bots[1], "play 1", "one")
    assert reserve(engine, bots[0], "play 3", "guest", "one", 10.0, most=2) is None
    assert _plays(engine) == {"play 2", "play 3", "play 4"}


def test_a_runner_and_a_person_at_once_never_both_have_the_bot(engine: Engine) -> None:
    bot = _connected(engine)
    for number in range(10):
        _queue(engine, bot, f"m-{number}")
        start, found = threading.Barrier(2), dict[str, bool]()

        def person(start: threading.Barrier = start, found: dict[str, bool] = found, number: int = number) -> None:
            start.wait()
            found["person"] = reserve(engine, bot, f"play {number}", None, "one", 10.0) is None

        thread = threading.Thread(target=person)
        thread.start()
        start.wait()
        found["runner"] = league_matches.claim(engine, "runner") is not None
        thread.join()
        assert not (found["person"] and found["runner"])
        assert found["person"] or found["runner"]
        reservations.release(engine, f"play {number}")
        league_matches.release(engine, "runner")
