// The play page: a game on the server, shown move by move.

import { Refusal, get, pageData, post, say, sentence } from "./api.js";
import { SEATS, chip, html, moves as inMotion, pause } from "./draw.js";
import { openDialog } from "./newgame.js";

const data = pageData();
const part = (id) => document.getElementById(id);
const { GameBoard } = await import(`./boards/${data.game}.js`);
const SLOW = 4000;
const SPEEDS = { dots: 260 }, USUAL_SPEED = 420;
const remembered = `ludodrome ${data.game}`;

let view = null;
let positions = new Map();
let shown = 0;
let flipped = null;
let analysing = false;
let hint = null;
let engineAsked = 0;
let listening = null;
let busy = false;
let wanted = null;
let following = false;

const board = new GameBoard(part("board"), part("bar"), {
  move: (raw) => send(raw),
  why: async (raw) => sentence((await post(`/games/${data.game}/check`, { options: view.options, state: view.position.state, move: raw })).why),
  say,
});

// What the game is like now

const live = () => view && shown === view.moves.length;
const people = () => view.seats.map((seat, number) => (seat.person ? number : -1)).filter((number) => number >= 0);
const me = () => { const some = people(); return some.length === 1 ? some[0] : view.to_move !== null && some.includes(view.to_move) ? view.to_move : some[0] ?? 0; };
const bottom = () => (people().length === 1 ? me() : 0);
const turned = () => (flipped === null ? data.game !== "dots" && data.game !== "spaces" && bottom() === 1 : flipped);
const nameOf = (seat) => view.seats[seat].name;

// Beginning

async function begin(wish) {
  stop();
  waiting(true);
  try {
    take(await post("/plays", wish), false);
    history.replaceState(null, "", `/${data.game}/plays/${view.id}`);
    remember(view.id);
  } catch (error) { failed(error); throw error; } finally { waiting(false); }
}

function remember(id) { try { localStorage.setItem(remembered, id); } catch { /* private windows keep nothing */ } }
function recall() { try { return localStorage.getItem(remembered); } catch { return null; } }

async function start() {
  const known = data.play || recall();
  const first = data.showcase;
  if (first) sketch(first);
  if (known) {
    try {
      take(await get(`/plays/${known}`), false);
      history.replaceState(null, "", `/${data.game}/plays/${known}`);
      return;
    } catch (error) { if (!first) { failed(error); return; } }
  }
  await begin({ game: data.game, options: first.options, seats: first.seats, opening: first.opening, seed: first.seed }).catch(() => {});
}

/** The board before the server has said anything. */
function sketch(first) {
  board.update({ state: first.state, legal: [], marks: {}, last: first.opening.at(-1), before: null, seat: 0, eyes: 0, interactive: false, flip: false, word: "" });
  const seats = first.seats.map((spec) => ({ name: spec === "person" ? "You" : spec, spec, person: spec === "person", left_ms: null }));
  view = { seats, moves: first.texts.map((text, at) => ({ seat: at % 2, text })), to_move: 0, result: null, position: { state: first.state }, opening: 0, options: first.options };
  shown = view.moves.length;
  panel();
  view = null;
  for (const id of ["hint", "undo", "resign", "begin", "back", "on", "end"]) part(id).disabled = true;
}

function waiting(on) {
  part("value").classList.toggle("loom", on);
  if (!on) return;
  const slow = setTimeout(() => {
    if (part("value").classList.contains("loom")) engine(html("p", { class: "whole" }, html("b", {}, "Setting the table. "), "The first game of its kind is compiled for this machine; that takes some seconds, and only once."));
  }, 600);
  engine(html("p", { class: "whole" }, "One moment ", html("span", { class: "wait" }, html("i"), html("i"), html("i"))));
  return slow;
}

function failed(error) {
  engine(html("p", { class: "whole" }, html("b", {}, "That did not work. "), sentence(error.message)));
  say(error.message);
}

// Listening

function stop() { listening?.abort(); listening = null; }

async function listen() {
  stop();
  const mine = (listening = new AbortController());
  while (view && !mine.signal.aborted && view.result === null && (view.thinking || view.clock !== "none")) {
    try {
      const next = await get(`/plays/${view.id}?after=${view.version}`, mine.signal);
      if (mine.signal.aborted) return;
      if (next.version !== view.version) { await take(next, true); return; }
    } catch (error) {
      if (error.name === "AbortError") return;
      failed(error);
      if (error instanceof Refusal && error.status === 404) return;
      await pause(2000);
    }
  }
}

/** A new view of the game: shows what has happened since, move by move. */
async function take(next, animated) {
  const before = view, grew = before && before.id === next.id && next.moves.length > before.moves.length;
  const wasLive = !before || before.id !== next.id || shown === before.moves.length || next.moves.length < shown;
  if (!before || before.id !== next.id) { positions = new Map(); flipped = null; }
  for (const number of [...positions.keys()]) if (!grew && number >= next.moves.length) positions.delete(number);
  view = next;
  view.arrived = performance.now();
  positions.set(next.moves.length, next.position);
  hint = null;
  const from = shown;
  if (!wasLive) { panel(); listen(); return; }
  following = true;
  if (grew && animated) {
    for (let number = Math.max(from, before.moves.length) + 1; number <= next.moves.length; number++) {
      await show(number, true);
      const last = view.moves[number - 1];
      if (last && !view.seats[last.seat].person) say(`${nameOf(last.seat)}: ${last.text}`);
      if (number < next.moves.length && inMotion()) await pause(SPEEDS[data.game] || USUAL_SPEED);
    }
  } else await show(next.moves.length, false);
  following = false;
  if (view.result) say(resultWords());
  listen();
}

async function position(number) {
  if (!positions.has(number)) positions.set(number, await get(`/plays/${view.id}/positions/${number}`));
  return positions.get(number);
}

async function show(number, animate) {
  const [now, before] = [await position(number), number ? await position(number - 1) : null];
  shown = number;
  paint(now, before, animate);
  panel();
  analyse();
}

function paint(now, before, animate) {
  const last = shown ? view.moves[shown - 1] : null, mine = live() && view.result === null && people().includes(view.to_move);
  board.update({
    state: now.state, legal: now.legal, marks: now.marks, last: last?.move || null, lastSeat: last?.seat, before: before?.state || null,
    seat: now.to_move ?? 0, eyes: bottomEyes(), interactive: mine && !busy, best: hint, flip: turned(), animate, analysis: analysing,
    word: word(), waiting: live() && view.thinking ? "The other side is thinking." : null,
  });
  wanted = [now, before];
}

const bottomEyes = () => (people().length === 1 ? me() : people().length ? view.to_move ?? 0 : 0);
const repaint = () => wanted && view && paint(...wanted, false);

function word() {
  if (!live()) return following ? "" : "A look back. » returns to the game.";
  if (view.result) return resultWords();
  if (view.thinking) return `${nameOf(view.to_move)} is thinking.`;
  return "";
}

// Acting

async function act(path, body, animated) {
  if (busy || !view) return;
  busy = true;
  stop();
  try {
    const next = await post(`/plays/${view.id}/${path}`, body);
    busy = false;
    await take(next, animated);
  } catch (error) {
    busy = false;
    repaint();
    board.tell(sentence(error.message), true);
    say(error.message);
    listen();
  }
}

const send = (raw) => act("moves", { move: raw, version: view.version }, true);

async function giveHint() {
  if (!live() || view.result || view.thinking) return;
  const asked = ++engineAsked, now = view.version;
  engine(html("p", {}, "Looking ", html("span", { class: "wait" }, html("i"), html("i"), html("i"))));
  try {
    const found = await ask(view.position.state, 0.8, 1);
    if (asked !== engineAsked || now !== view.version) return;
    hint = found.lines[0].move;
    repaint();
    engine(html("p", { class: "whole" }, "Try ", html("b", { class: "best mono" }, found.lines[0].text), worth(found.lines[0])));
    say(`Hint: ${found.lines[0].text}`);
  } catch (error) { if (asked === engineAsked) failed(error); }
}

const ask = (state, seconds, lines) => post("/analysis", { game: data.game, options: view.options, state, seconds, lines });

async function analyse() {
  const asked = ++engineAsked;
  if (!analysing) { if (!hint) quiet(); return; }
  const now = positions.get(shown);
  if (now.to_move === null || (live() && view.result)) { if (view.result && live()) quiet(); else engine(html("p", {}, "The game ends here.")); return; }
  for (const seconds of [0.3, 1.2, 3]) {
    try {
      const found = await ask(now.state, seconds, 3);
      if (asked !== engineAsked || !analysing) return;
      lines(found);
      if (live() && people().includes(view.to_move) && !busy) { hint = found.lines[0].move; repaintKeeping(); }
      if (found.lines.every((line) => line.proven)) return;
    } catch (error) { if (asked === engineAsked) failed(error); return; }
  }
}

/** A new arrow must not take away what the person has picked. */
function repaintKeeping() {
  const { pick } = board;
  repaint();
  if (Object.keys(pick).length) { board.pick = pick; board.render(); }
}

function lines(found) {
  engine(...found.lines.slice(0, 3).map((line, number) => html("p", {}, html("b", { class: number ? "mono" : "best mono" }, line.text), worth(line), line.continuation.length ? html("span", { class: "mono" }, ` · ${line.continuation.slice(0, 4).join(" ")}`) : "")));
  bar(found.lines[0], found.to_move);
}

const signed = (score) => `${score > 0 ? "+" : score < 0 ? "−" : ""}${Math.abs(Math.round(score * 10) / 10)}`;

function worth(line) {
  if (line.score === null) return "";
  if (line.distance) return ` ${line.score > 0 ? "wins" : line.score < 0 ? "loses" : "draws"} in ${line.distance}${line.proven ? " · proven" : ""}`;
  const points = data.game === "dots" || data.game === "spaces";
  return ` ${signed(line.score)}${points ? (data.game === "dots" ? " boxes" : " points") : ""}${line.proven ? " · proven" : ""}`;
}

function bar(line, seat) {
  const node = part("value"), state = view.position.state;
  if (line.score === null) return;
  const scale = data.game === "dots" ? state.rows * state.cols / 2 : data.game === "spaces" ? state.size : 4;
  const sure = line.distance ? Math.sign(line.score) : Math.tanh(line.score / scale);
  const three = view.seats.length > 2, share = 50 + 50 * (three || seat === 0 ? sure : -sure);
  node.className = three ? `value three s${seat}` : "value known";
  node.firstElementChild.style.flexBasis = `${share}%`;
  node.setAttribute("aria-label", `Evaluation: ${Math.round(three ? share : seat === 0 ? share : 100 - share)} of 100 for ${nameOf(seat)}`);
}

// The panel

function panel() {
  const low = bottom(), order = view.seats.map((_, number) => number).filter((number) => number !== low);
  part("others").replaceChildren(...order.map(player));
  part("yours").replaceChildren(player(low));
  list();
  const total = view.moves.length, over = view.result !== null;
  part("where").textContent = total ? `${shown} / ${total}` : "";
  part("begin").disabled = part("back").disabled = shown === 0;
  part("on").disabled = part("end").disabled = shown === total;
  part("undo").disabled = !view.can_undo;
  part("hint").disabled = over || !live() || view.thinking || !people().length;
  const resign = part("resign");
  resign.textContent = over ? "Rematch" : "Resign";
  resign.disabled = !over && (view.thinking || !people().length);
  part("analysis").setAttribute("aria-pressed", String(analysing));
}

const count = (number, one, many) => `${number} ${number === 1 ? one : many}`;

function player(number) {
  const seat = view.seats[number], turn = view.to_move === number && !view.result, state = positions.get(shown)?.state || view.position.state;
  const level = /^level:(\d)$/.exec(seat.spec);
  const title = level ? `Level ${level[1]}` : seat.name[0].toUpperCase() + seat.name.slice(1);
  const score = data.game === "dots" ? count(state.scores[number], "box", "boxes") : data.game === "spaces" ? count(state.totals[number], "point", "points") : "";
  const what = turn ? (seat.person ? "to move" : html("span", { class: "wait", role: "img", "aria-label": "thinking" }, html("i"), html("i"), html("i"))) : view.result?.winner === number ? "winner" : seat.person ? SEATS[number] : "built-in bot";
  return html("div", { class: `player s${number}${turn ? " turn" : ""}` }, chip(number), html("div", { class: "who" }, html("b", {}, title), html("span", {}, score, score && what ? " · " : "", what)), seat.left_ms === null ? null : html("div", { class: "time", "data-seat": number }, clockText(seat.left_ms)));
}

function list() {
  const rows = [], seats = view.seats.length;
  let row = null, column = seats;
  view.moves.forEach(({ seat, text }, at) => {
    const starts = data.game === "spaces" ? at % 2 === 0 : seat <= column;
    if (!row || starts) { row = html("li", {}, html("span", { class: "number" }, String(rows.length + 1))); rows.push(row); }
    const button = html("button", { type: "button", "data-ply": at + 1, "aria-current": at + 1 === shown ? "step" : null, title: text, onclick: () => look(at + 1) }, text);
    button.style.gridColumn = seat + 2;
    button.style.gridRow = 1;
    row.append(button);
    column = seat;
  });
  const node = part("moves");
  node.style.setProperty("--seats", seats);
  node.replaceChildren(...(rows.length ? rows : [html("li", { class: "none" }, "No move yet.")]));
  const current = node.querySelector("[aria-current]");
  if (current) node.scrollTop = Math.max(0, current.offsetTop - node.clientHeight + 48);
}

async function look(number) {
  if (!view?.id || number < 0 || number > view.moves.length) return;
  hint = null;
  await show(number, Math.abs(number - shown) === 1 && number > shown).catch(failed);
  const text = number ? `${nameOf(view.moves[number - 1].seat)}: ${view.moves[number - 1].text}` : "The beginning";
  say(`Position ${number}. ${text}`);
}

function engine(...nodes) { part("engine").replaceChildren(...nodes); }

function quiet() {
  const node = part("value");
  node.className = "value";
  node.setAttribute("aria-label", "No evaluation");
  if (view.result && live()) {
    const kept = html("a", { class: "button tight", href: `/api/v1/plays/${view.id}/record`, download: "" }, "Save the record");
    engine(html("p", { class: "whole result" }, headline()), html("p", {}, why(), " ", kept));
  } else if (live() && view.thinking) ponder();
  else engine(html("p", { class: "whole" }, data.game === "spaces" ? "A hint shows a good board to lay. Your own runs up, the other one down." : "Analysis shows the best moves and who is ahead. A hint shows one move on the board."));
}

/** A bot's first move on a machine takes longer; the page says why. */
function ponder() {
  const { version } = view, words = `${nameOf(view.to_move)} is thinking.`;
  engine(html("p", { class: "whole" }, words));
  setTimeout(() => {
    if (view.version === version && view.thinking && live() && !analysing) engine(html("p", { class: "whole" }, words, " Its first move on this machine takes longer: the search is compiled, once."));
  }, SLOW);
}

function headline() {
  const { winner } = view.result, mine = people();
  if (view.result.decided_by === "arena") return "The game was broken off";
  if (winner === null) return view.seats.length > 2 && view.result.decided_by === "forfeit" ? "The others share the win" : "A draw";
  if (mine.length === 1) return winner === mine[0] ? "You win" : "You lose";
  return `${nameOf(winner)} wins`;
}

function why() {
  const verdict = view.result.verdicts.at(-1);
  if (!verdict) return sentence(view.result.reason);
  const who = view.seats[verdict.seat].person && people().length === 1 ? "You" : nameOf(verdict.seat);
  if (verdict.why === "resigned") return `${who} resigned.`;
  return verdict.cause === "timeout" ? `${who} ran out of time.` : sentence(verdict.why);
}

const resultWords = () => `${headline()}. ${why()}`;

function clockText(milliseconds) {
  const seconds = Math.max(0, milliseconds) / 1000, minutes = Math.floor(seconds / 60);
  return seconds < 10 ? seconds.toFixed(1) : `${minutes}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}

function tick() {
  if (!view?.arrived || view.clock === "none") return;
  for (const node of document.querySelectorAll(".time[data-seat]")) {
    const number = Number(node.dataset.seat), seat = view.seats[number], runs = view.to_move === number && !view.result;
    const left = seat.left_ms - (runs ? performance.now() - view.arrived : 0);
    node.textContent = clockText(left);
    node.classList.toggle("low", runs && left < 10000);
  }
}

// Buttons

part("hint").addEventListener("click", giveHint);
part("undo").addEventListener("click", () => act("undo", {}, false));
part("resign").addEventListener("click", () => (view?.result ? rematch() : act("resign", {}, false)));
part("new").addEventListener("click", () => openDialog(data.game, view, begin));
part("flip").addEventListener("click", () => { flipped = !turned(); repaint(); });
part("analysis").addEventListener("click", () => { analysing = !analysing; hint = null; if (view?.id) { panel(); repaint(); analyse(); } });
part("begin").addEventListener("click", () => look(0));
part("back").addEventListener("click", () => look(shown - 1));
part("on").addEventListener("click", () => look(shown + 1));
part("end").addEventListener("click", () => look(view.moves.length));
part("moves").addEventListener("keydown", (event) => {
  const to = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: view?.moves.length }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  look(to);
});

/** The same again with the seats changed. */
function rematch() {
  const seats = view.seats.map(({ spec }) => spec);
  begin({ game: data.game, options: view.options, seats: [...seats.slice(1), seats[0]], clock: view.clock }).catch(() => {});
}

if (data.game === "dots") part("flip").textContent = "Turn";
if (data.game === "spaces") for (const id of ["flip", "analysis"]) part(id).hidden = true;
setInterval(tick, 100);
start();
