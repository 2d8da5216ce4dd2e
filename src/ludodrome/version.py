"""The version of the program, and the commit it was built from.

In a wheel or an sdist a file holds the commit, written by the build (``scripts/build_hook.py``). In a clone it is
read from ``.git``; git itself only says whether files have changed, and may be missing. This module
imports nothing of the package, so that the build can run it.
"""

from pathlib import Path

COMMIT_FILE = "commit.txt"
SHOWN = 7
"""Digits of a commit that are shown."""
CHANGED = "+"
"""Follows the commit if files differ from it."""
PATIENCE = 2.0
"""Seconds that git may take."""

_PACKAGE = Path(__file__).resolve().parent


def version_line(version: str) -> str:
    """``ludodrome 0.1.0 (abc1234)``; without the commit if it is unknown."""
    made_from = commit()
    return f"ludodrome {version} ({made_from})" if made_from else f"ludodrome {version}"


def commit(package: Path = _PACKAGE) -> str | None:
    """The short commit that a package's folder was made from; None if unknown."""
    try:
        return (package / COMMIT_FILE).read_text("ascii").strip()[: SHOWN + len(CHANGED)] or None
    except (OSError, ValueError):
        root = _clone(package)
    full = _head(root / ".git") if root else None
    return None if root is None or full is None else full[:SHOWN] + (CHANGED if _changed(root) else "")


def _clone(package: Path) -> Path | None:
    """The clone whose src/ contains the package; None if there is none."""
    root = package.parent.parent
    try:
        ours = package.parent.name == "src" and 'name = "ludodrome"' in (root / "pyproject.toml").read_text("utf-8")
    except (OSError, ValueError):
        return None
    return root if ours else None


def _head(git: Path) -> str | None:
    """The commit that is checked out."""
    try:
        if git.is_file():  # of a worktree: it says where the folder is
            git = git.parent / git.read_text("utf-8").removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text("ascii").strip()
        return _reference(git, head.removeprefix("ref:").strip()) if head.startswith("ref:") else head
    except (OSError, ValueError):
        return None


def _reference(git: Path, name: str) -> str | None:
    """What a branch points to: in a file of its own, or in the file of all that were packed."""
    shared = git / (git / "commondir").read_text("utf-8").strip() if (git / "commondir").is_file() else git
    for folder in (git, shared):
        if (folder / name).is_file():
            return (folder / name).read_text("ascii").strip()
    lines = (shared / "packed-refs").read_text("utf-8").splitlines()
    return next((line.split()[0] for line in lines if line.endswith(f" {name}") and line[0] not in "#^"), None)


def _changed(root: Path) -> bool:
    """Whether files that git knows differ from the commit; False if git cannot say."""
    import subprocess  # start-up: only --version in a clone needs it

    asked = ["git", "-C", str(root), "--no-optional-locks", "diff", "--quiet", "HEAD", "--"]
    try:
        return subprocess.run(asked, capture_output=True, timeout=PATIENCE).returncode == 1
    except (OSError, subprocess.TimeoutExpired):
        return False
