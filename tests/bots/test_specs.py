"""Specs: checked before a game is loaded, with names, and as paths."""

import subprocess
import sys
from pathlib import Path

import pytest

from ludodrome.bots.specs import check_early, named_bots, spec_of
from ludodrome.games import find

WITHOUT_NUMBA = """
import sys
from ludodrome.cli import app
app(sys.argv[1:], standalone_mode=False)
print("numba" in sys.modules, "numpy" in sys.modules)
"""


@pytest.mark.parametrize(
    "command",
    [
        ["match", "dots", "greedy", "grumpy"],
        ["sprt", "dots", "mine=cmd:/nowhere/bot", "greedy"],
        ["tournament", "run", "--game", "dots", "--bot", "greedy", "--bot", "level:99"],
    ],
)
def test_a_wrong_spec_is_refused_without_loading_numba(command: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMBA, *command], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.strip() == "False False"
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("ludodrome: ")


@pytest.mark.parametrize(
    "bot", ["grumpy", "level:99", "cmd:/nowhere/bot", "py:nowhere.py:Bot", "mine=cmd:", "./nobody", "greedy:x=1"]
)
def test_wrong_specs_fail_the_early_check(bot: str) -> None:
    with pytest.raises(ValueError, match=r"bot|file|program|level|no parameters"):
        check_early(named_bots(["random", bot]).values(), find("dots"))


def test_bots_have_names() -> None:
    assert named_bots(["greedy", "mine=cmd:./x=1", "greedy"]) == {
        "greedy": "greedy",
        "mine": "cmd:./x=1",
        "greedy (2)": "greedy",
    }
    with pytest.raises(ValueError, match="two bots are called a"):
        named_bots(["a=greedy", "a=random"])


def test_good_specs_pass_the_early_check(tmp_path: Path) -> None:
    check_early(["greedy", "chains", "level:3", "alphabeta:depth=3", f"cmd:{sys.executable} x"], find("dots"))
    check_early(["llm:http://localhost,model=x", "box:folder", "wasm:x.wasm"], find("spaces"))
    with pytest.raises(ValueError, match="alphabeta cannot play spaces"):
        check_early(["alphabeta"], find("spaces"))


def test_a_path_is_a_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bot.py").write_text("class Mine:\n    def choose(self, observation):\n        return 0\n")
    Path("script.py").write_text("print(1)\n")
    Path("two.py").write_text("class A:\n    def choose(self): ...\nclass B:\n    def choose(self): ...\n")
    Path("engine").write_text("#!/bin/sh\n")
    Path("broken.py").write_text("class :\n")
    assert spec_of("./bot.py") == "py:./bot.py:Mine"
    assert spec_of("bot.py") == "py:./bot.py:Mine"
    monkeypatch.setattr("shutil.which", lambda name: name)
    assert spec_of("./script.py") == "cmd:python3 ./script.py"
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert spec_of("script.py") == f"cmd:{sys.executable} ./script.py"
    Path("bot.wasm").touch()
    assert spec_of("bot.wasm") == "wasm:./bot.wasm"
    for same in ("greedy", "level:3", "cmd:./engine", "py:bot.py:Mine"):
        assert spec_of(same) == same
    with pytest.raises(ValueError, match="engine cannot be run: it is not executable"):
        spec_of("./engine")
    Path("engine").chmod(0o755)
    assert spec_of("./engine") == "cmd:./engine"
    with pytest.raises(ValueError, match=r"there is no file \./nobody; a path like"):
        spec_of("./nobody")
    with pytest.raises(ValueError, match=r"two.py has several bots; choose one of them, as in py:\./two.py:A"):
        spec_of("two.py")
    with pytest.raises(ValueError, match=r"broken.py.* is not a Python file that can be read"):
        spec_of("./broken.py")
