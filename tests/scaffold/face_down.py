"""Everything above the games with picks, in which moves are face down: ``python -m tests.scaffold.face_down SEATS``.

Nobody but its seat sees a number before the end: neither other seats nor spectators, wherever they look.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import ludodrome
from ludodrome.arena import records
from ludodrome.arena.game_loop import play
from ludodrome.arena.ladder import enter_builtins
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import Answer
from ludodrome.bots.prompts import legal_texts, turn_prompt
from ludodrome.datasets import Recorded, write
from ludodrome.store import league_matches
from ludodrome.store.accounts import ensure_local
from ludodrome.store.database import open_database
from ludodrome.testing import CHECKS
from ludodrome.testing.contract import refused
from tests.arena.playing import play_spec
from tests.cli.running import complaint, output
from tests.cli.running import run as command
from tests.web.walking import API

SECRET = 3
"""What seat 0 picks. No answer has this digit in another meaning, since ids and keys are left out."""


def shows(answer: Any) -> bool:
    """Whether an answer tells the secret: as a number or a move anywhere in it."""
    if isinstance(answer, dict):
        left_out = ("id", "match", "key", "version", "options", "players", "left_ms", "legal", "texts", "legal_moves")
        return any(shows(value) for name, value in answer.items() if name not in left_out)
    if isinstance(answer, list | tuple):
        return any(shows(value) for value in answer)
    return answer == SECRET or (isinstance(answer, str) and str(SECRET) in answer)


def contract(game: ludodrome.Game) -> None:
    """The contract of all games holds; the secret is found where it is shown."""
    for check in CHECKS:
        check(game)
    state = game.apply(game.initial_state(), {"pick": SECRET})
    assert game.hides(state)
    assert [game.hides(state, seat) for seat in range(game.seats)] == [False] + [True] * (game.seats - 1)
    assert shows(state)
    assert shows(game.observation(state, 0))
    assert not shows(game.observation(state, 1))
    assert not shows(game.observation(state))


def bots(game: ludodrome.Game) -> None:
    """Bots play from what they see."""
    for spec in ("random", "greedy", "mcts:sims=10", "level:2"):
        state = game.initial_state()
        while (seat := game.to_move(state)) is not None:
            state = game.apply(state, ludodrome.bot(spec, game).choose(game.observation(state, seat)))
    for analysis in (ludodrome.analyse, ludodrome.solve):
        with refused(ValueError, "its package has no evaluator for positions"):
            analysis(game, game.initial_state())
    assert "no evaluator" in complaint(command("analyse", "picks"))


def matches(game: ludodrome.Game) -> None:
    """What bots are sent hides the numbers of others; the record, when all is over, has them and verifies."""
    names = ["random", *(f"weak{seat}=random" for seat in range(1, game.seats))]
    result = ludodrome.play_match(game, names, games=2 * game.seats, clock="nodes=10", workers=0)
    for record in result.records:
        records.verify(record)
    referee = Referee(play_spec("picks", ["random"] * game.seats, **game.options))
    assert referee.turn is not None
    referee.deliver(Answer(0.0, {"pick": SECRET}))
    for seat in range(1, game.seats):
        turn = referee.turn
        assert turn is not None
        assert turn.seat == seat
        assert not shows(turn.message | {"ts_ms": 0})
        seen = turn.observation
        assert not shows(turn_prompt(game, seen, seat, legal_texts(game, seen, None)))
        for notice in referee.notices():
            assert not shows(notice.message)
        referee.deliver(Answer(0.0, {"pick": 1}))
    assert shows(referee.record()["turns"])
    record = play(play_spec("picks", ["random"] * game.seats, **game.options))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "game.json"
        file.write_text(json.dumps(record))
        assert "no evaluator" in complaint(command("review", str(file)))
        assert write(Recorded([record]), Path(folder) / "set").rows == game.seats


def environments(game: ludodrome.Game) -> None:
    """Learners see no numbers of others."""
    import ludodrome.envs

    env = ludodrome.envs.aec_env("picks", players=game.seats)
    env.reset(seed=1)
    env.step(SECRET - 1)
    for seat in range(1, game.seats):
        assert SECRET not in env.observe(f"player_{seat}")["observation"]
    assert SECRET in env.observe("player_0")["observation"]
    vector = ludodrome.envs.GameVectorEnv(game, 4, opponent="self")
    vector.reset(seed=1)
    seen, *_ = vector.step(np.full(4, SECRET - 1))
    assert SECRET not in seen
    if find_spec("pyspiel") is None:
        print("open_spiel is not installed: not tried")
        return
    import pyspiel

    from ludodrome.envs.openspiel import register

    register()
    spiel = pyspiel.load_game(f"ludodrome_picks(players={game.seats})")
    state = spiel.new_initial_state()
    state.apply_action(SECRET - 1)
    assert not shows(state.observation_string(1))
    assert not shows(state.information_state_string(1))


def live_views(game: ludodrome.Game) -> None:
    """Spectators of the league see neither numbers nor moves."""
    from ludodrome.arena.ladder.playing import Broadcast
    from ludodrome.web.league import with_marks

    with tempfile.TemporaryDirectory() as folder:
        engine = open_database(Path(folder) / "league.db", create=True)
        ensure_local(engine)
        enter_builtins(engine)
        referee = Referee(play_spec("picks", ["random"] * game.seats, **game.options))
        broadcast = Broadcast(engine, referee, 0)
        for number in range(game.seats):
            broadcast.update(referee)
            assert broadcast._latest is not None
            view = json.loads(json.dumps(broadcast._latest[1]))
            assert view["ply"] == number
            assert view["texts"] == view["movers"] == []
            assert view["last"] is None
            assert view["state"]["picks"] == [0] * number + [None] * (game.seats - number)
            marks = with_marks(view)["marks"]
            assert marks["drawing"].startswith(f"picks {'?' * number}-")
            assert not shows(marks)
            referee.deliver(Answer(0.0, {"pick": SECRET}))
        broadcast.update(referee)
        assert broadcast._latest is not None
        view = broadcast._latest[1]
        assert view["texts"] == [str(SECRET)] * game.seats
        assert view["state"]["picks"] == [SECRET] * game.seats
        assert league_matches.live(engine) == {}
        engine.dispose()


def mcp(game: ludodrome.Game) -> None:
    """A client sees its own numbers, and no others before the end."""
    if find_spec("mcp") is None:
        print("mcp is not installed: not tried")
        return
    from ludodrome.mcp.server import Tools

    tools = Tools()
    view = tools.start_match("picks", options=game.options, opponent="client", seat=0, allow_analysis=True)
    match, keys = view["match"], [view["key"]]
    keys += [tools.join_match(match)["key"] for _ in range(1, game.seats)]
    view = tools.make_move(match, f"[{SECRET}]", keys[0])
    assert view["last_moves"][-1]["move"] == str(SECRET)
    for seat in range(1, game.seats):
        moves = tools.replay(match, keys[seat])["moves"]
        assert [move["move"] for move in moves] == ["face down"] * seat
        answers = (
            tools.wait_for_turn(match, keys[seat], 0.0)["board"],
            tools.look(match, keys[seat], image=False, state=True),
            tools.look(match, keys[seat], turn=1, image=True, state=True)[-1],
            moves,
        )
        assert not shows([json.loads(json.dumps(answer)) for answer in answers])
        with refused(ValueError, "hidden from you"):
            tools.analyse(match, keys[seat])
        view = tools.make_move(match, {"pick": 4}, keys[seat])
    assert "result" in view
    replayed = tools.replay(match, keys[1])
    assert [move["move"] for move in replayed["moves"]] == [str(SECRET)] + ["4"] * (game.seats - 1)
    records.verify(replayed["record"])


def pages(game: ludodrome.Game) -> None:
    """A play on the page: spectators and the other seats see no number, its seat does; all do at the end."""
    from ludodrome.web.position_view import position_view
    from tests.web.hosting import hosting
    from tests.web.walking import begin

    state = game.apply(game.initial_state(), {"pick": SECRET})
    assert shows(position_view(game, state, 0)["state"])
    for seat in (None, *range(1, game.seats)):
        view = position_view(game, state, seat)
        assert not shows(view)
        assert view["marks"]["cells"][0][0]["sign"] == "?"
        assert len(view["legal"]) == (4 if seat == 1 else 0)
    with hosting() as hosted, hosted.client() as owner, hosted.client() as stranger:
        view = begin(owner, "picks", ["person", *["friend"] * (game.seats - 1)], options=game.options)
        where, own = f"{API}/plays/{view['id']}", {"x-play-key": view["key"]}
        friends = [join(stranger, seat["link"]) for seat in view["seats"][1:]]
        for seat, key in enumerate((own, *friends)):
            pick = SECRET if seat == 0 else 4
            made = stranger.post(f"{where}/moves", json={"move": {"pick": pick}}, headers=key)
            assert made.status_code == 200, made.text
            if seat == game.seats - 1:
                break
            assert shows(stranger.get(where, headers=own).json()["position"]["state"])
            for viewer in ({}, *friends):
                seen = stranger.get(where, headers=viewer).json()
                assert not shows({name: seen[name] for name in ("position", "moves")})
                assert [move["text"] for move in seen["moves"]] == ["face down"] * (seat + 1)
                assert (stranger.get(f"{where}/record", headers=viewer)).status_code >= 400
        seen = stranger.get(where).json()
        assert [move["text"] for move in seen["moves"]] == [str(SECRET)] + ["4"] * (game.seats - 1)
        record = stranger.get(f"{where}/record").json()
        records.verify(record)
        named = stranger.post(f"{API}/replays", json=record).json()["id"]
        graded = stranger.get(f"{API}/replays/{named}/grading")
        assert 400 <= graded.status_code < 429
        assert "cannot be graded" in graded.text
        for tab in ("", "/rules", "/analysis", "/arena", "/leaderboard"):
            assert stranger.get(f"/picks{tab}", follow_redirects=True).status_code == 200


def join(client: Any, link: str) -> dict[str, str]:
    """Take the seat of a link."""
    answer = client.post(f"{API}/joins/{link.removeprefix('/join/')}")
    assert answer.status_code == 201, answer.text
    return {"x-play-key": answer.json()["key"]}


PARTS: tuple[Callable[[ludodrome.Game], None], ...] = (
    contract,
    bots,
    matches,
    environments,
    live_views,
    mcp,
    pages,
)


def main() -> None:
    """All parts, or those that are named."""
    game = ludodrome.make("picks", players=int(sys.argv[1]))
    assert "picks" in output("games")
    for part in PARTS:
        if part.__name__ in (sys.argv[2:] or [part.__name__]):
            part(game)
            print(part.__name__, flush=True)


if __name__ == "__main__":
    main()
