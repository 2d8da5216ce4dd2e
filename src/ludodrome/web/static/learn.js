// The lesson of a game: one step after another on the board. What is right, and why something is wrong, comes from the server.

import { boardModule, get, pageData, post, say, sentence } from "./api.js";
import { html, moves as inMotion, motion, pause, svg } from "./draw.js";
import { recalled, store } from "./keys.js";

const data = pageData();
const part = (id) => document.getElementById(id);
const { GameBoard } = await boardModule();
const LAST = data.titles.length + 1;
const PROGRESS = `lesson ${data.game}`;
/** Milliseconds between two moves that are shown, and between those of a long line. */
const TRIES = 2,
  BETWEEN = 700,
  SOONER = 450;
/** Milliseconds until the page says that it waits for the server; for which a ring is seen; until a click on Skip counts. */
const SOON = 300,
  LONG = 5000,
  CHECKING = 1500,
  RING = 2500,
  DOUBLE_CLICK = 500;

let step = null;
let number = 0;
/** The right moves so far in this step. */
let made = [];
let now = null;
let wrong = 0;
let hint = null;
/** Whether the board shows what a wrong move led to, until somebody tries again. */
let astray = false;
/** Counts the lines that were shown: an older one ends when a new one begins or a move is taken back. */
let story = 0;
let finished = false;
let busy = false;
/** Whether the server has not sent the step yet, and when it was asked for. */
let loading = true;
let opened = 0;
let touched = null;
let asked = 0;

const board = new GameBoard(part("board"), part("bar"), {
  move: (raw) => tryMove(raw),
  why: async (raw) => {
    const answer = await judged(raw);
    if (answer.right) await go(answer, raw);
    else countWrong();
    return answer.right ? "" : answer.sentence;
  },
  say,
});

// The click that takes a wrong move back picks what it hit, too.

part("board").addEventListener(
  "click",
  (event) => {
    if (!astray || board.telling) return;
    event.stopPropagation();
    const key = event.target.closest?.("[data-key]")?.dataset.key;
    again();
    touched = key ? part("board").querySelector(`.target[data-key="${key}"]`) : null;
    board.pickAt(key, event);
  },
  true,
);

// What was clicked last: a ring closes around it when it was right.

document.addEventListener(
  "click",
  (event) => {
    touched = event.target.closest?.("#board .target") ?? null;
  },
  true,
);
part("board").addEventListener(
  "keydown",
  (event) => {
    if (event.key === "Enter" || event.key === " ") touched = event.target.closest?.(".target") ?? null;
  },
  true,
);

function boxOfTouched() {
  const hit = touched?.querySelector(".hit");
  return hit?.getBBox() ?? null;
}

function ring(box) {
  const drawing = part("board").querySelector("svg");
  if (!box || !drawing) return;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2],
    r = Math.max(24, Math.min(box.width, box.height) * 0.41),
    around = 2 * Math.PI * r;
  const circle = svg("circle", { class: "ring", cx: x, cy: y, r, "stroke-dasharray": around });
  circle.setAttribute("transform", `rotate(-90 ${x} ${y})`);
  drawing.append(circle);
  setTimeout(() => circle.remove(), RING);
  motion(circle, [{ strokeDashoffset: around }, { strokeDashoffset: 0 }], 450);
}

// Progress, in this browser

const doneSteps = () =>
  new Set(
    (recalled(PROGRESS) || "")
      .split(" ")
      .map(Number)
      .filter((one) => one >= 1 && one <= LAST),
  );

function markDone(one) {
  store(PROGRESS, [...doneSteps().add(one)].join(" "));
  dots();
}

function dots() {
  const done = doneSteps();
  for (const button of document.querySelectorAll(".steps button")) {
    const one = Number(button.dataset.step);
    button.classList.toggle("done", done.has(one));
    if (one === number) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  }
}

// A step

async function open(wanted) {
  number = Math.min(Math.max(1, wanted), LAST);
  const mine = ++asked;
  history.replaceState(null, "", number > 1 ? `#${number}` : location.pathname);
  opened = performance.now();
  dots();
  tell("", "");
  load(mine);
  try {
    if (number === LAST) {
      await last(mine);
      return;
    }
    const found = await get(`/games/${data.game}/lesson/${number}`);
    if (mine !== asked) return;
    step = found;
    loading = false;
    begin();
    say(`Step ${number} of ${LAST}. ${step.title}. ${step.idea} ${step.task}`);
  } catch (error) {
    if (mine !== asked) return;
    part("idea").textContent = "The lesson could not be loaded.";
    part("task").replaceChildren(retry());
    tell("wrong", sentence(error.message));
  }
}

/** What is seen until the server has answered: on a first visit it prepares the game, which takes a while. */
function load(mine) {
  loading = true;
  const later = (milliseconds, act) =>
    setTimeout(() => {
      if (mine === asked && loading) act();
    }, milliseconds);
  later(SOON, () => {
    buttons();
    part("title").textContent = data.titles[number - 1] ?? "Your first game";
    part("idea").textContent = "Loading the lesson…";
    part("task").replaceChildren();
  });
  later(LONG, () => {
    const words = "This takes longer than usual.";
    part("idea").replaceChildren(html("span", { class: "wait-longer" }, words, retry()));
    say(words);
  });
}

const retry = () => html("button", { class: "button", type: "button", onclick: () => open(number) }, "Try again");

function begin() {
  story += 1;
  [made, wrong, hint, astray, finished, busy] = [[], 0, null, false, false, false];
  part("title").textContent = step.title;
  part("idea").textContent = step.idea;
  take({ task: step.task, hint: step.hint, position: step.position });
  tell("", "");
  paint();
  board.settle();
}

/** The task that is to be done now. */
function take(task) {
  now = { ...task, move: null, before: null };
  part("task").textContent = task.task;
}

function paint({ animate = false, shown = now, word = "" } = {}) {
  const on = !astray && !finished && !busy;
  board.update({
    state: shown.position.state,
    legal: shown.position.legal,
    marks: shown.position.marks,
    last: shown.move ?? null,
    lastSeat: shown.seat,
    before: shown.before ?? null,
    seat: shown.position.to_move ?? step.seat,
    eyes: step.seat,
    interactive: on,
    best: on ? hint : null,
    flip: step.seat === 1 && GameBoard.turns,
    animate,
    word,
    waiting: null,
    plain: true,
  });
  buttons();
}

function buttons() {
  part("back").disabled = loading || number === 1;
  part("hint").disabled = part("next").disabled = part("skip").disabled = loading;
  const button = part("hint");
  button.textContent = astray ? "Try again" : finished ? "Once more" : "Hint";
  button.classList.toggle("first", astray);
  button.hidden = number === LAST;
  // Skip is never where Next appears: a second tap must not skip a step
  const next = part("next"),
    done = finished || doneSteps().has(number);
  next.hidden = number === LAST;
  next.classList.toggle("later", !done);
  next.classList.toggle("first", finished);
  part("skip").hidden = done || number === LAST;
  part("first").hidden = number !== LAST;
}

function tell(kind, text) {
  const node = part("verdict");
  node.className = `verdict ${kind}`;
  node.textContent = text;
  document.querySelector(".lesson").classList.toggle("told", Boolean(text));
}

// Moves

const judged = (raw) => post(`/games/${data.game}/lesson/${number}`, { moves: made, move: raw });

async function tryMove(raw) {
  const mine = asked,
    box = boxOfTouched();
  busy = true;
  const late = setTimeout(() => board.tell("Checking your move…"), CHECKING);
  try {
    const answer = await judged(raw);
    clearTimeout(late);
    if (mine !== asked) return;
    if (!answer.legal) {
      busy = false;
      tell("", "");
      paint();
      board.tell(answer.sentence, true);
      countWrong();
    } else if (answer.right) await go(answer, raw, box);
    else await stray(answer);
  } catch (error) {
    busy = false;
    paint();
    tell("wrong", sentence(error.message));
  } finally {
    clearTimeout(late);
  }
}

/** Show a move and its replies, one after another; null if something else is shown meanwhile. */
async function show(line, box = null) {
  const mine = ++story;
  let before = now.position,
    shown = now;
  for (const [at, one] of line.entries()) {
    shown = { position: one.position, move: one.move, before: before.state, seat: before.to_move };
    paint({ animate: true, shown });
    if (at === 0) ring(box);
    if (at < line.length - 1 && inMotion()) await pause(line.length > 3 ? SOONER : BETWEEN);
    while (board.telling) await pause(100);
    if (mine !== story) return null;
    before = one.position;
  }
  return shown;
}

/** The move was right. */
async function go(answer, raw, box = null) {
  const mine = asked;
  hint = null;
  wrong = 0;
  busy = true;
  finished = answer.done;
  const shown = await show(answer.line, box);
  if (mine !== asked || !shown) return;
  busy = false;
  tell(`right${answer.done ? "" : " so-far"}${answer.legal ? "" : " reason"}`, answer.sentence);
  say(answer.sentence);
  if (answer.done) {
    now = { ...now, ...shown };
    markDone(number);
    buttons();
    board.tell("");
    part("next").focus({ preventScroll: true });
    return;
  }
  made = [...made, raw];
  take(answer.next);
  now = { ...now, move: shown.move ?? null, before: shown.before ?? null, seat: shown.seat };
  paint();
  if (answer.line.length < 2) ring(box); // after a reply, something else is to be done elsewhere
}

/** The move was legal, but not what was asked for: the board shows what it leads to. */
async function stray(answer) {
  const mine = asked;
  astray = true;
  if (answer.line.length > 2) tell("wrong", answer.sentence); // a long line needs its words first
  if (!(await show(answer.line)) || mine !== asked) return;
  busy = false;
  tell("wrong", answer.sentence);
  say(answer.sentence);
  countWrong();
  board.tell(`${matchMedia("(pointer: coarse)").matches ? "Tap" : "Click"} the board to try again.`);
  buttons();
  part("hint").focus({ preventScroll: true });
}

function countWrong() {
  wrong += 1;
  if (wrong >= TRIES) hint = now.hint;
}

/** Back to where the wrong move was made. What was wrong with it can be read until the next try. */
function again() {
  story += 1;
  astray = busy = false;
  paint();
  board.settle();
}

// The end: a first game

const FIRST_GAME =
  "Now play the weakest opponent: it makes many mistakes, though not in every turn. The first time something new happens, a note under the board explains it.";

async function last(mine) {
  [made, hint, astray, finished, busy] = [[], null, false, false, true];
  part("title").textContent = "Your first game";
  part("idea").textContent = FIRST_GAME;
  part("task").replaceChildren();
  loading = false;
  buttons();
  const { options, about } = await get(`/games/${data.game}/lesson`),
    position = await post(`/games/${data.game}/positions`, { options });
  if (mine !== asked) return;
  step = { seat: position.to_move };
  part("idea").textContent = `${FIRST_GAME} ${about}`.trim();
  paint({ shown: { position }, word: "Press Play to begin." });
}

part("back").addEventListener("click", () => open(number - 1));
for (const id of ["next", "skip"])
  part(id).addEventListener("click", () => {
    if (finished || performance.now() - opened > DOUBLE_CLICK) open(number + 1);
  });
part("first").addEventListener("click", () => markDone(LAST));
part("hint").addEventListener("click", () => {
  if (astray) again();
  else if (finished) begin();
  else {
    hint = now.hint;
    board.pick = {}; // the hint may be about another piece
    paint();
    const words = GameBoard.hintWords(hint);
    if (words) board.tell(words);
    say(words || "The hint is on the board.");
  }
});
for (const button of document.querySelectorAll(".steps button"))
  button.addEventListener("click", () => open(Number(button.dataset.step)));

const firstOpen = () => {
  const done = doneSteps(),
    wanted = Number(location.hash.slice(1));
  if (wanted) return wanted;
  for (let one = 1; one <= LAST; one++) if (!done.has(one)) return one;
  return 1;
};
open(firstOpen());
