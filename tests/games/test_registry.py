"""The registry of games, and games of other packages."""

from pathlib import Path

import pytest

import ludodrome
from ludodrome import games
from tests.scaffold.installing import EXAMPLE, install


def test_a_package_adds_a_game_by_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(install(EXAMPLE, tmp_path / "site")))
    table = games.Games()
    entry = table["tictactoe"]
    assert list(table) == [*games.BUILT_IN, "tictactoe"]
    assert len(table) == 6
    summary = "three of your own signs in a row win"
    assert entry == games.GameEntry("tictactoe", "Tic-tac-toe", summary, "ludodrome_tictactoe", "", by_steps=False)
    assert entry.rules() == (EXAMPLE / "src" / "ludodrome_tictactoe" / "RULES.md").read_text("utf-8")


def test_a_missing_package() -> None:
    with pytest.raises(ValueError, match="there is no package nowhere"):
        games.package_folder("nowhere.at.all")


@pytest.mark.parametrize(
    ("name", "page", "sentence"),
    [
        ("dots", "# Dots\n\nMine. ", "not that of a built-in game"),
        ("Odd-Name", "# Odd\n\nMine. ", "an id is a small letter"),
        ("bare", "no heading", "must begin with a heading"),
        ("silent", None, "RULES.md"),
    ],
)
def test_a_broken_package_is_skipped_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, page: str | None, sentence: str
) -> None:
    project = f'[project]\nname = "other"\nversion = "1"\n[project.entry-points."ludodrome.games"]\n{name} = "other"\n'
    module = tmp_path / "package" / "src" / "other"
    module.mkdir(parents=True)
    (tmp_path / "package" / "pyproject.toml").write_text(project)
    (module / "__init__.py").write_text("raise AssertionError('nobody asked for this game')\n")
    if page is not None:
        (module / "RULES.md").write_text(page)
    monkeypatch.syspath_prepend(str(install(tmp_path / "package", tmp_path / "site")))
    with pytest.warns(UserWarning, match=sentence):
        assert sorted(games.Games()) == ludodrome.game_ids()
