// The dialog that begins a game: who sits where, the options of the game, the clock.

import { get, sentence } from "./api.js";
import { chip, html } from "./draw.js";

const CLOCKS = [["none", "No clock"], ["10m++5s", "10 minutes, plus 5 s per move"], ["5m++3s", "5 minutes, plus 3 s per move"], ["1m++1s", "1 minute, plus 1 s per move"], ["30s", "30 s per move"], ["10s", "10 s per move"]];
const LEVELS = ["beginner", "easy", "casual", "fair", "good", "strong", "very strong", "expert"];
const PLAIN = { mode: "Mode", turn_limit: "Turn limit", rows: "Rows", cols: "Columns", players: "Players", size: "Size", rules: "Rules", rounds: "Rounds", choice: "Choice" };
const LIMITS = { rows: [1, 21], cols: [1, 21], size: [2, 10], rounds: [1, 25], players: [2, 3] };
const LONGEST_LIST = 30;
const WORDS = { mode: { rounds: "rounds: board against board", deck: "deck: ten boards against ten" }, rules: { written: "written: the classic text", live: "live: as it is played in public" }, choice: { seen: "seen: the answer knows the board", blind: "blind: both lie face down" } };

const dialog = document.getElementById("newgame");
let known = null;

function botName(spec) {
  const level = /^level:(\d)$/.exec(spec);
  return level ? `Level ${level[1]} · ${LEVELS[level[1] - 1]}` : spec;
}

function seatSelect(bots, number, chosen) {
  const levels = bots.filter((spec) => spec.startsWith("level:")), others = bots.filter((spec) => !spec.startsWith("level:"));
  const option = (spec, name) => html("option", { value: spec, selected: spec === chosen }, name);
  return html("div", { class: "field" }, html("label", { for: `seat-${number}` }, chip(number), `Seat ${number + 1}`),
    html("select", { id: `seat-${number}`, name: "seat" }, option("person", "A person here"), option("friend", "A friend by link"), html("optgroup", { label: "Levels" }, ...levels.map((spec) => option(spec, botName(spec)))), html("optgroup", { label: "Other bots" }, ...others.map((spec) => option(spec, spec)))));
}

/** A name that no game of ours has is shown as it is written. */
const plainName = (name) => PLAIN[name] || name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");

function optionField({ name, default: usual, low: least, high: most, words }, chosen) {
  const value = chosen ?? usual, id = `option-${name}`;
  let field;
  if (WORDS[name]) field = html("select", { id, name }, ...Object.entries(WORDS[name]).map(([word, text]) => html("option", { value: word, selected: word === value }, text)));
  else if (words.length) field = html("select", { id, name }, ...words.map((word) => html("option", { value: word, selected: word === value }, word)));
  else if (most - least > LONGEST_LIST && !(name in LIMITS)) field = html("input", { id, name, type: "number", min: least, max: most, value });
  else { const [low, high] = LIMITS[name] || [least, most]; field = html("select", { id, name }, ...Array.from({ length: high - low + 1 }, (_, at) => html("option", { value: low + at, selected: low + at === value }, String(low + at)))); }
  return html("div", { class: "field" }, html("label", { for: id }, plainName(name)), field);
}

/** `fixed`: options and a position that are given already. */
export async function openDialog(game, view, begin, fixed = null) {
  dialog.replaceChildren(html("form", {}, html("h2", { id: "newgame-title" }, "New game"), html("p", {}, html("span", { class: "wait" }, html("i"), html("i"), html("i")))));
  dialog.showModal();
  try {
    known = known || (await get(`/games/${game}`));
  } catch (error) { dialog.querySelector("p").textContent = sentence(error.message); return; }
  const options = fixed ? [] : known.options;
  const chosen = view?.options || {}, specs = view?.seats?.map(({ spec, kind }) => (kind === "friend" ? kind : spec)) || ["person", "level:3"];
  const seats = html("fieldset", {}, html("legend", {}, "Who plays"));
  const refusal = html("p", { class: "no", role: "alert" });
  const clock = html("select", { id: "clock" }, ...CLOCKS.map(([value, name]) => html("option", { value, selected: value === view?.clock }, name)));
  const form = html("form", { method: "dialog" }, html("h2", { id: "newgame-title" }, fixed ? "Play on from here" : `New game of ${known.title}`), seats,
    html("fieldset", {}, html("legend", {}, "The game"), ...options.map((one) => optionField(one, chosen[one.name])), html("div", { class: "field" }, html("label", { for: "clock" }, "Clock"), clock)),
    refusal, html("div", { class: "end" }, html("button", { class: "button", type: "button", onclick: () => dialog.close() }, "Cancel"), html("button", { class: "button first", type: "submit" }, "Play")));
  const fillSeats = () => {
    const count = Number(form.querySelector('[name="players"]')?.value || (fixed ? specs.length : known.seats)), now = [...seats.querySelectorAll("select")].map((one) => one.value);
    const kept = now.length ? now : specs;
    seats.replaceChildren(seats.firstChild, ...Array.from({ length: count }, (_, at) => seatSelect(known.bots, at, kept[at] || "level:3")));
  };
  fillSeats();
  form.querySelector('[name="players"]')?.addEventListener("change", fillSeats);
  const mode = form.querySelector('[name="mode"]');
  const fitMode = () => { for (const name of ["rounds", "choice"]) form.querySelector(`[name="${name}"]`).disabled = mode.value === "deck"; };
  if (mode) { mode.addEventListener("change", fitMode); fitMode(); }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const values = fixed?.options ?? Object.fromEntries(options.filter(({ name }) => !form.querySelector(`[name="${name}"]`).disabled).map(({ name }) => { const { value } = form.querySelector(`[name="${name}"]`); return [name, options.find((one) => one.name === name).words.length ? value : Number(value)]; }));
    refusal.textContent = "";
    try {
      await begin({ game, options: values, ...(fixed ? { position: fixed.position } : {}), seats: [...seats.querySelectorAll("select")].map((one) => one.value), clock: clock.value });
      dialog.close();
    } catch (error) { refusal.textContent = sentence(error.message); }
  });
  dialog.replaceChildren(form);
  form.querySelector("select").focus();
}

dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
