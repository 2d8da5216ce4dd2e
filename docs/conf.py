"""Sphinx configuration of the documentation site; ``scripts/docs`` builds it.

The theme is in ``_theme/``; ``tools/reference.py`` generates some of the pages.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

import ludodrome

HERE = Path(__file__).parent
SHEET = HERE.parent / "src" / "ludodrome" / "web" / "static" / "style.css"
"""The style sheet of the web page, which defines colours, sizes and fonts."""
ICON = SHEET.with_name("icon.svg")
SUPERFLUOUS = ("_static/basic.css", "_static/file.png", "_static/minus.png", "_static/plus.png", "_static/pygments.css")
"""Files of the basic theme that ours does not use."""

ARRAY_LIKE = re.compile(r"(?:[\w.]*\.)?_?Buffer \| .*?_NestedSequence\[complex \| bytes \| str\]")
"""Autodoc's rendering of ArrayLike."""

project = "Ludodrome"
version = release = ludodrome.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_theme"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # messages with ... in them are not JSON
highlight_language = "none"
default_role = "code"
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other packages, whose documentation is elsewhere
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "ludodrome"
html_theme_path = ["_theme"]
html_title = "Ludodrome"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_use_index = True
html_domain_indices = False


def tokens() -> str:
    """The design tokens of the web page, light and dark."""
    sheet = SHEET.read_text("utf-8")
    light = re.search(r"^:root \{.*?^\}", sheet, re.DOTALL | re.MULTILINE)
    dark = re.search(r"^@media \(prefers-color-scheme: dark\) \{.*?^\}", sheet, re.DOTALL | re.MULTILINE)
    if light is None or dark is None:
        raise ValueError(f"{SHEET} has no tokens where docs/conf.py expects them")
    return f"{light[0]}\n{dark[0]}\n"


def shorten(
    app: Sphinx, what: str, name: str, thing: object, options: object, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Restore short names of types that NumPy spells out."""
    return signature and ARRAY_LIKE.sub("ArrayLike", signature), returned


class Translator(HTML5Translator):
    """Put each table into a box that scrolls, since it may be wider than a phone.

    Parameters of a long signature become lines of it, not a nested definition list.
    """

    def visit_desc_signature(self, node: nodes.Element) -> None:
        """Start a signature."""
        self.signature_at = len(self.body)
        super().visit_desc_signature(node)

    def depart_desc_signature(self, node: nodes.Element) -> None:
        """End a signature."""
        super().depart_desc_signature(node)
        text = re.sub(r"<d([ld])\b[^>]*>", r'<span class="sig-\1">', "".join(self.body[self.signature_at :]))
        self.body[self.signature_at :] = [re.sub(r"</d[ld]>", "</span>", text)]

    def visit_table(self, node: nodes.table) -> None:
        """Open the box."""
        self.body.append('<div class="wide">')
        super().visit_table(node)

    def depart_table(self, node: nodes.table) -> None:
        """Close the box."""
        super().depart_table(node)
        self.body.append("</div>\n")


def finish(app: Sphinx, error: Exception | None) -> None:
    """Add tokens and icon to the site, and remove unused files."""
    if error is not None or app.builder.name != "html":
        return
    out = Path(app.outdir)
    (out / "_static" / "tokens.css").write_text(tokens(), "utf-8")
    (out / "_static" / "icon.svg").write_bytes(ICON.read_bytes())
    for name in (*SUPERFLUOUS, ".buildinfo", "objects.inv"):
        (out / name).unlink(missing_ok=True)
    if (out / "_sources").is_dir():
        (out / "_sources").rmdir()  # Sphinx makes it and puts nothing there


def setup(app: Sphinx) -> None:
    """Register the extension's hooks with Sphinx."""
    app.set_translator("html", Translator)
    app.connect("autodoc-process-signature", shorten)
    app.connect("build-finished", finish)
