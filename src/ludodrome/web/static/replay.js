// The replay page: a finished game, position by position, with what the engine thinks of it.

import { boardModule, get, pageData, post, say, sentence } from "./api.js";
import { chip, html, moves as inMotion, SEATS } from "./draw.js";
import { brief, briefMove, copy, dotsOfWaiting, playOn, signed, worth } from "./engine.js";
import { Graph } from "./graph.js";

const data = pageData();
const part = (id) => document.getElementById(id);
const { GameBoard } = await boardModule();
const POLL = 350;
/** Milliseconds between the positions of a running replay without animations. */
const STILL_DELAY = 1000;
/** A game that is played on shows at most this many earlier moves; else it begins in the position itself. */
const MAX_OPENING = 200;
/** Plies of a bot's line that are drawn, and texts of a turn that are shown, and their characters. */
const MAX_LINE = 4,
  MAX_TEXTS = 12,
  MAX_TEXT = 600;
const SIGNS = { inaccuracy: "?!", mistake: "?", blunder: "??" };
const CAUSES = {
  timeout: "ran out of time",
  crash: "crashed",
  illegal: "made an illegal move",
  protocol: "broke the protocol",
  error: "stopped with an error",
  arena: "was stopped by an arena error",
  resigned: "resigned",
};

let game = null;
let shown = 0;
let flipped = false;
let drawBest = true;
let drawOwn = true;
let running = null;
let graph = null;
let accuracy = [];
let turning = [];
const graded = new Map();
/** What the viewer's own bots said, by seat. */
let logs = [];
/** The lines that bots expected, by ply, once the server has read them. */
const expectations = new Map();
let curves = [];

const board = new GameBoard(part("board"), part("bar"), { move: () => {}, why: async () => "", say });
const last = () => game.turns.length;
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

async function start() {
  part("comment").replaceChildren(html("p", {}, "One moment ", dotsOfWaiting()));
  try {
    game = await get(`/replays/${data.id}`);
    if (data.logs) logs = await get(`/matches/${data.id}/logs`);
  } catch (error) {
    part("comment").replaceChildren(html("p", {}, html("b", {}, "That did not work. "), sentence(error.message)));
    return;
  }
  for (const { turns } of logs)
    for (const { turn, ...said } of turns) Object.assign(game.turns[turn] ?? game.stopped ?? {}, said);
  curves = ownCurves();
  legend();
  graph = new Graph(part("graph"), game.names.length, last(), (to) => go(to));
  part("range").max = last();
  part("analyse").hidden = part("best").hidden = !GameBoard.analysable(game.options);
  list();
  const wished = fromLink();
  shown = wished ?? (last() ? Math.min(last(), game.opening) : 0);
  show(false);
  grade();
}

const fromLink = () => (/^#\d+$/.test(location.hash) ? Math.min(last(), Number(location.hash.slice(1))) : null);

// Grades, as they come

async function grade() {
  if (!last()) return;
  for (let seen = 0; ; ) {
    try {
      const found = await get(`/replays/${data.id}/grading?after=${seen}`);
      for (const ply of found.plies) graded.set(ply.ply, ply);
      seen += found.plies.length;
      accuracy = found.accuracy;
      turning = found.turning_points;
      progress(found);
      if (found.plies.length) {
        marks();
        players();
        draw();
        comment();
        paint(false);
        buttons();
      }
      if (found.done) return;
      await pause(POLL);
    } catch (error) {
      if (error.status >= 400 && error.status < 429) return; // there is no such game, or it cannot be graded
      await pause(3000);
    }
  }
}

function progress({ total, graded: count, done }) {
  part("graph").classList.toggle("busy", !done);
  part("graph").style.setProperty("--done", `${(100 * count) / total}%`);
  if (done) say("Grading finished.");
}

// Stepping

function go(to) {
  if (!game || to < 0 || to > last() || to === shown) return;
  const step = to - shown;
  shown = to;
  history.replaceState(null, "", `#${shown}`);
  show(step === 1);
  const turn = game.turns[shown - 1];
  say(turn ? `${shown}: ${game.names[turn.seat]}, ${GameBoard.moveWords(turn.text)}` : "The beginning");
}

function show(animate) {
  paint(animate);
  readLine(shown);
  draw();
  comment();
  players();
  buttons();
  const current = part("moves").querySelector("[aria-current]");
  current?.removeAttribute("aria-current");
  const next = part("moves").querySelector(`[data-ply="${shown}"]`);
  next?.setAttribute("aria-current", "step");
  const node = part("moves");
  if (next)
    node.scrollTop = Math.max(0, Math.min(node.scrollTop, next.offsetTop - 8), next.offsetTop - node.clientHeight + 40);
  else node.scrollTop = 0;
}

// What the bots themselves thought

/** The last figures and the last line of a turn, and all its texts. */
function thoughts(turn) {
  const found = { texts: [] };
  for (const { text, ...rest } of turn?.info ?? []) {
    Object.assign(found, rest);
    if (text) found.texts.push(text.slice(0, MAX_TEXT));
  }
  found.texts = found.texts.slice(-MAX_TEXTS);
  return found;
}

/** The evaluations of each bot as shares; every bot has a scale of its own, the score that four of five stay below. */
function ownCurves() {
  return game.names
    .map((_, seat) => {
      const scores = game.turns
        .map((turn, ply) => [ply, turn.seat === seat ? thoughts(turn).score : undefined])
        .filter(([, score]) => score !== undefined);
      const sizes = scores.map(([, score]) => Math.abs(score)).sort((a, b) => a - b),
        scale = sizes[Math.floor(sizes.length * 0.8)] || 1;
      return { seat, points: scores.map(([ply, score]) => [ply, 0.5 + 0.5 * Math.tanh(score / scale)]) };
    })
    .filter(({ points }) => points.length);
}

function legend() {
  part("own").hidden = !game.turns.some((turn) => thoughts(turn).pv);
  part("legend").hidden = !curves.length && part("own").hidden;
  part("legend").firstElementChild.replaceChildren(
    html("span", {}, html("i"), "engine"),
    ...curves.map(({ seat }) => html("span", {}, chip(seat), html("b", {}, game.names[seat]))),
  );
}

/** Asks the server to read the line that the bot to move expected here, and draws it once that is known. */
async function readLine(ply) {
  const { pv } = thoughts(game.turns[ply]);
  if (!Array.isArray(pv) || !pv.length || expectations.has(ply)) return;
  expectations.set(ply, []);
  for (const moves of [pv.slice(0, MAX_LINE), pv.slice(0, 1)]) {
    try {
      const found = await post(`/boards/${data.game}`, {
        options: game.options,
        state: game.positions[ply].state,
        moves,
      });
      expectations.set(
        ply,
        found.moves.map((one, at) => ({ ...one, state: found.positions[at].state })),
      );
      if (ply === shown) paint(false);
      return;
    } catch (error) {
      if (error.status !== 422) return;
    }
  }
}

const lineHere = () => (drawOwn ? (expectations.get(shown) ?? []) : []);

/** What a bot said beside its move. */
function telemetry(turn) {
  const { score, depth, nodes, pv, texts } = thoughts(turn),
    facts = [
      score === undefined ? "" : signed(score),
      depth === undefined ? "" : `depth ${depth}`,
      nodes === undefined ? "" : `${nodes.toLocaleString("en")} nodes`,
    ].filter(Boolean);
  const known = expectations.get(game.turns.indexOf(turn))?.map(({ text }) => text),
    expected = known?.length ? known : (pv ?? []).filter((one) => typeof one === "string").slice(0, MAX_LINE);
  if (expected.length) facts.push(`expects ${expected.join("; ").slice(0, MAX_TEXT)}`);
  return [
    ...(facts.length ? [html("p", { class: "own-words" }, html("b", {}, "Its own view: "), facts.join(" · "))] : []),
    ...texts.map((text) => html("p", { class: "muted own-words" }, text)),
  ];
}

function paint(animate) {
  const now = game.positions[shown],
    before = shown ? game.positions[shown - 1] : null,
    turn = game.turns[shown - 1];
  const better = betterMove(),
    best = drawBest && !better && now.to_move !== null ? (graded.get(shown)?.best.move ?? null) : null;
  board.update({
    state: now.state,
    legal: [],
    marks: now.marks,
    last: turn?.move ?? null,
    lastSeat: turn?.seat,
    before: before?.state ?? null,
    seat: now.to_move ?? 0,
    eyes: 0,
    interactive: false,
    best: best && GameBoard.drawable(best) ? best : null,
    better: better && { move: better.best.move, state: before.state, seat: better.seat },
    line: lineHere().filter(({ move }) => GameBoard.drawable(move)),
    flip: flipped,
    animate,
    analysis: true,
    word: word(),
  });
}

/** The grade of the move that led here if it was a mistake whose better move can be drawn. */
function betterMove() {
  const one = graded.get(shown - 1);
  return drawBest && one && SIGNS[one.grade] && GameBoard.drawable(one.best.move) ? one : null;
}

function word() {
  if (shown === last()) return ending();
  const now = game.positions[shown],
    found = graded.get(shown),
    better = betterMove();
  if (better)
    return `Better was ${brief(better.best.text)}, ${worth(GameBoard.unit, better.best) || "even"}. ${game.names[now.to_move]} to move.`;
  const best =
    found && drawBest && GameBoard.drawable(found.best.move)
      ? ` Best: ${brief(found.best.text)}, ${worth(GameBoard.unit, found.best) || "even"}.`
      : "";
  const expected = lineHere().map(({ text }) => text);
  return `${game.names[now.to_move]} to move.${best}${expected.length ? ` It expects: ${expected.join("; ")}.` : ""}`;
}

function ending() {
  const { result } = game,
    verdict = result.verdicts.at(-1);
  const head =
    result.decided_by === "arena"
      ? "Aborted"
      : result.winner === null
        ? result.decided_by === "play"
          ? "A draw"
          : "The others share the win"
        : `${game.names[result.winner]} wins`;
  return `${head}: ${verdict && result.decided_by !== "play" ? `${game.names[verdict.seat]} ${CAUSES[verdict.cause] ?? verdict.cause}` : result.reason}.`;
}

// The panel

function players() {
  const now = game.positions[shown];
  part("players").replaceChildren(
    ...game.names.map((name, seat) => {
      const score = GameBoard.score(now.state, seat);
      const counts = Object.keys(SIGNS)
        .map((kind) => [kind, [...graded.values()].filter((one) => one.seat === seat && one.grade === kind).length])
        .filter(([, count]) => count);
      const many = (kind, count) =>
        `${count} ${count === 1 ? kind : kind === "inaccuracy" ? "inaccuracies" : `${kind}s`}`;
      const tally = counts.map(([kind, count]) =>
        html(
          "span",
          { title: many(kind, count) },
          ` ${score || game.result.winner === seat ? "· " : ""}${count}`,
          html("span", { class: `sign ${kind}`, "aria-label": many(kind, count), role: "img" }, SIGNS[kind]),
        ),
      );
      const known = accuracy[seat] ?? null;
      return html(
        "div",
        { class: `player s${seat}${now.to_move === seat && shown < last() ? " turn" : ""}` },
        chip(seat),
        html(
          "div",
          { class: "who" },
          html("b", {}, name),
          html(
            "span",
            {},
            [score, game.result.winner === seat ? "winner" : tally.length ? "" : seatWord(seat)]
              .filter(Boolean)
              .join(" · "),
            ...tally,
          ),
        ),
        html(
          "div",
          { class: "accuracy", title: "Accuracy: the mean over all moves of 100 e^(−4.5 loss)" },
          known === null ? "" : `${known.toFixed(0)}%`,
          html("small", {}, known === null ? "" : "accuracy"),
        ),
      );
    }),
  );
}

const seatWord = (seat) => (game.names[seat] === game.bots[seat] ? SEATS[seat] : game.bots[seat]);

function draw() {
  const points = new Map(),
    two = game.names.length === 2;
  for (const one of graded.values()) {
    const share = two
      ? [one.seat === 0 ? one.worth : 1 - one.worth]
      : game.names.map((_, seat) => (seat === one.seat ? one.worth : null));
    points.set(one.ply, { share, exact: one.best.proven });
  }
  if (game.result.decided_by === "play" && graded.has(last() - 1))
    points.set(last(), {
      share: game.result.returns.slice(0, two ? 1 : 3).map((one) => (two ? (1 + one) / 2 : one > 0 ? 1 : 0)),
      exact: true,
    });
  const marks = turning.map((ply) => ({ ply, seat: graded.get(ply)?.seat ?? 0, grade: graded.get(ply)?.grade }));
  const faults = [...game.turns.keys()].filter((ply) => troubled(game.turns[ply])).map((ply) => ply + 1);
  if (game.stopped) faults.push(last());
  graph.update({ points, marks, faults, shown, own: curves });
}

const troubled = (turn) => Boolean(turn.verdict || turn.substituted || turn.refusals?.length);

function list() {
  const rows = [],
    seats = game.names.length;
  let row = null,
    column = seats;
  game.turns.forEach((turn, at) => {
    if (!row || GameBoard.startsRow(at, turn.seat, column)) {
      row = html("li", {}, html("span", { class: "number" }, String(rows.length + 1)));
      rows.push(row);
    }
    const button = html(
      "button",
      {
        type: "button",
        "data-ply": at + 1,
        class: turn.opening ? "opening" : null,
        title: `${GameBoard.moveWords(turn.text)}${turn.opening ? ", set up" : ""}`,
        "aria-label": GameBoard.moveWords(turn.text),
        onclick: () => go(at + 1),
      },
      html("span", { class: "move-text" }, GameBoard.moveNode(turn.text, turn.seat)),
      html("span", { class: "sign" }, troubled(turn) ? "⚑" : ""),
    );
    button.style.gridColumn = turn.seat + 2;
    button.style.gridRow = 1;
    row.append(button);
    column = turn.seat;
  });
  part("moves").style.setProperty("--seats", seats);
  part("moves").classList.toggle("narrow", seats > 2);
  part("moves").replaceChildren(...(rows.length ? rows : [html("li", { class: "none" }, "No moves.")]));
}

function marks() {
  for (const one of graded.values()) {
    const button = part("moves").querySelector(`[data-ply="${one.ply + 1}"]`),
      sign = button?.querySelector(".sign");
    if (!sign || !SIGNS[one.grade]) continue;
    sign.textContent = SIGNS[one.grade] + (troubled(game.turns[one.ply]) ? "⚑" : "");
    sign.className = `sign ${one.grade}`;
    button.title = `${GameBoard.moveWords(game.turns[one.ply].text)}: ${one.grade}`;
    button.setAttribute("aria-label", button.title);
  }
}

/** What there is to say about the move that led here. */
function comment() {
  const turn = game.turns[shown - 1],
    one = graded.get(shown - 1),
    lines = [];
  if (!turn)
    lines.push(
      html(
        "p",
        {},
        game.opening ? "The position before the opening." : "The first position. ",
        html("span", { class: "muted" }, "Arrow keys step, Space plays, N and P jump to mistakes."),
      ),
    );
  else {
    lines.push(
      html(
        "p",
        {},
        chip(turn.seat),
        html(
          "b",
          { class: "mono", title: GameBoard.moveWords(turn.text) },
          " ",
          briefMove(GameBoard, turn.text, turn.seat),
          " ",
        ),
        gradeWords(turn, one),
      ),
    );
    if (one?.grade && one.grade !== "best")
      lines.push(
        html(
          "p",
          { class: "muted" },
          "Better: ",
          html(
            "b",
            { class: "best mono", title: GameBoard.moveWords(one.best.text) },
            briefMove(GameBoard, one.best.text, turn.seat),
          ),
          ` ${worth(GameBoard.unit, one.best)}`,
          one.best.continuation.length
            ? html("span", { class: "mono" }, ` · ${one.best.continuation.slice(0, 4).join("; ")}`)
            : "",
        ),
      );
    else if (one) lines.push(html("p", { class: "muted" }, worth(GameBoard.unit, one.played)));
    lines.push(...telemetry(turn), ...troubles(turn));
  }
  if (shown === last() && game.stopped) lines.push(...troubles(game.stopped));
  if (shown === last()) lines.push(html("p", {}, html("b", {}, ending())), ...logs.flatMap(ownWords));
  part("comment").replaceChildren(...lines);
}

function gradeWords(turn, one) {
  if (turn.opening) return html("span", { class: "muted" }, "set up");
  if (!one) return html("span", { class: "muted" }, "not graded yet");
  const how = html(
    "span",
    { class: "how", title: one.exact ? "Computed by a solver" : "The engine's estimate" },
    one.exact ? "exact" : "estimated",
  );
  if (!one.grade) return html("span", { class: "muted" }, turn.substituted ? "played for it " : "the only move ", how);
  const gave =
    one.points === null
      ? one.loss >= 0.005
        ? `, gives away ${Math.round(100 * one.loss)}%`
        : ""
      : one.points >= 0.05
        ? `, costs ${Math.round(one.points * 10) / 10} of the margin`
        : "";
  return html("span", {}, html("span", { class: `grade-word ${one.grade}` }, one.grade), `${gave} `, how);
}

function troubles(turn) {
  const lines = (turn.refusals ?? []).map(({ why, sent, cut }) =>
    html(
      "p",
      { class: "bad" },
      `Refused: ${why}`,
      ...(cut && sent ? [html("span", { class: "muted own-words" }, ` It had sent: ${sent.slice(0, MAX_TEXT)}`)] : []),
    ),
  );
  if (turn.verdict)
    lines.push(
      html(
        "p",
        { class: "bad" },
        `${game.names[turn.seat]} ${CAUSES[turn.verdict.cause] ?? turn.verdict.cause}: ${turn.verdict.why}${turn.substituted ? ". The first legal move was played for it" : ""}.`,
      ),
    );
  for (const text of (turn.log ?? []).slice(-MAX_TEXTS))
    lines.push(html("p", { class: "muted own-words" }, `It says: ${text.slice(0, MAX_TEXT)}`));
  return lines;
}

/** What one of the viewer's bots wrote beside its answers; nobody else reads it. */
function ownWords({ name, stderr, notes }) {
  const text = [...notes, stderr.trim()].filter(Boolean).join("\n");
  return text
    ? [
        html(
          "details",
          {},
          html("summary", {}, `What ${name} wrote (only you see it)`),
          html("pre", { tabindex: "0" }, text),
        ),
      ]
    : [];
}

const jumps = () =>
  [
    ...new Set([
      ...turning.map((ply) => ply + 1),
      ...[...game.turns.keys()].filter((ply) => troubled(game.turns[ply])).map((ply) => ply + 1),
    ]),
  ].sort((a, b) => a - b);

function buttons() {
  part("begin").disabled = part("back").disabled = shown === 0;
  part("on").disabled = part("end").disabled = shown === last();
  part("range").value = shown;
  const places = jumps();
  part("previous").disabled = !places.some((place) => place < shown);
  part("next").disabled = !places.some((place) => place > shown);
  part("on-from-here").disabled = game.positions[shown].to_move === null;
  const { line } = game.positions[shown],
    limit = game.options.turn_limit;
  part("analyse").href =
    `/${data.game}/analysis#position=${encodeURIComponent(line)}${limit && limit !== 200 ? `&turn_limit=${limit}` : ""}`;
}

function jump(direction) {
  const places = jumps().filter((place) => (direction > 0 ? place > shown : place < shown));
  if (places.length) go(direction > 0 ? places[0] : places.at(-1));
}

function run(on) {
  clearInterval(running);
  running = null;
  if (on && game) {
    if (shown === last()) go(0);
    running = setInterval(
      () => {
        if (board.telling) return;
        if (shown < last()) go(shown + 1);
        else run(false);
      },
      inMotion() ? GameBoard.replayDelay : STILL_DELAY,
    );
  }
  part("run").setAttribute("aria-pressed", String(Boolean(running)));
  part("run").textContent = running ? "❚❚ Stop" : "▶ Run";
}

const stepTo = (to) => {
  run(false);
  go(to);
};
part("begin").addEventListener("click", () => stepTo(0));
part("back").addEventListener("click", () => stepTo(shown - 1));
part("on").addEventListener("click", () => stepTo(shown + 1));
part("end").addEventListener("click", () => stepTo(last()));
part("range").addEventListener("input", (event) => stepTo(Number(event.target.value)));
part("run").addEventListener("click", () => run(!running));
part("previous").addEventListener("click", () => {
  run(false);
  jump(-1);
});
part("next").addEventListener("click", () => {
  run(false);
  jump(1);
});
part("flip").addEventListener("click", () => {
  flipped = !flipped;
  paint(false);
});
part("best").addEventListener("click", () => {
  drawBest = !drawBest;
  part("best").setAttribute("aria-pressed", String(drawBest));
  paint(false);
});
part("own").addEventListener("click", () => {
  drawOwn = !drawOwn;
  part("own").setAttribute("aria-pressed", String(drawOwn));
  paint(false);
});
part("link").addEventListener("click", () => copy(part("link"), `${location.origin}/games/${data.id}#${shown}`));
part("on-from-here").addEventListener("click", () => {
  run(false);
  const now = game.positions[shown];
  const begin =
    shown <= MAX_OPENING
      ? { opening: game.turns.slice(0, shown).map((turn) => turn.move), position: game.positions[0].state }
      : { position: now.state };
  playOn(part("playon"), data.game, game.names.length, now.to_move, { options: game.options, ...begin });
});
addEventListener("hashchange", () => {
  const to = game && fromLink();
  if (to !== null && to !== undefined) stepTo(to);
});
addEventListener("keydown", (event) => {
  if (
    !game ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    event.target.closest?.("input, select, textarea, dialog, .board")
  )
    return;
  const act =
    {
      ArrowLeft: () => stepTo(shown - 1),
      ArrowRight: () => stepTo(shown + 1),
      Home: () => stepTo(0),
      End: () => stepTo(last()),
      n: () => jump(1),
      p: () => jump(-1),
    }[event.key] ?? (event.key === " " && !event.target.closest?.("button, a") ? () => run(!running) : null);
  if (!act) return;
  event.preventDefault();
  act();
});

part("flip").hidden = !GameBoard.flips;
start();
