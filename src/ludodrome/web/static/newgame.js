// The dialog that begins a game: who sits where, the options of the game, the clock.

import { get, pageData, sentence } from "./api.js";
import { chip, html, NAMES } from "./draw.js";

const CLOCKS = [
  ["none", "No clock"],
  ["10m++5s", "10 minutes, plus 5 s per move"],
  ["5m++3s", "5 minutes, plus 3 s per move"],
  ["1m++1s", "1 minute, plus 1 s per move"],
  ["30s", "30 s per move"],
  ["10s", "10 s per move"],
];
const LEVELS = ["beginner", "easy", "casual", "fair", "good", "strong", "very strong", "expert"];
const MAX_LIST = 30;

const dialog = document.getElementById("newgame");
let known = null;

function botName(spec) {
  const level = /^level:(\d)$/.exec(spec);
  return level ? `Level ${level[1]} · ${LEVELS[level[1] - 1]}` : spec;
}

const PROGRAM = "program";

/** The bots of the league that can play on the page, remote ones while connected; none if they cannot be listed. */
async function leagueBots(game) {
  try {
    return (await get(`/bots?game=${game}`)).filter(
      ({ kind, retired, here }) => !retired && (kind === "uploaded" || (kind === "remote" && here)),
    );
  } catch {
    return [];
  }
}

function seatSelect({ bots, league, local }, number, chosen) {
  const levels = bots.filter((spec) => spec.startsWith("level:")),
    others = bots.filter((spec) => !spec.startsWith("level:"));
  const option = (spec, name) => html("option", { value: spec, selected: spec === chosen }, name);
  return html(
    "div",
    { class: "field" },
    html("label", { for: `seat-${number}` }, chip(number), NAMES[number]),
    html(
      "select",
      { id: `seat-${number}`, name: "seat" },
      option("person", "A person here"),
      option("friend", "A friend by link"),
      html("optgroup", { label: "Levels" }, ...levels.map((spec) => option(spec, botName(spec)))),
      html("optgroup", { label: "Other bots" }, ...others.map((spec) => option(spec, spec))),
      ...(league.length
        ? [html("optgroup", { label: "The league" }, ...league.map(({ id, name }) => option(`bot:${id}`, name)))]
        : []),
      ...(local ? [option(PROGRAM, "A program of mine")] : []),
    ),
    ...(local
      ? [
          html("input", {
            type: "text",
            id: `program-${number}`,
            "aria-label": `Program of ${NAMES[number]}`,
            placeholder: "cmd:./mybot or py:mine.py:MyBot",
            autocomplete: "off",
            hidden: true,
          }),
        ]
      : []),
  );
}

/** What a seat is: the choice of its list, or the program written beside it. */
function specOf(select) {
  const program = select.parentElement.querySelector("input");
  return select.value === PROGRAM ? program.value.trim() || "cmd:" : select.value;
}

const plainName = (name) => name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");

function optionField(
  { name, default: usual, low: least, high: most, words },
  chosen,
  { title = plainName(name), limits, words: texts } = {},
) {
  const value = chosen ?? usual,
    id = `option-${name}`;
  let field;
  if (texts)
    field = html(
      "select",
      { id, name },
      ...words.map((word) => html("option", { value: word, selected: word === value }, texts[word] ?? word)),
    );
  else if (words.length)
    field = html(
      "select",
      { id, name },
      ...words.map((word) => html("option", { value: word, selected: word === value }, word)),
    );
  else if (most - least > MAX_LIST && !limits)
    field = html("input", { id, name, type: "number", min: least, max: most, value });
  else {
    const [low, high] = limits || [least, most];
    field = html(
      "select",
      { id, name },
      ...Array.from({ length: high - low + 1 }, (_, at) =>
        html("option", { value: low + at, selected: low + at === value }, String(low + at)),
      ),
    );
  }
  return html("div", { class: "field" }, html("label", { for: id }, title), field);
}

/** `GameBoard` says what is particular to the game; `fixed`: options and a position that are given already. */
export async function openDialog(game, GameBoard, view, begin, fixed = null) {
  dialog.replaceChildren(
    html(
      "form",
      {},
      html("h2", { id: "newgame-title" }, "New game"),
      html("p", {}, html("span", { class: "wait" }, html("i"), html("i"), html("i"))),
    ),
  );
  dialog.showModal();
  try {
    known = known || {
      ...(await get(`/games/${game}`)),
      league: await leagueBots(game),
      local: pageData().mode === "local",
    };
  } catch (error) {
    dialog.querySelector("p").textContent = sentence(error.message);
    return;
  }
  const options = fixed ? [] : known.options;
  const chosen = view?.options || known.people_options || {},
    specs = view?.seats?.map(({ spec, kind }) => (kind === "friend" ? kind : spec)) || ["person", "level:3"];
  const seats = html("fieldset", {}, html("legend", {}, "Who plays"));
  const refusal = html("p", { class: "no", role: "alert" });
  const clock = html(
    "select",
    { id: "clock" },
    ...CLOCKS.map(([value, name]) => html("option", { value, selected: value === view?.clock }, name)),
  );
  const form = html(
    "form",
    { method: "dialog" },
    html("h2", { id: "newgame-title" }, fixed ? "Play on from here" : `New game of ${known.title}`),
    seats,
    html(
      "fieldset",
      {},
      html("legend", {}, "The game"),
      known.people_options_reason && !fixed
        ? html(
            "details",
            { class: "why" },
            html("summary", {}, `Why ${Object.values(known.people_options).join(", ")}?`),
            html("p", {}, known.people_options_reason),
          )
        : null,
      ...options.map((one) => optionField(one, chosen[one.name], GameBoard.fields[one.name])),
      html("div", { class: "field" }, html("label", { for: "clock" }, "Clock"), clock),
    ),
    refusal,
    html(
      "div",
      { class: "end" },
      html("button", { class: "button", type: "button", onclick: () => dialog.close() }, "Cancel"),
      html("button", { class: "button first", type: "submit" }, "Play"),
    ),
  );
  const fillSeats = () => {
    const count = Number(form.querySelector('[name="players"]')?.value || (fixed ? specs.length : known.seats)),
      now = [...seats.querySelectorAll("select")].map((one) => one.value);
    const kept = now.length ? now : specs;
    seats.replaceChildren(
      seats.firstChild,
      ...Array.from({ length: count }, (_, at) => seatSelect(known, at, kept[at] || "level:3")),
    );
  };
  fillSeats();
  form.querySelector('[name="players"]')?.addEventListener("change", fillSeats);
  seats.addEventListener("change", ({ target }) => {
    const program = target.parentElement.querySelector("input");
    if (target.name !== "seat" || !program) return;
    program.hidden = target.value !== PROGRAM;
    if (!program.hidden) program.focus();
  });
  const fieldOf = (name) => form.querySelector(`[name="${name}"]`);
  const disableUnused = () => {
    const unused = GameBoard.unused(Object.fromEntries(options.map(({ name }) => [name, fieldOf(name).value])));
    for (const { name } of options) fieldOf(name).disabled = unused.includes(name);
  };
  form.addEventListener("change", disableUnused);
  disableUnused();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const values =
      fixed?.options ??
      Object.fromEntries(
        options
          .filter(({ name }) => !fieldOf(name).disabled)
          .map(({ name }) => {
            const { value } = fieldOf(name);
            return [name, options.find((one) => one.name === name).words.length ? value : Number(value)];
          }),
      );
    refusal.textContent = "";
    try {
      await begin({
        game,
        options: values,
        ...(fixed ? { position: fixed.position } : {}),
        seats: [...seats.querySelectorAll("select")].map(specOf),
        clock: clock.value,
      });
      dialog.close();
    } catch (error) {
      refusal.textContent = sentence(error.message);
    }
  });
  dialog.replaceChildren(form);
  form.querySelector("select").focus();
}

dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
