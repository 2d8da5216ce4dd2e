"""Templates that ship with the package, and new folders written from them."""

from collections.abc import Iterator, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

TEMPLATE = ".template"
"""The suffix of files that hold Python but are not modules of this package."""


def files_below(folder: Traversable, before: str = "") -> Iterator[tuple[str, Traversable]]:
    """Yield all files below a folder with their relative paths, sorted."""
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.is_dir():
            yield from files_below(file, f"{before}{file.name}/")
        else:
            yield before + file.name, file


def write_new(directory: Path, texts: Mapping[str, str]) -> list[str]:
    """Write texts into a new or empty folder, and return their names; raise ValueError if that is impossible."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ValueError(f"{directory} is there already, and nothing is overwritten; name a new or an empty folder")
    for name, text in texts.items():
        file = directory / name
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        except OSError as error:
            raise ValueError(f"{file} cannot be written: {error.strerror or error}") from error
    return list(texts)
