"""Folders of texts: those that ship with the package to begin with, and new ones that are made from them."""

from collections.abc import Iterator, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

TEMPLATE = ".template"
"""Ends the names of files that ship and are no modules of this package, although they hold Python."""


def files_below(folder: Traversable, before: str = "") -> Iterator[tuple[str, Traversable]]:
    """All files of a folder and its folders, by their paths in it, in order."""
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.is_dir():
            yield from files_below(file, f"{before}{file.name}/")
        else:
            yield before + file.name, file


def write_new(directory: Path, texts: Mapping[str, str]) -> list[str]:
    """Writes texts into a new or empty folder, and gives their names; ValueError if that cannot be done."""
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
