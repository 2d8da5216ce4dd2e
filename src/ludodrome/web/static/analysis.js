// The analysis board: any position, moves tried from it as a tree, the engine's lines, a link to share.

import { boardModule, onSubmit, pageData, post, postPatiently, say, sentence } from "./api.js";
import { chip, html, SEATS } from "./draw.js";
import { copy, dotsOfWaiting, fillBar, playOn, shareOf, signed, worth } from "./engine.js";
import { formatTree, nodesOf, parseTree } from "./tree_link.js";

const data = pageData();
const part = (id) => document.getElementById(id);
const { GameBoard } = await boardModule();
const USUAL_LIMIT = 200;
const MAX_SIDE_LINES = 60;
/** The options of a first position: those that people begin with, as far as an analysis has no other ones. */
const firstOptions = GameBoard.firstOptions && { ...data.people_options, ...GameBoard.firstOptions };

let options = null;
let root = null;
let node = null;
let flipped = false;
let engineOn = true;
let asked = 0;
let best = [];
let editing = null;
let busy = false;
let editor = null;
const editorLoaded = GameBoard.editor?.().then((loaded) => {
  editor = loaded;
});

const board = new GameBoard(part("board"), part("bar"), {
  move: (raw) => attempt(raw),
  why: async (raw) =>
    sentence((await post(`/games/${data.game}/check`, { options, state: node.position.state, move: raw })).why),
  say,
});

// The tree: a node has a position, the move that led to it, its parent, and its children, the main line first

const nodeOf = (position, parent = null, made = null) => ({ position, parent, made, children: [], after: null });
const path = (one) => (one.parent ? [...path(one.parent), one] : [one]);

async function load(wish) {
  part("refusal").textContent = "";
  asked += 1; // the lines of the position before are void
  lines([html("p", {}, "One moment ", dotsOfWaiting())]);
  const loaded = await post(`/boards/${data.game}`, wish).catch((error) => {
    if (node) think();
    throw error;
  });
  options = loaded.options;
  root = nodeOf(loaded.positions[0]);
  visit(append(root, loaded), false);
}

/** Puts moves and their positions below a node; returns the last one. */
function append(from, loaded) {
  let one = from;
  loaded.moves.forEach((made, at) => {
    const next = nodeOf(loaded.positions[at + 1], one, made);
    one.children.push(next);
    one.after ??= next;
    one = next;
  });
  return one;
}

function visit(next, animate) {
  for (let one = next; one.parent; one = one.parent) one.parent.after = one;
  node = next;
  best = [];
  remember();
  paint(animate);
  panel();
  think();
}

async function attempt(raw) {
  if (busy) return;
  const same = (one) => JSON.stringify(one.made.move) === JSON.stringify(raw),
    known = node.children.find(same);
  if (known) {
    visit(known, true);
    return;
  }
  busy = true;
  const from = node;
  try {
    const answer = await post(`/boards/${data.game}`, { options, state: from.position.line, moves: [raw] });
    if (node !== from) return; // another position was set meanwhile
    const next = nodeOf(answer.positions[1], from, answer.moves[0]);
    from.children.push(next);
    visit(next, true);
    say(`${GameBoard.moveWords(next.made.text)}. ${turnWords()}`);
  } catch (error) {
    paint(false);
    board.tell(sentence(error.message.replace(/^move 1: /, "")), true);
  } finally {
    busy = false;
  }
}

function paint(animate) {
  const now = node.position,
    { made, parent } = node;
  board.update({
    state: now.state,
    legal: now.legal,
    marks: now.marks,
    last: made?.move ?? null,
    lastSeat: made?.seat,
    before: parent?.position.state ?? null,
    seat: now.to_move ?? 0,
    eyes: now.to_move ?? made?.seat ?? 0,
    interactive: now.to_move !== null && !editing,
    best: best[0] ?? null,
    others: best.slice(1),
    flip: flipped,
    animate,
    analysis: true,
    word: now.outcome ? sentence(`over: ${now.outcome.reason}`) : "",
  });
}

/** New arrows must not take away what was picked. */
function repaint() {
  const { pick } = board;
  paint(false);
  if (pick && Object.keys(pick).length) {
    board.pick = pick;
    board.render();
  }
}

// The link: the first position, the tree of moves in their notation, and where in it one is

const tight = (text) => text.replace(/[\s↑]/g, "");

function remember() {
  const moves = formatTree(root, (one) => tight(one.made.text)),
    wish = new URLSearchParams({ position: root.position.line }),
    nodes = nodesOf(root);
  if (moves) wish.set("moves", moves);
  if (node !== nodes.at(-1)) wish.set("at", nodes.indexOf(node));
  if (options.turn_limit && options.turn_limit !== USUAL_LIMIT) wish.set("turn_limit", options.turn_limit);
  history.replaceState(null, "", `#${wish}`);
}

async function fromLink() {
  const wish = new URLSearchParams(location.hash.slice(1)),
    position = wish.get("position"),
    limit = Number(wish.get("turn_limit"));
  if (!position) return false;
  const [main, ...sides] = parseTree(wish.get("moves") ?? "").slice(0, MAX_SIDE_LINES),
    at = wish.get("at");
  await load({ options: limit ? { turn_limit: limit } : null, state: position, moves: main.moves });
  let end = node;
  for (const { back, moves } of sides) {
    for (let left = back; left && end.parent; left--) end = end.parent;
    const { line } = end.position;
    end = append(end, await post(`/boards/${data.game}`, { options, state: line, moves }));
  }
  visit(nodesOf(root)[at ?? nodesOf(root).length - 1] ?? node, false);
  return true;
}

// The engine

async function think() {
  const mine = ++asked,
    now = node.position;
  exact("");
  if (!engineOn || editing) {
    lines([
      html(
        "p",
        {},
        editing
          ? editing.draft
            ? "Set up the position, then press Done."
            : GameBoard.laying.engine
          : "The engine is off.",
      ),
    ]);
    fillBar(part("value"), seats(), 0, null);
    return;
  }
  if (now.to_move === null) {
    lines([html("p", {}, "The game is over in this position.")]);
    fillBar(part("value"), seats(), 0, null);
    return;
  }
  lines([html("p", {}, "Thinking ", dotsOfWaiting())]);
  if (GameBoard.solved) solve(mine, now);
  for (const seconds of GameBoard.searches) {
    try {
      const found = await postPatiently("/analysis", { game: data.game, options, state: now.line, seconds, lines: 3 });
      if (mine !== asked) return;
      showLines(found, now);
      if (found.lines.every((line) => line.proven)) return;
    } catch (error) {
      if (mine === asked)
        lines([html("p", { class: "whole" }, html("b", {}, "That did not work. "), sentence(error.message))]);
      return;
    }
  }
}

function showLines(found, now) {
  lines(
    found.lines.map((line, at) =>
      html(
        "button",
        {
          type: "button",
          title: "Try this move",
          onclick: () => attempt(line.move),
          ...(GameBoard.laying
            ? {
                onpointerenter: () => preview(line.move),
                onpointerleave: () => preview(null),
                onfocus: () => preview(line.move),
                onblur: () => preview(null),
              }
            : {}),
        },
        html("b", { class: at ? "mono" : "best mono" }, line.text),
        ` ${worth(GameBoard.unit, line)}`,
        line.continuation.length
          ? html("span", { class: "mono" }, ` · ${line.continuation.slice(0, 5).join("; ")}`)
          : "",
      ),
    ),
  );
  if (found.lines[0].score !== null && now.value === undefined)
    fillBar(part("value"), seats(), found.to_move, shareOf(GameBoard.scale(now.state), found.lines[0]));
  if (GameBoard.laying) return;
  best = found.lines.map((line) => line.move);
  repaint();
}

/** Where boards are laid, the engine's board would hide one's own, so it is drawn only while it is looked at. */
function preview(move) {
  board.model.best = move;
  board.render();
}

/** The exact value, if the solver finds it in time. */
async function solve(mine, now) {
  try {
    const found = await post("/values", { game: data.game, options, state: now.state, seconds: 2 });
    if (mine !== asked || !found.proven) return;
    now.value = found.value;
    exact(`exact ${signed(found.value)} · ${found.text}`);
    fillBar(part("value"), seats(), found.to_move, shareOf(GameBoard.scale(now.state), { score: found.value }));
  } catch {
    /* the lines say what is wrong */
  }
}

const lines = (nodes) => part("engine").replaceChildren(...nodes);
const seats = () => options.players ?? 2;

function exact(text) {
  part("turn").querySelector(".exact")?.remove();
  if (text) part("turn").append(html("span", { class: "exact" }, text));
}

// The panel

const turnWords = () => {
  const { to_move: seat, outcome } = node.position;
  return seat === null ? sentence(outcome.reason) : `${SEATS[seat][0].toUpperCase()}${SEATS[seat].slice(1)} to move`;
};

function panel() {
  const { to_move: seat } = node.position;
  part("turn").replaceChildren(
    seat === null || editing ? "" : chip(seat),
    html("span", {}, editing ? (editing.draft ? "Editing" : "The board") : turnWords()),
  );
  if (document.activeElement !== part("line")) part("line").value = node.position.line;
  const depth = path(node).length - 1;
  part("where").textContent = depth ? `move ${depth}` : "";
  part("begin").disabled = part("back").disabled = !node.parent;
  part("on").disabled = part("end").disabled = !node.children.length;
  part("play").disabled = seat === null || Boolean(editing);
  part("edit").textContent = editing ? "Done" : (GameBoard.laying?.button ?? "Edit");
  part("edit").setAttribute("aria-pressed", String(Boolean(editing)));
  part("power").setAttribute("aria-pressed", String(engineOn));
  tree();
}

function tree() {
  const host = part("tree"),
    parts = [];
  if (!root.children.length)
    parts.push(
      html("p", { class: "none" }, GameBoard.laying?.tree ?? "Moves you try on the board appear here as a tree."),
    );
  else parts.push(...branch(root));
  if (node.parent)
    parts.unshift(
      html(
        "button",
        { type: "button", class: "drop-line", title: "Remove this move and what follows", onclick: cut },
        "Remove",
      ),
    );
  host.replaceChildren(...parts);
  const current = host.querySelector("[aria-current]");
  if (current) host.scrollTop = Math.max(0, current.offsetTop - host.offsetTop - host.clientHeight + 40);
}

function branch(from) {
  const parts = [];
  for (let one = from; one.children.length; one = one.children[0]) {
    parts.push(button(one.children[0]));
    for (const other of one.children.slice(1))
      parts.push(html("div", { class: "aside-line" }, button(other), ...branch(other)));
  }
  return parts;
}

const button = (one) =>
  html(
    "button",
    {
      type: "button",
      "aria-current": one === node ? "step" : null,
      title: GameBoard.moveWords(one.made.text),
      "aria-label": `${path(one).length - 1}. ${GameBoard.moveWords(one.made.text)}`,
      onclick: () => visit(one, one.parent === node),
    },
    `${path(one).length - 1}. `,
    GameBoard.moveNode(one.made.text, one.made.seat),
  );

function cut() {
  const { parent } = node;
  parent.children = parent.children.filter((one) => one !== node);
  parent.after = parent.children[0] ?? null;
  visit(parent, false);
}

// Editing

function edit(on) {
  editing = on && editor ? { draft: editor.open(node.position.state), tool: null } : on ? {} : null;
  if (editing?.draft) editing.tool = editor.tools(editing.draft)[0].id;
  part("palette").hidden = !editing;
  document.querySelector(".scrub").hidden = Boolean(editing);
  part("tree").hidden = Boolean(editing);
  part("board").classList.toggle("editing", Boolean(editing?.draft));
  part("refusal").textContent = "";
  if (editing?.draft) {
    draw();
    check();
  } else paint(false);
  palette();
  panel();
  think();
}

function draw() {
  const { draft, tool } = editing;
  board.update({
    state: editor.state(draft),
    legal: [],
    marks: {},
    last: null,
    before: null,
    seat: editor.turn(draft),
    eyes: 0,
    interactive: false,
    flip: flipped,
    animate: false,
    boxes: editor.boxes?.(tool),
    edit: put,
    word: editing.word ?? "",
  });
  board.word.classList.toggle("no", Boolean(editing.wrong));
}

function put(key) {
  if (!key) return;
  editor.act(editing.draft, editing.tool, key);
  draw();
  check();
}

/** Whether the draft is a position; if not, the rules say why. */
async function check() {
  const line = editor.line(editing.draft),
    now = editing,
    mine = (now.checks ?? 0) + 1;
  now.checks = mine;
  part("line").value = line;
  try {
    const answer = await post(`/boards/${data.game}`, { options, state: line });
    if (editing !== now || now.checks !== mine) return;
    Object.assign(now, {
      answer,
      wrong: false,
      word: answer.positions[0].outcome ? sentence(`the game is over here: ${answer.positions[0].outcome.reason}`) : "",
    });
  } catch (error) {
    if (editing !== now || now.checks !== mine) return;
    Object.assign(now, { answer: null, wrong: true, word: sentence(error.message) });
    say(sentence(error.message));
  }
  board.tell(now.word, now.wrong); // drawn anew, the board would lose a click that has begun
}

function palette() {
  if (!editing) {
    part("palette").replaceChildren();
    return;
  }
  const parts = [];
  if (editing.draft) {
    const { draft } = editing;
    const choose = (id) => {
      editing.tool = id;
      palette();
      draw();
    };
    parts.push(
      html(
        "div",
        { class: "kit", role: "group", "aria-label": "What a click places" },
        ...editor.tools(draft).map((tool) =>
          html(
            "button",
            {
              type: "button",
              class: "button tight",
              title: tool.name,
              "aria-label": tool.name,
              "aria-pressed": String(tool.id === editing.tool),
              onclick: () => choose(tool.id),
            },
            tool.icon(),
          ),
        ),
      ),
    );
    const turn = html(
      "select",
      {
        onchange: (event) => {
          editor.setTurn(draft, Number(event.target.value));
          draw();
          check();
          palette();
        },
      },
      ...Array.from({ length: editor.seats(draft) }, (_, seat) =>
        html("option", { value: seat, selected: seat === editor.turn(draft) }, SEATS[seat]),
      ),
    );
    const fields = [html("label", {}, "To move", turn)];
    if (draft.ply !== undefined)
      fields.push(
        html(
          "label",
          {},
          "Plies played",
          html("input", {
            type: "number",
            min: 0,
            max: 1000,
            value: draft.ply,
            oninput: (event) => {
              draft.ply = Math.max(0, Number(event.target.value) || 0);
              draw();
              check();
              turn.value = editor.turn(draft);
            },
          }),
        ),
      );
    parts.push(html("div", { class: "fields" }, ...fields));
  } else parts.push(html("p", {}, GameBoard.laying.palette));
  if (GameBoard.shape.length)
    parts.push(
      html(
        "div",
        { class: "fields" },
        ...GameBoard.shape.map(([name, words, values]) => html("label", {}, words, shapeField(name, values))),
      ),
    );
  part("palette").replaceChildren(...parts);
}

/** A list of values, or a number from `low` to `high`. */
function shapeField(name, values) {
  const onchange = (event) => event.target.reportValidity() && reshape(name, event.target.value);
  if (!Array.isArray(values))
    return html("input", { type: "number", min: values.low, max: values.high, value: options[name], onchange });
  return html(
    "select",
    { onchange },
    ...values.map((value) => html("option", { value, selected: value === options[name] }, String(value))),
  );
}

async function reshape(name, text) {
  const value = /^\d+$/.test(text) ? Number(text) : text;
  try {
    await load({ options: { ...firstOptions, ...shape(), [name]: value }, state: null });
    edit(true);
  } catch (error) {
    part("refusal").textContent = sentence(error.message);
    palette();
  }
}

const shape = () =>
  Object.fromEntries(
    GameBoard.shape.map(([name]) => [name, options?.[name]]).filter(([, value]) => value !== undefined),
  );

function done() {
  if (editing.draft) {
    if (!editing.answer) {
      board.tell(editing.word || "This is not a legal position yet.", true);
      return;
    }
    const { answer: kept } = editing;
    root = nodeOf(kept.positions[0]);
    options = kept.options;
    edit(false);
    visit(root, false);
    return;
  }
  edit(false);
}

// Pasting

async function set(text) {
  const wish = { options: null, state: text.trim(), moves: [] };
  if (!wish.state) wish.state = null;
  const pasted = wish.state && GameBoard.pasted(wish.state);
  if (pasted)
    Object.assign(wish, {
      state: null,
      moves: pasted.moves,
      options: { ...data.people_options, ...shape(), ...GameBoard.firstOptions, ...pasted.options },
    });
  else if (options?.turn_limit && options.turn_limit !== USUAL_LIMIT) wish.options = options;
  try {
    await load(wish);
    if (editing) edit(false);
    say("Position set.");
  } catch (error) {
    part("refusal").textContent = sentence(error.message);
    part("line").focus();
  }
}

onSubmit(part("paste"), () => set(part("line").value));
part("line").addEventListener("focus", () => part("line").select());
part("edit").addEventListener("click", async () => {
  await editorLoaded;
  if (editing) done();
  else edit(true);
});
part("power").addEventListener("click", () => {
  engineOn = !engineOn;
  best = [];
  panel();
  repaint();
  think();
});
part("flip").addEventListener("click", () => {
  flipped = !flipped;
  if (editing?.draft) draw();
  else paint(false);
});
part("fresh").addEventListener("click", () =>
  load({ options: { ...shape(), ...GameBoard.firstOptions }, state: null })
    .then(() => editing && edit(true))
    .catch(failed),
);
part("share").addEventListener("click", () => copy(part("share"), location.href));
part("play").addEventListener("click", () =>
  playOn(part("playon"), data.game, seats(), node.position.to_move, { options, position: node.position.line }),
);
const deepest = () => {
  let one = node;
  while (one.children.length) one = one.after ?? one.children[0];
  return one;
};
const step = { begin: () => root, back: () => node.parent, on: () => node.after ?? node.children[0], end: deepest };
for (const [id, to] of Object.entries(step))
  part(id).addEventListener("click", () => {
    const next = to();
    if (next) visit(next, id === "on");
  });
addEventListener("keydown", (event) => {
  if (
    !node ||
    editing ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    event.target.closest?.("input, select, textarea, dialog, .board")
  )
    return;
  const id = { ArrowLeft: "back", ArrowRight: "on", Home: "begin", End: "end" }[event.key],
    next = id && step[id]();
  if (!next) return;
  event.preventDefault();
  visit(next, id === "on");
});
addEventListener("hashchange", () => fromLink().catch(failed));

function failed(error) {
  part("refusal").textContent = sentence(error.message);
  if (!node) lines([html("p", { class: "whole" }, html("b", {}, "That did not work. "), sentence(error.message))]);
}

async function start() {
  try {
    if (await fromLink()) return;
  } catch (error) {
    await begin();
    failed(error);
    return;
  }
  await begin();
}

const begin = () =>
  (firstOptions
    ? load({ options: firstOptions, state: null })
    : load({ options: null, state: data.showcase.state })
  ).catch(failed);
part("flip").hidden = !GameBoard.flips;
part("edit").hidden = !GameBoard.editor && !GameBoard.laying;
start();
