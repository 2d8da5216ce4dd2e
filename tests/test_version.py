"""The version and its commit, from a clone, from a build, from nowhere."""

import subprocess
from pathlib import Path

import pytest

import ludodrome
from ludodrome import version

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in a folder that looks like a clone, without a .git so far."""
    folder = tmp_path / "src" / "ludodrome"
    folder.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "ludodrome"\n')
    return folder


def test_the_line() -> None:
    line = version.version_line("9.8.7")
    made_from = version.commit()
    assert line == (f"ludodrome 9.8.7 ({made_from})" if made_from else "ludodrome 9.8.7")


def test_a_branch_is_read_without_git(package: Path) -> None:
    git = package.parents[1] / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "refs" / "heads" / "main").write_text(f"{COMMIT}\n")
    assert version.commit(package) == COMMIT[:7]


def test_a_packed_branch_is_read(package: Path) -> None:
    git = package.parents[1] / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "packed-refs").write_text(
        f"# pack-refs with: peeled\n{'9' * 40} refs/heads/other\n{COMMIT} refs/heads/main\n"
    )
    assert version.commit(package) == COMMIT[:7]


def test_a_detached_head_and_a_worktree_are_read(package: Path, tmp_path: Path) -> None:
    away = tmp_path / "elsewhere" / "worktrees" / "one"
    away.mkdir(parents=True)
    (package.parents[1] / ".git").write_text(f"gitdir: {away}\n")
    (away / "HEAD").write_text(f"{COMMIT}\n")
    assert version.commit(package) == COMMIT[:7]
    (away / "HEAD").write_text("ref: refs/heads/main\n")
    (away / "commondir").write_text("../..\n")
    (tmp_path / "elsewhere" / "packed-refs").write_text(f"{COMMIT[::-1]} refs/heads/main\n")
    assert version.commit(package) == COMMIT[::-1][:7]


def test_the_file_of_a_build_comes_first(package: Path) -> None:
    (package / version.COMMIT_FILE).write_text("abcdef1+\n")
    assert version.commit(package) == "abcdef1+"


@pytest.mark.parametrize("head", [None, "", "ref: refs/heads/none\n"])
def test_where_nothing_says_it_there_is_none(package: Path, head: str | None) -> None:
    if head is not None:
        (package.parents[1] / ".git").mkdir()
        (package.parents[1] / ".git" / "HEAD").write_text(head)
    assert not version.commit(package)


def test_somebody_elses_clone_is_not_ours(package: Path) -> None:
    (package.parents[1] / "pyproject.toml").write_text('[project]\nname = "theirs"\n')
    (package.parents[1] / ".git").mkdir()
    (package.parents[1] / ".git" / "HEAD").write_text(COMMIT)
    assert version.commit(package) is None


def test_changed_files_are_reported(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = package.parents[1]
    (package / "one.py").write_text("ONE = 1\n")

    def git(*words: str) -> str:
        who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        done = subprocess.run(["git", "-C", str(root), *who, *words], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        git("init", "-q")
    except FileNotFoundError:
        pytest.skip("there is no git")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    head = git("rev-parse", "HEAD")[:7]
    assert version.commit(package) == head
    (package / "one.py").write_text("ONE = 2\n")
    assert version.commit(package) == f"{head}+"
    monkeypatch.setenv("PATH", "")
    assert version.commit(package) == head


def test_the_version_is_written_in_one_place() -> None:
    import tomllib

    settings = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    assert "version" not in settings["project"]
    assert settings["project"]["dynamic"] == ["version"]
    file = Path(__file__).parents[1] / settings["tool"]["hatch"]["version"]["path"]
    assert file.read_text("utf-8").count(f'__version__ = "{ludodrome.__version__}"') == 1
