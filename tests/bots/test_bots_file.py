"""The bots file: names, commands and settings in TOML."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import ludodrome
from ludodrome.bots.bots_file import BotsFileEntry, clocks_of, read_bots_file, resolved, tagged
from ludodrome.bots.identity import identity
from ludodrome.bots.specs import LaunchSettings, command, launch_spec, read_launch
from tests.arena.quick import SMALL
from tests.cli.running import complaint, output, run

pytestmark = pytest.mark.xdist_group("dots")

TELLING = """import json, os, resource, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        about = [os.getcwd(), os.environ.get("THREADS"), resource.getrlimit(resource.RLIMIT_AS)[0]]
        about += [sorted(os.sched_getaffinity(0)), message["deadline_ms"], sys.argv[1:]]
        print(json.dumps({"type": "log", "text": json.dumps(about)}))
        print(json.dumps({"type": "move", "move": message["legal_moves"][0], "turn": message["turn"]}), flush=True)
"""


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    (tmp_path / "engines").mkdir()
    (tmp_path / "engines" / "bot.py").write_text(TELLING)
    file = tmp_path / "bots.toml"
    core = min(os.sched_getaffinity(0))
    file.write_text(
        f"""
[[bots]]
name = "mine"
command = "{sys.executable} -S bot.py --fast"
directory = "engines"
environment = {{ THREADS = "3" }}
memory = "2GB"
affinity = [{core}]
clock = "90s"
tags = ["new", "mine"]

[[bots]]
name = "old"
spec = "greedy"
tags = ["old"]
"""
    )
    return file


def test_every_setting_reaches_the_process(bots: Path) -> None:
    entries = read_bots_file(bots)
    assert entries["old"] == BotsFileEntry("old", "greedy", None, ("old",))
    assert (entries["mine"].clock, entries["mine"].tags) == ("90s", ("new", "mine"))
    chosen = resolved(["mine", "rival=old"], entries)
    assert chosen[1] == "rival=greedy"
    result = ludodrome.play_match(
        ludodrome.make("dots", **SMALL),
        chosen,
        games=2,
        clock="100s",
        clocks=clocks_of(["mine", "rival=old"], entries),
        openings=False,
        workers=0,
    )
    assert result.names == ("mine", "rival")
    assert not result.tally.lines["mine"].verdicts
    record = result.records[0]
    said = next(json.loads(turn["log"][0]) for turn in record["turns"] if turn["seat"] == 0)
    core = min(os.sched_getaffinity(0))
    assert said[:4] == [str(bots.parent / "engines"), "3", 2 * 10**9, [core]]
    assert 80_000 < said[4] <= 90_000
    assert said[5] == ["--fast"]
    assert [clock["move_ms"] for clock in record["clocks"]] == [90_000, 100_000]


def test_the_commands_take_the_names(bots: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = ["-o", "rows=2", "-o", "cols=2", "--clock", "none", "--no-openings", "--workers", "1", "--json"]
    data = json.loads(output("match", "dots", "mine", "old", "--bots", str(bots), "--games", "2", *small))
    assert (data["names"], data["clocks"]) == (["mine", "old"], {"mine": "90s"})
    assert not data["players"][0]["verdicts"]
    shown = output("match", "dots", "mine", "old", "--bots", str(bots), "--games", "2", *small[:-1])
    assert "clock none, mine 90s, policy" in shown
    monkeypatch.chdir(bots.parent)
    assert "there is no bot 'mine'" in complaint(run("match", "dots", "mine", "old", *small))
    cup = ["tournament", "run", "--game", "dots:rows=2,cols=2", "--no-openings", "--bots", "bots.toml", "--json"]
    played = json.loads(output(*cup, "--tag", "new", "--tag", "old", "--bot", "random", "--workers", "1"))
    assert [entrant["name"] for entrant in played["plan"]["entrants"]] == ["random", "mine", "old"]
    assert played["plan"]["games"][0]["clocks"] == {"mine": "90s"}
    assert "no bot of the bots file has the tag 'fast'; its tags are mine, new and old" in complaint(
        run(*cup, "--tag", "fast")
    )


def test_settings_are_part_of_the_spec_and_of_the_identity(bots: Path) -> None:
    spec = read_bots_file(bots)["mine"].spec
    before = identity(spec)
    (bots.parent / "engines" / "bot.py").write_text(TELLING + "\n")
    assert identity(spec) != before
    launch, text = read_launch(spec.removeprefix("cmd:"))
    assert f"cmd:{launch_spec(launch, text)}" == spec
    assert launch.environment == (("THREADS", "3"),)
    assert identity(spec.replace('"3"', '"4"')) != identity(spec)
    assert read_launch("./bot {x}") == (LaunchSettings(), "./bot {x}")
    for wrong in ("{", "{}x{", '{"color": 1} x', '{"memory": "big"} x', '{"affinity": [-1]} x', '{"environment": 1} x'):
        with pytest.raises(ValueError, match=r"the settings before the command|cannot be found"):
            command("cmd", wrong)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[bots]", "cannot be read: "),
        ("x = 1", r"has tables \[\[bots\]\], from 1 to 1000, and nothing else"),
        ("bots = 3", "has tables"),
        ("bots = [3]", r"bot 1: a bot is a table \[\[bots\]\], not 3"),
        ("[[bots]]\nspec = 'greedy'", "bot 1: name is a text of 1 to 60 characters without = and :, not null"),
        ("[[bots]]\nname = 'a=b'", "bot 1: name is a text"),
        ("[[bots]]\nname = 'a'\ncolour = 1", r"bot 1 \(a\): there is no 'colour'; a bot has name, command, spec,"),
        ("[[bots]]\nname = 'a'", "give either command, like ./bot --fast, or spec, like level:3"),
        ("[[bots]]\nname = 'a'\nspec = 'x'\ncommand = 'y'", "give either command"),
        ("[[bots]]\nname = 'a'\nspec = 'x'\nmemory = '1GB'", "memory can be set for a command, not for a spec"),
        ("[[bots]]\nname = 'a'\ncommand = 3", "command is a text of 1 to 1000 characters on one line, not 3"),
        ("[[bots]]\nname = 'a'\ncommand = 'x'\ndirectory = 'none'", "directory is a folder, relative to the file"),
        ("[[bots]]\nname = 'a'\ncommand = 'x'\nenvironment = 3", "environment is a table of texts"),
        ("[[bots]]\nname = 'a'\ncommand = 'x'\nenvironment = { A = 3 }", "A is 3"),
        ("[[bots]]\nname = 'a'\ncommand = 'x'\nenvironment = { 'A B' = '3' }", "letters, digits and _ in its name"),
        ("[[bots]]\nname = 'a'\ncommand = 'x'\nmemory = 'lots'", "memory is a size from 2MB to 16TB, like 512MB or"),
        ("[[bots]]\nname = 'a'\ncommand = 'x'\naffinity = [-1]", r"affinity is a list of cores, like \[0, 1\]"),
        ("[[bots]]\nname = 'a'\ncommand = 'x'\ntags = 'new'", "tags is a list of at most 20 texts"),
        ("[[bots]]\nname = 'a'\ncommand = 'x'\ntags = [\"\\u0007\"]", "tags is a list of at most 20 texts"),
        ("[[bots]]\nname = 'a'\ncommand = 'x'\nclock = 3", "clock is a text of"),
        ("[[bots]]\nname = 'a'\nspec = 'x'\n[[bots]]\nname = 'a'\nspec = 'y'", "two bots are called a"),
    ],
)
def test_every_wrong_field_is_named_with_its_place(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "bots.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=sentence) as wrong:
        read_bots_file(file)
    assert str(file) in str(wrong.value)


def test_a_file_that_is_not_there_or_a_clock_that_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        read_bots_file(tmp_path / "none.toml")
    usual: dict[str, Any] = {"games": 2, "workers": 0, "openings": False}
    with pytest.raises(ValueError, match="the clock of greedy: 'soon' is not a time"):
        ludodrome.play_match("dots", ["greedy", "random"], clocks={"greedy": "soon"}, **usual)
    with pytest.raises(ValueError, match="a bot with a clock of its own is"):
        ludodrome.play_match("dots", ["greedy", "random"], clocks={"nobody": "1s"}, **usual)
    assert tagged({}, []) == []
    with pytest.raises(ValueError, match="it has no tags"):
        tagged({}, ["new"])
