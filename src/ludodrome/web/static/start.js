// The start page: sample games that are replayed while they are in view, and what is played now.

import { get, pageData } from "./api.js";
import { moves } from "./draw.js";
import { recalled, store } from "./keys.js";
import { LiveCard, listen, makerOf } from "./league.js";

const data = pageData();
const part = (id) => document.getElementById(id);
/** Milliseconds between two positions, and at the end of a game. */
const STEP = 1500,
  END = 6000;
/** What is new on a board appears softly, unless it is so long that it is the whole board. */
const PIECE = 600;
const HELD = "held";
let held = recalled(HELD) === "yes";

// Sample games

class Sample {
  constructor(card, at) {
    this.card = card;
    this.svg = card.querySelector(".picture svg");
    this.visible = false;
    this.timer = null;
    this.offset = at * 300;
  }

  /** Runs while it is in view and the reader has not held the boards. */
  async look() {
    clearTimeout(this.timer);
    if (held || !this.visible || document.hidden) return;
    this.game ??= await get(`/games/${this.card.dataset.game}/sample`).catch(() => null);
    if (!this.game) return;
    this.at ??= this.game.still;
    this.timer = setTimeout(() => this.step(), this.offset + STEP);
    this.offset = 0;
  }

  step() {
    const { frames, elements } = this.game,
      before = new Set(frames[this.at]);
    this.at = (this.at + 1) % frames.length;
    const whole = this.at > 0;
    this.svg.innerHTML = frames[this.at]
      .map((number) => [elements[number], whole && !before.has(number) && elements[number].length < PIECE])
      .map(([drawn, fresh]) => (fresh ? `<g class="new">${drawn}</g>` : drawn))
      .join("");
    clearTimeout(this.timer);
    if (held || !this.visible || document.hidden) return;
    this.timer = setTimeout(() => this.step(), this.at === frames.length - 1 ? END : STEP);
  }
}

const cards = [...document.querySelectorAll(".game")];
const samples = new Map(
  cards.filter((card) => card.querySelector(".picture svg")).map((card, at) => [card, new Sample(card, at)]),
);

function hold() {
  part("pause").setAttribute("aria-pressed", String(held));
  for (const sample of samples.values()) sample.look();
}

if (moves()) {
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const sample = samples.get(target);
      sample.visible = isIntersecting;
      sample.look();
    }
  });
  for (const card of samples.keys()) seen.observe(card);
  document.addEventListener("visibilitychange", hold);
  part("pause").hidden = false;
  part("pause").addEventListener("click", () => {
    held = !held;
    store(HELD, held ? "yes" : "no");
    hold();
    onStage();
  });
  hold();
}

// A game of another package has no drawing of its own: its first position is asked for.
for (const drawing of document.querySelectorAll("[data-first]")) {
  const { game } = drawing.closest(".game").dataset;
  fetch(`/api/v1/games/${game}/positions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  })
    .then((answer) => answer.json())
    .then(({ marks }) => {
      drawing.textContent = marks?.drawing ?? "";
    })
    .catch(() => {});
}

// What is played now: one match, and after it the next

let card = null,
  source = null,
  watched = null,
  loading = null;

async function show(match, view) {
  const [title, board, colours] = data.boards[view.game] ?? [];
  if (!board) return;
  if (watched !== match || !card) {
    watched = match;
    loading = makerOf(board).then((make) => {
      if (watched !== match) return;
      card = new LiveCard(view.game, match, make, title);
      part("live").dataset.colours = colours;
      part("live").replaceChildren(card.node);
    });
  }
  await loading;
  if (watched === match) card.show(view);
}

function onStage() {
  if (held || !moves()) {
    source?.close();
    source = null;
    if (!card) part("waits").textContent = "Open the arena of a game to watch its bots play.";
    return;
  }
  source ??= listen("/live/all", ({ match, view, gone }) => {
    if (gone) {
      if (match === watched) watched = null;
    } else if (watched === null || watched === match || (watched.startsWith("show-") && !view.show)) show(match, view);
  });
}
onStage();

// Who knows a game already wants to play it; everybody else learns it first

for (const node of cards)
  if (recalled(`lesson ${node.dataset.game}`) || recalled(node.dataset.game))
    for (const link of node.querySelectorAll(".ways a:not(:last-child)")) link.classList.toggle("first");

// The last game of this browser

const last = recalled("last");
if (part("last").hidden && last && data.boards[last] && recalled(last)) {
  const link = part("last").querySelector("a");
  link.href = `/${last}`;
  link.textContent = `Your last game of ${data.boards[last][0]}`;
  part("last").hidden = false;
}
