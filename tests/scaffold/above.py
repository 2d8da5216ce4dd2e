"""Everything above the games with a game of another package: ``python -m tests.scaffold.above GAME``.

The tests run it in a process of its own, since a package is looked for once in a process.
"""

import sys
import warnings
from typing import Any, NamedTuple

import ludodrome
from ludodrome.arena import records
from ludodrome.arena.game_loop import play
from ludodrome.arena.matches.openings import opening
from ludodrome.bots.prompts import legal_texts, read_reply, rules_prompt, turn_prompt
from ludodrome.jit import COMPILED
from ludodrome.testing.contract import refused
from tests.arena.playing import play_spec


class Example(NamedTuple):
    """What is particular to a game: positions and what is right there."""

    best: dict[str, Any]
    """Position -> the move that a greedy bot finds, and a search."""
    opening: list[Any]
    prompt: tuple[str, ...]
    """Parts of the prompt of a language model."""
    reply: dict[str, Any]
    """What a model writes -> the move."""
    drawing: str
    """The beginning of the drawing."""
    cells: list[str]
    """The names of the first cells."""
    board: tuple[str, str, int]
    """A position, a move there, and the turn after it."""
    frame: tuple[int, int, int]
    """The size of its picture."""


TICTACTOE = Example(
    {"XX./OO./...": {"cell": "c1"}, "X.X/.O./...": {"cell": "b1"}},
    [{"cell": "a1"}, {"cell": "b2"}],
    ("A move is written as in [a1], [b1] or [c1].", "You are player 1 (O).", "R3."),
    {"The centre [b2] is best, not [z9].": {"cell": "b2"}, 'I play {"cell": "a3"}': {"cell": "a3"}},
    "  a b c",
    ["a1", "b1", "c1"],
    ("X../.O./...", "c3", 3),
    (96, 96, 3),
)
COINS = Example(
    {"3-4 14/12 0": {"coin": 4}, "14-15 12/13 1": {"coin": 15}},
    [{"coin": 1}, {"coin": 2}],
    ("A move is written as in [1] or [15].", "You are player 1", "R3."),
    {"I take [15].": {"coin": 15}, 'I play {"coin": 1}': {"coin": 1}},
    " 1  2  3",
    ["1", "2", "3"],
    ("3-15 3/0 1", "15", 3),
    (32, 480, 3),
)


def example(game: ludodrome.Game) -> Example:
    """The example of a game; every other game is tic-tac-toe under some name."""
    return COINS if game.id == "coins" else TICTACTOE


QUICK = ("random", "greedy", "mcts:sims=30", "level:1", "level:4")


def bots(game: ludodrome.Game) -> None:
    """Every kind of bot that can play it does; alpha-beta where the game has an evaluator."""
    names = ludodrome.bot_names(game)
    assert {"random", "greedy", "mcts", "expert", "level:1", "level:8"} <= set(names)
    assert ("alphabeta" in names) == (game.evaluator is not None)
    state = game.initial_state()
    for spec in (*QUICK, *(["alphabeta:depth=2"] if game.evaluator else [])):
        assert game.is_legal(state, ludodrome.bot(spec, game, seed=1).choose(state))
    if game.evaluator is None:
        with refused(ValueError, "has no evaluator"):
            ludodrome.bot("alphabeta", game)
    by_points = game.evaluator is not None and game.evaluator.by_points
    for line, move in example(game).best.items():
        assert (
            ludodrome.bot("alphabeta:depth=3" if by_points else "greedy", game).choose(game.parse_state(line)) == move
        )


def matches(game: ludodrome.Game) -> None:
    """A match by the arena's referee, from an opening; its record verifies."""
    strong = "alphabeta:depth=3" if game.evaluator else "mcts:sims=50"
    drawn = opening(game, 1, 1).moves if COMPILED else example(game).opening
    given = play_spec(game.id, [strong, "random"], opening=drawn)
    assert given.conditions.policy == "forfeit"
    record = play(given)
    records.verify(record)
    assert record["result"]["decided_by"] == "play"


def language_models(game: ludodrome.Game) -> None:
    """Their prompts and their answers."""
    state = game.initial_state()
    prompt = rules_prompt(game, 1)
    for part in example(game).prompt:
        assert part in prompt
    last = game.format_move(game.legal_moves(state)[-1], state)
    assert f"[{last}]" in turn_prompt(game, state, 0, legal_texts(game, state, game.legal_moves(state)))
    for text, move in example(game).reply.items():
        assert read_reply(game, state, text).move == move


def pages(game: ludodrome.Game) -> None:
    """The page's API plays it, and every tab of it answers."""
    from httpx import Client

    from ludodrome.web.position_view import board_of
    from tests.web.serving import server
    from tests.web.walking import API, begin, play_out

    assert (board_of(game.id), board_of("dots")) == ("generic", "dots")
    with server() as address, Client(base_url=address, follow_redirects=True, timeout=120) as client:
        assert game.id in [one["id"] for one in client.get(f"{API}/games").json()]
        view = play_out(client, begin(client, game.id, ["person", "random"]))
        assert view["position"]["outcome"] is not None
        marks = view["position"]["marks"]
        assert marks["drawing"].startswith(example(game).drawing)
        assert [cell["name"] for cell in marks["cells"][0][:3]] == example(game).cells
        near, best = next(iter(example(game).best.items()))
        found = client.post(
            f"{API}/analysis",
            json={"game": game.id, "options": {}, "state": game.parse_state(near), "seconds": 0.2, "lines": 1},
        )
        assert found.json()["lines"][0]["move"] == best
        for tab in ("", "/rules", "/puzzles", "/analysis", "/arena", "/leaderboard", "/bots/new"):
            answer = client.get(f"/{game.id}{tab}")
            assert answer.status_code == 200, (tab, answer.text)
            assert 'data-board="generic"' in answer.text
            assert f">{game.title}</a>" in answer.text
        assert client.get(f"/games/{view['id']}").status_code == 200
        line, move, turn = example(game).board
        shown = client.post(f"{API}/boards/{game.id}", json={"options": None, "state": line, "moves": [move]})
        assert shown.json()["positions"][1]["state"]["turn"] == turn


def environments(game: ludodrome.Game) -> None:
    """Gymnasium's own checker is content, and its learner sees whose turn it is."""
    import gymnasium
    import numpy as np
    from gymnasium.utils.env_checker import check_env

    import ludodrome.envs
    from ludodrome.envs.observations import frame

    env: Any = gymnasium.make(ludodrome.envs.env_id(game.id), opponent="random", render_mode="rgb_array").unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(env, skip_render_check=True)
    seen, info = env.reset(seed=1)
    assert seen.shape == game.planes.shape
    assert (seen[-1] == 1).all()
    while True:
        seen, _, ended, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        assert env.observation_space.contains(seen)
        if ended:
            break
    line = example(game).board[0]
    assert frame(game, game.encode(game.parse_state(line)), "rgb_array").shape == example(game).frame


def full_screen(game: ludodrome.Game) -> None:
    """It is played to its end on the full screen of the terminal: its cells are the places of the cursor."""
    from ludodrome.cli.play_app import PlayApp
    from tests.cli.playing import drive, new_play, play_on, random_mover, screen

    app = PlayApp(new_play(game.id))

    async def story(pilot: Any) -> None:
        assert f"enter: {example(game).cells[0]}" in screen(app)
        await play_on(pilot, random_mover(1))
        outcome = app.play.outcome()
        assert outcome is not None
        assert outcome.reason in screen(app)

    drive(app, story)


def main() -> None:
    """All of it."""
    game = ludodrome.make(sys.argv[1])
    for part in (bots, matches, language_models, pages, environments, full_screen):
        part(game)
        print(part.__name__)


if __name__ == "__main__":
    main()
