// The second factor on the account page: off, being set up, recovery codes to copy, on.
import { counted, get, post, remove, say, sentence } from "./api.js";
import { html } from "./draw.js";

const PATH = "/account/second-factor";
const day = (text) => new Date(text).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
const groups = (text) => text.match(/.{1,4}/g).join(" ");

/** Draw the card; `changed` is told whether the second factor is on. */
export async function showSecondFactor(card, changed) {
  const again = () => showSecondFactor(card, changed);
  try {
    const state = await get(PATH);
    changed(state.on);
    card.replaceChildren(state.on ? switchedOn(state, again) : switchedOff(card, again));
  } catch (error) {
    card.replaceChildren(html("p", { class: "hint" }, sentence(error.message)));
  }
  card.removeAttribute("aria-busy");
}

function input(id, label, kind) {
  const settings =
    kind === "password"
      ? { type: "password", autocomplete: "current-password", maxlength: 1000 }
      : { type: "text", class: "code", autocomplete: "one-time-code", autocapitalize: "none", maxlength: 40 };
  return [html("label", { for: id }, label), html("input", { id, required: true, ...settings })];
}

function form(parts, button, act) {
  const no = html("p", { class: "no", role: "alert" });
  const press = html("button", { class: "button", type: "submit" }, button);
  const made = html("form", { class: "step", novalidate: true }, ...parts, no, press);
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    const empty = [...made.querySelectorAll("input")].find((one) => !one.value.trim());
    no.textContent = empty ? "Fill in this field, too." : "";
    if (empty) return empty.focus();
    press.disabled = true;
    try {
      await act((id) => made.querySelector(`#${id}`).value);
    } catch (error) {
      no.textContent = sentence(error.message);
      press.disabled = false;
    }
  });
  return made;
}

function switchedOff(card, again) {
  const words = "Off. With it, signing in also takes a code from an app on your phone.";
  const parts = [html("p", { class: "hint" }, words), ...input("factor-password", "Password", "password")];
  return form(parts, "Turn on", async (value) => {
    const made = await post(PATH, { password: value("factor-password") });
    card.replaceChildren(setUp(made, card, again));
    card.querySelector("input").focus();
  });
}

function setUp(made, card, again) {
  const parts = [
    html("p", { class: "hint" }, "Add this key to an authenticator app, then enter the code that the app shows."),
    html("code", { class: "key", "aria-label": "Key" }, groups(made.secret)),
    html("a", { class: "hint", href: made.link }, "Open in an app on this device"),
    ...input("factor-code", "Code", "code"),
  ];
  return form(parts, "Confirm", async (value) => {
    const { recovery_codes: codes } = await post(`${PATH}/confirm`, { code: value("factor-code") });
    card.replaceChildren(...recovery(codes, again));
    say("The second factor is on.");
  });
}

function recovery(codes, again) {
  const copy = html("button", { class: "button", type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(codes.join("\n"));
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Select and press Ctrl-C";
    }
  });
  const done = html("button", { class: "button first", type: "button" }, "I have kept them");
  done.addEventListener("click", again);
  return [
    html("p", {}, html("b", {}, "The second factor is on. "), "Keep these recovery codes: each replaces the app once."),
    html("p", { class: "hint" }, "They are shown only now. Without the app and without a code you cannot sign in."),
    html("ul", { class: "codes" }, ...codes.map((code) => html("li", {}, code))),
    html("div", { class: "line" }, copy, done),
  ];
}

function switchedOn(state, again) {
  const left = counted(state.recovery_codes, "recovery code", "recovery codes");
  const parts = [
    html("p", { class: "hint" }, html("b", { class: "good" }, "On"), ` since ${day(state.since)} · ${left} left.`),
    ...input("factor-password", "Password", "password"),
    ...input("factor-code", "Code, or a recovery code", "code"),
  ];
  return form(parts, "Turn off", async (value) => {
    await remove(PATH, { password: value("factor-password"), code: value("factor-code") });
    say("The second factor is off.");
    await again();
  });
}
