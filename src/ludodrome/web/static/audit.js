// The audit log, for administrators.
import { counted, get, onSubmit, pageData, sentence } from "./api.js";
import { html } from "./draw.js";

const { most } = pageData();
const log = document.getElementById("log");
const older = document.getElementById("older");
const account = document.getElementById("account");
const action = document.getElementById("action");
let last = null;

const BAD = new Set(["sign-in-failed", "code-failed", "account-banned", "bot-banned", "account-deleted"]);
function when(text) {
  const at = new Date(text);
  const year = at.getFullYear() === new Date().getFullYear() ? {} : { year: "numeric" };
  return at.toLocaleString(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", ...year });
}
const words = (text) => text[0].toUpperCase() + text.slice(1).replaceAll("-", " ");

function detail([key, value]) {
  if (key === "times") return value > 1 ? counted(value, "time", "times") : "";
  return `${key} ${Array.isArray(value) ? value.join(", ") : value}`;
}

function row(entry) {
  const by = entry.actor && entry.actor !== entry.subject ? `by ${entry.actor}` : "";
  const whom = entry.subject || (entry.action.endsWith("failed") ? "a name that nobody has" : "");
  const rest = [by, ...Object.entries(entry.details).map(detail)].filter(Boolean).join(" · ");
  return html(
    "li",
    {},
    html("time", { datetime: entry.at }, when(entry.at)),
    html("b", { class: BAD.has(entry.action) ? "bad" : null }, words(entry.action)),
    html("span", { class: "whom" }, whom, rest && html("small", {}, rest)),
    html("span", { class: "from" }, entry.address),
  );
}

async function show(more = false) {
  const wanted = new URLSearchParams({ most });
  if (account.value.trim()) wanted.set("account", account.value.trim());
  if (action.value) wanted.set("action", action.value);
  if (more) wanted.set("before", last);
  older.hidden = true;
  try {
    const found = await get(`/audit?${wanted}`);
    if (!more) log.replaceChildren();
    log.append(...found.map(row));
    if (!log.children.length) log.append(html("li", { class: "none" }, "No entries."));
    last = found.at(-1)?.id ?? last;
    older.hidden = found.length < most;
  } catch (error) {
    log.replaceChildren(html("li", { class: "none" }, sentence(error.message)));
  }
  log.removeAttribute("aria-busy");
}

onSubmit(document.getElementById("filter"), () => show());
action.addEventListener("change", () => show());
older.addEventListener("click", () => show(true));
show();
