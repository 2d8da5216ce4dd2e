// The play page: a game on the server, shown move by move.

import { API, boardModule, get, pageData, post, postPatiently, say, sentence, useKey } from "./api.js";
import { chip, html, moves as inMotion, NAMES, pause, SEATS } from "./draw.js";
import { briefMove, fillBar, shareOf, worth } from "./engine.js";
import { keyOf, recalled, store, storeKey } from "./keys.js";
import { Live } from "./live.js";
import { openDialog } from "./newgame.js";
import { betweenPeople, hasMoved, proposal, proposalNodes, proposalWords, SureButton } from "./offers.js";

const data = pageData();
const part = (id) => document.getElementById(id);
const { GameBoard } = await boardModule();
const SLOW = 4000;
const MAX_STORY = 30_000;
const NO_ENGINE = "While people play each other, the engine is off. After the game it looks at every move with you.";
const asked = new URLSearchParams(location.search);
const PROGRAM = /^(uploaded|remote|cmd|py|wasm|box):/;
/** What a remote bot does instead of playing here, in a word or two. */
const HELD_UP = { away: "not connected", match: "in a match", play: "in another game", limit: "waiting" };
const PATHS = { move: "moves", undo: "undo", resign: "resign", offer: "offers", rematch: "rematch" };

let view = null;
let positions = new Map();
let shown = 0;
let flipped = null;
let analysing = false;
let hint = null;
let engineAsked = 0;
let live = null;
let role = asked.get("as") === "guest" ? "guest" : "owner";
let latest = null;
let taking = false;
let busy = false;
let wanted = null;
let following = false;

const board = new GameBoard(part("board"), part("bar"), {
  move: (raw) => send(raw),
  why: async (raw) =>
    sentence(
      (await post(`/games/${data.game}/check`, { options: view.options, state: view.position.state, move: raw })).why,
    ),
  say,
  step: () => view && players(),
});

const resign = new SureButton(
  part("resign"),
  () => (view?.result ? "" : "Press again to resign."),
  () => act(view?.result ? "rematch" : "resign"),
);
new SureButton(
  part("draw"),
  () => (shared() ? "Press again to offer a draw." : "Press again to agree to a draw."),
  () => act("offer", { offer: "draw" }),
);

// What the game is like now

const upToDate = () => view && shown === view.moves.length;
/** The seats that are played from this page. */
const mine = () => view.seats.map((seat, number) => (seat.yours ? number : -1)).filter((number) => number >= 0);
const me = () => {
  const some = mine();
  return some.length === 1
    ? some[0]
    : view.to_move !== null && some.includes(view.to_move)
      ? view.to_move
      : (some[0] ?? 0);
};
const bottom = () => (mine().length === 1 ? me() : 0);
const engineOn = () => analysing && !betweenPeople(view);
const shared = () => view.seats.some(({ kind }) => kind === "friend");
const turned = () => (flipped === null ? GameBoard.turns && bottom() === 1 : flipped);
const nameOf = (seat) => (view.seats[seat].yours && mine().length === 1 ? "You" : view.seats[seat].name);

// Beginning

async function begin(wish) {
  waiting(true);
  try {
    role = "owner";
    useKey(null);
    const begun = await post("/plays", wish);
    if (begun.key) storeKey(begun.id, role, begun.key);
    await open(begun);
  } catch (error) {
    failed(error);
    throw error;
  } finally {
    waiting(false);
  }
}

/** This page is about that game from now on. */
async function open(game) {
  useKey(keyOf(game.id, role));
  latest = null;
  await take(game, false);
  history.replaceState(null, "", `/${data.game}/plays/${view.id}${role === "guest" ? "?as=guest" : ""}`);
  store(data.game, role === "guest" ? `${view.id} guest` : view.id);
  store("last", data.game);
  live?.end();
  live = new Live(view.id, keyOf(view.id, role), receive, failed);
  part("note").replaceChildren();
  note(...(isFirstGame() ? [html("p", {}, FIRST_NOTE)] : []));
}

async function start() {
  const first = data.showcase;
  if (data.lesson) {
    await begin({ game: data.game, ...data.lesson }).catch(() => {});
    if (view?.id) store(`first ${view.id}`, "1");
    note(html("p", {}, FIRST_NOTE));
    return;
  }
  if (first && asked.has("position")) {
    await playOn();
    return;
  }
  if (first?.state) sketch(first);
  const [name, as] = data.play ? [data.play, role] : (recalled(data.game) || "").split(" ");
  if (name) {
    try {
      role = as || "owner";
      useKey(keyOf(name, role));
      await open(await get(`/plays/${name}`));
      return;
    } catch (error) {
      if (!first) {
        failed(error);
        return;
      }
    }
  }
  role = "owner";
  await begin({
    game: data.game,
    options: first.options,
    seats: first.seats,
    opening: first.opening,
    seed: first.seed,
  }).catch(() => {});
}

/** A game from a position in the address: the board shows it, and the dialog asks who plays. */
async function playOn() {
  const position = asked.get("position"),
    options = Object.fromEntries(
      [...asked]
        .filter(([name]) => name !== "position" && name !== "as")
        .map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value]),
    );
  try {
    const { state, to_move: seat } = await post(`/games/${data.game}/positions`, { options, state: position });
    sketch({ state, opening: [], texts: [], options, seats: data.showcase.seats, seat });
    const seats = state.players === 3 ? ["person", "level:3", "level:3"] : [...data.showcase.seats];
    openDialog(
      data.game,
      GameBoard,
      { options, seats: seats.map((_, at) => ({ spec: at === seat ? "person" : "level:3" })) },
      begin,
      { options, position },
    );
  } catch (error) {
    failed(error);
  }
}

/** The board before the server has said anything. */
function sketch(first) {
  board.update({
    state: first.state,
    legal: [],
    marks: {},
    last: first.opening.at(-1),
    before: null,
    seat: first.seat ?? 0,
    eyes: 0,
    interactive: false,
    flip: false,
    word: "",
  });
  const seats = first.seats.map((spec) => ({
    name: spec === "person" ? "You" : spec,
    spec,
    person: spec === "person",
    yours: spec === "person",
    kind: spec === "person" ? spec : "bot",
    taken: true,
    here: true,
    left_ms: null,
  }));
  view = {
    seats,
    moves: first.texts.map((text, at) => ({ seat: first.movers[at], text })),
    to_move: first.seat ?? 0,
    result: null,
    position: { state: first.state },
    opening: 0,
    options: first.options,
  };
  shown = view.moves.length;
  panel();
  view = null;
  for (const id of ["hint", "draw", "undo", "resign", "begin", "back", "on", "end"]) part(id).disabled = true;
}

/** What the server does before the first game of a kind, in words. */
const PREPARING = {
  loading: () => "The game is loaded into the server.",
  compiling: (seconds) => `The game is compiled for this machine, once. About ${seconds} s to go.`,
  waiting: (seconds) => `Other games are compiled first, then this one: about ${seconds} s to go. Once only.`,
};

async function prepare() {
  if (!part("value").classList.contains("loom")) return;
  const { state, seconds } = await get(`/games/${data.game}/kernels`).catch(() => ({}));
  if (!part("value").classList.contains("loom")) return;
  if (PREPARING[state])
    engine(html("p", { class: "whole" }, html("b", {}, "Getting ready. "), PREPARING[state](seconds)));
  setTimeout(prepare, 1000);
}

function waiting(on) {
  part("value").classList.toggle("loom", on);
  if (!on) return;
  setTimeout(prepare, 600);
  engine(
    html("p", { class: "whole" }, "One moment ", html("span", { class: "wait" }, html("i"), html("i"), html("i"))),
  );
}

/** Whether the page says that the server does not answer. */
let lost = false;

function failed(error) {
  lost = error.status === 0;
  engine(html("p", { class: "whole" }, html("b", {}, "That did not work. "), sentence(error.message)));
  say(sentence(error.message));
}

// Listening

/** A view from the server; while one is being shown, the next waits, and only the last of several is shown. */
async function receive(next) {
  if (!view || next.id !== view.id) return;
  latest = next;
  if (taking) return;
  taking = true;
  try {
    while (latest) {
      const one = latest;
      latest = null;
      if (one.next && !view.next) await follow(one.next);
      else if (one.version === view.version) beside(one);
      else if (one.version > view.version) {
        busy = false;
        await take(one, true);
      }
      if (lost) {
        lost = false;
        analyse();
      }
    }
  } catch (error) {
    failed(error);
  } finally {
    taking = false;
  }
}

/** The other game, with everybody one seat further. */
async function follow(name) {
  const key = keyOf(view.id, role);
  if (key) storeKey(name, role, key);
  try {
    await open(await get(`/plays/${name}`));
  } catch (error) {
    failed(error);
  }
}

/** Nothing happened in the game, but somebody came or went, or offers a rematch. */
function beside(next) {
  const calm = engineOn() || !upToDate(),
    told = view.held_up?.text,
    offered = proposal(view) && proposalWords(view, nameOf);
  view = Object.assign(next, { arrived: performance.now() });
  panel();
  if (proposal(view) && proposalWords(view, nameOf) !== offered) say(proposalWords(view, nameOf));
  if (view.held_up?.text !== told) {
    repaintKeeping();
    say(view.held_up?.text || `${view.seats.find(({ spec }) => spec.startsWith("remote:"))?.name} is here.`);
  }
  if (!calm && !hint) quiet();
}

/** A new view of the game: shows what has happened since, move by move. */
async function take(next, animated) {
  const grows = view?.id === next.id && next.moves.length > view.moves.length;
  if (grows && animated && upToDate()) await told();
  const before = view,
    grew = before && before.id === next.id && next.moves.length > before.moves.length;
  const wasLive = !before || before.id !== next.id || shown === before.moves.length || next.moves.length < shown;
  if (!before || before.id !== next.id) {
    positions = new Map();
    flipped = null;
  }
  for (const number of [...positions.keys()]) if (!grew && number >= next.moves.length) positions.delete(number);
  if (next.result && !before?.result) positions.clear(); // nothing is hidden any more
  view = next;
  view.arrived = performance.now();
  positions.set(next.moves.length, next.position);
  hint = null;
  const from = shown;
  if (!wasLive) {
    panel();
    return;
  }
  following = true;
  if (grew && animated) {
    for (let number = Math.max(from, before.moves.length) + 1; number <= next.moves.length; number++) {
      await show(number, true);
      notes = notes.then(() => explain(number));
      const last = view.moves[number - 1];
      if (last && !view.seats[last.seat].yours) say(`${nameOf(last.seat)}: ${GameBoard.moveWords(last.text)}`);
      if (number < next.moves.length && inMotion()) await pause(GameBoard.moveDelay);
      if (number < next.moves.length) await told();
    }
  } else await show(next.moves.length, false);
  following = false;
  if (view.result) say(resultWords());
}

/** What the board tells about a move is told to its end before the next move is shown. */
async function told() {
  for (let left = MAX_STORY; board.telling && left > 0; left -= 50) await pause(50);
}

// A first game after the lesson: what happens is explained when it happens for the first time

const MAX_NOTES = 3;
const FIRST_NOTE = "Your first game. New things are explained here the first time they happen.";
const NO_NOTE = "Nothing new happened in this turn.";
let notes = Promise.resolve();
const isFirstGame = () => Boolean(view?.id && recalled(`first ${view.id}`));

async function explain(number) {
  if (!isFirstGame() || number > view.moves.length) return;
  const { seat } = view.moves[number - 1],
    known = new Set((recalled(`explained ${data.game}`) || "").split("|"));
  const told = await get(`/plays/${view.id}/explanations/${number}`).catch(() => []);
  while (board.telling) await pause(100);
  // each thing once, for each side; what does not fit in now is said the next time
  const own = mine().includes(seat),
    named = (key) => (own ? key : `their ${key}`);
  for (const line of part("note").querySelectorAll(own ? "p" : ".until-next")) line.remove();
  const due = told.filter(({ key }) => !known.has(named(key))),
    room = Math.max(1, MAX_NOTES - part("note").children.length);
  const kept = due.filter((_, at) => at >= due.length - room + 1 || at === (room > 1 ? 0 : due.length - 1));
  store(`explained ${data.game}`, [...known, ...kept.map(({ key }) => named(key))].filter(Boolean).join("|"));
  note(
    ...kept.map(({ text, momentary }) =>
      html("p", { class: momentary ? "until-next" : null }, chipOf(text), html("span", {}, text)),
    ),
  );
  if (!part("note").children.length) note(html("p", { class: "until-next" }, NO_NOTE));
}

/** The chip of the side that a sentence is about, if it begins with it. */
function chipOf(text) {
  const own = me();
  if (/^Your opponent/.test(text)) return view.seats.length === 2 ? chip(1 - own) : null;
  return /^Your? /.test(text) ? chip(own) : null;
}

function note(...lines) {
  const node = part("note");
  node.append(...lines);
  node.hidden = !isFirstGame() || !node.children.length;
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
  const last = shown ? view.moves[shown - 1] : null,
    own = upToDate() && view.result === null && !view.waiting && mine().includes(view.to_move);
  board.update({
    state: now.state,
    legal: now.legal,
    marks: now.marks,
    last: last?.move || null,
    lastSeat: last?.seat,
    before: before?.state || null,
    seat: now.to_move ?? 0,
    eyes: bottomEyes(),
    interactive: own && !busy,
    best: hint,
    flip: turned(),
    animate,
    analysis: engineOn(),
    word: word(),
    waiting: upToDate() && view.result === null && !own ? refusal() : null,
  });
  part("bar").classList.toggle("over", upToDate() && view.result !== null);
  wanted = [now, before];
}

const bottomEyes = () => (mine().length === 1 ? me() : mine().length ? (view.to_move ?? 0) : 0);
const refusal = () =>
  !mine().length
    ? "You are watching."
    : view.waiting
      ? "The game starts when everybody has joined."
      : view.thinking
        ? view.held_up?.text || "The other side is thinking."
        : "It is not your turn.";
const repaint = () => wanted && view && paint(...wanted, false);

function word() {
  if (!upToDate()) return following ? "" : "An earlier position. » returns to the game.";
  if (view.result) return resultWords();
  if (view.waiting) return "The game starts when everybody has joined.";
  if (view.thinking) return view.held_up?.text || `${nameOf(view.to_move)} is thinking.`;
  if (!mine().length) return `You are watching. ${nameOf(view.to_move)} to move.`;
  return mine().includes(view.to_move) ? "" : `${nameOf(view.to_move)} to move.`;
}

// Acting

async function act(kind, body = {}) {
  if (busy || !view) return;
  busy = true;
  try {
    if (live?.ready) await live.send({ type: kind, ...body });
    else await receive(await post(`/plays/${view.id}/${PATHS[kind]}`, body));
    busy = false;
  } catch (error) {
    busy = false;
    repaint();
    board.tell(sentence(error.message), true);
    say(sentence(error.message));
  }
}

const send = (raw) => act("move", { move: raw, version: view.version });

async function giveHint() {
  if (!upToDate() || view.result || view.thinking || betweenPeople(view)) return;
  const asked = ++engineAsked,
    now = view.version;
  engine(html("p", {}, "Looking ", html("span", { class: "wait" }, html("i"), html("i"), html("i"))));
  try {
    const found = await ask(view.position.state, 0.8, 1);
    if (asked !== engineAsked || now !== view.version) return;
    hint = found.lines[0].move;
    board.pick = {}; // the hint may be about another piece
    repaint();
    if (isFirstGame() && GameBoard.tryWords(found.lines[0].text)) {
      engine(html("p", { class: "whole" }, html("b", {}, GameBoard.tryWords(found.lines[0].text)), "."));
      say(`Hint: ${GameBoard.tryWords(found.lines[0].text)}`);
      return;
    }
    engine(
      html(
        "p",
        { class: "whole" },
        "Try ",
        html(
          "b",
          { class: "best mono", title: GameBoard.moveWords(found.lines[0].text) },
          briefMove(GameBoard, found.lines[0].text, found.to_move),
        ),
        isFirstGame() ? "" : ` ${worth(GameBoard.unit, found.lines[0])}`,
      ),
    );
    say(`Hint: ${GameBoard.moveWords(found.lines[0].text)}`);
  } catch (error) {
    if (asked === engineAsked) failed(error);
  }
}

const ask = (state, seconds, lines) =>
  postPatiently("/analysis", { game: data.game, ...GameBoard.question(state, view.options), seconds, lines });

async function analyse() {
  const asked = ++engineAsked;
  if (!engineOn()) {
    if (!hint) quiet();
    return;
  }
  const now = positions.get(shown);
  if (now.to_move === null || (upToDate() && view.result)) {
    if (view.result && upToDate()) quiet();
    else engine(html("p", {}, "The game ends here."));
    return;
  }
  for (const seconds of [0.3, 1.2, 3]) {
    try {
      const found = await ask(now.state, seconds, 3);
      if (asked !== engineAsked || !analysing) return;
      lines(found);
      if (upToDate() && mine().includes(view.to_move) && !busy) {
        hint = found.lines[0].move;
        repaintKeeping();
      }
      if (found.lines.every((line) => line.proven)) return;
    } catch (error) {
      if (asked === engineAsked) failed(error);
      return;
    }
  }
}

/** A new arrow must not take away what the person has picked. */
function repaintKeeping() {
  const { pick } = board;
  repaint();
  if (Object.keys(pick).length) {
    board.pick = pick;
    board.render();
  }
}

function lines(found) {
  engine(
    ...found.lines
      .slice(0, 3)
      .map((line, number) =>
        html(
          "p",
          {},
          html("b", { class: number ? "mono" : "best mono" }, line.text),
          ` ${worth(GameBoard.unit, line)}`,
          line.continuation.length
            ? html("span", { class: "mono" }, ` · ${line.continuation.slice(0, 4).join("; ")}`)
            : "",
        ),
      ),
  );
  bar(found.lines[0], found.to_move);
}

function bar(line, seat) {
  if (line.score !== null)
    fillBar(part("value"), view.seats.length, seat, shareOf(GameBoard.scale(view.position.state), line), nameOf(seat));
}

// The panel

function players() {
  const low = bottom(),
    order = view.seats.map((_, number) => number).filter((number) => number !== low);
  part("others").replaceChildren(...order.map(player));
  part("yours").replaceChildren(player(low));
}

function panel() {
  players();
  list();
  const total = view.moves.length,
    over = view.result !== null;
  part("where").textContent = total ? `${shown} / ${total}` : "";
  if (view.options.turn_limit) part("where").dataset.limit = view.options.turn_limit;
  part("begin").disabled = part("back").disabled = shown === 0;
  part("on").disabled = part("end").disabled = shown === total;
  const people = betweenPeople(view),
    asks = people && shared();
  part("undo").textContent = asks ? "Take back" : "Undo";
  part("undo").disabled = asks ? !hasMoved(view, mine()) || view.waiting : !view.can_undo;
  part("hint").hidden = people;
  part("draw").hidden = !people;
  part("draw").disabled = view.waiting || !mine().length || view.seats.some(({ person }) => !person);
  part("analysis").disabled = people;
  part("analysis").title = people ? "Off while people play each other" : "";
  part("hint").disabled = over || !upToDate() || view.waiting || !mine().includes(view.to_move);
  const offered = over && mine().some((seat) => view.seats[seat].offers);
  resign.label = offered ? "Offered" : over ? "Rematch" : "Resign";
  part("resign").classList.toggle("first", over);
  part("resign").disabled =
    !mine().length || offered || (!over && (mine().length > 1 ? !mine().includes(view.to_move) : false));
  part("analysis").setAttribute("aria-pressed", String(engineOn()));
}

function player(number) {
  const seat = view.seats[number],
    turn = view.to_move === number && !view.result && !view.waiting,
    state = positions.get(shown)?.state || view.position.state;
  const level = /^level:(\d)$/.exec(seat.spec),
    name = nameOf(number);
  const builtIn = !seat.person && name === seat.spec; // people and their bots are called as they wish
  const title = level ? `Level ${level[1]}` : builtIn ? name[0].toUpperCase() + name.slice(1) : name;
  const score = board.scoreTold(number) ?? GameBoard.score(state, number);
  const dots = () =>
    html("span", { class: "wait", role: "img", "aria-label": "thinking" }, html("i"), html("i"), html("i"));
  const away =
    seat.person && !seat.yours && shared() && !view.result
      ? !seat.taken
        ? "not here yet"
        : !seat.here
          ? "left"
          : ""
      : "";
  const held = view.held_up?.seat === number && !view.result ? HELD_UP[view.held_up.why] : "";
  const what =
    away ||
    held ||
    (turn
      ? seat.person
        ? "to move"
        : dots()
      : view.result?.winner === number
        ? "winner"
        : seat.person
          ? SEATS[number]
          : PROGRAM.test(seat.spec)
            ? "bot"
            : "built-in bot");
  return html(
    "div",
    { class: `player s${number}${turn ? " turn" : ""}` },
    chip(number),
    html(
      "div",
      { class: "who" },
      html("b", {}, title),
      html("span", { class: seat.taken && (away || held) ? "away" : null }, score, score && what ? " · " : "", what),
    ),
    seat.left_ms === null ? null : html("div", { class: "time", "data-seat": number }, clockText(seat.left_ms)),
  );
}

function list() {
  const rows = [],
    seats = view.seats.length;
  let row = null,
    column = seats;
  view.moves.forEach(({ seat, text }, at) => {
    if (!row || GameBoard.startsRow(at, seat, column)) {
      row = html("li", {}, html("span", { class: "number" }, String(rows.length + 1)));
      rows.push(row);
    }
    const button = html(
      "button",
      {
        type: "button",
        "data-ply": at + 1,
        "aria-current": at + 1 === shown ? "step" : null,
        title: GameBoard.moveWords(text),
        "aria-label": GameBoard.moveWords(text),
        onclick: () => look(at + 1),
      },
      GameBoard.moveNode(text, seat),
    );
    button.style.gridColumn = seat + 2;
    button.style.gridRow = 1;
    row.append(button);
    column = seat;
  });
  const node = part("moves");
  node.style.setProperty("--seats", seats);
  node.classList.toggle("narrow", seats > 2);
  node.replaceChildren(...(rows.length ? rows : [html("li", { class: "none" }, "No moves yet.")]));
  const current = node.querySelector("[aria-current]");
  if (current) node.scrollTop = Math.max(0, current.offsetTop + current.offsetHeight + 12 - node.clientHeight);
}

async function look(number) {
  if (!view?.id || number < 0 || number > view.moves.length) return;
  hint = null;
  await show(number, Math.abs(number - shown) === 1 && number > shown).catch(failed);
  const text = number
    ? `${nameOf(view.moves[number - 1].seat)}: ${GameBoard.moveWords(view.moves[number - 1].text)}`
    : "The beginning";
  say(`Position ${number}. ${text}`);
}

function engine(...nodes) {
  part("engine").replaceChildren(...nodes.filter(Boolean));
}

function quiet() {
  const node = part("value");
  node.className = "value";
  node.setAttribute("aria-label", "No evaluation");
  if (view.result && upToDate()) {
    const kept = html(
      "a",
      {
        class: "button tight",
        href: `${API}/plays/${view.id}/record`,
        download: "",
        title: "Save the record",
        "aria-label": "Save the record",
      },
      "Record",
    );
    const offering = shared() && view.seats.find(({ offers, yours }) => offers && !yours);
    const replay = html("a", { class: "button tight", href: `/games/${view.id}` }, "Replay");
    engine(
      html("div", { class: "finish" }, html("p", { class: "whole result" }, headline()), replay, kept),
      html("p", { class: "whole" }, why()),
      offering ? html("p", {}, html("b", {}, `${offering.name} offers a rematch.`)) : null,
    );
  } else if (upToDate() && proposal(view)) engine(...proposalNodes(view, nameOf, (offer) => act("offer", { offer })));
  else if (upToDate() && view.waiting) invite();
  else if (upToDate() && view.held_up) heldUp();
  else if (upToDate() && view.thinking) ponder();
  else engine(html("p", { class: "whole" }, betweenPeople(view) ? NO_ENGINE : GameBoard.help));
}

/** The links of the seats that nobody has taken yet. */
function invite() {
  const links = view.seats.map(({ link }, seat) => [seat, link]).filter(([, link]) => link);
  if (!links.length) {
    engine(html("p", { class: "whole" }, "The game starts when everybody has joined."));
    return;
  }
  const far =
    data.mode === "local" ? " It works on this machine; with “ludodrome serve --lan” also in your network." : "";
  engine(
    ...links.map(([seat, link]) => {
      const field = html("input", {
        value: (data.address || location.origin) + link,
        readonly: true,
        "aria-label": `Link of ${NAMES[seat]}`,
        onfocus: (event) => event.target.select(),
      });
      const button = html(
        "button",
        { class: "button tight", type: "button", onclick: () => copy(field, button) },
        "Copy",
      );
      return html("p", { class: "link" }, chip(seat), field, button);
    }),
    html("p", { class: "whole" }, `Send your friend ${links.length > 1 ? "a" : "this"} link.${far}`),
  );
}

async function copy(field, button) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    document.execCommand("copy");
  }
  button.textContent = "Copied";
  say("Copied");
}

/** A remote bot is busy or away: wait for it, or take another. */
function heldUp() {
  const other = html(
    "button",
    { class: "button tight", type: "button", onclick: () => openDialog(data.game, GameBoard, view, begin) },
    "Take another bot",
  );
  engine(
    html("p", { class: "whole", id: "held-up" }, view.held_up.text),
    mine().length ? html("p", { class: "link" }, "The game stays: wait, or", other) : null,
  );
}

/** A bot's first move on a machine takes longer; the page says why. */
function ponder() {
  const { version } = view,
    words = `${nameOf(view.to_move)} is thinking.`;
  engine(html("p", { class: "whole" }, words));
  setTimeout(() => {
    if (view.version === version && view.thinking && upToDate() && !engineOn())
      engine(
        html(
          "p",
          { class: "whole" },
          words,
          " Its first move takes longer: the search is compiled once for this machine.",
        ),
      );
  }, SLOW);
}

function headline() {
  const { winner } = view.result,
    own = mine();
  if (view.result.decided_by === "arena") return "The game was aborted";
  if (winner === null)
    return view.seats.length > 2 && view.result.decided_by !== "play" ? "The others share the win" : "A draw";
  if (own.length === 1) return winner === own[0] ? "You win" : "You lose";
  return `${nameOf(winner)} wins`;
}

function why() {
  const verdict = view.result.verdicts.at(-1);
  if (!verdict) return sentence(view.result.reason);
  const who = nameOf(verdict.seat);
  if (verdict.cause === "resigned") return `${who} resigned.`;
  return verdict.cause === "timeout" ? `${who} ran out of time.` : sentence(verdict.why);
}

const resultWords = () => `${headline()}. ${why()}`;

function clockText(milliseconds) {
  const seconds = Math.max(0, milliseconds) / 1000,
    minutes = Math.floor(seconds / 60);
  return seconds < 10 ? seconds.toFixed(1) : `${minutes}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}

function tick() {
  if (!view?.arrived || view.clock === "none") return;
  for (const node of document.querySelectorAll(".time[data-seat]")) {
    const number = Number(node.dataset.seat),
      seat = view.seats[number],
      runs = view.to_move === number && !view.result && !view.waiting && view.held_up?.seat !== number;
    const left = seat.left_ms - (runs ? Math.max(0, performance.now() - view.arrived - view.free_ms) : 0);
    node.textContent = clockText(left);
    node.classList.toggle("low", runs && left < 10000);
  }
}

// Buttons

part("hint").addEventListener("click", giveHint);
part("undo").addEventListener("click", () =>
  betweenPeople(view) && shared() ? act("offer", { offer: "takeback" }) : act("undo"),
);
part("new").addEventListener("click", () => openDialog(data.game, GameBoard, view, begin));
part("flip").addEventListener("click", () => {
  flipped = !turned();
  repaint();
});
part("analysis").addEventListener("click", () => {
  analysing = !analysing;
  hint = null;
  if (view?.id) {
    panel();
    repaint();
    analyse();
  }
});
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

part("flip").hidden = !GameBoard.flips;
part("analysis").hidden = !GameBoard.analysed;
setInterval(tick, 100);
start();
