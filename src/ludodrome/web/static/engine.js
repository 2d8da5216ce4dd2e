// What the engine says, in words and in the bar; and going on against a bot from any position.

import { get, post, sentence } from "./api.js";
import { chip, html, NAMES } from "./draw.js";

const LEVELS = ["beginner", "easy", "casual", "fair", "good", "strong", "very strong", "expert"];

/** A score with its sign, to a tenth; what rounds to nothing has no sign. */
export function signed(score) {
  const rounded = Math.round(score * 10) / 10;
  return `${rounded > 0 ? "+" : rounded < 0 ? "−" : ""}${Math.abs(rounded)}`;
}

/** What a line is worth, in words; `unit` is that of the game's board. */
export function worth(unit, line) {
  if (line.score === null || line.score === undefined) return "";
  const known = line.proven ? " · proven" : "";
  if (line.distance)
    return `${line.score > 0 ? "wins" : line.score < 0 ? "loses" : "draws"} in ${line.distance}${known}`;
  return `${signed(line.score)}${unit}${known}`;
}

/** A share between 0 and 1 for the seat to move; `scale` is the score that is a clear advantage. */
export function shareOf(scale, line) {
  if (line.distance) return line.score > 0 ? 1 : line.score < 0 ? 0 : 0.5;
  return 0.5 + 0.5 * Math.tanh(line.score / scale);
}

/** The bar: seat 0 from the left, or with three seats the one that moves. */
export function fillBar(node, seats, seat, share, whose = "the seat to move") {
  if (share === null) {
    node.className = "value";
    node.setAttribute("aria-label", "No evaluation");
    return;
  }
  const three = seats > 2,
    left = three || seat === 0 ? share : 1 - share;
  node.className = three ? `value three s${seat}` : "value known";
  node.firstElementChild.style.flexBasis = `${100 * left}%`;
  node.setAttribute("aria-label", `Evaluation: ${Math.round(100 * share)} of 100 for ${whose}`);
}

const MAX_NOTATION = 44;

/** A move in notation, shortened where it is long: a large board has hundreds of characters. */
/** A move as a picture, where its board has one, or else as a short text. */
export function briefMove(GameBoard, text, seat) {
  const node = GameBoard.moveNode(text, seat);
  return typeof node === "string" ? brief(node) : node;
}
export const brief = (text) => (text.length > MAX_NOTATION ? `${text.slice(0, MAX_NOTATION - 1)}…` : text);

export const dotsOfWaiting = () =>
  html("span", { class: "wait", role: "img", "aria-label": "thinking" }, html("i"), html("i"), html("i"));

/** Asks who plays on from a position, and begins that game. `begin` is what the server needs to know of it. */
export async function playOn(dialog, game, seats, seat, begin) {
  const refusal = html("p", { class: "no", role: "alert" });
  let bots;
  try {
    ({ bots } = await get(`/games/${game}`));
  } catch (error) {
    bots = ["level:3"];
    refusal.textContent = sentence(error.message);
  }
  const names = { level: (spec) => `Level ${spec.slice(6)} · ${LEVELS[spec.slice(6) - 1]}` };
  const option = (spec) =>
    html("option", { value: spec, selected: spec === "level:5" }, spec.startsWith("level:") ? names.level(spec) : spec);
  const own = html(
    "select",
    { id: "own-seat" },
    ...Array.from({ length: seats }, (_, at) =>
      html("option", { value: at, selected: at === seat }, `${NAMES[at]}${at === seat ? ", to move" : ""}`),
    ),
  );
  const other = html("select", { id: "other-bot" }, ...bots.map(option));
  const form = html(
    "form",
    { method: "dialog" },
    html("h2", { id: "playon-title" }, "Play on from here"),
    html(
      "fieldset",
      {},
      html("div", { class: "field" }, html("label", { for: "own-seat" }, chip(seat ?? 0), "You"), own),
      html("div", { class: "field" }, html("label", { for: "other-bot" }, "Against"), other),
    ),
    refusal,
    html(
      "div",
      { class: "end" },
      html("button", { class: "button", type: "button", onclick: () => dialog.close() }, "Cancel"),
      html("button", { class: "button first", type: "submit" }, "Play"),
    ),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const specs = Array.from({ length: seats }, (_, at) => (at === Number(own.value) ? "person" : other.value));
    try {
      const play = await post("/plays", { game, seats: specs, ...begin });
      location.assign(`/${game}/plays/${play.id}`);
    } catch (error) {
      refusal.textContent = sentence(error.message);
    }
  });
  dialog.replaceChildren(form);
  dialog.showModal();
  own.focus();
}

/** Copies a text, and says on the button whether it worked. */
export async function copy(button, text) {
  const name = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "See address bar";
  }
  setTimeout(() => {
    button.textContent = name;
  }, 1600);
}
