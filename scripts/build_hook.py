"""What hatchling runs while it builds: the commit goes into the wheel and the sdist, docs/ into the wheel."""

import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DOCS_IN_WHEEL = "ludodrome/web/docs"
"""Where ludodrome/web/routes/docs.py looks for the pages, if there is no clone around it."""


class BuildHook(BuildHookInterface):
    """Adds docs/ to a wheel, and a file with the commit, unless it is there already or nothing says which it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before a wheel or an sdist is put together; an editable one reads the clone."""
        if version == "editable":
            return
        if self.target_name == "wheel":
            build_data["force_include"][str(Path(self.root) / "docs")] = DOCS_IN_WHEEL
        package = Path(self.root) / "src" / "ludodrome"
        revision = runpy.run_path(str(package / "version.py"))
        name, made_from = revision["COMMIT_FILE"], revision["commit"](package)
        if made_from is None or (package / name).exists():
            return
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name) / name
        file.write_text(f"{made_from}\n")
        inside = "ludodrome" if self.target_name == "wheel" else "src/ludodrome"
        build_data["force_include"][str(file)] = f"{inside}/{name}"
