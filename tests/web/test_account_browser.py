"""A browser signs up, makes a token, changes its password, signs out; and no text runs as a script."""

import re
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from ludodrome.store import accounts, audit, league_bots
from ludodrome.web import auth
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


@pytest.mark.parametrize("path", ["/sign-in", "/sign-up", "/dots/analysis", "/dots/bots/new", "/account"])
def test_a_form_cannot_be_sent_before_its_script_is_there(page: Any, path: str) -> None:
    """The policy of the page forbids sending a form without a script: what was pressed too early would be lost."""
    if path == "/account":
        _sign_up(page, "Corinna")
    page.route(re.compile(r"/static/.*\.js$"), lambda _: None)
    page.goto(path, wait_until="commit")
    buttons = page.locator("form button[type=submit]")
    buttons.first.wait_for(state="attached")
    assert buttons.evaluate_all("all => all.every((one) => one.disabled)")
    page.unroute_all(behavior="ignoreErrors")
    page.reload()
    if path != "/dots/bots/new":  # there a guest may only read
        page.locator("form button[type=submit]:enabled").first.wait_for(state="attached")


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


def _sign_in(page: Any, name: str, password: str = PASSWORD) -> None:
    page.goto("/sign-in?next=/account")
    page.fill("#name", name)
    page.fill("#password", password)
    page.click("#sign button[type=submit]")


def _turn_on(page: Any) -> tuple[str, list[str]]:
    """The secret of a new second factor, and its recovery codes."""
    page.fill("#factor-password", PASSWORD)
    page.click("#factor button[type=submit]")
    secret = page.locator("#factor .key").inner_text().replace(" ", "")
    page.fill("#factor-code", auth.totp(secret, int(time.time()) // 30))
    page.click("#factor button[type=submit]")
    page.locator("#factor .codes").wait_for()
    return secret, page.locator("#factor .codes li").all_inner_texts()


def test_a_second_factor_and_the_end_of_an_account(page: Any, hosted: Hosted) -> None:
    _sign_up(page, "Hildegard")
    secret, codes = _turn_on(page)
    page.get_by_role("button", name="I have kept them").click()
    page.locator("#factor", has_text="10 recovery codes left").wait_for()
    page.click("#sign-out")
    page.locator(".self", has_text="Sign in").wait_for()
    _sign_in(page, "Hildegard")
    page.locator("#code").wait_for()
    page.fill("#code", "000000")
    page.keyboard.press("Enter")
    page.locator("#no", has_text="The code is wrong, or was used already.").wait_for()
    page.fill("#code", auth.totp(secret, int(time.time()) // 30 + 1))
    page.keyboard.press("Enter")
    page.locator("#factor", has_text="10 recovery codes left").wait_for()
    accounts.sign_in(hosted.engine, hosted_id(hosted, "Hildegard"), "Elsewhere", "203.0.113.7")
    page.reload()
    page.locator("#sessions li", has_text="from 203.0.113.7").wait_for()
    page.get_by_role("button", name="Sign out everywhere else").click()
    page.locator("#end-others").wait_for(state="hidden")
    assert page.locator("#sessions li").count() == 1
    page.click("#delete summary")
    page.fill("#delete-password", PASSWORD)
    page.fill("#delete-code", codes[0])
    page.click("#delete-account button[type=submit]")
    page.locator(".self", has_text="Sign in").wait_for()
    assert accounts.find_account(hosted.engine, "Hildegard") is None


def hosted_id(hosted: Hosted, name: str) -> str:
    """The id of an account that signed up by itself."""
    found = accounts.find_account(hosted.engine, name)
    assert found is not None
    return found[0].id


def test_a_one_time_password_is_replaced_at_the_door(page: Any, hosted: Hosted) -> None:
    person = hosted.person("Hrotsvit")
    accounts.set_password(hosted.engine, person.id, auth.hash_password("one-time password"), once=True)
    _sign_in(page, "Hrotsvit", "one-time password")
    page.fill("#replacement", "short")
    page.keyboard.press("Enter")
    page.locator("#no", has_text="10 to 1000 characters").wait_for()
    page.fill("#replacement", "quite another password")
    page.keyboard.press("Enter")
    page.locator("#sessions b").first.wait_for()


def test_the_audit_log_is_looked_through(page: Any, hosted: Hosted) -> None:
    hosted.person("Chief")
    for number in range(60):
        audit.note(hosted.engine, audit.Actor(None, MARKUP), audit.BACKED_UP, file=f"{MARKUP[:20]} {number}")
    _sign_in(page, "Chief")
    page.click("text=audit log")
    page.locator("#log li").nth(49).wait_for()
    page.click("#older")
    page.locator("#log li").nth(59).wait_for()
    page.select_option("#action", "sign-in")
    page.locator("#log li b", has_text="Sign in").first.wait_for()
    page.fill("#account", "nobody at all")
    page.keyboard.press("Enter")
    page.locator("#log .none", has_text="No entries.").wait_for()


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
