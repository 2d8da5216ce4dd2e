// One bot: its history drawn, its games, and what its owner may do.

import { pageData, post, sentence } from "./api.js";
import { svg } from "./draw.js";
import { storeKey } from "./keys.js";
import { ago, showResults } from "./league.js";

const data = pageData();
const part = (id) => document.getElementById(id);
const TALL = 240,
  LEFT = 48,
  BELOW = 22,
  ABOVE = 8;

function steps(low, high, wanted = 4) {
  const rough = (high - low) / wanted,
    size = 10 ** Math.floor(Math.log10(rough)),
    step = [1, 2, 5, 10].map((times) => times * size).find((one) => one >= rough);
  return Array.from(
    { length: Math.floor(high / step) - Math.ceil(low / step) + 1 },
    (_, at) => (Math.ceil(low / step) + at) * step,
  );
}

function plot(host, history) {
  const wide = host.clientWidth - 32,
    tall = TALL - BELOW - ABOVE;
  const low = Math.min(...history.map(([, , one]) => one)),
    high = Math.max(...history.map(([, , , one]) => one));
  const x = (at) => LEFT + ((wide - LEFT - 8) * at) / (history.length - 1),
    y = (value) => ABOVE + (tall * (high - value)) / (high - low || 1);
  const points = (values) => values.map(([at, value]) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("L");
  const band = `M${points(history.map(([, , , one], at) => [at, one]))}L${points(history.map(([, , one], at) => [at, one]).reverse())}Z`;
  const [, rating, from, to] = history.at(-1);
  host.replaceChildren(
    svg(
      "svg",
      {
        viewBox: `0 0 ${wide} ${TALL}`,
        role: "img",
        "aria-label": `Rating over ${history.length} games: from ${history[0][1]} to ${rating}, now between ${from} and ${to}`,
      },
      ...steps(low, high).flatMap((mark) => [
        svg("line", { class: "rule", x1: LEFT, x2: wide, y1: y(mark), y2: y(mark) }),
        svg("text", { x: LEFT - 8, y: y(mark) + 4, "text-anchor": "end" }, String(mark)),
      ]),
      svg("path", { class: "band", d: band }),
      svg("path", { class: "line", d: `M${points(history.map(([, one], at) => [at, one]))}` }),
      svg("circle", { class: "now", cx: x(history.length - 1), cy: y(rating), r: 4.5 }),
      svg("text", { x: LEFT, y: TALL - 4 }, "first game"),
      svg("text", { x: wide - 8, y: TALL - 4, "text-anchor": "end" }, "last game"),
    ),
  );
}

function tell(text) {
  part("word").textContent = text;
  part("word").hidden = false;
}

const host = part("plot");
if (host) new ResizeObserver(() => plot(host, data.bot.history)).observe(host);
showResults(part("results"), data.bot.recent, "No games yet.");
/** What a button does; a refusal is shown, and the button works again. */
function act(button, work) {
  button?.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await work(button.dataset);
    } catch (error) {
      tell(sentence(error.message));
    }
    button.disabled = false;
  });
}

act(part("retire"), async () => {
  await post(`/bots/${data.bot.id}/retire`, { back: data.bot.retired });
  location.reload();
});
act(part("token"), async () => {
  tell(`The new token, shown only once: ${(await post(`/bots/${data.bot.id}/token`)).token}`);
});
act(part("resume"), async () => {
  await post(`/bots/${data.bot.id}/resume`);
  location.reload();
});
act(part("against"), async () => {
  const seats = ["person", `bot:${data.bot.id}`];
  if (data.bot.games % 2) seats.reverse();
  const play = await post("/plays", { game: data.game, seats });
  if (play.key) storeKey(play.id, "owner", play.key);
  location.assign(`/${data.game}/plays/${play.id}`);
});
for (const button of document.querySelectorAll("#versions button"))
  act(button, async ({ first, second }) => {
    const wish = { first: Number(first), second: Number(second) };
    const event = await post(`/bots/${data.bot.id}/versions/match`, wish);
    location.assign(`/${data.game}/tournaments/${event.id}`);
  });
for (const place of document.querySelectorAll("[data-moment]")) place.textContent = ago(Number(place.dataset.moment));
