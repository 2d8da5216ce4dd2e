"""Take the pictures of the documentation from the real page: ``python -m tools.picture [FOLDER]``.

``page.png`` is a game with the engine's analysis; ``board-GAME.svg`` is the board of the game that a first visit finds,
as the page draws it, with its colours in the file; ``player-*.svg`` are steps of the player's tutorial.
"""

import sys
from pathlib import Path
from typing import Any

import ludodrome
from tests.web.serving import browser, server
from tools.screenshots import PATIENCE

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
SIZE = {"width": 1200, "height": 760}
GAME = "skysummit"
MAX_BYTES = 150_000
DRAWN = r"""(drawn) => {
    const names = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity",
        "stroke-linecap", "stroke-linejoin", "font-family", "font-size", "font-weight", "text-anchor",
        "dominant-baseline", "paint-order"];
    const bare = drawn.ownerDocument.createElementNS("http://www.w3.org/2000/svg", "svg");
    document.body.append(bare);
    const text = (node) => {
        if (node.nodeType === 3) return node.data.replace(/&/g, "&amp;").replace(/</g, "&lt;");
        if (node.nodeType !== 1 || node.tagName === "title") return "";
        const style = getComputedStyle(node);
        const seen = node === drawn || ["g", "defs", "marker", "clipPath"].includes(node.tagName);
        const shown = style.display !== "none" && style.visibility !== "hidden" && style.opacity !== "0";
        if (!shown || (!seen && style.fill === "none" && style.stroke === "none")) return "";
        const inherited = getComputedStyle(node === drawn ? bare : node.parentNode);
        const own = [...node.attributes].filter(({ name }) =>
            !names.includes(name) && !/^(class|role|tabindex|style|aria-|data-)/.test(name));
        let given = own.map(({ name, value }) => ` ${name}="${value}"`).join("");
        for (const name of names) {
            const value = style.getPropertyValue(name).replaceAll('"', "'");
            const still = name === "opacity" ? "1" : inherited.getPropertyValue(name).replaceAll('"', "'");
            if (value !== still) given += ` ${name}="${value}"`;
        }
        const inside = [...node.childNodes].map(text).join("");
        return seen && node !== drawn && !inside ? "" : `<${node.tagName}${given}>${inside}</${node.tagName}>\n`;
    };
    const root = text(drawn);
    bare.remove();
    return root.startsWith("<svg xmlns") ? root : root.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"');
}"""
"""The drawing as SVG that needs no style sheet: what cannot be seen is left out, what a parent says is not repeated."""


def main(folder: Path) -> None:
    """Take all pictures."""
    with browser() as running, server() as address:
        page = running.new_page(viewport=SIZE, color_scheme="light", base_url=address, reduced_motion="reduce")
        for game in ludodrome.game_ids():
            _show(page, game)
            _draw(page, folder / f"board-{game}.svg")
        _show(page, GAME)
        page.locator("#board .target.live").first.click(force=True)
        page.wait_for_timeout(600)
        _draw(page, folder / "player-pick.svg")
        page.keyboard.press("Escape")
        page.click("#hint")
        page.wait_for_selector("#board .arrow-build", state="attached", timeout=PATIENCE)
        page.wait_for_timeout(600)
        _draw(page, folder / "player-hint.svg")
        page.click("#analysis")
        page.wait_for_selector("#engine .best", timeout=PATIENCE)
        page.wait_for_timeout(3000)
        page.mouse.move(0, 0)
        _save(folder / "page.png", page.screenshot())


def _draw(page: Any, file: Path) -> None:
    _save(file, page.locator("#board svg").first.evaluate(DRAWN).encode())


def _show(page: Any, game: str) -> None:
    page.goto(f"/{game}")
    page.wait_for_selector("#board[data-ready]", timeout=PATIENCE)
    page.wait_for_timeout(600)


def _save(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    print(f"{file}: {len(content):,} bytes")
    if len(content) > MAX_BYTES:
        sys.exit(f"The picture may have at most {MAX_BYTES:,} bytes.")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
