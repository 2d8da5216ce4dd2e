// One's account: tokens, sessions, password, deletion. The second factor is in second_factor.js.
import { get, onSubmit, pageData, post, remove, say, sentence } from "./api.js";
import { showSecondFactor } from "./second_factor.js";

const { hosted, scopes } = pageData();
const MEANINGS = { play: "play games", bots: "enter bots", admin: "administer" };
const part = (id) => document.getElementById(id);

function make(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

const day = (text) => new Date(text).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });

function ago(text) {
  const minutes = Math.round((Date.now() - new Date(text)) / 60000);
  if (minutes < 2) return "now";
  if (minutes < 90) return `${minutes} minutes ago`;
  return minutes < 2160 ? `${Math.round(minutes / 60)} hours ago` : day(text);
}

// A browser's own description, as people would say it.
function browserName(text) {
  const name = ["Firefox", "Edg", "OPR", "Chrome", "Safari"].find((one) => text.includes(`${one}/`));
  const system = ["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"].find((one) => text.includes(one));
  if (!name) return text || "An unknown program";
  return [{ Edg: "Edge", OPR: "Opera" }[name] || name, system].filter(Boolean).join(" on ");
}

function list(id, rows, none) {
  const place = part(id);
  place.replaceChildren(...(rows.length ? rows : [make("li", none, { class: "none" })]));
  place.removeAttribute("aria-busy");
}

function row(title, detail, button, act) {
  const item = make("li");
  const what = make("div", "", { class: "what" });
  what.append(make("b", title), make("small", detail));
  item.append(what);
  if (button) {
    const press = make("button", button, { class: "button tight", "aria-label": `${button} ${title}` });
    press.addEventListener("click", async () => {
      press.disabled = true;
      try {
        await act();
      } catch (error) {
        say(sentence(error.message));
        press.disabled = false;
      }
    });
    item.append(press);
  }
  return item;
}

async function showTokens() {
  const found = await get("/tokens");
  const rows = found.map((one) =>
    row(
      one.label,
      `${one.scopes.map((scope) => MEANINGS[scope]).join(", ")} · created ${day(one.made)} · ${one.used ? `used ${ago(one.used)}` : "never used"}`,
      "Revoke",
      async () => {
        await remove(`/tokens/${one.id}`);
        say(`Token ${one.label} revoked.`);
        await showTokens();
      },
    ),
  );
  list("tokens", rows, "No tokens yet.");
}

async function showSessions() {
  const found = await get("/account/sessions");
  const rows = found.map((one) =>
    row(
      browserName(one.browser),
      [
        one.current ? "this browser" : `last used ${ago(one.seen)}`,
        `since ${day(one.made)}`,
        one.network && `from ${one.network}`,
      ]
        .filter(Boolean)
        .join(" · "),
      one.current ? "" : "Sign out",
      async () => {
        await remove(`/account/sessions/${one.id}`);
        await showSessions();
      },
    ),
  );
  list("sessions", rows, "Not signed in anywhere.");
  part("end-others").hidden = !found.some((one) => !one.current);
}

function failed(id) {
  return (error) => list(id, [], sentence(error.message));
}

for (const scope of scopes) {
  const label = make("label");
  const box = make("input", "", { type: "checkbox", value: scope });
  box.checked = scope !== "admin";
  label.append(box, MEANINGS[scope]);
  part("scopes").append(label);
}

onSubmit(part("new-token"), async () => {
  const no = part("token-no");
  no.textContent = "";
  const chosen = [...part("scopes").querySelectorAll("input:checked")].map((box) => box.value);
  const label = part("label").value.trim();
  if (!label) {
    no.textContent = "Enter what the token is for.";
    part("label").focus();
    return;
  }
  if (!chosen.length) {
    no.textContent = "Choose what the token may do.";
    return;
  }
  try {
    const made = await post("/tokens", { label, scopes: chosen });
    part("label").value = "";
    part("secret-text").value = made.secret;
    part("secret").hidden = false;
    part("secret-text").select();
    await showTokens();
  } catch (error) {
    no.textContent = sentence(error.message);
  }
});

part("copy").addEventListener("click", async () => {
  part("secret-text").select();
  try {
    await navigator.clipboard.writeText(part("secret-text").value);
    part("copy").textContent = "Copied";
  } catch {
    part("copy").textContent = "Press Ctrl-C";
  }
});

if (hosted) {
  part("sign-out").addEventListener("click", async () => {
    await remove("/session").catch(() => {});
    location.assign("/");
  });
  onSubmit(part("new-password"), async (event) => {
    const no = part("password-no");
    no.className = "no";
    no.textContent = "";
    try {
      await post("/account/password", { old: part("old").value, new: part("new").value });
      event.target.reset();
      no.className = "no good";
      no.textContent = "Password changed.";
      await showSessions();
    } catch (error) {
      no.textContent = sentence(error.message);
    }
  });
  part("end-others").addEventListener("click", async () => {
    await remove("/account/sessions").catch((error) => say(sentence(error.message)));
    await showSessions().catch(failed("sessions"));
    say("Signed out everywhere else.");
  });
  onSubmit(part("delete-account"), async () => {
    const no = part("delete-no");
    no.textContent = "";
    if (!part("delete-password").value) {
      no.textContent = "Enter your password.";
      part("delete-password").focus();
      return;
    }
    const code = part("delete-factor").hidden ? {} : { code: part("delete-code").value };
    try {
      await remove("/account", { password: part("delete-password").value, ...code });
      location.assign("/");
    } catch (error) {
      no.textContent = sentence(error.message);
    }
  });
  showSessions().catch(failed("sessions"));
  showSecondFactor(part("factor"), (on) => {
    part("delete-factor").hidden = !on;
  });
}
showTokens().catch(failed("tokens"));
