"""A game of another package in a browser, by mouse and by keyboard: ``python -m tests.scaffold.clicking GAME CELL``."""

import sys

from tests.web.serving import browser, server

PATIENCE = 120_000


def main() -> None:
    """Moves on the page, then the dialog and the analysis board; nothing may be complained about."""
    with server() as address, browser() as chromium:
        page, wrong = chromium.new_page(), []
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"{address}/{sys.argv[1]}")
        page.click(f"#board[data-ready] .target[data-key='{sys.argv[2]}']")
        page.wait_for_selector("#moves button[data-ply='2']")
        page.wait_for_selector("#board[data-ready]")
        page.focus("#board .target.live")
        page.keyboard.press("Enter")
        page.wait_for_selector("#moves button[data-ply='3']")
        page.click("#new")
        page.wait_for_selector("dialog #seat-1")
        page.goto(f"{address}/{sys.argv[1]}/analysis")
        page.wait_for_selector("#board .target.live")
        assert not page.is_visible("#edit")
        assert wrong == []
    print("played")


if __name__ == "__main__":
    main()
