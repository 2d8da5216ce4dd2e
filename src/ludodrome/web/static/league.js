// What the league's pages share: results, live boards, times.

import { API, boardModule, say } from "./api.js";
import { chip, html } from "./draw.js";

const UNITS = [
  [60_000, "s", 1000],
  [3_600_000, "min", 60_000],
  [86_400_000, "h", 3_600_000],
  [Infinity, "d", 86_400_000],
];
export const CAUSES = {
  timeout: "ran out of time",
  crash: "crashed",
  illegal: "made an illegal move",
  protocol: "broke the protocol",
  error: "stopped with an error",
  arena: "the arena failed",
  resigned: "resigned",
};

/** How long ago a moment was, in one word. */
export function ago(moment) {
  const past = Math.max(0, Date.now() - moment),
    [, name, size] = UNITS.find(([limit]) => past < limit);
  return `${Math.floor(past / size)} ${name} ago`;
}

/** A moment as the time that has passed since; it goes on while one looks. */
export const agoNode = (moment, attributes = {}) => html("time", { ...attributes, "data-moment": moment }, ago(moment));

setInterval(() => {
  for (const node of document.querySelectorAll("[data-moment]")) {
    const text = ago(Number(node.dataset.moment));
    if (node.textContent !== text) node.textContent = text;
  }
}, 1000);

const points = (value) => (value === 0.5 ? "½" : value > 0 && value < 0.5 ? "⅓" : String(value));

/** How a match ended, in a few words. */
export function how({ names, result }) {
  const verdict = result.verdicts.at(-1);
  if (result.decided_by !== "play" && verdict)
    return `${names[verdict.seat]} ${CAUSES[verdict.cause] || verdict.cause}`;
  return result.reason;
}

/** A finished match as a line of a list. */
export function resultLine(match) {
  const side = (seat) =>
    html(
      "span",
      { class: `side${match.result.points[seat] === 1 ? " winner" : ""}` },
      ...(seat === 0
        ? [html("a", { href: `/${match.game}/bots/${match.bots[seat]}` }, match.names[seat]), chip(seat)]
        : [chip(seat), html("a", { href: `/${match.game}/bots/${match.bots[seat]}` }, match.names[seat])]),
    );
  const score = match.result.points.map(points).join(" : ");
  const others = match.names
    .slice(2)
    .map((name) => ` · ${name}`)
    .join("");
  return html(
    "li",
    {},
    side(0),
    html(
      "a",
      {
        class: "score",
        href: `/games/${match.id}`,
        "aria-label": `${match.names.join(" against ")}, ${score}: replay`,
      },
      score,
    ),
    side(1),
    html(
      "span",
      { class: `how${match.result.decided_by === "play" ? "" : " bad"}`, title: how(match) },
      `${match.why === "ladder" ? "ladder · " : ""}${how(match)}${others}${match.contended ? " · busy machine" : ""}`,
    ),
    agoNode(match.ended, { class: "when" }),
  );
}

export function showResults(list, matches, empty) {
  list.replaceChildren(...(matches.length ? matches.map(resultLine) : [html("li", { class: "none" }, empty)]));
}

const maker = ({ GameBoard }) => {
  const make = (host, bar) => new GameBoard(host, bar, { move: () => {}, why: async () => "", say });
  make.score = GameBoard.score;
  return make;
};

/** The boards of the game of this page, to be drawn and not to be played on; `score` is that of a seat in words. */
export const boardMaker = async () => maker(await boardModule());
/** The same of another board module. */
export const makerOf = async (board) => maker(await import(`./boards/${board}.js`));

/** A clock in a few characters. */
export const seconds = (milliseconds) =>
  milliseconds === null
    ? ""
    : milliseconds >= 60_000
      ? `${Math.floor(milliseconds / 60_000)}:${String(Math.floor(milliseconds / 1000) % 60).padStart(2, "0")}`
      : `${(milliseconds / 1000).toFixed(1)} s`;

/** How a match ended, from its last view. */
export function ended({ names, result }) {
  const winner = result.returns.findIndex((one) => one > 0);
  return winner < 0 ? `nobody won: ${result.reason}` : `${names[winner]} won: ${result.reason}`;
}

/** Who is ahead, as a bar; hidden where nobody knows. */
export function evaluate(bar, view) {
  const share = view.evaluation;
  bar.hidden = share === undefined || share === null;
  if (bar.hidden) return;
  bar.classList.add("known");
  bar.querySelector("i").style.flexBasis = `${Math.round(100 * share)}%`;
  bar.setAttribute("aria-label", `${view.names[0]} wins with ${Math.round(100 * share)} %`);
}

/** What a board shows of a match that is being played. */
export const modelOf = (view, animate) => ({
  state: view.state,
  legal: [],
  marks: view.marks,
  last: view.last,
  lastSeat: view.last_seat,
  before: null,
  seat: view.to_move ?? view.last_seat ?? 0,
  eyes: 0,
  interactive: false,
  flip: false,
  animate,
  analysis: false,
  word: "",
});

/** A small live board with its players, a link to the match; `title`: of the game, where it is not plain. */
export class LiveCard {
  constructor(game, match, make, title = "") {
    const host = html("div", { class: "board" }),
      bar = html("div", { class: "bar" }, html("span", { class: "word" }), html("span", { class: "tools" }));
    this.pair = html("div", { class: "pair" });
    this.value = html("div", { class: "value", role: "img", hidden: true }, html("i", {}));
    this.count = html("p", { class: "count" });
    this.title = title;
    this.node = html(
      "a",
      { class: "live card", href: `/${game}/matches/${match.startsWith("show-") ? "show" : match}` },
      html("div", { class: "frame-box", inert: true }, html("div", { class: "place" }, host, bar)),
      this.value,
      this.pair,
      this.count,
    );
    this.board = make(host, bar);
    this.score = make.score;
    this.drawn = false;
  }

  show(view) {
    this.board.update(modelOf(view, this.drawn));
    this.drawn = true;
    evaluate(this.value, view);
    this.pair.replaceChildren(
      ...view.names.map((name, seat) =>
        html(
          "span",
          { class: view.to_move === seat ? "turn" : "" },
          chip(seat),
          html("b", {}, name),
          html("span", { class: "score-word" }, this.score(view.state, seat)),
          html("span", { class: "time" }, seconds(view.left_ms[seat])),
        ),
      ),
    );
    const last = view.texts.at(-1);
    const state = view.result ? ended(view) : `move ${view.ply}${last ? `: ${last}` : ""}`;
    this.count.textContent = [this.title, view.show && "show match", state].filter(Boolean).join(" · ");
  }
}

/** News of matches, one object an event; it connects again by itself. */
export function listen(path, tell) {
  const source = new EventSource(`${API}${path}`);
  source.addEventListener("message", (event) => tell(JSON.parse(event.data)));
  addEventListener("pagehide", () => source.close());
  return source;
}
