"""Games of other packages: what `new-game` writes, the example, and everything above them."""

import subprocess
import sys
from pathlib import Path

import pytest

from ludodrome import games, kernel_cache
from ludodrome.scaffold import game_files, write_game
from tests.cli.running import complaint
from tests.cli.running import run as command
from tests.scaffold import face_down, points
from tests.scaffold.installing import COINS, EXAMPLE, PICKS, install, run
from tests.web.serving import CHROMIUM

OWN_WAY = ("__init__.py",)
"""The example differs there: it has an evaluator and planes."""
MAX_SOURCES = 4
PARTS = ["bots", "matches", "language_models", "pages", "environments", "full_screen"]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tic-tac-toe, installed."""
    return install(EXAMPLE, tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `new-game` writes, installed: a game without an evaluator and planes."""
    package = tmp_path_factory.mktemp("starter")
    write_game(package / "threes", "threes", "Threes, again")
    return install(package / "threes", package / "site")


@pytest.fixture(scope="module")
def coins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with points, extra turns and three seats, installed."""
    return install(COINS, tmp_path_factory.mktemp("coins"))


@pytest.fixture(scope="module")
def picks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game with hidden information, installed."""
    return install(PICKS, tmp_path_factory.mktemp("picks"))


def test_a_game_is_at_most_four_source_files() -> None:
    written = [name for name in game_files("tictactoe") if name.startswith("src/") and name.endswith(".py")]
    assert len(written) == MAX_SOURCES - 1
    for package in (EXAMPLE, COINS):
        assert len(list((package / "src").rglob("*.py"))) == MAX_SOURCES


def test_the_example_is_what_new_game_writes_and_more() -> None:
    for name, text in game_files("tictactoe").items():
        there = (EXAMPLE / name).read_text("utf-8")
        if name == "tests/test_tictactoe.py":
            assert there.startswith(text)
        elif not name.endswith(OWN_WAY):
            assert there == text, name


def test_the_tests_of_the_example_hold(example: Path, long: bool) -> None:
    _own_tests(EXAMPLE, example, plain=not long)


def test_the_tests_of_a_new_game_hold_at_once(starter: Path, long: bool) -> None:
    _own_tests(starter.parent / "threes", starter, plain=not long)


def _own_tests(package: Path, site: Path, plain: bool) -> None:
    text = run("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", site=site, where=package, plain=plain)
    assert " passed" in text
    assert "failed" not in text


def test_everything_above_has_the_example(example: Path) -> None:
    assert run("-m", "tests.scaffold.above", "tictactoe", site=example).split() == PARTS


def test_the_tests_of_coins_hold(coins: Path, long: bool) -> None:
    _own_tests(COINS, coins, plain=not long)


def test_everything_above_has_coins(coins: Path) -> None:
    assert run("-m", "tests.scaffold.above", "coins", site=coins).split() == PARTS


@pytest.mark.parametrize("seats", [2, 3])
def test_a_game_of_points_has_everything(seats: int, coins: Path) -> None:
    _all_parts("tests.scaffold.points", seats, coins, [part.__name__ for part in points.PARTS])


@pytest.mark.parametrize("seats", [2, 3])
def test_what_is_face_down_stays_hidden(seats: int, picks: Path) -> None:
    _all_parts("tests.scaffold.face_down", seats, picks, [part.__name__ for part in face_down.PARTS])


def _all_parts(module: str, seats: int, site: Path, parts: list[str]) -> None:
    """All parts of a module hold; skip, after that, if packages are not installed that some of them need."""
    told = run("-m", module, str(seats), site=site).splitlines()
    assert [line for line in told if line in parts] == parts
    if missing := [line for line in told if line.endswith("not tried")]:
        pytest.skip("; ".join(missing))


def test_everything_above_has_a_new_game(starter: Path) -> None:
    assert run("-m", "tests.scaffold.above", "threes", site=starter).split() == PARTS


def test_people_click_and_type_on_its_page(example: Path, coins: Path, long: bool) -> None:
    if not long:
        pytest.skip("a server and a browser for one small game: --long")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no Chromium at {CHROMIUM}: nothing was clicked")
    assert run("-m", "tests.scaffold.clicking", "tictactoe", "b2", site=example) == "played\n"
    assert run("-m", "tests.scaffold.clicking", "coins", "1", site=coins) == "played\n"


def test_people_play_it_in_the_terminal(example: Path) -> None:
    text = run(
        "-m",
        "ludodrome",
        "play",
        "tictactoe",
        "--against",
        "alphabeta",
        "--seat",
        "1",
        site=example,
        stdin="b2\nquit\n",
    )
    assert "Tic-tac-toe. Type a move" in text
    assert "O to move" in text


def test_the_list_of_games_has_it_without_importing_it(example: Path) -> None:
    script = """
import sys
from ludodrome.games import GAMES, find
assert "dots" in GAMES and "importlib.metadata" not in sys.modules
entry = find("tictactoe")
print(entry.title, entry.summary, *sorted(GAMES), sep="|")
assert "numba" not in sys.modules and entry.module not in sys.modules
"""
    text = run("-S", "-c", script, site=example)
    assert text == (
        "Tic-tac-toe|three of your own signs in a row win|caldera|dots|santorini|skysummit|spaces|tictactoe\n"
    )


def test_compiled_code_of_a_package_depends_on_all_of_its_sources(tmp_path: Path) -> None:
    package = tmp_path / "somebody"
    inner = package / "nested" / "one"
    inner.mkdir(parents=True)
    for folder in (package, package / "nested", inner):
        (folder / "__init__.py").write_text("")
    shared = package / "shared.py"
    shared.write_text("X = 1\n")
    sources = list(kernel_cache._sources(inner))
    assert {shared, inner / "__init__.py"} < set(sources)
    assert games.package_folder("ludodrome.games.dots") / "rules.py" not in sources
    assert Path(games.__file__) not in sources


def test_new_game_writes_a_package_and_overwrites_nothing(tmp_path: Path) -> None:
    text = command("new-game", str(tmp_path / "hex"), "--name", "hex_small", "--title", "Hex, small").stdout
    assert "ludodrome play hex_small --against mcts" in text
    assert "A game called hex_small" in text
    code = (tmp_path / "hex" / "src" / "ludodrome_hex_small" / "__init__.py").read_text("utf-8")
    assert "class HexSmallGame(Game)" in code
    assert 'title = "Hex, small"' in code
    assert "overwritten" in complaint(command("new-game", str(tmp_path / "hex"), "--name", "hex_small"))
    where = str(tmp_path / "other")
    assert "a game dots already" in complaint(command("new-game", where, "--name", "dots"))
    assert "small letter" in complaint(command("new-game", where, "--name", "Hex"))
    assert "a title is" in complaint(command("new-game", where, "--name", "hex", "--title", 'He"x'))


@pytest.mark.parametrize("package", ["example"])
def test_pip_installs_it(package: str, tmp_path: Path, long: bool) -> None:
    if not long:
        pytest.skip("pip takes its time; the long run has it")
    quiet = ("-q", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(tmp_path))
    subprocess.run([sys.executable, "-m", "pip", "install", *quiet, str(EXAMPLE)], check=True)
    assert "tictactoe" in run("-m", "ludodrome", "games", site=tmp_path)
