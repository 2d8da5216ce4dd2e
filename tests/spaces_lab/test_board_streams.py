"""All boards into files: in every format, stopped and resumed, killed and resumed."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from ludodrome import spaces
from ludodrome.games.spaces.boards import format_board, format_code
from ludodrome.games.spaces.generation import BoardWalk, generate, parse_filter
from ludodrome.spaces_lab import board_files
from ludodrome.spaces_lab.board_files import PADDING, BoardFile, estimate

pytestmark = pytest.mark.xdist_group("spaces")

BOARDS = list(generate(3, "live"))
CODES = [format_code(one, 3) for one in BOARDS]


def make(path: Path, limit: int | None = None, resume: bool = False) -> int:
    return BoardFile(str(path), 3, "live", limit, resume).run(lambda done, total: None)


def test_codes_packed_codes_json_and_numpy(tmp_path: Path) -> None:
    for name in ("b.txt", "b.txt.gz", "b.json", "b.json.gz", "b.npy"):
        assert make(tmp_path / name) == 796
    assert (tmp_path / "b.txt").read_text().splitlines() == CODES
    assert gzip.decompress((tmp_path / "b.txt.gz").read_bytes()).decode().splitlines() == CODES
    boards = [format_board(one, 3) for one in BOARDS]
    assert json.loads((tmp_path / "b.json").read_text()) == boards
    assert json.loads(gzip.decompress((tmp_path / "b.json.gz").read_bytes())) == boards
    rows = np.load(tmp_path / "b.npy")
    assert [row[row != PADDING].tobytes() for row in rows] == BOARDS
    assert len(list(tmp_path.iterdir())) == 5


def test_a_limit(tmp_path: Path) -> None:
    assert make(tmp_path / "few.json", limit=2) == 2
    assert [spaces.encode_board(one) for one in json.loads((tmp_path / "few.json").read_text())] == CODES[:2]
    assert make(tmp_path / "many.npy", limit=5000) == 796
    assert np.load(tmp_path / "many.npy").shape[0] == 796


class Stop(Exception):
    """What interrupts a run in these tests."""


@pytest.mark.parametrize("name", ["b.txt", "b.txt.gz", "b.json", "b.npy"])
def test_a_run_that_was_stopped_is_taken_up(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_files, "_STATE_SECONDS", -1.0)
    monkeypatch.setattr(board_files, "BoardWalk", partial(BoardWalk, chunk=50))
    make(tmp_path / f"whole-{name}")
    path = tmp_path / name
    for stop_at in (100, 400):

        def report(done: int, total: int | None, stop_at: int = stop_at) -> None:
            if done > stop_at:
                raise Stop

        with pytest.raises(Stop):
            BoardFile(str(path), 3, "live", None, resume=True).run(report)
        assert not path.exists()
        assert Path(f"{path}.part").exists()
    with open(f"{path}.part", "ab") as part:
        part.write(b"half a li")  # as a killed run may leave it
    assert make(path, resume=True) == 796
    assert path.read_bytes() == (tmp_path / f"whole-{name}").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([name, f"whole-{name}"])


def test_a_run_that_was_killed_leaves_no_file_of_that_name_and_is_taken_up(tmp_path: Path) -> None:
    path = tmp_path / "b.txt"
    command = [sys.executable, "-m", "ludodrome", "spaces", "generate", "3", "--limit", "8000000", "--out", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not Path(f"{path}.state").exists():
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert not path.exists()
    state = json.loads(Path(f"{path}.state").read_text())
    good = Path(f"{path}.part").read_bytes()[: state["bytes"]].splitlines()
    assert len(good) == state["done"] > 0
    assert good[-1].decode() == state["after"]
    again = BoardFile(str(path), 3, "written", 8_000_000, resume=True)
    assert again.done == state["done"]
    assert {file.name for file in tmp_path.iterdir()} == {"b.txt.part", "b.txt.state"}


def test_what_cannot_be_resumed(tmp_path: Path) -> None:
    path = tmp_path / "b.txt"
    Path(f"{path}.part").write_text("x")
    Path(f"{path}.state").write_text("{}")
    with pytest.raises(ValueError, match=r"is not the state of .*b.txt.part: delete both and start again"):
        make(path, resume=True)
    state = {"size": 4, "rules": "live", "limit": None, "done": 1, "after": "4:0:uuuf", "bytes": 1}
    Path(f"{path}.state").write_text(json.dumps(state))
    with pytest.raises(ValueError, match="was started with another size, rule set, limit or condition"):
        make(path, resume=True)


def test_what_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a NumPy file is not compressed; leave out .gz"):
        make(tmp_path / "b.npy.gz")
    with pytest.raises(ValueError, match="a NumPy file needs a --limit"):
        BoardFile(str(tmp_path / "b.npy"), 50, "live", None, False)
    with pytest.raises(ValueError, match=r"b.txt.part cannot be written: No such file or directory"):
        make(tmp_path / "none" / "b.txt")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match="cannot be written: Is a directory"):
        make(tmp_path / "folder")


def test_a_filter_is_part_of_the_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_files, "_STATE_SECONDS", -1.0)
    monkeypatch.setattr(board_files, "BoardWalk", partial(BoardWalk, chunk=50))
    path, where = str(tmp_path / "b.txt"), parse_filter(["traps=2"])

    def stop(done: int, total: int | None) -> None:
        assert total == 559
        if done > 100:
            raise Stop

    with pytest.raises(Stop):
        BoardFile(path, 3, "live", None, where=where).run(stop)
    with pytest.raises(ValueError, match="was started with another size, rule set, limit or condition"):
        BoardFile(path, 3, "live", None, resume=True)
    again = BoardFile(path, 3, "live", None, resume=True, where=where)
    assert again.started
    assert again.run(lambda done, total: None) == 559
    assert Path(path).read_text().splitlines() == [code for code in CODES if sum(map(str.isdigit, code)) == 4]
    with pytest.raises(ValueError, match="with goal=1,traps=2 is not known"):
        BoardFile(str(tmp_path / "b.npy"), 3, "live", None, where=parse_filter(["traps=2", "goal=1"]))


# Estimates


@pytest.mark.parametrize("name", ["b.txt", "b.npy", "b.json"])
def test_an_estimate_is_near_what_is_written(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_files, "MAX_UNASKED_BOARDS", 100)
    path = tmp_path / name
    file = BoardFile(str(path), 4, "live", None)
    found = estimate(file)
    assert found is not None
    assert found.is_large
    assert found.boards == 114_450
    assert found.seconds > 0
    if name != "b.json":
        file.run(lambda done, total: None)
        assert found.bytes == pytest.approx(path.stat().st_size, rel=0.2)
    else:
        assert 300 < found.board_bytes < 2000


def test_what_is_small_is_not_sampled_and_what_is_endless_has_no_estimate(tmp_path: Path) -> None:
    assert estimate(BoardFile(str(tmp_path / "b.txt"), 5, "live", None)) is None
    assert estimate(BoardFile(str(tmp_path / "b.txt"), 60, "written", None)) is None
    assert BoardFile(str(tmp_path / "b.txt"), 60, "written", None).most is None
    large = estimate(BoardFile(str(tmp_path / "b.txt"), 4, "written", None))
    assert large is not None
    assert large.boards == 968_799_595_254_970
    assert 2e16 < large.bytes < 4e16
    counted = estimate(BoardFile(str(tmp_path / "b.txt"), 30, "live", 10**9))
    assert counted is not None
    assert counted.is_large
