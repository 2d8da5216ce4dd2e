"""Take screenshots of every page, at two widths, light and dark: ``python -m tools.screenshots [FOLDER] [WORDS]``."""

import json
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any

import ludodrome
from ludodrome.arena.conditions import conditions
from ludodrome.arena.game_loop import play
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.records import to_text
from tests.web.hosting import PASSWORD, hosting
from tests.web.leagues import populate
from tests.web.serving import browser, server
from tests.web.telling import told_record

SIZES = {1440: 900, 390: 844}
SCHEMES = ("light", "dark")
PATIENCE = 120_000
Page = tuple[str, Callable[[Any], None] | None]
"""A path, and what is done there before the picture is taken."""
_numbers = count(1)


def pages() -> dict[str, Page]:
    """Every page by name: its path, and what is done there before the picture is taken."""
    found: dict[str, Page] = {}
    for game in ludodrome.game_ids():
        found[f"{game}-play"] = (f"/{game}", _pick)
        found[f"{game}-board"] = (f"/{game}/analysis", _study)
        found[f"{game}-editor"] = (f"/{game}/analysis", _edit)
        found[f"{game}-replay"] = ("/replay", partial(_replay, game))
        found[f"{game}-puzzles"] = (f"/{game}/puzzles", None)
        found[f"{game}-puzzle"] = (f"/{game}/puzzles/{20}", _ready)
        found[f"{game}-rules"] = (f"/{game}/rules", _diagrams)
    found["start"] = ("/", _replayed)
    found["dots-live"] = ("/dots/matches/show", _watch)
    found["skysummit-analysis"] = ("/skysummit", _analyse)
    found["dots-analysis"] = ("/dots", _analyse)
    found["caldera-chain"] = ("/caldera/rules", _chain)
    found["spaces-round"] = ("/spaces", _round)
    found["skysummit-over"] = ("/skysummit", _over)
    found["skysummit-waiting"] = ("/skysummit", _wait)
    found["skysummit-failed"] = ("/skysummit", _fail)
    found["santorini-three"] = ("/santorini", _three)
    found["dots-clock"] = ("/dots", _clock)
    found["dots-solved"] = ("/dots/puzzles/1", _solve)
    found["santorini-dialog"] = ("/santorini", _dialog)
    found["dots-friend"] = ("/dots", _friend)
    found["spaces-deck"] = ("/spaces", _deck)
    found["spaces-matrix"] = ("/spaces", _matrix)
    found["spaces-large"] = ("/spaces", _large)
    found["spaces-fog"] = ("/spaces", _fog)
    found["join"] = ("/join/nothing", lambda page: page.wait_for_selector("#other"))
    found["bring"] = ("/replay", None)
    for game in ("dots", "skysummit"):
        for name, tab in (("arena", "/arena"), ("new-bot", "/bots/new"), ("leaderboard", "/leaderboard")):
            found[f"{game}-{name}"] = (f"/{game}{tab}", _settle)
    found["dots-bot"] = ("/dots/leaderboard", _first_bot)
    found["dots-tournament"] = ("/dots/arena", _first_tournament)
    found["skysummit-match"] = ("/skysummit/arena", _first_match)
    found["dots-new-match"] = ("/dots/arena", _new_match)
    found["dots-remote-bot"] = ("/dots/bots/new", _remote)
    found["dots-broken-bot"] = ("/dots/bots/new", _break)
    found["dots-completion"] = ("/dots/bots/new", _complete)
    found["dots-failed-bot"] = ("/dots/bots/new", _fail_check)
    found["dots-versions"] = ("/dots/leaderboard", _versions)
    found["dots-telemetry"] = ("/replay", _telemetry)
    found["dots-program"] = ("/dots", _program)
    found["nowhere"] = ("/skysummit/plays/nowhere", None)
    return found


def _study(page: Any) -> None:
    page.wait_for_selector("#engine .best", timeout=PATIENCE)
    page.wait_for_timeout(600)


def _edit(page: Any) -> None:
    _study(page)
    page.click("#edit")
    page.wait_for_timeout(400)


def _replay(game: str, page: Any) -> None:
    page.set_input_files("#file", {"name": "a.json", "mimeType": "application/json", "buffer": _record(game)})
    page.wait_for_selector(".graph:not(.busy) .curve", state="attached", timeout=PATIENCE)
    for _ in range(4):
        page.click("#on")
    page.wait_for_timeout(600)


@cache
def _record(game: str) -> bytes:
    """A game of bots."""
    bots = ("level:4", "level:2")
    return to_text(play(PlaySpec(game, {}, bots, bots, conditions(ludodrome.make(game), clock="20s"), 1))).encode()


def _settle(page: Any) -> None:
    page.wait_for_timeout(700)


def _first_bot(page: Any) -> None:
    page.get_by_role("link", name="Annas first").click()
    page.locator("#plot svg").wait_for(timeout=PATIENCE)


def _first_tournament(page: Any) -> None:
    page.locator("#cups a").first.click()
    page.locator("#table .cell").first.wait_for(timeout=PATIENCE)


def _first_match(page: Any) -> None:
    page.locator("#lives a").first.click()
    page.locator("#board svg").wait_for(timeout=PATIENCE)
    page.locator("#moves li").first.wait_for(timeout=PATIENCE)


def _new_match(page: Any) -> None:
    page.click("#new-match")
    page.locator("dialog select").first.wait_for()


def _remote(page: Any) -> None:
    page.click("#to-remote")
    page.fill("#remote-name", f"Remote {time.monotonic_ns() % 10**9}")
    page.click("#remote-form button")
    page.locator("#lines").wait_for()


def _break(page: Any) -> None:
    page.wait_for_selector("#editor[data-read]")
    source = page.locator("#source")
    source.fill(source.input_value().replace("def main():", "def main()"))
    page.locator("#problem button").click()


def _complete(page: Any) -> None:
    page.wait_for_selector("#editor[data-read]")
    page.locator("#source").focus()
    page.keyboard.press("Control+Home")
    page.keyboard.type('print(turn["s')
    page.locator("#completions li").first.wait_for()


def _fail_check(page: Any) -> None:
    """A finding of the doctor, without a game."""
    stderr = "Traceback (most recent call last):\n  File \"main.py\", line 18, in choose\nKeyError: 'legal_move'\n"
    finding = {"grade": "failure", "sentence": "it exited with code 1 in its first turn", "stderr": stderr}
    lines = [{"finding": {"grade": "held", "sentence": "it starts"}}, {"finding": finding}, {"over": True}]
    body = "".join(f"{json.dumps(line)}\n" for line in lines)
    page.route("**/checks", lambda route: route.fulfill(status=200, content_type="application/x-ndjson", body=body))
    page.wait_for_selector("#editor[data-read]")
    page.click("#check")
    page.locator("#cause h3").wait_for()


def _versions(page: Any) -> None:
    page.get_by_role("link", name="Chainsaw").click()
    page.locator("#versions tr").first.wait_for()


def _telemetry(page: Any) -> None:
    record = to_text(told_record("dots", rows=3, cols=3)).encode()
    page.set_input_files("#file", {"name": "a.json", "mimeType": "application/json", "buffer": record})
    page.locator(".graph path.own").first.wait_for(state="attached", timeout=PATIENCE)
    for _ in range(6):
        page.click("#on")
    page.locator(".own-line").first.wait_for(state="attached", timeout=PATIENCE)


def _program(page: Any) -> None:
    page.locator("#board[data-ready]").wait_for(timeout=PATIENCE)
    page.click("#new")
    page.select_option("#seat-1", "program")


def hosted_pages() -> dict[str, Page]:
    """Those of a server for everybody."""
    return {"sign-in": ("/sign-in", _fail_to_sign_in), "sign-up": ("/sign-up", None), "account": ("/sign-up", _sign_up)}


def _fail_to_sign_in(page: Any) -> None:
    page.fill("#name", "Ada")
    page.fill("#password", "a wrong password")
    page.click("#sign button[type=submit]")
    page.locator("#no", has_text="wrong").wait_for()


def _sign_up(page: Any) -> None:
    page.fill("#name", f"Ada {next(_numbers)}")
    page.fill("#password", PASSWORD)
    page.click("#sign button[type=submit]")
    page.locator(".self", has_text="Ada").wait_for()
    page.goto("/account")
    page.fill("#label", "my laptop")
    page.click("#new-token button[type=submit]")
    page.locator("#secret").wait_for(state="visible")
    page.locator("#sessions b").first.wait_for()


def _ready(page: Any) -> None:
    page.wait_for_selector("#board[data-ready]", timeout=PATIENCE)


def _pick(page: Any) -> None:
    _ready(page)
    page.locator("#board .target.live").first.click(force=True)
    page.wait_for_timeout(400)


def _analyse(page: Any) -> None:
    _ready(page)
    page.click("#analysis")
    page.wait_for_selector("#engine .best", timeout=PATIENCE)
    page.wait_for_timeout(600)


def _diagrams(page: Any) -> None:
    page.wait_for_timeout(200)
    for figure in page.locator(".diagram").all():
        figure.scroll_into_view_if_needed()
        figure.locator(".board svg").first.wait_for(timeout=PATIENCE)


def _chain(page: Any) -> None:
    _diagrams(page)
    figure = page.locator(".diagram").first
    figure.locator('[data-key="c32"]').click()
    figure.get_by_role("button", name="Forge", exact=True).click()
    figure.locator('[data-key="c22"]').click()
    figure.scroll_into_view_if_needed()
    page.wait_for_timeout(300)


def _round(page: Any) -> None:
    _ready(page)
    while page.locator("#bar button", has_text="Lay board").is_disabled():
        page.locator("#board .target.live").first.click(force=True)
        page.wait_for_timeout(250)
    page.locator("#bar button", has_text="Lay board").click()
    page.wait_for_selector("#bar .tally", timeout=PATIENCE)
    page.wait_for_timeout(3500)


def _replayed(page: Any) -> None:
    if page.locator("#pause").is_visible():
        page.locator("#live svg").first.wait_for(timeout=PATIENCE)


def _watch(page: Any) -> None:
    page.locator("#moves .drawn").first.wait_for(timeout=PATIENCE)


def _as_if_new(page: Any, answer: Any) -> None:
    """A first visit, with this answer to the wish for a game: from another page, as one that is left notes its game."""
    page.route("**/api/v1/plays", answer)
    page.goto("/sign-in")
    page.evaluate("localStorage.clear()")
    page.goto("/skysummit")


def _wait(page: Any) -> None:
    _as_if_new(page, lambda route: None)
    page.wait_for_timeout(1000)


def _fail(page: Any) -> None:
    _as_if_new(page, lambda route: route.abort())
    page.wait_for_timeout(600)


def _three(page: Any) -> None:
    _dialog(page)
    page.click("dialog button[type=submit]")
    page.wait_for_selector("dialog", state="hidden")
    _analyse(page)


def _clock(page: Any) -> None:
    _ready(page)
    page.click("#new")
    page.wait_for_selector("#option-rows", timeout=PATIENCE)
    page.select_option("#option-rows", "3")
    page.select_option("#option-cols", "4")
    page.select_option("#clock", "5m++3s")
    page.click("dialog button[type=submit]")
    page.wait_for_selector("dialog", state="hidden")
    _pick(page)
    page.wait_for_timeout(1500)


def _solve(page: Any) -> None:
    _ready(page)
    for edge in ("H0_0", "V1_1"):
        page.locator(f'[data-key="{edge}"]').click(force=True)
        page.wait_for_selector(f"#messages > div:nth-of-type({1 if edge == 'H0_0' else 2})", timeout=PATIENCE)
        page.wait_for_timeout(300)


def _over(page: Any) -> None:
    _ready(page)
    page.click("#resign", click_count=2)
    page.wait_for_selector("#engine .result", timeout=PATIENCE)


def _friend(page: Any) -> None:
    _ready(page)
    page.click("#new")
    page.wait_for_selector("#option-rows", timeout=PATIENCE)
    page.select_option("#seat-1", "friend")
    page.click("dialog button[type=submit]")
    page.wait_for_selector("#engine .link", timeout=PATIENCE)


def _deck(page: Any) -> None:
    _ready(page)
    page.click("#new")
    page.wait_for_selector("#option-mode", timeout=PATIENCE)
    page.select_option("#option-mode", "deck")
    page.click("dialog button[type=submit]")
    page.wait_for_selector(".deck", timeout=PATIENCE)
    for _ in range(3):
        page.wait_for_timeout(300)
        page.locator("#board .target.live").first.click(force=True)


def _matrix(page: Any) -> None:
    _deck(page)
    page.click("#bar button:text-is('Fill up')")
    page.click("#bar button:text-is('Lay deck')")
    page.wait_for_selector(".heat", timeout=PATIENCE)


def _new_play(page: Any, options: dict[str, Any]) -> None:
    wish = {"game": "spaces", "seats": ["person", "random"], "options": options, "seed": 3}
    play = page.request.post("/api/v1/plays", data=wish).json()
    page.goto(f"/spaces/plays/{play['id']}")
    page.wait_for_selector("#board[data-ready] .target.live", timeout=PATIENCE)


def _large(page: Any) -> None:
    """A board of size 40 that is being laid."""
    _new_play(page, {"size": 40, "rules": "live", "choice": "blind", "rounds": 1})
    page.locator("#board .cursor").focus()
    for key in ("ArrowUp", "ArrowUp", "6", "ArrowUp", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
        page.wait_for_timeout(200)


def _fog(page: Any) -> None:
    """A round in the fog."""
    _new_play(page, {"size": 5, "rules": "live", "choice": "fog", "rounds": 2})
    page.locator("#board .target.live").nth(2).click()
    for name in ("To goal", "Lay board"):
        page.locator(f"#bar button:enabled:text-is('{name}')").click()
    page.locator("#bar .button.first", has_text="Next round").wait_for(timeout=PATIENCE)
    page.wait_for_timeout(600)


def _dialog(page: Any) -> None:
    _ready(page)
    page.click("#new")
    page.wait_for_selector("#option-players", timeout=PATIENCE)
    page.select_option("#option-players", "3")


def main() -> None:
    """Makes them all, or those whose names hold one of the words."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots")
    words = sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    chosen, others = (
        {name: page for name, page in found.items() if not words or any(word in name for word in words)}
        for found in (pages(), hosted_pages())
    )
    with browser() as running:
        if chosen:
            with server(prepare=populate) as address:
                _shoot(running, address, chosen, folder)
        if others:
            with hosting() as hosted:
                _shoot(running, hosted.address, others, folder)


def _shoot(running: Any, address: str, chosen: dict[str, Page], folder: Path) -> None:
    for width, height in SIZES.items():
        for scheme in SCHEMES:
            context = running.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, base_url=address
            )
            for name, (path, act) in chosen.items():
                page = context.new_page()
                page.on("console", lambda said, name=name: _complain(name, said.text, said.type))
                page.on("pageerror", lambda error, name=name: _complain(name, str(error), "error"))
                page.goto(path)
                try:
                    if act:
                        act(page)
                except Exception as error:
                    _complain(name, str(error).splitlines()[0], "error")
                full = "rules" not in name and "chain" not in name
                page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=full)
                page.evaluate("localStorage.clear()")
                page.close()
                print(f"{name} {width} {scheme}", flush=True)
            context.close()


def _complain(name: str, text: str, kind: str) -> None:
    if kind in ("error", "warning"):
        print(f"  {name}: {text}", flush=True)


if __name__ == "__main__":
    main()
