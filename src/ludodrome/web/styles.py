"""The style sheets, within the pages: a page that must ask for its own is painted a good deal later.

They are read once, for the policy of ``security.py`` names every one of them by its hash.
"""

import base64
import functools
import hashlib
from pathlib import Path

from markupsafe import Markup

_FOLDER = Path(__file__).parent / "static"


@functools.cache
def _sheets() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(_FOLDER.glob("*.css"))}


def style(name: str) -> Markup:
    """A style sheet as an element of a page."""
    return Markup(f"<style>{_sheets()[name]}</style>")


def hashes() -> str:
    """What a page may have as styles, in the words of a content security policy."""
    digests = (hashlib.sha256(sheet.encode()).digest() for sheet in _sheets().values())
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
