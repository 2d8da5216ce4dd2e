"""A browser signs up, makes a token, changes its password, signs out; and no text runs as a script."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from ludodrome.store import league_bots
from tests.web.hosting import PASSWORD, Hosted

API = "/api/v1"
PATIENCE = 120_000
MARKUP = "<img src=x onerror=alert(1)>\"'`&lt;</script><script>alert(2)</script>"


@pytest.fixture
def page(chromium: Any, hosted: Hosted) -> Iterator[Any]:
    """A new window; nothing may be alerted there, and nothing refused by the policy of the page."""
    context = chromium.new_context(base_url=hosted.address, reduced_motion="reduce", user_agent=f"Mozilla {MARKUP}")
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))

    def refuse(dialog: Any) -> None:
        faults.append(dialog.message)
        dialog.dismiss()

    opened.on("dialog", refuse)
    opened.on("console", lambda said: faults.append(said.text) if "Content Security" in said.text else None)
    yield opened
    context.close()
    assert not faults


def _sign_up(page: Any, name: str) -> None:
    page.goto("/sign-up?next=/account")
    page.fill("#name", name)
    page.fill("#password", PASSWORD)
    page.click("#sign button[type=submit]")
    page.locator("#tokens").wait_for()


def test_from_sign_up_to_sign_out(page: Any, hosted: Hosted) -> None:
    page.goto("/account")
    assert page.url.endswith("/sign-in?next=/account")
    page.fill("#name", "Sappho")
    page.fill("#password", "a wrong password")
    page.keyboard.press("Enter")
    page.locator("#no", has_text="The name or the password is wrong.").wait_for()
    page.click("text=Sign up")
    _sign_up(page, "Sappho")
    assert page.locator(".self:not(.docs)").inner_text() == "Sappho"
    page.fill("#label", "laptop")
    page.click("#new-token button[type=submit]")
    page.locator("#secret").wait_for(state="visible")
    secret = page.input_value("#secret-text")
    shown = httpx.get(f"{hosted.address}{API}/account", headers={"authorization": f"Bearer {secret}"})
    assert (shown.json()["name"], shown.json()["scopes"]) == ("Sappho", ["bots", "play"])
    page.reload()
    assert page.locator("#secret").is_hidden()
    page.get_by_role("button", name="Revoke laptop").click()
    page.locator("#tokens .none", has_text="No tokens yet.").wait_for()
    page.fill("#old", PASSWORD)
    page.fill("#new", "quite another password")
    page.click("#new-password button[type=submit]")
    page.locator("#password-no.good").wait_for()
    page.click("#sign-out")
    page.locator(".self", has_text="Sign in").wait_for()


def test_where_one_goes_after_signing_in_is_here(page: Any, hosted: Hosted) -> None:
    hosted.person("Tasso")
    page.goto("/sign-in?next=https://example.org/")
    page.fill("#name", "Tasso")
    page.fill("#password", PASSWORD)
    page.click("#sign button[type=submit]")
    page.locator(".self", has_text="Tasso").wait_for()
    assert page.url.startswith(hosted.address)


def test_no_text_runs_as_a_script(page: Any, hosted: Hosted) -> None:
    with hosted.client("Chief") as client:
        bots = [one.id for one in league_bots.bots(hosted.engine, "dots") if one.kind == "builtin"][:2]
        wish = {"game": "dots", "name": MARKUP[:60], "bots": bots}
        event = client.post(f"{API}/tournaments", json=wish).json()["id"]
    _sign_up(page, "Vergil")
    page.fill("#label", MARKUP[:60])
    page.click("#new-token button[type=submit]")
    page.locator("#tokens b", has_text="<img src=x").wait_for()
    page.locator("#sessions b", has_text="<img src=x").wait_for()
    for path in (f"/dots/tournaments/{event}", "/dots/arena"):
        page.goto(path)
        page.get_by_text("<img src=x").first.wait_for()
    page.goto(f"/dots/plays/{MARKUP}")
    assert page.locator("h1").inner_text() == "Page not found"
