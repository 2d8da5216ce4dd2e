"""The commands of ``tournament``."""

import csv
import io
import json
import signal
import time
from pathlib import Path

import pytest

from tests.arena import quick
from tests.cli.running import complaint, output, run

pytestmark = pytest.mark.xdist_group("dots")

BOTS = ["--bot", "greedy", "--bot", "lucky=random", "--bot", "level:1"]
SMALL = ["--game", "dots:rows=2,cols=2", "--clock", "nodes=100", "--no-openings"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_tournament_from_options_is_run_shown_and_exported(folder: Path) -> None:
    text = output("tournament", "run", "--name", "my cup", *SMALL, *BOTS, "--pairs", "2")
    assert text.startswith("my cup: round-robin, 12 of 12 games, seed ")
    assert {line.split()[1] for line in text.splitlines()[3:6]} == {"greedy", "lucky", "level:1"}
    assert output("tournament", "show", "my-cup.sqlite") == text
    files = ["--html", "a.html", "--csv", "a.csv", "--text", "a.txt", "--records", "games"]
    assert output("tournament", "export", "my-cup.sqlite", *files) == (
        "wrote a.html\nwrote a.csv\nwrote a.txt\n12 records in games\n"
    )
    assert (folder / "a.txt").read_text() == text
    rows = list(csv.DictReader(io.StringIO((folder / "a.csv").read_text())))
    assert [row["game"] for row in rows] == ["dots rows=2 cols=2"] * 3
    assert sum(float(row["points"]) for row in rows) == 12
    assert len(list((folder / "games").glob("m-*.json"))) == 12


def test_openings_come_from_a_file(folder: Path) -> None:
    words = ["tournament", "run", *SMALL[:-1], *BOTS[:4], "--openings", "book.txt"]
    (folder / "book.txt").write_text("H(0,0); H(0,0)\n")
    assert "line 1 of book.txt: move 2 cannot be made: " in complaint(run(*words))
    (folder / "book.txt").write_text("H(0,0); V(0,1)\n")
    found = json.loads(output(*words, "--json"))
    assert found["notes"] == ["openings of dots rows=2 cols=2: 1 of the 1 in book.txt"]


def test_resuming_must_be_asked_for_and_fit(folder: Path) -> None:
    plan = quick.write_plan(folder, 1)
    first = json.loads(output("tournament", "run", str(plan), "--json"))
    assert (first["played"], first["finished"]) == (20, True)
    assert "already has a tournament quick; continue it with --resume" in complaint(run("tournament", "run", str(plan)))
    again = json.loads(output("tournament", "run", str(plan), "--resume", "--json"))
    assert (first.pop("recalled"), first.pop("notes"), again.pop("recalled")) == (0, [], 20)
    assert again.pop("notes")[0].startswith("20 of 20 games were recalled, played 2")
    assert again == first
    changed = complaint(run("tournament", "run", str(plan), "--resume", "--pairs", "2", "--clock", "1s"))
    assert changed == "the plan of quick has changed since it was started: games and pairs"
    other = json.loads(output("tournament", "run", str(plan), "--name", "second", "--store", "quick.sqlite", "--json"))
    assert other["played"] == 20
    assert "has several tournaments; choose one with --name: quick and second" in complaint(
        run("tournament", "show", "quick.sqlite")
    )
    assert json.loads(output("tournament", "show", "quick.sqlite", "--name", "second", "--json")) == other


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run"], "give a plan in a TOML file, or --game and --bot"),
        (["run", "none.toml"], "the plan none.toml cannot be read"),
        (["run", *SMALL], "a tournament has from 2 to 1000 bots"),
        (["run", *BOTS], "games is a list of game ids"),
        (["run", *SMALL, *BOTS, "--bot", "grumpy"], "there is no bot 'grumpy'"),
        (["run", *SMALL, *BOTS, "--format", "league"], "the format is 'round-robin'"),
        (["run", *SMALL, *BOTS, "--store", "no/where.sqlite"], "cannot be used as a database"),
        (["show", "none.sqlite"], "there is no file none.sqlite"),
        (["export", "none.sqlite"], "give at least one of --html, --csv, --text and --records"),
    ],
)
def test_what_cannot_be_done_is_refused(folder: Path, arguments: list[str], sentence: str) -> None:
    assert sentence in complaint(run("tournament", *arguments))


def test_an_empty_store_and_an_unknown_name(folder: Path) -> None:
    from ludodrome.store.database import open_database

    open_database(folder / "a.sqlite", create=True).dispose()
    assert complaint(run("tournament", "show", "a.sqlite")) == "a.sqlite has no tournament yet"
    assert complaint(run("tournament", "show", "a.sqlite", "--name", "x")) == "a.sqlite has no tournament x"


def test_ctrl_c_shows_the_table_and_can_be_gone_on_with(folder: Path) -> None:
    plan, store = quick.write_plan(folder, 2000), folder / "a.sqlite"
    process = quick.begin(plan, store)
    deadline = time.monotonic() + 100
    while quick.count(store) < 5:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    stopped = json.loads(text)
    assert stopped["played"] == quick.count(store)
    assert not stopped["finished"]
    assert json.loads(output("tournament", "show", "a.sqlite", "--json")) == stopped


@pytest.mark.parametrize("command", ["run", "show", "export"])
def test_help_has_examples(command: str) -> None:
    page = output("tournament", command, "--help")
    assert page.startswith(f"Usage: ludodrome tournament {command} ")
    assert f"ludodrome tournament {command}" in page.partition("Examples:")[2]
    assert max(map(len, page.splitlines())) <= 88
