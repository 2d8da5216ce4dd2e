"""Take the picture at the top of README.md from the real page: ``python -m tools.picture [FILE]``."""

import sys
from pathlib import Path

from tests.web.serving import browser, server
from tools.screenshots import PATIENCE

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "page.png"
SIZE = {"width": 1200, "height": 760}
GAME = "skysummit"
MAX_BYTES = 150_000


def main(file: Path) -> None:
    """Take a screenshot of a game with the engine's analysis."""
    with browser() as running, server() as address:
        page = running.new_page(viewport=SIZE, color_scheme="light", base_url=address)
        page.goto(f"/{GAME}")
        page.wait_for_selector("#board[data-ready]", timeout=PATIENCE)
        page.click("#analysis")
        page.wait_for_selector("#engine .best", timeout=PATIENCE)
        page.wait_for_timeout(3000)
        page.mouse.move(0, 0)
        page.screenshot(path=file)
    size = file.stat().st_size
    print(f"{file}: {size:,} bytes")
    if size > MAX_BYTES:
        sys.exit(f"The picture may have at most {MAX_BYTES:,} bytes.")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
