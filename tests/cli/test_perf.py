import json

import pytest

import ludodrome
from ludodrome.bench import Done, Work, best_rates
from tests.cli.running import complaint, on_terminal, output, run

LISTED = [game_id for game_id in ludodrome.game_ids() if game_id != "spaces"]


@pytest.mark.parametrize("game_id", LISTED)
def test_perft_counts_each_depth(game_id: str) -> None:
    game = ludodrome.make(game_id)
    header, *lines = output("perft", game_id, "2").splitlines()
    assert header.split() == ["depth", "nodes", "seconds", "nodes/s"]
    assert [line.split()[:2] for line in lines] == [
        [str(depth), f"{ludodrome.perft(game, depth):,}"] for depth in (1, 2)
    ]


def test_perft_as_json_with_options_and_state() -> None:
    line = "1x1 1/0 00 . 1 0"
    data = json.loads(output("perft", "dots", "4", "-o", "rows=1", "-o", "cols=1", "--state", line, "--json"))
    assert (data["game"], data["options"], data["state"]) == ("dots", {"rows": 1, "cols": 1}, line)
    assert [row["nodes"] for row in data["rows"]] == [3, 6, 6, 0]
    assert all(set(row) == {"depth", "nodes", "seconds", "nodes_per_second"} for row in data["rows"])


def test_perft_of_a_finished_game() -> None:
    data = output("perft", "skysummit", "1", "--state", "00000/03200/00111/00000/00000 B2E5 C4D2 9", "--json")
    assert json.loads(data)["rows"][0]["nodes"] == 0


def test_perft_of_spaces_counts_boards() -> None:
    data = output("perft", "spaces", "2", "-o", "rules=live", "-o", "size=2", "--json")
    assert [row["nodes"] for row in json.loads(data)["rows"]] == [14, 196]


def test_perft_on_a_terminal() -> None:
    code, screen = on_terminal(["perft", "dots", "3"])
    assert code == 0
    assert f"{60 * 59 * 58:,}" in screen


def kinds(game_id: str) -> set[tuple[str, str]]:
    """What is measured of a game: work and unit."""
    always = {("playouts", "plies"), ("mcts", "simulations"), ("mcts", "playouts")}
    if game_id == "spaces":
        return always | {("simulate", "rounds"), ("simulate live", "rounds")}
    always |= {("batch", "steps"), ("json", "turns"), ("alphabeta", "nodes")}
    return always | ({("playouts", "games")} if game_id == "dots" else set())


@pytest.mark.parametrize("game_id", ludodrome.game_ids())
def test_bench_as_json(game_id: str, long: bool) -> None:
    if not long and game_id != "dots":
        pytest.skip("the other games are measured with --long")
    rows = json.loads(output("bench", game_id, "--seconds", "0.01", "--json"))["rows"]
    assert all(set(row) == {"game", "what", "threads", "unit", "per_second"} for row in rows)
    assert {(row["game"], row["what"], row["unit"]) for row in rows} == {(game_id, *kind) for kind in kinds(game_id)}
    for row in rows:
        assert row["per_second"] > 0
    for what in ("playouts", "simulate", "simulate live"):
        threads = [
            row["threads"]
            for row in rows
            if (row["what"], row["unit"]) != ("playouts", "games") and row["what"] == what
        ]
        assert threads in ([1, 2], [])


def test_bench_as_a_table() -> None:
    result = run("bench", "dots", "dots", "--seconds", "0.01")
    header, *lines = result.stdout.splitlines()
    assert header.split() == ["game", "work", "per", "second", "one", "core", "two", "cores"]
    assert [line.split()[:3] for line in lines] == [
        ["dots", "playouts", "plies"],
        ["dots", "playouts", "games"],
        ["dots", "batch", "steps"],
        ["dots", "mcts", "simulations"],
        ["dots", "mcts", "playouts"],
        ["dots", "json", "turns"],
        ["dots", "alphabeta", "nodes"],
    ]
    assert "preparing dots's kernels ..." in result.stderr
    assert "measuring dots: playouts, 2 cores ..." in result.stderr


def test_bench_refuses_before_it_compiles() -> None:
    assert complaint(run("bench", "skysummit", "chess")).startswith("there is no game 'chess'")


def test_the_best_of_three_counts() -> None:
    amounts = []
    speeds = iter([1.0, 1.0, 1.0, 2.0, 4.0, 3.0])

    def work(amount: int) -> Done:
        amounts.append(amount)
        return Done({"things": amount}, amount / next(speeds))

    assert best_rates(Work("game", "what", 1, ("things",), 1, work), 60) == {"things": 4.0}
    assert amounts == [1, 4, 16, 20, 20, 20]
