"""A league that has been playing for a while, made in a moment: real games of quick built-ins, under other names."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

from sqlalchemy import Engine

from ludodrome.arena import game_loop
from ludodrome.arena.conditions import conditions
from ludodrome.arena.ladder import enter_builtins, events
from ludodrome.arena.ladder.playing import Broadcast
from ludodrome.arena.ladder.rating_updates import count_game
from ludodrome.arena.ladder.scheduler import OFF, LadderScheduler
from ludodrome.arena.matches.pool import run
from ludodrome.arena.matches.tallies import game_result
from ludodrome.arena.matches.workers import AnyExecutor
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.referee import Referee
from ludodrome.arena.transports import make_seat
from ludodrome.bots.starters import one_file
from ludodrome.games import make
from ludodrome.store import league_bots, league_matches
from ludodrome.store.accounts import ensure_local
from ludodrome.store.league_models import CHALLENGE, LADDER
from ludodrome.store.league_ratings import finish
from ludodrome.store.models import LOCAL

STAND_INS = {"Annas first": "greedy", "Chainsaw": "chains", "Ünder dog": "random"}
"""Uploaded bots, and which built-ins play for them."""
RIVALS = ("random", "greedy", "level:2", "level:4")
OPTIONS = {"rows": 2, "cols": 2}


def settle(engine: Engine) -> dict[str, league_bots.BotEntry]:
    """The bots of dots by name: built-ins, three uploaded ones, and one that dials in."""
    ensure_local(engine)
    enter_builtins(engine)
    for name in STAND_INS:
        league_bots.enter_uploaded(engine, "dots", LOCAL, name, one_file("dots"), [])
    league_bots.enter_remote(engine, "dots", LOCAL, "Far away", "secret of a test")
    return {one.name: one for one in league_bots.bots(engine, "dots")}


def play_specs(names: tuple[str, ...], rounds: int) -> Iterator[PlaySpec]:
    """So many rounds in which all meet all, twice."""
    game = make("dots", **OPTIONS)
    for number in range(rounds):
        for pair in permutations(names, 2):
            bots = tuple(STAND_INS.get(name, name) for name in pair)
            yield PlaySpec("dots", game.options, bots, pair, conditions(game, clock="none"), number, (), number)


def play(engine: Engine, known: dict[str, league_bots.BotEntry], rounds: int, names: tuple[str, ...] = ()) -> int:
    """Rated games, one after the other; how many."""
    count = 0
    for play_spec in play_specs(names or (*STAND_INS, *RIVALS), rounds):
        ids = [known[name].id for name in play_spec.names]
        league_matches.queue(engine, LADDER, [(play_spec.match, play_spec.to_json(), ids, 0)], None)
        record = game_loop.play(play_spec)
        count += finish(engine, play_spec.match, game_result(record).to_json(), record, count_game)
    return count


def begin_match(engine: Engine, game_id: str, names: tuple[str, ...], turns: int) -> str:
    """A match that stands still after some turns, as spectators see one that is being played; its id."""
    game = make(game_id)
    bots = {one.name: one for one in league_bots.bots(engine, game_id)}
    play_spec = PlaySpec(game_id, game.options, names, names, conditions(game, clock="1s+10s"), 5, (), 5)
    seated = [bots[name].id for name in names]
    league_matches.queue(engine, CHALLENGE, [(play_spec.match, play_spec.to_json(), seated, 0)], None)
    assert league_matches.claim(engine, "nobody") is not None
    referee = Referee(play_spec)
    seats = [make_seat(spec, game, at) for at, spec in enumerate(play_spec.bots)]
    broadcast = Broadcast(engine, referee, 0)
    for at, one in enumerate(seats):
        one.start(referee.hello(at))
    for _ in range(turns):
        assert referee.turn is not None
        referee.deliver(seats[referee.turn.seat].ask(referee.turn))
        broadcast.update(referee)
    with broadcast:
        while not league_matches.live(engine):
            time.sleep(0.01)
    for one in seats:
        one.close()
    return play_spec.match


def populate(engine: Engine) -> None:
    """A league to look at: rated games, a tournament that is over, and a match that is being played."""
    bots = settle(engine)
    play(engine, bots, 2)
    league_bots.add_version(engine, bots["Chainsaw"].id, one_file("dots") + "# better\n", [])
    bots = {one.name: one for one in league_bots.bots(engine, "dots")}
    chosen = [bots[name] for name in ("random", "greedy", "Chainsaw", "level:2")]
    events.ask(engine, "dots", chosen, LOCAL, options=OPTIONS, name="Sunday cup", pairs=2)
    with ThreadPoolExecutor(1) as threads:
        run(LadderScheduler(engine, str(engine.url), "populate", OFF), AnyExecutor(threads, 1))
    begin_match(engine, "skysummit", ("greedy", "random"), 14)
