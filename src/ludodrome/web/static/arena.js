// The arena: what is being played, what was played, and asking for more.

import { get, pageData, post, sentence } from "./api.js";
import { chip, html } from "./draw.js";
import { ago, boardMaker, LiveCard, listen, showResults } from "./league.js";

const data = pageData();
const part = (id) => document.getElementById(id);
const KINDS = { builtin: "built-in", uploaded: "uploaded", remote: "remote" };
const CLOCKS = [
  ["1s", "1 s per move"],
  ["1s+10s", "1 s per move, 10 s in reserve"],
  ["5s", "5 s per move"],
  ["60s++1s", "1 minute, plus 1 s per move"],
  ["100ms", "0.1 s per move"],
];
const cards = new Map();
const make = await boardMaker();

function quiet() {
  part("quiet").hidden = cards.size > 0;
}

listen(`/live/${data.game}`, ({ match, view, gone }) => {
  if (gone) {
    cards.get(match)?.node.remove();
    cards.delete(match);
    refresh();
  } else {
    if (!cards.has(match)) {
      const card = new LiveCard(data.game, match, make);
      cards.set(match, card);
      part("lives").append(card.node);
    }
    cards.get(match).show(view);
  }
  quiet();
});

function cup(one) {
  const state = {
    queued: one.played ? "being played" : "waiting",
    playing: "being played",
    done: "over",
    dropped: "stopped",
  }[one.status];
  return html(
    "li",
    { class: "card" },
    html(
      "a",
      { href: `/${one.game}/tournaments/${one.id}` },
      html("b", {}, one.name),
      html(
        "span",
        {},
        `${one.format === "gauntlet" ? "Gauntlet" : "Round robin"}, ${one.bots.length} bots · ${ago(one.created)}`,
      ),
      html("span", {}, `${one.played} of ${one.games} games, ${state}`),
    ),
  );
}

function show() {
  showResults(part("results"), data.recent, "No games yet. Below: how the built-ins did when they were measured.");
  part("cups").replaceChildren(
    ...(data.tournaments.length ? data.tournaments.map(cup) : [html("li", { class: "none" }, "No tournaments yet.")]),
  );
}

let asked = 0;
async function refresh() {
  const mine = ++asked;
  try {
    const [recent, tournaments] = await Promise.all([
      get(`/matches?game=${data.game}&most=12`),
      get(`/tournaments?game=${data.game}&most=6`),
    ]);
    if (mine !== asked) return;
    Object.assign(data, { recent, tournaments });
    show();
  } catch {
    /* the next one may come through */
  }
}

// Asking for more

const dialog = part("dialog");
const available = () => data.bots.filter((bot) => bot.here);
const botOption = (chosen) => (bot) => html("option", { value: bot.id, selected: bot.id === chosen }, bot.name);
const field = (id, label, control) => html("div", { class: "field" }, html("label", { for: id }, label), control);

function botSelect(seat, chosen) {
  const groups = Object.entries(KINDS)
    .map(([kind, name]) => [name, available().filter((bot) => bot.kind === kind)])
    .filter(([, bots]) => bots.length);
  const select = html(
    "select",
    { id: `bot-${seat}` },
    ...groups.map(([name, bots]) => html("optgroup", { label: name }, ...bots.map(botOption(chosen)))),
  );
  return html(
    "div",
    { class: "field" },
    html("label", { for: `bot-${seat}` }, chip(seat), seat ? "against" : "Bot"),
    select,
  );
}

const clockSelect = () =>
  field(
    "clock",
    "Clock",
    html("select", { id: "clock" }, ...CLOCKS.map(([value, name]) => html("option", { value }, name))),
  );
const openingsCheck = () =>
  html(
    "div",
    { class: "field" },
    html(
      "label",
      { class: "check" },
      html("input", { type: "checkbox", id: "openings", checked: true }),
      "From random openings, each played with seats swapped",
    ),
  );

function open(title, parts, send, word) {
  const refusal = html("p", { class: "no", role: "alert" });
  const form = html(
    "form",
    { method: "dialog" },
    html("h2", { id: "dialog-title" }, title),
    html("fieldset", {}, ...parts),
    refusal,
    html(
      "div",
      { class: "end" },
      html("button", { class: "button", type: "button", onclick: () => dialog.close() }, "Cancel"),
      html("button", { class: "button first", type: "submit" }, word),
    ),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    refusal.textContent = "";
    try {
      const made = await send(form);
      location.assign(`/${data.game}/tournaments/${made.id}`);
    } catch (error) {
      refusal.textContent = sentence(error.message);
    }
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}

function newMatch() {
  const bots = available(),
    own = bots.find((bot) => bot.kind !== "builtin");
  const first = own?.id ?? bots[0]?.id,
    second = bots.find((bot) => bot.id !== first)?.id;
  open(
    "New match",
    [
      botSelect(0, first),
      botSelect(1, second),
      field(
        "pairs",
        "Games",
        html(
          "select",
          { id: "pairs" },
          ...[1, 2, 5, 10, 25, 50].map((pairs) => html("option", { value: pairs }, String(2 * pairs))),
        ),
      ),
      clockSelect(),
      field(
        "pace",
        "Speed",
        html(
          "select",
          { id: "pace" },
          html("option", { value: 500 }, "half a second between moves"),
          html("option", { value: 1500 }, "slowly"),
          html("option", { value: 0 }, "as fast as the bots play"),
        ),
      ),
      openingsCheck(),
    ],
    () =>
      post("/matches", {
        game: data.game,
        options: data.options,
        bots: [part("bot-0").value, part("bot-1").value],
        pairs: Number(part("pairs").value),
        clock: part("clock").value,
        pace_ms: Number(part("pace").value),
        openings: part("openings").checked,
      }),
    "Play",
  );
}

function newTournament() {
  const picks = html(
    "div",
    { class: "picks", role: "group", "aria-label": "Bots" },
    ...available().map((bot) =>
      html(
        "label",
        {},
        html("input", { type: "checkbox", value: bot.id, checked: bot.kind !== "builtin" }),
        bot.name,
        html("span", { class: "kind" }, KINDS[bot.kind]),
      ),
    ),
  );
  open(
    "New tournament",
    [
      field(
        "cup-name",
        "Name",
        html("input", { type: "text", id: "cup-name", maxlength: 60, required: true, value: "Cup" }),
      ),
      field(
        "format",
        "Format",
        html(
          "select",
          { id: "format" },
          html("option", { value: "round-robin" }, "round robin: everybody plays everybody"),
          html("option", { value: "gauntlet" }, "gauntlet: the first bot plays all others"),
        ),
      ),
      picks,
      field(
        "pairs",
        "Games per pairing",
        html(
          "select",
          { id: "pairs" },
          ...[1, 2, 5, 10].map((pairs) => html("option", { value: pairs }, String(2 * pairs))),
        ),
      ),
      clockSelect(),
      openingsCheck(),
    ],
    (form) =>
      post("/tournaments", {
        game: data.game,
        options: data.options,
        name: part("cup-name").value,
        format: part("format").value,
        bots: [...form.querySelectorAll(".picks input:checked")].map((one) => one.value),
        pairs: Number(part("pairs").value),
        clock: part("clock").value,
        openings: part("openings").checked,
      }),
    "Begin",
  );
}

part("new-match")?.addEventListener("click", newMatch);
part("new-tournament")?.addEventListener("click", newTournament);
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
show();
quiet();
