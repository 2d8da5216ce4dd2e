"""Datasets: what is written is what was played, in both forms, shard by shard; the card is right."""

import hashlib
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ludodrome
from ludodrome.arena import records
from ludodrome.arena.game_loop import play
from ludodrome.arena.records import BadRecord, first_state
from ludodrome.arena.seats import Answer, Turn
from ludodrome.arena.seeds import position_seed
from ludodrome.datasets import NPZ, PARQUET, Recorded, SelfPlay, read, write
from ludodrome.datasets.sources import visit_shares
from ludodrome.jit import Array
from ludodrome.search.mcts_search import TreeSearch
from tests.arena.playing import Scripted, first, play_spec
from tests.cli.running import complaint, output, run

FORMS = [
    NPZ,
    pytest.param(
        PARQUET, marks=pytest.mark.skipif(find_spec("pyarrow") is None, reason="Parquet needs the extra export")
    ),
]
GAMES: list[tuple[str, dict[str, Any]]] = [
    ("caldera", {"turn_limit": 12}),
    ("dots", {"rows": 2, "cols": 1}),
    ("santorini", {"players": 3}),
    ("skysummit", {"turn_limit": 8}),
    ("spaces", {"size": 2, "rounds": 2}),
    ("spaces", {"size": 2, "mode": "deck"}),
]


def recorded(game: str, options: dict[str, Any], seed: int = 1, **more: Any) -> dict[str, Any]:
    seats = 3 if options.get("players") == 3 else 2
    return play(play_spec(game, ["random"] * seats, seed=seed, **more, **options))


def whole(folder: Path) -> dict[str, Array]:
    shards = list(read(folder))
    return {name: np.concatenate([shard[name] for shard in shards]) for name in shards[0]}


@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_rows_are_what_was_played(game_id: str, options: dict[str, Any], tmp_path: Path) -> None:
    found = [recorded(game_id, options, seed) for seed in (1, 2)]
    made = write(Recorded(found), tmp_path / "set", rows=7)
    game = ludodrome.make(game_id, **options)
    table = whole(tmp_path / "set")
    assert made.games == 2
    assert len(table["action"]) == made.rows > 7
    assert [len(shard["ply"]) for shard in read(tmp_path / "set")][:-1] == [7] * (-(-made.rows // 7) - 1)
    row = 0
    for number, record in enumerate(found):
        states = game.blank()
        game.kernels.reset(states, np.uint64(position_seed(int(record["seed"]))))
        buffer = game.buffer()
        while (seat := int(game.kernels.mover(states))) >= 0:
            legal = buffer[: game.kernels.legal(states, buffer)]
            assert np.flatnonzero(table["mask"][row]).tolist() == legal.tolist()
            assert table["game"][row] == number
            assert table["seat"][row] == seat
            assert table["outcome"][row] == np.float32(record["result"]["returns"][seat])
            assert table["ply"][row] == game.kernels.turns(states)
            game.kernels.play(states, int(table["action"][row]))
            row += 1
        assert game.decode(states[0])["winner"] == record["result"]["winner"]
    assert row == made.rows


def test_openings_and_substitutes_are_not_rows(tmp_path: Path) -> None:
    game = ludodrome.make("dots", rows=2, cols=1)
    opening = game.legal_moves(game.initial_state(1))[:1]

    def erring(turn: Turn) -> Answer:
        return Answer(0.0, "nothing" if turn.message["state"]["turn"] in (2, 3) else turn.message["legal_moves"][-1])

    spec = play_spec("dots", rows=2, cols=1, opening=opening)
    record = play(spec, [Scripted(erring), Scripted(erring)])
    write(Recorded([record]), tmp_path / "set")
    table = whole(tmp_path / "set")
    assert table["ply"].tolist() == [1, 4, 5, 6]
    assert table["action"].tolist() == [turn_action(game, record, ply) for ply in (1, 4, 5, 6)]


def turn_action(game: Any, record: dict[str, Any], ply: int) -> int:
    state = first_state(game, record)
    for move in [*record["opening"], *(entry["move"] for entry in record["turns"])][:ply]:
        state = game.apply(state, move)
    return int(game.action(record["turns"][ply - len(record["opening"])]["move"], state))


def test_what_was_not_decided_by_play_is_left_out(tmp_path: Path) -> None:
    lost = play(play_spec("skysummit"), [Scripted(lambda turn: Answer(0.0, "nothing")), Scripted(first)])
    kept = recorded("skysummit", {})
    made = write(Recorded([lost, kept]), tmp_path / "set")
    assert made.games == 1
    assert "1 games that were not decided by play were left out" in (tmp_path / "set" / "README.md").read_text("utf-8")
    [line] = (tmp_path / "set" / "games.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["match"] == kept["match"]


@pytest.mark.parametrize("form", FORMS)
def test_both_forms_hold_the_same(form: str, tmp_path: Path) -> None:
    game = ludodrome.make("dots", rows=2, cols=2)
    made = write(SelfPlay(game, games=3, sims=20), tmp_path / "set", form, rows=10)
    write(SelfPlay(game, games=3, sims=20), tmp_path / "npz")
    one, other = whole(tmp_path / "set"), whole(tmp_path / "npz")
    assert made.rows == 36
    assert one.keys() == other.keys()
    for name, column in one.items():
        assert column.dtype == other[name].dtype
        assert (column == other[name]).all()
    assert one["planes"].shape == (36, *game.planes.shape)
    assert np.allclose(one["policy"].sum(axis=1), 1)
    assert not (one["policy"] * (1 - one["mask"])).any()


def test_self_play_comes_from_the_seed(tmp_path: Path) -> None:
    game = ludodrome.make("dots", rows=2, cols=2)
    digests = []
    for number, (games, seed) in enumerate(((3, 1), (3, 1), (3, 2), (2, 1))):
        made = write(SelfPlay(game, games, sims=20, seed=seed), tmp_path / str(number))
        digests.append(made.digest)
    assert digests[0] == digests[1] != digests[2]
    long, short = whole(tmp_path / "0"), whole(tmp_path / "3")
    assert all((long[name][: len(short["ply"])] == short[name]).all() for name in short)


def test_a_certain_end_is_the_whole_policy() -> None:
    game = ludodrome.make("dots", rows=1, cols=1)
    states = game.blank()
    game.kernels.reset(states, np.uint64(0))
    for action in (0, 1, 2):
        game.kernels.play(states, action)
    found = TreeSearch(game, nodes=1 << 10).search(states, sims=4)
    assert found.proven
    assert visit_shares(found, 4).tolist() == [0, 0, 0, 1]


def test_the_card_tells_the_truth(tmp_path: Path) -> None:
    home = tmp_path / "set"
    made = write(Recorded([recorded("dots", {"rows": 1, "cols": 2})]), home, licence="CC-BY-4.0")
    text = (home / "README.md").read_text("utf-8")
    for part in ("license: cc-by-4.0", "7 positions of 1 games", "`rows` 1, `cols` 2", made.digest, "| `outcome` |"):
        assert part in text
    lines = text.partition("## Files")[2].split("```")[1].strip().splitlines()
    assert hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest() == made.digest
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((home / name).read_bytes()).hexdigest() == digest
    named = {line.split("  ")[1] for line in lines}
    assert named | {"README.md"} == {file.name for file in home.iterdir()}


def test_what_is_wrong_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dots = ludodrome.make("dots", rows=1, cols=1)
    with pytest.raises(ValueError, match="no records"):
        Recorded([])
    with pytest.raises(ValueError, match="export records"):
        SelfPlay(ludodrome.make("spaces"), 1, 10)
    with pytest.raises(ValueError, match="written as parquet or npz"):
        write(SelfPlay(dots, 1, 10), tmp_path / "a", "csv")
    with pytest.raises(ValueError, match="rows of a shard"):
        write(SelfPlay(dots, 1, 10), tmp_path / "a", rows=0)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(ValueError, match="not empty"):
        write(SelfPlay(dots, 1, 10), tmp_path / "full")
    with pytest.raises(ValueError, match="cannot be a dataset's folder"):
        write(SelfPlay(dots, 1, 10), tmp_path / "full" / "file")
    with pytest.raises(ValueError, match="not a finished dataset"):
        next(read(tmp_path / "full"))
    others = [recorded("dots", {"rows": 1, "cols": 1}), recorded("dots", {"rows": 1, "cols": 2})]
    with pytest.raises(BadRecord, match="one game and its options"):
        write(Recorded(others), tmp_path / "b")
    with pytest.raises(BadRecord):
        Recorded([{**others[0], "seed": "7"}])
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"ludodrome\[export\]"):
        write(SelfPlay(dots, 1, 10), tmp_path / "c", PARQUET)


def test_commands(tmp_path: Path) -> None:
    games = tmp_path / "games"
    for seed in (1, 2, 3):
        records.write(recorded("dots", {"rows": 1, "cols": 2}, seed), games)
    text = output("export", "records", str(games), "--to", str(tmp_path / "one"))
    assert "3 games, 21 rows" in text
    text = output("export", "records", str(games), "--to", str(tmp_path / "two"), "--json", "--bot", "random")
    assert json.loads(text)["rows"] == 21
    assert json.loads(text)["digest"] in (tmp_path / "one" / "README.md").read_text("utf-8")
    sizes = ["-o", "rows=1", "-o", "cols=2", "--games", "2", "--sims", "10"]
    text = output("export", "selfplay", "dots", *sizes, "--to", str(tmp_path / "three"))
    assert "2 games, 14 rows" in text
    assert "not empty" in complaint(run("export", "selfplay", "dots", *sizes, "--to", str(tmp_path / "three")))
    wrong = run("export", "records", str(games), "--game", "spaces", "--to", str(tmp_path / "four"))
    assert "there are no records" in complaint(wrong)
