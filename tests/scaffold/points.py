"""Everything above the games with coins, which has points, extra turns and 2 or 3 seats.

``python -m tests.scaffold.points SEATS``. The tests run it in a process of its own, as ``above.py``.
"""

import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

import ludodrome
from ludodrome.analysis.game_review import GameReview
from ludodrome.arena import doctor, records
from ludodrome.arena.conditions import conditions
from ludodrome.arena.doctor.examination import HELD, NOTE, SKIPPED
from ludodrome.arena.game_loop import play
from ludodrome.arena.ladder import enter_builtins, events
from ludodrome.arena.ladder.rating_updates import recompute
from ludodrome.arena.ladder.scheduler import OFF, ON, LadderScheduler
from ludodrome.arena.matches import openings
from ludodrome.arena.matches.balance import Balance
from ludodrome.arena.matches.pool import run
from ludodrome.arena.matches.workers import AnyExecutor
from ludodrome.arena.records.replay import replay_record
from ludodrome.bots.prompts import legal_texts, read_reply, rules_prompt, turn_prompt
from ludodrome.datasets import Recorded, SelfPlay, read, write
from ludodrome.jit import COMPILED
from ludodrome.store import league_bots, league_matches
from ludodrome.store.accounts import ensure_local
from ludodrome.store.database import open_database
from ludodrome.store.league_models import DONE
from ludodrome.store.models import LOCAL
from ludodrome.testing.contract import refused
from tests.arena.playing import play_spec
from tests.cli.running import complaint, output
from tests.cli.running import run as command

VALUES = (2, 1, 3, 1, 2, 3, 1, 3, 2, 1, 3, 2, 1, 2, 3)
"""Coin - 1 -> its points, as RULES.md has them."""
SPECS = ("random", "greedy", "alphabeta:depth=2", "mcts:sims=10", "expert:nodes=200")
LEVELS = tuple(f"level:{level}" for level in range(1, 8))
CLOCK = "nodes=100"
FIRST_MOVE = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        print(json.dumps({"type": "move", "move": message["legal_moves"][0], "turn": message["turn"]}), flush=True)
"""
"""The source of a bot."""


@cache
def margin(row: tuple[int, ...]) -> int:
    """Brute force: the points that the seat to move of two wins more than the other, from a row of coins."""
    if not row:
        return 0
    found = []
    for value, rest in ((row[0], row[1:]), (row[-1], row[:-1])):
        found.append(value + (margin(rest) if value == 1 else -margin(rest)))
    return max(found)


def position(game: ludodrome.Game, first: int, last: int, seat: int) -> Any:
    """The row from one coin to another; seat 0 has taken all others."""
    taken = sum(VALUES) - sum(VALUES[first - 1 : last])
    return game.parse_state(f"{first}-{last} {'/'.join([str(taken)] + ['0'] * (game.seats - 1))} {seat}")


def recorded(game: ludodrome.Game, bots: Sequence[str] = ("greedy", "random", "random")) -> dict[str, Any]:
    """A recorded game, in which the first bot takes the seat 0."""
    return play(play_spec("coins", bots[: game.seats], **game.options))


def solving(game: ludodrome.Game) -> None:
    """The exact margin is that of brute force; three seats have no exact value."""
    options = ("-o", f"players={game.seats}")
    if game.seats > 2:
        with refused(ValueError, "only games of two seats have one exact value"):
            ludodrome.solve(game)
        assert "only games of two seats" in complaint(command("solve", "coins", *options))
        return
    for first, last in ((8, 8), (7, 10), (4, 9), (1, 7), (9, 15)):
        for seat in (0, 1):
            state = position(game, first, last, seat)
            lead = (1 - 2 * seat) * state["scores"][0]
            found = ludodrome.solve(game, state)
            assert (found.value, found.proven) == (lead + margin(VALUES[first - 1 : last]), True)
            after = game.apply(state, found.move)
            best = VALUES[found.move["coin"] - 1]
            rest = VALUES[after["first"] - 1 : after["last"]] if after["first"] else ()
            assert best + (margin(rest) if best == 1 else -margin(rest)) == margin(VALUES[first - 1 : last])
    line = game.format_state(position(game, 11, 15, 0))
    data = json.loads(output("solve", "coins", *options, "--state", line, "--json"))
    assert data["value"] == sum(VALUES[:10]) + margin(VALUES[10:])
    assert "the seat to move ends" in output("solve", "coins", *options, "--state", line)


def analysing(game: ludodrome.Game) -> None:
    """Both moves with their margins, the better one first."""
    state = position(game, 9, 13, 1)
    *_, found = ludodrome.analyse(game, state, time=None if game.seats == 2 else 2.0, depth=5)
    assert {line.text for line in found.lines} == {"9", "13"}
    scores = [line.score for line in found.lines]
    assert scores == sorted(scores, reverse=True)
    lead = -state["scores"][0]
    if game.seats == 2:
        assert found.lines[0].proven
        assert scores[0] == lead + margin(VALUES[8:13])
    else:
        assert scores[0] == lead + paranoid(VALUES[8:13], 1, 1)
        assert not any(line.proven for line in found.lines)
    line = game.format_state(state)
    data = output("analyse", "coins", "-o", f"players={game.seats}", "--state", line, "--time", "0.5", "--json")
    assert json.loads(data)["lines"][0]["text"] == found.lines[0].text


@cache
def paranoid(row: tuple[int, ...], seat: int, own: int) -> int:
    """Brute force for three seats: what a seat wins more than the two others together, if they play against it."""
    if not row:
        return 0
    found = []
    for value, rest in ((row[0], row[1:]), (row[-1], row[:-1])):
        found.append((value if seat == own else -value) + paranoid(rest, seat if value == 1 else (seat + 1) % 3, own))
    return max(found) if seat == own else min(found)


def reviewing(game: ludodrome.Game) -> None:
    """Every move of a recorded game gets a grade, from Python and on the command line."""
    record = recorded(game)
    replay = replay_record(record)
    review = GameReview(replay.game, replay.states, replay.moves, nodes=2000)
    graded = list(review.work())
    assert len(graded) == len(VALUES)
    assert review.done
    assert {one.seat for one in graded} == set(range(game.seats))
    assert all(one.loss >= 0 and one.points is not None for one in graded)
    assert all(0.001 < one.win_probability < 0.999 for one in graded if one.ply < 4)
    assert all(0 < (review.accuracy(seat) or 0) <= 100 for seat in range(game.seats))
    assert graded[0].grade is None  # the last coin is a forced move
    if game.seats == 2:
        exact = [one for one in graded if one.ply >= 8]
        for one in exact:
            state = replay.states[one.ply]
            scores = state["scores"]
            lead = scores[one.seat] - scores[1 - one.seat]
            assert one.review.exact
            assert one.review.best.score == lead + margin(VALUES[state["first"] - 1 : state["last"]])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "game.json"
        file.write_text(json.dumps(record))
        data = json.loads(output("review", str(file), "--nodes", "500", "--json"))
        assert len(data["plies"]) == len(VALUES)
        assert len([one for one in data["accuracy"] if one is not None]) == game.seats
        assert "accuracy" in output("review", str(file), "--nodes", "500")


def bots(game: ludodrome.Game) -> None:
    """All kinds of bots play it to the end; greedy takes the most points."""
    for spec in (*SPECS, *LEVELS, "level:8"):
        if spec == "level:8" and game.seats == 3:
            continue  # it is the expert, which thinks for a second
        playing = [ludodrome.bot(spec if seat == 1 else "random", game, seed=seat) for seat in range(game.seats)]
        state = position(game, 6, 12, 1) if spec == "level:8" else game.initial_state()
        while (seat := game.to_move(state)) is not None:
            state = game.apply(state, playing[seat].choose(game.observation(state, seat), ludodrome.Budget(nodes=500)))
        assert sum(game.outcome(state).scores) == sum(VALUES)  # type: ignore[union-attr]
    greedy = ludodrome.bot("greedy", game)
    assert greedy.choose(game.initial_state()) == {"coin": 15}
    for first, last, coin in ((5, 6, 6), (14, 15, 15), (11, 12, 11)):
        assert greedy.choose(position(game, first, last, 1)) == {"coin": coin}


def matches(game: ludodrome.Game) -> None:
    """Matches, sequential tests and tournaments; all records verify."""
    specs = ["alphabeta:depth=3", *(f"weak{number}=random" for number in range(1, game.seats))]
    result = ludodrome.play_match(game, specs, games=10 * game.seats, clock=CLOCK, workers=0, seed=1)
    assert result.games == 10 * game.seats
    for record in result.records:
        records.verify(record)
        assert record["result"]["decided_by"] == "play"
        assert sum(record["result"]["scores"]) == sum(VALUES)
    assert result.scores["alphabeta:depth=3"].points > result.games / game.seats
    if game.seats > 2:
        with refused(ValueError, "two"):
            ludodrome.sprt(game, ["greedy", "random"], clock=CLOCK, workers=0)
    else:
        tested = ludodrome.sprt(game, ["greedy", "random"], elo0=0, elo1=400, max_games=20, clock=CLOCK, workers=0)
        assert 0 < tested.games <= 20
    entrants = ["greedy", "weak=random", "mcts:sims=5"]
    played = ludodrome.tournament(game, entrants, clock=CLOCK, workers=0)
    assert played.finished
    assert len(played.standings) == 3
    record = recorded(game)
    record["turns"][3]["move"] = {"coin": 8}
    with refused(ValueError, ""):
        records.verify(record)


def doctors(game: ludodrome.Game) -> None:
    """The doctor finds nothing wrong with a bot that plays well."""
    with tempfile.TemporaryDirectory() as folder:
        found = list(doctor.examine(game, "random", Path(folder), clock="10s"))
    assert {one.check for one in found} >= {"start", "seats"}
    assert [one for one in found if one.grade not in (HELD, NOTE, SKIPPED)] == []


def leagues(game: ludodrome.Game) -> None:
    """Built-in bots are in the league, an event is played by the scheduler's jobs, and the ratings are right."""
    with tempfile.TemporaryDirectory() as folder, seats_by_default(game):
        engine = open_database(Path(folder) / "league.db", create=True)
        ensure_local(engine)
        enter_builtins(engine)
        listed = {one.name: one for one in league_bots.bots(engine, "coins")}
        assert {"random", "greedy"} <= set(listed)
        league_bots.ensure_builtins(engine, "coins", {"level:1": "level:1"})
        chosen = list(league_bots.bots(engine, "coins"))[:3]
        ladder(engine, game)
        event = events.ask(
            engine, "coins", chosen, LOCAL, options=game.options, name="Cup", clock="10s", openings=False
        )
        if game.seats == 2:
            events.ask(engine, "coins", chosen[:2], LOCAL, clock="10s")
        else:
            with refused(ValueError, "needs 3 bots, and there are 2"):
                events.ask(engine, "coins", chosen[:2], LOCAL, options=game.options)
        with ThreadPoolExecutor(1) as threads:
            run(LadderScheduler(engine, str(engine.url), "points", OFF), AnyExecutor(threads, 1))
        games = league_matches.event_games(engine, event)
        assert {status for *_, status in games} == {DONE}
        assert len(games) == (6 if game.seats == 2 else 3)
        assert recompute(engine).changed == []
        assert any(one.games for one in league_bots.standings(engine, "coins"))
        from ludodrome.arena.ladder import playing

        playing._database(str(engine.url)).dispose()
        playing._database.cache_clear()
        engine.dispose()


@contextmanager
def seats_by_default(game: ludodrome.Game) -> Iterator[None]:
    """By default the game has as many seats as this one, as long as this lasts: a ladder rates no other options."""
    usual = type(game).available
    type(game).available = (usual[0]._replace(default=game.seats),)
    try:
        yield
    finally:
        type(game).available = usual


def ladder(engine: Engine, game: ludodrome.Game) -> None:
    """An uploaded bot meets others on the ladder."""
    bot = league_bots.enter_uploaded(engine, "coins", LOCAL, "Mine", FIRST_MOVE, [])
    scheduler = LadderScheduler(engine, str(engine.url), "ladder", ON)
    while scheduler.finished < 2 * game.seats:
        job = scheduler.next()
        assert job is not None
        scheduler.done(job, job.function(job.argument))
    standing = league_bots.standing(engine, bot)
    assert standing is not None
    assert standing.games == 2 * game.seats
    assert standing.verdicts == {}


def environments(game: ludodrome.Game) -> None:
    """Gymnasium, vectors of games, PettingZoo, TextArena and OpenSpiel."""
    import gymnasium
    import numpy as np
    from gymnasium.utils.env_checker import check_env
    from pettingzoo.test import api_test

    import ludodrome.envs

    env: Any = gymnasium.make(
        ludodrome.envs.env_id("coins"), opponent="greedy", players=game.seats, render_mode="ansi"
    ).unwrapped
    check_env(env, skip_render_check=True)
    _, info = env.reset(seed=1)
    ended = False
    while not ended:
        _, reward, ended, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
    assert reward in (-1, -0.5, 0, 1)
    for opponent in ("self", "random", "mcts:sims=5"):
        envs = gymnasium.make_vec(ludodrome.envs.env_id("coins"), num_envs=4, opponent=opponent, players=game.seats)
        _, info = envs.reset(seed=1)
        over = 0
        for _ in range(40):
            _, _, ended, _, info = envs.step(info["action_mask"].argmax(1))
            over += int(ended.sum())
        assert over >= 4
    warnings.simplefilter("ignore")  # PettingZoo's test warns of every observation that is a dictionary
    api_test(ludodrome.envs.aec_env("coins", players=game.seats), num_cycles=50)
    texts(game)
    openspiel(game)


def texts(game: ludodrome.Game) -> None:
    """TextArena's environment, if it is installed."""
    if find_spec("textarena") is None:
        print("textarena is not installed: not tried")
        return
    from ludodrome.envs.text import TextEnv

    env = TextEnv("coins", players=game.seats)
    env.reset(num_players=game.seats, seed=1)
    done = False
    while not done:
        _, seen = env.get_observation()
        state = env.game.initial_state() if env._referee is None else env._referee.state
        assert seen
        done, _ = env.step(f"[{game.format_move(game.legal_moves(state)[0], state)}]")
    env.close()


def openspiel(game: ludodrome.Game) -> None:
    """OpenSpiel's simulation test, if it is installed."""
    if find_spec("pyspiel") is None:
        print("open_spiel is not installed: not tried")
        return
    import pyspiel

    from ludodrome.envs.openspiel import register

    register()
    pyspiel.random_sim_test(
        pyspiel.load_game(f"ludodrome_coins(players={game.seats})"), num_sims=1, serialize=True, verbose=False
    )


def datasets(game: ludodrome.Game) -> None:
    """Recorded games and self-play, written and read."""
    with tempfile.TemporaryDirectory() as folder:
        for name, source in (("a", Recorded([recorded(game)])), ("b", SelfPlay(game, 2, sims=4))):
            made = write(source, Path(folder) / name)
            shards = list(read(Path(folder) / name))
            assert made.rows == sum(len(shard["action"]) for shard in shards) == made.games * len(VALUES)
            assert {int(seat) for shard in shards for seat in shard["seat"]} == set(range(game.seats))


def language_models(game: ludodrome.Game) -> None:
    """The prompt of a model, and its answer."""
    state = game.apply(game.initial_state(), {"coin": 1})
    prompt = rules_prompt(game, 1)
    assert "You are player 1" in prompt
    assert "R3." in prompt
    moves = legal_texts(game, state, game.legal_moves(state))
    assert moves == ["[2]", "[15]"]
    assert "[15]" in turn_prompt(game, state, 1, moves)
    assert read_reply(game, state, "The copper coin: [2].").move == {"coin": 2}
    assert read_reply(game, state, "[7]").move is None


def mcp(game: ludodrome.Game) -> None:
    """A client plays a match by MCP's tools, with analysis."""
    if find_spec("mcp") is None:
        print("mcp is not installed: not tried")
        return
    from ludodrome.mcp.server import Tools

    tools = Tools()
    assert "coins" in [one["id"] for one in tools.list_games()["games"]]
    assert "copper" in tools.read_rules("coins")
    view = tools.start_match("coins", options=game.options, opponent="greedy", seat=1, allow_analysis=True)
    match = view["match"]
    assert len(tools.look(match, state=True)) == 3
    assert tools.analyse(match, seconds=0.2)["lines"]
    while "result" not in view:
        view = tools.make_move(match, tools.legal_moves(match)["legal_moves"][0])
    records.verify(tools.replay(match)["record"])


def pages(game: ludodrome.Game) -> None:
    """Analysis, play, replay and review on the page."""
    from httpx import Client

    from tests.web.serving import server
    from tests.web.walking import API, begin, play_out

    with server() as address, Client(base_url=address, follow_redirects=True, timeout=120) as client:
        wanted = {"game": "coins", "options": game.options}
        seats = ["person", *["greedy"] * (game.seats - 1)]
        view = play_out(client, begin(client, "coins", seats, options=game.options))
        assert sum(view["position"]["outcome"]["scores"]) == sum(VALUES)
        assert len(view["position"]["state"]["scores"]) == game.seats
        state = position(game, 9, 13, 1)
        found = client.post(f"{API}/analysis", json=wanted | {"state": state, "seconds": 0.3, "lines": 2})
        assert found.status_code == 200, found.text
        assert len(found.json()["lines"]) == 2
        assert client.get(f"/games/{view['id']}").status_code == 200
        record = client.get(f"{API}/plays/{view['id']}/record")
        assert record.status_code == 200, record.text
        records.verify(record.json())
        read_on_the_page(client, record.json())


def read_on_the_page(client: Any, record: dict[str, Any]) -> None:
    """A record is replayed and graded."""
    from tests.web.walking import API

    answer = client.post(f"{API}/replays", json=record)
    assert answer.status_code == 201, answer.text
    address = f"{API}/replays/{answer.json()['id']}"
    assert len(client.get(address).json()["positions"]) == len(VALUES) + 1
    graded = client.get(f"{address}/grading").json()
    while not graded["done"]:
        graded = client.get(f"{address}/grading").json()
    assert len(graded["accuracy"]) == len(record["names"])
    assert len(graded["plies"]) == len(VALUES)


PARTS: tuple[Callable[[ludodrome.Game], None], ...] = (
    solving,
    analysing,
    reviewing,
    bots,
    matches,
    doctors,
    leagues,
    environments,
    datasets,
    language_models,
    mcp,
    pages,
)


def main() -> None:
    """All parts, or those that are named."""
    game = ludodrome.make("coins", players=int(sys.argv[1]))
    assert str(conditions(game).clock)
    if not COMPILED:  # to judge an opening by games takes minutes in plain Python
        setattr(openings, "judge", lambda *arguments: Balance(True, 0.0))  # noqa: B010 - mypy knows its arguments
    for part in PARTS:
        if part.__name__ in (sys.argv[2:] or [part.__name__]):
            part(game)
            print(part.__name__, flush=True)


if __name__ == "__main__":
    main()
