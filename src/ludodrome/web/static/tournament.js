// A tournament or a challenge: its table while it is played, and after.

import { get, pageData, post } from "./api.js";
import { html, svg } from "./draw.js";
import { agoNode, showResults } from "./league.js";

const data = pageData();
const part = (id) => document.getElementById(id);
const POLL = 2000;
/** The matches that are being played now. */
const cards = new Map();
const number = (value) => (Number.isInteger(value) ? String(value) : value.toFixed(1));
const signed = (value) => `${["−", "", "+"][Math.sign(Math.round(value)) + 1]}${Math.abs(Math.round(value))}`;
const STATES = { queued: "being played", done: "over", dropped: "stopped" };

function cell(one, line, rival) {
  if (line === rival) return html("td", { class: "cell self" });
  if (!one) return html("td", { class: "cell" });
  const share = one.points / one.games,
    tone = share < 0.2 ? "c0" : share < 0.45 ? "c1" : share > 0.8 ? "c4" : share > 0.55 ? "c3" : "";
  return html("td", { class: `cell ${tone}` }, `${number(one.points)}/${one.games}`);
}

/** A rating as a dot with its interval, on a scale that all of the table share. */
function rating({ rating: { rating, low, high } }, from, to) {
  const across = (value) => `${(100 * (value - from)) / (to - from || 1)}%`,
    words = `${signed(rating)}, between ${signed(low)} and ${signed(high)}`;
  return html(
    "div",
    { class: "rating" },
    html("b", {}, signed(rating)),
    svg(
      "svg",
      { class: "interval", role: "img", "aria-label": words },
      svg("title", {}, `${signed(low)} to ${signed(high)}`),
      svg("line", { class: "base", x1: 0, x2: "100%", y1: "50%", y2: "50%" }),
      svg("line", { class: "reach", x1: across(low), x2: across(high), y1: "50%", y2: "50%" }),
      svg("circle", { class: "dot-mark", cx: across(rating), cy: "50%", r: 5 }),
    ),
  );
}

function table({ standings, game }) {
  const rated = standings.filter((line) => line.rating && line.games),
    from = Math.min(...rated.map((line) => line.rating.low)),
    to = Math.max(...rated.map((line) => line.rating.high));
  const head = html(
    "tr",
    {},
    ...["#", "Bot", "Points", "Games"].map((word, at) =>
      html("th", { scope: "col", class: at === 1 ? "" : "right" }, word),
    ),
    html("th", { scope: "col", class: "wide" }, "Elo, 95 %"),
    ...standings.map((line) => html("th", { scope: "col", class: "cell" }, String(line.place))),
  );
  const rows = standings.map((line, at) =>
    html(
      "tr",
      {},
      html("td", { class: "right number" }, String(line.place)),
      html(
        "td",
        { class: "who" },
        html("a", { href: `/${game}/bots/${line.id}` }, line.name),
        ...line.tags.flatMap((tag) => [" ", html("span", { class: "kind" }, tag)]),
      ),
      html("td", { class: "right number" }, number(line.points)),
      html("td", { class: "right number" }, String(line.games)),
      html("td", { class: "wide" }, rated.includes(line) ? rating(line, from, to) : ""),
      ...line.against.map((one, rival) => cell(one, at, rival)),
    ),
  );
  part("table").replaceChildren(html("thead", {}, head), html("tbody", {}, ...rows));
}

function show() {
  const { event } = data,
    running = event.status === "queued";
  const kind = event.why === "challenge" ? "Match" : event.format === "gauntlet" ? "Gauntlet" : "Round robin";
  const waits = running && !event.played && !cards.size;
  part("about").replaceChildren(
    `${kind} at ${event.clock} · ${event.played} of ${event.games} games · ${waits ? "waiting for a worker" : STATES[event.status]}${event.trouble ? `: ${event.trouble}` : ""} · asked for `,
    agoNode(event.created),
  );
  part("progress").max = event.games;
  part("progress").value = event.played;
  part("stop")?.toggleAttribute("hidden", !running);
  table(event);
  showResults(part("results"), data.matches, "No games yet.");
}

async function follow() {
  while (data.event.status === "queued") {
    await new Promise((done) => setTimeout(done, POLL));
    try {
      const [event, matches] = await Promise.all([
        get(`/tournaments/${data.event.id}`),
        get(`/matches?event=${data.event.id}&most=100`),
      ]);
      Object.assign(data, { event, matches });
      show();
      await watch();
    } catch {
      /* the next one may come through */
    }
  }
}

/** A match that is being played can be watched. */
let source = null;
async function watch() {
  if (source || data.event.status !== "queued") return;
  const { LiveCard, boardMaker, listen } = await import("./league.js");
  const make = await boardMaker(),
    host = part("lives"),
    names = new Set(data.event.bots.map((bot) => bot.name));
  source = listen(`/live/${data.game}`, ({ match, view, gone }) => {
    if (gone) {
      cards.get(match)?.node.remove();
      cards.delete(match);
      return;
    }
    if (!view.names.every((name) => names.has(name))) return;
    if (!cards.has(match)) {
      cards.set(match, new LiveCard(data.game, match, make));
      host.append(cards.get(match).node);
      show();
    }
    cards.get(match).show(view);
  });
}

part("stop")?.addEventListener("click", async () => {
  data.event = { ...data.event, ...(await post(`/tournaments/${data.event.id}/stop`)) };
  show();
});
show();
watch();
follow();
